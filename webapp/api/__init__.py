"""The HTTP API: `/healthz` and everything under `/api/v1`. What it is held to besides stands in `webapp.security`."""

from __future__ import annotations

from flask import Flask

from webapp.api import between, guests, intake, library, query_keys, redaction, tags, views
from webapp.api.operations import API, HEALTH, blueprint

__all__ = [
    "API",
    "HEALTH",
    "between",
    "guests",
    "init_app",
    "intake",
    "library",
    "query_keys",
    "redaction",
    "tags",
    "views",
]


def init_app(app: Flask) -> None:
    """Put the API into `app`, which has its services (settings, store) already."""
    app.register_blueprint(blueprint)
