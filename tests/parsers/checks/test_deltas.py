"""deltas_build_message, name_once_before_arguments, id_once, index_dense."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import run_checks
from parsers.checks.deltas import clients
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Message, MessageDelta, ToolCall, ToolCallDelta
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
Part = tuple[int, str | None, str | None, str | None]
F, G = ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}")


def streamed(build: Build, *deltas: list[Part] | str | None, message: Message | None = None) -> Trace:
    """A trace of these deltas: content, or a list of (index, id, name, arguments)."""
    made = {
        number: MessageDelta(content=delta)
        if delta is None or isinstance(delta, str)
        else MessageDelta(tool_calls=[ToolCallDelta(*part) for part in delta])
        for number, delta in enumerate(deltas, 1)
    }
    return build(*[[] for _ in deltas], deltas=made, message=message or Message(tool_calls=[F]))


def check(name: str, trace: Trace) -> list[Finding]:
    return run_checks(subject(trace), [name]).findings


def test_deltas_that_add_up_hold(build: Build) -> None:
    trace = streamed(build, "Hi", [(0, "a", "f", None)], [(0, None, None, '{"x":')], None, [(0, None, None, " 1}")])
    trace.message.content = "Hi"
    assert check("deltas_build_message", trace) == []


@pytest.mark.parametrize(
    ("name", "deltas", "message", "words", "step"),
    [
        (
            "monotone",
            ["Hello"],
            Message(content="Help"),
            "The deltas depart from the message at character 3 of the content.",
            1,
        ),
        (
            "deltas_build_message",
            ["He", "y"],
            Message(content="Hey you"),
            "The deltas stop short at character 3 of the content.",
            2,
        ),
        ("monotone", ["x"], Message(), "The deltas depart from the message at character 0 of the content.", 1),
        ("monotone", [[(1, None, "f", "{")]], Message(), "Call 1 is streamed, but the message has 0 calls.", 1),
    ],
)
def test_deltas_that_do_not_add_up(
    build: Build, name: str, deltas: list[str], message: Message, words: str, step: int
) -> None:
    trace = streamed(build, *deltas, message=message)
    (finding,) = [*check("monotone", trace), *check("deltas_build_message", trace)]
    assert finding.check == name
    assert (finding.message, finding.step, finding.severity) == (words, step, "error")


def test_text_that_an_event_has_but_no_delta_sent_is_found_at_its_step(build: Build) -> None:
    trace = build([("content", "Hi ")], [("content", "there")], deltas={2: None})
    (finding,) = check("deltas_build_message", trace)
    assert (finding.message, finding.step) == ("The deltas stop short at character 3 of the content.", 2)
    assert (finding.expected, finding.actual) == ("Hi there", "Hi ")


@pytest.mark.parametrize(
    ("deltas", "messages"),
    [
        ([[(0, "a", "f", '{"x": 1}')]], []),
        ([[(0, "a", "f", None)], [(0, None, None, "{")]], []),
        ([[(0, "a", None, "{"), (0, None, "f", "}")]], ["Arguments of call 0 (`f`) are sent before its name."]),
        ([[(0, "a", "f", "{")], [(0, None, "f", "}")]], ["The name of call 0 (`f`) is sent again, as `f`."]),
        ([[(0, "a", "f", "{}")], [(0, "b", "f", "{}")]], ["Index 0 serves two calls: `f`, and then `f`."]),
        ([[(0, "a", "f", "{}")], [(0, None, "g", "{}")]], ["Index 0 serves two calls: `f`, and then `g`."]),
        (
            [[(0, "a", "get_", None)], [(0, None, "city", "{}")]],
            ["The name of call 0 (`f`) is not sent whole: `get_`, and then `city`."],
        ),
        ([[(0, "a", "", None)]], ["Call 0 is never given a name."]),
        ([[(0, "a", None, None)]], ["Call 0 is never given a name."]),
        ([[(0, "a", "f", None)], [(-7, "x", None, "{")]], ["Arguments of call -7 are sent before its name."]),
    ],
)
def test_a_name_comes_once_whole_and_first(build: Build, deltas: list[list[Part]], messages: list[str]) -> None:
    found = check("name_once_before_arguments", streamed(build, *deltas))
    assert [finding.message for finding in found] == messages
    assert all(finding.severity == "error" for finding in found)


def test_a_call_without_a_name_is_found(build: Build) -> None:
    trace = build([("name", ""), ("arguments", "{}"), ("end",)])
    assert [f.message for f in check("no_empty_delta", trace)] == ["The name of call 0 is sent empty."]


@pytest.mark.parametrize(
    ("deltas", "messages"),
    [
        ([[(0, "a", "f", None)], [(0, None, None, "{}")]], []),
        (
            [[(0, None, "f", None)], [(0, "a", None, "{}")]],
            ["Call 0 begins without an id.", "The id of call 0 is sent again."],
        ),
        ([[(0, "a", "f", None)], [(0, "a", None, "{}")]], ["The id of call 0 is sent again."]),
        ([[(0, "", "f", None)]], ["Call 0 begins without an id."]),
    ],
)
def test_an_id_comes_once_with_the_first_delta(build: Build, deltas: list[list[Part]], messages: list[str]) -> None:
    found = check("id_once", streamed(build, *deltas))
    assert [(finding.message, finding.severity) for finding in found] == [(message, "error") for message in messages]


def test_an_id_that_two_calls_share_is_the_parsers_unless_the_model_wrote_it(build: Build) -> None:
    made = build(*[[("id", "", "x"), ("name", "f"), ("arguments", "{}"), ("end",)]] * 2)
    written = build(*[[("id", "x"), ("name", "f"), ("arguments", "{}"), ("end",)]] * 2)
    found = [*check("id_once", made), *check("id_once", written)]
    assert [(f.severity, f.about, f.step, f.message) for f in found] == [
        ("error", "parser", 2, "Calls 0 and 1 have the same id."),
        ("warning", "output", 2, "Calls 0 and 1 have the same id, as the model wrote it."),
    ]


def test_calls_without_an_id_share_none(build: Build) -> None:
    trace = streamed(build, message=Message(tool_calls=[ToolCall(None, "f", "{}"), ToolCall(None, "g", "{}")]))
    assert check("id_once", trace) == []


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ([0, 0, 1, 1], []),
        ([0, 1, 0, 0], []),
        (
            [1, 0],
            [("error", 1, "Call 1 begins where call 0 should."), ("error", 2, "Call 0 begins where call 1 should.")],
        ),
        (
            [0, 2],
            [("error", 2, "Call 2 begins where call 1 should.")],
        ),
        (
            [-1],
            [("error", 1, "Call -1 begins where call 0 should.")],
        ),
    ],
)
def test_calls_are_numbered_in_order(build: Build, order: list[int], found: list[tuple[str, int, str]]) -> None:
    deltas: list[list[Part]] = [[(index, None, None, "x")] for index in order]
    trace = streamed(build, *deltas, message=Message(tool_calls=[F, G]))
    assert [(f.severity, f.step, f.message) for f in check("index_dense", trace)] == found


def test_a_call_taken_up_again_is_a_warning(build: Build) -> None:
    deltas: list[list[Part]] = [[(index, None, None, "x")] for index in (0, 1, 0, 0)]
    found = check("calls_apart", streamed(build, *deltas, message=Message(tool_calls=[F, G])))
    assert [(f.severity, f.step, f.message) for f in found] == [("warning", 3, "Call 0 goes on after call 1 began.")]


def test_a_part_of_a_call_that_says_nothing_is_a_note_once(build: Build) -> None:
    found = check(
        "no_empty_delta", streamed(build, [(0, "a", "f", None)], [(0, None, None, "")], [(0, None, None, None)])
    )
    assert [(f.severity, f.step, f.message) for f in found] == [
        ("info", 2, "A part of call 0 is sent that says nothing.")
    ]


def test_clients_put_calls_together_in_their_own_ways(build: Build) -> None:
    trace = streamed(build, [(0, "a", "f", "{")], [(0, None, None, "}"), (1, "a", "g", "{}")])
    results = clients(trace)
    assert [result.calls for result in results] == [
        [("f", "{}"), ("g", "{}")],
        [("fg", "{}{}")],
        [("f", "{"), ("g", "{}")],
    ]
    assert [(result.broke, result.step) for result in results] == [
        ("", None),
        ("", None),
        ("a part of call 0 has no id", 2),
    ]
    unnamed = clients(streamed(build, [(0, None, "f", None)], [(0, "a", None, "{}")]))
    assert [result.broke for result in unnamed[1:]] == ["call 0 begins without an id", "a part of call 0 has no id"]
    half = clients(streamed(build, [(0, "a", None, None)], [(0, None, None, "{}")]))
    assert half[2].broke == "a part of call 0 has no name"


def test_a_client_that_breaks_on_shared_ids_is_named_in_a_note(build: Build) -> None:
    calls = [ToolCall("a", "f", "{}"), ToolCall("a", "g", "{}")]
    trace = streamed(build, [(0, "a", "f", "{}"), (1, "a", "g", "{}")], message=Message(tool_calls=calls))
    (finding,) = check("deltas_build_message", trace)
    assert (finding.severity, finding.actual) == ("info", "fg({}{})")
    assert finding.message == "A client that keeps calls by their id breaks: it gets 1 call."


def test_a_black_box_without_ids_misleads_nobody_by_them(build: Build) -> None:
    trace = streamed(build, [(0, None, "f", '{"x": 1}')])
    trace.message.tool_calls[0] = ToolCall(None, "f", '{"x": 1}')
    assert run_checks(subject(trace, black_box=True), ["deltas_build_message"]).findings == []
