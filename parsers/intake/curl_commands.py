"""A pasted curl command: its address, its body, and whether a secret was in it. Read, and never run.

The words of a shell command: quoting after POSIX sh 2.2 (`'...'`, `"..."`, backslash), Bash's `$'...'`, `<<WORD` and
`<<<`. Linear: every step takes at least one character, and an unclosed quote ends the command. curl's options: its
manual page (-d and its relatives, --json, -H, -u); options that take a value are listed so that the value is not taken
for the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from parsers.intake.plain_text import without_shell_escapes
from parsers.intake.surroundings import has_secret

_STEP = re.compile(
    r"(?P<space>[ \t]+|[\\^`]\r?\n)"
    r"|(?P<here><<-?[ \t]*(?P<quote>['\"]?)(?P<mark>\w+)(?P=quote))"
    r"|(?P<string><<<)"
    r"|(?P<end>\r?\n|[;|&])"
    r"|(?P<into>\d?>>?&?)"
    r"|\$'(?P<ansi>(?:[^'\\]|\\.)*)'"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"'
    r"|\\(?P<escaped>.)"
    r"|(?P<open>\$?['\"])"
    r"|(?P<plain>[^ \t\r\n;|&<>'\"\\$]+|.)",
    re.DOTALL,
)
_DOUBLE = re.compile(r'\\([\\"$`\n])')
# No quoted text of a command holds the beginning of an answer: the quote before it was never closed.
_ANSWER = re.compile(r"\n[ \t]*(?:data:|event:|HTTP/|[*<>] )")
# Where a command that lacks a quote ends at the latest: before an empty line, or what an answer begins with.
_GIVEN_UP = re.compile(r"\n(?=[ \t]*\r?\n|[ \t]*(?:data:|event:|HTTP/|[*<>] |\{|\[))")

# At the beginning of a line, or after a shell's prompt.
_START = re.compile(
    r"^(?:[^\n'\"{]{0,80}?[$%#>\u276f][ \t]+|[ \t]*)(?:time[ \t]+)?curl(?:\.exe)?(?=[ \t\\^])",
    re.MULTILINE,
)
_MOST = 20  # commands in one paste; more are text
_DATA = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"})
_SECRETS = frozenset({"-u", "--user", "--oauth2-bearer", "--proxy-user", "-U"})
_SHORT = "dHXuUomAbceExFwTKrYyzCDt"
_VALUED = frozenset({
    "--header", "--request", "--output", "--max-time", "--user-agent", "--cookie", "--cookie-jar", "--referer",
    "--proxy", "--form", "--write-out", "--cacert", "--cert", "--key", "--connect-timeout", "--retry", "--resolve",
    "--connect-to", "--unix-socket", "--config", "--range", "--limit-rate", "--interface", "--dump-header", "--url",
}) | _DATA | _SECRETS  # fmt: skip


@dataclass(slots=True)
class Command:
    """The words of one command, the text of its here-document, and the offset after it."""

    words: list[str] = field(default_factory=list)
    here: str | None = None
    end: int = 0
    unclosed: bool = False


@dataclass(slots=True)
class _Scan(Command):
    """A command that is being read: the parts of its word, and the word that ends its here-document."""

    parts: list[str] = field(default_factory=list)
    mark: str = ""

    def end_word(self) -> None:
        """Join the parts of the word that was read, if there are any."""
        if self.parts:
            self.words.append("".join(self.parts))
        self.parts = []


def command_at(text: str, at: int) -> Command:
    """Read the command that starts at `at`. Redirections are skipped, a pipe or a list ends it with its line."""
    scan = _Scan()
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or found["open"] or ("\n" in found[0] and _ANSWER.search(found[0])):
            scan.unclosed = True
            given_up = _GIVEN_UP.search(text, at)
            at = given_up.end() if given_up else len(text)
            break
        at = found.end()
        if found["end"] or found["into"]:
            at = _line_end(text, found.start())
            break
        _take_step(scan, found)
    scan.end_word()
    scan.end = _past_here(text, at, scan) if scan.mark else at
    return scan


def _take_step(scan: _Scan, found: re.Match[str]) -> None:
    if found["space"]:
        scan.end_word()
    elif found["here"]:
        scan.mark = found["mark"]
    elif found["string"]:
        scan.end_word()
        scan.words.append("<<<")
    elif found["ansi"] is not None:
        scan.parts.append(without_shell_escapes(found["ansi"]))
    elif found["double"] is not None:
        scan.parts.append(_DOUBLE.sub(lambda one: "" if one[1] == "\n" else one[1], found["double"]))
    else:
        plain = (found[name] for name in ("single", "escaped", "plain"))
        scan.parts.append(next(part for part in plain if part is not None))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _past_here(text: str, at: int, scan: _Scan) -> int:
    """Read the here-document that starts on the next line, and return the offset after it."""
    if text[at - 1 : at] != "\n":
        at = _line_end(text, at)
    end = re.compile(rf"^[ \t]*{re.escape(scan.mark)}[ \t]*\r?$", re.MULTILINE).search(text, at)
    scan.here = text[at : end.start() if end else len(text)]
    scan.unclosed = scan.unclosed or end is None
    return _line_end(text, end.end()) if end else len(text)


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


def curl_commands(text: str) -> Iterator[Curl]:
    """Yield the curl commands of a text, each at the beginning of a line."""
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
        if value is None and (name[1] in _SHORT if len(name) == 2 else name in _VALUED):
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
    """Return an option's name and its value where they are one word; ("", None) for no option."""
    if not word.startswith("-") or word == "-":
        return "", None
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    at = next((at for at, letter in enumerate(word) if at and letter in _SHORT), None)
    if at is None:
        return word[:2], None
    return f"-{word[at]}", word[at + 1 :] or None


def _add_data(made: Curl, value: str, here: str | None) -> None:
    if value == "@-" and here is not None:
        made.data = (*made.data, here)
    elif value.startswith("@"):
        made.files = (*made.files, value[1:])
    else:
        made.data = (*made.data, value)
