"""Whose call an output holds: the formats that read a complete call in it with the least text left over.

Markers decide who is asked: a format of which no telling literal is in the output reads nothing of it, unless its calls
need none. Those that are left read the output side by side, a stretch at a time, only until one of them has a complete
call. So a long output costs a look for each literal and a few readings up to its first call, never one reading for each
format.

Invariants: linear in the output; pure; the order of equal formats is that of the built-in ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from parsers.arguments import ARGUMENT_PARSERS
from parsers.formats.model import Format, builtin_formats
from parsers.machine.machine import Machine, Programs
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallName,
    CallStart,
    ContentText,
    Event,
    ReasoningText,
    TextEvent,
)
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.types import Context, Delta, Piece

SHORT = 4  # a literal below this many characters tells nothing: braces, brackets, fences of other kinds
# What is left of a Harmony header where a server leaves special tokens out: the role, and the channel right behind it.
GLUED = frozenset(("assistantanalysis", "assistantcommentary", "assistantfinal"))
# Servers take long ones; prose has blanks before that, and placeholders have no letter.
CALL_NAME = re.compile(r"(?=[._$:/@-]{0,1000}[^\W_])[\w.$:/@-]{1,1000}")
_BARE = re.compile(r"[\[{]\s{0,8}\{?\s{0,8}[\"'](?:name|function|tool_name|type|arguments|parameters)[\"']|\w\(")
_TAG = re.compile(r"<[|/]?\w[^<>\n]{0,40}>|\[/?[A-Z_]{3,}\]")
_CLOSER = re.compile(r"\s{0,8}(?:</[^<>\n]{1,40}>|<[^<>\n]{1,40}\|>)")
_SPOKEN = re.compile(r"\w+:")  # a marker such as `call:`
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」"}
_FENCE = "```"
_MENTIONS = 20  # so many places of a literal are looked at one by one
_STRETCH = 2_048  # characters that are fed at once
_ENOUGH = (
    16_384  # characters behind the first marker: a call that is open for so long is one, and no other begins there
)


def telling_literals(fmt: Format) -> tuple[str, ...]:
    """The literals of a format that tell it from plain text."""
    words = [text for text in fmt.terminals.values() if len(text) >= SHORT and not text.replace(" ", "").isalpha()]
    return tuple(dict.fromkeys([*words, *fmt.models.text]))


def is_bare(fmt: Format) -> bool:
    """Return whether a call may begin with a mere bracket, so that no marker has to be in the output."""
    rows = fmt.states[fmt.initial].rows
    return any(len(fmt.terminals.get(row.on, "long enough")) <= 2 for row in rows)


def has_calls(fmt: Format) -> bool:
    """Return whether a format reads calls at all."""
    return any("CallStart" in row.emit for state in fmt.states.values() for row in state.rows)


def claiming_formats(text: str, tools: Collection[str] = ()) -> tuple[str, ...]:
    """The formats that read the first complete call of an output, and leave equally little of it over; () for none.

    `tools` are the names of declared ones: a call of theirs is meant wherever it stands. A format whose calls need no
    marker has a claim only where no other one leaves as little over, and none where it leaves tags over: they may be
    markers of a format that is not built in.
    """
    end_of_reasoning = max([text.rfind(closer) + len(closer) for closer in _closers() if closer in text], default=0)
    claims = _first_claims(text[end_of_reasoning:], tools)
    if not claims and end_of_reasoning:
        claims = _first_claims(text, tools)  # what closes reasoning stood inside a call
    end = min([claim.end for claim in claims if claim.end >= 0], default=len(text))
    last = _end_of_closer(claims, end)
    over = {
        claim.fmt.name: (claim.left_over(0, end), claim.leaves_tags(end, last), is_bare(claim.fmt))
        for claim in claims
        if not (is_bare(claim.fmt) and claim.leaves_tags(0, end))
    }
    least = min(over.values(), default=None)
    return tuple([name for name, left in over.items() if left == least])


def _end_of_closer(claims: Sequence[_Claim], end: int) -> int:
    """Where the first complete call ends for the format that reads most of it, with the marker that closes it."""
    last = max([claim.end for claim in claims if claim.start < end], default=end)
    closer = _CLOSER.match(claims[0].text, last) if claims else None
    return last if closer is None else closer.end()


def reasoning_formats(text: str) -> tuple[str, ...]:
    """The formats whose reasoning an output begins with; where none is opened, those that could have closed it."""
    start = len(text) - len(text.lstrip())
    begun = [fmt for fmt in builtin_formats().values() if text.startswith(telling_literals(fmt), start)]
    opened = [fmt.name for fmt in begun if _begins_reasoning(fmt, text[start : start + _STRETCH])]
    if opened:
        return tuple(opened)
    closers = [one for one in (*_closers(), *GLUED) if one in text and (one in GLUED or _stands_alone(one, text))]
    known = [(fmt.name, {*fmt.terminals.values()}) for fmt in builtin_formats().values()]
    return tuple([name for name, literals in known if not literals.isdisjoint(closers)])


def _stands_alone(closer: str, text: str) -> bool:
    """Return whether what closes reasoning stands anywhere but in quotes and in the middle of a sentence."""
    return re.search(rf"(?<![`'\"\\]){re.escape(closer)}(?![`'\"]| [a-z])", text) is not None


def _begins_reasoning(fmt: Format, text: str) -> bool:
    machine = Machine(fmt, fmt.policy.model_dump(), _programs(fmt.name))
    machine.begin(Context())
    events = [*machine.feed(Delta(1, (Piece(text),))), *machine.finish(None)]
    first = next((event for event in events if isinstance(event, TextEvent | CallStart)), None)
    return isinstance(first, ReasoningText)


@dataclass(slots=True)
class _Call:
    start: int
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class _Claim:
    """One format at work on an output: the first complete call in the part that it was fed, and what is content."""

    def __init__(self, fmt: Format, text: str, tools: Collection[str]) -> None:
        self.fmt = fmt
        self.text = text
        self._tools = tools
        self.start, self.end = -1, -1
        """Where its first complete call begins and ends; -1 for none yet."""
        self._content: list[tuple[int, int]] = []
        self._open: dict[int, _Call] = {}
        self._machine = Machine(fmt, fmt.policy.model_dump(), _programs(fmt.name))
        self._machine.begin(Context())

    @property
    def has_open_call(self) -> bool:
        """Return whether it stands in a call that has a name."""
        return any(CALL_NAME.fullmatch(call.name) for call in self._open.values())

    def read(self, start: int, end: int) -> None:
        """Read the part of the output that follows what was read."""
        for event in self._machine.feed(Delta(1, (Piece(self.text[start:end]),))):
            self._add(event)

    def finish(self) -> None:
        """Read the end of the output."""
        for event in self._machine.finish(None):
            self._add(event)

    def _add(self, event: Event) -> None:
        match event:
            case ContentText():
                self._content.append((event.start, event.end))
            case CallStart():
                self._open[event.call] = _Call(event.start)
            case CallName():
                self._open[event.call].name = event.text
            case CallArguments():
                self._open[event.call].arguments.append(event.text)
            case CallEnd():
                call = self._open.pop(event.call)
                if self.end < 0 and event.complete and self._is_meant(call):
                    self.start, self.end = call.start, event.end

    def _is_meant(self, call: _Call) -> bool:
        """Return whether a call is more than prose between two tags: it has arguments, is of a declared tool, or
        begins a line. One without markers that stands in code, with prose around it, is only shown."""
        arguments = "".join(call.arguments)
        line = self.text.rfind("\n", 0, call.start) + 1
        meant = arguments != "{}" or call.name in self._tools or not self.left_over(line, call.start)
        if is_bare(self.fmt) and is_shown(self.text, call.start):
            return False
        return CALL_NAME.fullmatch(call.name) is not None and is_object(arguments) and meant

    def leaves_tags(self, start: int, end: int) -> bool:
        """Return whether something like a tag in [start, end) went to the content."""
        inside = [(max(one, start), min(other, end)) for one, other in self._content if one < end and other > start]
        return any(_TAG.search(self.text, one, other) for one, other in inside)

    def left_over(self, start: int, end: int) -> int:
        """How many characters of [start, end) went to the content, white space aside."""
        inside = [(max(one, start), min(other, end)) for one, other in self._content if one < end and other > start]
        return sum([len("".join(self.text[one:other].split())) for one, other in inside])


def is_shown(text: str, at: int) -> bool:
    """Return whether a place is in a block or a line of code, and words stand outside of it: what begins there is only
    shown, if it has no markers. A block may begin there too."""
    fences, line = text.count(_FENCE, 0, at), text.rfind("\n", 0, at) + 1
    if text.startswith(_FENCE, at) and not fences % 2:
        start, end = at, text.find(_FENCE, at + len(_FENCE))
    elif fences % 2:
        start, end = text.rfind(_FENCE, 0, at), text.find(_FENCE, at)
    elif text.count("`", line, at) % 2:
        start, end = text.rfind("`", 0, at), text.find("`", at)
    else:
        return False
    return any(map(str.isalnum, text[:start])) or (end >= 0 and any(map(str.isalnum, text[end:])))


def first_meant(text: str, literal: str) -> int:
    """The first place of a literal that is no mention in code or in quotation marks; -1 where there is none among the
    first ones."""
    places = (match.start() for match in islice(re.finditer(re.escape(literal), text), _MENTIONS))
    return next((at for at in places if not is_shown(text, at) and not _is_quoted(text, at, literal)), -1)


def _is_quoted(text: str, at: int, literal: str) -> bool:
    """Return whether quotation marks stand around a literal and nothing else."""
    closing = _QUOTES.get(text[at - 1 : at])
    return closing is not None and text.startswith(closing, at + len(literal))


def _first_claims(text: str, tools: Collection[str]) -> list[_Claim]:
    """Feed the formats side by side until one of them has a complete call, and a stretch more; all that have one.

    Where none is complete after a long while, those that have a call open.
    """
    marked = [fmt for fmt in builtin_formats().values() if _is_marked(fmt, text, tools)]
    bare = [fmt for fmt in builtin_formats().values() if is_bare(fmt) and _BARE.search(text)]
    running = [_Claim(fmt, text, tools) for fmt in marked or bare]
    stop = min(
        [at for claim in running for word in _openers(claim.fmt.name) if (at := text.find(word)) >= 0], default=0
    )
    stop += _ENOUGH
    for start in range(0, len(text), _STRETCH):
        for claim in running:
            claim.read(start, start + _STRETCH)
        if any(claim.end >= 0 for claim in running):
            stop = min(stop, start + _STRETCH)
        if start >= stop:
            return [claim for claim in running if claim.end >= 0] or [claim for claim in running if claim.has_open_call]
    for claim in running:
        claim.finish()
    return [claim for claim in running if claim.end >= 0]


def _is_marked(fmt: Format, text: str, tools: Collection[str]) -> bool:
    """Return whether a marker of a format says that its calls may stand in a text. A word that prose has as well does
    so beside another sign of the format, or before the name of a declared tool."""
    found = [opener for opener in _openers(fmt.name) if opener in text]
    if not all(map(_SPOKEN.fullmatch, found)):
        return True
    beside = any(f"{word}{tool}" in text for word in found for tool in tools)
    return bool(found) and (beside or any(sign in text for sign in _signs(fmt.name)))


@cache
def _signs(name: str) -> tuple[str, ...]:
    """Return all markers of a format that no prose has, those around its strings among them."""
    fmt = builtin_formats()[name]
    codecs = [state.codec for state in fmt.states.values() if state.codec is not None]
    around = {({**ARGUMENT_PARSERS[one.name].options, **one.options}).get("string", "") for one in codecs}
    return tuple(sorted([text for text in {*fmt.terminals.values(), *around} if text[:1] == "<"]))


@cache
def _openers(name: str) -> tuple[str, ...]:
    """Return the literals of a format that tell where calls may begin; () for one without calls."""
    fmt = builtin_formats()[name]
    if not has_calls(fmt):
        return ()
    others = {text for key, text in fmt.terminals.items() if key.startswith("THINK") or key.endswith("_END")}
    words = set(fmt.terminals.values()) if is_bare(fmt) else {*fmt.terminals.values(), *fmt.models.text}
    return tuple([text for text in telling_literals(fmt) if text in words - others])


@cache
def _closers() -> tuple[str, ...]:
    """Return what closes the reasoning of any format."""
    named = [pair for fmt in builtin_formats().values() for pair in fmt.terminals.items()]
    return tuple(dict.fromkeys([literal for name, literal in named if name.startswith("THINK_END")]))


@cache
def _programs(name: str) -> Programs:
    """Return what all claims of a format share: what is compiled of it."""
    return {}
