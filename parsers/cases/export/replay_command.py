"""The command that repeats a replay, or all replays of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.cases.export.shell_words import in_shell
from parsers.replays.chunking import DEFAULT_MAX


def replay_command(chunking: Mapping[str, Any], filename: str, *more: str) -> str:
    """The command line that replays `filename` under a trace's chunking (JSON with its resolved cuts). `more`: what
    else it is given.

    Where no option names the chunking its resolved cuts are given; these hold any lateness of the text already. One
    delta of a stream is not the whole text: servers have another function for that.
    """
    words = ["toolcall-inspector", "replay", filename]
    name = _name(chunking)
    if name is None:
        cuts = ",".join(map(str, chunking.get("cuts", ())))
        return in_shell([*words, "--cuts", cuts or "none", *more])
    words += ["--chunk", name]
    for key, option in (("holdback_chars", "--holdback"), ("text_delay", "--text-delay")):
        if chunking.get(key):
            words += [option, str(chunking[key])]
    return in_shell([*words, *more])


def check_command(filename: str, *more: str) -> str:
    """The command line that makes all replays of a case, in their order. `more`: what else it is given."""
    return in_shell(["toolcall-inspector", "check", filename, *more])


def _name(chunking: Mapping[str, Any]) -> str | None:
    """Return what --chunk calls this chunking, or None where only its cuts say it."""
    by, size = chunking["by"], chunking.get("size", 1)
    if by == "token":
        return "token" if size == 1 else str(size)
    if by in ("whole", "recorded") or (by == "char" and size == 1):
        return str(by)
    drawn_by_default = chunking.get("max", DEFAULT_MAX) == DEFAULT_MAX and chunking.get("unit", "token") == "token"
    return f"random:{chunking.get('seed', 0)}" if by == "random" and drawn_by_default else None
