"""HTTP lines around a body: what `curl -i` and `curl -v` print into the same file as the answer.

They are blanked, not removed, so that line numbers in messages stay those of what was given. This view serves
recognition only: raw text is always taken from the untouched input.
"""

from __future__ import annotations

import re

# curl's verbose mode marks its own lines: * information, > sent, < received, and byte counts in braces.
_CURL_STATUS = re.compile(r"^< HTTP/", re.MULTILINE)
_CURL_LINE = re.compile(r"^(?:[*<>] .*|[*<>]\r?|[{}] \[\d+ bytes data\]\r?)$", re.MULTILINE)


def without_http(text: str) -> tuple[str, int]:
    """The text with its HTTP lines blanked, and how many there were."""
    if text.startswith("HTTP/"):
        return _without_head(text)
    if _CURL_STATUS.search(text):
        return _CURL_LINE.subn("", text)
    return text, 0


def _without_head(text: str) -> tuple[str, int]:
    """A `curl -i` answer ends its head with the first empty line."""
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    return "\n" * end + "\n".join(lines[end:]), end
