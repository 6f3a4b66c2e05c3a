"""The report of a kept sweep as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.sweeps.report import FAULT, code_parts, percent
from webapp.sweeps.kept_sweeps import KeptSweep

KINDS = ("all", "new", "known")
_BROKEN = (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError)


@dataclass(slots=True, frozen=True)
class Bar:
    """A row of a table with a bar: what it is about, how long the bar is of 100, and what stands behind it."""

    name: str
    share: str
    words: str
    code: bool = False


@dataclass(slots=True, frozen=True)
class SignatureRow:
    """A signature: `words` in parts, every other one code; whose fault it is; how long its bar is; `case` whether its
    smallest case can be opened."""

    id: str
    check: str
    severity: str
    words: Sequence[str]
    fault: str
    parser: str
    count: int
    percent: str
    share: str
    examples: Sequence[str]
    threads: Sequence[Mapping[str, str]]
    new: bool
    case: bool
    length: int


@dataclass(slots=True, frozen=True)
class SweepPage:
    """All that the page of a sweep shows. `rows` are those of the kind that was asked for, `counts` how many there are
    of each."""

    name: str
    sentence: Sequence[str]
    facts: Sequence[str]
    rows: Sequence[SignatureRow]
    counts: Mapping[str, int]
    kind: str
    compared: bool
    parsers: Sequence[Bar]
    faults: Sequence[Bar]
    skipped: Sequence[tuple[str, str, Sequence[str]]]
    files: Sequence[str]


def sweep_page(sweep: KeptSweep, kind: str = "all") -> SweepPage | None:
    """The page of a sweep with a report; None where that cannot be shown: it is damaged, or of another version."""
    try:
        return _page(sweep, sweep.report(), sweep.changes(), kind if kind in KINDS else "all")
    except _BROKEN:
        return None


def _page(sweep: KeptSweep, report: Mapping[str, Any], changes: Mapping[str, Any] | None, kind: str) -> SweepPage:
    fresh = {one for row in (changes or {}).get("new", ()) for one in row["ids"]}
    most = max([one["count"] for one in report["signatures"]], default=0)
    rows = [_row(one, report["outputs"], most, one["id"] in fresh) for one in report["signatures"]]
    shown = {"all": rows, "new": [row for row in rows if row.new], "known": [row for row in rows if not row.new]}
    blamed = report["blamed"]
    return SweepPage(
        name=sweep.name,
        sentence=code_parts(report["sentence"]),
        facts=_facts(report),
        rows=shown[kind],
        counts={name: len(found) for name, found in shown.items()},
        kind=kind,
        compared=changes is not None,
        parsers=[_parser(one) for one in report["parsers"]],
        faults=[_fault(FAULT[about], count, sum(blamed.values())) for about, count in blamed.items()],
        skipped=[(one["words"], f"{one['count']:,}", one["examples"]) for one in report["skipped"]],
        files=sweep.files,
    )


def _facts(report: Mapping[str, Any]) -> list[str]:
    said = [f"{report['outputs']:,} outputs in {report['rows']:,} rows"]
    said += [f"{report['repeated']:,} the same as one before"] * bool(report["repeated"])
    said += [f"{report['cut_off']:,} cut off inside a call"] * bool(report["cut_off"])
    engine = report["plan"]["engine"]
    said += [f"parser {report['plan']['parser']}"] * bool(report["plan"]["parser"])
    return [*said, *([f"engine {engine['name']} ({engine['version']})"] if engine else [])]


def _row(one: Mapping[str, Any], outputs: int, most: int, new: bool) -> SignatureRow:
    smallest = one["smallest"]
    return SignatureRow(
        id=one["id"],
        check=one["check"],
        severity=one["severity"],
        words=code_parts(one["words"]),
        fault=FAULT[one["about"]],
        parser=one["parser"],
        count=one["count"],
        percent=percent(one["count"], outputs),
        share=_share(one["count"], most),
        examples=one["examples"],
        threads=[{key: str(thread[key]) for key in ("words", "title", "example")} for thread in one["threads"]],
        new=new,
        case=smallest["case"] is not None,
        length=smallest["length"],
    )


def _parser(one: Mapping[str, Any]) -> Bar:
    share = percent(one["wrong"], one["outputs"])
    return Bar(one["name"], _share(one["wrong"], one["outputs"]), f"{share} of {one['outputs']:,}", code=True)


def _fault(words: str, count: int, whole: int) -> Bar:
    return Bar(words, _share(count, whole), f"{count:,}")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.2f}"
