"""A shell command's words, read and never run: quotes, line continuations, here-documents.

Quoting after POSIX sh 2.2 (`'...'`, `"..."`, backslash), Bash's `$'...'`, `<<WORD` and `<<<`. Linear: every step takes
at least one character, and an unclosed quote ends the command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from parsers.intake.unquote import unescaped

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


@dataclass(slots=True)
class Command:
    """The words of one command, the text of its here-document, and the offset after it."""

    words: list[str] = field(default_factory=list)
    here: str | None = None
    end: int = 0
    unclosed: bool = False


@dataclass(slots=True)
class _Scan:
    made: Command
    parts: list[str] = field(default_factory=list)
    mark: str = ""

    def close(self) -> None:
        if self.parts:
            self.made.words.append("".join(self.parts))
        self.parts = []


def command_at(text: str, at: int) -> Command:
    """The command that starts at `at`. Redirections are skipped, a pipe or a list ends it with its line."""
    scan = _Scan(Command(end=len(text)))
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or found["open"] or ("\n" in found[0] and _ANSWER.search(found[0])):
            scan.made.unclosed = True
            given_up = _GIVEN_UP.search(text, at)
            at = given_up.end() if given_up else len(text)
            break
        at = found.end()
        if found["end"] or found["into"]:
            at = _line_end(text, found.start())
            break
        _step(scan, found)
    scan.close()
    scan.made.end = _past_here(text, at, scan) if scan.mark else at
    return scan.made


def _step(scan: _Scan, found: re.Match[str]) -> None:
    if found["space"]:
        scan.close()
    elif found["here"]:
        scan.mark = found["mark"]
    elif found["string"]:
        scan.close()
        scan.made.words.append("<<<")
    elif found["ansi"] is not None:
        scan.parts.append(unescaped(found["ansi"]))
    elif found["double"] is not None:
        scan.parts.append(_DOUBLE.sub(lambda one: "" if one[1] == "\n" else one[1], found["double"]))
    else:
        scan.parts.append(
            next(part for part in (found["single"], found["escaped"], found["plain"]) if part is not None)
        )


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _past_here(text: str, at: int, scan: _Scan) -> int:
    """Read the here-document that starts on the next line; the offset after it."""
    if text[at - 1 : at] != "\n":
        at = _line_end(text, at)
    end = re.compile(rf"^[ \t]*{re.escape(scan.mark)}[ \t]*\r?$", re.MULTILINE).search(text, at)
    scan.made.here = text[at : end.start() if end else len(text)]
    scan.made.unclosed = scan.made.unclosed or end is None
    return _line_end(text, end.end()) if end else len(text)
