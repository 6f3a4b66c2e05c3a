"""The search of a case: started, asked how far it is, and stopped; and the changed case that shows a finding.

Asked by htmx, an unfinished search answers with how far it is, a finished one with every part of the page that it
changes. Asked by a browser that follows a link, they answer with the page itself.
"""

from __future__ import annotations

from typing import Any

from flask import Response, request
from flask.typing import ResponseReturnValue
from pydantic import TypeAdapter, ValidationError

from parsers.cases.case import Case
from parsers.cases.io import load_case, to_data
from parsers.cases.jsontext import JsonError, read
from parsers.replays.edits import edited, edited_text
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Piece, UsageError
from webapp.page.addresses.inspect_views import inspect_page, search_of, show
from webapp.page.addresses.subjects import (
    Subject,
    at_every_subject,
    blueprint,
    hold,
    is_partial,
    links_of,
    named_subject,
    posted_subject,
    render,
    run_subject,
)
from webapp.page.inspect.inspect_page import read_state, view_of
from webapp.page.search.search_page import Search, search_of_job
from webapp.services import services
from webapp.switches import is_posted_on


@blueprint.post("/find/cancel")
def find_cancel() -> Response:
    """Stop a search; the form carries or names the case."""
    subject = named_subject(request.form.get("source", "")) or posted_subject()
    services().searches.cancel(subject.case)
    return _answer(subject, search_of(subject.case))


@blueprint.post("/find/proof")
def find_proof() -> ResponseReturnValue:
    """The changed case that shows a finding."""
    subject = posted_subject()
    pieces = services().runner.run(subject.case).pieces
    changed = changed_case(subject.case, pieces, read_proof(request.form.get("proof", "")))
    return show(run_subject(subject.child(changed)))


@at_every_subject("find")
def found(subject: Subject) -> Response:
    """Return how far the search of a case is; it is started unless somebody else did."""
    if not is_partial():
        return _answer(subject, search_of(subject.case, start=True))
    jobs, case = services().searches, subject.case
    job = jobs.start(case, again=is_posted_on(request.values, "again"))
    return _answer(subject, search_of_job(jobs, job, len(case.text())))


def _answer(subject: Subject, search: Search) -> Response:
    state = read_state(request.values)
    if is_partial() and search.active:
        return render("_search_progress.html", page={"links": links_of(subject, state)}, search=search)
    if not (is_partial() or subject.base or subject.held):
        subject = hold(subject.case)
    whole = inspect_page(subject, view_of(services().runner, subject.case, state), search)
    return render("_search_parts.html" if is_partial() else "inspect.html", all_of=whole)


_PROOF = TypeAdapter(Proof)
IN_CASE = ("finish_reason", "reasoning_open", "tool_choice")


def read_proof(text: str) -> Proof:
    """A proof that a button carried. Raises UsageError for anything else."""
    try:
        return _PROOF.validate_python(read(text))
    except (JsonError, ValidationError) as error:
        raise UsageError("This is no proof of a finding: open it with the button beside the finding.") from error


def changed_case(case: Case, pieces: tuple[Piece, ...], proof: Proof) -> Case:
    """The case with the changes of a proof. `pieces` are its tokens. Raises UsageError for edits that do not fit."""
    data = to_data(_edited(case, pieces, proof))
    how = "what leaked" if case.input.stream is not None and proof.parser is not None else "changed to show a finding"
    data["title"] = f"{case.title or 'A case'} ({how})"
    for key in ("expect", "engines", "flags", "verdict"):
        data.pop(key, None)
    if proof.chunking is not None:
        data["replay"] = [dict(proof.chunking)]
    elif proof.edits:
        data["replay"] = [chunking for chunking in data.get("replay", []) if chunking.get("by") != "cuts"]
    if proof.parser is not None:
        data["parser"] = {"name": proof.parser}
    for key, value in proof.context.items():
        _change(data, key, value)
    return load_case(data)


def _edited(case: Case, pieces: tuple[Piece, ...], proof: Proof) -> Case:
    if not proof.edits:
        return case
    text = edited_text(case.text(), proof.edits)
    bare = case.model_copy(update={"input": type(case.input)(text=text), "parent": None})
    if case.mode() != "ids":
        return bare
    left = edited(pieces, proof.edits, case.markers())
    stored = bare.with_pieces(left)
    return stored.model_copy(update={"input": type(case.input)(tokens=stored.input.tokens)})


def _change(data: dict[str, Any], key: str, value: Any) -> None:
    """One key of the request. The end of the prompt would say the start state too, so it is left out."""
    context = data.setdefault("context", {})
    if key == "tools":
        data["tools"] = [] if not value else data.get("tools", [])
    elif key in IN_CASE:
        context[key] = value
        if key == "reasoning_open":
            context.pop("prompt_tail", None)
