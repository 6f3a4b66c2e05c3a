"""The inspector: the form, the examples, and replays. `POST /run` replays the form, or a case that the page carries.

Nothing is run by /intake, which recognises and names what was typed or opened, and /template, which checks the template
that was typed or puts an example in its place (`template_do` is check or example:NAME). /live says what an edited
output becomes while somebody types. htmx gets the part it asks for; without script the whole form comes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import BUILTIN, ENGINES
from parsers.cases.io import dumps, load_case, to_data
from parsers.vocabulary.types import UsageError
from webapp.engines import RESPONSE_TEMPLATE
from webapp.fields import field_at, unix_lines
from webapp.links import case_link, public_base
from webapp.page.addresses.drifted import Drifted, drift_of
from webapp.page.addresses.subjects import (
    Before,
    Subject,
    answer_of,
    before_of,
    blueprint,
    carried_case,
    carried_run,
    case_subject,
    error_page,
    example_subject,
    held_subject,
    hold,
    is_example,
    is_loopback,
    is_partial,
    known_run,
    links_of,
    lists_by_default,
    may_show_picture,
    named_subject,
    posted_subject,
    render,
)
from webapp.page.compare.forked import Fork, edited_of, fork_of
from webapp.page.form.form_page import FormPage, form_page, template_examples
from webapp.page.form.setup import (
    FormError,
    Setup,
    Upload,
    case_line,
    case_of,
    case_of_output,
    look_at,
    read_setup,
    setup_after,
    setup_of,
)
from webapp.page.inspect.inspect_page import Links, ReplayPage, View, read_state, replay_page, view_of
from webapp.page.inspect.live import Live
from webapp.page.inspect.live import live as live_of
from webapp.page.inspect.stated import Stated, stated_of
from webapp.page.library.checklist import entries
from webapp.page.search.search_page import WAIT_SECONDS, Search, SearchPanes, search_of_job, search_panes
from webapp.runs.exports import Target, offered
from webapp.runs.prepare import with_defaults
from webapp.security import TooLarge, check_limit
from webapp.services import services
from webapp.store.expiring import CHOICES, NEVER
from webapp.switches import is_ticked
from webapp.tokenizers import library, list_tokenizers
from webapp.write_access import serves

_PARTS = {  # of choices, by what asks for them
    "ask-stops": "_stops_parts.html",
    "ask-events": "_events_parts.html",
    "ask-pins": "_pins_parts.html",
    "lines": "_lines.html",
}
_BLOCKS = ("window", "truncated", "cut", *_PARTS)
_GENERIC = ("tokenizer.json", "tekken.json", "tokenizer.model")
PAGE_REPORT_SECONDS = 4.0  # the same for who has no script, and asks for the whole page each time
REPORT_SECONDS = 0.08  # of work on a long report, after which its progress is told and others may ask for something


@dataclass(slots=True, frozen=True)
class _Picture:
    """Where the picture of a case is, and its page, as whoever reads the link finds them."""

    link: str
    image: str


@dataclass(slots=True, frozen=True)
class _About:
    """Holds what the page is about. `kind`: home, example, case, run, edit or error; `subject` is the case it shows.

    `origin` is the case that a smaller one came from, `fork` what this copy of a stored case changed of it, and `drift`
    how today's result departs from the one saved. `problem` says why the chunking that was asked for is not shown.
    `editable`: the parser is a format that the editor can open. `stated` is what the case says of engines that did not
    run it. `exports` are the files it offers, with their addresses.
    """

    kind: str
    heading: str
    note: str
    subject: Subject | None = None
    origin: Subject | None = None
    fork: Fork | None = None
    drift: Drifted | None = None
    picture: _Picture | None = None
    problem: str = ""
    editable: bool = False
    stated: Sequence[Stated] = ()
    exports: Sequence[tuple[Target, str]] = ()


@dataclass(slots=True, frozen=True)
class _Share:
    """Holds what the share form says and sends: the case by its name (`source`), or the case itself as JSON.

    `loopback`: links made now open on this machine only. `listed`: whether the box of the library is ticked;
    `in_library`: the case is there already, and there is no box; `hides_parent`: its parent is not. `stores` False:
    this server stores no cases. `tags` are what the case has of them. `comparison` is the query of a comparison of it,
    with the texts put `beside`. `expires` is the choice of how long, of those there are; `problem`: why it was not
    stored just now. `held` is the token of a run that is stored nowhere, `permalink` where it was shared to already.
    `view` is the query of what is looked at, which the link leads to.
    """

    url: str = ""
    source: str = ""
    case: str = ""
    title: str = ""
    note: str = ""
    size: str = ""
    view: str = ""
    loopback: bool = False
    stores: bool = True
    listed: bool = False
    in_library: bool = False
    hides_parent: bool = False
    tags: str = ""
    comparison: str = ""
    beside: tuple[str, ...] = ()
    expires: str = NEVER
    choices: tuple[str, ...] = CHOICES
    problem: str = ""
    held: str = ""
    permalink: str = ""


@dataclass(slots=True, frozen=True)
class _InspectPage:
    """The page of the inspector; without `page` there is no replay on it, only the form. A part of it has no form."""

    about: _About
    form: FormPage | None
    page: ReplayPage | None = None
    share: _Share = _Share()
    percent: int = 0  # of the report, where somebody works on it without script


@blueprint.get("/new")
@blueprint.get("/")  # the nearest is the one that links are made to
@blueprint.get("/run", endpoint="home_run")
def home() -> Response:
    """The first page, with the `tokenizer` of the address chosen, where there is one of that name.

    A reload of /run, whose text is nowhere on the server, starts anew.
    """
    setup = Setup()
    if request.args.get("tokenizer") in [info["name"] for info in list_tokenizers()]:
        setup.output.tokenizer = request.args["tokenizer"]
    return _show_form(setup, _About("home", "", ""))


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
    """A worked example, or a failure of the gallery."""
    return show(example_subject(name))


@blueprint.get("/example/<name>.json")
def example_json(name: str) -> Response:
    """An example's case file."""
    return Response(dumps(example_subject(name).case), mimetype="application/json")


@blueprint.post("/run")
def run() -> ResponseReturnValue:
    """Replay what was posted: the form, or the case the page carries."""
    setup = _posted_setup()
    try:
        adds = bool(request.form.get("raw_output"))
        if not adds and (known := carried_run(request.form.get("case", ""))) is not None:
            return show_held(known)
        case, shown = _posted_run(setup)
        origin = _origin(request.form.get("origin", ""))
        return show(hold(case, shown, origin, edited=_before(setup, case)), shown, origin=origin)
    except (FormError, UsageError, TooLarge) as error:
        return _refused(setup, error)


def _before(setup: Setup, case: Case) -> Before | None:
    """The run whose form was posted, where that is known still and something of it was changed; of a stored case its
    copy names it already."""
    if request.form.get("case") or case.parent is not None:
        return None
    before = named_subject(setup.carried.source) or known_run(request.form.get("held", ""))
    return None if before is None or before.case == case else before_of(before)


@blueprint.post("/live")
def live() -> Response:
    """What the output that is edited in the form becomes, with the quick verdict. Nothing is kept of it."""
    setup = _posted_setup()
    try:
        _take_tokenizer(setup)
        case = with_defaults(case_of_output(setup, _source(setup)), services().settings)
        found = live_of(case, services().settings)
    except (FormError, UsageError, TooLarge) as error:
        found = Live(problem=error.description or "" if isinstance(error, TooLarge) else str(error))
    return render("_live_parts.html", live=found)


@blueprint.get("/r/<token>")
def held(token: str) -> Response:
    """A posted run again, or the part of it that a script asks for: 410 once it is held no more."""
    return show_held(held_subject(token))


@blueprint.post("/r/<token>/left")
def left(token: str) -> ResponseReturnValue:
    """The page of a posted run was closed, or leads elsewhere: the memory of a long one is wanted back."""
    services().held.leave(token)
    return "", 204


@blueprint.errorhandler(FormError)
@blueprint.errorhandler(UsageError)
def unusable(error: Exception) -> ResponseReturnValue:
    """The page for a case that cannot be read or replayed, where there is no form to say it in."""
    return error_page(422, "This case cannot be used", str(error))


def _posted_run(setup: Setup) -> tuple[Case, Setup]:
    """The case of a POST, carried or put together from the form, and the form to show with it. Raises FormError."""
    if raw := request.form.get("raw_output"):
        case = _with_raw_output(posted_subject().case, unix_lines(raw))
        return case, setup_of(case)
    if text := request.form.get("case"):
        case = carried_case(text)
        return case, setup_after(_pasted_setup(case) or setup, setup_of(case))
    source = _source(setup)
    _take_tokenizer(setup)
    case = with_defaults(case_of(setup, _posted_file("file"), source), services().settings)
    return case, setup_after(setup, setup_of(case), source)


def _source(setup: Setup) -> Case | None:
    """The case that the form names instead of carrying it."""
    named = named_subject(setup.carried.source)
    return named.case if named is not None else None


def _with_raw_output(case: Case, text: str) -> Case:
    """A recorded stream with the raw output beside it, for the parser that fits to read. Raises CaseError."""
    data = to_data(case)
    data["input"]["text"] = text
    data["parser"] = {"name": "auto"}
    return with_defaults(load_case({key: value for key, value in data.items() if key != "replay"}), services().settings)


def _pasted_setup(case: Case) -> Setup | None:
    """Return what the page of a case that it carries was made from, recognised anew: no log is lost by stepping."""
    if not (text := request.form.get("pasted")) or is_partial():
        return None
    fields = {"text": text, "take_as": request.form.get("pasted_as", ""), "output": request.form.get("output", "")}
    fields["layers"] = request.form.get("pasted_layers", "")
    setup = read_setup(fields | {"tokenizer": (case.tokenizer.name if case.tokenizer else None) or ""})
    if (text := look_at(setup, None).case) is not None:
        setup.carried.base = case_line(carried_case(text))
    elif case.parser.format is not None:
        setup.carried.base = setup_of(case).carried.base
    return setup


def _posted_setup() -> Setup:
    """The form. It may carry a tokenizer, whose file has a limit of its own; the rest keeps to that of any request."""
    settings = services().settings
    if request.mimetype == "multipart/form-data" and settings.tokenizer_uploads:
        most = settings.max_request_bytes + settings.tokenizer_upload_bytes
        request.max_content_length = request.max_form_memory_size = most
    setup = read_setup(request.form)
    check_limit(settings, "max_request_bytes", len(setup.output.text), "The text")
    return setup


def _take_tokenizer(setup: Setup) -> None:
    """Keep the tokenizer that was uploaded with the form and choose it. Raises FormError."""
    upload = _posted_file("tokenizer_file")
    if upload is None:
        return
    try:
        setup.output.tokenizer = library().add_upload(_title(*upload), upload[1])["name"]
    except UsageError as error:
        raise FormError("tokenizer_file", str(error)) from error


def _title(name: str, data: bytes) -> str:
    """What an upload is called: files of all models have the same name, so that says which content it is too."""
    return f"{name} {hashlib.sha256(data).hexdigest()[:6]}" if name in _GENERIC else name


def _posted_file(field: str) -> Upload | None:
    """The name and the bytes of a file of the form, where one was chosen. Raises TooLarge for a large recording."""
    upload = request.files.get(field)
    if not upload or not upload.filename:
        return None
    data = upload.read()
    if field == "file":
        check_limit(services().settings, "max_request_bytes", len(data), f"The file {upload.filename}")
    return upload.filename, data


def _refused(setup: Setup, error: FormError | UsageError | TooLarge) -> Response:
    """The form again, with what was typed and what is wrong with it."""
    field, words = "text", error.description or "" if isinstance(error, TooLarge) else str(error)
    if isinstance(error, FormError | CaseError):
        field, words = error.field if isinstance(error, FormError) else field_at(error.pointer), error.message
    setup.errors = {field: words[:1].upper() + words[1:]}
    return _show_form(setup, _About("error", "Not run", ""), status=413 if isinstance(error, TooLarge) else 422)


def _show_form(setup: Setup, about: _About, *, status: int = 200) -> Response:
    """The form without a replay."""
    page = _InspectPage(about, form_page(setup, about.kind, services().settings))
    return render("inspect.html", "page", all_of=page, status=status)


def show_filled_form(setup: Setup) -> Response:
    """The form as somebody else filled it; nothing was run."""
    return _show_form(setup, _About("edit", "From another page", "not run"))


def show(
    subject: Subject, setup: Setup | None = None, *, kind: str = "", note: str = "", origin: Subject | None = None
) -> Response:
    """A page about a case, or the part of it that htmx asked for; see `inspect_page`."""
    if subject.base is None and subject.held is None:
        subject = hold(subject.case, setup, origin)
    view = view_of(services().runner, subject.case, read_state(request.values))
    block, checks = _block(), _asks_for_checks()
    percent = 0
    if view.state.report and (checks or block == "page"):
        seconds = REPORT_SECONDS if checks else PAGE_REPORT_SECONDS
        percent = int(100 * services().runner.check_some(view.base, seconds))
        if checks and percent < 100:
            return answer_of(subject, render("_report_progress.html", percent=percent))
        view = replace(view, state=replace(view.state, report=percent == 100))  # what is not done is not shown
    search = None
    if checks or block == "page" or not is_partial():
        search = search_of(subject.case, start=view.state.find)
    page = inspect_page(subject, view, search, setup, kind=kind, note=note, origin=origin)
    if checks:
        return answer_of(subject, render("_search_parts.html", all_of=page))
    if block in _PARTS:
        return answer_of(subject, render(_PARTS[block], all_of=page))
    page = replace(page, percent=percent)
    kept = block == "window" and is_partial()  # what is in the page, and the script moves what is current in it
    response = answer_of(subject, render("inspect.html", block, all_of=page, keeps_around=kept))
    if is_partial() and subject.held_url and block == "page" and not is_ticked(request.form.get("private")):
        response.headers["HX-Push-Url"] = subject.held_url
    return response


def show_held(subject: Subject) -> Response:
    """The page of a posted run as it was made first, or a part of it."""
    run = subject.held
    return show(subject) if run is None else show(subject, run.setup, origin=run.origin)


def search_of(case: Case, *, start: bool = False) -> Search:
    """The search of a case as it stands. `start` starts it and waits a few seconds: there is no script to ask later."""
    jobs, size = services().searches, len(case.text())
    if not start:
        return search_of_job(jobs, jobs.known(case), size)
    job = jobs.start(case, again=True)
    job.wait(WAIT_SECONDS)
    return search_of_job(jobs, job, size)


def _block() -> str:
    target = request.headers.get("HX-Target", "")
    return next((name for name in _BLOCKS if target.endswith(f"#{name}")), "page")


def _asks_for_checks() -> bool:
    """Return whether an open page wants what the checks of a long output said: it names itself as the target."""
    return is_partial() and request.headers.get("HX-Target", "").endswith("#inspector")


def inspect_page(
    subject: Subject,
    view: View,
    search: Search | None,
    setup: Setup | None = None,
    *,
    kind: str = "",
    note: str = "",
    origin: Subject | None = None,
) -> _InspectPage:
    """The page of a case. Without `search` only the window around the cursor is drawn; without `setup` the form is
    filled from the case. `kind` and `note` are the subject's unless something else is said. A run with an `origin`
    leads with what was found out about it."""
    kind, run = kind or subject.kind, view.run
    panes = SearchPanes(Search("idle", automatic=False))
    if search is not None:
        quick = search.found is None and (view.base.short or view.state.report)
        known = services().runner.checked(view.base) if quick else view.base.known_checks
        panes = search_panes(view.base, known, search, view.chunking, case_line)
    return _InspectPage(
        about=_about(subject, view, kind, note or subject.note, origin, whole=search is not None),
        form=None if search is None else form_page(setup or _setup_of(subject), kind, services().settings, run),
        page=replay_page(
            view,
            panes,
            links_of(subject, view.state),
            reader=subject.tile.format if subject.tile else "",
            pasted=setup.output.text if setup is not None and setup.found is not None and setup.found.is_log else "",
        ),
        share=share_of(subject, view=Links(None, view.state).query(step=panes.start)),
    )


def _setup_of(subject: Subject) -> Setup:
    """The form filled from a case, which it names where that has an address; what comes of it is its child."""
    setup = setup_of(subject.child(subject.case), keep=not subject.source)
    setup.carried.source = subject.source
    return setup


def share_of(subject: Subject, *, view: str = "", comparison: str = "", beside: tuple[str, ...] = ()) -> _Share:
    """Return what the share form says of a case; `view` is the query of what is looked at, `comparison` that of one of
    it, with the texts put `beside`."""
    case, library = subject.case, services().store.library
    return _Share(
        url=subject.url("share"),
        source=subject.source,
        title=case.title or "",
        note="\n".join(case.notes),
        size=f"about {max(1, len(case.text()) // 1000):,} kB of text",
        view=view,
        loopback=is_loopback(public_base()),
        stores=serves(services().settings, "page.save"),
        listed=lists_by_default(),
        in_library=subject.stored is not None and library.is_listed(subject.stored.id),
        hides_parent=case.parent is not None and not library.is_listed(case.parent),
        tags=", ".join(case.flags),
        comparison=comparison,
        beside=beside,
        held=request.form.get("held", "") if subject.held is None else subject.held.token,
        permalink=subject.permalink,
    )


def _about(subject: Subject, view: View, kind: str, note: str, origin: Subject | None, *, whole: bool) -> _About:
    """What the page is about; without `whole`, of a part of it that does not say what was edited."""
    case, plays = subject.case, view.run.choice.plays
    fork = _fork(subject) if whole else None
    targets = offered(services().runner.unchecked(view.run))
    return _About(
        kind=kind,
        heading=subject.heading,
        note=f"edited, {note}" if fork and fork.is_edit else note,
        subject=subject,
        origin=origin,
        fork=fork,
        drift=drift_of(subject) if kind == "case" else None,
        picture=_picture(subject) if kind == "case" else None,
        problem=view.problem,
        editable=(case.parser.engine or BUILTIN) in ENGINES and not plays,
        stated=stated_of(case),
        exports=[(target, subject.url("export", target=target.name)) for target in targets],
    )


def _fork(subject: Subject) -> Fork | None:
    """Return what a copy changed of its parent, where that is stored here, or an edit of the run before."""
    case, before = subject.case, subject.held.edited if subject.held else None
    if case.parent is not None and services().store.is_live(case.parent):
        return fork_of(case.parent, case_subject(case.parent).case, case)
    if before is None:
        return None
    fork = edited_of(before.title, before.url, before.line, before.case, case)
    return fork if fork.changes else None


def _picture(subject: Subject) -> _Picture | None:
    if subject.stored is None or not may_show_picture(subject.stored):
        return None
    case_id = subject.name
    return _Picture(case_link(case_id), public_base() + url_for("page.picture", case_id=case_id))


def _origin(source: str) -> Subject | None:
    """The case that a smaller one came from, by the name its page has for it; None for anything else."""
    kind, _, name = source.partition(":")
    known = (kind == "example" and is_example(name)) or (kind == "case" and services().store.is_live(name))
    return named_subject(source) if known else None


@blueprint.post("/intake")
def intake() -> Response:
    """The panel, or the whole form with it."""
    setup = _posted_setup()
    try:
        _take_tokenizer(setup)
        look_at(setup, _posted_file("file"))
    except (FormError, TooLarge) as error:
        return _refused(setup, error)
    if is_partial():
        return render("_intake.html", form=form_page(setup, "edit", services().settings))
    return _show_form(setup, _About("edit", "What is this?", "not run"))


@blueprint.post("/template")
def template() -> Response:
    """The template part again, with what there is to say about it."""
    setup = read_setup(request.form)
    setup.parser.parser = RESPONSE_TEMPLATE
    if found := template_examples().get(request.form.get("template_do", "").removeprefix("example:")):
        setup.parser.template, setup.request.prompt_tail = found.text, found.prefix
    if not is_partial():
        return _show_form(setup, _About("edit", "Response template", "not run"))
    report = request.headers.get("HX-Target", "").endswith("#template-report")
    form = form_page(setup, "edit", services().settings)
    return render("_template_report.html" if report else "_template.html", form=form)
