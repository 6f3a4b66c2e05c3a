"""The description of the API (OpenAPI 3.1), from its operations and the models of its bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from webapp.api.answers import ErrorBody, ReplayPart, ReplayResult, TokenizerUpload
from webapp.api.intake import IntakeRequest
from webapp.api.operations import Operation
from webapp.api.parts import FORMATS, KEYS, RANGE
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
    503: "Too much is asked for, and Retry-After says when to try again; or the work took too long.",
}
BYTES = {TokenizerUpload: "The file itself.", IntakeRequest: "The recording itself."}
PARAMETERS: dict[str, dict[str, Any]] = {
    "case_id": {
        "description": "The id of a case.",
        "schema": {"type": "string", "pattern": "^[0-9a-hjkmnp-tv-z]{16}$"},
    },
    "fingerprint": {
        "description": "The fingerprint of a tokenizer, or its first 16 digits or more.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{16,64}$"},
    },
    "target": {"description": "What to export.", "schema": {"type": "string", "enum": list(TARGETS)}},
    "steps": {"schema": {"type": "string", "pattern": f"^(none|all|{RANGE})$", "default": "all"}},
    "fields": {"schema": {"type": "array", "minItems": 1, "items": {"enum": list(KEYS)}}, "explode": False},
    "format": {"schema": {"type": "string", "enum": list(FORMATS), "default": FORMATS[0]}},
}
LINES = {ReplayResult | ReplayPart: "The object without deltas and steps, then a step on each line."}


def description(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """The whole document."""
    bodies = [body for one in operations for body in (one.takes, *one.answers.values()) if not isinstance(body, str)]
    found, document = TypeAdapter.json_schemas(
        [(str(body), "validation", TypeAdapter(body)) for body in (*bodies, ErrorBody) if body is not None],
        ref_template=REF,
    )
    schemas = {name: schema for (name, _), schema in found.items()}
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(re.sub(r"<(\w+)>", r"{\1}", one.path), {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toolcall Inspector",
            "version": version,
            "description": "Replay the raw output of a language model through a tool call parser, delta by delta.",
        },
        "paths": paths,
        "components": {"schemas": document["$defs"]},
    }


def _operation(one: Operation, schemas: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": one.name, "summary": one.summary}
    names = re.findall(r"<(\w+)>", one.path)
    parameters = [{"name": name, "in": "path", "required": True, **PARAMETERS[name]} for name in names]
    parameters += [
        {"name": name, "in": "query", "description": words, "schema": {"type": "string"}, **PARAMETERS.get(name, {})}
        for name, words in one.query.items()
    ]
    if parameters:
        found["parameters"] = parameters
    if one.takes is not None:
        kind = "multipart/form-data" if one.takes is TokenizerUpload else "application/json"
        content = {kind: {"schema": schemas[str(one.takes)]}}
        if one.takes in BYTES:
            content["application/octet-stream"] = {"schema": {"type": "string", "description": BYTES[one.takes]}}
        found["requestBody"] = {"required": True, "content": content}
    answers = {str(status): _answer(status, model, schemas) for status, model in one.answers.items()}
    found["responses"] = {**answers, "default": _answer(0, ErrorBody, schemas)}
    return found


def _answer(status: int, model: Any, schemas: Mapping[str, Any]) -> dict[str, Any]:
    words = STATUS.get(status, "Any other error.")
    if model == "the file":
        kinds = sorted({target.mimetype for target in TARGETS.values()})
        return {"description": words, "content": {kind: {"schema": {"type": "string"}} for kind in kinds}}
    content = {"application/json": {"schema": {"type": "object"} if isinstance(model, str) else schemas[str(model)]}}
    if not isinstance(model, str) and model in LINES:
        content["application/jsonl"] = {"schema": {"type": "string", "description": LINES[model]}}
    return {"description": words, "content": content}
