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
    """A word; one with characters that a terminal hides or obeys in the quotes `$'...'`, where they are numbers. No
    word of a command can hold a NUL, which would end it there: see `printed`."""
    if _PLAIN.sub("", word).isprintable():
        return shlex.quote(word)
    spelled = [f"\\{char}" if char in "\\'" else _spelled(char) for char in word]
    return f"$'{''.join(spelled)}'"


def printed(text: str) -> str:
    """The command that writes a text to its output. `%b` reads numbers itself, that of a NUL too: `\\0` and digits."""
    if "\0" not in text:
        return f"printf %s {word_in_shell(text)}"
    spelled = [_numbers(char, "\\0") if char in "\\'" else _spelled(char, "\\0") for char in text]
    return f"printf %b '{''.join(spelled)}'"


def _spelled(char: str, sign: str = "\\") -> str:
    return char if char.isprintable() or _PLAIN.match(char) else _numbers(char, sign)


def _numbers(char: str, sign: str) -> str:
    """Each byte of a character in three octal digits behind `sign`."""
    errors = "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass"  # of a byte in a name of a file
    return "".join([f"{sign}{byte:03o}" for byte in char.encode("utf-8", errors)])
