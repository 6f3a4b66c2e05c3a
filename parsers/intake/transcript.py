"""What stands around a body in a paste: HTTP heads, what `curl -v` prints, curl's progress meter, shell prompts.

It is blanked, not removed, so that line numbers in messages stay those of what was given. This view serves
recognition only: raw text is always taken from the untouched input. Secrets in such lines never leave this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# curl's verbose mode marks its own lines: * information, > sent, < received, and byte counts in braces.
_CURL_STATUS = re.compile(r"^[ \t]*[<>*] (?:HTTP/|[A-Z]+ \S+ HTTP/|Connected to |Trying |Host )", re.MULTILINE)
_CURL_LINE = re.compile(r"^[ \t]*(?:[*<>] (?!data:).*|[*<>]\r?|[{}] \[\d+ bytes data\]\r?)$", re.MULTILINE)
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
_FENCED = re.compile(r"(\s*)(```|~~~)[a-z]*[ \t]*(?=\n)")
_SECRET = re.compile(
    r"\b(?:proxy-)?authorization['\"]? ?[:=]|\b(?:x-)?api[-_]key['\"]? ?[:=]|\bbearer +[\w.~+/=-]{8}|\bsk-[\w-]{16}",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Transcript:
    """The body, how many lines around it were blanked, and whether one of them held a secret."""

    body: str
    skipped: int = 0
    curl_error: str = ""
    secret: bool = False


def without_http(text: str) -> Transcript:
    """The text with the lines around the body blanked."""
    made = Transcript(_unfenced(text))
    if "HTTP/" in text:
        _blank(made, _HEAD)
        if _CURL_STATUS.search(made.body):
            _blank(made, _CURL_LINE)
    if "% Total" in text:
        _blank(made, _METER_HEAD)
        _blank(made, _METER_ROW)
    if found := _CURL_ERROR.search(made.body):
        made.curl_error = found[0].strip()
        _blank(made, _CURL_ERROR)
    return made


def _unfenced(text: str) -> str:
    """The text without the code fence that it stands in."""
    found = _FENCED.match(text)
    inner = text.rstrip()
    if found is None or len(inner) < found.end() + 3 or not inner.endswith(found[2]):
        return text
    return found[1] + text[found.end() : len(inner) - 3] + text[len(inner) :]


def has_secret(text: str) -> bool:
    """Whether the text holds an Authorization header or an API key."""
    return _SECRET.search(text) is not None


def redacted(text: str) -> str:
    """The text with the values of such headers taken out."""
    return _VALUE.sub(r"\1[removed]", text)


def _blank(made: Transcript, pattern: re.Pattern[str]) -> None:
    """Replace each match by its line ends."""

    def gap(found: re.Match[str]) -> str:
        made.skipped += max(1, found[0].count("\n"))
        made.secret = made.secret or has_secret(found[0])
        return "\n" * found[0].count("\n")

    made.body = pattern.sub(gap, made.body)
