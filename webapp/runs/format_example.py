"""The example of a format, read by the format: whether the message depends on how it is cut."""

from __future__ import annotations

from parsers.formats.lint import LintFinding
from parsers.formats.model import Format
from parsers.replays.chunking import TRACED
from parsers.replays.replayer import Replayer
from parsers.search.short import search_shortly
from parsers.selection.registry import build
from webapp.tokenizers import get_tokenizer


def example_findings(fmt: Format, work: int) -> list[LintFinding]:
    """What is wrong with how a format without errors reads its example, found with so much work (`search_shortly`)."""
    if not fmt.example:
        return []
    parser = build(fmt)
    pieces = get_tokenizer("embedded", format=fmt).pieces(fmt.example)
    replayer = Replayer(lambda: parser, pieces, terminals=fmt.terminals)
    found = search_shortly(replayer, replayer.trace(TRACED), work)
    advice = "look at both replays of it in the inspector"
    return [LintFinding("example_chunking", "error", "/example", f"{one}: {advice}.") for one in found.problems()]
