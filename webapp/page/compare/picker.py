"""What can be put beside the sides that are there: in groups, each choice one side more, by a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from parsers.cases.case import Case
from parsers.cases.engines import FALLBACK, RECORDED
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE, label, parse_spec, spec
from parsers.search.sweep import one_delta
from webapp.page.compare.asked import NAMES, CompareLinks, Side
from webapp.page.compare.matrix import near
from webapp.page.compare.readers import ReaderGroup, engine_readers, offered_parsers, reader_groups, reading_formats
from webapp.page.compare.sides import Replayed
from webapp.runs.runner import NOT_STREAMED, Run, Runner

CHUNKS = ("whole", "token", "token:3", "char", "random:1")
PARSERS_SHOWN = 4
PASSTHROUGH = "passthrough"


@dataclass(slots=True, frozen=True)
class Choice:
    """One more side: its words, a note, and all sides with it."""

    words: str
    note: str
    sides: tuple[Side, ...]


@dataclass(slots=True, frozen=True)
class Picker:
    """The choices under their headings; none where all sides are taken. `parsers` are all that can read the output of
    A, as the side `name`, of which `words` are the rest."""

    groups: list[tuple[str, list[Choice]]]
    full: bool
    name: str = ""
    words: dict[str, str] = field(default_factory=dict)
    parsers: list[ReaderGroup] = field(default_factory=list)


def picker(runner: Runner, case: Case, sides: list[Replayed], links: CompareLinks) -> Picker:
    """What can be put beside the sides of `links`."""
    asked = links.asked
    if asked.is_full:
        return Picker([], True)
    first, there = asked.sides[0], set(asked.sides)

    def more(words: str, side: Side, note: str = "") -> list[Choice]:
        return [] if side in there else [Choice(words, note, (*asked.sides, side))]

    parsers, own = [], sides[0].run.parser
    case = sides[0].own
    if RECORDED not in (case.parser.name, first.parser) and case.input.stream and not _plays(sides, first.text):
        parsers += more("what the server sent", replace(first, parser=RECORDED, chunk=""), "recording")
    names = _formats(runner, sides[0], own) if case.has_raw else {}
    for name, note in engine_readers(own, [sides[0].run.replayer.format])[:PARSERS_SHOWN] if case.has_raw else []:
        parsers += more(name, replace(first, parser=name, policy=""), note)
    for name, note in names.items():
        parsers += more(name, replace(first, parser=name, policy=""), note)
    if case.parser.engine is None and case.has_raw and not first.parser:
        parsers += more(f"{own}, wrapped", replace(first, parser=f"+{FALLBACK}"), "built in")
    chunks = [one for word, words in _chunkings(sides[0].run) for one in more(words, replace(first, chunk=word))]
    stands = any(side.text == "parent" for side in asked.sides)
    texts = more("the parent of this copy", Side(text="parent")) if case.parent and not stands else []
    groups = [("Same text, another parser", parsers)]
    groups += [("Same parser, another chunking", chunks)] if not sides[0].run.choice.plays else []
    groups.append(("Another output", texts))
    if not case.has_raw:
        return Picker(groups, False)
    name, beside = NAMES[len(asked.sides)], replace(first, parser="", policy="")
    readers = reader_groups(offered_parsers(runner), reading_formats(runner, sides[0]), own)
    return Picker(groups, False, name, beside.words(name), readers)


def _chunkings(run: Run) -> list[tuple[str, str]]:
    """The chunkings that are worth a link, each as a word and in words. All in one delta is another thing than the
    second code path of an engine for whole outputs, where it has one."""
    apart = run.replayer.one_shot is not None
    usual = [(word, label(chunking)) for word in CHUNKS if (chunking := parse_spec(word)) != WHOLE]
    one = one_delta(apart)
    return [(spec(one), label(one)), *[(spec(WHOLE), NOT_STREAMED)] * apart, *usual]


def _formats(runner: Runner, side: Replayed, own: str) -> dict[str, str]:
    """The built-in formats that are worth a link, each with why: what reads the output, then what shares markers."""
    found = {name: f"reads {calls or 'a call'}" for name, calls in reading_formats(runner, side).items()}
    for name in near(side.output or "", builtin_formats()):
        found.setdefault(name, "shares markers")
    others = [(name, note) for name, note in found.items() if name not in (own, PASSTHROUGH)]
    return dict(others[:PARSERS_SHOWN]) | ({} if own == PASSTHROUGH else {PASSTHROUGH: "all is text"})


def _plays(sides: Sequence[Replayed], text: str) -> bool:
    """Return whether a side is the recording of that text: how it is cut is said of it once it is there."""
    return any(side.run.choice.plays and side.side.text == text for side in sides)
