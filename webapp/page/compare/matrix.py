"""One case, many parsers: whether each gives the message of side A, under a few chunkings.

On demand only. A replay costs about a step for each delta, so the matrix has a budget of steps; parsers over it are
named and not run. Only the words are kept, and none of the replays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from parsers.cases.run import replayer_of
from parsers.compare.divergence import Grade, Rules, grade
from parsers.formats.model import Format, builtin_formats
from parsers.replays.chunking import TRACED, WHOLE, Chunking, label, parse_spec, spec
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import UsageError
from webapp.engines import choose
from webapp.formats.folder import formats_folder
from webapp.page.compare.known_tools import Teller, Tools, explained_by_tools
from webapp.page.compare.sides import Replayed, teller, with_parser
from webapp.runs.runner import Runner, collector_paused

CHUNKINGS = (TRACED, parse_spec("token:3"), parse_spec("char"), WHOLE)
STEPS = 60_000
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


def matrix(runner: Runner, side: Replayed, which: str, rules: Rules) -> Matrix | None:
    """Every parser of `which` (near: those of whose markers one stands in the output; all) beside `side`; None where
    its raw output is not known."""
    if not side.own.has_raw:
        return None
    rules = replace(rules, ids=False)
    key = f"matrix {side.run.key} {which} {rules}"
    return runner.computed(key, lambda: _matrix(runner, side, which, rules), size=Matrix.size)


def near(text: str, formats: Mapping[str, Format]) -> list[str]:
    """The formats that have a marker, other than of reasoning, which stands in a text."""
    return [name for name, fmt in formats.items() if any(marker in text for marker in _markers(fmt))]


def _markers(fmt: Format) -> Iterator[str]:
    for name, text in fmt.terminals.items():
        if len(text) >= _SHORTEST and "THINK" not in name and "think" not in text.lower():
            yield text


def _matrix(runner: Runner, side: Replayed, which: str, rules: Rules) -> Matrix:
    formats = {**builtin_formats(), **formats_folder(runner.settings).formats}
    own = side.run.parser
    names = list(formats) if which == "all" else near(side.run.trace.text, formats)
    base, rows, left = runner.run(side.own), list[MatrixRow](), list[str]()
    steps = sum(_steps(chunking, len(base.stored), len(side.run.trace.text)) for chunking in CHUNKINGS)
    steps *= 1 if side.own.tools else 2  # what differs without tools is replayed with some
    for name in dict.fromkeys([own, *names] if own in formats else names):
        if steps * (len(rows) + 1) > STEPS and rows:
            left.append(name)
            continue
        cells = [_cell(runner, side, name, chunking, rules) for chunking in CHUNKINGS]
        rows.append(MatrixRow(name, formats[name].title, name == own, cells))
    rows[1:] = sorted(rows[1:], key=lambda row: -row.same)
    return Matrix([label(chunking) for chunking in CHUNKINGS], rows, left)


def _steps(chunking: Chunking, tokens: int, characters: int) -> int:
    if chunking == WHOLE:
        return 1 + characters // 20
    return 1 + (characters if chunking.by == "char" else tokens) // (chunking.size or 1)


def _cell(runner: Runner, side: Replayed, name: str, chunking: Chunking, rules: Rules) -> Cell:
    word, stored = spec(chunking), runner.run(side.own).stored

    def told(tools: Tools) -> Trace:
        case = with_parser(runner, side.own, name).model_copy(update={"tools": tools})
        with collector_paused():
            return replayer_of(case, choose(case), stored).trace(chunking)

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
