"""What is written of an outcome, and what a later run can say of it."""

from __future__ import annotations

import hashlib
import re

import pytest
import rfc8785

from parsers.cases.message_events import EventKind, MessageEvent
from parsers.cases.outcome_words import WrittenOutcome
from parsers.cases.stored_outcome import SHOWN, Drift, Outcome, PartOf, drift, has_outcome, outcome_digest
from parsers.checks import CHECKS
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message, ToolCall

MESSAGE = Message("r", "c", [ToolCall("id", "f", "{}")])
FINDINGS = [Finding("chunking", "error", "parser", "words"), Finding("known_tool", "warning", "output", "words")]


def came(message: Message, finish_reason: str | None = "stop", findings: list[Finding] | None = None) -> Outcome:
    """An outcome whose parts came in the usual order."""
    texts = [MessageEvent("reasoning", message.reasoning or ""), MessageEvent("text", message.content or "")]
    calls = [MessageEvent("tool_call", call.arguments, call.name) for call in message.tool_calls]
    return Outcome(message, [*[one for one in texts if one.text], *calls], finish_reason, findings)


def found(*names: str) -> list[Finding]:
    return [Finding(name, "error", "parser", "words") for name in names]


def test_the_digest_changes_with_the_outcome_only() -> None:
    digest = outcome_digest(came(MESSAGE, "stop", FINDINGS))
    reworded = [Finding("known_tool", "warning", "output", "other", step=3), FINDINGS[0], FINDINGS[0]]
    assert digest == outcome_digest(came(MESSAGE, "stop", reworded))
    others = [
        came(MESSAGE, "length", FINDINGS),
        came(MESSAGE, "stop", FINDINGS[:1]),
        came(Message("r", "c", [ToolCall("id", "f", "{}", complete=False)]), "stop", FINDINGS),
        came(Message("r", "c\ud800"), None, FINDINGS),
        came(MESSAGE, "stop", None),
        Outcome(MESSAGE, [*reversed(came(MESSAGE).events)], "stop", FINDINGS),
    ]
    assert len({digest, *map(outcome_digest, others)}) == 7


@pytest.mark.replays
def test_it_fits_beside_a_case_however_much_was_found() -> None:
    long = Message("r" * 1_000_000, "c" * 1_000_000, [ToolCall("id", "f", "{}")] * 9_999)
    assert len(outcome_digest(came(long, "content_filter", found(*CHECKS)))) <= 128


@pytest.mark.parametrize(
    ("before", "now", "same"),
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
    before: list[str] | None, now: list[str] | None, same: bool | None, old: bool
) -> None:
    known, today = (None if names is None else found(*names) for names in (before, now))
    then = came(Message("r", "c"), "stop", known)
    digest = _old(then) if old else outcome_digest(then)
    assert has_outcome(digest, came(Message("r", "c"), "stop", today)) is same
    other = has_outcome(digest, came(Message("r", "d"), "stop", today))
    assert other in (False, None if same is None and old else False)


def _old(then: Outcome) -> str:
    """A digest as the first versions stored it."""
    outcome: dict[str, object] = {"message": then.message.to_json(), "finish_reason": then.finish_reason}
    if then.findings is not None:
        outcome["findings"] = sorted([[one.check, one.severity, one.about] for one in then.findings])
    digest = hashlib.sha256(rfc8785.dumps(outcome)).hexdigest()  # type: ignore[arg-type]
    return digest if then.findings is not None else f"unchecked {digest}"


def _without_order(then: Outcome) -> str:
    """A digest as versions before the order stored it."""
    return re.sub(r" o\w{8}", "", "2" + outcome_digest(then)[1:])


def test_of_an_old_digest_it_is_known_that_something_changed_and_no_more() -> None:
    digest = _old(came(Message("r", "c"), "stop", found("chunking")))
    assert drift(digest, came(Message("r", "c"), "stop", found("chunking"))) is None
    said = drift(digest, came(Message("r", "d"), "stop", found("chunking")))
    assert said == Drift()
    assert (said.changed, said.words, said.unchanged) == ([], "", "")


def test_a_run_that_came_out_as_stored_is_none() -> None:
    then = came(MESSAGE, "stop", FINDINGS)
    assert drift(outcome_digest(then), then) is None


ORDERS: list[tuple[EventKind, ...]] = [
    ("text", "tool_call", "text"),
    ("text", "text", "tool_call"),
    ("tool_call", "text", "text"),
]


def ordered(kinds: tuple[EventKind, ...]) -> Outcome:
    """An outcome whose message is the same whatever the order is."""
    texts = iter(("a", "b"))
    events = [MessageEvent(kind, "{}" if kind == "tool_call" else next(texts)) for kind in kinds]
    return Outcome(Message(None, "ab", [ToolCall("id", "f", "{}")]), events, "stop", [])


def test_another_order_alone_is_told() -> None:
    then, now = ordered(ORDERS[0]), ordered(ORDERS[1])
    said = drift(outcome_digest(then), now, WrittenOutcome(then.message, then.shape))
    assert said is not None
    assert said.changed == [PartOf("order", "content (1), call, content (1)", "content (1), content (1), call", False)]
    assert (said.words, said.is_unknown) == ("What differs: the order.", False)
    unwritten = drift(outcome_digest(then), now)
    assert unwritten is not None
    assert unwritten.changed[0].then == "another one"


def test_the_order_is_told_as_the_same_and_not_beside_other_texts() -> None:
    then = ordered(ORDERS[0])
    other_reason = drift(outcome_digest(then), Outcome(then.message, then.events, "length", []))
    assert other_reason is not None
    assert "order (content (1), call, content (1))" in other_reason.unchanged
    other_text = drift(outcome_digest(then), came(Message(None, "abc", then.message.tool_calls), "stop", []))
    assert other_text is not None
    assert [part.name for part in other_text.parts] == ["reasoning", "content", "calls", "finish reason", "findings"]


@pytest.mark.parametrize("now", ORDERS)
def test_what_was_stored_without_its_order_has_not_drifted_for_lack_of_it(now: tuple[EventKind, ...]) -> None:
    digest = _without_order(ordered(ORDERS[0]))
    assert drift(digest, ordered(now)) is None
    said = drift(digest, came(Message(None, "ab", []), "stop", []))
    assert said is not None
    assert said.words == "What differs: the calls."
    then = ordered(now)
    said = drift(digest, Outcome(then.message, then.events, "length", []))
    assert said is not None
    assert [part.name for part in said.parts] == ["reasoning", "content", "calls", "finish reason", "findings"]


def test_what_differs_is_said_part_by_part() -> None:
    gone = found(*[f"gone_{number}" for number in range(10)])
    digest = outcome_digest(came(MESSAGE, "stop", [*FINDINGS, *gone]))
    said = drift(digest, came(Message(None, "cc", []), "length", found("known_tool")), before=[Message("c", "c")])
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
    said = drift(outcome_digest(came(then, "stop", [])), came(now, "stop", []), WrittenOutcome(then))
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
    said = drift(outcome_digest(came(MESSAGE, None, then)), came(Message("r", "d"), "odd", now))
    assert said is not None
    part = said.parts[4]
    assert (part.then, part.now, part.same) == told
    assert said.parts[3] == PartOf("finish reason", "none", "odd", same=False)


def test_a_finish_reason_that_nobody_knows_is_another_one() -> None:
    said = drift(outcome_digest(came(MESSAGE, "strange", [])), came(MESSAGE, "stop", []))
    assert said is not None
    assert said.parts[4].then == "another one"
    back = drift(outcome_digest(came(MESSAGE, "stop", [])), came(MESSAGE, None, []))
    assert back is not None
    assert (back.parts[4].then, back.parts[4].now) == ("stop", "none")
