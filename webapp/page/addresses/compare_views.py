"""Up to four replays side by side. docs/comparing.md has the words that stand in their addresses.

`go`, the value of a submit button, is a query string that wins over the other fields. What is absent is as the case
says, and none of it is part of the case.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

from flask import Response, redirect, request
from flask.typing import ResponseReturnValue

from webapp.page.addresses.compare_texts import offered_texts, posted_beside, put, texts_of
from webapp.page.addresses.compare_usual import is_alone, usual, without_itself
from webapp.page.addresses.inspect_views import share_of, show
from webapp.page.addresses.subjects import (
    Subject,
    answer_of,
    at_every_subject,
    blueprint,
    error_page,
    hold,
    is_partial,
    named_subject,
    posted_subject,
    render,
    run_subject,
)
from webapp.page.compare.asked import NAMES, Asked, CompareLinks, faults, is_bare, is_tidy, read_asked
from webapp.page.compare.compare_form import compare_form, rules_of
from webapp.page.compare.compare_page import sides_page
from webapp.page.compare.matrix import has_engines, matrix
from webapp.page.compare.picker import picker
from webapp.page.compare.sides import Replayed, on_one_text, replayed
from webapp.page.form.setup import FormError
from webapp.services import services

FILES = ("markdown", "case")  # what a comparison is exported as


@blueprint.get("/compare")
@blueprint.get("/compare/put", endpoint="compare_put_again")
@blueprint.get("/compare/differ", endpoint="compare_differ_again")
def compare_again() -> ResponseReturnValue:
    """A reload of a comparison whose case is nowhere on the server."""
    return error_page(404, "There is no case to compare", "This address holds no case: it comes with the form.")


@blueprint.post("/compare/open")
def compare_open() -> Response:
    """One side as a run of its own in the inspector."""
    asked, said = read_asked(request.form), dict(parse_qsl(request.form.get("go", "")))
    named = named_subject(said.get("source", ""))
    subject = named or posted_subject()
    at = max(0, NAMES.find(said.get("side", "") or "a"))
    wanted = asked.sides[at] if at < len(asked.sides) else asked.sides[0]
    case = subject.child(subject.case) if named else subject.case
    texts = texts_of(subject, _beside_of(subject))
    return show(run_subject(replayed(services().runner, case, NAMES[at], wanted, texts).standalone))


@blueprint.post("/compare/put")
def compare_put() -> ResponseReturnValue:
    """A comparison with one more side, of a text that was posted or of a case that has an address."""
    subject = posted_subject()
    asked, beside = asked_of(subject)
    try:
        if asked.is_full:
            raise FormError("put", f"{len(NAMES)} sides at most: remove one first.")
        sides, beside = put(subject, without_itself(subject, asked.sides), beside)
    except FormError as error:
        return _page(subject, asked, beside, {"put": error.message}, status=422)
    asked = replace(asked, sides=sides, at=None)
    if subject.base and not beside:
        return redirect(CompareLinks(subject.url("compare"), asked).url(), 303)
    return _page(subject, asked, beside, {})


@at_every_subject("compare")
def compared(subject: Subject) -> ResponseReturnValue:
    """A case replayed several times, or the part that htmx asked for. An address that a form made is tidied first."""
    asked, beside = asked_of(subject)
    return _page(subject, asked, beside, faults(request.values))


def asked_of(subject: Subject) -> tuple[Asked, tuple[str, ...]]:
    """Return what the request asks for, and the texts beside the case. Where it says nothing of any side, the usual
    ones."""
    asked, beside = read_asked(request.values), _beside_of(subject)
    if not is_bare(request.values):
        return asked, beside
    found = usual(subject)
    return replace(asked, sides=found.sides), beside or found.beside


def _beside_of(subject: Subject) -> tuple[str, ...]:
    """The texts beside the case: of a run that is held, and those that the form carries."""
    return (subject.held.beside if subject.held else ()) or posted_beside(request.form)


def _page(
    subject: Subject, asked: Asked, beside: tuple[str, ...], wrong: dict[str, str], status: int = 200
) -> ResponseReturnValue:
    runner = services().runner
    if subject.base and beside:  # no address has texts beside a case
        subject = run_subject(subject.child(subject.case))
    case = subject.case
    sides = sides_of(subject, asked, beside)
    asked = replace(asked, sides=tuple([side.side for side in sides]))
    wrong = {f"{side.name}_{key}": words for side in sides for key, words in side.errors.items()} | wrong
    base = subject.url("compare") if subject.base else None
    if base is None and (subject.held is None or subject.held.beside != beside):
        subject = hold(case, beside=beside)
    links = CompareLinks(base, replace(asked, asks=""), "" if base else subject.line, beside)
    if base and request.method == "GET" and not is_partial() and not is_tidy(request.args) and not wrong:
        return redirect(links.url(), 303)
    rules = rules_of(case, asked, sides)
    answer = render(
        *(("_compare_matrix_rows.html",) if asked.asks and is_partial() else ("compare.html", _block())),
        status=status,
        heading=subject.heading,
        note=subject.note,
        source=subject.source,
        form=compare_form(runner, case, sides, wrong, offered_texts(subject, beside)),
        page=sides_page(runner, sides, rules, links=links, inspect=subject.base or ""),
        picker=picker(runner, case, sides, links),
        engines=has_engines(sides[0]),
        alone=is_alone(subject, asked.sides),
        asks=asked.asks,
        matrix=matrix(runner, sides, asked.matrix, rules, asked.asks) if asked.matrix else None,
        held=f"{subject.held_url}/compare" if subject.held_url else "",
        share=share_of(subject, comparison=links.query(), beside=beside),
        files={target: subject.url("comparison", target=target) for target in FILES},
        case_url=subject.file_url,
    )
    return answer_of(subject, answer)


def sides_of(subject: Subject, asked: Asked, beside: tuple[str, ...]) -> list[Replayed]:
    """The replays of a comparison, those of one output on one text."""
    runner, texts = services().runner, texts_of(subject, beside)
    known = zip(NAMES, asked.sides, strict=False)
    return on_one_text(runner, [replayed(runner, subject.case, name, side, texts) for name, side in known])


def _block() -> str:
    """The part of the page that htmx asks for."""
    target = request.headers.get("HX-Target", "")
    return next((name for name in ("window", "matrix") if target.endswith(f"#{name}")), "page")
