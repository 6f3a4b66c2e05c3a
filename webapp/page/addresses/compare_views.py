"""Two replays of one output, side by side. docs/comparing.md has the words that stand in its addresses.

`go`, the value of a submit button, is a query string that wins over the other fields. What is absent is as the case
says, and none of it is part of the case.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

from flask import Response, redirect, request
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case
from parsers.cases.engines import traced_chunking
from parsers.replays.chunking import TRACED, WHOLE, spec
from webapp.page.addresses.inspect_views import show
from webapp.page.addresses.subjects import (
    Subject,
    answer_of,
    at_every_subject,
    blueprint,
    error_page,
    hold,
    is_partial,
    named_subject,
    posted_subject,
    render,
    run_subject,
)
from webapp.page.compare.compare_page import compare_form, rules_of, sides_page
from webapp.page.compare.sides import CompareLinks, Side, faults, is_bare, is_tidy, on_one_text, read_asked, replayed
from webapp.services import services


@blueprint.get("/compare")
def compare_again() -> ResponseReturnValue:
    """A reload of a comparison whose case is nowhere on the server."""
    return error_page(404, "There is no case to compare", "This address holds no case: it comes with the form.")


@blueprint.post("/compare/open")
def compare_open() -> Response:
    """One side as a run of its own in the inspector."""
    asked, said = read_asked(request.form), dict(parse_qsl(request.form.get("go", "")))
    named = named_subject(said.get("source", ""))
    subject = named or posted_subject()
    wanted = "b" if said.get("side") == "b" else "a"
    case = subject.child(subject.case) if named else subject.case
    return show(run_subject(replayed(services().runner, case, wanted, getattr(asked, wanted)).standalone))


@at_every_subject("compare")
def compared(subject: Subject) -> ResponseReturnValue:
    """A case replayed twice, or the part that htmx asked for. An address that a form made is tidied first."""
    asked, runner, case = read_asked(request.values), services().runner, subject.case
    if is_bare(request.values):
        asked = replace(asked, b=_usual(case))
    left, right = on_one_text(runner, replayed(runner, case, "a", asked.a), replayed(runner, case, "b", asked.b))
    asked = replace(asked, a=left.side, b=right.side)
    wrong = {f"{side.name}_{key}": words for side in (left, right) for key, words in side.errors.items()}
    wrong |= faults(request.values)
    base = subject.url("compare") if subject.base else None
    if base is None and subject.held is None:
        subject = hold(case)
    links = CompareLinks(base, asked, "" if base else subject.line)
    if base and request.method == "GET" and not is_partial() and not is_tidy(request.args) and not wrong:
        return redirect(links.url(), 303)
    rules = rules_of(case, asked, left, right)
    window = request.headers.get("HX-Target", "").endswith("#window")
    answer = render(
        "compare.html",
        "window" if window else "page",
        heading=subject.heading,
        note=subject.note,
        source=subject.source,
        form=compare_form(case, left, right, wrong, runner.settings),
        page=sides_page(runner, left, right, rules, links=links, inspect=subject.base or ""),
        held=f"{subject.held_url}/compare" if subject.held_url else "",
    )
    return answer_of(subject, answer)


def _usual(case: Case) -> Side:
    """Return what the other side is where nobody said: the whole output at once, or token by token beside that."""
    own = traced_chunking(case)
    return Side(chunk=spec(WHOLE if own != WHOLE else TRACED))
