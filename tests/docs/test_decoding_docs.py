"""docs/decoding.md: every policy, every option, and an example that is one."""

from __future__ import annotations

import json
import re
from pathlib import Path

from parsers.cases.io import load_case
from parsers.decoding import POLICIES, Decode

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "decoding.md").read_text("utf-8")


def first_cells(title: str) -> list[str]:
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)


def test_every_policy_is_explained() -> None:
    assert first_cells("Policies") == list(POLICIES)


def test_every_option_is_explained() -> None:
    assert first_cells("Options") == list(Decode.model_fields)


def test_the_example_is_part_of_a_case() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
    case = load_case({"schema": 1, "parser": {"name": "auto"}, "input": {"text": "x"}, **json.loads(f"{{{example}}}")})
    assert case.decode is not None
