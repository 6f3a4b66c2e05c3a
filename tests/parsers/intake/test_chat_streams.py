"""Chat streams made of payloads: what a server parsed is kept, with what it still tells of the raw output."""

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


def chat(**delta: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def step(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"delta": {}, **choice}]}


# payloads of one chat stream, text, ids, a warning
PARSED: list[tuple[Payloads, str | None, tuple[int, ...] | None, str]] = [
    ([chat(content="a")], None, None, "no_markers"),
    ([chat(content="")], None, None, "no_finish"),
    ([chat(content="a\ufffd<think>")], "a\ufffd<think>", None, "lossy_text"),
    ([chat(content="<think>\ud83d")], "<think>\ufffd", None, "lone_surrogate"),
    ([chat(content="<think>"), chat(reasoning="a")], None, None, "no_finish"),
    ([chat(content="<think>"), chat(reasoning_content="a")], None, None, "no_finish"),
    ([chat(content="<think>"), chat(function_call={"name": "f"})], None, None, "no_finish"),
    ([chat(content="<think>"), {"choices": [{"delta": None, "finish_reason": "tool_calls"}]}], None, None, "no_done"),
    ([step(token_ids=[1])], None, (1,), "no_finish"),
    ([chat(content="a"), step(token_ids=[1])], None, (1,), "ids_swallowed"),
    ([{"choices": [{"message": {}, "response_token_ids": [1]}]}], None, (1,), "no_finish"),
    ([chat(content="a"), {"choices": [], "sglext": {"output_ids": [[1]]}}], None, (1,), "ids_without_chunks"),
    ([chat(content="a"), {"choices": [], "sglext": {"output_ids": [1]}}], None, (1,), "ids_without_chunks"),
    ([chat(content="a"), {"choices": [], "sglext": {"output_ids": []}}], None, None, "no_markers"),
    ([chat(content="a") | {"sglext": {"output_ids": [[2]]}}], None, (2,), "ids_without_chunks"),
    ([step(index=3), {"choices": [], "sglext": {"output_ids": [[1]]}}], None, None, "no_finish"),
    ([step(logprobs={"content": []})], None, None, "no_finish"),
    ([chat(content="a"), {"weather": 1, "delta": 1}], None, None, "other_chunk"),
]  # fmt: skip


@pytest.mark.parametrize(("payloads", "text", "ids", "code"), PARSED)
def test_what_a_server_parsed_is_kept_with_what_it_still_tells(
    payloads: Payloads, text: str | None, ids: tuple[int, ...] | None, code: str
) -> None:
    found = log(payloads, end="")
    assert (found.kind, found.usable) == ("sse_log", True)
    assert found.recording is not None
    assert (found.recording.text, found.recording.ids) == (text, ids)
    assert found.recording.stream
    assert code in [warn.code for warn in found.warnings]


def logged(*tokens: tuple[str, list[int] | None], **delta: Any) -> dict[str, Any]:
    content = [{"token": token, "bytes": raw} for token, raw in tokens]
    return {"choices": [{"delta": delta, "finish_reason": "stop", "logprobs": {"content": content}}]}


LOST = list("\ufffd".encode())
# payloads, text, ids, the texts of the pieces, what is certain about the text
LOGGED: list[tuple[Payloads, str | None, tuple[int, ...] | None, list[str] | None, str]] = [
    ([logged(("a", [97]), ("b", [98]))], "ab", None, ["a", "b"], "exact"),
    ([logged(("?", [0xE2, 0x82]))], "\ufffd", None, ["\ufffd"], "exact"),
    ([logged(("a", None))], None, None, None, "missing"),
    ([logged(("a", [300]))], None, None, None, "missing"),
    ([logged(("a", [97]), ("?", LOST))], "a\ufffd", None, None, "lossy"),
    ([logged(("a", None), ("?", LOST))], None, None, None, "missing"),
    ([logged(("token_id:7", [97]))], "a", (7,), ["a"], "exact"),
    ([logged(("token_id:7", LOST))], None, (7,), None, "missing"),
    ([logged(("a", [97]), reasoning="thought")], "a", None, ["a"], "lossy"),
    ([logged(("a", [97]), reasoning="a")], "a", None, ["a"], "exact"),
    ([logged(("a", [97])), {"choices": [], "usage": {"completion_tokens": 9}}], "a", None, ["a"], "lossy"),
    ([step(token_ids=[5], logprobs={"content": [{"bytes": [97]}]})], "a", (5,), ["a"], "exact"),
    ([step(token_ids=[5, 6], logprobs={"content": [{"bytes": [97]}]})], None, (5, 6), None, "missing"),
    ([step(logprobs={"content": [{"id": 4, "bytes": [97]}]})], "a", (4,), ["a"], "exact"),
    ([step(logprobs={"tokens": ["token_id:3", "token_id:4"]})], None, (3, 4), None, "missing"),
    ([step(logprobs={"tokens": ["token_id:3", "a"]})], None, None, None, "missing"),
    ([step(logprobs={"tokens": None})], None, None, None, "missing"),
]  # fmt: skip


@pytest.mark.parametrize(("payloads", "text", "ids", "pieces", "certainty"), LOGGED)
def test_log_probabilities_give_back_the_tokens_where_their_bytes_are_true(
    payloads: Payloads, text: str | None, ids: tuple[int, ...] | None, pieces: list[str] | None, certainty: str
) -> None:
    found = log(payloads)
    assert found.recording is not None
    recording = found.recording
    assert (recording.text, recording.ids) == (text, ids)
    assert (None if recording.pieces is None else [piece.text for piece in recording.pieces]) == pieces
    assert found.facts[0].certainty == certainty


def test_an_answer_with_bytes_has_text_but_no_deltas() -> None:
    found = ndjson([{"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"bytes": [97]}]}}]}])
    assert found.recording is not None
    assert (found.recording.text, found.recording.deltas) == ("a", None)


def test_content_with_markers_in_one_answer_is_raw_text() -> None:
    found = ndjson([{"choices": [{"message": {"content": "<think>a"}, "finish_reason": "stop"}]}])
    assert found.recording is not None
    assert (found.recording.text, found.recording.deltas) == ("<think>a", None)


SHOWN = ["Like this:\n```\n<tool_call>\n{}\n</tool_call>\n```\nDone.", "Send `<tool_call>` first."]


@pytest.mark.parametrize("content", SHOWN)
def test_content_that_only_shows_markers_in_code_is_no_raw_text(content: str) -> None:
    found = ndjson([{"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}])
    assert found.recording is not None
    assert found.recording.text is None
    assert "Markers are in the content as code only, which words are about." in [one.words for one in found.warnings]


@pytest.mark.parametrize(
    ("content", "raw"),
    [
        ("Hi you</tool_call>", False),
        ("Hi <|tool_call_end|>", False),
        ("Hi you.\n</tool_call>", False),
        ("Hi</arg_value></tool_call>", False),
        ("Hi\n</parameter>\n</function>", False),
        ("Hm.</think>Hi", True),
        ("<tool_call>f</tool_call>", True),
        ('{"name": "f", "arguments": {}}\n</tool_call>', True),
        ("See `<tool_call>`.</tool_call>", False),
    ],
)
def test_a_content_in_which_calls_only_close_is_what_a_parser_left(content: str, *, raw: bool) -> None:
    found = ndjson([{"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}])
    assert found.recording is not None
    assert found.recording.text == (content if raw else None)


def named(name: str | None, content: str, finish: str | None = None) -> dict[str, Any]:
    return {"id": name, **chat(content=content)} | {
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]
    }


def test_chunks_without_an_id_go_with_the_one_before() -> None:
    found = log([named("a", "<think>"), named(None, "x"), named("", "y", "stop")])
    assert [output.text for output in found.outputs] == ["<think>xy"]
    assert "2 chunks without an id" in found.message


def test_an_id_for_each_chunk_is_one_response() -> None:
    found = log([named(f"c{at}", "<think>") for at in range(5)])
    assert [output.text for output in found.outputs] == ["<think>" * 5]
    assert "ids_differ" in [warn.code for warn in found.warnings]


def test_a_server_that_repeats_the_role_begins_nothing_anew() -> None:
    role = {"role": "assistant", "content": "<think>"}
    every = [{"id": "r", "choices": [{"delta": role, "finish_reason": finish}]} for finish in (None, "stop", None)]
    assert [output.text for output in log(every).outputs] == ["<think>" * 3]
    assert len(log([every[1], every[0] | {"usage": {"completion_tokens": 1}}]).outputs) == 1
    assert len(log([every[1], every[0]]).outputs) == 2


def test_several_choices_in_one_chunk_are_parted() -> None:
    both = {"id": "r", "choices": [{"index": at, "delta": {"content": "<think>"}} for at in (0, 1)]}
    found = log([both])
    assert [output.stream for output in found.outputs] == [
        ({"id": "r", "choices": [choice]},) for choice in both["choices"]
    ]


def test_of_many_outputs_only_the_first_warnings_are_told() -> None:
    answer = {"choices": [{"message": {"content": "x"}}]}
    found = ndjson([answer] * 9)
    assert len(found.outputs) == 9
    assert [warn.code for warn in found.warnings].count("no_finish") == 3


VERBOSE = {"content": "<think>a</think>", "prompt": "<|user|>", "tokens": [4, 5]}
# what llama.cpp says beside its answer; text, ids, prompt
BESIDE: list[tuple[dict[str, Any], str | None, tuple[int, ...] | None, str | None]] = [
    (VERBOSE, "<think>a</think>", (4, 5), "<|user|>"),
    (VERBOSE | {"tokens": []}, "<think>a</think>", None, "<|user|>"),
    ({"content": "", "prompt": "p"}, None, None, "p"),
    ({"content": "\ud83d"}, "\ufffd", None, None),
]


@pytest.mark.parametrize(("verbose", "text", "ids", "prompt"), BESIDE)
def test_a_verbose_llama_cpp_says_the_raw_text_itself(
    verbose: dict[str, Any], text: str | None, ids: tuple[int, ...] | None, prompt: str | None
) -> None:
    message = {"reasoning_content": "a", "content": None}
    found = ndjson([{"choices": [{"message": message, "finish_reason": "stop"}], "__verbose": verbose}])
    assert found.recording is not None
    assert (found.recording.text, found.recording.ids, found.recording.prompt_text) == (text, ids, prompt)
    assert found.facts[0].certainty == ("assumed" if text else "missing")


def test_an_error_in_place_of_a_chunk_ends_the_answer_that_had_begun() -> None:
    error = {"error": {"message": "engine died", "code": 500}}
    found = log([error, step(content="a"), error])
    assert found.recording is not None
    assert found.recording.stream == (step(content="a"), error)
    assert not log([error, error]).usable


def test_an_error_event_that_is_no_error_object_is_no_chunk_of_the_answer() -> None:
    old = {"object": "error", "message": "engine died"}
    assert (found := log([step(content="a"), old])).recording is not None
    assert found.recording.stream == (step(content="a"), old)
    odd = f"data: {json.dumps(step(content='a'))}\n\nevent: error\ndata: {json.dumps({'detail': 'x'})}\n\n"
    assert (found := recognise(odd.encode(), pasted=False)).recording is not None
    assert found.recording.stream == (step(content="a"),)


def test_calls_that_are_none_begin_no_answer_in_its_middle() -> None:
    odd = [{"delta": {"tool_calls": one}} for one in ([], ["x"], [{"function": "x"}], "x")]
    for choice in odd:
        found = log([{"object": "chat.completion.chunk", "choices": [choice]}])
        assert all(not output.gaps for output in found.outputs)


@pytest.mark.parametrize(("number", "gaps"), [(0, True), (1, True), (None, False)])
def test_a_chunk_that_lost_a_brace_is_missing_from_the_recording(number: int | None, *, gaps: bool) -> None:
    lines = [json.dumps(step(content=text)) for text in "abc"]
    lines = [line[:-1] if at == number else line for at, line in enumerate(lines)]
    found = recognise("".join([f"data: {line}\n\n" for line in lines]).encode(), pasted=True)
    assert [output.gaps for output in found.outputs] == [gaps]


DONE = "data: [DONE]\n\n"
NAMED_A, NAMED_B = ({**step(content=text), "id": text} for text in "ab")
# lines of a log, whether the stream's own end follows each output, and what is said of the missing reason
ENDS = [
    ([step(content="a"), DONE], [True], "It has no finish reason."),
    ([step(content="a")], [False], "the stream broke off"),
    ([DONE, step(content="a")], [False], "the stream broke off"),
    ([step(content="a"), DONE, step(content="b")], [True, False], "It has no finish reason."),
    ([NAMED_A, DONE, NAMED_B, DONE], [True, True], "It has no finish reason."),
    ([NAMED_A, DONE, NAMED_B], [True, False], "It has no finish reason."),
]


@pytest.mark.parametrize(("lines", "done", "words"), ENDS)
def test_the_end_of_a_stream_belongs_to_what_came_before_it(lines: list[Any], done: list[bool], words: str) -> None:
    text = "".join([line if isinstance(line, str) else f"data: {json.dumps(line)}\n\n" for line in lines])
    found = recognise(text.encode(), pasted=False)
    assert [output.done for output in found.outputs] == done
    assert words in next(warn.words for warn in found.warnings if warn.code == "no_finish")


def test_the_end_of_chat_chunks_is_none_of_another_apis_stream() -> None:
    events: Payloads = [{"type": "message_start", "message": {"id": "m"}}]
    assert not any(output.done for output in log(events).outputs)


def _chunk(name: str, delta: dict[str, Any], reason: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    return {"id": name, "object": "chat.completion.chunk", "choices": [choice]}


_BEGIN: dict[str, Any] = {"role": "assistant", "content": ""}
_HI: dict[str, Any] = {"content": "Hi."}
_ENDED = [_chunk("a", _BEGIN), _chunk("a", {}, "stop")]


@pytest.mark.parametrize(
    ("stream", "at"),
    [
        ([*_ENDED, _chunk("b", _BEGIN), _chunk("b", _HI), _chunk("b", {}, "stop")], 1),
        ([_chunk("a", _BEGIN), _chunk("b", _BEGIN), _chunk("b", _HI), _chunk("a", {}, "stop")], 1),
        ([_chunk("a", _BEGIN), _chunk("a", _HI, None, 1), _chunk("a", {}, "stop")], 1),
        ([_chunk("a", _HI), _chunk("a", {}, "stop"), *[{**one, "id": "b"} for one in _ENDED]], 0),
        ([*_ENDED, *[{**one, "id": "b"} for one in _ENDED]], 0),
        (_ENDED, 0),
    ],
)
def test_an_answer_that_says_nothing_hides_no_other_one(stream: list[dict[str, Any]], at: int) -> None:
    found = recognise("".join(f"data: {json.dumps(one)}\n\n" for one in stream).encode(), pasted=False)
    assert found.at == at
    assert found.recording is found.outputs[at]


def test_of_texts_the_first_that_is_not_empty_is_meant() -> None:
    choices = [{"index": at, "text": text, "finish_reason": "stop"} for at, text in enumerate(("", "Hi."))]
    found = recognise(json.dumps({"id": "a", "object": "text_completion", "choices": choices}).encode(), pasted=False)
    assert found.at == 1
    assert found.recording is not None
    assert found.recording.text == "Hi."


def test_what_is_counted_of_all_choices_is_not_said_of_one() -> None:
    answers = [
        {"index": at, "message": {"content": text}, "finish_reason": "stop"} for at, text in enumerate(("a", ""))
    ]
    found = ndjson([{"choices": answers, "usage": {"completion_tokens": 9}}])
    assert [output.stream for output in found.outputs] == [({"choices": [answer]},) for answer in answers]
