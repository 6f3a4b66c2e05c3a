"""Open text: what goes on as it is takes a short way, with the same steps as the long one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from parsers.machine.machine import Machine
from parsers.replays.chunking import Chunking, apply
from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, get_format
from parsers.vocabulary.trace import OpenText, Trace
from parsers.vocabulary.types import Context, Delta, Message, Piece, Tool
from parsers.wire.assemble import Assembler
from tests.amount import every

ROWS = "[" + ", ".join(['{"k": 12, "b": [true, {"c": "x]y"}]}'] * 6) + "]"
ESCAPED = '["a\\n", "\\u00e9", {"\\"": "\\\\"}, 1]'
BROKEN = '[{"k" 1 "b":: 2,,}, ["x"], tru e, {"a": "b" "c": 1}]'
DEEP = "[" * 130 + "1" + "]" * 130
MARKED = '[{"k": "</tool_call>"}, {"<": "<<", "<|/tool_call|>": 1}, 5]'
LEFT = '[{"a": 1 </tool_call>``` <|/tool_call|>Bye'
VALUES = {
    **{"rows": ROWS, "escapes": ESCAPED, "no JSON": BROKEN, "depth": DEEP, "markers": MARKED, "closers": "[[1]]]}]"},
    "left in the middle": LEFT,
}
CALLS = {
    "qwen": '<tool_call>\n{{"name": "f", "arguments": {{"a": {0}, "b": "s"}}}}\n</tool_call>',
    "mistral": '[TOOL_CALLS][{{"name": "f", "arguments": {{"a": {0}}}}}, {{"name": "f", "arguments": {{"b": {0}}}}}]',
    "deepseek_v31": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{0}<｜tool▁call▁end｜>",
    "json": '<tool_call>[{{"name": "f", "arguments": {{"a": {0}}}}}]</tool_call>',
    "phi4_mini_json": 'functools[{{"name": "f", "arguments": {{"a": {0}}}}}, {{"name": "g", "arguments": {0}}}]',
    "deepseek_v4": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n{{"a": {0}}}</｜DSML｜invoke>\n',
    "llama": '{{"name": "f", "parameters": {{"a": {0}}}}}; {{"name": "f", "parameters": {{"a": {0}}}}} ok',
}
SCHEMAS = {
    "none": None,
    "an array": {"type": "object", "properties": {"a": {"type": "array"}}},
    "its items": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
    "their keys": {"properties": {"a": {"items": {"properties": {"k": {"type": "string"}}}}}},
}
CHUNKINGS = [
    *[Chunking(by="char", size=size) for size in (1, 2, 3, 7, 40, 200)],
    *[Chunking(by="random", unit="char", max=9, seed=seed) for seed in range(6)],
]


def request(schema: str) -> Context:
    wanted = SCHEMAS[schema]
    return Context() if wanted is None else Context(tools=(Tool("f", wanted),))


def traced(
    parser: str,
    text: str,
    context: Context,
    chunking: Chunking,
    policy: Mapping[str, str] | None = None,
    *,
    in_full: bool,
) -> Trace:
    machine = build(get_format(parser), policy)
    assert isinstance(machine, Machine)
    machine.passes_open_text = not in_full
    return replay(machine, apply(chunking, (Piece(text),), "text"), context)


@pytest.mark.replays
@pytest.mark.parametrize("parser", CALLS)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_short_way_through_json_is_told_like_the_long_one(parser: str, value: str, schema: str) -> None:
    text, context = CALLS[parser].format(VALUES[value]), request(schema)
    for chunking in every(6, CHUNKINGS, start=len(parser + value + schema)):
        short = traced(parser, text, context, chunking, in_full=False)
        assert short.steps == traced(parser, text, context, chunking, in_full=True).steps
        deltas = apply(chunking, (Piece(text),), "text")
        assert parse(build(get_format(parser)), deltas, context) == short.message


BLANK = "\n \t\n\n  \n" * 9
CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
LLAMA_CALL = '{"name": "f", "parameters": {}}'
TEXT = "so; } it ) is ] said, )} " * 3
TAGS = "<tool_call><function=f>\n<parameter=a>\n{0}\n</parameter>\n<parameter=b>{0}</parameter></function></tool_call>"
_ARG = "<arg_key>{0}</arg_key>\n<arg_value>{{0}}</arg_value>"
ARGS = f"<tool_call>f\n{_ARG.format('a')}\n{_ARG.format('b')}</tool_call>"
CDATA = '<function name="f"><param name="a"><![CDATA[{0}]]></param><param name="b">{0}</param></function>'
_TAGS = '<dots_function_call>\n<invoke name="f">\n<parameter name="a">'
_DOTS = f"{_TAGS}{{}}</parameter>\n</invoke>\n</dots_function_call>"
WAITS = [
    ("qwen", {}, f"{BLANK}Hello{BLANK}{CALL}{BLANK}{CALL}{BLANK}you"),
    ("qwen", {}, f"{BLANK}<think>{BLANK}a</think>{BLANK}"),
    ("qwen", {"content_before_calls": "keep", "content_between_calls": "strip"}, f"{BLANK}{CALL}{BLANK}x{BLANK}{CALL}"),
    ("llama", {}, f"{BLANK};{BLANK}{LLAMA_CALL}{BLANK};, {BLANK}{LLAMA_CALL}, ;{BLANK}so"),
    ("llama", {"llama_content": "upstream_engine"}, f"{BLANK}{LLAMA_CALL}{BLANK};{BLANK}so"),
    ("llama", {"llama_content": "seed_literal"}, f"{BLANK}{LLAMA_CALL}{BLANK};{BLANK}so"),
    ("gemma4", {}, f'<|tool_call>call:f{{a:<|"|>{TEXT}<|"|>,b:[<|"|>{TEXT}{BLANK}x<|"|>]}}<tool_call|>{BLANK}'),
    ("gemma4", {}, f'<|tool_call>call:f{{a:<|"|>{TEXT}}}<tool_call|> '),
    ("functiongemma", {}, f"<start_function_call>call:f{{a:<escape>{TEXT}<escape>}}<end_function_call>"),
    ("functiongemma", {}, f"<start_function_call>call:f{{a:<escape>{TEXT}"),
    ("dots", {}, _DOTS.format(f"{BLANK}Hello{BLANK}you {BLANK}\\ so it is a < b{BLANK}")),
    ("dots", {}, f"{_TAGS}Hello you {BLANK}so it is "),
]


@pytest.mark.replays
@pytest.mark.parametrize(("parser", "call"), [("qwen_coder", TAGS), ("glm45_moe", ARGS), ("minicpm5", CDATA)])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_waits_to_its_end_is_told_like_by_the_long_way(parser: str, call: str, value: str) -> None:
    context = request("an array")
    for text in (call.format(VALUES[value]), call.format(f"{VALUES[value]}</parameter> <")[:-20]):
        for chunking in every(6, CHUNKINGS, start=len(parser + value)):
            short, long = [traced(parser, text, context, chunking, in_full=full) for full in (False, True)]
            assert short.steps == long.steps
            assert [*short.columns.held()] == [*long.columns.held()]
            deltas = apply(chunking, (Piece(text),), "text")
            assert fed(parser, deltas, context) == parse(build(get_format(parser)), deltas, context) == short.message


def fed(parser: str, deltas: Sequence[Delta], context: Context) -> Message:
    """The message of deltas that are fed one by one."""
    machine, assembler = build(get_format(parser)), Assembler()
    machine.begin(context)
    for delta in deltas:
        assembler.absorb(machine.feed(delta))
    assembler.absorb(machine.finish(context.finish_reason))
    return assembler.message()


def test_a_value_that_waits_to_its_end_is_read_at_once() -> None:
    read = open_texts("qwen_coder", TAGS.format(ROWS), 4, request("an array"))[0]
    assert read.event is None
    assert read.length == pytest.approx(len(ROWS), abs=8)


@pytest.mark.parametrize(("parser", "policy", "text"), WAITS)
@pytest.mark.replays
def test_text_that_waits_is_told_like_by_the_long_way(parser: str, policy: dict[str, str], text: str) -> None:
    empty = Chunking(by="cuts", cuts=(0, 0, *[at for at in range(2, len(text), 3) for _ in range(1 + at % 2)]))
    for chunking in (*CHUNKINGS, empty):
        short, long = [traced(parser, text, Context(), chunking, policy, in_full=full) for full in (False, True)]
        assert short.steps == long.steps
        assert [*short.columns.holding()] == [*long.columns.holding()]
        assert [*short.columns.held()] == [*long.columns.held()]
        deltas = apply(chunking, (Piece(text),), "text")
        assert parse(build(get_format(parser), policy), deltas, Context()) == short.message


def test_text_of_which_all_waits_is_read_at_once() -> None:
    (read,) = open_texts("qwen", BLANK * 20, 1)
    assert (read.event, read.length) == (None, len(BLANK) * 20 - 1)


def test_strings_between_delimiters_are_read_at_once() -> None:
    text = "so it is } said " * 20
    (read,) = open_texts("gemma4", f'<|tool_call>call:f{{a:<|"|>{text}<|"|>}}<tool_call|>', 4)
    assert read.length > len(text) - 8


def test_a_value_whose_last_white_space_may_be_structure_is_read_at_once() -> None:
    text = "so it is said. " * 20
    reads = open_texts("dots", _DOTS.format(text), 4)
    assert sum([read.length for read in reads]) > len(text) - 12
    assert len(reads) < 12


@pytest.mark.parametrize(("value", "read"), [("Hello you   ", "Hello you"), ("Hello you   so <", "Hello you   so <")])
def test_white_space_that_open_text_kept_belongs_to_the_value_or_to_its_closer(value: str, read: str) -> None:
    text = _DOTS.format(value)
    for size in (1, 2, 3, 7):
        pieces = [Piece(text[at : at + size]) for at in range(0, len(text), size)]
        message = parse(build(get_format("dots")), [Delta(n, (one,)) for n, one in enumerate(pieces, 1)], Context())
        assert json.loads(message.tool_calls[0].arguments) == {"a": read}


def open_texts(parser: str, text: str, size: int, context: Context | None = None) -> list[OpenText]:
    """What is read at once of deltas of so many characters."""
    machine, pieces = build(get_format(parser)), [text[at : at + size] for at in range(0, len(text), size)]
    assert isinstance(machine, Machine)
    machine.begin(context or Context())
    deltas = [Delta(index, (Piece(piece),)) for index, piece in enumerate(pieces, 1)]
    found, at = list[OpenText](), 0
    while at < len(deltas):
        read = machine.read_open_text(pieces, pieces, at)
        if read is None:
            machine.feed(deltas[at])
            at += 1
        else:
            found.append(read)
            at = read.stop
    return found


def test_json_of_which_nobody_asks_what_it_holds_is_read_at_once() -> None:
    text = CALLS["qwen"].format(ROWS)
    (read,) = open_texts("qwen", text, 4)
    assert read.event is not None
    assert read.length == len(read.event.text) > len(ROWS)
    assert read.event.text == text[read.event.start : read.event.end]


def test_an_object_in_the_place_of_tags_is_read_at_once_too() -> None:
    text = f'<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n{{"a": {ROWS}}}</｜DSML｜invoke>'
    assert max([read.length for read in open_texts("deepseek_v4", text, 4)], default=0) > len(ROWS)


def test_a_marker_inside_it_is_read_in_full_and_ends_nothing() -> None:
    text = CALLS["qwen"].format(MARKED)
    assert len(open_texts("qwen", text, 4)) > 1
    assert parse(build(get_format("qwen")), [Delta(1, (Piece(text),))], Context()).tool_calls[0].complete


def test_brackets_without_end_are_read_in_full() -> None:
    read = open_texts("qwen", CALLS["qwen"].format("[" * 4_000), 4)
    assert [found.length for found in read] == [pytest.approx(100, abs=8)]


def test_a_view_between_two_deltas_knows_what_was_read_along() -> None:
    machine = build(get_format("qwen"))
    machine.begin(Context())
    for index, text in enumerate(('<tool_call>{"name": "f", "arguments": {"a": [', '{"k": ', '"x')):
        machine.feed(Delta(index + 1, (Piece(text),)))
    assert str(machine.view().codec) == "arguments, in a string, depth 3"
    machine.feed(Delta(4, (Piece('y"}, {"'),)))
    assert str(machine.view().codec) == "arguments, in a key, depth 3"


def test_white_space_that_waits_in_open_text_is_state_however_it_was_asked_for() -> None:
    states, views, ends = [], [], []
    for in_full in (False, True):
        machine = build(get_format("qwen"))
        assert isinstance(machine, Machine)
        machine.passes_open_text = not in_full
        machine.begin(Context())
        fed = [Delta(index, (Piece(text),)) for index, text in enumerate(("<think>", "so ", "it is \n"), 1)]
        for delta in fed:
            machine.feed(delta)
        state = machine.snapshot()
        assert state is not None
        states.append(state)
        views.append(machine.view())
        later = [event for text in ("x", " </think>") for event in machine.feed(Delta(4, (Piece(text),)))]
        machine.resume(state)
        assert [event for text in ("x", " </think>") for event in machine.feed(Delta(4, (Piece(text),)))] == later
        ends.append(later)
    assert states[0] == states[1]
    assert views[0] == views[1]
    assert ends[0] == ends[1]
