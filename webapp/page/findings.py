"""The findings pane: every finding in words, its place, what shows it, and what to make of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from parsers.compare.divergence import shared_prefix
from parsers.replays.chunking import Chunking, spec
from parsers.search.found import Found, Verdict
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Finding, Proof
from webapp.page.explained import Explained, explained
from webapp.page.glyphs import count, shorten
from webapp.page.matrix import beside

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
WORDS = {"error": "Error", "warning": "Warning", "info": "Note"}
NOUNS = {"error": "error", "warning": "warning", "info": "note"}
GRADES = {"calls": "the calls differ", "text": "the text differs", "whitespace": "only whitespace differs"}
SHOWN = 200
PROOF_CHARACTERS = 20_000
BEFORE, AROUND = 40, 160  # characters shown of what was expected and what came


@dataclass(slots=True)
class FindingLine:
    """One finding as the page says it.

    `index` is its number in the search, from 0. `chunk`: the word of the chunking that shows it, `beside` the query
    of its comparison; `cut`: where the output is cut off to show it; `proof`: the changed case that shows it, as JSON.
    `known`: whether the list of checks has its check.
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
    cut: int | None
    proof: str
    known: bool


@dataclass(slots=True)
class FindingGroup:
    """Findings of one check with one severity: the first is shown, the others fold."""

    first: FindingLine
    others: list[FindingLine]
    explained: Explained


@dataclass(slots=True)
class Findings:
    """Everything the pane shows. `following` are those the verdict's cause explains. `steps` are those the finding
    buttons lead to, as JSON."""

    groups: list[FindingGroup]
    following: list[FindingGroup]
    lines: list[FindingLine]
    more: int
    holding: list[tuple[str, str, str]]
    skipped: list[tuple[str, str]]
    note: str
    steps: str = "[]"

    @property
    def follow(self) -> str:
        """How many there are that the verdict's cause explains."""
        many = sum([1 + len(group.others) for group in self.following])
        if not self.groups:
            return f"{count(many, 'finding')} that the wrong parser explains"
        return f"{many:,} more that {'follows' if many == 1 else 'follow'} from it"


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
    after = following(checked)
    ranked = sorted(enumerate(checked.findings), key=lambda pair: (pair[0] in after, *_rank(pair[0] in named, pair[1])))
    lines = [
        _line(number, index, item, item.check in ids) for number, (index, item) in enumerate(ranked[:SHOWN], start=1)
    ]
    return Findings(
        groups=_groups([line for line in lines if line.index not in after]),
        following=_groups([line for line in lines if line.index in after]),
        lines=lines,
        more=len(ranked) - len(lines),
        holding=[(name, *ids.get(name, ("", ""))) for name in checked.holding],
        skipped=list(checked.skipped),
        note=_note(checked),
        steps=json.dumps(checked.steps[:SHOWN]),
    )


def counts(found: Sequence[Finding]) -> list[str]:
    """'1 error', '2 warnings'."""
    many = {level: sum(item.severity == level for item in found) for level in SEVERITIES}
    return [count(many[level], NOUNS[level]) for level in SEVERITIES if many[level]]


def following(checked: Checked) -> set[int]:
    """The findings that the verdict's cause explains, by their number from 0; none without such a verdict.

    A parser of another format gets everything wrong. Of one that fails or depends on cuts every other fault may come
    of that, and of one with a fault in the output itself those that are seen only in changed outputs.
    """
    said = checked.found.verdict if checked.found else None
    if said is None or not (said.findings or said.kind == "wrong_parser"):
        return set()
    first = None if said.kind == "wrong_parser" else checked.findings[said.findings[0]]
    own = {item.check for item in checked.findings if item is first}
    return {
        number
        for number, item in enumerate(checked.findings)
        if item.policy is None and item.check not in own and _follows(item, number, said, first)
    }


def _follows(item: Finding, number: int, said: Verdict, first: Finding | None) -> bool:
    if first is None:
        return item.about != "request"
    if said.about != "parser" or item.about != "parser":
        return False
    if said.kind in ("parser_failed", "chunk_boundary"):
        return number not in said.findings or _changed(item)
    return _changed(item) and not _changed(first)


def _changed(item: Finding) -> bool:
    return item.proof is not None and item.proof.changes_case


def _rank(named: bool, item: Finding) -> tuple[bool, int, bool, int]:
    return not named, SEVERITIES.index(item.severity), item.policy is not None, item.step or 0


def _note(checked: Checked) -> str:
    held = len(checked.holding)
    return ", ".join([*counts(checked.findings), f"{count(held, 'check')} hold" + "s" * (held == 1)])


def _line(number: int, index: int, item: Finding, known: bool) -> FindingLine:
    proof = item.proof or Proof()
    chunk = spec(Chunking.model_validate(proof.chunking)) if proof.chunking else ""
    changed = proof.changes_case
    at = item.span.start if item.span else None
    expected, actual = _apart(item.expected or "", item.actual or "")
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
        expected=expected,
        actual=actual,
        chunk="" if changed else chunk,
        beside=beside(chunk, at) if chunk and not changed else "",
        cut=_cut(item, proof),
        proof=_proof(proof) if changed else "",
        known=known,
    )


def _span(item: Finding) -> str:
    if item.span is None:
        return ""
    start, end = item.span
    return f"characters {start:,}–{end:,}" if end - start > 1 else f"character {start:,}"


def _apart(expected: str, actual: str) -> tuple[str, str]:
    """Two texts from shortly before they part; nothing of two that are the same as far as they are known."""
    if expected == actual:
        return "", ""
    start = max(0, shared_prefix(expected, actual) - BEFORE) if expected and actual else 0
    return _from(expected, start), _from(actual, start)


def _from(text: str, start: int) -> str:
    return shorten(f"…{text[start:]}" if start > BEFORE else text, AROUND)


def _cut(item: Finding, proof: Proof) -> int | None:
    """Where a finding about cut outputs cuts this one."""
    if item.check != "truncation" or len(proof.edits) != 1 or proof.edits[0][2]:
        return None
    return proof.edits[0][0] or None


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
