"""docs/cli.md says everything: each command, each option, each exit outcome, each setting with its default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import click
import pytest

from webapp.cli import COMMANDS, cli
from webapp.commands.case_outcomes import Outcome
from webapp.commands.db import db
from webapp.commands.engines import engines
from webapp.commands.inputs import LARGEST
from webapp.runs.exports import TARGETS
from webapp.settings import get_settings, setting_rows

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def flags(name: str) -> list[str]:
    """Those of a command, and of the commands in it."""
    found = command(name)
    inner = [*found.commands.values()] if isinstance(found, click.Group) else []
    options = [param for one in (found, *inner) for param in one.params if isinstance(param, click.Option)]
    return [flag for option in options for flag in option.opts]


def test_every_command_of_engines_is_in_its_section() -> None:
    assert [name for name in engines.commands if f"### engines {name}\n" not in SECTIONS["engines"]] == []


def test_every_command_has_a_section() -> None:
    wanted = {*COMMANDS, *[f"db {name}" for name in db.commands]} - {"db"}
    assert wanted <= SECTIONS.keys()


def test_the_overview_links_every_section_of_a_command() -> None:
    assert [name for name in COMMANDS if f"(#{name}" not in PAGE] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_section_of_its_command(name: str) -> None:
    section = "".join([text for title, text in SECTIONS.items() if title == name or title.startswith(f"{name} ")])
    if "the options of [`replay`](#replay)" in section:
        section += SECTIONS["replay"]
    first_cells = " ".join([line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `-")])
    assert [flag for flag in flags(name) if f"`{flag}" not in first_cells] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_documented_that_does_not_exist(name: str) -> None:
    named = re.findall(r"^\| `(-[\w-]+)|, `(--[\w-]+) [A-Z]+`", SECTIONS.get(name, ""), flags=re.MULTILINE)
    assert {flag for pair in named for flag in pair if flag} <= set(flags(name))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_explains_itself(name: str) -> None:
    options = [param for param in command(name).params if isinstance(param, click.Option)]
    assert command(name).help
    assert [option.opts for option in options if not option.help] == []


def test_every_outcome_of_check_is_explained() -> None:
    assert [outcome for outcome in get_args(Outcome) if f"| `{outcome}` |" not in SECTIONS["check"]] == []


def test_every_target_of_export_is_explained() -> None:
    assert [target for target in TARGETS if f"`{target}` (" not in SECTIONS["export"]] == []


def test_every_setting_is_listed_as_the_program_lists_it() -> None:
    rows = [f"| `{row.env}` | {row.default} | {row.description} |" for row in setting_rows(get_settings())]
    assert [row for row in rows if row not in SECTIONS["settings"]] == []


def test_no_setting_is_listed_that_does_not_exist() -> None:
    known = {row.env for row in setting_rows(get_settings())}
    assert set(re.findall(r"TOOLCALL_INSPECTOR_[A-Z_]+", PAGE)) <= known


def test_the_largest_file_is_the_one_that_is_read() -> None:
    assert f"{LARGEST // 1_000_000} million bytes" in PAGE
