"""POST /api/v1/intake: anything a server or a person recorded becomes cases, or a sentence on what is missing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args

from flask import jsonify, request
from flask.typing import ResponseReturnValue
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from parsers.cases import jsontext
from parsers.cases.case import CaseError
from parsers.cases.corpus import load_named
from parsers.cases.io import load_case, loads, to_data
from parsers.cases.jsontext import JsonError
from parsers.intake import Intake, recognise
from parsers.intake.evidence import Kind
from parsers.vocabulary.types import Recording
from webapp.api.answers import ErrorBody, IntakeResult
from webapp.api.operations import API, Key, operation, whole
from webapp.page.form.setup import named_layers
from webapp.page.inspect.inspect_page import whole_number
from webapp.recordings import RecordingError, taken


@with_config(ConfigDict(extra="forbid"))
@dataclass(slots=True)
class IntakeRequest:
    """Holds what to recognise. The same bytes as a body of another type do as well, with the rest in the query."""

    text: str
    filename: Annotated[
        str | None,
        Field(description="The name of the file it was in; *.case.json says that it is a case, *.cases.json a corpus."),
    ] = None
    take_as: Annotated[Kind | None, Field(description="What to take it for, in place of the first guess.")] = None
    layers: Annotated[
        str | None, Field(description="The layers that come off, by name and in order, with commas; none: not one.")
    ] = None
    output: Annotated[
        int | None, Field(strict=True, ge=0, description="Of several outputs this one alone, from 0.")
    ] = None
    tokenizer: Annotated[str | None, Field(description="The tokenizer that gives recorded ids their text.")] = None


QUERY: dict[str, str | Key] = {
    "filename": "The name of the file, where the body is the bytes themselves.",
    "take_as": Key("What to take it for, in place of the first guess.", {"type": "string", "enum": [*get_args(Kind)]}),
    "layers": "The layers that come off, by name and in order, with commas; none: not one.",
    "output": whole("Of several outputs this one alone, from 0.", 0),
    "tokenizer": "The tokenizer that gives recorded ids their text.",
}


_AS_FOUND = (
    "layers",
    "offers",
    "parts",
    "kind",
    "log",
    "title",
    "message",
    "why",
    "facts",
    "warnings",
    "asks",
    "captures",
    "readings",
    "notes",
)


@operation("POST", f"{API}/intake", {200: IntakeResult, 413: ErrorBody, 422: ErrorBody, 503: ErrorBody},
           takes=IntakeRequest, query=QUERY)  # fmt: skip
def intake() -> ResponseReturnValue:
    """Recognise a recording and make cases of it. Nothing is replayed and nothing is stored."""
    wanted, data = _posted()
    layers = named_layers(wanted.layers or "")
    found = recognise(data, pasted=False, filename=wanted.filename, take_as=wanted.take_as, layers=layers)
    return jsonify(_answer(found, wanted))


def _answer(found: Intake, wanted: IntakeRequest) -> dict[str, Any]:
    cases: list[dict[str, Any]] = []
    corpus = list(found.cases.items()) if found.kind == "corpus" else []
    if found.kind == "case":
        cases += [to_data(loads(text)) for text in found.cases.values()]
    count = len(corpus) or len(found.outputs)
    if wanted.output is not None and wanted.output >= max(1, count):
        raise CaseError(f"there is no output {wanted.output}; there are {count}, from 0", "/output")
    places = [*range(count)] if wanted.output is None else [wanted.output][:count]
    if corpus:
        outputs = [_of_corpus(*corpus[at], cases) for at in places]
    else:
        outputs = [_output(found.outputs[at], wanted.tokenizer, cases) for at in places]
    return {
        **{name: getattr(found, name) for name in _AS_FOUND},
        "usable": bool(cases),
        "outputs": outputs,
        "cases": cases,
    }


def _output(one: Recording, tokenizer: str | None, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """One output; its case, if it makes one, is added to `cases`."""
    try:
        found = taken(one, tokenizer)
        cases.append(to_data(load_case(found.data)))
    except RecordingError as error:
        return _row(one, problem=error.message, field=error.field)
    except CaseError as error:
        return _row(one, problem=str(error))
    return _row(one, case=len(cases) - 1, notes=found.notes)


def _of_corpus(name: str, text: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """A case of a corpus as one of the outputs; if nothing is wrong with it, it is added to `cases`."""
    try:
        case = load_named(name, text)
    except CaseError as error:
        return _row(Recording(None, label=name), problem=str(error))
    cases.append(to_data(case))
    output = Recording(
        case.text() if case.has_raw else None,
        label=name,
        stream=case.input.stream,
        finish_reason=case.context.finish_reason,
    )
    return _row(output, case=len(cases) - 1)


def _row(one: Recording, **made: Any) -> dict[str, Any]:
    """Return how much of an output there is, with what was made of it."""
    return {
        "label": one.label,
        "characters": None if one.text is None else len(one.text),
        "token_ids": None if one.ids is None else len(one.ids),
        "chunks": None if one.stream is None else len(one.stream),
        "finish_reason": one.finish_reason,
        **{"case": None, "problem": None, "field": None, "notes": [], **made},
    }


def _posted() -> tuple[IntakeRequest, bytes]:
    """Return what was asked and the bytes to look at: a JSON object with `text`, or the body as it is."""
    body = request.get_data(cache=False)
    wanted = _request(body) if request.is_json else None
    if wanted is not None:
        if named := next(filter(request.args.get, QUERY), None):
            raise CaseError("belongs into the JSON body here, beside the text, not into the query", f"/{named}")
        return wanted, wanted.text.encode("utf-8", "surrogatepass")
    given: dict[str, Any] = {name: request.args[name] for name in QUERY if request.args.get(name)}
    if "output" in given and (number := whole_number(given["output"])) is None:
        raise CaseError("a whole number of at most nine digits, from 0, says which output is meant", "/output")
    if "output" in given:
        given["output"] = number
    return _valid({"text": "", **given}), body


def _request(body: bytes) -> IntakeRequest | None:
    """The JSON body, if it has the keys of a request; other JSON is a recording itself."""
    try:
        data = jsontext.read(body.decode("utf-8-sig"))
    except (UnicodeDecodeError, JsonError):
        return None
    ours = isinstance(data, dict) and "text" in data and data.keys() <= {field.name for field in fields(IntakeRequest)}
    return _valid(data) if ours else None


def _valid(data: dict[str, Any]) -> IntakeRequest:
    try:
        return TypeAdapter(IntakeRequest).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise CaseError(str(first["msg"]), "/" + "/".join(map(str, first["loc"]))) from error
