"""The parsers that can be put beside, in groups: those that read this output first, then engines, then the others.

What reads an output is what the verdict guesses by: a format that finds a call in it. Of an output too long to be read
by every format, those that claim its first call are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from parsers.formats.model import Format
from parsers.search.guess import guesses
from parsers.search.reading import read
from parsers.selection.claims import claiming_formats
from parsers.selection.registry import get_format, known_format
from parsers.vocabulary.types import Context
from webapp.engines import RESPONSE_TEMPLATE
from webapp.engines.entered import entered_parsers
from webapp.formats.folder import formats_folder
from webapp.glyphs import count
from webapp.page.compare.sides import Replayed
from webapp.page.form.form_page import Option, choices
from webapp.page.form.setup import Setup
from webapp.runs.runner import Runner

READ_BY_ALL = 20_000  # characters
READ, ENGINES, OTHERS, OWN = "Read this output", "Engines entered", "Others", "That of A"


@dataclass(slots=True, frozen=True)
class ReaderGroup:
    """Parsers under one heading."""

    heading: str
    options: list[Option]


def offered_parsers(runner: Runner) -> list[Option]:
    """All parsers that a side can be read by, in the words of the form of a run."""
    offered = choices(Setup(), formats_folder(runner.settings).formats).parsers
    return [option for option in offered if option.value != RESPONSE_TEMPLATE]


def reading_formats(runner: Runner, side: Replayed) -> dict[str, str]:
    """The built-in formats that read the output of a side, best first, each with how many calls it finds; '' where
    nobody counted. Kept with the run."""
    key = f"reads {side.run.key}"
    return runner.computed(key, lambda: _reading(side), size=lambda found: 200 + 150 * len(found))


def _reading(side: Replayed) -> dict[str, str]:
    text, context = side.output or "", side.run.case.to_context()
    if len(text) > READ_BY_ALL:
        return dict.fromkeys(claiming_formats(text, [tool.name for tool in context.tools]), "")
    return {
        guess.name: count(guess.calls, "call")
        for guess in guesses(text, context)
        if guess.calls and guess.score > 0 and (guess.complete or _reads(guess.name, text, context))
    }


def _reads(name: str, text: str, context: Context) -> bool:
    """Return whether a format begins a call in a text as it stands, and not only in one that was put right."""
    return bool(read(get_format(name), text, context).message.tool_calls)


def reader_groups(offered: Sequence[Option], reading: Mapping[str, str], own: str = "") -> list[ReaderGroup]:
    """The parsers of a form, grouped by `reading`. An engine's parser is one that reads where the format of its name
    does. The one called `own` is there already: it stands last, to be found by its names."""
    order = {name: place for place, name in enumerate(reading)}
    groups: dict[str, list[Option]] = {READ: [], ENGINES: [], OTHERS: [], OWN: []}
    for option in sorted(offered, key=lambda option: order.get(_format_name(option.value), len(order))):
        name, entered = _format_name(option.value), ":" in option.value
        calls = "" if entered else reading.get(name, "")
        heading = READ if name in order else ENGINES if entered else OTHERS
        heading = OWN if option.value == own else heading
        words = f"{option.value}: {calls}{option.words.removeprefix(option.value)}" if calls else option.words
        groups[heading].append(replace(option, words=words, also=_aliases(option.value)))
    return [ReaderGroup(heading, options) for heading, options in groups.items() if options]


def engine_readers(own: str, formats: Sequence[Format | None]) -> list[tuple[str, str]]:
    """The parsers of entered engines, other than `own`, that have its name or read one of these formats, each with the
    name and version of its engine: those of the same name first."""
    name, wanted = own.rpartition(":")[2], {fmt.name for fmt in formats if fmt is not None}
    found = [(one.name, one.title, one.name.partition(":")[2]) for one in entered_parsers() if one.name != own]
    alike = [
        (of_name != name, label, title)
        for label, title, of_name in found
        if of_name == name or ((known := known_format(of_name)) is not None and known.name in wanted)
    ]
    return [(label, title) for _, label, title in sorted(alike)]


def _aliases(parser: str) -> str:
    known = known_format(parser)
    return " ".join(known.aliases) if known else ""


def _format_name(parser: str) -> str:
    """The built-in format that a parser is called after: engines put their own name before a colon."""
    of_name = parser.rpartition(":")[2]
    known = known_format(of_name)
    return known.name if known else of_name
