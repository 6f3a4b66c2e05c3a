"""What a comparison says in words: whether the messages are the same, where they part first, and each place."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.compare.divergence import Divergence, Grade, shared_prefix
from webapp.page.compare_parts import Comparison, Parting
from webapp.page.compare_sides import Replayed
from webapp.page.compare_text import role_at
from webapp.page.glyphs import count, shorten
from webapp.page.index import TraceIndex

GRADES: dict[Grade, str] = {
    "calls": "The calls differ.",
    "text": "The calls are the same; the text differs.",
    "whitespace": "Only whitespace of the text differs.",
}
EXCERPT = 60
LEAD = 24


@dataclass(slots=True)
class Sentence:
    """The sentence on top. `steps` are the first differing step on either side; `texts` what each side has there."""

    severity: str
    headline: str
    rest: str
    where: str
    at: int | None
    steps: tuple[int | None, int | None]
    texts: tuple[str, str] | None
    raised: list[str]


@dataclass(slots=True)
class Place:
    """One place where the sides part, as a row of the list."""

    start: int
    end: int
    text: str
    a: str
    b: str
    what: str

    @property
    def span(self) -> str:
        """The place in words."""
        return f"{self.start:,}–{self.end:,}" if self.end > self.start + 1 else f"{self.start:,}"


def sentence(a: Replayed, b: Replayed, found: Comparison) -> Sentence:
    """What the two replays come to."""
    first, raised = found.first, _raised(a, b, found)
    owners = count(len(found.partings), "place")
    if first is None:
        rest = "Every character has the same owner on both sides."
        if found.partings:
            rest = f"Still, the sides account for the output differently in {owners}."
        severity = "warning" if raised else "pass"
        return Sentence(severity, "The same message on both sides.", rest, "", None, (None, None), None, raised)
    headline = GRADES[found.grade] if found.grade else "The messages are the same; the finish reasons differ."
    severity = "warning" if found.grade in ("whitespace", None) else "error"
    texts = _around(first.expected, first.actual)
    steps = first.step_a, first.step_b
    return Sentence(severity, headline, f"The sides part in {owners}.", _where(first), first.raw, steps, texts, raised)


def _around(a: str, b: str) -> tuple[str, str]:
    """Both texts from a little before the place where they stop being the same."""
    start = max(0, shared_prefix(a, b) - LEAD)
    lead = "…" if start else ""
    return lead + shorten(a[start:], EXCERPT), lead + shorten(b[start:], EXCERPT)


def _where(first: Divergence) -> str:
    place = f" at character {first.raw:,} of the output" if first.raw is not None else ""
    return f"First in {first.channel}{place}"


def _raised(a: Replayed, b: Replayed, found: Comparison) -> list[str]:
    pairs = zip((a, b), found.raised, strict=True)
    return [f"The parser of {side.title} failed: {words}" for side, words in pairs if words]


def place(a: TraceIndex, b: TraceIndex, parting: Parting) -> Place:
    """One place where the sides part. `end` stands behind the last character of the output."""
    size = len(a.trace.text)
    text = a.trace.text[parting.start : min(parting.end, parting.start + EXCERPT)]
    more = "…" if parting.end - parting.start > EXCERPT else ""
    roles = [role_at(index, parting.start) if parting.start < size else "" for index in (a, b)]
    return Place(parting.start, min(parting.end, size), text + more, roles[0], roles[1], _what(parting))


def _what(parting: Parting) -> str:
    names = ", ".join(parting.channels[:4]) + (" …" if len(parting.channels) > 4 else "")
    if parting.kinds == {"order"}:
        return f"from here on both sides have sent other text: {names}"
    return "; ".join(["other owner"] * ("owner" in parting.kinds) + [names] * bool(names))
