"""The inspector below a path of its host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient

from webapp.app import create_app
from webapp.mounting import mounted, placed, public_path
from webapp.services import EXTENSION
from webapp.settings import Settings

ROOT = "/team"
HOST = "https://inspector.example"
TEXT = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
CASE = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": TEXT}}
PAGES = (
    *("/", "/gallery", "/library", "/library/import", "/formats", "/formats/edit?from=qwen", "/tokenizers"),
    *("/engines", "/help", "/checks", "/example/two-calls-with-prose", "/example/two-calls-with-prose?step=7"),
    *("/example/two-calls-with-prose/compare?b_parser=hermes", "/example/two-calls-with-prose/share", "/no/such/page"),
)
ADDRESSES = ("href", "src", "action", "formaction", "hx-get", "hx-post", "data-import", "data-live", "value", "content")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    folder = tmp_path_factory.mktemp("data")
    app = create_app(Settings(data_dir=folder, public_url=HOST + ROOT, trusted_hosts=("inspector.example",)))
    yield app.test_client()
    app.extensions[EXTENSION].store.close()


def ask(client: FlaskClient, path: str, **more: Any) -> Any:
    return client.open(path, base_url=HOST, **more)


def outside(html: str) -> list[str]:
    """The addresses of a page that lead out of the path of the inspector."""
    found = [
        value
        for element in BeautifulSoup(html, "html.parser").find_all(True)
        for name, value in element.attrs.items()
        if (name in ADDRESSES or (name.startswith("data-") and name != "data-press")) and isinstance(value, str)
    ]
    own = [value.removeprefix(HOST) for value in found]
    return [value for value in own if re.match(r"/\w|/$", value) and not value.startswith(f"{ROOT}/")]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("", "/team/c/x"), ("/team", "/c/x")),
        (("", "/team/"), ("/team", "/")),
        (("", "/team"), ("/team", "")),
        (("", "/c/x"), ("/team", "/c/x")),  # a proxy took it off, or somebody asks the server itself
        (("", "/teams/x"), ("/team", "/teams/x")),
        (("/team", "/team/x"), ("/team", "/team/x")),  # the server in front has done it
    ],
)
def test_a_request_is_placed_below_the_path(given: tuple[str, str], found: tuple[str, str]) -> None:
    environ = placed({"SCRIPT_NAME": given[0], "PATH_INFO": given[1]}, ROOT)
    assert (environ["SCRIPT_NAME"], environ["PATH_INFO"]) == found


@pytest.mark.parametrize(
    ("url", "path"),
    [(None, ""), (HOST, ""), (f"{HOST}/", ""), (f"{HOST}/a/b/", "/a/b"), (f"{HOST}/z%C3%BCrich", "/zÃ¼rich")],
)
def test_the_path_is_that_of_the_public_address(tmp_path: Path, url: str | None, path: str) -> None:
    settings = Settings(data_dir=tmp_path, public_url=url)
    assert public_path(settings) == path
    app = Flask("any")
    assert (mounted(app, settings) is app) == (not path)


@pytest.mark.replays
@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("passed", [ROOT, ""], ids=["whole", "taken-off"])
def test_every_address_of_a_page_stands_below_the_path(client: FlaskClient, path: str, passed: str) -> None:
    answer = ask(client, passed + path)
    assert answer.status_code == (404 if "no/such" in path else 200)
    assert f'href="{ROOT}/"' in answer.text
    assert outside(answer.text) == []


@pytest.mark.replays
def test_a_run_and_what_it_leads_to_stand_below_the_path(client: FlaskClient) -> None:
    run = ask(client, f"{ROOT}/run", method="POST", data={"text": TEXT, "parser": "qwen"})
    assert (run.status_code, outside(run.text)) == (200, [])
    asks = ask(client, f"{ROOT}/share", method="POST", data={"case": json.dumps(CASE)})
    assert (asks.status_code, outside(asks.text)) == (200, [])
    saved = ask(client, f"{ROOT}/cases", method="POST", data={"case": json.dumps(CASE)})
    assert (saved.status_code, outside(saved.text)) == (201, [])
    assert f'value="{HOST}{ROOT}/c/' in saved.text


def test_the_description_of_the_api_says_where_its_paths_stand(client: FlaskClient) -> None:
    assert ask(client, f"{ROOT}/api/v1/openapi.json").json["servers"] == [{"url": ROOT}]


@pytest.mark.replays
def test_permalinks_have_the_path_once(client: FlaskClient) -> None:
    stored = ask(client, f"{ROOT}/api/v1/cases", method="POST", json=CASE)
    link = f"{HOST}{ROOT}/c/{stored.json['id']}"
    assert stored.json["url"] == link
    assert stored.headers["Location"] == f"{ROOT}/api/v1/cases/{stored.json['id']}"
    page = ask(client, link.removeprefix(HOST))
    assert (page.status_code, outside(page.text)) == (200, [])
    assert f"{HOST}{ROOT}{ROOT}" not in page.text
    embedded = ask(client, f"{link.removeprefix(HOST)}/embed")
    assert f'href="{link}"' in embedded.text
