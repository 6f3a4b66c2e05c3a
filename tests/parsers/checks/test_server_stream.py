"""What the checks say of a server's stream: played back for itself, and beside the replay of the same output.

Every fault is put into a stream that is right otherwise, in which nothing is found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import replayer_of
from parsers.checks import run_checks
from parsers.checks.check import Need
from parsers.checks.deltas import clients
from parsers.checks.subject import subject_of
from parsers.replays.recorded import BlackBox
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Piece
from webapp.engines import choose

Payload = dict[str, Any]
Change = Callable[[list[Payload]], list[Payload]]
TOOLS = [{"name": "f", "parameters": {"type": "object"}}, {"name": "g"}]


def chunk(delta: Payload, finish: str | None = None) -> Payload:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: Any = 0, id: str | None = None, **function: Any) -> Payload:
    return chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})


ROLE = chunk({"role": "assistant", "content": ""})
THOUGHT, ANSWER = chunk({"reasoning": "Hm."}), chunk({"content": "Hi"})
OPEN, ARGS, MORE = call(0, "a", name="f", arguments=""), call(arguments='{"x"'), call(arguments=": 1}")
SECOND = call(1, "b", name="g", arguments="{}")
END = chunk({}, "tool_calls")
RIGHT = [ROLE, THOUGHT, ANSWER, OPEN, ARGS, MORE, SECOND, END]


def found(stream: list[Payload], text: str | None = None, parser: str = "recorded", **more: Any) -> list[Finding]:
    given = {"stream": stream} if text is None else {"stream": stream, "text": text}
    case = load_case({"schema": 1, "parser": {"name": parser}, "input": given, "tools": TOOLS, **more})
    replayer = replayer_of(case, choose(case), tuple([Piece(char) for char in text or ""]))
    trace = replayer.trace(replayer.traced)
    return run_checks(subject_of(replayer, trace, trace, ()), case.checks).findings


def told(findings: list[Finding]) -> list[tuple[str, int | None]]:
    return [(finding.check, finding.step) for finding in findings if finding.severity != "info"]


def at(place: int, *payloads: Payload) -> Change:
    """The stream with other chunks in place of one."""
    return lambda stream: [*stream[:place], *payloads, *stream[place + 1 :]]


def test_nothing_is_found_in_a_right_stream() -> None:
    assert found(RIGHT) == []


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        pytest.param(
            at(5, call(name="f", arguments=": 1}")), [("name_once_before_arguments", 6), ("known_tool", 4)], id="N1"
        ),
        pytest.param(at(4, call(name="", arguments='{"x"')), [("no_empty_delta", 5)], id="N2"),
        pytest.param(at(6, call(2, "b", name="g", arguments="{}")), [("index_dense", 7)], id="N4"),
        pytest.param(at(4, call(0, "c", arguments='{"x"')), [("id_once", 5)], id="N5, another id"),
        pytest.param(at(3, call(0, None, name="f", arguments="")), [("id_once", 4)], id="N5, no id"),
        pytest.param(at(6, call(1, "a", name="g", arguments="{}")), [("id_once", 7)], id="N5, shared"),
        pytest.param(lambda stream: [*stream[:5], SECOND, MORE, END], [("calls_apart", 7)], id="N6"),
        pytest.param(
            at(5, MORE, call(arguments='{"x": 1}')), [("sent_once", 6), ("arguments_prefix", 7)], id="K4, resent whole"
        ),
        pytest.param(at(7, chunk({}, "stop")), [("finish_reason", 9)], id="F3, stop with calls"),
        pytest.param(at(7), [("finish_reason", 8)], id="F3, none"),
        pytest.param(at(2, chunk({"content": "<tool_call>"})), [("no_terminal_leak", 3)], id="L1"),
        pytest.param(at(1, chunk({"reasoning": "[TOOL_CALLS]"})), [("no_reasoning_leak", 2)], id="L2"),
        pytest.param(at(2, chunk({"content": "Hi<|im_end|>"})), [("no_control_tokens", 3)], id="L5"),
        pytest.param(at(2, chunk({"content": "H\ufffd"})), [("utf8_clean", 3)], id="U1"),
        pytest.param(at(4, call(arguments={"x": 1})), [("chunk_shape", 5), ("arguments_prefix", 6)], id="K3, object"),
        pytest.param(at(4, call(None, arguments='{"x"')), [("chunk_shape", 5)], id="K3, no index"),
        pytest.param(at(2, {"error": {"message": "dead"}}), [("chunk_shape", 3)], id="K3, error"),
    ],
)  # fmt: skip
def test_a_fault_of_the_server_is_found_at_its_chunk(change: Change, wanted: list[tuple[str, int | None]]) -> None:
    assert told(found(change(RIGHT))) == wanted


def test_a_reason_that_the_calls_do_not_say_is_taken_as_it_is() -> None:
    cut = [ROLE, THOUGHT, OPEN, ARGS, chunk({}, "length")]
    assert told(found(cut)) == []
    assert told(found([ROLE, ANSWER, chunk({}, "content_filter")])) == []


def test_checks_that_need_the_raw_output_are_skipped_with_that_reason() -> None:
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": RIGHT}})
    replayer = replayer_of(case, choose(case), ())
    trace = replayer.trace(replayer.traced)
    skipped = dict(run_checks(subject_of(replayer, trace, trace, ())).skipped)
    unknown = {name for name, why in skipped.items() if why is Need.RAW}
    assert unknown == {
        "spans_cover_input", "all_output_lost", "nothing_invented", "no_double_ownership", "no_early_leak",
        "strings_whole", "values_kept", "emission_lag", "spaces_kept", "channels_kept", "names_kept",
        "calls_as_promised", "no_structure_sent",
    }  # fmt: skip
    assert skipped["whole_equals_streamed"] is Need.WHOLE
    assert skipped["server_agrees"] is Need.SERVER_DELTAS


def test_reasoning_that_may_have_been_closed_is_said_so() -> None:
    (finding,) = found([THOUGHT, chunk({}, "stop")])
    assert finding.message == "All of the output is reasoning, without an answer: whether it was closed is not known."


def test_a_shape_is_told_once_with_how_often_it_comes() -> None:
    parts = [call(None, "a", name="f", arguments="{"), call(None, arguments="}"), END]
    messages = [finding.message for finding in found(parts) if finding.check == "chunk_shape"]
    assert messages == ["Chunk 1: A part of a call has no index; it is taken for call 0 (2 times in all)."]


# Clients


def played(stream: list[Payload]) -> Trace:
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}})
    replayer = replayer_of(case, choose(case), ())
    return replayer.trace(replayer.traced)


F, G = ("f", '{"x": 1}'), ("g", "{}")


@pytest.mark.parametrize(
    ("stream", "wanted"),
    [
        pytest.param(RIGHT, [([F, G], None), ([F, G], None), ([("f", ""), G], 5)], id="right"),
        pytest.param(
            [OPEN, call(None, arguments="{}"), END], [([("f", "")], 2), ([("f", "{}")], None), ([("f", "")], 2)],
            id="no index stops the one that adds up by index",
        ),
        pytest.param(
            [OPEN, call(arguments={"x": 1}), SECOND, END], [([("f", "")], 2)] * 3, id="an object stops all of them",
        ),
        pytest.param(
            [chunk({"function_call": {"name": "f", "arguments": "{}"}}), END],
            [([], 1)] * 3,
            id="none sees an old call",
        ),
        pytest.param(
            [OPEN, call(0, "b", name="g", arguments="{}"), END],
            [([("fg", "{}")], None), ([("f", ""), ("g", "{}")], None), ([("fg", "{}")], None)],
            id="an index that restarts",
        ),
        pytest.param(
            [call(name="f", arguments="{}")], [([("f", "{}")], None), ([("f", "{}")], 1), ([], 1)], id="no id"
        ),
    ],
)  # fmt: skip
def test_each_client_gets_its_own_calls(
    stream: list[Payload], wanted: list[tuple[list[tuple[str, str]], int | None]]
) -> None:
    assert [(one.calls, one.step) for one in clients(played(stream))] == wanted


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (
            [OPEN, call(None, arguments="{}"), END],
            "A client that adds up by index (the OpenAI libraries) breaks at step 2 "
            "(A part of a call has no index; it is taken for call 0): it gets 1 call.",
        ),
        (
            [OPEN, call(0, "b", arguments="{}"), END],
            "A client that keeps calls by their id breaks: it gets 2 calls.",
        ),
    ],
)
def test_who_breaks_is_a_note(stream: list[Payload], message: str) -> None:
    notes = [finding.message for finding in found(stream) if finding.check == "deltas_build_message"]
    assert notes == [message]


# Beside a replay


def test_the_old_function_call_has_no_id_and_a_finish_reason_of_its_own() -> None:
    old = chunk({"function_call": {"name": "f", "arguments": "{}"}})
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]}
    assert [one.check for one in found([old, ended]) if one.severity == "error"] == []
    mixed = found([OPEN, ended])
    assert "finish_reason" in [one.check for one in mixed if one.severity == "error"]


TEXT = '<think>Hm.</think>Hi<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'
AGREES = [ROLE, THOUGHT, ANSWER, OPEN, ARGS, MORE, END]


def beside(stream: list[Payload], text: str = TEXT, parser: str = "qwen", **more: Any) -> list[Finding]:
    return found(stream, text, parser, checks=["server_agrees"], **more)


def test_a_server_that_agrees_is_found_nothing_of() -> None:
    assert beside(AGREES) == []


@pytest.mark.parametrize(
    ("change", "message", "grade", "severity"),
    [
        (
            at(5, call(arguments=": 2}")),
            "The server's chunk 6 departs from the replay (step 65) at character 6 of the arguments of call 0 (`f`).",
            "calls", "warning",
        ),
        (
            at(5, chunk({})),
            "The server's deltas end at character 4 of the arguments of call 0 (`f`), with chunk 5; "
            "the replay (step 63) goes on.",
            "calls", "warning",
        ),
        (
            at(2, chunk({"content": "Hi!"})),
            "The server's chunk 3 goes on at character 2 of the content, where the replay (step 20) ends.",
            "text", "warning",
        ),
        (
            at(2, chunk({"content": "Hi\n"})),
            "The server's chunk 3 goes on at character 2 of the content, where the replay (step 20) ends.",
            "whitespace", "info",
        ),
        (
            at(2, chunk({})),
            "The server's deltas end at character 0 of the content; the replay (step 19) goes on.",
            "text", "warning",
        ),
        (
            at(3, call(0, None, name="f", arguments="")),
            "The server's deltas end at character 0 of the id of call 0 (`f`); the replay (step 43) goes on.",
            "calls", "warning",
        ),
        (
            at(6, SECOND, END), "The server's chunk 7 begins call 1 (`g`), which the replay does not have.",
            "calls", "warning",
        ),
        (
            at(6, chunk({}, "stop")),
            "The finish reason of the server's chunk 7 is `stop`, that of the replay `tool_calls`.",
            None, "warning",
        ),
        (
            at(6), "What was recorded ends before a finish reason: what came after it is not known.", None, "warning",
        ),
    ],
)  # fmt: skip
def test_where_a_server_departs_is_said_by_its_chunk_and_our_step(
    change: Change, message: str, grade: str | None, severity: str
) -> None:
    (finding,) = beside(change(AGREES))
    assert (finding.message, finding.grade, finding.severity) == (message, grade, severity)


def test_both_texts_stand_in_the_finding() -> None:
    (finding,) = beside(at(5, call(arguments=": 2}"))(AGREES))
    assert (finding.expected, finding.actual, finding.step) == ('{"x": 1}', '{"x": 2}', 65)


def test_a_call_that_the_server_never_sent_is_one_finding() -> None:
    (finding,) = beside([ROLE, THOUGHT, ANSWER, END])
    assert finding.message == "The replay begins call 0 (`f`) at step 43; the server sent no such call."
    assert (finding.expected, finding.actual) == ('f({"x": 1})', "")


@pytest.mark.parametrize(
    ("sent", "text", "what", "grade"),
    [
        ([chunk({"content": TEXT[:30]}), chunk({"content": TEXT[30:]})], TEXT, "the whole output", "calls"),
        ([chunk({"content": TEXT.strip()})], f"\n{TEXT}\n<|im_end|>", "the whole output", "calls"),
        ([THOUGHT, chunk({"content": TEXT[20:]})], TEXT, "the calls", "calls"),
        ([chunk({"content": "<think>Hm.</think>Hi"})], "<think>Hm.</think>Hi", "the whole output", "text"),
    ],
    ids=["nothing read", "nothing read but the end", "reasoning read", "no call"],
)
def test_a_server_without_a_parser_is_one_finding_about_how_it_was_started(
    sent: list[Payload], text: str, what: str, grade: str
) -> None:
    (finding,) = beside([*sent, chunk({}, "stop")], text, "qwen3")
    assert finding.message == (
        f"The server sent {what} as content, markup and all: no parser that reads it was at work there."
    )
    assert (finding.about, finding.grade, finding.severity) == ("request", grade, "warning")
    assert finding.expected == ('f({"x": 1})' if grade == "calls" else "Hm.")


@pytest.mark.parametrize(
    "sent",
    [[chunk({"content": TEXT}), OPEN, ARGS, MORE], [chunk({"content": TEXT[:-10]})], [chunk({"content": "Hi"})]],
    ids=["markup and calls", "part of the markup", "no markup"],
)
def test_a_server_that_sends_something_else_had_a_parser(sent: list[Payload]) -> None:
    assert all(finding.about == "parser" for finding in beside([*sent, END]))


def test_text_where_the_replay_has_none_is_said_without_a_step() -> None:
    (finding,) = beside([ANSWER, chunk({}, "stop")], text="<think></think>")
    assert finding.message == "The server's chunk 1 goes on at character 0 of the content, where the replay ends."


def test_ids_count_where_the_parser_copies_them() -> None:
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    )
    right = [call(0, "functions.f:0", name="f", arguments="{}"), END]
    assert beside(right, text, "kimik2") == []
    (finding,) = beside([call(0, "call_1", name="f", arguments="{}"), END], text, "kimik2")
    assert "of the id of call 0 (`f`)" in finding.message


PIECES = ["<think>", "Hm.", "</think>", "Hi", "<tool_call>", '{"name": "f", "arguments": ', '{"x"', ": 1}", "}"]
PIECES.append("</tool_call>")
SENT = [chunk({}), THOUGHT, chunk({}), ANSWER, chunk({}), OPEN, ARGS, MORE, chunk({}), chunk({})]


def timed(stream: list[Payload]) -> list[str]:
    data = {"stream": stream, "deltas": [{"text": piece} for piece in PIECES]}
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": data, "checks": ["server_agrees"]})
    replayer = replayer_of(case, choose(case), tuple([Piece(piece) for piece in PIECES]))
    trace = replayer.trace(replayer.traced)
    return [found.message for found in run_checks(subject_of(replayer, trace, trace, ()), case.checks).findings]


def with_end(stream: list[Payload]) -> list[Payload]:
    """The finish reason comes with the last chunk."""
    last = {"choices": [{**stream[-1]["choices"][0], "finish_reason": "tool_calls"}]}
    return [*stream[:-1], last]


def test_a_chunk_that_sends_earlier_or_later_is_noted_where_the_text_of_each_is_known() -> None:
    assert timed(with_end(SENT)) == []
    late = [*SENT[:6], chunk({}), call(arguments='{"x": 1}'), *SENT[8:]]
    assert timed(with_end(late)) == [
        "Chunk 7 is the first to be early or late: by then the server has sent 0 characters of arguments, "
        "the replay 4 by step 7."
    ]
    last = [*SENT[:7], chunk({}), chunk({}), call(arguments=": 1}")]
    assert timed(with_end(last))[0].startswith("Chunk 8 is the first")


def test_the_end_is_no_place_to_compare_what_is_held() -> None:
    flushed = [*SENT[:9], chunk({}), END]
    data = {"stream": flushed, "deltas": [{"text": piece} for piece in [*PIECES, ""]]}
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": data})
    replayer = replayer_of(case, choose(case), tuple([Piece(piece) for piece in PIECES]))
    trace = replayer.trace(replayer.traced)
    assert replayer.server is not None
    assert replayer.server.ends is not None
    assert run_checks(subject_of(replayer, trace, trace, ()), ["server_agrees"]).findings == []


def test_a_black_box_beside_a_server_is_compared_by_its_deltas() -> None:
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": AGREES, "text": TEXT}})
    replayer = replayer_of(case, choose(case), tuple([Piece(char) for char in TEXT]))
    assert isinstance(replayer.make(), BlackBox)
    assert not replayer.has_raw
