"""A stranger: the example, beside packages that are called as ours are, and a case that the page gave."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

from bs4 import BeautifulSoup

from tests.plugin.environments import ROOT
from webapp.app import create_app
from webapp.services import EXTENSION
from webapp.settings import get_settings

README = ROOT / "pytest_plugin" / "README.md"
CASE = {
    "schema": 1,
    "title": "A marker in two deltas",
    "parser": {"name": "hermes"},
    "input": {"text": 'Hm.<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call>'},
}


def commands() -> list[str]:
    """The commands of the plugin's page, in order."""
    (block,) = re.findall(r"```console\n(.*?)```", README.read_text("utf-8"), flags=re.DOTALL)
    return [line.removeprefix("$ ") for line in block.splitlines()]


def project(folder: Path) -> Path:
    """The example in a folder, with a `parsers`, a `webapp` and a pydantic that are not ours."""
    shutil.copytree(ROOT / "pytest_plugin" / "example", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("parsers", "webapp"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("OWNER = 'somebody else'\n", "utf-8")
    test = "import parsers, webapp, pydantic\n\n\ndef test_they_are_ours():\n"
    test += "    assert parsers.OWNER == webapp.OWNER == 'somebody else' and pydantic.VERSION[0] == '1'\n"
    (folder / "tests" / "test_packages.py").write_text(test, "utf-8")
    return folder


def page_case(path: Path) -> None:
    """Write the case file that the page gives of an output, once it was asked what is right."""
    with tempfile.TemporaryDirectory() as data:
        app = create_app(get_settings(data_dir=Path(data)))
        client = app.test_client()
        asks = BeautifulSoup(client.post("/export/pytest", data={"case": json.dumps(CASE)}).text, "html.parser")
        given = {one["name"]: one.get("value") or one.text for one in asks.select("main form [name]")}
        (button,) = asks.select("main button[formaction^='/export/case']")
        saved = client.post(str(button["formaction"]), data=given)
        app.extensions[EXTENSION].searches.close()
        app.extensions[EXTENSION].store.close()
    assert saved.status_code == 200
    path.write_bytes(saved.data)
