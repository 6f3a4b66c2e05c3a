"""The routes of the library: its list, exports, and imports. Only listed cases are in any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response, abort, jsonify, request
from flask.typing import ResponseReturnValue

from parsers.vocabulary.types import UsageError
from webapp.api.answers import ErrorBody, LibraryCases, LibraryImport
from webapp.api.lists import asked_limit, name_next
from webapp.api.operations import API, LARGEST, MOST_ROWS, Files, Key, operation, switch, whole
from webapp.api.query_keys import is_asked
from webapp.api.repeated import delete_key
from webapp.page.library.fixed_words import refuse_unknown
from webapp.page.library.importing import LEFT_ALONE, import_some, tags_of
from webapp.page.library.incoming import incoming
from webapp.page.library.outgoing import KINDS, exported_cases
from webapp.page.library.query import wanted_of
from webapp.quotas import client
from webapp.services import services
from webapp.store.listings import SHOWN, Listed, Wanted

_QUERY = {
    "q": "What is looked for, as in the page's search field. A verdict or check that there is not is refused.",
    "collection": "The id of a collection, to look in that alone.",
}
_FORMAT = Key(f"{' or '.join(KINDS)}.", {"type": "string", "enum": [*KINDS], "default": "jsonl"})


@operation("GET", f"{API}/library", {200: LibraryCases, 400: ErrorBody, 404: ErrorBody}, tagged=True,
           headers={"Link": (200, 304)},
           query={**_QUERY, "before": whole("`more` of the page before.", 1),
                  "limit": whole(f"At most so many cases; {SHOWN} where it is not given.", 1, MOST_ROWS)})  # fmt: skip
def library() -> ResponseReturnValue:
    """The newest listed cases that a query finds."""
    before, limit = _whole("before", 1), asked_limit()
    found = services().store.library.search(_wanted(), before=before, limit=SHOWN if limit is None else limit)
    response = jsonify({"total": found.total, "more": found.more, "cases": [_row(one) for one in found.rows]})
    if found.more is not None:
        name_next(response, "before", found.more)
    return response


@operation("GET", f"{API}/library/export", {200: Files(tuple(KINDS.values())), 400: ErrorBody, 404: ErrorBody},
           headers={"Content-Disposition": (200,)},
           query={**_QUERY, "format": _FORMAT})  # fmt: skip
def export_cases() -> ResponseReturnValue:
    """The case files of all listed cases that a query finds."""
    kind = request.args.get("format", "jsonl")
    if kind not in KINDS:
        raise UsageError(f"format={kind[:40]} is not known: ask for one of {', '.join(KINDS)}")
    response = Response(exported_cases(kind, services().store.library.bodies(_wanted())), mimetype=KINDS[kind])
    response.headers["Content-Disposition"] = f'attachment; filename="cases.{kind}"'
    return response


@operation("POST", f"{API}/library/import",
           {200: LibraryImport, 400: ErrorBody, 413: ErrorBody, 429: ErrorBody, 503: ErrorBody},
           takes=bytes, keyed=True, headers={"Cache-Control": (200,)},
           query={"name": "What the file is called in what is said of it.", "tags": "Tags, separated by commas.",
                  "listed": switch("1: list the cases in the library."),
                  "line": whole("The body is a part of JSON Lines, whose first line has this number.", 1),
                  "skip": whole("How many of its cases were done before.", 0),
                  "most": whole("How many to take now.", 1)})  # fmt: skip
def import_cases() -> ResponseReturnValue:
    """Store the cases of a case file, a corpus, JSON Lines or a zip of these, as many as there is time for."""
    parts, name = services(), request.args.get("name", "cases")[:200]
    found = incoming(name, request.get_data(cache=False), _whole("line", 1))
    listed, tags = is_asked("listed"), tags_of(request.args.get("tags", ""))
    skip, most = _whole("skip") or 0, _whole("most", 1)
    sharing = replace(LEFT_ALONE, client=client())
    report = import_some(
        found, parts.runner, parts.store, listed=listed, tags=tags, skip=skip, most=most, sharing=sharing,
        keys=delete_key,
    )  # fmt: skip
    failed = [{"name": one.name, "why": one.why} for one in report.failed]
    keyed = [{"name": one.name, "id": one.case_id, "delete_key": one.delete_key} for one in report.keyed]
    counts = {"stored": report.stored, "known": report.known, "left": report.left}
    response = jsonify({**counts, "failed": failed, "cases": keyed})
    response.headers["Cache-Control"] = "no-store"
    return response


def _wanted() -> Wanted:
    collection = request.args.get("collection") or None
    if collection is not None and services().store.collections.get(collection) is None:
        abort(404, "There is no collection of that id.")
    wanted = wanted_of(request.args.get("q", ""), collection)
    return refuse_unknown(wanted, lambda: services().store.library.counts(collection))


def _whole(name: str, least: int = 0) -> int | None:
    """A whole number of the query; None where it is absent. Raises UsageError for anything else."""
    given = request.args.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10 and least <= int(given) <= LARGEST):
        raise UsageError(f"{name} must be a whole number from {least:,} to {LARGEST:,}")
    return int(given)


def _row(one: Listed) -> dict[str, Any]:
    names = ("title", "parser", "engine", "verdict", "severity", "tags", "created")
    return {"id": one.case_id, **{name: getattr(one, name) for name in names}}
