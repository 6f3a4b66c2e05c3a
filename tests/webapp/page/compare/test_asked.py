"""What an address of a comparison says, and how one is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from webapp.page.addresses import compare_views as compare
from webapp.page.compare.asked import PAIR, Asked, CompareLinks, Side, faults, is_bare, is_tidy, read_asked


def test_a_query_is_read_back_as_it_was_written() -> None:
    asked = Asked(
        (
            Side("cuts:4,118", "qwen+fallback", "unknown_tool:drop,recovery:fail", "ids", "reasoning"),
            Side("char:5+holdback=3"),
            Side("token", text="case:0123456789abcdef", contract="vllm"),
            Side("whole", text="parent"),
        ),
        matrix="near",
        calls="index",
        arguments="json",
        whitespace="soft",
        ids="any",
        at=118,
    )
    assert read_asked(dict(parse_qsl(CompareLinks("/x", asked).query()))) == asked


def test_every_name_is_documented_where_people_look() -> None:
    side = Side(*(["word"] * len(Side.__slots__)))
    rules: dict[str, Any] = {"calls": "order", "arguments": "text", "whitespace": "soft", "ids": "any"}
    names = Asked((side, side), matrix="all", at=1, **rules).words()
    page = (Path(__file__).resolve().parents[4] / "docs" / "comparing.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []
    assert "docs/comparing.md" in (compare.__doc__ or "")


def test_what_is_not_said_is_not_written() -> None:
    assert CompareLinks("/x", Asked((Side(), Side(chunk="whole")))).url() == "/x?b_chunk=whole"
    assert CompareLinks(None, Asked()).url() == "?"


def test_swapping_exchanges_the_sides_and_nothing_else() -> None:
    links = CompareLinks("/x", Asked((Side("token"), Side("whole")), at=3))
    assert links.query(sides=links.asked.swapped()) == "a_chunk=whole&b_chunk=token&at=3"
    assert links.query(at=None) == "a_chunk=token&b_chunk=whole"


def test_the_button_that_was_pressed_wins_over_the_form() -> None:
    asked = read_asked({"a_chunk": "token", "at": "9", "go": "at=3&b_chunk=whole"})
    assert (*[side.chunk for side in asked.sides], asked.at) == ("token", "whole", 3)


def test_a_plus_sign_that_became_a_blank_is_a_plus_sign() -> None:
    assert read_asked({"a_parser": "qwen fallback"}).sides[0].parser == "qwen+fallback"


def test_the_fields_of_the_policies_make_one_word() -> None:
    fields = {"a_policy.unknown_tool": "drop", "a_policy.recovery": "", "a_policy.invalid_call": "strict"}
    assert read_asked(fields).sides[0].policy == "unknown_tool:drop,invalid_call:strict"
    assert read_asked({"a_policy": "recovery:fail", **fields}).sides[0].policy.startswith("recovery:fail,unknown_tool")


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


def test_sides_move_and_go() -> None:
    one, two, three = Side("token"), Side("whole"), Side("char")
    asked = Asked((one, two, three))
    assert asked.swapped(2) == (one, three, two)
    assert asked.without(1) == (one, three)
    assert (asked.is_full, Asked((one, two, three, one)).is_full) == (False, True)


def test_a_side_that_is_not_said_is_not_there_but_for_the_first_two() -> None:
    assert read_asked({}).sides == PAIR
    asked = read_asked({"d_chunk": "char", "c_chunk": "", "d_policy.recovery": "fail"})
    assert asked.sides == (Side(), Side(), Side("char", policy="recovery:fail"))


def test_what_a_button_says_of_a_side_is_all_there_is_of_it() -> None:
    form = {"a_chunk": "token", "b_chunk": "whole", "b_parser": "llama", "c_chunk": "char", "d_text": "parent"}
    asked = read_asked({**form, "go": "a_chunk=token&b_chunk=char&d_chunk=whole"})
    assert asked.sides == (Side("token"), Side("char"), Side("whole"))
    assert len(read_asked({**form, "go": "at=3"}).sides) == 4
