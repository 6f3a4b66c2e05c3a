"""Checks on how the parser runs: what it holds, how it ends, whether it fails, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from parsers.checks.check import Need, check
from parsers.checks.known import Finish
from parsers.checks.metamorphic_output import grows_steeply, spent_words
from parsers.checks.subject import GROWTH, Subject, chunking_of
from parsers.replays.cut_grades import CutGrade
from parsers.vocabulary.events import Raised, Severity
from parsers.vocabulary.trace import Finding, Hold, Proof, Topic, Trace
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted, listed, quoted
from parsers.wire.endings import End
from parsers.wire.read import FINISH_OTHER

SILENT, MANY_STEPS = 256, 16


@check("F1", "After the end of the output nothing is held back.", needs=(Need.INSIGHT, Need.FINISHED))
def _ends_idle(subject: Subject) -> Iterator[Finding]:
    for last in subject.trace.steps[-1:]:
        for hold in last.holds:
            if hold.end > hold.start:
                which = f"Characters {hold.start} to {hold.end} of the output"
                message = f"{which} are still held after the end: {hold.reason}."
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

    A named tool choice may also end with stop, as in the OpenAI API; of a recording whose request is not known, nobody
    knows that. That a recording has none is no fault: it may end early, or be of a shape that never has one.
    """
    trace, given = subject.trace, subject.request.finish_reason
    last = trace.steps[-1].index if trace.steps else None
    if subject.server.plays and (not trace.finish_reason or (trace.finish_reason in _OF_CALLS and not subject.calls)):
        yield from _finish_of_server(subject, last)
        return
    if subject.server.plays and subject.has_note(FINISH_OTHER):
        return  # which of two reasons counts nobody knows: that is chunk_shape's
    if subject.server.plays and subject.server.end is not None:
        yield from _end_of_calls(subject, subject.server.end, last)
        return
    wanted = "length" if given == "length" else "tool_calls" if subject.calls else given or "stop"
    named = subject.request.tool_choice == "named" and trace.finish_reason == "stop" and wanted == "tool_calls"
    old = subject.has_old_call and trace.finish_reason == "function_call" and wanted == "tool_calls"
    if trace.finish_reason != wanted and not (named or old):
        message = f"The finish reason is `{trace.finish_reason}` and should be `{wanted}`"
        perhaps = subject.server.plays and not subject.known.tools and (trace.finish_reason, wanted) == _OF_NAMED
        message += ", unless the request named the tool." if perhaps else "."
        severity: Severity = "warning" if perhaps else "error"
        actual = trace.finish_reason
        yield _finish_reason.finding(message, severity=severity, step=last, expected=wanted, actual=actual)
    if given == "tool_calls" and not subject.calls:
        message = "The server ended with `tool_calls`, but the parser found no call."
        yield _finish_reason.finding(message, severity="warning", step=last, expected=given, actual=wanted)


def _end_of_calls(subject: Subject, end: End, last: int | None) -> Iterator[Finding]:
    """Another API has a word for an answer with calls, and the server ended that in the way of a plain one."""
    if subject.trace.finish_reason == "stop" and subject.calls:
        came = f"though {counted(len(subject.calls), 'call')} came"
        message = f"The server ended as if it had sent no call: {end.clause}, {came}."
        yield _finish_reason.finding(message, step=last, actual=end.word)


_OF_NAMED = ("stop", "tool_calls")  # the finish reason of a call that the request named, and of any other
_OF_CALLS = ("tool_calls", "function_call")
_UNFINISHED = {
    Finish.LEFT_OUT: "The server ended its stream without a finish reason.",
    Finish.UNSAID: "The server's answer is whole, and has no finish reason.",
}


def _no_call_came(subject: Subject, reason: str, last: int | None) -> Finding:
    """The end was that of calls: not recorded, where parts of the recording are missing, or not sent."""
    end = subject.server.end
    said, actual = (f"the finish reason is `{reason}`", reason) if end is None else (end.clause, end.word)
    if subject.known.whole:
        message = f"{said[0].upper()}{said[1:]}, but no call came."
        return _finish_reason.finding(message, severity="warning", step=last, actual=actual)
    message = f"Chunks of what was recorded are missing: {said}, and no call is there."
    return _finish_reason.finding(
        message, topic=Topic.CUT, severity="warning", about="request", step=last, actual=actual
    )


def _finish_of_server(subject: Subject, last: int | None) -> Iterator[Finding]:
    """A server gave no finish reason, or one of calls and sent none. What the model wrote is not known then."""
    reason, finish = subject.trace.finish_reason, subject.known.finish
    if reason:
        yield _no_call_came(subject, reason, last)
    elif finish in _UNFINISHED:
        yield _finish_reason.finding(_UNFINISHED[finish], severity="warning", step=last)
    elif finish is Finish.CUT:
        message = "What was recorded ends before a finish reason: what came after it is not known."
        yield _finish_reason.finding(message, topic=Topic.CUT, severity="warning", about="request", step=last)


@check(
    "F4",
    "A request that asks for a call gets one, of the tool that it names, and one that forbids calls gets none.",
    severity="warning",
    about="output",
    needs=(Need.FINISHED,),
)
def _call_as_asked(subject: Subject) -> Iterator[Finding]:
    """Where the server's own stream is played back, it is the server that promised. No fault where the end is missing;
    that a parser reads calls though none are allowed is tool_choice's."""
    request, played = subject.request, subject.server.plays
    if subject.known.finish is Finish.CUT and played:
        return
    reason = subject.trace.finish_reason if played else request.finish_reason
    who = "the server sent" if played else "the output has"
    names = list(dict.fromkeys([call.name for call in subject.calls]))
    if request.tool_choice == "none" and played and names:
        clause = f"forbids calls (`tool_choice: none`), and {who} {counted(len(subject.calls), 'call')}"
    elif request.tool_choice == "named" and request.named_tool not in names:
        came = (
            f"only {'one' if len(names) == 1 else 'some'} of {listed([quoted(name) for name in names])}"
            if names
            else "none"
        )
        clause = f"requires a call of {quoted(request.named_tool or '')}, and {who} {came}"
    elif request.tool_choice == "required" and not names:
        clause = f"requires a call (`tool_choice: required`), and {who} none"
    else:
        return
    cut = reason == "length"
    yield _call_as_asked.finding(
        f"The request {clause}{': its length limit cut it off' if cut else ''}.",
        severity="info" if cut else None,
        about="parser" if played else None,
        sort=request.tool_choice,
    )


@check("E1", "The parser never fails on model output, under any chunking.")
def _parser_raised(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind of failure. It weighs as the surest cuts that lead to it; slowness is no matter of
    cuts. A failure of the replay under study is a warning only where no server cuts like that: of any tokens some make
    such a delta, and nothing else can be said of that replay."""
    known: set[str] = set()
    replays = [("", subject.trace), *subject.others]
    surest = subject.replays.surest()
    graded = [(subject.replays.grade(label) if label else surest, trace.failure) for label, trace in replays]
    grades: dict[str, CutGrade] = {}
    for grade, failure in sorted(graded, key=lambda pair: pair[0].rank):
        if failure is not None:
            grades.setdefault(failure.kind, CutGrade.HONEST if failure.slow else grade)
    for label, trace in replays:
        raised = ((step, event) for step, event in trace.events() if isinstance(event, Raised))
        for step, event in raised:
            if event.failure.kind not in known:
                known.add(event.failure.kind)
                when = f'With the chunking "{label}", the parser' if label else "The parser"
                doubted = not event.failure.slow and (label or surest is CutGrade.HOSTILE)
                rest = subject.replays.supposing(label) if doubted else ""
                severity = grades.get(event.failure.kind, CutGrade.HONEST).weigh("error")
                unplaced = event.failure.unplaced
                at = f"step {0 if event.failure.before else step}, "
                yield _parser_raised.finding(
                    f"{when} failed {'' if unplaced else f'at {at}'}{fed_at(trace, step)}{rest}: {event.message}",
                    severity=severity if label else "warning" if severity == "info" else "error",
                    step=None if label or unplaced else step,  # step numbers belong to the traced replay only
                    span=None if unplaced else Span(event.start, event.end),
                    proof=Proof(chunking_of(trace)) if label else None,
                )
            break


def fed_at(trace: Trace, number: int) -> str:
    """What a step was fed, as a part of a sentence: 'on the delta `"`'."""
    step = trace.steps[number - 1]
    raised = [event.failure for event in step.events if isinstance(event, Raised)]
    if any(failure.before for failure in raised):
        return "before the first delta"
    if any(failure.unplaced for failure in raised):
        return "at a step that is not known"
    text = trace.text[step.span.start : step.span.end]
    return "at the end of the output" if step.end else f"on the delta {quoted(text)}" if text else "on an empty delta"


@check("P1", f"Twice the output takes at most {GROWTH} times the work.", severity="warning", needs=(Need.COSTS,))
def _linear_time(subject: Subject) -> Iterator[Finding]:
    if subject.costs.examined is not None:
        once, twice = subject.costs.examined
        if twice > GROWTH * once:
            factor = f"{twice / once:.1f} times" if once else f"{twice} instead of no"
            message = f"An output of twice the length makes the parser examine {factor} the characters."
            yield _linear_time.finding(message, expected=f"at most {GROWTH * once:.0f}", actual=str(twice))
        return
    for cost, slope in (("lines", subject.costs.lines), ("times", subject.costs.times)):
        if grows_steeply(slope, timed=cost == "times"):
            takes, expected, actual = spent_words(slope, cost)
            yield _linear_time.finding(takes, expected=expected, actual=actual)
            return


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
