from __future__ import annotations

import io
from typing import Any

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from webapp.bodies import OnePieceParser
from webapp.security import init_app
from webapp.settings import Settings

LIMIT = 8_000_000
EDGE = 65_536
BOUNDARIES = ["----WebKitFormBoundaryabcdefghijklmnop", "----geckoformboundary" + "0" * 32, "-" * 70]


@pytest.fixture
def client() -> FlaskClient:
    app = Flask(__name__)
    init_app(app, Settings())

    @app.post("/size")
    def size() -> str:
        return str(len(request.form["text"]))

    return app.test_client()


def post_chunked(client: FlaskClient, body: bytes, terminated: bool = True) -> TestResponse:
    return client.post(
        "/size",
        input_stream=io.BytesIO(body),
        content_type="application/x-www-form-urlencoded",
        environ_overrides={"wsgi.input_terminated": True} if terminated else {},
        headers={"Transfer-Encoding": "chunked"},
    )


def test_a_chunked_body_is_read_whole_up_to_the_limit(client: FlaskClient) -> None:
    response = post_chunked(client, b"text=" + b"x" * (LIMIT - 5))
    assert (response.status_code, response.text) == (200, str(LIMIT - 5))


def test_a_chunked_body_over_the_limit_is_refused_not_cut(client: FlaskClient) -> None:
    response = post_chunked(client, b"text=" + b"x" * (LIMIT - 4))
    assert response.status_code == 413
    assert "The request is too large; the limit is 8,000,000 bytes" in response.text


def test_a_chunked_body_without_an_end_is_not_read(client: FlaskClient) -> None:
    assert post_chunked(client, b"text=four", terminated=False).status_code == 400


def multipart(fields: list[tuple[str, str]], boundary: str) -> bytes:
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields]
    return "".join([*parts, f"--{boundary}--\r\n"]).encode()


def parsed(body: bytes, boundary: str) -> list[tuple[str, str]]:
    parser = OnePieceParser(max_form_memory_size=LIMIT, max_form_parts=1000)
    _, form, _ = parser.parse(io.BytesIO(body), "multipart/form-data", len(body), {"boundary": boundary})
    return list(form.items(multi=True))


@pytest.mark.replays
@pytest.mark.parametrize("boundary", BOUNDARIES, ids=["Chromium", "Firefox", "longest"])
@pytest.mark.parametrize("last", ["", "x", "\r", "\r\n", "\n--"])
def test_no_edge_inside_a_form_changes_a_field(last: str, boundary: str) -> None:
    shortest = EDGE - len(multipart([("text", ""), ("tools", ""), ("last", last)], boundary)) - 5
    for size in range(shortest, shortest + 2 * len(boundary) + 20):
        fields = [("text", "x" * size), ("tools", ""), ("last", last)]
        assert parsed(multipart(fields, boundary), boundary) == fields


@pytest.mark.replays
def test_hundreds_of_empty_fields_all_arrive() -> None:
    fields = [(f"f{n}", "") for n in range(1000)]
    for extra in range(0, 140, 12):
        boundary = "-" * 69
        padded = [("text", "x" * extra), *fields[1:]]
        assert parsed(multipart(padded, boundary), boundary) == padded


FIELD = st.text(st.characters(codec="utf-8"), max_size=20)


@given(st.dictionaries(st.sampled_from(["text", "tools", "parser"]), FIELD))
def test_every_text_arrives_as_it_was_sent(fields: dict[str, str]) -> None:
    assert dict(parsed(multipart([*fields.items()], "----boundary"), "----boundary")) == fields


BROKEN = [
    ("multipart/form-data", b"--b\r\n\r\n"),
    ("multipart/form-data; boundary=b", b"nothing of the kind"),
    ("multipart/form-data; boundary=b", b"--b\r\nContent-Disposition: form-data; name=text\r\n\r\ncut off"),
    ("multipart/form-data; boundary=b", b"--b\r\nX: y\r\n\r\nno name\r\n--b--\r\n"),
]


@pytest.mark.parametrize(("content_type", "body"), BROKEN)
def test_a_form_that_cannot_be_read_is_refused(content_type: str, body: bytes, client: FlaskClient) -> None:
    response = client.post("/size", data=body, content_type=content_type)
    assert response.status_code == 400
    assert "The multipart form cannot be read." in response.text


def test_an_uploaded_file_keeps_its_last_bytes(client: FlaskClient) -> None:
    @client.application.post("/file")
    def upload() -> bytes:
        content: bytes = request.files["file"].read()
        return content

    data: dict[str, Any] = {"text": "", "file": (io.BytesIO(b"\xff\r\n\x00\r"), "a.bin")}
    assert client.post("/file", data=data).data == b"\xff\r\n\x00\r"
