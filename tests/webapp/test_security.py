from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask, Response, abort, make_response, redirect, request
from flask.testing import FlaskClient
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import Headers
from werkzeug.exceptions import ServiceUnavailable
from werkzeug.test import encode_multipart

from webapp.security import HEADERS, api_error, check_limit, init_app, is_cross_origin
from webapp.settings import Settings

LIMIT = 8_000_000
SETTINGS = Settings(public_url="https://team.example:8443/inspect", trusted_hosts=("localhost", "[::1]", ".b.example"))


def make_app() -> Flask:
    app = Flask(__name__)
    init_app(app, SETTINGS)

    @app.post("/size")
    @app.post("/api/v1/size")
    def size() -> str:
        return str(len(request.form["text"]))

    @app.post("/json")
    @app.post("/api/v1/json")
    def body() -> str:
        return str(len(request.get_json()["text"]))

    @app.get("/boom")
    @app.get("/api/v1/boom")
    def boom() -> str:
        raise ZeroDivisionError("a secret of the code")

    @app.get("/embed")
    def embed() -> Response:
        response = make_response("framed")
        response.headers["Content-Security-Policy"] = "frame-ancestors *"
        return response

    @app.get("/api/v1/abort/<int:code>")
    @app.get("/abort/<int:code>")
    def stop(code: int) -> str:
        abort(code, request.args.get("why"))

    return app


@pytest.fixture
def client() -> FlaskClient:
    return make_app().test_client()


# The unsafe request: Sec-Fetch-Site, Origin, refused? Host is localhost:8765.
REQUESTS = [
    (None, None, False),
    ("same-origin", None, False),
    ("none", None, False),
    ("same-origin", "null", False),
    ("same-site", None, True),
    ("cross-site", None, True),
    ("cross-site", "http://localhost:8765", True),
    ("unheard-of", None, True),
    ("", "http://localhost:8765", False),
    (None, "http://localhost:8765", False),
    (None, "http://LOCALHOST:8765", False),
    (None, "https://localhost:8765", False),
    (None, "http://localhost", True),
    (None, "http://localhost:8766", True),
    (None, "http://evil.example", True),
    (None, "http://localhost:8765.evil.example", True),
    (None, "null", True),
    (None, "localhost:8765", True),
    (None, "https://team.example:8443", False),
    (None, "https://team.example", True),
    ("cross-site", "https://team.example:8443", True),
]


@pytest.mark.parametrize(("site", "origin", "refused"), REQUESTS)
def test_an_unsafe_request_must_be_same_origin(
    site: str | None, origin: str | None, refused: bool, client: FlaskClient
) -> None:
    headers = {"Sec-Fetch-Site": site, "Origin": origin}
    sent = {name: value for name, value in headers.items() if value is not None}
    response = client.post("/size", base_url="http://localhost:8765", headers=sent, data={"text": "four"})
    assert (response.status_code, response.text == "4") == ((403, False) if refused else (200, True))


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "post", "INVENTED"])
def test_every_other_method_is_unsafe(method: str) -> None:
    assert is_cross_origin(method, Headers({"Sec-Fetch-Site": "cross-site", "Host": "localhost"}))


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_reading_is_open_to_links_from_anywhere(method: str) -> None:
    assert not is_cross_origin(method, Headers({"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}))


def test_a_request_without_a_host_is_not_the_same_origin_as_null() -> None:
    assert is_cross_origin("POST", Headers({"Origin": "null"}))


def test_a_refused_request_is_explained_as_a_page_and_as_json(client: FlaskClient) -> None:
    evil = {"Sec-Fetch-Site": "cross-site"}
    page, api = client.post("/size", headers=evil), client.post("/api/v1/size", headers=evil)
    assert page.mimetype == "text/html"
    assert "<h1>Forbidden</h1>" in page.text
    error = api.get_json()["error"]
    assert (api.status_code, error["code"], error["field"]) == (403, "cross_origin", None)
    assert "another site" in error["message"]
    assert error["message"] in page.text


HOSTS = [
    ("localhost", True),
    ("localhost:8765", True),
    ("[::1]:8765", True),
    ("[::1]", True),
    ("LOCALHOST:8765", True),
    ("b.example", True),
    ("A.B.Example", True),
    ("a.b.example", True),
    ("[::2]", False),
    ("ab.example", False),
    ("rebound.example", False),
    ("localhost.evil.example", False),
    ("127.0.0.1", False),
]


@pytest.mark.parametrize(("host", "trusted"), HOSTS)
def test_only_trusted_hosts_are_served(host: str, trusted: bool, client: FlaskClient) -> None:
    response = client.get("/embed", headers={"Host": host})
    assert response.status_code == (200 if trusted else 400)
    if not trusted:
        assert "TOOLCALL_INSPECTOR_TRUSTED_HOSTS" in response.text
        assert host not in response.text.removeprefix("[").removesuffix("]")


def test_an_untrusted_host_of_the_api_has_its_own_code(client: FlaskClient) -> None:
    response = client.get("/api/v1/boom", headers={"Host": "rebound.example"})
    assert response.get_json()["error"]["code"] == "untrusted_host"


@pytest.mark.parametrize("path", ["/abort/404", "/missing", "/api/v1/missing", "/embed", "/static/missing.css"])
def test_every_response_carries_the_headers(path: str, client: FlaskClient) -> None:
    headers = client.get(path).headers
    assert [name for name in HEADERS if name not in headers] == []
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_policy_allows_nothing_inline_and_nothing_foreign(client: FlaskClient) -> None:
    policy = client.get("/missing").headers["Content-Security-Policy"]
    assert policy == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'; font-src 'none'"
    )


def test_a_view_may_set_its_own_policy(client: FlaskClient) -> None:
    assert client.get("/embed").headers["Content-Security-Policy"] == "frame-ancestors *"


def encoded(text: str, encoding: str) -> dict[str, Any]:
    """Body and content type of a form with the one field `text`."""
    if encoding == "multipart/form-data":
        boundary, body = encode_multipart({"text": text})
        return {"data": body, "content_type": f'{encoding}; boundary="{boundary}"'}
    return {"data": urlencode({"text": text}).encode(), "content_type": encoding}


TEXTS = ["x" * 1_000_000, "\u6771" * 333_333, "\x01" * 1_000_000]


@pytest.mark.replays
@pytest.mark.parametrize("text", TEXTS, ids=["ascii", "three bytes each", "control characters"])
@pytest.mark.parametrize("encoding", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_both_form_encodings_take_a_megabyte_of_text(text: str, encoding: str, client: FlaskClient) -> None:
    response = client.post("/size", **encoded(text, encoding))
    assert (response.status_code, response.text) == (200, str(len(text)))


def test_json_takes_a_megabyte_of_text_in_its_longest_spelling(client: FlaskClient) -> None:
    assert client.post("/json", json={"text": "\x01" * 1_000_000}).text == "1000000"


@pytest.mark.parametrize("path", ["/size", "/api/v1/size"])
@pytest.mark.parametrize("encoding", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_over_the_limit_says_limit_and_size(path: str, encoding: str, client: FlaskClient) -> None:
    response = client.post(path, **encoded("x" * LIMIT, encoding))
    assert response.status_code == 413
    assert "The request has 8,000," in response.text
    assert "the limit is 8,000,000 bytes (TOOLCALL_INSPECTOR_MAX_REQUEST_BYTES)" in response.text


def test_a_body_over_the_limit_says_limit_and_size_as_json(client: FlaskClient) -> None:
    response = client.post("/api/v1/json", json={"text": "x" * LIMIT})
    error = response.get_json()["error"]
    assert (response.status_code, error["code"]) == (413, "too_large")
    assert error["message"].startswith("The request has 8,000,012 bytes; the limit is 8,000,000 bytes")


def test_too_many_fields_are_not_called_too_many_bytes(client: FlaskClient) -> None:
    fields = {f"f{n}": "" for n in range(1001)}
    response = client.post("/size", data=fields, content_type="multipart/form-data")
    assert response.status_code == 413
    assert "The form has too many fields; the limit is 1,000." in response.text


def test_a_limit_of_the_settings_is_checked_and_named() -> None:
    app = make_app()

    @app.get("/api/v1/limits/<int:size>")
    def limits(size: int) -> str:
        check_limit(SETTINGS, "max_tokens", size, "The case")
        return "fits"

    client = app.test_client()
    assert client.get("/api/v1/limits/250000").text == "fits"
    error = client.get("/api/v1/limits/250001").get_json()["error"]
    assert error["message"] == (
        "The case has 250,001 tokens; the limit is 250,000 tokens (TOOLCALL_INSPECTOR_MAX_TOKENS)."
    )


@pytest.mark.parametrize("path", ["/boom", "/api/v1/boom"])
def test_a_failure_shows_neither_trace_nor_reason(path: str, client: FlaskClient) -> None:
    response = client.get(path)
    assert response.status_code == 500
    assert "Its log says why" in response.text
    assert "Traceback" not in response.text
    assert "secret" not in response.text


def test_a_failure_of_the_api_is_json(client: FlaskClient) -> None:
    error = client.get("/api/v1/boom").get_json()["error"]
    assert (error["code"], error["field"]) == ("internal_error", None)


ERRORS = [
    ("/missing", 404, "not_found", "There is nothing at this address."),
    ("/abort/404?why=No+such+case.", 404, "not_found", "No such case."),
    ("/json", 405, "method_not_allowed", "This address does not take that kind of request."),
    ("/abort/400", 400, "bad_request", "The request cannot be read."),
    ("/abort/410", 410, "gone", "Gone."),
    ("/abort/418", 418, "im_a_teapot", "I'm a teapot."),
    ("/abort/500?why=secret", 500, "internal_error", "The server failed on this request. Its log says why."),
]


@pytest.mark.parametrize(("path", "status", "code", "message"), ERRORS)
def test_errors_have_a_code_and_a_sentence(
    path: str, status: int, code: str, message: str, client: FlaskClient
) -> None:
    response = client.get(f"/api/v1{path}")
    assert response.status_code == status
    assert response.get_json() == {"error": {"code": code, "message": message, "field": None}}
    assert response.headers["Cache-Control"] == "no-store"


def test_a_wrong_method_still_says_which_are_right(client: FlaskClient) -> None:
    assert set(client.get("/api/v1/json").headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


def test_an_error_page_escapes_what_a_view_says(client: FlaskClient) -> None:
    text = client.get("/abort/404?why=<script>").text
    assert "&lt;script&gt;" in text
    assert "<script>" not in text


def test_a_response_given_to_abort_is_left_alone() -> None:
    app = make_app()

    @app.get("/api/v1/away")
    def away() -> str:
        abort(redirect("/elsewhere"))

    @app.get("/api/v1/busy")
    def busy() -> str:
        raise ServiceUnavailable(response=Response("own words", 503))

    client = app.test_client()
    assert client.get("/api/v1/away").location == "/elsewhere"
    assert client.get("/api/v1/busy").text == "own words"


def test_the_application_may_draw_its_own_error_pages() -> None:
    def page(status: int, title: str, message: str) -> ResponseReturnValue:
        return f"{status}|{title}|{message}", status

    app = Flask(__name__)
    init_app(app, SETTINGS, page)
    client = app.test_client()
    assert client.get("/missing").text == "404|Not Found|There is nothing at this address."
    assert "<h1>Bad Request</h1>" in client.get("/missing", headers={"Host": "rebound.example"}).text


def test_an_error_of_the_api_names_its_field() -> None:
    with Flask(__name__).app_context():
        response = api_error("invalid", "must be a string", field="/input/text")
    assert response.status_code == 422
    assert response.get_json() == {"error": {"code": "invalid", "message": "must be a string", "field": "/input/text"}}
