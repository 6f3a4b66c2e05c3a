"""What a sweep found as tests of JUnit: a test is a signature, by its name and id. What is known by another sweep is
skipped, what is gone since then passes. No time is told: the same sweep gives the same file, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from parsers.sweeps.report import percent
from webapp.commands.junit import JunitTest, junit_text
from webapp.commands.sweep_result import SweepResult
from webapp.commands.words import count

_Report = Mapping[str, Any]


def sweep_junit(results: Sequence[tuple[SweepResult, str | None]]) -> str:
    """The whole document. Each result comes with the path to its folder, None where that is not kept."""
    return junit_text("sweep", [test for result, folder in results for test in _tests(result, folder)])


def _tests(result: SweepResult, folder: str | None) -> Iterator[JunitTest]:
    suite = result.label or "sweep"
    if not result.report["signatures"]:  # a file without a test is taken for an error by some readers
        yield JunitTest(suite, suite, "outputs", text=result.report["sentence"])
    for one in result.report["signatures"]:
        known = result.changes is not None and one["id"] not in result.ids("new")
        message = f"{'known: ' * known}{_share(one, result.report)}: {one['words']}"
        text = "\n".join(_lines(one, result.report, folder))
        yield JunitTest(suite, one["check"], _name(one), "skipped" if known else "failure", message, text)
    for one in result.before["signatures"] if result.before is not None else ():
        if one["id"] in result.ids("gone"):
            yield JunitTest(suite, one["check"], _name(one), text=f"gone; it was in {count(one['count'], 'output')}")


def _name(one: Mapping[str, Any]) -> str:
    return f"{one['words']} [{one['id']}]"


def _share(one: Mapping[str, Any], report: _Report) -> str:
    return f"{one['count']:,} of {count(report['outputs'], 'output')} ({percent(one['count'], report['outputs'])})"


def _lines(one: Mapping[str, Any], report: _Report, folder: str | None) -> Iterator[str]:
    yield report["sentence"]
    yield f"in {_share(one, report)}, {one['severity']}, about the {one['about']}"
    yield f"first rows: {', '.join(one['examples'])}"
    for thread in one["threads"]:
        yield f"reported in {thread['words']}: {thread['title']} ({thread['link']})"
    if folder is not None and one["smallest"]["case"] is not None:
        yield f"smallest case: {(PurePath(folder) / 'cases' / one['id']).as_posix()}.case.json"
