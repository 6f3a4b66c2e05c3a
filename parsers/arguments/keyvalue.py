"""`keyvalue`: a name and arguments with keys that are not quoted and strings between delimiters of their own.

    get_weather{city:<|"|>Bern<|"|>,days:3,detail:{units:[<|"|>C<|"|>]}}

Gemma 4 and FunctionGemma write this; `string` is the delimiter. A string holds anything but its delimiter, so no
marker matches in it. Words are numbers, true, false, null or else strings; keys may stand between delimiters. What is
merely wrong is read as it is meant: a comma or a colon too few, a bracket that is not closed, a second opening brace.

The call counts at its opening brace; with `require_key` at the first key or the closing brace, because without a
marker before it the name alone might be prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from parsers.arguments.coerce import NUMBER
from parsers.arguments.contract import ESCAPED, OPEN, Output, is_quoted
from parsers.arguments.json_build import PAIRS, NotationParser, Piece
from parsers.arguments.json_value import escape_json
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.seen import FED, Standing
from parsers.vocabulary.states import Part
from parsers.vocabulary.trace import CodecState, Stand, Tail

_STRING = "string"
_NAME = re.compile(r"[\w.\-]+")
_KEY = re.compile(r"[^:,{}\[\]()]+")
_WORD = {"{": re.compile(r"[^,}\]]+"), "(": re.compile(r"[^,}\])]+")}


class KeyValue(NotationParser):
    """Reads one call from its name on."""

    APART: ClassVar[frozenset[str]] = frozenset({"_call_end", "_needs_key"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_pieces"})
    triggers: ClassVar[tuple[str, ...]] = ("REJECT", "OTHER")
    strings: ClassVar[frozenset[str | None]] = frozenset({_STRING})
    options: ClassVar[Mapping[str, Any]] = {"string": '<|"|>', "call_end": "", "require_key": False}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        chosen = self.settings
        self._call_end: str = chosen["call_end"]
        self._needs_key: bool = chosen["require_key"]
        self._phase = "name"
        self._tail = _OpenTail(self._builder.string)
        self._pieces: list[Piece] = []
        self._steps = {
            **{"name": self._in_name, "named": self._after_name, "key": self._key, "colon": self._colon},
            **{"value": self._value, "word": self._in_word, "after": self._after},
        }

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        chosen = {**cls.options, **options}
        end = {"CALL_CLOSE": chosen["call_end"]} if chosen["call_end"] else {}
        return {OPEN: {"STRING_OPEN": chosen["string"]}, _STRING: {"STRING_CLOSE": chosen["string"], **end}}

    @classmethod
    def closers(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        return ({**cls.options, **options}["string"],)

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if base + pos != self._at and self._word:
            self._gap()
        while pos < end and not self.queue:
            if self.scope == _STRING:
                self._in_string(buffer[pos:end], base + pos)
                pos = end
            elif self._phase == "over":
                pos = self.after_value(buffer, pos, end, base)
            elif self._word or (pos := self.out.skip_space(buffer, pos, end, base)) < end:
                pos = self._steps[self._phase](buffer, pos, end, base)
        self._at = base + pos
        return pos

    def _gap(self) -> None:
        """Between this text and the one before stands a token that is no text: it ends a word."""
        if self._phase == "word":
            self._end_word()
        elif self._phase == "name" or not self._committed:
            self._refuse(0)
        else:
            self._end_key(self._at)
            self._phase = "colon"

    # the name

    def _in_name(self, buffer: str, pos: int, end: int, base: int) -> int:
        pos = self._read(_NAME, buffer, pos, end, base)
        if pos == end:
            return pos
        if not self._word:
            return self._refuse(pos)
        self._name = self._take_word()
        self._phase = "named"
        return pos

    def _after_name(self, buffer: str, pos: int, end: int, base: int) -> int:
        char = buffer[pos]
        if char not in "{(":
            return self._refuse(pos)
        self._push(char)
        if not self._needs_key:
            self._commit(base + pos)
        self._phase = "key"
        return self._mark(pos, base)

    # keys

    def _key(self, buffer: str, pos: int, end: int, base: int) -> int:
        pos = self._read(_KEY, buffer, pos, end, base)
        if pos == end:
            return pos
        char = buffer[pos]
        if not self._committed and char != ":" and (self._word or char not in "{}])"):
            return self._refuse(pos)
        if char == ":" or (char in "[{(" and self._word):
            self._end_key(base + pos)
            return self._mark(pos, base) if char == ":" else pos
        self._drop_word(DropReason(Cause.NO_KEY))
        if char in PAIRS:
            return self._closer(char, pos, base)
        if char != ",":
            self._drop_bracket(base + pos, "opening")
            return pos + 1
        return self._mark(pos, base)

    def _end_key(self, at: int) -> None:
        text, start, end = self._take_word() if self._word else ("", at, at)
        if is_quoted(text):
            self.out.marker(start, start + 1)
            self.out.marker(end - 1, end)
            text, start, end = text[1:-1], start + 1, end - 1
        self._give_key([(text, start, end)], at)
        self._phase = "value"

    def _give_key(self, pieces: list[Piece], at: int) -> None:
        if not self._committed:
            self._commit(at)
        self._builder.key(pieces)

    def _drop_word(self, reason: DropReason) -> None:
        if self._word:
            _, start, end = self._take_word()
            self.out.drop(start, end, reason)

    def _colon(self, buffer: str, pos: int, end: int, base: int) -> int:
        """After a key between delimiters."""
        self._phase = "value"
        return self._mark(pos, base) if buffer[pos] == ":" else pos

    # values

    def _value(self, buffer: str, pos: int, end: int, base: int) -> int:
        char = buffer[pos]
        if char in "[{":
            self._builder.open(char, base + pos)
            self._push(char)
            self._phase = "key" if char == "{" else "value"
            return self._mark(pos, base)
        if char not in ",}]" and (char != ")" or self._stack != ["("]):
            self._phase = "word"
            return pos
        if self._stack[-1] == "[":
            return self._mark(pos, base) if char == "," else self._closer(char, pos, base)
        self._empty(base + pos)
        return pos

    def _empty(self, at: int) -> None:
        """A key whose value is missing has the empty string."""
        self._builder.begin_string(at)
        self._builder.end_string(at)
        self._phase = "after"

    def _in_word(self, buffer: str, pos: int, end: int, base: int) -> int:
        pos = self._read(_WORD["(" if self._stack == ["("] else "{"], buffer, pos, end, base)
        if pos < end:
            self._end_word()
        return pos

    def _end_word(self) -> None:
        text, start, end = self._take_word()
        self._builder.scalar(_word_to_json(text), start, end, raw=text)
        self._phase = "after"

    def _after(self, buffer: str, pos: int, end: int, base: int) -> int:
        """After a value comes a comma or a closing bracket; anything else shows that a comma was forgotten."""
        char = buffer[pos]
        if char in PAIRS:
            return self._closer(char, pos, base)
        self._phase = "value" if self._stack[-1] == "[" else "key"
        if char == ",":
            return self._mark(pos, base)
        self._missing("comma", base + pos)
        return pos

    def _closer(self, char: str, pos: int, base: int) -> int:
        at = base + pos
        if not self._open[PAIRS[char]]:
            self._drop_bracket(at, "closing")
            return pos + 1
        if not self._committed:
            self._commit(at)
        if self._stack[-1] != PAIRS[char]:
            self._missing("closing bracket", at)
        while self._stack[-1] != PAIRS[char]:
            self._pop(at)
        self._pop(at)
        if not self._stack:
            self._phase, self.complete = "over", True
        return self._mark(pos, base)

    def _missing(self, what: str, at: int) -> None:
        self.out.diagnostic("missing_structure", f"A {what} is missing in the arguments.", at, at)

    def _drop_bracket(self, at: int, which: str) -> None:
        self.surplus("surplus_bracket", DropReason(Cause.SURPLUS_BRACKET, which), at, at + 1)

    # strings

    def literal(self, name: str, start: int, end: int) -> int:
        self._at = end
        if name == "CALL_CLOSE":
            if self._is_key:
                self._in_string(self._call_end, start)
            else:
                self._tail.call_closes(self._call_end, start)
            return end
        if name == "STRING_CLOSE":
            self._end_string(start)
        elif self._phase in ("name", "named") or (self._phase == "key" and self._word and not self._committed):
            self._refuse(0)
            return end
        elif self._phase == "over":
            self.out.drop(start, end, DropReason(Cause.SURPLUS_DELIMITER))
            return end
        else:
            self._begin_string(start, end)
        self.out.marker(start, end, "string")
        return end

    def _begin_string(self, start: int, end: int) -> None:
        """A delimiter opens a key or a value, or closes a string that was not opened."""
        if self._phase == "word":
            text, at, stop = self._take_word()
            self._missing("string delimiter", at)
            self._builder.scalar(f'"{escape_json(text)}"', at, stop, raw=text)
            self._phase = "after"
            return
        if self._phase == "after":
            self._missing("comma", start)
            self._phase = "value" if self._stack[-1] == "[" else "key"
        if self._phase == "key" and self._word:
            self._end_key(start)
        self._is_key = self._phase == "key"
        self.scope, self._pieces = _STRING, []
        if not self._is_key:
            self._builder.begin_string(start)

    def _in_string(self, text: str, at: int) -> None:
        if self._is_key:
            self._pieces.append((text, at, at + len(text)))
        else:
            self._tail.text(text, at)

    def _end_string(self, at: int) -> None:
        self.scope = OPEN
        if self._is_key:
            self._give_key(self._pieces, at)
            self._pieces, self._phase = [], "colon"
        else:
            self._tail.flush()
            self._builder.end_string(at)
            self._phase = "after"

    # the end

    def finish(self, at: int) -> None:
        at = self._at if self.over and self.scope != OPEN else at
        if self._phase in ("name", "named") and not self.over and not self._needs_key:
            if self._word:
                self._name = self._take_word()
            if self._name[0]:  # the end of the call follows its name: it has no arguments
                self._commit(at, bracketed=False)
                self._builder.close(at)
                self.complete = True
        if not self._committed:
            self._drop_word(CUT)
            for _, start, end in [self._name, *self._pieces]:
                self.out.drop(start, end, CUT)
        if self.complete or not self._committed:
            return
        whole, in_string = not self.over, self.scope == _STRING
        if in_string:
            whole = self._finish_string(at)
        elif self._phase == "word" and whole:
            self._end_word()
        elif self._phase in ("value", "colon") and whole and self._stack[-1] != "[":
            self._empty(at)
        self._drop_word(CUT)
        if not whole:
            self._builder.cut(at)
            return
        if not in_string:
            self._missing("closing bracket", at)
        self.complete = True
        self._builder.close_all(at)

    def _finish_string(self, at: int) -> bool:
        """A string is open: the call's end closes it, so does an output's that ends with it and was not cut off."""
        for _, start, end in self._pieces:
            self.out.drop(start, end, CUT)
        if self._is_key:
            return not self.over
        if self.over and (self.cut or not self._tail.closes()):
            self._tail.flush()
            return False
        at = self._tail.drop(self.out, at)
        self.out.diagnostic("unterminated_string", "A string is not closed before the end of its call.", at, at)
        self._builder.end_string(at)
        return True

    def passes(self) -> str | None:
        """See ArgumentParser.passes: a string value."""
        reads = self.scope == _STRING and not self._is_key and self._builder.passes and self._tail.at is None
        return ESCAPED if reads else None

    def tail(self) -> Tail:
        """See ArgumentParser.tail: what may be the end of the call."""
        return _TAIL

    def keep(self, text: str, at: int) -> None:
        self._tail.text(text, at)

    def look(self, fed: int) -> Standing:
        state = _OUTSIDE.get(self._phase)
        if state is None:
            state = (_in_string if self.scope == _STRING else _between_tokens)(len(self._stack))
        built, word, pieces, tail = self._builder.held_from(), self._word, self._pieces, self._tail.pieces
        if built is None and not (tail or word or pieces):
            return state, None  # as it is after most deltas
        start = at = self._at
        if word and self._committed and self._word_at < start:
            start = self._word_at
        if pieces and pieces[0][1] < start:
            start = pieces[0][1]
        if built is not None and built < start:
            start = built
        if tail and tail[0][1] <= start:
            start, why = tail[0][1], _TAIL.why
        else:
            why = "A word is read whole." if word else self._builder.wanted()
        return state, ("codec", why, start, FED if at == fed else at) if start < at else None


_OUTSIDE = {
    "name": CodecState("in the name", Stand.NAME),
    "named": CodecState("after the name"),
    "over": CodecState("after the arguments"),
}


@lru_cache(maxsize=64)  # asked for after every delta
def _in_string(depth: int) -> CodecState:
    return CodecState(f"in a string, depth {depth}", Stand.INSIDE)


@lru_cache(maxsize=64)
def _between_tokens(depth: int) -> CodecState:
    return CodecState(f"between tokens, depth {depth}", Stand.INSIDE)


# Bare words, and strings whose closing delimiter may be forgotten.
#
# A string between delimiters holds anything, so a string that is never closed swallows the end of its call. Closing
# brackets at the end of what is read therefore wait for more text, and once the call's own end (`call_end`) follows,
# everything waits for the delimiter. If none comes, the string ended before those brackets.

_BLANK_OR_CLOSER = " \t\r\n)]}"
_TAIL = Tail(_BLANK_OR_CLOSER, "Brackets that may close the call, if its string was not closed.", "codec")
_ONLY_TOKENS = re.compile(r"(?:\s*<[^<>\s]{1,64}>)*\s*\Z")
_CONSTANTS = frozenset({"true", "false", "null"})


def _word_to_json(text: str) -> str | None:
    """A word as JSON: a constant, a number, a string as JSON writes it; None for anything else, which says no type.

    The word None is what the chat templates of Gemma 4 write for null.
    """
    if text == "None":
        return "null"
    if text in _CONSTANTS or NUMBER.match(text):
        return text
    if len(text) > 1 and text[0] == text[-1] == '"' and is_json(text):
        return text
    return None


class _OpenTail(Part):
    """Passes text on to `put(text, start, end)`, but for the tail."""

    __slots__ = ("_ended", "_put", "pieces")
    APART: ClassVar[frozenset[str]] = frozenset({"_put"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"pieces"})

    def __init__(self, put: Callable[[str, int, int], None]) -> None:
        self._put = put
        self.pieces: list[tuple[str, int]] = []
        self._ended: int | None = None

    @property
    def at(self) -> int | None:
        return self.pieces[0][1] if self.pieces else None

    def text(self, text: str, at: int) -> None:
        solid = len(text.rstrip(_BLANK_OR_CLOSER)) if self._ended is None else 0
        if solid:
            self.flush()
            self._put(text[:solid], at, at + solid)
        if solid < len(text):
            self.pieces.append((text[solid:], at + solid))

    def call_closes(self, text: str, at: int) -> None:
        """The end of the call stands in the string."""
        if self._ended is None and any(bracket in piece for piece, _ in self.pieces for bracket in ")}"):
            self._ended = len(self.pieces) + 1
        self.text(text, at)

    def flush(self) -> None:
        """The tail is text of the string after all."""
        tail, self.pieces, self._ended = self.pieces, [], None
        for text, at in tail:
            self._put(text, at, at + len(text))

    def drop(self, out: Output, at: int) -> int:
        """The tail is structure. Returns where it began, or `at` when there is none."""
        at = at if self.at is None else self.at
        for text, start in self.pieces:
            out.marker(start, start + len(text))
        self.pieces = []
        return at

    def closes(self) -> bool:
        """Return whether the tail is the end of the call, with nothing but tokens after it."""
        rest = [text for text, _ in self.pieces[self._ended :]] if self._ended is not None else ["-"]
        return _ONLY_TOKENS.match("".join(rest)) is not None
