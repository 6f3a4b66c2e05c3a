"""`extends` and `reasoning`: what a format file need not repeat, written out when the file is read.

A file may name a parent and say only what is different, and it may describe reasoning in one block instead of in the
rows that all such formats share. `expand` writes both out. The rest of the program knows the expanded form only:
a case, a permalink and an export never hold these two keys.

Strategy: a file is taken apart into a tree of parts, each of which knows where it is written. The trees of a chain of
parents are laid over each other, the eldest lowest, and all of them over what the reasoning block stands for. The
result is put together again, with the origin of every part.

One rule holds for every object, and for the rows of a state, which count as an object keyed by trigger and guard: what
is named again takes the place of what is below, null takes it away, and what is new stands behind the part that is
named before it, or in front where none is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from parsers.vocabulary.types import FormatError

OWN, REASONING = "", "reasoning"
FILE_KEYS = ("extends", "reasoning")
Parents = Callable[[str], Any]

# What says which format it is belongs to one format only.
_NOT_INHERITED = ("schema", "name", "title", "description", "aliases", "models", "splits", "provenance", "example")
# The objects that are laid over each other key by key. Everything else is replaced as a whole.
_OBJECTS = (
    (),
    ("terminals",),
    ("policy",),
    ("states",),
    ("states", "*"),
    ("states", "*", "codec"),
    ("states", "*", "codec", "options"),
    ("reasoning",),
    ("reasoning", "ended_by"),
)
_NEVER_OPENED = "Reasoning ends that was never opened: the prompt may have opened it (reasoning open)."


@dataclass(frozen=True, slots=True)
class Origin:
    """The place where a part of an expanded format is written.

    `source` is OWN for the file itself, REASONING for the block of that name, else the parent the part is inherited
    from. `pointer` is a JSON pointer into the file itself: to the part, or to the key that brings it in.
    """

    source: str
    pointer: str

    @property
    def label(self) -> str:
        """The source in a word or two for a reader; '' for the file itself."""
        return "reasoning block" if self.source == REASONING else f"from {self.source}" if self.source else ""


@dataclass(frozen=True, slots=True)
class Expanded:
    """A format file written out: decoded JSON as a case stores it, and the origin of its parts by JSON pointer."""

    data: Any
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def origin(self, pointer: str) -> Origin:
        """The origin of the part at `pointer` of the expanded form, or of the nearest part around it."""
        if not self.origins:
            return Origin(OWN, pointer)
        place = pointer
        while place not in self.origins:
            place = place.rpartition("/")[0]
        found = self.origins[place]
        return replace(found, pointer=found.pointer + pointer[len(place) :]) if found.source == OWN else found


def pointer_to(*steps: str | int) -> str:
    """The JSON pointer (RFC 6901) of these steps."""
    return "".join([f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps])


def expand(data: Any, parents: Parents) -> Expanded:
    """Write out a format file. `data` is its decoded JSON; `parents` gives that of another format by name, or None.

    A file without the two keys comes back as it is, right or wrong. Raises FormatError with a pointer into the file.
    """
    if not isinstance(data, dict) or not any(key in data for key in FILE_KEYS):
        return Expanded(data)
    whole = _family(data, parents, ())
    block = whole.parts.pop("reasoning", None)
    origins: dict[str, Origin] = {}
    return Expanded(_together(whole if block is None else _over_reasoning(block, whole), "", origins), origins)


# A file as a tree

_Kind = Literal["value", "object", "rows", "codec", "place", "removal"]


@dataclass(slots=True)
class _Part:
    """A part of a format and where it is written: an object of parts by key, or a value that is never taken apart.

    `rows` and `codec` are objects too. A `place` is a row that only says where the row below it stands, and a
    `removal` takes away what is below it.
    """

    origin: Origin
    kind: _Kind = "value"
    value: Any = None
    parts: dict[str, _Part] = field(default_factory=dict)

    @property
    def is_object(self) -> bool:
        return self.kind in ("object", "rows", "codec")

    def inside(self, key: str) -> Any:
        """The value of the part `key`; None where there is none."""
        return self.parts[key].value if key in self.parts else None


def _taken_apart(value: Any, shape: tuple[str, ...], origin: Origin) -> _Part:
    """The tree of a value. `shape` is the path to it, with a star for the name of a state."""
    is_list = shape == ("states", "*", "rows") and isinstance(value, list)
    if is_list and all(isinstance(row, dict) and isinstance(row.get("on"), str) for row in value):
        rows = _Part(origin, "rows")
        times: Counter[str] = Counter()
        for index, row in enumerate(value):
            key = f"{row['on']} {json.dumps(row['when'], sort_keys=True)}" if row.get("when") else row["on"]
            times[key] += 1
            rows.parts[f"{times[key]} {key}"] = _Part(_below(origin, index), _row_kind(row), row)
        return rows
    if shape not in _OBJECTS or not isinstance(value, dict):
        return _Part(origin, "removal" if value is None else "value", value)
    whole = _Part(origin, "codec" if shape[-1:] == ("codec",) else "object")
    for key, item in value.items():
        step = "*" if shape == ("states",) else key
        whole.parts[key] = _taken_apart(item, (*shape, step), _below(origin, key))
    return whole


def _below(origin: Origin, step: str | int) -> Origin:
    return Origin(OWN, origin.pointer + pointer_to(step)) if origin.source == OWN else origin


def _row_kind(row: Mapping[str, Any]) -> _Kind:
    if "to" in row:
        return "removal" if row["to"] is None else "value"
    return "place" if row.keys() <= {"on", "when"} else "value"


def _together(part: _Part, pointer: str, origins: dict[str, Origin]) -> Any:
    """The part as decoded JSON again; the origin of everything in it is written down under its pointer there."""
    origins[pointer] = part.origin
    if not part.is_object:
        return part.value
    kept = {key: inside for key, inside in part.parts.items() if not _is_idle(inside)}
    if part.kind == "rows":
        return [_together(row, f"{pointer}/{index}", origins) for index, row in enumerate(kept.values())]
    return {key: _together(inside, pointer + pointer_to(key), origins) for key, inside in kept.items()}


def _is_idle(part: _Part) -> bool:
    """Say whether a place or a removal met nothing. That is an error where the file itself says so."""
    if part.kind not in ("place", "removal"):
        return False
    if part.origin.source == OWN:
        advice = "the row needs `to`" if part.kind == "place" else "there is nothing to take away"
        raise FormatError(f"neither a parent nor the reasoning block has this: {advice}", part.origin.pointer)
    return True


# Files over each other


def _family(data: Mapping[str, Any], parents: Parents, chain: tuple[str, ...]) -> _Part:
    """The tree of a file, laid over that of its parent. `chain` holds the names on the way here."""
    own = _taken_apart({key: value for key, value in data.items() if key != "extends"}, (), Origin(OWN, ""))
    if "extends" not in data:
        return own
    name = data["extends"]
    below = parents(name) if isinstance(name, str) else None
    if not isinstance(below, dict):
        raise FormatError(f"there is no format {name!r} to extend", "/extends")
    if name in chain:
        raise FormatError(f"{' extends '.join([*chain, name])}: a format cannot extend itself", "/extends")
    try:
        parent = _family(below, parents, (*chain, name))
    except FormatError as error:
        words = f"{name}, which this format extends, is wrong at {error.pointer or '/'}: {error.message}"
        raise FormatError(words, "/extends") from error
    parent.parts = {key: part for key, part in parent.parts.items() if key not in _NOT_INHERITED}
    _inherit(parent, name)
    return _laid_over(parent, own)


def _inherit(part: _Part, name: str) -> None:
    """Let everything that is written in the parent itself come from `name`."""
    part.origin = Origin(part.origin.source or name, "/extends")
    for inside in part.parts.values():
        _inherit(inside, name)


def _laid_over(below: _Part, above: _Part) -> _Part:
    """`above` on top of `below`. A place or a removal that meets nothing stays: more may be laid below later."""
    if above.kind == "place":
        return below
    other_codec = above.kind == "codec" and above.inside("name") not in (None, below.inside("name"))
    if other_codec or not (below.is_object and above.is_object):
        return above
    behind: dict[str | None, list[str]] = {None: []}
    last = behind[None]
    for key in above.parts:
        if key in below.parts:
            last = behind.setdefault(key, [])
        else:
            last.append(key)
    order = [*behind[None], *[key for name in below.parts for key in (name, *behind.get(name, ()))]]
    parts = {key: _upper(below.parts.get(key), above.parts.get(key)) for key in order}
    return _Part(above.origin, above.kind, parts={key: part for key, part in parts.items() if part is not None})


def _upper(below: _Part | None, above: _Part | None) -> _Part | None:
    """The part that stands where two trees meet; None where the upper one takes the lower one away."""
    if below is None or above is None:
        return below or above
    return None if above.kind == "removal" and below.kind != "place" else _laid_over(below, above)


# The reasoning block


def _over_reasoning(block: _Part, whole: _Part) -> _Part:
    """The format laid over what its reasoning block stands for: two terminals, rows of content, and a state."""
    origin = Origin(REASONING, block.origin.pointer)
    states, initial = whole.parts.get("states"), whole.inside("initial")
    _check_block(block)
    if states is None or not states.is_object:
        return whole  # such a format is refused in the words of the model
    if not isinstance(initial, str) or initial not in states.parts:
        place = whole.parts["initial"].origin.pointer if "initial" in whole.parts else "/initial"
        raise FormatError("a reasoning block needs `initial` to be the name of a state", place)
    terminals = whole.parts.setdefault("terminals", _Part(origin, "object"))
    terminals.parts = _markers(block, terminals, origin) | terminals.parts
    names = list(states.parts)
    if "REASONING" not in names:
        names.insert(names.index(initial) + 1, "REASONING")
    lower: dict[str, Any] = {}
    for name in names:
        state = states.parts.get(name)
        reads = state is not None and state.inside("text") == "content" and "codec" not in state.parts
        lower[name] = _content_rows(name, initial) if reads else {}
    lower["REASONING"] = _reasoning_state(initial, _endings(block, states.parts[initial]))
    data = {"initial_when_reasoning_open": "REASONING", "states": lower}
    return _laid_over(_taken_apart(data, (), origin), whole)


def _check_block(block: _Part) -> None:
    keys = ("start", "end", "ended_by")
    if not block.is_object:
        raise _wrong(block, f"must be an object; its keys are {', '.join(keys)}")
    for key, part in block.parts.items():
        if key not in keys:
            raise _wrong(part, f"unknown key; the keys here are {', '.join(keys)}")
        if key == "ended_by" and not part.is_object:
            raise _wrong(part, "must be an object: the note of the row for each terminal")


def _wrong(part: _Part, words: str) -> FormatError:
    source = f"the reasoning block {part.origin.label}: " if part.origin.label else ""
    return FormatError(source + words, part.origin.pointer)


def _markers(block: _Part, terminals: _Part, origin: Origin) -> dict[str, _Part]:
    """The terminals that the block brings in: those the format does not have itself."""
    found = {}
    for name, key in (("THINK_START", "start"), ("THINK_END", "end")):
        if name not in terminals.parts:
            if key not in block.parts:
                raise _wrong(block, f"needs `{key}`, or a terminal {name}")
            found[name] = _Part(origin, value=block.inside(key))
    return found


def _content_rows(name: str, initial: str) -> dict[str, Any]:
    closer: dict[str, Any] = {"on": "THINK_END", "to": name, "diagnostic": "orphan_reasoning_end"}
    if name == initial:
        closer |= {"emit": ["ReasoningEnd"], "note": _NEVER_OPENED}
    else:
        closer |= {"note": "Reasoning ends that is not open."}
    return {"rows": [{"on": "THINK_START", "to": "REASONING"}, closer, {"on": "END", "to": name}]}


def _reasoning_state(initial: str, endings: list[dict[str, Any]]) -> dict[str, Any]:
    first = {"on": "THINK_END", "to": initial, "emit": ["ReasoningEnd"]}
    rows = [first, *endings, {"on": "END", "to": "REASONING"}]
    return {"text": "reasoning", "rows": rows, "inert": ["THINK_START"]}


def _endings(block: _Part, initial: _Part) -> list[dict[str, Any]]:
    """The rows of `ended_by`: each as the first state has it, with the end of reasoning before its events."""
    ended_by, rows = block.parts.get("ended_by"), initial.parts.get("rows")
    found = []
    for terminal, note in ended_by.parts.items() if ended_by else ():
        values = [row.value for row in (rows.parts.values() if rows else ()) if row.kind == "value"]
        same = [row for row in values if row["on"] == terminal]
        if not same:
            raise _wrong(note, f"the first state has no row on {terminal}")
        for row in same:
            emit = row["emit"] if isinstance(row.get("emit"), list) else []
            kept = {key: row[key] for key in ("on", "to", "keep", "when") if key in row}
            found.append({**kept, "emit": ["ReasoningEnd", *emit], "note": note.value})
    return found
