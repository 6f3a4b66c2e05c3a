"""ToolCallStreamState: the original's five tests by name, and what its source says besides."""

from __future__ import annotations

from parsers.wire.stream_state import FunctionCall, ToolCall, ToolCallStreamState


def test_stream_state_basic() -> None:
    state = ToolCallStreamState()
    index, delta = state.start_tool_call("get_weather")
    assert (index, delta.index, delta.type) == (0, 0, "function")
    assert delta.id is not None
    assert delta.id.startswith("call_")
    assert len(delta.id) == len("call_") + 12
    assert delta.to_json()["function"] == {"name": "get_weather", "arguments": ""}
    fragment = state.add_arguments(0, '{"city":')
    assert fragment is not None
    assert fragment.to_json() == {"index": 0, "function": {"arguments": '{"city":'}}
    assert state.has_active_calls()


def test_stream_state_finalize() -> None:
    state = ToolCallStreamState()
    index, start = state.start_tool_call("f")
    state.add_arguments(index, '{"a": ')
    state.add_arguments(index, "1}")
    assert state.finalize() == []
    done = state.complete_tool_call(index)
    assert done is not None
    assert done.to_json() == {"index": 0}
    assert state.finalize() == [ToolCall(id=start.id, function=FunctionCall(name="f", arguments='{"a": 1}'))]


def test_stream_state_multiple_tool_calls() -> None:
    state = ToolCallStreamState()
    first, second = state.start_tool_call("f"), state.start_tool_call("g")
    assert (first[0], second[0]) == (0, 1)
    assert first[1].id != second[1].id
    state.add_arguments(1, "{}")
    state.add_arguments(0, "[]")
    state.complete_tool_call(1)
    assert state.open_count() == 1
    state.complete_tool_call(0)
    assert [(call.function.name, call.function.arguments) for call in state.finalize()] == [("f", "[]"), ("g", "{}")]
    assert (state.active_count(), state.open_count()) == (2, 0)


def test_stream_state_invalid_index() -> None:
    state = ToolCallStreamState()
    state.start_tool_call("f")
    for index in (1, 99, -1):
        assert state.add_arguments(index, "{}") is None
        assert state.complete_tool_call(index) is None
    assert state.finalize() == []


def test_stream_state_clear() -> None:
    state = ToolCallStreamState()
    index, before = state.start_tool_call("f")
    state.complete_tool_call(index)
    state.clear()
    assert (state.has_active_calls(), state.active_count(), state.open_count()) == (False, 0, 0)
    assert state.finalize() == []
    again, after = state.start_tool_call("f")
    assert again == 0
    assert after.id != before.id


def test_arguments_after_the_completion_open_the_call_again() -> None:
    state = ToolCallStreamState()
    state.start_tool_call("f")
    state.complete_tool_call(0)
    more = state.add_arguments(0, "")
    assert more is not None
    assert more.to_json() == {"index": 0, "function": {"arguments": ""}}
    assert (state.finalize(), state.open_count()) == ([], 1)
    assert state.complete_tool_call(0) == state.complete_tool_call(0)
    assert [call.function.arguments for call in state.finalize()] == [""]


def test_ids_follow_from_the_seed() -> None:
    def ids(seed: int) -> list[str | None]:
        state = ToolCallStreamState(seed)
        return [state.start_tool_call("f")[1].id for _ in range(3)]

    assert ids(1) == ids(1)
    assert not set(ids(1)) & set(ids(2))
