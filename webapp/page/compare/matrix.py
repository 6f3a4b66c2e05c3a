"""One case, many parsers: whether each gives the message of side A, under a few chunkings.

On demand only. A replay costs about a step for each delta, so the matrix has a budget of steps; parsers over it are
named and not run. The parsers of entered engines are asked for apart, and then a few of them, since each is a process
of its own. Only the words are kept, and none of the replays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from parsers.cases.run import replayer_of
from parsers.compare.divergence import Grade, Rules, grade
from parsers.formats.model import Format, builtin_formats
from parsers.replays.chunking import TRACED, WHOLE, Chunking, label, parse_spec, spec
from parsers.replays.replayer import Replayer
from parsers.search.sweep import one_delta
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import UsageError
from webapp.engines import choose
from webapp.engines.entered import engine_stamp, entered_parsers
from webapp.formats.folder import formats_folder
from webapp.page.compare.known_tools import Teller, Tools, explained_by_tools
from webapp.page.compare.readers import engine_readers
from webapp.page.compare.sides import Replayed, teller, with_parser
from webapp.runs.runner import Runner, collector_paused

CHUNKINGS = (TRACED, parse_spec("token:3"), parse_spec("char"), WHOLE)  # the last of all: the whole in one delta
STEPS = 60_000
ENGINE_PARSERS = 6  # beside those that are sides
_SHORTEST = 4  # characters: a shorter literal is no marker that tells formats apart
_WORDS: dict[Grade, str] = {"calls": "other calls", "text": "other text", "whitespace": "other white space"}


@dataclass(slots=True, frozen=True)
class Cell:
    """What one parser gives under one chunking. `severity` is pass where that is the message of side A; `chunk` is the
    chunking as a word."""

    words: str
    severity: str
    chunk: str


@dataclass(slots=True, frozen=True)
class MatrixRow:
    """One parser. `own`: it is that of side A."""

    parser: str
    title: str
    own: bool
    cells: list[Cell]

    @property
    def same(self) -> int:
        """Return in how many cells it gives the message of side A."""
        return sum(cell.severity == "pass" for cell in self.cells)


@dataclass(slots=True, frozen=True)
class Matrix:
    """The table. `left` are the parsers that were over the budget."""

    chunkings: list[str]
    rows: list[MatrixRow]
    left: list[str]

    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return 2_000 + 400 * len(self.rows) * len(self.chunkings)


def matrix(runner: Runner, sides: Sequence[Replayed], which: str, rules: Rules) -> Matrix | None:
    """Every parser of `which` beside the first of `sides`: near are those of whose markers one stands in the output;
    engines are these and the parsers of entered engines that read its format, a few of them; all are these engines' and
    all of ours. An engine's parser that is a side is always there. None where the raw output is not known."""
    side = sides[0]
    if not side.own.has_raw:
        return None
    rules = replace(rules, ids=False)
    own = [one.run.parser for one in sides if one.run.choice.replays is not None and one.own == side.own]
    engines = dict.fromkeys([*own, *[name for name, _ in _readers(side)[:ENGINE_PARSERS] if which != "near"]])
    stamps = [engine_stamp(name.partition(":")[0]) for name in engines]
    key = f"matrix {side.run.key} {which} {[*engines]} {stamps} {rules}"
    return runner.computed(key, lambda: _matrix(runner, side, which, [*engines], rules), size=Matrix.size)


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
    formats = {**builtin_formats(), **formats_folder(runner.settings).formats}
    own, versions = side.run.parser, {one.name: one.title for one in entered_parsers()}
    names = list(formats) if which == "all" else near(side.run.trace.text, formats)
    base, rows, left = runner.run(side.own), list[MatrixRow](), list[str]()
    steps = sum(_steps(chunking, len(base.stored), len(side.run.trace.text)) for chunking in CHUNKINGS)
    steps *= 1 if side.own.tools else 2  # what differs without tools is replayed with some
    first = [own] if own in formats or own in engines else []
    for name in dict.fromkeys([*first, *engines, *names]):
        if steps * (len(rows) + 1) > STEPS and rows and name not in engines:
            left.append(name)
            continue
        title = formats[name].title if name in formats else versions.get(name, name)
        rows.append(MatrixRow(name, title, name == own, _cells(runner, side, name, rules)))
    kept = len(first)
    rows[kept:] = sorted(rows[kept:], key=lambda row: (row.parser not in engines, -row.same))
    return Matrix([label(chunking) for chunking in CHUNKINGS[:-1]] + [label(one_delta(True))], rows, left)


def _steps(chunking: Chunking, tokens: int, characters: int) -> int:
    if chunking == WHOLE:
        return 1 + characters // 20
    return 1 + (characters if chunking.by == "char" else tokens) // (chunking.size or 1)


def _cells(runner: Runner, side: Replayed, name: str, rules: Rules) -> list[Cell]:
    """What a parser gives. An engine is asked for the replays of all chunkings at once."""
    stored, own = runner.run(side.own).stored, side.own.tools

    def by(tools: Tools) -> Replayer:
        case = with_parser(runner, side.own, name).model_copy(update={"tools": tools})
        return replayer_of(case, choose(case), stored)

    try:
        replayer = by(own)
        chunkings = [*CHUNKINGS[:-1], one_delta(replayer.one_shot is not None)]
        replayer.foresee(chunkings)
    except UsageError as error:
        return [Cell(f"cannot: {error}", "warning", spec(chunking)) for chunking in CHUNKINGS]
    return [_cell(runner, side, lambda tools: replayer if tools is own else by(tools), one, rules) for one in chunkings]


def _cell(runner: Runner, side: Replayed, by: Callable[[Tools], Replayer], chunking: Chunking, rules: Rules) -> Cell:
    word = spec(chunking)

    def told(tools: Tools) -> Trace:
        with collector_paused():
            return by(tools).trace(chunking)

    try:
        other = Teller(side.own.tools, told(side.own.tools), told)
        return Cell(*_judged(teller(runner, side), other, rules), word)
    except UsageError as error:
        return Cell(f"cannot: {error}", "warning", word)


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
