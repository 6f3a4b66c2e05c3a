"""What may be left out of an output, or be written shorter: candidates for the shrinker, the largest first.

Nothing here knows a format. Outputs are made of markers, brackets, quoted strings, numbers, tags, lines and words, and
leaving out a whole one of these (an item with its comma, a tag with its end, all between two markers) mostly gives an
output that is well formed again. What is not is refused by the shrinker, at the price of one replay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from parsers.edit import Edit

Edits = tuple[Edit, ...]

MARKER = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]{3,60}\]")
WORDS = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]{3,60}\]|\w+|\s+|[^\w\s]")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'", re.DOTALL)
NUMBER = re.compile(r"(?<!\w)-?\d[\d.eE+-]+")
NAME = re.compile(r"[^\W\d]\w+")
NEAR = 4  # markers further apart than this are not taken for a pair
MOST = 3_000  # candidates at once
BRACKET = re.compile(r"[][{}()]")
OPENING = re.compile(r"<([\w:.-]+)(?:[= ][^<>]*)?>")
CLOSING = re.compile(r"</([\w:.-]+)>")
NO_COMMA = re.compile(r'[)\]}][\w({\["]|"\s*"|"\s*:\s*"[^"\\]*"\s*:')
LONE_COMMA = re.compile(r"[({\[]\s*,|,\s*[)}\]]")
HALVES = (("{", "}"), ("[", "]"), ("(", ")"), ("begin|>", "end|>"), ("begin｜>", "end｜>"))
PAIRS = {"}": "{", "]": "[", ")": "("}


def structures(text: str) -> list[Edits]:
    """Whole items, tags, calls and paragraphs to leave out, values to write shorter, brackets and tags to take off."""
    single = {*_brackets(text), *_between_markers(text), *_paragraphs(text), *_values(text)}
    found = [*((edit,) for edit in single), *_wrappings(text)]
    return sorted([edits for edits in found if _gain(edits) > 0], key=_largest)[:MOST]


def lines(text: str) -> list[int]:
    """Where the lines of a text begin, and where the last one ends."""
    return _bounds([match.start() for match in re.finditer(r"(?<=\n)", text)], len(text))


def words(text: str) -> list[int]:
    """Where its markers, words, blanks and other characters begin, and where the last one ends."""
    return _bounds([match.start() for match in WORDS.finditer(text)], len(text))


def characters(text: str) -> list[int]:
    """The place of every character, and the end."""
    return list(range(len(text) + 1))


def _bounds(starts: Iterable[int], size: int) -> list[int]:
    return sorted({0, size, *starts})


def _gain(edits: Edits) -> int:
    return sum([end - start - len(new) for start, end, new in edits])


def _largest(edits: Edits) -> tuple[int, Edits]:
    return -_gain(edits), edits


def flaws(text: str) -> tuple[int, ...]:
    """How far a text is from well formed: brackets, quotes and tags without their other half, commas in odd places."""
    tags = Counter(OPENING.findall(text))
    tags.subtract(CLOSING.findall(text))
    halves = [text.count(opener) - text.count(closer) for opener, closer in HALVES]
    commas = len(NO_COMMA.findall(text)), len(LONE_COMMA.findall(text))
    return *map(abs, halves), sum(map(abs, tags.values())), text.count('"') % 2, *commas


def _wrappings(text: str) -> Iterator[Edits]:
    """Both halves of a pair of brackets or of neighbouring markers, without what stands between."""
    stack: list[int] = []
    for match in BRACKET.finditer(text):
        if match.group() in "{[(":
            stack.append(match.start())
        elif stack and text[stack[-1]] == PAIRS[match.group()]:
            start = stack.pop()
            yield (start, start + 1, ""), (match.start(), match.end(), "")
    spans = [match.span() for match in MARKER.finditer(text)]
    for index, span in enumerate(spans):
        for other in spans[index + 1 : index + 1 + NEAR]:
            yield (*span, ""), (*other, "")


def _brackets(text: str) -> Iterator[Edit]:
    """What stands in a pair of brackets, and each of its items with one comma."""
    strings = [match.span() for match in STRING.finditer(text)]
    for quoted in (False, True):
        yield from _in_brackets(text, [] if quoted else strings)


def _in_brackets(text: str, strings: list[tuple[int, int]]) -> Iterator[Edit]:
    """The same, with strings passed over, or not (a lone quote in prose would hide half of the output)."""
    stack: list[tuple[str, list[int]]] = []
    skipped = iter([*strings, (len(text), len(text))])
    start, end = next(skipped)
    for at, char in enumerate(text):
        while at >= end and end < len(text):
            start, end = next(skipped)
        if start <= at < end:
            continue
        if char in "{[(":
            stack.append((char, [at]))
        elif char == "," and stack:
            stack[-1][1].append(at)
        elif char in PAIRS and stack and stack[-1][0] == PAIRS[char]:
            yield from _items(text, [*stack.pop()[1], at])


def _items(text: str, marks: list[int]) -> Iterator[Edit]:
    """`marks`: the opening bracket, the commas, and the closing bracket."""
    first, last = marks[0], marks[-1]
    yield first, last + 1, ""
    yield first + 1, last, ""
    if len(marks) > 2:
        yield first + 1, marks[1] + 1 + (text[marks[1] + 1] == " "), ""
    yield from ((before, after, "") for before, after in pairwise(marks[1:]))


def _between_markers(text: str) -> Iterator[Edit]:
    spans = [match.span() for match in MARKER.finditer(text)]
    for index, (start, end) in enumerate(spans):
        for other_start, other_end in spans[index + 1 : index + 1 + NEAR]:
            yield start, other_end, ""
            yield start, other_start, ""
            yield end, other_end, ""
            yield end, other_start, ""
    yield from ((start, end, "") for start, end in spans)
    if spans:
        yield 0, spans[0][0], ""
        yield spans[-1][1], len(text), ""


def _paragraphs(text: str) -> Iterator[Edit]:
    bounds = _bounds([match.end() for match in re.finditer(r"\n\s*\n", text)], len(text))
    yield from ((start, end, "") for start, end in pairwise(bounds))


def _values(text: str) -> Iterator[Edit]:
    for match in STRING.finditer(text):
        start, end = match.start() + 1, match.end() - 1
        yield start, end, ""
        if end - start > 1 and text[start] != "\\":
            yield start, end, text[start]
    yield from ((*match.span(), "1") for match in NUMBER.finditer(text))
    yield from ((*match.span(), match.group()[0]) for match in NAME.finditer(text))
