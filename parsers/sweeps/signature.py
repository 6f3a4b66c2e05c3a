"""What findings of many outputs have in common: a signature, by which they are counted.

A message names tools, keys and places, so that every output has one of its own. A signature has what is left when those
are taken away: the check, whom it blames, what kind of difference it is, and where in the message it stands. What a
parser is blamed for belongs to this parser, to its state or its code there, and to the marker beside the place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from parsers.checks import CHECKS
from parsers.replays.recorded import UNKNOWN
from parsers.vocabulary.trace import Finding, Topic, Trace
from parsers.vocabulary.types import Owner, Span

_RANK = {"error": 0, "warning": 1, "info": 2}
_BESIDE = 24  # so many characters around a place are searched for a marker


@dataclass(slots=True, frozen=True)
class Signature:
    """What findings are counted by.

    `sort` is that of the finding, or how far two messages differ; `where`, where there is none, is what the place in
    the output became. `parser`, `state` and `marker` are those of a fault of the parser only.
    """

    check: str
    severity: str
    about: str
    topic: str
    sort: str = ""
    where: str = ""
    parser: str = ""
    state: str = ""
    marker: str = ""

    @property
    def id(self) -> str:
        """A short name of it, the same on every machine."""
        told = json.dumps(asdict(self), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(told.encode()).hexdigest()[:10]

    @property
    def rank(self) -> tuple[int, str, str]:
        """What signatures are sorted by, besides how often they came."""
        return _RANK[self.severity], self.check, self.id

    @property
    def words(self) -> str:
        """What is wrong, as a clause."""
        said = [Topic[self.topic].value if self.topic != Topic.RULE.name else CHECKS[self.check].definition.rstrip(".")]
        said += [f"({self.sort})"] * bool(self.sort)
        said += [f"in the {self.where}"] * bool(self.where)
        said += [f"beside `{self.marker}`"] * bool(self.marker)
        known = self.state not in ("", UNKNOWN.state)
        said += [f"{'at' if self.topic == Topic.FAILURE.name else 'in state'} {self.state}"] * known
        return " ".join(said)


def signature_of(finding: Finding, trace: Trace, terminals: Mapping[str, str]) -> Signature:
    """The signature of a finding in a replay. `terminals` are the markers of its format."""
    sort = finding.sort or finding.grade or ""
    said = {
        "check": finding.check,
        "severity": finding.severity,
        "about": finding.about,
        "topic": finding.topic.name,
        "sort": sort,
        "where": "" if sort else _owner_at(trace, finding) or "",
    }
    if finding.about != "parser":
        return Signature(**said)
    if finding.topic is Topic.FAILURE:  # its code says all: where in an output that was reached does not matter
        failure = trace.failure
        code = "" if failure is None else f"{failure.kind}: {failure.place}"
        return Signature(**{**said, "where": ""}, parser=trace.parser, state=code)
    marker = "" if finding.span is None else marker_near(trace.text, finding.span, terminals)
    return Signature(**said, parser=trace.parser, state=_state_at(trace, finding), marker=marker)


def _owner_at(trace: Trace, finding: Finding) -> Owner | None:
    """What became of the character at which it is."""
    if finding.span is None:
        return None
    start = finding.span.start
    return next((part.owner for part in trace.partition if part.start <= start < part.end), None)


def _state_at(trace: Trace, finding: Finding) -> str:
    return "" if finding.step is None else trace.steps[finding.step - 1].state


def marker_near(text: str, span: Span, terminals: Mapping[str, str]) -> str:
    """The marker that a place of an output is in, or the nearest one; "" where none stands beside it."""
    start, end = span
    near = text[max(start - _BESIDE, 0) : end + _BESIDE]
    found = [(near.rfind(text), text) for text in {*terminals.values()} if len(text) > 1 and text in near]
    return min(found, key=lambda one: (abs(one[0] - min(start, _BESIDE)), one[1]))[1] if found else ""
