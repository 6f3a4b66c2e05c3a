"""The description of the API (OpenAPI 3.1), from its operations and the models of its bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from webapp.api.intake_models import IntakeRequest
from webapp.api.models import ErrorBody, TokenizerUpload
from webapp.api.views import Operation
from webapp.runs.exports import TARGETS

REF = "#/components/schemas/{model}"
STATUS = {
    200: "Done.",
    201: "Stored.",
    400: "The body is not JSON; the message has line and column.",
    404: "There is nothing of that name.",
    410: "The case was deleted.",
    413: "Over a limit; the message has the limit and the size.",
    415: "The body is not application/json.",
    422: "A field is wrong; `field` is its JSON pointer.",
    503: "Too many searches are waiting; Retry-After says when to try again.",
}
PARAMETERS = {
    "case_id": {
        "description": "The id of a case.",
        "schema": {"type": "string", "pattern": "^[0-9a-hjkmnp-tv-z]{16}$"},
    },
    "fingerprint": {
        "description": "The fingerprint of a tokenizer, or its first 16 digits or more.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{16,64}$"},
    },
    "target": {"description": "What to export.", "schema": {"type": "string", "enum": list(TARGETS)}},
}


def description(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(_path(one), {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toolcall Inspector",
            "version": version,
            "description": "Replay the raw output of a language model through a tool call parser, delta by delta.",
        },
        "paths": paths,
        "components": {"schemas": _schemas(operations)},
    }


def _path(one: Operation) -> str:
    return re.sub(r"<(\w+)>", r"{\1}", one.path)


def _operation(one: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": one.name, "summary": one.summary}
    names = re.findall(r"<(\w+)>", one.path)
    parameters = [{"name": name, "in": "path", "required": True, **PARAMETERS[name]} for name in names]
    parameters += [
        {"name": name, "in": "query", "description": words, "schema": {"type": "string"}}
        for name, words in one.query.items()
    ]
    if parameters:
        found["parameters"] = parameters
    if one.takes is not None:
        kind = "multipart/form-data" if one.takes is TokenizerUpload else "application/json"
        content = {kind: {"schema": _schema(one.takes)}}
        if one.takes is TokenizerUpload:
            content["application/octet-stream"] = {"schema": {"type": "string", "description": "The file itself."}}
        if one.takes is IntakeRequest:
            content["application/octet-stream"] = {"schema": {"type": "string", "description": "The recording itself."}}
        found["requestBody"] = {"required": True, "content": content}
    answers = {str(status): _answer(status, model) for status, model in one.answers.items()}
    found["responses"] = {**answers, "default": _answer(0, ErrorBody)}
    return found


def _answer(status: int, model: Any) -> dict[str, Any]:
    words = STATUS.get(status, "Any other error.")
    if model == "the file":
        kinds = sorted({target.mimetype for target in TARGETS.values()})
        return {"description": words, "content": {kind: {"schema": {"type": "string"}} for kind in kinds}}
    schema = {"type": "object"} if isinstance(model, str) else _schema(model)
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _schema(model: Any) -> dict[str, Any]:
    items = get_args(model)
    if items:
        return {"type": "array", "items": _schema(items[0])}
    return {"$ref": REF.format(model=model.__name__)}


def _models(operations: Iterable[Operation]) -> list[type[BaseModel]]:
    bodies = [body for one in operations for body in (one.takes, *one.answers.values())]
    found = [(get_args(body) or (body,))[0] for body in bodies if body is not None and not isinstance(body, str)]
    return list(dict.fromkeys([*found, ErrorBody]))


def _schemas(operations: Iterable[Operation]) -> dict[str, Any]:
    _, document = models_json_schema(
        [(model, "validation") for model in _models(operations)], by_alias=True, ref_template=REF
    )
    schemas: dict[str, Any] = document["$defs"]
    return schemas
