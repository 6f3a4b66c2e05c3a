"""Checks on how the parser runs: what it holds, how it ends, whether it fails, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from parsers.checks.check import Need, check, chunking_of
from parsers.checks.subject import GROWTH, Subject
from parsers.vocabulary.events import Raised
from parsers.vocabulary.trace import Finding, Hold, Proof, Trace
from parsers.vocabulary.types import Span

SLOWER = 3.0  # a clock is less exact than a counter
MEASURABLE = 0.05  # seconds
SILENT, MANY_STEPS = 256, 16


@check("F1", "After the end of the output nothing is held back.", needs=(Need.INSIGHT, Need.FINISHED))
def _ends_idle(subject: Subject) -> Iterator[Finding]:
    for last in subject.trace.steps[-1:]:
        for hold in last.holds:
            if hold.end > hold.start:
                message = f"Characters {hold.start} to {hold.end} are still held after the end: {hold.reason}."
                within = subject.trace, hold.start, hold.end
                yield _ends_idle.finding(message, step=last.index, within=within)
        if not last.end:
            yield _ends_idle.finding("The parser was never told that the output ended.")


@check(
    "L7",
    "Text held because a marker may begin there is always shorter than the longest marker.",
    needs=(Need.INSIGHT,),
)
def _held_bounded(subject: Subject) -> Iterator[Finding]:
    """The first step with such a hold, and the longest one. Other holds have other reasons."""
    limit = subject.grammar.longest_terminal
    holds = [(step, hold) for step, held in subject.trace.columns.holding() for hold in held if hold.kind == "lexer"]
    long = [(step, hold) for step, hold in holds if _length(hold) >= max(limit, 1)]
    for step, hold in long[:1]:
        longest = max([_length(one) for _, one in long])
        message = f"Up to {longest} characters are held for a marker, though the longest has {limit}."
        yield _held_bounded.finding(message, step=step, within=(subject.trace, hold.start, hold.end))


def _length(hold: Hold) -> int:
    return hold.end - hold.start


@check("F3", "The finish reason is length for a cut output, else tool_calls if there are calls, else as given.")
def _finish_reason(subject: Subject) -> Iterator[Finding]:
    """The reason is wrong; the server saw calls that the parser does not.

    A named tool choice may also end with stop, as in the OpenAI API.
    """
    trace, given = subject.trace, subject.request.finish_reason
    wanted = "length" if given == "length" else "tool_calls" if subject.calls else given or "stop"
    named = subject.request.tool_choice == "named" and trace.finish_reason == "stop" and wanted == "tool_calls"
    last = trace.steps[-1].index if trace.steps else None
    if trace.finish_reason != wanted and not named:
        message = f"The finish reason is `{trace.finish_reason}` and should be `{wanted}`."
        if not trace.finish_reason:
            message = f"No finish reason is sent; it should be `{wanted}`."
        yield _finish_reason.finding(message, step=last, expected=wanted, actual=trace.finish_reason)
    if given == "tool_calls" and not subject.calls:
        message = "The server ended with `tool_calls`, but the parser found no call."
        yield _finish_reason.finding(message, severity="warning", step=last, expected=given, actual=wanted)


@check("E1", "The parser never fails on model output, under any chunking.")
def _parser_raised(subject: Subject) -> Iterator[Finding]:
    known: set[str] = set()
    for label, trace in [("", subject.trace), *subject.others]:
        raised = ((step, event) for step, event in trace.events() if isinstance(event, Raised))
        for step, event in raised:
            if event.failure.kind not in known:
                known.add(event.failure.kind)
                when = f'With the chunking "{label}", the parser' if label else "The parser"
                yield _parser_raised.finding(
                    f"{when} failed at step {step}: {event.message}",
                    step=None if label else step,  # step numbers belong to the traced replay only
                    span=Span(event.start, event.end),
                    proof=Proof(chunking_of(trace)) if label else None,
                )
            break


@check("P1", f"Twice the output takes at most {GROWTH} times the work.", severity="warning", needs=(Need.COSTS,))
def _linear_time(subject: Subject) -> Iterator[Finding]:
    if subject.costs.examined is not None:
        once, twice = subject.costs.examined
        if twice > GROWTH * once:
            yield _growth(once, twice, "examine", "characters", "")
        return
    once_s, twice_s = subject.costs.seconds or (0.0, 0.0)
    if twice_s > SLOWER * once_s and twice_s >= MEASURABLE:
        yield _growth(round(once_s * 1000), round(twice_s * 1000), "take", "time", " ms")


def _growth(once: int, twice: int, verb: str, noun: str, unit: str) -> Finding:
    factor = f"{twice / once:.1f} times" if once else f"{twice}{unit} instead of no"
    message = f"An output of twice the length makes the parser {verb} {factor} the {noun}."
    growth = SLOWER if unit else GROWTH
    return _linear_time.finding(message, expected=f"at most {growth * once:.0f}{unit}", actual=f"{twice}{unit}")


@check(
    "P2",
    "Text that has arrived is sent, or held for a stated reason.",
    severity="warning",
    needs=(Need.FINISHED, Need.RAW),
)
def _emission_lag(subject: Subject) -> Iterator[Finding]:
    """The longest text that is kept back without a reason; for a black box a note, where nothing at all was sent."""
    trace = subject.trace
    length, index, start = (_late_delta if subject.black_box else _unaccounted)(trace)
    within = trace, start, start + length
    if not subject.black_box:
        message = f"{length} characters have arrived and are neither sent nor held for a stated reason."
        if length > max(subject.grammar.longest_terminal, 1):
            yield _emission_lag.finding(message, step=-index, within=within)
    elif length >= SILENT and len(trace.steps) >= MANY_STEPS:
        message, span = f"Nothing is sent while {length} characters arrive.", Span(start, start + length)
        yield _emission_lag.finding(message, severity="info", step=-index, span=span)


def _unaccounted(trace: Trace) -> tuple[int, int, int]:
    """The most text that has arrived and is neither sent nor held: its length, minus the step, and where it begins."""
    reach, columns = [0] * (len(trace.steps) + 1), trace.columns
    for first, last, event in columns.event_runs():
        if first < last:
            reach[first : last + 1] = columns.reaches(first, last)
        else:
            reach[first] = max(reach[first], event.end)
    for number, _, end in columns.held():
        reach[number] = max(reach[number], end)
    done = list(accumulate(reach, max))
    return max([(0, 0, 0), *[(end - done[step], -step, done[step]) for step, end in enumerate(trace.ends, 1)]])


def _late_delta(trace: Trace) -> tuple[int, int, int]:
    """The most text between two deltas, in the same way."""
    done, worst, ends = 0, (0, 0, 0), [0, *trace.ends]
    for number in trace.columns.senders():
        worst = max(worst, (ends[number - 1] - done, -number, done))
        done = ends[number]
    return worst
