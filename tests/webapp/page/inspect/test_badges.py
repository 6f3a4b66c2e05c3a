"""The ten statements about the tokens of an output, each in every state it can have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.decoding import TokenFacts
from parsers.formats.model import Format, builtin_formats
from parsers.vocabulary.types import Piece, PieceKind, UsageError
from webapp.page.inspect import badges as page_badges
from webapp.page.inspect.badges import Badge, Subject, badge_row, badges, badges_of
from webapp.page.inspect.index import index_of
from webapp.tokenizers import TokenizerAdapter, get_tokenizer
from webapp.tokenizers.adapter import MarkerState

PLAIN = TokenFacts()
QWEN = builtin_formats()["qwen"]
CALL = 'Hi.\n<tool_call>\n{"name": "f"}\n</tool_call>'


class Normalising:
    """A vocabulary that gives back another text than it was given."""

    realism = "real"
    label = "Normalising"
    vocab_size = 10
    marker_ids: Mapping[str, int] = MappingProxyType({})
    info: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, back: str, ids: Sequence[int] = (1,)) -> None:
        self.back, self.ids = back, list(ids)

    def encode(self, text: str) -> list[int]:
        return self.ids

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        return self.back

    def marker_state(self, text: str) -> MarkerState:
        return MarkerState("absent", ())


def case(text: str = CALL, **more: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **more})


def embedded(fmt: Format = QWEN) -> TokenizerAdapter:
    return get_tokenizer("embedded", format=fmt)


def subject(
    pieces: Sequence[Piece],
    *,
    of: Case | None = None,
    after: Sequence[Piece] | None = None,
    fates: Sequence[TokenFacts] | None = None,
    vocabulary: Any = None,
    fmt: Format = QWEN,
) -> Subject:
    text = "".join(piece.text for piece in pieces)
    return Subject(of or case(text.replace("\ud800", "?") or "x"), fmt, pieces, after or pieces, fates, vocabulary)


def made(text: str = CALL) -> Subject:
    """The subject of a text that our tokenizer cut."""
    return subject(embedded().pieces(text), of=case(text), vocabulary=embedded())


def recorded(*tokens: tuple[str, int, PieceKind]) -> list[Piece]:
    return [Piece(text, number, text.encode(), kind, True) for text, number, kind in tokens]


def one(name: str, found: Subject) -> Badge:
    return badges(found)[name]


def test_a_text_that_our_tokenizer_cut_is_fine_but_assumed() -> None:
    states = {name: badge.state for name, badge in badges(made()).items()}
    assert states == {
        "round_trip": "ok", "decoded": "ok", "segmentation": "note", "markers": "ok", "marker_ids": "ok",
        "unknown": "ok", "replaced": "ok", "end": "note", "policy": "ok", "tokenizer": "note",
    }  # fmt: skip


def test_an_empty_output_has_all_ten_too() -> None:
    assert len(badges(subject([], of=case(""), vocabulary=embedded()))) == 10


@pytest.mark.parametrize(
    ("text", "back", "at", "reason"),
    [
        ("e\u0301", "é", 0, "NFC"),
        ("a\ufb01", "afi", 1, "NFKC"),
        (" a", "a", 0, "SentencePiece"),
        ("ab", "a\ufffd", 1, "no whole characters"),
        ("ab", "a", 1, "the end"),
        ("ab", "ac", 1, "another vocabulary"),
    ],
)
def test_a_round_trip_that_fails_says_where_and_why(text: str, back: str, at: int, reason: str) -> None:
    badge = one("round_trip", subject(recorded((text, 1, "text")), vocabulary=Normalising(back)))
    assert (badge.state, badge.label) == ("warn", f"differs at {at}")
    assert reason in badge.sentence
    assert badge.token == 0


def test_a_round_trip_names_unknown_ids_as_the_reason() -> None:
    pieces = [*recorded(("a", 1, "text")), Piece("", 99, None, "unknown", True)]
    assert "not in the vocabulary" in one("round_trip", subject(pieces, vocabulary=Normalising("b"))).sentence


@pytest.mark.parametrize(
    ("pieces", "label"), [([Piece("a")], "no ids"), ([Piece("a", 1, b"a")], "round trip not checked")]
)
def test_a_round_trip_needs_ids_and_a_vocabulary(pieces: list[Piece], label: str) -> None:
    assert one("round_trip", subject(pieces)).label == label


@pytest.mark.parametrize(
    ("after", "fates", "state", "label", "token"),
    [
        (["a", "", "b"], [PLAIN, TokenFacts(skipped=True), PLAIN], "note", "1 special token skipped", 1),
        (["a", "<x>", ""], [PLAIN, PLAIN, TokenFacts(lost=b"\xf0\x9f")], "warn", "2 bytes lost", 2),
        (["a", "<x>", ""], None, "note", "text changed", 2),
        (["a", "<x>", ""], [PLAIN, PLAIN, TokenFacts(stopped=True)], "note", "the rest cut at the stop string", 2),
        (["a", "<x>", "b"], [PLAIN, PLAIN, PLAIN], "ok", "all text out", None),
    ],
)
def test_what_a_decode_policy_withheld_is_counted(
    after: list[str], fates: Any, state: str, label: str, token: int | None
) -> None:
    pieces = recorded(("a", 1, "text"), ("<x>", 2, "special"), ("b", 3, "text"))
    decoded = [
        Piece(text, piece.token_id, piece.raw, piece.kind, True) for text, piece in zip(after, pieces, strict=True)
    ]
    badge = one("decoded", subject(pieces, after=decoded, fates=fates))
    assert (badge.state, badge.label, badge.token) == (state, label, token)


@pytest.mark.parametrize(
    ("pieces", "vocabulary", "label"),
    [
        ([Piece("a")], None, "tokens unknown"),
        ([Piece("a", 1, b"a")], None, "tokens assumed"),
        (recorded(("a", 1, "text")), None, "as recorded"),
        (recorded(("a", 1, "text")), Normalising("a"), "recorded, canonical"),
        (recorded(("a", 1, "text"), ("b", 2, "text")), Normalising("ab", (1, 3)), "not canonical at 2"),
        (recorded(("a", 1, "text"), ("b", 2, "text")), Normalising("ab"), "not canonical at 2"),
        (recorded(("a", 1, "text")), get_tokenizer("characters"), "not canonical at 1"),
        ([Piece("\ud800", 1, b"?", "text", True)], Normalising("a"), "not canonical at 1"),
    ],
)
def test_ids_are_assumed_recorded_or_not_canonical(pieces: list[Piece], vocabulary: Any, label: str) -> None:
    assert one("segmentation", subject(pieces, vocabulary=vocabulary)).label == label


def test_every_marker_of_the_parser_is_listed_with_its_id() -> None:
    badge = one("markers", made())
    assert badge.state == "ok"
    assert len(badge.items) == len(QWEN.tokens)
    assert any("`<tool_call>`: id " in item for item in badge.items)


def test_markers_that_are_several_tokens_are_a_warning() -> None:
    badge = one("markers", subject(embedded().pieces("a"), vocabulary=get_tokenizer("embedded", {})))
    assert badge.state == "warn"
    assert all("token" in item for item in badge.items)


def test_markers_that_no_token_can_spell_are_absent() -> None:
    items = one("markers", subject([Piece("a")], vocabulary=get_tokenizer("characters"))).items
    assert all(item.endswith("absent") for item in items)
    assert all(
        item.endswith("absent") for item in one("markers", subject([Piece("a", 1)], vocabulary=Normalising("?"))).items
    )


def test_without_a_vocabulary_only_the_markers_of_the_case_are_known() -> None:
    known = case("a", tokenizer={"vocab": {"<tool_call>": 7}})
    badge = one("markers", subject([Piece("a", 1)], of=known))
    assert (badge.state, badge.label) == ("note", "markers not known")
    assert "`<tool_call>`: id 7" in badge.items


def test_a_format_without_markers_has_none_to_look_for() -> None:
    fmt = builtin_formats()["passthrough"]
    assert one("markers", subject([Piece("a", 1)], fmt=fmt)).label == "no markers"


def test_a_marker_spelled_in_ordinary_tokens_is_found() -> None:
    pieces = get_tokenizer("embedded", {}).pieces(CALL)
    badge = one("marker_ids", subject(pieces, of=case(CALL), vocabulary=embedded()))
    assert (badge.state, badge.label) == ("warn", "marker without id")
    assert badge.token is not None
    assert pieces[badge.token].text[:1] == "<"
    assert "1 more marker" in badge.sentence


def test_one_marker_spelled_so_is_named_alone() -> None:
    pieces = get_tokenizer("embedded", {}).pieces("<tool_call>")
    assert "more marker" not in one("marker_ids", subject(pieces, vocabulary=embedded())).sentence


def test_a_marker_whose_text_is_skipped_is_found() -> None:
    pieces = recorded(("a", 1, "text"), ("<tool_call>", 2, "special"))
    after = [pieces[0], Piece("", 2, b"<tool_call>", "special", True)]
    badge = one("marker_ids", subject(pieces, after=after))
    assert (badge.label, badge.token) == ("id without text", 1)


def test_without_ids_markers_are_text_only() -> None:
    assert one("marker_ids", subject([Piece("<tool_call>")])).label == "text only"


def test_ids_that_the_vocabulary_lacks_are_listed_once() -> None:
    pieces = [Piece("", number % 20 + 500, None, "unknown", True) for number in range(40)]
    badge = one("unknown", subject(pieces))
    assert (badge.state, badge.label, badge.token) == ("warn", "40 unknown", 0)
    assert badge.sentence.count("50") >= 1
    assert " …" in badge.sentence


@pytest.mark.parametrize(
    ("piece", "label"),
    [
        (Piece("\ufffd", 1, b"\xf0\x9f", "partial", True), "U+FFFD, from bytes"),
        (Piece("\ufffd", 1, "\ufffd".encode(), "text", True), "U+FFFD, the model's"),
        (Piece("\ufffd", 1, "\ufffd".encode()), "U+FFFD, pasted"),
        (Piece("\ufffd"), "U+FFFD, pasted"),
    ],
)
def test_it_is_said_who_wrote_a_replacement_character(piece: Piece, label: str) -> None:
    badge = one("replaced", subject([Piece("a", 2, b"a"), piece]))
    assert (badge.label, badge.token) == (label, 1)


def test_a_replacement_character_in_several_tokens_is_still_one_that_was_pasted() -> None:
    pieces = [Piece("", 1, b"\xef", "partial"), Piece("", 2, b"\xbf", "partial"), Piece("\ufffd", 3, b"\xbd")]
    assert one("replaced", subject(pieces)).label == "U+FFFD, pasted"


@pytest.mark.parametrize(
    ("pieces", "more", "fmt", "label"),
    [
        (recorded(("a", 1, "text"), ("<|im_end|>", 2, "special")), {}, "qwen", "end token"),
        (recorded(("a", 1, "text"), ("<|weird|>", 2, "special")), {}, "qwen", "end token"),
        (recorded(("a", 1, "text")), {}, "qwen", "end token stripped"),
        ([*recorded(("<|im_end|>", 2, "special")), Piece("", 9, None, "unknown")], {}, "qwen", "end token"),
        (recorded(("a", 1, "text")), {"context": {"finish_reason": "length"}}, "qwen", "cut off"),
        (recorded(("a", 1, "text")), {}, "passthrough", "no end token"),
    ],
)
def test_the_end_of_the_output_is_looked_at(pieces: list[Piece], more: dict[str, Any], fmt: str, label: str) -> None:
    text = "".join(piece.text for piece in pieces)
    found = subject(pieces, of=case(text, **more), fmt=builtin_formats()[fmt])
    assert one("end", found).label == label


def test_an_end_token_without_text_is_there_all_the_same() -> None:
    pieces = recorded(("a", 1, "text"), ("<|im_end|>", 2, "special"))
    after = [pieces[0], Piece("", 2, b"<|im_end|>", "special", True)]
    assert "left out" in one("end", subject(pieces, after=after)).sentence


@pytest.mark.parametrize(
    ("vocabulary", "more", "state", "label"),
    [
        (embedded(), {}, "note", "demo tokenizer"),
        (get_tokenizer("characters"), {}, "note", "no tokenizer"),
        (Normalising("a"), {}, "ok", "real tokenizer"),
        (None, {}, "note", "tokenizer not at hand"),
        (None, {"tokenizer": {"name": "elsewhere"}}, "note", "tokenizer not at hand"),
    ],
)
def test_the_tokenizer_is_named_for_what_it_is(vocabulary: Any, more: dict[str, Any], state: str, label: str) -> None:
    badge = one("tokenizer", subject([Piece("a", 1)], of=case("a", **more), vocabulary=vocabulary))
    assert (badge.state, badge.label) == (state, label)
    assert ("`elsewhere`" in badge.sentence) == bool(more)


def test_a_badge_leads_to_the_step_of_its_token(make: Any) -> None:
    run = make.run("ab\ufffd")
    row = badge_row(run, index_of(run))
    steps = {name: step for name, _, step in row.badges}
    assert steps["replaced"] == len(run.pieces)
    assert steps["policy"] is None
    assert "warning" in row.summary


def test_a_tokenizer_that_fails_leaves_the_other_statements(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def badges(subject: Subject) -> dict[str, Any]:
        if subject.vocabulary is not None:
            raise UsageError("the tokenizer took too long")
        return {}

    monkeypatch.setattr(page_badges, "badges", badges)
    run = make.run("another text that nobody ran")
    assert badges_of(run) == {}
    assert badge_row(run, index_of(run)).summary == "all fine"


@pytest.mark.replays
def test_the_page_has_the_badges_and_the_toggle(client: FlaskClient) -> None:
    page = client.get("/example/two-calls-with-prose?equal=1").text
    told = page.count('class="token-badge badge-note"') + page.count('class="token-badge badge-warn"')
    assert f"{10 - told} fine" in page
    assert 'data-equal="1"' in page
    assert re.search(r'data-equal-toggle\s+aria-pressed="true"', page)


@pytest.mark.replays
def test_a_long_output_has_its_badges_with_the_report(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.runs.runner.SHORT", 3)
    form = {"text": "more than three tokens, badges later", "parser": "passthrough"}
    assert 'class="badges' not in client.post("/run", data=form).text
    htmx = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#inspector"}
    report = client.post("/run", data={**form, "report": "1"}, headers=htmx).text
    assert 'class="badges' in report
    assert '<hx-partial hx-target="#findings"' in report
    assert 'id="strip"' not in report
    assert 'class="badges' in client.post("/run", data=form).text


def test_what_a_lossy_vocabulary_does_not_keep_is_said() -> None:
    lossy = Normalising("hi")
    lossy.realism, lossy.info = "lossy", {"loses": ["blanks", "case"]}
    told = "Not kept: which blanks and line ends stand between words, and how many; upper case."
    found = subject(recorded(("Hi", 1, "text")), of=case("Hi"), vocabulary=lossy)
    assert (one("round_trip", found).state, one("tokenizer", found).state) == ("warn", "note")
    assert one("round_trip", found).sentence.endswith(told)
    assert one("tokenizer", found).sentence.endswith(told)
