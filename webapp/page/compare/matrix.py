"""One case, many parsers: whether each gives the message of side A, under a few chunkings.

On demand only. A replay costs about a step for each delta, so the matrix has a budget of steps; parsers over it are
named and not run. Only the words are kept, and none of the replays.

The parsers of entered engines are a few, since each is a process of its own, and nobody waits for one with the table:
their rows stand in it without cells until each engine is asked for its own. One that hung, or took long, is not asked
for its other parsers as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from parsers.cases.run import replayer_of
from parsers.compare.divergence import Grade, Rules, grade
from parsers.formats.model import Format, builtin_formats
from parsers.replays.chunking import TRACED, WHOLE, Chunking, label, parse_spec, spec
from parsers.replays.replayer import Replayer
from parsers.search.sweep import one_delta
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import UsageError
from webapp.engines import choose
from webapp.engines.entered import engine_stamp, entered, entered_parsers
from webapp.engines.protocol import EngineError
from webapp.formats.folder import formats_folder
from webapp.page.compare.known_tools import Teller, Tools, explained_by_tools
from webapp.page.compare.readers import engine_readers
from webapp.page.compare.sides import Replayed, teller, with_parser
from webapp.page.engines.library_cases import NO_ANSWER, NOT_ASKED, stopped_words
from webapp.runs.runner import Runner, collector_paused

CHUNKINGS = (TRACED, parse_spec("token:3"), parse_spec("char"), WHOLE)  # the last of all: the whole in one delta
STEPS = 60_000
ENGINE_PARSERS = 6  # beside those that are sides
ENGINE_SECONDS = 10.0  # at work for one matrix, after which an engine is asked for nothing more
_SHORTEST = 4  # characters: a shorter literal is no marker that tells formats apart
_WORDS: dict[Grade, str] = {"calls": "other calls", "text": "other text", "whitespace": "other white space"}


@dataclass(slots=True, frozen=True)
class Cell:
    """What one parser gives under one chunking. `severity` is pass where that is the message of side A; `chunk` is the
    chunking as a word; `stops` is why its engine is asked for nothing more: it did not answer."""

    words: str
    severity: str
    chunk: str
    stops: str = ""


@dataclass(slots=True, frozen=True)
class MatrixRow:
    """One parser. `own`: it is that of side A. An engine's has no cells until that was asked; `left`: what it did that
    some of them are not known."""

    parser: str
    title: str
    own: bool
    cells: list[Cell]
    left: str = ""

    @property
    def same(self) -> int:
        """Return in how many cells it gives the message of side A."""
        return sum(cell.severity == "pass" for cell in self.cells)

    @property
    def engine(self) -> str:
        """The name of the entered engine that has it; empty for one of ours."""
        name, colon, _ = self.parser.partition(":")
        return name if colon else ""


@dataclass(slots=True, frozen=True)
class Matrix:
    """The table. `left` are the parsers that were over the budget."""

    chunkings: list[str]
    rows: list[MatrixRow]
    left: list[str]

    @property
    def waiting(self) -> dict[str, list[str]]:
        """The engines that are still to be asked, each with its parsers."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if not row.cells:
                found.setdefault(row.engine, []).append(row.parser)
        return found

    def of(self, engine: str) -> list[tuple[int, MatrixRow]]:
        """The rows of an engine, each with its place."""
        return [(place, row) for place, row in enumerate(self.rows) if row.engine == engine]

    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return 2_000 + 400 * len(self.rows) * len(self.chunkings)


def matrix(runner: Runner, sides: Sequence[Replayed], which: str, rules: Rules, asks: str = "") -> Matrix | None:
    """Every parser of `which` beside the first of `sides`: near are those of whose markers one stands in the output;
    engines are these and the parsers of entered engines that read its format, a few of them; all are these engines' and
    all of ours. An engine's parser that is a side is always there. None where the raw output is not known.

    `asks` is the engine that is asked for its rows; those of others are as far as they are known."""
    side = sides[0]
    if not side.own.has_raw:
        return None
    rules = replace(rules, ids=False)
    own = [one.run.parser for one in sides if one.run.choice.replays is not None and one.own == side.own]
    engines = dict.fromkeys([*own, *[name for name, _ in _readers(side)[:ENGINE_PARSERS] if which != "near"]])
    key = f"matrix {side.run.key} {which} {[*engines]} {rules}"
    ours = runner.computed(key, lambda: _matrix(runner, side, which, [*engines], rules), size=Matrix.size)
    theirs = _engine_rows(runner, side, [*engines], rules, asks)
    first = [row for row in [*theirs, *ours.rows] if row.own]
    return replace(ours, rows=first + [row for row in [*theirs, *ours.rows] if not row.own])


def has_engines(side: Replayed) -> bool:
    """Return whether an entered engine has a parser, other than that of this side, for the format of its output."""
    return side.own.has_raw and bool(_readers(side))


def _readers(side: Replayed) -> list[tuple[str, str]]:
    return engine_readers(side.run.parser, [side.run.choice.grammar or side.run.replayer.format])


def near(text: str, formats: Mapping[str, Format]) -> list[str]:
    """The formats that have a marker, other than of reasoning, which stands in a text."""
    return [name for name, fmt in formats.items() if any(marker in text for marker in _markers(fmt))]


def _markers(fmt: Format) -> Iterator[str]:
    for name, text in fmt.terminals.items():
        if len(text) >= _SHORTEST and "THINK" not in name and "think" not in text.lower():
            yield text


def _matrix(runner: Runner, side: Replayed, which: str, engines: Sequence[str], rules: Rules) -> Matrix:
    """Our parsers alone. Those of engines take their share of the budget."""
    formats = {**builtin_formats(), **formats_folder(runner.settings).formats}
    own = side.run.parser
    output = side.output or ""
    names = list(formats) if which == "all" else near(output, formats)
    base, rows, left = runner.run(side.own), list[MatrixRow](), list[str]()
    steps = sum(_steps(chunking, len(base.stored), len(output)) for chunking in CHUNKINGS)
    steps *= 1 if side.own.tools else 2  # what differs without tools is replayed with some
    for name in dict.fromkeys([*([own] if own in formats else []), *names]):
        taken = len(engines) + len(rows)
        if steps * (taken + 1) > STEPS and taken:
            left.append(name)
            continue
        rows.append(MatrixRow(name, formats[name].title, name == own, _cells(runner, side, name, rules)))
    rows.sort(key=lambda row: (not row.own, -row.same))
    return Matrix([label(chunking) for chunking in CHUNKINGS[:-1]] + [label(one_delta(True))], rows, left)


def _engine_rows(runner: Runner, side: Replayed, names: Sequence[str], rules: Rules, asks: str) -> list[MatrixRow]:
    """The rows of engines, those of which no cell is left kept; all of the one that is asked, as far as it answers."""
    versions = {one.name: one.title for one in entered_parsers()}
    made, began, stopped = list[MatrixRow](), entered().spent, ""
    for name in names:
        engine = name.partition(":")[0]
        key = f"matrix {side.run.key} {name} {engine_stamp(engine)} {rules}"
        row: MatrixRow | None = runner.known(key)
        if row is None:
            row = MatrixRow(name, versions.get(name, name), name == side.run.parser, [])
        if not row.cells and engine == asks:
            row = _asked_row(runner, side, row, rules, stopped)
            stopped = row.left or _took_long(engine, entered().spent - began)
            if not row.left:
                runner.computed(key, partial(_itself, row), size=_row_size)
        made.append(row)
    return made


def _asked_row(runner: Runner, side: Replayed, row: MatrixRow, rules: Rules, stopped: str) -> MatrixRow:
    """The row of an engine that is asked, unless it was `stopped` being asked."""
    if stopped:
        return replace(row, cells=[Cell(NOT_ASKED, "info", spec(one)) for one in CHUNKINGS], left=stopped)
    cells = _cells(runner, side, row.parser, rules)
    stops = next((cell.stops for cell in cells if cell.stops), "")
    return replace(row, cells=cells, left=f"{row.parser}: {stops}" if stops else "")


def _took_long(engine: str, seconds: float) -> str:
    return f"{engine} was at work for {seconds:.0f} seconds" if seconds >= ENGINE_SECONDS else ""


def _itself(row: MatrixRow) -> MatrixRow:
    return row


def _row_size(row: MatrixRow) -> int:
    return 500 + 400 * len(row.cells)


def _steps(chunking: Chunking, tokens: int, characters: int) -> int:
    if chunking == WHOLE:
        return 1 + characters // 20
    return 1 + (characters if chunking.by == "char" else tokens) // (chunking.size or 1)


def _cells(runner: Runner, side: Replayed, name: str, rules: Rules) -> list[Cell]:
    """What a parser gives. An engine is asked for one replay first, and for none of the others where it did not answer;
    then for the replays of all other chunkings at once."""
    stored, own = runner.run(side.own).stored, side.own.tools

    def by(tools: Tools) -> Replayer:
        case = with_parser(runner, side.own, name).model_copy(update={"tools": tools})
        return replayer_of(case, choose(case), stored)

    def asked(tools: Tools) -> Replayer:
        return replayer if tools is own else by(tools)

    try:
        replayer = by(own)
        first, *others = [*CHUNKINGS[:-1], one_delta(replayer.one_shot is not None)]
        cells = [_cell(runner, side, asked, first, rules)]
        if not cells[0].stops:
            replayer.foresee(others)
    except UsageError as error:
        return [_cannot(error, chunking) for chunking in CHUNKINGS]
    for one in others:
        stops = next((cell.stops for cell in cells if cell.stops), "")
        cells.append(Cell(NOT_ASKED, "info", spec(one), stops) if stops else _cell(runner, side, asked, one, rules))
    return cells


def _cannot(error: UsageError, chunking: Chunking) -> Cell:
    if isinstance(error, EngineError):
        return Cell(NO_ANSWER, "warning", spec(chunking), str(error))
    return Cell(f"cannot: {error}", "warning", spec(chunking))


def _cell(runner: Runner, side: Replayed, by: Callable[[Tools], Replayer], chunking: Chunking, rules: Rules) -> Cell:
    word = spec(chunking)

    def told(tools: Tools) -> Trace:
        with collector_paused():
            return by(tools).trace(chunking)

    try:
        other = Teller(side.own.tools, told(side.own.tools), told)
        failure = other.trace.failure
        if failure is not None and failure.slow:
            words = NOT_ASKED if failure.rests else stopped_words(failure)
            return Cell(words, "error", word, failure.message)
        return Cell(*_judged(teller(runner, side), other, rules), word)
    except UsageError as error:
        return _cannot(error, chunking)


def _judged(own: Teller, other: Teller, rules: Rules) -> tuple[str, str]:
    """The words for what a parser gives, and how bad it is."""
    message, trace = own.trace.message, other.trace
    if trace.failure:
        return "it fails", "error"
    differs = grade(message, trace.message, rules)
    if differs is None:
        same = own.trace.finish_reason == trace.finish_reason or not own.ends
        return ("same message", "pass") if same else ("other finish reason", "warning")
    words = "no call" if message.tool_calls and not trace.message.tool_calls else _WORDS[differs]
    if explained_by_tools(own, other, rules):
        return f"{words}, for want of tools", "info"
    return words, "warning" if differs == "whitespace" else "error"
