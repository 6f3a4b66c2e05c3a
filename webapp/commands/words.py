"""How model output and numbers are written on a terminal.

Model output is data: what a terminal would hide or obey (control characters, escape sequences, marks that reverse the
direction of text) is spelled out as in JSON, so a report shows the text and nothing in the text acts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from parsers.cases.export.markdown_text import spelled
from parsers.cases.jsontext import atom

SHORT = 60
_UNSEEN = re.compile("[\t\n\r]")


def quoted(text: str, most: int | None = None) -> str:
    """The text in quotes, on one line; of a longer one `most` characters and how many there are.

    As in Python, text with double quotes in it stands in single ones where it can, so that JSON stays readable.
    """
    short = text if most is None or len(text) <= most else text[:most]
    body, quote = atom(short)[1:-1], '"'
    if '"' in short and "'" not in short:
        body, quote = body.replace('\\"', '"'), "'"
    if short is text:
        return f"{quote}{body}{quote}"
    return f"{quote}{body}…{quote} ({count(len(text), 'character')})"


def literal(text: str, most: int) -> str:
    """The text without quotes and escapes, for JSON: only characters nobody sees are spelled out, as ⟨U+000A⟩."""
    shown = _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", spelled(text[:most]))
    return shown if len(text) <= most else f"{shown}… ({count(len(text), 'character')})"


def visible(report: str) -> str:
    """A report whose names, notes and quotes a terminal neither hides nor obeys."""
    if report.isprintable():
        return report
    return "".join([char if char.isprintable() or char in "\n\t" else _escaped(char) for char in report])


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()


def count(number: int, noun: str, several: str = "") -> str:
    """`1 step`, `2,048 steps`."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def table(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Rows as lines with aligned columns, two blanks apart; the last column is as long as it likes."""
    found = [list(row) for row in rows]
    if not found:
        return []
    widths = [max(len(row[at]) for row in found) for at in range(len(found[0]))]
    lines = []
    for row in found:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append((indent + "  ".join([*cells, row[-1]])).rstrip())
    return lines


def section(title: str, lines: Sequence[str]) -> list[str]:
    """A blank line, a heading and its lines."""
    return ["", title, *lines]
