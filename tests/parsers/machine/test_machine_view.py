"""What a parser answers between deltas: its state, what it holds and why, what it waits for."""

from __future__ import annotations

import pytest

from parsers.machine import views
from parsers.selection.registry import build, get_format
from parsers.vocabulary.trace import CodecState, Hold, Stand, StateView
from parsers.vocabulary.types import Context, Piece
from tests.parsers.parsing import deltas, tokens, tool, trace_of

ARGUMENTS = '<tool_call>{"name": "f", "arguments": '


def view_after(
    fmt: str, *texts: str, policy: dict[str, str] | None = None, context: Context | None = None
) -> StateView:
    parser = build(get_format(fmt), policy)
    parser.begin(context or Context())
    for delta in deltas(*texts):
        parser.feed(delta)
    return parser.view()


def test_before_anything_is_fed_nothing_is_held() -> None:
    assert view_after("qwen") == StateView("CONTENT", (), (), ("CALL_START", "THINK_START", "THINK_END"), None, None)


def test_a_lexer_hold_names_the_markers_it_may_become() -> None:
    view = view_after("qwen", "abc</t")
    assert view.candidates == ("THINK_END",)
    assert view.holds == (Hold(3, 6, "lexer", "Could begin </think> (3 of 8 characters)."),)


def test_one_hold_may_become_several_markers() -> None:
    view = view_after("qwen", "<t")
    reason = "Could begin <tool_call> (2 of 11 characters) or <think> (2 of 7 characters)."
    assert view.holds[0].reason == reason


@pytest.mark.parametrize(
    ("fmt", "text", "hold"),
    [
        ("qwen", '<tool_call>{"na', (0, 15, "tentative", "A call whose name is not known yet.")),
        ("qwen", "x \n", None),
        ("qwen", " \n", (0, 2, "policy", "White space that is dropped if a call or the end follows.")),
        ("qwen", "<think>a \n", (8, 10, "policy", "White space that may end the reasoning (reasoning_tail).")),
        ("llama", "a; ", (1, 3, "policy", "White space or separators that a call would drop.")),
        ("qwen", ARGUMENTS + '{"a": "x\\u00', (46, 50, "lexer", "An escape sequence is sent whole.")),
    ],
)
def test_text_that_waits_has_a_hold_with_a_reason(fmt: str, text: str, hold: tuple[int, int, str, str] | None) -> None:
    assert [(h.start, h.end, h.kind, h.reason) for h in view_after(fmt, text).holds] == ([hold] if hold else [])


def test_a_call_that_is_judged_as_a_whole_is_held_by_name() -> None:
    view = view_after("qwen", ARGUMENTS + "{", policy={"invalid_call": "strict"})
    assert [hold.reason for hold in view.holds] == ["The call to f is judged when it is whole."]


def test_a_value_that_must_be_checked_says_which_type_its_schema_wants() -> None:
    view = view_after("qwen", ARGUMENTS + '{"a": "12', context=tool({"a": {"type": "integer"}}))
    reason = "The schema wants integer: the value is checked when it is whole."
    assert view.holds == (Hold(44, 47, "codec", reason),)


def test_text_after_which_brackets_cannot_close_waits() -> None:
    view = view_after("qwen", ARGUMENTS + '{"a": 1, "b', policy={"truncated_call": "close"})
    assert view.holds == (Hold(45, 49, "codec", "Closing here must leave valid JSON."),)


def test_a_value_held_behind_such_text_is_held_from_there() -> None:
    context = tool({"b": {"type": "integer"}})
    view = view_after("qwen", ARGUMENTS + '{"a": 1, "b": "2', policy={"truncated_call": "close"}, context=context)
    assert [(hold.start, hold.end) for hold in view.holds] == [(45, 54)]


def test_all_of_a_llama_output_waits_under_the_literal_rule() -> None:
    view = view_after("llama", "abc", policy={"llama_content": "seed_literal"})
    reason = "llama_content is seed_literal: everything waits for the end of the output."
    assert view.holds == (Hold(0, 3, "policy", reason),)
    assert view_after("llama", policy={"llama_content": "seed_literal"}).holds == ()


@pytest.mark.parametrize(
    ("text", "call"),
    [("x", None), ("<tool_call>", 0), (ARGUMENTS + "{", 0), (ARGUMENTS + "{}}</tool_call>", None)],
)
def test_the_open_call_has_an_index(text: str, call: int | None) -> None:
    assert view_after("qwen", text).call == call


def test_a_call_that_is_not_wanted_is_no_open_call() -> None:
    view = view_after("qwen", ARGUMENTS, policy={"unknown_tool": "drop"}, context=tool({}, "g"))
    assert (view.state, view.call, view.holds) == ("TOOL_CALL", None, ())


@pytest.mark.parametrize(
    ("fmt", "text", "words"),
    [
        ("qwen", "<tool_call>", "before the object"),
        ("qwen", '<tool_call>{"name": "f', "in the call object, depth 1, key name"),
        ("qwen", "<tool_call>{", "in the call object, depth 1"),
        ("qwen", ARGUMENTS, "before the arguments"),
        ("qwen", ARGUMENTS + '{"a', "arguments, in a key, depth 1"),
        ("qwen", ARGUMENTS + '{"a": "x', "arguments, in a string, depth 1"),
        ("qwen", ARGUMENTS + '{"a": [1', "arguments, between tokens, depth 2"),
        ("qwen", ARGUMENTS + "{}}", "after the object"),
        ("kimik2", "<|tool_call_begin|>f:0<|tool_call_argument_begin|>", "before the value"),
        ("kimik2", "<|tool_call_begin|>f:0<|tool_call_argument_begin|>{", "between tokens, depth 1"),
        ("kimik2", "<|tool_call_begin|>f:0<|tool_call_argument_begin|>{} ", "after the value"),
        ("kimik2", "<|tool_call_begin|>f:0<|tool_call_argument_begin|>bare", "not JSON"),
        ("mistral", "[TOOL_CALLS]", "before the calls"),
        ("mistral", "[TOOL_CALLS]f", "in the name"),
        ("mistral", "[TOOL_CALLS]f[CALL_ID]a", "in the call id"),
        ("mistral", "[TOOL_CALLS]f{", "arguments, between tokens, depth 1"),
        ("mistral", "[TOOL_CALLS]f{}", "after the call"),
        ("mistral", '[TOOL_CALLS][{"na', "in the array"),
        ("mistral", '[TOOL_CALLS][{"name": "f", "arguments": {', "arguments, between tokens, depth 1"),
        ("qwen_coder", "<function=f>", "between parameters"),
        ("qwen_coder", "<function=f><parameter=a", "in a parameter's name"),
        ("qwen_coder", "<function=f><parameter=a>x", "in the value of a"),
    ],
)
def test_a_codec_says_in_words_where_it_stands(fmt: str, text: str, words: str) -> None:
    assert str(view_after(fmt, text).codec) == words


@pytest.mark.parametrize(
    ("fmt", "text", "words"),
    [
        ("qwen", "x", None),
        ("qwen", "<tool_call>", "before the object"),
        ("qwen", ARGUMENTS + '{"a', "arguments, in a key, depth 1"),
        ("qwen", ARGUMENTS + "{}}", "after the object"),
        ("qwen", ARGUMENTS + "{}}</tool_call>", None),
        ("kimik2", '<|tool_call_begin|>f:0<|tool_call_argument_begin|>{"a', "in a key, depth 1"),
        ("mistral", "[TOOL_CALLS]f", "in the name"),
        ("mistral", '[TOOL_CALLS]f{"a', "arguments, in a key, depth 1"),
        ("llama", '{"name": "f", "parameters": {"a', "arguments, in a key, depth 1"),
        ("qwen_coder", "<function=f><parameter=a>x", "in the value of a"),
    ],
)
@pytest.mark.parametrize("finish", ["length", "stop"])
def test_the_end_is_described_where_the_output_ended(fmt: str, text: str, words: str | None, finish: str) -> None:
    codec = trace_of(fmt, text, context=Context(finish_reason=finish)).steps[-1].view.codec
    assert (None if codec is None else str(codec)) == words


def test_after_the_end_nothing_is_held() -> None:
    trace = trace_of("qwen", "x <tool_", context=Context(finish_reason="stop"))
    assert [bool(step.holds) for step in trace.steps] == [True, False]


def test_an_ordinary_token_may_begin_no_marker_in_ids_mode() -> None:
    fed = tokens("<tool", "_call>", ("<tool_call>", 5))
    trace = trace_of("qwen", fed=fed, mode="ids", markers={"<tool_call>": 5, "<think>": 6, "</think>": 7})
    assert trace.steps[0].holds == ()
    assert trace.steps[1].view.accepts == ("CALL_START", "THINK_START", "THINK_END")
    assert Piece("<tool_call>", 5, None, "added", True) == fed[2].pieces[0]


def test_views_of_which_too_many_are_known_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MOST", 5)
    parser = build(get_format("qwen"))
    parser.begin(Context())
    made = []
    for delta in deltas(ARGUMENTS, *"[[[[[[", *"  ]["):
        parser.feed(delta)
        made.append(parser.seen())
    first, second, _, last = made[-4:]
    assert first is second
    assert last.shape == first.shape
    assert last.shape is not first.shape
    assert last.view(0).codec == CodecState("arguments, between tokens, depth 6", Stand.INSIDE)


HELD = (
    "Hi <to",
    "ol_c",
    "all",
    ">",
    '\n{"name": "f", "argu',
    'ments": {"a": "<',
    '"}}\n</',
    "tool",
    "_call",
    "> x<thi",
    "s",
)


def test_a_view_is_one_object_while_text_grows_that_may_become_a_literal() -> None:
    parser = build(get_format("qwen"))
    parser.begin(Context())
    made = []
    for delta in deltas(*HELD[:3]):
        parser.feed(delta)
        made.append((parser.seen(), parser.view()))
    assert len({id(seen) for seen, _ in made}) == 1
    assert [view.holds[-1].reason for _, view in made] == [
        f"Could begin <tool_call> ({count} of 11 characters)." for count in (3, 7, 10)
    ]


@pytest.mark.parametrize("name", ["qwen", "qwen3_coder", "glm45_moe", "seed_oss"])
def test_what_is_not_looked_at_anew_is_what_would_be_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = "".join(HELD) + "<think>a</think><seed:tool_call>\n<function=f>\n<parameter=a>\nb</parameter>"
    known = list(trace_of(name, *texts).steps)
    monkeypatch.setattr(views.Viewer, "_only_grew", lambda _: False)
    assert list(trace_of(name, *texts).steps) == known
