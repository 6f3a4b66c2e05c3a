"""ResponseParser behind our interface: the same message, a place for every character, and no error that stops it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from parsers.replays.replay import parse, replay
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Message, Tool, ToolCall, UsageError
from tests.amount import TIMES
from tests.parsers.parsing import calls
from tests.webapp.engines.templates import (
    ANCHOR,
    CALL,
    DIALECT,
    EACH,
    JOINED,
    JSON_CALLS,
    PLAIN,
    STREAMED,
    TEMPLATES,
    THINK,
    XML,
    chunkings,
    deltas,
    owned,
    read,
    template,
    told,
)
from webapp.engines.response_template import TemplateParser, loaded

FRAGMENTS = (
    "<think>", "</think>", "\n", " ", "hello", "<tool_call>", "</tool_call>", '{"name": "f", "arguments": {"a": 1}}',
    '{"name": "g", "arguments": {"s": "</tool_call> x"}}', "<|im_end|>", "<function=get>", "<parameter=k>", "v",
    "</parameter>", "</function>", "<call:f>", "</call>", "[TOOL_CALLS]", '[{"name": "n", "id": "i", "arguments": {}}]',
    "</s>", "<|channel>thought\n", "<channel|>", "<|tool_call>call:f", '{a:<|"|>x<|"|>,b:2}', "<tool_call|>", "<", "{",
    '"', "é", "<eos>", "<tu", "turn|>",
)  # fmt: skip
PREFIXES = (None, ANCHOR, f"{ANCHOR}<think>\n", "no anchor <think>", f"{ANCHOR}<tool_call>", f"{ANCHOR}a <tool_c")


@pytest.mark.replays
@pytest.mark.parametrize("seed", range(4 * TIMES))
@pytest.mark.parametrize("name", TEMPLATES)
def test_any_output_gives_one_message_with_every_character_owned(name: str, seed: int) -> None:
    chance = random.Random(f"{name} {seed}")
    for _ in range(12):
        text = "".join(chance.choice(FRAGMENTS) for _ in range(chance.randint(0, 9)))
        prefix = chance.choice(PREFIXES)
        made = loaded(TEMPLATES[name])
        traces = [replay(TemplateParser(made), cut, Context(prompt_tail=prefix)) for cut in chunkings(text, seed)]
        for trace in traces:
            assert trace.message == traces[0].message, (prefix, text)
            assert [run for run in trace.partition if run.reason == LOST] == [], (prefix, text)
            assert trace.steps[-1].holds == ()
        agrees_with_transformers(TEMPLATES[name], text, prefix or "", traces[0])


def agrees_with_transformers(data: dict[str, Any], text: str, prefix: str, trace: Trace) -> None:
    """What parse_response gives, where it gives something and loses nothing; else a diagnostic says so."""
    from transformers.utils.chat_parsing import parse_response

    codes = {one.code for one in told(trace)}
    try:
        said = parse_response(text, data, prefix=prefix)
    except ValueError:
        assert "parser_raised" in codes, text
        return
    assert "parser_raised" not in codes, text
    if codes & {"field_overwritten", "no_call"} or prefix not in ("", ANCHOR):
        return
    content = said.get("content") or ""
    assert (trace.message.content or "") == (content if isinstance(content, str) else "".join(content)), text
    assert (trace.message.reasoning or "") == (said.get("reasoning_content") or said.get("thinking") or ""), text
    names = [call["function"]["name"] for call in said.get("tool_calls") or []]
    assert [call.name for call in trace.message.tool_calls] == names, text


def test_markers_names_and_arguments_have_their_own_places() -> None:
    trace = read(JOINED, f"<think>\nhm\n</think>\n\nhello {CALL}\n{CALL}<|im_end|>")
    assert (trace.message.reasoning, trace.message.content) == ("hm", "hello")
    assert owned(trace, "name") == ["f", "f"]
    assert owned(trace, "arguments") == ['{"a": 1}'] * 2
    assert owned(trace, "reasoning") == ["hm"]
    assert {run.why for run in trace.partition if run.owner == "dropped"} == {
        "white space at the edge of a field, which the template strips"
    }
    assert told(trace) == []


def test_ids_of_the_model_are_kept_and_others_made() -> None:
    first = '{"arguments": {"x": [1,  2]}, "name": "f", "id": "abc"}'
    text = f'[TOOL_CALLS] [{first}, {{"name": "g", "id": "b", "arguments": {{}}}}]</s>'
    trace = read(EACH, text)
    assert [(call.id, call.name, call.arguments) for call in trace.message.tool_calls] == [
        ("abc", "f", '{"x": [1,  2]}'),
        ("b", "g", "{}"),
    ]
    assert owned(trace, "id") == ["abc", "b"]
    made = read(PLAIN, CALL).message.tool_calls[0].id
    assert made is not None
    assert made.startswith("chatcmpl-tool-")


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        (XML, "<function=f><parameter=a>1</parameter></function>", [("f", '{"a": "1"}')]),
        (DIALECT, '<|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>', [("f", '{"a": "x"}')]),
        (PLAIN, '<tool_call>{"name": "f", "arguments": "as text"}</tool_call>', [("f", "as text")]),
        (PLAIN, '<tool_call>{"name": "f\\u0041", "arguments": {}}</tool_call>', [("fA", "{}")]),
        (PLAIN, '<tool_call>{"name": "f"}</tool_call>', [("f", "{}")]),
        (PLAIN, '<tool_call>{"name": "f", "arguments": {"a": 1}, "arguments": {"a": 2}}</tool_call>',
         [("f", '{"a": 2}')]),
        (template(tool_calls={**JSON_CALLS, "transform": {"name": "fixed", "arguments": "{content}"}}, content={}),
         '<tool_call> {"a": 1} </tool_call>', [("fixed", '{"a": 1}')]),
        (template(tool_calls={**JSON_CALLS, "transform": {"name": "{content.n}", "arguments": {"k": "{content.a}"}}},
                  content={}),
         '<tool_call>{"n": "f", "a": 1}</tool_call>', [("f", '{"k": 1}')]),
        (template(tool_calls={**JSON_CALLS, "transform": "{content}"}, content={}),
         '<tool_call>[{"name": "f", "arguments": {}}]</tool_call>', [("f", "{}")]),
        (template(tool_calls={**JSON_CALLS, "transform": "{content.calls}"}, content={}),
         '<tool_call>{"calls": [{"name": "f", "arguments": {}}]}</tool_call>', [("f", "{}")]),
        (template(tool_calls={"content": "json"}), '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]',
         [("f", "{}"), ("g", "{}")]),
        (template(tool_calls={**JSON_CALLS, "transform": [{"name": "f", "arguments": "{content}"}]}, content={}),
         '<tool_call>{"a": 1}</tool_call>', [("f", '{"a": 1}')]),
        (template(tool_calls={"open_pattern": r"<(?P<name>\w+)=(?P<id>\w+)>", "close": ";", "content": "kv-lines",
                              "transform": {"id": "{id}", "name": "{name}", "arguments": "{content}"}}, content={}),
         "<f=i7>a: 1\nb: 2;", [("f", '{"a": "1", "b": "2"}')]),
    ],
)  # fmt: skip
def test_calls_are_read_however_the_template_gives_them(
    data: dict[str, Any], text: str, expected: list[tuple[str, str]]
) -> None:
    trace = read(data, text)
    assert calls(trace.message) == expected
    assert [run.reason for run in trace.partition if run.owner == "content"] == []


@pytest.mark.replays
def test_a_list_may_hold_thousands_of_calls() -> None:
    listed = ", ".join(f'{{"name": "f", "arguments": {{"n": {number}}}, "id": "i{number}"}}' for number in range(5_000))
    text = f"[TOOL_CALLS][{listed}]</s>"
    trace = replay(TemplateParser(loaded(EACH)), deltas(text, [1_000]), Context())
    assert [call.id for call in trace.message.tool_calls] == [f"i{number}" for number in range(5_000)]
    assert len(owned(trace, "arguments")) == 5_000


def test_groups_of_the_pattern_are_overridden_by_the_keys_of_an_item() -> None:
    data = template(
        tool_calls={"open_pattern": r"<(?P<name>\w+)>", "close": ";", "content": "json", "transform_each": True,
                    "transform": {"name": "{name}", "arguments": "{arguments}"}},
        content={},
    )  # fmt: skip
    trace = read(data, '<outer>[{"arguments": {}}, {"name": "inner", "arguments": {}}];')
    assert calls(trace.message) == [("outer", "{}"), ("inner", "{}")]
    assert owned(trace, "name") == ["outer", "inner"]


def test_arguments_cast_by_a_schema_are_converted() -> None:
    tool = Tool("f", {"type": "object", "properties": {"a": {"type": "integer"}}})
    trace = read(XML, "<function=f><parameter=a>3</parameter></function>", tools=(tool,))
    assert calls(trace.message) == [("f", '{"a": 3}')]
    kinds = [part.kind for _, event in trace.events() if event.kind == "CallArguments" for part in event.parts()]  # type: ignore[attr-defined]
    assert kinds == ["converted"]


@pytest.mark.parametrize(
    ("prefix", "text", "message"),
    [
        (f"{ANCHOR}<think>\n", "hm</think>yes", Message("hm", "yes")),
        (f"{ANCHOR}<think>\nAlready. ", " hm </think>yes", Message(" hm", "yes")),
        (f"{ANCHOR}<thi", "nk>hm</think>yes", Message("hm", "yes")),
        (f"{ANCHOR}<think>\n</think>", "yes", Message(None, "yes")),
        (f"{ANCHOR}Well, ", "yes", Message(None, "yes")),
        ("<think> other turn", "hm</think>yes", Message("hm", "yes")),
        (f"{ANCHOR}{CALL}", "yes", Message(None, "yes")),
        (f"{ANCHOR}<tool_call>nonsense</tool_call>", "yes", Message(None, "yes")),
    ],
)
def test_the_prompt_prefix_says_where_the_output_starts(prefix: str, text: str, message: Message) -> None:
    assert read(PLAIN, text, prefix).message == message


@pytest.mark.parametrize(
    ("prefix", "text", "name", "arguments"),
    [
        ('<tool_call>{"name": "f", "arg', 'uments": {"a": 1}}</tool_call>', [], ['{"a": 1}']),
        ('<tool_call>{"name": "f", "arguments": {"a"', ": 1}}</tool_call>", [], [": 1}"]),
        ('<tool_call>{"name": "', 'f", "arguments": {"a": 1}}</tool_call>', ["f"], ['{"a": 1}']),
        ("<tool_", 'call>{"name": "f", "arguments": {"a": 1}}</tool_call>', ["f"], ['{"a": 1}']),
    ],
)
def test_a_call_that_the_prompt_began_is_whole(prefix: str, text: str, name: list[str], arguments: list[str]) -> None:
    trace = read(PLAIN, text, ANCHOR + prefix)
    assert calls(trace.message) == [("f", '{"a": 1}')]
    assert (owned(trace, "name"), owned(trace, "arguments")) == (name, arguments)


def test_converted_arguments_that_the_prompt_began_own_what_is_left_of_them() -> None:
    trace = read(XML, "=a>3</parameter></function>", f"{ANCHOR}<function=f><parameter")
    assert calls(trace.message) == [("f", '{"a": "3"}')]
    assert owned(trace, "arguments") == ["=a>3</parameter>"]


def test_text_arguments_are_sent_as_they_come() -> None:
    trace = read(STREAMED, 'hi <call:f> {"a": 1} </call> mid <call:g>{"b":')
    assert trace.message.content == "hi\nmid"
    assert [(call.name, call.arguments, call.complete) for call in trace.message.tool_calls] == [
        ("f", '{"a": 1}', True),
        ("g", '{"b":', False),
    ]
    pieces = [delta.tool_calls for delta in trace.deltas if delta and delta.tool_calls]
    assert len(pieces) > 4
    assert [one.code for one in told(trace)] == ["unclosed_region"]


@pytest.mark.parametrize(
    "transform",
    [
        {"name": "{name}", "arguments": {"text": "{content}"}},
        {"name": "{name}", "arguments": "{content}", "x": "{missing}"},
        {"name": "{content}", "arguments": "{content}"},
        {"name": "f", "arguments": "{content}"},
        ["{content}"],
        {"arguments": "{content.x}", "name": "{name}"},
    ],
)
def test_arguments_wait_where_more_than_their_text_is_needed(transform: Any) -> None:
    data = template(tool_calls={"open_pattern": r"<call:(?P<name>\w+)>", "close": "</call>", "transform": transform},
                    content={})  # fmt: skip
    trace = replay(TemplateParser(loaded(data)), deltas("<call:f>abc</call>", [1]), Context())
    assert all(step.view.call is None for step in trace.steps)


def test_a_join_makes_one_text_of_several_regions() -> None:
    data = template(thinking={**THINK, "repeats": True, "join": "|"}, content={"repeats": True, "join": "+"})
    trace = read(data, "<think>a</think>x<think>b</think>y<think> </think>z")
    assert (trace.message.reasoning, trace.message.content) == ("a|b|", "x+y+z")
    data = template(thinking={**THINK, "repeats": True, "join": ""}, content={})
    assert read(data, "<think>a</think><think>b</think>").message == Message("ab")


def test_text_that_is_not_stripped_is_kept_as_written() -> None:
    data = template(thinking={**THINK, "content_args": {"strip": False}}, content={"content_args": {"strip": False}})
    assert read(data, "<think> a\n</think> b ").message == Message(" a\n", " b ")


# what is seen of it


def test_the_view_says_state_holds_and_what_they_may_become() -> None:
    parser = TemplateParser(loaded(PLAIN))
    trace = replay(parser, deltas("ab <tool_call>{}", [5, 1]), Context())
    views = [step.view for step in trace.steps]
    assert views[0].state == "CONTENT"
    assert [(hold.start, hold.end, hold.kind) for hold in views[0].holds] == [(2, 3, "policy"), (3, 5, "lexer")]
    assert views[0].candidates == ("THINKING_OPEN", "TOOL_CALLS_OPEN", "CONTENT_CLOSE")[0:2]
    assert views[0].accepts == ("THINKING_OPEN", "TOOL_CALLS_OPEN", "CONTENT_CLOSE")
    last = views[-2]
    assert (last.state, last.accepts) == ("TOOL_CALLS", ("TOOL_CALLS_CLOSE",))
    assert [(hold.start, hold.end, hold.kind) for hold in last.holds] == [(3, 16, "tentative")]
    assert last.holds[0].reason == "tool_calls (json) is read when its region closes."


def test_what_a_pattern_holds_is_a_policy() -> None:
    trace = replay(TemplateParser(loaded(JOINED)), deltas("ab\n", [3]), Context())
    (hold,) = trace.steps[0].holds
    assert (hold.kind, hold.reason) == ("policy", "Could begin TOOL_CALLS_OPEN or CONTENT_CLOSE.")


def test_a_held_region_that_begins_with_text_waits_from_there() -> None:
    trace = replay(TemplateParser(loaded(template(tool_calls={"content": "json"}))), deltas('[{"name"', [4]), Context())
    assert [(hold.start, hold.end) for hold in trace.steps[1].holds] == [(0, 8)]


def test_transitions_name_the_rows_of_the_table() -> None:
    made = loaded(PLAIN)
    trace = replay(TemplateParser(made), deltas(f"<think>a</think>{CALL}b<|im_end|>", [4]), Context())
    fired = [(one.from_state, one.trigger, one.to_state) for step in trace.steps for one in step.transitions]
    assert fired == [
        ("CONTENT", "THINKING_OPEN", "THINKING"),
        ("THINKING", "THINKING_CLOSE", "CONTENT"),
        ("CONTENT", "TOOL_CALLS_OPEN", "TOOL_CALLS"),
        ("TOOL_CALLS", "TOOL_CALLS_CLOSE", "CONTENT"),
        ("CONTENT", "CONTENT_CLOSE", "CONTENT"),
        ("CONTENT", "END", "CONTENT"),
    ]
    assert all(one.row in made.table.rows.values() for step in trace.steps for one in step.transitions)


def test_a_delimiter_of_the_prompt_is_no_transition() -> None:
    trace = read(PLAIN, "a</think>", f"{ANCHOR}<think>")
    fired = [(one.from_state, one.to_state) for step in trace.steps for one in step.transitions]
    assert fired == [("THINKING", "CONTENT"), ("CONTENT", "CONTENT")]


def test_an_untraced_run_gives_the_same_message() -> None:
    cut = deltas(f"a{CALL}", [2])
    made = loaded(PLAIN)
    assert parse(TemplateParser(made), cut, Context()) == replay(TemplateParser(made), cut, Context()).message


@pytest.mark.parametrize("when", ["before begin", "after finish"])
def test_a_parser_is_used_between_begin_and_finish(when: str) -> None:
    parser = TemplateParser(loaded(PLAIN))
    if when == "after finish":
        parser.begin(Context())
        parser.finish()
    with pytest.raises(UsageError, match="begin"):
        parser.feed(deltas("x", [1])[0])
    with pytest.raises(UsageError, match="begin"):
        parser.finish()


@pytest.mark.linear
@pytest.mark.parametrize("size", [1, 4, 10**9])
@pytest.mark.parametrize("text", ["hello ", CALL, f"a{CALL}\n<think>b</think>"])
def test_work_grows_with_the_output(text: str, size: int) -> None:
    made, examined = loaded(PLAIN), []
    for times in (300, 600):
        parser = TemplateParser(made)
        parse(parser, deltas(text * times, [size]), Context())
        examined.append(parser.examined)
    assert 0 < examined[1] <= 2.1 * examined[0]


@pytest.mark.replays
def test_the_longest_call_is_one_call() -> None:
    body = "x" * 30_000
    trace = read(PLAIN, f'<tool_call>{{"name": "f", "arguments": {{"a": "{body}"}}}}</tool_call>')
    assert trace.message.tool_calls == [
        ToolCall(trace.message.tool_calls[0].id, "f", f'{{"a": "{body}"}}', True),
    ]
