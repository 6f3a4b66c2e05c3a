"""The list of all checks, as /checks shows it: what each holds, why it matters, and a replay that it blames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from parsers.checks import CHECKS, Check, run_checks
from parsers.checks.examples import EXAMPLES
from parsers.vocabulary.trace import Finding
from webapp.page.explained import WHY
from webapp.page.findings import WORDS
from webapp.page.played import needs, played


@dataclass(slots=True, frozen=True)
class Entry:
    """One check. `finds` and `holds` are example replays in words, `said` is what it says of the first."""

    name: str
    id: str
    word: str
    definition: str
    severity: str
    severity_word: str
    about: str
    why: str
    needs: str
    finds: str
    said: str
    verdict: str
    holds: str


@cache
def entries() -> tuple[Entry, ...]:
    """Every check with its examples, the same as in docs/checks.md."""
    return tuple([_entry(check) for check in CHECKS.values()])


def _entry(check: Check) -> Entry:
    example = EXAMPLES[check.name]
    finding = run_checks(example.finds, [check.name]).findings[0]
    return Entry(
        name=check.name,
        id=check.id,
        word=check.word,
        definition=check.definition,
        severity=check.severity,
        severity_word=WORDS[check.severity],
        about=check.about,
        why=WHY[check.id],
        needs=needs(check),
        finds=played(example.finds),
        said=finding.message,
        verdict=_verdict(finding),
        holds=played(example.holds),
    )


def _verdict(finding: Finding) -> str:
    where = "" if finding.step is None else f", at step {finding.step}"
    return f"{WORDS[finding.severity]}, about the {finding.about}{where}"
