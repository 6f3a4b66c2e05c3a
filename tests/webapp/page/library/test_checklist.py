"""The list of all checks: every check with its place, its examples and what it says."""

from __future__ import annotations

import html

import pytest
from flask.testing import FlaskClient

from parsers.checks import CHECKS
from parsers.checks.examples import examples
from webapp.page.library.checklist import entries


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_is_listed_with_a_replay_it_blames(name: str) -> None:
    entry = next(entry for entry in entries() if entry.check.name == name)
    assert entry.blamed.message == examples()[name].says
    assert entry.verdict.split(",")[0] in {"Error", "Warning", "Note"}
    assert entry.finds
    assert entry.holds
    assert entry.check is CHECKS[name]


def test_where_a_check_cannot_run_is_said() -> None:
    by_name = {entry.check.name: entry for entry in entries()}
    assert by_name["known_tool"].needs.startswith("Skipped where ")
    assert by_name["chunking"].verdict == "Error, about the parser, at step 2"


@pytest.mark.replays
def test_a_finding_links_to_its_check(client: FlaskClient) -> None:
    listed = html.unescape(client.get("/checks").text)
    assert all(f'id="{name}"' in listed for name in CHECKS)
    assert entries()[0].finds in listed
    page = client.get("/example/unknown-tool").text
    assert 'href="/checks#known_tool"' in page
    assert 'href="/checks"' in client.get("/help").text


def test_a_run_without_an_address_stays_where_it_is(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": "Some words.", "parser": "qwen"}).text
    assert 'href="/checks#chunking" target="_blank" rel="noopener"' in page
