"""`tagged`: arguments as tags around keys and bare values, turned into a JSON object while they arrive.

    <parameter=city>
    Bern
    </parameter>

Literals (options): `key_open`, `key_close`, an optional `value_open`, `value_close`, and `implied_close`: what shows
that a value ended without its closer (the text is read again afterwards). Instead of `key_close`, `string_close` and
`json_close` end a key and say what its value is. The first closer the grammar allows ends a value, because these
formats cannot escape. `trim` says what surrounds a value and is not part of it: one newline on each side, the same
for values that begin with one (`pair`), all white space, or nothing. With `unquote`, quotes around a key are
structure.

A value that is said to be a string, whose schema is exactly string, or that has neither, is a JSON string and goes
out as it is read; others wait for their end and are written by the types their schema allows
(`python_text.plain_to_json`). `tagged_body` and `tagged_pairs` are variants of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from html import unescape
from typing import Any, ClassVar, Literal

from parsers.arguments.coerce import (
    can_only_be_string,
    can_stream,
    json_to_json,
    property_schema,
    types_in_words,
    types_of,
)
from parsers.arguments.contract import ESCAPED, OPEN, ArgumentParser, Output, is_quoted
from parsers.arguments.json_span import JsonSpan
from parsers.arguments.json_value import coerce_json, escape_json
from parsers.arguments.python_text import plain_to_json
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import Segment
from parsers.vocabulary.states import Part, Pieces
from parsers.vocabulary.trace import CodecState, Hold, Retelling, Stand

_STRING: Mapping[str, Any] = {"type": "string"}
KEY, GAP, VALUE = "key", "gap", "value"
_Trim = Literal["newline", "pair", "space", "none"]
_BETWEEN = CodecState("between parameters", Stand.BETWEEN)
_IN_KEY = CodecState("in a parameter's name", Stand.KEY)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


class Tagged(ArgumentParser):
    """Reads tagged parameters until the machine's own terminal ends the call."""

    APART: ClassVar[frozenset[str]] = frozenset({"_has_gap", "_pairs", "_unquotes", "_blank", "_blank_at"})
    INSTEAD: ClassVar[tuple[str, ...]] = ("_waiting_space",)
    triggers: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Any]] = {
        "key_open": "<parameter=",
        "key_close": ">",
        "value_open": "",
        "value_close": "</parameter>",
        "string_close": "",
        "json_close": "",
        "implied_close": [],
        "trim": "newline",
        "unquote": False,
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"trim": ("newline", "pair", "space", "none")}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        chosen = self.settings
        self._has_gap = bool(chosen["value_open"])
        self._trim: _Trim = chosen["trim"]
        self._pairs = self._trim == "pair"
        self._unquotes: bool = chosen["unquote"]
        self._is_json = False
        self._count = 0
        self._key = Pieces()
        self._key_text, self._key_start = "", 0
        self._key_at = self._value_at = self._at = 0
        self._value = Pieces()
        self._schema: Mapping[str, Any] | None = None
        self._streams = self._begun = False
        self._blank = Pieces()
        self._blank_at = 0
        self._entities = EntityDecoder() if out.policy["entity_decoding"] == "on" else None

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        chosen = {**cls.options, **options}
        closers = {"VALUE_CLOSE": chosen["value_close"]}
        closers |= {f"IMPLIED_{n}": text for n, text in enumerate(chosen["implied_close"])}
        gap = {GAP: {"VALUE_OPEN": chosen["value_open"]}} if chosen["value_open"] else {}
        ends = {name.upper(): chosen[name] for name in ("key_close", "string_close", "json_close") if chosen[name]}
        return {OPEN: {"KEY_OPEN": chosen["key_open"]}, KEY: ends, VALUE: closers, **gap}

    @classmethod
    def closers(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        chosen = {**cls.options, **options}
        return (chosen["value_close"], *chosen["implied_close"])

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self.scope == KEY:
            self._key.append(buffer[pos:end])
        elif self.scope == VALUE:
            self._value_text(buffer[pos:end], base + pos)
        else:
            self.drop_words(buffer, pos, end, base, DropReason(Cause.BETWEEN_PARAMETERS))
        self._at = base + end
        return end

    def literal(self, name: str, start: int, end: int) -> int:
        if name.startswith("IMPLIED"):
            message = "A parameter has no closing tag; its value ends where the next tag begins."
            self.out.diagnostic("missing_value_close", message, start, start)
            self._end_value(start)
            return start
        self._at = end
        if name == "KEY_OPEN":
            self.scope, self._key, self._key_at = KEY, Pieces(), end
        elif self.scope == KEY:
            self._end_key(name, start, end)
        elif name == "VALUE_OPEN":
            self._begin_value(end)
        else:
            self._end_value(start)
        self.out.marker(start, end, name.lower())
        return end

    def _end_key(self, name: str, start: int, end: int) -> None:
        raw = "".join(self._key)
        lead, text = len(raw) - len(raw.lstrip()), raw.strip()
        if self._unquotes and is_quoted(text):
            lead, text = lead + 1, text[1:-1]
        self._schema = _STRING if name == "STRING_CLOSE" else property_schema(self.out.schema, text)
        self._is_json = name == "JSON_CLOSE"
        self._streams = can_stream(self._schema) and not self._is_json
        self._key_text, self._key_start = text, self._key_at + lead
        self.out.marker(self._key_at, self._key_start)
        self.out.marker(self._key_start + len(text), start)
        if self._has_gap:
            self.scope = GAP
        else:
            self._begin_value(end)

    def _write_key(self) -> None:
        """Write the key; it waits for its value, so that what is written can always be closed."""
        text, at = self._key_text, self._key_start
        parts = (
            Segment('{"' if self._count == 0 else ', "', at, at, "synthetic"),
            Segment(escape_json(text), at, at + len(text), "copied" if escape_json(text) == text else "converted"),
            Segment('": ', at + len(text), at + len(text), "synthetic"),
        )
        self._count += 1
        self.out.arguments("".join(part.text for part in parts), at, at + len(text), parts)

    def _begin_value(self, at: int) -> None:
        self.scope, self._value, self._value_at = VALUE, Pieces(), at
        self._blank, self._blank_at, self._begun = Pieces(), at, False
        if self._streams:
            self._write_key()
            self.synthetic('"', at)

    def _value_text(self, text: str, at: int) -> None:
        if not self._begun:
            text, at = self._trim_start(text, at)
        if not text:
            return
        self._begun = True
        if not self._streams:
            self._value.append(text)
            return
        kept = self._trim_length(text)
        if kept:
            if self._blank:
                self._write("".join(self._blank), self._blank_at)
                self._blank = Pieces()
            self._write(text[:kept], at)
        if kept < len(text):
            self._blank_at = self._blank_at if self._blank else at + kept
            self._blank.append(text[kept:])
            self._give_back_newlines()

    def _trim_start(self, text: str, at: int) -> tuple[str, int]:
        """Take what stands before the value off its start; it is structure."""
        if self._pairs:
            self._trim = "newline" if text.startswith("\n") else "none"
        if self._trim == "newline" and text.startswith("\n"):
            cut = 1
            self._begun = True
        else:
            cut = len(text) - len(text.lstrip()) if self._trim == "space" else 0
        self.out.marker(at, at + cut)
        self._value_at = at + cut
        return text[cut:], at + cut

    def _trim_length(self, text: str) -> int:
        """Return how much of the text surely is value and not what stands before the closer."""
        if self._trim == "none":
            return len(text)
        if self._trim == "space":
            return len(text.rstrip())
        return len(text) - text.endswith("\n")

    def _give_back_newlines(self) -> None:
        """Only the last newline may be structure; earlier ones are value."""
        if self._trim == "newline" and len(self._blank) > 1:
            for text in self._blank[:-1]:
                self._write(text, self._blank_at)
                self._blank_at += len(text)
            self._blank = Pieces(self._blank[-1:])

    @property
    def _waiting_space(self) -> tuple[str, int] | None:
        return ("".join(self._blank), self._blank_at) if self._blank else None

    @_waiting_space.setter
    def _waiting_space(self, space: tuple[str, int] | None) -> None:
        text, self._blank_at = space or ("", 0)
        self._blank = Pieces([text] if text else [])

    def _write(self, text: str, at: int) -> None:
        pieces = [(text, at, at + len(text))] if self._entities is None else self._entities.feed(text, at)
        self._write_pieces(pieces, text)

    def _write_pieces(self, pieces: list[tuple[str, int, int]], raw: str = "") -> None:
        for piece, start, end in pieces:
            out = escape_json(piece)
            copied = out == piece and len(piece) == end - start and (self._entities is None or piece in raw)
            self.out.arguments(out, start, end, None if copied else (Segment(out, start, end, "converted"),))

    def _finish_entities(self) -> None:
        if self._entities is not None:
            kept = self._entities.finish()
            self._write_pieces(kept, "".join(piece for piece, _, _ in kept))

    def _end_value(self, at: int) -> None:
        if self._streams:
            self._finish_entities()
            self.out.marker(self._blank_at if self._blank else at, at)
            self.synthetic('"', at)
        else:
            text = self._waiting_value()
            plain = text if self._entities is None else decode_entities(text)
            written = self._as_json(plain) if self._is_json else None
            self._write_whole(written or coerce_json(plain_to_json(plain, self._schema), self._schema), text, at)
        self.scope, self._blank, self._value = OPEN, Pieces(), Pieces()

    def _waiting_value(self) -> str:
        raw = "".join(self._value)
        return raw[: self._trim_length(raw)]

    def _write_whole(self, written: str, text: str, at: int) -> None:
        """Write the key and the value that waited, which is `text`. What follows it up to `at` is structure."""
        stop = self._value_at + len(text)
        segments = None if written == text else (Segment(written, self._value_at, stop, "converted"),)
        self._write_key()
        self.out.arguments(written, self._value_at, stop, segments)
        self.out.marker(stop, at)

    def _as_json(self, text: str) -> str | None:
        """The value as the JSON it is said to be, or None where it is none."""
        found = text.strip()
        try:
            json.loads(found, parse_int=float, parse_constant=_refuse)  # int() refuses thousands of digits
        except (ValueError, RecursionError):
            return None
        return coerce_json(json_to_json(found, self._schema), self._schema)

    def finish(self, at: int) -> None:
        """At a terminal between parameters the object is whole; elsewhere it was cut off."""
        at = self._at if self.over and self.scope != OPEN else at
        if self.scope == OPEN:
            self.complete = not self.over
            if self.complete or self.out.closes:
                self.synthetic("}" if self._count else "{}", at)
        elif self.scope == VALUE and self._streams:
            self._finish_entities()
            self.out.marker(self._blank_at if self._blank else at, at)
            self.synthetic('"}' if self.out.closes else "", at)
        elif (
            self.scope == VALUE
            and not (self.out.closes or self._is_json)
            and can_only_be_string("".join(self._value), self._schema)
        ):
            text = self._waiting_value()
            self._write_whole(f'"{escape_json(text)}', text, at)
        else:
            self._drop_parameter(at)
            self.synthetic(("}" if self._count else "{}") if self.out.closes else "", at)

    def _drop_parameter(self, at: int) -> None:
        if self.scope == KEY:
            self.out.drop(self._key_at, at, CUT)
            return
        self.out.drop(self._key_start, self._key_start + len(self._key_text), CUT)
        if self.scope == VALUE:
            self.out.drop(self._value_at, at, CUT)

    def passes(self) -> str | None:
        """See ArgumentParser.passes: a value that goes out as it is read."""
        if self.scope != VALUE or not self._streams or not self._begun or self._blank or self._entities is not None:
            return None
        return rf"{ESCAPED}|\s\Z" if self._trim == "space" else ESCAPED

    def hold(self) -> Hold | None:
        if self.scope == KEY and self._key:
            return Hold(self._key_at, self._at, "codec", "A parameter's name is sent whole.")
        if self.scope == GAP:
            return Hold(self._key_start, self._at, "codec", "A parameter's name is sent with its value.")
        if self.scope != VALUE:
            return None
        if not self._streams:
            wants = f"The schema wants {types_in_words(self._schema)}"
            says = "The value is said to be JSON" if self._is_json else wants
            reason = f"{says}: the value is written when it is whole."
            return Hold(self._key_start, self._at, "codec", reason)
        if self._entities is not None and (entity := self._entities.kept_at) is not None:
            return Hold(entity, self._at, "codec", "May be the beginning of an HTML entity.")
        if self._blank:
            return Hold(self._blank_at, self._at, "codec", "White space that may belong to the closing tag.")
        return None

    def describe(self) -> CodecState:
        if self.scope == OPEN:
            return _BETWEEN
        if self.scope == KEY:
            return _IN_KEY
        return _at_value("".join(self._key).strip(), before=self.scope == GAP)


@lru_cache(maxsize=64)  # asked for after every delta
def _at_value(key: str, *, before: bool) -> CodecState:
    value = f"the value of {key}"
    return CodecState.before(value) if before else CodecState(f"in {value}", Stand.VALUE, value)


# `tagged_body`: as `tagged`, for models that put one JSON object in the parameters' place where they like.
#
#     <invoke name="f"><parameter name="city" string="true">Bern</parameter></invoke>
#     <invoke name="f">{"city": "Bern"}</invoke>
#
# What stands first decides: a brace begins the object, which is then read as `json_span` reads it; anything else is
# tagged. `json_closes` are further closers of a key that say that its value is JSON, for formats that name its type. A
# value that is said to be a string stays one where its schema allows a string; elsewhere the schema decides.


class TaggedBody(Tagged):
    """Reads a call's arguments, tagged or as one object, until the machine's own terminal ends the call."""

    triggers: ClassVar[tuple[str, ...]] = JsonSpan.triggers
    options: ClassVar[Mapping[str, Any]] = {**Tagged.options, "json_closes": []}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._decided = False
        self._object: JsonSpan | None = None

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        found = super().scopes(options)
        more = {f"JSON_CLOSE_{n}": text for n, text in enumerate(options.get("json_closes", []))}
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
        if name.startswith("JSON_CLOSE"):
            name = "JSON_CLOSE"
        elif name == "STRING_CLOSE":
            types = types_of(property_schema(self.out.schema, "".join(self._key).strip()))
            name = name if types is None or "string" in types else "KEY_CLOSE"
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

    def passed(self, at: int) -> None:
        if self._object is None:
            super().passed(at)
        else:
            self._object.passed(at)
            self.scope = self._object.scope

    def hold(self) -> Hold | None:
        return super().hold() if self._object is None else self._object.hold()

    def describe(self) -> CodecState:
        return super().describe() if self._object is None else self._object.describe()


# `tagged_pairs`: as `tagged`, with tags around keys and around values, forgiving between the two.
#
#     <arg_key>city</arg_key>
#     <arg_value>Bern</arg_value>
#
# A key that no value follows is dropped, where another key begins or one of the `call_close` texts shows that the call
# is over (they are read again afterwards). A value's opening tag ends a key that was not closed, and text where that
# tag is missing is the value. A key's tag that is written twice counts once.


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


# HTML entities in values, decoded while the text arrives (policy entity_decoding).
#
# An entity may be cut anywhere, so from an ampersand on, text waits until the entity is complete, cannot be one any
# more, or is longer than any entity name. Names and numbers are those of HTML 5 (the standard library's table); a name
# needs its semicolon.

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PARTIAL = re.compile(r"&(?:#(?:[0-9]{0,7}|[xX][0-9a-fA-F]{0,6})|[A-Za-z][A-Za-z0-9]{0,31})?\Z")


class EntityDecoder(Part):
    """`feed` gives (text, raw start, raw end) triples; pieces without an entity are as they were."""

    def __init__(self) -> None:
        self._kept = ""
        self._at = 0

    def feed(self, text: str, at: int) -> list[tuple[str, int, int]]:
        """Decode text that stands at raw offset `at`."""
        start, text = at - len(self._kept), self._kept + text
        partial = _PARTIAL.search(text, max(0, text.rfind("&")))
        stop = partial.start() if partial is not None else len(text)
        self._kept, self._at = text[stop:], start + stop
        return _decode(text[:stop], start)

    def finish(self) -> list[tuple[str, int, int]]:
        """What was kept is no entity."""
        kept, self._kept = self._kept, ""
        return [(kept, self._at, self._at + len(kept))] if kept else []

    @property
    def kept_at(self) -> int | None:
        """Raw offset of what is kept."""
        return self._at if self._kept else None


def decode_entities(text: str) -> str:
    """A whole text with its entities decoded."""
    return "".join([piece for piece, _, _ in _decode(text, 0)])


def _decode(text: str, start: int) -> list[tuple[str, int, int]]:
    out: list[tuple[str, int, int]] = []
    pos = 0
    for match in _ENTITY.finditer(text):
        value = unescape(match.group())
        if value == match.group() or "\ud800" <= value <= "\udfff":
            continue
        if match.start() > pos:
            out.append((text[pos : match.start()], start + pos, start + match.start()))
        out.append((value, start + match.start(), start + match.end()))
        pos = match.end()
    if pos < len(text):
        out.append((text[pos:], start + pos, start + len(text)))
    return out
