"""What `replay` and `find` print for a reader of two engines: both messages, where they part, and what each sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Protocol

from parsers.cases.between import Between
from parsers.cases.export.shell_words import in_shell
from parsers.compare.delta_parting import StepSent
from parsers.replays.chunking import label
from parsers.search.parted import Parted
from parsers.vocabulary.types import Message
from webapp.commands.engine_option import Named
from webapp.commands.inputs import Given, shown
from webapp.commands.options import Options, given_words
from webapp.commands.report import sent_words
from webapp.commands.words import SHORT, count, literal, quoted, section, table, visible
from webapp.glyphs import shorten

LONGEST = 2_000
STATE = 50  # characters of a state, which may be named by all attributes that changed


class _Side(Protocol):
    """Holds one of two engines."""

    @property
    def named(self) -> Named:
        """What it is called."""

    @property
    def title(self) -> str:
        """What its parser is called in full."""


Sides = tuple[_Side, _Side]


def replay_report(sides: Sides, parted: Parted, given: Given) -> str:
    """One output under its chunking by both, without the newline at its end."""
    same = "the same message" if parted.same else "other messages"
    rows = [*_head(sides, given), ["replayed", f"{label(parted.chunking)}; they give {same}"]]
    return visible("\n".join([*table(rows), *_shown(sides, parted)]))


def find_report(sides: Sides, result: Between, given: Given, options: Options) -> str:
    """What a search found, without the newline at its end."""
    found, names = result.found, " and ".join([side.named.label for side in sides])
    ended = "" if found.complete or found.first else "; ended before everything was tried"
    changed = f", {count(found.changed, 'changed output')}" if found.changed else ""
    rows = [*_head(sides, given), ["searched", f"{count(found.replays, 'replay')}{changed}{ended}"]]
    rows += [["tried", sample.words] for sample in found.samples]
    allowed = f"{count(found.allowed, 'difference')} that the contract of the engine allows"
    rows += [["passed over", allowed]] * bool(found.allowed)
    if found.first is None:
        rows += [["verdict", f"No difference of {names} was found."]]
        why = f"The process of one does not survive its replays ({found.given_up}): what else they give is not known."
        rows += [["", why]] * bool(found.given_up)
        return visible("\n".join(table(rows)))
    rows += [["verdict", f"{names} differ: {label(found.first.chunking)} ({found.first.grade.value} cuts)."]]
    rows += [["", f"Only a changed output shows it: {found.first.change}."]] * bool(found.first.change)
    return visible("\n".join([*table(rows), *_smallest(sides, found.smallest or found.first, given, options)]))


def _smallest(sides: Sides, small: Parted, given: Given, options: Options) -> list[str]:
    find = in_shell(["toolcall-inspector", "find", given.name, *given_words(options), "--json"])
    again = [word for side in sides for word in ("--engine", f"{side.named.label}={side.named.word}")]
    pick = "jq '.pairs[] | select(.pair[1] == " + json.dumps(sides[1].named.label) + ") | .case'"
    rows = [
        ["text", literal(small.text, LONGEST)],
        ["cut", f"{label(small.chunking)} ({small.grade.value} cuts)"],
        ["save it", f"{find} | {pick} > smallest.case.json"],
        ["see it", in_shell(["toolcall-inspector", "replay", "smallest.case.json", *again])],
    ]
    title = f"smallest output on which they differ: {count(len(small.text), 'character')}"
    return [*section(title, table(rows, "  ")), *_shown(sides, small)]


def _head(sides: Sides, given: Given) -> Iterator[list[str]]:
    yield ["input", f"{shown(given.name)}: {given.title}"]
    yield from (["", note] for note in given.notes)
    for word, side in zip(("compared", "with"), sides, strict=True):
        yield [word, f"{side.named.label}: {side.title}"]


def _shown(sides: Sides, parted: Parted) -> list[str]:
    """Both messages, the first step at which they part, and where the messages do."""
    names = (sides[0].named.label, sides[1].named.label)
    lines = section("messages", table(_messages(names, parted), "  "))
    step, there = parted.step, [side.there for side in parted.sides]
    if step is None:
        return [*lines, *section("they send the same at every step", [])]
    fed = "the end of the output" if step.end else f"fed {quoted(step.fed, SHORT)}"
    rows = [[name, _sent(sent)] for name, sent in zip(names, step.sent, strict=True)]
    lines += section(f"first step at which they part: step {step.index:,}, {fed}", table(rows, "  "))
    if parted.message is not None:
        at, places = parted.message, []
        for name, one, text in zip(names, there, (at.expected, at.actual), strict=True):
            where = "" if one is None else f"step {one[0]:,}: {_sent(one[1])}"
            places.append([name, quoted(text, SHORT), where])
        raw = "" if at.raw is None else f", character {at.raw:,} of the output"
        lines += section(f"messages part in {at.channel}{raw}", table(places, "  "))
    return lines


def _messages(names: tuple[str, str], parted: Parted) -> Iterator[list[str]]:
    """A row for each part that both have alike, two for one that they have not."""
    columns = [[*_parts(side.message)] for side in parted.sides]
    rows = dict.fromkeys([name for column in columns for name, _ in column])
    first, second = [dict(column) for column in columns]
    for part in rows:
        yield from _part(names, part, first.get(part, "none"), second.get(part, "none"))
    yield from _part(names, "finish_reason", *[side.finish_reason or "none" for side in parted.sides])
    for name, side in zip_longest(names, parted.sides):
        if side.failure is not None:
            yield ["failed", name, str(side.failure)]


def _part(names: tuple[str, str], part: str, first: str, second: str) -> Iterator[list[str]]:
    if first == second:
        yield [part, "both", first]
        return
    yield [part, names[0], first]
    yield ["", names[1], second]


def _parts(message: Message) -> Iterator[tuple[str, str]]:
    for name, text in (("reasoning", message.reasoning), ("content", message.content)):
        yield name, "none" if not text else quoted(text, LONGEST)
    for index, call in enumerate(message.tool_calls):
        cut = "" if call.complete else ", cut off"
        yield f"call {index}", f"{quoted(call.name, SHORT)}{cut}"
        yield f"  arguments {index}", literal(call.arguments, LONGEST)


def _sent(sent: StepSent) -> str:
    if sent.failure is not None:
        return f"failed: {sent.failure}"
    words = "" if sent.delta is None else sent_words(sent.delta)
    state = "" if sent.state in ("", "UNKNOWN") else f" (now in {shorten(sent.state, STATE)})"
    return (words or "sent nothing") + state
