"""A comparison to hand on: its files, and the address it has once its case and the texts beside it are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import thread_time
from urllib.parse import parse_qsl

from flask import Response, abort, request, url_for

from parsers.cases.jsontext import utf8
from webapp.links import public_base
from webapp.page.addresses.compare_texts import used_texts
from webapp.page.addresses.compare_views import FILES, asked_of, sides_of
from webapp.page.addresses.subjects import Subject, at_every_subject, carried_case
from webapp.page.compare.asked import Asked, CompareLinks, read_asked
from webapp.page.compare.compare_form import rules_of
from webapp.page.compare.compare_page import sides_page
from webapp.page.compare.comparison_report import Origin, comparison_report
from webapp.page.compare.sides import Replayed
from webapp.release import installed_version
from webapp.runs import exports
from webapp.services import services
from webapp.storage_trouble import taken_back
from webapp.store import Saved, Sharing


@at_every_subject("comparison", "/<target>")
def comparison(subject: Subject, target: str) -> Response:
    """The report of a comparison as a file, or one side as a case file."""
    if target not in FILES:
        abort(404, f"There is no such export of a comparison; there are {', '.join(FILES)}.")
    asked, beside = asked_of(subject)
    sides = sides_of(subject, asked, beside)
    return _report(subject, asked, sides) if target == "markdown" else _side_file(subject, sides)


def _report(subject: Subject, asked: Asked, sides: list[Replayed]) -> Response:
    asked = replace(asked, sides=tuple([side.side for side in sides]))
    base = subject.url("compare") if subject.base else ""
    page = sides_page(
        services().runner, sides, rules_of(subject.case, asked, sides), links=CompareLinks(base, asked), inspect=""
    )
    link = f"{public_base()}{page.links.url()}" if base else ""
    text = comparison_report(page, sides, Origin(subject.heading, installed_version(), link))
    return _file(text, exports.filename(f"{subject.heading} compared", ".md", _mark(subject)), "text/markdown")


def _side_file(subject: Subject, sides: list[Replayed]) -> Response:
    began, name = thread_time(), request.values.get("side", "a")
    side = next((side for side in sides if side.name == name), sides[0])
    case = side.standalone
    if case.title is None:
        case = case.model_copy(update={"title": f"{subject.heading}, side {side.title}"})
    made = exports.exported(exports.run_for(services().runner, case, "case", began), "case")
    title, suffix = f"{subject.heading} {side.name} {side.run.parser}", exports.TARGETS["case"].suffix
    named = exports.filename(title, suffix, _mark(subject))
    return _file(made.text, named, made.mimetype)


def _mark(subject: Subject) -> str:
    """What tells a run that is stored nowhere from others; the heading of a stored case has its id."""
    return exports.mark_of(subject.case) if subject.kind == "run" else ""


def _file(text: str, name: str, mimetype: str) -> Response:
    response = Response(utf8(text), mimetype=mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def store_comparison(saved: Saved, query: str, texts: tuple[str, ...], sharing: Sharing) -> tuple[str, list[Saved]]:
    """The address of a comparison of a stored case, in the words of `query`, and what was stored of the `texts` beside
    it: those that a side reads. Raises OverQuota, and then none of them is stored."""
    asked = read_asked(dict(parse_qsl(query)))
    used: Mapping[str, str] = used_texts(asked.sides, texts)
    stored: dict[str, Saved] = {}
    store = services().store
    with taken_back(store, stored.values()):
        for word, text in used.items():
            run = services().runner.run(carried_case(text))
            stored[word] = exports.save(store, run, None, sharing=sharing)
    words = {word: f"case:{one.id}" for word, one in stored.items()}
    sides = tuple([replace(side, text=words.get(side.text, side.text)) for side in asked.sides])
    links = CompareLinks(url_for("page.compare_case", case_id=saved.id), replace(asked, sides=sides))
    return links.url(), list(stored.values())
