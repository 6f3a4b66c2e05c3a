"""What changed outputs show, and how much it weighs: a table from what was changed and what differs to a severity.

An output is cut off, damaged, followed, lengthened, or read under another request (`Variant`). What comes of that says
how a parser bears what this output does not hold: its robustness. That is told apart from what the output itself shows,
and leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto

from parsers.checks.check import REGISTERED, Need
from parsers.checks.subject import Subject, VariantKind
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Finding


class Differs(Enum):
    """What is different in the reading of a changed output."""

    CALL_MADE_UP = auto()  # a call that the whole output does not have
    CALL_LOST = auto()
    CALL_CHANGED = auto()
    CALL_KEPT = auto()  # though no call was to be read
    TEXT_LOST = auto()
    TEXT_TWICE = auto()
    VALUE = auto()  # a string argument
    WORK = auto()  # it grows faster than the output


# What a parser that shows only its deltas may do in good faith is a warning. A contract may weigh otherwise.
WEIGHTS: Mapping[tuple[VariantKind, Differs], Severity] = {
    ("truncated", Differs.CALL_MADE_UP): "error",
    ("followed", Differs.CALL_LOST): "error",
    ("neighbour", Differs.CALL_CHANGED): "error",
    ("neighbour", Differs.TEXT_LOST): "warning",
    ("neighbour", Differs.TEXT_TWICE): "error",
    ("escaped", Differs.VALUE): "error",
    ("padded", Differs.VALUE): "error",
    ("padded", Differs.WORK): "warning",
    ("no_calls", Differs.CALL_KEPT): "error",
    ("no_calls", Differs.TEXT_LOST): "error",
    ("no_tools", Differs.CALL_LOST): "error",
}
_LOWER: Mapping[Severity, Severity] = {"error": "warning", "warning": "warning", "info": "info"}
_CHANGING: frozenset[VariantKind] = frozenset(
    ("truncated", "mutated", "followed", "neighbour", "escaped", "padded", "no_calls")
)

_OF_CHANGED = (Need.VARIANTS, Need.COSTS)  # what reading takes is taken of the output made longer


def weight_of(subject: Subject, kind: VariantKind, differs: Differs, *, sure: bool = True) -> Severity:
    """How much a difference weighs under the contract of the output; where it is not `sure`, a warning at most."""
    weight = subject.promised.robustness.get(f"{kind}.{differs.name.lower()}", WEIGHTS[kind, differs])
    return weight if sure else _LOWER[weight]


def apart(findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Return what the output itself shows, and what only changed ones do, both in the given order."""
    own, changed = list[Finding](), list[Finding]()
    for finding in findings:
        (changed if finding.check in _changing_checks() else own).append(finding)
    return own, changed


def _changing_checks() -> set[str]:
    needs = {name: check.needs for name, check in REGISTERED.items()}
    return {name for name, asked in needs.items() if any(one in _OF_CHANGED or one.kind in _CHANGING for one in asked)}
