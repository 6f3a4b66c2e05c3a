"""What the rules of the verdict look at: a replay, its findings, other chunkings, and readings by the formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from parsers.checks.check import REGISTERED
from parsers.checks.fuller import markers_of
from parsers.checks.known import Fact, Known, declared_of
from parsers.checks.leaks import SHOWN, is_of_program
from parsers.checks.mentions import is_inline_code, is_spoken_of
from parsers.compare.allowed import allowed_by, content_around
from parsers.formats.model import Format, builtin_formats
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Replayer
from parsers.search.found import Detail, Guess, OutcomeClass
from parsers.search.guess import guesses
from parsers.search.markup import BODY, LEFT_OVER, almost_markers, any_marker
from parsers.search.pasted_json import json_of
from parsers.search.reading import Reading, is_good, read
from parsers.selection.registry import Evidence as Selectable
from parsers.selection.registry import known_format, select
from parsers.vocabulary.events import CallStart, Severity
from parsers.vocabulary.trace import About, Finding, Topic, Trace
from parsers.vocabulary.types import Context, Message

BESIDE = frozenset((Fact.RAW, Fact.GRAMMAR))  # what it takes to lay another reading beside a message
_SPELLED = re.compile(r"\[?\s*([\w.-]{1,200})\s*\(.*\)\s*\]?", re.DOTALL)
_NAMING = ("name", "function", "function_name", "tool", "tool_name", "action")
_GIVING = frozenset(("arguments", "parameters", "args", "kwargs", "input", "tool_input", "action_input"))
GUESSED = 50_000  # characters; trying all formats on a longer output takes too long


@dataclass
class Evidence:
    """A replay, what the checks found, what other chunkings gave, and, when asked, what the formats make of it."""

    findings: Sequence[Finding]
    trace: Trace
    replayer: Replayer
    outcomes: Sequence[OutcomeClass] = ()
    known: Known = field(default_factory=Known)
    asked: list[Guess] = field(default_factory=list)
    """The formats' readings, where a rule wanted them."""
    held: int | None = None
    """How many checks hold, where somebody counted."""

    @property
    def text(self) -> str:
        """The output; nothing where it is unknown."""
        return self.trace.text if self.known.raw else ""

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
        self.asked = guesses(self.text, self.context)
        return self.asked

    @cached_property
    def selected(self) -> str:
        """The parser that `auto` would choose for the output."""
        context, given = self.context, self.replayer
        return select(
            Selectable(
                model_type=context.model_type,
                model_id=context.model,
                vocabulary=given.markers or () if given.mode == "ids" else (),
                text=self.text,
                tools=[tool.name for tool in context.tools],
                guided=context.tool_choice in ("required", "named"),
            )
        ).name

    @cached_property
    def own(self) -> Reading | None:
        """Return what the format's own machine makes of the output: the right reading, where the grammar is known."""
        if self.fmt is None or not self.known.has(*BESIDE):
            return None
        return read(self.fmt, self.text, self.context, None if self.replayer.black_box else self.replayer)

    @cached_property
    def allowed(self) -> str | None:
        """The keys of the contract by which a parser that shows only its deltas may read what it does, where that is
        not the format's own reading."""
        own, contract = self.own, self.replayer.contract
        if own is None or not self.replayer.black_box:
            return None
        around = content_around(own.events)
        return allowed_by(contract, own.message, self.message, text=self.text, context=self.context, around=around)

    @cached_property
    def markers(self) -> tuple[str, ...]:
        """The markers that may be left over: declared ones, else those that the parser consumes under some chunking."""
        return markers_of(
            self.text, declared_of(self.replayer), [self.message, *[one.message for one in self.outcomes]]
        )

    @property
    def good(self) -> int:
        """Calls of the traced replay that are whole and fit the request."""
        return good_calls(self.message, self.context)

    @property
    def reach(self) -> int:
        """The most good calls that this parser finds under any chunking."""
        return max([self.good, *[good_calls(one.message, self.context) for one in self.outcomes]])

    def is_one_shot(self, one: OutcomeClass) -> bool:
        """Return whether only the second code path, the one for whole outputs, gave an outcome."""
        return self.replayer.one_shot is not None and one.smallest == WHOLE

    @cached_property
    def attempt(self) -> int | None:
        """Return where in the output a call was meant, None where nothing says so."""
        hits = (hit for hit in islice(BODY.finditer(self.text), SHOWN) if not _is_spoken_of(self.text, hit))
        return next((hit.start() for hit in hits if not _is_code(self.text, hit.start())), None)

    @cached_property
    def left(self) -> bool:
        """Return whether the client sees markup as content."""
        return LEFT_OVER.search(self.message.content or "") is not None

    def reading(self, guess: Guess) -> Reading:
        """Return what the format of a guess makes of the output."""
        return read(builtin_formats()[guess.name], self.text, self.context)

    def proven(self, guess: Guess) -> bool:
        """Return whether the calls of a guess are more than prose between two tags.

        They have arguments, or names that are known, or the first one begins a line, and it is no code in a line of
        words.
        """
        reading = self.reading(guess)
        start = next((event.start for event in reading.events if isinstance(event, CallStart)), None)
        if start is not None and is_inline_code(self.text, start):
            return False
        if self.context.tools or any(call.arguments != "{}" for call in reading.message.tool_calls):
            return True
        return start is not None and not self.text[:start].rpartition("\n")[2].strip()

    @cached_property
    def called(self) -> str | None:
        """The declared tool that all of the content is a call of by its form, as a client sees it, where none is read:
        a call as programs write it, or JSON with its name under a key for that."""
        content, names = self.message.content or "", [tool.name for tool in self.context.tools]
        if self.message.tool_calls or not names or len(content) > GUESSED:
            return None
        spelled = _SPELLED.fullmatch(content.strip())
        said = [spelled[1]] if spelled is not None else _names_in(json_of(content))
        return next((name for name in names if name in said), None)

    @cached_property
    def doubtful(self) -> bool:
        """Return whether it is worth asking the formats."""
        if self.context.tool_choice == "none" or not self.text.strip() or len(self.text) > GUESSED:
            return False
        calls, content = self.message.tool_calls, self.message.content or ""
        if calls and self.good < len(calls):
            return True
        if self.left or any_marker().search(content) or BODY.search(content):
            return True
        return not calls and (self.attempt is not None or self.called is not None or bool(almost_markers(content)))

    def numbers(self, *topics: Topic, severity: Severity | None = None, about: About | None = None) -> list[int]:
        """The numbers of the findings about these topics, or any, that are no contract."""
        return [
            number
            for number, finding in enumerate(self.findings)
            if (not topics or finding.topic in topics)
            and finding.policy is None
            and severity in (None, finding.severity)
            and about in (None, finding.about)
        ]

    def rests_on(self, numbers: Iterable[int]) -> frozenset[Fact]:
        """What is known wherever the checks of these findings run."""
        checks = [REGISTERED[name] for number in numbers if (name := self.findings[number].check) in REGISTERED]
        return frozenset().union(*[check.facts for check in checks])

    def messages(self, numbers: Iterable[int]) -> tuple[Detail, ...]:
        """Return what these findings say, the first four different sentences."""
        details: dict[str, Detail] = {}
        for number in numbers:
            message = self.findings[number].message
            details.setdefault(message, Detail(message, number, self.rests_on([number])))
        return tuple(details.values())[:4]


def _names_in(value: object) -> list[object]:
    """What the objects of a JSON value, or of a list of them, have under keys for a tool's name, beside arguments."""
    objects = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
    return [one[key] for one in objects if not _GIVING.isdisjoint(one) for key in _NAMING if key in one]


def good_calls(message: Message, context: Context) -> int:
    """Return how many calls of a message are whole and fit the request."""
    return sum([is_good(call, context) for call in message.tool_calls])


def _is_code(text: str, at: int) -> bool:
    """Return whether a place is in a block of a program, or in code inside a line of words."""
    return is_of_program(text, at) or is_inline_code(text, at)


def _is_spoken_of(text: str, hit: re.Match[str]) -> bool:
    """Return whether a tag is only a word of a sentence; the hit may begin inside it."""
    start = hit.start()
    while text[start - 1 : start] in ("<", "/", "|"):
        start -= 1
    return is_spoken_of(text, start, hit.end())
