"""The library of cases by the format of their outputs: worked examples, public failures, and the formats' own examples.

An engine's parser is held to what a case expects, else to what the built-in parser of the format reads under the
engine's contract; both are checked like any run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from parsers.cases.case import Case, ParserRef
from parsers.cases.io import load_case
from parsers.cases.made_tools import made_tools
from parsers.cases.run import CaseRun, checked_run
from parsers.cases.tested import as_test
from parsers.formats.model import Format, builtin_formats
from parsers.replays.chunking import label
from parsers.replays.replayer import Replays
from parsers.selection.registry import known_format
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import UsageError
from parsers.vocabulary.words import quoted
from webapp.engines.foreign import OPTIONS
from webapp.engines.protocol import EngineError
from webapp.glyphs import count, shorten
from webapp.page.library.examples import examples
from webapp.page.library.gallery import gallery
from webapp.runs.format_example import example_calls
from webapp.runs.prepare import prepare
from webapp.settings import Settings
from webapp.store.results import Result

_STOPPED = {"OutOfMemory": "out of memory", "TooSlow": "slow"}  # by the kind of a failure; any other one hangs
NO_ANSWER, NOT_ASKED = "no answer", "not asked"
# The words after which an engine is asked for nothing more at once.
SILENT = ("hangs", *_STOPPED.values(), NO_ANSWER, NOT_ASKED)
_PLAIN_REASONING = ("qwen3", "deepseek_r1")  # parsers of text up to </think>, as vLLM and SGLang call them


@dataclass(slots=True, frozen=True)
class LibraryCase:
    """A case with its address in the library and a title."""

    name: str
    title: str
    case: Case


@cache
def library_cases(name: str) -> tuple[LibraryCase, ...]:
    """The cases whose output is in the format of that name, in a fixed order."""
    fmt = builtin_formats()[name]
    return tuple(_cases(fmt))


def _cases(fmt: Format) -> Iterator[LibraryCase]:
    if fmt.example:
        tools = [dict(one) for one in made_tools(example_calls(fmt))]  # some parsers know no call of another tool
        data = {"schema": 1, "parser": {"name": fmt.name}, "input": {"text": fmt.example}, "tools": tools}
        yield LibraryCase(f"format-{fmt.name}", f"The example of {fmt.name}", load_case(data))
    for example in examples().values():
        if example.parser == fmt.name:
            yield LibraryCase(example.name, example.title, example.case)
    for tile in gallery().values():
        if tile.format == fmt.name and tile.case.has_raw:
            yield LibraryCase(tile.name, tile.title, tile.case)


def by_engine(case: Case, engine: str | None, parser: str, reasoning: Sequence[str] = ()) -> Case:
    """The case read by a parser of an engine, or by a built-in one; behind the parser of `reasoning` that fits it,
    where the output closes any. What a server sent for it is left out: it was another parser's work."""
    data = case.input.model_copy(update={"stream": None})
    first = _reasoning_parser(case, parser, reasoning)
    ref = ParserRef(name=parser, engine=engine, options={} if first is None else {OPTIONS[0]: first})
    return case.model_copy(update={"parser": ref, "input": data, "replay": (), "contract": None})


def _reasoning_parser(case: Case, parser: str, names: Sequence[str]) -> str | None:
    fmt, text = known_format(parser), case.text()
    closers = [one for one in ("</think>", "[/THINK]") if one in text] if fmt is not None else []
    if fmt is None or not closers:
        return None
    alike = [name for name in names if name == parser or ((own := known_format(name)) and own.name == fmt.name)]
    return next((name for name in (*alike, *_PLAIN_REASONING) if name in names), None)


class RestingError(Exception):
    """The engine of a case is not asked for a while, whatever it is to be fed."""


def tried(case: Case, settings: Settings, *, everywhere: bool = False) -> Result:
    """Run a case and say in a word what came of it. `everywhere`: under all chunkings it has to be as expected, as
    `check` has it, and not only under its own. Raises RestingError where that is not known now."""
    try:
        prepared = prepare(case, settings)
        replayer = replace(prepared.replayer, known=Replays())
        return _judged(checked_run(prepared.case, prepared.choice, replayer, prepared.stored), everywhere=everywhere)
    except UsageError as error:
        silent = any(isinstance(one, EngineError) for one in (error, error.__cause__))
        return Result(NO_ANSWER if silent else "cannot run", "warning", str(error))


def stopped_words(failure: Failure) -> str:
    """What a parser did that was stopped, for the time or the memory that it took."""
    return _STOPPED.get(failure.kind, "hangs")


def _shown(text: str) -> str:
    """A text in a cell; in backticks where blanks at its ends would not be seen."""
    return (shorten(text, 60) if text == text.strip() else quoted(text)) or "nothing"


def _judged(run: CaseRun, *, everywhere: bool) -> Result:
    failure = run.trace.failure
    if failure is not None and failure.rests:
        raise RestingError(failure.message)
    if failure is not None:
        return Result(stopped_words(failure) if failure.slow else "raises", "error", str(failure))
    test = as_test(run, alone=not everywhere)
    if test.failing:
        one = test.replays[0] if test.replays[0].different else test.smallest
        came, right = [_shown(text) for text in (one.different[0].actual, one.different[0].expected)]
        how = "" if one is test.replays[0] else f", {label(one.chunking)}"
        return Result("differs", "error", f"{one.different[0].field}: {came}, expected {right}{how}")
    for severity, words in (("error", "fails"), ("warning", "warns")):
        found = [one for one in run.findings if one.severity == severity]
        if found:
            return Result(words, severity, f"{found[0].check}: {found[0].message}")
    return Result("passes", "pass", count(len(run.holding), "check holds", "checks hold"))
