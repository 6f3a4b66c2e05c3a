"""The gallery of real failures: all of them, or those that the filters in the address let through."""

from __future__ import annotations

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from webapp.page.addresses.subjects import blueprint, render
from webapp.page.inspect.inspect_page import whole_number
from webapp.page.library.examples import examples
from webapp.page.library.gallery import FACETS, SHOWN, facets, gallery, shelf


@blueprint.get("/gallery", endpoint="gallery")
def all_failures() -> Response:
    """The tiles, and the worked examples below them."""
    asked = {name: value for name in FACETS if (value := request.args.get(name, ""))}
    return render(
        "gallery.html",
        shelf=shelf(asked, whole_number(request.args.get("shown"))),
        facets=facets(asked),
        asked=asked,
        total=len(gallery()),
        step=SHOWN,
        cards=list(examples().values()),
    )


@blueprint.get("/examples")
def old_examples() -> ResponseReturnValue:
    """Where the worked examples were."""
    return redirect(url_for("page.gallery", _anchor="how-it-works"))
