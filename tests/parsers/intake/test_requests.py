"""Requests beside a recording: curl commands and JSON, read and never run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.intake import Intake, recognise
from parsers.intake.requests import TAIL, is_request, request_of
from parsers.vocabulary.types import Request

CHUNK = '{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"<think>"}}]}'
LOG = f"data: {CHUNK}\n\ndata: [DONE]\n"
BODY = '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
KEY = "sk-not-a-real-key-0001"


def read(text: str) -> Intake:
    return recognise(text.encode(), pasted=True)


def codes(found: Intake) -> list[str]:
    return [warn.code for warn in found.warnings]


# Every way to write the same body on a command line.
CURLS = [
    f"curl http://h/v1/chat/completions -d '{BODY}'",
    f"$ curl -sN http://h/v1/chat/completions --data-raw '{BODY}'",
    f"  curl --json '{BODY}' http://h/v1/chat/completions",
    f"curl http://h/v1 \\\n  -H 'a: b' \\\n  -d '{BODY}' | jq .",
    f"curl http://h/v1 \\\r\n  -d '{BODY}'",
    f"curl.exe http://h/v1 ^\n  -d '{BODY}'",
    f"time curl http://h/v1 --data={BODY.replace(' ', '')!r}",
    f"curl http://h/v1 -d'{BODY}' > out.txt",
    f"curl http://h/v1 -sSd '{BODY}'; echo done",
    'curl http://h/v1 -d "' + BODY.replace('"', '\\"') + '"',
    "curl http://h/v1 -d $'" + BODY.replace('"', '\\"') + "'",
    "curl http://h/v1 -d $'" + BODY.replace(" ", "\\x20") + "'",
    f"curl http://h/v1 -d @- <<EOF\n{BODY}\nEOF",
    f"curl http://h/v1 -d @- <<'EOF' 2>/dev/null\n{BODY}\n  EOF",
    f"curl http://h/v1 --data-binary @- <<-EOF | tee x\n\t{BODY}\nEOF",
    f"curl --url http://h/v1 --max-time 5 -o out -d '{BODY}'",
    f"me@box:~/work$ curl http://h/v1 -d '{BODY}'",
    f"(venv) root@box:/# curl http://h/v1 -d '{BODY}'",
    f"PS C:\\> curl.exe http://h/v1 -d '{BODY}'",
    f"curl http://h/v1 -d stream=true -d '{BODY}'",
]


@pytest.mark.parametrize("command", CURLS)
@pytest.mark.parametrize("after", [LOG, f"\n\n{LOG}", "< HTTP/1.1 200 OK\n<\n" + LOG])
@pytest.mark.replays
def test_a_curl_command_before_a_log_gives_its_request(command: str, after: str) -> None:
    found = read(f"{command}\n{after}")
    assert (found.kind, found.usable, len(found.outputs)) == ("sse_log", True, 1)
    assert found.request is not None, found.message
    assert found.request.model == "m"
    assert "With it came a curl command." in found.why


@pytest.mark.parametrize("command", CURLS)
def test_a_curl_command_after_a_log_or_alone_gives_its_request(command: str) -> None:
    after = read(f"{LOG}\n{command}\n")
    assert (after.kind, after.request and after.request.model) == ("sse_log", "m")
    alone = read(command)
    assert (alone.kind, alone.usable, alone.request and alone.request.model) == ("request", False, "m")
    assert [ask.field for ask in alone.asks] == ["text"]


@pytest.mark.parametrize(
    ("body", "tools", "unread"),
    [
        ('{"model": "m", "stream": true, "tools": [{"type": "function"}]}', ({"type": "function"},), False),
        ('{"functions": [{"name": "f"}]}', ({"type": "function", "function": {"name": "f"}},), False),
        ('{"stream": true}', None, False),
        ("[1]", None, True),
    ],
)
def test_a_shortened_request_of_a_curl_command_is_taken_without_a_prompt(body: str, tools: Any, unread: bool) -> None:
    found = read(f"curl http://h/v1/chat/completions -d '{body}'\n{LOG}")
    assert (found.request.tools if found.request else None, "request_unread" in codes(found)) == (tools, unread)


# What is in the request, and what is taken from it.
TAKEN: list[tuple[dict[str, Any], Request]] = [
    ({"tools": [{"type": "function"}]}, Request(tools=({"type": "function"},))),
    ({"tool_choice": {"type": "function"}}, Request(tool_choice={"type": "function"})),
    ({"tools": ["x"]}, Request()),
    ({"tools": []}, Request(tools=())),
    ({"functions": [{"name": "f"}]}, Request(tools=({"type": "function", "function": {"name": "f"}},))),
    ({"functions": [1]}, Request()),
    ({"chat_template_kwargs": {"thinking": True}}, Request(template_kwargs={"thinking": True})),
    ({"extra_body": {"skip_special_tokens": False}}, Request(skip_special_tokens=False)),
    ({"stop": "a"}, Request(stop=("a",))),
    ({"stop": ["a", "b"]}, Request(stop=("a", "b"))),
    ({"stop": [1]}, Request()),
    ({"include_stop_str_in_output": True}, Request(include_stop=True)),
    ({"text": "p", "sampling_params": {"no_stop_trim": True}}, Request(prompt_tail="p", include_stop=True)),
    ({"prompt": "x" * 1000 + "<think>"}, Request(prompt_tail=("x" * 1000 + "<think>")[-TAIL:])),
    ({"prompt": "p", "options": {"stop": ["a"]}}, Request(stop=("a",))),
    ({"prompt": "p", "options": {}, "raw": True}, Request(prompt_tail="p")),
    ({"inputs": "p", "parameters": {"stop": ["a"]}}, Request(prompt_tail="p", stop=("a",))),
    ({"model": 5, "prompt": [1, 2]}, Request()),
    ({"messages": [{"content": "<think>"}], "continue_final_message": True}, Request(prompt_tail="<think>")),
    ({"messages": [{"content": None}], "continue_final_message": True}, Request()),
    ({"messages": ["x"], "continue_final_message": True}, Request()),
    ({"messages": [], "continue_final_message": True}, Request()),
    ({"messages": [{"role": "assistant", "content": "a"}]}, Request()),
]  # fmt: skip


@pytest.mark.parametrize(("value", "request_"), TAKEN)
def test_what_decides_about_parsing_is_taken_from_a_request(value: dict[str, Any], request_: Request) -> None:
    assert request_of(value) == request_


REQUESTS = [
    ({"messages": [{"role": "user"}]}, True),
    ({"messages": [], "model": "m"}, True),
    ({"messages": []}, False),
    ({"messages": ["x"], "model": "m"}, False),
    ({"model": "m", "prompt": "p"}, True),
    ({"model": "m", "input": "p"}, True),
    ({"model": "m", "input": "p", "output": []}, False),
    ({"prompt": "p"}, False),
    ({"text": "p", "sampling_params": {}}, True),
    ({"input_ids": [1], "sampling_params": {}}, True),
    ({"sampling_params": {}}, False),
    ({"inputs": "p", "parameters": {}}, True),
    ({"name": "f", "parameters": {}}, False),
    ({"model": "m", "prompt": "p", "choices": []}, False),
]


@pytest.mark.parametrize(("value", "expected"), REQUESTS)
def test_only_what_is_surely_a_request_is_taken_for_one(value: dict[str, Any], expected: bool) -> None:
    assert is_request(value) == expected
    assert (read(json.dumps(value)).kind == "request") == expected


def test_what_follows_a_request_and_has_no_shape_is_the_output() -> None:
    found = read(f"curl http://h/v1 -d '{BODY}'\n\n<think>a</think>b\n")
    assert found.kind == "raw_text"
    assert found.recording is not None
    assert (found.recording.text, found.recording.request) == ("<think>a</think>b", found.request)
    assert found.request is not None
    assert found.request.model == "m"


QUOTED = f"Run this:\ncurl http://h/v1 -H 'Authorization: Bearer {KEY}' -d '{BODY}'\nand wait."


COMMAND = "curl -s https://example.org/form -d 'a=b' -u x:y --unix-socket"


@pytest.mark.parametrize("text", [QUOTED, COMMAND, f'<tool_call>{{"x": 1}}</tool_call>\n{BODY} is it'])
def test_output_that_quotes_a_request_is_output(text: str) -> None:
    found = read(text)
    assert (found.kind, found.request) == ("raw_text", None)
    assert found.recording is not None


# What was pasted before the log, the warning, what it says.
UNREAD = [
    ("curl http://h:11434/api/chat -d @body.json", "request_file", "is in a file (body.json)"),
    ("curl http://h/v1 -d '{\"model\": \"m\", \"prompt\": \"don't\"}'", "request_unread", "closing quote"),
    ("curl http://h/v1 -d 'a=b'", "request_unread", "no JSON object"),
    ("curl http://h/v1 -d '[1]'", "request_unread", "no JSON object"),
    ("curl http://h/v1 -d @- <<EOF\n{oops\nEOF", "request_unread", "no JSON object"),
    ("curl http://h/v1 -d \"{\\\"a\\\": 1", "request_unread", "closing quote"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "code", "part"), UNREAD)
def test_a_request_that_cannot_be_read_is_told_and_the_log_is_used(command: str, code: str, part: str) -> None:
    found = read(f"{command}\n\n{LOG}")
    assert (found.kind, len(found.outputs)) == ("sse_log", 1)
    assert code in codes(found)
    assert part in found.message


def test_a_command_without_a_body_is_no_request() -> None:
    found = read(f"curl http://h/v1/models\n{LOG}")
    assert (found.kind, found.request, "request_unread" in codes(found)) == ("sse_log", None, False)


def test_of_several_commands_the_first_request_counts() -> None:
    other = BODY.replace('"m"', '"n"')
    found = read(f"curl http://h -d '{BODY}'\ncurl http://h -d '{other}'\n{LOG}")
    assert found.request is not None
    assert found.request.model == "m"


ADDRESSES = [
    ("http://localhost:11434/v1/chat/completions", "Ollama"),
    ("http://localhost:11434/api/chat", "Ollama"),
    ("http://h/api/generate", "Ollama"),
    ("http://h:30000/v1/chat/completions", "SGLang"),
    ("http://h/generate", "SGLang"),
    ("http://h/generate_stream", "TGI"),
    ("http://h:8080/completion", "llama.cpp"),
    ("http://h:1234/v1/chat/completions", "LM Studio"),
    ("http://h:8000/v1/chat/completions", "any OpenAI-compatible server"),
]


@pytest.mark.parametrize(("url", "server"), ADDRESSES)
def test_the_address_tells_the_server_whose_command_comes_first(url: str, server: str) -> None:
    assert read(f"curl {url} -d '{BODY}'").captures[0].server == server


def test_a_request_for_token_ids_is_vllms() -> None:
    assert read(BODY.replace("{", '{"return_token_ids": true, ', 1)).captures[0].server == "vLLM"


def test_half_a_pair_in_a_request_is_replaced() -> None:
    found = read(json.dumps({"model": "\ud83d", "prompt": "p"}))
    assert found.request is not None
    assert found.request.model == "\ufffd"


def test_a_prompt_of_ids_is_the_prompt() -> None:
    found = read(json.dumps({"model": "m", "prompt": [5, 6]}) + "\n" + LOG)
    assert found.recording is not None
    assert found.recording.prompt_ids == (5, 6)


SECRETS = [
    f"curl http://h/v1 -H 'Authorization: Bearer {KEY}' -d '{BODY}'",
    f"curl http://h/v1 -H 'api-key: {KEY}' -d '{BODY}'",
    f"curl http://h/v1 --oauth2-bearer {KEY} -d '{BODY}'",
    f"curl http://h/v1 -u me:{KEY} -d '{BODY}'",
    f"POST /v1/chat/completions HTTP/1.1\nAuthorization: Bearer {KEY}\n\n{BODY}\n",
    f"> POST /v1 HTTP/1.1\n> Authorization: Bearer {KEY}\n>\n< HTTP/1.1 200 OK\n<",
]


@pytest.mark.parametrize("before", SECRETS)
def test_a_secret_around_a_log_is_told_and_left_out(before: str) -> None:
    found = read(f"{before}\n{LOG}")
    assert found.kind == "sse_log"
    assert "secret" in codes(found)
    assert KEY not in repr(found)


def test_taken_as_raw_text_a_header_loses_its_value() -> None:
    text = f"{SECRETS[0]}\n{LOG}"
    found = recognise(text.encode(), pasted=True, take_as="raw_text")
    assert found.recording is not None
    assert found.recording.text == text.replace(KEY, "[removed]")


PIECES = [
    "curl ",
    "-d ",
    "'",
    '"',
    "$'",
    "\\",
    "\n",
    " ",
    "@-",
    "<<EOF",
    "EOF",
    "|",
    "{}",
    BODY,
    LOG,
    "http://h",
    "-H",
    "x",
]


@pytest.mark.replays
@given(st.lists(st.sampled_from(PIECES), max_size=15).map("".join))
def test_any_mixture_of_commands_and_logs_is_recognised(text: str) -> None:
    found = read(text)
    assert found.usable == (found.recording is not None or bool(found.cases))
