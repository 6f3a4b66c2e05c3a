"""The search between the two sides of a comparison, as its page shows it: how far it is, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from parsers.cases.case import Case
from parsers.cases.engines import FALLBACK
from parsers.replays.chunking import Chunking, label, spec
from webapp.glyphs import count
from webapp.jobs.searches import Pair, SearchJob
from webapp.page.form.setup import case_line
from webapp.page.search.search_page import progress_words


@dataclass(slots=True, frozen=True)
class _Part:
    """One part of both messages; None where a message has none."""

    name: str
    texts: tuple[str | None, str | None]

    @property
    def same(self) -> bool:
        """Return whether both have it alike."""
        return self.texts[0] == self.texts[1]


@dataclass(slots=True, frozen=True)
class _Difference:
    """The smallest output on which they differ, how it is cut, both messages, and the step at which they part.
    `opened`: what a form sends to see both on it."""

    text: str
    cut: str
    change: str
    parts: list[_Part]
    step: str
    opened: dict[str, str]


@dataclass(slots=True, frozen=True)
class Differ:
    """The search, in words. `active`: it goes on; `lines` are both cases as the form carries them."""

    names: tuple[str, str]
    lines: tuple[str, str]
    words: str
    active: bool = False
    failed: bool = False
    done: int = 0
    total: int = 0
    difference: _Difference | None = None


def differ_of(pair: Pair, job: SearchJob) -> Differ:
    """What is known of the search between two cases."""
    names, lines = (_name(pair[0]), _name(pair[1])), (case_line(pair[0]), case_line(pair[1]))
    if job.failure is not None:
        return Differ(names, lines, job.failure.message, failed=True)
    if job.between is not None:
        found, failed = job.between, bool(job.between["given_up"]) and not job.between["differ"]
        return Differ(names, lines, _verdict(names, found), failed=failed, difference=_difference(pair, found))
    if job.progress is None:
        ahead = f"Waiting for {count(job.ahead, 'other search', 'other searches')}." if job.ahead else "Starting."
        return Differ(names, lines, ahead, active=True)
    words = progress_words(job.progress)
    return Differ(names, lines, f"{words[:1].upper()}{words[1:]}.", True, False, job.progress.done, job.progress.total)


def _name(case: Case) -> str:
    """The parser of a case as a side of a comparison writes it."""
    ref = case.parser
    if ref.engine == FALLBACK:
        return f"{ref.name}+{FALLBACK}"
    return f"{ref.engine}:{ref.name}" if ref.engine else ref.name


def _verdict(names: tuple[str, str], found: dict[str, Any]) -> str:
    tried = count(found["replays"], "replay")
    if found["differ"]:
        return f"{names[0]} and {names[1]} differ ({tried})."
    ended = "" if found["complete"] else "; the search ended before everything was tried"
    if found["given_up"]:
        why = f"the process of one does not survive its replays ({found['given_up']}), so they were not compared"
        return f"Whether {names[0]} and {names[1]} differ is not known: {why} ({tried}). Ask again, under Engines."
    allowed = f", {count(found['allowed'], 'difference')} that a contract allows" if found["allowed"] else ""
    return f"No difference of {names[0]} and {names[1]} was found ({tried}{allowed}{ended})."


def _difference(pair: Pair, found: dict[str, Any]) -> _Difference | None:
    small = found["smallest"] or found["found"]
    if small is None:
        return None
    chunking = Chunking.model_validate({key: value for key, value in small["chunking"].items() if key != "label"})
    step = small["step"]
    where = "the end of the output" if step and step["end"] else f"the delta {step['fed']!r}" if step else ""
    opened = {"case": _written(found["case"]), "b_parser": _name(pair[1]), "b_chunk": spec(chunking)}
    return _Difference(
        small["text"],
        f"{label(chunking)} ({small['grade']} cuts)",
        small["change"] or "",
        [*_parts([dict(_said(side)) for side in small["sides"]])],
        f"step {step['index']:,}, {where}" if step else "",
        opened,
    )


def _written(data: dict[str, Any]) -> str:
    return case_line(Case.model_validate(data))


def _parts(sides: list[dict[str, str]]) -> Iterator[_Part]:
    for name in dict.fromkeys([name for side in sides for name in side]):
        yield _Part(name, (sides[0].get(name), sides[1].get(name)))


def _said(side: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The parts of a message that are there, by name."""
    message = side["message"]
    for name in ("reasoning", "content"):
        if message[name]:
            yield name, message[name]
    for number, call in enumerate(message["tool_calls"]):
        yield f"call {number}", call["name"]
        yield f"arguments {number}", call["arguments"]
    yield "finish_reason", side["finish_reason"]
    if side["raised"]:
        yield "failed", side["raised"]
