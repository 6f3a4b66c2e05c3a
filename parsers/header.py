"""Call headers that are an id with the tool's name inside, such as Kimi K2's `functions.get_weather:0`."""

from __future__ import annotations


def split_header(text: str) -> tuple[int, int]:
    """Where the name stands in the header: after the last dot before the last colon, up to that colon.

    A header without dot or colon is all name. (Rule of vLLM 0.33.0's kimi_k2 parser.)
    """
    colon = text.rfind(":")
    end = colon if colon > 0 else len(text)
    start = text.rfind(".", 0, end) + 1
    return (start, end) if start < end else (0, end)
