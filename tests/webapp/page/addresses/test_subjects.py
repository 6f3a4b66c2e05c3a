from __future__ import annotations

import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from jinja2 import DictLoader

from webapp.page.addresses.subjects import render

PAGE = "<html>{% block list %}<ul>{{ n }}</ul>{% endblock %}<hr>{% block note %}<p>{{ n }}</p>{% endblock %}</html>"


@pytest.fixture
def client() -> FlaskClient:
    app = Flask(__name__)
    app.jinja_loader = DictLoader({"page.html": PAGE})

    @app.get("/<blocks>")
    def view(blocks: str) -> Response:
        return render("page.html", *[name for name in blocks.split(",") if name != "none"], status=422, n=1)

    return app.test_client()


WHOLE = "<html><ul>1</ul><hr><p>1</p></html>"
ANSWERS = [
    ({}, "list", WHOLE),
    ({"HX-Request": "true"}, "list", WHOLE),
    ({"HX-Request-Type": "full", "HX-History-Restore-Request": "true"}, "list", WHOLE),
    ({"HX-Request": "true", "HX-Request-Type": "partial"}, "list", "<ul>1</ul>"),
    ({"HX-Request": "true", "HX-Request-Type": "partial"}, "list,note", "<ul>1</ul><p>1</p>"),
    ({"HX-Request": "true", "HX-Request-Type": "partial"}, "none", WHOLE),
]


@pytest.mark.parametrize(("headers", "blocks", "html"), ANSWERS)
def test_only_a_partial_request_gets_the_blocks(
    headers: dict[str, str], blocks: str, html: str, client: FlaskClient
) -> None:
    response = client.get(f"/{blocks}", headers=headers)
    assert response.text == html
    assert response.status_code == 422
    assert set(response.vary) == {"HX-Request", "HX-Request-Type"}
    assert response.headers["Cache-Control"] == "no-cache"
