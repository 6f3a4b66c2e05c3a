"""Words, numbers and names of a case, each replaced by a neutral one of the same shape wherever it stands.

What is replaced is a run of letters and digits. Its replacement has as many characters, each of the same kind (upper
case, lower case, digit, letter of another script) and of as many bytes, so that places, cuts and tokens stay where they
are. The same run gives the same everywhere, in whatever case it is spelled and with whatever escapes; two runs never
give one, and none gives a word that was there before.

Where all of a word cannot go, a part of it may: its replacement may keep the first or the last characters, or have no
letters but those of hexadecimal digits, which is what patterns of schemas ask for most.

Left alone are the markers of formats, what notations and schemas spell themselves (`KEYWORDS`), escapes of what is no
letter, single letters and digits of ASCII. A text is looked at once, and a run is worked out once.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

# What JSON, Python and JSON Schema spell; the keys of calls; roles; what token ids and templates are told of.
KEYWORDS = frozenset({
    "true", "false", "null", "True", "False", "None", "TRUE", "FALSE", "NULL", "NaN", "nan", "Infinity", "undefined",
    "CDATA", "name", "arguments", "parameters", "parameter", "args", "function", "functions", "tool", "tools", "call",
    "calls", "type", "id", "index", "invoke", "recipient", "uses", "namespace", "properties", "string", "number",
    "integer", "boolean", "array", "object", "role", "content", "system", "user", "assistant", "developer", "think",
    "thinking", "reasoning", "analysis", "commentary", "final", "json", "python", "chatcmpl",
})  # fmt: skip
_SPECIAL = r"<[|｜][^<>\s]{1,60}[|｜]>"  # what looks like a special token, whatever the format says
_POWER = r"[eE][+-]?\d{1,3}(?![^\W_])"  # of ten: what a number ends with
_SKIPPED = rf"(?<=\d){_POWER}|&(?:amp|lt|gt|quot|apos|nbsp);"
_ESCAPED = r"\\+u[0-9a-fA-F]{4}|\\+x[0-9a-fA-F]{2}|&#\d{1,6};|&#[xX][0-9a-fA-F]{1,6};"  # a character in JSON, HTML ...
_ESCAPE = r"\\+[bfnrt]?"
_CONSONANTS, _VOWELS, _HEX = "lmnrvd", "aeiou", "abcdef"
_IDEOGRAPHS = "一二三上下中天地山水木石田目日月火土"
_HEXADECIMAL, _BLANK, _LAST = 16, ord(" "), 0x10FFFF  # the last character that there is
_TRIES = 400  # so many neutral words are tried before any letters will do
_BOUNDS = re.compile(rf"({_ESCAPED})")


@cache
def _marks() -> str:
    """The combining marks of the basic plane, as ranges of a class: a word goes on behind one."""
    ranges: list[tuple[int, int]] = []
    for code in range(0x10000):
        if not unicodedata.category(chr(code)).startswith("M"):
            continue
        beside = bool(ranges) and ranges[-1][1] == code - 1
        ranges[-1:] = [(ranges[-1][0], code)] if beside else [*ranges[-1:], (code, code)]
    return "".join([f"{chr(start)}-{chr(end)}" for start, end in ranges])


def pattern_of(markers: Iterable[str]) -> re.Pattern[str]:
    """A pattern whose group `word` is what may be replaced; all else that it finds stays."""
    known = sorted({marker for marker in markers if re.search(r"[\W_]", marker)}, key=len, reverse=True)
    stays = "|".join([*map(re.escape, known), _SPECIAL, _SKIPPED])
    letter = rf"[^\W_]|{_ESCAPED}"
    return re.compile(rf"{stays}|(?P<word>\d+(?={_POWER})|(?:{letter})(?:{letter}|[{_marks()}])*)|{_ESCAPE}")


def key_of(word: str) -> str:
    """What a run is known by: the same in upper and lower case."""
    return word.lower() if word.isascii() else word


def runs_of(raw: str) -> Iterator[tuple[str, bool]]:
    """The parts of what the pattern found, with whether it is a run: an escape may stand for a blank."""
    held: list[str] = []
    for part in _BOUNDS.split(raw):
        if _BOUNDS.fullmatch(part) and not unescaped(part).isalnum():
            yield "".join(held), True
            yield part, False
            held = []
        else:
            held.append(part)
    yield "".join(held), True


def unescaped(raw: str) -> str:
    """A run in its own characters."""
    return _BOUNDS.sub(lambda match: chr(_Escape.of(match[0]).code), raw) if "\\" in raw or "&" in raw else raw


class _Escape(NamedTuple):
    """An escaped character: what stands before and behind its digits, these, and their base."""

    before: str
    digits: str
    base: int
    behind: str

    @classmethod
    def of(cls, text: str) -> _Escape:
        """Read one that the pattern found."""
        behind = ";" if text.startswith("&") else ""
        size = {"u": 4, "x": 2}[text.lstrip("\\")[0]] if not behind else len(text) - 3 - (text[2] in "xX")
        end = len(text) - len(behind)
        return cls(text[: end - size], text[end - size : end], 10 if behind and text[2] not in "xX" else 16, behind)

    @property
    def code(self) -> int:
        """The character's number; that of a blank for one that there is not."""
        code = int(self.digits, self.base)
        return code if code <= _LAST else _BLANK

    def spelled(self, char: str) -> str:
        """Another character in its place, in as many digits: the nearest one of its kind that has so many."""
        near = [char, *("azAZ" if char.isalpha() else "19")]
        kinds = [one for one in near if len(self._digits(one)) <= len(self.digits)]
        digits = self._digits(kinds[0] if kinds else chr(self.code)).rjust(len(self.digits), "0")
        return f"{self.before}{digits}{self.behind}"

    def _digits(self, char: str) -> str:
        digits = str(ord(char)) if self.base != _HEXADECIMAL else f"{ord(char):x}"
        return digits.upper() if self.digits != self.digits.lower() else digits


def _respelled(raw: str, word: str) -> str:
    """`word` with the escapes that `raw` has at the same places."""
    made, at = [], 0
    for part in _BOUNDS.split(raw):
        is_escape = _BOUNDS.fullmatch(part) is not None
        made.append(_Escape.of(part).spelled(word[at]) if is_escape else word[at : at + len(part)])
        at += 1 if is_escape else len(part)
    return "".join(made)


def is_replaced(word: str, protected: frozenset[str]) -> bool:
    """Return whether a run says anything of its own."""
    return word not in protected and not (len(word) == 1 and word.isascii()) and {*word} != {"0"}


@dataclass(slots=True, frozen=True)
class Style:
    """How a run is replaced: the `number` of the try, `head` and `tail` characters that stay, and whether letters are
    those of hexadecimal digits."""

    number: int = 0
    head: int = 0
    tail: int = 0
    hexadecimal: bool = False


class NeutralWords:
    """Gives each run its replacement. `taken` are the keys of all runs that there were, which none may become."""

    def __init__(self, taken: Iterable[str], protected: frozenset[str] = KEYWORDS) -> None:
        self._taken = {*taken} | {key_of(word) for word in protected}
        self._made: dict[tuple[str, Style], str | None] = {}
        self._tried: Counter[tuple[str, Style]] = Counter()  # of each shape in each style
        self._plain: set[tuple[str, Style]] = set()  # those of which any letters have to do

    def of(self, key: str, style: Style) -> str | None:
        """The replacement of a run by its key, in lower case; another one in another `style`. None: none is left."""
        if (key, style) not in self._made:
            made = self._new(key, (_shape(key), style), style)
            self._made[key, style] = made
            self._taken |= set() if made is None else {made}
        return self._made[key, style]

    def _new(self, key: str, kind: tuple[str, Style], style: Style) -> str | None:
        """The next one of a shape: what was tried for another run of it is not tried again."""
        for number in range(2 * _TRIES):
            if number == _TRIES:
                self._plain.add(kind)
            self._tried[kind] += 1
            made = _made(key, f"{kind} {self._tried[kind]}", style, plain=kind in self._plain)
            if made not in self._taken:
                return made
        return None


def _made(key: str, seed: str, style: Style, *, plain: bool) -> str:
    """A run of the shape of `key`; with `plain` any letters, else such that it can be spoken."""
    digits = hashlib.shake_256(seed.encode()).digest(len(key) + 1)
    at, made, end = digits[0] % 2, [*key[: style.head]], len(key) - style.tail
    for char, number in zip(key[style.head : end], digits[1 + style.head :], strict=False):
        if char.isascii() and char.isalpha():
            letters = "abcdefghijklmnopqrstuvwxyz" if plain else (_CONSONANTS, _VOWELS)[at % 2]
            letters = _HEX if style.hexadecimal else letters
            made.append(letters[number % len(letters)])
            at += 1
        elif char.isascii():
            made.append("0" if char == "0" and not any(one != "0" for one in made) else str(number % 9 + 1))
        else:
            made.append(_neighbour(char, number))
    return "".join([*made, key[end:]])


def _shape(key: str) -> str:
    return "".join(["a" if char.isascii() and char.isalpha() else "1" if char.isascii() else "." for char in key])


def _neighbour(char: str, number: int) -> str:
    """Another letter of the same script, of as many bytes; the same one where there is none, and for marks."""
    others = _neighbours(char)
    return others[number % len(others)] if others else char


@lru_cache(maxsize=4096)
def _neighbours(char: str) -> str:
    if unicodedata.category(char).startswith("M"):
        return ""
    if 0x3400 <= ord(char) <= 0x9FFF:
        return _IDEOGRAPHS.replace(char, "")
    page = ord(char) & ~0x7F
    kind, size = unicodedata.category(char), len(char.encode("utf-8", "surrogatepass"))
    near = [one for one in map(chr, range(page, page + 0x80)) if unicodedata.category(one) == kind]
    return "".join([one for one in near if one != char and len(one.encode("utf-8", "surrogatepass")) == size])


def glued(words: Iterable[str], output: Collection[str]) -> dict[str, tuple[str, str]]:
    """The words of a case that are two words of its output put together, as an expected text does that leaves out a
    marker between them. A long word is cut only where both parts have the length of a word."""
    sizes = {len(one) for one in output}
    found = {}
    for word in words:
        cuts = [at for at in sorted(sizes) if len(word) - at in sizes] if word not in output else ()
        pair = next(((word[:at], word[at:]) for at in cuts if word[:at] in output and word[at:] in output), None)
        if pair is not None:
            found[word] = pair
    return found


class Replacing:
    """Replaces the runs whose keys are in `styles`, each in its style, and leaves all others; `glued` are two runs put
    together. `heard` has the keys of all that there were. Texts keep their length."""

    def __init__(
        self,
        pattern: re.Pattern[str],
        words: NeutralWords,
        styles: Mapping[str, Style],
        protected: frozenset[str] = KEYWORDS,
        glued: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self._pattern = pattern
        self._words = words
        self._styles = styles
        self._glued = glued
        self._protected = protected
        self.heard: dict[str, None] = {}
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """The text with its runs replaced."""
        return self._pattern.sub(self._new, text)

    def _new(self, match: re.Match[str]) -> str:
        raw = match["word"]
        if raw is None:
            return match[0]
        if raw not in self._known:
            self._known[raw] = "".join([self._run(part) if is_run else part for part, is_run in runs_of(raw)])
        return self._known[raw]

    def _run(self, raw: str) -> str:
        word = unescaped(raw)
        if not word or not is_replaced(word, self._protected):
            return raw
        key = key_of(word)
        self.heard[key] = None
        new = "".join(map(self._neutral, self._glued.get(key, (key,))))
        return raw if new == key else _respelled(raw, "".join(map(_cased, word, new)))

    def _neutral(self, key: str) -> str:
        """The replacement of a run; the run itself where it stays."""
        return (self._words.of(key, self._styles[key]) or key) if key in self._styles else key


def _cased(char: str, new: str) -> str:
    return new.upper() if char.isascii() and char.isupper() else new
