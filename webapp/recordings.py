"""From a recording to the data of a case: one way for the page, the command line and the API.

What needs no tokenizer is `parsers.intake.case_data`. Ids become tokens where a real tokenizer is chosen, with deltas
by the recorded counts, stop strings, and the end of the prompt; the run is in ids mode then. The ids of a server mean
nothing without the model's own tokenizer: the embedded one would make other text of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parsers.intake.alignment import chunk_texts, token_counts
from parsers.intake.case_data import (
    STREAMED,
    RecordingError,
    Taken,
    add_output,
    add_request,
    add_source,
    add_stream,
    begun,
    delta_of,
    has_output,
    matching,
    tokens_of,
)
from parsers.intake.evidence import ids_of_recording, number
from parsers.vocabulary.types import Piece, Recording, Request, UsageError
from webapp.tokenizers import TokenizerAdapter, get_tokenizer

__all__ = ["STREAMED", "RecordingError", "Taken", "asked", "taken"]

NOTHING_REAL = frozenset({"demo", "none"})
PROMPT_TOKENS = 64


def taken(recording: Recording, tokenizer: str | None = None, *, parser: str = "auto") -> Taken:
    """The case data of a recording. `tokenizer` is the name of the one that was chosen, if any.

    Raises RecordingError for a recording without any output, and for ids that the tokenizer cannot spell.
    """
    found = begun(parser)
    adapter = _decoder(recording, tokenizer)
    ids = _undecoded(recording)
    if adapter is not None and ids:
        _from_ids(found, recording, ids, adapter)
    else:
        add_output(found, recording)
    add_source(found, recording)
    add_stream(found, recording)
    add_request(found, recording, _prompt_tail(recording, adapter))
    return found


def asked(request: Request) -> Taken:
    """The part of a case's data that a request decides, while its answer is not there yet."""
    found = Taken({})
    add_request(found, Recording(None, request=request))
    return found


def _decoder(recording: Recording, name: str | None) -> TokenizerAdapter | None:
    """The tokenizer that gives recorded ids their text; None where there are none, or none that could was chosen."""
    ids = _undecoded(recording)
    if not ids and not recording.prompt_ids:
        return None
    try:
        adapter = get_tokenizer(name or "embedded")
    except UsageError as error:
        raise RecordingError("tokenizer", str(error)) from error
    if adapter.realism not in NOTHING_REAL:
        return adapter
    if ids and not has_output(recording):
        message = f"{number(len(ids), 'token id')} without text: choose the model's own tokenizer, or upload"
        raise RecordingError("tokenizer", f"{message} its tokenizer.json. The {adapter.name} one would make up text")
    return None


def _undecoded(recording: Recording) -> tuple[int, ...]:
    """The ids that wait for a tokenizer, wherever they were recorded: beside the text of each delta too."""
    return () if recording.ids is None and recording.pieces is not None else tuple(ids_of_recording(recording) or ())


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
    found.data["input"]["tokens"] = tokens_of(pieces)
    deltas = _deltas(found, recording, pieces, ids)
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


def _deltas(
    found: Taken, recording: Recording, pieces: Sequence[Piece], ids: tuple[int, ...]
) -> list[dict[str, Any]] | None:
    """The recorded chunks with the tokens of each: as recorded, as counted, else as the text of each tells."""
    same = matching(recording.deltas, pieces, ids)
    if same is not None and all("ids" in delta for delta in same):
        return same
    if (counted := _counted(pieces, recording.counts)) is not None:
        return counted
    own = [delta.ids or () for delta in recording.deltas or ()]
    if any(own):
        return _counted(pieces, list(map(len, own))) if [one for part in own for one in part] == [*ids] else same
    texts = [delta.text for delta in recording.deltas or ()] or chunk_texts(recording.stream or ())
    told = _counted(pieces, token_counts(texts, pieces))
    if told is None:
        return same
    found.notes.append("Which tokens came with each chunk is not recorded: it follows from the texts of the chunks.")
    both = zip(texts, told, strict=True)
    return told if same is None else [delta_of(text, delta["ids"]) for text, delta in both]


def _counted(pieces: Sequence[Piece], counts: Sequence[int] | None) -> list[dict[str, Any]] | None:
    """The deltas of as many tokens each as were counted, where the counts add up."""
    if counts is None or sum(counts) != len(pieces):
        return None
    deltas, at = [], 0
    for count in counts:
        part = pieces[at : at + count]
        deltas.append(delta_of("".join([piece.text for piece in part]), [piece.token_id or 0 for piece in part]))
        at += count
    return deltas


def _prompt_tail(recording: Recording, adapter: TokenizerAdapter | None) -> str | None:
    """The end of the prompt as its ids tell it."""
    if adapter is None or not recording.prompt_ids:
        return None
    return adapter.decode(recording.prompt_ids[-PROMPT_TOKENS:])
