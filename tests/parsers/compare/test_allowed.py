"""What a contract lets pass between two messages: each key with what it allows, and with the nearest thing that it does
not. The right message is what the built-in parser makes of an output; the others stand here."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from docs.generate import contracts_page
from parsers.compare.allowed import RULES, allowed_by, allowed_however_cut, content_around
from parsers.formats.contracts import Contract, builtin_contracts, contract_keys
from parsers.vocabulary.types import Context, Message, Tool, ToolCall
from tests.growth import assert_linear, seconds
from tests.parsers.parsing import trace_of

NUMBERS = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}
CONTEXT = Context(
    tools=(
        Tool("f"),
        Tool("g"),
        Tool("n", parameters=NUMBERS),
        Tool("k", parameters={"properties": {"b": {}}, "required": ["b"]}),
    )
)
QWEN_F, QWEN_G = [f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>' for name in "fg"]
LLAMA_F = '{"name": "f", "parameters": {}}'
CUT_G = '<tool_call>{"name": "g", "arguments": {"a": 1, "b": "xy'
SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
KIMI_G = '<|tool_call_begin|>functions.g:0<|tool_call_argument_begin|>{"a": 1}'


def qwen(name: str, arguments: str) -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


QWEN_H, QWEN_LIST, LACKING = qwen("h", "{}"), qwen("g", "[1]"), qwen("k", '{"c": 2}')


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall("1", name, arguments)


def said(content: str | None, *calls: ToolCall, reasoning: str | None = None) -> Message:
    return Message(reasoning, content, [*calls])


class Row(NamedTuple):
    """An output, what the built-in parser reads under the first of the values, and two other readings."""

    key: str
    values: str
    fmt: str
    text: str
    allowed: Message
    refused: Message


F, G = call("f"), call("g")
G1 = call("g", '{"a": 1}')
CUT_QWEN = f"Hi.{QWEN_F}{CUT_G}"
TAGS = "<tool_call>\n<function=n>\n<parameter=s>\nx\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>"
BLANKS = f" Hi. {QWEN_F}\n and \n{QWEN_G}\n Bye. "
ROWS: list[Row] = [
    # how far a call goes that the output cuts off
    Row("truncated_call", "as_streamed drop", "qwen", CUT_QWEN, said("Hi.", F), said("Hi.")),
    Row("truncated_call", "as_streamed drop", "qwen", f"Hi.{QWEN_F}{QWEN_G}", said("Hi.", F, G), said("Hi.", F)),
    Row("truncated_call", "as_streamed text", "qwen", CUT_QWEN, said(f"Hi.{CUT_G}", F), said(f"Hi.{CUT_G[:-1]}", F)),
    Row("truncated_call", "as_streamed drop", "qwen", CUT_QWEN,
        said("Hi.", F), said("Hi.", F, call("g", '{"a": 1, "b": "xy"}'))),
    Row("truncated_call", "drop as_streamed", "qwen", CUT_QWEN, said("Hi.", F), said("Hi.", G)),
    Row("truncated_call", "close as_streamed", "qwen", CUT_QWEN,
        said("Hi.", F, call("g", '{"a": 1, "b": "x')), said("Hi.", F, call("g", '{"a": 1, "b": "z'))),
    Row("truncated_call", "as_streamed close", "qwen", CUT_QWEN,
        said("Hi.", F, call("g", '{"a": 1, "b": "xy"}')), said("Hi.", F, call("g", '{"a": 1, "b": "xyz"}'))),
    Row("truncated_call", "as_streamed close", "qwen", CUT_QWEN,
        said("Hi.", F, G1), said("Hi.", F, call("g", '{"a": 2}'))),
    Row("truncated_call", "as_streamed close", "qwen", CUT_QWEN, said("Hi.", F, G), said("Hi.", F, F)),
    # lists
    Row("unclosed_list", "keep drop", "pythonic", "Hi. [f()", said("Hi. "), said(None)),
    Row("unclosed_list", "keep drop", "pythonic", "[f()] Bye. [g()", said(" Bye. ", F), said(" Bye. ")),
    Row("unclosed_list", "keep text", "phi4_mini_json", 'functools[{"name": "f", "arguments": {}}',
        said('functools[{"name": "f", "arguments": {}}'), said('{"name": "f", "arguments": {}}')),
    Row("unclosed_list", "keep drop", "pythonic", "[f(), g()]", said(None, F, G), said(None)),
    Row("unclosed_list", "keep drop", "pythonic", 'Hi. [f(), g(a="x', said("Hi. "), said(None)),
    Row("unclosed_list", "keep drop", "qwen", CUT_QWEN, said("Hi.", F, call("g", '{"a": 1, "b": "xy')), said("Hi.")),
    Row("unclosed_list", "keep drop", "mistral", '[TOOL_CALLS][{"name": "f", "arguments": {}}, {"name": "g"',
        said(None), said('[TOOL_CALLS][{"name": "f"')),
    Row("unclosed_list", "keep text", "k2_horizon", "<ifm|tool_calls><ifm|tool_call>f</ifm|tool_call>",
        said("<ifm|tool_calls><ifm|tool_call>f</ifm|tool_call>"), said("<ifm|tool_call>f</ifm|tool_call>")),
    Row("second_block", "read drop", "pythonic", "[f()] And [g()]", said(" And ", F), said(" And ", G)),
    Row("second_block", "read drop", "pythonic", "[f(), g()]", said(None, F, G), said(None, F)),
    Row("second_block", "read drop", "mistral", "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{}",
        said(None, F, G), said(None, F)),
    Row("second_block", "read text", "pythonic", "[f()] And [g()]", said(" And [g()]", F), said(" And g", F)),
    # calls that are none
    Row("malformed_call", "read reject", "kimik2", f"{SECTION}{KIMI_G}{SECTION_END}", said(None), said("functions.g")),
    Row("malformed_call", "read reject", "kimik2", f"{SECTION}{KIMI_G}{SECTION_END}",
        said(f"{SECTION}{KIMI_G}{SECTION_END}"), said(f"{SECTION}{KIMI_G[:-1]}{SECTION_END}")),
    Row("malformed_call", "read reject", "kimik2", f"{SECTION}{KIMI_G}<|tool_call_end|>{SECTION_END}",
        said(None, G1), said(None)),
    Row("malformed_call", "read reject", "qwen_coder", f"Hi.{TAGS.replace('</function>', 'well</function>')}",
        said("Hi."), said("Hi.", F)),
    Row("missing_arguments", "empty drop", "qwen", f'Hi.<tool_call>{{"name": "f"}}</tool_call>{QWEN_G}',
        said("Hi.", G), said("Hi.", F)),
    Row("missing_arguments", "empty text", "qwen", 'Hi.<tool_call>{"name": "f"}</tool_call>',
        said('Hi.<tool_call>{"name": "f"}</tool_call>'), said('Hi.{"name": "f"}')),
    Row("missing_arguments", "empty drop", "qwen", f"Hi.{QWEN_F}", said("Hi.", F), said("Hi.")),
    Row("missing_arguments", "empty drop", "qwen_coder",
        "<tool_call>\n<function=f>\n</function>\n</tool_call>", said(None, F), said(None)),
    Row("missing_arguments", "empty drop", "pythonic", "[f()]", said(None, F), said(None)),
    Row("unknown_tool", "keep drop", "qwen", f"Hi.{QWEN_F}{QWEN_H}", said("Hi.", F), said("Hi.", call("h"))),
    Row("unknown_tool", "keep text", "qwen", f"Hi.{QWEN_F}{QWEN_H}!",
        said(f"Hi.{QWEN_H}!", F), said(f"Hi.!{QWEN_H}", F)),
    Row("unknown_tool", "keep text", "qwen", f"{QWEN_F}\n{QWEN_H}\n{QWEN_G}",
        said(QWEN_H, F, G), said(f" {QWEN_H}", F, G)),
    Row("unknown_tool", "drop keep", "qwen", "Hi." + qwen("h", '{"x": [1, true]}'),
        said("Hi.", call("h", '{"x":[1,true]}')), said("Hi.", call("h", '{"x":[1,false]}'))),
    Row("unknown_tool", "drop keep", "qwen", QWEN_H + QWEN_F + qwen("i", "{}"),
        said(None, call("h"), F, call("i")), said(None, call("h"), F)),
    Row("invalid_call", "lenient strict", "qwen", f"Hi.{QWEN_F}{QWEN_LIST}", said("Hi.", F), said("Hi.")),
    Row("invalid_call", "lenient strict", "qwen", f"Hi.{QWEN_F}{QWEN_LIST}",
        said(f"Hi.{QWEN_F}{QWEN_LIST}"), said(f"Hi.{QWEN_F}")),
    Row("invalid_call", "lenient by_schema", "qwen", f"Hi.{QWEN_F}{LACKING}",
        said("Hi.", F), said("Hi.", call("k", '{"c": 2}'))),
    Row("invalid_call", "lenient strict", "qwen", f"Hi.{QWEN_F}{LACKING}",
        said("Hi.", F, call("k", '{"c": 2}')), said("Hi.", F)),
    # arguments and names
    Row("unclosed_value", "keep drop", "qwen_coder", TAGS,
        said(None, call("n", '{"n": 3}')), said(None, call("n", '{"s": "x"}'))),
    Row("undeclared_arguments", "keep drop", "qwen", qwen("k", '{"b": 1, "c": 2}'),
        said(None, call("k", '{"b": 1}')), said(None, call("k", '{"c": 2}'))),
    Row("undeclared_arguments", "keep unwrap", "qwen", qwen("k", '{"input": {"b": 1}}'),
        said(None, call("k", '{"b": 1}')), said(None, call("k"))),
    Row("undeclared_arguments", "keep unwrap", "qwen", qwen("k", '{"b": 1, "c": 2}'),
        said(None, call("k", '{"b": 1, "c": 2}')), said(None, call("k", '{"b": 1}'))),
    Row("json_values", "by_schema as_written", "qwen", qwen("n", '{"n": "3", "s": 4}'),
        said(None, call("n", '{"n": "3", "s": 4}')), said(None, call("n", '{"n": 3, "s": "5"}'))),
    Row("json_values", "by_schema as_written", "qwen", qwen("n", '{"n": "x", "s": "4"}'),
        said(None, call("n", '{"n": "x", "s": 4}')), said(None, call("n", '{"n": "x", "s": true}'))),
    Row("json_values", "as_written by_schema", "qwen", qwen("g", '{"a": "3"}'),
        said(None, call("g", '{"a": "3"}')), said(None, call("g", '{"a": 3}'))),
    Row("whole_numbers", "keep shorten", "qwen", qwen("g", '{"a": [5.0, 1.5], "b": "2.0"}'),
        said(None, call("g", '{"a": [5, 1.5], "b": "2.0"}')), said(None, call("g", '{"a": [5, 1.5], "b": "2"}'))),
    Row("whole_numbers", "keep shorten", "qwen", qwen("g", '{"a": 5, "b": [2.0]}'),
        said(None, call("g", '{"a": 5, "b": [2]}')), said(None, call("g", '{"a": 5.0, "b": [2]}'))),
    Row("whole_numbers", "keep shorten", "qwen", qwen("g", '{"b": [2.0]}'),
        said(None, call("g", '{"b": [2]}')), said(None, call("g", '{"b": 2}'))),
    Row("whole_numbers", "keep shorten", "qwen", QWEN_F + qwen("g", '{"b": 2.0}'),
        said(None, F, call("g", '{"b": 2}')), said(None, call("g", '{"b": 2}'))),
    Row("wrapper_names", "keep repair", "qwen", qwen("functions.f", "{}"), said(None, F), said(None, G)),
    Row("wrapper_names", "keep repair", "qwen", QWEN_G + qwen("functions.f", "{}"), said(None, G, F), said(None, F)),
    Row("wrapper_names", "keep repair", "qwen", qwen("x.h", "{}"), said(None, call("x.h")), said(None, call("h"))),
    Row("wrapper_names", "keep repair", "kimik2", f"{SECTION}{KIMI_G}<|tool_call_end|>{SECTION_END}",
        said(None, call("functions.g", '{"a": 1}')), said(None, call("other.g", '{"a": 1}'))),
    # all of the output
    Row("whole_output", "any only", "pythonic", "Hi. [f()]\n", said("Hi. [f()]"), said("[f()]")),
    Row("whole_output", "any only", "pythonic", "[f()]\n", said(None, F), said("[f()]")),
    Row("whole_output", "any only", "json", 'Hi. {"name": "f", "arguments": {}}',
        said('Hi. {"name": "f", "arguments": {}}'), said("Hi.")),
    Row("without_calls", "read text", "kimik2", f"Hi. {SECTION}{SECTION_END}",
        said(f"Hi. {SECTION}{SECTION_END}"), said(f"Hi. {SECTION}")),
    Row("without_calls", "read text", "qwen", " x <think>a</think> Hi <tool_call><|im_end|>",
        said(" x  Hi <tool_call>", reasoning="a"), said("Hi <tool_call>", reasoning="a")),
    Row("without_calls", "read text", "qwen", "<think></think> Hi<|im_end|>",
        said("<think></think> Hi"), said("<think> Hi")),
    Row("without_calls", "read text", "qwen", f"Hi.{QWEN_F}", said("Hi.", F), said(f"Hi.{QWEN_F}")),
    # markup
    Row("rejected_call", "text drop", "qwen", 'Hi. <tool_call>{"x" Bye', said("Hi. Bye"), said("Hi.")),
    Row("rejected_call", "text drop", "qwen", f'Hi. <tool_call>{{"x" <|im_end|>{QWEN_F}',
        said("Hi. ", F), said("Hi. ")),
    Row("rejected_call", "drop text", "kimik2", f"Hi. {SECTION}<|tool_call_begin|><|tool_call_end|>{SECTION_END} x",
        said("Hi. <|tool_call_begin|><|tool_call_end|> x"), said("Hi. <|tool_call_begin|> x")),
    Row("rejected_call", "text drop", "qwen", "a<tool_call>x b<tool_call>y c", said("ax by c"), said("a b c")),
    Row("rejected_call", "text drop", "llama", f'a {{"x": 1}} b {LLAMA_F} c', said("a  b c", F), said("a b c", F)),
    Row("rejected_call", "text drop", "qwen", f"Hi.{QWEN_F}", said("Hi.", F), said("Hi", F)),
    Row("reasoning_calls", "read text", "qwen", f"<think>a{QWEN_F}b</think>c",
        said("c", reasoning=f"a{QWEN_F}b"), said("c", reasoning="ab")),
    Row("reasoning_calls", "read text", "qwen", f"<think>a{QWEN_F}b",
        said(None, reasoning=f"a{QWEN_F}b"), said("b", reasoning="a")),
    Row("reasoning_calls", "read text", "qwen", f"<think>a</think>{QWEN_F}",
        said(None, F, reasoning="a"), said(None, reasoning="a")),
    Row("stray_reasoning_end", "drop text", "qwen", "a</think>c", said("a</think>c"), said("a</thinkc")),
    Row("stray_reasoning_end", "drop reasoning", "qwen", "a</think>c",
        said("c", reasoning="a"), said("a", reasoning="c")),
    Row("stray_reasoning_end", "drop reasoning", "qwen", f"{QWEN_F}a</think>c",
        said("ac", F), said("c", F, reasoning="a")),
    # white space, and text beside calls
    Row("reasoning_start", "keep strip", "qwen", "<think>\n Hm.</think>a",
        said("a", reasoning="Hm."), said("a", reasoning=" Hm.")),
    Row("reasoning_tail", "strip keep", "qwen", "<think>Hm.\n \n</think>a",
        said("a", reasoning="Hm.\n \n"), said("a", reasoning="Hm.\n")),
    Row("reasoning_tail", "keep strip", "qwen", "<think>Hm.\n</think>a",
        said("a", reasoning="Hm."), said("a", reasoning="Hm")),
    Row("reasoning_alone", "keep content", "qwen", "<think>Hm.</think>", said("Hm."), said("Hm")),
    Row("reasoning_alone", "keep content", "qwen", "<think>Hm.</think>a", said("a", reasoning="Hm."), said("Hm.")),
    Row("content_before_calls", "keep strip", "qwen", BLANKS,
        said("Hi.\n and \n\n Bye. ", F, G), said(" Hi. and \n\n Bye. ", F, G)),
    Row("content_before_calls", "keep drop", "qwen", BLANKS,
        said("\n and \n\n Bye. ", F, G), said(" Hi. \n and \n", F, G)),
    Row("content_before_calls", "drop_blank keep", "qwen", f"\n\n{QWEN_F}", said("\n\n", F), said("\n", F)),
    Row("content_before_calls", "keep drop_blank", "qwen", f"\n\n{QWEN_F}", said(None, F), said("\n", F)),
    Row("content_before_calls", "keep drop", "qwen", "Hi.", said("Hi."), said(None)),
    Row("content_between_calls", "keep strip", "qwen", BLANKS,
        said(" Hi. and\n Bye. ", F, G), said(" Hi. and Bye. ", F, G)),
    Row("content_between_calls", "keep drop", "qwen", BLANKS,
        said(" Hi. \n Bye. ", F, G), said(" Hi. \n and \n", F, G)),
    Row("content_after_calls", "keep strip", "qwen", BLANKS,
        said(" Hi. \n and \nBye.", F, G), said("Hi. \n and \nBye.", F, G)),
    Row("content_after_calls", "keep drop", "qwen", BLANKS, said(" Hi. \n and \n", F, G), said(" Hi. ", F, G)),
    Row("content_start", "keep strip", "qwen", "\n\nHi.", said("Hi."), said("\nHi.")),
]  # fmt: skip
ABOUT_NO_MESSAGE = frozenset(("ids", "empty_deltas", "late_text"))


def contract(key: str, values: str) -> Contract:
    return Contract.model_validate({"name": "own", key: values.split()})


def allowed(promised: Contract, row: Row, wrong: Message) -> str | None:
    trace = trace_of(row.fmt, row.text, policy=promised.policies(), context=CONTEXT)
    around = content_around([event for _, event in trace.events()])
    return allowed_by(promised, trace.message, wrong, text=row.text, context=CONTEXT, around=around)


def right(row: Row) -> Message:
    message = trace_of(row.fmt, row.text, policy=contract(*row[:2]).policies(), context=CONTEXT).message
    return replace(message, content=message.content or None, reasoning=message.reasoning or None)


def same(one: Message, other: Message) -> bool:
    shapes = [
        (message.content, message.reasoning, [(call.name, call.arguments) for call in message.tool_calls])
        for message in (one, other)
    ]
    return shapes[0] == shapes[1]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.key}-{row.values}-{row.text}"[:60])
def test_a_key_allows_what_it_says_and_not_the_nearest_other_thing(row: Row) -> None:
    promised = contract(row.key, row.values)
    told = f"{row.key}={'|'.join(row.values.split())}"
    assert allowed(promised, row, row.allowed) == (None if same(right(row), row.allowed) else told)
    assert allowed(promised, row, row.refused) is None
    assert not same(right(row), row.refused)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.key}-{row.values}-{row.text}"[:60])
@pytest.mark.replays
def test_its_own_behaviour_alone_allows_nothing_else(row: Row) -> None:
    promised = contract(row.key, row.values.split()[0])
    assert allowed(promised, row, row.allowed) is None


def test_every_key_has_a_rule_and_a_row_that_it_allows() -> None:
    assert sorted(rule.key for rule in RULES) == sorted(contract_keys())
    shown = {row.key for row in ROWS if not same(right(row), row.allowed)}
    assert shown == {*contract_keys()} - ABOUT_NO_MESSAGE


@pytest.mark.parametrize("key", sorted(ABOUT_NO_MESSAGE))
def test_a_key_that_is_about_no_message_allows_nothing(key: str) -> None:
    row = Row(key, "", "qwen", f"Hi.{QWEN_F}", said("Hi.", F), said("Hi", F))
    for value in ["any", "stable"] if key == "ids" else ["unknown", "sent"]:
        assert allowed(Contract.model_validate({"name": "own", key: value}), row, row.refused) is None


def test_the_document_lists_the_rules_in_the_order_of_the_table() -> None:
    page = contracts_page()
    places = [page.index(f"| `{rule.key}` | {rule.allows}") for rule in RULES]
    assert places == sorted(places)


def test_messages_that_are_the_same_need_no_contract() -> None:
    row = Row("", "", "qwen", f"Hi.{QWEN_F}", said("Hi.", F), said("Hi.", F))
    for promised in builtin_contracts().values():
        assert allowed(promised, row, row.allowed) is None


def test_several_keys_together_may_allow_a_difference() -> None:
    promised = Contract(name="own", content_after_calls=("keep", "drop"), reasoning_tail=("strip", "keep"))
    row = Row(
        "", "", "qwen", f"<think>Hm.\n</think>Hi.{QWEN_F} Bye.", said("Hi.", F, reasoning="Hm.\n"), said("Hi.", F)
    )
    assert allowed(promised, row, row.allowed) == "reasoning_tail=strip|keep, content_after_calls=keep|drop"
    assert allowed(promised, row, row.refused) is None


def test_text_of_calls_stands_where_they_did_with_the_markup_around_them_or_without() -> None:
    promised = Contract(name="own", unknown_tool=("keep", "text"), content_between_calls=("drop_blank", "keep"))
    odd = f"{KIMI_G}<|tool_call_end|>".replace("g:0", "h:0")
    text = f"Hi. {SECTION}{odd} {KIMI_G}<|tool_call_end|>{SECTION_END} Bye."
    for content in (f"Hi. {odd} Bye.", f"Hi. {SECTION}{odd} Bye.", f"Hi. {SECTION}{odd}  Bye.", f"Hi. {odd}  Bye."):
        row = Row("", "", "kimik2", text, said(content, G1), said(None))
        assert allowed(promised, row, row.allowed) is not None, content
    row = Row("", "", "kimik2", text, said(f"Hi.  Bye.{odd}", G1), said(None))
    assert allowed(promised, row, row.allowed) is None


@pytest.mark.parametrize(
    ("fmt", "text"),
    [
        ("qwen", f"Hi. {QWEN_F}"),
        ("mistral", 'Hi. [TOOL_CALLS][{"name": "f", "arguments": {}}]'),
        ("hunyuan_a13b", 'Hi. <tool_calls>[{"name": "f", "arguments": {}}]</tool_calls>'),
        ("kimik2", f"Hi. {SECTION}{KIMI_G}<|tool_call_end|>{SECTION_END}"),
    ],
)
def test_a_call_that_a_marker_begins_is_lost_beside_text_by_no_contract(fmt: str, text: str) -> None:
    promised = contract("whole_output", "any only")
    row = Row("whole_output", "any", fmt, text, said(text), said(None))
    assert right(row).tool_calls
    assert allowed(promised, row, row.allowed) is None


def test_calls_that_began_in_another_order_are_another_message() -> None:
    row = Row("", "", "qwen", f"Hi. {QWEN_F}{QWEN_G}", said("Hi.", F, G), said(None))
    promised = Contract(name="own", content_before_calls=("keep", "strip"))
    assert allowed(promised, row, row.allowed) == "content_before_calls=keep|strip"
    assert allowed(promised, row, replace(row.allowed, order=(1, 0))) is None


def test_events_of_another_message_allow_nothing() -> None:
    promised = Contract(name="own", content_start=("keep", "strip"))
    events = [event for _, event in trace_of("qwen", f"\nHi.{QWEN_F}").events()]
    for right, wrong in ((said("\nHi."), said("Hi.")), (said("\nHo.", F), said("Ho.", F))):
        around = content_around(events)
        assert allowed_by(promised, right, wrong, text=f"\nHi.{QWEN_F}", context=CONTEXT, around=around) is None


@pytest.mark.linear
def test_what_is_allowed_is_told_in_linear_time() -> None:
    promised = builtin_contracts()["vllm"]

    def timed(many: int) -> float:
        trace = trace_of("qwen", f"Hi.\n{QWEN_F}\n{QWEN_G}\n{qwen('h', '[1]')}" * many, context=CONTEXT)
        around = content_around([event for _, event in trace.events()])
        wrong, text = replace(trace.message, content="Hi."), trace.text
        return seconds(lambda: allowed_by(promised, trace.message, wrong, text=text, context=CONTEXT, around=around))

    assert_linear(timed, (20, 40, 80))


CUT = ToolCall("2", "g", '{"a": ', complete=False)
CUTS = [
    (said("Hi.", F, CUT), said("Hi.", F), said("Hi.", F, call("g", '{"a": null}')), "truncated_call=as_streamed|drop"),
    (said("Hi.", F, CUT), said("Hi.", F, call("g", "{")), said("Hi.", F, G), "truncated_call=as_streamed|drop"),
    (said("Hi.", F, CUT), said("Hi.", F), said("Hi", F, CUT), None),
    (said("Hi.", F, CUT), said("Hi.", F), said("Hi.", F, call("g", '{"a": 1}')), None),
    (said("Hi.", F, CUT), said("Hi.", F), said("Hi.", F, call("f", '{"a": ')), None),
    (said("Hi.", F, CUT), said("Hi.", F), said("Hi.", F, CUT, CUT), None),
    (said("Hi.", F, CUT), said("Hi.", F), said("Hi.", F, ToolCall("2", "g", '{"a": </call>')), None),
    (said("Hi.", F, CUT), said("Hi."), said("Hi.", F), None),
    (said("Hi.", F, G), said("Hi.", F), said("Hi.", F, CUT), None),
    (said("Hi."), said("Hi."), said(None), None),
]


@pytest.mark.parametrize(("right", "one", "other", "keys"), CUTS)
def test_other_cuts_may_change_only_how_far_a_call_goes_that_the_output_cuts_off(
    right: Message, one: Message, other: Message, keys: str | None
) -> None:
    promised = Contract(name="own", truncated_call=("as_streamed", "drop"), content_start=("keep", "strip"))
    assert allowed_however_cut(promised, right, one, other) == keys
    assert allowed_however_cut(promised, right, other, one) == keys
    assert allowed_however_cut(Contract(name="own", truncated_call=("drop",)), right, one, other) is None
