"""The schema of a tool, changed so little that arguments fit it which do not: what the smallest form of an output says.

Each keyword that the library names is left out: of `required` the name that is missing alone; a key that is not listed
is listed. The rest of the schema stays as it was declared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

from parsers.checks.schema import UnjudgedError, leave_out, schema_of


def fitting(parameters: Mapping[str, Any], arguments: str) -> Mapping[str, Any]:
    """The schema that a text, which is one JSON object, fits; the same object where it fits already, and where that
    cannot be judged or brought about."""
    found = parameters
    while errors := _errors(found, arguments):
        changed = json.loads(json.dumps(found))
        if not sum([_is_mended(changed, error) for error in errors]):
            return parameters
        found = changed
    return found


def _errors(parameters: Mapping[str, Any], arguments: str) -> list[ValidationError]:
    try:
        return schema_of(parameters).errors(arguments)
    except UnjudgedError:
        return []


def _is_mended(schema: Any, error: ValidationError) -> bool:
    """Take what a value breaks out of a schema; return whether it stood there."""
    path, inner = error.schema_path, schema
    try:
        for part in path[:-1]:
            inner = inner[part]
    except (IndexError, KeyError, TypeError):
        return False
    match error.kind:
        case Kind.Required(property=name) if name in inner.get("required", ()):
            inner["required"] = [one for one in inner["required"] if one != name]
            return bool(inner["required"]) or leave_out(schema, path)
        case Kind.Custom(message=listed):
            return _listed(inner, json.loads(listed)[0])
        case Kind.AdditionalProperties(unexpected=keys):
            return _listed(inner, keys)
    return leave_out(schema, path)


def _listed(schema: dict[str, Any], keys: Iterable[str]) -> bool:
    schema.setdefault("properties", {}).update({key: {} for key in keys})
    return True
