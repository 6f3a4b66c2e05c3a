"""Checks on how the parser runs: what it holds, how it ends, whether it fails, what it costs."""

from __future__ import annotations

from parsers.checks.check import Subject, check, chunking_of
from parsers.vocabulary.trace import Finding, Hold, Proof
from parsers.vocabulary.types import Span

GROWTH = 2.6
SLOWER = 3.0  # a clock is less exact than a counter
MEASURABLE = 0.05  # seconds
SILENT, MANY_STEPS = 256, 16


@check("ends_idle", "F1", "After the end of the output nothing is held back.", needs=("finished",), black_box=False)
def ends_idle(subject: Subject) -> list[Finding]:
    """One finding per hold that is still there after the last step."""
    trace = subject.trace
    if not trace.steps:
        return []
    last = trace.steps[-1]
    holds = [hold for hold in last.holds if hold.end > hold.start]
    findings = [
        ends_idle.finding(
            f"Characters {hold.start} to {hold.end} are still held after the end: {hold.reason}.",
            step=last.index,
            span=Span(hold.start, hold.end),
            actual=trace.text[hold.start : hold.end],
        )
        for hold in holds
    ]
    return findings if last.end else [*findings, ends_idle.finding("The parser was never told that the output ended.")]


@check(
    "held_bounded",
    "L7",
    "Text held because a marker may begin there is always shorter than the longest marker.",
    black_box=False,
)
def held_bounded(subject: Subject) -> list[Finding]:
    """At most one finding: the first step with such a hold, and the longest one. Other holds have other reasons."""
    limit = max(subject.longest_terminal, 1)
    long = [
        (step.index, hold)
        for step in subject.trace.steps
        for hold in step.holds
        if hold.kind == "lexer" and _length(hold) >= limit
    ]
    if not long:
        return []
    index, hold = long[0]
    longest = max([_length(held) for _, held in long])
    finding = held_bounded.finding(
        f"Up to {longest} characters are held for a marker, though the longest has {subject.longest_terminal}.",
        step=index,
        span=Span(hold.start, hold.end),
        actual=subject.trace.text[hold.start : hold.end],
    )
    return [finding]


def _length(hold: Hold) -> int:
    return hold.end - hold.start


@check(
    "finish_reason",
    "F3",
    "The finish reason is length for a cut output, else tool_calls if there are calls, else as given.",
)
def finish_reason(subject: Subject) -> list[Finding]:
    """At most two findings: the reason is wrong; the server saw calls that the parser does not.

    A named tool choice may also end with stop, as in the OpenAI API.
    """
    trace, said = subject.trace, subject.context.finish_reason
    calls = trace.message.tool_calls
    wanted = "length" if said == "length" else "tool_calls" if calls else said or "stop"
    named = subject.context.tool_choice == "named" and trace.finish_reason == "stop" and wanted == "tool_calls"
    last = trace.steps[-1].index if trace.steps else None
    findings = []
    if trace.finish_reason != wanted and not named:
        message = f"The finish reason is `{trace.finish_reason}` and should be `{wanted}`."
        if not trace.finish_reason:
            message = f"No finish reason is sent; it should be `{wanted}`."
        findings.append(finish_reason.finding(message, step=last, expected=wanted, actual=trace.finish_reason))
    if said == "tool_calls" and not calls:
        message = "The server ended with `tool_calls`, but the parser found no call."
        findings.append(finish_reason.finding(message, severity="warning", step=last, expected=said, actual=wanted))
    return findings


@check("parser_raised", "E1", "The parser never fails on model output, under any chunking.")
def parser_raised(subject: Subject) -> list[Finding]:
    """One finding for each kind of failure, in the traced replay or in the first other one that has it."""
    found: dict[str, Finding] = {}
    for label, trace in [("", subject.trace), *subject.others]:
        raised = [(step, event) for step in trace.steps for event in step.diagnostics if event.code == "parser_raised"]
        if raised:
            step, event = raised[0]
            when = f'With the chunking "{label}", the parser' if label else "The parser"
            words = f"{when} failed at step {step.index}: {event.message}"
            # Step numbers belong to the traced replay only.
            index = None if label else step.index
            kind = event.message.partition(":")[0]
            proof = Proof(chunking_of(trace)) if label else None
            one = parser_raised.finding(words, step=index, span=Span(event.start, event.end), proof=proof)
            found.setdefault(kind, one)
    return list(found.values())


@check(
    "linear_time",
    "P1",
    f"Twice the output takes at most {GROWTH} times the work.",
    severity="warning",
    needs=("costs",),
)
def linear_time(subject: Subject) -> list[Finding]:
    """At most one finding, from the characters examined for the output and for one of twice its length; else from
    the time both took."""
    if subject.counters is not None:
        once, twice = subject.counters
        return [] if twice <= GROWTH * once else [_grows(once, twice, "examine", "characters", "")]
    once_s, twice_s = subject.timings or (0.0, 0.0)
    if twice_s <= SLOWER * once_s or twice_s < MEASURABLE:
        return []
    return [_grows(round(once_s * 1000), round(twice_s * 1000), "take", "time", " ms")]


def _grows(once: int, twice: int, verb: str, noun: str, unit: str) -> Finding:
    factor = f"{twice / once:.1f} times" if once else f"{twice}{unit} instead of no"
    words = f"An output of twice the length makes the parser {verb} {factor} the {noun}."
    growth = SLOWER if unit else GROWTH
    return linear_time.finding(words, expected=f"at most {growth * once:.0f}{unit}", actual=f"{twice}{unit}")


@check(
    "emission_lag",
    "P2",
    "Text that has arrived is sent, or held for a stated reason.",
    severity="warning",
    needs=("finished", "raw"),
    black_box=True,
)
def emission_lag(subject: Subject) -> list[Finding]:
    """At most one finding: the longest text that is kept back without a reason; for a black box, a note."""
    if subject.black_box:
        return _silence(subject)
    trace, done, worst = subject.trace, 0, (0, 0, 0)
    for step in trace.steps:
        done = max([done, *[event.end for event in step.events], *[hold.end for hold in step.holds]])
        worst = max(worst, (step.span.end - done, -step.index, done))
    length, index, start = worst
    if length <= max(subject.longest_terminal, 1):
        return []
    words = f"{length} characters have arrived and are neither sent nor held for a stated reason."
    span = Span(start, start + length)
    return [emission_lag.finding(words, step=-index, span=span, actual=trace.text[start : start + length])]


def _silence(subject: Subject) -> list[Finding]:
    """The longest part of the output during which nothing was sent."""
    trace, since, worst = subject.trace, 0, (0, 0, 0)
    for step in trace.steps:
        if step.delta is not None:
            worst = max(worst, (step.span.start - since, -step.index, since))
            since = step.span.end
    length, index, start = worst
    if length < SILENT or len(trace.steps) < MANY_STEPS:
        return []
    words = f"Nothing is sent while {length} characters arrive."
    return [emission_lag.finding(words, severity="info", step=-index, span=Span(start, start + length))]
