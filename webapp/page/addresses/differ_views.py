"""An output on which the two sides of a comparison differ: searched for, asked about, and stopped.

The form carries both cases, so the page asks again by itself, and a button does without scripts.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from flask import Response, request

from webapp.jobs.searches import Pair
from webapp.page.addresses.compare_texts import posted_beside, texts_of
from webapp.page.addresses.subjects import blueprint, carried_case, named_subject, posted_subject, render
from webapp.page.compare.asked import NAMES, read_asked
from webapp.page.compare.differ import differ_of
from webapp.page.compare.sides import replayed
from webapp.services import services
from webapp.switches import is_posted_on


@blueprint.post("/compare/differ")
def compare_differ() -> Response:
    """How far the search between two sides is; it is started unless somebody else did."""
    pair, searches = _pair(), services().searches
    stop, again = is_posted_on(request.form, "stop"), is_posted_on(request.form, "again")
    if stop:
        searches.cancel_between(pair)
    job = searches.start_between(pair, again=again)
    return render("compare_differ.html", "differ", differ=differ_of(pair, job))


def _pair() -> Pair:
    """Two cases that the form carries, or sides A and B of the comparison that it was."""
    if request.form.get("first") and request.form.get("second"):
        return carried_case(request.form["first"]), carried_case(request.form["second"])
    said = dict(parse_qsl(request.form.get("go", "")))
    subject = named_subject(said.get("source", "")) or posted_subject()
    runner, texts = services().runner, texts_of(subject, posted_beside(request.form))
    sides = zip(NAMES, read_asked(request.form).sides[:2], strict=False)
    first, second = [replayed(runner, subject.case, name, side, texts).standalone for name, side in sides]
    return first, second
