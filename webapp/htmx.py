"""One URL, one view, two sizes of answer: the page, or the blocks of it that htmx asked for.

htmx 4 sends `HX-Request-Type: partial` when it wants a piece, and `full` when it restores a page from history.
`HX-Request` alone cannot tell the two apart, so it decides nothing here. Both answers carry Vary: a cache that mixed
them up would show a bare fragment after Back.
"""

from __future__ import annotations

from typing import Any

from flask import Response, make_response, render_template, request
from jinja2_fragments.flask import render_blocks

VARY = ("HX-Request", "HX-Request-Type")


def is_partial() -> bool:
    """Whether htmx asks for a piece of the page."""
    return request.headers.get("HX-Request-Type") == "partial"


def render(template: str, *blocks: str, status: int = 200, **context: Any) -> Response:
    """The named blocks of `template` for a partial request, else (or without blocks) the whole of it.

    Sets Vary, and Cache-Control: no-cache where the view sets none on the response it gets back.
    """
    partial = blocks and is_partial()
    html = render_blocks(template, list(blocks), **context) if partial else render_template(template, **context)
    response = make_response(html, status)
    response.vary.update(VARY)
    response.cache_control.no_cache = True
    return response
