"""HTML put together from escaped parts, for a file that is opened from a disk: one style, no script, no request.

Whatever is given as text is escaped, and what cannot be seen in it is spelled out; nothing else makes markup.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence

from parsers.cases.export.markdown_text import on_one_line, spelled
from parsers.vocabulary.words import in_parts


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | Html | None
_VOID = frozenset({"meta"})


def tag(name: str, /, *children: Child, **attributes: str) -> Html:
    """An element. Attributes are escaped; `class_` is class, and an underscore a hyphen."""
    said = "".join(
        [f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items()]
    )
    if name in _VOID:
        return Html(f"<{name}{said}>")
    inside = "".join([child if isinstance(child, Html) else text(child or "") for child in children])
    return Html(f"<{name}{said}>{inside}</{name}>")


def text(words: str) -> Html:
    """Words as they are, escaped."""
    return Html(html.escape(spelled(words)))


def lines(words: str) -> Html:
    """A text with its lines, each newline marked."""
    return Html(html.escape(spelled(words).replace("\n", "↵\n")))


def code(words: str, **attributes: str) -> Html:
    """Model output on one line."""
    return tag("code", Html(html.escape(on_one_line(words))), **attributes)


def sentence(words: str) -> Html:
    """A sentence of ours: what it quotes is code, in which no blank is lost."""
    return join([code(part) if is_code else part for part, is_code in in_parts(words)])


def block(words: str) -> Html:
    """Model output with its lines."""
    return tag("pre", lines(words), tabindex="0")


def file(words: str) -> Html:
    """A file as it can be copied: its newlines are not marked."""
    return tag("pre", text(words), tabindex="0")


def join(parts: Iterable[Child]) -> Html:
    """Parts one behind the other."""
    return Html("".join([part if isinstance(part, Html) else text(part or "") for part in parts]))


def table(header: Sequence[str], rows: Sequence[Sequence[Child]], label: str) -> Html:
    """A table that scrolls by itself where it is too wide."""
    head = tag("tr", *[tag("th", name, scope="col") for name in header])
    body = [tag("tr", *[tag("td", one) for one in row]) for row in rows]
    inside = tag("table", tag("thead", head), tag("tbody", *body))
    return tag("div", inside, class_="wide", tabindex="0", role="group", aria_label=label)


def document(title: Child, style: str, body: Html) -> str:
    """A whole file. Its policy allows this one style and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Html(style)),
    )
    return f'<!doctype html>\n<html lang="en">{head}{tag("body", body)}</html>\n'
