"""What a maintainer asks of a report besides what came out: could a server send this, which tokens, which line of the
parser was it, and what do other parsers make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.compare.divergence import ANY_ID, same_message
from parsers.replays.chunking import Chunking, label
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replayer import Replayer
from parsers.search.verdict_phrases import summary
from parsers.vocabulary.types import Message, Piece

TOKENS_AROUND = 8


@dataclass(slots=True, frozen=True)
class Answers:
    """What is known besides a run. `engine`: name and version of what ran the parser. `sendable`: chunkings that
    matter, and a sentence for each. `line`: where in the parser's source what is wrong was sent, and the line itself.
    `elsewhere`: other parsers, and what each makes of the same output in the same deltas.
    """

    engine: str = ""
    sendable: tuple[tuple[str, str], ...] = ()
    line: tuple[str, str] | None = None
    elsewhere: tuple[tuple[str, str], ...] = ()


NO_ANSWERS = Answers()


@dataclass(slots=True, frozen=True)
class PlacedToken:
    """A token with its number from 1 and where it begins. `here`: the place in question is in it."""

    number: int
    start: int
    piece: Piece
    here: bool


def sendable(replayer: Replayer, chunking: Chunking) -> tuple[str, str]:
    """The name of a chunking, and whether a server could send it and why, as a sentence."""
    grader = Grader(replayer)
    grade, supposes = grader.chunking(chunking), grader.supposed(chunking)
    if grade is CutGrade.HOSTILE:
        said = f"No server sends this: {supposes}."
    elif grade is CutGrade.ASSUMED:
        said = f"A server sends this if {supposes}."
    elif chunking.by == "recorded":
        said = "A server sent this."
    else:
        why = "where every tokenizer cuts" if grader.assumes else "between tokens of the model"
        said = f"A server can send this: it is cut {why}."
    return label(chunking), said


def compared_words(message: Message, other: Message) -> str:
    """What another parser makes of the same output."""
    if same_message(message, other, ANY_ID):
        return "the same message"
    return f"another message: {summary(other)}"


def tokens_around(pieces: Sequence[Piece], place: int) -> list[PlacedToken]:
    """The tokens before and behind a place of the output."""
    placed, at = list[PlacedToken](), 0
    for number, piece in enumerate(pieces, 1):
        end = at + len(piece.text)
        placed.append(PlacedToken(number, at, piece, at <= place < end))
        at = end
    here = next((one.number - 1 for one in placed if one.here), len(placed) - 1)
    return placed[max(0, here - TOKENS_AROUND) : here + TOKENS_AROUND + 1]
