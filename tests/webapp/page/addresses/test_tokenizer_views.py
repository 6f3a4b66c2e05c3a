"""The page of tokenizers: what can be chosen, uploads, the hub, and one tokenizer in full."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from parsers.formats.model import builtin_formats
from tests.webapp.children.processes import PATIENCE, until
from tests.webapp.tokenizers.hub_server import Hub
from tests.webapp.tokenizers.templates import QWEN
from tests.webapp.vocabularies.toys import word_piece
from webapp.app import create_app
from webapp.page.library.tokenizer_shelf import extras, families
from webapp.services import EXTENSION
from webapp.settings import Settings
from webapp.tokenizers import get_tokenizer, library
from webapp.tokenizers.embedded import model
from webapp.tokenizers.hub import Downloads, Progress

PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}
CALL = '<tool_call>\n{"name": "find", "arguments": {"city":"Bern","days":2}}\n</tool_call>'


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    made = Hub()
    made.files["owner/good"] = {"tokenizer.json": model(), "tokenizer_config.json": b"{}"}
    yield made
    made.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, hub: Hub) -> Iterator[Flask]:
    folder: Path = tmp_path_factory.mktemp("data")
    near = folder / "folders" / "near"
    near.mkdir(parents=True)
    (near / "tokenizer.json").write_bytes(model())
    (near / "tokenizer_config.json").write_text(json.dumps({"chat_template": QWEN}))
    folders = (folder / "folders",)
    settings = Settings(data_dir=folder, hub=True, tokenizer_folders=folders, tokenizer_upload_bytes=1_000_000)
    made = create_app(settings)
    found = made.extensions[EXTENSION]
    found.hub = Downloads(settings, library().add_hub, endpoint=hub.url, cache=folder / "cache")
    yield made
    found.hub.close()
    found.searches.close()
    found.store.close()
    library().close()


@pytest.fixture
def client(app: Flask, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return app.test_client()


KEY = re.compile(r'id="delete-key" value="([^"]+)"')


def upload(client: FlaskClient, data: bytes, config: bytes = b"", title: str = "", **more: Any) -> TestResponse:
    form = {"tokenizer_file": (io.BytesIO(data), "tokenizer.json"), "title": title}
    if config:
        form["config_file"] = (io.BytesIO(config), "tokenizer_config.json")
    return client.post("/tokenizers", data=form, **more)


def added(client: FlaskClient, title: str, **more: Any) -> str:
    """The name of a new upload."""
    answer = upload(client, changed(title), title=title, **more)
    assert answer.status_code == 201
    found = re.search(r"added=(upload(?:%3A|:)[0-9a-f]{16})", answer.location)
    assert found is not None
    return found[1].replace("%3A", ":")


def changed(word: str) -> bytes:
    """A tokenizer of its own: with one more added token."""
    data = json.loads(model())
    token = {"id": len(data["model"]["vocab"]), "content": f"<|{word}|>", "special": True, "single_word": False}
    data["added_tokens"] = [{**token, "lstrip": False, "rstrip": False, "normalized": False}]
    return json.dumps(data).encode()


def test_every_tokenizer_is_listed_under_where_it_comes_from(client: FlaskClient) -> None:
    page = client.get("/tokenizers").text
    assert [
        words for words in ("Built in", "Folders of this server", "folder:near", "Embedded") if words not in page
    ] == []
    assert page.index("Built in") < page.index("Folders of this server")
    assert 'href="/tokenizer/folder:near"' in page


@pytest.mark.replays
def test_a_chat_template_may_come_in_a_file_of_its_own(client: FlaskClient) -> None:
    beside = (io.BytesIO(b"{{ 'on its own' }}"), "chat_template.jinja")
    form = {"tokenizer_file": (io.BytesIO(changed("own")), "tokenizer.json"), "title": "own", "config_file": beside}
    address = client.post("/tokenizers", data=form).location
    found = re.search(r"added=(upload(?:%3A|:)[0-9a-f]{16})", address)
    assert found is not None
    assert "{{ &#39;on its own&#39; }}" in client.get(f"/tokenizer/{found[1].replace('%3A', ':')}").text


def test_packages_that_are_missing_come_with_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.tokenizers.installed.find_spec", lambda _name: None)
    found = dict(extras())
    assert found["mistral-v3, mistral-v11, mistral-v13"] == "pip install 'toolcall-inspector[mistral]'"
    assert found["deepseek"] == "pip install 'toolcall-inspector[deepseek]'"


@pytest.mark.replays
def test_what_the_ids_of_a_vocabulary_do_not_keep_is_said_where_it_is_shown(client: FlaskClient) -> None:
    address = upload(client, json.dumps(word_piece()).encode(), title="words").location
    assert re.search(r"<dt>Not kept</dt><dd>which blanks and line ends [^<]*; upper case;", client.get(address).text)
    html = client.get(f"/tokenizer/{address.partition('added=')[2].replace('%3A', ':')}").text
    assert "lossy: cuts text as its model does, but the ids do not keep all of it" in html
    assert re.search(r"<dt>Not kept by the ids</dt><dd>which blanks and line ends [^<]*; upper case;", html)


@pytest.mark.replays
def test_an_upload_is_listed_shown_and_deleted(client: FlaskClient) -> None:
    first = upload(client, changed("mine"), json.dumps({"chat_template": "{{ 'hello <b>' }}"}).encode(), "mine")
    mine, name = KEY.findall(first.text)[0], first.location.partition("added=")[2].replace("%3A", ":")
    assert "shown this once" in first.text
    page = client.get("/tokenizers", query_string={"added": name}).text
    assert f"<code>{name}</code></strong> can be chosen now" in page
    detail = client.get(f"/tokenizer/{name}").text
    assert "mine, 2,049" in detail
    assert "{{ &#39;hello &lt;b&gt;&#39; }}" in detail
    key = library().vocabulary(name).info["fingerprint"]
    assert key in page
    again = upload(client, changed("mine"), title="another name")
    keys = [KEY.findall(answer.text)[0] for answer in (again, upload(client, changed("mine")))]
    assert (again.status_code, "another name" in again.text) == (201, False)
    for wrong in ("", "wrong"):
        answer = client.post("/tokenizers/delete", data={"fingerprint": key, "key": wrong})
        assert (answer.status_code, "not the delete key of this tokenizer" in answer.text) == (422, True)
    for given, note in ((keys[0], "stays"), (mine, "stays"), (keys[1], "deleted")):
        answer = client.post("/tokenizers/delete", data={"fingerprint": key, "key": given})
        assert answer.location == f"/tokenizers?note={note}"
    assert name not in client.get(answer.location).text
    assert client.get(f"/tokenizer/{name}").status_code == 404
    answer = client.post("/tokenizers/delete", data={"fingerprint": key, "key": mine})
    assert (answer.status_code, "it may be deleted already" in answer.text) == (422, True)


def test_where_uploads_are_off_none_can_be_deleted(
    client: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = added(client, "stays")
    key = library().vocabulary(name).info["fingerprint"]
    found = app.extensions[EXTENSION]
    monkeypatch.setattr(found, "settings", found.settings.model_copy(update={"tokenizer_uploads": False}))
    page = client.get("/tokenizers").text
    assert (key in page, "Uploads are switched off" in page, ">stays</a>" in page) == (False, True, True)
    answer = client.post("/tokenizers/delete", data={"fingerprint": key})
    assert (answer.status_code, "TOOLCALL_INSPECTOR_TOKENIZER_UPLOADS is off" in answer.text) == (422, True)
    assert client.delete(f"/api/v1/tokenizers/{key}").status_code == 404


def test_with_script_an_upload_puts_the_new_list_in(client: FlaskClient) -> None:
    answer = upload(client, changed("script"), title="script", headers=PARTIAL)
    assert (answer.status_code, "<html" in answer.text) == (200, False)
    assert ">script</a>" in answer.text


@pytest.mark.replays
@pytest.mark.parametrize(
    ("data", "words"), [(b"{", "not whole JSON"), (b"", "is empty"), (b"PK\x03\x04", "zip archive")]
)
def test_a_file_that_is_no_tokenizer_is_one_sentence_and_the_name_stays(
    client: FlaskClient, data: bytes, words: str
) -> None:
    answer = upload(client, data, title="my <name>")
    assert answer.status_code == 422
    assert words in answer.text
    assert 'value="my &lt;name&gt;"' in answer.text
    partial = upload(client, data, title="my <name>", headers=PARTIAL)
    assert partial.headers["HX-Retarget"] == "#tokenizer_file-error"
    assert partial.text.strip().startswith('<p class="field-error" id="tokenizer_file-error"')


def test_a_form_without_a_file_asks_for_one(client: FlaskClient) -> None:
    answer = client.post("/tokenizers", data={"title": "x"})
    assert (answer.status_code, "Choose a tokenizer.json" in answer.text) == (422, True)


def test_an_upload_over_every_limit_is_refused_before_it_is_read(client: FlaskClient) -> None:
    answer = client.post("/tokenizers", data=b" " * 3_200_000)
    assert (answer.status_code, "3,200,000 bytes" in answer.text) == (413, True)


@pytest.mark.replays
@pytest.mark.parametrize("name", ["embedded", "characters", "folder:near"])
def test_the_page_of_a_tokenizer_says_what_it_makes_of_a_text(client: FlaskClient, name: str) -> None:
    page = client.get(f"/tokenizer/{name}").text
    assert "Markers of the built-in formats" in page
    answer = client.post(f"/tokenizer/{name}", data={"text": "Zü\r\n<"}, headers=PARTIAL)
    assert "tried-tokens" in answer.text
    assert "Chat template" not in answer.text
    assert "carriage return" not in answer.text
    assert "newline" in answer.text


def test_the_chat_template_of_a_folder_is_shown_as_text(client: FlaskClient) -> None:
    assert "add_generation_prompt" in client.get("/tokenizer/folder:near").text
    assert "None is known." in client.get("/tokenizer/embedded").text


def test_a_text_that_is_too_long_to_try_or_cannot_be_encoded_is_a_sentence(client: FlaskClient) -> None:
    answer = client.post("/tokenizer/embedded", data={"text": "x" * 2_001})
    assert (answer.status_code, "2,001 characters; try at most 2,000" in answer.text) == (422, True)
    assert "x" * 2_001 in answer.text


def test_there_is_no_page_of_a_tokenizer_that_is_not_there(client: FlaskClient) -> None:
    assert client.get("/tokenizer/upload:0123456789abcdef").status_code == 404


def test_formats_whose_markers_are_single_tokens_come_first() -> None:
    qwen = builtin_formats()["qwen"]
    rows = families(get_tokenizer("embedded", format=qwen), builtin_formats().values())
    assert {"<tool_call>", "</tool_call>"} <= {text for text, _ in rows[0].markers}
    assert rows[0].single == len(rows[0].markers)
    assert rows[-1].single < len(rows[-1].markers)
    assert {found.state for row in rows for _, found in row.markers} <= {"one", "several", "absent"}


def test_ids_of_a_marker_of_many_tokens_are_cut(client: FlaskClient) -> None:
    page = client.get("/tokenizer/embedded").text
    assert "several tokens" in page
    assert re.search(r'<span class="quiet">\d+(, \d+){5} …</span>', page)
    assert not re.search(r'<span class="quiet">\d+(, \d+){6}', page)


def fetch(client: FlaskClient, app: Flask, name: str, **more: Any) -> TestResponse:
    answer = client.post("/tokenizers/hub", data={"repository": name}, **more)
    assert app.extensions[EXTENSION].hub.known(name).wait(PATIENCE)
    return answer


@pytest.mark.replays
def test_a_tokenizer_from_the_hub_can_be_chosen_once_it_is_here(client: FlaskClient, app: Flask) -> None:
    answer = fetch(client, app, "owner/good")
    assert answer.location == "/tokenizers/hub?id=owner/good"
    page = client.get(answer.location).text
    assert "<code>hub:owner/good</code></a> can be chosen now" in page
    poll = client.get(answer.location, headers=PARTIAL)
    assert '<hx-partial hx-target="#shelf"' in poll.text
    assert "hx-trigger" not in poll.text
    assert client.get("/tokenizer/hub:owner/good").status_code == 200


@pytest.mark.replays
def test_a_download_that_fails_says_why_beside_the_form(client: FlaskClient, app: Flask) -> None:
    answer = fetch(client, app, "owner/gated", headers=PARTIAL)
    assert answer.status_code == 200
    page = client.get("/tokenizers/hub?id=owner/gated").text
    assert "owner/gated is gated" in page
    assert 'value="owner/gated"' in page


def test_a_download_shows_how_far_it_is_and_can_be_cancelled(client: FlaskClient, app: Flask, hub: Hub) -> None:
    hub.go.clear()
    answer = client.post("/tokenizers/hub", data={"repository": "owner/slow"}, headers=PARTIAL)
    assert "asking" in answer.text
    assert 'hx-get="/tokenizers/hub?id=owner/slow"' in answer.text
    found = app.extensions[EXTENSION].hub.known("owner/slow")
    until(lambda: found.progress and found.progress.total)
    found.progress = Progress("tokenizer.json", 3_100_000, 7_000_000)
    assert "tokenizer.json, 3.1 of 7.0 MB" in client.get("/tokenizers/hub?id=owner/slow").text
    assert "was cancelled" in client.post("/tokenizers/hub/cancel", data={"id": "owner/slow"}, headers=PARTIAL).text
    until(lambda: found.pid is None)
    answer = client.post("/tokenizers/hub/cancel", data={"id": "owner/slow"})
    assert answer.location == "/tokenizers/hub?id=owner/slow"


def test_a_name_that_is_a_path_is_refused_beside_the_form_and_stays_there(client: FlaskClient) -> None:
    answer = client.post("/tokenizers/hub", data={"repository": "../etc"})
    assert answer.status_code == 422
    assert "&#39;../etc&#39; is no name of a repository" in answer.text
    assert 'value="../etc"' in answer.text


def test_where_the_hub_is_off_there_is_a_reason_in_place_of_the_form(
    client: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = app.extensions[EXTENSION].hub
    monkeypatch.setattr(found, "_settings", found._settings.model_copy(update={"hub": False}))
    page = client.get("/tokenizers").text
    assert "TOOLCALL_INSPECTOR_HUB=true" in page
    assert 'name="repository"' not in page
    assert client.post("/tokenizers/hub", data={"repository": "a/b"}).status_code == 422


def test_every_page_links_to_the_tokenizers_and_the_setup_to_them_too(client: FlaskClient) -> None:
    page = client.get("/").text
    assert page.index('href="/tokenizers"') < page.index('id="setup"') < page.rindex('href="/tokenizers"')


@pytest.mark.replays
def test_a_case_whose_tokenizer_has_a_template_writes_its_calls_again(client: FlaskClient) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}, "tokenizer": {"name": "folder:near"}}
    answer: Any = client.post("/api/v1/replay", json={**case, "checks": ["rerenders"]})
    assert answer.json["findings"] == []
    found: Any = client.post("/api/v1/find", json={**case, "checks": ["rerenders"]})
    assert found.json["variants"]["rerendered"] == 4
    assert found.json["holding"] == ["rerenders"]
    page = client.post("/run", data={"case": json.dumps(case)}).text
    assert "no chat template is at hand" not in page


@pytest.mark.replays
@pytest.mark.parametrize("name", ["embedded", "upload:0123456789abcdef", None])
def test_a_case_without_a_template_skips_the_check(client: FlaskClient, name: str | None) -> None:
    deltas = [{"text": CALL}]
    case: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL, "deltas": deltas}}
    if name:
        case["tokenizer"] = {"name": name}
    found: Any = client.post("/api/v1/find", json={**case, "checks": ["rerenders"]})
    assert found.json["skipped"][0]["reason"] == "no chat template is at hand to write the calls again"
