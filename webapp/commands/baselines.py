"""What is known to be wrong with cases, so that only what became worse fails: of a file, or of another engine.

A case with which nothing is wrong has an entry too: when it is there no more, that is told.

What is wrong with a case is a set of names, never of sentences: `content` or `tool_calls[0].arguments` for what is not
as expected, with the names of the chunkings under which it is not, and `check NAME` for what a check finds. `not run`
is that an engine did not run it, or has the chunkings for which it had no time. A file has one entry on a line, sorted
by the key of the case and the engine, so that a change of one case is a change of one line. The key is a hash of what
the case says: it knows nothing of folders, titles and the order of cases.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parsers.cases import jsontext
from parsers.compare.divergence import GRADES
from parsers.replays.chunking import OWN
from parsers.vocabulary.types import UsageError
from webapp.commands.inputs import read_json

ALL = ("all",)
NOT_RUN = "not run"
_CHECK = "check "
OPTION = "--baseline"
_SHOWN = 3

# The chunkings under which each thing is wrong, by its name; ALL where that is every one, or none in particular.
Wrong = Mapping[str, tuple[str, ...]]


class Entry(BaseModel):
    """What is known to be wrong with one case by one engine, be it nothing. `name` is for people."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    case: Annotated[str, Field(pattern="^[0-9a-hjkmnp-tv-z]{16}$")]
    engine: str = ""
    name: str = ""
    wrong: dict[str, tuple[str, ...]]

    @property
    def key(self) -> tuple[str, str]:
        """The case and the engine."""
        return self.case, self.engine


class _File(BaseModel):
    """A file of entries."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    baseline: Literal[1]
    known: tuple[Entry, ...]


class Baseline:
    """The entries of a file; `seen` are those whose cases were run."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._known: dict[tuple[str, str], Wrong] = {}
        self._names: dict[tuple[str, str], str] = {}
        for entry in entries:
            self._names[entry.key] = entry.name or entry.case
            self._known[entry.key] = union(self._known.get(entry.key, {}), entry.wrong)
        self._seen: set[tuple[str, str]] = set()

    def of(self, case: str, engine: str) -> Wrong:
        """What is known to be wrong with a case that was run."""
        self._seen.add((case, engine))
        return self._known.get((case, engine), {})

    def knows(self, case: str, engine: str) -> bool:
        """Return whether there is an entry."""
        return (case, engine) in self._known

    @property
    def absent(self) -> list[str]:
        """The names of cases that were not run at all."""
        there = {case for case, _ in self._seen}
        return list({case: name for (case, _), name in self._names.items() if case not in there}.values())

    @property
    def unasked(self) -> list[str]:
        """The names of cases that were run, but not by the engine of their entry, with that."""
        there = {case for case, _ in self._seen}
        others = self._names.keys() - self._seen
        return [f"{name} [{key[1]}]" for key, name in self._names.items() if key in others and key[0] in there]


def beyond(wrong: Wrong, known: Wrong) -> dict[str, tuple[str, ...]]:
    """What is wrong that is not known; the other way round it is what is wrong no more.

    Whoever was not run may be wrong in anything, and who got the number of calls wrong in any of them. What a check
    finds is no worse than what it found of a worse grade. Of chunkings that were left out nothing is known.
    """
    if known.get(NOT_RUN) == ALL != wrong.get(NOT_RUN):
        return {}
    told = {name: places for name, places in wrong.items() if name != NOT_RUN or places == ALL}
    more = {name: _more(places, _known(known, name)) for name, places in told.items()}
    return {name: places for name, places in more.items() if places}


def _known(known: Wrong, name: str) -> tuple[str, ...]:
    """The chunkings under which a thing is known to be wrong, or what it is a part of: `tool_calls[0].arguments`."""
    names = (name, name.partition("[")[0], *_worse_named(name), NOT_RUN)
    found = [place for one in names for place in known.get(one, ())]
    return ALL if ALL[0] in found else tuple(found)


def as_named(wrong: Wrong, chunkings: Iterable[str]) -> Wrong:
    """The same with chunkings by the names that a run has for them. An older baseline has labels, which several may
    share: then any of these may be meant."""
    alike: dict[str, list[str]] = {}
    for name in chunkings:
        alike.setdefault(name.partition(OWN)[0], []).append(name)
    return {
        what: tuple(dict.fromkeys([one for place in places for one in alike.get(place, [place])]))
        for what, places in wrong.items()
    }


def with_labels(wrong: Wrong) -> Wrong:
    """The same with the labels of its chunkings, for what an older baseline has is mended under none of them alone."""
    return {
        what: tuple(dict.fromkeys([*places, *[place.partition(OWN)[0] for place in places]]))
        for what, places in wrong.items()
    }


def check_name(check: str, grade: str | None) -> str:
    """What a finding of a check is called among what is wrong."""
    return f"{_CHECK}{check}" + (f" ({grade})" if grade else "")


def is_of_check(name: str) -> bool:
    """Whether it is what a check finds, and no field that is not as expected."""
    return name.startswith(_CHECK)


def _worse_named(name: str) -> Iterator[str]:
    """What findings of the same check are called that are of a worse grade."""
    for at, grade in enumerate(GRADES):
        if grade is not None and name.endswith(end := f" ({grade})"):
            yield from [f"{name.removesuffix(end)} ({worse})" for worse in GRADES[:at]]


def _more(places: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    return () if known == ALL else tuple([place for place in places if place not in known])


def union(one: Wrong, other: Wrong) -> dict[str, tuple[str, ...]]:
    """What is wrong in either."""
    names = [*one, *[name for name in other if name not in one]]
    found = {name: dict.fromkeys((*one.get(name, ()), *other.get(name, ()))) for name in names}
    return {name: ALL if ALL[0] in places else tuple(places) for name, places in found.items()}


def in_words(wrong: Wrong) -> str:
    """`content (5 tokens), check chunking`."""
    return ", ".join([name if places == ALL else f"{name} ({_few(places)})" for name, places in wrong.items()])


def _few(places: tuple[str, ...]) -> str:
    more = len(places) - _SHOWN
    return "; ".join(places[:_SHOWN]) + (f"; {more} more" if more > 0 else "")


def read_baseline(file: str) -> Baseline:
    """The baseline of a file. Raises UsageError for a file that is none."""
    try:
        return Baseline(_File.model_validate(read_json(OPTION, file)).known)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join([f"/{part}" for part in first["loc"]])
        why = f"{place}: {first['msg']}" if place else "it is no object with `baseline` and `known`"
        raise UsageError(f"{OPTION} {file}: it is no baseline: {why}") from error


def write_baseline(file: str, entries: Iterable[Entry]) -> tuple[int, int]:
    """Write a file of these entries and say how many it has, and how many of them know something wrong. The same
    entries in any order give the same bytes.

    The file is whole or as it was. Raises UsageError where it cannot be written.
    """
    known: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        other = known.get(entry.key, entry)
        both = {"name": min(entry.name, other.name), "wrong": union(entry.wrong, other.wrong)}
        known[entry.key] = entry.model_copy(update=both)
    lines = ",\n".join([f"  {_line(known[key])}" for key in sorted(known)])
    _put_in_place(Path(file), f'{{\n "baseline": 1,\n "known": [\n{lines}\n ]\n}}\n')
    return len(known), sum([bool(beyond(entry.wrong, {})) for entry in known.values()])


def _line(entry: Entry) -> str:
    wrong = {name: sorted(entry.wrong[name]) for name in sorted(entry.wrong)}
    return jsontext.line({"case": entry.case, "engine": entry.engine, "name": entry.name, "wrong": wrong})


def _put_in_place(file: Path, text: str) -> None:
    try:
        if file.exists() and not file.is_file():  # a device or a pipe stays one
            file.write_text(text, "utf-8")
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(text.encode())
            Path(made).chmod(0o644)
            Path(made).replace(file)
        except BaseException:
            Path(made).unlink()
            raise
    except OSError as error:
        raise UsageError(f"--write-baseline {file}: it cannot be written: {error.strerror}") from error
