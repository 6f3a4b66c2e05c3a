"""A traceback without its source, and the messages of its exceptions.

Frames show lines of a program, whose quotation marks pair with nothing (`f"no call in {text}")`), so what a traceback
quotes is looked for in what is left. The message of an exception goes from its class up to the next traceback, record
or remark between two exceptions, over blank lines too: an output that stands in it unspelled may have several lines.
Linear in the text. (Forms: CPython, IPython, pytest and Rich, as `line_forms` has them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from parsers.search.line_forms import CLASS, FRAME, HEAD, NAMED, PREFIX, RAISED
from parsers.search.markup import marker_in

# What stands below a frame: source that is set in, a line of it that an arrow or a number marks, or a box around it.
SOURCE = re.compile(rf"^{PREFIX}\s{{4,}}\S")
_SHOWN = re.compile(r"^(?:>  |-{2,6}> \d|\s{0,8}\d{1,6}\s|[╭╰│┌└├┃]|\s{2,80}[\^~]+\s*$|\s*$)")
_POINTED, _REPORTED = re.compile(r"^>  ", re.MULTILINE), re.compile(r"^E {3,7}", re.MULTILINE)
_BETWEEN = re.compile(
    r"^(?:During handling of the above exc|The above exception was the direct|For troubleshooting, visit"
    r"|\S{1,200}\.py:\d+: \w)"
)
# The words that an exception puts before the output that it could not read.
_LABEL = re.compile(
    r"\b(?:output|completion|response|generation|generated_text|raw|text|answer)\b[\w ()]{0,30}(?:: ?|= ?|:?$)",
    re.IGNORECASE | re.MULTILINE,
)
_TICKED = re.compile(r"`(?!`)(.*\S)`[\s.]*\Z", re.DOTALL)


def without_frames(text: str) -> str:
    """Return a text whose frames and the source that they show are blank lines; what pytest reports stands bare."""
    return "\n".join([line for line, _ in _left_of(text)])


def messages_in(text: str) -> Iterator[str]:
    """Yield the messages of exceptions in a text, without their classes."""
    lines: list[str] | None = None
    for line, below in _left_of(text):
        named = (below or NAMED.match(line) or RAISED.match(line)) and CLASS.match(line)
        if named or _BETWEEN.match(line) or HEAD.match(line) or RAISED.match(line):
            yield from ["\n".join(lines)] if lines else []
            lines = [line[named.end() :]] if named else None
        elif lines is not None:
            lines.append(line)
    yield from ["\n".join(lines)] if lines else []


def _left_of(text: str) -> Iterator[tuple[str, bool]]:
    """The lines without frames and source, and whether each is the first that stands below such."""
    reported = _POINTED.search(text) is not None and _REPORTED.search(text) is not None
    shown = False
    for line in text.split("\n"):
        before, shown = shown, FRAME.match(line) is not None or ((shown or reported) and _is_source(line))
        yield "" if shown else _REPORTED.sub("", line) if reported else line, before and not shown


def _is_source(line: str) -> bool:
    return SOURCE.match(line) is not None or _SHOWN.match(line) is not None


def unspelled_in(message: str) -> str | None:
    """Return the output that a message has from its label on, as it is, in backticks or without marks; None where no
    label stands before the first marker, or quotation marks do: those spell what is in them."""
    first = message.split("\n", 1)[0]
    found = _LABEL.search(first[: marker_in(first)] if marker_in(first) >= 0 else first)
    if found is None or marker_in(message) < 0:
        return None
    said = message[found.end() :].strip()
    ticked = _TICKED.match(said)
    if ticked is not None:
        return ticked[1].strip("\n")
    return None if said[:1] in ("'", '"', "`", "(", "{", "[") and marker_in(said) != 0 else said
