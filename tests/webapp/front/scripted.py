"""A program for children of the front that does what the query of a request says. The standard library alone."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

Data = dict[str, Any]
HTML = ["Content-Type", "text/html; charset=utf-8"]
MEGABYTES_50 = 50_000_000

_calls: list[str] = []
_kept: list[bytearray] = []
_tokens: list[str] = []


def tasks(settings: Mapping[str, Any]) -> dict[str, Callable[[Data, Any], Data]]:
    """A request, and less memory."""

    def keep(request: Data, _parent: Any) -> Data:
        _calls.append(f"keep {request['cache_bytes']}")
        return {"kept": request["cache_bytes"]}

    def answer(request: Data, parent: Any) -> Data:
        asked = dict(parse_qsl(request["environ"]["QUERY_STRING"]))
        do = asked.pop("do", "tell")
        _calls.append(do)
        return {"kept": 0, **globals()[do](request, parent, **asked), "held_seconds": 600 * len(_tokens)}

    _calls.append(str(settings["trace_cache_bytes"]))
    return {"answer": answer, "keep": keep}


def page(raw: bytes = b"", *headers: list[str]) -> Data:
    """An answer in one piece."""
    return {"status": "200 OK", "headers": [HTML, *headers], "raw": raw}


def tell(request: Data, _parent: Any, token: str = "", kept: str = "0", pause: str = "0", **_: str) -> Data:
    """What arrived, and what this process did so far."""
    time.sleep(float(pause))
    seen = {**request, "raw": len(request["raw"]), "sum": sum(request["raw"]), "pid": os.getpid(), "calls": _calls}
    return {**page(json.dumps(seen).encode(), *_held(token)), "kept": int(kept)}


def say(_request: Data, _parent: Any, status: str = "200 OK", **headers: str) -> Data:
    """An answer with this status and these headers."""
    return {"status": status, "headers": [[name, value] for name, value in headers.items()], "raw": b"said"}


def runs(_request: Data, parent: Any, what: str, token: str, line: str = "") -> Data:
    """Tell the server of a run, or ask it for one, and answer with what it says."""
    reply = parent.ask({"of": "runs", "do": what, "token": token, "raw": line.encode()})
    return page(reply.get("raw", b""), *_held(token if line else ""))


def forget(_request: Data, _parent: Any) -> Data:
    """Hold no run any more."""
    _tokens.clear()
    return page()


def _held(token: str) -> list[list[str]]:
    _tokens.extend([token] * bool(token))
    return [["X-Held-Run", token]] if token else []


def stream(request: Data, parent: Any, pieces: str, token: str = "", end: str = "") -> Data:
    """An answer in pieces; `end` is done before the last one."""
    parent(page(b"first ", *_held(token)))
    for number in range(int(pieces)):
        parent({"raw": f"{number} ".encode()})
    if end:
        globals()[end](request, parent)
    return {"raw": b"last"}


def lines(request: Data, parent: Any) -> Data:
    """JSON Lines without an end."""
    head = page(b'{"index": 1}\n')
    parent({**head, "headers": [*head["headers"], ["Content-Type", "application/jsonl"]]})
    return leave(request, parent)


def sleep(_request: Data, _parent: Any, seconds: str = "600") -> Data:
    """Take so long."""
    time.sleep(float(seconds))
    return page()


def spin(_request: Data, _parent: Any) -> Data:
    """Never end, and swallow nothing."""
    while True:
        sum(range(1_000))


def stubborn(_request: Data, _parent: Any) -> Data:
    """Never end, and swallow everything."""
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            continue


def endless(_request: Data, parent: Any) -> Data:
    """Never stop to send."""
    parent(page(b"x"))
    while True:
        parent({"raw": b"x" * 10_000})


def grow(_request: Data, _parent: Any) -> Data:
    """Take all the memory there is."""
    taken = []
    while True:
        taken.append(bytearray(MEGABYTES_50))


def large(_request: Data, _parent: Any, size: str) -> Data:
    """Answer with so many bytes at once."""
    return page(b"x" * int(size))


def fat(_request: Data, _parent: Any) -> Data:
    """Keep so much that nobody knows of."""
    _kept.append(bytearray(os.urandom(1_000_000) * 400))
    return page()


def leave(_request: Data, _parent: Any) -> Data:
    """End the process."""
    os._exit(3)


def fail(_request: Data, _parent: Any) -> Data:
    """Raise what is a bug."""
    raise ValueError("secret of the code")


def ask(_request: Data, parent: Any, **question: str) -> Data:
    """Ask the server, and answer with what it says."""
    reply = parent.ask({"do": "card" if question["of"] == "engines" else "known", "requests": [], **question})
    if "later" in reply:
        return {"wait": {"do": "engine"}}
    return page(json.dumps({**reply, "raw": len(reply.get("raw", b""))}).encode())


def begun(_request: Data, parent: Any, **question: str) -> Data:
    """Begin to answer, then ask an engine."""
    parent(page(b"begun "))
    reply = parent.ask({"do": "card", "of": "engines", **question})
    return {"raw": str(reply).encode()}


def wait(request: Data, _parent: Any, key: str, seconds: str = "600") -> Data:
    """Wait for a search."""
    if not request["waited"]:
        return {"wait": {"do": "wait", "key": key, "seconds": float(seconds)}}
    return page(b"waited")
