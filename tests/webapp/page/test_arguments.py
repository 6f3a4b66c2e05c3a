from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.page.arguments import members


def found(text: str) -> list[tuple[str, str]]:
    return [(member.key, text[member.start : member.end]) for member in members(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": "x"}', [("a", "1"), ("b", '"x"')]),
        ('{"a": {"b": [1, {"c": "}"}]}, "d": null}', [("a", '{"b": [1, {"c": "}"}]}'), ("d", "null")]),
        ('{"a": "quote \\" and , and }', [("a", '"quote \\" and , and }')]),
        ('{"a": [1, 2', [("a", "[1, 2")]),
        ('{"a"', []),
        ('{"\\u00e9": 1}', [("é", "1")]),
        ("[1, 2]", []),
        ("", []),
        ('{"a": 1} {"b": 2}', [("a", "1")]),
        ('{"bad\n": 1}', [('"bad\n"', "1")]),
    ],
)
def test_members_are_found_with_their_places(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values))
def test_every_object_is_cut_as_json_reads_it(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert {key: json.loads(part) for key, part in found(text)} == value


@given(st.text(alphabet='{}[]",:\\ a1'))
def test_no_text_makes_it_fail(text: str) -> None:
    assert all(0 <= member.start <= len(text) for member in members(text))
