"""What `replay` prints for a reader: which parser and why, the message, other chunkings, findings, the last steps."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from parsers.cases.case import Case
from parsers.cases.engines import traced_chunking
from parsers.cases.export.replay_command import replay_command
from parsers.cases.run import CaseRun, replayer_of
from parsers.cases.tested import as_test
from parsers.checks.check import Need
from parsers.compare.divergence import Divergence
from parsers.replays.chunking import label
from parsers.replays.replayer import Replayer
from parsers.search.found import Verdict, Why
from parsers.search.no_output import nothing_judged
from parsers.search.verdict import first_look
from parsers.vocabulary.events import Dropped
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import Message, MessageDelta
from webapp.commands.case_outcomes import not_expected
from webapp.commands.inputs import Given, shown
from webapp.commands.words import SHORT, count, literal, quoted, section, table, visible
from webapp.engines import choose

LONGEST = 4_000
LAST_STEPS = 8
FOLLOWING = 3  # so many findings are told under the one they follow from


def report(run: CaseRun, given: Given, again: Sequence[str] = ()) -> str:
    """The report, without the newline at its end. `again` are the options that a replay of it is given again."""
    lines = [*table(_head(run, given))]
    lines += section("message", table(_message(run.trace.message, run.trace.finish_reason), "  "))
    if different := [*not_expected(as_test(run))]:
        lines += section(different[0], [f"  {line}" for line in different[1:]])
    for title, rows in (("rejected calls", _rejected(run.trace)), ("dropped text", _dropped(run.trace))):
        if found := table(rows, "  "):
            lines += section(title, found)
    eventful = [step for step in run.trace.steps if step.transitions or step.holds or step.delta or step.end]
    title = f"steps in which something happened, of {len(run.trace.steps):,}"
    if len(eventful) > LAST_STEPS:
        title = f"last {LAST_STEPS} of the {len(eventful):,} steps in which something happened (all: --json)"
    lines += [
        *section(f"other chunkings: {_verdict(run)}", list(_chunkings(run, given.name, again))),
        *_judged(run),
        *section(title, table(_steps(run.trace, eventful), "  ")),
    ]
    return visible("\n".join(lines))


def _judged(run: CaseRun) -> list[str]:
    """The findings; before them, that a text may be no output of a model; of what surely is none, that alone."""
    replayer = None if run.plays else replayer_of(run.case, choose(run.case), run.stored)
    none = None if replayer is None else nothing_judged(replayer)
    if none is not None:
        return _said(none.verdict)
    doubt = None if replayer is None else _doubt(run, replayer)
    return [*(_said(doubt) if doubt is not None else []), *finding_section(run.findings, run.holding, run.skipped)]


def _said(verdict: Verdict) -> list[str]:
    return section(f"verdict: {verdict.headline}", [f"  {sentence}" for sentence in verdict.sentences])


def _doubt(run: CaseRun, replayer: Replayer) -> Verdict | None:
    """What takes away from a pass: nobody knows whether a model wrote the text, or nothing in it is for a parser."""
    message = run.trace.message
    if message.tool_calls or message.reasoning:
        return None
    said = first_look(run.findings, run.trace, replayer, held=len(run.holding))
    return said if said is not None and said.why in (Why.DOUBTFUL, Why.UNMARKED) else None


def _head(run: CaseRun, given: Given) -> Iterator[list[str]]:
    yield ["input", f"{shown(given.name)}: {given.title}"]
    yield from (["", note] for note in given.notes)
    name, title = run.format.name, run.format.title
    yield ["parser", title if run.trace.parser == title else f"{name}: {title}"]  # an engine's own is called so
    yield from (["", reason] for reason in run.selection.reasons)
    steps = count(len(run.trace.steps) - 1, "delta")
    markers = "nothing is parsed again" if run.plays else f"markers recognised by their {run.trace.mode}"
    tokens = f"{count(len(run.pieces), 'token')} ({_origin(run.case)})"
    unknown = run.plays and not run.pieces
    yield ["output", "unknown" if unknown else f"{count(len(run.trace.text), 'character')}, {tokens}"]
    yield ["replayed", f"{label(traced_chunking(run.case))}, {steps}; {markers}"]
    yield from (["", remark] for remark in run.remarks)


def _origin(case: Case) -> str:
    name = (case.tokenizer.name if case.tokenizer else None) or "embedded"
    if case.input.tokens is not None:
        return "as stored"
    return "one for each recorded delta" if case.input.deltas is not None else f"tokenizer {name}"


def _message(message: Message, finish_reason: str) -> Iterator[list[str]]:
    for name, text in (("reasoning", message.reasoning), ("content", message.content)):
        yield [name, "none" if text is None else quoted(text, LONGEST)]
    for index, call in enumerate(message.tool_calls):
        cut = "" if call.complete else ", cut off"
        yield [f"call {index}", f"{quoted(call.name, SHORT)}, id {quoted(call.id or '', SHORT)}{cut}"]
        yield ["", literal(call.arguments, LONGEST)]
    if not message.tool_calls:
        yield ["calls", "none"]
    yield ["finish_reason", finish_reason or "none"]


def _rejected(trace: Trace) -> Iterator[list[str]]:
    for call in trace.rejected_calls:
        yield [spanned(call.start, call.end), quoted(trace.text[call.start : call.end], SHORT), call.reason.words]


def _dropped(trace: Trace) -> Iterator[list[str]]:
    """Text that reaches nobody, white space aside: what a reader is most likely to miss."""
    for _, event in trace.events():
        if isinstance(event, Dropped) and trace.text[event.start : event.end].strip():
            yield [
                spanned(event.start, event.end),
                quoted(trace.text[event.start : event.end], SHORT),
                event.reason.words,
            ]


def _verdict(run: CaseRun) -> str:
    if run.plays:
        return "none, a recorded stream has one"
    different = sum(not other.same for other in run.compared)
    if not different:
        return f"{count(len(run.compared), 'replay')}, the same message every time"
    return f"{different} of {count(len(run.compared), 'replay')} gave another message"


def _chunkings(run: CaseRun, name: str, again: Sequence[str]) -> Iterator[str]:
    """One line for each replay that differs: where it parts, and how to see it."""
    for other in run.compared:
        if other.divergence is None:
            continue
        yield f"  {other.label} {parting(other.divergence)}"
        command = replay_command(other.trace.chunking_json, name)
        yield f"    {command} {shlex.join(again)}".rstrip()


def parting(at: Divergence) -> str:
    """Return where a replay parts from the traced one, as the end of a sentence."""
    where = at.channel if at.raw is None else f"{at.channel} at character {at.raw:,}"
    return f"parts in {where}: {quoted(at.actual, SHORT)} instead of {quoted(at.expected, SHORT)}"


def finding_section(
    findings: Sequence[Finding],
    holding: Sequence[str],
    skipped: Sequence[tuple[str, Need]],
    *,
    most: int | None = None,
    more: Callable[[Finding], Iterable[str]] | None = None,
) -> list[str]:
    """The findings of a run, and what was not found. `most` characters of a text are shown; `more` says more of one."""
    lines = finding_lines(findings, most=most, more=more)
    lines.append(f"  {count(len(holding), 'check holds', 'checks hold')}")
    for lacking in dict.fromkeys(need for _, need in skipped):
        lines.append(f"  not run: {', '.join([name for name, need in skipped if need is lacking])} ({lacking.words})")
    return section(f"findings: {severities(findings) or 'none'}", lines)


def severities(findings: Sequence[Finding]) -> str:
    """How many findings there are of each severity, those that follow from others apart."""
    many = Counter(finding.severity for finding in findings)
    known = [(word, many[word]) for word in ("error", "warning", "info") if many[word]]
    return ", ".join([count(number, word, word if word == "info" else "") for word, number in known])


def finding_lines(
    findings: Sequence[Finding], *, most: int | None = None, more: Callable[[Finding], Iterable[str]] | None = None
) -> list[str]:
    """The findings, each with its texts, what `more` says of it, and what follows from it."""
    lines = []
    for finding in findings:
        places = [] if finding.step is None else [f"step {finding.step:,}"]
        places += [] if finding.span is None else [f"characters {spanned(*finding.span)}"]
        name = f"{finding.id} {finding.check}" if more else finding.check
        lines += [f"  {finding.severity} {name}{': ' if places else ''}{', '.join(places)}", f"    {finding.message}"]
        texts = (("expected", finding.expected), ("actual", finding.actual))
        lines += [f"    {word} {quoted(text, most)}" for word, text in texts if text is not None]
        lines += [f"    {line}" for line in more(finding)] if more else []
        lines += [f"    from it: {one.message}" for one in finding.follows[:FOLLOWING]]
        rest = len(finding.follows) - FOLLOWING
        lines += [f"    and {count(rest, 'more finding')} that follow{'s' * (rest == 1)} from it"] * (rest > 0)
    return lines


def _steps(trace: Trace, eventful: Sequence[Step]) -> Iterator[list[str]]:
    yield ["step", "fed", "state after", "rows fired", "held", "sent"]
    for step in eventful[-LAST_STEPS:]:
        fed = "end" if step.end else quoted(trace.text[step.span.start : step.span.end], 24)
        fired = " ".join([f"{row.row}:{row.from_state}>{row.to_state}" for row in step.transitions])
        held = quoted(trace.held_text(step), 24) if step.holds else ""
        yield [f"{step.index:,}", fed, step.state, fired, held, "" if step.delta is None else sent_words(step.delta)]


def sent_words(delta: MessageDelta) -> str:
    """What a delta has, in words."""
    fields = [("reasoning", delta.reasoning), ("content", delta.content)]
    for call in delta.tool_calls:
        fields += [(f"call {call.index} name", call.name), (f"call {call.index} arguments", call.arguments)]
    return ", ".join([f"{name} {quoted(text, SHORT)}" for name, text in fields if text is not None])


def spanned(start: int, end: int) -> str:
    """A range of characters."""
    return f"{start:,}–{end:,}"
