"""A client of the API, with a database of its own, and the smallest cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp import api
from webapp.app import create_app
from webapp.page.services import EXTENSION
from webapp.settings import get_settings

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'


@pytest.fixture
def make_app(tmp_path: Path) -> Iterator[Callable[..., Flask]]:
    """An application with some settings changed."""
    made: list[Flask] = []

    def make(**settings: Any) -> Flask:
        app = create_app(get_settings(data_dir=tmp_path, **settings))
        if "api" not in app.blueprints:
            api.init_app(app)
        made.append(app)
        return app

    yield make
    for app in made:
        app.extensions[EXTENSION].jobs.close()
        app.extensions[EXTENSION].store.close()


@pytest.fixture
def client(make_app: Callable[..., Flask]) -> FlaskClient:
    return make_app().test_client()


@pytest.fixture
def case() -> Callable[..., dict[str, Any]]:
    """A case out of some of its keys; the parser is auto and the output one call."""

    def make(**keys: Any) -> dict[str, Any]:
        return {"schema": 1, "parser": {"name": "auto"}, "input": {"text": CALL}, **keys}

    return make
