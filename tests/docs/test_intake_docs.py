"""What can be pasted is documented: the words of the panel, the API's keys, the command of every server."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from parsers.intake.captures import SERVERS
from parsers.intake.evidence import About, Certainty
from webapp.api.answers import IntakeOutput, IntakeResult
from webapp.api.intake import IntakeRequest
from webapp.page.form.form_page import ABOUT

DOCS = Path(__file__).resolve().parents[2] / "docs"
INTAKE = (DOCS / "intake.md").read_text("utf-8")
SECTION = (DOCS / "api.md").read_text("utf-8").partition("\n## POST /api/v1/intake\n")[2].partition("\n## ")[0]


def test_every_certainty_and_every_thing_a_fact_is_about_is_explained() -> None:
    assert [word for word in get_args(Certainty) if f"| {word} |" not in INTAKE] == []
    assert ABOUT.keys() == set(get_args(About))
    assert all(word in SECTION for word in (*get_args(About), *get_args(Certainty)))


@pytest.mark.parametrize("model", [IntakeRequest, IntakeResult, IntakeOutput])
def test_every_key_of_the_api_is_explained(model: type) -> None:
    assert [name for name in model.__annotations__ if f"`{name}`" not in SECTION] == []


def test_every_server_has_its_command() -> None:
    page = (DOCS / "recording.md").read_text("utf-8")
    assert [server for server in SERVERS if f"\n## {server}\n" not in page] == []
