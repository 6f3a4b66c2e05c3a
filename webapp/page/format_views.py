"""The format editor's addresses. Nothing typed is stored: the page carries it all, and every button posts all of it.

===========================  ========================================================================================
GET  /formats                every format: built-in ones, those of the formats folder, and what was refused there
GET  /formats/edit           the editor: `?from=NAME`, `?source=example:NAME` or `case:ID`, or the skeleton
POST /formats/edit           check again; the parts that htmx asks for, or the whole page. With `case`: open that case
POST /formats/inspect ...    the first sample (or `sample_of`) as a case: inspected, shared, downloaded
===========================  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from flask import Response, abort, request
from flask.typing import ResponseReturnValue

from parsers.cases.io import dumps, load_case
from parsers.cases.model import Case
from parsers.formats.model import Format, builtin_formats
from parsers.vocabulary.types import UsageError
from webapp.formats.checked import checked
from webapp.formats.folder import all_formats, formats_folder, with_folder_format
from webapp.formats.texts import pretty
from webapp.htmx import is_partial, render
from webapp.page import format_form
from webapp.page.form import setup_of
from webapp.page.format_form import Editor, Sample, read_editor
from webapp.page.format_report import report, runnable
from webapp.page.markdown import sections, to_html
from webapp.page.services import services
from webapp.page.shared import share_page
from webapp.page.sources import carried, named
from webapp.page.views import blueprint, run_scene, show
from webapp.runs.exports import filename
from webapp.security import TooLarge

PACKAGE = Path(__file__).resolve().parent.parent
REFERENCE = "format-language.md"


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
    return render("format_language.html", reference=to_html(reference()), sections=sections(reference()))


@blueprint.get("/formats/example/<name>")
def format_example(name: str) -> Response:
    """A format's own example in the inspector."""
    fmt = find_format(name)
    data = {
        "schema": 1,
        "title": f"Example of {fmt.name}",
        "parser": {"name": fmt.name},
        "input": {"text": fmt.example},
    }
    case = with_folder_format(load_case(data), services().settings)
    return show(run_scene(case, setup_of(case)))


@blueprint.get("/formats/edit")
def format_edit() -> ResponseReturnValue:
    """The editor, opened from a format, a case, or the skeleton."""
    if source := request.args.get("source", ""):
        found = named(source)
        if found is None:
            abort(404, "There is no such case.")
        kind, _, name = source.partition(":")
        return editor_page(opened(found.model_copy(update={"parent": name}) if kind == "case" else found))
    wanted = request.args.get("from", "")
    if not wanted:
        return editor_page(format_form.new_editor())
    return editor_page(format_form.editor_of_format(find_format(wanted), services().settings))


@blueprint.post("/formats/edit", endpoint="format_check")
def format_check() -> ResponseReturnValue:
    """Check what was typed; or open the case that the page of a run carries."""
    if "format" not in request.form and (text := request.form.get("case")):
        return editor_page(opened(carried(text)))
    editor = read_editor(request.form)
    act(editor, request.form.get("do", ""))
    return editor_page(editor)


@blueprint.post("/formats/inspect")
def format_inspect() -> ResponseReturnValue:
    """The inspector on a sample."""
    return with_case(lambda case: show(run_scene(case, setup_of(case))))


@blueprint.post("/formats/share")
def format_share() -> ResponseReturnValue:
    """The share form for a sample: what will be stored, and the question for title and note."""
    return with_case(share_page)


@blueprint.post("/formats/case")
def format_case() -> ResponseReturnValue:
    """A sample as a case file, with the format written into it."""
    return with_case(lambda case: download(filename(case.title or case.parser.name, ".case.json"), dumps(case)))


@blueprint.post("/formats/file")
def format_file() -> Response:
    """The text as typed, whatever it is worth."""
    editor = read_editor(request.form)
    found = checked(editor.text)
    return download(f"{found.format.name if found.format else 'format'}.json", editor.text)


def find_format(name: str) -> Format:
    """The format of that name, built in or of the folder, or 404."""
    fmt = all_formats(services().settings).get(name)
    if fmt is None:
        abort(404, "There is no format of that name.")
    return fmt


@cache
def reference() -> str:
    """The text of the reference: inside the package once installed, in docs/ of a checkout."""
    inside = PACKAGE / "docs" / REFERENCE
    return (inside if inside.is_file() else PACKAGE.parent / "docs" / REFERENCE).read_text(encoding="utf-8")


def download(name: str, text: str) -> Response:
    """A file to keep."""
    response = Response(text.encode("utf-8", "surrogatepass"), mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def opened(case: Case) -> Editor:
    """The editor on a case's format, with its output as the first sample."""
    if not format_form.can_edit(case):
        raise UsageError("This case's parser is another engine's: there is no table to edit. Choose a built-in format.")
    return format_form.editor_of_case(case, services().settings)


def act(editor: Editor, what: str) -> None:
    """What a button of the editor asks for: add, remove-N, accept-N or tidy; anything else only checks."""
    name, _, number = what.partition("-")
    sample = editor.sample(int(number)) if number.isdecimal() else None
    if name == "add":
        editor.add()
    elif name == "remove" and sample is not None:
        editor.remove(sample.number)
    elif name == "accept" and sample is not None:
        outcome = report(editor, services().settings).outcomes.get(sample.number)
        sample.expect = outcome.accepted if outcome and outcome.accepted else sample.expect
    elif name == "tidy":
        found = checked(editor.text)
        editor.text = editor.text if found.data is None else pretty(found.data)


def with_case(answer: Callable[[Case], ResponseReturnValue]) -> ResponseReturnValue:
    """`answer` to the sample that a button names, or the editor again with what keeps it from running."""
    editor = read_editor(request.form)
    number = request.form.get("sample_of", "")
    sample = editor.sample(int(number) if number.isdecimal() else 0)
    try:
        return answer(runnable(editor, sample, services().settings))
    except (UsageError, TooLarge) as error:
        words = error.description or "" if isinstance(error, TooLarge) else str(error)
        return editor_page(editor, problem=words, status=422)


def editor_page(editor: Editor, *, problem: str = "", status: int = 200) -> Response:
    """The editor; for htmx only the parts that say something of what was typed."""
    settings = services().settings
    return render(
        "_format_parts.html" if is_partial() else "format_edit.html",
        status=status,
        editor=editor,
        report=report(editor, settings),
        choices=[fmt for fmt in all_formats(settings).values() if fmt.name != "passthrough"],
        most_samples=format_form.MOST_SAMPLES,
        blank=Sample(0),
        problem=problem[:1].upper() + problem[1:],
    )
