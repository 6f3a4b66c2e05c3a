"""What terminals, loggers and web pages do to a log is undone before it is read."""

from __future__ import annotations

import json

import pytest

from parsers.intake import Intake, recognise

CHAT = '{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}'


def sse(*payloads: str) -> str:
    return "".join(f"data: {payload}\n\n" for payload in payloads) + "data: [DONE]\n\n"


def read(text: str) -> Intake:
    return recognise(text.encode(), pasted=True)


FENCED = [f"```\n{sse(CHAT, CHAT)}```", f"\n~~~json  \n{CHAT}\n~~~\n", f"```\n> data: {CHAT}\n> data: {CHAT}\n```"]


@pytest.mark.parametrize("text", FENCED)
def test_a_code_fence_around_a_log_is_looked_past(text: str) -> None:
    found = read(text)
    assert (found.kind in ("sse_log", "json_response"), "other_lines" in str(found.warnings)) == (True, False)
    assert recognise(text.encode(), pasted=True, take_as="raw_text").outputs[0].text == text


@pytest.mark.parametrize("text", ["```\n", "```", "```json\n{}\n", "```\n```", "~~~\nx\n```"])
def test_a_fence_in_the_output_is_output(text: str) -> None:
    found = read(text)
    assert (found.kind, found.outputs[0].text) == ("raw_text", text)


METER = """  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\r100  99 100  50 100  49  1024  1000 -:-
"""
# What a terminal or a logger did to two chunks; the warnings that follow.
MANGLED: list[tuple[str, list[str]]] = [
    (f"data: {CHAT[:40]}\n{CHAT[40:]}\ndata: {CHAT}\ndata: [DONE]\n", []),
    (f"data: {CHAT[:40]}\n{CHAT[40:70]}\n{CHAT[70:]}\n\ndata: {CHAT}\ndata: [DONE]\n", []),
    ("data: " + json.dumps(json.loads(CHAT), indent=1) + f"\n\ndata: {CHAT}\ndata: [DONE]\n", []),
    (f"data: {CHAT}data: {CHAT}data: [DONE]", []),
    (METER + sse(CHAT, CHAT), []),
    (json.dumps(sse(CHAT, CHAT)), []),
    (json.dumps([f"data: {CHAT}\n\n", f"data: {CHAT}\n", "\ndata: [DONE]"]), []),
    (repr(sse(CHAT, CHAT)), []),
    ("retry: 5\nid: 4\nevent: message\n: ping\n" + sse(CHAT, CHAT), []),
    ("b'data: " + CHAT + "\\n\\ndata: " + CHAT + "\\n\\n'\nb'data: [DONE]\\n\\n'\n", []),
    ("2025-11-22 INFO got b'data: " + CHAT + "\\n\\n')\n" + sse(CHAT), []),
    (f"12:00 data: {CHAT}\n12:01 data: {CHAT}\n12:02 data: [DONE]\n", ["prefixed"]),
    (f"words\n{sse(CHAT, CHAT)}", ["other_lines"]),
    (f"data: {CHAT}\ndata: 5\ndata: {CHAT}\ndata: [DONE]\n", ["bad_chunk"]),
    (f"data: {CHAT}\ndata: {{oops\nagain\ndata: {CHAT}\ndata: [DONE]\n", ["bad_chunk", "other_lines"]),
    (f"DEBUG:sse: data={CHAT}", []),
    (f"{json.loads(CHAT)!r}\n{json.loads(CHAT)!r},\n", []),
    (f"{json.loads(CHAT)!r}\n{{'id': b(1)}}\n{{'id': 1\n" + f"{CHAT}\n" * 8, ["bad_chunk"]),
    (f"12:00 {CHAT}\n12:01 {CHAT}\n", []),
    (f"b'{CHAT}'\nb'{CHAT}'\n", []),
    (f"{CHAT},\n{CHAT},\n", []),
    (f"words\n{CHAT}\n{CHAT}\n{CHAT}", ["other_lines"]),
    (f"words\nand\n{CHAT}" + f"\n{CHAT}" * 5, ["other_lines"]),
]


@pytest.mark.replays
@pytest.mark.parametrize(("text", "codes"), MANGLED, ids=lambda value: repr(value)[:30])
def test_what_terminals_and_loggers_do_to_a_log_is_undone(text: str, codes: list[str]) -> None:
    found = read(text)
    assert (found.kind in ("sse_log", "ndjson_log"), len(found.outputs)) == (True, 1), found.message
    assert {json.dumps(chunk) for chunk in found.outputs[0].stream or ()} == {json.dumps(json.loads(CHAT))}
    told = [warn.code for warn in found.warnings if warn.code not in ("no_finish", "no_markers")]
    assert told == codes


def test_a_space_where_a_terminal_wrapped_a_line_is_kept() -> None:
    wrapped = CHAT.replace("Hi", "one\n two")
    assert wrapped != CHAT
    found = read(f"data: {wrapped}\n\ndata: [DONE]\n")
    assert [chunk["choices"][0]["delta"]["content"] for chunk in found.outputs[0].stream or ()] == ["one two"]


@pytest.mark.parametrize("remark", ["# DUPLICATE", "// again", "<-- twice", "← twice"])
def test_a_remark_behind_a_chunk_is_not_part_of_it(remark: str) -> None:
    chunk = '{"index": 0, "function": {"arguments": "{\\"a\\": \\"# no\\"}"}}'
    begun = '{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}'
    found = recognise(f"Chunk 1: {begun}\nChunk 2: {chunk}\nChunk 3: {chunk}  {remark}\n".encode(), pasted=True)
    assert found.recording is not None
    assert len(found.recording.stream or ()) == 3


@pytest.mark.parametrize("before", ["data: ", "Chunk: "])
@pytest.mark.parametrize("dots", [", …", ", ...", "…"])
def test_what_somebody_quotes_in_part_is_read_and_said(before: str, dots: str) -> None:
    short = '{"choices":[{"index":0,"delta":{"content":"a, …}"}DOTS}]DOTS}'.replace("DOTS", dots)
    found = read(f"{before}{CHAT}\n\n{before}{short}\n")
    assert found.recording is not None
    assert (found.recording.stream or ())[1]["choices"][0]["delta"] == {"content": "a, …}"}
    assert "left_out" in {warning.code for warning in found.warnings}


def test_dots_in_place_of_all_are_no_chunk() -> None:
    assert "bad_chunk" in {warning.code for warning in read(f"data: {CHAT}\n\ndata: {{…\n\ndata: {CHAT}\n").warnings}
