"""What of an output is prose, and what its markup, where the grammar of a parser is not known.

A parser shows by its own message which tags it consumes: those that stand in the output and not in a text. Whatever
stands in tags, brackets or quotes, is given to a key, or is a word in capitals, may be the markup of a call, and
nothing is said of it; words in a row, and a word that ends a sentence, are prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator

TAG = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]{3,60}\]")
_ENCLOSED = re.compile(
    r"<[^<>]{0,400}>|\[[^\[\]]{0,400}\]|\{[^{}]{0,400}\}|\([^()]{0,400}\)|\"(?:[^\"\\]|\\.){0,400}\"|`[^`]{0,400}`"
    r"|\S{0,60}[=:|<>{}\[\]\"_/\\]\S{0,400}|(?<!\S)[A-Z][A-Z\d]{1,60}(?!\S)"
)
_PROSE = re.compile(r"(?<!\S)[^\W\d_]+(?:[ ,;]{1,3}[^\W\d_]+)+[.!?,]?(?!\S)|(?<!\S)[^\W\d_]+[.!?](?!\S)")
_WORD = re.compile(r"\w+")
_DEEP = 8  # so many brackets inside one another are looked through


def consumed_tags(text: str, sent: Iterable[str]) -> list[str]:
    """The tags of an output that its parser consumed at least once: they are fewer in what it sent."""
    written, said = (Counter(TAG.findall(one)) for one in (text, "\n".join(sent)))
    return [tag for tag in written if written[tag] > said[tag]]


def lost_prose(text: str, known: Container[str]) -> Iterator[str]:
    """Words of prose in the output that are not known, where as many of their stretch are not: it is gone."""
    for _ in range(_DEEP):
        bare = _ENCLOSED.sub(" \n ", text)
        if bare == text:
            break
        text = bare
    for match in _PROSE.finditer(text):
        words = _WORD.findall(match.group())
        lost = [word for word in words if word.casefold() not in known]
        if 2 * len(lost) >= len(words):
            yield from lost
