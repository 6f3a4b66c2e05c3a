"""What came out of a run, written so short that it fits beside a stored case, and what a later run has in its place.

Of each part there is a digest: reasoning, content, calls, the order in which these came, finish reason and findings. Of
texts and calls there is how long or how many they were, and of findings a number that names each of the first of them
to whoever knows the checks. So a later run can say which part is another, how large it was, and which findings are
gone. Cases stored by earlier versions have no digest of the order, or one digest of all: of these it is known whether
something else changed.

What the message said is [written beside it](outcome_words.py); a digest says whether that is what it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import rfc8785

from parsers.cases.jsontext import halves_spelled
from parsers.cases.message_events import MessageEvent
from parsers.cases.outcome_words import Shape, WrittenOutcome, shape_of, shape_words
from parsers.checks import CHECKS
from parsers.checks.causes import flattened
from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import About, Finding
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted, listed

_UNCHECKED = "unchecked "  # stands before the digest of a message alone, as earlier versions wrote it
_SAYS = ("reasoning", "content", "calls")
NONE = "none"
SHOWN = 240  # characters of a side
_LEAD = 60  # of these before the place where two part
_NAMED = 8  # so many findings have a number each
_WRITTEN = re.compile(
    r"[23] r(?P<reasoning>\d+\.\w{8}) c(?P<content>\d+\.\w{8}) t(?P<calls>\d+\.\w{8})(?: o(?P<order>\w{8}))?"
    r" f(?P<finish>\w{6}) k(?P<findings>-|\d+\.\w{8}):(?P<named>\w*)"
)
_REASONS = ("stop", "length", "tool_calls", "content_filter", "function_call", "error", "abort", "cancelled")
Row = tuple[str, str, str]  # of a finding: check, severity, whose fault


@dataclass(slots=True, frozen=True)
class PartOf:
    """One part of an outcome: what it was, and what it is today, in words; `same` None where nobody knows."""

    name: str
    then: str
    now: str
    same: bool | None
    texts: tuple[str, str] | None = None  # what it said then and what today, where the first is known

    @property
    def sides(self) -> tuple[str, str] | None:
        """Both around the place where they part."""
        if self.texts is None:
            return None
        place = shared_prefix(*self.texts)
        return _around(self.texts[0], place), _around(self.texts[1], place)

    @property
    def is_unknown(self) -> bool:
        """Whether it said something that nobody knows any more."""
        return self.same is False and self.texts is None and self.name in _SAYS and self.then != NONE


@dataclass(slots=True, frozen=True)
class Drift:
    """Says how today's outcome departs from the one that was stored; without `parts` only that it does."""

    parts: tuple[PartOf, ...] = ()

    @property
    def changed(self) -> list[PartOf]:
        """The parts that are not what they were."""
        return [part for part in self.parts if part.same is False]

    @property
    def unchanged(self) -> str:
        """The parts that are what they were, as words."""
        return ", ".join([f"{part.name} ({part.now})" for part in self.parts if part.same])

    @property
    def is_unknown(self) -> bool:
        """Whether something of what was said is not known."""
        return any(part.is_unknown for part in self.parts)

    @property
    def words(self) -> str:
        """Which parts those are, as a sentence."""
        names = [f"the {part.name}" for part in self.changed]
        return f"What differs: {listed(names)}." if names else ""


@dataclass(slots=True, frozen=True)
class Outcome:
    """What came out of a run. `events` is what the message says in order; `findings` are None where nothing was
    checked."""

    message: Message
    events: Sequence[MessageEvent]
    finish_reason: str | None
    findings: Sequence[Finding] | None

    @property
    def shape(self) -> Shape:
        """The kinds of its parts in order, with how long they are."""
        return shape_of(self.events)


def outcome_digest(outcome: Outcome) -> str:
    """What came out of a run, in at most 128 characters: equal as long as no result changes. Findings count as a set;
    where nothing was checked, it says so."""
    reasoning, content, calls = _keys(outcome.message)
    rows = None if outcome.findings is None else _rows(outcome.findings)
    checked = "-:" if rows is None else f"{len(rows)}.{_digest(rows)}:{''.join(map(_number, rows[:_NAMED]))}"
    order, finish = _digest(outcome.shape), _digest(outcome.finish_reason)[:6]
    return f"3 r{reasoning} c{content} t{calls} o{order} f{finish} k{checked}"


def has_outcome(digest: str, outcome: Outcome) -> bool | None:
    """Return whether a run came out as an `outcome_digest` says; None where that is about findings nobody knows."""
    if (then := _WRITTEN.fullmatch(digest)) is None:
        return _has_whole_outcome(digest, outcome)
    now = _today(outcome)
    if any(then[part] != now[part] for part in ("reasoning", "content", "calls", "finish")):
        return False
    if then["order"] not in (None, now["order"]):
        return False
    if "-" in (then["findings"], now["findings"]):
        return True if then["findings"] == "-" else None
    return then["findings"] == now["findings"]


def drift(
    digest: str, outcome: Outcome, written: WrittenOutcome | None = None, before: Iterable[Message] = ()
) -> Drift | None:
    """How a run departs from an outcome; None where it does not, or nobody knows. `written` is what was kept of that
    beside its digest; `before` are messages that may have been its own, in whole or in part."""
    if has_outcome(digest, outcome) is not False:
        return None
    if (then := _WRITTEN.fullmatch(digest)) is None:
        return Drift()
    now, message = _today(outcome), outcome.message
    kept = [written.message] if written is not None and written.message is not None else []
    said = {named: one for one in (*before, *kept, Message()) for named in zip(_SAYS, _keys(one), strict=True)}
    parts = []
    for name, noun in zip(_SAYS, ("character", "character", "call"), strict=True):
        was, key = then[name], now[name]
        known, same = said.get((name, was)), was == key
        texts = None if same or known is None else _texts(name, known, message)
        parts.append(PartOf(name, _size(was, noun), _size(key, noun), same, texts))
    if all(part.same for part in parts):  # what is other text comes in another order as well
        parts += _order(then, now, outcome, written)
    why = _reason(then["finish"], outcome.finish_reason)
    parts.append(PartOf("finish reason", why, outcome.finish_reason or "none", then["finish"] == now["finish"]))
    return Drift((*parts, _found(then, now, outcome.findings)))


def _today(outcome: Outcome) -> re.Match[str]:
    now = _WRITTEN.fullmatch(outcome_digest(outcome))
    assert now is not None
    return now


def _order(
    then: re.Match[str], now: re.Match[str], outcome: Outcome, written: WrittenOutcome | None
) -> Iterator[PartOf]:
    """The part that is the order of the others, where it is known."""
    if then["order"] is None:
        return
    same, words = then["order"] == now["order"], shape_words(outcome.shape)
    was = None if written is None else written.shape
    before = words if same else "another one" if was is None else shape_words(was)
    yield PartOf("order", before, words, same)


def _keys(message: Message) -> tuple[str, str, str]:
    """Size and digest of each of the parts that say something."""
    reasoning, content = [f"{len(text)}.{_digest(text)}" for text in (message.reasoning or "", message.content or "")]
    return reasoning, content, f"{len(message.tool_calls)}.{_digest(message.to_json()['tool_calls'])}"


def _texts(name: str, then: Message, now: Message) -> tuple[str, str]:
    """What a part said and says. Calls have ids where nothing else tells them apart."""
    if name != "calls":
        return getattr(then, name) or "", getattr(now, name) or ""
    sides = _calls(then), _calls(now)
    return sides if sides[0] != sides[1] else (_calls(then, ids=True), _calls(now, ids=True))


def _calls(message: Message, *, ids: bool = False) -> str:
    return "\n".join([
        f"{call.name}({call.arguments})" + f" {call.id}" * ids + " cut off" * (not call.complete)
        for call in message.tool_calls
    ])  # fmt: skip


def _around(text: str, place: int) -> str:
    """At most SHOWN characters of a text around a place, with an ellipsis where it was cut."""
    start = max(0, min(place - _LEAD, len(text) - SHOWN))
    end = start + SHOWN
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))


def _found(then: re.Match[str], now: re.Match[str], findings: Sequence[Finding] | None) -> PartOf:
    """The part that is the findings."""
    numbers = re.findall(r"\w{5}", then["named"])
    many = 0 if then["findings"] == "-" else int(then["findings"].partition(".")[0])
    today = "not checked" if findings is None else ", ".join(map(_row_words, _rows(findings))) or "none"
    if then["findings"] == "-":
        return PartOf("findings", "not checked", today, None)
    words = ", ".join([_named(number) for number in numbers]) or "none"
    more = f" and {many - len(numbers)} more" if many > len(numbers) else ""
    return PartOf("findings", words + more, today, None if findings is None else then["findings"] == now["findings"])


def _rows(findings: Iterable[Finding]) -> list[Row]:
    """The findings as a set, errors first."""
    rows = {(finding.check, finding.severity, finding.about) for finding in flattened(findings)}
    return sorted(rows, key=lambda row: (get_args(Severity).index(row[1]), row))


def _row_words(row: Row) -> str:
    return f"{row[0]} ({row[1]})"


def _named(number: str) -> str:
    """The finding that has a number, as far as today's checks have it."""
    all_rows = (
        (name, severity, about) for name in CHECKS for severity in get_args(Severity) for about in get_args(About)
    )
    return next((_row_words(row) for row in all_rows if _number(row) == number), "one of a check that is no more")


def _number(row: Row) -> str:
    return _digest([*row])[:5]


def _reason(digest: str, today: str | None) -> str:
    reasons = (today, None, *_REASONS)
    return next((one or "none" for one in reasons if _digest(one)[:6] == digest), "another one")


def _size(written: str, noun: str) -> str:
    number = int(written.partition(".")[0])
    return counted(number, noun) if number else NONE


def _digest(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(_encodable(value))).hexdigest()[:8]


def _has_whole_outcome(digest: str, outcome: Outcome) -> bool | None:
    """The same for the digest of all, as earlier versions wrote it."""
    unchecked = digest.startswith(_UNCHECKED)
    if not unchecked and outcome.findings is None:
        return None
    told: dict[str, Any] = {"message": outcome.message.to_json(), "finish_reason": outcome.finish_reason}
    if not unchecked and outcome.findings is not None:
        told["findings"] = [list(row) for row in sorted(_rows(outcome.findings))]
    written = hashlib.sha256(rfc8785.dumps(_encodable(told))).hexdigest()
    return digest.removeprefix(_UNCHECKED) == written


def _encodable(value: Any) -> Any:
    """The value with lone surrogates, which UTF-8 lacks, spelled out."""
    if isinstance(value, str):
        return halves_spelled(value)
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
