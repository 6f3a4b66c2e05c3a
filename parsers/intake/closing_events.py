"""What OpenAI's Responses say twice: a text in its deltas, and whole in the events that close it and the response.

A client may read either. Events: OpenAI API reference, Responses, streaming events (`*.delta`, `*.done`,
`response.output_item.done`, `response.completed`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parsers.intake.evidence import Payload
from parsers.intake.written_values import object_of, objects_of, word_of
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


@dataclass(slots=True, frozen=True)
class _Closed:
    """A text that an event closed, `whole`; `place` is what its deltas have in common."""

    place: tuple[str, object, object]
    name: str
    whole: str


def unlike_deltas(payloads: Sequence[Payload]) -> str | None:
    """Say of which texts the closing event has something else than their deltas; None where there are none."""
    sent: defaultdict[tuple[str, object, object], list[str]] = defaultdict(list)
    closed: list[_Closed] = []
    for payload in payloads:
        stem, _, ending = str(payload.get("type")).rpartition(".")
        delta = payload.get("delta")
        if stem in _TEXTS and ending == "delta" and isinstance(delta, str):
            sent[_place(stem, payload)].append(delta)
        elif (found := _closed(stem, ending, payload)) is not None:
            closed.append(found)
        closed += [one for one in _at_end(payload) if one.place in sent]
    whole = {place: "".join(sent[place]) for place in {one.place for one in closed}}
    apart = {one.place: one for one in reversed(closed) if one.whole != whole[one.place]}
    unlike = list(reversed(apart.values()))
    if not unlike:
        return None
    first, others = unlike[0], len(unlike) - 1
    text = whole[first.place]
    more = f" So it is with {counted(others, 'more text')}." if others else ""
    return (
        f"The deltas of the {first.name} of output item {first.place[1]} come to {_quoted(text)}; the event that "
        f"closes them has {_quoted(first.whole)}. The deltas are what is replayed.{more}"
    )


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
    item = payload.get("output_index", word_of(payload.get("item_id")))
    part = payload.get("content_index", payload.get("summary_index"))
    return stem, item if isinstance(item, int | str) else None, part if isinstance(part, int) else None


def _quoted(text: str) -> str:
    if not text:
        return "nothing"
    return f"`{text}`" if len(text) <= _SHOWN else f"`…{text[-_SHOWN:]}` ({counted(len(text), 'character')})"
