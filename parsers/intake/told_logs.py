"""Where the lines of a log end that somebody pasted between words of their own: in the text of a bug report.

A log that is all of a text goes on up to its next record, whatever the output is like. Between people's words it ends
with its code block, or with the paragraph in which its last marker stands, and before the next heading or fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.intake.evidence import is_fence_of_call
from parsers.intake.surroundings import LOG_LINE, code_blocks, is_fence
from parsers.search.markup import last_marker_in
from parsers.search.pasted_lines import is_sentence
from parsers.search.pasted_reports import is_part_label

_DETAILS = re.compile(r"</?(?:details|summary)\b", re.IGNORECASE)
_LOOKED = 200  # lines before a log in which somebody says something


def stretches(body: str, mark: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """Yield the code blocks with a mark in them and what stands between these, and whether people say something in it;
    all of the body is one stretch where no mark stands in a block."""
    at, blocks = 0, [block for block in code_blocks(body) if mark.search(block.text)]
    for block in blocks:
        yield body[at : block.start], True
        yield block.text, False
        at = block.end
    yield body[at:], bool(blocks) or _is_told(body, mark)


def _is_told(body: str, mark: re.Pattern[str]) -> bool:
    """Return whether somebody says something before the first mark, or names the parts of a report."""
    first = mark.search(body)
    if first is None:
        return False
    before = body[: body.rfind("\n", 0, first.start()) + 1].splitlines()[:_LOOKED]
    lines = [line for line in before if line.strip()]
    said = bool(lines) and LOG_LINE.match(lines[0]) is None and any(map(is_sentence, lines))
    return said or any(map(is_part_label, body[first.end() :].splitlines()))


def told_end(body: str, start: int, end: int) -> int:
    """Return where a quote [start, end) of a log ends that stands between people's words."""
    at = body.find("\n", start, end)
    while at >= 0 and not _is_said(body, at + 1):
        at = body.find("\n", at + 1, end)
    end = end if at < 0 else at
    last = last_marker_in(body, start, end)
    gap = body.find("\n\n", last, end) if last >= 0 else -1
    return len(body[:end].rstrip()) if gap < 0 else gap


def _is_said(body: str, at: int) -> bool:
    """Return whether a line is a heading of a report, or begins or ends what it quotes or folds."""
    stop = body.find("\n", at)
    line = body[at : len(body) if stop < 0 else stop]
    fenced = is_fence(line) and not is_fence_of_call(body, at + len(line) + 1)
    return fenced or is_part_label(line) or _DETAILS.match(line) is not None
