"""The facts of a run that a report tells, whatever it is written in: fields side by side, the place in question, ids.

All are plain text: who writes them down escapes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parsers.cases.case import Case, Expect
from parsers.cases.departure import departure
from parsers.cases.expect import (
    arguments_text,
    event_words,
    expected_order,
    expected_parts,
    part_differences,
    trace_differences,
)
from parsers.cases.message_events import MessageEvent
from parsers.cases.run import CaseRun
from parsers.compare.divergence import excerpt, shared_prefix
from parsers.vocabulary.channels import Channel
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Piece

FILENAME = "bug.case.json"
CELL = 300  # characters of a text in a table
_SEVERITIES = ("error", "warning", "info")


@dataclass(slots=True, frozen=True)
class Fields:
    """The fields of a result by their names: as expected (None where nothing is), as they came, and as they come of the
    whole text at once. `wrong` are those that are not as expected."""

    expected: Mapping[str, str] | None
    actual: Mapping[str, str]
    whole: Mapping[str, str]
    wrong: frozenset[str] = frozenset()

    def rows(self) -> list[tuple[str, list[str | None]]]:
        """The name of each field, with its mark, and its text on each side; None where a side has no such field."""
        sides = [side for side in (self.expected, self.actual, self.whole) if side is not None]
        names = {name: None for side in sides for name in side}
        return [(f"{name}{self._mark(name)}", [side.get(name) for side in sides]) for name in names]

    def _mark(self, name: str) -> str:
        if self.expected is None or name not in self.expected:
            return " ✗" if name in self.wrong else ""
        return " ✗" if name in self.wrong or name not in self.actual else " ✓"


def compared_fields(run: CaseRun) -> Fields:
    """The fields of a run, with the order of the parts where the case expects one."""
    expect, soft = run.case.known.expect, run.case.compare.whitespace == "soft"
    actual, whole = fields_of(run.trace), fields_of(run.whole)
    if expect is None:
        return Fields(None, actual, whole)
    events, events_whole = (expected_order(expect, one, run.case.compare) for one in (run.trace, run.whole))
    actual, whole = {**actual, **_in_order(events)}, {**whole, **_in_order(events_whole)}
    found = trace_differences(expect, run.trace, run.case.compare)
    if any(one.field == "events" for one in found):  # beside the order, which parts stand elsewhere
        found += part_differences(expected_parts(expect, soft=soft), events or (), soft=soft)
    return Fields(expected_fields(expect, soft=soft), actual, whole, frozenset([one.field for one in found]))


def fields_of(trace: Trace) -> dict[str, str]:
    """What a client gets, by the names of its fields."""
    message = trace.message
    calls = _calls([(call.name, call.arguments) for call in message.tool_calls])
    texts = {"reasoning": message.reasoning or "", "content": message.content or ""}
    return {**texts, **calls, "finish_reason": trace.finish_reason}


def expected_fields(expect: Expect, *, soft: bool = False) -> dict[str, str]:
    """What a case expects, by the names of the fields. `soft`: parts of white space alone are left out."""
    texts = {"reasoning": expect.reasoning, "content": expect.content, "finish_reason": expect.finish_reason}
    calls = [(call.name, arguments_text(call)) for call in expect.tool_calls or ()]
    known = {name: text for name, text in texts.items() if text is not None}
    known |= {} if expect.tool_calls is None else _calls(calls)
    if expect.events is None:
        return known
    return known | _parts([(one.kind, event_words(one)) for one in expected_parts(expect, soft=soft)])


def _in_order(events: Sequence[MessageEvent] | None) -> dict[str, str]:
    return {} if events is None else _parts([(event.kind, event.words) for event in events])


def _parts(parts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The fields of parts of a message in order, of which kind and words are given."""
    named = {f"events[{number}]": words for number, (_, words) in enumerate(parts)}
    return {"events": ", ".join([kind for kind, _ in parts]), **named}


def _calls(calls: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The fields of calls, of which name and arguments are given."""
    fields = {"tool_calls": str(len(calls))}
    for index, (name, arguments) in enumerate(calls):
        fields |= {str(Channel(index, "name")): name, str(Channel(index, "arguments")): arguments}
    return fields


def around_parting(texts: Iterable[str | None]) -> list[str | None]:
    """The texts of a field, the long ones shown around the first place where they part."""
    sides = [*texts]
    known = [text for text in sides if text is not None]
    place = min([shared_prefix(known[0], text) for text in known], default=0)
    return [None if text is None else window(text, place) for text in sides]


def window(text: str, place: int = 0) -> str:
    """A text as a table has room for it, around a place."""
    return text if len(text) <= CELL else excerpt(text, place)


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, errors first."""
    return sorted(findings, key=lambda one: _SEVERITIES.index(one.severity))


def place_in_question(run: CaseRun) -> int | None:
    """Where in the output the first thing is wrong, as far as that is known."""
    spans = [one.span.start for one in run.findings if one.span is not None and one.severity != "info"]
    parting = [one.divergence.raw for one in run.compared if one.divergence is not None]
    told = steps_in_question(run)
    steps = [step.span.start for number in told for step in run.trace.steps[number - 1 : number]]
    return next((at for at in (*spans, *parting, *steps) if at is not None), None)


def steps_in_question(run: CaseRun) -> list[int]:
    """The steps at which something is wrong, those of findings first; none where nobody knows of any."""
    departs = departure(run.case, run.trace)
    return [*[one.step for one in by_severity(run.findings) if one.step], *([departs.step] if departs else [])]


def id_words(piece: Piece) -> str:
    """The id of a token, or a dash."""
    return "—" if piece.token_id is None else str(piece.token_id)


def whose_ids(run: CaseRun) -> str:
    """Where the ids of the tokens are from, as a sentence."""
    known = any(one.token_id is not None and one.recorded for one in run.pieces)
    whose = "as recorded" if known else "as the tokenizer of the case makes them: the model's own may be others"
    return f"Their ids are {whose}."


def chunking_words(run: CaseRun) -> str:
    """How the output was cut, as JSON without the places."""
    said = {key: value for key, value in run.trace.chunking.items() if key != "cuts"}
    return json.dumps(said, ensure_ascii=False)


def source_of(case: Case) -> Mapping[str, object]:
    """Where a case is from, by the names of a case file."""
    return case.source.model_dump(exclude_defaults=True) if case.source else {}
