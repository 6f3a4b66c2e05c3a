"""The commands that would record what is missing."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from parsers.intake.captures import ANY, PICKLE, SERVERS, captures
from parsers.intake.requests import curl_commands, request_of
from parsers.vocabulary.types import Request


@pytest.mark.parametrize("server", SERVERS)
def test_the_command_of_the_server_comes_first_and_all_are_there(server: str) -> None:
    found = captures(server)
    assert found[0].server == server
    assert {capture.server for capture in found} == set(SERVERS)


@pytest.mark.parametrize("server", [None, "no such server"])
def test_where_the_server_is_not_known_the_command_that_fits_any_comes_first(server: str | None) -> None:
    assert captures(server)[0].server == ANY


@pytest.mark.parametrize("capture", captures(None), ids=SERVERS)
def test_the_commands_can_be_pasted_into_a_shell(capture: Any) -> None:
    assert shlex.split(capture.command)
    for curl in curl_commands(capture.command):
        assert curl.url.startswith("http://localhost:")
        assert isinstance(request_of(json.loads(curl.data[0])), Request)
        assert not curl.unclosed


def test_the_script_for_pickles_is_short_and_only_for_its_owner() -> None:
    assert len(PICKLE.command.splitlines()) <= 13
    assert "yourself" in PICKLE.words
