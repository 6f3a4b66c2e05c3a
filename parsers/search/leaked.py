"""Which characters of a recorded content are markup that a server left in it: what a format reads there as no content.

Where no format reads calls or reasoning, and where the content is long, single markers are all that is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.formats.model import builtin_formats
from parsers.search.guess import guesses
from parsers.search.markup import LEFT_OVER
from parsers.search.reading import read
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import Context, Span

LONGEST = 20_000  # characters that all formats are tried on
_LEFT = frozenset((Topic.LEAK, Topic.CALLS_UNPARSED, Topic.OUTPUT_UNPARSED))


@dataclass(slots=True, frozen=True)
class Leaked:
    """The stretches, in order, and the format that reads them; "" where none does."""

    stretches: tuple[Span, ...] = ()
    parser: str = ""

    @property
    def size(self) -> int:
        """How many characters they have."""
        return sum([span.end - span.start for span in self.stretches])


def is_leak(finding: Finding) -> bool:
    """Return whether a finding says that markup was left in a text."""
    return finding.topic in _LEFT


def leaked(content: str, context: Context) -> Leaked:
    """What was left in a content of which it is known that something was."""
    best = next((one for one in guesses(content, context) if one.good), None) if len(content) <= LONGEST else None
    if best is None:
        return Leaked(tuple([Span(*match.span()) for match in LEFT_OVER.finditer(content)]))
    runs = read(builtin_formats()[best.name], content, context).runs
    found = list[Span]()
    for run in runs:
        if run.owner == "content":
            continue
        if found and found[-1].end == run.start:
            found[-1] = Span(found[-1].start, run.end)
        else:
            found.append(Span(run.start, run.end))
    return Leaked(tuple(found), best.name)
