"""Where the chunks of a server stand in an output that they were recorded without.

A recording may have the raw output and the server's chunks, and not say which text came with which chunk. To show them
beside a replay of the output, every chunk is put where the replay was fed the last of what the chunk sends: the same
character of the same channel. That is an estimate, good for finding one's place and no evidence of when a server sent
anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from parsers.compare.divergence import Channel, channels
from parsers.replays.recorded import ServerStream, cut_pieces
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import MessageDelta, Piece

PLACED = "Its chunks stand where the other parser sends the same: which text came with which was not recorded."


def put_beside(stream: ServerStream, pieces: Sequence[Piece], reference: Trace) -> ServerStream:
    """The stream with the output's tokens shared out by what `reference`, a replay of the output, sends. O(n)."""
    known, sent = channels(reference), dict[str, int]()
    ends, at = [0], 0
    for chunk in stream.chunks:
        if chunk.delta is not None:
            at = max([at, *_places(chunk.delta, known, sent, reference)])
        ends.append(at)
    ends[-1] = max(at, len(reference.text))
    lengths = [end - start for start, end in pairwise(ends)]
    return replace(stream, fed=tuple(cut_pieces(pieces, lengths)))


def _places(delta: MessageDelta, known: dict[str, Channel], sent: dict[str, int], reference: Trace) -> list[int]:
    """For each text of a delta, where in the output its last character came from; nothing where nobody knows."""
    texts = {"reasoning": delta.reasoning, "content": delta.content}
    for call in delta.tool_calls:
        texts[f"tool_calls[{call.index}].name"] = call.name
        texts[f"tool_calls[{call.index}].arguments"] = call.arguments
    found = []
    for name, text in texts.items():
        if text:
            sent[name] = sent.get(name, 0) + len(text)
            place = known.get(name, Channel("")).place(sent[name] - 1)
            if place.raw is not None:
                found.append(min(place.raw + 1, len(reference.text)))
            elif place.step is not None:
                found.append(reference.steps[place.step - 1].span.end)
    return found
