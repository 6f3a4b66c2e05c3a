"""What a server sent, read as deltas: both dialects, whole answers, and every odd shape with a note, never an error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.vocabulary.types import MessageDelta, ToolCallDelta
from parsers.wire.read import NOTES, ServerChunk, read_stream


def chunk(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def calls(*parts: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(parts)})


def one(payload: Any) -> ServerChunk:
    (found,) = read_stream([payload])
    return found


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [
        (chunk({"role": "assistant", "content": ""}), None),
        (chunk({"content": "Hi"}), MessageDelta(content="Hi")),
        (chunk({"reasoning": "Hm"}), MessageDelta(reasoning="Hm")),
        (chunk({"reasoning_content": "Hm"}), MessageDelta(reasoning="Hm")),
        (chunk({"reasoning": "Hm", "reasoning_content": "Hm"}), MessageDelta(reasoning="Hm")),
        (chunk({"reasoning": None, "content": None, "tool_calls": None}), None),
        (chunk({}), None),
        (chunk(None), None),
        ({"choices": [], "usage": {"total_tokens": 3}}, None),
        ({"choices": [{"index": 0, "text": "raw"}]}, MessageDelta(content="raw")),
        (
            calls({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}),
            MessageDelta(tool_calls=[ToolCallDelta(0, "a", "f", "")]),
        ),
        (
            calls({"index": 1, "function": {"arguments": "{}"}}, {"index": 2, "id": "b"}),
            MessageDelta(tool_calls=[ToolCallDelta(1, None, None, "{}"), ToolCallDelta(2, "b")]),
        ),
    ],
)
def test_a_chunk_of_the_usual_shape_is_its_delta_and_nothing_is_noted(
    payload: dict[str, Any], wanted: MessageDelta | None
) -> None:
    assert one(payload) == ServerChunk(wanted)


def test_finish_reason_and_token_ids_come_with_their_chunk() -> None:
    found = read_stream([chunk({"content": "Hi"}, token_ids=[5, 6]), chunk({}, "stop", token_ids=[])])
    assert [(part.finish_reason, part.ids) for part in found] == [(None, (5, 6)), ("stop", ())]


@pytest.mark.parametrize(
    ("payload", "tokens"),
    [
        ({"usage": {"completion_tokens": 9}}, 9),
        ({"usage": {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}}}, 5),
        ({"usage": {"completion_tokens": 9, "completion_tokens_details": {}, "reasoning_tokens": None}}, 9),
        ({"usage": {"completion_tokens": 9}, "choices": [{}, {}]}, None),
        ({"usage": {"completion_tokens": "9"}}, None),
        ({"usage": None}, None),
    ],
)
def test_generated_tokens_are_those_of_one_choice_without_reasoning_that_is_counted_apart(
    payload: dict[str, Any], tokens: int | None
) -> None:
    assert one(payload).tokens == tokens


@pytest.mark.parametrize("ids", [None, "5", [5, "6"], [-1]])
def test_token_ids_of_another_shape_are_none(ids: Any) -> None:
    assert one(chunk({"content": "Hi"}, token_ids=ids)).ids is None


def test_a_whole_answer_is_one_chunk_whose_calls_are_counted() -> None:
    function = {"name": "f", "arguments": "{}"}
    message = {"reasoning_content": "Hm", "content": None, "tool_calls": [{"id": "a", "function": function}] * 2}
    found = one({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    parts = [ToolCallDelta(0, "a", "f", "{}"), ToolCallDelta(1, "a", "f", "{}")]
    assert found == ServerChunk(MessageDelta(reasoning="Hm", tool_calls=parts), "tool_calls")


@pytest.mark.parametrize(
    ("payload", "code", "wanted"),
    [
        (7, "no_object", None),
        ({"error": {"message": "out of memory"}}, "server_error", None),
        ({"object": "error", "message": "bad"}, "server_error", None),
        ({"error": "bad"}, "server_error", None),
        ({"error": {"code": 5}}, "server_error", None),
        ({"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}, "several_choices", "a"),
        (chunk({"content": "a"}, 7), "odd_field", "a"),
        (chunk({"content": 7}), "odd_field", None),
        (chunk({"content": True}), "odd_field", None),
        (chunk({"content": {"a": 1}}), "odd_field", None),
        (chunk({"content": [{"type": "text", "text": "a"}, "b", {"type": "image"}]}), "content_parts", "ab"),
        (chunk({"reasoning": "a", "reasoning_content": "b"}), "two_reasonings", None),
        (chunk({"content": "a"}) | {"blocks_apart": "Block 2."}, "blocks_apart", "a"),
        (chunk({"content": "a"}) | {"block_unended": "Block 2."}, "block_unended", "a"),
        (chunk({"content": None, "refusal": "I will not."}), "refusal", "I will not."),
        (chunk({"content": "a"}) | {"closed_otherwise": "It has b."}, "closed_otherwise", "a"),
    ],
)
def test_what_clients_do_not_expect_of_a_chunk_is_noted(payload: Any, code: str, wanted: str | None) -> None:
    found = one(payload)
    assert [note.code for note in found.notes] == [code]
    assert found.note == found.notes[0].words
    assert (found.delta.content if found.delta else None) == wanted


@pytest.mark.parametrize(
    ("part", "code", "wanted"),
    [
        ({"id": "a", "function": {"name": "f"}}, "no_index", ToolCallDelta(0, "a", "f")),
        ({"index": None, "function": {"name": "f"}}, "no_index", ToolCallDelta(0, None, "f")),
        ({"index": "0", "function": {"name": "f"}}, "odd_index", ToolCallDelta(0, None, "f")),
        ({"index": -1, "function": {"name": "f"}}, "odd_index", ToolCallDelta(0, None, "f")),
        ({"index": 10**400, "function": {"name": "f"}}, "odd_index", ToolCallDelta(0, None, "f")),
        ({"index": True, "function": {"name": "f"}}, "odd_index", ToolCallDelta(0, None, "f")),
        (
            {"index": 0, "function": {"name": "f", "arguments": {"ü": 1}}},
            "arguments_object",
            ToolCallDelta(0, None, "f", '{"ü": 1}'),
        ),
        ({"index": 0, "function": {"arguments": [1]}}, "arguments_object", ToolCallDelta(0, None, None, "[1]")),
        ({"index": 0, "id": 7}, "odd_field", ToolCallDelta(0, "7")),
        ({"index": 0, "function": {"name": {"a": 1}}}, "odd_field", ToolCallDelta(0, None, '{"a": 1}')),
        ({"index": 0, "name": "f", "arguments": "{}"}, "flat_call", ToolCallDelta(0, None, "f", "{}")),
    ],
)
def test_what_clients_do_not_expect_of_a_call_is_noted(part: dict[str, Any], code: str, wanted: ToolCallDelta) -> None:
    found = one(calls(part))
    assert [note.code for note in found.notes] == [code]
    assert found.delta == MessageDelta(tool_calls=[wanted])


@pytest.mark.parametrize(
    ("given", "codes", "parts"),
    [
        ({"index": 0, "id": "a"}, ["odd_field"], 1),
        ("f()", ["odd_field"], 0),
        ([None, {"index": 0, "id": "a"}], ["odd_field"], 1),
    ],
)
def test_tool_calls_that_are_no_list_of_objects_are_noted(given: Any, codes: list[str], parts: int) -> None:
    found = one(chunk({"tool_calls": given}))
    assert [note.code for note in found.notes] == codes
    assert len(found.delta.tool_calls if found.delta else ()) == parts


def test_the_old_function_call_is_call_0_and_noted() -> None:
    found = one(chunk({"function_call": {"name": "f", "arguments": "{}"}}))
    assert found.delta == MessageDelta(tool_calls=[ToolCallDelta(0, None, "f", "{}")])
    assert [note.code for note in found.notes] == ["function_call"]


def test_parts_without_an_index_go_to_their_id_to_a_new_name_or_to_the_call_before() -> None:
    stream = [
        calls({"id": "a", "function": {"name": "f"}}),
        calls({"function": {"arguments": "{"}}),
        calls({"id": "b", "function": {"name": "g"}}),
        calls({"id": "a", "function": {"arguments": "}"}}),
        calls({"function": {"name": "h"}}),
    ]
    found = [part.delta.tool_calls[0].index for part in read_stream(stream) if part.delta]
    assert found == [0, 0, 1, 0, 2]


def test_what_comes_after_the_finish_reason_is_noted() -> None:
    found = read_stream([chunk({}, "stop"), chunk({"content": "more"}), chunk({}, "length")])
    assert [[note.code for note in part.notes] for part in found] == [[], ["after_finish"], ["finish_other"]]
    assert "`stop`" in found[1].note
    assert found[2].finish_reason == "length"


def test_arguments_that_nest_too_deep_are_left_out() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    found = one(calls({"index": 0, "function": {"arguments": deep}}))
    assert found.delta == MessageDelta(tool_calls=[ToolCallDelta(0, None, None, "")])


WORDS = st.sampled_from(["index", "id", "function", "name", "arguments", "content", "reasoning", "tool_calls", "delta"])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.replays
@given(st.lists(st.builds(lambda delta, finish: chunk(delta, finish), ANY, ANY) | ANY, max_size=5))
def test_no_stream_raises_and_every_note_is_known(stream: list[Any]) -> None:
    found = read_stream(stream)
    assert len(found) == len(stream)
    for part in found:
        assert {note.code for note in part.notes} <= NOTES.keys()
        for call in part.delta.tool_calls if part.delta else ():
            assert call.index >= 0
            assert isinstance(call.arguments, str | None)
