"""What a report says besides its run: which version ran, whether a server could send it, which line of the parser it
was, and what other parsers make of the same deltas."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import BUILTIN, ENGINES, Choice, traced_chunking
from parsers.cases.export.maintainer import Answers, compared_words, sendable
from parsers.cases.export.report_facts import steps_in_question
from parsers.cases.find import CaseFound
from parsers.cases.made_tools import made_tools
from parsers.cases.run import CaseRun, replayer_of
from parsers.formats.model import Format
from parsers.replays.chunking import Chunking
from parsers.replays.replayer import Replayer
from parsers.selection.registry import known_format
from parsers.vocabulary.types import UsageError
from webapp.engines import choose
from webapp.engines.entered import engine_title, entered_parsers
from webapp.runs.step_lines import step_lines

MOST_ELSEWHERE = 4
MOST_OUTCOMES = 2  # of a search, whose smallest chunking is graded


def answers_of(run: CaseRun, found: CaseFound | None = None) -> Answers:
    """The answers for a run that was checked; `found` is what a search of it found. Raises what choosing its parser
    raises."""
    choice = choose(run.case)
    replayer = replayer_of(run.case, choice, run.stored)
    traced = traced_chunking(run.case)
    first = next((one.chunking for one in run.compared if not one.same), None)
    searched = [] if found is None else [one.smallest for one in found.found.outcomes[1 : 1 + MOST_OUTCOMES]]
    asked = dict.fromkeys([traced, *([first] if first is not None else []), *searched])
    return Answers(
        engine=_engine(run.case),
        sendable=() if run.plays else tuple([sendable(replayer, one) for one in asked]),
        line=_line(run, choice, replayer, traced),
        elsewhere=() if run.plays else tuple(_elsewhere(run, choice, traced)),
    )


def _engine(case: Case) -> str:
    """Name of an entered engine, what it says that it is, its version, and its commit where it is a revision."""
    name = case.parser.engine
    if name is None or name in ENGINES:
        return ""
    return _named(name, engine_title(name) or name)


def _named(name: str, title: str) -> str:
    return title if title.startswith(name) else f"{name} ({title})"


def _line(run: CaseRun, choice: Choice, replayer: Replayer, traced: Chunking) -> tuple[str, str] | None:
    """Where the parser returned what the first step that is wrong sent, where an engine shows its lines."""
    step = next(iter(steps_in_question(run)), None)
    if choice.lines is None or step is None:
        return None
    try:
        found = step_lines(choice, replayer, run.trace, traced, step).found
    except UsageError:
        return None
    if found.sent_from is None:
        return None
    line = found.lines[found.sent_from]
    function = found.functions[line.function]
    inside = 0 <= line.line - function.first < len(function.source)
    return f"{function.file}:{line.line} in {function.name}", function.source[
        line.line - function.first
    ] if inside else ""


def _elsewhere(run: CaseRun, choice: Choice, traced: Chunking) -> Iterator[tuple[str, str]]:
    """What the parsers for the same grammar make of the output: the built-in one, and those that are entered, which
    read no call where no tools are declared and so are told those that the calls name."""
    grammar = choice.grammar or run.case.parser.format or known_format(run.selection.name)
    own = run.case.parser.engine or BUILTIN
    made = () if run.case.tools else made_tools(run.trace.message.tool_calls)
    for called, ref in _others(grammar, own, run.selection.name):
        told = made if ref.engine else ()
        name = f"{called}, told the tools that the calls name" if told else called
        tools = tuple([dict(tool) for tool in told]) or run.case.tools
        case = run.case.model_copy(update={"parser": ref, "contract": None, "tools": tools})
        try:
            other = choose(case)
            message = replayer_of(case, other, run.stored).outcome(traced).message
        except UsageError as error:
            yield name, f"not run: {error}"
        else:
            yield name, compared_words(run.trace.message, message)


def _others(grammar: Format | None, own: str, parser: str) -> list[tuple[str, ParserRef]]:
    if grammar is None:
        return []
    found = [] if own == BUILTIN else [(f"built-in {grammar.name}", ParserRef(name=grammar.name))]
    names = {grammar.name, *grammar.aliases}
    for one in entered_parsers():
        engine, _, name = one.name.partition(":")
        if name in names and (engine, name) != (own, parser):
            found.append((f"{_named(engine, one.title)}, {name}", ParserRef(name=name, engine=engine)))
    return found[:MOST_ELSEWHERE]
