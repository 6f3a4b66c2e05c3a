"""The page's addresses. Views read the request, call pure functions, and choose what is sent back.

===========================  ========================================================================================
GET  /                       the form, the examples, and the first example replayed
GET  /example/<name>         a worked example
GET  /help, /checks          keys and colours; every check with a failing and a passing example
POST /run                    the form, or a case that the page carries: a replay that is stored nowhere
POST /cases, /c/<id> ...     see `shared`
===========================  ========================================================================================
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.io import dumps
from parsers.cases.model import Case, CaseError
from parsers.vocabulary.types import UsageError
from webapp.htmx import is_partial, render
from webapp.page.checklist import entries
from webapp.page.contexts import Scene, form_context, scene_context, view_of
from webapp.page.errors import error_page
from webapp.page.examples import Example, examples
from webapp.page.form import FormError, Setup, case_line, case_of, field_of, kept, read_setup, setup_of
from webapp.page.intake_form import look_at
from webapp.page.roles import LEGEND
from webapp.page.search import WAIT_SECONDS, Search, look, searched
from webapp.page.services import services
from webapp.page.sharing import Lead, Origin, is_loopback
from webapp.page.sources import carried, find_example, is_stored, named, opened_case
from webapp.page.state import read_state
from webapp.page.words import CHIPS, KEYS, ROLES
from webapp.runs.prepare import with_defaults
from webapp.security import TooLarge, check_limit
from webapp.tokenizers import library

blueprint = Blueprint("page", __name__)


@blueprint.app_context_processor
def shared_words() -> dict[str, Any]:
    """What every page may say."""
    return {"key_sheet": KEYS, "role_words": ROLES, "chip_words": CHIPS, "legend": LEGEND}


@blueprint.get("/")
@blueprint.get("/new")
@blueprint.get("/run", endpoint="home_run")
def home() -> Response:
    """The first page. A reload of /run, whose text is nowhere on the server, starts anew."""
    example = next(iter(examples().values()))
    return show(example_scene(example, "home", setup=Setup(tools="")))


@blueprint.get("/examples", endpoint="examples")
def all_examples() -> Response:
    """All examples."""
    return render("examples.html", cards=list(examples().values()), example=None)


@blueprint.get("/help")
def help() -> Response:
    """Keys and colours, for readers without script."""
    return render("help.html")


@blueprint.get("/checks")
def checks() -> Response:
    """Every check, with the places that findings link to."""
    return render("checks.html", entries=entries())


@blueprint.get("/example/<name>")
def example(name: str) -> Response:
    """A worked example."""
    return show(example_scene(find_example(name), "example"))


@blueprint.get("/example/<name>.json")
def example_json(name: str) -> Response:
    """An example's case file."""
    return Response(dumps(find_example(name).case), mimetype="application/json")


@blueprint.post("/run")
def run() -> ResponseReturnValue:
    """Replay what was posted: the form, or the case the page carries."""
    setup = posted_setup()
    try:
        case = posted_case(setup)
        shown = kept(pasted(case) or setup, setup_of(case))
        return show(run_scene(case, shown, origin_of(request.form.get("origin", ""))))
    except (FormError, UsageError, TooLarge) as error:
        return refused(setup, error)


@blueprint.errorhandler(FormError)
@blueprint.errorhandler(UsageError)
def unusable(error: Exception) -> ResponseReturnValue:
    """The page for a case that cannot be read or replayed, where there is no form to say it in."""
    return error_page(422, "This case cannot be used", str(error))


def posted_case(setup: Setup) -> Case:
    """The case of a POST: the one it carries, or what the form says. Raises FormError."""
    if text := request.form.get("case"):
        return carried(text)
    if not setup.base and (source := named(setup.source)) is not None:
        setup.base = case_line(source)
    take_tokenizer(setup)
    return with_defaults(case_of(setup, posted_file("file")), services().settings)


def pasted(case: Case) -> Setup | None:
    """What the page of a case that it carries was made from, recognised anew: no log is lost by stepping."""
    if not (text := request.form.get("pasted")) or is_partial():
        return None
    fields = {"text": text, "take_as": request.form.get("pasted_as", ""), "output": request.form.get("output", "")}
    setup = read_setup(fields | {"tokenizer": (case.tokenizer.name if case.tokenizer else None) or ""})
    if (text := look_at(setup, None).case) is not None:
        setup.base = case_line(carried(text))
    elif case.parser.format is not None:
        setup.base = setup_of(case).base
    return setup


def posted_setup() -> Setup:
    """The form. It may carry a tokenizer, whose file has a limit of its own; the rest keeps to that of any request."""
    settings = services().settings
    if request.mimetype == "multipart/form-data" and settings.tokenizer_uploads:
        most = settings.max_request_bytes + settings.tokenizer_upload_bytes
        request.max_content_length = request.max_form_memory_size = most
    setup = read_setup(request.form)
    check_limit(settings, "max_request_bytes", len(setup.text), "The text")
    return setup


def take_tokenizer(setup: Setup) -> None:
    """Keep the tokenizer that was uploaded with the form and choose it. Raises FormError."""
    upload = posted_file("tokenizer_file")
    if upload is None:
        return
    try:
        setup.tokenizer = library().add_upload(*upload)["name"]
    except UsageError as error:
        raise FormError("tokenizer_file", str(error)) from error


def posted_file(field: str) -> tuple[str, bytes] | None:
    """The name and the bytes of a file of the form, where one was chosen. Raises TooLarge for a large recording."""
    upload = request.files.get(field)
    if not upload or not upload.filename:
        return None
    data = upload.read()
    if field == "file":
        check_limit(services().settings, "max_request_bytes", len(data), f"The file {upload.filename}")
    return upload.filename, data


def refused(setup: Setup, error: FormError | UsageError | TooLarge) -> Response:
    """The form again, with what was typed and what is wrong with it."""
    field, words = "text", error.description or "" if isinstance(error, TooLarge) else str(error)
    if isinstance(error, FormError | CaseError):
        field, words = error.field if isinstance(error, FormError) else field_of(error.pointer), error.message
    setup.errors = {field: words[:1].upper() + words[1:]}
    status = 413 if isinstance(error, TooLarge) else 422
    return render(
        "inspect.html", "page", status=status, **form_context(setup, "error"), heading="Not run", heading_note=""
    )


def show(scene: Scene) -> Response:
    """A page about a case, or the part of it that htmx asked for."""
    view = view_of(scene.case, read_state(request.values))
    block, checks = _block(), _asks_for_checks()
    whole = checks or block == "page" or not is_partial()
    context = scene_context(scene, view, search_of(scene.case, start=view.state.find) if whole else None)
    if checks:
        return render("_search_parts.html", **context)
    loopback = is_loopback(services().settings, request.host_url)
    response = render("inspect.html", block, **context, loopback=loopback)
    if is_partial() and scene.base is None and block == "page" and "private" not in request.form:
        response.headers["HX-Push-Url"] = url_for("page.home_run")
    return response


def search_of(case: Case, *, start: bool) -> Search:
    """The search of a case as it stands. `start` starts it and waits a few seconds: there is no script to ask later."""
    jobs, size = services().jobs, len(case.text())
    if not start:
        return look(jobs, case, size)
    job = jobs.start(case, again=True)
    job.wait(WAIT_SECONDS)
    return searched(jobs, job, size)


def _block() -> str:
    """The block that belongs into the target htmx names."""
    target = request.headers.get("HX-Target", "")
    return next((name for name in ("window", "truncated", "cut") if target.endswith(f"#{name}")), "page")


def _asks_for_checks() -> bool:
    """Whether an open page wants what the checks of a long output said. htmx names the element that asks, its whole."""
    return is_partial() and request.headers.get("HX-Target", "").endswith("#inspector")


def example_scene(example: Example, kind: str, setup: Setup | None = None) -> Scene:
    """The page of an example; on the first page the form is empty."""
    return Scene(
        kind=kind,
        case=example.case,
        base=url_for("page.example", name=example.name),
        heading=example.title,
        heading_note="example",
        export_url=lambda target: url_for("page.export_example", name=example.name, target=target),
        share_url=url_for("page.share_example", name=example.name),
        case_url=url_for("page.example_json", name=example.name),
        source=f"example:{example.name}",
        setup=setup,
        example=example,
        follows=kind != "home",
    )


def origin_of(source: str) -> Origin | None:
    """The case that a smaller one came from, by the name its page has for it; None for anything else."""
    kind, _, name = source.partition(":")
    if kind == "example" and name in examples():
        return Origin(source, examples()[name].title, url_for("page.example", name=name))
    if kind == "case" and is_stored(name):
        return Origin(source, opened_case(name).title or f"case {name}", url_for("page.case", case_id=name))
    return None


def run_scene(case: Case, setup: Setup, origin: Origin | None = None) -> Scene:
    """The page of a run that is stored nowhere. One with an `origin` leads with what was found out about it."""
    lead = None if origin is None else Lead("", case.notes, "", "", "", changed=False)
    return Scene(
        kind="run",
        case=case,
        base=None,
        heading=case.title or "Unsaved run",
        heading_note="not shared",
        export_url=lambda target: url_for("page.export_posted", target=target),
        share_url=url_for("page.share_posted"),
        setup=setup,
        lead=lead,
        origin=origin,
    )
