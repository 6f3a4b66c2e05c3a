"""docs/compatibility.md promises what the program has: numbers, names, and an id that no release may change."""

from __future__ import annotations

import json
import re
from pathlib import Path

import parsers
from parsers.cases.io import NOT_IN_ID, SCHEMA_VERSION, case_id, load_case
from webapp.api.operations import OPERATIONS
from webapp.cli import COMMANDS
from webapp.engines import protocol
from webapp.engines.workers import engine_worker

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "compatibility.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}


def named(text: str) -> list[str]:
    """What stands between backquotes."""
    return re.findall(r"`([^`\n]+)`", text)


def test_the_case_of_the_page_has_the_id_that_stands_beside_it() -> None:
    (case,) = re.findall(r"```json\n(.*?)```", SECTIONS["Ids"], flags=re.DOTALL)
    assert case_id(load_case(json.loads(case))) == "msfp75nmv3q8t3qr"
    assert "`msfp75nmv3q8t3qr`" in SECTIONS["Ids"]


def test_what_is_no_part_of_an_id_is_named() -> None:
    assert [key for key in NOT_IN_ID if key not in named(SECTIONS["Ids"])] == []


def test_the_numbers_are_those_of_the_program() -> None:
    assert f'`"schema": {SCHEMA_VERSION}`' in PAGE
    assert f'`"protocol": {protocol.PROTOCOL}`' in PAGE
    assert protocol.PROTOCOL == engine_worker.PROTOCOL


def test_every_command_and_no_other_is_promised() -> None:
    (listed,) = re.findall(r"^`serve`.*\.$", SECTIONS["Command line"], flags=re.MULTILINE)
    assert named(listed) == list(COMMANDS)


def test_every_name_of_the_library_is_promised() -> None:
    (listed,) = re.findall(r"^`parsers` has (.*), which", SECTIONS["Python library"], flags=re.MULTILINE)
    assert named(listed) == parsers.__all__


def test_every_route_is_below_the_promised_path_or_named() -> None:
    section = SECTIONS["HTTP API"]
    assert [
        one.path for one in OPERATIONS if not one.path.startswith("/api/v1/") and f"`{one.path}`" not in section
    ] == []


def test_each_promise_of_the_overview_has_a_section() -> None:
    overview = re.findall(r"^\| \[[^]]+\]\(#([\w-]+)\)", PAGE, flags=re.MULTILINE)
    assert overview == [title.lower().replace(" ", "-") for title in SECTIONS]
