"""A comparison in Markdown, for an issue tracker: the sentence, the sides, their outputs, their messages field by
field, where they part, and how to open it again.

Text of a case stands in fences and cells only, as in the report of a run: nothing in it can break out of its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from parsers.cases.export.markdown import field_row, output_section
from parsers.cases.export.markdown_text import LEGEND, cell, inline, sentence, table
from parsers.cases.export.report_facts import fields_of
from webapp.page.compare.compare_page import SidesPage
from webapp.page.compare.sides import Replayed


@dataclass(slots=True, frozen=True)
class Origin:
    """What the report says of the comparison as a whole. `link` is empty where it has no address."""

    heading: str
    version: str
    link: str


def comparison_report(page: SidesPage, sides: Sequence[Replayed], origin: Origin) -> str:
    """The report of a comparison, whose page says what the sides come to."""
    sections = [
        f"# {inline(origin.heading)}: {len(sides)} replays side by side",
        _sentence(page),
        _sides(sides, origin.version),
        *_outputs(sides, page.cursor.at),
        _messages(sides),
        _firsts(page),
        _places(page),
        f"Marks in tables: {LEGEND}.",
        f"Open it again: <{quote(origin.link, safe=':/?#[]@!$&()*+,;=%~')}>" if origin.link else "",
    ]
    return "\n\n".join([section for section in sections if section]) + "\n"


def _sentence(page: SidesPage) -> str:
    said = page.sentence
    words = [
        f"**{sentence(said.headline)}** {sentence(said.rest)}".strip(),
        *map(sentence, [said.tools] if said.tools else []),
        *map(inline, said.raised),
    ]
    return "\n\n".join(["## What differs", *words])


def _sides(sides: Sequence[Replayed], version: str) -> str:
    rows = [[side.title, cell(side.words), inline(side.source) or "of this case", _policy(side)] for side in sides]
    return table(f"## Sides, by toolcall-inspector {cell(version)}", ("side", "replayed", "output", "policies"), rows)


def _policy(side: Replayed) -> str:
    policy = side.case.parser.policy
    return ", ".join([cell(f"{key}: {value}") for key, value in policy.items()]) or "as usual"


def _outputs(sides: Sequence[Replayed], place: int) -> list[str]:
    """Each output that is known once, under the letters of the sides that read it."""
    readers: dict[str | None, list[str]] = {}
    for side in sides:
        readers.setdefault(side.output, []).append(side.title)
    titles = [f"Model output of {', '.join(letters)}" for letters in readers.values()]
    if len(readers) == 1:
        titles = ["Model output"]
    known = zip(readers, titles, strict=True)
    return [output_section(text or "", place, known=text is not None, title=title) for text, title in known]


def _messages(sides: Sequence[Replayed]) -> str:
    """One row a field; a cross is beside those in which a side is not as A."""
    found = [fields_of(side.run.trace) for side in sides]
    names = list(dict.fromkeys([name for fields in found for name in fields]))
    rows = []
    for name in names:
        texts = [fields.get(name) for fields in found]
        rows.append(field_row(name if len(set(texts)) == 1 else f"{name} ✗", texts))
    return table("## Messages", ("field", *[side.title for side in sides]), rows)


def _firsts(page: SidesPage) -> str:
    rows = [
        [first.name.upper(), inline(first.where), *[_number(step) for step in first.steps], *map(cell, first.texts)]
        for first in page.sentence.firsts
        if first.where
    ]
    header = ("side", "where it parts from A", "step of A", "its step", "A has", "it has")
    return table("## Where the sides part first", header, rows) if rows else ""


def _places(page: SidesPage) -> str:
    rows = [
        [place.name.upper(), place.span, cell(place.text), place.a, place.b, sentence(place.what)]
        for place in page.places
    ]
    header = ("side", "characters", "text", "A reads it as", "it reads it as", "what differs")
    more = f"\n\n{page.more:,} more." if page.more else ""
    return table("## All places where they part", header, rows) + more if rows else ""


def _number(step: int | None) -> str:
    return "" if step is None else f"{step:,}"
