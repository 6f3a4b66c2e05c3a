"""The style sheets of a page as one file."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from webapp.app import create_app
from webapp.services import EXTENSION
from webapp.settings import Settings
from webapp.stylesheets import SHEETS

CSS = Path(__file__).resolve().parents[2] / "static" / "css"
TAKES = {"Accept-Encoding": "gzip"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[FlaskClient]:
    app = create_app(Settings(data_dir=tmp_path))
    yield app.test_client()
    app.extensions[EXTENSION].store.close()


def test_every_file_is_in_a_list() -> None:
    assert {name for names in SHEETS.values() for name in names} == {path.stem for path in CSS.glob("*.css")}


@pytest.mark.parametrize("name", SHEETS)
def test_all_of_a_page_come_at_once_in_their_order(client: FlaskClient, name: str) -> None:
    plain, packed = client.get(f"/style/{name}.css", buffered=True), client.get(f"/style/{name}.css", headers=TAKES)
    assert plain.text == "".join([(CSS / f"{sheet}.css").read_text("utf-8") for sheet in SHEETS[name]])
    assert (plain.mimetype, packed.headers["Content-Encoding"]) == ("text/css", "gzip")
    assert gzip.decompress(packed.data) == plain.data
    assert plain.text.lstrip().startswith("/*")
    assert plain.text.index("@layer reset, tokens") < plain.text.index("{")


def test_what_a_browser_has_is_not_sent_again(client: FlaskClient) -> None:
    tag = client.get("/style/page.css", headers=TAKES).headers["ETag"]
    again = client.get("/style/page.css", headers={**TAKES, "If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")


def test_who_writes_a_sheet_sees_it_in_the_next_page(client: FlaskClient, tmp_path: Path) -> None:
    shutil.copytree(CSS.parent, tmp_path / "static")
    client.application.static_folder = str(tmp_path / "static")
    before = re.search(r"/style/page.css[^\"]*", client.get("/help").text)
    sheet = tmp_path / "static" / "css" / "system.css"
    sheet.write_text("p { color: red; }\n", "utf-8")
    os.utime(sheet, ns=(1, 1))
    after = re.search(r"/style/page.css[^\"]*", client.get("/help").text)
    assert before
    assert after
    assert before[0] != after[0]
    assert client.get(after[0], buffered=True).text.endswith("p { color: red; }\n")


def test_others_are_not_there(client: FlaskClient) -> None:
    assert client.get("/style/nothing.css").status_code == 404
