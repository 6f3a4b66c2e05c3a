"""A pasted curl command: its address, its body, and whether a secret was in it. Nothing is ever run.

Options: curl's manual page (-d and its relatives, --json, -H, -u). Options that take a value are listed so that the
value is not taken for the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from parsers.intake.shell import Command, command_at
from parsers.intake.transcript import has_secret

# At the beginning of a line, or after a shell's prompt.
_START = re.compile(
    r"^(?:[^\n'\"{]{0,80}?[$%#>\u276f][ \t]+|[ \t]*)(?:time[ \t]+)?curl(?:\.exe)?(?=[ \t\\^])",
    re.MULTILINE,
)
_MOST = 20  # commands in one paste; more are text
_DATA = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"})
_SECRETS = frozenset({"-u", "--user", "--oauth2-bearer", "--proxy-user", "-U"})
_SHORT = "dHXuUomAbceExFwTKrYyzCDt"
_LONG = frozenset({
    "--header", "--request", "--output", "--max-time", "--user-agent", "--cookie", "--cookie-jar", "--referer",
    "--proxy", "--form", "--write-out", "--cacert", "--cert", "--key", "--connect-timeout", "--retry", "--resolve",
    "--connect-to", "--unix-socket", "--config", "--range", "--limit-rate", "--interface", "--dump-header",
})  # fmt: skip


@dataclass(slots=True)
class Curl:
    """One command in the text [start, end). `files` are the bodies that lie in files."""

    start: int
    end: int
    url: str = ""
    data: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    secret: bool = False
    unclosed: bool = False


def curls(text: str) -> Iterator[Curl]:
    """The curl commands of a text, each at the beginning of a line."""
    at = 0
    for _ in range(_MOST):
        found = _START.search(text, at) if "curl" in text else None
        if found is None:
            return
        command = command_at(text, found.end())
        yield _curl(found.start(), command, text)
        at = max(command.end, found.end())


def _curl(start: int, command: Command, text: str) -> Curl:
    made = Curl(start, command.end, unclosed=command.unclosed, secret=has_secret(text[start : command.end]))
    words = iter(command.words)
    for word in words:
        name, value = _option(word)
        if name and value is None and _takes_value(name):
            value = next(words, None)
        if not name:
            made.url = made.url or word
        elif name == "--url":
            made.url = value or ""
        elif value is not None and name in _DATA:
            _add_data(made, value, command.here)
        made.secret = made.secret or name in _SECRETS
    return made


def _option(word: str) -> tuple[str, str | None]:
    """An option's name and its value where they are one word; ("", None) for a word that is no option."""
    if not word.startswith("-") or word == "-":
        return "", None
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    at = next((at for at, letter in enumerate(word) if at and letter in _SHORT), None)
    if at is None:
        return word[:2], None
    return f"-{word[at]}", word[at + 1 :] or None


def _takes_value(name: str) -> bool:
    if len(name) == 2:
        return name[1] in _SHORT
    return name in _LONG or name in _DATA or name in _SECRETS or name == "--url"


def _add_data(made: Curl, value: str, here: str | None) -> None:
    if value == "@-" and here is not None:
        made.data = (*made.data, here)
    elif value.startswith("@"):
        made.files = (*made.files, value[1:])
    else:
        made.data = (*made.data, value)
