"""What stands around a recording in a paste: HTTP, curl's noise, prefixes of log lines, the prose of a report.

HTTP heads, what `curl -v` prints and curl's progress meter are blanked, so that line numbers in messages stay those of
what was given. This view serves recognition only: raw text is always taken from the untouched input. The parts of a
longer text that may be data are fenced code blocks (CommonMark 0.31, section 4.5), lines of an event stream, and JSON
with its own lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from parsers.intake.written_values import value_at
from parsers.search.pasted_quotes import FENCE, Marked, blocks_in
from parsers.wire.chat_parts import chat_part_of

# curl's verbose mode marks its own lines: * information, > sent, < received, and byte counts in braces.
# With --trace-time each begins with a time of day; the byte counts then say when what follows came, and stay.
_AT = r"(?:\d\d:\d\d:\d\d\.\d{6} )?"
_CURL_STATUS = re.compile(rf"^[ \t]*{_AT}[<>*] (?:HTTP/|[A-Z]+ \S+ HTTP/|Connected to |Trying |Host )", re.MULTILINE)
_CURL_LINE = re.compile(
    rf"^[ \t]*(?:{_AT}[*<>] (?!data:).*|{_AT}[*<>] ?\r?|[{{}}] \[\d+ bytes data\]\r?|{_AT}}} \[\d+ bytes data\]\r?)$",
    re.MULTILINE,
)
# The progress meter: two head lines, then rows that are rewritten with carriage returns.
_METER_HEAD = re.compile(r"^ {0,4}% Total {1,4}% Received.*$|^ +Dload +Upload .*$", re.MULTILINE)
_METER_ROW = re.compile(r"(?:^|\r) {0,4}\d{1,3} +[\d.]+[kMG]? +\d{1,3} +[\d.]+[kMG]? [ \d.kMG:-]{20,80}", re.MULTILINE)
_CURL_ERROR = re.compile(r"^curl: \(\d+\) .*$", re.MULTILINE)
_HEAD = re.compile(
    r"^(?:HTTP/[\d.]+ \d{3}|(?:GET|POST|PUT) \S+ HTTP/)[^\n]*\n"
    r"(?:(?!data:|event:|id:|retry:)[A-Za-z][A-Za-z0-9-]*:[^\n]*\n)*",
    re.MULTILINE,
)
_VALUE = re.compile(r"(\b(?:authorization|api[-_]key)['\"]? ?[:=] ?(?:(?:bearer|basic) +)?)[^\s'\"]+", re.IGNORECASE)
_FENCE_LINE = re.compile(r"^[ \t]*(```|~~~)([^\n]*)\n", re.MULTILINE)
_FENCED = re.compile(r"(\s*)(```|~~~)[a-z]*[ \t]*(?=\n)")
_SECRET = re.compile(
    r"\b(?:proxy-)?authorization['\"]? ?[:=]|\b(?:x-)?api[-_]key['\"]? ?[:=]|\bbearer +[\w.~+/=-]{8}|\bsk-[\w-]{16}",
    re.IGNORECASE,
)
# What docker compose, kubectl or the journal puts before every line.
_PREFIX = re.compile(
    r"(?:\[?(?:pod/)?[\w./-]{1,80}\]? *\| ?|\[pod/[\w./-]{1,80}\] "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w.@/-]{1,80}(?:\[\d+\])?: ?)"
)
# The beginning of a log's own line: a level, a date, a process, a bracketed time, or a colour before one of them.
LOG_LINE = re.compile(
    r"(?:\x1b\[[\d;]*m)*(?:\([A-Z][\w.]* pid=\d+\) ?)?(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|"
    r"(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|\[(?:TRACE|DEBUG|INFO|WARN|ERROR|LM STUDIO)|"
    r"(?:srv|slot|que|res|main) +\w|time=\d{4}-)"
)
COLOUR = re.compile(r"\x1b\[[\d;]*m")

MOST = 64  # each may be read in every way there is
TRIES = 16  # values that begin and do not end are given up after so many: each may cost the whole text
# A program may print a label before a value: `response: {`.
_BEGINS = re.compile(r"^(?:(?!data:)[A-Za-z][\w .()-]{0,40}(?::| ?=)[ \t]{0,8})?(?=[{\[])", re.MULTILINE)
_ENDS = re.compile(r"[ \t\r]*(?:\n|\Z)")
_EVENT = re.compile(r"^data:", re.MULTILINE)


@dataclass(slots=True)
class Transcript:
    """The body, how many lines around it were blanked, and whether one of them held a secret."""

    body: str
    skipped: int = 0
    curl_error: str = ""
    secret: bool = False


def without_http(text: str) -> Transcript:
    """Take off the code fence around the text, and blank the lines around the body."""
    found, inner = _FENCED.match(text), text.rstrip()
    if found and len(inner) >= found.end() + 3 and inner.endswith(found[2]) and not _ends_here(found, inner):
        text = found[1] + text[found.end() : len(inner) - 3] + text[len(inner) :]
    made = Transcript(text)
    if "HTTP/" in text:
        _blank(made, _HEAD)
        if _CURL_STATUS.search(made.body):
            _blank(made, _CURL_LINE)
    if "% Total" in text:
        _blank(made, _METER_HEAD)
        _blank(made, _METER_ROW)
    if "=> Send header" in text:
        made.secret = made.secret or has_secret(text)
    if found := _CURL_ERROR.search(made.body):
        made.curl_error = found[0].strip()
        _blank(made, _CURL_ERROR)
    return made


def _ends_here(opened: re.Match[str], text: str) -> bool:
    """Return whether a fence ends before the last one of a text, which is another block's then: the next fence inside
    has no name of a language, as those have that open."""
    inside = _FENCE_LINE.search(text, opened.end(), len(text) - len(opened[2]))
    return inside is not None and inside[1] == opened[2] and not inside[2].strip()


def has_secret(text: str) -> bool:
    """Return True where the text holds an Authorization header or an API key."""
    return _SECRET.search(text) is not None


def without_secrets(text: str) -> str:
    """Take the values of such headers out of the text."""
    return _VALUE.sub(r"\1[removed]", text)


def _blank(made: Transcript, pattern: re.Pattern[str]) -> None:

    def gap(found: re.Match[str]) -> str:
        made.skipped += max(1, found[0].count("\n"))
        made.secret = made.secret or has_secret(found[0])
        return "\n" * found[0].count("\n")

    made.body = pattern.sub(gap, made.body)


def without_prefixes(body: str) -> str:
    """Take the prefix off every line, if every line that holds anything begins with one."""
    first = _PREFIX.match(body)
    if first is None:
        return body
    lines = body.split("\n")
    found = [_PREFIX.match(line) for line in lines]
    if any(mark is None and line.strip() for mark, line in zip(found, lines, strict=True)):
        return body
    return "\n".join([line[mark.end() :] if mark else line for mark, line in zip(found, lines, strict=True)])


@dataclass(slots=True, frozen=True)
class Block:
    """One part: where it stands, and its text without the indentation."""

    start: int
    end: int
    text: str


def blocks_by_kind(text: str) -> Iterator[list[Block]]:
    """Yield what may be data, by kind: code blocks, an event stream, JSON; only the first ones of many."""
    for kind in (code_blocks, _event_lines, _json_values):
        yield list(islice(kind(text), MOST))


def is_fence(line: str) -> bool:
    """Return True for a line on which a code block begins or ends."""
    return FENCE.match(line) is not None


def code_blocks(text: str) -> Iterator[Block]:
    """Yield the text between fences; the last one may lack its end."""
    for block in blocks_in(text) if "```" in text or "~~~" in text else ():
        if block.marked is Marked.FENCE:
            yield Block(*block.inside, block.text)


def _event_lines(text: str) -> Iterator[Block]:
    """Yield all from the first line with an event's data to the last, where there are two."""
    first, last = _EVENT.search(text), text.rfind("\ndata:") + 1
    if first is not None and first.start() < last:
        end = text.find("\n", last)
        end = len(text) if end < 0 else end
        yield Block(first.start(), end, text[first.start() : end])


def _is_part(value: object) -> bool:
    """Return whether a value is a part of an answer: those that people label one by one are no whole one."""
    return not isinstance(value, dict) or chat_part_of(value) is not None


def _json_values(text: str) -> Iterator[Block]:
    """Yield objects and arrays with lines of their own; those that follow one another are one part."""
    start = end = failed = 0
    for begin in _BEGINS.finditer(text):
        at = begin.end()
        if at < end or failed == TRIES:
            continue
        found = value_at(text, at)
        if found is None or not _ENDS.match(text, found[1]) or (begin[0] and _is_part(found[0])):
            failed += 1
            continue
        if begin[0] or text[end : begin.start()].strip():
            if end:
                yield Block(start, end, text[start:end])
            start = at
        end = found[1]
    if end:
        yield Block(start, end, text[start:end])
