"""What a decode policy made of an output: its pieces, when their text comes, and what became of each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.types import Piece


@dataclass(slots=True, frozen=True)
class TokenFacts:
    """What became of one token.

    `pending`: bytes of a character that has begun and is not whole after this token. `lost`: its bytes, where the
    policy never sends their text. `skipped`: left out by the options, id only. `late`: how many tokens later its text
    is out. `revised`: the decoder rewrites text here that was sent. `stopped`: it comes after a stop string, or is one.
    """

    pending: bytes = b""
    lost: bytes = b""
    skipped: bool = False
    late: int = 0
    revised: bool = False
    stopped: bool = False


PLAIN = TokenFacts()


@dataclass(slots=True, frozen=True)
class Decoded:
    """An output as a policy decodes it.

    `pieces`: as many as tokens, with their ids and bytes. `due`: how many code points of the joined text are out after
    each token, None where each token's text comes with it. `tokens`: what became of each.
    """

    pieces: tuple[Piece, ...]
    due: tuple[int, ...] | None
    tokens: tuple[TokenFacts, ...]

    def summary(self) -> tuple[str, ...]:
        """What the policy left out or changed, a few words each."""
        return tuple(_summary(self.tokens))


def _summary(tokens: Sequence[TokenFacts]) -> list[str]:
    said = []
    end = next((at for at in range(len(tokens), 0, -1) if not _over(tokens[at - 1])), 0)
    for group, where in ((tokens[:end], "in the middle"), (tokens[end:], "at the end")):
        if lost := sum([len(facts.lost) for facts in group]):
            said.append(f"{_count(lost, 'byte')} lost by policy {where}")
    for words, number in (
        ("left out, id only", sum([facts.skipped for facts in tokens])),
        ("revised after its text was sent", sum([facts.revised for facts in tokens])),
        ("at or after the stop string", sum([facts.stopped for facts in tokens])),
    ):
        said += [f"{_count(number, 'token')} {words}"] * bool(number)
    if late := max([facts.late for facts in tokens], default=0):
        said.append(f"text up to {_count(late, 'token')} late")
    return said


def _over(facts: TokenFacts) -> bool:
    """Whether nothing of a token is sent, so that what was lost before it was lost at the end."""
    return bool(facts.lost) or facts.skipped or facts.stopped


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
