"""docs/tokens.md: every badge, every chip, every decode policy and every field of the form is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parsers.decoding import POLICIES, Decode
from webapp.page.inspect.badges import JUDGES
from webapp.page.inspect.pane_tokens import TOKENS_AT_MOST
from webapp.runs.runner import SHORT

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tokens.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def first_cells(title: str) -> list[str]:
    return re.findall(r"^\| `(\w+)` \|", section(title), flags=re.MULTILINE)


def test_all_ten_badges_are_listed_in_their_order() -> None:
    assert first_cells("Badges") == list(JUDGES)
    assert len(JUDGES) == 10


def test_every_option_of_a_decode_policy_is_listed_under_its_field() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", section("Decode policies"), flags=re.MULTILINE)
    assert [key for _, key in rows] == list(Decode.model_fields)
    form = (Path(__file__).resolve().parents[2] / "templates" / "_decode.html").read_text("utf-8")
    assert all(f'name="{name}"' in form for name, _ in rows)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_decode_policy_is_named(policy: str) -> None:
    assert f"`{policy}`" in section("Decode policies")


def test_the_numbers_are_those_of_the_program() -> None:
    assert f"more than {SHORT:,} tokens" in " ".join(section("Badges").split())
    assert f"at most {TOKENS_AT_MOST} tokens" in section("The strip")
