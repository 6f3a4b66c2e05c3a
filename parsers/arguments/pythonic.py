"""The arguments of one call as Python writes them: from the opening parenthesis to the closing one.

The call is committed when the first keyword's equals sign is read (and is not one of two), or the closing parenthesis
of a call without arguments. Before that, and after, what cannot stand there makes the call `bad` and is not read.

Brackets that were forgotten are closed where a later one shows it: a parenthesis ends the call, and in a list of calls
so does the list's bracket.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from parsers.arguments.contract import OPEN, ArgumentParser, Output
from parsers.arguments.json_build import JsonBuilder, Piece
from parsers.arguments.json_value import escaped
from parsers.arguments.python_text import QUOTES, WORDS, StringReader, number
from parsers.vocabulary.drops import CUT
from parsers.vocabulary.trace import Hold

NAME_START = re.compile(r"[^\W\d]")
KEY = re.compile(r"[\w\-]+")
WORD = re.compile(r"""[^\s,()\[\]{}'":=]+""")
PAIRS = {"]": "[", ")": "(", "}": "{"}
TIGHT = frozenset({"word", "key", "equals"})  # where white space is told from other text


class CallReader:
    """Reads arguments. `scope` is that of the codec; `done` once the call's parenthesis is closed."""

    def __init__(self, out: Output, name: tuple[str, int], *, in_list: bool) -> None:
        self.scope: str | None = OPEN
        self.done = self.bad = self.committed = False
        self._out = out
        self._name = name
        self._in_list = in_list
        self._builder = JsonBuilder(out)
        self._phase = "first"
        self._stack: list[str] = []
        self._open = dict.fromkeys("[({", 0)
        self._word: list[str] = []
        self._word_at = 0
        self._string: StringReader | None = None
        self._key: list[Piece] = []
        self._is_key = False
        self._steps: Mapping[str, Callable[[str, int, int, int], int]] = {
            **{"first": self._first, "argument": self._argument, "key": self._in_key, "equals": self._equals},
            **{"after_key": self._after_key, "dict_key": self._item, "value": self._value, "item": self._item},
            **{"word": self._in_word, "after": self._after},
        }

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """Read on; stops at the end of the call, where a string begins or ends, and before what cannot stand here."""
        scope = self.scope
        while pos < end and not (self.done or self.bad) and self.scope == scope:
            if self._string is not None:
                stop = self._in_string(self._string, buffer, pos, end, base, final)
                if stop == pos and self._string is not None:
                    break
                pos = stop
                continue
            if self._phase not in TIGHT:
                pos = self._out.skip_space(buffer, pos, end, base)
            if pos < end:
                pos = self._steps[self._phase](buffer, pos, end, base)
        return pos

    def _trouble(self, pos: int) -> int:
        self.bad = True
        return pos

    def _mark(self, pos: int, base: int) -> int:
        self._out.marker(base + pos, base + pos + 1)
        return pos + 1

    def _commit(self, at: int) -> None:
        name, start = self._name
        self.committed = True
        self._out.name(name, start, start + len(name))
        self._builder.open("{", at)

    # keywords

    def _first(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] == ")":
            self._commit(base + pos)
        return self._argument(buffer, pos, end, base)

    def _argument(self, buffer: str, pos: int, end: int, base: int) -> int:
        if self.committed and buffer[pos] in PAIRS:
            return self._closer(buffer[pos], pos, base)
        if not NAME_START.match(buffer, pos):
            return self._trouble(pos)
        self._phase, self._word, self._word_at = "key", [], base + pos
        return pos

    def _in_key(self, buffer: str, pos: int, end: int, base: int) -> int:
        run = KEY.match(buffer, pos, end)
        if run is not None:
            self._word.append(run.group())
            return run.end()
        self._end_key()
        return pos

    def _end_key(self) -> None:
        text, start = self._take_word()
        self._key = [(text, start, start + len(text))]
        self._phase = "after_key"

    def _after_key(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] != (":" if self._stack else "="):
            return self._trouble(pos)
        if self._stack:
            self._give_key()
        else:
            self._phase = "equals"
        return self._mark(pos, base)

    def _equals(self, buffer: str, pos: int, end: int, base: int) -> int:
        if buffer[pos] == "=":
            return self._trouble(pos)
        self._keyword(base + pos)
        return pos

    def _keyword(self, at: int) -> None:
        """The equals sign is not one of two: this is a keyword."""
        if not self.committed:
            self._commit(at)
        self._give_key()

    def _give_key(self) -> None:
        pieces, self._key = self._key, []
        self._builder.key("".join([text for text, _, _ in pieces]), pieces)
        self._phase = "value"

    # values

    def _value(self, buffer: str, pos: int, end: int, base: int) -> int:
        char = buffer[pos]
        if char not in "[({":
            return self._literal(char, pos, base, is_key=False)
        self._builder.open(char, base + pos)
        self._stack.append(char)
        self._open[char] += 1
        self._phase = "dict_key" if char == "{" else "item"
        return self._mark(pos, base)

    def _item(self, buffer: str, pos: int, end: int, base: int) -> int:
        """An item of a list, or a key of a dict; or its end."""
        if buffer[pos] in PAIRS:
            return self._closer(buffer[pos], pos, base)
        if self._phase == "item":
            return self._value(buffer, pos, end, base)
        return self._literal(buffer[pos], pos, base, is_key=True)

    def _literal(self, char: str, pos: int, base: int, *, is_key: bool) -> int:
        """A string or a word begins."""
        self._is_key = is_key
        if char in QUOTES:
            self._string = StringReader(self, is_key=is_key, of_keyword=not self._stack)
            self.scope = None
            if not is_key:
                self._builder.begin_string(base + pos)
            return self._string.text(char, 0, 1, base + pos, final=False) + pos
        if not WORD.match(char):
            return self._trouble(pos)
        self._phase, self._word, self._word_at = "word", [], base + pos
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
        run = WORD.match(buffer, pos, end)
        if run is not None:
            self._word.append(run.group())
            return run.end()
        if buffer[pos] in "([{=" or buffer[pos] in QUOTES:
            return self._trouble(pos)
        self._end_word()
        return pos

    def _end_word(self) -> None:
        """A whole word: a number, a constant, or a name, which is taken for a string."""
        text, start = self._take_word()
        end = start + len(text)
        known = WORDS.get(text) or number(text)
        if self._is_key:
            self._key, self._phase = [(known or text, start, end)], "after_key"
            return
        if known is None:
            message = f"The value {text} is a bare name; it is passed on as a string."
            self._out.diagnostic("bare_name", message, start, end)
        self._builder.scalar(known or f'"{escaped(text)}"', start, end, raw=text)
        self._phase = "after"

    def _take_word(self) -> tuple[str, int]:
        text, self._word = "".join(self._word), []
        return text, self._word_at

    def _after(self, buffer: str, pos: int, end: int, base: int) -> int:
        """After a value comes a comma or a closing bracket."""
        if buffer[pos] in PAIRS:
            return self._closer(buffer[pos], pos, base)
        if buffer[pos] != ",":
            return self._trouble(pos)
        if self._stack:
            self._builder.comma()
            self._phase = "dict_key" if self._stack[-1] == "{" else "item"
        else:
            self._phase = "argument"
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
        self._builder.close(at)
        self._phase = "after"
        if self._stack:
            self._open[self._stack.pop()] -= 1
        else:
            self.done = True

    def _missing(self, at: int) -> None:
        self._out.diagnostic("missing_close", "A bracket of the call is not closed; it ends here.", at, at)

    # python_text.StringOutput

    def piece(self, text: str, start: int, end: int, *, raw: bool) -> None:
        """See StringOutput."""
        if self._is_key:
            self._key.append((text, start, end))
        else:
            self._builder.string(text, start, end, raw=raw)

    def structure(self, start: int, end: int) -> None:
        """See StringOutput."""
        self._out.marker(start, end)

    def unescaped(self, at: int) -> None:
        """See StringOutput."""
        message = "A quote inside the string is not escaped; it is taken for text, because of what follows it."
        self._out.diagnostic("unescaped_quote", message, at, at + 1)

    # the end

    def gap(self, at: int) -> None:
        """A token that is no text stands here; it ends a word, and a string whose quote was read."""
        if self._string is not None:
            self._string.gap()
            if self._string.done:
                self._end_string(at)
        elif self._phase == "key":
            self._end_key()
        elif self._phase == "word":
            self._end_word()

    def finish(self, at: int, *, over: bool) -> bool:
        """No more text. Returns whether the call is whole; `over`: the output ends, so a word may be cut off."""
        if self._phase == "equals":
            self._keyword(at)
        if self.done or not self.committed:
            return self.done
        if self._string is not None:
            self._finish_string(self._string, at, over)
        if self._phase == "word" and not over and not self.bad:
            self._end_word()
        if self._word:
            text, start = self._take_word()
            self._out.dropped(start, start + len(text), CUT)
        whole = not (over or self.bad or self._string or self._key) and self._phase != "value"
        if whole:
            self._missing(at)
            self._builder.close_all(at)
        else:
            for _, start, end in self._key:
                self._out.dropped(start, end, CUT)
            self._builder.cut(at)
        return whole

    def _finish_string(self, string: StringReader, at: int, over: bool) -> None:
        cut = string.finish(over=over)
        if cut is not None:
            self._out.dropped(*cut, CUT)
        if string.done:
            self._end_string(at)

    def held_from(self) -> int | None:
        """The first raw offset of what waits."""
        starts = [start for _, start, _ in self._key[:1]]
        starts += [self._word_at] * bool(self._word)
        places = [self._builder.held_from(), None if self._string is None else self._string.held_from()]
        starts += [at for at in places if at is not None]
        return min(starts, default=None)

    def why(self) -> str:
        """Why it waits, in words."""
        if self._string is not None and self._string.held_from() is not None:
            return "An escape sequence is sent whole, and the character after a quote says whether it ends the string."
        return "A word or a name is read whole." if self._word or self._key else self._builder.wanted()

    def describe(self) -> str:
        """Where the reader stands."""
        where = "in a string" if self._string is not None else "in a word" if self._word else "between tokens"
        return f"{where}, depth {len(self._stack)}"


# `pythonic`: a list of calls as Python writes them, turned into calls with JSON arguments while they arrive.
#
#     [get_weather(city="Bern", days=3), get_time()]
#
# Arguments are keywords with literals: strings, numbers, True, False, None (and JSON's words for them), lists, tuples,
# dicts. A bare name is passed on as a string with a diagnostic. With the option `brackets` off there is no list: calls
# stand one after the other, as Olmo 3 writes them.
#
# A call counts once its name, the parenthesis and the first keyword's equals sign (or the closing parenthesis) are
# read: until then anything else means prose (REJECT). From then on what no call can have is MALFORMED. The first call
# is opened by the format, on the list's bracket; without brackets, and for every further call, the codec speaks:
#
# ITEM      a call begins
# ITEM_END  its parenthesis is closed
# DONE      the list is over

NAME = re.compile(r"[\w.\-]+")
Phase = Literal["start", "first", "name", "call", "between", "next", "over"]


class Pythonic(ArgumentParser):
    """Reads a list of calls for a run of states."""

    spans_states: ClassVar[bool] = True
    triggers: ClassVar[tuple[str, ...]] = ("ITEM", "ITEM_END", "DONE", "REJECT", "MALFORMED")
    awaits: ClassVar[str] = "What follows shows where this literal ends."
    options: ClassVar[Mapping[str, Any]] = {"brackets": True}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._brackets: bool = {**self.options, **options}["brackets"]
        self._phase: Phase = "start"
        self._name: list[str] = []
        self._call: CallReader | None = None
        self._name_at = self._at = 0

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """See ArgumentParser.text."""
        if base + pos != self._at:
            self._gap()
        while pos < end and not self.queue:
            if self._call is not None:
                pos = self._arguments(self._call, buffer, pos, end, base, final)
                break
            pos = self._step(buffer, pos, end, base)
        self._at = base + pos
        return pos

    def _gap(self) -> None:
        """Between this text and the one before stands a token that is no text."""
        if self._call is not None:
            self._call.gap(self._at)
        elif self._phase == "name" and self._name:
            self._refuse(0)

    def _step(self, buffer: str, pos: int, end: int, base: int) -> int:
        if self._phase == "name":
            return self._in_name(buffer, pos, end, base)
        pos = self.out.skip_space(buffer, pos, end, base)
        if pos == end:
            return pos
        if self._phase == "first":
            return self._begin(pos, base) if NAME_START.match(buffer, pos) else self._refuse(pos)
        if self._phase == "start" and self._brackets:
            if buffer[pos] != "[":
                return self._refuse(pos)
            self._phase = "first"
            return self._mark(pos, base)
        return self._between(buffer, pos, base)

    def _mark(self, pos: int, base: int) -> int:
        self.out.marker(base + pos, base + pos + 1)
        return pos + 1

    def _refuse(self, pos: int, trigger: str = "REJECT") -> int:
        self.queue.append(trigger)
        return pos

    def _begin(self, pos: int, base: int) -> int:
        self._phase, self._name, self._name_at = "name", [], base + pos
        self.complete = False
        return pos

    def _between(self, buffer: str, pos: int, base: int) -> int:
        """Before a call that the codec opens itself: after a comma, or just after the one before."""
        char = buffer[pos]
        if NAME_START.match(buffer, pos):
            self.queue.append("ITEM")
            return self._begin(pos, base)
        if char == "," and self._phase == "between":
            self._phase = "next"
            return self._mark(pos, base)
        if char == "]" and self._brackets:
            self._phase = "over"
            self.queue.append("DONE")
            return self._mark(pos, base)
        return self._refuse(pos, "REJECT" if self._phase == "start" else "MALFORMED")

    def _in_name(self, buffer: str, pos: int, end: int, base: int) -> int:
        run = NAME.match(buffer, pos, end)
        if run is not None:
            self._name.append(run.group())
            return run.end()
        if buffer[pos] != "(":
            return self._refuse(pos)
        self._phase = "call"
        self._call = CallReader(self.out, ("".join(self._name), self._name_at), in_list=self._brackets)
        return self._mark(pos, base)

    def _arguments(self, call: CallReader, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        pos = call.text(buffer, pos, end, base, final=final)
        self.scope = call.scope
        if call.bad:
            self.queue.append("MALFORMED" if call.committed else "REJECT")
        elif call.done:
            self.complete, self._call, self._phase = True, None, "between"
            self.queue.append("ITEM_END")
        return pos

    def finish(self, at: int) -> None:
        """See ArgumentParser.finish."""
        call, self._call = self._call, None
        if call is not None:
            self.complete, self.scope = call.finish(at, over=self.over), OPEN

    def hold(self) -> Hold | None:
        """See ArgumentParser.hold."""
        start = None if self._call is None else self._call.held_from()
        if self._call is None or start is None or start >= self._at:
            return None
        return Hold(start, self._at, "codec", self._call.why())

    def describe(self) -> str:
        """See ArgumentParser.describe."""
        if self._call is not None:
            return f"arguments, {self._call.describe()}"
        if self._phase == "name":
            return "in a name"
        return "before the calls" if self._phase in ("start", "first") else "between calls"
