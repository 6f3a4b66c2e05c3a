"""All style sheets of a page as one file: a browser that comes for the first time asks once for it, not thirty times.

They are joined in the order of a list: later ones win over earlier ones, and the first says the order of the layers.
"""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from flask import Flask, Response, abort, current_app, request, url_for

SHEETS = {
    "page": (
        *("tokens", "base", "controls", "layout", "shell", "panes", "strip", "search", "roles", "pages", "gallery"),
        *("intake", "formats", "tokenizers", "template", "wire", "recorded", "ownership", "lag", "truncation"),
        *("compare", "compare-shell", "editor-shell", "sides", "hands", "source", "engines", "library", "sharing"),
        *("sweeps", "narrow", "system"),
    ),
    "embed": ("tokens", "roles", "embed"),
}
YEAR = 365 * 24 * 3600


class _Joined(NamedTuple):
    """Sheets as one, in gzip, and a hash of them."""

    data: bytes
    digest: str


def init_app(app: Flask) -> None:
    """Serve the sheets, and give templates their addresses as `stylesheet(name)`."""
    app.add_url_rule("/style/<name>.css", "style", _style)
    app.jinja_env.globals["stylesheet"] = _address


def _address(name: str) -> str:
    """The address of the sheets of a page, with a hash of their content, so that they can be cached for ever."""
    return url_for("style", name=name, v=_sheets(name).digest)


def _style(name: str) -> Response:
    if name not in SHEETS:
        abort(404, f"There are no style sheets {name!r}; there are {' and '.join(SHEETS)}.")
    found = _sheets(name)
    answer = Response(found.data, mimetype="text/css", headers={"Content-Encoding": "gzip"})
    answer.set_etag(found.digest, weak=True)
    answer.cache_control.no_cache = None if request.args.get("v") else True
    answer.cache_control.max_age = YEAR if request.args.get("v") else None
    answer.make_conditional(request)
    return answer


def _sheets(name: str) -> _Joined:
    """As the files are now: whoever writes one sees it in the next page."""
    folder = Path(current_app.static_folder or "") / "css"
    paths = tuple(folder / f"{sheet}.css" for sheet in SHEETS[name])
    return _joined(paths, tuple(path.stat().st_mtime_ns for path in paths))


@cache
def _joined(paths: tuple[Path, ...], _changed: tuple[int, ...]) -> _Joined:
    text = b"".join([path.read_bytes() for path in paths])
    return _Joined(gzip.compress(text, mtime=0), hashlib.sha256(text).hexdigest()[:12])
