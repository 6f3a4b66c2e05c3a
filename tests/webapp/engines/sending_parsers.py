"""Parser classes that send by several lines, whose lines are looked at. Standard library alone."""

from __future__ import annotations

import json
from typing import Any

import message_classes as messages  # type: ignore[import-not-found]  # beside this file
from charwise import requoted  # type: ignore[import-not-found]  # beside this file


class _Parser:
    def begin(self, request: dict[str, Any]) -> None:
        self.buffer = ""
        self.said = {"content": ""}

    def finish(self, reason: str | None) -> Any:
        return None


class Merged(_Parser):
    """Content and a call of one step, by two lines."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return self.merged(self.call(), self.words())

    def call(self) -> Any:
        function = {"name": "WRONG", "arguments": '{"city": "Bern"}'}  # merged: function
        return {"tool_calls": [{"index": 0, "id": "c", "function": function}]}  # merged: call

    def words(self) -> Any:
        return {"content": "WRONG"}  # merged: words

    def merged(self, one: dict[str, Any], other: dict[str, Any]) -> Any:
        one.update(other)
        return one


class Filling(_Parser):
    """A message that is filled piece by piece, and returned at the end."""

    def feed(self, text: str, ids: list[int]) -> Any:
        out: dict[str, Any] = {"content": "", "tool_calls": []}
        out["content"] += text[:2]  # filling: first
        out["content"] += text[2:].upper()  # filling: second
        for index, name in enumerate("fg"):
            out["tool_calls"].append({"index": index, "function": {"name": name, "arguments": "{}"}})  # filling: call
        return out  # filling: return


class Replacing(_Parser):
    """A message that is made anew with each piece, and an attribute."""

    def feed(self, text: str, ids: list[int]) -> Any:
        out = {"content": text[:2]}  # replacing: first
        out = {**out, "content": out["content"] + "-" + text[2:]}  # replacing: second
        return out  # replacing: return


class Helped(_Parser):
    """A text that is put together by a helper, and only then a message."""

    def feed(self, text: str, ids: list[int]) -> Any:
        kept = self.cut(text)
        return {"content": kept}  # helped: return

    def cut(self, text: str) -> str:
        return text[1:]  # helped: cut


class Local(_Parser):
    """A text that is put together in a variable."""

    def feed(self, text: str, ids: list[int]) -> Any:
        kept = ""
        for one in text:
            kept += one.upper()  # local: loop
        return {"content": kept}  # local: return


class Growing(_Parser):
    """A message that lasts: each step sends what it gained."""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.said["content"] += text + "!"  # growing: more
        return {"content": self.said["content"][-len(text) - 1 :]}  # growing: return


class Validated(_Parser):
    """Messages of a class that others wrote, whose base checks them, in a file of its own."""

    def feed(self, text: str, ids: list[int]) -> Any:
        made = messages.Delta.made({"content": text})  # validated: made
        return {"content": made.content}  # validated: return


class Appended(_Parser):
    """A message that others wrote, which is filled by a method of its own."""

    def feed(self, text: str, ids: list[int]) -> Any:
        made = messages.Delta({})
        made.add(text + "?")  # appended: add
        return {"content": made.content}  # appended: return


class Plain(_Parser):
    """Text as it is, by a helper that has it in its hands before."""

    def feed(self, text: str, ids: list[int]) -> Any:
        kept = self.kept(text)
        return {"content": kept}  # plain: return

    def kept(self, text: str) -> str:
        return text


class Unescaping(_Parser):
    """Text that is escaped, as it should be, and then made what it was; a buffer holds it before that."""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.buffer += text
        window = self.buffer[-4:]
        escaped = self.escaped(window)
        said = self.passed(self.broken(escaped))
        return {"content": said}  # unescaping: return

    def escaped(self, text: str) -> str:
        return text.replace('"', '\\"')

    def broken(self, text: str) -> str:
        return text.replace('\\"', '"')  # unescaping: broken

    def passed(self, text: str) -> str:
        kept = text
        return kept


class UnescapingInPlace(Unescaping):
    """The same by an expression that is handed to a helper."""

    def feed(self, text: str, ids: list[int]) -> Any:
        escaped = self.escaped(text)
        return self.message(escaped[:2].replace('\\"', '"') + escaped[2:])  # in place: broken

    def message(self, text: str) -> Any:
        return {"content": text}  # in place: return


class Cutting(_Parser):
    """Text as it was fed, cut by one line and held by others."""

    def feed(self, text: str, ids: list[int]) -> Any:
        self.buffer += text
        cut = self.buffer[1:]  # cutting: cut
        kept = cut
        return {"content": kept}  # cutting: return


def cleaned(text: str) -> str:
    kept = text.strip()
    kept = kept.replace("e", "3", 1)  # cleaned: wrong
    return kept


def repaired(text: str) -> str:
    return text.replace("e", "3", 1)  # repaired: wrong


def call_of(arguments: str) -> Any:
    return {"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}  # call of


class CleanedInside(_Parser):
    """Arguments that a helper alters on their way to the one that makes the call."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return {"tool_calls": [call_of(cleaned(text[1:-1]))]}


class RepairedInside(_Parser):
    """The same by an expression that a helper returns, in a value that is written into the arguments later."""

    def feed(self, text: str, ids: list[int]) -> Any:
        words = json.loads(text[1:-1])
        words = {name: repaired(one) for name, one in words.items()}
        return {"tool_calls": [call_of(json.dumps(words))]}  # repaired: dumped


class CleanedBefore(_Parser):
    """Arguments that are sent as far as they are longer than before, all of them altered at each step."""

    def feed(self, text: str, ids: list[int]) -> Any:
        before, self.buffer = cleaned(self.buffer), self.buffer + text
        now = cleaned(self.buffer)
        return {"tool_calls": [call_of(now[len(before) :])]}  # cleaned: sent


class KeptCleaned(_Parser):
    """Arguments that were altered at an earlier step, and wait in an attribute."""

    def feed(self, text: str, ids: list[int]) -> Any:
        kept, self.buffer = self.buffer, cleaned(text)
        return {"tool_calls": [call_of(kept)]} if kept else None


class Charwise(_Parser):
    """Characters that a helper in another module changes one by one."""

    def feed(self, text: str, ids: list[int]) -> Any:
        return {"content": requoted(text)}  # charwise: return
