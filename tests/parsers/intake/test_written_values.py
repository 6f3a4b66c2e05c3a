"""Python's printed values: what they stand for, and where a text ends inside one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsers.intake.written_values import DEPTH, LEFT_OUT, Named, Shortened, is_left_out, literal_at, string_at

READ: list[tuple[str, Any]] = [
    ("'a'", "a"),
    ('"it\'s"', "it's"),
    ("'a' 'b'", "a"),
    ("['a' 'b']", ["ab"]),
    ("[1, 2,]", [1, 2]),
    ("()", []),
    ("(1)", 1),
    ("(1,)", 1),
    ("(1, 2)", [1, 2]),
    ("{}", {}),
    ("{'a': 1, 2: None}", {"a": 1, 2: None}),
    ("{1, 2}", [1, 2]),
    ("[true, null, False]", [True, None, False]),
    ("[-1, +2, 1.5, .5, 1e3]", [-1, 2, 1.5, 0.5, 1000.0]),
    ("f(1, a='x')", Named("f", [1], {"a": "x"}, called=True)),
    ("torch.int32", Named("torch.int32")),
    ("[f()]", [Named("f", called=True)]),
    ("<Reason.stop: 'stop'>", "stop"),
    ("<object object at 0x7f>", Named("object object at 0x7f")),
    ("<Reason.stop: 1>", Named("Reason.stop")),
    ("['a' ... 'b']", [Shortened("a", "b")]),
    ("f(a=[1] ... [2])", Named("f", [], {"a": Shortened([1], [2])}, called=True)),
    ("[b'\\xe2\\x82\\xac']", ["€"]),
    ("[\n  'a',\n]", ["a"]),
    ("{ Symbol(a.b): true, Symbol(c d): 1 }", {"Symbol(a.b)": True, "Symbol(c d)": 1}),
    (
        "{ e: AError [B_C]: no:\n  [\n    {}\n  ]\n    at f (x:1)\n    at g {\n    k: [CError]\n  }, a: 1 }",
        {"e": {"k": LEFT_OUT}, "a": 1},
    ),
    ("{ e: _AError: no\n    at f (x:1),\n  a: 1 }", {"e": LEFT_OUT, "a": 1}),
    ('{\n  e: [ZError: [\n    {\n      "p": [ 1 ],\n    }\n  ]],\n  a: 1 }', {"e": LEFT_OUT, "a": 1}),
]


@pytest.mark.parametrize(("text", "value"), READ, ids=[row[0] for row in READ])
def test_a_printed_value_is_read(text: str, value: Any) -> None:
    found = literal_at(text)
    assert found is not None
    assert (found.value, found.whole) == (value, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "]",
        ",",
        "[1 2]",
        "[,]",
        "[1, , 2]",
        "[1)",
        "{'a': }",
        "{'a': 'b': 'c'}",
        "{: 1}",
        "[a=1]",
        "f('a'=1)",
        "{[1]: 2}",
        "[9999999999999999999]",
        "['a' ... ]",
        "[!]",
        "['a\n']",
        "[1, 2\x00",
        "[" * (DEPTH + 1),
        "f(" * (DEPTH + 1),
    ],
)
def test_anything_else_is_no_printed_value(text: str) -> None:
    assert literal_at(text) is None


CUT: list[tuple[str, Any]] = [
    ("['a', 'b", ["a"]),
    ("['a', 'b\\", ["a"]),
    ("['a', b'", ["a"]),
    ("[1, 23", [1]),
    ("[1, 23 ", [1, 23]),
    ("[1, 2,", [1, 2]),
    ("[Tru", []),
    ("{'a': 1, 'b': ", {"a": 1}),
    ("{'a': 'x", {"a": "x"}),
    ("f(a=1, b", Named("f", [], {"a": 1}, called=True)),
    ("f(", Named("f", called=True)),
    ("f(a='x' ... ", Named("f", called=True)),
    ("[[1], [2", [[1], []]),
]


@pytest.mark.parametrize(("text", "value"), CUT, ids=[row[0] for row in CUT])
def test_of_a_value_that_breaks_off_the_whole_part_is_kept(text: str, value: Any) -> None:
    found = literal_at(text)
    assert found is not None
    assert (found.value, found.whole, found.end) == (value, False, len(text))


def test_dots_alone_stand_for_items_left_out() -> None:
    found = literal_at("[1, ..., 9]")
    assert found is not None
    assert [is_left_out(one) for one in found.value] == [False, True, False]


def test_a_string_ends_at_its_quote_or_with_its_line() -> None:
    found = string_at("x = 'a\\n', 'b'", 4)
    assert found is not None
    assert (found.value, found.end, found.whole) == ("a\n", 9, True)
    half = string_at('"a\\nb\nnext', 0)
    assert half is not None
    assert (half.value, half.end, half.whole) == ("a\nb", 5, False)
    assert string_at("a", 0) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.replays
@given(VALUES)
def test_what_python_prints_is_read_back(value: Any) -> None:
    found = literal_at(repr(value))
    assert found is not None
    assert (found.value, found.end) == (value, len(repr(value)))


@example("b'\ud83d")
@given(st.text(alphabet="'\"\\[](){},:=.<> abfuxN019\n\ud83d"))
def test_any_text_is_read_or_not_and_never_raises(text: str) -> None:
    found = literal_at(text)
    assert found is None or 0 < found.end <= len(text)
    string_at(text, 0)
