"""The changed case that shows a finding: its output, its request, its chunking or its parser, as a proof says."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from parsers.cases.io import load_case, to_data
from parsers.cases.jsontext import JsonError, read
from parsers.cases.model import Case
from parsers.replays.replayer import edited, edited_text
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Piece, UsageError

_PROOF = TypeAdapter(Proof)
IN_CASE = ("finish_reason", "reasoning_open", "tool_choice")


def read_proof(text: str) -> Proof:
    """A proof that a button carried. Raises UsageError for anything else."""
    try:
        return _PROOF.validate_python(read(text))
    except (JsonError, ValidationError) as error:
        raise UsageError("This is no proof of a finding: open it with the button beside the finding.") from error


def changed_case(case: Case, pieces: tuple[Piece, ...], proof: Proof) -> Case:
    """The case with the changes of a proof. `pieces` are its tokens. Raises UsageError for edits that do not fit."""
    data = to_data(_edited(case, pieces, proof))
    data["title"] = f"{case.title or 'A case'} (changed to show a finding)"
    for key in ("expect", "engines", "flags", "verdict"):
        data.pop(key, None)
    if proof.chunking is not None:
        data["replay"] = [dict(proof.chunking)]
    elif proof.edits:
        data["replay"] = [chunking for chunking in data.get("replay", []) if chunking.get("by") != "cuts"]
    if proof.parser is not None:
        data["parser"] = {"name": proof.parser}
    for key, value in proof.context.items():
        _change(data, key, value)
    return load_case(data)


def _edited(case: Case, pieces: tuple[Piece, ...], proof: Proof) -> Case:
    if not proof.edits:
        return case
    text = edited_text(case.text(), proof.edits)
    bare = case.model_copy(update={"input": type(case.input)(text=text), "parent": None})
    if case.mode() != "ids":
        return bare
    left = edited(pieces, proof.edits, case.markers())
    stored = bare.with_pieces(left)
    return stored.model_copy(update={"input": type(case.input)(tokens=stored.input.tokens)})


def _change(data: dict[str, Any], key: str, value: Any) -> None:
    """One key of the request. The end of the prompt would say the start state too, so it is left out."""
    context = data.setdefault("context", {})
    if key == "tools":
        data["tools"] = [] if not value else data.get("tools", [])
    elif key in IN_CASE:
        context[key] = value
        if key == "reasoning_open":
            context.pop("prompt_tail", None)
