"""The routes of the API. A view reads the request, calls `webapp.runs`, and chooses what is sent back.

Errors are raised, not returned: those of a case become 422 with the JSON pointer of the place, deleted cases 410;
everything else is `webapp.security`'s, which knows sizes, methods and addresses.
"""

from __future__ import annotations

from functools import partial
from time import thread_time
from typing import Any

from flask import Response, abort, jsonify, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import UnsupportedMediaType

from parsers.cases import jsontext
from parsers.cases.case import Case, CaseError
from parsers.cases.find import find_json
from parsers.cases.io import load_case, loads
from parsers.cases.jsontext import JsonError, plain, utf8
from parsers.formats.model import Format, Policy, policy_values
from parsers.intake import recognise
from parsers.selection.registry import policies
from parsers.vocabulary.types import UsageError
from webapp.api.answers import (
    DeletedCase,
    DeletedTokenizer,
    EngineInfo,
    ErrorBody,
    FindResult,
    Health,
    ParserInfo,
    Ready,
    ReplayPart,
    ReplayResult,
    SavedCase,
    TokenizerRow,
    TokenizerUpload,
    UploadedTokenizer,
)
from webapp.api.lists import page_of
from webapp.api.openapi import description
from webapp.api.operations import (
    API,
    HEALTH,
    OPERATIONS,
    READY,
    BadJsonError,
    Files,
    Key,
    blueprint,
    operation,
    switch,
)
from webapp.api.parts import QUERY, replay_answer, wanted_of
from webapp.api.query_keys import is_asked
from webapp.api.repeated import delete_key
from webapp.engines.entered import entered, entered_parsers
from webapp.engines.protocol import Card
from webapp.engines.response_template import about
from webapp.formats.folder import all_formats, formats_folder
from webapp.jobs.searches import SearchError
from webapp.links import public_root
from webapp.page.inspect.result import dialect_of
from webapp.page.library.listed_case import listing_of
from webapp.page.library.tokenizer_shelf import delete
from webapp.quotas import FULL_SECONDS, client, count_upload
from webapp.readiness import in_the_way
from webapp.release import installed_version
from webapp.runs.exports import TARGETS, exported, run_for, save
from webapp.runs.prepare import with_defaults
from webapp.runs.unrun import is_unrun, save_unrun
from webapp.security import api_error, check_limit
from webapp.services import services
from webapp.store import Gone, Saved, Sharing, StoredCase
from webapp.store.expiring import CHOICES, NEVER, expiry
from webapp.store.keys import digest_of, new_key
from webapp.tokenizers import library, list_tokenizers
from webapp.tokenizers.prepared import NoPlace, WrongKey

MOST_CHUNKINGS = 64
DELETE_KEY = "Delete-Key"  # the header in which a key is given: it stands in no address
_BESIDE = 1_000_000  # bytes of a request with a tokenizer that are no file
_NAMED = {"name": "The name in the list, where the body is the file itself."}
_FILES = Files(tuple(sorted({target.mimetype for target in TARGETS.values()})))
_RECORDING = ", and a recording of a server to /api/v1/intake"
_NO_RECORDING = frozenset({"raw_text", "case", "empty", "not_text", "text_literal"})


class _NotACaseError(UsageError):
    """A body that is a recording; says what it was recognised as, and where it goes."""


@operation("GET", HEALTH, {200: Health})
def healthz() -> ResponseReturnValue:
    """Return whether the server answers, and its version."""
    return {"status": "ok", "version": installed_version()}


@operation("GET", READY, {200: Ready, 503: ErrorBody})
def readyz() -> ResponseReturnValue:
    """Return whether the server can do its work: it has a child that answers, a database and room on its disk."""
    reasons = in_the_way(services().store, services().settings.data_dir)
    if reasons:
        return api_error("not_ready", " ".join(reasons), status=503)
    return {"status": "ready", "version": installed_version()}


@operation("GET", f"{API}/parsers", {200: list[ParserInfo]}, tagged=True, paged=True)
def parsers() -> ResponseReturnValue:
    """The parsers a case can name."""
    folder = formats_folder(services().settings).formats
    rows = [
        _parser_info(fmt, "folder" if name in folder else "table")
        for name, fmt in all_formats(services().settings).items()
    ]
    plain: dict[str, Any] = {"aliases": [], "policies": []}
    entered = [{"name": one.name, "title": one.title, "kind": "engine", **plain, "example": ""} for one in
               entered_parsers()]  # fmt: skip
    template = {"name": about.NAME, "title": about.TITLE, "kind": about.NAME, **plain, "example": about.EXAMPLE}
    return page_of([*rows, template, *entered])


@operation("GET", f"{API}/tokenizers", {200: list[TokenizerRow]}, tagged=True, paged=True)
def tokenizers() -> ResponseReturnValue:
    """The tokenizers a case can name."""
    return page_of(list_tokenizers())


@operation("GET", f"{API}/engines", {200: list[EngineInfo]}, tagged=True, paged=True)
def engines() -> ResponseReturnValue:
    """The engines that were entered. None is started for it."""
    return page_of([_engine_info(name, card) for name, card in entered().listed().items()])


@operation("POST", f"{API}/tokenizers",
           {200: UploadedTokenizer, 201: UploadedTokenizer,
            413: ErrorBody, 422: ErrorBody, 429: ErrorBody, 503: ErrorBody},
           takes=TokenizerUpload, query=_NAMED)  # fmt: skip
def add_tokenizer() -> ResponseReturnValue:
    """Keep a tokenizer: 201 when it is new, 200 when it was there already."""
    settings = services().settings
    request.max_content_length = most = 2 * settings.tokenizer_upload_bytes + _BESIDE
    size = request.content_length or 0
    if size > most:
        return api_error("too_large", f"The upload has {size:,} bytes: give the tokenizer.json alone.", status=413)
    name, model, config = _given()
    check_limit(settings, "tokenizer_upload_bytes", max(len(model), len(config or b"")), name[:80])
    known = {one["name"] for one in list_tokenizers()}
    count_upload()
    key = new_key()
    info = library().add_upload(name, model, config, digest_of(key))
    response = jsonify({**info, "delete_key": key})
    response.headers["Cache-Control"] = "no-store"
    response.status_code = 200 if info["name"] in known else 201
    return response


def _given() -> tuple[str, bytes, bytes | None]:
    """Name, tokenizer file and config. Raises UsageError where there is no file."""
    name = request.args.get("name", "")
    if request.mimetype != "multipart/form-data":
        data = request.get_data(cache=False)
        if not data:
            raise UsageError("the body is empty: send a tokenizer.json, as the body or as `file` of a form")
        return name or "tokenizer.json", data, None
    model, config = request.files.get("file"), request.files.get("config")
    if model is None:
        raise UsageError("the form has no file: send the tokenizer.json as `file`")
    title = request.form.get("name") or name or model.filename or "tokenizer.json"
    return title, model.read(), None if config is None else config.read()


@operation("DELETE", f"{API}/tokenizers/<fingerprint>", {200: DeletedTokenizer, 404: ErrorBody})
def delete_tokenizer(fingerprint: str) -> ResponseReturnValue:
    """Delete an upload, or what came from the hub. Cases that name it keep their tokens."""
    try:
        delete(fingerprint, services().settings, request.headers.get(DELETE_KEY, ""))
    except WrongKey as error:
        abort(403, f"{str(error)[:1].upper()}{str(error)[1:]}.")
    except UsageError as error:
        abort(404, f"{str(error)[:1].upper()}{str(error)[1:]}.")
    return jsonify({"deleted": fingerprint})


@operation("POST", f"{API}/replay",
           {200: ReplayResult | ReplayPart, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody,
            503: ErrorBody},
           takes=Case, query=QUERY)  # fmt: skip
def replay() -> ResponseReturnValue:
    """Replay a case. Nothing is stored."""
    wanted, body = wanted_of(request.args), _body()
    return replay_answer(wanted, body, partial(_case_in, body))


@operation("POST", f"{API}/find",
           {200: FindResult, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody, 503: ErrorBody},
           takes=Case)  # fmt: skip
def find() -> ResponseReturnValue:
    """Search for a chunking under which a case fails. Nothing is stored."""
    found = services().searches.find(posted_case())
    return Response(plain(find_json(found)) + "\n", mimetype="application/json")


@operation("POST", f"{API}/cases",
           {200: SavedCase, 201: SavedCase, 400: ErrorBody, 410: ErrorBody, 413: ErrorBody, 415: ErrorBody,
            422: ErrorBody, 429: ErrorBody, 503: ErrorBody},
           takes=Case, headers={"Location": (200, 201), "Cache-Control": (200, 201)}, keyed=True,
           query={"listed": switch("1: list it in the library, if it is new or has no words that are not sent again."),
                  "run": switch("1: refuse a case whose engine is not entered here."),
                  "expires": Key("When this share ends by itself.",
                                 {"type": "string", "enum": [*CHOICES], "default": NEVER})},
           )  # fmt: skip
def save_case() -> ResponseReturnValue:
    """Store a case and give it a permalink: 201 when it is new, 200 when it was there already, and a key for each."""
    case, listed = posted_case(), is_asked("listed")
    expires = expiry(request.args.get("expires", NEVER), services().store.now())
    sharing = Sharing(delete_key(), client(), expires=expires)
    runs = is_asked("run") or not is_unrun(case, services().settings)
    saved = _save_run(case, sharing, listed=listed) if runs else _save_unrun(case, sharing, listed=listed)
    in_library = services().store.library.is_listed(saved.id)
    told = {"listed": in_library, "ran": runs, "delete_key": saved.delete_key, "expires": expires}
    answer = {"id": saved.id, "url": _permalink(saved.id), **told}
    response = jsonify(answer)
    response.status_code = 201 if saved.created else 200
    response.headers["Location"] = url_for("api.case", case_id=saved.id)
    response.headers["Cache-Control"] = "no-store"
    return response


def _save_run(case: Case, sharing: Sharing, *, listed: bool) -> Saved:
    runner = services().runner
    run, checked = runner.run(case), runner.cheaply_checked(case)
    findings = None if checked is None else checked.findings
    listing = listing_of(run, case, findings) if listed else None
    return save(services().store, run, findings, listing=listing, sharing=sharing)


def _save_unrun(case: Case, sharing: Sharing, *, listed: bool) -> Saved:
    return save_unrun(services().store, case, services().settings, listed=listed, sharing=sharing)


@operation("DELETE", f"{API}/cases/<case_id>",
           {200: DeletedCase, 403: ErrorBody, 404: ErrorBody, 410: ErrorBody, 503: ErrorBody})  # fmt: skip
def delete_case(case_id: str) -> ResponseReturnValue:
    """Withdraw the share of whoever has a delete key of a case."""
    if not services().store.withdraw(case_id, request.headers.get(DELETE_KEY, "").strip()):
        _find_case(case_id)
        abort(403, f"The header {DELETE_KEY} has no delete key of this case.")
    return jsonify({"deleted": case_id, "stays": services().store.is_live(case_id)})


@operation("GET", f"{API}/cases/<case_id>", {200: Case, 404: ErrorBody, 410: ErrorBody}, tagged=True)
def case(case_id: str) -> ResponseReturnValue:
    """A stored case, as the case file."""
    return Response(_find_case(case_id).body, mimetype="application/json")


@operation("GET", f"{API}/cases/<case_id>/export/<target>",
           {200: _FILES, 404: ErrorBody, 410: ErrorBody, 422: ErrorBody, 503: ErrorBody},
           headers={"Content-Disposition": (200, 304)}, tagged=True,
           query={"accept": switch("1: take today's result for the right one where the case expects nothing."),
                  "dialect": "What an SSE transcript calls reasoning: reasoning, or reasoning_content."})  # fmt: skip
def export(case_id: str, target: str) -> ResponseReturnValue:
    """A stored case as a file for another tool, or as a test for the suite of another project."""
    began = thread_time()
    if target not in TARGETS:
        abort(404, f"There is no export {target!r}; there are {', '.join(TARGETS)}.")
    run = run_for(services().runner, loads(_find_case(case_id).body), target, began)
    dialect = dialect_of(request.args.get("dialect", ""))
    job = services().searches.known(run.case) if target in ("markdown", "html") else None
    found = None if job is None else job.result
    accept, link = is_asked("accept"), _permalink(case_id)
    made = exported(run, target, accept=accept, permalink=link, dialect=dialect, found=found, case_id=case_id)
    response = Response(utf8(made.text), content_type=f"{made.mimetype}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{made.filename}"'
    return response


@operation("GET", f"{API}/openapi.json", {200: "the description"}, tagged=True)
def openapi() -> ResponseReturnValue:
    """This description, OpenAPI 3.1."""
    return jsonify(description(tuple(OPERATIONS), installed_version(), request.script_root or "/"))


@blueprint.errorhandler(CaseError)
def _wrong_case(error: CaseError) -> Response:
    if error.pointer == "/expect" and request.method == "GET":
        return api_error("no_expectation", f"{error.message}. Add ?accept=1 to accept today's result.", error.pointer)
    return api_error("invalid_case", error.message, error.pointer or None)


def _failed(code: str, status: int, error: Exception) -> Response:
    answer = api_error(code, getattr(error, "description", None) or str(error), status=status)
    if status == 429:
        answer.headers["Retry-After"] = str(FULL_SECONDS)
    return answer


for _kind, _code, _status in (
    (BadJsonError, "bad_json", 400),
    (_NotACaseError, "not_a_case", 422),
    (NoPlace, "too_many_requests", 429),
    (UsageError, "not_possible", 422),
    (SearchError, "search_failed", 500),
):
    blueprint.register_error_handler(_kind, partial(_failed, _code, _status))


def posted_case() -> Case:
    """The case in the body of this request. Raises what `_body` and `_case_in` raise."""
    return _case_in(_body())


def _body() -> bytes:
    """The body of this request. Raises UnsupportedMediaType where it does not say that it is JSON."""
    if request.mimetype != "application/json" and not request.mimetype.endswith("+json"):
        given = f"is {request.mimetype}" if request.mimetype else "has no content type"
        raise UnsupportedMediaType(f"The body {given}; send a case as application/json{_RECORDING}.")
    return request.get_data(cache=False)


def _case_in(body: bytes) -> Case:
    """The case in a body, with the defaults of this server.

    Raises BadJson with line and column, and CaseError with the pointer of what is wrong.
    """
    try:
        data = jsontext.read(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadJsonError(f"The body is not UTF-8 text: byte {error.start:,} is not.") from error
    except JsonError as error:
        _refuse_recording(body)
        raise BadJsonError(f"The body cannot be read: {error.message}.") from error
    if not isinstance(data, dict) or "schema" not in data:
        _refuse_recording(body)
    case = load_case(data)
    if len(case.replay) > MOST_CHUNKINGS:
        message = f"{len(case.replay):,} chunkings are too many for one request: at most {MOST_CHUNKINGS}"
        raise CaseError(message, "/replay")
    return with_defaults(case, services().settings)


def _refuse_recording(body: bytes) -> None:
    """Raise NotACaseError for a log, a response, ids: what the intake knows and a case is not."""
    found = recognise(body, pasted=False)
    if found.kind not in _NO_RECORDING:
        raise _NotACaseError(f"This is no case but {found.title}: send it to /api/v1/intake, which makes cases of it.")


def _find_case(case_id: str) -> StoredCase:
    try:
        found = services().store.get(case_id)
    except Gone as gone:
        abort(410, f"This case {gone.words}.")
    if found is None:
        abort(404, "There is no case of that id.")
    return found


def _permalink(case_id: str) -> str:
    return f"{public_root()}/c/{case_id}"


def _engine_info(name: str, card: Card | None) -> dict[str, Any]:
    """One row of the list of engines."""
    if card is None:
        unknown = {"title": "", "version": "", "contract": "", "wants": None, "streams": None}
        return {"name": name, **unknown, "parsers": [], "reasoning_parsers": []}
    said = card.model_dump(include={"version", "contract", "wants", "streams"})
    names = {"parsers": card.names("tool"), "reasoning_parsers": card.names("reasoning")}
    return {"name": name, "title": f"{card.name} {card.version}".strip(), **said, **names}


def _parser_info(fmt: Format, kind: str) -> dict[str, Any]:
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
    found = {"name": fmt.name, "title": fmt.title, "kind": kind, "aliases": list(fmt.aliases)}
    return {**found, "policies": known, "example": fmt.example}
