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
GZIP = {"Content-Encoding": "gzip"}


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
    packed = client.post("/api/v1/replay?format=jsonl", json=case, headers=TAKES)
    assert "Content-Length" not in packed.headers
    summary, *steps = map(json.loads, gzip.decompress(packed.data).splitlines())
    assert (summary["message"]["content"], len(steps) > 200) == ("Some words. " * 200, True)


def test_what_was_packed_already_is_unpacked_for_who_takes_no_gzip(tmp_path: Path) -> None:
    text = "ä" * 100_000
    data = compression.packed([text[:50_000], text[50_000:]], 200_000)
    app = Flask("answers")
    compression.init_app(app)
    app.add_url_rule("/", view_func=lambda: Response(data, mimetype="text/plain", headers=GZIP))
    plain, packed = app.test_client().get("/"), app.test_client().get("/", headers=TAKES)
    assert (plain.text, packed.data) == (text, data)
    assert {"Content-Encoding", "Content-Length"} & {*plain.headers.keys()} == set()
    assert (packed.headers["Content-Encoding"], packed.content_length) == ("gzip", len(data or b""))
    assert "Accept-Encoding" in plain.vary
    assert "Accept-Encoding" in packed.vary


@pytest.mark.parametrize(("most", "read"), [(8, 4), (7, 4), (5, 3), (0, 1)])
def test_no_more_is_read_than_may_be_packed(most: int, read: int) -> None:
    parts = iter(["ä", "ä", "ä", "ä"])
    found = compression.packed(parts, most)
    assert (None if found is None else gzip.decompress(found).decode()) == ("ääää" if most >= 8 else None)
    assert len([*parts]) == 4 - read


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
        Response(gzip.compress(b"x" * 5000), mimetype="text/plain", headers=GZIP),
        Response(status=204),
    ],
    ids=["short", "secret", "picture", "packed already", "empty"],
)
def test_what_gains_nothing_or_may_not_be_packed_stays_as_it_is(answer: Response, tmp_path: Path) -> None:
    app, before = Flask("answers"), answer.data
    compression.init_app(app)
    app.add_url_rule("/", view_func=lambda: answer)
    assert app.test_client().get("/", headers=TAKES).data == before
