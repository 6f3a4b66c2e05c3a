"""Uploads of tokenizers over the API, by the rules of the page."""

from __future__ import annotations

from flask import abort, jsonify, request
from flask.typing import ResponseReturnValue

from parsers.vocabulary.types import UsageError
from webapp.api.answers import DeletedTokenizer, ErrorBody, TokenizerRow, TokenizerUpload
from webapp.api.views import API, operation
from webapp.page.library.tokenizer_shelf import delete
from webapp.security import api_error, check_limit
from webapp.services import services
from webapp.tokenizers import library

BESIDE = 1_000_000  # bytes of a request that are no file


@operation("POST", f"{API}/tokenizers", {201: TokenizerRow, 413: ErrorBody, 422: ErrorBody}, takes=TokenizerUpload,
           query={"name": "The name in the list, where the body is the file itself."})  # fmt: skip
def add_tokenizer() -> ResponseReturnValue:
    """Keep a tokenizer. The same one again is the same entry."""
    settings = services().settings
    request.max_content_length = most = 2 * settings.tokenizer_upload_bytes + BESIDE
    size = request.content_length or 0
    if size > most:
        return api_error("too_large", f"The upload has {size:,} bytes: give the tokenizer.json alone.", status=413)
    name, model, config = _given()
    check_limit(settings, "tokenizer_upload_bytes", max(len(model), len(config or b"")), name[:80])
    info = library().add_upload(name, model, config)
    response = jsonify(info)
    response.status_code = 201
    return response


def _given() -> tuple[str, bytes, bytes | None]:
    """Name, tokenizer file and config. Raises UsageError where there is no file."""
    name = request.args.get("name", "")
    if request.mimetype != "multipart/form-data":
        data = request.get_data(cache=False)
        if not data:
            raise UsageError("the body is empty: send a tokenizer.json, as the body or as `file` of a form")
        return name or "tokenizer.json", data, None
    model, config = request.files.get("file"), request.files.get("config")
    if model is None:
        raise UsageError("the form has no file: send the tokenizer.json as `file`")
    title = request.form.get("name") or name or model.filename or "tokenizer.json"
    return title, model.read(), None if config is None else config.read()


@operation("DELETE", f"{API}/tokenizers/<fingerprint>", {200: DeletedTokenizer, 404: ErrorBody})
def delete_tokenizer(fingerprint: str) -> ResponseReturnValue:
    """Delete an upload, or what came from the hub. Cases that name it keep their tokens."""
    try:
        delete(fingerprint, services().settings)
    except UsageError as error:
        abort(404, f"{str(error)[:1].upper()}{str(error)[1:]}.")
    return jsonify({"deleted": fingerprint})
