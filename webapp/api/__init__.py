"""The HTTP API: `/healthz` and everything under `/api/v1`. What it is held to besides stands in `webapp.security`."""

from __future__ import annotations

from flask import Flask

from webapp.api import intake, tokenizers
from webapp.api.views import API, HEALTH, blueprint
from webapp.page.services import EXTENSION
from webapp.runs.runner import Runner

__all__ = ["API", "HEALTH", "init_app", "intake", "tokenizers"]


def init_app(app: Flask) -> None:
    """Put the API into `app`, which has its services (settings, store) already."""
    app.extensions["inspector_api"] = Runner(app.extensions[EXTENSION].settings)
    app.register_blueprint(blueprint)
