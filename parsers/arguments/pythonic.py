"""`pythonic`: a list of calls as Python writes them, turned into calls with JSON arguments while they arrive.

    [get_weather(city="Bern", days=3), get_time()]

Arguments are keywords with literals: strings, numbers, True, False, None (and JSON's words for them), lists, tuples,
dicts, and sets, which become arrays (vLLM 0.33.0 reads them so). A bare name is passed on as a string with a
diagnostic. With the option `brackets` off there is no list: calls stand one after the other, as Olmo 3 writes them.

A call counts once its name, the parenthesis and the first keyword's equals sign (if it is not one of two), or the
closing parenthesis of a call without arguments, are read: until then anything else means prose (REJECT). From then on
what no call can have is MALFORMED. The first call is opened by the format, on the list's bracket; without brackets, and
for every further call, the parser speaks:

ITEM      a call begins
ITEM_END  its parenthesis is closed
DONE      the list is over

Brackets that were forgotten are closed where a later one shows it: a parenthesis ends the call, and in a list of calls
so does the list's bracket.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from parsers.arguments.contract import OPEN, Output
from parsers.arguments.json_build import NO_NAME, PAIRS, JsonBuilder, NotationParser, Piece
from parsers.arguments.python_text import QUOTES, WORDS, StringReader, python_number
from parsers.vocabulary.drops import CUT
from parsers.vocabulary.seen import FED, Standing
from parsers.vocabulary.states import Pieces
from parsers.vocabulary.trace import CodecState, Stand

_NAME = re.compile(r"[\w.\-]+")
_NAME_START = re.compile(r"[^\W\d]")
_KEY = re.compile(r"[\w\-]+")
_WORD = re.compile(r"""[^\s,()\[\]{}'":=]+""")
_TIGHT = frozenset({"name", "word", "key", "equals"})  # where white space is told from other text
_BETWEEN_CALLS = frozenset({"start", "first", "name", "between", "next", "over"})


class Pythonic(NotationParser):
    """Reads a list of calls for a run of states."""

    APART: ClassVar[frozenset[str]] = frozenset({"_in_list"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_key", "_key_word"})
    spans_states: ClassVar[bool] = True
    triggers: ClassVar[tuple[str, ...]] = ("ITEM", "ITEM_END", "DONE", "REJECT", "MALFORMED")
    awaits: ClassVar[str] = "What follows shows where this literal ends."
    options: ClassVar[Mapping[str, Any]] = {"brackets": True}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._in_list: bool = self.settings["brackets"]
        self._phase = "start"
        self._bad = False
        self._string: StringReader | None = None
        self._key: list[Piece] = []
        self._key_word: Piece | None = None  # the word that is the key, as it is written
        self._steps = {
            **{"start": self._start, "first": self._first, "name": self._in_name},
            **{"between": self._between, "next": self._between, "over": self._between},
            **{"call": self._call, "argument": self._argument, "key": self._in_key, "equals": self._equals},
            **{"after_key": self._after_key, "dict_key": self._item, "value": self._value, "item": self._item},
            **{"word": self._in_word, "after": self._after},
        }

    @classmethod
    def due(cls, last: str, options: Mapping[str, Any], policy: Mapping[str, str]) -> tuple[str, ...] | None:
        if last == "" and not {**cls.options, **options}["brackets"]:
            return ("ITEM",)
        between = ("ITEM", "DONE")
        return {"": ("ITEM_END",), "ITEM": ("ITEM_END",), "ITEM_END": between, "DONE": between}.get(last)

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if base + pos != self._at:
            self._gap(self._at)
        scope, free = self.scope, end == len(buffer) and self.scope == OPEN
        while pos < end and not self.queue and (free or self.scope == scope):
            if self._string is not None:
                stop = self._in_string(self._string, buffer, pos, end, base, final)
                if stop == pos and self._string is not None:
                    break
                pos = stop
            elif (
                self._phase in _TIGHT
                or not buffer[pos].isspace()  # as it is most of the time
                or (pos := self.out.skip_space(buffer, pos, end, base)) < end
            ):
                pos = self._steps[self._phase](buffer, pos, end, base)
        self._at = base + pos
        return pos

    def _gap(self, at: int) -> None:
        """Between this text and the one before stands a token that is no text. It ends a word, and a string whose quote
        was read; no name can go on behind it."""
        if self._string is not None:
            self._string.gap()
            self._end_string(at)
        elif self._phase == "key":
            self._end_key()
        elif self._phase == "word":
            self._end_word()
        elif self._phase == "name" and self._word:
            self._refuse(0)

    # the list

    def _start(self, buffer: str, pos: int, end: int, base: int) -> int:
        if not self._in_list:
            return self._between(buffer, pos, end, base)
        if buffer[pos] != "[":
            return self._refuse(pos)
        self._phase = "first"
        return self._mark(pos, base)

    def _first(self, buffer: str, pos: int, end: int, base: int) -> int:
        return self._begin(pos) if _NAME_START.match(buffer, pos) else self._refuse(pos)

    def _begin(self, pos: int) -> int:
        self._phase, self._word, self._name = "name", Pieces(), NO_NAME
        self._committed = self._bad = self.complete = False
        return pos

    def _between(self, buffer: str, pos: int, end: int, base: int) -> int:
        """Before a call that is not opened by the format: after a comma, or just after the one before."""
        char = buffer[pos]
        if _NAME_START.match(buffer, pos):
            self.queue.append("ITEM")
            return self._begin(pos)
        if char == "," and self._phase == "between":
            self._phase = "next"
            return self._mark(pos, base)
        if char == "]" and self._in_list:
            self._phase = "over"
            self.queue.append("DONE")
            return self._mark(pos, base)
        return self._refuse(pos, "REJECT" if self._phase == "start" else "MALFORMED")

    def _in_name(self, buffer: str, pos: int, end: int, base: int) -> int:
        pos = self._read(_NAME, buffer, pos, end, base)
        if pos == end:
            return pos
        if buffer[pos] != "(":
            return self._refuse(pos)
        self._name, self._builder, self._phase = self._take_word(), JsonBuilder(self.out), "call"
        return self._mark(pos, base)

    def _trouble(self, pos: int) -> int:
        self._bad = True
        return self._refuse(pos, "MALFORMED" if self._committed else "REJECT")

    # keywords

    def _call(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] == ")":
            self._commit(base + pos)
        return self._argument(buffer, pos, end, base)

    def _argument(self, buffer: str, pos: int, end: int, base: int) -> int:
        if self._committed and buffer[pos] in PAIRS:
            return self._closer(buffer[pos], pos, base)
        if not _NAME_START.match(buffer, pos):
            return self._trouble(pos)
        self._phase = "key"
        return pos

    def _in_key(self, buffer: str, pos: int, end: int, base: int) -> int:
        pos = self._read(_KEY, buffer, pos, end, base)
        if pos < end:
            self._end_key()
        return pos

    def _end_key(self) -> None:
        self._key, self._phase = [self._take_word()], "after_key"

    def _after_key(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] in ",}" and self._stack and self._builder.unsure:
            return self._first_of_set(pos, base)
        if buffer[pos] != (":" if self._stack else "="):
            return self._trouble(pos)
        if self._stack:
            self._give_key()
        else:
            self._phase = "equals"
        return self._mark(pos, base)

    def _first_of_set(self, pos: int, base: int) -> int:
        """What was read as the first key of a dict is the first item of a set."""
        pieces, self._key, self._is_key, self._phase = self._key, [], False, "after"
        self._builder.be_array()
        if self._key_word is not None:
            self._scalar(*self._key_word)
            return pos
        at = base + pos
        self._builder.begin_string(pieces[0][1] if pieces else at)
        for text, start, end in pieces:
            self._builder.string(text, start, end, raw=end - start == len(text))
        self._builder.end_string(at)
        return pos

    def _equals(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] == "=":
            return self._trouble(pos)
        self._keyword(base + pos)
        return pos

    def _keyword(self, at: int) -> None:
        """The equals sign is not one of two: this is a keyword."""
        if not self._committed:
            self._commit(at)
        self._give_key()

    def _give_key(self) -> None:
        self._builder.key(self._key)
        self._key, self._key_word, self._phase = [], None, "value"

    # values

    def _value(self, buffer: str, pos: int, end: int, base: int) -> int:
        char = buffer[pos]
        if char not in "[({":
            return self._literal(char, pos, base, is_key=False)
        self._builder.open(char, base + pos, unsure=char in "({")
        self._push(char)
        self._phase = "dict_key" if char == "{" else "item"
        return self._mark(pos, base)

    def _item(self, buffer: str, pos: int, end: int, base: int) -> int:
        """An item of a list, or a key of a dict; or its end."""
        if buffer[pos] in PAIRS:
            return self._closer(buffer[pos], pos, base)
        if self._phase == "dict_key" and buffer[pos] in "[({" and self._builder.unsure:
            self._builder.be_array()
            self._phase = "item"
        if self._phase == "item":
            return self._value(buffer, pos, end, base)
        return self._literal(buffer[pos], pos, base, is_key=True)

    def _literal(self, char: str, pos: int, base: int, *, is_key: bool) -> int:
        self._is_key, self._key_word = is_key, None
        if char in QUOTES:
            self._string = StringReader(self.out, self._piece, is_key=is_key, of_keyword=not self._stack)
            self.scope = None
            if not is_key:
                self._builder.begin_string(base + pos)
            return self._string.text(char, 0, 1, base + pos, final=False) + pos
        if not _WORD.match(char):
            return self._trouble(pos)
        self._phase = "word"
        return pos

    def _in_string(self, string: StringReader, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        stop = string.text(buffer, pos, end, base, final=final)
        self.scope = None if string.open else OPEN
        if string.done:
            self._end_string(base + stop)
        return stop

    def _end_string(self, at: int) -> None:
        self._string = None
        self._phase = "after_key" if self._is_key else "after"
        if not self._is_key:
            self._builder.end_string(at)

    def _in_word(self, buffer: str, pos: int, end: int, base: int) -> int:
        pos = self._read(_WORD, buffer, pos, end, base)
        if pos == end:
            return pos
        if buffer[pos] in "([{=" or buffer[pos] in QUOTES:
            return self._trouble(pos)
        self._end_word()
        return pos

    def _end_word(self) -> None:
        """A whole word: a number, a constant, or a name, which is taken for a string."""
        text, start, end = self._take_word()
        if self._is_key:
            self._key_word = text, start, end
            self._key, self._phase = [(_constant(text) or text, start, end)], "after_key"
        else:
            self._scalar(text, start, end)

    def _scalar(self, text: str, start: int, end: int) -> None:
        known = _constant(text)
        if known is None:
            message = f"The value {text} is a bare name; it is passed on as a string."
            self.out.diagnostic("bare_name", message, start, end)
        self._builder.scalar(known, start, end, raw=text)
        self._phase = "after"

    def _after(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] in PAIRS:
            return self._closer(buffer[pos], pos, base)
        if buffer[pos] != ",":
            return self._trouble(pos)
        self._phase = "argument"
        if self._stack:
            self._builder.comma()
            self._phase = "dict_key" if self._builder.in_object else "item"
        return self._mark(pos, base)

    def _closer(self, char: str, pos: int, base: int) -> int:
        """A closing bracket: of the innermost container, of the call, or of one further out."""
        wanted = self._stack[-1] if self._stack else "("
        if PAIRS[char] == wanted:
            self._close(base + pos)
            return self._mark(pos, base)
        if not self._open[PAIRS[char]] and (char == "}" or (char == "]" and not self._in_list)):
            return self._trouble(pos)
        self._missing(base + pos)
        while self._stack and self._stack[-1] != PAIRS[char]:
            self._close(base + pos)
        if not self._stack and char == "]":
            self._close(base + pos)
        return pos

    def _close(self, at: int) -> None:
        """The innermost container ends; without one, the call."""
        if self._stack:
            self._pop(at)
            return
        self._builder.close(at)
        self._phase, self.complete = "between", True
        self.queue.append("ITEM_END")

    def _missing(self, at: int) -> None:
        self.out.diagnostic("missing_close", "A bracket of the call is not closed; it ends here.", at, at)

    def _piece(self, text: str, start: int, end: int, raw: bool) -> None:
        if self._is_key:
            self._key.append((text, start, end))
        else:
            self._builder.string(text, start, end, raw=raw)

    # the end

    def finish(self, at: int) -> None:
        if self._phase in _BETWEEN_CALLS:
            return
        if self._phase == "equals":
            self._keyword(at)
        self.complete = self._committed and self._finish_call(at)
        self.scope, self._phase = OPEN, "next"

    def _finish_call(self, at: int) -> bool:
        """Write what is left of the call. Returns whether it is whole; where the output ends a word may be cut off."""
        if self._string is not None:
            cut = self._string.finish()
            if cut is not None:
                self.out.drop(*cut, CUT)
            if self._string.done:
                self._end_string(at)
        if self._phase == "word" and not self.over and not self._bad:
            self._end_word()
        if self._word:
            self.out.drop(*self._take_word()[1:], CUT)
        whole = not (self.over or self._bad or self._string or self._key) and self._phase != "value"
        if whole:
            self._missing(at)
            self._builder.close_all(at)
        else:
            for _, start, end in self._key:
                self.out.drop(start, end, CUT)
            self._builder.cut(at)
        return whole

    def passes(self) -> str | None:
        """See ArgumentParser.passes: a string value."""
        reads = self._string is not None and not self._is_key and self._builder.passes
        return self._string.passes() if reads and self._string is not None else None

    def look(self, fed: int) -> Standing:
        state = _AROUND.get(self._phase)
        if state is not None:
            return state, None
        string, word, key, built = self._string, self._word, self._key, self._builder.held_from()
        state = _in_arguments(len(self._stack), string is not None, bool(word))
        in_string = None if string is None else string.held_from()
        if in_string is None and built is None and not word and not key:
            return state, None  # as it is after most deltas
        start = at = self._at
        if key and key[0][1] < start:
            start = key[0][1]
        if word and self._word_at < start:
            start = self._word_at
        if built is not None and built < start:
            start = built
        if in_string is not None and in_string < start:
            start = in_string
        why = _IN_STRING if in_string is not None else _IN_WORD if word or key else self._builder.wanted()
        return state, ("codec", why, start, FED if at == fed else at)


def _constant(word: str) -> str | None:
    return WORDS.get(word) or python_number(word)


@lru_cache(maxsize=64)  # asked for after every delta
def _in_arguments(depth: int, in_string: bool, in_word: bool) -> CodecState:
    where = "in a string" if in_string else "in a word" if in_word else "between tokens"
    return CodecState(f"arguments, {where}, depth {depth}", Stand.INSIDE)


_AROUND = {
    **dict.fromkeys(("start", "first"), CodecState.before("the calls")),
    "name": CodecState("in a name", Stand.NAME),
    **dict.fromkeys(("between", "next", "over"), CodecState("between calls")),
}
_IN_STRING = "An escape sequence is sent whole, and the character after a quote says whether it ends the string."
_IN_WORD = "A word or a name is read whole."
