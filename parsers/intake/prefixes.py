"""The prefix that docker compose, kubectl or the journal puts before every line of a server's log."""

from __future__ import annotations

import re

_PREFIX = re.compile(
    r"(?:\[?(?:pod/)?[\w./-]{1,80}\]? *\| ?|\[pod/[\w./-]{1,80}\] "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w.@/-]{1,80}(?:\[\d+\])?: ?)"
)


def without_prefixes(body: str) -> str:
    """The body without the prefix, if every line that holds anything begins with one."""
    first = _PREFIX.match(body)
    if first is None:
        return body
    lines = body.split("\n")
    found = [_PREFIX.match(line) for line in lines]
    if any(mark is None and line.strip() for mark, line in zip(found, lines, strict=True)):
        return body
    return "\n".join([line[mark.end() :] if mark else line for mark, line in zip(found, lines, strict=True)])
