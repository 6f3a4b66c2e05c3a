"""Tokenizers: which there are, the forms that upload one and fetch one from the hub, and what one makes of a text."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Response, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue

from parsers.vocabulary.types import UsageError
from webapp.page.addresses.subjects import blueprint, is_partial, render
from webapp.page.library.tokenizer_shelf import as_sentence, deletable, delete, extras, shelves, tokenizer_page
from webapp.quotas import count_upload, said_of, too_many
from webapp.services import services
from webapp.store import OverQuota
from webapp.store.keys import digest_of, new_key
from webapp.tokenizers import library
from webapp.tokenizers.hub import Download, repository_name
from webapp.tokenizers.prepared import NoPlace, with_template

_EXAMPLE = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
_NOTES = {
    "deleted": "The tokenizer is deleted.",
    "stays": "Your upload is deleted. Somebody else uploaded the same tokenizer, so it stays in the list.",
}


@dataclass(slots=True)
class _Forms:
    """Holds what was typed into the forms of the page, and what is wrong with it."""

    title: str = ""
    repository: str = ""
    upload_problem: str = ""
    hub_problem: str = ""
    note: str = ""
    added: str = ""
    delete_key: str = ""


@blueprint.get("/tokenizers")
def tokenizers() -> Response:
    """Every tokenizer that can be chosen."""
    return _shelf(_Forms(added=request.args.get("added", ""), note=_NOTES.get(request.args.get("note", ""), "")))


@blueprint.post("/tokenizers")
def tokenizer_upload() -> ResponseReturnValue:
    """Keep an upload, or say what is wrong with it."""
    settings = services().settings
    request.max_content_length = most = 2 * settings.tokenizer_upload_bytes + 1_000_000
    if (request.content_length or 0) > most:
        words = f"The upload has {request.content_length:,} bytes: give the tokenizer.json alone."
        return _not_taken(_Forms(upload_problem=words), 413)
    forms = _Forms(title=request.form.get("title", ""))
    try:
        given = _uploaded(forms.title)
        count_upload()
        key = new_key()
        info = library().add_upload(*given, digest_of(key))
    except OverQuota as over:
        forms.upload_problem = said_of(over)
        return too_many(_not_taken(forms, 429), over)
    except UsageError as error:
        forms.upload_problem = as_sentence(str(error), forms.title.strip())
        return _not_taken(forms, 429 if isinstance(error, NoPlace) else 422)
    response = _shelf(_Forms(added=info["name"], delete_key=key), status=200 if is_partial() else 201)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Location"] = url_for("page.tokenizers", added=info["name"])
    return response


def _not_taken(forms: _Forms, status: int) -> Response:
    """Return what is wrong with an upload. With script the error alone goes in: chosen files cannot be put into a
    form."""
    response = _shelf(forms, "upload_error", status=status)
    if is_partial():
        response.headers["HX-Retarget"], response.headers["HX-Reswap"] = "#tokenizer_file-error", "outerHTML"
    return response


def _uploaded(title: str) -> tuple[str, bytes, bytes | None]:
    """Title, tokenizer file and config of an upload. Raises UsageError where there is no file."""
    model, config = request.files.get("tokenizer_file"), request.files.get("config_file")
    if model is None or not model.filename:
        raise UsageError("choose a tokenizer.json, tekken.json or *.tiktoken file first")
    name = title.strip() or model.filename
    if config is None or not config.filename:
        return name, model.read(), None
    beside = config.read()
    return name, model.read(), with_template(None, beside) if config.filename.endswith(".jinja") else beside


@blueprint.post("/tokenizers/delete")
def tokenizer_delete() -> ResponseReturnValue:
    """Delete an upload, or what came from the hub."""
    try:
        key = request.form.get("key", "").strip()
        gone = delete(request.form.get("fingerprint", ""), services().settings, key)
    except UsageError as error:
        return _shelf(_Forms(note=as_sentence(str(error))), status=422)
    return redirect(url_for("page.tokenizers", note="deleted" if gone else "stays"), 303)


@blueprint.post("/tokenizers/hub")
def tokenizer_fetch() -> ResponseReturnValue:
    """Start to fetch a tokenizer."""
    forms = _Forms(repository=request.form.get("repository", ""))
    try:
        if not services().hub.off:
            repository_name(forms.repository)  # raises what it is refused for, before it is counted
            count_upload()
        job = services().hub.fetch(forms.repository)
    except OverQuota as over:
        forms.hub_problem = said_of(over)
        return too_many(_shelf(forms, "hub"), over)
    except UsageError as error:
        forms.hub_problem = as_sentence(str(error))
        return _shelf(forms, "hub", status=422)
    if is_partial():
        return _shelf(forms, "hub", job=job)
    return redirect(url_for("page.tokenizer_fetching", id=job.key), 303)


@blueprint.get("/tokenizers/hub")
def tokenizer_fetching() -> Response:
    """Return how far a download is; with the list, once it is over."""
    job = services().hub.known(request.args.get("id", ""))
    return _shelf(_Forms(), "hub", job=job, refresh=job is not None and job.over)


@blueprint.post("/tokenizers/hub/cancel")
def tokenizer_cancel() -> ResponseReturnValue:
    """Stop a download."""
    name = request.form.get("id", "")
    services().hub.cancel(name)
    if is_partial():
        return _shelf(_Forms(repository=name), "hub", job=services().hub.known(name))
    return redirect(url_for("page.tokenizer_fetching", id=name), 303)


def _shelf(
    forms: _Forms, block: str = "page", *, job: Download | None = None, refresh: bool = False, status: int = 200
) -> Response:
    """The page of tokenizers, or the part of it that htmx asked for; `refresh`: with the list, which has changed."""
    found, settings = services(), services().settings
    return render(
        "tokenizers.html",
        block,
        status=status,
        shelves=shelves(library().listing(), deletable(settings), library().keyed()),
        extras=extras(),
        forms=forms,
        refresh=refresh and is_partial(),
        job=job or found.hub.latest,
        off=found.hub.off,
        settings=settings,
    )


@blueprint.get("/tokenizer/<path:name>")
def tokenizer(name: str) -> Response:
    """One tokenizer."""
    return _detail(name, _EXAMPLE)


@blueprint.post("/tokenizer/<path:name>")
def tokenizer_try(name: str) -> Response:
    """Return what it makes of a text."""
    return _detail(name, request.form.get("text", "").replace("\r\n", "\n"))


def _detail(name: str, text: str) -> Response:
    info = next((one for one in library().listing() if one["name"] == name), None)
    if info is None:
        abort(404, "There is no tokenizer of that name. It may have been deleted.")
    page = tokenizer_page(info, text, markers=not is_partial())
    return render("tokenizer.html", "tried", all_of=page, status=422 if page.problem else 200)
