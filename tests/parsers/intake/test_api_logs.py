"""Logs made of payloads: the raw output of those that hold it, and what is left of those that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import Intake, recognise

Payloads = list[dict[str, Any]]


def log(payloads: Payloads, *, end: str = "data: [DONE]\n") -> Intake:
    text = "".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads) + end
    return recognise(text.encode(), pasted=False)


def ndjson(payloads: Payloads) -> Intake:
    return recognise("\n".join(map(json.dumps, payloads)).encode(), pasted=False)


def text_chunk(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "text": text, "finish_reason": finish, **more}
    return {"id": "r", "object": "text_completion", "choices": [choice]}


def so_far(text: str, **meta: Any) -> dict[str, Any]:
    return {"text": text, "meta_info": {"id": "r", **meta}}


def token(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"token": {"id": number, "text": text, "special": False}, "generated_text": None, **more}


def ollama(text: str, *, done: bool = False, **more: Any) -> dict[str, Any]:
    return {"model": "m", "created_at": "t", "response": text, "done": done, **more}


# payloads, deltas, finish reason, what the notes say
REBUILT: list[tuple[Payloads, list[tuple[str, tuple[int, ...] | None]], str | None, str]] = [
    (
        [text_chunk("<th", token_ids=[4, 5]), text_chunk("ink>\r\n", "length", token_ids=[6])],
        [("<th", (4, 5)), ("ink>\r\n", (6,))], "length", "skip_special_tokens: false",
    ),
    ([text_chunk("a"), {"id": "r", "choices": [], "usage": {}}], [("a", None)], None, "skip_special_tokens"),
    ([text_chunk("a", token_ids=[True]), text_chunk("")], [("a", None), ("", None)], None, "skip_special_tokens"),
    (
        [{"content": "a", "stop": False, "tokens": [1]}, {"content": "", "stop": True, "stop_type": "limit"}],
        [("a", (1,)), ("", None)], "length", "--special",
    ),
    ([{"content": "a", "stop": True, "stop_type": "eos", "tokens_predicted": 1}], [("a", None)], "stop", "--special"),
    ([{"content": "a", "stop": True, "stopped_limit": True}], [("a", None)], "length", "--special"),
    ([{"content": "a", "stop": True}], [("a", None)], "stop", "--special"),
    (
        [so_far("a"), so_far("a<b"), so_far("a<b", finish_reason={"type": "stop", "matched": 2})],
        [("a", None), ("<b", None), ("", None)], "stop", "skip_special_tokens: false",
    ),
    ([so_far("a", finish_reason="abort")], [("a", None)], "abort", "skip_special_tokens"),
    (
        [token(1, "a"), token(2, "</s>", generated_text="a", details={"finish_reason": "eos_token"})],
        [("a", (1,)), ("</s>", (2,))], "stop", "5 characters",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("payloads", "deltas", "finish", "note"), REBUILT)
def test_a_log_of_raw_text_is_rebuilt_delta_by_delta(
    payloads: Payloads, deltas: list[tuple[str, tuple[int, ...] | None]], finish: str | None, note: str
) -> None:
    found = log(payloads)
    assert found.recording is not None, found.message
    assert [(delta.text, delta.ids) for delta in found.recording.deltas or ()] == deltas
    assert found.recording.text == "".join(text for text, _ in deltas)
    assert (found.recording.kind, found.recording.finish_reason) == ("sse_log", finish)
    assert note in found.message


def test_ollama_lines_are_rebuilt_with_the_condition_told() -> None:
    found = ndjson([ollama("a"), ollama("b"), ollama("", done=True, done_reason="length")])
    assert found.recording is not None
    assert (found.recording.text, found.recording.finish_reason) == ("ab", "length")
    assert "only if the request said raw: true" in found.message


@pytest.mark.parametrize(
    ("payload", "text"), [(text_chunk("ab", "stop"), "ab"), (so_far("ab"), "ab"), ({"generated_text": "ab"}, "ab")]
)
def test_a_whole_answer_has_text_but_no_deltas(payload: dict[str, Any], text: str) -> None:
    found = ndjson([payload])
    assert found.recording is not None
    assert (found.kind, found.recording.text, found.recording.deltas) == ("json_response", text, None)


def test_an_array_of_chunks_has_deltas() -> None:
    found = recognise(json.dumps([text_chunk("a"), text_chunk("b")]).encode(), pasted=False)
    assert found.recording is not None
    assert [delta.text for delta in found.recording.deltas or ()] == ["a", "b"]


def test_a_log_that_breaks_off_is_rebuilt_as_far_as_it_goes() -> None:
    found = log([text_chunk("a"), text_chunk("b")], end='data: {"id": "r", "cho')
    assert found.recording is not None
    assert found.recording.text == "ab"
    assert "The last chunk (line 5) breaks off" in found.message


# payloads, what follows them, the texts of the outputs, the warning
DOUBTFUL: list[tuple[Payloads, str, list[str], str]] = [
    ([text_chunk("a"), text_chunk("b") | {"id": "other"}], "", ["a", "b"], "It holds 2 outputs"),
    ([text_chunk("a"), {"choices": [{"index": 1, "text": "b"}]}], "", ["a", "b"], "It holds 2 outputs"),
    ([text_chunk("a")], f"data: [DONE]\ndata: {json.dumps(text_chunk('b'))}\n", ["a", "b"], "It holds 2 outputs"),
    ([{"content": "a", "stop": True}, {"content": "b", "stop": False}], "", ["a", "b"], "It holds 2 outputs"),
    ([text_chunk("a"), {"error": {"message": "x", "code": 1}}], "", ["a"], "sent an error (line 3): x"),
    ([text_chunk("a"), {"error": "out of\nmemory"}], "", ["a"], "sent an error (line 3): out of memory"),
    ([text_chunk("a"), {"error": {"code": 5}}], "", ["a"], 'sent an error (line 3): {"code": 5}'),
    ([text_chunk("a"), {"error": {"message": "x" * 999}}], "", ["a"], "xxx…"),
    ([text_chunk("a"), {"object": "error", "message": " "}], "", ["a"], "it says nothing"),
    ([text_chunk("a"), {"choices": [5]}], "", ["a"], "chunk at line 3 holds no raw output"),
    ([text_chunk("a"), {"choices": [{"text": None}]}, {"choices": [5]}], "", ["a"], "chunk at line 3 holds"),
    ([text_chunk("a")], "data: {oops\ndata: [DONE]\n", ["a"], "1 chunk cannot be read and was skipped (line 3)"),
    ([text_chunk("a")], "data: {oops\n\nevent: error\ndata: {\n", ["a"], "1 chunk cannot be read"),
    ([text_chunk("a")], "data: {\n" * 5 + "data: [DONE]\n", ["a"], "skipped (line 3, line 4, line 5 and 2 more)"),
    ([text_chunk("a")], 'data: {"a": 1} left over\ndata: [DONE]\n', ["a"], "1 line that is no part of the log was"),
    ([text_chunk("a"), {"x": 1, "choices": [{}]}], "", ["a"], "chunk at line 3 holds no raw output"),
]  # fmt: skip


@pytest.mark.parametrize(("payloads", "end", "texts", "part"), DOUBTFUL)
@pytest.mark.replays
def test_damage_is_told_and_what_is_whole_is_rebuilt(payloads: Payloads, end: str, texts: list[str], part: str) -> None:
    found = log(payloads, end=end)
    assert (found.kind, found.usable) == ("sse_log", True)
    assert [output.text for output in found.outputs] == texts
    assert part in found.message


def test_places_in_an_array_are_items() -> None:
    found = recognise(json.dumps([{"generated_text": "a"}, text_chunk("b")]).encode(), pasted=False)
    assert "item 2 holds no raw output" in found.message


def test_a_log_without_any_output_says_so() -> None:
    found = log([text_chunk("") | {"choices": []}])
    assert (found.usable, found.outputs) == (False, ())
    assert "None of its chunks holds any output" in found.message


def test_texts_that_rewrite_what_was_said_keep_the_last() -> None:
    found = log([so_far("a"), so_far("ab"), so_far("abc"), so_far("xbcd", finish_reason="stop")])
    assert found.recording is not None
    assert [delta.text for delta in found.recording.deltas or ()] == ["xbcd"]
    assert [warn.code for warn in found.warnings if warn.code == "rewritten"]


def test_texts_that_do_not_repeat_each_other_are_increments() -> None:
    found = log([so_far("a"), so_far("b"), so_far("c")])
    assert found.recording is not None
    assert found.recording.text == "abc"
    assert "increments" in [warn.code for warn in found.warnings]


def test_half_of_a_pair_is_told_and_replaced() -> None:
    found = log([text_chunk("\ud83d"), text_chunk("\ude00")])
    assert found.recording is not None
    assert found.recording.text == "\ufffd\ufffd"
    assert "half of a UTF-16 pair" in found.message


def test_fewer_ids_than_the_server_counted_is_told() -> None:
    usage = {"id": "r", "choices": [], "usage": {"completion_tokens": 3}}
    found = log([text_chunk("a", token_ids=[1]), usage])
    assert "The server counted 3 tokens, but only 1 token ids are recorded." in found.message
    assert "counted" not in log([text_chunk("a", token_ids=[1, 2, 3]), usage]).message


def test_special_tokens_are_in_no_doubt_where_the_request_kept_them() -> None:
    request = json.dumps({"model": "m", "prompt": "p", "skip_special_tokens": False})
    found = recognise(f"{request}\ndata: {json.dumps(text_chunk('a', 'stop'))}\n\ndata: [DONE]\n".encode(), pasted=True)
    assert (found.warnings, found.facts[0].certainty, found.captures) == ((), "exact", ())


# payloads, what the message says: nothing in them can be replayed
EMPTY: list[tuple[Payloads, str]] = [
    ([{"delta": "x"}], "shape of its payloads is not known"),
    ([{"error": {"message": "too long", "code": 1}}], "sent an error (line 1): too long. There is no output in it."),
    ([], "no chunk at all"),
    ([{"object": "chat.completion.chunk", "choices": []}], "no choice at all"),
]


@pytest.mark.parametrize(("payloads", "part"), EMPTY)
def test_a_log_with_nothing_to_replay_says_why(payloads: Payloads, part: str) -> None:
    found = log(payloads)
    assert (found.kind, found.usable) == ("sse_log", False)
    assert part in found.message


def test_empty_data_lines_mean_nothing() -> None:
    found = log([text_chunk("a")], end="data:\n\ndata: [DONE]\ndata:\n")
    assert found.recording is not None
    assert found.recording.text == "a"


def test_where_most_lines_are_no_fields_it_is_an_answer_inside_other_text() -> None:
    chunks = [text_chunk("a")] * 10
    assert log(chunks, end="curl: (18) transfer closed\n").kind == "sse_log"
    assert "other_text" in [warn.code for warn in log(chunks, end="words\n" * 11).warnings]
    other = log(chunks, end="words\n" * 12 + "data: [DONE]\n")
    assert (other.kind, other.why[0]) == ("client_objects", "It stands inside other text.")
    assert "other_text" in [warn.code for warn in other.warnings]


@pytest.mark.parametrize(
    ("events", "done"),
    [([], False), ([{"type": "message_stop"}], True), ([{"type": "message_stop"}, {"type": "ping"}], False)],
)
def test_the_last_event_of_the_messages_api_ends_a_stream(events: Payloads, done: bool) -> None:
    begun: Payloads = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    ]
    assert [output.done for output in log([*begun, *events], end="").outputs] == [done]


@pytest.mark.parametrize("failed", [{"error": "the runner stopped"}, {}])
def test_an_error_in_the_last_line_stands_at_the_end_of_the_stream(failed: dict[str, Any]) -> None:
    chunk = {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "Hi"}, "done": False}
    (output,) = ndjson([chunk, failed]).outputs
    first, *rest = output.stream or ()
    assert first["choices"][0]["delta"] == {"content": "Hi"}
    assert rest == ([failed] if failed else [])
