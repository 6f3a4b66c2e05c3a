"""A helper of a parser, in a module of its own beside that of the class."""

from __future__ import annotations


def requoted(text: str) -> str:
    """The text with other quotes, character by character."""
    out = []
    for char in text:
        if char == "'":
            char = "`"  # charwise: other
        out.append(char)
    return "".join(out)
