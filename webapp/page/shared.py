"""Shared cases: saving, opening, editing a copy, deleting.

Nothing is stored before somebody presses the button that says so. The delete key is on the answer to the first save
and nowhere else; a case that is already stored answers with a redirect to its address.
"""

from __future__ import annotations

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.model import Case
from webapp.htmx import render
from webapp.page.contexts import Scene
from webapp.page.form import case_line, setup_of
from webapp.page.services import services
from webapp.page.sharing import digest, is_loopback, link, make_lead, titled
from webapp.page.sharing import save as save_case
from webapp.page.sources import carried, find_case, find_example, is_stored, opened_case, source_case
from webapp.page.views import blueprint, show
from webapp.store import StoredCase


@blueprint.get("/c/<case_id>")
def case(case_id: str) -> Response:
    """A shared case."""
    stored = find_case(case_id)
    return show(case_scene(stored, services().runner.opened(stored.body)))


@blueprint.get("/c/<case_id>/edit")
def edit(case_id: str) -> Response:
    """The form filled from a shared case; what comes of it names this one as its parent."""
    found = opened_case(case_id)
    copy = found.model_copy(update={"parent": case_id})
    setup = setup_of(copy, keep=False)
    scene = case_scene(find_case(case_id), found)
    scene.kind, scene.setup, scene.heading_note, scene.lead = "edit", setup, "editing a copy", None
    return show(scene)


@blueprint.get("/c/<case_id>.json")
def case_json(case_id: str) -> Response:
    """The case file."""
    return Response(find_case(case_id).body, mimetype="application/json")


@blueprint.get("/c/<case_id>.txt")
def case_text(case_id: str) -> Response:
    """The model output alone, byte for byte."""
    text = opened_case(case_id).text()
    return Response(text.encode("utf-8"), mimetype="text/plain")


@blueprint.post("/cases")
def save() -> ResponseReturnValue:
    """Store a case. The first save shows its link and its delete key; a known case leads to its address."""
    source = source_case()
    named = titled(source, request.form.get("title", "")[:200], request.form.get("note", "")[:4000])
    runner = services().runner
    run = runner.run(source)
    report = runner.report(run)
    saved = save_case(services().store, run, named, report)
    step = next((found.step for found in report.findings if found.step), None)
    path = url_for("page.case", case_id=saved.id)
    if not saved.created:
        return redirect(link("", path, step), 303)
    return shared_page(saved.id, path, step, saved.delete_key or "")


def shared_page(case_id: str, path: str, step: int | None, key: str) -> Response:
    """The answer to a first save. It is never cached: it holds the delete key."""
    base = services().settings.public_url or request.host_url
    response = render(
        "shared.html", status=201, case_id=case_id, path=link("", path, step), link=link(base, path, step), key=key,
        loopback=is_loopback(services().settings, request.host_url),
    )  # fmt: skip
    response.headers["Location"] = path
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.post("/share")
def share_posted() -> ResponseReturnValue:
    """The share form as a page, for a run that the page carries."""
    return share_page(carried(request.form.get("case", "")), posted=True)


@blueprint.get("/example/<name>/share")
def share_example(name: str) -> Response:
    """The share form as a page, for an example."""
    return share_page(find_example(name).case)


@blueprint.get("/c/<case_id>/share")
def share_case(case_id: str) -> Response:
    """The share form as a page, for a shared case: another title makes no other case."""
    return share_page(opened_case(case_id))


def share_page(found: Case, *, posted: bool = True) -> Response:
    """What will be stored, and the question for title and note."""
    runner = services().runner
    report = runner.report(runner.run(found))
    return render(
        "share.html",
        posted_case=case_line(found),
        share_title=found.title or "",
        share_note="\n".join(found.notes),
        share_step=next((item.step for item in report.findings if item.step), None),
        share_size=f"about {max(1, len(found.text()) // 1000):,} kB of text",
        loopback=is_loopback(services().settings, request.host_url),
    )


@blueprint.route("/c/<case_id>/delete", methods=["GET", "POST"])
def delete(case_id: str) -> ResponseReturnValue:
    """Ask for the delete key, and delete."""
    if request.method == "GET":
        find_case(case_id)
        return render("delete.html", case_id=case_id)
    if services().store.delete(case_id, request.form.get("key", "").strip()):
        return render("delete.html", case_id=case_id, deleted=True)
    error = "That is not the delete key of this case."
    return render("delete.html", case_id=case_id, error=error, status=422)


def case_scene(stored: StoredCase, found: Case) -> Scene:
    """The page of a shared case; it leads with what is wrong."""
    copy = found.model_copy(update={"parent": stored.id})
    lead = make_lead(stored, found, _digest_today(found))
    if lead.parent and not is_stored(lead.parent):
        lead.parent = ""
    return Scene(
        kind="case",
        case=found,
        base=url_for("page.case", case_id=stored.id),
        heading=found.title or f"Case {stored.id}",
        heading_note=f"case {stored.id}",
        export_url=lambda target: url_for("page.export_case", case_id=stored.id, target=target),
        share_url=url_for("page.share_case", case_id=stored.id),
        case_url=url_for("page.case_json", case_id=stored.id),
        source=f"case:{stored.id}",
        setup=setup_of(copy, keep=False),
        case_id=stored.id,
        lead=lead,
    )


def _digest_today(found: Case) -> str | None:
    """Today's outcome, where it is cheap to know."""
    runner = services().runner
    run = runner.run(found)
    report = runner.report(run) if run.short else run.report
    return digest(run, report) if report else None
