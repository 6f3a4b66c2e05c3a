"""Parsers that are served from this process, as the plugin serves them from that of the tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from tests.webapp.engines import own_parsers
from webapp.engines.workers.adapter_class import Class
from webapp.engines.workers.engine_worker import Printed, Worker
from webapp.guests.guest import Ask

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call>'
EXPECT = {"content": "Sure.", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Bern"}}]}
HANGS = {"step": 0, "kind": "Hangs", "message": "2 replays did not return", "slow": True}


class Naive:
    """It looks for the marker in each delta alone. It needs json only: projects of strangers have its text."""

    def begin(self, request: dict[str, Any]) -> None:
        self.buffer, self.inside = "", False

    def feed(self, text: str, ids: list[int]) -> Any:
        content = ""
        if not self.inside:
            content, marker, text = text.partition("<tool_call>")
            self.inside = bool(marker)
        self.buffer += text * self.inside
        body, end, _ = self.buffer.partition("</tool_call>")
        if not end:
            return {"content": content}
        self.buffer = ""
        call = json.loads(body)
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        return {"content": content, "tool_calls": [{"index": 0, "function": function}]}

    def finish(self, reason: str | None) -> Any:
        return None


class Hermes(own_parsers.Hermes):
    """It reads the format of Qwen, all at the end; what is no call is content."""

    def finish(self, reason: str | None) -> Any:
        try:
            return super().finish(reason)
        except ValueError:
            return {"content": self.seen}


Keeping = own_parsers.Keeping


class Musing(Hermes):
    """It is wrong however the output is cut, and nothing but the expectation says so: content goes out as reasoning."""

    def finish(self, reason: str | None) -> Any:
        said = super().finish(reason)
        return {"reasoning": said["content"], "tool_calls": said.get("tool_calls")}


class Calm:
    """It gives no calls and loses nothing."""

    def begin(self, request: dict[str, Any]) -> None:
        pass

    def feed(self, text: str, ids: list[int]) -> Any:
        return {"content": text}

    def finish(self, reason: str | None) -> Any:
        return None


class Hasty:
    """It holds back text that is nothing but the beginning of the marker, and no text that ends with one. Blanks around
    calls it keeps."""

    def begin(self, request: dict[str, Any]) -> None:
        self.buffer = ""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.buffer += text
        content: str = ""
        calls: list[Any] = []
        while "<tool_call>" in self.buffer:
            before, _, body = self.buffer.partition("<tool_call>")
            content += before
            body, end, rest = body.partition("</tool_call>")
            if not end:
                self.buffer = "<tool_call>" + body
                return {"content": content, "tool_calls": calls}
            call, self.buffer = json.loads(body), rest
            function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
            calls.append({"index": len(calls), "function": function})
        if not "<tool_call>".startswith(self.buffer):
            content, self.buffer = content + self.buffer, ""
        return {"content": content, "tool_calls": calls}

    def finish(self, reason: str | None) -> Any:
        return {"content": self.buffer}


class Alternating(Hermes):
    """It is right every other time."""

    count = 0

    def finish(self, reason: str | None) -> Any:
        kind = type(self)
        kind.count += 1
        if kind.count % 2 == 0:
            raise KeyError(self.seen)
        return super().finish(reason)


class Passing(Hermes):
    """It is wrong once, at one replay in the middle."""

    count = 0
    number = 5

    def finish(self, reason: str | None) -> Any:
        kind = type(self)
        kind.count += 1
        return self.once() if kind.count == kind.number else super().finish(reason)

    def once(self) -> Any:
        return {"content": "?"}


class PassingRaise(Passing):
    """It raises once."""

    def once(self) -> Any:
        raise KeyError(self.seen)


class Merged(Hasty):
    """All calls have one index."""

    def feed(self, text: str, ids: list[int]) -> Any:
        said = super().feed(text, ids)
        return {**said, "tool_calls": [{**call, "index": 0} for call in said["tool_calls"]]}


class Spacious(Hasty):
    """Where a call is followed by text, its arguments are written without blanks."""

    def feed(self, text: str, ids: list[int]) -> Any:
        said = super().feed(text, ids)
        for call in said["tool_calls"] if said["content"].strip() else ():
            call["function"]["arguments"] = call["function"]["arguments"].replace(" ", "")
        return said


class Tardy(Hasty):
    """Text whose first delta has no call it sends at the end, after the call: the same message in another order."""

    def begin(self, request: dict[str, Any]) -> None:
        super().begin(request)
        self.held = ""

    def feed(self, text: str, ids: list[int]) -> Any:
        said = super().feed(text, ids)
        if self.held or not said["tool_calls"]:
            self.held, said["content"] = self.held + said["content"], ""
        return said

    def finish(self, reason: str | None) -> Any:
        return {"content": self.held + self.buffer}


class Rash(Calm):
    """It keeps the blanks around calls, which is always wrong, and holds nothing back, which is wrong where a marker is
    cut."""

    def begin(self, request: dict[str, Any]) -> None:
        self.buffer, self.inside, self.calls = "", False, 0

    def feed(self, text: str, ids: list[int]) -> Any:
        self.buffer += text
        content: str = ""
        calls: list[Any] = []
        while (marker := "</tool_call>" if self.inside else "<tool_call>") in self.buffer:
            before, _, self.buffer = self.buffer.partition(marker)
            if self.inside:
                call = json.loads(before)
                function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
                calls.append({"index": self.calls, "function": function})
                self.calls += 1
            else:
                content += before
            self.inside = not self.inside
        if not self.inside:
            content, self.buffer = content + self.buffer, ""
        return {"content": content, "tool_calls": calls}


class Fickle(Calm):
    """It loses deltas of one character, and sends something else for those of a few."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return {"content": "" if len(text) == 1 else "?" if len(text) < 60 else text}


class Greedy(Calm):
    """It loses deltas of middle length, which no token is and no whole output."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return None if 14 < len(text) < 60 else {"content": text}


class Raising(Naive):
    """It fails where a call ends."""

    def feed(self, text: str, ids: list[int]) -> Any:
        if "}}" in text:
            raise ValueError("too many brackets")
        return super().feed(text, ids)


def served(kind: type) -> tuple[dict[str, Any], Ask]:
    """The card of a class, and what answers for it."""
    adapter = Class(kind)
    worker = Worker(adapter, Printed(sys.stderr), SimpleNamespace(on=False))
    return {"protocol": 1, **adapter.hello()}, lambda run: json.loads(json.dumps(worker.run(run)))


def patient(ask: Ask, right: int, fed: list[Any]) -> Ask:
    """Whoever serves waits for a few replays that hang and no more. So many are right before; `fed`: what was tried."""

    def answered(run: Mapping[str, Any]) -> Any:
        told = ask(run)["replays"]
        for number, deltas in enumerate(run["replays"]):
            before = fed.index(deltas) if deltas in fed else len(fed)
            if before < right + 2 and before == len(fed):
                fed.append(deltas)
            if before >= right:
                told[number] = {"sent": [], "raised": {**HANGS, "unasked": before >= right + 2}}
        return {"replays": told}

    return answered


def nobody(_run: Mapping[str, Any]) -> Any:
    raise AssertionError("nobody is served")


def case(text: str = f"Sure.{CALL}", **keys: Any) -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": "hermes"}, "input": {"text": text}, "expect": EXPECT, **keys}


def case_text(*text: str, **keys: Any) -> str:
    return json.dumps(case(*text, **keys))
