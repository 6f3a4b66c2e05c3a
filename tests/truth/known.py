"""Which mismatches with other projects' tests are known, and what they are; what is new, and what is no longer.

`known.json` holds them by suite: the version that they were found with, and for each group of tests a judgement and a
reason. A group may name the `contract` that its tests ask for, in the keys of `parsers.formats.contracts`: they are
run again under it, and right if it gives what they expect. `mode` is there where a group is about one mode only.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from parsers.vocabulary.types import Mode
from tests.truth.served import Run

KNOWN = Path(__file__).with_name("known.json")
BAR = 99.0  # percent of a suite's tests that are to be right under its contract

Entry = Mapping[str, Any]


class Judgement(StrEnum):
    """What a mismatch is."""

    OURS = "ours wrong"
    CONTRACT = "contract"
    THEIRS = "theirs known to fail"
    ASIDE = "not about parsing"


_COUNTED = (Judgement.OURS, Judgement.CONTRACT, Judgement.THEIRS)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one test. `right` is None for a test that is not about what a parser reads; `under_contract` says
    that it is right only under the contract that is known for it."""

    test: str
    right: bool | None
    why: str = ""
    under_contract: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """A suite's outcomes in one mode beside what is known of it. `version` is None where its data are absent."""

    suite: str
    version: str | None
    mode: Mode = "text"
    right: int = 0
    under_contract: int = 0
    judged: Mapping[Judgement, int] | None = None
    aside: int = 0
    new: tuple[Outcome, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[str, ...]:
        """The cells of its line in the table."""
        if self.version is None:
            return (self.suite, "absent", *([""] * (len(_COUNTED) + 7)))
        judged = [(self.judged or {}).get(one, 0) for one in _COUNTED]
        run = self.right + self.under_contract + sum(judged) + len(self.new)
        asked = run - (self.judged or {}).get(Judgement.THEIRS, 0)
        share = 100 * (self.right + self.under_contract) / asked if asked else 100.0
        numbers = (run, self.right, self.under_contract, *judged, len(self.new))
        held = f"{share:.1f} %", "yes" if share >= BAR else "no"
        aside = self.aside + (self.judged or {}).get(Judgement.ASIDE, 0)
        return (f"{self.suite} {self.version}", self.mode, *map(str, numbers), *held, str(aside))


def judged(entry: Entry | None, mode: Mode, outcomes_of: Callable[[Run], Iterable[Outcome]]) -> list[Outcome]:
    """The outcomes of a suite; tests that are not right are run again under the contract that is known for them."""
    found = list(outcomes_of(Run(mode)))
    wrong = {one.test for one in found if one.right is False}
    groups = [group for group in _groups(entry, mode) if "contract" in group]
    contracts = {test: group["contract"] for group in groups for test in group["tests"] if test in wrong}
    again = list(outcomes_of(Run(mode, contracts, frozenset(contracts)))) if contracts else []
    right = {one.test for one in again if one.right}
    return [replace(one, right=True, under_contract=True) if one.test in right else one for one in found]


def tally(suite: str, mode: Mode, found: Iterable[Outcome], entry: Entry | None) -> Tally:
    """Count the outcomes of a suite: those that are known by their judgement, the others as new."""
    outcomes = list(found)
    groups = _groups(entry, mode)
    judgements = {test: Judgement(group["judgement"]) for group in groups for test in group["tests"]}
    kept = {test for group in groups if mode == group.get("mode", "text") for test in group["tests"]}
    promised = {test for group in groups if "contract" in group for test in group["tests"]}
    wrong = [one for one in outcomes if one.right is False]
    known = [one for one in wrong if one.test in judgements and one.test not in promised]
    still = {one.test for one in outcomes if one.right is False or one.under_contract}
    return Tally(
        suite,
        str((entry or {}).get("version", "")),
        mode,
        right=len([one for one in outcomes if one.right and not one.under_contract]),
        under_contract=len([one for one in outcomes if one.under_contract]),
        judged=Counter([judgements[one.test] for one in known]),
        aside=len([one for one in outcomes if one.right is None]),
        new=tuple([one for one in wrong if one not in known]),
        gone=tuple(sorted(kept - still)),
    )


def read_known(path: Path = KNOWN) -> dict[str, dict[str, Any]]:
    """The known mismatches by suite."""
    found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def table(tallies: Sequence[Tally]) -> str:
    """The tallies in columns, a line for each suite and mode."""
    counted = ("tests", "right", "under contract", *map(str, _COUNTED), "new")
    heads = ("suite", "mode", *counted, "right in all", f"{BAR:.0f} %", "not about parsing")
    rows = [heads, *[one.row for one in tallies]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]) for row in rows]
    return "\n".join([line.rstrip() for line in lines])


def _groups(entry: Entry | None, mode: Mode) -> list[Mapping[str, Any]]:
    groups: list[Mapping[str, Any]] = list((entry or {}).get("mismatches", ()))
    return [group for group in groups if group.get("mode", mode) == mode]
