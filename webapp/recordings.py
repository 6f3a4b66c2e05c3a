"""From a recording to the data of a case: one way for the page, the command line and the API.

============================  =========================================================================================
recorded                      becomes
============================  =========================================================================================
ids, a real tokenizer chosen  tokens, and deltas by the recorded counts; the run is in ids mode
pieces with their bytes       tokens
text                          text, and deltas where they were recorded; ids stay with their deltas
a stream alone                the stream, replayed as the server's parser sent it
a stream beside any of these  kept beside it, to compare with
request                       tools, tool choice, template arguments, model, end of the prompt, stop strings with ids
============================  =========================================================================================

The ids of a server mean nothing without the model's own tokenizer: the embedded one would make other text of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsers.cases.input import token_data
from parsers.intake.evidence import number
from parsers.vocabulary.types import Piece, RecordedDelta, Recording, Request, UsageError
from webapp.tokenizers import TokenizerAdapter, get_tokenizer

NOTHING_REAL = frozenset({"demo", "none"})
PROMPT_TOKENS = 64
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


def taken(recording: Recording, tokenizer: str | None = None, *, parser: str = "auto") -> Taken:
    """The case data of a recording. `tokenizer` is the name of the one that was chosen, if any.

    Raises RecordingError for a recording without any output, and for ids that the tokenizer cannot spell.
    """
    found = Taken({"schema": 1, "parser": {"name": parser}, "input": {}})
    adapter = _decoder(recording, tokenizer)
    _output(found, recording, adapter)
    if recording.stream is not None:
        found.data["input"]["stream"] = [_slim(chunk) for chunk in recording.stream]
        found.data["input"] |= {key: True for key in STREAMED if getattr(recording, key)}
        if recording.times is not None:
            found.data["input"]["times"] = list(recording.times)
    if not found.data["input"]:
        raise RecordingError("text", "There is no output in it: give the answer of the server, or what the model wrote")
    _ask(found, recording, adapter)
    if recording.expect is not None:
        found.data["expect"] = recording.expect
    return found


def asked(request: Request) -> Taken:
    """The part of a case's data that a request decides, while its answer is not there yet."""
    found = Taken({})
    _ask(found, Recording(None, request=request), None)
    return found


def _decoder(recording: Recording, name: str | None) -> TokenizerAdapter | None:
    """The tokenizer that gives recorded ids their text; None where there are none, or none that could was chosen."""
    if not recording.ids and not recording.prompt_ids:
        return None
    try:
        adapter = get_tokenizer(name or "embedded")
    except UsageError as error:
        raise RecordingError("tokenizer", str(error)) from error
    if adapter.realism not in NOTHING_REAL:
        return adapter
    if recording.ids and recording.text is None and recording.pieces is None and recording.stream is None:
        message = f"{number(len(recording.ids), 'token id')} without text: choose the model's own tokenizer, or upload"
        raise RecordingError("tokenizer", f"{message} its tokenizer.json. The {adapter.name} one would make up text")
    return None


def _output(found: Taken, recording: Recording, adapter: TokenizerAdapter | None) -> None:
    if adapter is not None and recording.ids:
        _from_ids(found, recording, recording.ids, adapter)
    elif recording.pieces is not None:
        found.data["input"]["tokens"] = _tokens(recording.pieces)
        if (deltas := _matching(recording.deltas, recording.pieces, None)) is not None:
            found.data["input"]["deltas"] = deltas
    elif recording.text is not None:
        found.data["input"]["text"] = recording.text
        if recording.deltas is not None:
            found.data["input"]["deltas"] = [_delta(delta.text, delta.ids) for delta in recording.deltas]
        if recording.ids or any(delta.ids for delta in recording.deltas or ()):
            found.notes.append("Its token ids wait for the model's own tokenizer; until then its text is replayed.")
    elif recording.ids:
        words = number(len(recording.ids), "token id")
        found.notes.append(
            f"Its {words} wait for the model's own tokenizer; until then the server's chunks play alone."
        )
    if recording.kind != "raw_text":
        tokens = recording.pieces or ()
        ids = found.decoded or recording.kind in _ID_KINDS or any(piece.token_id is not None for piece in tokens)
        kind = "token_ids" if recording.kind in _ID_KINDS else "recorded"
        found.data["source"] = {"kind": kind if ids else recording.kind}


def _from_ids(found: Taken, recording: Recording, ids: tuple[int, ...], adapter: TokenizerAdapter) -> None:
    try:
        pieces = adapter.pieces_of(ids)
    except UsageError as error:
        raise RecordingError("tokenizer", str(error)) from error
    unknown = sum(piece.kind == "unknown" for piece in pieces)
    if unknown:
        message = f"{adapter.name} lacks {unknown:,} of the {number(len(ids), 'token id')}"
        raise RecordingError("tokenizer", f"{message}: choose the tokenizer of the model that wrote them")
    _require_same(recording.text, pieces, adapter)
    found.decoded = True
    found.data["input"]["tokens"] = _tokens(pieces)
    deltas = _counted(pieces, recording.counts) or _matching(recording.deltas, pieces, ids)
    if deltas is not None:
        found.data["input"]["deltas"] = deltas
        found.data["replay"] = [{"by": "recorded"}]
    found.data["tokenizer"] = {"name": adapter.name, "fingerprint": adapter.fingerprint, "decoder": adapter.decoder}
    decode = _decode(recording.request or Request())
    if decode:
        found.data["decode"] = decode
    found.notes.append(f"Its text was rebuilt from {number(len(ids), 'token id')} with the tokenizer {adapter.name}.")


def _decode(request: Request) -> dict[str, Any]:
    """Return what the request says of how tokens become text. Its defaults are the server's, which a request does not
    tell."""
    decode: dict[str, Any] = {"skip_special_tokens": True} if request.skip_special_tokens else {}
    if stop := [text for text in request.stop or () if text]:
        decode |= {"stop": stop} | ({"include_stop": True} if request.include_stop else {})
    return decode


def _require_same(text: str | None, pieces: Sequence[Piece], adapter: TokenizerAdapter) -> None:
    """Recorded text may lack special tokens and a stop at its end; anything else means the wrong tokenizer."""
    whole = "".join([piece.text for piece in pieces])
    shown = "".join([piece.text for piece in pieces if piece.kind != "special"])
    if text and not whole.startswith(text) and not shown.lstrip().startswith(text.strip()):
        message = f"{adapter.name} does not spell the recorded text from the recorded ids"
        raise RecordingError("tokenizer", f"{message}: choose the tokenizer of the model that wrote them")


def _tokens(pieces: Iterable[Piece]) -> list[Any]:
    return [token_data(piece, {}, keep_id=True) for piece in pieces]


def _delta(text: str, ids: Sequence[int] | None) -> dict[str, Any]:
    return {"text": text} if ids is None else {"text": text, "ids": list(ids)}


def _counted(pieces: Sequence[Piece], counts: tuple[int, ...] | None) -> list[dict[str, Any]] | None:
    """The deltas of as many tokens each as were counted, where the counts add up."""
    if counts is None or sum(counts) != len(pieces):
        return None
    deltas, at = [], 0
    for count in counts:
        part = pieces[at : at + count]
        deltas.append(_delta("".join([piece.text for piece in part]), [piece.token_id or 0 for piece in part]))
        at += count
    return deltas


def _matching(
    deltas: tuple[RecordedDelta, ...] | None, pieces: Sequence[Piece], ids: tuple[int, ...] | None
) -> list[dict[str, Any]] | None:
    """The recorded deltas, where they spell the tokens."""
    if deltas is None or "".join([one.text for one in deltas]) != "".join([piece.text for piece in pieces]):
        return None
    sent = [one for delta in deltas for one in delta.ids or ()]
    keep = ids is not None and sent == list(ids)
    return [_delta(delta.text, delta.ids if keep else None) for delta in deltas]


def _slim(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """A chunk without its log probabilities: what the server's parser sent does not depend on them."""
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        return dict(chunk)
    slim = [{k: v for k, v in one.items() if k != "logprobs"} if isinstance(one, dict) else one for one in choices]
    return {**chunk, "choices": slim}


def _ask(found: Taken, recording: Recording, adapter: TokenizerAdapter | None) -> None:
    request = recording.request or Request()
    tools = _tools(found, request.tools or ())
    if tools:
        found.data["tools"] = tools
    context = {
        "tool_choice": _choice(found, request.tool_choice, tools),
        "reasoning_open": request.reasoning_open or None,
        "prompt_tail": _prompt_tail(recording, request, adapter),
        "template_kwargs": request.template_kwargs,
        "model": request.model,
        "finish_reason": recording.finish_reason,
    }
    context = {key: value for key, value in context.items() if value}
    if context:
        found.data["context"] = context


def _prompt_tail(recording: Recording, request: Request, adapter: TokenizerAdapter | None) -> str | None:
    if request.prompt_tail is not None:
        return request.prompt_tail
    if recording.prompt_text is not None:
        return recording.prompt_text[-PROMPT_CHARACTERS:]
    if adapter is None or not recording.prompt_ids:
        return None
    return adapter.decode(recording.prompt_ids[-PROMPT_TOKENS:])


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
