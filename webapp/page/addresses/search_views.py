"""The addresses of a search.

==============================  =====================================================================================
GET  /c/<id>/find               start the search of a shared case, or ask how far it is
GET  /example/<name>/find       the same for a worked example
POST /find                      the same for a run that the page carries
POST /find/cancel               stop it; the form carries or names the case
POST /find/proof                the changed case that shows a finding, as a run of its own
==============================  =====================================================================================

Asked by htmx, an unfinished search answers with how far it is, a finished one with every part of the page that it
changes. Asked by a browser that follows a link, they answer with the page itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import Response, request
from flask.typing import ResponseReturnValue

from webapp.htmx import is_partial, render
from webapp.page.addresses.inspect_views import inspect_page, search_of, show
from webapp.page.addresses.subjects import (
    Subject,
    at_every_subject,
    blueprint,
    named_subject,
    posted_subject,
    run_subject,
)
from webapp.page.inspect.inspect_page import view_of
from webapp.page.inspect.view_state import Links, read_state
from webapp.page.search.progress import Search, search_of_job
from webapp.page.search.proofs import changed_case, read_proof
from webapp.services import services


@dataclass(slots=True, frozen=True)
class SearchControls:
    """What the controls of a search need of a page."""

    links: Links


@dataclass(slots=True, frozen=True)
class ProgressPage:
    """How far a search is, and its controls."""

    page: SearchControls
    search: Search


@blueprint.post("/find/cancel")
def find_cancel() -> Response:
    """Stop a search; the form carries or names the case."""
    subject = named_subject(request.form.get("source", "")) or posted_subject()
    services().searches.cancel(subject.case)
    return _answer(subject, search_of(subject.case))


@blueprint.post("/find/proof")
def find_proof() -> ResponseReturnValue:
    """The changed case that shows a finding."""
    subject = posted_subject()
    pieces = services().runner.run(subject.case).pieces
    changed = changed_case(subject.case, pieces, read_proof(request.form.get("proof", "")))
    return show(run_subject(subject.child(changed)))


@at_every_subject("find")
def found(subject: Subject) -> Response:
    """How far the search of a case is; it is started unless somebody else did."""
    if not is_partial():
        return _answer(subject, search_of(subject.case, start=True))
    jobs, case = services().searches, subject.case
    job = jobs.start(case, again=bool(request.values.get("again")))
    return _answer(subject, search_of_job(jobs, job, len(case.text())))


def _answer(subject: Subject, search: Search) -> Response:
    """The parts of the page that changed; the whole page where nobody can put parts together."""
    state = read_state(request.values)
    if is_partial() and search.active:
        page = ProgressPage(SearchControls(Links(subject.base, state)), search)
        return render("_search_progress.html", page=page)
    whole = inspect_page(subject, view_of(services().runner, subject.case, state), search)
    return render("_search_parts.html" if is_partial() else "inspect.html", page=whole)
