"""A recorded stream is played back to the letter, with the raw output beside it where that is known."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.replays.chunking import RECORDED, TRACED, WHOLE
from parsers.replays.recorded import Recorded, ServerStream, server_stream
from parsers.replays.replayer import Replayer
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import MessageDelta, Piece, RecordedDelta, Span, ToolCall, ToolCallDelta, UsageError

Payload = dict[str, Any]


def chunk(delta: Payload, finish: str | None = None, ids: list[int] | None = None) -> Payload:
    more = {} if ids is None else {"token_ids": ids}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def said(text: str, ids: list[int] | None = None) -> Payload:
    return chunk({"content": text}, None, ids)


def call(index: int | None = 0, **parts: Any) -> Payload:
    function = {key: parts[key] for key in ("name", "arguments") if key in parts}
    return chunk({"tool_calls": [{"index": index, "id": parts.get("id"), "function": function}]})


def played(stream: ServerStream) -> Replayer:
    pieces = tuple([piece for part in stream.fed or () for piece in part])
    return Replayer(lambda: Recorded(stream.chunks), pieces, black_box=True, server=stream, plays=True)


def trace(*payloads: Payload, **more: Any) -> Trace:
    return played(server_stream(payloads, **more)).trace(RECORDED)


def test_step_i_sends_what_the_server_sent_in_chunk_i() -> None:
    found = trace(chunk({"content": ""}), said("Hi"), said(" you"), chunk({}, "stop"))
    assert found.deltas == [None, MessageDelta(content="Hi"), MessageDelta(content=" you"), None, None]
    assert (found.parser, found.message.content, found.finish_reason) == ("recorded", "Hi you", "stop")
    assert (found.text, found.partition, found.chunking) == ("", [], {"by": "recorded", "cuts": []})
    assert found.steps[-1].end


def test_a_call_is_what_the_openai_libraries_add_up() -> None:
    found = trace(
        call(id="a", name="get_", arguments='{"x"'),
        call(id="b", name="time", arguments=": 1}"),
        call(1, arguments="{"),
        chunk({}, "tool_calls"),
    )
    assert found.message.tool_calls == [ToolCall("a", "get_time", '{"x": 1}'), ToolCall(None, "", "{", complete=False)]
    assert found.deltas[1] == MessageDelta(tool_calls=[ToolCallDelta(0, "b", "time", ": 1}")])


def test_two_parts_of_one_chunk_with_one_index_stay_two() -> None:
    parts = [{"index": 0, "id": one, "function": {"name": one, "arguments": "{}"}} for one in "ab"]
    found = trace(chunk({"tool_calls": parts}))
    assert found.steps[0].delta == MessageDelta(
        tool_calls=[ToolCallDelta(0, "a", "a", "{}"), ToolCallDelta(0, "b", "b", "{}")]
    )
    assert [made.name for made in found.message.tool_calls] == ["ab"]


def test_a_stream_without_a_finish_reason_has_none_and_the_last_one_counts() -> None:
    assert trace(said("Hi")).finish_reason == ""
    assert trace(chunk({}, "stop"), chunk({}, "length")).finish_reason == "length"


def test_what_is_odd_about_a_chunk_is_told_in_its_step() -> None:
    found = trace(said("Hi"), call(None, name="f"))
    (told,) = [event for event in found.steps[1].events if isinstance(event, Diagnostic)]
    assert (told.code, told.severity) == ("no_index", "error")
    assert not any(isinstance(event, Diagnostic) for event in found.steps[0].events)


def test_it_has_one_chunking_only() -> None:
    replayer = played(server_stream([said("Hi")]))
    assert (replayer.traced, replayer.has_raw, replayer.by_format()) == (RECORDED, False, None)
    assert replayer.outcome(RECORDED).message.content == "Hi"
    with pytest.raises(UsageError, match="as it was recorded only"):
        replayer.trace(WHOLE)


TOKENS = (Piece("<a>", 1), Piece("Hi", 2), Piece("", 3), Piece(" you", 4))
PARTS = {"pieces": TOKENS}


def spans(stream: ServerStream) -> list[tuple[int, int]] | None:
    steps = played(stream).trace(RECORDED).steps
    return None if stream.fed is None else [(step.span.start, step.span.end) for step in steps]


def deltas(*texts: str) -> list[RecordedDelta]:
    return [RecordedDelta(text) for text in texts]


@pytest.mark.parametrize(
    ("payloads", "raw", "wanted"),
    [
        pytest.param(
            [said("", [1]), said("Hi", [2, 3]), said(" you", [4])], None, [(0, 3), (3, 5), (5, 9), (9, 9)], id="ids",
        ),
        pytest.param([said("", [1]), said("Hi", [2, 3]), said(" you", [5])], None, None, id="other ids"),
        pytest.param([said("Hi", [2]), said(" you", [4])], None, None, id="ids of some tokens"),
        pytest.param([said("Hi"), said(" you")], ("<a>Hi", " you"), [(0, 5), (5, 9), (9, 9)], id="a delta each"),
        pytest.param([said("Hi"), said(" you")], ("<a>H", "i you"), [(0, 4), (4, 9), (9, 9)], id="inside a token"),
        pytest.param(
            [chunk({}), said("Hi", []), said(" you", [])], ("<a>Hi", " you"), [(0, 0), (0, 5), (5, 9), (9, 9)],
            id="a delta for each with ids",
        ),
        pytest.param(
            [chunk({}), said("Hi"), said(" you"), chunk({}, "stop")], ("<a>Hi", " you"),
            [(0, 0), (0, 5), (5, 9), (9, 9), (9, 9)], id="a delta for each that says something",
        ),
        pytest.param([said("Hi"), said(" you")], ("<a>", "Hi", " you"), None, id="another number of deltas"),
        pytest.param([chunk({}), said("<a>Hi"), said(" you")], None, [(0, 0), (0, 5), (5, 9), (9, 9)], id="content"),
        pytest.param([chunk({"reasoning": "x"}), said("<a>Hi you")], None, None, id="content and reasoning"),
        pytest.param([said("Hi you")], None, [(0, 9), (9, 9)], id="one answer"),
    ],
)  # fmt: skip
def test_the_raw_output_is_shared_out_where_the_recording_says_how(
    payloads: list[Payload], raw: tuple[str, ...] | None, wanted: list[tuple[int, int]] | None
) -> None:
    stream = server_stream(payloads, TOKENS, None if raw is None else deltas(*raw))
    assert spans(stream) == wanted
    if stream.fed is not None:
        assert "".join([piece.text for part in stream.fed for piece in part]) == "<a>Hi you"
        assert [piece.token_id for part in stream.fed for piece in part if piece.token_id] == [1, 2, 3, 4]
        assert stream.ends == [end for _, end in wanted or ()][:-1]


def test_without_an_output_or_without_chunks_nothing_is_shared_out() -> None:
    assert server_stream([said("Hi")]).fed is None
    assert server_stream([], TOKENS).fed is None
    assert server_stream([said("Hi")]).ends is None


def test_a_stream_knows_its_text_and_whether_it_was_cut_short() -> None:
    stream = server_stream([chunk({"reasoning": "Hm."}), chunk({}), said("Hi"), chunk({}, "length")])
    assert (stream.text, stream.finish_reason, stream.cut_short) == ("Hm.Hi", "length", "length")
    assert server_stream([chunk({}, "stop")]).cut_short is None


def test_another_output_or_another_parser_of_it_has_no_server() -> None:
    stream = server_stream([said("Hi")])
    beside = Replayer(lambda: Recorded(stream.chunks), (Piece("Hi"),), server=stream)
    assert beside.with_pieces((Piece("Ho"),)).server is None
    assert played(stream).with_pieces((Piece("Ho"),)).server is stream
    assert beside.traced == TRACED
    assert Span(0, 0) == played(stream).trace(RECORDED).steps[0].span


@pytest.mark.parametrize(("recorded", "repeats"), [(False, True), (True, False)])
def test_an_output_that_is_the_content_again_repeats_it_unless_its_ids_were_recorded(
    recorded: bool, repeats: bool
) -> None:
    stream = [{"choices": [{"index": 0, "delta": {"content": "Hi."}}]}]
    assert server_stream(stream, [Piece("Hi.", 7, recorded=recorded)]).repeats == repeats
