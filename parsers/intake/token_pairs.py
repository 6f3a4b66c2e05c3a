"""Tokens with their texts: pairs of id and text, and the sample that vLLM's replay tests read.

    [[151657, "<tool_call>"], [4913, "{\\""], ...]                                     kind token_ids
    {"tokens": [[id, text] ...], "tools", "expected_content", "expected_tool_calls"}   kind replay_record

The sample holds an output whole, with what should come out of it (vLLM 0.33, tests/parser/engine replay harness; one
JSON object on each line). Where its `vocab` names a token's text, the token is a marker.
"""

from __future__ import annotations

from typing import Any

from parsers.intake.chunks import ids_of, object_of, objects, word_of
from parsers.intake.jsonread import has_lone_surrogate, skip_space, value_at
from parsers.intake.model import Payload, Recognised, number
from parsers.intake.outputs import distinct
from parsers.intake.requests import request_of
from parsers.vocabulary.types import Piece, PieceKind, Recording


def read_token_pairs(body: str) -> Recognised | None:
    """One list of pairs, or one sample or several."""
    values: list[Any] = []
    at = skip_space(body, 0)
    while at < len(body) and body[at] in "[{" and (found := value_at(body, at)) is not None:
        values.append(found[0])
        at = skip_space(body, found[1])
    if not values or at < len(body):
        return None
    if len(values) == 1 and isinstance(values[0], list):
        pieces = _pieces(values[0], {})
        return _told([_recording(pieces, "token_ids")], "token_ids", "pairs of an id and a text") if pieces else None
    samples = [_sample(value) for value in objects(values) or []]
    known = [sample for sample in samples if sample is not None]
    if not known or len(known) < len(samples):
        return None
    return _told(known, "replay_record", "a sample of vLLM's replay tests")


def _pieces(value: Any, vocab: Payload) -> tuple[Piece, ...] | None:
    """The tokens, if the value is a list of pairs."""
    if not isinstance(value, list) or not value:
        return None
    pieces = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2 or ids_of(pair[:1]) is None or not isinstance(pair[1], str):
            return None
        if has_lone_surrogate(pair[1]):
            return None
        kind: PieceKind = "special" if pair[1] in vocab else "text"
        pieces.append(Piece(pair[1], pair[0], pair[1].encode(), kind, recorded=True))
    return tuple(pieces)


def _recording(pieces: tuple[Piece, ...], kind: str) -> Recording:
    ids = tuple([piece.token_id for piece in pieces if piece.token_id is not None])
    return Recording("".join([piece.text for piece in pieces]), kind, pieces=pieces, ids=ids)


def _sample(value: Payload) -> Recording | None:
    pieces = _pieces(value.get("tokens"), object_of(value.get("vocab")))
    if pieces is None:
        return None
    made = _recording(pieces, "replay_record")
    made.label = word_of(value.get("id")) or ""
    made.prompt_ids = ids_of(value.get("prompt_token_ids"))
    made.request = request_of({key: value[key] for key in ("tools", "chat_template_kwargs") if key in value})
    made.expect = _expect(value)
    return made


def _expect(value: Payload) -> Payload | None:
    """What should come out; null is not checked there, and arguments are objects."""
    expect: Payload = {
        name: text for name in ("reasoning", "content") if (text := word_of(value.get(f"expected_{name}"))) is not None
    }
    calls = objects(value.get("expected_tool_calls"))
    if calls is not None:
        expect["tool_calls"] = [
            {"name": word_of(call.get("name")) or "", "arguments": object_of(call.get("arguments"))} for call in calls
        ]
    return expect or None


def _told(made: list[Recording], kind: str, shape: str) -> Recognised:
    for place, recording in enumerate(made, 1):
        recording.label = (recording.label or f"sample {place}") if len(made) > 1 else recording.label
    distinct(made)
    count = sum(len(recording.ids or ()) for recording in made)
    several = f" in {number(len(made), 'sample')}" if len(made) > 1 else ""
    return Recognised(
        kind="token_ids" if kind == "token_ids" else "replay_record",
        title=f"{number(count, 'token id')} with their texts{several}",
        advice="Choose a parser and replay it.",
        usable=True,
        outputs=tuple(made),
        why=(f"It is {shape}.",),
    )
