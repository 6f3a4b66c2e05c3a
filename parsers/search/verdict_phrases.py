"""Phrases that a verdict is made of: what goes wrong between two messages of one output, and under which chunking."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.compare.argument_spelling import spelling_words
from parsers.compare.divergence import HARMFUL, shared_prefix, text_parting
from parsers.compare.partners import partners, value_of
from parsers.replays.chunking import Chunking, empties, label
from parsers.search.found import OutcomeClass
from parsers.search.markup import LEFT_OVER
from parsers.vocabulary.types import Message, ToolCall
from parsers.vocabulary.words import counted, listed, quoted

_FEW_CUTS = 4  # so many cuts can be said one by one
ORDINALS = ("first", "second", "third", "fourth", "fifth")


def under(chunking: Chunking, size: int) -> str:
    """A chunking of an output of `size` characters as the condition of a sentence: 'when it is cut after 118'."""
    cuts = chunking.cuts or ()
    late = chunking.holdback_chars or chunking.text_delay
    if chunking.by == "cuts" and 0 < len({*cuts}) <= _FEW_CUTS:
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
    calls, others = right.tool_calls, wrong.tool_calls
    said = _calls(calls, others) or _texts(right, wrong) or _spelled(calls, others)
    return said or f"the {'ids' if right.order == wrong.order else 'places'} of the calls change"


def _calls(right: list[ToolCall], wrong: list[ToolCall]) -> str | None:
    if right and not wrong:
        every = "both calls" if len(right) == 2 else f"all {len(right)} calls"
        return f"{_the_call(0, right)} is lost" if len(right) == 1 else f"{every} are lost"
    if len(wrong) < len(right):
        return _fewer(right, wrong)
    if len(wrong) > len(right):
        known = partners(wrong, right)
        extra = next(call for index, call in enumerate(wrong) if index not in known)
        many = len(wrong) - len(right)
        return (
            f"one call too many comes out, to {quoted(extra.name)}"
            if many == 1
            else (f"{counted(many, 'call')} too many come out, such as one to {quoted(extra.name)}")
        )
    return next((words for i in range(len(right)) if (words := _call(i, right, wrong))), None)


def _fewer(right: list[ToolCall], wrong: list[ToolCall]) -> str:
    """Which calls are missing: those that no call of the wrong message stands for, in order."""
    known = partners(right, wrong)
    missing = [index for index in range(len(right)) if index not in known]
    lost = len(right) - len(wrong)
    words = [_the_call(index, right) for index in missing[:lost]]
    changed = len(missing) > lost or any(value_of(right[one]) != value_of(wrong[other]) for one, other in known.items())
    return f"{listed(words)} {'is' if len(words) == 1 else 'are'} lost" + (", and others change" if changed else "")


def _call(index: int, right: list[ToolCall], wrong: list[ToolCall]) -> str | None:
    a, b = right[index], wrong[index]
    if a.name != b.name:
        return f"the name of {_the_call(index, right)} becomes {quoted(b.name)}"
    if value_of(a) != value_of(b):
        return _arguments(index, right, wrong)
    return f"{_the_call(index, right)} is {'not ' * a.complete}closed" if a.complete != b.complete else None


def _arguments(index: int, right: list[ToolCall], wrong: list[ToolCall]) -> str:
    changed = _changed(right[index].arguments, wrong[index].arguments)
    return f"the arguments of {_the_call(index, right)} {changed}"


def _spelled(right: list[ToolCall], wrong: list[ToolCall]) -> str | None:
    """Arguments of the same value that are spelled otherwise: that is told where nothing else changes."""
    pairs = enumerate(zip(right, wrong, strict=True))
    differing = ((index, a.arguments, b.arguments) for index, (a, b) in pairs if a.arguments != b.arguments)
    words = (f"the arguments of {_the_call(index, right)} {spelling_words(a, b)}" for index, a, b in differing)
    return next(words, None)


def _changed(a: str, b: str) -> str:
    """Return how one text became another: what is missing, what is there besides, or where they part."""
    at, gone, new = text_parting(a, b)
    if not b:
        return "are lost"
    if not new:
        return f"lose {quoted(gone)}"
    return f"gain {quoted(new)}" if not gone else f"have {quoted(new)} for {quoted(gone)} from their character {at} on"


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
    at, gone, new = text_parting(a, b)
    if gone and not new:
        return f"{quoted(gone)} is lost from the {name}"
    if new and not gone:
        leaks = LEFT_OVER.search(b) or new.lstrip().startswith(("<", "[", "{"))
        return f"{quoted(new)} {'leaks into' if leaks else 'is added to'} the {name}"
    return f"the {name} has {quoted(new)} for {quoted(gone)} from its character {at} on"


def rank(one: OutcomeClass) -> tuple[bool, int, bool, int, int]:
    """Return what is told of first: what a server can send and a person can say, then the fewest cuts."""
    cuts = len({*(one.smallest.cuts or ())}) if one.smallest.by == "cuts" else 0 if one.smallest.by == "whole" else 99
    plain = cuts <= _FEW_CUTS or one.smallest.by == "token"
    return one.grade is not None and one.grade not in HARMFUL, one.cuts.rank, not plain, cuts, one.number


def summary(message: Message) -> str:
    """What a message holds, as a part of a sentence."""
    texts = (("reasoning", message.reasoning or ""), ("content", message.content or ""))
    parts = [f"{len(text)} characters of {name}" for name, text in texts if text]
    if message.tool_calls:
        parts.append(counted(len(message.tool_calls), "call"))
    return ", ".join(parts) or "an empty message"


def lowered(sentence: str) -> str:
    """A sentence as it goes on behind a colon."""
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence
