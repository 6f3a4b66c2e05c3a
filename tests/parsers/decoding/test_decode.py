"""What a decode policy makes of single outputs: texts, when they are out, and what is said of each token."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from parsers.decoding import (
    POLICIES,
    Decode,
    Decoded,
    DecodePolicy,
    Decoder,
    TokenFacts,
    decode_pieces,
    schedule,
    settle_pieces,
)
from parsers.vocabulary.types import Piece, PieceKind

EMOJI = "😀".encode()
KINDS: dict[str, PieceKind] = {"[": "special", "<": "added"}


def pieces_of(*raws: bytes | str, text: bool = False) -> list[Piece]:
    """Recorded tokens with ids 0, 1, ...: bytes, or text where what begins with a bracket is a marker."""
    found = []
    for number, one in enumerate(raws):
        raw = one.encode() if isinstance(one, str) else one
        kind = KINDS.get(one[:1], "text") if isinstance(one, str) else "text"
        found.append(Piece(raw.decode("utf-8", "replace"), number, None if text else raw, kind, True))
    return found


def run(policy: DecodePolicy, *raws: bytes | str, decoder: Decoder = "byte_level", tail: str | None = None) -> Decoded:
    """The output under a policy alone."""
    return decode_pieces(pieces_of(*raws), Decode(policy=policy), decoder=decoder, prompt_tail=tail)


def texts(found: Decoded) -> list[str]:
    """The text of each token."""
    return [piece.text for piece in found.pieces]


@pytest.mark.parametrize(
    ("policy", "raws", "wanted", "due"),
    [
        ("exact", ("Hi ", EMOJI[:2], EMOJI[2:]), ["Hi ", "", "😀"], None),
        ("exact", ("a", EMOJI[:2]), ["a", "\ufffd"], None),
        ("exact", (EMOJI[:2], "[X]", EMOJI[2:]), ["\ufffd", "[X]", "\ufffd\ufffd"], None),
        ("vllm_fast", ("a", EMOJI[:2]), ["a", ""], None),
        ("vllm_fast", ("a", b"b" + EMOJI[:2]), ["a", ""], None),
        ("vllm_fast", (EMOJI[:2], EMOJI[2:3]), ["", ""], None),
        ("vllm_fast", (EMOJI[:2], "[X]"), ["\ufffd", "[X]"], (0, 4)),
        ("vllm_fast", ("a\ufffd", "b"), ["a\ufffd", "b"], (0, 3)),
        ("vllm_slow", ("a", "\ufffd"), ["a", ""], None),
        ("vllm_mistral", ("[CALL_ID]", "x", "[ARGS]", "<t>"), ["", "x", "[ARGS]", "<t>"], None),
        ("sglang", ("a b", "\ufffd"), ["a b", "\ufffd"], None),
        ("sglang", ("x y\ufffd", "z", "!"), ["x y\ufffd", "z", "!"], (2, 5, 6)),
        ("sglang", ("你\ufffd", "z", "!"), ["你\ufffd", "z", "!"], (1, 3, 4)),
        ("sglang", (b"\xe4\xbd\xa0\xe4", b"\xbd", "!"), ["你", "", "\ufffd!"], None),
        ("sglang", (b"xy\xe4", b"\xbd", "!"), ["xy", "", "\ufffd!"], (0, 0, 4)),
        ("text_streamer", ("ab", "c d", "e", "!"), ["ab", "c d", "e", "!"], (0, 4, 4, 7)),
        ("text_streamer", ("ab", "\n", "c", "你", "d"), ["ab", "\n", "c", "你", "d"], (0, 3, 3, 5, 6)),
        ("text_streamer", ("a",), ["a"], None),
        ("text_streamer", (), [], None),
        ("vllm_fast", (), [], None),
    ],
)
def test_a_policy_says_what_is_sent_and_when(
    policy: DecodePolicy, raws: tuple[bytes | str, ...], wanted: list[str], due: tuple[int, ...] | None
) -> None:
    found = run(policy, *raws)
    assert (texts(found), found.due) == (wanted, due)


@pytest.mark.parametrize(
    ("policy", "raws", "wanted"),
    [
        ("exact", (b"\xe4", b"\xbd", b"\xa0"), ["", "", "你"]),
        ("exact", (b"\xe4", b"\xff", "O"), ["\ufffd", "\ufffd", "O"]),
        ("exact", (b"\xe4", b"\xbd", b"\xa0", b"\xff", "OK"), ["", "", "你", "\ufffd", "OK"]),
        ("vllm_slow", (b"\xe4", b"\xbd", b"\xa0", b"\xff", "OK"), ["", "", "你", "\ufffd\ufffd\ufffd", "OK"]),
        ("vllm_fast", (b"\xe4", b"\xbd", b"\xa0", b"\xff", "OK"), ["", "", "你", "", "OK"]),
        ("vllm_fast", (b"\xe4", b"\xbd", b"\xa0", b"\xff", " OK"), ["", "", "你", "", "OK"]),
        ("sglang", (b"\xe4", b"\xbd", b"\xa0", b"\xff"), ["", "", "你", "\ufffd\ufffd\ufffd"]),
        ("text_streamer", (b"\xe4", b"\xbd", b"\xa0", b"\xff"), ["", "", "你", "\ufffd\ufffd\ufffd"]),
        ("vllm_fast", ("OK", b"\xff"), ["OK", ""]),
        ("sglang", ("你\ufffd", b"\xff", "!"), ["你\ufffd", "\ufffd", "!"]),
    ],
)
def test_byte_fallback_goes_by_runs_of_bytes(
    policy: DecodePolicy, raws: tuple[bytes | str, ...], wanted: list[str]
) -> None:
    assert texts(run(policy, *raws, decoder="byte_fallback")) == wanted


@pytest.mark.parametrize(
    ("raws", "due"),
    [
        (("你\ufffd", "!"), (1, 3)),
        (("你", b"\xff", "!"), (1, 1, 3)),
        (("x y\ufffd", b"\xff", b"\xff", "!"), (2, 2, 2, 7)),
        (("x y\ufffd", "z 你", b"\xff", "!"), (2, 7, 7, 9)),
        (("\ufffd你\ufffd", b"\xff", "!"), (2, 2, 5)),
        (("\ufffd", "a", b"\xef", b"\xbf", b"\xbd", "!"), (0, 2, 2, 2, 2, 4)),
    ],
)
def test_sglang_sends_what_can_be_printed_before_a_run(raws: tuple[bytes | str, ...], due: tuple[int, ...]) -> None:
    assert run("sglang", *raws, decoder="byte_fallback").due == due


def test_a_token_without_bytes_is_silent() -> None:
    found = decode_pieces([Piece("", 1, b""), Piece("a", 2, b"a")], Decode(policy="vllm_fast"))
    assert (texts(found), found.due, found.summary()) == (["", "a"], None, ())


def test_stop_strings_are_kept_only_where_they_are_given() -> None:
    with pytest.raises(ValidationError, match="needs 'stop'"):
        Decode(include_stop=True)


def test_text_that_a_decoder_turns_around_is_marked() -> None:
    found = run("vllm_fast", b"\xe4", b"\xbd", b"\xa0", b"\xff", "OK", decoder="byte_fallback")
    assert [facts.revised for facts in found.tokens] == [False, False, False, True, False]
    assert found.tokens[3].lost == b"\xff"
    assert found.summary() == ("1 byte lost by policy in the middle", "1 token revised after its text was sent")


def test_an_ordinary_token_of_one_character_is_no_byte() -> None:
    pieces = [Piece("", 3 + 0xE4, b"\xe4"), Piece("O", 3 + ord("O"), b"O"), Piece("O", 900, b"O")]
    as_byte = decode_pieces(pieces[:2], Decode(), decoder="byte_fallback")
    as_text = decode_pieces([pieces[0], pieces[2]], Decode(), decoder="byte_fallback")
    assert (texts(as_byte), texts(as_text)) == (["\ufffd", "\ufffd"], ["\ufffd", "O"])


def test_bytes_of_several_rows_tell_nothing_of_those_below() -> None:
    pieces = [Piece("", 300, b"\xe4"), Piece("", 301, b"\xe4"), Piece("O", 300 - 0xE4 + ord("O"), b"O")]
    assert texts(decode_pieces(pieces, Decode(), decoder="byte_fallback")) == ["\ufffd", "\ufffd", "O"]


@pytest.mark.parametrize(
    ("policy", "stored", "tail", "first"),
    [
        ("vllm_fast", " Hi", None, " Hi"),
        ("vllm_fast", "Hi", None, "Hi"),
        ("vllm_fast", "Hi", "[/INST]", " Hi"),
        ("vllm_fast", " Hi", "", "Hi"),
        ("text_streamer", "Hi", "[/INST]", "Hi"),
        ("text_streamer", " Hi", "[/INST]", " Hi"),
        ("exact", " Hi", "", "Hi"),
    ],
)
def test_the_prompt_decides_on_the_first_blank(policy: DecodePolicy, stored: str, tail: str | None, first: str) -> None:
    pieces = [Piece(stored, 5, b" Hi"), Piece("!", 6, b"!")]
    found = decode_pieces(pieces, Decode(policy=policy), decoder="byte_fallback", prompt_tail=tail)
    assert texts(found) == [first, "!"]


def test_the_prompt_is_nothing_to_byte_level() -> None:
    assert texts(run("vllm_fast", " Hi", tail="")) == [" Hi"]


def test_special_tokens_are_skipped_and_added_ones_stay() -> None:
    decode = Decode(skip_special_tokens=True)
    found = decode_pieces(pieces_of(EMOJI[:2], "[TOOL_CALLS]", EMOJI[2:], "<tool_call>"), decode)
    assert texts(found) == ["", "", "😀", "<tool_call>"]
    assert found.tokens[1] == TokenFacts(pending=EMOJI[:2], skipped=True)
    assert found.summary() == ("1 token left out, id only",)


@pytest.mark.parametrize(
    ("last", "end_tokens", "wanted"),
    [
        ("[EOS]", ("[EOS]",), ""),
        ("[EOS]", (), ""),
        ("[EOS]", ("[EOT]",), "[EOS]"),
        ("<end>", ("<end>",), ""),
        ("<end>", (), "<end>"),
        ("end", ("end",), "end"),
    ],
)
def test_the_token_that_ended_the_output_is_left_out(last: str, end_tokens: Sequence[str], wanted: str) -> None:
    found = decode_pieces(pieces_of("[EOS]", "a", last), Decode(drop_eos=True), end_tokens=end_tokens)
    assert texts(found) == ["[EOS]", "a", wanted]
    assert found.tokens[2].skipped == (not wanted)


def test_nothing_ends_an_empty_output() -> None:
    assert decode_pieces([], Decode(drop_eos=True)) == Decoded((), None, ())


@pytest.mark.parametrize(
    ("decode", "wanted", "due", "stopped"),
    [
        (Decode(stop=("STOP",)), ["ab", "c", "", ""], (0, 3, 3, 3), [False, True, True, True]),
        (Decode(stop=("STOP",), include_stop=True), ["ab", "cSTO", "P", ""], None, [False, False, False, True]),
        (Decode(stop=("nothing", "S")), ["ab", "c", "", ""], (0, 3, 3, 3), [False, True, True, True]),
        (Decode(stop=("nothing",)), ["ab", "cSTO", "P", "[EOS]"], (0, 0, 1, 12), [False] * 4),
    ],
)
def test_a_stop_string_ends_the_text_and_keeps_characters_back(
    decode: Decode, wanted: list[str], due: tuple[int, ...] | None, stopped: list[bool]
) -> None:
    found = decode_pieces(pieces_of("ab", "cSTO", "P", "[EOS]"), decode)
    assert (texts(found), found.due) == (wanted, due)
    assert [facts.stopped for facts in found.tokens] == stopped


def test_the_first_stop_string_to_be_whole_counts() -> None:
    found = decode_pieces(pieces_of("a1", "b", "2"), Decode(stop=("a1b2", "b", "1b")))
    assert texts(found) == ["a1", "", ""]


def test_a_stop_string_waits_with_its_text() -> None:
    found = decode_pieces(pieces_of("one two", "x", " "), Decode(policy="text_streamer", stop=("two",)))
    assert (texts(found), found.due) == (["one ", "", ""], (2, 2, 4))


@pytest.mark.parametrize("decoder", ["byte_level", "byte_fallback"])
def test_without_a_policy_the_pieces_stay_what_they_are(decoder: Decoder) -> None:
    pieces = [Piece("other", 1, b"bytes"), Piece("", 2, EMOJI[:1]), Piece("", 3), Piece("\ud800", 4)]
    found = decode_pieces(pieces, None, decoder=decoder)
    assert (list(found.pieces), found.due) == (pieces, None)
    assert [facts.pending for facts in found.tokens] == [b"", EMOJI[:1], EMOJI[:1], b""]


@pytest.mark.parametrize("policy", list(POLICIES))
def test_text_without_bytes_is_whole(policy: DecodePolicy) -> None:
    pieces = [Piece("", 1, EMOJI[:1]), Piece("a b\ud800", 2), Piece("", 3), Piece("\n", 4, b"\n")]
    found = decode_pieces(pieces, Decode(policy=policy))
    assert texts(found) == ["\ufffd", "a b\ud800", "", "\n"]


def test_late_text_says_by_how_much() -> None:
    found = run("vllm_fast", "a\ufffd", b"\xf0", "b")
    assert [facts.late for facts in found.tokens] == [2, 0, 0]
    assert found.summary() == ("text up to 2 tokens late",)


def test_bytes_lost_at_the_end_are_counted() -> None:
    assert run("vllm_fast", "a", EMOJI[:3]).summary() == ("3 bytes lost by policy at the end",)


tokens = st.lists(
    st.sampled_from(["a", " ", "你 ", "\n", "[X]", "<y>", "\ufffd", EMOJI[:1], EMOJI[1:], EMOJI[:3], b"\xff", b"\x80"]),
    max_size=12,
)
decodes = st.builds(
    Decode,
    policy=st.sampled_from(list(POLICIES)),
    skip_special_tokens=st.booleans(),
    stop=st.lists(st.sampled_from(["a", "a ", "你", "[X]"]), max_size=2).map(tuple),
    drop_eos=st.booleans(),
)


@pytest.mark.replays
@given(raws=tokens, decode=decodes, decoder=st.sampled_from(["byte_level", "byte_fallback"]))
def test_tokens_stay_and_text_only_grows(raws: list[bytes | str], decode: Decode, decoder: Decoder) -> None:
    pieces = pieces_of(*raws)
    found = decode_pieces(pieces, decode, decoder=decoder)
    total = sum(len(piece.text) for piece in found.pieces)
    due = list(found.due or ())
    assert [(p.token_id, p.raw, p.kind, p.recorded) for p in found.pieces] == [
        (p.token_id, p.raw, p.kind, p.recorded) for p in pieces
    ]
    assert due == sorted(due)
    assert not due or (len(due), due[-1]) == (len(pieces), total)
    assert len(found.tokens) == len(pieces)
    if not decode.stop:
        assert all(p.text in ("", q.text) for p, q in zip(found.pieces, pieces, strict=True) if q.kind != "text")


@given(raws=tokens, decode=decodes, decoder=st.sampled_from(["byte_level", "byte_fallback"]))
def test_what_was_decoded_is_settled(raws: list[bytes | str], decode: Decode, decoder: Decoder) -> None:
    decode = decode.model_copy(update={"stop": ()})
    once = decode_pieces(pieces_of(*raws), decode, decoder=decoder).pieces
    again = decode_pieces(settle_pieces(once), decode.again())
    assert [piece.text for piece in again.pieces] == [piece.text for piece in once]


@given(raws=tokens, decode=decodes)
@pytest.mark.replays
def test_a_schedule_is_that_of_the_policy(raws: list[bytes | str], decode: Decode) -> None:
    found = decode_pieces(pieces_of(*raws), decode)
    later = schedule(decode)
    if later is None or any(facts.stopped for facts in found.tokens):
        return
    assert later(found.pieces) == found.due


@pytest.mark.parametrize(
    "decode", [None, Decode(), Decode(skip_special_tokens=True), Decode(stop=("abc",), include_stop=True)]
)
def test_without_lateness_there_is_no_schedule(decode: Decode | None) -> None:
    assert schedule(decode) is None


def test_a_blank_byte_is_no_text_where_the_bytes_after_it_break() -> None:
    row = [Piece("", 3 + byte, bytes([byte])) for byte in (0x20, 0x80)]
    found = decode_pieces(
        [Piece("a", 900, b"a"), *row, Piece("c", 901, b"c")], Decode(policy="vllm_slow"), decoder="byte_fallback"
    )
    assert texts(found) == ["a", " ", "\ufffd\ufffd", "c"]


def test_a_newline_empties_the_cache_of_words() -> None:
    pieces = [Piece("Hi", 1, b" Hi"), Piece("\n", 2, b"\n"), Piece(" a", 3, b" a"), Piece(" b", 4, b" b")]
    found = decode_pieces(pieces, Decode(policy="text_streamer"), decoder="byte_fallback")
    assert (texts(found), found.due) == (["Hi", "\n", "a", " b"], (0, 3, 3, 6))
