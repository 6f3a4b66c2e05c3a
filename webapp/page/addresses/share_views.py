"""Shared cases: saving, opening, editing a copy, deleting; and exports, as downloads.

Nothing is stored before somebody presses the button that says so. Each save has a delete key of its own, which is on
the answer to it and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace
from time import thread_time
from typing import Any
from urllib.parse import parse_qsl

from flask import Response, abort, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case, CaseError, Expect, ParserRef
from parsers.cases.expect import accept
from parsers.cases.io import load_case
from parsers.cases.jsontext import JsonError, plain, read, utf8
from webapp.links import case_link, public_base
from webapp.page.addresses.compare_texts import posted_beside
from webapp.page.addresses.comparison_views import store_comparison
from webapp.page.addresses.inspect_views import share_of, show
from webapp.page.addresses.subjects import (
    Subject,
    at_every_subject,
    blueprint,
    case_subject,
    is_loopback,
    is_partial,
    posted_subject,
    render,
    stored_case,
)
from webapp.page.compare.asked import CompareLinks, is_bare, read_asked
from webapp.page.form.setup import case_line
from webapp.page.inspect.inspect_page import Links, ViewState, read_state
from webapp.page.inspect.result import dialect_of
from webapp.page.inspect.stated import stated_of
from webapp.page.library.importing import tags_of
from webapp.page.library.listed_case import listing_of
from webapp.quotas import client, said_of, too_many
from webapp.runs import exports
from webapp.runs.exports import TARGETS
from webapp.runs.held import SharedAs
from webapp.runs.unrun import is_unrun
from webapp.services import services
from webapp.storage_trouble import taken_back
from webapp.store import OverQuota, Saved, Sharing
from webapp.store.expiring import NEVER, expiry
from webapp.switches import is_posted_on

_SHOWN = 20_000  # characters of an output that nothing ran


@blueprint.get("/c/<case_id>")
def case(case_id: str) -> Response:
    """A shared case, or what it says itself where the engine that parses it is not entered here."""
    subject = case_subject(case_id)
    if is_unrun(subject.case, services().settings):
        return _unrun(subject)
    return show(subject)


def _unrun(subject: Subject) -> Response:
    case, text = subject.case, subject.case.text()
    builtin = case.model_copy(update={"parser": ParserRef(name="auto"), "contract": None, "replay": ()})
    return render(
        "unrun.html",
        subject=subject,
        stated=stated_of(case, ran=False),
        output=text[:_SHOWN],
        more=len(text[_SHOWN:]),
        builtin=case_line(subject.child(builtin)),
    )


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
    """Store a case, and show its link and the delete key of this share; of a known case also what of the words given
    now it has not. A script has that in place of the form, and stays where it is."""
    posted, lists = posted_subject(), _lists()
    try:
        saved, begins, opened, others = _stored(posted.case)
    except OverQuota as over:
        return too_many(_share_again(posted, said_of(over)), over)
    subject = case_subject(saved.id)
    if posted.held is not None:
        services().held.note_shared(posted.held.token, SharedAs(saved.id, subject.heading))
    dropped = [] if saved.created else _not_kept(subject.case)
    path = url_for("page.case", case_id=saved.id)
    opened = opened or Links(path, _standing(begins)).url()
    listed = services().store.library.is_listed(saved.id)
    refused = lists and not listed
    return _shared_page(path, opened, [saved, *others], subject, dropped, listed=listed, refused=refused)


def _stored(case: Case) -> tuple[Saved, int | None, str, list[Saved]]:
    """What comes of a case, where a finding of it begins, and of the texts beside it where it is shared with a
    comparison, whose address that has.

    All of it is stored or, where it is over a quota or the database takes no more, nothing. Raises OverQuota.
    """
    saved, begins = _saved(case)
    words = request.form.get("go", "")
    if not words:
        return saved, begins, "", []
    with taken_back(services().store, [saved]):
        return saved, begins, *store_comparison(saved, words, posted_beside(request.form), _sharing())


def _share_again(subject: Subject, problem: str) -> Response:
    """The share form, with what was typed into it and why nothing was stored."""
    said = request.form
    share = replace(
        share_of(subject, view=said.get("view", ""), comparison=said.get("go", ""), beside=posted_beside(said)),
        title=said.get("title", ""),
        note=said.get("note", ""),
        tags=said.get("tags", ""),
        listed=_lists(),
        expires=said.get("expires", NEVER),
        problem=problem,
    )
    share = replace(share, source="", case=case_line(subject.case))
    return render("_share_form.html" if is_partial() else "share.html", share=share)


def _saved(case: Case) -> tuple[Saved, int | None]:
    """Store a replayed case with its tokens, today's outcome and what its sharer said of it; and the step at which the
    first finding begins, if any."""
    runner = services().runner
    run, checked = runner.run(case), runner.cheaply_checked(case)
    findings = None if checked is None else checked.findings
    told = case.model_copy(update=_said(case))
    listing = listing_of(run, told, findings) if _lists() else None
    saved = exports.save(services().store, run, findings, told=told, listing=listing, sharing=_sharing())
    return saved, next((item.step for item in findings or () if item.step), None)


def _lists() -> bool:
    """Whether the share is to be listed. Raises UsageError where the form says neither."""
    return is_posted_on(request.form, "listed")


def _sharing() -> Sharing:
    """Whom a share is counted for, and how long it lasts. Raises UsageError."""
    expires = expiry(request.form.get("expires", NEVER), services().store.now())
    return Sharing(client=client(), expires=expires)


def _said(case: Case) -> dict[str, Any]:
    """What its sharer says of a case: a field that is empty says nothing, one that is as it was filled, or that no
    form sent, what the case says itself."""
    title, note = _given_words()
    words, filled = request.form.get("tags"), ", ".join(case.flags)
    notes = () if not note else case.notes if note == _as_typed("\n".join(case.notes)) else (note,)
    return {
        "title": title or None if "title" in request.form else case.title,
        "notes": notes if "note" in request.form else case.notes,
        "flags": case.flags if words in (None, filled) else tags_of(words or ""),
    }


def _given_words() -> tuple[str, str]:
    """Title and note, as the form has them."""
    return request.form.get("title", "")[:200].strip(), _as_typed(request.form.get("note", ""))


def _as_typed(note: str) -> str:
    """A note as far as a form takes it, without what browsers add."""
    return note.replace("\r\n", "\n")[:4000].strip()


def _not_kept(case: Case) -> list[str]:
    """What was said in the form and is not said of a case, which its first sharer named."""
    title, note = _given_words()
    lines = {line.strip() for line in note.splitlines()} - {""}
    new = {
        "title": bool(title) and title != case.title,
        "note": not lines <= exports.lines_of(case),
        "tags": not {*tags_of(request.form.get("tags", ""))} <= {*case.flags},
    }
    return [name for name, is_new in new.items() if is_new]


def _standing(begins: int | None) -> ViewState:
    """What the reader looks at, and where: by the fields of a form, or by the words of an address in one of them. A
    step that nobody names is that at which a finding `begins`."""
    state = read_state({**request.values.to_dict(), **dict(parse_qsl(request.form.get("view", "")))})
    return state if state.step else replace(state, step=begins)


def _shared_page(
    path: str, opened: str, stored: list[Saved], subject: Subject, dropped: list[str], *, listed: bool, refused: bool
) -> Response:
    """The answer to a save, with the heading that the case has from now on. It is never cached: it holds the delete
    keys of these shares. `dropped` is what was said and not kept. `refused`: it is not listed, for it has
    words that its sharer did not give."""
    base = public_base()
    response = render(
        "_shared.html" if is_partial() else "shared.html",
        status=201 if stored[0].created else 200,
        path=opened,
        heading=subject.heading,
        title=subject.case.title,
        dropped=dropped,
        link=base + opened,
        stored=stored,
        expires=_sharing().expires,
        listed=listed,
        refused=refused,
        loopback=is_loopback(base),
    )
    response.headers["Location"] = path
    response.headers["Cache-Control"] = "no-store"
    return response


@at_every_subject("share")
def share_page(subject: Subject) -> Response:
    """The share form as a page: what will be stored, and the question for title and note. Another title makes no other
    case."""
    known = services().runner.cheaply_checked(subject.case)
    findings = () if known is None else known.findings
    view = _standing(next((item.step for item in findings if item.step), None))
    share = share_of(subject, view=Links(None, view).query())
    if not is_bare(request.values):
        words = CompareLinks(None, read_asked(request.values)).query()
        share = replace(share, view="", comparison=words, beside=posted_beside(request.form))
    return render("share.html", share=replace(share, source="", case=case_line(subject.case)))


@blueprint.route("/c/<case_id>/delete", methods=["GET", "POST"])
def delete(case_id: str) -> ResponseReturnValue:
    """Ask for the delete key, and withdraw the share that it is of."""
    if request.method == "GET":
        stored_case(case_id)
        return render("delete.html", case_id=case_id, deleted=False, error="")
    if services().store.withdraw(case_id, request.form.get("key", "").strip()):
        return render("delete.html", case_id=case_id, deleted=True, stays=services().store.is_live(case_id), error="")
    error = "That is not the delete key of this case."
    return render("delete.html", case_id=case_id, deleted=False, error=error, status=422)


@at_every_subject("export", "/<target>")
def export(subject: Subject, target: str) -> Response:
    """An export as a file, or first the question what is right."""
    began = thread_time()
    if target not in TARGETS:
        abort(404, f"There is no such export; there are {', '.join(TARGETS)}.")
    case, permalink, case_id = subject.case, None, ""
    if subject.kind == "case":
        permalink, case_id = case_link(subject.name), subject.name
    run = services().runner.run(case)
    expect, problem = _expectation()
    if TARGETS[target].tests and expect is None and case.known.expect is None:
        today = plain(accept(run.trace.message).model_dump(exclude_none=True), indent=2)
        given, status = request.form.get("expect", "") or today, 422 if problem else 200
        posted = case_line(run.case)
        asked = {"posted_case": posted, "target": target, "words": TARGETS[target].words}
        return render("accept.html", status=status, expect=given, problem=problem, asked=asked)
    expected = case if expect is None else case.model_copy(update={"expect": expect})
    again = exports.run_for(services().runner, expected, target, began)
    dialect = dialect_of(request.values.get("dialect", ""))
    job = services().searches.known(case) if target in ("markdown", "html") else None
    found = None if job is None else job.result
    made = exports.exported(again, target, permalink=permalink, dialect=dialect, found=found, case_id=case_id)
    response = Response(utf8(made.text), mimetype=made.mimetype)
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
