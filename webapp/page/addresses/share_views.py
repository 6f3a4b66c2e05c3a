"""Shared cases: saving, opening, editing a copy, deleting; and exports, as downloads.

Nothing is stored before somebody presses the button that says so. The delete key is on the answer to the first save
and nowhere else; a case that is already stored answers with a redirect to its address.
"""

from __future__ import annotations

from dataclasses import replace
from time import thread_time
from urllib.parse import urlencode

from flask import Response, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case, CaseError, Expect
from parsers.cases.expect import accept
from parsers.cases.io import load_case
from parsers.cases.jsontext import JsonError, read
from webapp.page.addresses.inspect_views import share_of, show
from webapp.page.addresses.subjects import (
    Subject,
    at_every_subject,
    blueprint,
    case_subject,
    is_loopback,
    is_partial,
    posted_subject,
    public_base,
    render,
    stored_case,
)
from webapp.page.form.setup import case_line
from webapp.page.inspect.inspect_page import whole_number
from webapp.page.inspect.result import dialect_of
from webapp.runs import exports
from webapp.runs.exports import TARGETS
from webapp.services import services
from webapp.store import Saved


@blueprint.get("/c/<case_id>")
def case(case_id: str) -> Response:
    """A shared case."""
    return show(case_subject(case_id))


@blueprint.get("/c/<case_id>/edit")
def edit(case_id: str) -> Response:
    """The form filled from a shared case; what comes of it names this one as its parent."""
    return show(case_subject(case_id), kind="edit", note="editing a copy")


@blueprint.get("/c/<case_id>.json")
def case_json(case_id: str) -> Response:
    """The case file."""
    return Response(stored_case(case_id).body, mimetype="application/json")


@blueprint.get("/c/<case_id>.txt")
def case_text(case_id: str) -> Response:
    """The model output alone, byte for byte."""
    return Response(case_subject(case_id).case.text().encode("utf-8"), mimetype="text/plain")


@blueprint.post("/cases")
def save() -> ResponseReturnValue:
    """Store a case. The first save shows its link and its delete key; a known case leads to its address. A script has
    the link in place of the form, and stays where it is."""
    saved, step = _saved(posted_subject().case)
    path = url_for("page.case", case_id=saved.id)
    if not saved.created and not is_partial():
        return redirect(_link("", path, step), 303)
    return _shared_page(saved, path, step)


def _saved(case: Case) -> tuple[Saved, int | None]:
    """Store a replayed case with its tokens, today's outcome and what its sharer said of it; and where the reader
    stands, or else a finding is."""
    runner = services().runner
    run, checked = runner.run(case), runner.cheaply_checked(case)
    findings = None if checked is None else checked.findings
    title = request.form.get("title", "")[:200].strip()
    note = request.form.get("note", "")[:4000].replace("\r\n", "\n").strip()
    told = case.model_copy(update={"title": title or case.title, "notes": (note,) if note else case.notes})
    saved = exports.save(services().store, run, findings, told=told)
    return saved, _standing() or next((item.step for item in findings or () if item.step), None)


def _standing() -> int | None:
    """The step at which the reader stands."""
    return whole_number(request.values.get("step"))


def _shared_page(saved: Saved, path: str, step: int | None) -> Response:
    """The answer to a save. It is never cached: it holds the delete key."""
    base = public_base()
    response = render(
        "_shared.html" if is_partial() else "shared.html",
        status=201 if saved.created else 200,
        case_id=saved.id,
        path=_link("", path, step),
        link=_link(base, path, step),
        key=saved.delete_key or "",
        loopback=is_loopback(base),
    )
    response.headers["Location"] = path
    response.headers["Cache-Control"] = "no-store"
    return response


def _link(base: str, path: str, step: int | None) -> str:
    return base.rstrip("/") + path + (f"?{urlencode({'step': step})}" if step else "")


@at_every_subject("share")
def share_page(subject: Subject) -> Response:
    """The share form as a page: what will be stored, and the question for title and note. Another title makes no other
    case."""
    known = services().runner.cheaply_checked(subject.case)
    findings = () if known is None else known.findings
    share = share_of(subject, step=_standing() or next((item.step for item in findings if item.step), None))
    return render("share.html", share=replace(share, source="", case=case_line(subject.case)))


@blueprint.route("/c/<case_id>/delete", methods=["GET", "POST"])
def delete(case_id: str) -> ResponseReturnValue:
    """Ask for the delete key, and delete."""
    if request.method == "GET":
        stored_case(case_id)
        return render("delete.html", case_id=case_id, deleted=False, error="")
    if services().store.delete(case_id, request.form.get("key", "").strip()):
        return render("delete.html", case_id=case_id, deleted=True, error="")
    error = "That is not the delete key of this case."
    return render("delete.html", case_id=case_id, deleted=False, error=error, status=422)


@at_every_subject("export", "/<target>")
def export(subject: Subject, target: str) -> Response:
    """An export as a file, or first the question what is right."""
    began = thread_time()
    if target not in TARGETS:
        abort(404, f"There is no such export; there are {', '.join(TARGETS)}.")
    case, permalink = subject.case, None
    if subject.kind == "case":
        permalink = _link(public_base(), url_for("page.case", case_id=subject.name), None)
    run = services().runner.run(case)
    expect, problem = _expectation()
    if target == "pytest" and expect is None and case.known.expect is None:
        today = accept(run.trace.message).model_dump_json(exclude_none=True, indent=2)
        given, status = request.form.get("expect", "") or today, 422 if problem else 200
        posted = case_line(run.case)
        return render("accept.html", status=status, posted_case=posted, target=target, expect=given, problem=problem)
    expected = case if expect is None else case.model_copy(update={"expect": expect})
    again = exports.run_for(services().runner, expected, target, began)
    dialect = dialect_of(request.values.get("dialect", ""))
    made = exports.exported(again, target, permalink=permalink, dialect=dialect)
    response = Response(made.text.encode("utf-8"), mimetype=made.mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{made.filename}"'
    return response


def _expectation() -> tuple[Expect | None, str]:
    """Return what the user says is right, from the form that asks for it; else what is wrong with it."""
    text = request.form.get("expect", "")
    if not text.strip():
        return None, ""
    try:
        data = {"schema": 1, "parser": {"name": "auto"}, "input": {"text": ""}, "expect": read(text)}
        return load_case(data).expect, ""
    except (JsonError, CaseError) as error:
        return None, str(error)
