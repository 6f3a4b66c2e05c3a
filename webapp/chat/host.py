"""The process that runs a template, from outside: started for one question, gone with the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parsers.replays.replayer import Rendering
from webapp.chat.child import MOST_TEMPLATE
from webapp.children import bare_environment

PROGRAM = Path(__file__).with_name("child.py")
DEADLINE = 5.0
TOO_LONG = "the template has more than {most:,} characters."
TOO_LATE = "the template does not come to an end."
ENDED = "the template ended the process that ran it: it needs too much time or memory."


class Host:
    """Runs templates, each in a new process. `seconds` is the time one has."""

    def __init__(self, seconds: float = DEADLINE) -> None:
        self.seconds = seconds

    def renderings(self, asked: dict[str, Any]) -> tuple[Rendering, ...]:
        """What a template writes for each spelling of the arguments; never raises for what a template does."""
        if len(asked["template"]) > MOST_TEMPLATE:
            return _all(TOO_LONG.format(most=MOST_TEMPLATE))
        try:
            done = subprocess.run(  # noqa: S603 - our own program, no shell, data on standard input
                [sys.executable, "-I", str(PROGRAM)],
                input=json.dumps(asked).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=bare_environment(),
                timeout=self.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _all(TOO_LATE)
        return _read(done.stdout) if done.returncode == 0 else _all(TOO_LATE if _cpu(done.returncode) else ENDED)


def _all(problem: str) -> tuple[Rendering, ...]:
    """A problem with the template itself, whatever it is given."""
    return (Rendering("object", problem=problem),)


def _cpu(code: int) -> bool:
    """Whether the system ended a process for its processor time: SIGXCPU, or SIGKILL where both limits are one."""
    return code in (-24, -9)


def _read(answer: bytes) -> tuple[Rendering, ...]:
    found: Sequence[dict[str, Any]] = json.loads(answer)
    first, second = Rendering("object", **_parts(found[0])), Rendering("string", **_parts(found[1]))
    same = (first.text, first.problem) == (second.text, second.problem)
    return (first,) if same else (first, second)


def _parts(one: dict[str, Any]) -> dict[str, str]:
    return {key: one[key] for key in ("text", "problem") if key in one}
