"""The routes of the API: each registers itself with what the description of the API says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Blueprint
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import BadRequest

from webapp.api.answers import ErrorBody
from webapp.api.repeated import REPEATED, repeatable
from webapp.security import HEALTH as HEALTH
from webapp.security import PROBES
from webapp.security import READY as READY
from webapp.switches import OFF, ON

API = "/api/v1"
MOST_ROWS = 1_000  # of a list, in one answer
LARGEST = 999_999_999  # whole number of a query
View = TypeVar("View", bound=Callable[..., ResponseReturnValue])

blueprint = Blueprint("api", __name__)


@dataclass(slots=True, frozen=True)
class Key:
    """A key of the query: what it is for, and which values it has. `explode`: not so many in one, with commas."""

    words: str
    schema: Mapping[str, Any]
    explode: bool = True


def whole(words: str, least: int, most: int = LARGEST) -> Key:
    """A key whose values are whole numbers."""
    return Key(words, {"type": "integer", "minimum": least, "maximum": most})


def switch(words: str) -> Key:
    """A key that turns something on."""
    return Key(words, {"type": "string", "enum": [*ON, *OFF], "default": OFF[0]})


PAGE: dict[str, str | Key] = {
    "limit": whole("At most so many rows; without it all of them.", 1, MOST_ROWS),
    "cursor": "Where the rows begin, as the header Link of the page before says it.",
}


@dataclass(slots=True, frozen=True)
class Files:
    """An answer that is a file of one of these media types."""

    kinds: tuple[str, ...]


@dataclass(slots=True, frozen=True)
class Operation:
    """Holds what the description of the API says of a route. `answers`: status to model, `Files`, words for any object,
    or None for an answer without a body; `headers`: the statuses that have one. `tagged`: see `webapp.api.tags`."""

    method: str
    path: str
    name: str
    summary: str
    takes: Any
    answers: dict[int, Any]
    query: dict[str, Key]
    headers: dict[str, tuple[int, ...]]
    tagged: bool
    keyed: bool = False


class BadJsonError(BadRequest):
    """A body that is not JSON; says where."""


OPERATIONS: list[Operation] = []


def operation(
    method: str,
    path: str,
    answers: dict[int, Any],
    *,
    takes: Any = None,
    query: Mapping[str, str | Key] | None = None,
    headers: dict[str, tuple[int, ...]] | None = None,
    tagged: bool = False,
    paged: bool = False,
    keyed: bool = False,
) -> Callable[[View], View]:
    """Register a view: its route, and its line in the description.

    `query`: its keys; one of any text is said by its words. `tagged`: its answer has a tag, and is not sent to who has
    it. `paged`: it is a list that is asked for by pages. `keyed`: it may have an `Idempotency-Key`, see
    `webapp.api.repeated`.
    """
    refusals = [400, *[403] * (method != "GET"), *[422] * (path not in PROBES)]
    found = {**answers, **dict.fromkeys([*refusals, *[409] * keyed], ErrorBody)}
    told = {**(headers or {}), **({"Link": (200, 304)} if paged else {}), "Retry-After": (409, 429, 503)}
    if keyed:
        told[REPEATED] = (200, 201)
    if tagged:
        found[304], told["ETag"], told["Cache-Control"] = None, (200, 304), (200, 304)

    def register(view: View) -> View:
        summary = (view.__doc__ or "").partition("\n")[0]
        given: dict[str, str | Key] = {**(query or {}), **(PAGE if paged else {})}
        asked = {key: Key(one, {"type": "string"}) if isinstance(one, str) else one for key, one in given.items()}
        said = {name: tuple([one for one in of if one in found]) for name, of in told.items()}
        one = Operation(
            method, path, view.__name__, summary, takes, dict(sorted(found.items())), asked, said, tagged, keyed
        )
        OPERATIONS.append(one)
        blueprint.add_url_rule(path, view_func=repeatable(view) if keyed else view, methods=[method])
        return view

    return register
