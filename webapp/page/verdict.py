"""The verdict line and the findings pane: what is wrong, with what, and whose fault it looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from parsers.events import Severity
from parsers.trace import Finding
from webapp.page.glyphs import count, shorten

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}
NOUNS = {"error": "error", "warning": "warning", "info": "note"}
SHOWN = 200


@dataclass(slots=True)
class FindingLine:
    """One finding as the page says it."""

    number: int
    severity: str
    word: str
    check: str
    definition: str
    about: str
    message: str
    step: int | None
    expected: str
    actual: str


@dataclass(slots=True)
class Verdict:
    """One sentence on top, the findings below."""

    severity: str
    headline: str
    sentence: str
    first: FindingLine | None
    findings: list[FindingLine]
    more: int
    holding: list[tuple[str, str]]
    note: str


def verdict(findings: Sequence[Finding], holding: Sequence[str], definitions: dict[str, str], replays: int) -> Verdict:
    """What `findings` and the checks that hold say together. `definitions` explains the checks."""
    ordered = sorted(findings, key=lambda item: (SEVERITIES.index(item.severity), item.step or 0))
    lines = [_line(number, item, definitions) for number, item in enumerate(ordered[:SHOWN], start=1)]
    failed = {item.check for item in findings if item.severity != "info"}
    ran = len({item.check for item in findings} | set(holding))
    worst = ordered[0].severity if ordered else "pass"
    return Verdict(
        severity=worst,
        headline=f"{ran - len(failed)} of {ran} checks hold under all {replays} chunkings." if ran else "No check ran.",
        sentence=_sentence(ordered),
        first=lines[0] if lines else None,
        findings=lines,
        more=len(ordered) - len(lines),
        holding=[(name, definitions.get(name, "")) for name in holding],
        note=", ".join([*_counts(ordered), f"{count(len(holding), 'check')} hold" + "s" * (len(holding) == 1)]),
    )


def _line(number: int, item: Finding, definitions: dict[str, str]) -> FindingLine:
    return FindingLine(
        number, item.severity, WORDS[item.severity], item.check, definitions.get(item.check, ""), item.about,
        item.message, item.step, shorten(item.expected or "", 200), shorten(item.actual or "", 200),
    )  # fmt: skip


def _counts(findings: Sequence[Finding]) -> list[str]:
    counts = Counter(item.severity for item in findings)
    return [count(counts[severity], NOUNS[severity]) for severity in SEVERITIES if counts[severity]]


def _sentence(findings: Sequence[Finding]) -> str:
    """Who is at fault, in words; empty when nothing was found."""
    if not findings:
        return "Nothing lost, nothing leaked, the same message every time."
    abouts = {item.about for item in findings if item.severity == findings[0].severity}
    blame = f", about the {next(iter(abouts))}" if len(abouts) == 1 else ""
    exempt = ", not the parser" if abouts and "parser" not in abouts else ""
    return f"{' and '.join(_counts(findings)[:2])}{blame}{exempt}:"
