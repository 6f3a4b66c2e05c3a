"""Logs as lines of JSON, in which no word of a user stands.

A line has the time, the level, who says it, the sentence as the code has it, numbers that belong to it, and of a
failure its type and where it was. What is put into a sentence may be somebody's text, and so may the message of an
exception: both are left out.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from webapp.settings import Settings

REQUESTS = "webapp.requests"
_FRAME = re.compile(r'^  File "([^"\n]{1,400})", line (\d{1,9}), in ([\w<>.]{1,200})$', re.MULTILINE)


def set_up(settings: Settings) -> None:
    """Log in the form that the settings ask for."""
    if settings.log_format != "json":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.getLogger(REQUESTS).setLevel(logging.INFO)


class JsonLines(logging.Formatter):
    """A record as a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": str(record.msg),
            **getattr(record, "told", {}),
        }
        given = record.args if isinstance(record.args, tuple) else ()
        if frames := [frame for one in given if isinstance(one, str) for frame in _frames_in(one)]:
            line["frames"] = frames
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["frames"] = [
                f"{one.filename}:{one.lineno} {one.name}" for one in traceback.extract_tb(record.exc_info[2])
            ]
        return json.dumps(line, ensure_ascii=False)


def _frames_in(text: str) -> list[str]:
    """Where a failure was, by a traceback that another process wrote."""
    return [f"{file}:{line} {name}" for file, line, name in _FRAME.findall(text)]
