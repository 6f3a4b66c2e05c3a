"""The routes of the API. A view reads the request, calls `webapp.runs`, and chooses what is sent back.

Errors are raised, not returned: those of a case become 422 with the JSON pointer of the place, deleted cases 410;
everything else is `webapp.security`'s, which knows sizes, methods and addresses.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Blueprint, Response, abort, jsonify, request
from flask.typing import ResponseReturnValue

from parsers.cases.find import find_json
from parsers.cases.io import loads
from parsers.cases.model import Case, CaseError
from parsers.formats.model import Format, Policy, policy_values
from parsers.selection.registry import policies
from parsers.vocabulary.types import UsageError
from webapp.api.bodies import BadJson, NotACaseError, posted_case
from webapp.api.models import ErrorBody, FindResult, Health, ParserInfo, ReplayResult, SavedCase, TokenizerRow
from webapp.engines.response_template import about
from webapp.formats.folder import all_formats, formats_folder
from webapp.jobs.searches import SearchError
from webapp.page.inspect.result import dialect_of
from webapp.runs.exports import TARGETS, exported, installed_version, json_text, save
from webapp.runs.prepare import with_defaults
from webapp.security import api_error
from webapp.services import services
from webapp.store import Gone, StoredCase
from webapp.tokenizers import list_tokenizers

HEALTH = "/healthz"
API = "/api/v1"
View = TypeVar("View", bound=Callable[..., ResponseReturnValue])

blueprint = Blueprint("api", __name__)


@dataclass(slots=True, frozen=True)
class Operation:
    """What the description of the API says of a route. `answers`: status to model, media type, or words."""

    method: str
    path: str
    name: str
    summary: str
    takes: Any
    answers: dict[int, Any]
    query: dict[str, str]


OPERATIONS: list[Operation] = []


def operation(method: str, path: str, answers: dict[int, Any], *, takes: Any = None, query: dict[str, str] | None = None
              ) -> Callable[[View], View]:  # fmt: skip
    """Register a view: its route, and its line in the description."""

    def register(view: View) -> View:
        summary = (view.__doc__ or "").partition("\n")[0]
        OPERATIONS.append(Operation(method, path, view.__name__, summary, takes, answers, query or {}))
        blueprint.add_url_rule(path, view_func=view, methods=[method])
        return view

    return register


@operation("GET", HEALTH, {200: Health})
def healthz() -> ResponseReturnValue:
    """Whether the server answers, and its version."""
    return {"status": "ok", "version": installed_version()}


@operation("GET", f"{API}/parsers", {200: list[ParserInfo]})
def parsers() -> ResponseReturnValue:
    """The parsers a case can name."""
    folder = formats_folder(services().settings).formats
    rows = [
        parser_info(fmt, "folder" if name in folder else "table")
        for name, fmt in all_formats(services().settings).items()
    ]
    return jsonify([*rows, {"name": about.NAME, "title": about.TITLE, "kind": about.NAME, "aliases": [],
                            "policies": [], "example": about.EXAMPLE}])  # fmt: skip


@operation("GET", f"{API}/tokenizers", {200: list[TokenizerRow]})
def tokenizers() -> ResponseReturnValue:
    """The tokenizers a case can name."""
    return jsonify(list_tokenizers())


@operation("POST", f"{API}/replay", {200: ReplayResult, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody},
           takes=Case)  # fmt: skip
def replay() -> ResponseReturnValue:
    """Replay a case. Nothing is stored."""
    run = services().runner.run_checked(with_defaults(posted_case(), services().settings))
    return Response(json_text(run), mimetype="application/json")


@operation("POST", f"{API}/find",
           {200: FindResult, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody, 503: ErrorBody},
           takes=Case)  # fmt: skip
def find() -> ResponseReturnValue:
    """Search for a chunking under which a case fails. Nothing is stored."""
    found = services().searches.find(with_defaults(posted_case(), services().settings))
    return Response(json.dumps(find_json(found), ensure_ascii=False) + "\n", mimetype="application/json")


@operation("POST", f"{API}/cases",
           {200: SavedCase, 201: SavedCase, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody},
           takes=Case)  # fmt: skip
def save_case() -> ResponseReturnValue:
    """Store a case and give it a permalink: 201 when it is new, 200 when it was there already."""
    run = services().runner.run_checked(with_defaults(posted_case(), services().settings))
    saved = save(services().store, run)
    answer = {"id": saved.id, "url": permalink(saved.id)}
    if saved.delete_key is not None:
        answer["delete_key"] = saved.delete_key
    response = jsonify(answer)
    response.status_code = 201 if saved.created else 200
    response.headers["Location"] = f"{API}/cases/{saved.id}"
    response.headers["Cache-Control"] = "no-store"
    return response


@operation("GET", f"{API}/cases/<case_id>", {200: Case, 404: ErrorBody, 410: ErrorBody})
def case(case_id: str) -> ResponseReturnValue:
    """A stored case, as the case file."""
    return Response(find_case(case_id).body, mimetype="application/json")


@operation("GET", f"{API}/cases/<case_id>/export/<target>",
           {200: "the file", 404: ErrorBody, 410: ErrorBody, 422: ErrorBody},
           query={"accept": "1: take today's result for the right one where the case expects nothing.",
                  "dialect": "What an SSE transcript calls reasoning: reasoning, or reasoning_content."})  # fmt: skip
def export(case_id: str, target: str) -> ResponseReturnValue:
    """A stored case as a file for another tool: case, pytest, markdown, jsonl or sse."""
    if target not in TARGETS:
        abort(404, f"There is no export {target!r}; there are {', '.join(TARGETS)}.")
    run = services().runner.run_checked(loads(find_case(case_id).body))
    accept = request.args.get("accept", "") not in ("", "0")
    dialect = dialect_of(request.args.get("dialect", ""))
    made = exported(run, target, accept=accept, permalink=permalink(case_id), dialect=dialect)
    response = Response(made.text.encode(), content_type=f"{made.mimetype}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{made.filename}"'
    return response


@operation("GET", f"{API}/openapi.json", {200: "the description"})
def openapi() -> ResponseReturnValue:
    """This description, OpenAPI 3.1."""
    from webapp.api.openapi import description

    return jsonify(description(tuple(OPERATIONS), installed_version()))


@blueprint.errorhandler(CaseError)
def wrong_case(error: CaseError) -> Response:
    """422 with the place."""
    code = "no_expectation" if error.pointer == "/expect" and request.method == "GET" else "invalid_case"
    message = error.message
    if code == "no_expectation":
        message += ". Add ?accept=1 to accept today's result."
    return api_error(code, message, error.pointer or None)


@blueprint.errorhandler(NotACaseError)
def not_a_case(error: NotACaseError) -> Response:
    """422 for a recording where a case belongs."""
    return api_error("not_a_case", str(error))


@blueprint.errorhandler(UsageError)
def not_possible(error: UsageError) -> Response:
    """422 for what was asked for in other ways than by a case."""
    return api_error("not_possible", str(error))


@blueprint.errorhandler(SearchError)
def search_failed(error: SearchError) -> Response:
    """500, in words: the process of the search is gone, the server is not."""
    return api_error("search_failed", str(error), status=500)


@blueprint.errorhandler(BadJson)
def bad_json(error: BadJson) -> Response:
    """400 with line and column."""
    return api_error("bad_json", error.description or "", status=400)


def find_case(case_id: str) -> StoredCase:
    """The stored case, or 404, or 410 once it was deleted."""
    try:
        found = services().store.get(case_id)
    except Gone as gone:
        abort(410, f"This case was deleted on {gone.deleted[:10]}.")
    if found is None:
        abort(404, "There is no case of that id.")
    return found


def permalink(case_id: str) -> str:
    """The address of a case's page as others will type it."""
    return f"{(services().settings.public_url or request.url_root).rstrip('/')}/c/{case_id}"


def parser_info(fmt: Format, kind: str) -> dict[str, Any]:
    """One row of the list of parsers: every policy that makes a difference, with the format's own value as default."""
    values = policies(fmt)
    known = [
        {
            "name": key,
            "default": values[key],
            "values": list(policy_values()[key]),
            "description": Policy.model_fields[key].description or "",
        }
        for key in fmt.policies
    ]
    return {
        "name": fmt.name,
        "title": fmt.title,
        "kind": kind,
        "aliases": list(fmt.aliases),
        "policies": known,
        "example": fmt.example,
    }
