"""The routes of the API: each registers itself with what the description of the API says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Blueprint
from flask.typing import ResponseReturnValue

HEALTH = "/healthz"
API = "/api/v1"
View = TypeVar("View", bound=Callable[..., ResponseReturnValue])

blueprint = Blueprint("api", __name__)


@dataclass(slots=True, frozen=True)
class Operation:
    """Holds what the description of the API says of a route. `answers`: status to model, media type, or words."""

    method: str
    path: str
    name: str
    summary: str
    takes: Any
    answers: dict[int, Any]
    query: dict[str, str]


OPERATIONS: list[Operation] = []


def operation(method: str, path: str, answers: dict[int, Any], *, takes: Any = None, query: dict[str, str] | None = None
              ) -> Callable[[View], View]:  # fmt: skip
    """Register a view: its route, and its line in the description."""

    def register(view: View) -> View:
        summary = (view.__doc__ or "").partition("\n")[0]
        OPERATIONS.append(Operation(method, path, view.__name__, summary, takes, answers, query or {}))
        blueprint.add_url_rule(path, view_func=view, methods=[method])
        return view

    return register
