"""Exports as downloads: of a shared case, of an example, of a run that is stored nowhere."""

from __future__ import annotations

from flask import Response, abort, request, url_for

from parsers.cases.expect import accept
from parsers.cases.io import load_case
from parsers.cases.jsontext import JsonError, line, read
from parsers.cases.model import Case, CaseError, Expect
from parsers.cases.run import run_case
from webapp.engines import ENGINES
from webapp.htmx import render
from webapp.page.form import case_line
from webapp.page.running import Run
from webapp.page.services import services
from webapp.page.sharing import link
from webapp.page.sources import find_example, opened_case, source_case
from webapp.page.views import blueprint
from webapp.page.wire import dialect_of
from webapp.runs import exports
from webapp.runs.exports import TARGETS


@blueprint.get("/c/<case_id>/export/<target>")
def export_case(case_id: str, target: str) -> Response:
    """An export of a shared case."""
    base = services().settings.public_url or request.host_url
    permalink = link(base, url_for("page.case", case_id=case_id), None)
    return exported(opened_case(case_id), target, permalink)


@blueprint.get("/example/<name>/export/<target>")
def export_example(name: str, target: str) -> Response:
    """An export of an example."""
    return exported(find_example(name).case, target)


@blueprint.post("/export/<target>")
def export_posted(target: str) -> Response:
    """An export of what a form carries."""
    return exported(source_case(), target)


def exported(case: Case, target: str, permalink: str | None = None) -> Response:
    """The file, or first the question what is right."""
    if target not in TARGETS:
        abort(404, f"There is no such export; there are {', '.join(TARGETS)}.")
    run = services().runner.run(case)
    expect, problem = expectation()
    if target == "pytest" and expect is None and case.expect is None:
        return accept_page(run, target, problem)
    asked = case if expect is None else case.model_copy(update={"expect": expect})
    dialect = dialect_of(request.values.get("dialect", ""))
    again = run_case(asked, pieces=run.stored, engines=ENGINES)
    made = exports.exported(again, target, permalink=permalink, dialect=dialect)
    response = Response(made.text.encode("utf-8"), mimetype=made.mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{made.filename}"'
    return response


def expectation() -> tuple[Expect | None, str]:
    """What the user says is right, from the form that asks for it; else what is wrong with it."""
    text = request.form.get("expect", "")
    if not text.strip():
        return None, ""
    try:
        data = {"schema": 1, "parser": {"name": "auto"}, "input": {"text": ""}, "expect": read(text)}
        return load_case(data).expect, ""
    except (JsonError, CaseError) as error:
        return None, str(error)


def accept_page(run: Run, target: str, problem: str) -> Response:
    """Shows today's result and asks whether it is right; it may be edited."""
    given = request.form.get("expect", "") or line(accept(run.trace.message).model_dump(mode="json", exclude_none=True))
    status = 422 if problem else 200
    return render(
        "accept.html", status=status, posted_case=case_line(run.case), target=target, expect=given, problem=problem
    )
