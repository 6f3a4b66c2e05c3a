"""Where two replays part: channels, offsets, steps and the texts around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.compare.divergence import (
    ANY_ID,
    EXCERPT,
    Divergence,
    Rules,
    divergence,
    excerpt,
    grade,
    message_key,
    same_message,
    shared_prefix,
)
from parsers.vocabulary.channels import CONTENT, REASONING, Channel
from parsers.vocabulary.events import (
    CallArguments,
    CallId,
    CallName,
    ContentText,
    Event,
    ReasoningText,
    Segment,
)
from parsers.vocabulary.trace import StateView, Step, Trace
from parsers.vocabulary.types import Message, MessageDelta, Span, ToolCall, ToolCallDelta
from parsers.wire.assemble import Assembler

F = ToolCall("id-0", "f", '{"a": 1}')


def trace(text: str, message: Message, steps: Sequence[tuple[int, Sequence[Event], MessageDelta | None]] = ()) -> Trace:
    """A trace with steps (end of the text fed, events, delta)."""
    made, start = [], 0
    for index, (end, events, delta) in enumerate(steps, 1):
        view = StateView("CONTENT")
        made.append(Step(index, Span(start, end), (), "CONTENT", (), (), tuple(events), delta, view))
        start = end
    return Trace("demo", (), {}, "text", text, made, message)


def spoken(*contents: str, reason: str = "stop", calls: Sequence[ToolCall] = ()) -> Trace:
    """A trace that streams these pieces of content, one per step."""
    steps, end = [], 0
    for piece in contents:
        steps.append((end + len(piece), [ContentText(end, end + len(piece), piece)], None))
        end += len(piece)
    made = trace("".join(contents), Message(content="".join(contents), tool_calls=list(calls)), steps)
    made.finish_reason = reason
    return made


def calling(text: str, *events: Event, calls: Sequence[ToolCall], cut: int = 1) -> Trace:
    """A trace whose events come one per step, the text fed up to where each ends."""
    steps = [(event.end, [event], None) for event in events]
    return trace(text, Message(tool_calls=list(calls)), [(cut, [], None), *steps])


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (Message(), Message(reasoning="", content=""), True),
        (Message(content="a"), Message(content="b"), False),
        (Message(reasoning="a"), Message(content="a"), False),
        (Message(tool_calls=[F]), Message(tool_calls=[ToolCall("id-0", "f", '{"a": 1}')]), True),
        (Message(tool_calls=[F]), Message(), False),
        (Message(tool_calls=[F]), Message(tool_calls=[ToolCall("id-0", "f", '{"a":1}')]), False),
        (Message(tool_calls=[F]), Message(tool_calls=[ToolCall("id-0", "g", '{"a": 1}')]), False),
        (Message(tool_calls=[F]), Message(tool_calls=[ToolCall("id-0", "f", '{"a": 1}', complete=False)]), False),
        (Message(tool_calls=[F]), Message(tool_calls=[ToolCall("id-9", "f", '{"a": 1}')]), False),
    ],
)
def test_messages_are_the_same_when_they_say_the_same(a: Message, b: Message, same: bool) -> None:
    assert same_message(a, b) is same
    assert (message_key(a) == message_key(b)) is same


def test_ids_can_be_left_out_and_none_is_an_empty_id() -> None:
    a, b, c = (Message(tool_calls=[ToolCall(id, "f", "{}")]) for id in ("x", None, ""))
    assert same_message(a, b, ANY_ID)
    assert not same_message(a, b)
    assert same_message(b, c)


def calls_of(arguments: str) -> Message:
    return Message(tool_calls=[ToolCall(None, "f", arguments)])


@pytest.mark.parametrize(
    ("a", "b", "level"),
    [
        (Message(content="a b"), Message(content="a b"), None),
        (Message(content="a b"), Message(content=" a\n\nb "), "whitespace"),
        (Message(content="a b"), Message(content="ab"), "whitespace"),
        (Message(reasoning=" "), Message(), "whitespace"),
        (Message(content="ab"), Message(content="ac"), "text"),
        (Message(reasoning="a"), Message(content="a"), "text"),
        (Message(content="a", tool_calls=[F]), Message(content="b"), "calls"),
        (calls_of('{"a":0.50}'), calls_of('{ "a": 0.5 }'), "spelling"),
        (calls_of('{"a": "\\u00e9"}'), calls_of('{"a": "é"}'), "spelling"),
        (calls_of('{"a": 1, "b": [2]}'), calls_of('{"b":[2],"a":1}'), "key_order"),
        (calls_of('{"a": [1, 2]}'), calls_of('{"a": [2, 1]}'), "calls"),
        (calls_of('{"a": 0.50}'), calls_of('{"a": 0.05}'), "calls"),
        (calls_of('{"a": 1'), calls_of('{"a":1'), "calls"),
        (calls_of('{"a":1}'), replace(calls_of('{"a": 1}'), content="b"), "text"),
        (calls_of('{"a":1}'), replace(calls_of('{"a": 1}'), content=" "), "whitespace"),
        (calls_of('{"a":1,"b":2}'), replace(calls_of('{"b":2,"a":1}'), content=" "), "key_order"),
    ],
)
def test_differences_come_in_grades(a: Message, b: Message, level: str | None) -> None:
    assert grade(a, b) == level


@pytest.mark.parametrize(
    ("rules", "same"),
    [
        (Rules(), (False, False, False)),
        (Rules(arguments="json"), (True, False, False)),
        (Rules(whitespace="soft"), (False, True, False)),
        (Rules("json", "soft"), (True, True, False)),
    ],
)
def test_rules_say_what_counts_as_a_difference(rules: Rules, same: tuple[bool, ...]) -> None:
    pairs = [
        (calls_of('{"a": 1, "b": 2}'), calls_of('{"b":2,"a":1}')),
        (Message(" a\n\nb", "c "), Message("a b", "c")),
        (calls_of("{oops"), calls_of("{oops ")),
    ]
    assert tuple(same_message(a, b, rules) for a, b in pairs) == same
    for (a, b), equal in zip(pairs, same, strict=True):
        assert (divergence(bare(a), bare(b), rules) is None) is equal


def test_rules_that_let_something_pass_have_words() -> None:
    assert [Rules().words(), Rules("json").words(), Rules(whitespace="soft").words()] == [
        "",
        "arguments compared as JSON values",
        "whitespace compared softly",
    ]
    assert Rules(calls="index").words() == "calls compared by index"
    assert Rules("json", "soft").words() == "arguments compared as JSON values, whitespace compared softly"


def bare(message: Message) -> Trace:
    return trace("", message)


@given(st.text("ab", max_size=12), st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_the_shared_prefix_is_the_longest(head: str, a: str, b: str) -> None:
    length = shared_prefix(head + a, head + b)
    left, right = head + a, head + b
    assert left[:length] == right[:length]
    assert length == min(len(left), len(right)) or left[length] != right[length]


@given(st.integers(0, 700), st.integers(0, 700))
def test_an_excerpt_is_short_and_shows_the_place(length: int, offset: int) -> None:
    text = "".join(chr(0x4E00 + n) for n in range(length))
    short = excerpt(text, offset)
    assert len(short) == min(length, EXCERPT)
    assert text[min(offset, length - 1)] in short if length else short == ""
    assert short.strip("…") in text


def test_equal_traces_do_not_part() -> None:
    assert divergence(spoken("Hi"), spoken("H", "i")) is None


def test_content_parts_at_its_first_different_character() -> None:
    a, b = spoken("Hello ", "world"), spoken("Hello wor", "m")
    assert divergence(a, b) == Divergence(CONTENT, 9, 9, 2, 2, "Hello world", "Hello worm")


def test_where_one_text_ends_the_step_is_the_one_that_was_fed_the_other_character() -> None:
    a, b = spoken("Hi ", "there"), spoken("Hi ")
    b.text, b.steps = a.text, [*b.steps, Step(2, Span(3, 5), (), "C", (), (), (), None, StateView("C"))]
    b.steps = [*b.steps, Step(3, Span(5, 8), (), "C", (), (), (), None, StateView("C"))]
    assert divergence(a, b) == Divergence(CONTENT, 3, 3, 2, 2, "Hi there", "Hi ")
    assert divergence(b, a) == Divergence(CONTENT, 3, 3, 2, 2, "Hi ", "Hi there")


def test_the_earliest_place_in_the_output_is_reported() -> None:
    early = [ReasoningText(0, 2, "Hm"), ContentText(2, 4, "ab")]
    a = trace("Hmab", Message("Hm", "ab"), [(4, early, None)])
    b = trace("Hmab", Message("Hx", "b"), [(4, [ContentText(3, 4, "b"), ReasoningText(0, 2, "Hx")], None)])
    found = divergence(a, b)
    assert found is not None
    assert (found.channel, found.raw) == (REASONING, 1)


def test_a_black_box_parts_at_a_step_without_an_offset() -> None:
    a = trace("ab", Message(content="ab"), [(1, [], MessageDelta(content="a")), (2, [], MessageDelta(content="b"))])
    b = trace("ab", Message(content="ax"), [(2, [], MessageDelta(content="ax"))])
    assert divergence(a, b) == Divergence(CONTENT, 1, None, 2, 1, "ab", "ax")


ARGUMENTS = CallArguments(4, 12, '{"a": 1}', call=0)
NAME, ID = CallName(3, 4, "f", call=0), CallId(3, 3, "id-0", (Segment("id-0", 3, 3, "synthetic"),), call=0)
TEXT = '<c>f{"a": 1}</c>'


def test_names_ids_and_arguments_are_channels_of_their_own() -> None:
    a = calling(TEXT, ID, NAME, ARGUMENTS, calls=[F])
    other = CallArguments(4, 11, '{"a": 2', (Segment('{"a": 2', 4, 11, "converted"),), call=0)
    b = calling(TEXT, ID, NAME, other, calls=[ToolCall("id-0", "f", '{"a": 2')])
    found = divergence(a, b)
    assert found == Divergence(Channel(0, "arguments"), 6, 4, 4, 4, '{"a": 1}', '{"a": 2')


def test_ids_part_only_when_they_count() -> None:
    a = calling(TEXT, ID, NAME, ARGUMENTS, calls=[F])
    other = CallId(3, 3, "id-9", (Segment("id-9", 3, 3, "synthetic"),), call=0)
    b = calling(TEXT, other, NAME, ARGUMENTS, calls=[ToolCall("id-9", "f", '{"a": 1}')])
    found = divergence(a, b)
    assert found is not None
    assert (found.channel, found.offset, found.raw) == (Channel(0, "id"), 3, 3)
    assert divergence(a, b, ANY_ID) is None
    c = calling(TEXT, other, NAME, ARGUMENTS, calls=[ToolCall("id-9", "g", '{"a": 1}')])
    named = divergence(a, c, ANY_ID)
    assert named is not None
    assert named.channel == Channel(0, "name")


def test_a_call_that_is_complete_on_one_side_only() -> None:
    a = calling(TEXT, NAME, ARGUMENTS, calls=[ToolCall(None, "f", '{"a": 1}')])
    b = calling(TEXT, NAME, ARGUMENTS, calls=[ToolCall(None, "f", '{"a": 1}', complete=False)])
    assert divergence(a, b) == Divergence(Channel(0, "complete"), 8, 12, 3, 3, "complete", "not complete")


def test_a_surplus_call_is_placed_at_its_name() -> None:
    a = calling(TEXT, NAME, ARGUMENTS, calls=[ToolCall(None, "f", '{"a": 1}')])
    b = trace(TEXT, Message(), [(2, [], None), (16, [], None)])
    assert divergence(a, b) == Divergence(Channel(None, "calls"), 0, 3, 2, 2, "1 call: f", "no call")
    assert divergence(b, a) == Divergence(Channel(None, "calls"), 0, 3, 2, 2, "no call", "1 call: f")


def test_a_surplus_call_of_a_black_box_has_a_step_on_its_own_side() -> None:
    delta = MessageDelta(tool_calls=[ToolCallDelta(0, "x", "f"), ToolCallDelta(1, "y", "g")])
    calls = [ToolCall("x", "f", ""), ToolCall("y", "g", "")]
    a, b = trace("fg", Message(tool_calls=calls), [(2, [], delta)]), trace("fg", Message())
    assert divergence(a, b) == Divergence(Channel(None, "calls"), 0, None, 1, None, "2 calls: f, g", "no call")
    assert divergence(b, a) == Divergence(Channel(None, "calls"), 0, None, None, 1, "no call", "2 calls: f, g")


def test_finish_reasons_are_compared_last() -> None:
    a, b = spoken("Hi", reason="stop"), spoken("H", "i", reason="length")
    assert divergence(a, b) == Divergence(Channel(None, "finish_reason"), 0, None, 1, 2, "stop", "length")
    a.steps = []
    found = divergence(a, b)
    assert found is not None
    assert found.step_a is None


def begun(*indices: int) -> Trace:
    """A black box that begins its calls in this order."""
    parts = [MessageDelta(tool_calls=[ToolCallDelta(index, f"i{index}", f"f{index}", "{}")]) for index in indices]
    made = Assembler()
    steps = [Step(n, Span(0, 0), (), "", (), (), (), part, StateView("")) for n, part in enumerate(parts, 1)]
    for index in indices:
        made.add([CallName(0, 0, f"f{index}", (), index), CallId(0, 0, f"i{index}", (), index)])
        made.add([CallArguments(0, 0, "{}", (), index)])
    return Trace("demo", (), {}, "text", "", steps, made.message())


def test_calls_that_begin_in_another_order_differ_unless_only_the_index_counts() -> None:
    a, b = begun(0, 1, 2), begun(0, 2, 1)
    assert (a.message.order, b.message.order) == ((), (0, 2, 1))
    assert a.message.tool_calls == b.message.tool_calls
    parting = divergence(a, b)
    assert parting is not None
    assert (parting.channel, parting.offset, parting.step_a, parting.step_b) == (Channel(None, "calls"), 1, 2, 2)
    assert (parting.expected, parting.actual) == ("3 calls: f0, f1, f2", "3 calls: f0, f2, f1")
    assert grade(a.message, b.message) == "calls"
    assert same_message(a.message, b.message, Rules(calls="index"))
    assert divergence(a, b, Rules(calls="index")) is None
