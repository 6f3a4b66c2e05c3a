"""`tagged_body`: as `tagged`, for models that put one JSON object in the parameters' place where they like.

    <invoke name="f"><parameter name="city" string="true">Bern</parameter></invoke>
    <invoke name="f">{"city": "Bern"}</invoke>

What stands first decides: a brace begins the object, which is then read as `json_span` reads it; anything else is
tagged. `json_closes` and `string_closes` are further closers of a key that say that its value is JSON, or a string,
for formats that name its type. A value that is said to be a string stays one where its schema allows a string;
elsewhere the schema decides. With `notation` a request may say whether keys have types (policy call_notation).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from parsers.arguments.coerce import property_schema, types_of
from parsers.arguments.contract import Output
from parsers.arguments.json_span import JsonSpan
from parsers.arguments.tagged import KEY, Tagged
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.seen import Standing
from parsers.vocabulary.trace import Retelling, Tail

# What ends a key in a way that the request does not ask for.
_OTHERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("any", "json"), ()),
    "tags": ("JSON_CLOSE", "STRING_CLOSE"),
    "typed_tags": ("KEY_CLOSE",),
}


class TaggedBody(Tagged):
    """Reads a call's arguments, tagged or as one object, until the machine's own terminal ends the call."""

    triggers: ClassVar[tuple[str, ...]] = JsonSpan.triggers
    options: ClassVar[Mapping[str, Any]] = {**Tagged.options, "json_closes": [], "string_closes": [], "notation": False}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._decided = False
        self._notation = out.policy["call_notation"] if self.settings["notation"] else "any"
        self._object: JsonSpan | None = None

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        found = super().scopes(options)
        lists = (("JSON_CLOSE", "json_closes"), ("STRING_CLOSE", "string_closes"))
        more = {f"{name}_{n}": text for name, key in lists for n, text in enumerate(options.get(key, []))}
        return {**found, KEY: {**found[KEY], **more}}

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if not self._decided:
            pos = self.out.skip_space(buffer, pos, end, base)
            self._at = base + pos
            if pos == end:
                return pos
            self._decided = True
            self._object = JsonSpan(self.out, {}) if buffer[pos] == "{" else None
        if self._object is None:
            return super().text(buffer, pos, end, base, final=final)
        pos = self._object.text(buffer, pos, end, base, final=final)
        self.scope, self.complete = self._object.scope, self._object.complete
        self.queue += self._object.queue
        self._object.queue = []
        return pos

    def literal(self, name: str, start: int, end: int) -> int:
        self._decided = True
        if self._object is not None:
            self.out.drop(start, end, DropReason(Cause.TAG_AT_OBJECT))
            return end
        if name.startswith(_OTHERS[self._notation]):
            self.out.diagnostic("other_notation", "The request asks for another way to write arguments.", start, end)
        if name.startswith("JSON_CLOSE"):
            name = "JSON_CLOSE"
        elif name.startswith("STRING_CLOSE"):
            types = types_of(property_schema(self.out.schema, "".join(self._key).strip()))
            name = "STRING_CLOSE" if types is None or "string" in types else "KEY_CLOSE"
        return super().literal(name, start, end)

    def finish(self, at: int) -> None:
        if self._object is None:
            super().finish(at)
            return
        self._object.over = self.over
        self._object.finish(at)
        self.complete = self._object.complete

    def passes(self) -> str | None:
        return super().passes() if self._object is None else self._object.passes()

    def pass_on(self, text: str) -> str | None:
        return None if self._object is None else self._object.pass_on(text)

    def retelling(self) -> Retelling | None:
        return None if self._object is None else self._object.retelling()

    def tail(self) -> Tail | None:
        return super().tail() if self._object is None else self._object.tail()

    def collects(self) -> Tail | None:
        return super().collects() if self._object is None else self._object.collects()

    def passed(self, at: int) -> None:
        if self._object is None:
            super().passed(at)
        else:
            self._object.passed(at)
            self.scope = self._object.scope

    def look(self, fed: int) -> Standing:
        own = self._object
        return Tagged.look(self, fed) if own is None else own.look(fed)  # super() takes longer
