"""Two replays of one output, side by side: the addresses, and what may stand in them.

===========================  ========================================================================================
GET  /c/<id>/compare         a shared case
GET  /example/<name>/compare a worked example
POST /compare                a run that is stored nowhere: its case is in the field `case`
POST /compare/open           one side (`side`: a or b) as a run of its own, in the inspector
===========================  ========================================================================================

View state, in the query or the form; none of it is part of the case. `go`, the value of a submit button, is a query
string that wins over the other fields.

=================================  ==================================================================================
a_chunk, b_chunk                   a chunking as a word (parsers.replays.chunking): token, char:5, whole, cuts:118
a_parser, b_parser                 a parser by name; NAME+fallback or +fallback: behind the fallback wrapper
a_policy, b_policy                 policies, key:value,key:value, over those of the case
a_mode, b_mode                     ids or text: how markers are recognised, where the case has recorded ids
a_start, b_start                   content or reasoning: where the output begins
a_decode, b_decode                 a decode policy, and +skip, +keep, +drop, +stay, +nostop over what the case says
calls, arguments, whitespace       the comparison rules: order or index; text or json; exact or soft
ids                                same or any: whether the ids of calls count
at                                 the cursor: a character of the output; its length is the end
=================================  ==================================================================================

What is absent is as the case says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from flask import Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from parsers.cases.engines import traced_chunking
from parsers.cases.model import Case
from parsers.compare.divergence import Rules
from parsers.replays.chunking import TRACED, WHOLE, spec
from webapp.htmx import is_partial, render
from webapp.page.compare_onto import on_one_text
from webapp.page.compare_options import controls
from webapp.page.compare_page import page
from webapp.page.compare_sides import Replayed, replayed
from webapp.page.compare_state import Asked, Links, Side, faults, is_bare, is_tidy, read_asked
from webapp.page.errors import error_page
from webapp.page.form import case_line, setup_of
from webapp.page.services import services
from webapp.page.sources import find_case, find_example, named, source_case
from webapp.page.views import blueprint, run_scene, show


@dataclass(slots=True)
class Subject:
    """A case to compare replays of. `base` and `inspect`: the addresses of this page and of the inspector; None: a run
    that was never shared. `source` names the case where the page does not carry it."""

    case: Case
    heading: str
    note: str
    base: str | None = None
    inspect: str = ""
    source: str = ""


@blueprint.get("/c/<case_id>/compare")
def compare_case(case_id: str) -> ResponseReturnValue:
    """A shared case, replayed twice."""
    case = services().runner.opened(find_case(case_id).body)
    base, inspect = url_for("page.compare_case", case_id=case_id), url_for("page.case", case_id=case_id)
    heading = case.title or f"Case {case_id}"
    return show_compared(Subject(case, heading, f"case {case_id}", base, inspect, f"case:{case_id}"))


@blueprint.get("/example/<name>/compare")
def compare_example(name: str) -> ResponseReturnValue:
    """A worked example, replayed twice."""
    found = find_example(name)
    base, inspect = url_for("page.compare_example", name=name), url_for("page.example", name=name)
    return show_compared(Subject(found.case, found.title, "example", base, inspect, f"example:{name}"))


@blueprint.post("/compare")
def compare_posted() -> ResponseReturnValue:
    """A run that is stored nowhere, replayed twice."""
    case = source_case()
    return show_compared(Subject(case, case.title or "Unsaved run", "not shared"))


@blueprint.get("/compare", endpoint="compare_again")
def compare_again() -> ResponseReturnValue:
    """A reload of a comparison whose case is nowhere on the server."""
    return error_page(404, "There is no case to compare", "This address holds no case: it comes with the form.")


@blueprint.post("/compare/open", endpoint="compare_open")
def compare_open() -> Response:
    """One side as a run of its own in the inspector."""
    asked, said = read_asked(request.form), dict(parse_qsl(request.form.get("go", "")))
    source = said.get("source", "")
    case = named(source) or source_case()
    if source.startswith("case:"):
        case = case.model_copy(update={"parent": source.partition(":")[2]})
    wanted = "b" if said.get("side") == "b" else "a"
    found = replayed(services().runner, case, wanted, getattr(asked, wanted)).standalone
    return show(run_scene(found, setup_of(found)))


def show_compared(subject: Subject) -> ResponseReturnValue:
    """The page, or the part of it that htmx asked for. An address that a form made is tidied first."""
    asked, runner = read_asked(request.values), services().runner
    if is_bare(request.values):
        asked = replace(asked, b=_usual(subject.case))
    left, right = (replayed(runner, subject.case, name, getattr(asked, name)) for name in ("a", "b"))
    left, right = on_one_text(runner, left, right)
    asked = replace(asked, a=left.side, b=right.side)
    links = Links(subject.base, asked)
    errors = faults(request.values)
    if request.method == "GET" and not is_partial() and not is_tidy(request.args) and not _wrong(left, right, errors):
        return redirect(links.url(), 303)
    rules = rules_of(subject.case, asked, left, right)
    posted = case_line(subject.case) if subject.base is None else ""
    found = page(runner, left, right, rules, links, posted_case=posted, inspect=subject.inspect)
    window = request.headers.get("HX-Target", "").endswith("#window")
    context: dict[str, Any] = {
        "page": found,
        "subject": subject,
        "controls": controls(subject.case, left, right, rules_of(subject.case, Asked(), left, right), runner.settings),
        "errors": errors,
        "wrong": _wrong(left, right, errors),
    }
    return render("compare.html", "window" if window else "page", **context)


def _usual(case: Case) -> Side:
    """What the other side is where nobody said: the whole output at once, or token by token beside that."""
    own = traced_chunking(case)
    return Side(chunk=spec(WHOLE if own != WHOLE else TRACED))


def _wrong(a: Replayed, b: Replayed, errors: dict[str, str]) -> dict[str, str]:
    """Everything that could not be used, by the name of its control."""
    sides = {f"{side.name}_{key}": words for side in (a, b) for key, words in side.errors.items()}
    return {**sides, **errors}


def rules_of(case: Case, asked: Asked, a: Replayed, b: Replayed) -> Rules:
    """The rules in force. Two formats, and every black box, make up ids in their own ways: there ids do not count."""
    comparable = a.run.format.name == b.run.format.name and not (a.run.choice.black_box or b.run.choice.black_box)
    own = case.compare.rules()
    return Rules(
        arguments=asked.arguments or own.arguments,
        whitespace=asked.whitespace or own.whitespace,
        ids=asked.ids == "same" if asked.ids else comparable,
        calls=asked.calls or own.calls,
    )
