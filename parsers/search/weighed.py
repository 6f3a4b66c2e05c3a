"""What the checks find in a replay, weighed by the cuts of its chunking and by the contract of its server.

The replay under study may have cuts that no server makes for certain. What is found in it counts in full only where a
replay by honest cuts shows it too; otherwise it is a warning, or a note where its cuts are inside tokens. What compares
chunkings has weighed them itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from parsers.checks import CHECKS, CheckReport, Subject, run_checks
from parsers.checks.check import Need
from parsers.checks.subject import subject_of
from parsers.replays.chunking import WHOLE
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replayer import Replayer
from parsers.vocabulary.trace import Finding, Topic

_ALLOWED = (Topic.LOSS, Topic.LEAK, Topic.ADDITION, Topic.ARGUMENTS, Topic.UNKNOWN_TOOL)
_COMPARED = (Topic.CHUNKS, Topic.FAILURE, Topic.CHANCE)
_COUNTED = (Need.COSTS,)  # what work it takes is no matter of cuts


def weigh_by_cuts(report: CheckReport, subject: Subject, replayer: Replayer) -> None:
    """Lower what only the cuts of the replay under study show, in place."""
    grade = subject.replays.grade("")
    doubtful = {one.check for one in report.findings if _is_doubtful(one)}
    if grade is CutGrade.HONEST or not doubtful:
        return
    honest = replayer.trace(Grader(replayer).finest)
    others = subject_of(replayer, honest, replayer.trace(WHOLE), (), rules=subject.replays.rules, known=subject.known)
    shown = {_sort(one) for one in run_checks(others, [*doubtful]).findings}
    report.findings = [
        one if not _is_doubtful(one) or _sort(one) in shown else _lowered(one, grade, subject)
        for one in report.findings
    ]
    _hold(report, doubtful)


def weigh_by_contract(report: CheckReport, subject: Subject) -> None:
    """Make notes of what the contract allows, in place: where the parser's message differs from what the built-in
    parser of its format reads by no more than that, lost or left text and calls are no fault."""
    policy = subject.allowed
    if policy is None:
        return
    found = [
        replace(one, severity="info", policy=policy) if one.topic in _ALLOWED and one.policy is None else one
        for one in report.findings
    ]
    report.findings = found
    _hold(report, {one.check for one in found})


def _hold(report: CheckReport, names: set[str]) -> None:
    """Checks of which only notes are left hold."""
    notes = {name for name in names if all(one.severity == "info" for one in report.findings if one.check == name)}
    held = {*report.holding, *notes}
    report.holding = [name for name in CHECKS if name in held]


def _is_doubtful(one: Finding) -> bool:
    """Return whether a finding rests on the chunking under study alone."""
    needs = CHECKS[one.check].needs
    compares = one.topic in _COMPARED or any(need.is_metamorphic or need in _COUNTED for need in needs)
    by_cuts = not compares and (one.proof is None or not one.proof.changes_case)
    return by_cuts and one.about == "parser" and one.severity != "info" and one.policy is None


def _sort(one: Finding) -> Hashable:
    return one.check, one.topic, one.about


def _lowered(one: Finding, grade: CutGrade, subject: Subject) -> Finding:
    words = one.message.rstrip(".") + subject.replays.supposing("") + "."
    return replace(one, severity=grade.weigh(one.severity), message=words)
