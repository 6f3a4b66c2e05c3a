"""What each kind of input is taken for, told as data: input, kind, whether it can be replayed."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake import Intake, Kind, recognise

CASE = {"schema": 1, "parser": {"name": "hermes"}, "input": {"text": ["hi"]}}
CHAT = '{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}'
CALLS = '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}'
TEXT = '{"id":"b","object":"text_completion","choices":[{"index":0,"text":"<think>","finish_reason":null}]}'
LLAMA = '{"index":0,"content":"Hi","tokens":[9],"stop":false,"tokens_predicted":1}'
SGLANG = '{"text":"Hi","output_ids":[9],"meta_info":{"id":"r","finish_reason":null}}'
TGI = '{"index":1,"token":{"id":7,"text":"Hi","special":false},"generated_text":null,"details":null}'
OLLAMA = '{"model":"m","created_at":"t","response":"Hi","done":false}'
OLLAMA_CHAT = '{"model":"m","created_at":"t","message":{"role":"assistant","content":"Hi"},"done":false}'
CURL_V = "* Connected to localhost\n> POST /v1 HTTP/1.1\n>\n< HTTP/1.1 200 OK\n<\n{ [12 bytes data]\n"
LOG_LINE = '{"timestamp":"t","level":"INFO","message":"Received request"}'
KEY = re.compile(r'"(\w+)":')


def sse(*payloads: str, end: str = "data: [DONE]\n\n") -> str:
    return "".join(f"data: {payload}\n\n" for payload in payloads) + end


INPUTS = [
    # model output, JSON included
    ("Hello", "raw_text", True),
    ("   \n", "raw_text", True),
    ("<think>a</think><tool_call>\n{}\n</tool_call>", "raw_text", True),
    ('{"name": "f", "parameters": {"a": 1}}', "raw_text", True),
    ('{"name": "f", "parameters": {"choices": [{"delta": {}}]}}', "raw_text", True),
    ('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]', "raw_text", True),
    ('{"name": "f", "parameters": {}}\n{"name": "g", "parameters": {}}', "raw_text", True),
    ('{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}', "raw_text", True),
    ('[f(a="b"), g()]', "raw_text", True),
    ('{"choices": ["red", "blue"]}', "raw_text", True),
    ('{"choices": [{"index": 0, "text": "Paris"}]}', "raw_text", True),
    ('{"type": "message", "content": "x"}', "raw_text", True),
    ('{"content": "a", "stop": true}', "raw_text", True),
    ('{"error": "not found"}', "raw_text", True),
    ('{"schema": "v1", "input": 1, "parser": 2}', "raw_text", True),
    ('{"level": 3, "message": "hi"}', "raw_text", True),
    ("{}", "raw_text", True),
    ("[]", "raw_text", True),
    ("[[]]x", "raw_text", True),
    ("[1, true]", "raw_text", True),
    ("[-1, 2]", "token_ids", True),
    ("[1.5]", "raw_text", True),
    ('["a", 1]', "raw_text", True),
    ('{"output_token_ids": []}', "raw_text", True),
    ('"quoted"', "text_literal", True),
    ("\ufeff\x00\x1b[0m", "raw_text", True),
    ("[" * 100_000, "raw_text", True),
    ("[" + "9" * 5_000 + "]", "raw_text", True),
    ('{"a":' * 100_000, "raw_text", True),
    ("id: 5\ndata: plain\nevent: x", "raw_text", True),
    ('data: {"color": "red"}', "raw_text", True),
    ("data: " + "[" * 100_000, "raw_text", True),
    (f"Such a log starts like this:\ndata: {CHAT}\nand goes on.", "raw_text", True),
    (f"{CHAT} and then\nsome prose", "raw_text", True),
    (f"{CHAT}\n[1]", "raw_text", True),
    (f'{CHAT}\n{{"name": "f"}}', "raw_text", True),
    # cases
    (json.dumps(CASE), "case", True),
    (json.dumps(CASE | {"schema": 2}, indent=2), "case", True),
    ("\ufeff" + json.dumps(CASE), "case", True),
    (f"{json.dumps(CASE)}\n{json.dumps(CASE)}", "corpus", True),
    (json.dumps({"a": CASE, "b": CASE}, indent=2), "corpus", True),
    (f'{{"a": {json.dumps(CASE)}, "a": {json.dumps(CASE)}}}', "corpus", False),
    (f"{json.dumps(CASE)}\n{json.dumps(CASE)[:-1]}", "corpus", False),
    (json.dumps({"a": CASE, "b": {"text": "Hi"}}), "raw_text", True),
    (f"{json.dumps(CASE)}\n[1]", "raw_text", True),
    # texts of deltas, token ids
    ('["<think>", "", "x"]', "chunk_list", True),
    (r'["\ud83d", "\ude00"]', "chunk_list", True),
    ("[1, 2, 3]", "token_ids", True),
    ("[[1], [], [2, 3]]", "token_ids", True),
    ('{"prompt_token_ids": [1], "output_token_ids": [2, 3], "output_chunk_lens": [2]}', "replay_record", True),
    # event streams
    (sse(CHAT, CHAT), "sse_log", True),
    (sse(CHAT, CALLS), "sse_log", True),
    (sse(TEXT), "sse_log", True),
    (sse(TEXT, end=""), "sse_log", True),
    (sse(TEXT).replace("data: ", "  data:"), "sse_log", True),
    (sse(LLAMA), "sse_log", True),
    (sse('{"content":"Hi","stop":false}'), "sse_log", True),
    (sse(SGLANG), "sse_log", True),
    (sse(TGI), "sse_log", True),
    (sse('{"type":"message_start","message":{}}', '{"type":"ping"}'), "sse_log", True),
    (sse('{"type":"response.output_text.delta","delta":"x"}'), "sse_log", True),
    (sse('{"request_id":"r","choices":[{"index":0,"token_ids":[1]}]}'), "sse_log", True),
    (sse('{"delta":"x"}'), "sse_log", False),
    (sse('{"error":{"message":"no","code":500}}'), "sse_log", False),
    (": keep-alive\n\nevent: chunk\nid: 1\nretry: 5\n" + sse(TEXT), "sse_log", True),
    ("data: [DONE]", "sse_log", False),
    ("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + sse(TEXT), "sse_log", True),
    (CURL_V + sse(TEXT) + "* Connection #0 to host localhost left intact", "sse_log", True),
    # one answer
    ('{"id":"a","object":"chat.completion","choices":[{"message":{"content":"x"}}]}', "json_response", True),
    ('{"choices":[{"message":{"tool_calls":[{}]}}]}', "json_response", True),
    (CHAT, "json_response", True),
    (f"[{CHAT}, {CALLS}]", "json_response", True),
    (f"HTTP/1.1 200 OK\n\n{CHAT}", "json_response", True),
    (TEXT, "json_response", True),
    (f"[{TEXT}]", "json_response", True),
    (SGLANG, "json_response", True),
    (LLAMA, "json_response", True),
    ('{"generated_text":"x","details":{"finish_reason":"length"}}', "json_response", True),
    (OLLAMA, "json_response", True),
    ('{"object":"response","output":[]}', "json_response", True),
    ('{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}', "json_response", True),
    ('{"object":"error","message":"no"}', "json_response", False),
    # objects in a row
    (f"{OLLAMA}\n{OLLAMA}\n", "ndjson_log", True),
    (f"\n{OLLAMA_CHAT}\n{OLLAMA_CHAT}", "ndjson_log", True),
    (f"{CHAT}\n{CHAT}\n{CHAT[:30]}", "ndjson_log", True),
    (json.dumps(json.loads(TEXT), indent=2) * 2, "ndjson_log", True),
    ('{"event":"request.finished","obj":{},"out":{"text":"x"}}\n' * 2, "ndjson_log", True),
    (f"{LOG_LINE}\n{LOG_LINE}", "ndjson_log", False),
    ("", "empty", False),
]


def read(text: str, filename: str | None = None) -> Intake:
    return recognise(text.encode(), pasted=True, filename=filename)


@pytest.mark.replays
@pytest.mark.parametrize(("text", "kind", "usable"), INPUTS, ids=lambda value: repr(value)[:40])
def test_each_input_is_taken_for_what_it_is(text: str, kind: str, usable: bool) -> None:
    found = read(text)
    assert (found.kind, found.usable) == (kind, usable), found.message
    assert (found.recording is not None or bool(found.cases)) == usable
    assert found.title in found.message
    assert "\n" not in found.message


def test_titles_name_the_shape_and_its_size() -> None:
    assert read(sse(*[CHAT] * 42)).title == "OpenAI chat SSE log, 42 chunks"
    assert read("x" * 1234).title == "raw model output, 1,234 characters"
    assert read(f"[{CHAT},{CHAT}]").title == "JSON array of 2 OpenAI chat objects"
    assert read(TEXT).title == "OpenAI completions JSON response"
    assert read(f"{OLLAMA}\n{OLLAMA}").title == "Ollama /api/generate log, 2 JSON objects one after the other"
    assert read("[[1],[2,3]]").title == "3 token ids"
    assert read('["ab"]').title == "list of 1 delta, 2 characters"


def test_a_case_is_handed_over_as_its_json_text() -> None:
    found = recognise(b"\xef\xbb\xbf" + json.dumps(CASE).encode(), pasted=False)
    assert json.loads(found.cases[""]) == CASE
    assert found.notes == ("A leading byte order mark was removed.",)


@pytest.mark.parametrize(
    ("text", "usable"), [('{"schema": 1}', True), ("[1]", False), ("{", False), (sse(TEXT), False), ("{} {}", False)]
)
def test_a_file_named_as_a_case_is_never_taken_for_anything_else(text: str, usable: bool) -> None:
    found = read(text, filename="Bug.CASE.json")
    assert (found.kind, found.usable) == ("case", usable)


def test_the_cases_of_a_corpus_are_handed_over_by_name() -> None:
    found = read(f'{{"a": {json.dumps(CASE)},\n "b": {json.dumps(CASE)} }}')
    assert found.cases == {"a": json.dumps(CASE), "b": json.dumps(CASE)}
    assert (found.title, found.outputs, found.facts) == ("corpus of 2 cases", (), ())
    assert list(read(f"{json.dumps(CASE)}\n\n{json.dumps(CASE)}").cases) == ["1", "3"]


@pytest.mark.parametrize(
    ("text", "usable", "words"),
    [
        (f'{{"a": {json.dumps(CASE)}, "b": 5}}', True, "corpus of 2 cases"),
        ("{}", False, "corpus of 0 cases. There is nothing in it to replay."),
        ("Hi", False, "corpus that cannot be read. not JSON: Expecting '{' at line 1, column 1."),
    ],
)
def test_a_file_named_as_a_corpus_is_never_taken_for_anything_else(text: str, usable: bool, words: str) -> None:
    found = read(text, filename="some.Cases.json")
    assert (found.kind, found.usable, words in found.message) == ("corpus", usable, True)


def test_a_chunk_list_keeps_its_deltas() -> None:
    found = read('["<th", "ink>", ""]')
    assert found.recording is not None
    assert found.recording.text == "<think>"
    assert [delta.text for delta in found.recording.deltas or ()] == ["<th", "ink>", ""]
    assert found.recording.kind == "chunk_list"


# Text, the kind it is taken for, the other kinds it can be read as.
READINGS = [
    (sse(CHAT), "sse_log", ["chunk_list", "raw_text"]),
    (sse(CALLS), "sse_log", ["raw_text"]),
    ("[1]", "token_ids", ["raw_text"]),
    ('["a"]', "chunk_list", ["raw_text"]),
    ("words", "raw_text", []),
    (json.dumps(CASE), "case", ["raw_text"]),
]


@pytest.mark.parametrize(("text", "kind", "others"), READINGS)
def test_a_wrong_guess_is_overridden(text: str, kind: Kind, others: list[Kind]) -> None:
    found = read(text)
    assert (found.kind, [reading.kind for reading in found.readings]) == (kind, others)
    for other in others:
        taken = recognise(text.encode(), pasted=True, take_as=other)
        assert {taken.kind, *(reading.kind for reading in taken.readings)} == {kind, *others}
        assert taken.kind == other
        assert recognise(text.encode(), pasted=True, take_as=kind).kind == kind


def test_content_without_markers_is_raw_text_if_a_person_says_so() -> None:
    found = recognise(sse(CHAT, CHAT).encode(), pasted=True, take_as="chunk_list")
    assert found.recording is not None
    assert (found.recording.text, [delta.text for delta in found.recording.deltas or ()]) == ("HiHi", ["Hi", "Hi"])
    assert len(found.recording.stream or ()) == 2
    assert (found.facts[0].certainty, found.captures != ()) == ("assumed", False)


@pytest.mark.parametrize("text", [sse(CALLS), sse(CHAT, CALLS), sse(CHAT.replace("Hi", "")), sse(TEXT)])
def test_a_parsed_log_is_not_offered_as_raw_text(text: str) -> None:
    assert [reading.kind for reading in read(text).readings] == ["raw_text"]


def test_what_cannot_be_read_as_asked_is_told() -> None:
    found = recognise(b"words", pasted=True, take_as="sse_log")
    assert (found.kind, [warn.code for warn in found.warnings]) == ("raw_text", ["take_as"])
    assert "It cannot be read as sse log" in found.message


def test_a_case_file_that_is_none_can_be_taken_for_what_it_is() -> None:
    found = recognise(b"[1]", pasted=False, filename="a.case.json", take_as="token_ids")
    assert (found.kind, found.usable) == ("token_ids", True)


@pytest.mark.parametrize("text", [sse(CHAT), "[1]", '["a"]', json.dumps(CASE), " "])
def test_a_user_who_knows_better_gets_raw_text(text: str) -> None:
    found = recognise(text.encode(), pasted=True, take_as="raw_text")
    assert found.kind == "raw_text"
    assert found.recording is not None
    assert found.recording.text == text


HINTS = [
    (f"Look:\ndata: {CHAT}\nand so on\nand on", "parts of an API log"),
    ("Look for Generated response cmpl-1 (streaming delta) in it", "lines of a server's log"),
    ("It is a ChoiceDeltaToolCall(index=0, and so on", "printed Python object"),
    ("['<think>', 1]", "Python list of strings"),
    ("a\ufffdb", "U+FFFD"),
    ("<!DOCTYPE html>\n<html>", "looks like a web page"),
    ("Authorization: Bearer not-a-real-key-but-long", "looks like an API key"),
    (" \n ", "white space only"),
    ('{"messages": []}', "looks like a request"),
    ('{"schema": 1, "input": {}}', "lacks `input` or `parser`"),
]


@pytest.mark.parametrize(("text", "part"), HINTS, ids=[part for _, part in HINTS])
def test_raw_text_that_may_be_something_else_says_so(text: str, part: str) -> None:
    found = read(text)
    assert found.kind == "raw_text"
    assert part in " ".join(found.notes)
    assert part in found.message


@pytest.mark.parametrize("text", [text for text, kind, _ in INPUTS[2:7] if kind == "raw_text"])
def test_ordinary_output_raises_no_doubts(text: str) -> None:
    assert read(text).notes == ()


def test_the_notes_of_the_recording_are_those_of_the_intake() -> None:
    found = read("a\r\n\ufffd")
    assert found.recording is not None
    assert len(found.notes) == 2
    assert found.recording.notes == found.notes
    damaged = read(sse(TEXT, end=""))
    assert damaged.recording is not None
    assert damaged.recording.notes == tuple(warn.words for warn in damaged.warnings) != ()


def test_skipped_http_lines_are_counted() -> None:
    assert "2 lines of HTTP around it skipped." in read(f"HTTP/2 200\ndate: x\n\n{sse(TEXT)}").message
    assert "6 lines of HTTP around it skipped." in read(CURL_V + sse(TEXT)).message
    assert "4 lines" not in read("HTTP/1.1 200 OK with no end of head").message


def test_an_answer_whose_json_breaks_off_is_used_as_far_as_it_goes() -> None:
    answer = json.dumps({"id": "a", "choices": [{"message": {"content": "<think>", "extra": [1, {"a": "b"}]}}], "x": 1})
    seen = set()
    for at in range(len(answer)):
        found = read(answer[:at])
        if found.kind == "json_response":
            assert found.warnings[0].code == "cut_json"
            seen.add(found.recording.text if found.recording else "")
    assert seen == {"<think>", None}
    assert read('{"choices": [{"message": ] }').kind == "raw_text"


@pytest.mark.replays
@given(st.text(), st.booleans())
def test_any_text_is_recognised_and_raw_text_stays_exact(text: str, pasted: bool) -> None:
    found = recognise(text.encode(), pasted=pasted)
    if found.kind == "raw_text":
        assert found.recording is not None
        assert found.recording.text == (text.replace("\r\n", "\n") if pasted else text.removeprefix("\ufeff"))


PARTS = [CHAT, CALLS, TEXT, LLAMA, SGLANG, TGI, OLLAMA, OLLAMA_CHAT, LOG_LINE, json.dumps(CASE)]
GLUE = [
    "data: ",
    "\n",
    "\n\n",
    "[DONE]",
    "[",
    "]",
    ",",
    "{",
    '"',
    " ",
    ": x",
    "HTTP/1.1 200\n",
    "< HTTP/1.1 200\n",
    "1",
]


@given(st.lists(st.sampled_from(PARTS + GLUE), max_size=12).map("".join), st.booleans())
@pytest.mark.replays
def test_any_mixture_of_log_parts_is_recognised(text: str, pasted: bool) -> None:
    found = recognise(text.encode(), pasted=pasted)
    assert found.usable == (found.recording is not None or bool(found.cases))
    if found.recording and found.recording.deltas:
        assert "".join(delta.text for delta in found.recording.deltas) == found.recording.text


KEYS = sorted({key for text in (CHAT, CALLS, TEXT, LLAMA, SGLANG, TGI, OLLAMA_CHAT) for key in KEY.findall(text)})
WORDS = ["", "stop", "text_completion", "message", "chat.completion", "error", "request.finished"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS + WORDS[2:]), inner, max_size=5),
)


@pytest.mark.replays
@given(JSON, st.sampled_from(["{}", "data: {}", "{}\n{}", "[{}]", "data: {}\n\ndata: [DONE]"]))
def test_any_json_under_known_keys_is_recognised(value: object, frame: str) -> None:
    text = frame.replace("{}", json.dumps(value))
    found = recognise(text.encode(), pasted=False)
    assert found.usable == (found.recording is not None or bool(found.cases))


ANSWERED = '{"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "%s"}}]}'


@pytest.mark.parametrize(
    "body",
    [
        f"Asking the feeder ...\nanswer: {ANSWERED % 'Fed.'}\n",
        f"2026-02-03 10:00:01 - httpx - INFO - HTTP Request: POST http://cats/v1/chat/completions\n"
        f"got = {ANSWERED % 'Hm.</think>Fed.'}\n",
    ],
)
def test_an_answer_behind_a_label_is_read_whole_beside_other_lines(body: str) -> None:
    found = recognise(body.encode(), pasted=True)
    assert found.kind == "json_response"
    assert (found.outputs[0].stream or ())[0]["choices"][0]["message"]["content"].endswith("Fed.")


def test_answers_behind_labels_are_outputs_of_their_own() -> None:
    found = recognise(f"Two:\na: {ANSWERED % 'One.'}\nb: {ANSWERED % 'Two.'}\n".encode(), pasted=True)
    assert len(found.outputs) == 2


def test_the_fences_of_a_request_and_of_what_follows_are_no_output() -> None:
    asked = '```bash\ncurl http://cats:8000/v1/completions -d \'{"prompt": "Feed?", "model": "m"}\'\n```\n\n'
    found = recognise(f"{asked}```\nI fed <b>it</b>.\n```\n".encode(), pasted=True)
    assert found.outputs[0].text == "I fed <b>it</b>."


def test_parts_that_somebody_labels_one_by_one_are_no_whole_answer() -> None:
    part = '{"index": 0, "id": "t", "function": {"name": "feed", "arguments": ""}}'
    assert recognise(f"It sends this:\nFirst: {part}\n".encode(), pasted=True).kind == "raw_text"
