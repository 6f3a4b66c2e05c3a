"""docs/selection.md says what the tables and the wrapper say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from parsers.selection.registry import CODER, FAMILIES, get_format
from parsers.wrappers.fallback import Fallback, FallbackOptions
from parsers.wrappers.table import OTHERS, STEPS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "selection.md").read_text("utf-8")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_has_its_row(family: Any) -> None:
    assert f"| {family.name} | {' or '.join(family.parsers)} | {', '.join(family.types)} |" in PAGE


def test_the_parts_of_an_id_that_mean_a_coder_are_named() -> None:
    assert all(f"`{part}`" in PAGE for part in CODER)


def test_every_option_is_documented_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", PAGE, flags=re.MULTILINE))
    fields = FallbackOptions.model_fields
    assert rows == {name: str(field.default).lower() for name, field in fields.items()}


def test_every_state_and_step_is_explained() -> None:
    states = [name for name in Fallback(get_format("qwen")).format.states if not name.startswith("TRY_")]
    assert [name for name in [*states, *STEPS] if name not in PAGE] == []
    assert {step for step, _, _ in OTHERS} < set(STEPS)
