"""POST /api/v1/redact: a case without what it says, which shows the same failure."""

from __future__ import annotations

from flask import jsonify
from flask.typing import ResponseReturnValue

from parsers.cases.case import Case
from parsers.cases.io import to_data
from webapp.api.answers import ErrorBody, RedactResult
from webapp.api.operations import API, operation
from webapp.api.views import posted_case
from webapp.jobs.redacting import redact
from webapp.services import services


@operation("POST", f"{API}/redact",
           {200: RedactResult, 400: ErrorBody, 413: ErrorBody, 415: ErrorBody, 422: ErrorBody, 503: ErrorBody},
           takes=Case)  # fmt: skip
def redact_case() -> ResponseReturnValue:
    """Replace the words, numbers and names of a case while it shows the same failure. Nothing is stored."""
    case = posted_case()
    found = services().searches.find(case)
    done = redact(case, services().settings, found=found).made
    stays = [{"text": one.what, "why": one.why.value} for one in done.stays]
    return jsonify({"case": to_data(done.case), "replaced": done.replaced, "stays": stays, "same": done.same,
                    "runs": done.runs})  # fmt: skip
