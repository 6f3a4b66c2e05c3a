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

from collections.abc import Callable
from dataclasses import dataclass

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.model import Case
from webapp.htmx import is_partial, render
from webapp.page.contexts import Scene, scene_context, view_of
from webapp.page.form import setup_of
from webapp.page.proofs import proven, read_proof
from webapp.page.search import Search, searched
from webapp.page.services import services
from webapp.page.shared import case_scene
from webapp.page.sharing import is_loopback
from webapp.page.sources import find_case, find_example, source_case
from webapp.page.state import Links, read_state
from webapp.page.views import blueprint, example_scene, run_scene, search_of, show


@dataclass(slots=True)
class Frame:
    """What the controls of a search need of a page."""

    links: Links
    posted: bool


@dataclass(slots=True)
class Asked:
    """Whose search is asked for. The page about it is put together only once there is something to show."""

    case: Case
    base: str | None
    scene: Callable[[], Scene]


@blueprint.get("/c/<case_id>/find")
def find_case_failing(case_id: str) -> Response:
    """The search of a shared case."""
    return answer(_of_case(case_id))


@blueprint.get("/example/<name>/find")
def find_example_failing(name: str) -> Response:
    """The search of a worked example."""
    return answer(_of_example(name))


@blueprint.post("/find")
def find_posted() -> Response:
    """The search of a run that the page carries."""
    return answer(_posted())


@blueprint.post("/find/cancel")
def find_cancel() -> Response:
    """Stop a search; the form carries or names the case."""
    kind, _, name = request.form.get("source", "").partition(":")
    asked = _of_example(name) if kind == "example" else _of_case(name) if kind == "case" else _posted()
    services().jobs.cancel(asked.case)
    return answered(asked, search_of(asked.case, start=False))


@blueprint.post("/find/proof")
def find_proof() -> ResponseReturnValue:
    """The changed case that shows a finding."""
    case = source_case()
    kind, _, name = request.form.get("source", "").partition(":")
    changed = proven(case, services().runner.run(case).pieces, read_proof(request.form.get("proof", "")))
    if kind == "case":
        changed = changed.model_copy(update={"parent": name})
    return show(run_scene(changed, setup_of(changed)))


def answer(asked: Asked) -> Response:
    """How far the search of a case is; it is started unless somebody else did."""
    if not is_partial():
        return answered(asked, search_of(asked.case, start=True))
    jobs = services().jobs
    job = jobs.start(asked.case, again=bool(request.values.get("again")))
    return answered(asked, searched(jobs, job, len(asked.case.text())))


def answered(asked: Asked, search: Search) -> Response:
    """The parts of the page that changed; the whole page where nobody can put parts together."""
    links = Links(asked.base, read_state(request.values))
    if is_partial() and search.active:
        frame = Frame(links, posted=asked.base is None)
        return render("_search_progress.html", page=frame, search=search)
    context = scene_context(asked.scene(), view_of(asked.case, links.state), search)
    context["loopback"] = is_loopback(services().settings, request.host_url)
    return render("_search_parts.html" if is_partial() else "inspect.html", **context)


def _of_case(case_id: str) -> Asked:
    stored = find_case(case_id)
    case = services().runner.opened(stored.body)
    return Asked(case, url_for("page.case", case_id=case_id), lambda: case_scene(stored, case))


def _of_example(name: str) -> Asked:
    found = find_example(name)
    base = url_for("page.example", name=name)
    return Asked(found.case, base, lambda: example_scene(found, "example"))


def _posted() -> Asked:
    case = source_case()
    return Asked(case, None, lambda: run_scene(case, setup_of(case)))
