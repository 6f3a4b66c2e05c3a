"""A server that tells the stories of `told.py` through every API: the model's name says which one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from tests.clients.apis import chat, gemini, messages, ollama, responses
from tests.clients.told import RAW, TOLD, Told

REFUSED = "refused"  # the model whose output Groq refuses


class Answer(NamedTuple):
    """What is sent: the body, its type, the status."""

    body: bytes
    media_type: str = "application/json"
    status: int = 200


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server that lives inside the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        request = json.loads(self.rfile.read(length) or b"{}")
        answer = answered(self.path.partition("?")[0], request)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)


def answered(path: str, request: dict[str, Any]) -> Answer:
    """The answer to a request at a path."""
    model, streams = str(request.get("model") or path), bool(request.get("stream"))
    told = next((told for name, told in TOLD.items() if name in model), TOLD["good"])
    if REFUSED in model:
        return Answer(json.dumps(chat.refusal(RAW)).encode(), status=400)
    if path.endswith("/responses"):
        return _named_events(responses.events(told)) if streams else _whole(responses.answer(told))
    if path.endswith("/messages"):
        return _named_events(messages.events(told)) if streams else _whole(messages.answer(told))
    if path.endswith(":streamGenerateContent"):
        return _events([f"data: {json.dumps(one)}\r\n\r\n" for one in gemini.chunks(told)])
    if path.endswith(":generateContent"):
        return _whole(gemini.answer(told))
    if path.endswith("/api/chat"):
        return _lines(ollama.lines(told)) if request.get("stream", True) else _whole(ollama.answer(told))
    return _chat(told, path, streams=streams)


def _chat(told: Told, path: str, *, streams: bool) -> Answer:
    """Chat completions, with what tells Groq's and Mistral's from others."""
    reasoning_key = "reasoning" if path.startswith("/openai/") else "reasoning_content"
    if not streams:
        return _whole(chat.answer(told, reasoning_key))
    chunks = chat.chunks(told, reasoning_key, whole_calls=path.startswith("/mistral/"))
    said = [f"data: {json.dumps(one)}\n\n" for one in chunks]
    return _events([*said, "data: [DONE]\n\n"])


def _whole(value: object) -> Answer:
    return Answer(json.dumps(value).encode())


def _named_events(events: Iterable[dict[str, Any]]) -> Answer:
    return _events([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events])


def _events(frames: Iterable[str]) -> Answer:
    return Answer("".join(frames).encode(), "text/event-stream")


def _lines(values: Iterable[dict[str, Any]]) -> Answer:
    return Answer(
        "".join([f"{json.dumps(one, ensure_ascii=False)}\n" for one in values]).encode(), "application/x-ndjson"
    )
