"""docs/ci.md says what the action takes, and shows commands, options and an entry that there are."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from webapp.cli import run
from webapp.commands.baselines import Entry
from webapp.commands.check import check
from webapp.commands.uploads import HEADER_VARIABLE, MOST_UPLOADED

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "ci.md").read_text("utf-8")
ACTION = yaml.safe_load((DOCS / "examples" / "action" / "action.yml").read_text("utf-8"))
COMMANDS = re.findall(r"^\$ toolcall-inspector (.+)$|^    - toolcall-inspector (.+)$", PAGE, flags=re.MULTILINE)


def test_every_input_of_the_action_is_explained() -> None:
    names = {
        name
        for cell in re.findall(r"^\| (`[^|]+) \|", PAGE, flags=re.MULTILINE)
        for name in re.findall("`([^`]+)`", cell)
    }
    assert ACTION["inputs"].keys() - names == set()
    example = yaml.safe_load(re.findall(r"```yaml\n(.+?)```", PAGE, flags=re.DOTALL)[0])[-1]
    assert example["with"].keys() <= ACTION["inputs"].keys()


def test_the_entry_that_is_shown_is_one() -> None:
    shown = re.findall(r"```json\n(.+?)\n```", PAGE, flags=re.DOTALL)
    assert [Entry.model_validate(json.loads(one)).engine for one in shown] == ["mine"]


@pytest.mark.parametrize("line", ["".join(found) for found in COMMANDS])
def test_a_command_that_is_shown_can_be_read(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*shlex.split(line), "--help"]) == 0
    assert "Usage: toolcall-inspector" in capsys.readouterr().out


def test_the_numbers_and_names_are_those_of_the_program() -> None:
    assert f"At most {MOST_UPLOADED} are posted in a run that the server has not yet" in PAGE
    assert HEADER_VARIABLE in PAGE
    assert [
        option.opts[0] for option in check.params if option.opts[0].startswith("--") and option.opts[0] not in PAGE
    ] == []
