"""The pages of the sweeps in the folder that the operator names: read only, and there only where one is named."""

from __future__ import annotations

from pathlib import Path

from flask import Response, abort, request, send_file
from flask.typing import ResponseReturnValue

from parsers.cases.case import CaseError
from parsers.cases.io import load_case
from webapp.page.addresses.inspect_views import show
from webapp.page.addresses.subjects import blueprint, render, run_subject
from webapp.page.sweeps.sweep_page import sweep_page
from webapp.services import services
from webapp.sweeps.kept_sweeps import KeptSweep, kept_sweep, kept_sweeps

_NONE = "There is no sweep at this address."


def _root() -> Path:
    """The folder of the operator, or 404."""
    root = services().settings.sweeps
    if root is None:
        abort(404, _NONE)
    return root


def _sweep(name: str) -> KeptSweep:
    """The sweep of that name, or 404."""
    found = kept_sweep(_root(), name)
    if found is None:
        abort(404, _NONE)
    return found


@blueprint.get("/sweeps")
def sweeps() -> Response:
    """All sweeps of the folder, with how far those are that run."""
    found = kept_sweeps(_root())
    return render("sweeps.html", "sweep_list", sweeps=found, running=not all(one.ended for one in found))


@blueprint.get("/sweeps/<path:name>")
def sweep(name: str) -> Response:
    """The report of a sweep, or how far it is."""
    found = _sweep(name)
    page = sweep_page(found, request.args.get("show", "all")) if found.ended else None
    return render("sweep.html", "sweep_body", sweep=found, page=page)


@blueprint.get("/sweeps/<path:name>/cases/<signature>")
def sweep_case(name: str, signature: str) -> ResponseReturnValue:
    """The smallest case of a signature as a run."""
    found = _sweep(name)
    try:
        rows = found.report()["signatures"]
        case = load_case(next(row["smallest"]["case"] for row in rows if row["id"] == signature))
    except (KeyError, TypeError, StopIteration, CaseError):
        abort(404, "There is no case of such a signature in this sweep.")
    return show(run_subject(case))


@blueprint.get("/sweeps/<path:name>/files/<file>")
def sweep_file(name: str, file: str) -> Response:
    """A file of the report as it is, to be kept."""
    found = _sweep(name)
    if file not in found.files:
        abort(404, "There is no such file in this sweep.")
    return send_file(found.path / file, as_attachment=True, download_name=file)
