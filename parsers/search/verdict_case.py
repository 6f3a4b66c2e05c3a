"""What the rules of the verdict look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from parsers.chunking import WHOLE
from parsers.events import CallStart
from parsers.formats.model import Format, builtin_formats
from parsers.registry import known_format
from parsers.replayer import Replayer
from parsers.search.found import Guess, OutcomeClass
from parsers.search.guess import guesses
from parsers.search.guess_markup import BODY, LEFT_OVER, any_marker, nearly
from parsers.search.guess_read import Reading, is_good, read
from parsers.trace import Finding, Trace
from parsers.types import Context, Message

CHUNKS = ("C1", "C2")
GUESSED = 50_000  # characters; trying all formats on a longer output must be asked for


@dataclass
class Evidence:
    """A replay, what the checks found, what other chunkings gave, and, when asked, what the formats make of it."""

    findings: Sequence[Finding]
    trace: Trace
    replayer: Replayer
    outcomes: Sequence[OutcomeClass] = ()
    given: Sequence[Guess] | None = None
    asked: list[Guess] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The output."""
        return self.trace.text

    @property
    def context(self) -> Context:
        """The request."""
        return self.replayer.context

    @property
    def message(self) -> Message:
        """The message of the traced replay."""
        return self.trace.message

    @property
    def fmt(self) -> Format | None:
        """The grammar that the parser is for, where that is known."""
        return self.replayer.format or known_format(self.trace.parser)

    @cached_property
    def guesses(self) -> list[Guess]:
        """The formats' readings, best first."""
        self.asked = guesses(self.text, self.context) if self.given is None else list(self.given)
        return self.asked

    @cached_property
    def own(self) -> Reading | None:
        """What the format's own machine makes of the output: the right reading, where the grammar is known."""
        return None if self.fmt is None else read(self.fmt, self.text, self.context)

    @property
    def good(self) -> int:
        """Calls of the traced replay that are whole and fit the request."""
        return good_calls(self.message, self.context)

    @property
    def reach(self) -> int:
        """The most good calls that this parser finds under any chunking."""
        return max([self.good, *[good_calls(one.message, self.context) for one in self.outcomes]])

    def is_one_shot(self, one: OutcomeClass) -> bool:
        """Whether only the second code path, the one for whole outputs, gave an outcome."""
        return self.replayer.one_shot is not None and one.smallest == WHOLE

    @cached_property
    def attempt(self) -> int | None:
        """Where in the output a call was meant, None where nothing says so."""
        hit = BODY.search(self.text)
        return None if hit is None else hit.start()

    @cached_property
    def left(self) -> bool:
        """Whether the client sees markup as content."""
        return LEFT_OVER.search(self.message.content or "") is not None

    def proven(self, guess: Guess) -> bool:
        """Whether the calls of a guess are more than prose between two tags.

        They have arguments, or names that are known, or the first one begins a line.
        """
        reading = read(builtin_formats()[guess.name], self.text, self.context)
        if self.context.tools or any(call.arguments != "{}" for call in reading.message.tool_calls):
            return True
        start = next((event.start for event in reading.events if isinstance(event, CallStart)), None)
        return start is not None and not self.text[:start].rpartition("\n")[2].strip()

    @cached_property
    def doubtful(self) -> bool:
        """Whether it is worth asking the formats."""
        if self.context.tool_choice == "none" or not self.text.strip():
            return False
        if self.given is None and len(self.text) > GUESSED:
            return False
        calls, content = self.message.tool_calls, self.message.content or ""
        if calls and self.good < len(calls):
            return True
        if self.left or any_marker().search(content) or BODY.search(content):
            return True
        return not calls and (self.attempt is not None or bool(nearly(content)))

    def numbers(self, *ids: str, severity: str | None = None) -> list[int]:
        """The numbers of the findings of these checks, by id."""
        return [
            number
            for number, finding in enumerate(self.findings)
            if finding.id in ids and finding.policy is None and severity in (None, finding.severity)
        ]


def good_calls(message: Message, context: Context) -> int:
    """How many calls of a message are whole and fit the request."""
    return sum([is_good(call, context) for call in message.tool_calls])
