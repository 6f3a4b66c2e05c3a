"""Case files: read, written, identified.

A file is UTF-8 JSON with two-space indent and keys in the order of the model; keys that hold their default are left
out, so that a case has one written form. Its id is a hash of that form in canonical JSON (RFC 8785), without what
does not change what the case says of a parser: title, notes, flags, parent and the schema link.

Reading never re-encodes text and never guesses: what is wrong raises CaseError with the place and one sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from parsers.cases import jsontext
from parsers.cases.case import Case, CaseError
from parsers.cases.input import Input, Token, each_once
from parsers.cases.jsontext import JsonError
from parsers.vocabulary.types import FormatError
from parsers.wire.halves import with_whole_characters

SCHEMA_VERSION = 1
NOT_IN_ID = ("$schema", "title", "notes", "flags", "parent")
_ID_PREFIX = b"toolcall-inspector case 1\n"
_KEY_PREFIX = b"toolcall-inspector case 1, numbers as text\n"
CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH = 16
_TOKEN_PLACES = {"id": ("0",), "text": ("1",), "hex": ("2", "hex"), "kind": ("2", "kind")}
_ONE_LINE = {("input", "tokens"): 3, ("input", "deltas"): 3, ("replay",): 2}


def loads(source: str | bytes, line: int = 1) -> Case:
    """Read a case file, or what begins in this line of a larger one. Raises CaseError: not UTF-8, not JSON (with line
    and column), or not a case."""
    try:
        return load_case(jsontext.read(decoded(source), line))
    except JsonError as error:
        raise CaseError(error.message) from error


def decoded(source: str | bytes) -> str:
    """The text of a file of cases, without a byte order mark. Raises CaseError where it is not UTF-8."""
    try:
        text = source if isinstance(source, str) else source.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CaseError(f"a case file is UTF-8 text: byte {error.start} is not") from error
    return text.removeprefix("\ufeff")


def load_case(data: Any) -> Case:
    """Validate decoded JSON as a case. Raises CaseError with the pointer of the first place that is wrong."""
    if not isinstance(data, dict):
        raise CaseError('a case is a JSON object: {"schema": 1, "parser": {"name": ...}, "input": {"text": [...]}}')
    data = _with_whole_characters(data)
    _check(data)
    _check_version(data)
    try:
        return Case.model_validate(data)
    except FormatError as error:
        raise CaseError(error.message, f"/parser/format{error.pointer}") from error
    except ValidationError as error:
        raise _case_error(error.errors(), data) from error


def _with_whole_characters(data: dict[str, Any]) -> dict[str, Any]:
    """The data with the characters joined that a server cut in two, half a character to a chunk."""
    given = data.get("input")
    stream = given.get("stream") if isinstance(given, dict) else None
    joined = with_whole_characters(stream) if isinstance(stream, list) else stream
    return data if joined is stream else {**data, "input": {**data["input"], "stream": joined}}


def to_data(case: Case) -> dict[str, Any]:
    """The case as decoded JSON in its written form. Raises CaseError for what JSON cannot hold."""
    data = case.model_dump(mode="python", by_alias=True, exclude_defaults=True, exclude={"input": {"tokens"}})
    if case.input.tokens is not None:  # many that are one object, which pydantic would write again and again
        output = {**data["input"], "tokens": each_once(Token.model_dump, case.input.tokens)}
        data["input"] = {name: output[name] for name in Input.model_fields if name in output}
    _check(data)
    return data


def dumps(case: Case) -> str:
    """The case as the text of a file. `loads(dumps(case)) == case`."""
    return _text_of(to_data(case))


def identified(case: Case) -> tuple[str, str]:
    """The id of a case, and its text as `dumps` writes it. Raises CaseError as `canonical` does."""
    data = to_data(case)
    return _id_of(_canonical(data)), _text_of(data)


def _text_of(data: dict[str, Any]) -> str:
    return jsontext.pretty(data, one_line) + "\n"


def canonical(case: Case) -> bytes:
    """The case in canonical JSON (RFC 8785), without the keys of NOT_IN_ID.

    Raises CaseError for integers that not every JSON reader keeps: those beyond 2**53 - 1.
    """
    return _canonical(to_data(case))


def _canonical(whole: dict[str, Any]) -> bytes:
    data = {key: value for key, value in whole.items() if key not in NOT_IN_ID}
    try:
        jsontext.check_portable_numbers(data)
    except JsonError as error:
        raise CaseError(error.message, jsontext.pointer(error.path)) from error
    output = {key: rfc8785.dumps(value) for key, value in data["input"].items() if key != "tokens"}
    if "tokens" in data["input"]:  # many that are one object
        output["tokens"] = b"[%s]" % b",".join(each_once(rfc8785.dumps, data["input"]["tokens"]))
    rest = {key: rfc8785.dumps(value) for key, value in data.items() if key != "input"}
    return _object({**rest, "input": _object(output)})


def _object(written: Mapping[str, bytes]) -> bytes:
    """An object of the canonical form, of keys in ASCII and values in that form."""
    return b"{%s}" % b",".join([b'"%s":%s' % (key.encode(), written[key]) for key in sorted(written)])


def case_id(case: Case) -> str:
    """The id of a permalink: 80 bits of SHA-256 over a prefix and the canonical form, in Crockford's base 32."""
    return _id_of(canonical(case))


def id_if_any(case: Case) -> str | None:
    """The id of a case; None for one that can have none."""
    try:
        return case_id(case)
    except CaseError:
        return None


def case_key(case: Case) -> str:
    """What tells a case from others where no reader has to agree on it: its id, or one in that form for a case that can
    have none, with the integers that are in the way as text. Verdicts and links of engines are no part of it."""
    data = _without_verdicts(to_data(case))
    try:
        return _id_of(_canonical(data))
    except CaseError:
        return _id_of(_canonical(_spelled(data)), _KEY_PREFIX)


def _without_verdicts(data: dict[str, Any]) -> dict[str, Any]:
    """A case of whose engines there is only what is expected of them."""
    engines = data.get("engines", {})
    expected = {name: {"expect": one["expect"]} for name, one in engines.items() if "expect" in one}
    rest = {key: value for key, value in data.items() if key != "engines"}
    return {**rest, "engines": expected} if expected else rest


def _spelled(value: Any) -> Any:
    """The value with the integers as text that not every JSON reader keeps; text itself begins with a sign that no
    number has, so that two values never become one."""
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(item) for item in value]
    if isinstance(value, str):
        return f"={value}"
    return value if jsontext.is_portable(value) else hex(value)


def _id_of(written: bytes, prefix: bytes = _ID_PREFIX) -> str:
    digest = hashlib.sha256(prefix + written).digest()
    number = int.from_bytes(digest, "big") >> (len(digest) * 8 - _ID_LENGTH * 5)
    return "".join([CROCKFORD[(number >> shift) & 31] for shift in range(5 * (_ID_LENGTH - 1), -1, -5)])


def one_line(path: jsontext.Path) -> bool:
    """Return whether a value of a case is written on one line: each token, delta and chunking, and the times."""
    return path == ("input", "times") or any(
        len(path) == length and path[: length - 1] == start for start, length in _ONE_LINE.items()
    )


def _check(data: Any) -> None:
    try:
        jsontext.check(data)
    except JsonError as error:
        raise CaseError(error.message, jsontext.pointer(error.path)) from error


def _check_version(data: dict[str, Any]) -> None:
    if "schema" not in data:
        raise CaseError(f'a case says which schema it follows: add "schema": {SCHEMA_VERSION}', "/schema")
    version = data["schema"]
    if version != SCHEMA_VERSION or isinstance(version, bool | float):
        raise CaseError(
            f"schema {jsontext.line(version)} is not known here: this version reads schema {SCHEMA_VERSION}", "/schema"
        )


def _case_error(errors: list[ErrorDetails], data: Any) -> CaseError:
    """The first error; an unknown key before all others, since a key that is missing may only be misspelled. Of a value
    that may be text or an object, an object is judged as one."""
    judged = [one for one in errors if one["type"] != "string_type" or not isinstance(one["input"], dict)] or errors
    error = next((one for one in judged if one["type"] == "extra_forbidden"), judged[0])
    path = error["loc"]
    if path[:2] == ("input", "tokens") and len(path) > 3:
        path = (*path[:3], *_TOKEN_PLACES.get(str(path[3]), path[3:]))
    else:
        path = _without_tags(path, data)
    return CaseError(_words(error), jsontext.pointer(path))


def _without_tags(path: tuple[int | str, ...], data: Any) -> tuple[int | str, ...]:
    """The path as it is in the data: validation also names which member of a union it tried, and `[key]`."""
    found: list[int | str] = []
    for at, part in enumerate(path):
        inside = isinstance(data, dict) and part in data
        if inside or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]
        elif not isinstance(data, dict) or at + 1 < len(path) or part == "[key]":
            continue
        found.append(part)
    return tuple(found)


_KINDS = dict.fromkeys(("tuple_type", "list_type"), "a list") | dict.fromkeys(("dict_type", "model_type"), "an object")


def _words(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return f"unknown key {jsontext.line(error['loc'][-1])}: correct its spelling or remove it"
    if error["type"] == "missing":
        return "this key is required"
    kind, given = _KINDS.get(error["type"]), error["input"]
    message = error["msg"].replace("Input should be", "must be", 1) if kind is None else f"must be {kind}"
    if isinstance(given, dict | list | tuple):
        return message if kind is None else f"{message}, not {'an object' if isinstance(given, dict) else 'a list'}"
    if message == error["msg"]:
        return message
    shown = jsontext.line(given)
    return f"{message}, not {shown if len(shown) <= 40 else shown[:40] + '…'}"
