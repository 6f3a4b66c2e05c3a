"""Checks that what is sent comes from the output: nothing is made up, and nothing is sent twice.

Places are believed where the parser gives them. Beside them, and for a black box alone, what is sent is laid over what
had arrived by then (`align`). Values of arguments may be escaped or spelled otherwise in the output, or come from the
schema, so one counts as made up only if no reading of the output has it. All work is linear; searches that may each
cost as much are limited.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from urllib.parse import unquote_plus

from parsers.checks.check import Need, any_of, check
from parsers.checks.json_text import Node, is_whole_object, read_object, walk
from parsers.checks.schema import misfits
from parsers.checks.spelled import apart, spelled, unescaped
from parsers.checks.subject import Subject
from parsers.checks.surplus import surplus_calls
from parsers.vocabulary.channels import (
    CONTENT,
    REASONING,
    Channel,
    ChannelText,
    call_words,
    channel_of,
    known_parts,
)
from parsers.vocabulary.events import Segment, TextEvent
from parsers.vocabulary.stretches import Place, Stretch
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Span, Tool, ToolCall
from parsers.vocabulary.words import counted, quoted

_FLOWING = (REASONING, CONTENT)
_SHOWN = 40
_SEARCHES = 200

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+")
_PYTHON = {"null": "none", "none": "null"}  # True and False are the same words in JSON, but for their case


@check("A3", "Everything sent comes from the output: text is a copy, and so are argument values.", needs=(Need.RAW,))
def _nothing_invented(subject: Subject) -> Iterator[Finding]:
    trace = subject.trace
    if next(false_copies(trace), None) is not None:
        return  # spans_cover_input tells of it
    for channel in _FLOWING:
        found = _misfit(subject, channel)
        if found is not None and _stands_at(trace, *found) is None:
            message = f"`{_around(*found)}` is sent to {channel.words([])}; the output does not have it."
            yield _nothing_invented.finding(message, step=found[0].step, actual=found[0].text)
    for message, place, word in _made_up(subject):
        yield _nothing_invented.finding(message, step=place.step, actual=word)


@check("A4", "No character of the output is sent twice, or to two channels.", needs=(Need.RAW,))
def _no_double_ownership(subject: Subject) -> Iterator[Finding]:
    twice = (_claimed_twice(subject.trace), _sent_again(subject), _sent_to_both(subject), _calls_again(subject))
    yield from islice(chain(*twice), 1)


def _calls_again(subject: Subject) -> Iterator[Finding]:
    found = surplus_calls(subject)
    again, new = ([one.number for one in found if one.again is said] for said in (True, False))
    for numbers, words in ((again, "is sent once more than the output has it"), (new, "is not in the output")):
        more = f" ({counted(len(numbers), 'call')} in all)" if len(numbers) > 1 else ""
        for index in numbers[:1]:
            call, place = subject.calls[index], subject.trace.channels[Channel(index, "name")].place(0)
            words = f"The call to {quoted(call.name)} {words}{more}."
            yield _no_double_ownership.finding(words, step=place.step, actual=call.arguments)


def _claimed_twice(trace: Trace) -> Iterator[Finding]:
    sent: list[tuple[int, int, Channel, int]] = []
    for step, _, event in trace.columns.event_runs():
        # A call's id may hold its name, so only the flowing text must have a place of its own.
        if isinstance(event, TextEvent) and event.owner in ("content", "reasoning", "arguments"):
            parts = [part for part in known_parts(event) if part.end > part.start]
            sent += [(part.start, part.end, channel_of(event), step) for part in parts]
    sent.sort(key=lambda one: (one[0], one[1], str(one[2]), one[3]))
    for (first, end, channel, step_a), (again, _, other, step_b) in pairwise(sent):
        if again < end:
            start = max(first, again)
            places = f"twice to `{channel}`" if channel == other else f"to both `{channel}` and `{other}`"
            message = f"Characters {start} to {end} of the output were sent {places}."
            yield _no_double_ownership.finding(message, step=max(step_a, step_b), within=(trace, start, end))


def _sent_again(subject: Subject) -> Iterator[Finding]:
    for channel in _FLOWING:
        found = _misfit(subject, channel)
        if found is not None and (start := _stands_at(subject.trace, *found)) is not None:
            text = _around(*found)
            message = f"`{text}` is sent to {channel.words([])} once more than the output has it."
            span = Span(start, start + len(text))
            yield _no_double_ownership.finding(message, step=found[0].step, span=span, actual=text)


def _sent_to_both(subject: Subject) -> Iterator[Finding]:
    """More of some letter in content and reasoning together than has arrived, though each of them alone fits."""
    trace = subject.trace
    if not (trace.message.content and trace.message.reasoning) or any(_misfit(subject, one) for one in _FLOWING):
        return
    arrived, ends, other = 0, trace.ends, spelled(trace.text)
    room = Counter[str]()
    for step, last, _, delta in trace.columns.delta_runs():  # of open text each step sends what it was fed
        room.update(other.text[arrived : other.limit(ends[last - 1])])
        arrived, sent = other.limit(ends[last - 1]), (delta.reasoning or "") + (delta.content or "")
        for char, times in Counter(apart(sent)).items():
            room[char] -= times
            if room[char] < 0 and not char.isspace():
                message = "What is sent as reasoning and as content is together more than the output has."
                yield _no_double_ownership.finding(message, step=step, actual=sent)


def false_copies(trace: Trace) -> Iterator[tuple[int, TextEvent, Segment]]:
    """Every part of a text that is said to be copied and does not read so, with its event and step."""
    for step, _, event in trace.columns.event_runs():
        if isinstance(event, TextEvent):
            copied = [part for part in known_parts(event) if part.kind == "copied"]
            yield from ((step, event, one) for one in copied if trace.text[one.start : one.end] != one.text)


# Sent text laid over the output.


@dataclass(slots=True)
class _Alignment:
    """`ends`: for each stretch that fits, the place after its last character. `misfit` is the first that does not fit,
    and `offset` where in its text it stops fitting."""

    ends: list[int]
    misfit: Stretch | None = None
    offset: int = 0


def align(trace: Trace, sent: ChannelText) -> _Alignment:
    """Lay what was sent over the output, each stretch over what had arrived by its step.

    Content and reasoning are copies of the output with some of it left out, so what is sent, whitespace aside, is found
    in the output in order. Each character takes the first place after the one before: if that fails, every way fails.
    """
    arrived = trace.ends
    return _laid(trace.text, lambda step: arrived[step - 1], sent)


def _laid(
    text: str, limit_at: Callable[[int], int], sent: ChannelText, taken: Callable[[str], str] = str
) -> _Alignment:
    """Lay what was sent over a text, of which so much had arrived by each step. `taken` is how a character of what was
    sent stands there."""
    place, ends = 0, list[int]()
    for stretch in sent.stretches:
        limit, body = limit_at(stretch.step), stretch.text.strip()
        start = text.find(body[:1], place, limit)
        if start >= 0 and text.startswith(body, start, limit):  # mostly it stands there as it is
            place = start + len(body) if body else place
            ends.append(place)
            continue
        for offset, char in enumerate(stretch.text):
            for part in "" if char.isspace() else taken(char):
                found = text.find(part, place, limit)
                if found < 0:
                    return _Alignment(ends, stretch, offset)
                place = found + 1
        ends.append(place)
    return _Alignment(ends)


def _misfit(subject: Subject, channel: Channel) -> tuple[Stretch, int] | None:
    trace, sent = subject.trace, subject.streamed[channel]
    found = align(trace, sent)
    if found.misfit is not None:  # it may be what the output spells otherwise
        other, arrived = spelled(trace.text), trace.ends
        found = _laid(other.text, lambda step: other.limit(arrived[step - 1]), sent, apart)
    return None if found.misfit is None else (found.misfit, found.offset)


def _around(stretch: Stretch, offset: int) -> str:
    return stretch.text[max(0, offset - _SHOWN) : offset + _SHOWN].strip()


def _stands_at(trace: Trace, stretch: Stretch, offset: int) -> int | None:
    """Return where text that does not fit stands in what had arrived: then it was sent before, or out of turn."""
    limit = trace.steps[stretch.step - 1].span.end
    rest = stretch.text[offset : offset + _SHOWN].strip()
    places = [trace.text.find(text, 0, limit) for text in (stretch.text.strip(), rest)]
    return next((place for place in places if place >= 0), None)


# Names, words and numbers of calls that the output does not have.


class _Source:
    """One output, and the declared tools, as what values may come from."""

    def __init__(self, text: str, tools: Iterable[Tool], special: re.Pattern[str]) -> None:
        self.text = text
        self._tools = tools
        self._special = special
        self._left = _SEARCHES

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The output as it is, without special tokens, and with its escapes undone in the ways that change it."""
        texts = dict.fromkeys((self.text, self._special.sub("", self.text)))
        forms = [*texts, *map(unescaped, texts)]
        forms += [html.unescape(form) for form in forms if "&" in form]
        forms += [unquote_plus(form) for form in forms if "%" in form]
        return tuple(dict.fromkeys([*forms, *map(apart, forms)]))

    @cached_property
    def _schemas(self) -> str:
        return json.dumps([[tool.name, tool.parameters] for tool in self._tools], ensure_ascii=False, default=str)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for form in (*self.readings, self._schemas) for word in _WORD.findall(form))

    @cached_property
    def _numbers(self) -> frozenset[float]:
        found = [_number(text) for form in (self.text, self._schemas) for text in _NUMBER.findall(form)]
        return frozenset(value for value in found if value is not None)

    @cached_property
    def _squeezed(self) -> tuple[str, ...]:
        return tuple(["".join(_WORD.findall(form)).casefold() for form in self.readings])

    def has_name(self, name: str) -> bool:
        """Return whether a name stands in the output as it is, or is that of a declared tool."""
        return any(name in form for form in self.readings) or any(tool.name == name for tool in self._tools)

    def missing_word(self, text: str) -> str | None:
        """The first word of `text` that stands nowhere in the output, with accents or letters apart from them."""
        return next((word for word in _WORD.findall(text) if not self._has_accented(word)), None)

    def _has_accented(self, word: str) -> bool:
        return self._has_word(word.casefold()) or (
            not word.isascii() and all(map(self._has_word, _WORD.findall(apart(word).casefold())))
        )

    def _has_word(self, word: str) -> bool:
        if word in self._words or _PYTHON.get(word) in self._words:
            return True
        self._left -= 1  # cut out of a longer word, or joined where something was left out
        return self._left < 0 or any(word in form for form in self._squeezed)

    def has_number(self, spelling: str, value: float) -> bool:
        """Return whether the output has a number of this value, however it is spelled, or its digits."""
        if value in (0, 1) or abs(value) in self._numbers:
            return True
        self._left -= 1
        digits = spelling.lstrip("-")
        return self._left < 0 or any(digits in form for form in self.readings)


def _number(text: str) -> float | None:
    plain = text.replace("_", "").replace(",", "")
    try:
        return float(int(plain, 0)) if plain[:2].lower() in ("0x", "0b", "0o") else float(plain)
    except (ValueError, OverflowError):
        return None


def _made_up(subject: Subject) -> Iterator[tuple[str, Place, str]]:
    """A sentence, a place and the text for the first thing of each call that was made up."""
    text = (subject.request.prompt_tail or "") + subject.trace.text
    source = _Source(text, subject.request.tools, any_of(subject.tokens.special))
    for index, call in enumerate(subject.calls):
        words = call_words(index, call.name)
        if index not in subject.renamed and not source.has_name(call.name):
            place, word = subject.trace.channels[Channel(index, "name")].place(0), source.missing_word(call.name)
            rest = f"which has no `{word}`" if word is not None else "as it is sent"
            yield f"The name of {words} is not in the output, {rest}.", place, call.name
        if call.arguments in subject.trace.text or not is_whole_object(call.arguments):
            continue
        for node, word in _foreign(source, read_object(call.arguments), call.arguments):
            place = subject.arguments(index).place(max(node.start, call.arguments.find(word, node.start, node.end)))
            yield f"`{word}` in the arguments of {words} is not in the output.", place, word
            break


def _foreign(source: _Source, root: Node, text: str) -> Iterator[tuple[Node, str]]:
    for node in walk(root):
        for member in node.members:
            if (word := source.missing_word(member.key)) is not None:
                yield member.value, word
        if node.kind == "string" and (word := source.missing_word(str(node.value))) is not None:
            yield node, word
        spelling = text[node.start : node.end]
        if node.kind in ("integer", "number") and not source.has_number(spelling, float(node.value or 0)):
            yield node, spelling


def is_sound(subject: Subject, call: ToolCall) -> bool:
    """Return whether a call is whole, to a declared tool, and fits its schema: no server has a reason to refuse it."""
    tool = subject.request.tool(call.name)
    if tool is None or not call.complete or not is_whole_object(call.arguments):
        return False
    return not misfits(tool.parameters, call.arguments)
