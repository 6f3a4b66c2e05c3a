"""Words of a command as a shell reads them, in which nothing acts on a terminal and nothing is hidden from a reader."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

_PLAIN = re.compile(r"[\n\t]")


def in_shell(words: Iterable[str]) -> str:
    """A command."""
    return " ".join(map(word_in_shell, words))


def word_in_shell(word: str) -> str:
    """A word; one with characters that a terminal hides or obeys in the quotes `$'...'`, where they are numbers."""
    if _PLAIN.sub("", word).isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_spelled, word))}'"


def _spelled(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char.isprintable() or _PLAIN.match(char):
        return char
    errors = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"  # of a byte in a name of a file
    return "".join([f"\\{byte:03o}" for byte in char.encode("utf-8", errors)])
