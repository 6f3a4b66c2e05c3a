"""What a case says itself of engines that did not run it for this page: verdicts, links and what should come out.

Nothing of it was tried here. It is what whoever wrote the case stated, and so it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.cases.case import Case, EngineVerdict
from parsers.cases.export.report_facts import expected_fields

VERDICTS = {
    "required": "it must come out right",
    "known_bug": "it has a known bug",
    "implementation_defined": "what comes out is left to it",
}


@dataclass(slots=True, frozen=True)
class Stated:
    """What is stated of one engine. `expected` are the names of fields with their texts, `link` an address of the web
    or other words."""

    engine: str
    verdict: str
    link: str
    notes: Sequence[str]
    expected: Sequence[tuple[str, str]]

    @property
    def opens(self) -> bool:
        """Return whether the link is one that a browser may follow."""
        return self.link.startswith(("https://", "http://"))


def stated_of(case: Case, *, ran: bool = True) -> list[Stated]:
    """What a case states of engines, in the order of its file: of all others but the one that ran it; where none did
    (`ran` False), of all, and first what holds for its own."""
    own = case.engine_name
    mine = {f"{own}:{case.parser.name}", own}
    others = [_stated(name, said) for name, said in case.engines.items() if name not in mine]
    return others if ran else [_stated(f"{own}:{case.parser.name}", case.known), *others]


def _stated(name: str, said: EngineVerdict) -> Stated:
    expected = [] if said.expect is None else [*expected_fields(said.expect).items()]
    return Stated(name, VERDICTS[said.verdict], said.link or "", said.notes, expected)
