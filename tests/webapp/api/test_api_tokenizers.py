"""Tokenizers over the API: the list, uploads in two forms, and what is refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from pydantic import TypeAdapter

from webapp.api.answers import UploadedTokenizer
from webapp.api.operations import API
from webapp.api.views import DELETE_KEY
from webapp.tokenizers import library
from webapp.tokenizers.embedded import model

Client = Any  # FlaskClient, whose answers' JSON is typed as perhaps absent

TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"


def names(client: Client) -> list[str]:
    return [row["name"] for row in client.get(f"{API}/tokenizers").json]


def test_a_file_as_the_body_is_kept_listed_and_deleted(client: Client) -> None:
    answer = client.post(f"{API}/tokenizers?name=mine", data=model(), content_type="application/octet-stream")
    row = TypeAdapter(UploadedTokenizer).validate_python(answer.json)
    assert (answer.status_code, row["kind"], row["vocab_size"]) == (201, "upload", 2048)
    assert (row["label"], row["name"]) == ("mine, 2,048", f"upload:{row['fingerprint'][:16]}")
    assert row["name"] in names(client)
    other = client.post(f"{API}/tokenizers", data=model()).json["delete_key"]
    address = f"{API}/tokenizers/{row['fingerprint'][:16]}"
    for headers in ({}, {DELETE_KEY: "wrong"}):
        refused = client.delete(address, headers=headers)
        assert (refused.status_code, refused.json["error"]["code"]) == (403, "forbidden")
    assert client.delete(address, headers={DELETE_KEY: other}).status_code == 200
    assert row["name"] in names(client)  # for who uploaded it first
    gone = client.delete(address, headers={DELETE_KEY: answer.json["delete_key"]})
    assert (gone.status_code, gone.json) == (200, {"deleted": row["fingerprint"][:16]})
    assert row["name"] not in names(client)
    again = client.delete(f"{API}/tokenizers/{row['fingerprint']}")
    assert (again.status_code, again.json["error"]["code"]) == (404, "not_found")


def test_a_form_brings_the_config_too(client: Client) -> None:
    config = json.dumps({"chat_template": TEMPLATE}).encode()
    form = {"file": (io.BytesIO(model()), "tokenizer.json"), "config": (io.BytesIO(config), "c.json"), "name": "both"}
    answer = client.post(f"{API}/tokenizers", data=form)
    assert answer.json["label"] == "both, 2,048"
    assert library().vocabulary(answer.json["name"]).templates["chat_template"] == TEMPLATE
    form = {"file": (io.BytesIO(model()), "tokenizer.json")}
    assert client.post(f"{API}/tokenizers", data=form).json["label"].startswith(("tokenizer.json", "both"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"data": b""}, "the body is empty"),
        ({"data": {"other": (io.BytesIO(b"{}"), "x")}}, "the form has no file"),
        ({"data": b"<html>"}, "this is a web page, not a tokenizer.json"),
    ],
)
def test_what_is_no_tokenizer_is_one_sentence(client: Client, body: dict[str, Any], words: str) -> None:
    answer = client.post(f"{API}/tokenizers", **body)
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "not_possible")
    assert words in answer.json["error"]["message"]


def test_uploads_have_limits_of_their_own(make_app: Callable[..., Flask]) -> None:
    client: Client = make_app(
        max_text_bytes=1_000, max_request_bytes=1_000, tokenizer_upload_bytes=100_000
    ).test_client()
    assert client.post(f"{API}/tokenizers", data=model()).status_code == 201
    answer = client.post(f"{API}/tokenizers", data=b" " * 200_000)
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")
    assert "TOOLCALL_INSPECTOR_TOKENIZER_UPLOAD_BYTES" in answer.json["error"]["message"]
    answer = client.post(f"{API}/tokenizers", data=b" " * 1_300_000)
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")


def test_uploads_can_be_switched_off(make_app: Callable[..., Flask]) -> None:
    answer: Any = make_app(tokenizer_uploads=False).test_client().post(f"{API}/tokenizers", data=model())
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "not_possible")
    assert "TOOLCALL_INSPECTOR_TOKENIZER_UPLOADS" in answer.json["error"]["message"]
