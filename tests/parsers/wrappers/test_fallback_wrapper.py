"""The wrapper step by step: what moves it, what it says, what it holds, and what it answers when asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.formats.diagram import diagram, rows_table
from parsers.formats.model import builtin_formats
from parsers.replays.replay import replay
from parsers.selection.registry import get_format
from parsers.vocabulary.events import Diagnostic, Dropped
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, Tool
from parsers.wrappers.fallback import Fallback, FallbackOptions
from tests.amount import every
from tests.parsers.parsing import calls, codes, deltas, dropped, owners, rows, tokens

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
IDS = {"<tool_call>": 1, "</tool_call>": 2}


def traced(
    *texts: str,
    parser: str = "qwen",
    policy: Mapping[str, str] | None = None,
    context: Context | None = None,
    fed: list[Delta] | None = None,
    **options: Any,
) -> Trace:
    wrapper = Fallback(get_format(parser), policy, FallbackOptions(**options))
    mode, markers = ("text", None) if fed is None else ("ids", IDS)
    return replay(wrapper, fed or deltas(*texts), context or Context(), mode=mode, markers=markers)  # type: ignore[arg-type]


def said(trace: Trace) -> list[str]:
    return [event.message for _, event in trace.events() if isinstance(event, Diagnostic)]


def test_a_call_goes_through_the_table_and_out_in_one_delta_at_its_end_marker() -> None:
    trace = traced(*[f"Hi.\n{CALL}"[at : at + 5] for at in range(0, 68, 5)])
    assert rows(trace) == [
        ("NORMAL", "CALL_START", "BUFFERING"),
        ("BUFFERING", "CALL_END", "TRY_SELECTED"),
        ("TRY_SELECTED", "FOUND", "NORMAL"),
        ("NORMAL", "END", "NORMAL"),
    ]
    sent = [
        (step.end, delta) for step, delta in zip(trace.steps, trace.deltas, strict=True) if delta and delta.tool_calls
    ]
    assert len(sent) == 1
    assert [(call.name, call.arguments) for call in sent[0][1].tool_calls] == [("f", '{"a": 1}')]


def test_calls_have_the_ids_they_have_without_the_wrapper() -> None:
    fed, context = deltas(f"{CALL}\n{CALL}"), Context(id_seed=7)
    plain = choose(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}})).make()
    assert replay(plain, fed, context).message == replay(Fallback(get_format("qwen")), fed, context).message


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (CALL, ["TRY_SELECTED FOUND: found 1 call"]),
        (
            "<tool_call><function=f></function></tool_call>",
            ["TRY_SELECTED REFUSED: there is no call", "TRY_QWEN_CODER FOUND: found 1 call"],
        ),
        (
            '<tool_call>\n{"name": "f", "arguments": {"a": 1</tool_call>',
            [
                "TRY_SELECTED REFUSED: the arguments of f are not one JSON object",
                "TRY_JSON REFUSED: the arguments of f are not one JSON object",
                "TRY_REPAIR FOUND: found 1 call, 1 repaired",
            ],
        ),
        (
            "<tool_call>x</tool_call>",
            [
                "TRY_SELECTED REFUSED: there is no call",
                "TRY_JSON REFUSED: there is no call",
                "TRY_REPAIR REFUSED: there is no call",
                "TRY_REST RELEASED: no reading of it gives a call",
            ],
        ),
        (
            '<tool_call>x {"name": "f", "arguments": {}}</tool_call>',
            [
                "TRY_SELECTED REFUSED: there is no call",
                "TRY_JSON REFUSED: other text remains",
                "TRY_REPAIR REFUSED: there is no call",
                "TRY_REST RELEASED: no reading of it gives a call",
            ],
        ),
    ],
)
def test_every_step_of_the_chain_is_in_the_trace_with_its_outcome(text: str, steps: list[str]) -> None:
    trace = traced(text)
    fired = [row for step in trace.steps for row in step.transitions]
    tried = [row for row in fired if row.from_state.startswith("TRY_") and row.trigger != "SKIPPED"]
    assert [f"{row.from_state} {row.trigger}: {row.note}" for row in tried] == steps
    words = [f"{line.split()[0].removeprefix('TRY_').lower()}: {line.partition(': ')[2]}." for line in steps]
    assert [line for line in said(trace) if line.split(":")[0] + ":" in {w.split()[0] for w in words}] == words


def test_a_skipped_step_says_why_in_its_row_only() -> None:
    trace = traced("<tool_call>x</tool_call>")
    skipped = [row for step in trace.steps for row in step.transitions if row.trigger == "SKIPPED"]
    assert {row.from_state for row in skipped} == {
        *("TRY_GEMMA4", "TRY_PYTHONIC", "TRY_MINIMAX_M2", "TRY_QWEN_CODER", "TRY_XML"),
    }
    assert not [code for code in codes(trace) if code == "fallback_skipped"]


@pytest.mark.parametrize(
    ("fed", "note"),
    [(None, "By its text."), ([("<tool_call>", 1), CALL[11:-12], ("</tool_call>", 2)], "By its id.")],
)
def test_an_end_marker_counts_by_id_or_by_text(fed: list[Any] | None, note: str) -> None:
    trace = traced(CALL, fed=None if fed is None else tokens(*fed))
    assert calls(trace.message) == [("f", '{"a": 1}')]
    assert note in [row.note for step in trace.steps for row in step.transitions]


def test_a_marker_that_is_a_token_means_nothing_when_it_is_typed() -> None:
    trace = traced(fed=tokens(CALL))
    assert (trace.message.content, trace.message.tool_calls) == (CALL, [])
    assert rows(trace) == [("NORMAL", "END", "NORMAL")]


def test_a_start_marker_by_its_id_needs_no_line_of_its_own() -> None:
    trace = traced(fed=tokens("So: ", ("<tool_call>", 1), CALL[11:-12], ("</tool_call>", 2)))
    assert ("NORMAL", "CALL_START", "BUFFERING") in rows(trace)
    assert (trace.message.content, calls(trace.message)) == ("So: ", [("f", '{"a": 1}')])


def test_a_special_token_of_no_format_passes_as_the_parser_has_it() -> None:
    trace = traced(fed=tokens("a", ("<|other|>", 9, "special"), "b"))
    assert trace.message.content == "ab"
    assert dropped(trace) == [("<|other|>", "special token that the format does not use")]


def test_candidates_wait_for_an_end_marker_that_is_structure() -> None:
    trace = traced('<tool_call>{"name": "f", "arguments": {"a": "</tool_call></tool_call>"}}</tool_call>')
    assert [row[2] for row in rows(trace)].count("CANDIDATE_END") == 2
    assert codes(trace).count("candidate_end") == 2
    assert calls(trace.message) == [("f", '{"a": "</tool_call></tool_call>"}')]


def test_an_unfinished_payload_waits_once_and_is_final_at_the_second_end_marker() -> None:
    broken = "<tool_call><function=f><parameter=a>x</tool_call>"
    trace = traced(broken + " and </tool_call> more")
    assert ("TRY_REST", "CANDIDATE", "CANDIDATE_END") in rows(trace)
    assert ("TRY_REST", "RELEASED", "NORMAL") in rows(trace)
    assert trace.message.content == broken + " and </tool_call> more"


@pytest.mark.parametrize(("size", "kept"), [(len(CALL), True), (len(CALL) - 1, False), (11, False), (5, False)])
def test_the_budget_counts_characters_from_the_start_marker_on(size: int, kept: bool) -> None:
    trace = traced(CALL + " after", budget=size)
    assert bool(trace.message.tool_calls) is kept
    assert (trace.message.content == CALL + " after") is not kept
    assert ("BUFFERING", "BUDGET", "NORMAL") in rows(trace) or kept
    assert ("fallback_budget" in codes(trace)) is not kept
    assert bool(trace.rejected_calls) is not kept


def test_text_held_for_its_markup_has_the_same_budget() -> None:
    trace = traced(f"So: {CALL} and more", budget=30)
    assert trace.message.content == f"So: {CALL} and more"
    assert ("HELD", "RELEASED", "NORMAL") in rows(trace)
    again = traced(f"So: {CALL}\nand <tool_call> again", budget=30)
    assert rows(again).count(("NORMAL", "MARKUP", "HELD")) == 1


def test_markup_is_held_from_the_marker_on_and_no_further() -> None:
    trace = traced("So: ", "a <tool_call> b", " c")
    assert [step.state for step in trace.steps] == ["NORMAL", "HELD", "HELD", "NORMAL"]
    assert [delta.content if delta else None for delta in trace.deltas] == ["So: ", "a ", None, "<tool_call> b c"]
    hold = trace.steps[1].holds[0]
    assert (hold.start, hold.end, hold.kind) == (6, 19, "policy")


def test_a_buffer_that_is_text_stays_with_the_markup_before_it() -> None:
    text = "So <tool_call> is\n<tool_call>x</tool_call>\nall."
    trace = traced(text)
    assert trace.message.content == text
    assert rows(trace).count(("NORMAL", "MARKUP", "HELD")) == 2


def test_the_view_says_what_is_held_and_what_comes_next() -> None:
    wrapper = Fallback(get_format("qwen"))
    wrapper.begin(Context())
    assert wrapper.view().state == "NORMAL"
    assert set(wrapper.view().accepts) == {"CALL_START", "THINK_START", "THINK_END", "CALL_END", "CODE_FENCE"}
    wrapper.feed(deltas("  <tool")[0])
    view = wrapper.view()
    assert [(hold.kind, hold.start, hold.end) for hold in view.holds] == [("policy", 0, 2), ("lexer", 2, 7)]
    assert view.candidates == ("CALL_START",)
    wrapper.feed(deltas('_call>{"name"')[0])
    view = wrapper.view()
    assert (view.state, str(view.codec)) == ("BUFFERING", "qwen in TOOL_CALL: in the call object, depth 1, key name")
    assert [(hold.kind, hold.start, hold.end) for hold in view.holds] == [("policy", 0, 2), ("policy", 2, 20)]


def test_a_beginning_of_a_marker_that_is_none_is_text() -> None:
    trace = traced("a <tool", "box> </tool")
    assert trace.message.content == "a <toolbox> </tool"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"{CALL}</tool_call></tool_call>x", "x"),
        ("a</tool_call>b", "a</tool_call>b"),
        (f"{CALL}\n```\n</tool_call>", "\n```\n</tool_call>"),
    ],
)
def test_an_end_marker_without_a_start_is_structure_after_a_call_and_text_elsewhere(text: str, content: str) -> None:
    trace = traced(text)
    assert trace.message.content == content
    assert ("orphan_call_end" in codes(trace)) is (content == "x")


def test_a_bare_start_marker_is_structure_and_the_space_after_it_is_content() -> None:
    trace = traced("a\n<tool_call>\n")
    assert owners(trace) == [("a\n", "content"), ("<tool_call>", "marker"), ("\n", "content")]
    assert ("TRY_SELECTED", "BARE", "NORMAL") in rows(trace)
    assert not trace.rejected_calls


def test_the_space_after_a_bare_start_marker_is_structure_where_the_parser_has_it_so() -> None:
    assert owners(traced("[TOOL_CALLS] \n", parser="mistral")) == [("[TOOL_CALLS] \n", "marker")]


def test_text_follows_a_released_buffer_on_its_line() -> None:
    trace = traced(f"<tool_call>x</tool_call> {CALL}")
    assert rows(trace)[-1] == ("NORMAL", "END", "NORMAL")
    assert (trace.message.content, calls(trace.message)) == ("<tool_call>x</tool_call> ", [("f", '{"a": 1}')])


@pytest.mark.parametrize(
    ("policy", "context", "kept"),
    [({}, Context(), True), ({"invalid_call": "strict"}, Context(), False), ({}, Context(strict=True), False)],
)
def test_verdicts_are_alike_streamed_and_whole(policy: dict[str, str], context: Context, kept: bool) -> None:
    text = CALL.replace('{"a": 1}', "[1]")
    context.tools = (Tool("f"),)
    for trace in (traced(text, policy=policy, context=context), traced(*text, policy=policy, context=context)):
        assert bool(trace.message.tool_calls) is kept
        assert ("invalid_call" in codes(trace)) is kept
        assert ("no_valid_call" in codes(trace)) is not kept
        assert [call.name for call in trace.rejected_calls] == ([] if kept else ["f"])
        assert [reason for _, reason in dropped(trace)] == (
            [] if kept else ["invalid call: its arguments are not one JSON object"] * 2
        )


def test_the_feedback_names_what_was_asked_for() -> None:
    context = Context(tools=(Tool("g"), Tool("h")), tool_choice="named", named_tool="g", strict=True)
    words = said(traced(f"{CALL}\n{CALL}", context=context))[-1]
    assert words.startswith("No call is left: f, f were not valid. The request asks for g. Declared: g, h. ")
    words = said(traced(CALL.replace('{"a": 1}', "1"), context=Context(strict=True)))[-1]
    assert words.startswith("No call is left: f was not valid. A valid call")


def test_no_feedback_where_a_call_is_left() -> None:
    context = Context(tools=(Tool("f"),), strict=True)
    trace = traced(f"{CALL}\n{CALL.replace('f', 'g', 1)}", context=context)
    assert "no_valid_call" not in codes(trace)


def test_what_is_dropped_is_dropped_with_its_markers_kept_apart() -> None:
    trace = traced(CALL, context=Context(tools=(Tool("g"),), strict=True))
    assert [text for text, owner in owners(trace) if owner == "dropped"] == ["f", '{"a": 1}']
    assert not [run for run in trace.partition if run.owner == "content"]


@pytest.mark.parametrize("header", ["functions.f:0", "f", "<think>"])
def test_an_id_that_holds_the_name_is_dropped_once(header: str) -> None:
    text = f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>1<|tool_call_end|>"
    trace = traced(text, parser="kimik2", policy={"invalid_call": "strict"})
    gone = [(event.start, event.end) for _, event in trace.events() if isinstance(event, Dropped)]
    assert [text[start:end] for start, end in gone] == [header, "1"]


def test_a_call_inside_reasoning_that_the_prompt_opened_waits_for_the_end() -> None:
    trace = traced(f"Hm. {CALL}", context=Context(reasoning_open=True))
    assert (trace.message.reasoning, calls(trace.message)) == ("Hm. ", [("f", '{"a": 1}')])
    assert rows(trace)[0] == ("REASONING", "MARKUP", "HELD")


def test_a_fence_in_reasoning_or_inside_a_line_opens_no_code_block() -> None:
    trace = traced(f"<think>\n```\n</think>a ```\n{CALL}")
    assert calls(trace.message) == [("f", '{"a": 1}')]


def test_reasoning_ends_a_code_block() -> None:
    trace = traced(f"```\n<think>x</think>\n{CALL}")
    assert calls(trace.message) == [("f", '{"a": 1}')]


@pytest.mark.parametrize("parser", ["llama", "qwen"])
def test_with_tool_choice_none_nothing_is_held(parser: str) -> None:
    text = '{"name": "f", "parameters": {}} ' + CALL
    trace = traced(text, parser=parser, context=Context(tool_choice="none"))
    assert (trace.message.content, trace.message.tool_calls) == (text, [])


def test_a_format_without_start_markers_is_held_whole_and_quietly_let_go() -> None:
    trace = traced("Just", " words.", parser="llama")
    assert [step.state for step in trace.steps] == ["BUFFERING", "BUFFERING", "NORMAL"]
    assert trace.message.content == "Just words."
    assert not trace.rejected_calls
    assert traced(parser="llama").message.content is None


def test_a_whole_output_over_its_budget_goes_on_as_text() -> None:
    text = 'a {"name": "f", "parameters": {}} b'
    trace = traced(text, parser="llama", budget=10)
    assert (trace.message.content, trace.message.tool_calls) == (text, [])


@pytest.mark.replays
@pytest.mark.parametrize("name", every(16, builtin_formats(), start=1))
def test_every_format_can_be_wrapped_and_its_table_drawn(name: str) -> None:
    wrapper = Fallback(get_format(name))
    drawing = diagram(wrapper.format)
    assert {node.name for node in drawing.nodes} >= set(wrapper.format.states)
    assert len({line.id for line in rows_table(wrapper.format)}) == len(rows_table(wrapper.format))
    assert len(wrapper.format.states) < 20
    for state in wrapper.format.states.values():
        assert len({row.on for row in state.rows}) == len(state.rows)
        assert all(row.to in wrapper.format.states for row in state.rows)


@pytest.mark.replays
@pytest.mark.parametrize("name", every(6, builtin_formats()))
def test_a_wrapped_parser_reads_its_example_as_it_does_alone(name: str) -> None:
    case = {"schema": 1, "parser": {"name": name}, "input": {"text": get_format(name).example}}
    alone = run_case(load_case(case), compare=False).trace.message
    wrapped = run_case(load_case({**case, "parser": {"name": name, "engine": "fallback"}}), compare=False).trace
    assert calls(wrapped.message) == calls(alone)
    assert (wrapped.message.content, wrapped.message.reasoning) == (alone.content, alone.reasoning)


def test_a_start_marker_that_is_no_token_of_the_vocabulary_is_said_to_be_typed() -> None:
    wrapper = Fallback(get_format("qwen"))
    fed = tokens("a\n", CALL[:11], CALL[11:-12], ("</tool_call>", 2))
    trace = replay(wrapper, fed, Context(), mode="ids", markers={"</tool_call>": 2})
    assert calls(trace.message) == [("f", '{"a": 1}')]
    assert said(trace)[0] == "No single token of this vocabulary, so recognised by their text: <tool_call>."
    assert "marker_by_text" not in codes(traced(CALL))
    assert "marker_by_text" not in codes(traced(fed=tokens("x")))


def test_a_code_fence_that_was_held_with_markup_goes_on_when_the_markup_is_let_go() -> None:
    text = "Use <tool_call> so:\n```\n" + "x" * 80 + "\n```\nend"
    trace = traced(text, budget=40)
    assert rows(trace)[1:3] == [("HELD", "RELEASED", "NORMAL"), ("NORMAL", "CODE_FENCE", "CODE_BLOCK")]
    assert trace.message.content == text


NAMED = Context(tools=(Tool(name="f"),), tool_choice="named", named_tool="f")
REQUIRED = Context(tools=(Tool(name="f"),), tool_choice="required")


@pytest.mark.parametrize(
    ("parser", "text", "context", "content", "found"),
    [
        ("qwen", '{"name": "f"}', REQUIRED, None, [("f", "{}")]),
        ("qwen", ' [{"name": "f", "parameters": {"a": 1}}]', REQUIRED, None, [("f", '{"a": 1}')]),
        ("qwen", '<think>\nHm.\n</think>\n{"a": 1}', NAMED, None, [("f", '{"a": 1}')]),
        ("mistral", '[{"name": "f", "parameters": {"a": 1}}]', REQUIRED, None, [("f", '{"a": 1}')]),
        ("qwen", 'So: {"name": "f"}', REQUIRED, 'So: {"name": "f"}', []),
        ("qwen", CALL, REQUIRED, None, [("f", '{"a": 1}')]),
        ("qwen", '{"name": "f"}', Context(), '{"name": "f"}', []),
        ("qwen", "[1, 2]", REQUIRED, "[1, 2]", []),
        ("qwen", '{"name": "f", "parameters": {"a": "' + "x" * 20 + '"}}', REQUIRED, None, None),
    ],
)
def test_guided_output_is_held_like_a_call_whatever_the_chunking(
    parser: str, text: str, context: Context, content: str | None, found: list[tuple[str, str]] | None
) -> None:
    budget = 20 if found is None else 200
    cuts = [[text], [*text], [text[at : at + 3] for at in range(0, len(text), 3)]]
    messages = [traced(*cut, parser=parser, context=context, budget=budget).message for cut in cuts]
    assert messages[0] == messages[1] == messages[2]
    assert messages[0].content == (text if found is None else content)
    assert [(call.name, call.arguments) for call in messages[0].tool_calls] == (found or [])
    assert codes(traced(*text, parser=parser, context=context, budget=budget)).count("fallback_budget") == (
        1 if found is None else 0
    )


def test_where_nothing_may_be_called_no_marker_opens_a_buffer() -> None:
    text = "<tool_call><think><tool_call>"
    context = Context(tool_choice="none", reasoning_open=True)
    assert rows(traced(text, context=context)) == rows(traced(*text, context=context))
    assert "BUFFERING" not in {to for *_, to in rows(traced(text, context=context))}
