"""Lists by pages. A page says where the next one begins: its cursor is the name of the last row that was sent, so rows
that come or go elsewhere move nothing. The address of the next page is in the header Link (RFC 8288), and the answer
stays a list."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Response, jsonify, request

from parsers.vocabulary.types import UsageError
from webapp.api.operations import MOST_ROWS
from webapp.links import public_root

_SHOWN = 40


def page_of(rows: Sequence[Mapping[str, Any]]) -> Response:
    """The rows that the query asks for, as a list; each has a `name` of its own. Raises UsageError for a query that
    cannot be answered."""
    limit, start = asked_limit(), _start(rows)
    end = len(rows) if limit is None else min(start + limit, len(rows))
    response = jsonify(rows[start:end])
    if end < len(rows):
        name_next(response, "cursor", cursor_of(rows[end - 1]["name"]))
    return response


def name_next(response: Response, key: str, value: str | int) -> None:
    """Say in the header Link where the next page is: the same query with this key."""
    query = urlencode({**request.args, key: value})
    response.headers["Link"] = f'<{public_root()}{request.path}?{query}>; rel="next"'


def cursor_of(name: str) -> str:
    """The cursor of the rows behind the one of this name."""
    return base64.urlsafe_b64encode(name.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def asked_limit() -> int | None:
    """How many rows the query asks for; None where it does not say. Raises UsageError for what is no such number."""
    given = request.args.get("limit")
    if given is None:
        return None
    if re.fullmatch("[1-9][0-9]{0,3}", given) is None or int(given) > MOST_ROWS:
        raise UsageError(f"limit={given[:_SHOWN]} is no number of rows: give 1 to {MOST_ROWS:,}")
    return int(given)


def _start(rows: Sequence[Mapping[str, Any]]) -> int:
    given = request.args.get("cursor")
    if given is None:
        return 0
    try:
        name = base64.urlsafe_b64decode(f"{given}{'=' * (-len(given) % 4)}".encode()).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        name = None
    place = next((at for at, row in enumerate(rows) if row["name"] == name), None)
    if place is None:
        raise UsageError("this cursor is of no row that the list has now: begin again without it")
    return place + 1
