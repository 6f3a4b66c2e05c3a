"""What the rules of the verdict look at, and how they say what goes wrong between two messages of one output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from parsers.compare.divergence import shared_prefix
from parsers.formats.model import Format, builtin_formats
from parsers.replays.chunking import WHOLE, Chunking, empties, label
from parsers.replays.replayer import Replayer
from parsers.search.found import Detail, Guess, OutcomeClass
from parsers.search.guess import guesses
from parsers.search.markup import BODY, LEFT_OVER, almost_markers, any_marker
from parsers.search.reading import Reading, is_good, read
from parsers.selection.registry import known_format
from parsers.vocabulary.events import CallStart, Severity
from parsers.vocabulary.trace import About, Finding, Topic, Trace
from parsers.vocabulary.types import Context, Message, ToolCall
from parsers.vocabulary.words import counted, listed, quoted

GUESSED = 50_000  # characters; trying all formats on a longer output takes too long


@dataclass
class Evidence:
    """A replay, what the checks found, what other chunkings gave, and, when asked, what the formats make of it."""

    findings: Sequence[Finding]
    trace: Trace
    replayer: Replayer
    outcomes: Sequence[OutcomeClass] = ()
    asked: list[Guess] = field(default_factory=list)
    """The formats' readings, where a rule wanted them."""

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
        self.asked = guesses(self.text, self.context)
        return self.asked

    @cached_property
    def own(self) -> Reading | None:
        """Return what the format's own machine makes of the output: the right reading, where the grammar is known."""
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
        """Return whether only the second code path, the one for whole outputs, gave an outcome."""
        return self.replayer.one_shot is not None and one.smallest == WHOLE

    @cached_property
    def attempt(self) -> int | None:
        """Return where in the output a call was meant, None where nothing says so."""
        hit = BODY.search(self.text)
        return None if hit is None else hit.start()

    @cached_property
    def left(self) -> bool:
        """Return whether the client sees markup as content."""
        return LEFT_OVER.search(self.message.content or "") is not None

    def proven(self, guess: Guess) -> bool:
        """Return whether the calls of a guess are more than prose between two tags.

        They have arguments, or names that are known, or the first one begins a line.
        """
        reading = read(builtin_formats()[guess.name], self.text, self.context)
        if self.context.tools or any(call.arguments != "{}" for call in reading.message.tool_calls):
            return True
        start = next((event.start for event in reading.events if isinstance(event, CallStart)), None)
        return start is not None and not self.text[:start].rpartition("\n")[2].strip()

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
        return not calls and (self.attempt is not None or bool(almost_markers(content)))

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

    def messages(self, numbers: Iterable[int]) -> tuple[Detail, ...]:
        """Return what these findings say, the first four different sentences."""
        details: dict[str, Detail] = {}
        for number in numbers:
            message = self.findings[number].message
            details.setdefault(message, Detail(message, number))
        return tuple(details.values())[:4]


def good_calls(message: Message, context: Context) -> int:
    """Return how many calls of a message are whole and fit the request."""
    return sum([is_good(call, context) for call in message.tool_calls])


# What a wrong message does to a right one, and under which chunking, as parts of a sentence.

ORDINALS = ("first", "second", "third", "fourth", "fifth")


def under(chunking: Chunking, size: int) -> str:
    """A chunking of an output of `size` characters as the condition of a sentence: 'when it is cut after 118'."""
    cuts = chunking.cuts or ()
    late = chunking.holdback_chars or chunking.text_delay
    if chunking.by == "cuts" and 0 < len({*cuts}) <= 4:
        return "when " + _cut_words(cuts, size)
    if chunking.by == "whole" or (chunking.by == "cuts" and not cuts):
        return "when the output comes in one delta"
    noun = "token" if chunking.by == "token" else "character"
    if late or chunking.by not in ("token", "char"):
        return f'with the chunking "{label(chunking)}"'
    return f"when the output comes {noun} by {noun}" if chunking.size == 1 else f"in deltas of {chunking.size} {noun}s"


def _cut_words(cuts: Sequence[int], size: int) -> str:
    empty = {*empties(cuts), size} & {*cuts}
    inside, others = _after(sorted({*cuts} - empty)), _after(sorted(empty - {0, size}))
    parts = [
        *([f"the output is cut after {inside}"] if inside else []),
        *(["an empty delta comes first"] if 0 in empty else []),
        *([f"an empty delta comes after {others}"] if others else []),
        *(["an empty delta comes last"] if size in empty else []),
    ]
    return listed(parts)


def _after(places: Sequence[int]) -> str:
    return f"character{'s' * (len(places) > 1)} {listed([str(at) for at in places])}" if places else ""


def _the_call(index: int, calls: list[ToolCall]) -> str:
    """'the second call (`f`)'; 'the only call (`f`)' where there is one."""
    name = f" ({quoted(calls[index].name)})" if calls[index].name else ""
    if len(calls) == 1:
        return f"the only call{name}"
    return f"{'the ' + ORDINALS[index] + ' call' if index < len(ORDINALS) else f'call {index}'}{name}"


def harm(right: Message, wrong: Message) -> str:
    """Return what the wrong message does to the right one, in one phrase."""
    return _calls(right.tool_calls, wrong.tool_calls) or _texts(right, wrong) or "the ids of the calls change"


def _calls(right: list[ToolCall], wrong: list[ToolCall]) -> str | None:
    if right and not wrong:
        every = "both calls" if len(right) == 2 else f"all {len(right)} calls"
        return f"{_the_call(0, right)} is lost" if len(right) == 1 else f"{every} are lost"
    if len(wrong) < len(right):
        return _fewer(right, wrong)
    if len(wrong) > len(right):
        known = [(call.name, call.arguments) for call in right]
        extra = next((call for call in wrong if (call.name, call.arguments) not in known), wrong[-1])
        return f"{counted(len(wrong) - len(right), 'call')} too many, such as one to {quoted(extra.name)}"
    return next((words for i in range(len(right)) if (words := _call(i, right, wrong))), None)


def _fewer(right: list[ToolCall], wrong: list[ToolCall]) -> str:
    """Which calls are missing: those that no call of the wrong message equals, in order."""
    left = [(call.name, call.arguments) for call in wrong]
    missing: list[int] = []
    for index, call in enumerate(right):
        if (call.name, call.arguments) in left:
            left.remove((call.name, call.arguments))
        else:
            missing.append(index)
    lost = len(right) - len(wrong)
    words = [_the_call(index, right) for index in missing[:lost]]
    merged = len(missing) > lost
    return f"{listed(words)} {'is' if len(words) == 1 else 'are'} lost" + (", and others change" if merged else "")


def _call(index: int, right: list[ToolCall], wrong: list[ToolCall]) -> str | None:
    a, b = right[index], wrong[index]
    if a.name != b.name:
        return f"the name of {_the_call(index, right)} becomes {quoted(b.name)}"
    if a.arguments != b.arguments:
        return f"the arguments of {_the_call(index, right)} {_changed(a.arguments, b.arguments)}"
    return f"{_the_call(index, right)} is not closed" if a.complete and not b.complete else None


def _parting(a: str, b: str) -> tuple[int, str, str]:
    at = shared_prefix(a, b)
    back = shared_prefix(a[at:][::-1], b[at:][::-1])
    return at, a[at : len(a) - back], b[at : len(b) - back]


def _changed(a: str, b: str) -> str:
    """Return how one text became another: what is missing, what is there besides, or where they part."""
    at, gone, new = _parting(a, b)
    if not b:
        return "are lost"
    if not new:
        return f"lose {quoted(gone)}"
    return f"gain {quoted(new)}" if not gone else f"have {quoted(new)} for {quoted(gone)} from character {at} on"


def _texts(right: Message, wrong: Message) -> str | None:
    pairs = [
        ("content", right.content or "", wrong.content or ""),
        ("reasoning", right.reasoning or "", wrong.reasoning or ""),
    ]
    differing = [pair for pair in pairs if pair[1] != pair[2]]
    if len(differing) == 2:
        longer = max(pairs, key=lambda pair: len(pair[2]) - len(pair[1]))
        other = "reasoning" if longer[0] == "content" else "content"
        at = shared_prefix(longer[1], longer[2])
        return f"{quoted(longer[2][at:])} becomes {longer[0]}, not {other}"
    if not differing:
        return None
    name, a, b = differing[0]
    at, gone, new = _parting(a, b)
    if gone and not new:
        return f"{quoted(gone)} is lost from the {name}"
    if new and not gone:
        leaks = LEFT_OVER.search(b) or new.lstrip().startswith(("<", "[", "{"))
        return f"{quoted(new)} {'leaks into' if leaks else 'is added to'} the {name}"
    return f"the {name} has {quoted(new)} for {quoted(gone)} from character {at} on"
