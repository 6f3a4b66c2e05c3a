"""From a log whose chunks hold raw output to its recordings: one for each response and choice.

Invariant: a recording's text is the concatenation of its deltas, each as the server sent it. A chunk that cannot be
read is left out and told; nothing is guessed in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from parsers.intake.chunks import RawChunk
from parsers.intake.jsonread import has_lone_surrogate
from parsers.intake.log import Log, is_failure
from parsers.intake.model import Frame, Warn
from parsers.intake.ollama import served
from parsers.intake.outputs import Key, labels
from parsers.vocabulary.types import Piece, RecordedDelta, Recording


@dataclass(slots=True)
class Rebuilt:
    """The outputs of a log and the traps they are in."""

    outputs: list[Recording] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)


def rebuild(log: Log) -> Rebuilt:
    """All outputs of a log whose family has a reader."""
    made = Rebuilt()
    groups = _groups(log, made)
    names = labels(list(groups)) if groups else []
    for name, chunks in zip(names, groups.values(), strict=True):
        made.outputs.append(_recording(log, name, chunks, made))
        for warn in [warn for chunk in chunks for warn in chunk.warnings]:
            _warn(made, warn)
    return made


def _groups(log: Log, made: Rebuilt) -> dict[Key, list[RawChunk]]:
    """The chunks of each output. After a chunk that is its output's last, another output begins."""
    groups: dict[Key, list[RawChunk]] = {}
    rounds: dict[Key, int] = {}
    for part, frames in enumerate(log.parts()):
        for frame in frames:
            for chunk in _read(log, frame, made):
                base = Key(part, chunk.request, chunk.index)
                key = base._replace(round=rounds.get(base, 0))
                groups.setdefault(key, []).append(chunk)
                if chunk.last:
                    rounds[base] = key.round + 1
    return groups


def _read(log: Log, frame: Frame, made: Rebuilt) -> Iterator[RawChunk]:
    if frame.payload is None or log.family.read is None:
        return
    found = log.family.read(frame.payload)
    if found is not None:
        yield from found
    elif not is_failure(frame):
        words = f"The chunk at {log.place(frame)} holds no raw output and was left out."
        _warn(made, Warn("other_chunk", words))


def _warn(made: Rebuilt, warn: Warn) -> None:
    """One warning of each code is enough: the first place tells the rest."""
    if all(one.code != warn.code for one in made.warnings):
        made.warnings.append(warn)


def _recording(log: Log, name: str, chunks: list[RawChunk], made: Rebuilt) -> Recording:
    texts, ids = _steps(log, chunks, made)
    known = [part for part in ids if part is not None]
    whole = len(known) > 0 and all(part is not None or not text for part, text in zip(ids, texts, strict=True))
    text = None if None in texts else "".join([part or "" for part in texts])
    if text is not None and has_lone_surrogate(text):
        words = "Its chunks hold half of a UTF-16 pair, which is no character: U+FFFD stands in its place."
        _warn(made, Warn("lone_surrogate", words))
        texts = [_mended(part or "") for part in texts]
        text = "".join([part or "" for part in texts])
    deltas = tuple([RecordedDelta(part or "", one) for part, one in zip(texts, ids, strict=True)])
    return Recording(
        text=text,
        kind=log.kind,
        label=name,
        pieces=_pieces(chunks, text),
        ids=tuple([one for part in known for one in part]) if whole else None,
        counts=tuple([len(part or ()) for part in ids]) if whole and log.streamed else None,
        deltas=deltas if log.streamed and text is not None else None,
        stream=served(chunks, parsed=log.family.name == "ollama_chat"),
        request=next((chunk.asked for chunk in reversed(chunks) if chunk.asked is not None), None),
        prompt_ids=next((chunk.prompt_ids for chunk in chunks if chunk.prompt_ids is not None), None),
        prompt_text=next((chunk.prompt_text for chunk in chunks if chunk.prompt_text is not None), None),
        finish_reason=next((chunk.finish for chunk in reversed(chunks) if chunk.finish), None),
        stop_reason=next((chunk.stop for chunk in reversed(chunks) if chunk.stop is not None), None),
    )


def _mended(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _pieces(chunks: list[RawChunk], text: str | None) -> tuple[Piece, ...] | None:
    """The tokens, if they spell the text: those of all chunks, or of the last one where each repeats the others."""
    each = [piece for chunk in chunks for piece in chunk.pieces or ()]
    for pieces in (each, chunks[-1].pieces):
        if pieces and "".join([piece.text for piece in pieces]) == text:
            return tuple(pieces)
    return None


def _steps(log: Log, chunks: list[RawChunk], made: Rebuilt) -> tuple[list[str | None], list[tuple[int, ...] | None]]:
    """What each chunk adds: its own text and ids, or what is new where each repeats the ones before."""
    texts = [chunk.text for chunk in chunks]
    ids = [chunk.ids for chunk in chunks]
    if not log.family.cumulative or None in texts:
        return texts, ids
    new = _increments([text or "" for text in texts])
    if new is None:
        return _rewritten(texts, ids, made)
    new_ids = _increments([one or () for one in ids])
    return [*new], ids if new_ids is None or None in ids else [*new_ids]


Part = TypeVar("Part", str, tuple[int, ...])


def _increments(parts: list[Part]) -> list[Part] | None:
    """What each cumulative part adds to the one before; None where one does not repeat the one before."""
    found: list[Part] = []
    before = parts[0][:0]
    for part in parts:
        if part[: len(before)] != before:
            return None
        found.append(part[len(before) :])
        before = part
    return found


def _rewritten(
    texts: list[str | None], ids: list[tuple[int, ...] | None], made: Rebuilt
) -> tuple[list[str | None], list[tuple[int, ...] | None]]:
    """Texts that do not all repeat the one before: increments, or a text that was changed after it was sent."""
    pairs = list(pairwise(texts))
    if sum((later or "").startswith(earlier or "") for earlier, later in pairs) * 2 < len(pairs):
        _warn(made, Warn("increments", "Its texts do not repeat each other, so each is taken for what is new."))
        return texts, ids
    words = "A text changed what an earlier one said, so only the last is used and the deltas are not known."
    _warn(made, Warn("rewritten", words))
    return texts[-1:], ids[-1:]
