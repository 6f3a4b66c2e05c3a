"""Token ids that were recorded by themselves, with their texts, or with the prompt's and the chunks' lengths.

    [1, 2]  [[1], [2, 3]]  1, 2, 3  tensor([1, 2])  token_ids=[1, 2]                   kind token_ids
    [[151657, "<tool_call>"], [4913, "{\\""], ...]                                     kind token_ids
    {"tokens": [[id, text] ...], "tools", "expected_content", "expected_tool_calls"}   kind replay_record
    {"prompt_token_ids": [..], "output_token_ids": [..], "output_chunk_lens": [1, 1, 4], "chat_request": {..}}

Ids of a list of lists came with one delta each; the rows of a tensor are outputs of their own. The sample of vLLM's
replay tests (0.33, tests/parser/engine) holds an output with what should come out of it; where its `vocab` names a
token's text, the token is a marker. Records of vLLM's stateless replay are one object, several, or the stream of
`/v1/chat/completions/derender`, whose `stream_state` repeats the ids so far. Lengths that do not add up are not used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from parsers.intake.evidence import Intake, Kind, Payload, Warn, intake_of, label_outputs, make_labels_differ, number
from parsers.intake.json_frames import read_event_lines
from parsers.intake.plain_text import has_lone_surrogate, without_lone_surrogates
from parsers.intake.requests import request_of
from parsers.intake.surroundings import LOG_LINE
from parsers.intake.written_values import (
    Named,
    ids_of,
    is_left_out,
    json_values_in,
    literal_at,
    object_of,
    objects_of,
    skip_space,
    start_of,
    values_in,
    word_of,
)
from parsers.vocabulary.types import Piece, PieceKind, Recording

_LARGEST = 2_000_000  # no vocabulary has as many entries
_BARE = re.compile(r"\s*+\[?\s*+\d++(?:[ \t\r\n,]++\d++){2,}+[\s,]*+\]?\s*+\Z")
_FIRST = re.compile(r"(?:(?:\w++\.)*+(?:tensor|array)\()?[\[(][\[(\s]*+-?(?:\d|\]|\.\.\.)")
_KEY = re.compile(r"[({'\"]?(?:output_)?(?:token_ids|ids)['\"]? ?[=:] ?+(?=[\[(]|\w+\()")
_IN_LOG = re.compile(r"[^\n]{0,400}?\b(?:output_)?token_ids ?[=:] ?+(?=[\[(])")
_ARRAYS = ("tensor", "torch.tensor", "array", "np.array", "numpy.array")
_TOKENIZER = "Choose the model's tokenizer: it turns the ids into text."
_CUT = Warn("broken_off", "The last record breaks off: what stood behind the break is missing.")
_CUT_LIST = Warn("broken_off", "The list has no closing bracket: ids at its end are missing.")


def read_token_ids(body: str) -> Intake | None:
    """Read token ids without their text, in any of the ways people paste them."""
    at = start_of(body)
    if _FIRST.match(body, at) and (found := _read_printed_ids(body)) is not None:
        return found
    if _BARE.match(body, at):
        words = body[at:].strip("[] \t\r\n,").replace(",", " ").split()
        ids = [int(word) if len(word) < 12 else 2**31 for word in words]
        return _ids_intake([[ids]], "It is whole numbers, separated by commas or spaces.")
    return _read_keyed_ids(body)


def _read_printed_ids(body: str) -> Intake | None:
    values = values_in(body)
    found = [_rows(one.value) for one in values]
    rows = [row for row in found if row is not None]
    if len(rows) < len(values) or not any(any(row) for row in rows):
        return None
    if any(map(_is_elided, rows)):
        return _elided_ids_refusal()
    cut = not values[-1].whole
    if len(rows) == 1 and isinstance(values[0].value, Named) and len(rows[0]) > 1:
        return _ids_intake([[row] for row in rows[0]], "It is a printed tensor, a row for each output.", cut=cut)
    if len(rows) == 1:
        nested = _is_nested(values[0].value)
        why = "It is a list of lists of whole numbers." if nested else "It is a list of whole numbers."
        return _ids_intake(rows, why, chunked=nested, cut=cut)
    if all(len(row) == 1 for row in rows):
        lists = f"It is {number(len(rows), 'list')}"
        why = f"{lists} of whole numbers, one after the other."
        made = _ids_intake([[row[0] for row in rows]], why, chunked=True, cut=cut)
        made.warnings += (Warn("lists_joined", f"{lists}, one after the other: taken for the deltas of one output."),)
        return made
    return _ids_intake(rows, "They are lists of lists of whole numbers, one for each output.", chunked=True, cut=cut)


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(part, list) for part in value)


def _rows(value: Any) -> list[list[int]] | None:
    """Return the lists of numbers in a list, a list of lists or a tensor; None for anything else."""
    if isinstance(value, Named):
        value = value.args[0] if value.called and value.name in _ARRAYS and value.args else None
    if not isinstance(value, list):
        return None
    rows = [[row] if is_left_out(row) else row for row in value] if _is_nested(value) else [value]
    if not all(isinstance(row, list) and all(type(one) is int or is_left_out(one) for one in row) for row in rows):
        return None
    return rows


def _is_elided(rows: list[list[int]]) -> bool:
    return any(is_left_out(one) for row in rows for one in row)


def _elided_ids_refusal() -> Intake:
    return Intake(
        kind="token_ids",
        title="token ids with some left out",
        advice="Print all of them, for example with .tolist(), and paste that.",
        why=("It is a list of whole numbers that holds `...`.",),
        warnings=(Warn("ids_cut", "Ids are left out where `...` stands."),),
    )


def _read_keyed_ids(body: str) -> Intake | None:
    """Read ids after `token_ids=` at the beginning, or in the first line of a log; anything may follow."""
    at = len(body) - len(body.lstrip())
    mark = _KEY.match(body, at) or (_IN_LOG.match(body, at) if LOG_LINE.match(body, at) else None)
    found = literal_at(body, mark.end()) if mark else None
    rows = _rows(found.value) if found else None
    if found is None or not rows or not any(rows):
        return None
    if _is_elided(rows):
        return _elided_ids_refusal()
    nested = _is_nested(found.value)
    return _ids_intake([rows], "Whole numbers follow `token_ids`.", chunked=nested, cut=not found.whole)


def _ids_intake(
    outputs: Sequence[Sequence[Sequence[int]]], why: str, *, chunked: bool = False, cut: bool = False
) -> Intake:
    """Return outputs of lists of ids; `chunked`: each list came with a delta; `cut`: the last one breaks off."""
    made = [_ids_recording(rows, chunked=chunked) for rows in outputs]
    recordings = [recording for recording, _ in made]
    label_outputs(recordings, "list")
    count = number(sum(len(recording.ids or ()) for recording in recordings), "token id")
    return intake_of(
        "token_ids",
        f"{count} in {number(len(made), 'list')}" if len(made) > 1 else count,
        recordings,
        why=why,
        advice=_TOKENIZER,
        warnings=[*[warn for _, warnings in made for warn in warnings], *([_CUT_LIST] if cut else [])],
    )


def _ids_recording(parts: Sequence[Sequence[int]], *, chunked: bool) -> tuple[Recording, list[Warn]]:
    """Return the ids of all parts without those that cannot be ids, and what was wrong with them."""
    kept = [[one for one in part if 0 <= one < 2**31] for part in parts]
    ids = tuple([one for part in kept for one in part])
    warnings = []
    if dropped := sum(map(len, parts)) - len(ids):
        words = f"{number(dropped, 'number')} below 0 or beyond 32 bits left out: padding, perhaps, but no token id."
        warnings.append(Warn("not_an_id", words))
    if large := sum(one > _LARGEST for one in ids):
        words = f"{number(large, 'id')} above {_LARGEST:,}: no vocabulary is that large."
        warnings.append(Warn("id_out_of_range", words))
    counts = tuple([len(part) for part in kept]) if chunked else None
    return Recording(None, "token_ids", ids=ids, counts=counts), warnings


def read_token_pairs(body: str) -> Intake | None:
    """Read one list of pairs of id and text, or one sample of vLLM's replay tests, or several."""
    if not body.startswith(("[", "{"), skip_space(body, 0)):
        return None
    values = [one.value for one in json_values_in(body)]
    if len(values) == 1 and isinstance(values[0], list):
        pieces = _pieces(values[0], {})
        return _pairs_intake([_pairs_recording(pieces, "token_ids")], "pairs of an id and a text") if pieces else None
    samples = [_sample(value) for value in objects_of(values) or []]
    known = [sample for sample in samples if sample is not None]
    if not known or len(known) < len(samples):
        return None
    for place, sample in enumerate(known, 1):
        sample.label = sample.label or (f"sample {place}" if len(known) > 1 else "")
    make_labels_differ(known)
    return _pairs_intake(known, "a sample of vLLM's replay tests")


def _pieces(value: Any, vocab: Payload) -> tuple[Piece, ...] | None:
    if not isinstance(value, list):
        return None
    pieces = []
    for pair in value:
        if type(pair) is not list or len(pair) != 2:
            return None
        token_id, text = pair
        if type(token_id) is not int or token_id < 0 or type(text) is not str or has_lone_surrogate(text):
            return None
        kind: PieceKind = "special" if text in vocab else "text"
        pieces.append(Piece(text, token_id, text.encode(), kind, recorded=True))
    return tuple(pieces) or None


def _pairs_recording(pieces: tuple[Piece, ...], kind: Kind) -> Recording:
    ids = tuple([piece.token_id for piece in pieces if piece.token_id is not None])
    return Recording("".join([piece.text for piece in pieces]), kind, pieces=pieces, ids=ids)


def _sample(value: Payload) -> Recording | None:
    pieces = _pieces(value.get("tokens"), object_of(value.get("vocab")))
    if pieces is None:
        return None
    made = _pairs_recording(pieces, "replay_record")
    made.label = word_of(value.get("id")) or ""
    made.prompt_ids = ids_of(value.get("prompt_token_ids"))
    made.request = request_of({key: value[key] for key in ("tools", "chat_template_kwargs") if key in value})
    # Of what should come out null is not checked there, and arguments are objects.
    expect: Payload = {
        name: text for name in ("reasoning", "content") if (text := word_of(value.get(f"expected_{name}"))) is not None
    }
    calls = objects_of(value.get("expected_tool_calls"))
    if calls is not None:
        expect["tool_calls"] = [
            {"name": word_of(call.get("name")) or "", "arguments": object_of(call.get("arguments"))} for call in calls
        ]
    made.expect = expect or None
    return made


def _pairs_intake(made: list[Recording], shape: str) -> Intake:
    count = number(sum(len(recording.ids or ()) for recording in made), "token id")
    several = f" in {number(len(made), 'sample')}" if len(made) > 1 else ""
    kind: Kind = "token_ids" if made[0].kind == "token_ids" else "replay_record"
    return intake_of(kind, f"{count} with their texts{several}", made, why=f"It is {shape}.")


def read_replay_record(body: str) -> Intake | None:
    """Read one record of vLLM's replay, several one after the other, or the stream that repeats one."""
    if "output_token_ids" not in body:
        return None
    events = read_event_lines(body) if "stream_state" in body else None
    payloads = [frame.payload for frame in events.frames if frame.payload is not None] if events else []
    if events is not None and payloads and all(map(_is_record, payloads)):
        shape = "server-sent events with a stream_state beside each chunk"
        return _records_intake([_streamed_record(payloads)], shape, cut=len(payloads) < len(events.frames))
    values = json_values_in(body) or values_in(body)
    found = objects_of([item for one in values for item in (one.value if isinstance(one.value, list) else [one.value])])
    if not found or not all(map(_is_record, found)):
        return None
    stated = all("stream_state" in one for one in found)
    made = [_streamed_record(found)] if stated else [_record(one) for one in found]
    if not any(recording.ids for recording, _ in made):
        return None
    shape = "a JSON object with output_token_ids" if len(made) == 1 else "objects with output_token_ids"
    return _records_intake(made, shape, cut=not values[-1].whole)


def _is_record(value: Payload) -> bool:
    return isinstance(_record_state(value).get("output_token_ids"), list)


def _record_state(value: Payload) -> Payload:
    return object_of(value.get("stream_state", value))


def _record(value: Payload) -> tuple[Recording, list[Warn]]:
    state = _record_state(value)
    made, warnings = _ids_recording([[one for one in state["output_token_ids"] if type(one) is int]], chunked=False)
    ids, lengths = made.ids or (), ids_of(state.get("output_chunk_lens"))
    if lengths is not None and sum(lengths) != len(ids):
        words = f"output_chunk_lens add up to {sum(lengths):,}, but there are {number(len(ids), 'id')}"
        warnings.append(Warn("chunk_lengths_wrong", f"{words}: the ids are used, where chunks end is not known."))
    elif not lengths and ids:
        words = "The ids come without output_chunk_lens: where one delta ended and the next began is not known."
        warnings.append(Warn("chunk_lengths_missing", words))
    else:
        made.counts = lengths
    made.kind = "replay_record"
    made.prompt_ids = ids_of(value.get("prompt_token_ids", state.get("prompt_token_ids")))
    made.prompt_text = without_lone_surrogates(word_of(value.get("prompt_text")) or "") or None
    made.finish_reason = word_of(value.get("finish_reason"))
    asked = value.get("chat_request")
    made.request = request_of(asked) if isinstance(asked, dict) else None
    return made, warnings


def _streamed_record(payloads: list[Payload]) -> tuple[Recording, list[Warn]]:
    """Return the last state, which holds all ids; the chunks before it are those of vLLM's parser."""
    recording, warnings = _record(payloads[-1])
    chunks = [chunk for chunk in (payload.get("chunk") for payload in payloads) if isinstance(chunk, dict)]
    recording.stream = tuple(chunks) or None
    return recording, warnings


def _records_intake(made: list[tuple[Recording, list[Warn]]], shape: str, *, cut: bool) -> Intake:
    recordings = [recording for recording, _ in made]
    label_outputs(recordings, "record")
    count = sum(len(recording.ids or ()) for recording in recordings)
    name = f"{number(len(made), 'replay record')} of vLLM" if len(made) > 1 else "replay record of vLLM"
    return intake_of(
        "replay_record",
        f"{name}, {number(count, 'token id')}",
        recordings,
        why=f"It is {shape}, as vLLM's replay keeps them.",
        advice=_TOKENIZER,
        warnings=[*[warn for _, warnings in made for warn in warnings], *([_CUT] if cut else [])],
        server="vLLM",
    )
