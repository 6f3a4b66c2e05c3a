"""The library of listed cases: its list, collections, imports and exports, and runs of all of it by an engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from urllib.parse import urlencode

from flask import Response, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue

from parsers.vocabulary.types import UsageError
from webapp.engines.entered import entered
from webapp.links import public_base
from webapp.page.addresses.subjects import blueprint, lists_by_default, render, sees_places
from webapp.page.engines.listing import HIDDEN
from webapp.page.engines.run_of_all import RunColumn, run_columns, run_some
from webapp.page.inspect.inspect_page import whole_number
from webapp.page.library.importing import LEFT_ALONE, ImportForm, import_some, tags_of
from webapp.page.library.incoming import incoming
from webapp.page.library.library_page import LibraryPage, library_page, refused_page
from webapp.page.library.outgoing import KINDS, exported_cases
from webapp.page.library.query import wanted_of
from webapp.quotas import client, count_collection, said_of, too_many
from webapp.services import services
from webapp.storage_trouble import SAYS
from webapp.store import OverQuota
from webapp.store.collecting import LONGEST_TITLE, Collection
from webapp.store.listings import Wanted
from webapp.switches import is_posted_on

SECONDS = 4.0  # of work on a run of all, for one page


@blueprint.get("/library")
@blueprint.get("/library/c/<collection>", endpoint="collection")
def library(collection: str | None = None) -> Response:
    """The newest cases that a query finds, in the whole library or in a collection."""
    inside = _collection(collection)
    before, query = whole_number(request.args.get("before")), request.args.get("q", "")
    try:
        page = library_page(services().store, query, inside, before, datetime.now(UTC))
    except UsageError as error:
        page = refused_page(services().store, query, inside, str(error))
    status = 422 if page.refused else 200
    return render("library.html", status=status, page=page, columns=run_columns(entered(services().settings)))


@blueprint.get("/library/export.<kind>")
def library_export(kind: str) -> Response:
    """The case files of all that a query finds."""
    if kind not in KINDS:
        abort(404, f"There is no such export of the library; there are {', '.join(KINDS)}.")
    inside = _collection(request.args.get("collection") or None)
    wanted = _wanted(request.args.get("q", ""), inside)
    response = Response(exported_cases(kind, services().store.library.bodies(wanted)), mimetype=KINDS[kind])
    response.headers["Content-Disposition"] = f'attachment; filename="cases.{kind}"'
    return response


@blueprint.route("/library/import", methods=["GET", "POST"])
def library_import() -> Response:
    """Ask for a file, and import what is in it."""
    ticked, skip = lists_by_default(), whole_number(request.form.get("skip")) or 0
    file = request.files.get("file") if request.method == "POST" else None
    if file is None or not file.filename:
        problem = "" if request.method == "GET" else "Choose a file to import."
        status = 422 if problem else 200
        return render("library_import.html", status=status, import_=ImportForm(ticked, problem=problem))
    found, parts = incoming(file.filename[:200], file.read()), services()
    listed, tags = is_posted_on(request.form, "listed"), tags_of(request.form.get("tags", ""))
    try:
        report = import_some(
            found,
            parts.runner,
            parts.store,
            listed=listed,
            tags=tags,
            skip=skip,
            sharing=replace(LEFT_ALONE, client=client()),
        )
    except OverQuota as over:
        again = ImportForm(listed, problem=said_of(over), skip=skip, tags=", ".join(tags))
        return too_many(render("library_import.html", import_=again), over)
    skip = skip + report.done if report.left else 0
    said = said_of(report.over) if report.over is not None else SAYS[report.trouble].what if report.trouble else ""
    again = ImportForm(listed, file.filename[:200], report, said=said, skip=skip, tags=", ".join(tags) if skip else "")
    return render("library_import.html", import_=again)


@blueprint.post("/library/collections")
def collection_make() -> ResponseReturnValue:
    """Keep what a query finds as a collection, and show its delete key this once."""
    title = request.form.get("title", "").strip()[:LONGEST_TITLE]
    inside = _collection(request.form.get("collection") or None)
    wanted = _wanted(request.form.get("q", ""), inside)
    if title:
        count_collection()
    made = services().store.collections.make(title, wanted) if title else None
    if made is None:
        abort(422, "A collection has a title, and at least one case in it.")
    path = url_for("page.collection", collection=made.id)
    link = public_base() + path
    response = render("collection_made.html", status=201, made=made, title=title, path=path, link=link)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Location"] = path
    return response


@blueprint.route("/library/c/<collection>/delete", methods=["GET", "POST"])
def collection_delete(collection: str) -> Response:
    """Ask for the delete key of a collection, and delete it. The cases stay."""
    found = _collection(collection)
    if request.method == "GET":
        return render("collection_delete.html", collection=found, deleted=False, error="")
    if services().store.collections.delete(collection, request.form.get("key", "").strip()):
        return render("collection_delete.html", collection=found, deleted=True, error="")
    error = "That is not the delete key of this collection."
    return render("collection_delete.html", collection=found, deleted=False, error=error, status=422)


@blueprint.post("/library/run")
def library_run() -> ResponseReturnValue:
    """Run what a query finds by an engine, as much of it as there is time for, and show what came of it; `again`: also
    what it ran before, where its code may be another one by now."""
    inside = _collection(request.form.get("collection") or None)
    query, engine = request.form.get("q", ""), request.form.get("engine", "")
    column, wanted, parts = _column(engine), _wanted(query, inside), services()
    if is_posted_on(request.form, "again") and not column.is_fixed:
        column = _renewed(engine)
        parts.store.results.forget(*column.key, wanted)
    run_some(parts.store, parts.settings, column, wanted, SECONDS, monotonic)
    asked = {"q": query, "collection": inside.id if inside else ""}
    given = {key: value for key, value in asked.items() if value}
    return redirect(f"{url_for('page.library_results', engine=engine)}{'?' if given else ''}{urlencode(given)}", 303)


@blueprint.get("/library/results/<engine>")
def library_results(engine: str) -> Response:
    """What an engine, in the version that it has now, made of what a query finds; and how much of that is left."""
    inside = _collection(request.args.get("collection") or None)
    column, before = _column(engine), whole_number(request.args.get("before"))
    query, store = request.args.get("q", ""), services().store
    page = _page(query, inside, before)
    results = store.results.of([one.case.number for one in page.rows], [column.key])
    left = store.results.count_left(*column.key, page.wanted)
    run = next((one for one in store.results.all() if (one.engine, one.version) == column.key), None)
    rows = [(one, results[one.case.number].get(column.key)) for one in page.rows]
    last = f"{run.last[:10]} {run.last[11:16]} UTC" if run else ""
    return render("library_results.html", page=page, column=column, rows=rows, left=left, run=run, last=last)


def _wanted(query: str, inside: Collection | None) -> Wanted:
    try:
        return wanted_of(query, inside.id if inside else None)
    except UsageError as error:
        abort(422, str(error))


def _page(query: str, inside: Collection | None, before: int | None) -> LibraryPage:
    try:
        return library_page(services().store, query, inside, before, datetime.now(UTC))
    except UsageError as error:
        abort(422, str(error))


def _collection(collection: str | None) -> Collection | None:
    if collection is None:
        return None
    found = services().store.collections.get(collection)
    if found is None:
        abort(404, "There is no collection at this address.")
    return found


def _renewed(engine: str) -> RunColumn:
    """An engine that was started anew and asked who it is: what it runs from now on is what its files have now."""
    try:
        entered(services().settings).renew(engine)
    except UsageError as error:
        abort(422, str(error) if sees_places() else f"{engine} does not answer: {HIDDEN}.")
    return _column(engine)


def _column(engine: str) -> RunColumn:
    try:
        columns = run_columns(entered(services().settings))
    except UsageError as error:
        abort(422, str(error))
    found = next((one for one in columns if one.engine == engine), None)
    if found is None:
        abort(404, "There is no engine of that name, or nobody has asked it yet who it is.")
    return found
