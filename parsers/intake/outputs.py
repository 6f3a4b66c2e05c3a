"""Telling the outputs of one log apart, and naming them: responses in the order they began, then their choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from parsers.vocabulary.types import Recording


class Key(NamedTuple):
    """One output: which part of the log (between end sentinels), whose response, the choice, and the how-manieth."""

    part: int
    request: str | None
    choice: int
    round: int = 0


def labels(keys: Sequence[Key]) -> list[str]:
    """What each output is called: "" for the only one, "choice 2", "response 1", "response 2, choice 1"."""
    if len(keys) == 1:
        return [""]
    responses = {place: at for at, place in enumerate(dict.fromkeys(map(_response, keys)), 1)}
    several = len({key.choice for key in keys}) > 1
    return [_label(key, responses, several) for key in keys]


def _response(key: Key) -> tuple[int, str | None, int]:
    return key.part, key.request, key.round


def _label(key: Key, responses: dict[tuple[int, str | None, int], int], several: bool) -> str:
    words = [f"response {responses[_response(key)]}"] if len(responses) > 1 else []
    return ", ".join(words + ([f"choice {key.choice + 1}"] if several else []))


def distinct(recordings: Sequence[Recording]) -> None:
    """Number the labels that several outputs share."""
    used: set[str] = set()
    counts: Counter[str] = Counter()
    for recording in recordings:
        label = recording.label
        while recording.label in used:
            counts[label] += 1
            recording.label = f"{label} ({counts[label] + 1})"
        used.add(recording.label)
