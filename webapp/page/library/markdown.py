"""Our own documentation as HTML. The text is ours, and its raw HTML is shown as text all the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup


class _Renderer(RendererHTML):
    """HTML that the keyboard can scroll: code and tables are regions with a place in the order of tabs."""

    def softbreak(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return " "

    def fence(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return f'<pre tabindex="0"><code>{escape(tokens[at].content.rstrip())}</code></pre>\n'

    def table_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        end = next(n for n in range(at, len(tokens)) if tokens[n].type == "thead_close")
        names = ", ".join(token.content for token in tokens[at:end] if token.type == "inline")
        return f'<div class="table-scroll" tabindex="0" role="region" aria-label="{escape(f"Table: {names}")}"><table>'

    def table_close(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>"


_MARKDOWN = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table").disable("image")


def to_html(text: str) -> Markup:
    """The page as HTML. Headings get the ids that links to them use, and only such links stay links."""
    tokens = _MARKDOWN.parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrs = {"id": _anchor(tokens[at + 1].content)}
        elif token.type == "th_open":
            token.attrs = {"scope": "col"}
        elif token.type == "td_open" and tokens[at - 1].type == "tr_open":
            token.tag = tokens[at + 2].tag = "th"
            token.attrs = {"scope": "row"}
        elif token.type == "inline":
            token.children = _without_outside_links(token.children or [])
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return Markup(html)  # noqa: S704 - our own pages, and the renderer escapes them


def sections(text: str) -> list[tuple[str, str]]:
    """The headings of the second level: their ids and words."""
    tokens = _MARKDOWN.parse(text)
    words = [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"
    ]
    return [(_anchor(heading), heading) for heading in words]


def _anchor(words: str) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", words.lower()).replace(" ", "-")


def _without_outside_links(tokens: list[Token]) -> list[Token]:
    """The tokens of a line without the links that lead out of the page: their words stay."""
    inside = True
    left = []
    for token in tokens:
        if token.type == "link_open":
            inside = str(token.attrs["href"]).startswith("#")
        if inside or token.type not in ("link_open", "link_close"):
            left.append(token)
    return left
