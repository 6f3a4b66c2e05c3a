"""Tags of what a client may keep: some answers have one, of their bytes. Who sends it back in If-None-Match is told 304
as long as they are the same: a stored case never changes, but it can be deleted, so nobody may go on showing it without
asking."""

from __future__ import annotations

from flask import Response, request

from webapp.api.operations import OPERATIONS, blueprint

_KEPT = "private, no-cache"


@blueprint.after_request
def _tagged(response: Response) -> Response:
    """The answer with its tag, or 304 where the client has it."""
    tagged = {f"{blueprint.name}.{one.name}" for one in OPERATIONS if one.tagged}
    if response.status_code == 200 and request.endpoint in tagged:
        response.headers["Cache-Control"] = _KEPT
        response.vary.add("Accept-Encoding")
        response.add_etag()
        response.make_conditional(request)
    return response
