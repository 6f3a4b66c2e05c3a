"""What changed between two sweeps of one corpus: signatures that are new, gone, or came more or less often.

Versions of a parser do the same wrong in other lines of their code, and engines that are compared have other names. So
signatures are matched by what is wrong, by the parser's own name and by the marker beside it, not by the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from parsers.sweeps.report import SCHEMA
from parsers.vocabulary.types import UsageError

_MATCHED = ("check", "severity", "about", "topic", "sort", "where", "marker")


def changes_json(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What changed from one report to another: `new`, `gone`, `more` and `fewer` have a row for each signature, with
    both counts; `same` says how many came as often. `comparable` is whether as many outputs were read."""
    then, now = _by_key(before["signatures"]), _by_key(after["signatures"])
    found: dict[str, Any] = {"new": [], "gone": [], "more": [], "fewer": []}
    same = 0
    for key in sorted({*then, *now}):
        had, has = then.get(key), now.get(key)
        row = _row(had, has)
        kind = _kind(row["before"], row["after"])
        if kind is None:
            same += 1
        else:
            found[kind].append(row)
    return {**found, "same": same, "comparable": before["outputs"] == after["outputs"]}


def checked_report(data: Any, name: str) -> Mapping[str, Any]:
    """A report that somebody gives, as far as it is used here. Raises UsageError for anything else."""
    if isinstance(data, dict) and data.get("schema") == SCHEMA and isinstance(data.get("outputs"), int):
        rows = data.get("signatures")
        if isinstance(rows, list) and all(map(_is_row, rows)):
            return data
    raise UsageError(f"{name} is no report of a sweep: give the report.json of its folder")


def _is_row(row: Any) -> bool:
    texts = (*_MATCHED, "parser", "id", "words")
    return (
        isinstance(row, dict) and isinstance(row.get("count"), int) and all(isinstance(row.get(k), str) for k in texts)
    )


def _kind(before: int, after: int) -> str | None:
    if before == after:
        return None
    if not before:
        return "new"
    if not after:
        return "gone"
    return "more" if after > before else "fewer"


def _by_key(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], list[Mapping[str, Any]]]:
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        own = row["parser"].rpartition(":")[2]
        found.setdefault((*[row[name] for name in _MATCHED], own), []).append(row)
    return found


def _row(before: list[Mapping[str, Any]] | None, after: list[Mapping[str, Any]] | None) -> dict[str, Any]:
    shown = (after or before or [])[0]
    return {
        **{name: shown[name] for name in ("check", "severity", "about", "parser", "words")},
        "before": sum([row["count"] for row in before or ()]),
        "after": sum([row["count"] for row in after or ()]),
        "ids": [row["id"] for row in after or before or ()],
    }
