"""What all views share: which case a request speaks of and where that is found, and how they answer.

One URL, one view, two sizes of answer: the page, or the blocks of it that htmx asked for. htmx 4 sends
`HX-Request-Type: partial` when it wants a piece, and `full` when it restores a page from history. `HX-Request` alone
cannot tell the two apart, so it decides nothing here. Both answers carry Vary: a cache that mixed them up would show a
bare fragment after Back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from jinja2_fragments.flask import render_blocks

from parsers.cases.case import Case, CaseError
from parsers.cases.io import loads
from webapp.formats.folder import with_folder_format
from webapp.page.form.setup import FormError, Setup, case_line
from webapp.page.inspect.inspect_page import Links, ViewState
from webapp.page.library.examples import Example, examples
from webapp.page.library.gallery import Tile, gallery
from webapp.runs.held import HELD_HEADER, HeldRun
from webapp.services import services
from webapp.settings import LOOPBACK
from webapp.store import Gone, StoredCase
from webapp.write_access import may_write

blueprint = Blueprint("page", __name__)

_ADVICE = {
    400: "Nothing was changed. Go back and try again.",
    403: "Nothing was changed.",
    404: (
        "If somebody sent you this address, it may be a private link cut short, or a case that lives on another"
        " server. Ask for the case file and open it here."
    ),
    410: "Go back to the page it came from, or ask whoever shared it for the case file.",
    405: (
        "Nothing was lost or changed: go back to the run, or with your browser's Back button, and ask again from there."
    ),
    429: "Your browser's Back button brings back what you typed.",
    413: "Your browser's Back button brings the text back. Shorten it, or have the limit raised.",
    500: "The text you sent is still in your browser: go back to it.",
}


View = Callable[..., ResponseReturnValue]


@dataclass(slots=True, frozen=True)
class Subject:
    """A case and where it is found. `kind` is example, case or run; `name` is the example's, or the id of the case;
    an example is a worked one (`example`) or a failure of the gallery (`tile`).

    `source` is what a form calls it: `example:NAME` or `case:ID`, empty for a run that is stored nowhere, which the
    page carries. Such a run may be `held`: then there is an address for scripts, as long as this process lives, and a
    `permalink` where its page shared it.
    """

    case: Case
    kind: str
    heading: str
    note: str
    name: str = ""
    example: Example | None = None
    tile: Tile | None = None
    stored: StoredCase | None = None
    held: HeldRun | None = None
    permalink: str = ""

    @property
    def source(self) -> str:
        """Return what a form calls it."""
        return f"{self.kind}:{self.name}" if self.name else ""

    @property
    def base(self) -> str | None:
        """The address of its page; None for a run that is stored nowhere."""
        return url_for(f"page.{self.kind}", **self._key()) if self.name else None

    @property
    def held_url(self) -> str:
        """The address by which scripts ask for parts of a posted run; empty where it has none."""
        return "" if self.held is None else url_for("page.held", token=self.held.token)

    @property
    def line(self) -> str:
        """The case as JSON, as a page without an address carries it."""
        return case_line(self.case) if self.held is None else self.held.line

    @property
    def file_url(self) -> str:
        """The address of its case file; empty where the page carries it."""
        return url_for(f"page.{self.kind}_json", **self._key()) if self.name else ""

    def url(self, what: str, **more: Any) -> str:
        """The address under which it is compared, shared or exported (`what`: compare, share or export)."""
        return url_for(f"page.{what}_{self.kind if self.name else 'posted'}", **self._key(), **more)

    def _key(self) -> dict[str, Any]:
        return {"case_id" if self.kind == "case" else "name": self.name} if self.name else {}

    def child(self, case: Case) -> Case:
        """`case`, made of this one: a stored case is its parent."""
        return case.model_copy(update={"parent": self.name}) if self.kind == "case" else case


def example_subject(name: str) -> Subject:
    """The worked example or the tile of the gallery of that name, or 404."""
    if (found := examples().get(name)) is not None:
        return Subject(found.case, "example", found.title, "example", name, example=found)
    if (tile := gallery().get(name)) is None:
        abort(404, "There is no example of that name.")
    return Subject(tile.case, "example", tile.title, tile.thread, name, tile=tile)


def is_example(name: str) -> bool:
    """Return whether there is an example of that name."""
    return name in examples() or name in gallery()


def case_subject(case_id: str) -> Subject:
    """The case stored under an id, or 404, or 410."""
    stored = stored_case(case_id)
    case = services().runner.opened(stored.body)
    note = f"case {case_id}" if case.title else ""  # one without a title is called by its id
    return Subject(case, "case", case.title or f"Case {case_id}", note, case_id, stored=stored)


def run_subject(case: Case) -> Subject:
    """A case that is stored nowhere."""
    return Subject(case, "run", case.title or "Unsaved run", "not shared")


def of_held(held: HeldRun) -> Subject:
    """A posted run, which says so where its page shared it and what it was shared as is still there."""
    if held.shared is not None and services().store.is_live(held.shared.case_id):
        permalink = url_for("page.case", case_id=held.shared.case_id)
        return Subject(held.case, "run", held.shared.heading, "shared", held=held, permalink=permalink)
    return replace(run_subject(held.case), held=held)


@dataclass(slots=True, frozen=True)
class Before:
    """The run that another was edited from: its case, that as JSON, and where it is found for now."""

    case: Case
    line: str
    title: str
    url: str


def before_of(subject: Subject) -> Before:
    """What is kept of a run while one that was edited from it is held."""
    return Before(subject.case, subject.line, subject.heading, subject.base or subject.held_url)


def hold(
    case: Case,
    setup: Setup | None = None,
    origin: Subject | None = None,
    beside: tuple[str, ...] = (),
    edited: Before | None = None,
) -> Subject:
    """A case that was posted and is stored nowhere, held from now on with the outputs `beside` it; `edited` is the run
    that it was edited from."""
    known, line = request.form.get("held", ""), case_line(case)
    return of_held(
        services().held.hold(case, line, setup=setup, origin=origin, known=known, beside=beside, edited=edited)
    )


def carried_run(text: str) -> Subject | None:
    """The posted run whose case a form carries, where it is still held: nothing is read or checked again."""
    held = services().held.get(request.form.get("held", ""))
    return of_held(held) if held is not None and held.line == text else None


def known_run(token: str) -> Subject | None:
    """The posted run of a token; of one that another process holds what its case alone tells. None where it is held
    nowhere, or can be read no more: whoever asks can do without."""
    held = services().held.get(token)
    if held is None and (line := services().held.line_elsewhere(token)) is not None:
        with suppress(FormError):
            held = HeldRun(token, carried_case(line), line)
    return None if held is None else of_held(held)


def held_subject(token: str) -> Subject:
    """The posted run of a token, or 410: whoever has its text posts it again."""
    held = services().held.get(token)
    if held is None:
        abort(410, "This run is held here no more.")
    return of_held(held)


def named_subject(source: str) -> Subject | None:
    """The case called `example:NAME` or `case:ID`, or 404, or 410; None for anything else."""
    kind, _, name = source.partition(":")
    return example_subject(name) if kind == "example" else case_subject(name) if kind == "case" else None


def posted_subject() -> Subject:
    """The case that the posted form carries or names. Raises FormError where it does neither."""
    if text := request.form.get("case", ""):
        return carried_run(text) or hold(carried_case(text))
    found = named_subject(request.form.get("source", ""))
    if found is None:
        raise FormError("text", "There is no case to share.")
    return found


def at_every_subject(action: str, tail: str = "") -> Callable[[View], View]:
    """Register a view of a subject at four addresses: an example's, a stored case's, one that carries a case, and a
    posted run's that is held.

    `tail` is the rest of the addresses; what it names is given to the view too.
    """

    def registered(view: View) -> View:
        def of_example(name: str, **more: str) -> ResponseReturnValue:
            return view(example_subject(name), **more)

        def of_case(case_id: str, **more: str) -> ResponseReturnValue:
            return view(case_subject(case_id), **more)

        def of_posted(**more: str) -> ResponseReturnValue:
            return view(run_subject(posted_subject().case), **more)

        blueprint.add_url_rule(f"/example/<name>/{action}{tail}", f"{action}_example", of_example)
        blueprint.add_url_rule(f"/c/<case_id>/{action}{tail}", f"{action}_case", of_case)

        def of_held(token: str, **more: str) -> ResponseReturnValue:
            return view(held_subject(token), **more)

        blueprint.add_url_rule(f"/{action}{tail}", f"{action}_posted", of_posted, methods=["POST"])
        blueprint.add_url_rule(f"/r/<token>/{action}{tail}", f"{action}_held", of_held)
        return view

    return registered


def carried_case(text: str) -> Case:
    """A case that a page carried in a hidden field or a private link. Raises FormError where it cannot be read."""
    try:
        return with_folder_format(loads(text), services().settings)
    except CaseError as error:
        raise FormError("text", f"The case of this page cannot be read. {error}") from error


def may_show_picture(stored: StoredCase) -> bool:
    """Return whether a stored case may have a picture: only where its sharer put it into the library."""
    return services().store.library.is_listed(stored.id)


def stored_case(case_id: str) -> StoredCase:
    """Return what is stored under an id, or 404, or 410 once it was deleted or expired."""
    try:
        found = services().store.get(case_id)
    except Gone as gone:
        abort(410, f"This case {gone.words}.")
    if found is None:
        abort(404, "There is no case at this address.")
    return found


def is_loopback(base: str) -> bool:
    """Return whether links that begin with `base` open on this machine only."""
    return (urlsplit(base).hostname or "") in {host.strip("[]") for host in LOOPBACK}


def error_page(status: int, title: str, message: str) -> ResponseReturnValue:
    """The page for an error, in the look of the rest. Of a run that is held no more the tab may have the text; where
    only a form leads, as to the question of an export, whoever asks by the address is led back."""
    held = status == 410 and request.path.startswith("/r/")
    sent = status == 405 and request.method == "GET"
    if sent:
        title, message = "This page has no address of its own", "It was made of what a form sent, and that is not here."
    return render_template(
        "error.html", status=status, title=title, message=message, advice=_ADVICE.get(status, ""), held=held, sent=sent
    ), status


def lists_by_default() -> bool:
    """Return whether the box "list in the library" is ticked: where this machine alone can read what is listed, which
    nobody knows behind a proxy."""
    settings = services().settings
    behind = settings.public_url is not None or settings.proxies or settings.write_header is not None
    return not behind and is_loopback(f"http://{settings.host}") and is_loopback(request.host_url)


def sees_places() -> bool:
    """Return whether whoever asks may see where programs and files of this machine lie: who may write by the secret or
    the proxy of the settings; without these, who is at this machine."""
    settings = services().settings
    if settings.write_secret is None and settings.write_header is None:
        return lists_by_default()
    return may_write(settings, request.headers)


if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def links_of(subject: Subject, state: ViewState) -> Links:
    """Return how the page of a subject is addressed."""
    return Links(subject.base, state, "" if subject.base else subject.line, subject.held_url, scripted=is_partial())


def answer_of(subject: Subject, response: Response) -> Response:
    """The response, which says which held run it is about: whoever stands before several processes knows by that which
    of them holds it."""
    if subject.held is not None:
        response.headers[HELD_HEADER] = subject.held.token
    return response


VARY = ("HX-Request", "HX-Request-Type")


def is_partial() -> bool:
    """Return whether htmx asks for a piece of the page."""
    return request.headers.get("HX-Request-Type") == "partial"


def render(
    template: str, *blocks: str, all_of: DataclassInstance | None = None, status: int = 200, **more: Any
) -> Response:
    """The named blocks of `template` for a partial request, else (or without blocks) the whole of it.

    The fields of `all_of`, and what is given `more`, are the variables of the template. Sets Vary, and Cache-Control:
    no-cache where the view sets none on the response it gets back.
    """
    context = more if all_of is None else {one.name: getattr(all_of, one.name) for one in fields(all_of)} | more
    partial = blocks and is_partial()
    html = render_blocks(template, list(blocks), **context) if partial else render_template(template, **context)
    response = make_response(html, status)
    response.vary.update(VARY)
    response.cache_control.no_cache = True
    return response
