"""The token strip, and what is known of single tokens."""

from __future__ import annotations

from typing import Any

import pytest
from markupsafe import escape

from parsers.decoding import TokenFacts
from parsers.vocabulary.types import Piece, UsageError
from webapp.glyphs import hexed
from webapp.page.inspect.badges import badges_of
from webapp.page.inspect.index import index_of
from webapp.page.inspect.tokens import Chip, Repeats, Tokens, known_tokens, strip
from webapp.page.inspect.window import window_around
from webapp.runs.runner import Run
from webapp.tokenizers import get_tokenizer

WORD = get_tokenizer("embedded").encode(" the")[0]
PLAIN = TokenFacts()
SMILE = "🙂".encode()


def test_the_strip_spells_every_token_and_marks_the_cursor(make: Any) -> None:
    run = make.run("I say Zürich\n")
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 2), 2)
    assert [token.current for token in drawn.tokens].index(True) == 1
    assert drawn.tokens[0].label.startswith("1, id ")
    assert "newline" in drawn.tokens[-1].label
    assert drawn.tokens[-1].breaks
    assert drawn.note == f"13 characters, {len(run.pieces)} tokens"


def test_a_token_without_text_shows_its_bytes(make: Any) -> None:
    run = make.run("Reykjavík é")
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1)
    silent = [token for token, piece in zip(drawn.tokens, run.pieces, strict=True) if not piece.text]
    assert silent
    assert all(token.chip and token.chip.text == "C3 …" and "no text yet" in token.label for token in silent)


def test_facts_say_tokens_bytes_and_destination(make: Any) -> None:
    run = make.run("word " * 8, replay=[{"by": "token", "size": 5}])
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1)
    assert drawn.facts[0].tokens == "1 to 5"
    assert drawn.facts[-1].tokens == "none: the output ended"
    assert drawn.facts[0].raw.startswith("77 6F")


def test_many_bytes_are_counted(make: Any) -> None:
    run = make.run("word " * 8, replay=[{"by": "whole"}])
    facts = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1).facts[0]
    assert facts.raw.endswith("… 40 in all")


def test_bytes_are_shown_in_rows(make: Any) -> None:
    run = make.run("0123456789é")
    rows = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1).hex_rows
    shown = [(at, " ".join(part.hex for part in parts), "".join(part.ascii for part in parts)) for at, parts in rows]
    assert shown == [(0, "30 31 32 33 34 35 36 37", "01234567"), (8, "38 39 C3 A9", "89..")]
    assert {(part.role, part.step) for _, parts in rows for part in parts} >= {("content", 1)}
    assert [part.step for _, parts in rows for part in parts] == sorted(
        part.step for _, parts in rows for part in parts
    )


def stored(make: Any, *tokens: list[Any], **more: Any) -> Run:
    case = make.case("", "passthrough", **{"input": {"tokens": list(tokens)}, "source": {"kind": "recorded"}, **more})
    found: Run = make.runner.run(case)
    return found


def test_tokens_that_our_tokenizer_made_are_of_its_vocabulary(make: Any) -> None:
    known = known_tokens(make.run("a text"))
    assert known.vocabulary is not None
    assert (known.vocabulary.name, known.fates) == ("embedded", None)
    assert known_tokens(make.run("a text")) is known


@pytest.mark.parametrize(
    ("tokenizer", "tokens", "known"),
    [
        (None, [[WORD, " the"], [WORD, " the"]], False),
        ({"name": "embedded"}, [[40, "I"], [WORD, " the"]], True),
        ({"name": "embedded"}, [[40, "I"], [WORD, "other"]], False),
        ({"name": "embedded"}, [[40, "I"], [999_999, "?", {"hex": "00", "kind": "unknown"}]], True),
        ({"name": "embedded"}, [[None, "I"]], False),
        ({"name": "embedded", "fingerprint": get_tokenizer("embedded").fingerprint}, [[40, "I"]], True),
        ({"name": "nowhere"}, [[40, "I"]], False),
    ],
)
def test_stored_tokens_are_of_the_named_vocabulary_if_their_bytes_agree(
    make: Any, tokenizer: dict[str, str] | None, tokens: list[Any], known: bool
) -> None:
    run = stored(make, *tokens, **({"tokenizer": tokenizer} if tokenizer else {}))
    assert (known_tokens(run).vocabulary is not None) == known


def test_a_decode_policy_leaves_the_exact_tokens_beside_the_decoded_ones(make: Any) -> None:
    marker = [7, "<x>", {"kind": "special"}]
    run = stored(make, [40, "I"], marker, decode={"skip_special_tokens": True})
    known = known_tokens(run)
    assert [piece.text for piece in known.exact] == ["I", "<x>"]
    assert known.fates is not None
    assert known.fates[1].skipped
    chip = known.chip(1)
    assert chip is not None
    assert chip.kind == "skipped"
    labels = {name: badge.label for name, badge in badges_of(run).items()}
    assert (labels["decoded"], labels["policy"]) == ("1 special token skipped", "special tokens skipped")


def smile() -> list[Piece]:
    """A character in three tokens, the first of which has text before it."""
    return [
        Piece(" ", 1, b" " + SMILE[:2], "partial"),
        Piece("", 2, SMILE[2:3], "partial"),
        Piece("🙂", 3, SMILE[3:], "text"),
    ]


def rows(tokens: Tokens, at: int) -> dict[str, tuple[str, str]]:
    return {row.name: (row.value, row.note) for row in tokens.rows(at)}


def test_a_silent_token_shows_what_waits_and_where_it_ends() -> None:
    tokens = Tokens(smile())
    assert tokens.chip(0) == Chip("pending", "F0 9F …", "no text yet, completes at token 3")
    assert tokens.chip(1) == Chip("pending", "F0 9F 99 …", "no text yet, completes at token 3")
    assert tokens.chip(2) is None
    assert rows(tokens, 1)["Pending"] == ("F0 9F 99", "completes at token 3")
    assert "Pending" not in rows(tokens, 2)


def test_a_character_that_nothing_completes_is_said_to_be_so() -> None:
    chip = Tokens(smile()[:2]).chip(1)
    assert chip is not None
    assert chip.words == "no text yet, nothing completes it"


@pytest.mark.parametrize(
    ("piece", "facts", "kind", "text"),
    [
        (Piece("", 5, b"<|im_end|>", "special"), TokenFacts(skipped=True), "skipped", "<|im_end|>"),
        (Piece("", 5, None, "special"), TokenFacts(skipped=True), "skipped", "no text"),
        (Piece("", 5, b"END", "text"), TokenFacts(stopped=True), "stopped", "END"),
        (Piece("", 5, b"\xf0\x9f", "partial"), TokenFacts(lost=b"\xf0\x9f"), "lost", "F0 9F"),
        (Piece("", 5, None, "unknown"), PLAIN, "unknown", "id 5"),
        (Piece("", None, None, "text"), PLAIN, "silent", "no text"),
        (Piece("", 5, b"\xf0", "partial"), TokenFacts(pending=b"\xf0"), "pending", "F0 …"),
    ],
)
def test_what_has_no_text_has_a_chip_that_says_why(piece: Piece, facts: TokenFacts, kind: str, text: str) -> None:
    chip = Tokens([piece], [facts]).chip(0)
    assert chip is not None
    assert (chip.kind, chip.text) == (kind, text)
    assert escape(text.split()[0]) in chip.html


def test_a_token_with_text_has_no_chip() -> None:
    assert Tokens([Piece("a", 1, b"a")], [PLAIN]).chip(0) is None
    assert Tokens([Piece("a", 1, b"a")], [TokenFacts(stopped=True)]).chip(0) is None


def test_a_marker_in_a_chip_shows_what_cannot_be_seen() -> None:
    chip = Tokens([Piece("", 1, "\u202e".encode(), "special")], [TokenFacts(skipped=True)]).chip(0)
    assert chip is not None
    assert "RLO" in chip.html


def test_the_rows_say_id_string_bytes_kind_and_where_the_id_is_from() -> None:
    vocabulary = get_tokenizer("embedded", {"<x>": True})
    pieces = vocabulary.pieces_of(vocabulary.encode(" the<x>"))
    said = rows(Tokens(pieces, None, vocabulary), 0)
    assert said["Token"] == ("1", "of 2")
    assert said["Id"] == (str(pieces[0].token_id), "recorded")
    assert (said["String"][0], said["Bytes"][0], said["Kind"][0]) == ("Ġthe", "20 74 68 65", "ordinary")
    assert rows(Tokens(pieces, None, vocabulary), 1)["Kind"][0] == "special"


def test_a_token_without_an_id_has_no_string() -> None:
    said = rows(Tokens([Piece("a")], None, get_tokenizer("characters")), 0)
    assert said["Id"] == ("none", "")
    assert said["Bytes"] == ("61", "")
    assert "String" not in said


def test_assumed_ids_and_missing_bytes_are_said() -> None:
    said = rows(Tokens([Piece("", 9, b"", "unknown")]), 0)
    assert said["Id"] == ("9", "assumed")
    assert said["Bytes"] == ("none", "")


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        (TokenFacts(skipped=True), "Text"),
        (TokenFacts(stopped=True), "Text"),
        (TokenFacts(lost=b"\xf0"), "Lost"),
        (TokenFacts(late=3), "Late"),
        (TokenFacts(revised=True), "Revised"),
    ],
)
def test_what_a_decode_policy_did_is_a_row(facts: TokenFacts, row: str) -> None:
    assert row in rows(Tokens([Piece("a", 1, b"a")], [facts]), 0)
    assert row not in rows(Tokens([Piece("a", 1, b"a")], [PLAIN]), 0)


def test_equal_tokens_share_a_number_and_know_their_neighbours() -> None:
    repeats = Repeats([Piece("a", 1), Piece("b", 2), Piece("a", 1), Piece("c"), Piece("c"), Piece("a", 1)])
    assert [repeats.number(at) for at in range(6)] == [1, 0, 1, 2, 2, 1]
    assert repeats.place(0) == (1, 3, None, 2)
    assert repeats.place(2) == (2, 3, 0, 5)
    assert repeats.place(5) == (3, 3, 2, None)


def test_many_bytes_are_cut_and_counted() -> None:
    assert hexed(b"abc", 2) == "61 62 … 3 in all"


def test_the_strip_numbers_equal_tokens_and_says_which_one_is_under_the_cursor(make: Any) -> None:
    run = make.run("one two one two one")
    tokens = Tokens(run.pieces, None, None, Repeats(run.pieces))
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1, tokens)
    equal = [token for token in drawn.tokens if token.same]
    assert equal
    assert all(f"same-{token.same}" in token.classes and "data-same" in token.attributes for token in equal)
    facts = drawn.facts[equal[0].number - 1]
    assert facts.equal.startswith("1 of ")
    assert [word for word, _ in facts.nearest] == ["next"]


def test_revised_tokens_and_markers_have_a_class_of_their_own(make: Any) -> None:
    run = make.run("a<tool_call>")
    facts = [TokenFacts(revised=at == 0) for at in range(len(run.pieces))]
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1, Tokens(run.pieces, facts))
    assert "revised" in drawn.tokens[0].classes
    assert drawn.tokens[0].label.endswith("taken back by the decoder")
    assert "added" in drawn.tokens[-1].classes


def test_a_step_that_has_a_part_of_a_token_names_the_token(make: Any) -> None:
    run = make.run("word", replay=[{"by": "char"}])
    drawn = strip(index_of(run), run.pieces, window_around(index_of(run), 1), 1)
    assert drawn.facts[0].rows[0].name in ("Part of", "Token")
    assert drawn.facts[-1].rows == []


def test_a_vocabulary_that_is_gone_leaves_the_string_out() -> None:
    class Gone:
        def token(self, token_id: int) -> None:
            raise UsageError("the tokenizer took too long")

    vocabulary: Any = Gone()
    assert "String" not in rows(Tokens([Piece("a", 1, b"a")], None, vocabulary), 0)
