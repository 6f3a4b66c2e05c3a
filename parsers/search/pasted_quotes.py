"""The quoted parts of a text: what stands in it as code, or between marks, and is not its writer's own.

Code blocks between fences (CommonMark 0.31, section 4.5), blocks set in by four blanks, blocks behind `>`, code in
backticks, and quotation marks of a dozen languages. A string in straight quotes is read as JSON or Python spell it.
Parts do not overlap, the outer one counts, and what begins and never ends is no quote, but for a fence.

One pass, linear in the text: a mark whose end was looked for in vain is not looked for again in the same paragraph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})([^`\r\n]*)\r?$")
_SET_IN = re.compile(r"(?: {4}|\t)[ \t]*\S")
_CITED = re.compile(r" {0,3}>(?!>) ?")
# Marks by pairs; straight quotes and backticks are told apart from apostrophes by what stands around them.
_PAIRS = {
    "«": "»", "»": "«", "„": "“”", "“": "”", "\u2018": "\u2019", "\u201a": "\u2018\u2019", "\u2039": "\u203a",
    "「": "」", "『": "』", "《": "》", "〝": "〞〟",
}  # fmt: skip
_OPENS = re.compile(rf"(?<!\w)(?:[bBuUrR]?['\"])(?=\S)|(?<!`)`+(?!`)|[{''.join(_PAIRS)}]")
_STRAIGHT = {
    "'": re.compile(r"(?:[^'\\]|\\.|'(?=\w))*+'", re.DOTALL),
    '"': re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL),
}
_ESCAPE = re.compile(r"\\(?:x(?P<byte>[0-9a-fA-F]{2})|.)|\"", re.DOTALL)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


class Marked(Enum):
    """How a part is marked as quoted."""

    FENCE = auto()
    SET_IN = auto()
    CITED = auto()
    CODE = auto()
    MARKS = auto()

    @property
    def is_block(self) -> bool:
        """Return whether it is lines of their own, not a part of a sentence."""
        return self in (Marked.FENCE, Marked.SET_IN, Marked.CITED)


@dataclass(slots=True, frozen=True)
class Quote:
    """A quoted part [start, end), its marks included, and the text that it quotes, which stands at `inside`."""

    start: int
    end: int
    text: str
    marked: Marked
    inside: tuple[int, int]


def blocks_in(text: str) -> Iterator[Quote]:
    """Yield the quoted parts that are lines of their own, in order."""
    lines = _Lines(text)
    while (block := lines.block()) is not None:
        yield block


def quotes_in(text: str) -> Iterator[Quote]:
    """Yield the quoted parts of a text, in order."""
    plain = 0
    for block in blocks_in(text):
        yield from _marked_in(text, plain, block.start)
        yield block
        plain = block.end
    yield from _marked_in(text, plain, len(text))


def without_quotes(text: str) -> str:
    """Return what a text says itself: each quoted part is a blank."""
    parts, at = [], 0
    for quote in quotes_in(text):
        parts += [text[at : quote.start], "\n" if quote.marked.is_block else " "]
        at = quote.end
    return "".join([*parts, text[at:]])


class _Lines:
    """The lines of a text, and the next block among them that quotes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._blank = True  # a block that is set in follows a blank line, or begins the text
        self._said = False  # and quotes only where somebody says something beside it

    def block(self) -> Quote | None:
        """Return the next block; None after the last."""
        while self._at < len(self._text):
            start, line = self._at, self._line()
            fence = FENCE.match(line)
            if fence is not None:
                return self._fenced(start, fence)
            if _CITED.match(line):
                return self._run(start, Marked.CITED)
            if self._blank and self._said and _SET_IN.match(line):
                return self._run(start, Marked.SET_IN)
            self._blank = not line.strip()
            self._said = self._said or not (self._blank or line[:1].isspace())
        return None

    def _line(self) -> str:
        """The line at hand, without its end; the next one is at hand then."""
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        line, self._at = self._text[self._at : end], end + 1
        return line

    def _fenced(self, start: int, opened: re.Match[str]) -> Quote:
        lines: list[str] = []
        begin, stop = min(self._at, len(self._text)), len(self._text)
        while self._at < len(self._text):
            at, line = self._at, self._line()
            fence = FENCE.match(line)
            if fence is not None and fence[2].startswith(opened[2]) and not fence[3].strip():
                stop = at
                break
            lines.append(line.removeprefix(opened[1]))
        else:
            lines += [""] if self._text.endswith("\n", begin) else []
        self._blank, self._said = True, True
        return Quote(start, min(self._at, len(self._text)), "\n".join(lines), Marked.FENCE, (begin, stop))

    def _run(self, start: int, marked: Marked) -> Quote:
        """Return the lines of one kind that follow one another; blank ones between those set in belong to them."""
        self._at, lines, end = start, list[str](), start
        while self._at < len(self._text):
            at, line = self._at, self._line()
            cited = _CITED.match(line)
            if marked is Marked.CITED and cited:
                lines.append(line[cited.end() :])
            elif marked is Marked.SET_IN and (_SET_IN.match(line) or not line.strip()) and not FENCE.match(line):
                lines.append(line)
            else:
                self._at = at
                break
            end = min(self._at, len(self._text)) if line.strip() else end
        self._blank = True
        return Quote(start, end, _dedented(lines).rstrip(), marked, (start, end))


def _dedented(lines: list[str]) -> str:
    least = min([len(line) - len(line.lstrip()) for line in lines if line.strip()], default=0)
    return "\n".join([line[least:] for line in lines])


def _marked_in(text: str, start: int, end: int) -> Iterator[Quote]:
    """Yield what stands between marks in a stretch without blocks, paragraph by paragraph."""
    while start < end:
        gap = _PARAGRAPH.search(text, start, end)
        stop = end if gap is None else gap.end()
        yield from _marked_in_paragraph(text, start, stop, end)
        start = stop


def _marked_in_paragraph(text: str, start: int, stop: int, end: int) -> Iterator[Quote]:
    vain: set[str] = set()
    while (opened := _OPENS.search(text, start, stop)) is not None:
        mark = opened[0]
        start = opened.end()
        if mark in vain:
            continue
        close = _close(text, mark, start, stop)
        if close is None:
            vain.add(mark)
            continue
        inner, after = close
        marked = Marked.CODE if mark[0] == "`" else Marked.MARKS
        yield Quote(opened.start(), after, _spelled(mark, inner), marked, (start, start + len(inner)))
        start = after


def _close(text: str, mark: str, at: int, stop: int) -> tuple[str, int] | None:
    """The text between an opening mark and its end, and the offset after that; None where it has no end."""
    straight = _STRAIGHT.get(mark[-1])
    if straight is not None:
        found = straight.match(text, at, stop)
        return None if found is None else (found[0][:-1], found.end())
    closers = _PAIRS.get(mark, mark)
    places = [place for one in ([mark] if mark[0] == "`" else closers) if (place := text.find(one, at, stop)) >= 0]
    if not places or min(places) == at:
        return None
    size = len(mark) if mark[0] == "`" else 1
    return text[at : min(places)], min(places) + size


def _spelled(mark: str, inner: str) -> str:
    """Return what a string in straight quotes stands for, half a pair of UTF-16 as U+FFFD; other marks have no escapes.

    What is no string as JSON or Python writes it stands for itself.
    """
    if mark[-1] not in _STRAIGHT or "\\" not in inner:
        return inner
    try:
        read = str(json.loads(f'"{_ESCAPE.sub(_as_json, inner)}"', strict=False))
    except ValueError:
        return inner
    return read.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _as_json(found: re.Match[str]) -> str:
    """An escape of Python, or a double quote that stands bare, as JSON writes it."""
    if found["byte"]:
        return f"\\u00{found['byte']}"
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])
