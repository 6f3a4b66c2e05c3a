"""What the format editor says of a text: findings, the machine, and what became of every sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from werkzeug.exceptions import RequestEntityTooLarge

from parsers.cases.model import Case, CaseError
from parsers.formats.diagram import diagram, rows_table
from parsers.formats.layout import Diagram
from parsers.formats.model import Format
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import FormatError, UsageError
from webapp.formats.checked import Checked, Noted, checked
from webapp.formats.folder import all_formats
from webapp.formats.samples import Outcome, replayed
from webapp.page.format_form import OPENED, Editor, Sample, opened_format, sample_case
from webapp.page.glyphs import count
from webapp.page.machine import Arrow, StateNode, TableRow
from webapp.runs.prepare import error_place, tokens_of
from webapp.runs.runner import collector_paused
from webapp.security import check_limit
from webapp.settings import Settings
from webapp.tokenizers import markers_of

MOST_DRAWN = 24  # states; a layout's work grows faster than its states, and this one is made while somebody types
MOST_TOKENS = 20_000  # of a sample: four replays of it come with every pause in typing
TOO_LONG = (
    "The output has {:,} tokens, too many to replay while you type: the editor takes "
    f"{MOST_TOKENS:,}. Shorten it, or open it in the inspector."
)
NOUNS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


@dataclass(slots=True)
class StateLine:
    """One state: what its text is, the terminals it accepts, its other triggers, and whether anything leads there."""

    name: str
    start: str
    reads: str
    accepts: list[tuple[str, str]]
    inert: list[tuple[str, str]]
    triggers: list[str]
    reached: bool
    samples: int


@dataclass(slots=True)
class Terminal:
    """One terminal, and how it stands in the embedded tokenizer's vocabulary."""

    name: str
    text: str
    token: str


@dataclass(slots=True)
class MachineReport:
    """The format seen from outside. `too_many`: more states than are drawn while somebody types."""

    width: float
    height: float
    nodes: list[StateNode]
    arrows: list[Arrow]
    words: str
    states: list[StateLine]
    rows: list[TableRow]
    idle: set[str]
    terminals: list[Terminal]
    too_many: bool
    note: str


@dataclass(slots=True)
class Report:
    """Everything below and beside the text. `machine` None: the text is no format yet."""

    checked: Checked
    machine: MachineReport | None
    outcomes: dict[int, Outcome]
    headline: str
    severity: str
    beside: Format | None = None
    lines: list[tuple[int, str]] = field(default_factory=list)

    @property
    def findings(self) -> list[Noted]:
        """What is wrong, errors first."""
        return self.checked.findings

    @property
    def name(self) -> str:
        """What the format calls itself, as far as that can be read."""
        data = self.checked.data
        name = data.get("name") if isinstance(data, dict) else None
        return name if isinstance(name, str) else ""

    @property
    def failing(self) -> int:
        """How many samples have an error."""
        return sum(outcome.severity == "error" for outcome in self.outcomes.values())


def report(editor: Editor, settings: Settings) -> Report:
    """Check the text, and where nothing is wrong with it replay the samples."""
    known = all_formats(settings)
    found = checked(editor.text, known)
    beside = opened_format(editor) if editor.beside == OPENED else known.get(editor.beside)
    outcomes = {sample.number: _outcome(editor, sample, found, beside, settings) for sample in editor.samples}
    return Report(
        checked=found,
        machine=None if found.format is None else machine_report(found.format, found.findings, outcomes.values()),
        outcomes=outcomes,
        headline=headline(found),
        severity=found.findings[0].severity if found.findings else "pass",
        beside=beside,
        lines=_lines(found),
    )


def headline(found: Checked) -> str:
    """The findings in a few words."""
    counts = Counter(one.severity for one in found.findings)
    words = [count(counts[severity], noun) for severity, noun in NOUNS.items() if counts[severity]]
    return ", ".join(words) if words else "Nothing found"


def _lines(found: Checked) -> list[tuple[int, str]]:
    """Every line of the text with the worst that was found on it."""
    worst: dict[int, str] = {}
    for one in found.findings:
        worst.setdefault(one.place.line, one.severity)
    return [(number, worst.get(number, "")) for number in range(1, found.text.count("\n") + 2)]


def runnable(editor: Editor, sample: Sample, settings: Settings) -> Case:
    """The case of a sample. Raises CaseError for a format that may not run, as any case that brings one does."""
    found = checked(editor.text, all_formats(settings))
    if found.runs is None:
        first = found.findings[0]
        raise CaseError(f"line {first.place.line}: {first.message}", f"/parser/format{first.pointer}")
    return sample_case(editor, sample, found.data)


def _outcome(editor: Editor, sample: Sample, found: Checked, beside: Format | None, settings: Settings) -> Outcome:
    fmt = found.runs
    if fmt is None:
        return Outcome(problem="Not replayed: the format has an error.", at="format")
    try:
        case = sample_case(editor, sample, found.data)
        text = case.text()
        check_limit(settings, "max_text_bytes", len(text.encode("utf-8", "surrogatepass")), "The output")
        with error_place("/parser/format/tokens"):
            pieces = tokens_of(case, fmt)
        check_limit(settings, "max_tokens", len(pieces), "The output")
        if len(pieces) > MOST_TOKENS:
            return Outcome(problem=TOO_LONG.format(len(pieces)), at="output")
        with collector_paused():
            return replayed(case, pieces, fmt, beside)
    except CaseError as error:
        return Outcome(problem=error.message[:1].upper() + error.message[1:], at=_field(error.pointer))
    except (UsageError, FormatError, RequestEntityTooLarge) as error:
        words = error.description or "" if isinstance(error, RequestEntityTooLarge) else str(error)
        return Outcome(problem=words, at="output")


def _field(pointer: str) -> str:
    """The field of a sample where an error of its case is said."""
    return next((name for name in ("expect", "tools") if pointer.startswith(f"/{name}")), "output")


def machine_report(fmt: Format, findings: list[Noted], outcomes: Iterable[Outcome]) -> MachineReport:
    """The machine of a format, with what the samples did of it."""
    runs = [outcome.trace for outcome in outcomes if outcome.trace is not None]
    fired: Counter[str] = Counter()
    visits: Counter[str] = Counter()
    for trace in runs:
        moves = [move for step in trace.steps for move in step.transitions]
        fired.update(move.row for move in moves)
        visits.update({trace.steps[0].state, *(name for move in moves for name in (move.from_state, move.to_state))})
    lost = {_state(one.pointer) for one in findings if one.code == "unreachable_state"}
    drawn = len(fmt.states) <= MOST_DRAWN
    sheet = diagram(fmt) if drawn else Diagram(0, 0, (), ())
    states = [_state_line(fmt, name, name not in lost, visits[name]) for name in fmt.states]
    return MachineReport(
        width=sheet.width,
        height=sheet.height,
        nodes=[StateNode(node, node.name not in lost and bool(visits[node.name] or node.end or not runs), False)
               for node in sheet.nodes],
        arrows=[Arrow(edge, f"{edge.source} {edge.target}", not runs or any(fired[row] for row in edge.rows), False)
                for edge in sheet.edges],
        words=_words(fmt, lost),
        states=states,
        rows=[TableRow(r.id, r.state, r.trigger, r.text or "", r.to, ", ".join(r.emit), r.note, r.when, fired[r.id])
              for r in rows_table(fmt)],
        idle=_idle(fmt, findings, lost),
        terminals=[_terminal(fmt, name, text) for name, text in fmt.terminals.items()],
        too_many=not drawn,
        note=_note(fmt, lost, runs, visits),
    )  # fmt: skip


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
    places = {one.pointer for one in findings if one.code == "never_fires"}
    counters: Counter[str] = Counter()
    idle = set()
    for row in rows_table(fmt):
        if row.state in lost or f"/states/{row.state}/rows/{counters[row.state]}" in places:
            idle.add(row.id)
        counters[row.state] += 1
    return idle


def _state_line(fmt: Format, name: str, reached: bool, samples: int) -> StateLine:
    state = fmt.states[name]
    on = list(dict.fromkeys(row.on for row in state.rows))
    starts = [(fmt.initial, "first"), (fmt.initial_when_reasoning_open, "first where reasoning is open")]
    return StateLine(
        name=name,
        start=", ".join([words for first, words in starts if first == name]),
        reads=f"codec {state.codec.name}" if state.codec else state.text or "",
        accepts=[(trigger, fmt.terminals[trigger]) for trigger in on if trigger in fmt.terminals],
        inert=[(terminal, fmt.terminals[terminal]) for terminal in state.inert if terminal in fmt.terminals],
        triggers=[trigger for trigger in on if trigger not in fmt.terminals],
        reached=reached,
        samples=samples,
    )


def _terminal(fmt: Format, name: str, text: str) -> Terminal:
    special = markers_of(fmt).get(text)
    return Terminal(name, text, "" if special is None else "one special token" if special else "one token")
