"""The description of the API (OpenAPI 3.1), from its operations and the models of its bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from parsers.cases.case import Case
from webapp.api.answers import ErrorBody, ReplayPart, ReplayResult, TokenizerUpload
from webapp.api.intake import IntakeRequest
from webapp.api.operations import Files, Key, Operation
from webapp.api.repeated import HEADER, LONGEST, REPEATED, SHORTEST
from webapp.runs.exports import TARGETS

REF = "#/components/schemas/{model}"
STATUS = {
    200: "Done.",
    201: "Stored.",
    304: "The client has it: nothing changed since it was sent with this ETag.",
    400: "The body is not JSON; the message has line and column. Or the server is not known by the host name.",
    403: "A page of another site made the request, or the key is none of what it is to delete.",
    404: "There is nothing of that name.",
    409: "The same request is at work.",
    410: "The case was deleted.",
    413: "Over a limit; the message has the limit and the size.",
    415: "The body is not application/json.",
    422: "A field is wrong; `field` is its JSON pointer.",
    503: "Too much is asked for, and Retry-After says when to try again; or the work took too long.",
}
_KINDS: dict[Any, str] = {TokenizerUpload: "multipart/form-data", bytes: "application/octet-stream"}
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
    "If-None-Match": {"description": "The ETag of an answer that the client has.", "schema": {"type": "string"}},
    HEADER: {
        "description": "A string made up for this request, such as a UUID; sent again, it has the same answer.",
        "schema": {"type": "string", "minLength": SHORTEST, "maxLength": LONGEST, "pattern": "^[!#-~]*$"},
    },
}
HEADERS = {
    "Cache-Control": "Whether the answer may be kept, and that it is to be asked about again.",
    "Content-Disposition": "A name for the file.",
    "ETag": "A tag of the bytes; it stays as long as they do.",
    REPEATED: "true: this is the answer to the request that the key came with first; nothing was done now.",
    "Link": "The address of the next page, as rel=next; absent on the last one.",
    "Location": "Where the case is.",
    "Retry-After": "In how many seconds to try again, where that is known.",
}
NOT_ALWAYS = frozenset({"Link", REPEATED, "Retry-After"})
LINES = {ReplayResult | ReplayPart: "The object without deltas and steps, then a step on each line."}


def description(operations: Sequence[Operation], version: str, root: str) -> dict[str, Any]:
    """The whole document, of an API whose paths stand below `root`."""
    bodies = [body for one in operations for body in (one.takes, *one.answers.values())]
    found, document = TypeAdapter.json_schemas(
        [
            (str(body), "validation", TypeAdapter(body))
            for body in (*bodies, ErrorBody)
            if not isinstance(body, str | Files | None)
        ],
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
        "servers": [{"url": root}],
        "paths": paths,
        "components": {"schemas": document["$defs"]},
    }


def _operation(one: Operation, schemas: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"operationId": one.name, "summary": one.summary}
    names = re.findall(r"<(\w+)>", one.path)
    parameters = [{"name": name, "in": "path", "required": True, **PARAMETERS[name]} for name in names]
    parameters += [_parameter(name, key) for name, key in one.query.items()]
    names = [*["If-None-Match"] * one.tagged, *[HEADER] * one.keyed]
    parameters += [{"name": name, "in": "header", **PARAMETERS[name]} for name in names]
    if parameters:
        found["parameters"] = parameters
    if one.takes is not None:
        kind = _KINDS.get(one.takes, "application/json")
        content = {kind: {"schema": schemas[str(one.takes)]}}
        if one.takes in BYTES:
            content["application/octet-stream"] = {"schema": {"type": "string", "description": BYTES[one.takes]}}
        found["requestBody"] = {"required": True, "content": content}
    answers = {
        str(status): {**_answer(status, model, schemas), **_headers(one, status)}
        for status, model in one.answers.items()
    }
    found["responses"] = {**answers, "default": _answer(0, ErrorBody, schemas)}
    return found


def _parameter(name: str, key: Key) -> dict[str, Any]:
    found = {"name": name, "in": "query", "description": key.words, "schema": key.schema}
    return found if key.explode else {**found, "explode": False}


def _headers(one: Operation, status: int) -> dict[str, Any]:
    found = {
        name: {"description": HEADERS[name], "required": name not in NOT_ALWAYS, "schema": {"type": "string"}}
        for name, statuses in one.headers.items()
        if status in statuses
    }
    return {"headers": found} if found else {}


def _answer(status: int, model: Any, schemas: Mapping[str, Any]) -> dict[str, Any]:
    words = STATUS.get(status, "Any other error.")
    if model is None:
        return {"description": words}
    if isinstance(model, Files):
        read = {"application/json": schemas[str(Case)], "application/yaml": {"type": "object"}, "text/event-stream": {}}
        content = {kind: {"schema": read.get(kind, {"type": "string"})} for kind in model.kinds}
        return {"description": words, "content": content}
    content = {"application/json": {"schema": {"type": "object"} if isinstance(model, str) else schemas[str(model)]}}
    if not isinstance(model, str) and model in LINES:
        content["application/jsonl"] = {"schema": {"type": "string", "description": LINES[model]}}
    return {"description": words, "content": content}
