"""Records of vLLM's stateless replay: token ids with the prompt's and with the length of each chunk.

    {"prompt_token_ids": [..], "output_token_ids": [..], "output_chunk_lens": [1, 1, 4], "chat_request": {..}}

One object, several, or the stream of `/v1/chat/completions/derender` (vLLM 0.33), whose `stream_state` repeats the
ids so far beside each chunk. A record may be printed as a Python dict. Lengths that do not add up are not used.
"""

from __future__ import annotations

from typing import Any

from parsers.intake.chunks import ids_of, object_of, objects, word_of
from parsers.intake.jsonread import skip_space, value_at
from parsers.intake.literals import Literal
from parsers.intake.model import Payload, Recognised, Warn, number
from parsers.intake.requests import request_of
from parsers.intake.spelled import mended, start_of, values_in
from parsers.intake.sse import read_events
from parsers.intake.token_lists import checked
from parsers.vocabulary.types import Recording, Request

CUT = Warn("broken_off", "The last record breaks off: what stood behind the break is missing.")


def read_replay_record(body: str) -> Recognised | None:
    """One record, several one after the other, or the stream that repeats one."""
    if "output_token_ids" not in body:
        return None
    streamed = _events(body)
    if streamed is not None:
        told = _told([_stream(streamed[0])], "server-sent events with a stream_state beside each chunk")
        told.warnings += (CUT,) if streamed[1] else ()
        return told
    values = _objects(body)
    found = objects([item for value in values for item in _each(value.value)]) if values else None
    if not found or not all(map(_is_record, found)):
        return None
    stated = [one for one in found if "stream_state" in one]
    made = [_stream(found)] if len(stated) == len(found) else [_record(one) for one in found]
    if not any(recording.ids for recording, _ in made):
        return None
    told = _told(made, "a JSON object with output_token_ids" if len(made) == 1 else "objects with output_token_ids")
    if values and not values[-1].whole:
        told.warnings += (CUT,)
    return told


def _is_record(value: Payload) -> bool:
    return isinstance(_state(value).get("output_token_ids"), list)


def _state(value: Payload) -> Payload:
    return object_of(value.get("stream_state", value))


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _events(body: str) -> tuple[list[Payload], bool] | None:
    """The payloads of an event stream whose every payload is a record, and whether one breaks off."""
    events = read_events(body) if "stream_state" in body else None
    payloads = [frame.payload for frame in events.frames if frame.payload is not None] if events else []
    if events is None or not payloads or not all(map(_is_record, payloads)):
        return None
    return payloads, len(payloads) < len(events.frames)


def _objects(body: str) -> list[Literal]:
    """The JSON or Python objects of the body, one after the other; [] where it holds anything else."""
    at = skip_space(body, start_of(body))
    found: list[Literal] = []
    while at < len(body) and (exact := value_at(body, at)) is not None:
        found.append(Literal(exact[0], exact[1]))
        at = skip_space(body, exact[1])
    return found if found and at == len(body) else values_in(body) or []


def _record(value: Payload, label: str = "") -> tuple[Recording, list[Warn]]:
    state = _state(value)
    made = checked([_numbers(state.get("output_token_ids"))], chunked=False)
    lengths = ids_of(state.get("output_chunk_lens"))
    warnings = list(made.warnings)
    if lengths is not None and sum(lengths) != len(made.ids):
        words = f"output_chunk_lens add up to {sum(lengths):,}, but there are {number(len(made.ids), 'id')}"
        warnings.append(Warn("chunk_lengths_wrong", f"{words}: the ids are used, where chunks end is not known."))
        lengths = None
    elif not lengths and made.ids:
        words = "The ids come without output_chunk_lens: where one delta ended and the next began is not known."
        warnings.append(Warn("chunk_lengths_missing", words))
        lengths = None
    recording = Recording(
        None,
        "replay_record",
        label,
        ids=made.ids,
        counts=lengths,
        prompt_ids=ids_of(value.get("prompt_token_ids", state.get("prompt_token_ids"))),
        prompt_text=mended(word_of(value.get("prompt_text")) or "") or None,
        finish_reason=word_of(value.get("finish_reason")),
        request=_request(value.get("chat_request")),
    )
    return recording, warnings


def _numbers(value: Any) -> list[int]:
    return [one for one in value if type(one) is int] if isinstance(value, list) else []


def _request(value: Any) -> Request | None:
    return request_of(value) if isinstance(value, dict) else None


def _stream(payloads: list[Payload]) -> tuple[Recording, list[Warn]]:
    """The last state holds all ids; the chunks before it are what vLLM's parser made of them."""
    recording, warnings = _record(payloads[-1])
    chunks = [chunk for chunk in (payload.get("chunk") for payload in payloads) if isinstance(chunk, dict)]
    recording.stream = tuple(chunks) or None
    return recording, warnings


def _told(made: list[tuple[Recording, list[Warn]]], shape: str) -> Recognised:
    several = len(made) > 1
    for place, (recording, _) in enumerate(made, 1):
        recording.label = f"record {place}" if several else ""
    count = sum(len(recording.ids or ()) for recording, _ in made)
    name = f"{number(len(made), 'replay record')} of vLLM" if several else "replay record of vLLM"
    return Recognised(
        kind="replay_record",
        title=f"{name}, {number(count, 'token id')}",
        advice="Choose the model's tokenizer: it turns the ids into text.",
        usable=True,
        outputs=tuple([recording for recording, _ in made]),
        why=(f"It is {shape}, as vLLM's replay keeps them.",),
        warnings=tuple(dict.fromkeys([warn for _, warnings in made for warn in warnings])),
        server="vLLM",
    )
