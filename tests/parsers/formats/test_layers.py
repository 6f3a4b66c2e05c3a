"""Layers add rows to every format: sound ones, after its own, and only where the request wants them."""

from __future__ import annotations

import pytest

from parsers.formats.layers import layered, layered_if_fired
from parsers.formats.lint import lint
from parsers.formats.model import LAYER_TRIGGERS, Format, builtin_formats, row_ids
from parsers.vocabulary.types import Context
from tests.parsers.parsing import small, trace_of

OPEN = Context()
REQUIRED = Context(tool_choice="required")
NAMED = Context(tool_choice="named", named_tool="f")
REQUESTS = (OPEN, REQUIRED, NAMED)
each = pytest.mark.parametrize("fmt", builtin_formats().values(), ids=lambda fmt: fmt.name)


def added(fmt: Format, context: Context) -> set[str]:
    """The triggers of the rows that layers add."""
    rows = [row.on for state in layered(fmt, context).states.values() for row in state.rows]
    return {*LAYER_TRIGGERS}.intersection(rows)


@pytest.mark.replays
@each
def test_rows_of_layers_stand_after_those_of_the_format_and_are_sound(fmt: Format) -> None:
    for context in REQUESTS:
        whole = layered(fmt, context)
        assert row_ids(fmt).items() <= row_ids(whole).items()
        assert not [found for found in lint(whole) if found.pointer.startswith("/states/GUIDED")]
        assert layered(whole, context) is whole
        for name, state in whole.states.items():
            assert {row.to for row in state.rows} <= whole.states.keys(), name


@each
def test_guided_output_may_be_read_in_every_format_where_a_call_is_forced(fmt: Format) -> None:
    guided = {"GUIDED_LIST", "GUIDED_OBJECT"}
    assert added(fmt, OPEN).isdisjoint(guided)
    assert added(fmt, Context(tool_choice="none")).isdisjoint(guided)
    for context in (REQUIRED, NAMED):
        assert guided <= added(fmt, context)
    assert "GUIDED_ARGUMENTS" not in layered(fmt, REQUIRED).states


@each
def test_the_opening_marker_is_one_again_where_opened_reasoning_would_keep_it_as_text(fmt: Format) -> None:
    opened = fmt.states.get(fmt.initial_when_reasoning_open or "")
    kept = opened is not None and opened.text == "reasoning" and bool(opened.inert)
    assert not kept or "REPEATED" in added(fmt, OPEN)


def test_a_format_without_reasoning_stays_as_it_is() -> None:
    assert added(builtin_formats()["passthrough"], OPEN) == set()
    assert layered(builtin_formats()["passthrough"], OPEN) is builtin_formats()["passthrough"]


def test_states_of_a_layer_never_hide_those_of_a_format() -> None:
    text = {"text": "content", "rows": [{"on": "END", "to": "CONTENT"}, {"on": "A", "to": "GUIDED_CALL"}]}
    own = {"text": "content", "rows": [{"on": "END", "to": "GUIDED_CALL"}]}
    fmt = small({"CONTENT": text, "GUIDED_CALL": own}, {"A": "<a>"})
    whole = layered(fmt, REQUIRED)
    assert whole.states["GUIDED_CALL"].rows[: len(own["rows"])] == fmt.states["GUIDED_CALL"].rows
    assert len(whole.states) == 6
    assert [call.name for call in trace_of(fmt, '[{"name": "f"}]', context=REQUIRED).message.tool_calls] == ["f"]
    assert [call.name for call in trace_of(fmt, '<a>[{"name": "f"}]', context=REQUIRED).message.tool_calls] == ["f"]


def test_layers_are_shown_where_one_of_their_rows_fired() -> None:
    fmt = builtin_formats()["qwen"]
    whole = layered(fmt, REQUIRED)
    ids = {whole.states[name].rows[at].on: row for (name, at), row in row_ids(whole).items()}
    assert layered_if_fired(fmt, REQUIRED, ["r0", "r1"]) is fmt
    assert layered_if_fired(fmt, REQUIRED, ["r0", ids["GUIDED_LIST"]]) == whole
