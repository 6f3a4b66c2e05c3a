"""Layers at work in every format: mentioned markers, repeated openers, guided output, in text and by ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Dialect, Spoken
from parsers.formats.layers import opens_call
from parsers.formats.model import Format, builtin_formats
from parsers.machine.machine import Machine, Programs
from parsers.machine.reasoning import reasoning_markers
from parsers.replays.replay import replay
from parsers.selection.registry import build, policies
from parsers.vocabulary.events import CallArguments
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Delta, Tool
from tests.parsers.parsing import calls, codes, deltas, owners, rows, tokens, trace_of

TOOLS = (Tool("f", {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}), Tool("g"))
REQUIRED = Context(tools=TOOLS, tool_choice="required")
NAMED = Context(tools=TOOLS, tool_choice="named", named_tool="f")
OPENED = Context(reasoning_open=True)
LIST = '[{"name": "f", "parameters": {"city": "x"}}, {"name": "g", "arguments": {}}]'
CALLS = [("f", '{"city": "x"}'), ("g", "{}")]
# What opens and closes reasoning where it is more than one marker, or where several may.
AROUND = {
    "apriel": ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]\n"),
    "gemma4": ("<|channel>thought\n", "<channel|>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "kimi_k3": ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    "seed_oss": ("<seed:think>", "</seed:think>"),
    "mistral": ("[THINK]", "[/THINK]"),
    "solar_open": ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
}


def around(fmt: Format) -> tuple[str, str]:
    """What opens and closes reasoning."""
    found = reasoning_markers(fmt)
    return AROUND.get(fmt.name) or (found.openers[0], found.closers[0])


def openings() -> Iterator[tuple[str, str]]:
    """(format, marker) for each marker that may begin a call inside reasoning."""
    for name, fmt in builtin_formats().items():
        states = [state for state in fmt.states.values() if state.text == "reasoning"]
        markers = [row.on for state in states for row in state.rows if opens_call(fmt, state, row)]
        yield from ((name, fmt.terminals[marker]) for marker in dict.fromkeys(markers))


def traces(fmt: str, text: str, context: Context | None = None) -> list[Trace]:
    """An output whole, by characters, in words, and by the ids of the markers of the format."""
    known = {marker: 100 + at for at, marker in enumerate(builtin_formats()[fmt].tokens)}
    parts = re.split("(" + "|".join([*map(re.escape, known), r"\s"]) + ")", text)
    by_ids = tokens(*[(part, known[part], "special") if part in known else part for part in parts if part])
    cut: list[tuple[Sequence[Delta], bool]] = [
        *((deltas(text), False), (deltas(*text), False), (deltas(*re.findall(r"\s?\w+|\W", text)), False)),
        (by_ids, True),
    ]
    given = context or Context()
    return [
        replay(build(builtin_formats()[fmt]), fed, given, mode="ids" if by_id else "text", markers=known)
        for fed, by_id in cut
    ]


def seen(trace: Trace) -> tuple[str | None, str | None, list[tuple[str, str]]]:
    return trace.message.reasoning, trace.message.content, calls(trace.message)


# markers that reasoning mentions


@pytest.mark.replays
@pytest.mark.parametrize(("fmt", "marker"), list(openings()))
@pytest.mark.parametrize("words", ["{} now.", "{}", "a {}, then {} here.", "`{}`."])
def test_a_marker_that_reasoning_mentions_begins_no_call(fmt: str, marker: str, words: str) -> None:
    start, end = around(builtin_formats()[fmt])
    thought = f"I could call {words.replace('{}', marker)}"
    for trace in traces(fmt, f"{start}{thought}{end}Sure."):
        assert seen(trace) == (thought, "Sure.", [])
        assert set(codes(trace)) == {"mentioned_marker"}
        assert "GIVEN_BACK" in [trigger for _, trigger, _ in rows(trace)]


@pytest.mark.parametrize(
    ("fmt", "inside"),
    [
        ("glm47_moe", "<tool_call>get time</tool_call>"),
        ("glm47_moe", "<tool_call></tool_call>"),
        ("glm47_moe", "<tool_call>\n\n"),
        ("qwen", '<tool_call>{"name": "no tool"}</tool_call>'),
        ("qwen", '<tool_call>{"name": "get'),
        ("qwen", "<tool_call>[1]</tool_call>"),
        ("qwen_coder", "<tool_call> and <function=f, too"),
        ("kimik2", "<|tool_calls_section_begin|> <|tool_call_begin|> now"),
        ("deepseek_v31", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a b"),
        ("minimax_m2", "<minimax:tool_call><invoke of"),
    ],
)
def test_a_call_inside_reasoning_that_has_no_name_is_reasoning(fmt: str, inside: str) -> None:
    start, end = around(builtin_formats()[fmt])
    for trace in traces(fmt, f"{start}a {inside}{end}Sure."):
        reasoning, content, found = seen(trace)
        assert (reasoning or "").strip() == f"a {inside}".strip()
        assert (content, found) == ("Sure.", [])


@pytest.mark.parametrize("policy", [{"recovery": "fail"}, {"recovery": "skip_call"}, {"invalid_call": "strict"}])
def test_no_policy_on_calls_touches_what_is_no_call(policy: dict[str, str]) -> None:
    trace = trace_of("qwen", "<think>a <tool_call> now.</think>Sure.", policy=policy)
    assert seen(trace) == ("a <tool_call> now.", "Sure.", [])
    assert trace.rejected_calls == []


@pytest.mark.parametrize("end", [("</think>", 2), ("</think>", 2, "special")])
def test_tokens_inside_a_mention_that_are_nobody_s_text_stay_that(end: tuple[str, int]) -> None:
    fed = tokens("<think>", ("<tool_call>", 1), ("<|x|>", 9, "special"), " now", ("<|im_end|>", 8, "special"), end, "a")
    trace = trace_of("qwen", fed=fed, mode="ids", markers={"<tool_call>": 1, "</think>": 2})
    assert trace.message.content == "a"
    assert trace.message.reasoning == "<tool_call> now"
    assert ("<|x|>", "dropped") in owners(trace)


def test_a_call_after_a_mention_is_a_call() -> None:
    text = "<think>With <tool_call>. Then <tool_call>f<arg_key>city</arg_key><arg_value>x</arg_value></tool_call>Done."
    for trace in traces("glm47_moe", text):
        assert seen(trace) == ("With <tool_call>. Then", "Done.", [("f", '{"city": "x"}')])


def test_while_a_marker_is_only_mentioned_the_step_says_so() -> None:
    trace = trace_of("kimik2", "<think>a ", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", " now.</think>")
    states = [step.view.call_state for step in trace.steps]
    assert states[1:3] == ["MENTIONED", "TENTATIVE"]
    (hold,) = [hold for hold in trace.steps[1].holds if hold.kind == "tentative"]
    assert trace.text[hold.start : hold.end] == "<|tool_calls_section_begin|>"
    assert hold.reason == "A marker inside reasoning: it may begin a call, or is only mentioned."


def test_a_tool_whose_name_has_other_characters_may_be_called_inside_reasoning() -> None:
    context = Context(tools=(Tool("größe#1 f"),))
    text = '<think>a <tool_call>{"name": "größe#1 f", "arguments": {}}</tool_call>'
    assert calls(trace_of("qwen", *text, context=context).message) == [("größe#1 f", "{}")]
    assert calls(trace_of("qwen", *text).message) == []


@pytest.mark.replays
@pytest.mark.parametrize("dialect", [one for one in DIALECTS.values() if one.parser in dict(openings())])
def test_a_call_that_reasoning_drafts_and_does_not_finish_is_reasoning(dialect: Dialect) -> None:
    start, end = around(builtin_formats()[dialect.parser])
    call = dialect.write(Spoken(["", ""], [Call("f", {"city": "Bern", "n": 3})]))
    for part in (call[: call.index("Bern") + 2], call[: call.rindex("3") + 1]):
        for trace in traces(dialect.parser, f"{start}a {part.strip()}{end}Sure."):
            assert seen(trace) == (f"a {part.strip()}", "Sure.", [])
            assert "mentioned_marker" in codes(trace)


DRAFT = "<tool_call>\n<function=f>\n"


@pytest.mark.parametrize("policy", [{"unknown_tool": "text"}, {"unknown_tool": "drop"}, {"truncated_call": "drop"}])
@pytest.mark.parametrize("tool", ["f", "nobody"])
def test_no_policy_touches_a_call_that_reasoning_only_drafts(policy: dict[str, str], tool: str) -> None:
    inside = f"{DRAFT}<parameter=city>\nBern".replace("=f>", f"={tool}>")
    trace = trace_of("qwen_coder", *f"<think>a {inside}</think>b", context=Context(tools=TOOLS), policy=policy)
    assert seen(trace) == (f"a {inside}", "b", [])
    assert trace.rejected_calls == []


@pytest.mark.parametrize(("unknown", "content"), [("text", "<tool_call>nobody</tool_call>b"), ("drop", "b")])
def test_a_whole_call_inside_reasoning_to_a_tool_that_is_not_declared_is_what_the_policy_says(
    unknown: str, content: str
) -> None:
    text = "<think>a <tool_call>nobody</tool_call>b"
    for fed in ([text], [*text]):
        trace = trace_of("glm47_moe", *fed, context=Context(tools=TOOLS), policy={"unknown_tool": unknown})
        assert seen(trace) == ("a", content, [])
        assert [call.name for call in trace.rejected_calls] == ["nobody"]


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (f"{DRAFT} and so on", []),
        (f"{DRAFT}<parameter=city>\nBern\n</parameter>\nand\n</function>\n</tool_call>", [("f", '{"city": "Bern"}')]),
        (f"{DRAFT}</function>", [("f", "{}")]),
        (f"{DRAFT}<tool_call> or another", []),
        (f"{DRAFT}<parameter=city>\nBern\n</parameter>\n<tool_call>", [("f", '{"city": "Bern"}')]),
        ('<tool_call>{"name": "f", "arguments": {}} it is', []),
        (f"{DRAFT}<parameter=city>\nBern</function>\n</tool_call>\n it was", [("f", '{"city": "Bern"}')]),
        (f"{DRAFT}<parameter=city>\nBern\n</parameter> it is", []),
    ],
)
def test_what_makes_a_call_inside_reasoning_a_whole_one(inside: str, found: list[tuple[str, str]]) -> None:
    text = f"<think>a {inside}</think>Sure."
    for trace in traces("qwen_coder", text):
        reasoning, content, was = seen(trace)
        assert was == found
        assert (reasoning, content) == (f"a {inside}", "Sure.") if not found else (content or "").endswith("Sure.")


def test_a_word_in_the_place_of_the_first_argument_is_none_of_a_call_though_reasoning_goes_on() -> None:
    for trace in traces("qwen_coder", f"<think>a {DRAFT} and so on"):
        assert seen(trace) == (f"a {DRAFT} and so on", None, [])
        assert trace.steps[-1].view.call_state is None


def test_a_call_inside_reasoning_goes_out_when_it_is_whole_and_those_after_it_stream() -> None:
    call = "<tool_call>f<arg_key>city</arg_key><arg_value>Bern</arg_value></tool_call>"
    trace = trace_of("glm47_moe", *f"<think>a {call}{call}", context=Context(tools=TOOLS))
    found = [(step, event.call) for step, event in trace.events() if isinstance(event, CallArguments)]
    first, second = ({step for step, call in found if call == number} for number in (0, 1))
    assert (len(first), first) == (1, {len(f"<think>a {call}")})
    assert len(second) > 4


def test_a_section_inside_reasoning_that_holds_no_call_is_reasoning() -> None:
    section = "<|tool_calls_section_begin|><|tool_calls_section_end|>"
    for trace in traces("kimik2", f"<think>a {section} b"):
        assert seen(trace) == (f"a {section} b", None, [])


def test_where_the_output_ends_behind_the_marker_of_a_section_it_is_a_marker() -> None:
    for trace in traces("kimik2", "<think>a <|tool_calls_section_begin|>"):
        assert seen(trace) == ("a", None, [])
        assert owners(trace)[-1] == ("<|tool_calls_section_begin|>", "marker")


def test_where_no_call_is_wanted_any_more_none_is_mentioned() -> None:
    text = "<tool_call>junk</tool_call><think>a <tool_call> b</think>c"
    trace = trace_of("qwen", *text, policy={"recovery": "fail"})
    assert seen(trace) == (None, None, [])
    assert "mentioned_marker" not in codes(trace)


# text between the markers of a call

CITY = "<function=f>\nmore\n<parameter=city>\nx\n</parameter>\n</function>"
FOUND = [("f", '{"city": "x"}')]
NO_TAGS = "<tool_call>\nno ise"


@pytest.mark.parametrize("fmt", ["qwen_coder", "qwen3", "nemotron_v3", "step3p5"])
@pytest.mark.parametrize("noise", ["noise", "\n\nno ise\n\n", "</ "])
def test_words_between_the_markers_of_a_block_leak_nowhere(fmt: str, noise: str) -> None:
    second = "<function=g>\n</function>"
    for text in (
        f"<tool_call>{noise}{CITY}{noise}</tool_call>",
        f"<tool_call>{CITY}{noise}{second}{noise}</tool_call>",
    ):
        for trace in traces(fmt, text):
            assert seen(trace) == (None, None, FOUND + [("g", "{}")] * (second in text))
            assert trace.rejected_calls == []
            assert (noise.strip(), "dropped") in [(words.strip(), owner) for words, owner in owners(trace)]


@pytest.mark.parametrize(
    ("text", "content", "found"),
    [
        (f"{NO_TAGS}\n\nMore.", f"{NO_TAGS}\n\nMore.", []),
        (NO_TAGS, NO_TAGS, []),
        (f"{NO_TAGS}</tool_call>", f"{NO_TAGS}</tool_call>", []),
        (f"{NO_TAGS}<tool_call>{CITY}</tool_call>", NO_TAGS, FOUND),
        (f"{NO_TAGS}</think>a", f"{NO_TAGS}a", []),
        (f"<tool_call>{CITY}\nYes.\n\nNo.", "Yes.\n\nNo.", FOUND),
        (f"<tool_call>{CITY}\nYes.", "Yes.", FOUND),
        (f"<tool_call>{CITY}\nYes.</think>No.", "Yes.No.", FOUND),
        (f"<tool_call>{CITY}\nYes.<tool_call>{CITY}</tool_call>", "Yes.", FOUND * 2),
        (f"{CITY}\nYes.{CITY}\nNo.", "Yes.No.", FOUND * 2),
    ],
)
def test_words_that_no_marker_of_the_block_follows_are_text(
    text: str, content: str, found: list[tuple[str, str]]
) -> None:
    for trace in traces("qwen_coder", text):
        assert seen(trace) == (None, content, found)


@pytest.mark.parametrize(("last", "content"), [("</tool_call>", None), ("", "Yes.")])
def test_a_call_that_is_judged_when_its_block_is_closed_is_whole_before_words(last: str, content: str | None) -> None:
    for trace in traces("qwen_coder", f"<tool_call>{CITY}\nYes.{last}"):
        assert seen(trace)[1:] == (content, FOUND)
    trace = trace_of("qwen_coder", *f"<tool_call>{CITY}\nYes.{last}", policy={"truncated_call": "drop"})
    assert seen(trace)[1:] == (content, FOUND)


def test_words_behind_a_call_without_a_block_are_sent_as_they_come_and_inside_one_wait_for_a_paragraph() -> None:
    bare = trace_of("qwen_coder", CITY, " So", " it", " is.")
    assert [step.delta.content for step in bare.steps[1:3] if step.delta is not None] == ["So", " it"]
    block = trace_of("qwen_coder", f"<tool_call>{CITY}", " So", "\n\nit", " is.")
    (hold,) = block.steps[1].holds
    assert hold.reason == "Text inside a block of calls: it is content if that is not closed behind it."
    assert block.steps[2].holds == ()


def test_a_token_that_ends_the_turn_is_no_part_of_words_that_are_content() -> None:
    fed = tokens(f"<tool_call>{CITY} a", ("<|im_end|>", 8, "special"), "b")
    trace = trace_of("qwen_coder", fed=fed, mode="ids", markers={"<|im_end|>": 8})
    assert seen(trace)[1:] == ("ab", FOUND)


# the opening marker again


@pytest.mark.replays
@pytest.mark.parametrize("space", ["", "\n"])
@pytest.mark.parametrize("fmt", [fmt for fmt in builtin_formats().values() if fmt.initial_when_reasoning_open])
def test_a_marker_that_repeats_the_prompt_s_is_consumed(fmt: Format, space: str) -> None:
    start, end = around(fmt) if reasoning_markers(fmt).openers else ("", reasoning_markers(fmt).closers[0])
    for trace in traces(fmt.name, f"{space}{start}Hm.{end}Hi", OPENED):
        reasoning, *others = seen(trace)
        assert reasoning in ("Hm.", f"{space}Hm.")
        assert others == ["Hi", []]


def test_later_markers_are_text_as_ever() -> None:
    for trace in traces("qwen3", "<think>Is <think> needed?</think>No.", OPENED):
        assert seen(trace) == ("Is <think> needed?", "No.", [])
        assert ("REASONING", "REPEATED", "REASONING") in rows(trace)
    for trace in traces("qwen3", "So <think> is needed?</think>No.", OPENED):
        assert seen(trace) == ("So <think> is needed?", "No.", [])


# guided output


@pytest.mark.replays
@pytest.mark.parametrize("space", ["", "\n "])
@pytest.mark.parametrize("fmt", builtin_formats())
def test_a_guided_list_is_read_in_every_format(fmt: str, space: str) -> None:
    for context in (REQUIRED, NAMED):
        for trace in traces(fmt, space + LIST, context):
            assert seen(trace) == (None, None, CALLS)
            assert all(call.complete for call in trace.message.tool_calls)


@pytest.mark.parametrize("fmt", builtin_formats())
@pytest.mark.replays
def test_guided_arguments_are_read_in_every_format(fmt: str) -> None:
    for trace in traces(fmt, '{"city": "x", "n": 3}', NAMED):
        assert seen(trace) == (None, None, [("f", '{"city": "x", "n": 3}')])


@pytest.mark.replays
@pytest.mark.parametrize("fmt", [fmt for fmt in builtin_formats().values() if reasoning_markers(fmt).openers])
def test_guided_output_stands_behind_reasoning(fmt: Format) -> None:
    start, end = around(fmt)
    for trace in traces(fmt.name, f"{start}Hm.{end}\n{LIST}", REQUIRED):
        assert seen(trace) == ("Hm.", None, CALLS)


@pytest.mark.parametrize(
    ("text", "content", "found"),
    [
        ("[]", "[]", []),
        ("[1, 2]", "[1, 2]", []),
        ("[ ] x", "[ ] x", []),
        ('{"a": 1}', '{"a": 1}', []),
        ('{"name": "f", "parameters": {"n": 1}}', None, [("f", '{"n": 1}')]),
        ('See [{"name": "f", "parameters": {}}]', 'See [{"name": "f", "parameters": {}}]', []),
        ('"a"', '"a"', []),
        (f"{LIST} Done.", " Done.", CALLS),
        ('[{"name": "f", "parameters": {}}, 3]', "3]", [("f", "{}")]),
        ('[{"name": "f", "parameters": {"city": "x', None, [("f", '{"city": "x')]),
        ('<tool_call>{"name": "f", "arguments": {}}</tool_call>[{"name": "g"}]', '[{"name": "g"}]', [("f", "{}")]),
        ("{", "{", []),
    ],
)
def test_what_is_read_where_any_call_is_forced(text: str, content: str | None, found: list[tuple[str, str]]) -> None:
    for trace in traces("qwen", text, REQUIRED):
        assert seen(trace)[1:] == (content, found)


@pytest.mark.parametrize(
    ("text", "content", "found"),
    [
        ("{}", None, [("f", "{}")]),
        ("{ \n}", None, [("f", "{ \n}")]),
        ('{ "n": 1} x', " x", [("f", '{ "n": 1}')]),
        ('\n{"n": "1"}\n', None, [("f", '{"n": "1"}')]),
        ("{n}", "{n}", []),
        ("{ 1}", "{ 1}", []),
        ('{"city": "x', None, [("f", '{"city": "x')]),
        ("{", None, [("f", "{")]),
        ("{ ", None, [("f", "{ ")]),
        ('{"city": "x"}<|im_end|>', None, [("f", '{"city": "x"}')]),
        ("", None, []),
        ("  ", "  ", []),
    ],
)
def test_what_is_read_where_a_tool_is_named(text: str, content: str | None, found: list[tuple[str, str]]) -> None:
    for trace in traces("qwen", text, NAMED):
        assert seen(trace)[1:] == (content, found)


def test_guided_output_has_states_and_rows_of_its_own() -> None:
    assert rows(trace_of("qwen", "<think>a</think>\n", LIST, context=REQUIRED))[2:5] == [
        ("CONTENT", "GUIDED_LIST", "GUIDED_CALL"),
        ("GUIDED_CALL", "ITEM_END", "GUIDED_CALLS"),
        ("GUIDED_CALLS", "ITEM", "GUIDED_CALL"),
    ]
    assert rows(trace_of("llama", '{"city": "x"}', context=NAMED))[:4] == [
        ("CONTENT", "OBJECT", "CANDIDATE"),
        ("CANDIDATE", "REJECT", "CONTENT"),
        ("CONTENT", "GUIDED_OBJECT", "GUIDED_ARGUMENTS"),
        ("GUIDED_ARGUMENTS", "DONE", "CONTENT"),
    ]


@pytest.mark.parametrize("text", ['[f(city="x"), g()]', '[f(city="x"),\n g()]'])
def test_the_format_s_own_list_goes_first(text: str) -> None:
    for trace in traces("pythonic", text, REQUIRED):
        assert seen(trace) == (None, None, CALLS)
        assert "GUIDED_LIST" not in [trigger for _, trigger, _ in rows(trace)]


@pytest.mark.parametrize("context", [Context(tools=TOOLS), Context(tools=TOOLS, tool_choice="none")])
def test_where_no_call_is_forced_a_bare_list_is_text(context: Context) -> None:
    trace = trace_of("qwen", LIST, context=context)
    assert (trace.message.content, trace.message.tool_calls) == (LIST, [])


def test_an_object_where_the_named_tool_is_not_given_is_a_call_with_its_name() -> None:
    context = Context(tools=TOOLS, tool_choice="named")
    assert seen(trace_of("qwen", '{"name": "f", "parameters": {}}', context=context)) == (None, None, [("f", "{}")])


def test_what_is_compiled_for_many_vocabularies_is_not_kept() -> None:
    programs: Programs = {}
    parser = Machine(builtin_formats()["kimi_k3"], policies(builtin_formats()["kimi_k3"], {}), programs)
    for size in range(3, 80):
        parser.begin(Context(), mode="ids", markers={"<|open|>argument key="[:size]: 1, f"<|sep|>{size}": 2})
        parser.begin(Context(), mode="ids", markers={"<|close|>argument<|sep|>"[size % 20 :]: 1})
    assert 0 < len(programs) <= 32


def test_what_a_dropped_token_stands_in_is_no_guided_output() -> None:
    fed = tokens("{", ("<|x|>", 9, "special"), '"city": "x"}')
    trace = trace_of("llama", fed=fed, mode="ids", context=NAMED)
    assert seen(trace) == (None, '{"city": "x"}', [])
    assert ("<|x|>", "dropped") in owners(trace)
