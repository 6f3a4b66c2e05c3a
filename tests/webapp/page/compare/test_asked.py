"""What an address of a comparison says, and how one is written."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from webapp.page.addresses import compare_views as compare
from webapp.page.compare.sides import Asked, CompareLinks, Side, faults, is_bare, is_tidy, read_asked


def test_a_query_is_read_back_as_it_was_written() -> None:
    asked = Asked(
        Side("cuts:4,118", "qwen+fallback", "unknown_tool:drop,recovery:fail", "ids", "reasoning"),
        Side("char:5+holdback=3"),
        calls="index",
        arguments="json",
        whitespace="soft",
        ids="any",
        at=118,
    )
    assert read_asked(dict(parse_qsl(CompareLinks("/x", asked).query()))) == asked


def test_every_name_is_documented_where_people_look() -> None:
    side = Side(*(["word"] * len(Side.__slots__)))
    names = Asked(side, side, calls="order", arguments="text", whitespace="soft", ids="any", at=1).words()
    page = (Path(__file__).resolve().parents[4] / "docs" / "comparing.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []
    assert "docs/comparing.md" in (compare.__doc__ or "")


def test_what_is_not_said_is_not_written() -> None:
    assert CompareLinks("/x", Asked(b=Side(chunk="whole"))).url() == "/x?b_chunk=whole"
    assert CompareLinks(None, Asked()).url() == "?"


def test_swapping_exchanges_the_sides_and_nothing_else() -> None:
    links = CompareLinks("/x", Asked(Side("token"), Side("whole"), at=3))
    assert links.query(swap=True) == "a_chunk=whole&b_chunk=token&at=3"
    assert links.query(at=None) == "a_chunk=token&b_chunk=whole"


def test_the_button_that_was_pressed_wins_over_the_form() -> None:
    asked = read_asked({"a_chunk": "token", "at": "9", "go": "at=3&b_chunk=whole"})
    assert (asked.a.chunk, asked.b.chunk, asked.at) == ("token", "whole", 3)


def test_a_plus_sign_that_became_a_blank_is_a_plus_sign() -> None:
    assert read_asked({"a_parser": "qwen fallback"}).a.parser == "qwen+fallback"


def test_the_fields_of_the_policies_make_one_word() -> None:
    fields = {"a_policy.unknown_tool": "drop", "a_policy.recovery": "", "a_policy.invalid_call": "strict"}
    assert read_asked(fields).a.policy == "unknown_tool:drop,invalid_call:strict"
    assert read_asked({"a_policy": "recovery:fail", **fields}).a.policy.startswith("recovery:fail,unknown_tool")


@pytest.mark.parametrize(
    ("fields", "bare", "tidy"),
    [
        ({}, True, True),
        ({"at": "3"}, True, True),
        ({"a_chunk": "token"}, False, True),
        ({"go": "b_chunk=whole"}, False, True),
        ({"b_start": ""}, False, False),
        ({"a_policy.unknown_tool": "drop"}, False, False),
    ],
)
def test_addresses_that_say_nothing_of_a_side_and_those_that_a_form_made(
    fields: dict[str, str], bare: bool, tidy: bool
) -> None:
    assert (is_bare(fields), is_tidy(fields)) == (bare, tidy)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"at": "1,234", "arguments": "json"}, []),
        ({"at": "-1"}, ["at"]),
        ({"at": "٣"}, ["at"]),
        ({"whitespace": "loud"}, ["whitespace"]),
        ({"go": "ids=some"}, ["ids"]),
    ],
)
def test_what_cannot_be_read_is_named_and_left_out(fields: dict[str, str], wrong: list[str]) -> None:
    assert list(faults(fields)) == wrong
    asked = read_asked(fields)
    assert asked.at == (1234 if not wrong else None)
    assert (asked.whitespace, asked.ids) == ("", "")
