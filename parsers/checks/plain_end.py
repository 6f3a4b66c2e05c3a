"""What a parser of an unknown grammar leaves out of an answer: its end, or letters of a plain word.

Any word may be markup there, so that one which is missing proves nothing. The parser is asked: the output is read again
as if it had ended earlier. What is sent while more follows and is missing once nothing does is no markup by what it
says. It may be by its place, as a last word that names a language, or a last line that says how it went; of a letter of
a word no grammar makes that. A beginning of which nothing is sent shows nothing: whole outputs alone may be read.
Linear in the output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from parsers.checks.prose import TAG
from parsers.compare.divergence import shared_prefix
from parsers.replays.chunking import TRACED
from parsers.replays.replayer import Replayer
from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted, quoted

MOST = 5  # beginnings of an output that are read
LEAST = 3  # of them that must lose their end: of fewer the first words may be markup
_WORD = re.compile(r"\w+")
_SIGN = re.compile(r"[<>\[\]{}()|｜=`\\/@#$%^&*_~]")  # of which markup, or what is written otherwise, is made
_TAGS = 8  # so many in a row end an output
_LONGEST = 80  # characters of one of them
_TAIL = 12  # characters at the end of a text by which its place is found


class Beginning(NamedTuple):
    """What came of the output's first `size` characters."""

    size: int
    message: Message


class Unsent(NamedTuple):
    """Characters [start, end) of an output that are nowhere in its message, with what is said of them."""

    severity: Severity
    words: str
    start: int
    end: int


class _End(NamedTuple):
    """The end [start, end) that a message lacks; it has all from `first` to `kept`."""

    first: int
    kept: int
    start: int
    end: int


def beginnings(replayer: Replayer, message: Message, specials: Sequence[str]) -> tuple[Beginning, ...]:
    """What comes of a few beginnings of an output whose message lacks its end; none where it does not."""
    lacking = _lacking(replayer.text, message, specials)
    if lacking is None:
        return ()
    size = len(replayer.text)
    cuts = _cuts(replayer.text, lacking.first, lacking.kept)
    read = [(cut, replayer.changed([(cut, size, "")]).outcome(TRACED)) for cut in cuts]
    return tuple([Beginning(cut, outcome.message) for cut, outcome in read if outcome.raised is None])


def unsent(text: str, message: Message, others: Sequence[Beginning], specials: Sequence[str]) -> Unsent | None:
    """What a message lacks of an answer: an error where the `beginnings` prove it, and of a plain one a note where all
    of it may be markup."""
    lacking = _lacking(text, message, specials)
    proven = None if lacking is None else _proven(text, lacking, others, specials)
    if proven is not None and proven.severity == "error":
        return proven
    told = proven if proven is not None and (proven.severity == "warning" or _given(message) is not None) else None
    return _in_part(text, message) or told


def _proven(text: str, lacking: _End, others: Sequence[Beginning], specials: Sequence[str]) -> Unsent:
    answers = [one for one in others if one.message.content or one.message.reasoning]
    lacked = [_lacking(text[: one.size], one.message, specials) for one in answers]
    losing = [_is_inside(text, end) for end in lacked if end is not None]
    keeping = [one for one in others if _has(one.message, text[lacking.first : one.size].strip())]
    lost, place = quoted(text[lacking.start : lacking.end]), (lacking.start, lacking.end)
    if not losing or keeping:
        words = (
            f"{lost} at the end of the output is nowhere in the message. The grammar is not known: it may be markup."
        )
        return Unsent("info", words, *place)
    many = counted(len(losing), "time")
    again = f"Read {many} as if it had ended earlier, the output lost its end as well, which is sent where more follows"
    words = f"The end of the answer is lost: {lost} is nowhere in the message. {again}."
    if _is_inside(text, lacking) and sum(losing) >= LEAST:
        return Unsent("error", words, *place)
    return Unsent("warning", f"{words} If what stands last is always markup, declare it with `--markers`.", *place)


def _is_inside(text: str, lacking: _End) -> bool:
    """Return whether what is lacked begins inside a word."""
    return lacking.start == lacking.kept > 0 and text[lacking.kept - 1 : lacking.kept + 1].isalpha()


def _lacking(text: str, message: Message, specials: Sequence[str]) -> _End | None:
    """The end of an answer that its message lacks, but for the tokens that end a turn; None where that is none, or no
    plain words, or where they may be those of a call."""
    sent = [_sent_to(text, one.strip()) for one in (message.content, message.reasoning) if one and one.strip()]
    first, kept = max(sent, key=lambda place: place[1], default=(0, 0))
    if (sent or message.tool_calls) and not kept:
        return None
    end, start = _end(text, specials), kept + len(text[kept:]) - len(text[kept:].lstrip())
    words = {*_WORD.findall(text[start:end])}
    called = {word for call in message.tool_calls for word in _WORD.findall(f"{call.name} {call.arguments}")}
    plain = words and words.isdisjoint(called) and not _SIGN.search(text, start, end)
    return _End(first, kept, start, end) if plain else None


def _sent_to(text: str, said: str) -> tuple[int, int]:
    """How far what is said ends in the output, and from where on it is the same there; (0, 0) where it ends nowhere."""
    tail = said[-_TAIL:]
    kept = text.rfind(tail) + len(tail)
    if kept < len(tail):
        return 0, 0
    return kept - shared_prefix(text[:kept][::-1], said[::-1]), kept


def _has(message: Message, text: str) -> bool:
    """Return whether a text of a message ends so."""
    return any((one or "").rstrip().endswith(text) for one in (message.content, message.reasoning))


def _given(message: Message) -> str | None:
    """The one text of a message without calls."""
    texts = [text.strip() for text in (message.content, message.reasoning) if text and text.strip()]
    return None if message.tool_calls or len(texts) > 1 else "".join(texts)


def _end(text: str, specials: Sequence[str]) -> int:
    """Where an output ends, but for tags, special tokens and white space."""
    end = len(text.rstrip())
    for _ in range(_TAGS):
        tail = text[max(0, end - _LONGEST) : end]
        sizes = [len(one) for one in specials if one and tail.endswith(one)]
        sizes += [len(match.group()) for match in TAG.finditer(tail) if match.end() == len(tail)]
        if not sizes:
            break
        end -= max(sizes)
        end -= len(text[max(0, end - _LONGEST) : end]) - len(text[max(0, end - _LONGEST) : end].rstrip())
    return end


def _cuts(text: str, first: int, kept: int) -> list[int]:
    """Where the output ends earlier: at the ends of a few words of what is sent, in few words anywhere."""
    words = [match.end() for match in _WORD.finditer(text, first, kept)]
    among = words if len(words) >= LEAST else [at + 1 for at in range(first, kept) if text[at].isalnum()]
    return sorted({among[(len(among) - 1) * part // (MOST - 1)] for part in range(MOST)}) if among else []


def _in_part(text: str, message: Message) -> Unsent | None:
    """A plain word of which a part is sent that is no word of the output, while the rest of it is nowhere: all words
    that are sent stand in the output, in their order, but for such parts."""
    given = _given(message)
    if not given:
        return None
    written, sent = [*_WORD.finditer(text)], _WORD.findall(given)
    known, at, found = {match.group() for match in written}, 0, list[tuple[int, int, str, str]]()
    for match in written:
        word, said = match.group(), sent[at] if at < len(sent) else ""
        place = None if said in known else _lost_part(word, said)
        if said == word or place is not None:
            at += 1
        if place is not None and _is_plain_line(text, match.start()):
            found.append((match.start() + place[0], match.start() + place[1], word, said))
    if at < len(sent) or not found:
        return None
    start, end, word, said = found[0]
    more = f" ({len(found):,} words in all)" if len(found) > 1 else ""
    words = f"Letters of a plain word are lost: of {quoted(word)} only {quoted(said)} is in the message{more}."
    return Unsent("warning", words, start, end)


def _lost_part(word: str, said: str) -> tuple[int, int] | None:
    """Where the rest of a plain word stands in it of which the beginning or the end is sent."""
    is_plain = word.isdigit() or (word.isalpha() and word[1:].islower())  # what stands at a word may be markup
    if not is_plain or not said or len(said) >= len(word):
        return None
    if word.startswith(said):
        return len(said), len(word)
    return (0, len(word) - len(said)) if word.endswith(said) else None


def _is_plain_line(text: str, at: int) -> bool:
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return not _SIGN.search(text, begin, len(text) if end < 0 else end)
