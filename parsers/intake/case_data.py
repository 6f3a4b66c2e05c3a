"""The data of a case, of a recording that needs no tokenizer: what was recorded as text, as pieces or as a stream.

============================  =========================================================================================
recorded                      becomes
============================  =========================================================================================
pieces with their bytes       tokens
text                          text, and deltas where they were recorded; ids stay with their deltas
a stream alone                the stream, replayed as the server's parser sent it
a stream beside any of these  kept beside it, to compare with
request                       tools, tool choice, template arguments, model, end of the prompt
============================  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsers.cases.input import token_data
from parsers.intake.evidence import number
from parsers.vocabulary.types import Piece, RecordedDelta, Recording, Request, UsageError

PROMPT_CHARACTERS = 400
STREAMED = ("done", "gaps")  # how a stream was recorded
_ID_KINDS = frozenset({"token_ids", "replay_record"})


class RecordingError(UsageError):
    """A recording that cannot become a case yet. `field` is the form's field that completes it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(slots=True)
class Taken:
    """The data of a case, what was done for it (a sentence each), and whether its tokens came of recorded ids."""

    data: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    decoded: bool = False


def case_data(recording: Recording, *, parser: str = "auto") -> Taken:
    """The case data of a recording, as far as it goes without a tokenizer. Raises RecordingError where that is none."""
    if recording.ids and not has_output(recording):
        words = number(len(recording.ids), "token id")
        raise RecordingError("tokenizer", f"{words} without text: they take the model's own tokenizer")
    found = begun(parser)
    add_output(found, recording)
    add_source(found, recording)
    add_stream(found, recording)
    add_request(found, recording)
    return found


def has_output(recording: Recording) -> bool:
    """Return whether an output was recorded besides ids, which only a tokenizer can give a text."""
    return any(one is not None for one in (recording.text, recording.pieces, recording.stream))


def begun(parser: str) -> Taken:
    """A case without an output yet."""
    return Taken({"schema": 1, "parser": {"name": parser}, "input": {}})


def add_output(found: Taken, recording: Recording) -> None:
    """Add what was recorded of the output without ids that wait for their text."""
    if recording.pieces is not None:
        found.data["input"]["tokens"] = tokens_of(recording.pieces)
        if (deltas := matching(recording.deltas, recording.pieces, None)) is not None:
            found.data["input"]["deltas"] = deltas
    elif recording.text is not None:
        found.data["input"]["text"] = recording.text
        if recording.deltas is not None:
            found.data["input"]["deltas"] = [delta_of(delta.text, delta.ids) for delta in recording.deltas]
        if recording.ids or any(delta.ids for delta in recording.deltas or ()):
            found.notes.append("Its token ids wait for the model's own tokenizer; until then its text is replayed.")
    elif recording.ids:
        words = number(len(recording.ids), "token id")
        found.notes.append(
            f"Its {words} wait for the model's own tokenizer; until then the server's chunks play alone."
        )


def add_source(found: Taken, recording: Recording) -> None:
    """Say what kind of recording it was, and whether its ids are a server's own."""
    if recording.kind != "raw_text":
        tokens = recording.pieces or ()
        ids = found.decoded or recording.kind in _ID_KINDS or any(piece.token_id is not None for piece in tokens)
        kind = "token_ids" if recording.kind in _ID_KINDS else "recorded"
        found.data["source"] = {"kind": kind if ids else recording.kind}


def add_stream(found: Taken, recording: Recording) -> None:
    """Add the stream of a server. Raises RecordingError where there is no output at all."""
    if recording.stream is not None:
        found.data["input"]["stream"] = [_slim(chunk) for chunk in recording.stream]
        found.data["input"] |= {key: True for key in STREAMED if getattr(recording, key)}
        if recording.times is not None:
            found.data["input"]["times"] = list(recording.times)
    if not found.data["input"]:
        raise RecordingError("text", "There is no output in it: give the answer of the server, or what the model wrote")


def add_request(found: Taken, recording: Recording, prompt_tail: str | None = None) -> None:
    """Add what the request decides, and what should come out. `prompt_tail`: the end of the prompt, of its ids."""
    request = recording.request or Request()
    tools = _tools(found, request.tools or ())
    if tools:
        found.data["tools"] = tools
    told = _prompt_tail(recording, request)
    context = {
        "tool_choice": _choice(found, request.tool_choice, tools),
        "reasoning_open": request.reasoning_open or None,
        "prompt_tail": prompt_tail if told is None else told,
        "template_kwargs": request.template_kwargs,
        "model": request.model,
        "finish_reason": recording.finish_reason,
    }
    context = {key: value for key, value in context.items() if value}
    if context:
        found.data["context"] = context
    if recording.expect is not None:
        found.data["expect"] = recording.expect


def _prompt_tail(recording: Recording, request: Request) -> str | None:
    if request.prompt_tail is not None:
        return request.prompt_tail
    return None if recording.prompt_text is None else recording.prompt_text[-PROMPT_CHARACTERS:]


def tokens_of(pieces: Iterable[Piece]) -> list[Any]:
    """Pieces as the tokens of a case."""
    return [token_data(piece, {}, keep_id=True) for piece in pieces]


def delta_of(text: str, ids: Sequence[int] | None) -> dict[str, Any]:
    """A delta of a case."""
    return {"text": text} if ids is None else {"text": text, "ids": list(ids)}


def matching(
    deltas: tuple[RecordedDelta, ...] | None, pieces: Sequence[Piece], ids: tuple[int, ...] | None
) -> list[dict[str, Any]] | None:
    """The recorded deltas, where they spell the tokens."""
    if deltas is None or "".join([one.text for one in deltas]) != "".join([piece.text for piece in pieces]):
        return None
    sent = [one for delta in deltas for one in delta.ids or ()]
    keep = ids is not None and sent == list(ids)
    return [delta_of(delta.text, delta.ids if keep else None) for delta in deltas]


def _slim(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """A chunk without its log probabilities: what the server's parser sent does not depend on them."""
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        return dict(chunk)
    slim = [{k: v for k, v in one.items() if k != "logprobs"} if isinstance(one, dict) else one for one in choices]
    return {**chunk, "choices": slim}


def _tools(found: Taken, tools: Sequence[Any]) -> list[dict[str, Any]]:
    """The tools that are functions with a name; servers have others of their own, which no parser sees."""
    kept = [tool for tool in tools if isinstance(tool, dict) and _name(tool)]
    if len(kept) < len(tools):
        left = number(len(tools) - len(kept), "tool")
        found.notes.append(f"{left} of the request left out: a tool is a function with a name.")
    return kept


def _name(tool: Mapping[str, Any]) -> str | None:
    inner = tool.get("function")
    function: Mapping[str, Any] = inner if isinstance(inner, dict) else tool
    name, parameters = function.get("name"), function.get("parameters", {})
    good = (
        isinstance(name, str)
        and isinstance(parameters, dict | None)
        and isinstance(function.get("strict"), bool | None)
    )
    return name if good else None


def _choice(found: Taken, choice: Any, tools: Sequence[Mapping[str, Any]]) -> Any:
    """The tool choice as a case has it: a word, or the name of a declared tool."""
    if choice is None or choice in ("auto", "none", "required"):
        return choice
    inner = choice.get("function") if isinstance(choice, dict) else None
    name = (inner if isinstance(inner, dict) else choice if isinstance(choice, dict) else {}).get("name")
    if isinstance(name, str) and name in [_name(tool) for tool in tools]:
        return {"name": name}
    found.notes.append("The tool choice of the request left out: it names no tool of the request.")
    return None
