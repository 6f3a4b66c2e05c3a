"""What OpenAI's Responses say twice: a text in its deltas, and whole in the events that close it and the response.

A client may read either. Events: OpenAI API reference, Responses, streaming events (`*.delta`, `*.done`,
`response.output_item.done`, `response.completed`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from parsers.intake.evidence import Payload
from parsers.intake.written_values import object_of, objects_of, word_of
from parsers.vocabulary.json_values import object_of as json_object
from parsers.vocabulary.words import counted

_ARGUMENTS = "response.function_call_arguments"
_OUTPUT = "response.output_text"
_TEXTS = {  # events without their ending: where the closing one has the text, and what it is
    _OUTPUT: ("text", "text"),
    "response.reasoning_text": ("text", "reasoning"),
    "response.reasoning_summary_text": ("text", "reasoning summary"),
    _ARGUMENTS: ("arguments", "arguments"),
}
_ENDS = frozenset(("response.completed", "response.incomplete"))
_SHOWN = 60  # characters of each text that are quoted


class Apart(NamedTuple):
    """A text that stands twice in a log and not alike: the code of what that is, and a sentence."""

    code: Literal["closed_otherwise", "closed_short", "deltas_short", "events_missing"]
    words: str


@dataclass(slots=True, frozen=True)
class _Closed:
    """A text that an event closed, `whole`; `place` is what its deltas have in common."""

    place: tuple[str, object, object]
    name: str
    whole: str


def unlike_deltas(payloads: Sequence[Payload]) -> Apart | None:
    """Say of which texts the closing event has something else than their deltas; None where there are none.

    What differs is the server's, unless the numbers of the events show that some were not recorded: that is said alone,
    too.
    """
    sent: defaultdict[tuple[str, object, object], list[str]] = defaultdict(list)
    closed, at_end = list[_Closed](), list[_Closed]()
    for payload in payloads:
        stem, _, ending = str(payload.get("type")).rpartition(".")
        delta = payload.get("delta")
        if stem in _TEXTS and ending == "delta" and isinstance(delta, str):
            sent[_place(stem, payload)].append(delta)
        elif (found := _closed(stem, ending, payload)) is not None:
            closed.append(found)
        at_end += _at_end(payload)
    closed += [one for one in at_end if one.place in sent or not sent]  # items may be counted otherwise there
    whole = {place: "".join(sent[place]) for place in {one.place for one in closed}}
    apart = {one.place: one for one in reversed(closed) if one.whole != whole[one.place]}
    unlike = list(reversed(apart.values()))
    missing = _missing(payloads)
    if not unlike:
        return None if missing is None else Apart("events_missing", missing)
    short = [one for one in unlike if one.whole.startswith(whole[one.place])]
    cut = [one for one in unlike if one.name == "arguments" and _is_cut(whole[one.place], one.whole)]
    first = (short or cut or unlike)[0]
    words = _how_apart(_named(first, payloads), whole[first.place], first.whole)
    words += f" So it is with {counted(len(unlike) - 1, 'more text')}." if len(unlike) > 1 else ""
    longer = any(len(one.whole) > len(whole[one.place]) for one in unlike)  # what is missing explains no less
    if missing is not None and longer:
        return Apart("events_missing", f"{missing} {words}")
    return Apart("deltas_short" if short else "closed_short" if cut else "closed_otherwise", words)


def _is_cut(sent: str, whole: str) -> bool:
    """Return whether a closing event has not all of the JSON object that the deltas come to."""
    return sent.startswith(whole) and json_object(whole) is None and json_object(sent) is not None


def _how_apart(name: str, sent: str, whole: str) -> str:
    """Say what deltas and closing event have: which of them stops short, and where."""
    closing = f"the event that closes them has {_quoted(whole)}"
    if not sent:
        return f"No delta of {name} came, though {closing}. The deltas are what is replayed."
    if whole.startswith(sent):
        return f"The deltas of {name} stop at {_quoted(sent)}, though {closing}. The deltas are what is replayed."
    if sent.startswith(whole):
        closing = f"has only {_quoted(whole)}" if whole else "is empty"
        return f"The event that closes {name} {closing}, though the deltas come to {_quoted(sent)}: these are replayed."
    return f"The deltas of {name} come to {_quoted(sent)}; {closing}. The deltas are what is replayed."


def _named(one: _Closed, payloads: Sequence[Payload]) -> str:
    """Say which text it is: of arguments whose call has a name, with that."""
    item = one.place[1]
    items = (object_of(payload.get("item")) for payload in payloads if _item_of(payload) == item)
    name = next((name for said in items if (name := word_of(said.get("name")))), None)
    which = "" if name is None or one.name != "arguments" else f" of `{name}`"
    return f"the {one.name}{which} in output item {item}"


def _missing(payloads: Sequence[Payload]) -> str | None:
    """Say between which numbers of neighbouring events some are missing; None where none are."""
    given = [payload.get("sequence_number") for payload in payloads]
    numbers = [number for number in given if type(number) is int]
    jump = next(((one, other) for one, other in pairwise(numbers) if other > one + 1), None)
    if jump is None:
        return None
    return f"Not all events were recorded, for their `sequence_number` jumps from {jump[0]} to {jump[1]}."


def _closed(stem: str, ending: str, payload: Payload) -> _Closed | None:
    if (stem, ending) == ("response.output_item", "done"):
        stem, said = _ARGUMENTS, object_of(payload.get("item"))
    else:
        said = payload if ending == "done" else {}
    key, name = _TEXTS.get(stem, ("", ""))
    whole = said.get(key)
    return _Closed(_place(stem, payload), name, whole) if isinstance(whole, str) else None


def _at_end(payload: Payload) -> Iterator[_Closed]:
    """The texts and arguments that the end of the response has once more."""
    output = object_of(payload.get("response")).get("output") if payload.get("type") in _ENDS else None
    for item, said in enumerate(objects_of(output) or ()):
        if isinstance(said.get("arguments"), str):
            yield _Closed((_ARGUMENTS, item, None), "arguments", said["arguments"])
        for part, one in enumerate(objects_of(said.get("content")) or ()):
            if one.get("type") == "output_text" and isinstance(one.get("text"), str):
                yield _Closed((_OUTPUT, item, part), "text", one["text"])


def _place(stem: str, payload: Payload) -> tuple[str, object, object]:
    part = payload.get("content_index", payload.get("summary_index"))
    return stem, _item_of(payload), part if isinstance(part, int) else None


def _item_of(payload: Payload) -> int | str | None:
    item = payload.get("output_index", word_of(payload.get("item_id")))
    return item if isinstance(item, int | str) else None


def _quoted(text: str) -> str:
    if not text:
        return "nothing"
    return f"`{text}`" if len(text) <= _SHOWN else f"`…{text[-_SHOWN:]}` ({counted(len(text), 'character')})"
