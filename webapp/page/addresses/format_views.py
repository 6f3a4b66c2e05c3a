"""The format editor. Nothing typed is stored: the page carries it all, and every button posts all of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from flask import Response, abort, make_response, redirect, request
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case
from parsers.cases.io import dumps, load_case
from parsers.formats.model import Format, builtin_formats
from parsers.vocabulary.types import UsageError
from webapp.formats.folder import all_formats, check_among, formats_folder, with_folder_format
from webapp.formats.format_text import laid_out
from webapp.page.addresses.inspect_views import show
from webapp.page.addresses.share_views import share_page
from webapp.page.addresses.subjects import (
    answer_of,
    blueprint,
    held_subject,
    is_partial,
    named_subject,
    posted_subject,
    render,
    run_subject,
)
from webapp.page.formats.editor import (
    MOST_SAMPLES,
    Editor,
    Sample,
    editor_of_case,
    editor_of_format,
    new_editor,
    read_editor,
)
from webapp.page.formats.editor_report import report, runnable
from webapp.page.inspect.inspect_page import whole_number
from webapp.page.library.markdown import sections, to_html
from webapp.runs.exports import filename, mark_of
from webapp.security import TooLarge
from webapp.services import services

_PACKAGE = Path(__file__).resolve().parents[2]
_REFERENCE = "format-language.md"


@blueprint.get("/formats")
def formats() -> Response:
    """Every format there is."""
    folder = formats_folder(services().settings)
    return render(
        "formats.html", builtin=list(builtin_formats().values()), folder=folder, own=list(folder.formats.values())
    )


@blueprint.get("/formats/language")
def format_language() -> Response:
    """The reference of the format language, docs/format-language.md."""
    return render("format_language.html", reference=to_html(_reference()), sections=sections(_reference()))


@blueprint.get("/formats/example/<name>")
def format_example(name: str) -> Response:
    """A format's own example in the inspector."""
    fmt = _find_format(name)
    data = {
        "schema": 1,
        "title": f"Example of {fmt.name}",
        "parser": {"name": fmt.name},
        "input": {"text": fmt.example},
    }
    case = with_folder_format(load_case(data), services().settings)
    return show(run_subject(case))


@blueprint.get("/formats/edit")
def format_edit() -> ResponseReturnValue:
    """The editor, opened from a format, a case, or the skeleton."""
    settings = services().settings
    if source := request.args.get("source", ""):
        found = named_subject(source)
        if found is None:
            abort(404, "There is no such case.")
        return _editor_page(editor_of_case(found.child(found.case), settings))
    wanted = request.args.get("from", "")
    if not wanted:
        return _editor_page(new_editor())
    return _editor_page(editor_of_format(_find_format(wanted), settings))


@blueprint.get("/r/<token>/format", endpoint="format_edit_held")
def format_edit_held(token: str) -> ResponseReturnValue:
    """The editor, opened from a posted run that is held."""
    return _editor_page(editor_of_case(held_subject(token).case, services().settings))


@blueprint.post("/formats/edit", endpoint="format_check")
def format_check() -> ResponseReturnValue:
    """Check what was typed; or open the case that the page of a run carries, at an address that survives a reload."""
    if "format" not in request.form and request.form.get("case"):
        subject = posted_subject()
        return answer_of(subject, make_response(redirect(f"{subject.held_url}/format", 303)))
    editor = read_editor(request.form)
    _press(editor, request.form.get("do", ""))
    return _editor_page(editor)


@blueprint.post("/formats/inspect")
def format_inspect() -> ResponseReturnValue:
    """The inspector on a sample."""
    return _with_case(lambda case: show(run_subject(case)))


@blueprint.post("/formats/share")
def format_share() -> ResponseReturnValue:
    """The share form for a sample: what will be stored, and the question for title and note."""
    return _with_case(lambda case: share_page(run_subject(case)))


@blueprint.post("/formats/case")
def format_case() -> ResponseReturnValue:
    """A sample as a case file, with the format written into it."""
    return _with_case(_case_file)


def _case_file(case: Case) -> Response:
    return _download(filename(case.title or case.parser.name, ".case.json", mark_of(case)), dumps(case))


@blueprint.post("/formats/file")
def format_file() -> Response:
    """The text as typed, whatever it is worth."""
    editor = read_editor(request.form)
    found = check_among(editor.text, services().settings)
    return _download(f"{found.format.name if found.format else 'format'}.json", editor.text)


def _find_format(name: str) -> Format:
    """The format of that name, built in or of the folder, or 404."""
    fmt = all_formats(services().settings).get(name)
    if fmt is None:
        abort(404, "There is no format of that name.")
    return fmt


@cache
def _reference() -> str:
    """The text of the reference: inside the package once installed, in docs/ of a checkout."""
    inside = _PACKAGE / "docs" / _REFERENCE
    return (inside if inside.is_file() else _PACKAGE.parent / "docs" / _REFERENCE).read_text(encoding="utf-8")


def _download(name: str, text: str) -> Response:
    response = Response(text.encode("utf-8", "surrogatepass"), mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _press(editor: Editor, what: str) -> None:
    """Do what a button of the editor asks for: add, remove-N, accept-N, tidy or expand; anything else only checks."""
    name, _, number = what.partition("-")
    asked = whole_number(number)
    sample = None if asked is None else editor.sample(asked)
    if name == "add":
        editor.add()
    elif name == "remove" and sample is not None:
        editor.remove(sample.number)
    elif name == "accept" and sample is not None:
        outcome = report(editor, services().settings).outcomes.get(sample.number)
        sample.expect = outcome.accepted if outcome and outcome.accepted else sample.expect
    elif name in ("tidy", "expand"):
        found = check_among(editor.text, services().settings)
        data = found.data if name == "tidy" else found.written_out
        editor.text = editor.text if data is None else laid_out(data)


def _with_case(answer: Callable[[Case], ResponseReturnValue]) -> ResponseReturnValue:
    """Answer with the sample that a button names, or with the editor again and what keeps the sample from running."""
    editor = read_editor(request.form)
    number = request.form.get("sample_of", "")
    sample = editor.sample(whole_number(number) or 0)
    try:
        return answer(runnable(editor, sample, services().settings))
    except (UsageError, TooLarge) as error:
        words = error.description or "" if isinstance(error, TooLarge) else str(error)
        return _editor_page(editor, problem=words, status=422)


def _editor_page(editor: Editor, *, problem: str = "", status: int = 200) -> Response:
    """The editor; for htmx only the parts that say something of what was typed."""
    settings = services().settings
    return render(
        "_format_parts.html" if is_partial() else "format_edit.html",
        status=status,
        editor=editor,
        report=report(editor, settings),
        choices=[fmt for fmt in all_formats(settings).values() if fmt.name != "passthrough"],
        most_samples=MOST_SAMPLES,
        blank=Sample(0),
        problem=problem[:1].upper() + problem[1:],
    )
