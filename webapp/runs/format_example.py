"""The example of a format, read by the format: whether the message depends on how it is cut."""

from __future__ import annotations

from parsers.formats.lint import LintFinding
from parsers.formats.model import Format
from parsers.replays.chunking import TRACED
from parsers.replays.replayer import Replayer
from parsers.search.short import search_shortly
from parsers.selection.registry import build
from parsers.vocabulary.types import ToolCall
from webapp.tokenizers import get_tokenizer


def example_findings(fmt: Format, work: int) -> list[LintFinding]:
    """What is wrong with how a format without errors reads its example, found with so much work (`search_shortly`)."""
    replayer = _replayer(fmt)
    if replayer is None:
        return []
    found = search_shortly(replayer, replayer.trace(TRACED), work)
    advice = "look at both replays of it in the inspector"
    return [LintFinding("example_chunking", "error", "/example", f"{one}: {advice}.") for one in found.problems()]


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
