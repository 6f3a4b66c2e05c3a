"""What a class may return: the test that is exported for it refuses what the worker refuses."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webapp.engines.test_engine_worker import RETURNED
from webapp.engines.workers.adapter_class import ShapeError, delta_of

VALUES: st.SearchStrategy[Any] = st.sampled_from(["", "text", 0, False, None, (), [], {}, b"x"])
FUNCTIONS = st.dictionaries(st.sampled_from(["name", "arguments", "parameters"]), VALUES, max_size=2)
CALLS = st.fixed_dictionaries(
    {"index": st.sampled_from([0, 1, True, None, "0"])},
    optional={"id": VALUES, "type": VALUES, "function": st.one_of(FUNCTIONS, VALUES), "name": VALUES},
)
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("content", "reasoning", "role"), VALUES),
        "reasoning_content": VALUES,
        "tool_calls": st.one_of(st.lists(st.one_of(CALLS, VALUES), max_size=2), VALUES),
    },
)


def refused_by_the_worker(said: Any) -> bool:
    try:
        delta_of(said, object, "feed")
    except ShapeError:
        return True
    return False


def refused_by_the_test(said: Any) -> bool:
    made: dict[str, Any] = {}
    text = files("parsers.cases.export").joinpath("makes_class.txt").read_text("utf-8")
    exec(compile(text, "makes_class", "exec"), made)
    try:
        assert made["checked"](said) is said
    except TypeError:
        return True
    return False


@pytest.mark.parametrize("said", [row[0] for row in RETURNED])
def test_what_is_no_delta_is_none_in_the_exported_test(said: str) -> None:
    value = json.loads(said)
    assert (refused_by_the_worker(value), refused_by_the_test(value)) == (True, True)


@given(st.one_of(DELTAS, VALUES))
def test_both_refuse_the_same(said: Any) -> None:
    assert refused_by_the_test(said) == refused_by_the_worker(said)
