"""The value of JSON that is not whole, against the library that anthropic's client parses it with."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jiter import from_json

from parsers.wire.partial_json import partial_json
from tests.amount import examples

WHOLE = (
    '{"a": "ü\\n", "b":[1,2.5,true,{"c":null}], "d": -1.5e10, "e\\u00e9": "x\\\\", "f": {}, "h": [[], {"i": false}]}',
    '[1, "a", {"b": [null]}]',
    ' {"a" : NaN , "b": -Infinity} x',
    '"abc"',
    "12",
)


def outcome(parse: Any, text: Any) -> str:
    try:
        return repr(parse(text))
    except ValueError:
        return "no JSON"


def same(text: str) -> bool:
    return outcome(partial_json, text) == outcome(lambda raw: from_json(raw.encode(), partial_mode=True), text)


@pytest.mark.parametrize("text", WHOLE)
def test_every_beginning_has_the_value_that_the_library_gives(text: str) -> None:
    assert [size for size in range(len(text) + 1) if not same(text[:size])] == []


@examples(2_000)
@given(st.sampled_from(WHOLE), st.data())
def test_damaged_json_has_the_same_value_or_none(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(st.sampled_from([*'{}[],:"\\0 1.-etfnaN', ""]))
    damaged = text[:at] + put + text[at + data.draw(st.integers(0, 2)) :]
    assert same(damaged[: data.draw(st.integers(0, len(damaged)))])


def test_what_is_nested_deeply_is_no_crash() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        partial_json("[" * 200_000)
