"""The page's addresses. Views read the request, call pure functions, and choose what is sent back.

===========================  ========================================================================================
GET  /                       the form, the examples, and the first example replayed
GET  /example/<name>         a worked example
POST /run                    the form, or a case that the page carries: a replay that is stored nowhere
POST /cases, /c/<id> ...     see `shared`
===========================  ========================================================================================
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.io import dumps, loads
from parsers.cases.model import Case, CaseError
from parsers.types import UsageError
from webapp.htmx import is_partial, render
from webapp.page.contexts import Scene, form_context, scene_context
from webapp.page.examples import Example, examples
from webapp.page.form import FormError, Setup, case_of, read_setup, setup_of
from webapp.page.roles import LEGEND
from webapp.page.services import services
from webapp.page.sharing import is_loopback
from webapp.page.state import read_state
from webapp.page.words import KEYS, ROLES
from webapp.security import TooLarge

blueprint = Blueprint("page", __name__)


@blueprint.app_context_processor
def shared_words() -> dict[str, Any]:
    """What every page may say."""
    return {"key_sheet": KEYS, "role_words": ROLES, "legend": LEGEND}


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
    setup = Setup()
    try:
        setup, case = posted_case()
        return show(run_scene(case, setup))
    except (FormError, UsageError, TooLarge) as error:
        return refused(setup if setup.text else read_setup(request.form), error)


def posted_case() -> tuple[Setup, Case]:
    """The form and the case of a POST. Raises FormError."""
    if text := request.form.get("case"):
        case = carried(text)
        return setup_of(case), case
    setup = read_setup(request.form)
    upload = request.files.get("file")
    given = (upload.filename or "", upload.read()) if upload and upload.filename else None
    case = with_defaults(case_of(setup, given, force=bool(request.form.get("force"))))
    if given or setup.recognised:
        setup = _refilled(setup, case)
    return setup, case


def carried(text: str) -> Case:
    """A case that a page carried in a hidden field or a private link."""
    try:
        return loads(text)
    except CaseError as error:
        raise FormError("text", f"The case of this page cannot be read. {error}") from error


def with_defaults(case: Case) -> Case:
    """The case with what this server's environment decides spelled out in it."""
    if services().settings.strict and case.context.strict is None:
        return case.model_copy(update={"context": case.context.model_copy(update={"strict": True})})
    return case


def _refilled(setup: Setup, case: Case) -> Setup:
    filled = setup_of(case)
    filled.recognised, filled.notes, filled.can_force = setup.recognised, setup.notes, setup.can_force
    return filled


def refused(setup: Setup, error: FormError | UsageError | TooLarge) -> Response:
    """The form again, with what was typed and what is wrong with it."""
    field = error.field if isinstance(error, FormError) else "parser" if "parser" in str(error) else "text"
    words = error.description or "" if isinstance(error, TooLarge) else str(error)
    setup.errors = {field: words[:1].upper() + words[1:]}
    status = 413 if isinstance(error, TooLarge) else 422
    return render(
        "inspect.html", "page", status=status, **form_context(setup, "error"), heading="Not run", heading_note=""
    )


def show(scene: Scene) -> Response:
    """A page about a case, or the part of it that htmx asked for."""
    state, runner = read_state(request.values), services().runner
    first = runner.run(scene.case)
    report = runner.report(first) if first.short or state.report else first.report
    found = runner.run(scene.case, state.chunk) if state.chunk else first
    context = scene_context(scene, found, report, state)
    loopback = is_loopback(services().settings, request.host_url)
    response = render("inspect.html", *_blocks(), **context, loopback=loopback)
    if is_partial() and scene.base is None and _blocks() == ("page",) and "private" not in request.form:
        response.headers["HX-Push-Url"] = url_for("page.home_run")
    return response


def _blocks() -> tuple[str, ...]:
    """The blocks that belong into the target htmx names."""
    target = request.headers.get("HX-Target", "")
    return (next((name for name in ("window", "inspector") if target.endswith(f"#{name}")), "page"),)


def find_example(name: str) -> Example:
    """The example of that name, or 404."""
    found = examples().get(name)
    if found is None:
        abort(404, "There is no example of that name.")
    return found


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


def run_scene(case: Case, setup: Setup) -> Scene:
    """The page of a run that is stored nowhere."""
    return Scene(
        kind="run",
        case=case,
        base=None,
        heading=case.title or "Unsaved run",
        heading_note="not shared",
        export_url=lambda target: url_for("page.export_posted", target=target),
        share_url=url_for("page.share_posted"),
        setup=setup,
    )
