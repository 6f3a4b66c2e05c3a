"""The outputs in a log of chat chunks or answers: each response and choice with its own chunks, as they came.

A response is told by its id; where a log has none, by what stands between end sentinels. A choice that has finished
begins a new response with its next `role`, or after an end sentinel. Payloads without choices (usage, SGLang's token
ids) belong to the whole response.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from parsers.intake.chunks import choices
from parsers.intake.damage import several
from parsers.intake.log import Log, is_failure
from parsers.intake.model import Frame, Payload, Warn, number
from parsers.intake.outputs import Key

_ASIDE = frozenset(("usage", "sglext", "output_ids", "prompt_token_ids", "prompt_text", "object"))


@dataclass(slots=True)
class ChatOutput:
    """One output: the choices of its chunks and the payloads that they came in, in order.

    `stream` holds the payloads with this choice alone. `asides` are the payloads of the response without a choice,
    `siblings` the outputs of the same response. `finished`: in which part of the log. `roles`:
    how many chunks name the role.
    """

    key: Key
    siblings: dict[int, ChatOutput]
    asides: list[Payload]
    choices: list[Payload] = field(default_factory=list)
    payloads: list[Payload] = field(default_factory=list)
    stream: list[Payload] = field(default_factory=list)
    finished: int | None = None
    roles: int = 0


@dataclass(slots=True)
class _Response:
    round: int = 0
    outputs: dict[int, ChatOutput] = field(default_factory=dict)
    asides: list[Payload] = field(default_factory=list)


@dataclass(slots=True)
class ChatOutputs:
    """All outputs of a log in the order they began, and what was odd about it."""

    outputs: list[ChatOutput] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)


@dataclass(slots=True)
class _Sorting:
    """`unnamed`: chunks without an id among chunks with one. `runs`: ids, each as often as it took over."""

    log: Log
    one_id: bool
    outputs: list[ChatOutput] = field(default_factory=list)
    responses: dict[tuple[int, str | None], _Response] = field(default_factory=dict)
    last: str | None = None
    unnamed: int = 0
    other: list[Frame] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)


def chat_outputs(log: Log) -> ChatOutputs:
    """All outputs of the log."""
    sorting = _Sorting(log, _one_id_per_chunk(log))
    for part, frames in enumerate(log.parts()):
        sorting.last = None
        for frame in frames:
            if frame.payload is not None and not is_failure(frame):
                _sort(sorting, part, frame, frame.payload)
    return ChatOutputs(sorting.outputs, list(_oddities(sorting)))


def _one_id_per_chunk(log: Log) -> bool:
    """Whether ids name chunks, not responses: nearly every chunk has its own."""
    found = [frame.payload for frame in log.frames if frame.payload is not None]
    named = [one["id"] for one in found if isinstance(one.get("id"), str) and "delta" in (choices(one) or [{}])[0]]
    return len(named) > 3 and len(set(named)) * 10 > len(named) * 9


def _sort(sorting: _Sorting, part: int, frame: Frame, payload: Payload) -> None:
    found = choices(payload)
    if found is None and _ASIDE.isdisjoint(payload):
        sorting.other.append(frame)
        return
    request = _request(sorting, payload, bool(found))
    place = (0 if request else part, request)
    response = sorting.responses.setdefault(place, _Response())
    for choice in found or []:
        _add_choice(sorting, part, request, payload, choice, alone=len(found or []) == 1)
    if not found:
        response.asides.append(payload)
        if len(response.outputs) == 1:
            next(iter(response.outputs.values())).stream.append(payload)


def _request(sorting: _Sorting, payload: Payload, has_choices: bool) -> str | None:
    """Whose response the payload is; without an id, that of the one before."""
    value = payload.get("id")
    if sorting.one_id:
        return None
    if value is None or value == "":
        sorting.unnamed += has_choices and bool(sorting.runs)
        return sorting.last
    sorting.last = str(value)
    if sorting.runs[-1:] != [sorting.last]:
        sorting.runs.append(sorting.last)
    return sorting.last


def _add_choice(
    sorting: _Sorting, part: int, request: str | None, payload: Payload, choice: Payload, *, alone: bool
) -> None:
    index = choice.get("index")
    index = index if type(index) is int and index >= 0 else 0
    place = (0 if request else part, request)
    response = sorting.responses[place]
    output = response.outputs.get(index)
    if output is not None and _begins_anew(output, payload, choice, part):
        response = sorting.responses[place] = _Response(response.round + 1)
        output = None
    if output is None:
        output = ChatOutput(Key(*place, index, response.round), response.outputs, response.asides)
        output.stream += response.asides if not response.outputs else []
        response.outputs[index] = output
        sorting.outputs.append(output)
    output.roles += _names_role(choice)
    output.choices.append(choice)
    output.payloads.append(payload)
    output.stream.append(payload if alone else {**payload, "choices": [choice]})
    if choice.get("finish_reason") or "message" in choice:
        output.finished = part


def _begins_anew(output: ChatOutput, payload: Payload, choice: Payload, part: int) -> bool:
    """Whether a choice that has finished begins again: servers that repeat the role show nothing by it."""
    if output.finished is None:
        return False
    named = _names_role(choice) and output.roles < 2 and not payload.get("usage")
    return part > output.finished or "message" in choice or named


def _names_role(choice: Payload) -> bool:
    delta = choice.get("delta")
    return isinstance(delta, dict) and bool(delta.get("role"))


def _oddities(sorting: _Sorting) -> Iterator[Warn]:
    if sorting.other:
        place = sorting.log.place(sorting.other[0])
        words = f"{number(len(sorting.other), 'object')} without choices left out (the first at {place})."
        yield Warn("other_chunk", words)
    if sorting.one_id:
        yield Warn("ids_differ", "Nearly every chunk has its own id, so all were taken for one response.")
    if sorting.unnamed:
        words = f"{number(sorting.unnamed, 'chunk')} without an id: each counted to the response before it."
        yield Warn("no_id", words)
    if len(sorting.runs) > len(set(sorting.runs)):
        words = f"Chunks of {number(len(set(sorting.runs)), 'response')} are mixed; they were parted by their id."
        yield Warn("interleaved", words)
    if len(sorting.outputs) > 1:
        yield several(len(sorting.outputs))
