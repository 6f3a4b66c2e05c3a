"""The pages of entered engines: what there is, what its parsers make of the library, and each of these as a run."""

from __future__ import annotations

from time import monotonic

from flask import Response, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue

from parsers.vocabulary.types import UsageError
from webapp.engines.entered import entered
from webapp.page.addresses.inspect_views import show
from webapp.page.addresses.subjects import blueprint, is_partial, render, run_subject, sees_places
from webapp.page.engines.conformance_matrix import conformance_matrix
from webapp.page.engines.library_cases import by_engine, library_cases
from webapp.page.engines.listing import HIDDEN, engine_rows, told_rows
from webapp.page.inspect.inspect_page import whole_number
from webapp.services import services
from webapp.store.results import RunOfAll


@blueprint.get("/engines")
def engines() -> Response:
    """Every entered engine. None is started."""
    try:
        return _listed("")
    except UsageError as error:
        return render("engines.html", rows=[], ran={}, problem=str(error))


def _listed(problem: str, status: int = 200) -> Response:
    """The page of all, with places for whoever may see them, and for nobody's cache then. Raises UsageError."""
    found, places = services(), sees_places()
    rows = told_rows(entered(found.settings), places=places)
    ran: dict[str, RunOfAll] = {}
    for run in found.store.results.all():  # the latest first
        ran.setdefault(run.engine, run)
    response = render("engines.html", rows=rows, ran=ran, problem=problem, status=status)
    if places:
        response.cache_control.no_store = True
    return response


@blueprint.get("/engines/<engine>")
def engine(engine: str) -> ResponseReturnValue:
    """Where the page of all engines tells of one."""
    if engine not in entered(services().settings).entries():
        abort(404, "There is no entered engine of that name.")
    return redirect(url_for("page.engines", _anchor=f"engine-{engine}"))


@blueprint.post("/engines/<engine>/ask")
def engine_ask(engine: str) -> ResponseReturnValue:
    """Ask an engine who it is: it is started anew for that."""
    asked = entered(services().settings)
    try:
        asked.renew(engine)
    except UsageError as error:
        return _listed(str(error) if sees_places() else f"{engine} does not answer: {HIDDEN}.", 422)
    return redirect(url_for("page.engines"), 303)


@blueprint.get("/engines/<engine>/<parser>")
def engine_parser(engine: str, parser: str) -> Response:
    """The library of cases by a parser, beside every other engine that has one of that name; or what htmx asked for,
    the cells of a column."""
    asks, first = [whole_number(request.args.get(name)) for name in ("asks", "from")]
    found = conformance_matrix(entered(services().settings), engine, parser, asks, first or 0, monotonic)
    if found is None:
        abort(404, "There is no such parser of an entered engine.")
    return render("engine_parser.html" if asks is None or not is_partial() else "_engine_cells.html", matrix=found)


@blueprint.get("/engines/<engine>/<parser>/<fmt>/<name>")
def engine_case(engine: str, parser: str, fmt: str, name: str) -> Response:
    """A case of the library as a run by that parser."""
    try:
        found = next((one for one in library_cases(fmt) if one.name == name), None)
    except KeyError:
        found = None
    row = next((one for one in engine_rows(entered(services().settings)) if one.name == engine), None)
    if found is None or row is None:
        abort(404, "There is no such case of the library, or no such engine.")
    return show(run_subject(by_engine(found.case, engine, parser, row.reasoning)))
