"""A changed output that is made small: what was done to it, and what it is once that is taken back.

A parser that reads a changed output wrongly and reads it rightly without the change stumbles over the change; it must
do so in every smaller form. What was done shows from the edits of the finding's proof. It is looked for again in every
form, for the places of the edits are those of the output before it was made smaller.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from parsers.checks.check import any_of
from parsers.compare.divergence import Rules, same_message
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.harms import kind_of
from parsers.search.own_reading import is_sound, own_reading
from parsers.search.shrink import specials
from parsers.search.sweep import cut_at
from parsers.search.targets import Raises, is_allowed, plain_chunkings, rightly_read
from parsers.search.variants.planted import AROUND
from parsers.vocabulary.events import CallStart
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Context, Piece

_PLAIN = "w"
_PLACES = 8  # so many places are tried for a marker that was left out
_PLANTED = re.compile(rf"['\"]?{AROUND[0]}(.*){AROUND[1]}['\"]?", re.DOTALL)


@dataclass(slots=True, frozen=True)
class Planted:
    """Text inside a value, where a plain word stood."""

    text: str

    def without(self, replayer: Replayer) -> Replayer | None:
        """The output as it was before, None where the change is no longer in it."""
        at = replayer.text.find(self.text)
        return replayer.changed(((at, at + len(self.text), _PLAIN),)) if at >= 0 else None


@dataclass(slots=True, frozen=True)
class CutOff:
    """The end was cut off. `rest`: what followed; `context`: the request of the whole output."""

    rest: tuple[Piece, ...]
    context: Context

    def without(self, replayer: Replayer) -> Replayer | None:
        """See Planted."""
        return replayer.with_pieces((*replayer.pieces, *self.rest)).with_context(self.context)


@dataclass(slots=True, frozen=True)
class Followed:
    """A call was put behind it, so that the last one goes."""

    def without(self, replayer: Replayer) -> Replayer | None:
        """See Planted. None also where the format reads no two calls."""
        own = own_reading(replayer)
        starts = [event.start for event in own.events if isinstance(event, CallStart)] if own is not None else []
        return replayer.changed(((starts[-1], len(replayer.text), ""),)) if len(starts) > 1 else None


@dataclass(slots=True, frozen=True)
class Doubled:
    """A marker stands twice."""

    marker: str

    def without(self, replayer: Replayer) -> Replayer | None:
        """See Planted."""
        at = replayer.text.find(self.marker * 2)
        return replayer.changed(((at, at + len(self.marker), ""),)) if at >= 0 else None


@dataclass(slots=True, frozen=True)
class LeftOut:
    """A marker is missing between two others, or between characters: "" for an end of the output."""

    marker: str
    before: str
    after: str

    def without(self, replayer: Replayer) -> Replayer | None:
        """See Planted. The marker goes to the first place of those where the format then finds no flaw."""
        return next((one for one in self._mended(replayer) if _is_clean(one)), None)

    def _mended(self, replayer: Replayer) -> Iterator[Replayer]:
        before = rf"(?<={re.escape(self.before)})" if self.before else r"\A"
        after = re.escape(self.after) if self.after else r"\Z"
        for found in islice(re.finditer(rf"{before}\s*(?={after})", replayer.text), _PLACES):
            yield replayer.changed(((found.end(), found.end(), self.marker),))


Change = Planted | CutOff | Followed | Doubled | LeftOut
LASTING = (Planted, Doubled, LeftOut)  # where these are no longer in an output, nothing was done to it


def change_of(proof: Proof | None, original: Replayer) -> Change | None:
    """What the first edit of a proof does to an output, None for what cannot be taken back."""
    if proof is None or not proof.edits:
        return None
    (start, end, written), text = proof.edits[0], original.text
    if start == end:
        twice = [one for one in _markers(original) if written.startswith(one) and text.endswith(one, 0, end)]
        return Doubled(max(twice, key=len)) if twice else Followed()
    if end == len(text) and not written:
        return CutOff(original.changed(((0, start, ""),)).pieces, original.context)
    planted = _PLANTED.fullmatch(written)
    if planted is not None:
        return Planted(planted[1])
    return None if written.strip() and end < len(text) else _left_out(original, start, end, written)


def _left_out(original: Replayer, start: int, end: int, written: str) -> LeftOut:
    markers, text = any_of(_markers(original)), original.text
    behind = (written + text[end:]).lstrip()
    match, before = markers.match(behind), text[:start].rstrip()
    ends = [one.group() for one in markers.finditer(before) if one.end() == len(before)]
    return LeftOut(text[start:end], ends[-1] if ends else before[-1:], match.group() if match else behind[:1])


def _markers(replayer: Replayer) -> list[str]:
    """The format's markers, and the special tokens of the output."""
    return [one for one in {*replayer.terminals.values(), *specials(replayer.pieces)} if one.strip()]


def _is_clean(replayer: Replayer) -> bool:
    own = own_reading(replayer)
    return own is not None and own.clean


@dataclass(slots=True)
class Misreads:
    """The parser gives another message than the format itself reads, in the same way.

    `shape`: the kind of difference, whether there are calls, and whether these are sound and their names known.
    """

    rules: Rules
    shape: Hashable
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules) -> Misreads | None:
        """Return what is read wrongly under this chunking, or None."""
        read, outcome = own_reading(replayer), replayer.outcome(chunking)
        if read is None or outcome.raised:
            return None
        own, loose = read.message, replace(rules, arguments="json", whitespace="soft", ids=False)
        if same_message(outcome.message, own, loose) or is_allowed(replayer, read, outcome.message):
            return None
        context = replayer.context
        sound = is_sound(own, replace(context, tools=())), is_sound(own, context)
        return cls(rules, (kind_of(outcome.message, own, loose), bool(own.tool_calls), *sound, read.clean))

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Misreads.at(replayer, chunking, self.rules)
        return found is not None and found.shape == self.shape


@dataclass(slots=True)
class OfChange:
    """What comes of a change: a target that holds of a changed output.

    `is_bound`: it must come of the change alone, so that the parser reads the output rightly without it.
    """

    target: Misreads | Raises
    change: Change | None
    rules: Rules
    is_bound: bool = True
    asked: int = 0

    @classmethod
    def bound(
        cls, target: Misreads | Raises, change: Change | None, rules: Rules, replayer: Replayer, chunking: Chunking
    ) -> OfChange:
        """Return the target, bound to the change where it comes of that in the first form."""
        found = cls(target, change, rules)
        found.is_bound = found.holds(replayer, chunking)
        return found

    @property
    def replays(self) -> int:
        """Replays run to answer."""
        return self.target.replays + self.asked

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        return self.target.holds(replayer, chunking) and (not self.is_bound or self._is_of_change(replayer, chunking))

    def unchanged(self, replayer: Replayer) -> Replayer | None:
        """The output without the change, where that can be taken back."""
        return None if self.change is None else self.change.without(replayer)

    def _is_of_change(self, replayer: Replayer, chunking: Chunking) -> bool:
        without = self.unchanged(replayer)
        if without is None:
            return not isinstance(self.change, LASTING)
        self.asked += 1
        if isinstance(self.change, CutOff):
            own, ways = own_reading(without), plain_chunkings(without)
            return own is not None and own.clean and rightly_read(without, own, ways) is not None
        by = chunking if chunking == WHOLE or chunking.by == "token" else cut_at(())
        return without.outcome(by).raised is None and Misreads.at(without, by, self.rules) is None
