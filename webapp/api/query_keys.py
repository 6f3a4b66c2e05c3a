"""Keys of a query: one that a route does not have is refused, so that nobody gets everything for `?limt=5`, and so is
one that is given again, for one of its values would be left out of account."""

from __future__ import annotations

from flask import request

from parsers.vocabulary.types import UsageError
from webapp.api.operations import OPERATIONS, blueprint
from webapp.security import PROBES
from webapp.switches import is_on

_SHOWN = 40  # characters of a key


def is_asked(name: str) -> bool:
    """Whether a key that is a switch is on. Raises UsageError for a word that is neither."""
    return is_on(request.args, name)


@blueprint.before_request
def _known_keys() -> None:
    """Raise UsageError for a key of the query that the route does not have, or that is given again."""
    if request.path in PROBES:
        return
    known = next((one.query for one in OPERATIONS if f"{blueprint.name}.{one.name}" == request.endpoint), {})
    again = next(((key, len(values)) for key, values in request.args.lists() if len(values) > 1), None)
    if again is not None:
        raise UsageError(f"{again[0][:_SHOWN]} is given {again[1]:,} times: give it once")
    unknown = next((key for key in request.args if key not in known), None)
    if unknown is not None:
        said = unknown if len(unknown) <= _SHOWN else f"{unknown[:_SHOWN]}…"
        there = f"give some of {', '.join(known)}" if known else "this address has none"
        raise UsageError(f"{said} is no key of the query: {there}")
