"""What is written of an outcome, and what a later run can say of it."""

from __future__ import annotations

import hashlib

import pytest
import rfc8785

from parsers.cases.stored_outcome import (
    MOST_KEPT,
    SHOWN,
    Drift,
    PartOf,
    drift,
    has_outcome,
    outcome_digest,
    read_message,
    written_message,
)
from parsers.checks import CHECKS
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message, ToolCall

MESSAGE = Message("r", "c", [ToolCall("id", "f", "{}")])
FINDINGS = [Finding("chunking", "error", "parser", "words"), Finding("known_tool", "warning", "output", "words")]


def found(*names: str) -> list[Finding]:
    return [Finding(name, "error", "parser", "words") for name in names]


def test_the_digest_changes_with_the_outcome_only() -> None:
    digest = outcome_digest(MESSAGE, "stop", FINDINGS)
    reworded = [Finding("known_tool", "warning", "output", "other", step=3), FINDINGS[0], FINDINGS[0]]
    assert digest == outcome_digest(MESSAGE, "stop", reworded)
    others = [
        outcome_digest(MESSAGE, "length", FINDINGS),
        outcome_digest(MESSAGE, "stop", FINDINGS[:1]),
        outcome_digest(Message("r", "c", [ToolCall("id", "f", "{}", complete=False)]), "stop", FINDINGS),
        outcome_digest(Message("r", "c\ud800"), None, FINDINGS),
        outcome_digest(MESSAGE, "stop", None),
    ]
    assert len({digest, *others}) == 6


def test_it_fits_beside_a_case_however_much_was_found() -> None:
    long = Message("r" * 1_000_000, "c" * 1_000_000, [ToolCall("id", "f", "{}")] * 9_999)
    assert len(outcome_digest(long, "content_filter", found(*CHECKS))) <= 128


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        (["chunking"], ["chunking"], True),
        (["chunking"], [], False),
        (None, ["chunking"], True),
        (None, None, True),
        (["chunking"], None, None),
    ],
)
@pytest.mark.parametrize("old", [False, True])
def test_what_was_saved_before_it_was_checked_is_known_by_its_message(
    then: list[str] | None, now: list[str] | None, same: bool | None, old: bool
) -> None:
    known, today = (None if names is None else found(*names) for names in (then, now))
    digest = (_old if old else outcome_digest)(Message("r", "c"), "stop", known)
    assert has_outcome(digest, Message("r", "c"), "stop", today) is same
    assert has_outcome(digest, Message("r", "d"), "stop", today) in (False, None if same is None and old else False)


def _old(message: Message, finish_reason: str, findings: list[Finding] | None) -> str:
    """A digest as earlier versions stored it."""
    outcome: dict[str, object] = {"message": message.to_json(), "finish_reason": finish_reason}
    if findings is not None:
        outcome["findings"] = sorted([[one.check, one.severity, one.about] for one in findings])
    digest = hashlib.sha256(rfc8785.dumps(outcome)).hexdigest()  # type: ignore[arg-type]
    return digest if findings is not None else f"unchecked {digest}"


def test_of_an_old_digest_it_is_known_that_something_changed_and_no_more() -> None:
    digest = _old(Message("r", "c"), "stop", found("chunking"))
    assert drift(digest, Message("r", "c"), "stop", found("chunking")) is None
    said = drift(digest, Message("r", "d"), "stop", found("chunking"))
    assert said == Drift()
    assert (said.changed, said.words, said.unchanged) == ([], "", "")


def test_a_run_that_came_out_as_stored_is_none() -> None:
    assert drift(outcome_digest(MESSAGE, "stop", FINDINGS), MESSAGE, "stop", FINDINGS) is None


def test_what_differs_is_said_part_by_part() -> None:
    digest = outcome_digest(MESSAGE, "stop", [*FINDINGS, *found(*[f"gone_{number}" for number in range(12)])])
    said = drift(digest, Message(None, "cc", []), "length", found("known_tool"), [Message("c", "c")])
    assert said is not None
    assert said.words == "What differs: the reasoning, the content, the calls and 2 more."
    assert [*said.parts[:4]] == [
        PartOf("reasoning", "1 character", "none", same=False),
        PartOf("content", "1 character", "2 characters", same=False, texts=("c", "cc")),
        PartOf("calls", "1 call", "none", same=False),
        PartOf("finish reason", "stop", "length", same=False),
    ]
    assert ([part.is_unknown for part in said.parts], said.is_unknown) == ([True, False, True, False, False], True)
    assert said.parts[4].then.startswith("chunking (error), one of a check that is no more")
    assert said.parts[4].then.endswith(" and 4 more")
    assert (said.parts[4].now, said.parts[4].same) == ("known_tool (error)", False)


CALL = ToolCall("a", "f", '{"a": "\ud800"}')


@pytest.mark.parametrize(
    ("then", "now", "sides"),
    [
        (Message("r", "long " * 99 + "x"), Message("r", "long " * 99 + "y"), ("x", "y")),
        (Message(None, "c", [CALL]), Message(None, "c", []), ('f({"a": "\ud800"})', "")),
        (Message(None, None, [CALL]), Message("r", None, [CALL]), ("", "r")),
        (
            Message(None, None, [CALL, CALL]),
            Message(None, None, [CALL, ToolCall("b", CALL.name, CALL.arguments)]),
            ('f({"a": "\ud800"}) a\nf({"a": "\ud800"}) a', 'f({"a": "\ud800"}) a\nf({"a": "\ud800"}) b'),
        ),
        (
            Message(None, None, [ToolCall("a", "f", "{", complete=False)]),
            Message(None, None, [ToolCall("a", "f", "{}")]),
            ("f({) cut off", "f({})"),
        ),
    ],
)
def test_both_messages_are_told_where_the_first_was_written(
    then: Message, now: Message, sides: tuple[str, str]
) -> None:
    written = written_message(then)
    assert written is not None
    assert written.isascii()
    assert read_message(written) == then
    said = drift(outcome_digest(then, "stop", []), now, "stop", [], [read_message(written)])
    assert said is not None
    (part,) = said.changed
    assert part.sides is not None
    assert all(text.endswith(end) and len(text) <= SHOWN + 2 for text, end in zip(part.sides, sides, strict=True))
    assert said.is_unknown is False


def test_long_texts_are_told_around_the_place_where_they_part() -> None:
    then, now = ("a" * 5_000 + letter + "b" * 5_000 for letter in "xy")
    said = PartOf("content", "", "", same=False, texts=(then, now)).sides
    assert said is not None
    assert [(text[0], text[61], text[-1], len(text)) for text in said] == [("…", letter, "…", 242) for letter in "xy"]


def test_a_part_of_which_only_the_size_is_known_has_no_sides() -> None:
    assert PartOf("content", "1 character", "none", same=False).sides is None


def test_a_message_that_is_very_long_is_not_written() -> None:
    assert written_message(Message(None, "c" * MOST_KEPT)) is None


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (None, FINDINGS, ("not checked", "chunking (error), known_tool (warning)", None)),
        (FINDINGS, None, ("chunking (error), known_tool (warning)", "not checked", None)),
        ([], [], ("none", "none", True)),
    ],
)
def test_findings_are_compared_where_both_sides_have_them(
    then: list[Finding] | None, now: list[Finding] | None, told: tuple[str, str, bool | None]
) -> None:
    said = drift(outcome_digest(MESSAGE, None, then), Message("r", "d"), "odd", now)
    assert said is not None
    part = said.parts[4]
    assert (part.then, part.now, part.same) == told
    assert said.parts[3] == PartOf("finish reason", "none", "odd", same=False)


def test_a_finish_reason_that_nobody_knows_is_another_one() -> None:
    said = drift(outcome_digest(MESSAGE, "strange", []), MESSAGE, "stop", [])
    assert said is not None
    assert said.parts[3].then == "another one"
    back = drift(outcome_digest(MESSAGE, "stop", []), MESSAGE, None, [])
    assert back is not None
    assert (back.parts[3].then, back.parts[3].now) == ("stop", "none")
