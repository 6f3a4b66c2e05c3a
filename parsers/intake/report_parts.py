"""The parts of a bug report: its code blocks, each named by what it is.

request      the JSON or the curl command of one
recording    an answer, a stream or a log that can be replayed
output       raw text with markers of calls or of reasoning
other        a traceback, an environment, a script: named by what it looks like
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from parsers.intake.evidence import Intake, Part, number
from parsers.intake.plain_text import without_lone_surrogates
from parsers.intake.requests import take_request
from parsers.intake.surroundings import MOST, Block, code_blocks, is_fence
from parsers.search.markup import is_marked
from parsers.search.pasted import look
from parsers.search.quoted_parts import is_code, is_output
from parsers.vocabulary.types import Recording

Reads = Callable[[Sequence[Block]], list[tuple[Block, Intake]]]


def report_parts(body: str, reads: Reads) -> tuple[Part, ...]:
    """Return the code blocks of a text with what each is, in order; () where there is none."""
    blocks = [block for block, _ in zip(code_blocks(body), range(MOST), strict=False) if block.text.strip()]
    read = {block.start: found for block, found in reads(blocks)}
    return tuple([_part(body, block, read.get(block.start)) for block in blocks])


def _part(body: str, block: Block, found: Intake | None) -> Part:
    line = body.count("\n", 0, block.start) + 1
    if found is not None:
        return Part("recording", found.title, line)
    if take_request(block.text).request is not None:
        return Part("request", "a request", line)
    seen = look(block.text)
    if seen is not None:
        return Part("other", seen.kind.words, line)
    if is_raw(block.text):
        return Part("output", f"raw output, {number(len(block.text), 'character')}", line)
    return Part("other", "other text", line)


def is_raw(text: str) -> bool:
    """Return whether a code block holds markers as a model writes them, not as parsers and answers have them."""
    return is_marked(text) and is_output(text) and not is_code(text)


_EXPECTED = re.compile(
    r"\b(?:expect\w*|should|must|instead of|desired|correct(?:ly)?|erwartet\w*|attendu\w*|esperad\w+|atteso)\b"
    r"|期望|预期|期待|기대|ожида",
    re.IGNORECASE,
)
_OBSERVED = re.compile(r"\b(?:actual\w*|observed|instead|got|but|returns?|receive\w*)\b|实际|実際", re.IGNORECASE)


def is_expected(body: str, block: Block) -> bool:
    """Return whether the words before a code block say that this is what should have come."""
    lines = [line for line in body[: block.start].splitlines() if line.strip() and not is_fence(line)]
    said = lines[-1] if lines else ""
    return _EXPECTED.search(said) is not None and _OBSERVED.search(said) is None


def further_outputs(body: str, read: Sequence[tuple[Block, Intake]]) -> Iterator[Recording]:
    """Yield the outputs of the recordings after the first, and the raw outputs in code blocks, named by their part."""
    for block, found in read[1:]:
        for output in found.outputs:
            label = (
                f"{found.title}{f', {output.label}' if output.label else ''}{', expected' * is_expected(body, block)}"
            )
            yield replace(output, label=f"{label} (line {body.count(chr(10), 0, block.start) + 1:,})")
    taken = {block.start for block, _ in read}
    for block in code_blocks(body):
        if block.start not in taken and is_raw(block.text) and look(block.text) is None:
            line = body.count("\n", 0, block.start) + 1
            yield Recording(without_lone_surrogates(block.text), "code_block", f"raw output (line {line:,})")
