"""docs/pytest-plugin.md says everything: each option, each line of the configuration, each message and outcome."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from parsers.cases.tested import CaseOutcome
from pytest_toolcall import plugin
from webapp.commands.attend import TASKS
from webapp.guests.requests import CaseAsked, Checked, OutputsAsked, Shown, Smaller

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "pytest-plugin.md").read_text("utf-8")


class Parser:
    """What an option or a line of the configuration is called, and what is said of it."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        self.lines: dict[str, str] = {}

    def getgroup(self, name: str, words: str) -> Parser:
        return self

    def addoption(self, name: str, **how: Any) -> None:
        self.options[name] = how["help"]

    def addini(self, name: str, help: str, **how: Any) -> None:
        self.lines[name] = help


@pytest.fixture(scope="module")
def known() -> Parser:
    found: Any = Parser()
    plugin.pytest_addoption(found)
    made: Parser = found
    return made


def cells() -> str:
    return " ".join([line.split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| `")])


def test_every_option_is_documented_and_explains_itself(known: Parser) -> None:
    assert len(known.options) == 7
    assert [name for name in known.options if f"| `{name}" not in cells()] == []
    assert all(known.options.values())


def test_every_line_of_the_configuration_is_documented_and_explains_itself(known: Parser) -> None:
    assert [name for name in known.lines if f"| `{name}`" not in cells()] == []
    assert all(known.lines.values())


def test_no_option_is_documented_that_does_not_exist(known: Parser) -> None:
    assert set(re.findall(r"--toolcall-\w+", PAGE)) == known.options.keys()
    assert set(re.findall(r"\btoolcall_\w+", PAGE)) == known.lines.keys() - {"toolcall"} | {"toolcall_parser"}


def test_every_outcome_has_its_test() -> None:
    table = PAGE.partition("## Which files")[2].partition("\n## ")[0]
    assert [one for one in get_args(CaseOutcome) if f"`{one}`" not in table] == []


def test_every_message_and_its_keys_are_listed() -> None:
    section = PAGE.partition("## Messages")[2]
    models = (CaseAsked, OutputsAsked, Checked, Shown, Smaller)
    names = [name for model in models for name in model.model_fields if name != "known"]
    assert [name for name in (*TASKS, *names) if not re.search(rf"\W{name}\W", section)] == []


def test_every_key_is_in_the_page_of_the_api() -> None:
    page = (DOCS / "api.md").read_text("utf-8").partition("## POST /api/v1/guests/check")[2]
    models = (CaseAsked, OutputsAsked, Checked, Shown, Smaller)
    assert [name for model in models for name in model.model_fields if f"`{name}`" not in page] == []
