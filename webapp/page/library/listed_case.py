"""What the library keeps of a case when it is saved: its words, its verdict, and the picture of what became of it.

All of it is computed from the run that saved it and written beside the case, so a page of the library replays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from parsers.cases.case import Case
from parsers.cases.departure import departure
from parsers.cases.engines import BUILTIN, engine_of
from parsers.search.verdict import verdict
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Message
from webapp.page.drawing import bars, percent
from webapp.page.library.band import role_of
from webapp.runs.runner import Run
from webapp.store import Listing

UNCHECKED = "unchecked"  # the verdict of an output so long that nobody waited for the checks
UNEXPECTED = "not_expected"  # that of a case which expects something else, where no check finds anything as bad
MOST_BARS = 80

# The kinds of verdicts in the words of a filter, where they are not those of the kind.
VERDICTS = {
    "all_hold": "holds",
    UNEXPECTED: "not as expected",
    "marker_leak": "leak",
    "output_flawed": "the model",
    "no_complete_call": "no whole call",
    "server_unparsed": "not parsed",
    "prompt_state_unknown": "where it starts",
}


def verdict_words(kind: str) -> str:
    """A kind of verdict in two or three words."""
    return VERDICTS.get(kind, kind.replace("_", " "))


def engine_title(engine: str, version: str) -> str:
    """An engine in one version, for people."""
    return f"{'built in' if engine == BUILTIN else engine} {version}".strip()


def listing_of(run: Run, told: Case, findings: Sequence[Finding] | None) -> Listing:
    """What the library shows of a run; `told` is its case with what its sharer says, `findings` are None where nothing
    was checked."""
    said = None if findings is None else verdict(findings, run.trace, run.replayer)
    kind, severity = (UNCHECKED, "info") if said is None else (said.kind, said.severity)
    departs = departure(told, run.trace)
    if departs is not None and (said is None or departs.leads(said.severity)):
        kind, severity = UNEXPECTED, departs.severity
    return Listing(
        title=told.title or "",
        parser=run.selection.name,
        engine=engine_of(told),
        verdict=kind,
        severity=severity,
        text=told.text() or _sent(run.trace.message),
        tags=told.flags,
        checks=sorted({one.check for one in findings or () if one.severity != "info"}),
        band=_band(run.trace),
    )


def _sent(message: Message) -> str:
    """What a server sent, where that is all that is known of an output."""
    calls = [part for call in message.tool_calls for part in (call.name, call.arguments)]
    return "\n".join([part for part in (message.reasoning, message.content, *calls) if part])


def _sent_band(message: Message) -> list[tuple[str, float, float]]:
    """The band of a message alone: how long its parts are, in the order in which a reader has them."""
    parts = [("reasoning", message.reasoning or ""), ("content", message.content or "")]
    for call in message.tool_calls:
        parts += [("name", call.name), ("arguments", call.arguments)]
    many, at, found = sum([len(text) for _, text in parts]), 0, []
    for role, text in parts:
        if text:
            found.append((role, percent(at, many), percent(len(text), many)))
        at += len(text)
    return found[:MOST_BARS]


def _band(trace: Trace) -> list[tuple[str, float, float]]:
    """Role, left edge and width of what the output became, in percent; what is neither text nor part of a call is a
    gap."""
    if not trace.partition:
        return _sent_band(trace.message)
    many = len(trace.text)
    places = [(role_of(one.owner), percent(one.start, many), percent(one.end, many)) for one in trace.partition]
    found = [(one.kind, one.x, one.width) for one in bars(places) if one.kind]
    return found[:MOST_BARS]
