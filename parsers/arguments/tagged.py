"""`tagged`: arguments as tags around keys and bare values, turned into a JSON object while they arrive.

    <parameter=city>
    Bern
    </parameter>

Literals (options): `key_open` and its other spellings `key_opens`, `key_close`, an optional `value_open`,
`value_close`, and `implied_close`: what shows that a value ended without its closer (the text is read again
afterwards). Instead of `key_close`, `string_close` and `json_close` end a key and say what its value is. `trim` says
what surrounds a value and is not part of it: one newline on each side, the same for values that begin with one
(`pair`), all white space, or nothing. With `unquote`, quotes around a key are structure.

These formats cannot escape, so the first closer ends a value. With `followed` a closer in the text of a value does not:
one ends it where, after white space, a tag (a key's may be misspelt) or the end of the output follows, and in a value
that begins with a newline it has to stand at the beginning of a line too. What follows another closer waits. If nothing
shows that it is text, the last one was the end of the value. With `cdata` a value may be escaped as XML does it: it
begins with `<![CDATA[`, and only `]]>` before the closer ends it.
With `followed` a key's tag that implies the end of a value does so if the tool declares such a parameter, or declares
nothing at all; else it is text of the value. Of the end of the call that is decided later where `call_opens` says what
begins the next one: it is text if a closer follows, and the end if the next call or the end of the output comes first.

A value that is said to be a string, whose schema is exactly string, or that has neither, is a JSON string and goes
out as it is read; others wait for their end and are written by the types their schema allows
(`python_text.plain_to_json`). `tagged_body` and `tagged_pairs` (modules of these names) are variants of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from parsers.arguments.coerce import (
    can_only_be_string,
    can_stream,
    json_to_json,
    property_schema,
)
from parsers.arguments.contract import ESCAPED, OPEN, ArgumentParser, Output, is_quoted
from parsers.arguments.entities import EntityDecoder, decode_entities, unescape_attribute
from parsers.arguments.json_value import coerce_json, escape_json
from parsers.arguments.python_text import plain_to_json
from parsers.arguments.tag_places import BETWEEN, CLOSER_WAITS, IN_KEY, TAG_WAITS, before_value, in_value, why_whole
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import Segment
from parsers.vocabulary.json_values import is_strict_json
from parsers.vocabulary.seen import FED, Reason, Standing
from parsers.vocabulary.states import NOWHERE, Pieces, Placed
from parsers.vocabulary.trace import Tail

_STRING: Mapping[str, Any] = {"type": "string"}
_BLANK = Tail(None, "White space that may belong to the closing tag.", "codec")
KEY, GAP, VALUE, DOUBT = "key", "gap", "value", "doubt"
_CDATA, _CDATA_OPEN, _CDATA_CLOSE = "cdata", "<![CDATA[", "]]>"
_Trim = Literal["newline", "pair", "space", "none"]
_WORD = re.compile(r"\S")
_UNCLEAR = "No tag follows a closing tag of the value; it ends at the last one."
_MISSING = "A parameter has no closing tag; its value ends where the next tag begins."
_NAME_TEXT = re.compile(r"[^\s<]*")


def _stem(tag: str) -> str:
    """What a tag begins with in another spelling too: up to its name's end, if anything follows that in the tag."""
    return re.split(r"[\s=\"]", tag)[0]


class Tagged(ArgumentParser):
    """Reads tagged parameters until the machine's own terminal ends the call."""

    APART: ClassVar[frozenset[str]] = frozenset(
        {"_has_gap", "_pairs", "_unquotes", "_unescapes", "_looks_on", "_drops_unclosed", "_blank", "_blank_at"}
    )
    INSTEAD: ClassVar[tuple[str, ...]] = ("_waiting_space",)
    PLACES: ClassVar[frozenset[str]] = frozenset(
        {"_doubt", "_key_start", "_key_end", "_key_at", "_value_at", "_opener", "_closer", "_waiting_space"}
    )
    strings: ClassVar[frozenset[str | None]] = frozenset({_CDATA})
    triggers: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Any]] = {
        "key_open": "<parameter=",
        "key_opens": [],
        "key_close": ">",
        "value_open": "",
        "value_close": "</parameter>",
        "string_close": "",
        "json_close": "",
        "implied_close": [],
        "call_opens": [],
        "trim": "newline",
        "unquote": False,
        "unescape": False,
        "followed": False,
        "cdata": False,
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"trim": ("newline", "pair", "space", "none")}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        chosen = self.settings
        self._has_gap = bool(chosen["value_open"])
        self._trim: _Trim = chosen["trim"]
        self._pairs = self._trim == "pair"
        self._unquotes: bool = chosen["unquote"]
        self._unescapes: bool = chosen["unescape"]
        self._is_json = False
        self._count = 0
        self._key = Pieces()
        self._key_text = ""
        self._key_start = self._key_end = self._key_at = self._value_at = NOWHERE
        self._value = Pieces()
        self._schema: Mapping[str, Any] | None = None
        self._streams, self._begun, self._why_whole = False, False, ""
        self._blank = Pieces()
        self._blank_at = 0
        self._looks_on: bool = chosen["followed"]
        self._by_lines = self._at_line_start = False
        self._opener: tuple[int, str] | None = None  # where a tag stands that may be text of the value, and the tag
        self._closer: tuple[int, int] | None = None  # where a closer stands that may be text of the value
        self._behind = Placed()  # the text after it, which goes where it goes
        self._doubt: int | None = None  # where a call seems to end in a value without a closer; the text is in _behind
        self._drops_unclosed = out.policy["unclosed_value"] == "drop"
        self._entities = EntityDecoder() if out.policy["entity_decoding"] == "on" else None

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        chosen = {**cls.options, **options}
        closers = {"VALUE_CLOSE": chosen["value_close"]}
        closers |= {f"IMPLIED_{n}": text for n, text in enumerate(chosen["implied_close"])}
        gap = {GAP: {"VALUE_OPEN": chosen["value_open"]}} if chosen["value_open"] else {}
        ends = {name.upper(): chosen[name] for name in ("key_close", "string_close", "json_close") if chosen[name]}
        tags = {"KEY_OPEN": chosen["key_open"]}
        tags |= {f"KEY_OPEN_{n}": text for n, text in enumerate(chosen["key_opens"])}
        if chosen["followed"] and (stem := _stem(chosen["key_open"])) != chosen["key_open"]:
            tags["OTHER_TAG"] = stem
        if chosen["call_opens"]:
            opens = {f"CALL_OPEN_{n}": text for n, text in enumerate(chosen["call_opens"])}
            gap[DOUBT] = {"VALUE_CLOSE": chosen["value_close"], **opens}
        if chosen["cdata"]:
            closers["CDATA_OPEN"] = _CDATA_OPEN
            gap[_CDATA] = {"CDATA_CLOSE": _CDATA_CLOSE + chosen["value_close"]}
        return {OPEN: tags, KEY: ends, VALUE: closers, **gap}

    @classmethod
    def closers(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        chosen = {**cls.options, **options}
        return (chosen["value_close"] + (chosen["key_open"] if chosen["followed"] else ""), *chosen["implied_close"])

    @property
    def _in_value(self) -> bool:
        return self.scope in (VALUE, _CDATA)

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self._closer is not None or self._doubt is not None:
            return self._text_behind(buffer, pos, end, base)
        if self.scope == KEY:
            end = self._name_text(buffer, pos, end)
        elif self._in_value:
            self._value_text(buffer[pos:end], base + pos)
        else:
            end = self.drop_words(buffer, pos, end, base, DropReason(Cause.BETWEEN_PARAMETERS))
        self._at = base + end
        return end

    # a closer that may be text of the value: while the scope is OPEN, a tag or the end shows that it is not

    def _text_behind(self, buffer: str, pos: int, end: int, base: int) -> int:
        """Text after such a closer, or where a call seems to have ended. Returns where reading stopped: at the first
        word, which begins no tag."""
        if self.scope == OPEN:
            word = _WORD.search(buffer, pos, end)
            if word is not None:
                end, self.scope = word.start(), VALUE
        if end > pos:
            self._behind.append((buffer[pos:end], base + pos))
        self._at = base + end
        return end

    def _may_close(self, start: int, end: int) -> None:
        """A closer stands at [start, end)."""
        self._go_on_with_value()
        self._closer, self._behind, self._at = (start, end), Placed(), end
        self.scope = VALUE if self._by_lines and not self._at_line_start else OPEN

    def _go_on_with_value(self) -> None:
        """The closer was text of the value, and what follows it is."""
        closer, self._closer = self._closer, None
        if closer is not None:
            self._value_text(self.settings["value_close"], closer[0])
            for text, at in self._behind:
                self._value_text(text, at)

    def _close_value(self, *, clear: bool) -> None:
        """The closer ended the value; `clear`: by what follows it. What follows is none of the arguments."""
        closer, self._closer = self._closer, None
        if closer is None:
            return
        if not clear:
            self.out.diagnostic("unclear_value_close", _UNCLEAR, *closer)
        self._end_value(closer[0])
        self.out.marker(*closer, "value_close")
        for text, at in self._behind:
            self.drop_words(text, 0, len(text), at, DropReason(Cause.BETWEEN_PARAMETERS))
        self._behind = Placed()

    # the end of the call in a value that has no closer yet: what follows says whether it is text of the value

    @property
    def doubts(self) -> bool:
        return self._doubt is not None

    def _may_end_call(self, name: str, start: int, end: int) -> bool:
        """Return whether what follows has to say if an implied closer of the call, at [start, end), is text."""
        text = self.settings["implied_close"][int(name.rpartition("_")[2])] if end > start else ""
        if not self.settings["call_opens"] or text.endswith(self.settings["key_open"]) or self.out.quiet or not text:
            return False
        if self._closer is None:
            self._behind = Placed()
        self._behind.append((text, start))
        self._doubt, self.scope, self._at = start, DOUBT, end
        return True

    def _literal_in_doubt(self, name: str, start: int, end: int) -> int:
        """A closer of the value shows that all of it was text; the next call shows that the last one had ended."""
        if name != "VALUE_CLOSE":
            return start
        before, _ = self._behind[-1]
        if self._by_lines and not before.endswith("\n"):
            self._behind.append((self.settings["value_close"], start))
            self._at = end
            return end
        self._go_on_in_doubt()
        return self.literal(name, start, end)

    def _go_on_in_doubt(self) -> None:
        """What seemed to end the call was text of the value, and what follows it is."""
        if self._doubt is None:
            return
        self._doubt, self.scope, closer = None, VALUE, self._closer
        self._go_on_with_value()
        for text, at in self._behind if closer is None else ():
            self._value_text(text, at)

    # an opening tag in a value that has no closer yet: the schema says whether it is text of the value

    def _may_open(self, name: str, start: int, end: int) -> bool:
        """Return whether the schema has to say if a tag in an open value begins the next parameter, or is text; its
        name is read for that."""
        schema: Mapping[str, Any] = self.out.schema or {}
        tag = self.settings["implied_close"][int(name.rpartition("_")[2])] if end > start else ""
        clear = not tag.endswith(self.settings["key_open"]) or self._has_gap or not self._looks_on
        if clear or not schema.get("properties") or schema.get("additionalProperties"):
            return False
        self._opener, self._at = (start, tag), end
        self.scope, self._key, self._key_at = KEY, Pieces(), end
        return True

    def _decide_opener(self, *, whole: bool) -> None:
        """The name of such a tag is read, as far as it goes; `whole`: it is closed."""
        opener, self._opener = self._opener, None
        if opener is None:
            return
        (start, tag), said = opener, "".join(self._key)
        properties = (self.out.schema or {})["properties"]
        name = said.strip()[1:-1] if self._unquotes and is_quoted(said.strip()) else said.strip()
        known = name in properties if whole else any(key.startswith(name.strip("\"'")) for key in properties)
        if known and name != self._key_text:
            self.out.diagnostic("missing_value_close", _MISSING, start, start)
            self._end_value(start)
            self.out.marker(start, self._key_at, "key_open")
            self.scope = KEY
            return
        self.scope, self._key = VALUE, Pieces()
        self._value_text(tag, start)
        self._value_text(said, start + len(tag))

    def _name_text(self, buffer: str, pos: int, end: int) -> int:
        """Text of a parameter's name. Returns where reading stopped: what no name has shows that a tag was text."""
        stop = end if self._opener is None else pos + len(_NAME_TEXT.match(buffer, pos, end)[0])  # type: ignore[index]
        self._key.append(buffer[pos:stop])
        if stop < end:
            self._decide_opener(whole=True)
        return stop

    def settle(self) -> None:
        self._close_value(clear=True)

    @property
    def closing(self) -> bool:
        return self._closer is not None and self.scope == OPEN

    def unread(self) -> str:
        if self._doubt is None and (self._closer is None or self.scope == OPEN):
            return ""
        text = "".join([text for text, _ in self._behind])
        self._behind = Placed()
        start, self._doubt = self._doubt, None
        if start is None or self._closer is not None:
            self._close_value(clear=False)
        else:
            self.out.diagnostic("missing_value_close", _MISSING, start, start)
            self._end_value(start)
        return text

    def literal(self, name: str, start: int, end: int) -> int:
        if name.startswith("IMPLIED") and self._closer is not None:
            if self._may_end_call(name, start, end):
                return end
            self._close_value(clear=False)
            return start
        if self._opener is not None:
            self._decide_opener(whole=True)
            if self.scope == VALUE:
                self._value_text(self.scopes(self.settings)[KEY][name], start)
                self._at = end
                return end
        if self._doubt is not None:
            return self._literal_in_doubt(name, start, end)
        if name == "CDATA_OPEN":
            self._begin_cdata(start, end)
            return end
        if name == "VALUE_CLOSE" and self._looks_on and self.scope == VALUE:
            self._may_close(start, end)
            return end
        self._close_value(clear=True)
        if name == "OTHER_TAG":
            self._at = end
            self.out.drop(start, end, DropReason(Cause.BETWEEN_PARAMETERS))
            return end
        if name.startswith("IMPLIED"):
            if self._may_open(name, start, end) or self._may_end_call(name, start, end):
                return end
            self.out.diagnostic("missing_value_close", _MISSING, start, start)
            if self._drops_unclosed:
                self._drop_parameter(start, DropReason(Cause.UNCLOSED_VALUE))
                self.scope, self._blank, self._value = OPEN, Pieces(), Pieces()
            else:
                self._end_value(start)
            return start
        self._at = end
        if name.startswith("KEY_OPEN"):
            self.scope, self._key, self._key_at = KEY, Pieces(), end
        elif self.scope == KEY:
            self._end_key(name, start, end)
        elif name == "VALUE_OPEN":
            self._begin_value(end)
        else:
            self._end_value(start)
        self.out.marker(start, end, name.lower())
        return end

    def _begin_cdata(self, start: int, end: int) -> None:
        """The tag that escapes a whole value, or inside a value text."""
        if self._begun or self._closer is not None:
            self.text(_CDATA_OPEN, 0, end - start, start, final=False)
            return
        self.scope, self._at, self._begun = _CDATA, end, True
        self._value_at = NOWHERE if self._streams else end
        self.out.marker(start, end, "cdata_open")

    def closed(self, at: int) -> None:
        self._decide_opener(whole=False)
        if self.scope == VALUE:  # in a CDATA section nothing else ends it
            self.literal("IMPLIED", at, at)

    def _end_key(self, name: str, start: int, end: int) -> None:
        raw = "".join(self._key)
        lead, text = len(raw) - len(raw.lstrip()), raw.strip()
        if self._unquotes and is_quoted(text):
            lead, text = lead + 1, text[1:-1]
        said = unescape_attribute(text) if self._unescapes else text
        self._schema = _STRING if name == "STRING_CLOSE" else property_schema(self.out.schema, said)
        self._is_json = name == "JSON_CLOSE"
        self._streams = can_stream(self._schema) and not self._is_json and not self._drops_unclosed
        self._why_whole = "" if self._streams else why_whole(self._schema, is_json=self._is_json)
        self._key_text, self._key_start = said, self._key_at + lead
        self._key_end = self._key_start + len(text)
        self.out.marker(self._key_at, self._key_start)
        self.out.marker(self._key_end, start)
        self._key_at = NOWHERE
        if self._has_gap:
            self.scope = GAP
        else:
            self._begin_value(end)

    def _write_key(self) -> None:
        """Write the key; it waits for its value, so that what is written can always be closed."""
        text, at, end = escape_json(self._key_text), self._key_start, self._key_end
        parts = (
            Segment('{"' if self._count == 0 else ', "', at, at, "synthetic"),
            Segment(text, at, end, "copied" if text == self._key_text and end - at == len(text) else "converted"),
            Segment('": ', end, end, "synthetic"),
        )
        self._count += 1
        self.out.arguments("".join(part.text for part in parts), at, end, parts)
        self._key_start = self._key_end = NOWHERE

    def _begin_value(self, at: int) -> None:
        self.scope, self._value, self._value_at = VALUE, Pieces(), NOWHERE if self._streams else at
        self._by_lines = self._at_line_start = False
        self._blank, self._blank_at, self._begun = Pieces(), at, False
        if self._streams:
            self._write_key()
            self.synthetic('"', at)

    def _value_text(self, text: str, at: int) -> None:
        self._at_line_start = text.endswith("\n")
        if not self._begun:
            text, at = self._trim_start(text, at)
        if not text:
            return
        self._begun = True
        if not self._streams:
            self._value.append(text)
            return
        if kept := self._trim_length(text):
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
            self._begun = self._by_lines = True
        else:
            cut = len(text) - len(text.lstrip()) if self._trim == "space" else 0
        self.out.marker(at, at + cut)
        self._value_at = NOWHERE if self._streams else at + cut
        return text[cut:], at + cut

    def _trim_length(self, text: str) -> int:
        """Return how much of the text surely is value and not what stands before the closer."""
        if self._trim == "none" or self.scope == _CDATA:
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
        decoder = None if self.scope == _CDATA else self._entities
        self._write_pieces([(text, at, at + len(text))] if decoder is None else decoder.feed(text, at), text)

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
            plain = text if self._entities is None or self.scope == _CDATA else decode_entities(text)
            written = self._as_json(plain) if self._is_json else None
            self._write_whole(written or coerce_json(plain_to_json(plain, self._schema), self._schema), text, at)
        self.scope, self._blank, self._value, self._value_at = OPEN, Pieces(), Pieces(), NOWHERE

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
        return coerce_json(json_to_json(found, self._schema), self._schema) if is_strict_json(found) else None

    def finish(self, at: int) -> None:
        """At a terminal between parameters the object is whole; elsewhere it was cut off."""
        self._decide_opener(whole=False)
        self._go_on_in_doubt()
        if self.cut and self.scope == VALUE:
            self._go_on_with_value()
        self._close_value(clear=self.scope == OPEN)
        at = self._at if self.over and self.scope != OPEN else at
        if self.scope == OPEN:
            self.complete = not self.over
            if self.complete or self.out.closes:
                self.synthetic("}" if self._count else "{}", at)
        elif self._in_value and self._streams:
            self._finish_entities()
            self.out.marker(self._blank_at if self._blank else at, at)
            self.synthetic('"}' if self.out.closes else "", at)
        elif (
            self._in_value
            and not (self.out.closes or self._is_json)
            and can_only_be_string("".join(self._value), self._schema)
        ):
            text = self._waiting_value()
            self._write_whole(f'"{escape_json(text)}', text, at)
        else:
            self._drop_parameter(at)
            self.synthetic(("}" if self._count else "{}") if self.out.closes else "", at)

    def _drop_parameter(self, at: int, reason: DropReason = CUT) -> None:
        if self.scope == KEY:
            self.out.drop(self._key_at, at, reason)
            return
        self.out.drop(self._key_start, self._key_end, reason)
        if self._in_value:
            self.out.drop(self._value_at, at, reason)

    def passes(self) -> str | None:
        """See ArgumentParser.passes: a value. If it goes out as it is read, a newline is one of what is escaped."""
        if not (self._in_value and self._begun) or self._blank or self._closer is not None:
            return None
        if not self._streams or self.scope == _CDATA:
            return ESCAPED if self._streams else ""
        if self._entities is not None:
            return None
        return ESCAPED

    def tail(self) -> Tail | None:
        """See ArgumentParser.tail: white space that may stand before the closer."""
        return _BLANK if self._trim == "space" and self._streams and self.scope != _CDATA else None

    def keep(self, text: str, at: int) -> None:
        self._blank, self._blank_at = Pieces([text]), at

    def collects(self) -> Tail | None:
        """See ArgumentParser.collects: a value that is written when it is whole."""
        return None if self._streams else Tail(None, self._why_whole, "codec")

    def collect(self, text: str, at: int) -> None:
        self._value_text(text, at)
        self._at = at + len(text)

    def passed(self, at: int) -> None:
        self._at_line_start = self._at_line_start and at == self._at
        super().passed(at)

    def look(self, fed: int) -> Standing:
        scope = self.scope
        waits: tuple[Reason, int] | None = None
        if scope in (OPEN, KEY):
            state = BETWEEN if scope == OPEN else IN_KEY
            if scope == KEY and self._key and self._opener is None:
                waits = "A parameter's name is sent whole.", self._key_at
        else:
            state = (before_value if scope == GAP else in_value)("".join(self._key))
            if scope == GAP:
                waits = "A parameter's name is sent with its value.", self._key_start
        if waits is None and (waits := self._waits_of_value(scope)) is None:
            return state, None
        at = self._at
        return state, ("codec", *waits, FED if at == fed else at)

    def _waits_of_value(self, scope: str | None) -> tuple[Reason, int] | None:
        """Why the value waits, or a tag in a scope, and from where on."""
        tag = self._opener or self._closer or (None if self._doubt is None else (self._doubt, 0))
        if tag is None and scope not in (VALUE, _CDATA):
            return None
        if not self._streams:
            return self._why_whole, self._key_start
        entity = None if self._entities is None else self._entities.kept_at
        if tag is not None:
            start = entity if entity is not None else self._blank_at if self._blank else tag[0]
            return TAG_WAITS if self._opener else CLOSER_WAITS, start
        if entity is not None:
            return "May be the beginning of an HTML entity.", entity
        return (_BLANK.why, self._blank_at) if self._blank else None
