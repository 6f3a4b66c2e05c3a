"""A check of a foreign parser beside the built-in one of its format: is any text sent that belongs to the markup?

Markers are not all of a format's markup: messages have headers, calls have names before their arguments. Text of that
kind is spelled like an answer, so that neither the leak checks nor a look for invented text can tell it from one. The
built-in reading says which text it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from parsers.checks.check import Need, check
from parsers.checks.spaces import squeezed
from parsers.checks.subject import Subject
from parsers.vocabulary.channels import CONTENT
from parsers.vocabulary.events import CallName, ContentText, Marker
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Message, Span
from parsers.vocabulary.words import quoted

_LEAST = 3  # letters and digits: fewer may be punctuation that stands beside an answer anyway


class _Run(NamedTuple):
    """A run of the output: the content of the answer, or text of the markup."""

    start: int
    end: int
    answers: bool


@check(
    "L8",
    "No text that belongs to the markup, such as the header of a message, is sent as content.",
    severity="warning",
    needs=(Need.FINISHED, Need.RAW, Need.REFERENCE),
)
def _no_structure_sent(subject: Subject) -> Iterator[Finding]:
    """One finding, with the first such text, where nothing else is sent otherwise."""
    reference, message = subject.builtin.trace, subject.trace.message
    assert reference is not None  # it is needed
    mine, right = squeezed(message.content), squeezed(reference.message.content)
    if len(mine) <= len(right) or _names(message) != _names(reference.message) or subject.allowed is not None:
        return
    run = _sent_structure(reference, mine)
    if run is not None:
        text = subject.trace.text[run.start : run.end].strip()
        yield _no_structure_sent.finding(
            f"{quoted(text)} is sent as content; in the output it belongs to the markup.",
            step=subject.streamed[CONTENT].place(subject.streamed[CONTENT].text.find(text)).step,
            span=Span(run.start, run.end),
            actual=text,
        )


def _names(message: Message) -> list[str]:
    return [call.name for call in message.tool_calls]


def _sent_structure(reference: Trace, mine: str) -> _Run | None:
    """The first run of the markup's text in a content that is the right one with such runs in their places."""
    at, found = 0, None
    for run in _runs(reference):
        text = squeezed(reference.text[run.start : run.end])
        if mine.startswith(text, at):
            sent = run if not run.answers and sum(map(str.isalnum, text)) >= _LEAST else None
            at, found = at + len(text) * (run.answers or sent is not None), found or sent
        elif run.answers:
            return None
    return found if at == len(mine) else None


def _runs(reference: Trace) -> Iterator[_Run]:
    """The runs of content and of the markup's own text, in the order of the output; those that touch are one."""
    last: _Run | None = None
    for run in sorted(_pieces(reference)):
        if last is not None and (last.end, last.answers) == (run.start, run.answers):
            last = last._replace(end=run.end)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _pieces(reference: Trace) -> Iterator[_Run]:
    for _, event in reference.events():
        if isinstance(event, ContentText):
            yield _Run(event.start, event.end, True)
        elif isinstance(event, CallName) or (isinstance(event, Marker) and event.terminal == "structure"):
            yield _Run(event.start, event.end, False)
