"""A trace of curl, in both forms: what came is put together and read, and every chunk has its time."""

from __future__ import annotations

import json

import pytest

from parsers.intake import Intake, recognise
from parsers.intake.curl_traces import curl_trace
from tests.parsers.intake.test_moments import CHUNKS, CLOCK, TENTHS, chunk

REQUEST = b'{"model": "m", "messages": []}'


def rows(data: bytes, *, readable: bool) -> str:
    """The rows of a dump: 16 bytes in hexadecimal, or up to 64 visible ones, which CR and LF end."""
    if not readable:
        parts = [(at, data[at : at + 16]) for at in range(0, len(data), 16)]
        return "".join([f"{at:04x}: {part.hex(' '):<47} {visible(part)}\n" for at, part in parts])
    found, at = "", 0
    while at < len(data):
        end = data.find(b"\r\n", at, at + 66)
        stop = end if end >= 0 else min(at + 64, len(data))
        found += f"{at:04x}: {visible(data[at:stop])}\n"
        at = stop + 2 * (end >= 0)
    return found


def visible(data: bytes) -> str:
    return "".join([chr(byte) if 32 <= byte < 127 else "." for byte in data])


def trace(parts: list[bytes], *, readable: bool, framed: bool = True, timed: bool = True) -> str:
    stamps = [f"{at} " if timed else "" for at in CLOCK]
    text = f"{stamps[0]}== Info: Connected\n{stamps[0]}=> Send header, 20 bytes (0x14)\n0000: POST /v1 HTTP/1.1\n"
    text += f"{stamps[0]}=> Send data, {len(REQUEST)} bytes (0x1)\n{rows(REQUEST, readable=readable)}"
    for stamp, part in zip(stamps, parts, strict=True):
        data = b"%x\r\n%b\r\n" % (len(part), part) if framed else part
        text += f"{stamp}<= Recv data, {len(data)} bytes (0x1)\n{rows(data, readable=readable)}"
    return text + f"{stamps[-1]}== Info: left intact\n"


def events(chunks: list[dict[str, object]]) -> list[bytes]:
    return [b"data: %b\n\n" % json.dumps(one, ensure_ascii=False).encode() for one in chunks]


def read(text: str) -> Intake:
    return recognise(text.encode(), pasted=True)


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("framed", [True, False])
@pytest.mark.parametrize("timed", [True, False])
def test_a_trace_gives_the_stream_its_times_and_the_request(readable: bool, framed: bool, timed: bool) -> None:
    found = read(trace(events(CHUNKS), readable=readable, framed=framed, timed=timed))
    assert (found.kind, found.recording and list(found.recording.stream or ())) == ("sse_log", CHUNKS)
    assert found.recording is not None
    assert found.recording.times == (TENTHS if timed else None)
    assert found.request is not None
    assert found.request.model == "m"


def test_a_line_that_comes_in_two_dumps_came_with_the_second() -> None:
    whole = b"".join(events(CHUNKS))
    parts = [whole[:50], whole[50:400], whole[400:500], whole[500:]]
    found = read(trace(parts, readable=False)).recording
    assert found is not None
    assert (list(found.stream or ()), (found.times or ())[0]) == (CHUNKS, 0)


def test_what_the_readable_form_lost_is_told() -> None:
    chunks = [CHUNKS[0], chunk({"content": "Zürich"}), *CHUNKS[2:]]
    codes = {
        form: [warn.code for warn in read(trace(events(chunks), readable=form)).warnings] for form in (True, False)
    }
    assert ("lossy_text" in codes[True], "lossy_text" in codes[False]) == (True, False)


def test_one_answer_and_lines_of_json_are_read_too() -> None:
    answer = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}],
    }
    line = json.dumps(answer).encode()
    assert read(trace([line[:9], line[9:20], line[20:25], line[25:]], readable=False)).kind == "json_response"
    found = read(trace([json.dumps(one).encode() + b"\n" for one in CHUNKS], readable=False))
    assert found.recording is not None
    assert found.recording.times == TENTHS


@pytest.mark.replays
def test_a_trace_without_a_log_is_text_and_a_key_in_its_header_is_warned_of() -> None:
    assert read(trace([b"a", b"b", b"c", b"d"], readable=True)).kind == "raw_text"
    text = trace(events(CHUNKS), readable=True).replace("POST /v1 HTTP/1.1", "Authorization: Bearer abcdefgh")
    assert "secret" in [warn.code for warn in read(text).warnings]
    assert read(text.replace("left intact", "left intact\n0000: <= Recv data, ")).kind == "sse_log"


@pytest.mark.parametrize("row", ["12 apples", "be careful", "be ", "61 74 6", ""])
def test_a_row_that_begins_like_hexadecimal_makes_no_trace_hexadecimal(row: str) -> None:
    found = read(trace([*events(CHUNKS[:3]), f"{row}\n".encode(), *events(CHUNKS[3:])][:4], readable=True))
    assert (found.kind, found.recording and list(found.recording.stream or ())) == ("sse_log", CHUNKS[:3])


@pytest.mark.parametrize("end", ["61 74 6", "61 74", "6", ""])
def test_a_trace_cut_inside_its_last_row_is_read_up_to_it(end: str) -> None:
    whole = trace(events(CHUNKS), readable=False)
    cut = whole[: whole.rindex("0010: ")] + f"0010: {end}"
    found = read(cut).recording
    assert found is not None
    assert list(found.stream or ()) == CHUNKS[:3]


@pytest.mark.parametrize(("size", "at"), [("99999999", "0000"), ("999999999", "7fffffff"), ("5", "3fffffff")])
def test_the_sizes_and_places_in_a_trace_make_nothing_longer_than_it_is(size: str, at: str) -> None:
    body = f'<= Recv data, {size} bytes (0x1)\n{at}: data: {{"a": 1}}\n'
    given: list[str] = []
    assert curl_trace(body, given.append) is None
    assert max(map(len, given)) < len(body)


MOVED = "<= Recv header, 9 bytes (0x9)\n0000: Location: /\n<= Recv data, 12 bytes (0xc)\n0000: <p>Moved</p>\n"
BUSY = "<= Recv header, 9 bytes (0x9)\n0000: HTTP/1.1 503\n<= Recv data, 24 bytes (0xc)\n"
BUSY += '0000: e\n0003: {"error":"no"}\n0013: 0\n0016: \n'
AGAIN = "=> Send header, 9 bytes (0x9)\n0000: GET / HTTP/1.1\n"
ASKED = f"=> Send data, {len(REQUEST)} bytes (0x1)\n{rows(REQUEST, readable=True)}"


@pytest.mark.parametrize("first", [MOVED, BUSY])
@pytest.mark.parametrize("between", ["", AGAIN])
def test_the_stream_behind_a_redirect_or_an_error_is_read(first: str, between: str) -> None:
    stream = trace(events(CHUNKS), readable=True).partition("left intact")[0]
    head = "<= Recv header, 9 bytes (0x9)\n0000: HTTP/1.1 200\n"
    came = head + stream[stream.index("<= Recv data") :]
    found = read(ASKED + first + between + came)
    assert (found.kind, found.recording and list(found.recording.stream or ())) == ("sse_log", CHUNKS)
    assert "other_recordings" in [warn.code for warn in found.warnings]
    assert found.request is not None


def test_an_answer_before_one_that_is_no_log_is_read() -> None:
    found = read(trace(events(CHUNKS), readable=True) + MOVED)
    assert (found.kind, found.recording and list(found.recording.stream or ())) == ("sse_log", CHUNKS)


def test_what_is_left_over_behind_the_last_chunk_of_the_transfer_is_told() -> None:
    whole = trace(events(CHUNKS), readable=False)
    codes = {
        end: [warn.code for warn in read(f"{whole}<= Recv data, 9 bytes (0x9)\n{rows(end, readable=False)}").warnings]
        for end in (b"0\r\n\r\n", b"0\r\n\r\nHTTP/1.1 200", b"no size")
    }
    assert ["other_text" in found for found in codes.values()] == [False, True, True]
