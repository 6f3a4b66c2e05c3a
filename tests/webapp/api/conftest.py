"""A client of the API, with a database of its own, and the smallest cases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

from tests.webapp.engines.entering import fake
from webapp import api
from webapp.app import create_app
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import write_entry
from webapp.services import EXTENSION
from webapp.settings import get_settings

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'


@pytest.fixture
def make_app(tmp_path: Path) -> Iterator[Callable[..., Flask]]:
    """An application with some settings changed."""
    made: list[Flask] = []

    def make(**settings: Any) -> Flask:
        made.append(application(tmp_path, **settings))
        return made[-1]

    yield make
    for app in made:
        close(app)


def application(folder: Path, **settings: Any) -> Flask:
    app = create_app(get_settings(data_dir=folder, **settings))
    if "api" not in app.blueprints:
        api.init_app(app)
    return app


def close(app: Flask) -> None:
    app.extensions[EXTENSION].searches.close()
    app.extensions[EXTENSION].store.close()


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """One application for tests that ask for every format and leave nothing that another could see."""
    app = application(tmp_path_factory.mktemp("shared"))
    yield app
    close(app)


@pytest.fixture
def client(make_app: Callable[..., Flask]) -> FlaskClient:
    return make_app().test_client()


@pytest.fixture
def fake_engine(client: FlaskClient) -> Iterator[None]:
    """The engine `fake`, entered at the application of the client and asked who it is."""
    settings = client.application.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "fake", fake())
    entered(settings).card("fake")
    yield
    use_engines(get_settings())


@pytest.fixture
def case() -> Callable[..., dict[str, Any]]:
    """A case out of some of its keys; the parser is auto and the output one call."""

    def make(**keys: Any) -> dict[str, Any]:
        return {"schema": 1, "parser": {"name": "auto"}, "input": {"text": CALL}, **keys}

    return make


def locked(*_: Any, **__: Any) -> Any:
    """What SQLite raises where another one writes for too long."""
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    raise OperationalError("", {}, error)


def after(many: int, real: Callable[..., Any], fails: Callable[..., Any] = locked) -> Callable[..., Any]:
    """`real` so many times, and trouble from then on."""
    left = iter(range(many))
    return lambda *given, **more: (fails if next(left, None) is None else real)(*given, **more)
