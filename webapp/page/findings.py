"""The findings pane: every finding in words, its place, what shows it, and what to make of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from parsers.chunking import Chunking
from parsers.chunking_spec import spec
from parsers.events import Severity
from parsers.search.found import Found
from parsers.trace import Finding, Proof
from webapp.page.explained import Explained, explained
from webapp.page.glyphs import count, shorten
from webapp.page.matrix import beside

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}
NOUNS = {"error": "error", "warning": "warning", "info": "note"}
GRADES = {"calls": "the calls differ", "text": "the text differs", "whitespace": "only whitespace differs"}
SHOWN = 200
PROOF_CHARACTERS = 20_000


@dataclass(slots=True)
class FindingLine:
    """One finding as the page says it.

    `index` is its number in the search, from 0. `chunk`: the word of the chunking that shows it, `beside` the query
    of its comparison; `proof`: the changed case that shows it, as JSON.
    """

    number: int
    index: int
    severity: str
    word: str
    check: str
    id: str
    about: str
    message: str
    step: int | None
    span: str
    grade: str
    policy: str
    expected: str
    actual: str
    chunk: str
    beside: str
    proof: str


@dataclass(slots=True)
class FindingGroup:
    """Findings of one check with one severity: the first is shown, the others fold."""

    first: FindingLine
    others: list[FindingLine]
    explained: Explained


@dataclass(slots=True)
class Findings:
    """Everything the pane shows. `steps` are those the finding buttons lead to, as JSON."""

    groups: list[FindingGroup]
    lines: list[FindingLine]
    more: int
    holding: list[tuple[str, str, str]]
    skipped: list[tuple[str, str]]
    note: str
    steps: str = "[]"


@dataclass(slots=True)
class Checked:
    """What the checks said: of the quick look at a page, or of a whole search. `replays` is how many were run."""

    findings: Sequence[Finding]
    holding: Sequence[str]
    skipped: Sequence[tuple[str, str]]
    replays: int
    found: Found | None = field(default=None)

    @property
    def steps(self) -> list[int]:
        """The steps at which something begins."""
        return sorted({finding.step for finding in self.findings if finding.step})


def findings(checked: Checked, ids: Mapping[str, tuple[str, str]]) -> Findings:
    """The pane: first what the verdict names, then the worst. `ids` has number and definition of every check."""
    named = checked.found.verdict.findings if checked.found else ()
    numbered = sorted(enumerate(checked.findings), key=lambda pair: (pair[0] not in named, *_rank(pair[1])))
    lines = [_line(number, index, item) for number, (index, item) in enumerate(numbered[:SHOWN], start=1)]
    return Findings(
        groups=_groups(lines),
        lines=lines,
        more=len(numbered) - len(lines),
        holding=[(name, *ids.get(name, ("", ""))) for name in checked.holding],
        skipped=list(checked.skipped),
        note=_note(checked),
        steps=json.dumps(checked.steps[:SHOWN]),
    )


def counts(found: Sequence[Finding]) -> list[str]:
    """'1 error', '2 warnings'."""
    many = {level: sum(item.severity == level for item in found) for level in SEVERITIES}
    return [count(many[level], NOUNS[level]) for level in SEVERITIES if many[level]]


def _rank(item: Finding) -> tuple[int, bool, int]:
    return SEVERITIES.index(item.severity), item.policy is not None, item.step or 0


def _note(checked: Checked) -> str:
    held = len(checked.holding)
    return ", ".join([*counts(checked.findings), f"{count(held, 'check')} hold" + "s" * (held == 1)])


def _line(number: int, index: int, item: Finding) -> FindingLine:
    proof = item.proof or (Proof({"by": "whole"}) if item.check == "whole_equals_streamed" else Proof())
    chunk = spec(Chunking.model_validate(proof.chunking)) if proof.chunking else ""
    changed = bool(proof.edits or proof.context)
    at = item.span.start if item.span else None
    return FindingLine(
        number=number,
        index=index,
        severity=item.severity,
        word=WORDS[item.severity],
        check=item.check,
        id=item.id,
        about=item.about,
        message=item.message,
        step=item.step,
        span=_span(item),
        grade=GRADES.get(item.grade or "", ""),
        policy=item.policy or "",
        expected=shorten(item.expected or "", 200),
        actual=shorten(item.actual or "", 200),
        chunk="" if changed else chunk,
        beside=beside(chunk, at) if chunk and not changed else "",
        proof=_proof(proof) if changed else "",
    )


def _span(item: Finding) -> str:
    if item.span is None:
        return ""
    start, end = item.span
    return f"{start:,}–{end:,}" if end > start else f"{start:,}"


def _proof(proof: Proof) -> str:
    """The proof as JSON, where it is small enough to travel in a button."""
    text = json.dumps(proof.to_json(), separators=(",", ":"))
    return text if len(text) <= PROOF_CHARACTERS else ""


def _groups(lines: Sequence[FindingLine]) -> list[FindingGroup]:
    groups: dict[tuple[str, str, str], FindingGroup] = {}
    for line in lines:
        key = line.check, line.severity, line.policy
        if key in groups:
            groups[key].others.append(line)
        else:
            groups[key] = FindingGroup(line, [], explained(line.check, line.about, line.policy))
    return list(groups.values())
