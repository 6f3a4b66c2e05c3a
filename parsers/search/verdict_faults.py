"""The fault of an output that the verdict names: of several, the one that stands first.

What a model did wrong early explains what it, or a parser, does later; a schema or a name in the second call explains
nothing of the first. So all that is wrong with an output is laid in its order: what checks find, where the grammar is
left and a parser mends that, a marker that is spelled wrongly beside whole calls, a call that was given back, a bracket
too many. Inside one call the finding of a check says more than what was mended. That no answer came is a consequence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from parsers.checks.ill_formed import first_flaw
from parsers.checks.known import Fact, Origin
from parsers.checks.leaks import begins_call
from parsers.checks.mentions import is_shown, is_spoken_of
from parsers.search.found import Detail, Verdict, VerdictKind
from parsers.search.guess import spelled_rightly
from parsers.search.reading import Reading, first_leave
from parsers.search.verdict_evidence import GUESSED, Evidence
from parsers.search.verdict_outputs import TOLD, unanswered
from parsers.search.verdict_phrases import lowered, summary
from parsers.vocabulary.channels import call_words
from parsers.vocabulary.events import CallEnd, CallStart, Diagnostic
from parsers.vocabulary.json_values import is_json, is_object
from parsers.vocabulary.trace import Finding, RejectedCall, Topic
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import quoted

_FLAWS = {
    "strings_whole": "Types change by the schema",
    "schema_changes": "Types change by the schema",
    "known_tool": "The model made up a tool",
    "arguments_json": "The model wrote broken JSON",
    "arguments_prefix": "The model wrote broken JSON",
    "arguments_schema": "The model's arguments do not fit the schema",
    "no_terminal_leak": "The model wrote a marker as text",
    "no_control_tokens": "The model wrote a token as text",
    "spans_cover_input": "The model wrote too much",
}
# The same where the raw output or its grammar is unknown: whether the model or what read it did it nobody can say.
_SENT_FLAWS = {
    "known_tool": "A call has a made-up name",
    "arguments_json": "A call has broken JSON",
    "arguments_prefix": "A call has broken JSON",
    "arguments_schema": "Arguments do not fit the schema",
}
_NO_OBJECT = "The arguments of a call are JSON of another kind"
_READ = frozenset((Fact.RAW, Fact.PARSER, Fact.GRAMMAR))
_CLOSERS = re.compile(r"\s*([}\]]+)(?=\s|[^\w\s}\]]|\Z)")


class _Fault(NamedTuple):
    """A fault of the output, and where in it that stands."""

    at: int
    said: Verdict


def first_fault(evidence: Evidence) -> Verdict | None:
    """What the model wrote, or the request, is wrong by a check or by the grammar: the first of it."""
    numbers = _flawed(evidence)
    found = [*_by_finding(evidence, numbers), *_by_grammar(evidence)]
    if not numbers and not found:
        return None
    if not found:
        return unanswered(evidence)
    first = min(found, key=lambda fault: fault.at).said
    others = [number for number in numbers if number not in first.findings]
    first.findings += tuple(others)
    first.details += evidence.messages(others)
    return first


def mended(evidence: Evidence) -> Verdict | None:
    """No check finds anything, but the built-in parser notes that it put the output right."""
    flaw = _flaw(evidence)
    return None if flaw is None else _mended(evidence, flaw)


def _flawed(evidence: Evidence) -> list[int]:
    """The numbers of the findings that something is wrong with the output or the request."""
    flaws = [number for about in ("output", "request") for number in evidence.numbers(about=about)]
    unended = evidence.numbers(Topic.UNENDED)
    return sorted([one for one in flaws if evidence.findings[one].severity != "info" and one not in unended])


def _by_finding(evidence: Evidence, numbers: Sequence[int]) -> Iterator[_Fault]:
    """The fault that the first of the findings names."""
    found = [number for number in numbers if evidence.findings[number].topic is not Topic.UNANSWERED]
    if not found:
        return
    found.sort(key=lambda number: _place(evidence, evidence.findings[number]))
    first = evidence.findings[found[0]]
    whose = "The output" if evidence.known.raw else "What was sent"
    flaw = TOLD.get(first.topic, _words_of(evidence).get(first.check, f"{whose} is at fault"))
    if first.check == "arguments_json" and first.topic is Topic.ARGUMENTS and _is_other_json(evidence):
        flaw = _NO_OBJECT
    kind: VerdictKind = "types_changed" if first.topic is Topic.VALUE else "output_flawed"
    said = Verdict(
        kind,
        first.severity,
        first.about,
        f"{flaw}: {lowered(first.message)}",
        evidence.messages(found[1:]),
        tuple(found),
        first.proof,
    )
    yield _Fault(_place(evidence, first), said)


def _words_of(evidence: Evidence) -> Mapping[str, str]:
    """What a flaw is, by the check: the model's, where the output is known and so is its grammar."""
    if evidence.known.raw and (evidence.known.grammar is Origin.BUILTIN or not evidence.replayer.black_box):
        return _FLAWS
    return _SENT_FLAWS


def _is_other_json(evidence: Evidence) -> bool:
    """Return whether the first arguments that are no object are JSON all the same."""
    wrong = (call.arguments for call in evidence.message.tool_calls if not is_object(call.arguments))
    return is_json(next(wrong, ""))


def _place(evidence: Evidence, finding: Finding) -> int:
    """Where in the output a finding is. What is about the request comes before all of it, what has no place behind."""
    if finding.span is not None and evidence.known.raw:
        return finding.span.start
    return -1 if finding.about == "request" else len(evidence.text)


def _by_grammar(evidence: Evidence) -> Iterator[_Fault]:
    """The faults that are seen beside the grammar."""
    own = evidence.own
    if own is None or not evidence.known.has(*_READ):
        return
    flaw = _flaw(evidence)
    if flaw is not None and _is_call_before(evidence, own, flaw):
        yield _Fault(flaw.start, _mended(evidence, flaw))
    if any(call.complete for call in evidence.message.tool_calls) and not evidence.replayer.black_box:
        yield from _misspelt(evidence)
        yield from _given_back(evidence, own)
        yield from _surplus(own)


def _flaw(evidence: Evidence) -> Diagnostic | None:
    """The first place at which the grammar is left and a parser puts that right. What is missing at the very end may be
    a stop string, which servers leave out; the brace of a call is none, unless the length limit took it."""
    own = evidence.own
    flaw = first_flaw([event for _, event in evidence.trace.events()] if own is None else own.events)
    if flaw is None or flaw.start < len(evidence.text.rstrip()):
        return flaw
    brace = flaw.code == "missing_object_end" and evidence.context.finish_reason != "length"
    return flaw if brace and bool(evidence.good) else None


def _is_call_before(evidence: Evidence, own: Reading, flaw: Diagnostic) -> bool:
    """Return whether a place belongs to an earlier call than all that checks find."""
    numbers = _flawed(evidence)
    first = min([_place(evidence, evidence.findings[number]) for number in numbers], default=None)
    if first is None:
        return True
    return any(flaw.start < event.start <= first for event in own.events if isinstance(event, CallStart))


def _mended(evidence: Evidence, flaw: Diagnostic) -> Verdict:
    whose = "the parser mends it" if evidence.own is None else "other parsers may mend it in another way"
    words = f"The output is not well-formed at character {flaw.start:,}, and {whose}: {lowered(flaw.message)}"
    details, end = (Detail(f"Read: {summary(evidence.message)}."),), max(flaw.start + 1, flaw.end)
    span = Span(flaw.start, min(end, len(evidence.text)))
    return Verdict("output_flawed", "warning", "output", words, details, span=span, facts=_READ)


def _misspelt(evidence: Evidence) -> Iterator[_Fault]:
    """Beside whole calls stands one whose marker is almost right."""
    fmt, text = evidence.fmt, evidence.text
    found = None if fmt is None or len(text) > GUESSED else spelled_rightly(fmt, text, evidence.context)
    if found is None:
        return
    reading, leave = found
    if reading.complete > sum([call.complete for call in evidence.message.tool_calls]):
        words = f"A call is not read, for {leave.clause} at character {leave.at:,} of the output."
        yield _Fault(leave.at, _of_output(words, leave.at, leave.at + 1))


def _given_back(evidence: Evidence, own: Reading) -> Iterator[_Fault]:
    """Beside whole calls stands one that was meant, which the format cannot read."""
    meant = next((one for one in own.rejected if _is_meant(own, one)), None)
    if meant is None:
        return
    leave = first_leave(own)
    inside = leave is not None and leave.missing is not None and meant.start <= leave.at <= meant.end
    why = f"at character {leave.at:,} {leave.clause}" if inside and leave is not None else lowered(meant.reason.words)
    words = f"A call is not read and stays in the content, from character {meant.start:,} on: {why.rstrip('.')}."
    yield _Fault(meant.start, _of_output(words, meant.start, meant.end))


def _is_meant(own: Reading, call: RejectedCall) -> bool:
    """Return whether a call that was given back is no marker in prose, nor data: no policy chose that, and behind its
    marker a call begins, or another marker."""
    text, given = own.text, own.text[call.start : call.end]
    if call.reason.policy is not None or is_shown(text, call.start):
        return False
    marker = next((one for one in own.fmt.terminals.values() if one and given.startswith(one)), "")
    names = [tool.name for tool in own.context.tools]
    if not marker or marker == "{":
        return any(f'"{name}"' in given for name in names)
    end = call.start + len(marker)
    return begins_call(text, end) and not (is_spoken_of(text, call.start, end) or _is_read_after_all(own, call, marker))


def _is_read_after_all(own: Reading, call: RejectedCall, marker: str) -> bool:
    """Return whether the next call that is read is the one whose block a marker opened: words stand between the two,
    and no other marker."""
    starts = [event.start for event in own.events if isinstance(event, CallStart) and event.start >= call.end]
    if not starts or own.text.startswith(marker, starts[0]):
        return False
    between = own.text[call.start + len(marker) : starts[0]]
    return not any(one in between for one in own.fmt.terminals.values() if len(one) > 1)


def _surplus(own: Reading) -> Iterator[_Fault]:
    """Closing brackets behind a whole call, which nothing opens, are content there."""
    starts = [run.start for run in own.runs]
    for event in own.events:
        found = _CLOSERS.match(own.text, event.end) if isinstance(event, CallEnd) else None
        if found is None or not isinstance(event, CallEnd):
            continue
        at, end = found.span(1)
        if own.runs[bisect_right(starts, at) - 1].owner == "content":
            whose = call_words(event.call, own.message.tool_calls[event.call].name)
            words = f"The model wrote too much: {quoted(found[1])} stands behind {whose}, and closes nothing."
            yield _Fault(at, _of_output(words, at, end))
            return


def _of_output(words: str, start: int, end: int) -> Verdict:
    return Verdict("output_flawed", "warning", "output", words, span=Span(start, end), facts=_READ)
