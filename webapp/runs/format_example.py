"""The example of a format, read by the format: whether the message depends on how it is cut, and what goes under in it.

A state whose text is `marker` takes whatever it says for structure. Where such a state lacks a row, the marker of the
row goes by as structure too, and with it what it should have begun; the static check cannot know that it was wanted
there, the example does.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.formats.extends import pointer_to
from parsers.formats.lint import LintFinding
from parsers.formats.model import Format
from parsers.replays.chunking import TRACED
from parsers.replays.replayer import Replayer
from parsers.search.short import search_shortly
from parsers.selection.registry import build
from parsers.vocabulary.events import Marker
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall
from webapp.tokenizers import get_tokenizer


def example_findings(fmt: Format, work: int) -> list[LintFinding]:
    """What is wrong with how a format without errors reads its example, found with so much work (`search_shortly`)."""
    replayer = _replayer(fmt)
    if replayer is None:
        return []
    trace = replayer.trace(TRACED)
    found = search_shortly(replayer, trace, work)
    advice = "look at both replays of it in the inspector"
    cut = [LintFinding("example_chunking", "error", "/example", f"{one}: {advice}.") for one in found.problems()]
    return [*cut, *_swallowed(fmt, trace)]


def example_calls(fmt: Format) -> list[ToolCall]:
    """The calls that a format reads in its example."""
    replayer = _replayer(fmt)
    return [] if replayer is None else list(replayer.trace(TRACED).message.tool_calls)


def _replayer(fmt: Format) -> Replayer | None:
    """None for a format without an example."""
    if not fmt.example:
        return None
    parser = build(fmt)
    pieces = get_tokenizer("embedded", format=fmt).pieces(fmt.example)
    return Replayer(lambda: parser, pieces, terminals=fmt.terminals)


def _swallowed(fmt: Format, trace: Trace) -> Iterator[LintFinding]:
    """The first terminal of the example that a state without a row for it took for structure, for each such state."""
    names = {text: name for name, text in fmt.terminals.items() if len(text) > 1 and not _is_plain(text)}
    told = set()
    for state, text in _structure(fmt, trace):
        free = {marker: name for marker, name in names.items() if name not in fmt.states[state].inert}
        markers = sorted((marker for marker in free if marker in text), key=text.index)
        if markers and state not in told:
            told.add(state)
            words = f"{state} has no row on {free[markers[0]]} and takes {markers[0]!r} of the example for structure"
            advice = "add a row that says what it begins, or list it as inert"
            yield LintFinding("swallowed_terminal", "error", pointer_to("states", state), f"{words}: {advice}.")


def _is_plain(text: str) -> bool:
    """A word or white space: it may well stand in a header by itself."""
    return text.isalnum() or text.isspace()


def _structure(fmt: Format, trace: Trace) -> Iterator[tuple[str, str]]:
    """(state, text) of every stretch that one state took for structure, none of it a terminal that fired."""
    state, start, end = fmt.initial, 0, 0
    for step in trace.steps:
        for event in step.events:
            if not isinstance(event, Marker) or event.terminal != "structure":
                continue
            if (event.start, step.state) != (end, state):
                yield state, trace.text[start:end]
                state, start = step.state, event.start
            end = event.end
    yield state, trace.text[start:end]
