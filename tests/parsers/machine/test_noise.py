"""Words between the markers of a call reach nobody; where no marker of the call follows they are text."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats
from parsers.selection.registry import build
from parsers.vocabulary.types import Context
from tests.parsers.machine.test_layer_reader import seen, traces
from tests.parsers.parsing import codes, deltas, dropped, trace_of

JSON = '{"name": "f", "arguments": {"city": "x"}}'
V31 = '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"city": "x"}@<｜tool▁call▁end｜>'
V3 = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"city": "x"}\n```@<｜tool▁call▁end｜>'
TAGS = "<tool_call>f<tool_sep>@<arg_key>city</arg_key>@<arg_value>x</arg_value></tool_call>"
PLAMO = (
    "<|plamo:begin_tool_request:plamo|>@<|plamo:begin_tool_name:plamo|>f<|plamo:end_tool_name:plamo|>"
    '<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"city": "x"}@'
    "<|plamo:end_tool_arguments:plamo|>@<|plamo:end_tool_request:plamo|>"
)
K2 = "<ifm|tool_call>f\n<ifm|arg_key>city</ifm|arg_key>\n<ifm|arg_value>x</ifm|arg_value></ifm|tool_call>"
K3 = (
    '<|open|>call tool="f" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>x<|close|>argument<|sep|>@'
    "<|close|>call<|sep|>"
)
INVOKE = (
    '<｜DSML｜ invoke name="f">@<｜DSML｜ parameter name="city" string="true">x</｜DSML｜ parameter>@</｜DSML｜ invoke>'
)
STEP = (
    '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">'
    '<steptml:parameter name="city">x</steptml:parameter></steptml:invoke>@<｜tool_call_end｜>'
)
ONE = [("f", '{"city": "x"}')]


def dsml(block: str, space: str = "", word: str = "DSML") -> str:
    """A block of DeepSeek's tags, or those of another word, with two calls."""
    call = INVOKE.replace("DSML", word).replace("｜ ", f"｜{space}")
    return f"<｜{word}｜{block}>@{call}@{call}@</｜{word}｜{block}>"


@pytest.mark.parametrize("noise", ["more", " see {x} here ", "\n\nand [1] or so\n"])
@pytest.mark.parametrize(
    ("fmt", "text", "calls"),
    [
        ("qwen", f"<tool_call>@{JSON}@</tool_call>", 1),
        ("qwen", f"<tool_call>@{JSON}@</tool_call><tool_call>{JSON}</tool_call>", 2),
        ("qwen_coder", f"<tool_call>@{JSON}@</tool_call>", 1),
        ("qwen3", f"<tool_call>@{JSON}@</tool_call>", 1),
        ("ernie45", f"<tool_call>@{JSON}@</tool_call>", 1),
        ("hunyuan", f"<tool_calls>@{TAGS}@{TAGS}@</tool_calls>", 2),
        ("hunyuan_a13b", f"<tool_calls>@[{JSON}, {JSON}]@</tool_calls>", 2),
        ("apriel", f"<tool_calls>@[{JSON}]@</tool_calls>", 1),
        ("nemotron_v2", f"<TOOLCALL>@[{JSON}]@</TOOLCALL>", 1),
        ("gigachat3", f"<|function_call|>@{JSON}<|message_sep|>", 1),
        ("cohere", f"<|START_ACTION|>@[{JSON}]@<|END_ACTION|>", 1),
        ("cohere", f"<|START_ACTION|>@{JSON}@<|END_ACTION|>", 1),
        ("granite", f"<|tool_call|>@[{JSON}]", 1),
        ("internlm", f"<|action_start|><|plugin|>@{JSON}@<|action_end|>", 1),
        ("apertus", '<|tools_prefix|>@[{"f": {"city": "x"}}]@<|tools_suffix|>', 1),
        ("lfm2", '<|tool_call_start|>[f(city="x")]@<|tool_call_end|>', 1),
        ("llama_function_tag", '<function=f>{"city": "x"}@</function>', 1),
        ("functiongemma", "<start_function_call>call:f{city:<escape>x<escape>}@<end_function_call>", 1),
        ("gemma4", '<|tool_call>call:f{city:<|"|>x<|"|>}@<tool_call|>', 1),
        ("minimax_m1", f"<tool_calls>{JSON}</tool_calls>", 1),
        ("deepseek_v31", f"<｜tool▁calls▁begin｜>@{V31}@{V31}@<｜tool▁calls▁end｜>", 2),
        ("deepseek", f"<｜tool▁calls▁begin｜>@{V3}@{V3}@<｜tool▁calls▁end｜>", 2),
        ("deepseek_v41", dsml(" calls", " "), 2),
        ("deepseek_v4", dsml("tool_calls"), 2),
        ("deepseek_v32", dsml("function_calls"), 2),
        ("gigachat35", dsml("tool_calls", word="GCML"), 2),
        ("plamo3", f"<|plamo:begin_tool_requests:plamo|>@{PLAMO}@{PLAMO}@<|plamo:end_tool_requests:plamo|>", 2),
        ("k2_horizon", f"<ifm|tool_calls>@{K2}@{K2}@</ifm|tool_calls>", 2),
        ("kimi_k3", f"<|open|>tools<|sep|>@{K3}@{K3}@<|close|>tools<|sep|>", 2),
        ("step3", f"<｜tool_calls_begin｜>{STEP}<｜tool_calls_end｜>", 1),
    ],
)
def test_words_between_the_markers_of_a_call_reach_nobody(fmt: str, text: str, calls: int, noise: str) -> None:
    for trace in traces(fmt, text.replace("@", noise)):
        assert seen(trace) == (None, None, ONE * calls)
        assert trace.rejected_calls == []
        assert all(call.complete for call in trace.message.tool_calls)
        lost = "".join([words for words, _ in dropped(trace)])
        assert lost.replace(" ", "").count(noise.split()[-1]) == text.count("@")


MINIMAX = '<invoke name="f"><parameter name="city">x</parameter>@</invoke>'


@pytest.mark.parametrize("noise", ["more", " see {x} here "])
@pytest.mark.parametrize(
    ("fmt", "start", "call", "end"),
    [
        ("hunyuan", "<tool_calls>", TAGS.replace("@", "").replace("</tool_call>", "@</tool_call>"), "</tool_calls>"),
        ("k2_horizon", "<ifm|tool_calls>", K2.replace("</ifm|tool_call>", "@</ifm|tool_call>"), "</ifm|tool_calls>"),
        ("minimax_m2", "<minimax:tool_call>", MINIMAX, "</minimax:tool_call>"),
    ],
)
def test_words_behind_the_last_value_of_a_call_take_no_other_call_with_them(
    fmt: str, start: str, call: str, end: str, noise: str
) -> None:
    text = f"{start}{call.replace('@', noise)}{call.replace('@', '')}{end}"
    for trace in traces(fmt, text):
        assert seen(trace) == (None, None, ONE * 2)
        assert " ".join([words.strip() for words, _ in dropped(trace)]) == noise.strip()


@pytest.mark.parametrize("noise", ["more ", " see {x} here "])
def test_words_in_a_section_of_bare_objects_reach_nobody(noise: str) -> None:
    for trace in traces("minimax_m1", f"<tool_calls>\n{JSON}\n{noise.replace('{x}', 'x')}{JSON}\nmore</tool_calls>"):
        assert seen(trace) == (None, None, ONE * 2)


@pytest.mark.parametrize(
    ("fmt", "text", "content", "calls"),
    [
        ("qwen", "<tool_call>no ise</tool_call>a", "<tool_call>no ise</tool_call>a", 0),
        ("qwen", '<tool_call>{"a": 1}</tool_call>', '<tool_call>{"a": 1}</tool_call>', 0),
        ("qwen", f"<tool_call>no\n\nmore {JSON}", f"<tool_call>no\n\nmore {JSON}", 0),
        ("qwen", f"<tool_call>no<tool_call>{JSON}</tool_call>", "<tool_call>no", 1),
        ("qwen", f"<tool_call>{JSON}\nYes.", "Yes.", 1),
        ("qwen", f"<tool_call>{JSON}\nYes.\n\nNo.</tool_call>", "Yes.\n\nNo.</tool_call>", 1),
        ("cohere", f"<|START_ACTION|>[{JSON}] Yes.", " Yes.", 1),
        ("cohere", "<|START_ACTION|>no<|END_ACTION|>", "<|START_ACTION|>no<|END_ACTION|>", 0),
        ("deepseek_v41", "<｜DSML｜ calls>no</｜DSML｜ calls>Yes.", "noYes.", 0),
        ("deepseek_v31", "<｜tool▁calls▁begin｜>no<｜tool▁calls▁end｜>", "no", 0),
        ("deepseek", "<｜tool▁calls▁begin｜>no<｜tool▁calls▁end｜>", "no", 0),
        ("deepseek_v31", f"<｜tool▁calls▁begin｜>{V31.replace('@', '')}Yes.", "Yes.", 1),
        ("deepseek_v31", f"{V31.replace('@', '')} Yes.", "Yes.", 1),
        ("hunyuan", "<tool_calls>no</tool_calls>", "no", 0),
        ("kimi_k3", "<|open|>tools<|sep|>no<|close|>tools<|sep|>", "no", 0),
        ("k2_horizon", f"{K2.replace('@', '')}Yes.", "Yes.", 1),
        ("granite", f"<|tool_call|>[{JSON}] Yes.", " Yes.", 1),
        ("gigachat3", f"<|function_call|>{JSON} Yes.<|message_sep|>", "Yes.", 1),
    ],
)
def test_words_that_no_marker_of_the_call_follows_are_text(fmt: str, text: str, content: str, calls: int) -> None:
    for trace in traces(fmt, text):
        assert seen(trace) == (None, content, ONE * calls) or seen(trace) == (None, content.lstrip(), ONE * calls)


@pytest.mark.parametrize("text", ["<tool_call>{{x", '<tool_call>{"a": {"b": x', "<tool_call>[{x"])
def test_what_a_candidate_read_before_it_shows_to_be_none_is_one_run_of_words(text: str) -> None:
    for cut in ([text], [*text]):
        trace = trace_of("qwen", *cut, f" {JSON}</tool_call>")
        assert [words for words, _ in dropped(trace)] == [text.removeprefix("<tool_call>") + " "]
        assert seen(trace) == (None, None, ONE)


def test_a_call_inside_reasoning_has_no_words_between_its_markers() -> None:
    for fmt, text in (("qwen", f"<tool_call>see {JSON}"), ("deepseek_v41", dsml(" calls", " ").replace("@", " so "))):
        for trace in traces(fmt, f"<think>a {text}</think>b"):
            assert seen(trace) == (f"a {text}", "b", [])


@pytest.mark.parametrize("end", ["<|tool_call_end|>", ""])
def test_reasoning_that_ends_behind_words_in_a_section_leaves_no_marker(end: str) -> None:
    text = f"<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{{}}{end}"
    for trace in traces("kimik2", f"<think>a {text} and</think>b"):
        assert seen(trace) == ("a", "andb", [("f", "{}")])
        assert "orphan_reasoning_end" in codes(trace)


@pytest.mark.linear
def test_many_candidates_take_linear_work() -> None:
    parser = build(builtin_formats()["qwen"])
    for times in (100, 800):
        text = "<tool_call>" + '{"a": x ' * times
        for cut in ([text], [*text]):
            parser.begin(Context())
            for delta in deltas(*cut):
                parser.feed(delta)
            parser.finish("stop")
            assert parser.examined < 5 * len(text)
