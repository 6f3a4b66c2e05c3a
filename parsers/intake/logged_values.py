"""Objects that lines of a log hold, at their end or over the lines that follow: LM Studio's `Generated packet:`, those
of proxies, debug logs of Ollama, TGI or of a program's own.

    [2025-11-28 10:00:00][INFO][LM STUDIO SERVER] [qwen] Generated packet: {
      "object": "chat.completion.chunk", ...
    }
    2025-11-28 10:00:00 [DEBUG]
     [qwen] Generated packet: {

Each is read as JSON or as a program prints it. What the table of API families knows is kept, in order; a request among
them is the request. (LM Studio 0.3.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from parsers.intake.answers import log_intake
from parsers.intake.api_families import family_of
from parsers.intake.api_logs import response_log
from parsers.intake.evidence import Intake, Payload, number
from parsers.intake.moments import moment_in
from parsers.intake.printed_values import plain_value
from parsers.intake.requests import is_request, request_of
from parsers.intake.surroundings import LOG_LINE
from parsers.intake.written_values import literal_at, value_at

_LINE = re.compile(
    rf"^(?=[ \t]*(?:{LOG_LINE.pattern}))[^\n]*?(?:\n[ \t]+[^\n]{{0,300}}?)?"
    r"[\s:=](?=\{\s*[\"'}a-z]|\[\s*[{\"']|[A-Z]\w*\([a-z_]+=)",
    re.MULTILINE,
)
_LM_STUDIO = re.compile(r"LM STUDIO|\] Generated (?:packet|prediction): ")
_STAMPED = re.compile(rf"[ \t]*(?:{LOG_LINE.pattern})")
_TRIES = 16  # objects that begin and cannot be read


def read_logged_values(body: str) -> Intake | None:
    """Read the answers, or the chunks, that lines of a log hold."""
    lines = [line.rstrip() for line in body.split("\n") if line.strip()]
    if any(line.endswith(("{", "[", ",")) for line in lines) and all(map(_STAMPED.match, lines)):
        return None  # a prefix stands inside the objects: they are whole without it
    read = list(_values(body))
    asked = next((value for _, value in read if is_request(value)), None)
    known = [(moment, value) for moment, value in read if _is_answer(value)]
    if not known:
        return None
    log = response_log([value for _, value in known] if len(known) > 1 else known[0][1])
    for frame, (stamp, _) in zip(log.frames if log is not None else (), known, strict=False):
        frame.moment = moment_in(stamp)
    found = log_intake(log)
    return None if found is None or not found.usable else _of_lines(found, body, len(known), asked)


def _of_lines(found: Intake, body: str, lines: int, asked: Payload | None) -> Intake:
    """The same, said of a log, with the request in it."""
    for output in found.outputs:
        output.kind = "server_log"
    found.kind, found.title = "server_log", f"log with {found.title}"
    found.request = found.request if asked is None else request_of(asked)
    found.why = (f"{number(lines, 'line')} of a log with an answer's objects.", *found.why[1:])
    found.server = "LM Studio" if _LM_STUDIO.search(body, 0, 20_000) else found.server
    return found


def _is_answer(value: Payload) -> bool:
    family = None if is_request(value) else family_of(value)
    return family is not None and (family.parsed or family.read is not None)


def _values(body: str) -> Iterator[tuple[str, Payload]]:
    """Yield the objects with what stands before each on its line."""
    at, failed = 0, 0
    while failed < _TRIES and (mark := _LINE.search(body, at)):
        found = _value_at(body, mark.end())
        at = mark.end() if found is None else found[1]
        failed += found is None
        for item in found[0] if found is not None and isinstance(found[0], list) else [found and found[0]]:
            if isinstance(item, dict):
                yield mark[0], item


def _value_at(body: str, at: int) -> tuple[Any, int] | None:
    exact = value_at(body, at)
    if exact is not None:
        return exact
    printed = literal_at(body, at)
    return (plain_value(printed.value), printed.end) if printed is not None and printed.whole else None
