"""POST /api/v1/between: an output and a chunking on which the parser of a case and another one differ."""

from __future__ import annotations

from flask import Response, request
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case, CaseError, ParserRef
from parsers.cases.jsontext import plain
from parsers.vocabulary.types import UsageError
from webapp.api.answers import BetweenResult, ErrorBody
from webapp.api.operations import API, operation
from webapp.api.views import posted_case
from webapp.engines.foreign import OPTIONS
from webapp.services import services

QUERY = {
    "beside": "The other parser: one of the list of parsers by its name, such as hermes or vllm:hermes.",
    "reasoning_parser": "The reasoning parser of its engine, which reads first.",
}


@operation("POST", f"{API}/between",
           {200: BetweenResult, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody, 503: ErrorBody},
           takes=Case, query=QUERY)  # fmt: skip
def between() -> ResponseReturnValue:
    """Search for an output and a chunking on which two parsers differ. Nothing is stored."""
    word, case = request.args.get("beside", "").strip(), posted_case()
    if not word:
        raise UsageError("say which parser to search beside, as ?beside=NAME or ?beside=ENGINE:PARSER")
    try:
        other = by_parser(case, word, request.args.get("reasoning_parser", "").strip())
        found = services().searches.find_between((case, other))
    except CaseError as error:
        if error.pointer.startswith("/parsers/1"):
            raise UsageError(f"beside={word[:80]}: {error.message}") from error
        raise CaseError(error.message, error.pointer.replace("/parsers/0", "/parser", 1)) from error
    return Response(plain(found) + "\n", mimetype="application/json")


def by_parser(case: Case, word: str, reasoning: str = "") -> Case:
    """The same output for another parser, ENGINE:PARSER or one of ours, with nothing of the first one's; `reasoning`
    reads before it."""
    engine, colon, name = word.partition(":")
    options = {OPTIONS[0]: reasoning} if reasoning else {}
    ref = ParserRef(name=name or "auto" if colon else word, engine=engine if colon else None, options=options)
    return case.model_copy(update={"parser": ref})
