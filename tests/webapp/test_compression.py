"""Answers in gzip: the same content in fewer bytes, and only for who takes it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient

from webapp import compression
from webapp.app import create_app
from webapp.services import EXTENSION
from webapp.settings import Settings

TAKES = {"Accept-Encoding": "gzip, br;q=0.5"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    yield app.test_client()
    app.extensions[EXTENSION].store.close()


@pytest.mark.parametrize("path", ["/", "/checks", "/static/css/pages.css", "/api/v1/parsers"])
def test_an_answer_is_the_same_in_fewer_bytes(client: FlaskClient, path: str) -> None:
    plain, packed = client.get(path, buffered=True), client.get(path, headers=TAKES)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert 4 * len(packed.data) < len(plain.data)
    assert {"Accept-Encoding"} <= {*plain.vary} & {*packed.vary}


def test_what_is_streamed_is_packed_as_it_comes(client: FlaskClient) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Some words. " * 200}}
    packed = client.post("/api/v1/replay", json=case, headers=TAKES)
    assert "Content-Length" not in packed.headers
    assert json.loads(gzip.decompress(packed.data))["message"]["content"] == "Some words. " * 200


def test_a_file_that_was_packed_is_not_sent_again(client: FlaskClient) -> None:
    tag = client.get("/static/css/pages.css", headers=TAKES).headers["ETag"]
    assert tag.startswith("W/")
    again = client.get("/static/css/pages.css", buffered=True, headers={**TAKES, "If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(
    "answer",
    [
        Response("short", mimetype="text/plain"),
        Response("secret " * 1000, mimetype="text/html", headers={"Cache-Control": "no-store"}),
        Response(b"x" * 5000, mimetype="image/png"),
        Response(gzip.compress(b"x" * 5000), mimetype="text/plain", headers={"Content-Encoding": "gzip"}),
        Response(status=204),
    ],
    ids=["short", "secret", "picture", "packed already", "empty"],
)
def test_what_gains_nothing_or_may_not_be_packed_stays_as_it_is(answer: Response, tmp_path: Path) -> None:
    app, before = Flask("answers"), answer.data
    compression.init_app(app)
    app.add_url_rule("/", view_func=lambda: answer)
    assert app.test_client().get("/", headers=TAKES).data == before
