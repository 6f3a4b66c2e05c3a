"""The report of a sweep as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from parsers.sweeps.report import percent
from webapp.cli import one_line
from webapp.commands.words import count, table


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """What a report says: the sentence, the signatures, and what was not read."""
    return [report["sentence"], *_signatures(report), *_rest(report)]


def _signatures(report: Mapping[str, Any]) -> Iterator[str]:
    if not report["signatures"]:
        return
    rows = [("count", "share", "", "about", "check", "what is wrong", "first rows")]
    for one in report["signatures"]:
        share = percent(one["count"], report["outputs"])
        first = " ".join(one["examples"])
        about = one["about"] if one["about"] != "parser" else f"parser {one['parser']}"
        rows.append((f"{one['count']:,}", share, one["severity"], about, one["check"], one["words"], first))
    yield ""
    yield from table(rows)
    known = [one for one in report["signatures"] if one["threads"]]
    if known:
        yield ""
    for one in known:
        yield one_line(f"reported before: {one['check']}, {one['words']}")
        yield from [f"  {thread['words']}: {thread['title']} <{thread['link']}>" for thread in one["threads"]]


def _rest(report: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    parsers = [f"{one['name']} {one['outputs']:,} ({one['wrong']:,} wrong)" for one in report["parsers"]]
    if parsers:
        yield f"read by: {', '.join(parsers)}"
    if report["cut_off"]:
        yield f"cut off inside a call: {count(report['cut_off'], 'output')}"
    if report["repeated"]:
        yield f"the same as one before: {count(report['repeated'], 'output')}"
    for one in report["skipped"]:
        places = ", ".join(one["examples"])
        yield one_line(f"not read: {count(one['count'], 'row')}: {one['words']} ({places})")


def changes_lines(changes: Mapping[str, Any], beside: str) -> Iterator[str]:
    """What changed beside another sweep, by its label."""
    other = beside or "the baseline"
    yield ""
    said = [f"{len(changes[kind])} {kind}" for kind in ("new", "gone", "more", "fewer")]
    yield f"beside {other}: {', '.join(said)}, {changes['same']} the same"
    if not changes["comparable"]:
        yield "(other outputs were read there than here: counts do not compare)"
    rows = [
        (kind, f"{one['before']:,} → {one['after']:,}", one["severity"], one["about"], one["check"], one["words"])
        for kind in ("new", "gone", "more", "fewer")
        for one in changes[kind]
    ]
    if rows:
        yield from table([("", "count", "", "about", "check", "what is wrong"), *rows])
