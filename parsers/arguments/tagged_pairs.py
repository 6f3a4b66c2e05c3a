"""`tagged_pairs`: as `tagged`, with tags around keys and around values, forgiving between the two.

    <arg_key>city</arg_key>
    <arg_value>Bern</arg_value>

A key that no value follows is dropped, where another key begins or one of the `call_close` texts shows that the call
is over (they are read again afterwards). A value's opening tag ends a key that was not closed, and text where that
tag is missing is the value. A key's tag that is written twice counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from parsers.arguments.contract import OPEN
from parsers.arguments.tagged import GAP, KEY, Tagged
from parsers.vocabulary.states import Pieces


class TaggedPairs(Tagged):
    """Reads pairs of key and value until the machine's own terminal ends the call."""

    options: ClassVar[Mapping[str, Any]] = {
        **Tagged.options,
        "key_open": "<arg_key>",
        "key_close": "</arg_key>",
        "value_open": "<arg_value>",
        "value_close": "</arg_value>",
        "trim": "none",
        "call_close": [],
    }

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        chosen = {**cls.options, **options}
        scopes = super().scopes(chosen)
        over = {f"OVER_{n}": text for n, text in enumerate(chosen["call_close"])}
        opener = {"VALUE_OPEN": chosen["value_open"]}
        tags = {"KEY_OPEN": chosen["key_open"], "KEY_CLOSE": chosen["key_close"]}
        gap = {**tags, **opener, "VALUE_CLOSE": chosen["value_close"], **over}
        return {**scopes, KEY: {**scopes[KEY], **tags, **opener, **over}, GAP: gap}

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self.scope == GAP:
            pos = self.out.skip_space(buffer, pos, end, base)
            self._at = base + pos
            if pos == end:
                return pos
            self._value_here(self._at)
            end = pos + 1  # what follows is looked at as a value
        return super().text(buffer, pos, end, base, final=final)

    def _value_here(self, at: int) -> None:
        message = "A value has no opening tag; it begins where its text does."
        self.out.diagnostic("missing_value_open", message, at, at)
        self._begin_value(at)

    def literal(self, name: str, start: int, end: int) -> int:
        if name.startswith("OVER"):
            self._no_value(start)
            return start
        if self.scope == GAP:
            repeated = name == "KEY_CLOSE"
        else:
            repeated = self.scope == KEY and name == "KEY_OPEN" and not "".join(self._key).strip()
        if repeated:
            self.out.marker(start if self.scope == GAP else self._key_at, end)
            self._key_at = self._at = end
            if self.scope == KEY:
                self._key = Pieces()
            return end
        if name == "KEY_OPEN" and self.scope in (KEY, GAP):
            self._no_value(start)
        elif name == "VALUE_CLOSE" and self.scope == GAP:
            self._value_here(start)
        elif name == "VALUE_OPEN" and self.scope == KEY:
            message = "A key has no closing tag; it ends where its value begins."
            self.out.diagnostic("missing_key_close", message, start, start)
            self._end_key("KEY_CLOSE", start, start)
        return super().literal(name, start, end)

    def _no_value(self, at: int) -> None:
        self.out.diagnostic("missing_value", "A key has no value; it is left out.", at, at)
        self._drop_parameter(at)
        self.scope = OPEN
