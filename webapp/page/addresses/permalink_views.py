"""What stands elsewhere and leads to a case: a frame in a page, a picture beside a link, a form that was filled.

The frame is the one page that may be framed, by the origins in the settings; it has no form, no key and no script.
The picture exists for cases of the library only. What another site posts to /new is shown and no more.
"""

from __future__ import annotations

from flask import Response, abort, make_response, request

from webapp.fields import CarriedFields
from webapp.links import case_link
from webapp.page.addresses.drifted import drift_of
from webapp.page.addresses.inspect_views import search_of, show_filled_form
from webapp.page.addresses.subjects import (
    Subject,
    blueprint,
    case_subject,
    may_show_picture,
    render,
    stored_case,
)
from webapp.page.form.setup import case_line, read_setup
from webapp.page.search.search_page import search_panes
from webapp.page.sharing.embedded import Embedded, embedded, unrun
from webapp.page.sharing.preview_picture import drawn, forget_picture, keep_picture, picture_file
from webapp.release import installed_version
from webapp.runs.unrun import is_unrun
from webapp.security import check_limit, policy_of
from webapp.services import services
from webapp.store import Gone, StoredCase


@blueprint.get("/c/<case_id>/embed")
def embed(case_id: str) -> Response:
    """A shared case for a frame."""
    subject = case_subject(case_id)
    response = render(
        "embed.html",
        shown=_embedded(subject),
        drift=None if is_unrun(subject.case, services().settings) else drift_of(subject),
        link=case_link(case_id),
    )
    origins = services().settings.embed_origins
    response.headers["Content-Security-Policy"] = policy_of(
        script_src="'none'", connect_src="'none'", img_src="'none'", form_action="'none'",
        frame_ancestors=" ".join(origins) or "'none'",
    )  # fmt: skip
    if origins:  # a page that is isolated embeds only what says that it may be
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@blueprint.get("/c/<case_id>/preview.png")
def picture(case_id: str) -> Response:
    """The picture of a case of the library, drawn at the first time."""
    stored = stored_case(case_id)
    if not may_show_picture(stored):
        abort(404, "This case has no picture.")
    settings = services().settings
    try:
        data = picture_file(settings, case_id).read_bytes()
    except OSError:
        subject = case_subject(case_id)
        if is_unrun(subject.case, settings):
            abort(404, "This case has no picture as long as its engine is not here.")
        data = drawn(_embedded(subject))
        keep_picture(settings, case_id, data)
        if _has_changed(stored):  # while it was drawn: whoever withdrew something forgot the picture before it was kept
            forget_picture(settings, case_id)
            return picture(case_id)
    response = make_response(data)
    response.mimetype = "image/png"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.cache_control.public = True
    response.cache_control.no_cache = True  # it is asked for anew each time: the case may be gone by then
    response.add_etag()
    response.make_conditional(request)
    return response


def _has_changed(stored: StoredCase) -> bool:
    """Whether a case has less now than it had, or is gone, or in the library no more."""
    try:
        return services().store.get(stored.id) != stored or not may_show_picture(stored)
    except Gone:
        return True


def _embedded(subject: Subject) -> Embedded:
    runner = services().runner
    if is_unrun(subject.case, services().settings):
        return unrun(subject.heading, subject.case, installed_version())
    run, known = runner.run(subject.case), runner.cheaply_checked(subject.case)
    panes = search_panes(run, known, search_of(subject.case), None, case_line)
    spans = [one.span for one in (known.findings if known is not None else ()) if one.severity != "info"]
    place = next((span.start for span in spans if span is not None), 0)
    return embedded(subject.heading, run, panes, installed_version(), place)


@blueprint.post("/new")
def new() -> Response:
    """The form, filled with what was posted from wherever: nothing is run or stored, and nothing hidden is taken."""
    setup = read_setup(request.form)
    check_limit(services().settings, "max_request_bytes", len(setup.output.text), "The text")
    setup.carried = CarriedFields()
    return show_filled_form(setup)
