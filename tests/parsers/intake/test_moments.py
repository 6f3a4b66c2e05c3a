"""When chunks came: every kind of log that says so is asked, and times that cannot be trusted are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from parsers.intake import Intake, recognise
from parsers.intake.moments import arrivals, curl_moment, moment_in, moment_of, stamped


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "choices": [choice], **more}


CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHUNKS = [chunk({"role": "assistant"}), chunk({"content": "a"}), chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls")]
LINES = [json.dumps(one) for one in CHUNKS]
CLOCK = ("12:03:59.100000", "12:03:59.200000", "12:03:59.300000", "12:03:59.400000")
NIGHT, SHIFTED = ("23:59:59.5", "23:59:59.9", "00:00:00.1", "00:00:00.2"), (0, 400, 600, 700)
TENTHS, SECONDS = (0, 100, 200, 300), (0, 1000, 2000, 3000)
USAGE = chunk({}, usage={"completion_tokens": 3})
USAGE["choices"] = []


def read(text: str) -> Intake:
    return recognise(text.encode(), pasted=True)


def lines(stamp: str, *, blank: str = "") -> str:
    """An event stream behind time stamps, in which `{}` is the number of the line."""
    stamps = [stamp.format(number) for number in range(4)]
    return "".join(
        [f"{at} data: {line}\n{at if blank else ''}{blank}\n" for at, line in zip(stamps, LINES, strict=True)]
    )


def rows(key: str, stamps: Sequence[Any], values: Sequence[Any]) -> str:
    return "\n".join([json.dumps({"log": value, key: stamp}) for stamp, value in zip(stamps, values, strict=True)])


EVENTS = [{"time": 1732709039.1 + at / 10, "eventName": "message", "data": line} for at, line in enumerate(LINES)]
DONE = {"time": 1732709039.9, "data": "[DONE]"}


def har(text: str, events: list[dict[str, Any]]) -> str:
    entry = {"request": {}, "response": {"content": {"text": text}}, "_eventSourceMessages": events}
    return json.dumps({"log": {"entries": [entry]}})


SSE = "".join([f"data: {line}\n\n" for line in LINES])
OLLAMA = [
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    {"role": "assistant", "content": "x", "thinking": "y"},
    {"role": "assistant", "content": ""},
]
LOGS = {
    "ts '%H:%M:%.S', blank lines too": (lines("12:03:59.{}00000", blank=" "), TENTHS),
    "ts": (lines("Nov 27 12:03:0{}"), SECONDS),
    "ts -s '%.s'": (lines("0.{}38", blank=" "), TENTHS),
    "ts '%.s'": (lines("1732709039.{}38"), TENTHS),
    "kubectl logs --timestamps": (lines("2026-11-27T12:03:59.{}38123456Z"), TENTHS),
    "journalctl": (lines("Nov 27 12:03:0{} host vllm[12]:"), SECONDS),
    "a logger": (lines("2026-11-27 12:03:59,{}00 INFO sse"), TENTHS),
    "Docker's json-file": (
        rows("time", [f"2026-11-27T12:03:59.{at}38123456Z" for at in range(4)], [f"data: {one}\n" for one in LINES]),
        TENTHS,
    ),
    "objects by seconds": (rows("ts", [1732709039.1, 1732709039.2, 1732709039.3, 1732709039.4], CHUNKS), TENTHS),
    "objects by elapsed time": (rows("elapsed_ms", [0, 38.5, 77, 115.5], CHUNKS), (0, 38.5, 77, 115.5)),
    "lines of JSON": ("".join([f"{at} {line}\n" for at, line in zip(CLOCK, LINES, strict=True)]), TENTHS),
    "chunks that say it": ("\n".join([json.dumps({**one, "ts": at}) for at, one in enumerate(CHUNKS, 10**9)]), SECONDS),
    "printed bytes": ("".join([f"12:03:0{at} b'data: {line}\\n\\n'\n" for at, line in enumerate(LINES)]), SECONDS),
    "HAR of Chrome": (har("", [*EVENTS, DONE]), TENTHS),
    "HAR with its content": (har(SSE, EVENTS), TENTHS),
    "HAR that lacks an event": (har(SSE, EVENTS[1:]), None),
    "llama.cpp's created": ("".join([f"data: {json.dumps({**one, 'created': 1700000000 + at})}\n\n"
                                    for at, one in enumerate(CHUNKS)]), SECONDS),
    "Ollama's created_at": (
        "\n".join([json.dumps({"model": "m", "created_at": f"2026-11-27T12:03:59.{at}38Z", "message": said,
                               "done": at == 2}) for at, said in enumerate(OLLAMA)]), (0, 100, 200),
    ),
    "past midnight": ("".join([f"{at} data: {line}\n" for at, line in zip(NIGHT, LINES, strict=True)]), SHIFTED),
    "none": (SSE, None),
    "one": (f"12:03:59.1 data: {LINES[0]}\n{SSE}", None),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_that_says_when_its_chunks_came_gives_their_times(kind: str) -> None:
    text, times = LOGS[kind]
    found = read(text)
    assert found.recording is not None
    assert found.recording.times == times
    stream = next(fact for fact in found.facts if fact.about == "server")
    assert ("with their times" in stream.words) == (times is not None)


def test_what_no_choice_is_in_comes_with_its_time_too() -> None:
    text = "".join(
        [f"0.{at}00 data: {line}\n" for at, line in enumerate([json.dumps(USAGE), *LINES, json.dumps(USAGE)])]
    )
    found = read(text).recording
    assert found is not None
    assert (len(found.stream or ()), found.times) == (6, (0, 100, 200, 300, 400, 500))


def test_a_line_of_curl_says_when_the_line_after_it_came_and_no_other() -> None:
    text = f"12:03:59.100000 * Connected\n12:03:59.100000 < HTTP/1.1 200 OK\n12:03:59.100000 {{ [99 bytes data]\n{SSE}"
    found = read(text)
    assert (found.kind, found.recording and found.recording.times) == ("sse_log", None)
    each = "".join([f"{at} {{ [9 bytes data]\ndata: {line}\n\n" for at, line in zip(CLOCK, LINES, strict=True)])
    assert (again := read(each).recording) is not None
    assert again.times == TENTHS
    objects = "".join([f"{at} {{ [9 bytes data]\n{line}\n" for at, line in zip(CLOCK, LINES, strict=True)])
    assert (last := read(objects).recording) is not None
    assert last.times == TENTHS


@pytest.mark.parametrize("stamps", [("0.4", "0.3", "0.2", "0.1"), ("12:00:02", "12:00:01", "12:00:03", "12:00:04")])
def test_stamps_that_run_backwards_are_told_and_left_out(stamps: tuple[str, ...]) -> None:
    found = read("".join([f"{at} data: {line}\n" for at, line in zip(stamps, LINES, strict=True)]))
    assert "times_unusable" in [warn.code for warn in found.warnings]
    assert found.recording is not None
    assert found.recording.times is None


@pytest.mark.parametrize("day", ["1970-01-01", "2000-02-29", "2026-11-27", "2100-03-01", "2024-12-31"])
def test_a_date_is_counted_as_calendars_do(day: str) -> None:
    moment = moment_in(f"[{day}T23:59:58.25+02:00]")
    right = datetime.fromisoformat(f"{day}T23:59:58.250000+02:00").astimezone(UTC)
    assert moment is not None
    assert moment.micros == round((right - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1e6)
    assert moment_in(f"{day} 00:00:00-0130").micros - moment_in(f"{day} 00:00:00").micros == 5400 * 10**6  # type: ignore[union-attr]


ROWS: list[tuple[dict[str, Any], int | None]] = [
    ({"ts": 1_700_000_000}, 1_700_000_000_000_000),
    ({"ts": 1_700_000_000_123}, 1_700_000_000_123_000),
    ({"ts": 1_700_000_000_123_456}, 1_700_000_000_123_456),
    ({"ts": 1_700_000_000_123_456_789}, 1_700_000_000_123_456),
    ({"t": 1.5}, 1_500_000),
    ({"t": -1}, None),
    ({"ts": True, "time": None, "timestamp": "soon", "ms": 10**12}, None),
    ({}, None),
]


@pytest.mark.parametrize(("row", "micros"), ROWS)
def test_a_number_of_a_log_is_read_by_its_size_and_its_key(row: dict[str, Any], micros: int | None) -> None:
    assert getattr(moment_of(row), "micros", None) == micros


@pytest.mark.parametrize(
    "text", ["", "at noon", "1:2:3", "version 1.2.3", "1700000000.5.1", "12:03", "id-1700000000-a"]
)
def test_other_numbers_are_no_time(text: str) -> None:
    assert (moment_in(text), stamped(text), curl_moment(text)) == (None, (None, text), None)


def test_only_stamps_of_one_origin_are_set_beside_each_other() -> None:
    clock, since, later = moment_in("12:00:00"), moment_in("0.5"), moment_in("12:00:00.0005")
    assert arrivals([clock, since, None, later]) == (0, None, None, 0.5)
    assert arrivals([]) is None
