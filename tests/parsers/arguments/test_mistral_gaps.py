"""What tests of mistral parsers usually leave out, in both grammars: errors in mid-stream, memory, size, depth, odd
characters, and many requests at once."""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

import pytest

from parsers.replays.replay import parse
from parsers.selection.registry import build, get_format
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import ContentText
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Context, Message, Tool
from parsers.wire.assemble import Assembler
from tests.parsers.parsing import calls, codes, deltas, events_of, tool, trace_of

MARKER = "[TOOL_CALLS]"
Write = Callable[[str, str], str]


def as_array(name: str, arguments: str) -> str:
    return f'{MARKER} [{{"name": {json.dumps(name)}, "arguments": {arguments}}}]'


def after_name(name: str, arguments: str) -> str:
    return f"{MARKER}{name}{arguments}"


grammars = pytest.mark.parametrize("write", [as_array, after_name], ids=["pre-v11", "v11"])


def mistral() -> StreamParser:
    return build(get_format("mistral"))


def sliced(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


# errors while streaming

AFTER_AN_ERROR = [
    ('[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}, oops}]', "oops}]", ["f"]),
    ('[TOOL_CALLS] [{"name": "f", "arguments": {}} {"name": "g"', '{"name": "g"', ["f"]),
    ('[TOOL_CALLS] [{"name": "f", "arguments": {}}, true', "true", ["f"]),
    ('[TOOL_CALLS] [{"nope": 1}', '{"nope": 1}', []),
    ("[TOOL_CALLS] [what", "[what", []),
    ("[TOOL_CALLS]? f{}", "? f{}", []),
    ('[TOOL_CALLS]f{"a": 1} so', " so", ["f"]),
]


@pytest.mark.parametrize(("broken", "text", "found"), AFTER_AN_ERROR)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_stream_goes_on_after_an_error(broken: str, text: str, found: list[str], size: int) -> None:
    """Every later delta reaches the client at once, and none of them fails."""
    later = [" The", " rest", " of", " it."]
    trace = trace_of("mistral", *sliced(broken, size), *later)
    assert [call.name for call in trace.message.tool_calls] == found
    assert trace.message.content == text + "".join(later)
    said = [step.events for step in trace.steps[-1 - len(later) : -1]]
    assert [[event.text for event in events if isinstance(event, ContentText)][-1] for events in said] == later


@pytest.mark.parametrize(("broken", "text", "found"), AFTER_AN_ERROR)
def test_an_error_is_said_once_and_at_its_place(broken: str, text: str, found: list[str]) -> None:
    for texts in ((broken,), tuple(broken)):
        trace = trace_of("mistral", *texts)
        assert len(codes(trace)) <= 1
        assert not [run for run in trace.partition if run.reason == LOST]
        assert next(event.start for event in events_of(trace, ContentText)) == len(broken) - len(text)
        assert [call.name for call in trace.message.tool_calls] == found


@pytest.mark.replays
@grammars
@pytest.mark.parametrize("at", range(0, 60, 3))
def test_a_marker_put_in_anywhere_loses_nothing(write: Write, at: int) -> None:
    good = write("f", '{"a": "x", "b": [1, {"c": null}]}')
    for put in (MARKER, "]", '"', "</s>", "\\", "[ARGS]"):
        text = good[:at] + put + good[at:]
        whole, streamed = trace_of("mistral", text), trace_of("mistral", *text)
        assert calls(whole.message) == calls(streamed.message)
        assert whole.message.content == streamed.message.content
        assert not [run for run in streamed.partition if run.reason == LOST]


# memory


def peak(run: Callable[[], object]) -> int:
    """Bytes allocated at the most while running, above what was there before."""
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def stream(pieces: Sequence[str]) -> None:
    """Parse and forget every event, as a server does that sends them on."""
    parser = mistral()
    parser.begin(Context())
    for delta in (deltas(piece)[0] for piece in pieces):
        parser.feed(delta)
    parser.finish()


SIZE = 30_000


@pytest.mark.replays
@grammars
def test_a_stream_needs_no_more_memory_when_it_is_longer(write: Write) -> None:
    """One long string: what was sent on is not kept."""
    few, many = (sliced(write("f", json.dumps({"a": "word " * (size // 5)})), 16) for size in (SIZE, 4 * SIZE))
    stream(few)
    assert peak(lambda: stream(many)) < 1.5 * peak(lambda: stream(few)) + 20_000


@pytest.mark.replays
@grammars
def test_many_calls_in_a_stream_need_no_more_memory_than_a_few(write: Write) -> None:
    one = write("f", '{"a": 1}')
    few, many = (sliced(one * (size // len(one)), 16) for size in (SIZE, 4 * SIZE))
    stream(few)
    assert peak(lambda: stream(many)) < 1.5 * peak(lambda: stream(few)) + 20_000


@pytest.mark.replays
@grammars
def test_a_whole_message_needs_a_small_multiple_of_the_output(write: Write) -> None:
    text = write("f", json.dumps({"a": "word " * (SIZE // 5)}))
    context = Context(tools=(Tool("f", {"properties": {"a": {"type": "integer"}}}),))
    for given in (Context(), context):
        parse(mistral(), deltas(text), given)
        assert peak(lambda given=given: parse(mistral(), deltas(text), given)) < 6 * len(text)  # type: ignore[misc]


# size and depth


@pytest.mark.replays
@grammars
@pytest.mark.parametrize("size", [64, 10**7], ids=["streamed", "whole"])
def test_a_very_large_payload_arrives_as_it_was_written(write: Write, size: int) -> None:
    value = "".join(random.Random(17).choices('abc {}[]\\"\n\u00e9\U0001f389', k=1_000_000))
    arguments = json.dumps({"text": value, "rows": [{"id": n} for n in range(2_000)]}, ensure_ascii=False)
    message = parse(mistral(), deltas(*sliced(write("f", arguments), size)), Context())
    assert calls(message) == [("f", arguments)]
    assert message.tool_calls[0].complete


@pytest.mark.replays
@pytest.mark.parametrize("size", [64, 10**7], ids=["streamed", "whole"])
def test_thousands_of_calls_keep_their_order(size: int) -> None:
    items = [f'{{"name": "f{n}", "arguments": {{"n": {n}}}}}' for n in range(3_000)]
    array = f"{MARKER} [{', '.join(items)}]"
    named = "".join([f'{MARKER}f{n}{{"n": {n}}}' for n in range(3_000)])
    for text in (array, named):
        message = parse(mistral(), deltas(*sliced(text, size)), Context())
        assert calls(message) == [(f"f{n}", f'{{"n": {n}}}') for n in range(3_000)]
        assert len({call.id for call in message.tool_calls}) == 3_000


@pytest.mark.replays
@grammars
@pytest.mark.parametrize("size", [5, 10**7], ids=["streamed", "whole"])
def test_nesting_may_be_deeper_than_the_recursion_limit(write: Write, size: int) -> None:
    depth = 20_000
    arguments = '{"a": ' * depth + "1" + "}" * depth
    context = tool({"a": {"type": "object", "properties": {"a": {"type": "string"}}}})
    for given in (Context(), context):
        message = parse(mistral(), deltas(*sliced(write("f", arguments), size)), given)
        assert calls(message) == [("f", arguments)]
        assert message.tool_calls[0].complete


@pytest.mark.replays
@grammars
def test_deep_nesting_that_is_cut_off_is_closed(write: Write) -> None:
    depth = 5_000
    text = write("f", '{"a": [' * depth).removesuffix("}]")
    message = trace_of("mistral", text, policy={"truncated_call": "close"}).message
    assert calls(message) == [("f", '{"a": [' * depth + "]}" * depth)]


# characters

ODD = [
    "\u2028\u2029\x85",
    "\u0000\u0001\u001f\u007f",
    "\U0001f469\u200d\U0001f52c \U0001f1e8\U0001f1ed e\u0301",
    "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\ufeff\ufffd\u00ad\u200b",
    '"\\/\b\f\n\r\t',
    "[ARGS][CALL_ID][TOOL_CALLS][THINK]</s>",
    "}]}]{[{[ ,:",
    "\\u0041 \\\\u0041",
    "漢字 \uff21\uff22 \uff11",
]


@pytest.mark.replays
@grammars
@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "raw"])
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_characters_in_keys_and_values(write: Write, odd: str, ascii_only: bool) -> None:
    arguments = json.dumps({odd: odd, "l": [odd, {"k": odd}]}, ensure_ascii=ascii_only)
    for size in (1, 3, 10**7):
        for given in (Context(), tool({odd: {"type": "string"}, "l": {"type": "array"}})):
            message = parse(mistral(), deltas(*sliced(write("f", arguments), size)), given)
            assert calls(message) == [("f", arguments)]


@grammars
@pytest.mark.parametrize("raw", [r"\ud83d", r"\udf89", r"\ud83d\u0041", r"\q", r"\u12", "\t\n"])
def test_what_json_does_not_allow_in_a_string_is_passed_on_as_written(write: Write, raw: str) -> None:
    arguments = f'{{"a": "{raw}"}}'
    for size in (1, 10**7):
        assert calls(parse(mistral(), deltas(*sliced(write("f", arguments), size)), Context())) == [("f", arguments)]


@grammars
@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDF89), r"\ud83d"])
def test_half_a_character_in_a_name_is_passed_on(write: Write, half: str) -> None:
    text = write("f", "{}").replace("f", f"f{half}", 1)
    for size in (1, 10**7):
        for policy in ({}, {"id_dialect": "kimi"}):
            trace = trace_of("mistral", *sliced(text, size), policy=policy)
            assert calls(trace.message) == [(f"f{half}", "{}")]


def test_a_name_with_escapes_is_decoded_and_one_without_is_kept() -> None:
    for text in (as_array("wetter_für_zürich", "{}"), after_name("wetter_für_zürich", "{}")):
        assert calls(trace_of("mistral", *text).message) == [("wetter_für_zürich", "{}")]


# many requests at once


def requests() -> list[tuple[list[str], Context]]:
    """Outputs of both grammars with prose, reasoning, errors and coerced values, cut in pieces of different sizes."""
    texts = [
        f"[THINK]hm {n}[/THINK]text {n}{write(f'f{n}', json.dumps({'n': str(n), 's': 'x' * n, 'l': [n]}))}{tail}"
        for n in range(12)
        for write in (as_array, after_name)
        for tail in ("", " tail", "</s>", f"{MARKER} [oops")
    ]
    context = [Context(), *[tool({"n": {"type": "integer"}}, f"f{n}") for n in range(11)]]
    return [(sliced(text, 1 + index % 9), context[index % 12]) for index, text in enumerate(texts)]


def alone(pieces: Sequence[str], context: Context) -> Message:
    return parse(mistral(), deltas(*pieces), context)


@pytest.mark.replays
def test_parsers_that_are_fed_in_turn_do_not_touch_each_other() -> None:
    given = requests()
    parsers = [mistral() for _ in given]
    results = [Assembler() for _ in given]
    for parser, (_, context) in zip(parsers, given, strict=True):
        parser.begin(context)
    for turn in zip_longest(*[deltas(*pieces) for pieces, _ in given]):
        for parser, result, delta in zip(parsers, results, turn, strict=True):
            if delta is not None:
                result.add(parser.feed(delta))
    for parser, result in zip(parsers, results, strict=True):
        result.add(parser.finish())
    assert [result.message() for result in results] == [alone(*request) for request in given]


@pytest.mark.replays
def test_parsers_in_threads_give_the_same_messages() -> None:
    given = requests()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda request: alone(*request), given * 3))
    assert found == [alone(*request) for request in given] * 3


@pytest.mark.replays
def test_a_parser_can_be_used_again_for_the_next_request() -> None:
    parser = mistral()
    for pieces, context in requests():
        assert parse(parser, deltas(*pieces), context) == alone(pieces, context)
