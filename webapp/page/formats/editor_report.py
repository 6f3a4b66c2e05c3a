"""The report of the format editor on a text: findings, the machine, and what became of every sample.

A sample is an output, and what is expected of it if anything. It is replayed token by token and whole, and beside
another format. The comparison is between messages: what a client would have got from the format as typed, from the
one beside it, and what the sample expects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from werkzeug.exceptions import RequestEntityTooLarge

from parsers.cases import jsontext
from parsers.cases.case import Case, CaseError, Expect
from parsers.cases.engines import policy_of
from parsers.cases.expect import Difference, accept, arguments_text, trace_differences
from parsers.compare.divergence import ANY_ID, divergence, same_message, shared_prefix
from parsers.formats.diagram import diagram, rows_table
from parsers.formats.extends import Expanded, pointer_to
from parsers.formats.layout import NOTHING_DRAWN
from parsers.formats.lint import closers_of
from parsers.formats.model import Format
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.replay import finish_reason
from parsers.replays.replayer import Replayer
from parsers.search.short import search_shortly
from parsers.selection.registry import build
from parsers.vocabulary.channels import Channel
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Ownership, Trace
from parsers.vocabulary.types import FormatError, Message, Piece, UsageError
from webapp.formats.folder import all_formats, check_among
from webapp.formats.format_text import CheckedText, Noted
from webapp.glyphs import count, shorten, show_lines
from webapp.page.formats.editor import OPENED, Editor, Sample, opened_format, sample_case
from webapp.page.inspect.step import Machine
from webapp.runs.format_example import example_findings
from webapp.runs.prepare import error_place, tokens_of
from webapp.runs.runner import collector_paused
from webapp.security import check_limit
from webapp.settings import Settings
from webapp.tokenizers import markers_of

_MOST_DRAWN = 24  # states; a layout's work grows faster than its states, and this one is made while somebody types
_MOST_TOKENS = 20_000  # of a sample: four replays of it come with every pause in typing
_WORK = 100_000  # for the chunkings of all samples, see search_shortly: a tenth of a second
SHOWN = 4_000  # characters of a cell
CALLS_SHOWN = 20
NOTES_SHOWN = 6
_FARTHEST = 64  # white space between a closing tag and what is left over
_TOO_LONG = (
    "The output has {:,} tokens, too many to replay while you type: the editor takes "
    f"{_MOST_TOKENS:,}. Shorten it, or open it in the inspector."
)
_NOUNS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


# The whole report


@dataclass(slots=True)
class _StateLine:
    """One state: what its text is, the terminals it accepts, its other triggers, and whether anything leads there."""

    name: str
    start: str
    reads: str
    accepts: list[tuple[str, str]]
    inert: list[tuple[str, str]]
    triggers: list[str]
    reached: bool
    samples: int
    source: str


@dataclass(slots=True)
class _MachineReport(Machine):
    """The format seen from outside. `idle` are the rows that can never fire; `terminals` are names, texts, how each
    stands in the embedded tokenizer's vocabulary, and where it comes from. `too_many`: more than is drawn while
    somebody types."""

    states: list[_StateLine] = field(default_factory=list)
    idle: set[str] = field(default_factory=set)
    terminals: list[tuple[str, str, str, str]] = field(default_factory=list)
    too_many: bool = False


@dataclass(slots=True)
class _Report:
    """Everything below and beside the text. `machine` None: the text is no format yet."""

    checked: CheckedText
    machine: _MachineReport | None
    outcomes: dict[int, Outcome]
    headline: str
    severity: str
    beside: Format | None = None
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name that the format gives itself, as far as that can be read."""
        data = self.checked.data
        name = data.get("name") if isinstance(data, dict) else None
        return name if isinstance(name, str) else ""

    @property
    def failing(self) -> int:
        """The number of samples that have an error."""
        return sum(outcome.severity == "error" for outcome in self.outcomes.values())

    @property
    def samples_said(self) -> str:
        """What is to be said of all samples together, the worst first."""
        outcomes = self.outcomes.values()
        if self.failing or not outcomes:
            return f"{count(self.failing, 'sample')} failing" if outcomes else "no sample"
        departing = sum(outcome.departs for outcome in outcomes)
        if departing and self.beside is not None:
            differ = "differs" if departing == 1 else "differ"
            return f"no sample failing, {departing} {differ} from {self.beside.name}"
        warned = sum(outcome.severity == "warning" for outcome in outcomes)
        return f"no sample failing, {warned} with a warning" if warned else "all samples fine"


def report(editor: Editor, settings: Settings) -> _Report:
    """Check the text, and where nothing is wrong with it replay the samples."""
    found = check_among(editor.text, settings)
    beside = opened_format(editor) if editor.beside == OPENED else all_formats(settings).get(editor.beside)
    samples, fmt = editor.samples, found.runs
    work = _WORK // (len(samples) + 1)
    outcomes = {one.number: _outcome(editor, one, found, beside, settings, work=work) for one in samples}
    if fmt is not None and fmt.example not in [sample.output for sample in samples]:
        found.note(example_findings(fmt, work))
    return _Report(
        checked=found,
        machine=_machine_report(found, outcomes.values()),
        outcomes=outcomes,
        headline=_headline(found),
        severity=found.findings[0].severity if found.findings else "pass",
        beside=beside,
        lines=_lines(found),
    )


def _headline(found: CheckedText) -> str:
    counts = Counter(one.severity for one in found.findings)
    words = [count(counts[severity], noun) for severity, noun in _NOUNS.items() if counts[severity]]
    return ", ".join(words) if words else "Nothing found"


def _lines(found: CheckedText) -> list[tuple[int, str]]:
    worst: dict[int, str] = {}
    for one in found.findings:
        worst.setdefault(one.place.line, one.severity)
    return [(number, worst.get(number, "")) for number in range(1, found.text.count("\n") + 2)]


def runnable(editor: Editor, sample: Sample, settings: Settings) -> Case:
    """The case of a sample. Raises CaseError for a format that may not run, as any case that brings one does."""
    found = check_among(editor.text, settings)
    if found.runs is None:
        first = found.findings[0]
        raise CaseError(f"line {first.place.line}: {first.message}", f"/parser/format{first.pointer}")
    return sample_case(editor, sample, found.written_out)


def _outcome(
    editor: Editor, sample: Sample, found: CheckedText, beside: Format | None, settings: Settings, *, work: int
) -> Outcome:
    fmt = found.runs
    if fmt is None:
        return Outcome(problem="Not replayed: the format has an error.", at="format")
    try:
        case = sample_case(editor, sample, found.written_out)
        text = case.text()
        check_limit(settings, "max_text_bytes", len(text.encode("utf-8", "surrogatepass")), "The output")
        with error_place("/parser/format/tokens"):
            pieces = tokens_of(case, fmt)
        check_limit(settings, "max_tokens", len(pieces), "The output")
        if len(pieces) > _MOST_TOKENS:
            return Outcome(problem=_TOO_LONG.format(len(pieces)), at="output")
        with collector_paused():
            return replayed(case, pieces, fmt, beside, work=work)
    except CaseError as error:
        return Outcome(problem=error.message[:1].upper() + error.message[1:], at=_field(error.pointer))
    except (UsageError, FormatError, RequestEntityTooLarge) as error:
        words = error.description or "" if isinstance(error, RequestEntityTooLarge) else str(error)
        return Outcome(problem=words, at="output")


def _field(pointer: str) -> str:
    return next((name for name in ("expect", "tools") if pointer.startswith(f"/{name}")), "output")


def _machine_report(found: CheckedText, outcomes: Iterable[Outcome]) -> _MachineReport | None:
    """The machine of a format, with what the samples did of it; None where the text is no format."""
    fmt, expanded = found.format, found.expanded
    if fmt is None or expanded is None:
        return None
    runs = [outcome.trace for outcome in outcomes if outcome.trace is not None]
    fired: Counter[str] = Counter()
    visits: Counter[str] = Counter()
    for trace in runs:
        moves = [move for _, move in trace.columns.moves()]
        fired.update(move.row for move in moves)
        visits.update({trace.steps[0].state, *(name for move in moves for name in (move.from_state, move.to_state))})
    lost = {_state(one.part) for one in found.findings if one.code == "unreachable_state"}
    drawing = diagram(fmt) if len(fmt.states) <= _MOST_DRAWN else NOTHING_DRAWN
    return _MachineReport(
        drawing=drawing,
        rows=rows_table(fmt, expanded),
        visited={name for name in fmt.states if name not in lost and (visits[name] or not runs)},
        fired=dict.fromkeys(
            [(one.source, one.target) for one in drawing.edges if not runs or any(fired[row] for row in one.rows)], ()
        ),
        times=fired,
        note=_note(fmt, lost, runs, visits),
        words=_words(fmt, lost),
        states=[_state_line(fmt, expanded, name, name not in lost, visits[name]) for name in fmt.states],
        idle=_idle(fmt, found.findings, lost),
        terminals=[_terminal(fmt, expanded, name, text) for name, text in fmt.terminals.items()],
        too_many=not drawing.nodes,
    )


def _words(fmt: Format, lost: set[str]) -> str:
    words = f"State diagram: {', '.join(fmt.states)}. It starts in {fmt.initial}."
    return words + (f" Unreachable: {', '.join(sorted(lost))}." if lost else "")


def _note(fmt: Format, lost: set[str], runs: Sequence[Trace], visits: Mapping[str, int]) -> str:
    words = [count(len(fmt.states), "state")]
    if lost:
        words.append(f"{len(lost)} unreachable")
    never = sum(not visits[name] for name in fmt.states if name not in lost)
    if runs and never:
        words.append(f"{never} in no sample")
    return ", ".join(words)


def _state(pointer: str) -> str:
    return pointer.split("/")[2].replace("~1", "/").replace("~0", "~")


def _idle(fmt: Format, findings: list[Noted], lost: set[str]) -> set[str]:
    """The ids of rows that can never fire: those of unreachable states, and those the static check names."""
    places = {one.part for one in findings if one.code == "never_fires"}
    counters: Counter[str] = Counter()
    idle = set()
    for row in rows_table(fmt):
        if row.state in lost or f"/states/{row.state}/rows/{counters[row.state]}" in places:
            idle.add(row.id)
        counters[row.state] += 1
    return idle


def _state_line(fmt: Format, expanded: Expanded, name: str, reached: bool, samples: int) -> _StateLine:
    state = fmt.states[name]
    on = list(dict.fromkeys(row.on for row in state.rows))
    starts = [(fmt.initial, "first"), (fmt.initial_when_reasoning_open, "first where reasoning is open")]
    return _StateLine(
        name=name,
        start=", ".join([words for first, words in starts if first == name]),
        reads=f"codec {state.codec.name}" if state.codec else state.text or "",
        accepts=[(trigger, fmt.terminals[trigger]) for trigger in on if trigger in fmt.terminals],
        inert=[(terminal, fmt.terminals[terminal]) for terminal in state.inert if terminal in fmt.terminals],
        triggers=[trigger for trigger in on if trigger not in fmt.terminals],
        reached=reached,
        samples=samples,
        source=expanded.origin(pointer_to("states", name)).label,
    )


def _terminal(fmt: Format, expanded: Expanded, name: str, text: str) -> tuple[str, str, str, str]:
    special = markers_of(fmt).get(text)
    token = "" if special is None else "one special token" if special else "one token"
    return name, text, token, expanded.origin(pointer_to("terminals", name)).label


# One sample


@dataclass(slots=True)
class _Cell:
    """A text and the part of it, [start, end), that is not the same beside it."""

    text: str
    start: int = 0
    end: int = 0

    @property
    def pieces(self) -> list[tuple[str, Markup]]:
        """(class, characters) in order; what differs has the class of a difference."""
        cut = ((0, self.start, "same"), (self.start, self.end, "differs"), (self.end, len(self.text), "same"))
        return [(kind, show_lines(self.text[low:high])) for low, high, kind in cut if low < high]


@dataclass(slots=True)
class _Part:
    """One part of the message in every column. None: that message has no such part; `wanted` None: not checked."""

    name: str
    mine: _Cell | None
    beside: _Cell | None = None
    wanted: _Cell | None = None
    same: bool = True
    met: bool | None = None


@dataclass(slots=True)
class _Remark:
    """One thing to say of a sample: `severity` is pass, info, warning or error."""

    severity: str
    text: str


@dataclass(slots=True)
class Outcome:
    """The result of one sample. `problem` says why it could not be replayed, `at` in which field of the sample."""

    problem: str = ""
    at: str = ""
    parts: list[_Part] = field(default_factory=list)
    remarks: list[_Remark] = field(default_factory=list)
    trace: Trace | None = None
    accepted: str = ""
    departs: bool = False  # from the format beside

    @property
    def severity(self) -> str:
        """The worst there is to say."""
        if self.problem:
            return "error"
        order = ("error", "warning", "info", "pass")
        return min([remark.severity for remark in self.remarks], key=order.index, default="pass")


@dataclass(slots=True)
class _Said:
    """The message that a client would have got, and why it ended."""

    message: Message
    finish: str


def _replayer_with(fmt: Format, case: Case, pieces: Sequence[Piece]) -> Replayer:
    """The replayer of a sample for a format, with those policies of the case that the format has."""
    known = set(fmt.policies)
    parser = build(fmt, {key: value for key, value in policy_of(case).items() if key in known})
    context, mode, markers = case.to_context(), case.mode(), case.markers()
    return Replayer(lambda: parser, tuple(pieces), context, mode, markers, terminals=fmt.terminals)


def _said(replayer: Replayer, chunking: Chunking) -> _Said:
    message = replayer.outcome(chunking).message
    return _Said(message, finish_reason(message, replayer.context.finish_reason))


def replayed(case: Case, pieces: Sequence[Piece], fmt: Format, beside: Format | None, *, work: int = _WORK) -> Outcome:
    """Replay a sample with the format as typed, `work` in other chunkings, and with the one beside it."""
    runs = _replayer_with(fmt, case, pieces)
    trace = runs.trace(TRACED)
    mine = _Said(trace.message, trace.finish_reason)
    others = None if beside is None else _replayer_with(beside, case, pieces)
    other = None if others is None else _said(others, TRACED)
    found = trace_differences(case.expect, trace, case.compare) if case.expect else None
    outcome = Outcome(trace=trace, accepted=_accepted_text(mine.message))
    outcome.parts = list(_parts(mine, other, case.expect, found))
    outcome.remarks = [_expectation(found), *_chunkings(runs, trace, work)]
    if other is not None and others is not None and beside is not None:
        outcome.remarks.append(_beside(mine, other, _said(others, WHOLE), beside, outcome.parts))
        outcome.departs = outcome.remarks[-1].severity != "pass"
    outcome.remarks += [*_round_trip(case, fmt, trace), *_notes(trace)]
    return outcome


def _accepted_text(message: Message) -> str:
    data = accept(message).model_dump(mode="json", exclude_none=True)
    full = {"reasoning": None, "content": None, **data}
    return jsontext.pretty(full, lambda path: len(path) > 1)


def _parts(mine: _Said, other: _Said | None, expect: Expect | None, found: list[Difference] | None) -> list[_Part]:
    own, beside = _texts(mine), _texts(other) if other else {}
    wanted = _wanted(expect) if expect else {}
    failed = {difference.field for difference in found or ()}
    parts = []
    for name in dict.fromkeys([*own, *wanted, *beside]):
        left, right = own.get(name), beside.get(name)
        part = _Part(name, *_cells(left, right))
        part.same = other is None or left == right
        if name in wanted:
            part.wanted = _Cell(wanted[name][:SHOWN])
            part.met = name not in failed and name in own
        parts.append(part)
    return parts


def _texts(said: _Said) -> dict[str, str]:
    message = said.message
    texts = {"reasoning": message.reasoning or "", "content": message.content or ""}
    for index, call in enumerate(message.tool_calls[:CALLS_SHOWN]):
        texts[str(Channel(index, "name"))] = call.name
        texts[str(Channel(index, "arguments"))] = call.arguments + ("" if call.complete else " (cut off)")
    return {**texts, "finish_reason": said.finish}


def _wanted(expect: Expect) -> dict[str, str]:
    texts = {"reasoning": expect.reasoning, "content": expect.content, "finish_reason": expect.finish_reason}
    for index, call in enumerate((expect.tool_calls or ())[:CALLS_SHOWN]):
        texts[str(Channel(index, "name"))] = call.name
        texts[str(Channel(index, "arguments"))] = arguments_text(call)
    return {name: text for name, text in texts.items() if text is not None}


def _cells(left: str | None, right: str | None) -> tuple[_Cell | None, _Cell | None]:
    """Both texts, with the stretch between what they begin with and what they end with marked."""
    if left is None or right is None or left == right:
        return _cell(left), _cell(right)
    head = shared_prefix(left, right)
    tail = shared_prefix(left[head:][::-1], right[head:][::-1])
    return _Cell(_cut(left), head, len(left) - tail), _Cell(_cut(right), head, len(right) - tail)


def _cell(text: str | None) -> _Cell | None:
    return None if text is None else _Cell(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _expectation(found: list[Difference] | None) -> _Remark:
    if found is None:
        return _Remark("info", "Nothing is expected of this sample, so only the chunkings are compared.")
    if not found:
        return _Remark("pass", "As expected.")
    fields = ", ".join([difference.field for difference in found[:4]])
    return _Remark("error", f"Not as expected: {fields}.")


def _chunkings(replayer: Replayer, trace: Trace, work: int) -> list[_Remark]:
    """Whether the sample gives one message, and an owner for every character, however it is cut."""
    found = search_shortly(replayer, trace, work)
    problems = found.problems()
    if not problems:
        more = "" if found.complete else "; the search in the inspector tries more"
        which = f"under {found.tried:,} chunkings, token by token and whole among them"
        return [_Remark("pass", f"The same message {which}{more}.")]
    parting = None if found.other is None else divergence(trace, replayer.trace(found.other))
    where = "" if parting is None else f", in {parting.channel}"
    return [_Remark("error", f"{problems[0]}{where}."), *[_Remark("error", f"{one}.") for one in problems[1:]]]


def _beside(mine: _Said, other: _Said, whole: _Said, fmt: Format, parts: list[_Part]) -> _Remark:
    if not same_message(other.message, whole.message):
        return _Remark("warning", f"{fmt.name} itself gives different messages token by token and whole.")
    if same_message(mine.message, other.message, ANY_ID):
        return _Remark("pass", f"The same message as {fmt.name}.")
    number = sum(not part.same for part in parts)
    return _Remark("info", f"Not the message of {fmt.name}: {count(number, 'part')} differ{'s' * (number == 1)}.")


def _round_trip(case: Case, fmt: Format, trace: Trace) -> list[_Remark]:
    """Strings of this sample that the format cannot spell: expected ones, and values that were cut at their closer."""
    closers = sorted({text for _, text in closers_of(fmt)})
    remarks = []
    for path, text in _strings(case.expect):
        hit = next((closer for closer in closers if closer in text), None)
        if hit is not None:
            what = f"The expected string at {path} holds `{hit}`, which ends a value"
            remarks.append(_Remark("warning", f"{what}: no output can spell it in this format."))
    left = next((run for run in trace.partition if _is_left_over(trace, run, closers)), None)
    if left is not None:
        over = shorten(trace.text[left.start : left.end], 30)
        what = f"After a value ended at character {left.start:,}, `{over}` is left over"
        remarks.append(_Remark("warning", f"{what}: the value may have held its own closing tag."))
    return remarks[:NOTES_SHOWN]


def _is_left_over(trace: Trace, run: Ownership, closers: Sequence[str]) -> bool:
    """Say whether this is dropped text that directly follows what ends a value."""
    at = run.start
    if run.owner != "dropped" or not trace.text[at : run.end].strip():
        return False
    while at > max(0, run.start - _FARTHEST) and trace.text[at - 1].isspace():
        at -= 1
    return any(trace.text.endswith(closer, 0, at) for closer in closers)


def _strings(expect: Expect | None) -> list[tuple[str, str]]:
    found = []
    for index, call in enumerate((expect.tool_calls if expect else None) or ()):
        for path, value in jsontext.walk(call.arguments):
            if isinstance(value, str):
                found.append((f"{Channel(index, 'arguments')}{jsontext.pointer(path)}", value))
    return found


def _notes(trace: Trace) -> list[_Remark]:
    """Remarks on what the parser gave up: rejected calls, and dropped text that is not white space."""
    notes = [_Remark("info", f"Not kept as a call: {call.reason.words}.") for call in trace.rejected_calls]
    for run in trace.partition:
        text = trace.text[run.start : run.end]
        if run.owner == "dropped" and text.strip():
            notes.append(_Remark("info", f"Dropped `{shorten(text, 40)}`: {run.why}."))
    more = len(notes) - NOTES_SHOWN
    return notes[:NOTES_SHOWN] + ([_Remark("info", f"And {more:,} more.")] if more > 0 else [])
