"""A check on recorded streams: is anything sent a second time? Only the deltas can say so, as nobody knows the output.

People and models repeat themselves honestly: refrains, items of a list, rows of a table, a word three times. So a text
counts as sent again only where its form says that it was a delta that came again: every delta twice, each delta with
all of the text before it, the whole text in one piece at the end, the reasoning once more as the content, or a run of
words in one line that comes exactly twice in a row, the second time from the beginning of a chunk on. Each is looked
for once, in time linear in the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from parsers.checks.check import Need, check
from parsers.checks.json_text import is_whole_object
from parsers.checks.subject import Subject
from parsers.vocabulary.channels import CONTENT, REASONING, Channel
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import MessageDelta
from parsers.vocabulary.words import counted, quoted

_MANY = 3  # deltas that come twice, or that repeat what was before them, before that is no chance
_TWO = 2  # deltas that are all there is, each of them twice
_WORDS = 2  # different words in a text that is sent again as a whole
_RUN_WORDS, _RUN = 4, 20  # different words, and characters, of a run that comes twice in a row
_LONGEST = 400  # characters of such a run
_NEAR = 8  # characters of white space that may stand between the two
_EVERY, _EACH, _WHOLE = "Every delta", "Each delta", "The whole text"
_WORD = re.compile(r"\w+")
_BLANK = re.compile(r"\s*\0\s*")
_STOP = r"[.!?\u3002\uff01\uff1f]"
_QUOTE = r"['\")\]\u2019\u201d]*"
_SENTENCE_END = re.compile(rf"{_STOP}{_QUOTE}\s*\Z")
_SENTENCE = re.compile(rf"\s*([^\n.!?\u3002\uff01\uff1f]{{1,{_LONGEST}}}{_STOP}{_QUOTE})")


class _Delta(NamedTuple):
    """A text that one chunk sent."""

    chunk: int
    at: int
    text: str


@check(
    "K4",
    "A server sends nothing a second time.",
    severity="warning",
    needs=(Need.SERVER_CHUNKS,),
)
def _sent_once(subject: Subject) -> Iterator[Finding]:
    """At most one finding. Where the raw output is known, the checks that lay the message over it tell of that."""
    if not subject.raw:
        yield from islice(_said_again(subject), 1)


def _said_again(subject: Subject) -> Iterator[Finding]:
    yield from _arguments_again(subject)
    yield from _every_delta_twice(subject)
    yield from _as_both(subject)
    for channel in (REASONING, CONTENT):
        deltas = _deltas(subject, channel)
        yield from _so_far(channel, deltas)
        yield from _whole_again(channel, deltas)
        yield from _run_twice(channel, deltas)


def _deltas(subject: Subject, channel: Channel) -> list[_Delta]:
    """What was sent to a channel, chunk by chunk."""
    sent = [(number, getattr(delta, channel.part)) for number, delta in subject.trace.columns.sent()]
    said = [(number, text) for number, text in sent if text]
    starts = accumulate([len(text) for _, text in said], initial=0)
    return [_Delta(number, at, text) for (number, text), at in zip(said, starts, strict=False)]


def _finding(words: str, step: int | None, actual: str) -> Finding:
    return _sent_once.finding(words, topic=Topic.ADDITION, step=step, actual=actual)


def _every_delta_twice(subject: Subject) -> Iterator[Finding]:
    sent = list(subject.trace.columns.sent())
    pairs = list(zip(sent[::2], sent[1::2], strict=False))
    if len(sent) % 2 or any(one[1] != other[1] for one, other in pairs):
        return
    different = len({repr(delta) for (_, delta), _ in pairs})
    if different >= _MANY or (different == len(pairs) == _TWO and _is_telling(_said(pairs))):
        first = pairs[0][1]
        words = f"Every delta came twice: {counted(len(pairs), 'delta')}, each followed by the same once more."
        yield _finding(words, first[0], first[1].content or first[1].reasoning or "")


def _arguments_again(subject: Subject) -> Iterator[Finding]:
    """Arguments that are no JSON as they came, and are without what came again: an error, for nobody can read them."""
    sent: dict[int, list[tuple[int, str]]] = {}
    for step, delta in subject.trace.columns.sent():
        for part in delta.tool_calls:
            if part.arguments:
                sent.setdefault(part.index, []).append((step, part.arguments))
    for index, parts in sent.items():
        texts = [text for _, text in parts]
        how = None if is_whole_object("".join(texts)) else _again(texts)
        if how is not None:
            words = f"{how} of {Channel(index, 'arguments').words(subject.calls)}"
            end = "repeats all of the text before it" if how == _EACH else "came twice"
            finding = _finding(f"{words} {end}.", parts[1][0], texts[1])
            yield replace(finding, severity="error")


def _again(texts: Sequence[str]) -> str | None:
    """What of these deltas came again, where one JSON object is left without that."""
    if len(texts) < _TWO:
        return None
    if len(texts) % 2 == 0 and texts[::2] == texts[1::2] and is_whole_object("".join(texts[::2])):
        return _EVERY
    grows = all(other.startswith(one) for one, other in pairwise(texts))
    if grows and is_whole_object(texts[-1]):
        return _EACH
    return _WHOLE if is_whole_object(texts[-1]) and texts[-1] == "".join(texts[:-1]) else None


def _said(pairs: Sequence[tuple[tuple[int, MessageDelta], tuple[int, MessageDelta]]]) -> str:
    """What the first ones of these pairs say."""
    return "".join([(delta.reasoning or "") + (delta.content or "") for (_, delta), _ in pairs])


def _as_both(subject: Subject) -> Iterator[Finding]:
    reasoning, content = (subject.streamed[channel].text.strip() for channel in (REASONING, CONTENT))
    if reasoning == content and _is_telling(content):
        words = "The same text came as reasoning and as content."
        yield _finding(words, subject.streamed[CONTENT].place(0).step, content)


def _so_far(channel: Channel, deltas: Sequence[_Delta]) -> Iterator[Finding]:
    """Each delta begins with the whole of the one before it."""
    grows = [other.text.startswith(one.text) and len(other.text) > len(one.text) for one, other in pairwise(deltas)]
    if len(grows) >= _MANY and all(grows) and _is_telling(deltas[-1].text):
        words = f"Each delta of {channel.words([])} repeats all of the text before it."
        yield _finding(words, deltas[1].chunk, deltas[1].text)


def _whole_again(channel: Channel, deltas: Sequence[_Delta]) -> Iterator[Finding]:
    if len(deltas) <= 2:  # two deltas alike are a matter of runs
        return
    last, whole = deltas[-1], "".join([delta.text for delta in deltas[:-1]])
    if last.text.strip() == whole.strip() and _is_telling(whole):
        words = f"The whole text of {channel.words([])} came again in one piece, with chunk {last.chunk}."
        yield _finding(words, last.chunk, last.text)


def _is_telling(text: str) -> bool:
    return len({*_WORD.findall(text.casefold())}) >= _WORDS


def _run_twice(channel: Channel, deltas: Sequence[_Delta]) -> Iterator[Finding]:
    """A run of words in one line that comes twice in a row, and no third time."""
    text = "".join([delta.text for delta in deltas])
    for delta in [one for one in deltas[1:] if one.text.strip()]:
        run = _overlap(text, delta) or _sentence_again(text, delta.at)
        if run and _is_run(text, delta.at, run):
            words = f"{quoted(run.strip())} came twice in a row in {channel.words([])}, the second time from chunk"
            yield _finding(f"{words} {delta.chunk} on.", delta.chunk, run)


def _overlap(text: str, delta: _Delta) -> str:
    """The longest beginning of a delta that is also the end of what was sent before it."""
    size = min(len(delta.text), delta.at, _LONGEST)
    if size < _RUN:
        return ""
    beginning, end = delta.text[:size], text[delta.at - size : delta.at]
    borders, matched = [0], 0
    for char in islice(beginning, 1, None):  # Knuth, Morris and Pratt: how far the beginning is found within itself
        while matched and beginning[matched] != char:
            matched = borders[matched - 1]
        matched += beginning[matched] == char
        borders.append(matched)
    matched = 0
    for char in end:
        while matched and (matched == size or beginning[matched] != char):
            matched = borders[matched - 1]
        matched += beginning[matched] == char
    return beginning[:matched]


def _sentence_again(text: str, at: int) -> str:
    """The sentence that begins at a place where the same sentence has just ended; "" where none does."""
    if _SENTENCE_END.search(text, max(0, at - _NEAR), at) is None:
        return ""
    match = _SENTENCE.match(text, at)
    if match is None:
        return ""
    run = match.group(1).strip()
    return run if text[max(0, at - len(run) - _NEAR) : at].rstrip().endswith(run) else ""


def _is_run(text: str, at: int, run: str) -> bool:
    """Return whether a run that stands on both sides of a place is no line of a poem or list, no short saying, and no
    loop: it is longer, inside one line, and there are no more than two of it."""
    bare = run.strip()
    if "\n" in bare or len(bare) < _RUN or len({*_WORD.findall(bare.casefold())}) < _RUN_WORDS:
        return False
    between = _BLANK.findall(f"{text[max(0, at - _NEAR) : at]}\0{text[at : at + _NEAR]}")
    room = 3 * (len(run) + _NEAR)
    return "\n" not in "".join(between) and text.count(bare, max(0, at - room), at + room) == 2
