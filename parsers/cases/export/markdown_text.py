"""Text made safe and visible for Markdown: model output is a reader's own, and nothing in it is Markdown or HTML.

Strategy: model output goes into fences longer than any run of back-ticks in it, or into table cells and paragraphs in
which every character that Markdown, HTML or GitHub acts on where it stands is a numeric entity, and no other one.
Characters nobody sees are spelled out.
Facts about fences, tables and entities: CommonMark 0.31 and GitHub Flavored Markdown 0.29.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.vocabulary.words import in_parts

MARKS = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍"}
LEGEND = "· blank, → tab, ↵ newline, ␍ carriage return, ⟨U+…⟩ any other character that cannot be seen or that is a mark"
_ACTIVE = re.compile(
    r"[\\`*\[\]<|~$]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside of a word it is no emphasis
    r"|&(?=#|\w+;)"  # an entity
    r"|@(?=\w)|#(?=\d)|:(?=[\w+-]+:)"  # on GitHub somebody, an issue, a picture
    r"|:(?=//)|(?<=\bwww)\."  # a link, without anything around it
)
_BLANKS = re.compile(r"\s+")
_LINE_START = re.compile(r"^([-+=#>]|\d+(?=[.)]))")
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f"
)
_SPELLED = re.compile(f"[{_UNSEEN}·→↵␍⟨⟩]")
_NEEDS_MARKS = re.compile(f"[{_UNSEEN}\t\r]| (?=\n|$)|\n$")
_OUTER_BLANKS = re.compile(r"^ +| +$| {2,}| +(?=[\n\t\r])|(?<=[\n\t\r]) +")


def fence(text: str, info: str = "") -> str:
    """The text as a fenced block that nothing inside can close."""
    runs = [len(run) for run in re.findall("`+", text)]
    ticks = "`" * max(3, 1 + max(runs, default=0))
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{ticks}{info}\n{body}{ticks}"


def needs_marks(text: str) -> bool:
    """Return whether a plain fence would hide something: blanks at line ends, tabs, control and invisible
    characters."""
    return _NEEDS_MARKS.search(text) is not None


def marked(text: str) -> str:
    """The text with every blank, tab and newline shown (lines stay lines) and unseen characters spelled."""
    shown = spelled(text).translate({ord(char): mark for char, mark in MARKS.items()})
    return shown.replace("↵", "↵\n")


def cell(text: str) -> str:
    """The text as code on one line, for table cells and lists. Blanks are shown where a browser would swallow them."""
    shown = on_one_line(text)
    if "`" in shown or "|" in shown:
        return f"<code>{_entities(shown)}</code>"
    return f"`{shown}`" if shown else ""


def on_one_line(text: str) -> str:
    """The text with a mark for each newline and tab, and for blanks where a browser would swallow them."""
    blanks_shown = _OUTER_BLANKS.sub(lambda match: "·" * len(match[0]), spelled(text))
    return blanks_shown.translate({ord(char): mark for char, mark in MARKS.items() if char != " "})


def spelled(text: str) -> str:
    """The text with the number of every character that cannot be seen, or that is used as a mark here."""
    return _SPELLED.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def prose(text: str) -> str:
    """Words of a user as plain paragraphs: nothing in them is Markdown or HTML."""
    return "\n".join([_prose_line(line) for line in text.split("\n")])


def inline(text: str) -> str:
    """Words of a user on one line, for headings and lists."""
    return _prose_line(" ".join(text.split()))


def sentence(text: str) -> str:
    """A sentence of ours on one line: what it quotes is code, in which no blank is lost."""
    parts = [cell(part) if code else _words(part) for part, code in in_parts(text)]
    return _at_line_start("".join(parts).strip())


def _entities(text: str) -> str:
    """The text with each active character as a numeric entity."""
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};", text)


def _prose_line(line: str) -> str:
    return _at_line_start(_words(line).strip())


def _words(text: str) -> str:
    return _entities(spelled(_BLANKS.sub(" ", text)))


def _at_line_start(plain: str) -> str:
    return _LINE_START.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", plain)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already, under its title."""
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join([title, "", *lines])
