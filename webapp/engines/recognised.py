"""Which engine an interpreter has: asked of it by the worker, which looks for packages and imports none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.vocabulary.types import UsageError
from webapp.children.child import Child
from webapp.children.endings import ChildError
from webapp.children.program import Program
from webapp.engines.entries import ADAPTERS, WORKER
from webapp.engines.interpreters import too_old

_SECONDS = 60.0


def adapter_for(name: str, python: str) -> str:
    """The adapter of the one engine that an interpreter has. Raises UsageError where it has none, or several."""
    found = _installed(name, python)
    if not found:
        raise UsageError(f"engine {name}: {python} has none of {', '.join(ADAPTERS[:-1])}; give --class or --command")
    if len(found) > 1:
        there = ", ".join([f"{one} {version}".strip() for one, version in found.items()])
        raise UsageError(f"engine {name}: {python} has several: {there}; say which with --adapter")
    return next(iter(found))


def _installed(name: str, python: str) -> dict[str, str]:
    program = Program(name, command=(python, "-u", str(WORKER), "installed"), variables=("HOME", "USERPROFILE"))
    try:
        with Child(program) as child:
            answer: Mapping[str, Any] = child.ask("hello", {"protocol": 1}, seconds=_SECONDS)
    except ChildError as error:
        words = too_old(python, error) or error.message or " ".join(error.detail.split())[-300:] or error.ending.value
        raise UsageError(f"engine {name}: {python} does not run the worker: {words}") from error
    found = answer.get("adapters")
    known = found if isinstance(found, dict) else {}
    return {one: str(version)[:40] for one, version in known.items() if one in ADAPTERS}
