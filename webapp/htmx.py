"""One URL, one view, two sizes of answer: the page, or the blocks of it that htmx asked for.

htmx 4 sends `HX-Request-Type: partial` when it wants a piece, and `full` when it restores a page from history.
`HX-Request` alone cannot tell the two apart, so it decides nothing here. Both answers carry Vary: a cache that mixed
them up would show a bare fragment after Back.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from flask import Response, make_response, render_template, request
from jinja2_fragments.flask import render_blocks

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

VARY = ("HX-Request", "HX-Request-Type")


def is_partial() -> bool:
    """Whether htmx asks for a piece of the page."""
    return request.headers.get("HX-Request-Type") == "partial"


def render(
    template: str, *blocks: str, page: DataclassInstance | None = None, status: int = 200, **more: Any
) -> Response:
    """The named blocks of `template` for a partial request, else (or without blocks) the whole of it.

    The fields of `page`, and what is given `more`, are the variables of the template. Sets Vary, and Cache-Control:
    no-cache where the view sets none on the response it gets back.
    """
    context = {one.name: getattr(page, one.name) for one in fields(page)} | more if page is not None else more
    partial = blocks and is_partial()
    html = render_blocks(template, list(blocks), **context) if partial else render_template(template, **context)
    response = make_response(html, status)
    response.vary.update(VARY)
    response.cache_control.no_cache = True
    return response
