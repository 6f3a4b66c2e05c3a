"""Recordings that are no OpenAI log, a file of each shape: what each is taken for, and what damaged ones say."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from parsers.intake import Intake, recognise
from parsers.vocabulary.types import Piece, Recording
from tests.amount import every
from tests.parsers.intake.recognise_files import CALL, EXPECTED, FILES, LONG, PARTS, Out, Row


def read(name: str) -> str:
    return (FILES / f"other_{name}").read_text("utf-8")


def taken(text: str, *, pasted: bool = True) -> Intake:
    return recognise(text.encode(), pasted=pasted)


def shown(output: Recording) -> Out:
    deltas = None if output.deltas is None else [delta.text for delta in output.deltas]
    chunks = None if output.stream is None else len(output.stream)
    return Out(output.text, output.ids, output.counts, deltas, chunks, output.finish_reason, output.label)


def test_every_file_is_in_the_table() -> None:
    assert sorted(path.name.removeprefix("other_") for path in FILES.glob("other_*")) == [row.name for row in EXPECTED]


@pytest.mark.parametrize("row", EXPECTED, ids=[row.name for row in EXPECTED])
def test_each_file_is_taken_for_what_it_is(row: Row) -> None:
    found = taken(read(row.name), pasted=False)
    assert (found.kind, found.usable) == (row.kind, True)
    assert [shown(output) for output in found.outputs] == row.outputs
    assert [warn.code for warn in found.warnings] == list(row.warnings)
    assert (found.captures[0].server if found.captures else None) == row.server
    assert found.why
    assert found.readings[-1].kind == "raw_text"


def first(name: str) -> Recording:
    found = taken(read(name), pasted=False).recording
    assert found is not None
    return found


def test_a_record_of_a_replay_brings_the_request_with_it() -> None:
    for name in ("replay_record.json", "replay_record.txt"):
        record = first(name)
        assert record.request is not None
        assert (record.request.model, record.prompt_ids) == ("Qwen/Qwen3-8B", (151644, 872, 198))
        assert [tool["function"]["name"] for tool in record.request.tools or ()] == ["get_weather"]


@pytest.mark.parametrize(
    "name", ["vllm_log.txt", "sglang_log.txt", "sglang_log.ndjson", "llama_cpp.sse", "vllm_offline.txt"]
)
def test_the_prompt_is_taken_from_where_it_stands(name: str) -> None:
    assert first(name).prompt_text == "<|im_start|>assistant\n"


def test_bytes_of_probabilities_are_tokens_even_inside_a_character() -> None:
    rain = "🌦".encode()
    assert first("llama_cpp.json").pieces == (
        Piece("<think>", 151667, b"<think>", recorded=True),
        Piece("", 8, rain[:2], "partial", recorded=True),
        Piece("🌦", 9, rain[2:], recorded=True),
        Piece("</think>", 151668, b"</think>", recorded=True),
    )


def test_special_tokens_of_tgi_are_kept_as_such() -> None:
    for name in ("tgi.sse", "tgi.json"):
        kinds = [piece.kind for piece in first(name).pieces or ()]
        assert kinds == ["special", "text", "text", "special", "special"]


def test_calls_of_ollama_become_an_openai_stream() -> None:
    choices = [chunk["choices"][0] for chunk in first("ollama_chat.ndjson").stream or ()]
    assert [choice["delta"].get("reasoning") for choice in choices] == ["Rain?", None, None, None]
    assert [call for choice in choices for call in choice["delta"].get("tool_calls", [])] == [
        {"index": 0, "id": "call_0", "type": "function",
         "function": {"name": "get_weather", "arguments": '{"city": "Zürich"}'}},
        {"index": 1, "id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
    ]  # fmt: skip
    assert [choice["finish_reason"] for choice in choices] == [None, None, None, "tool_calls"]


def test_printed_objects_become_the_chunks_they_were() -> None:
    calls = [
        call for chunk in first("openai_deltas.txt").stream or () for call in chunk["choices"][0]["delta"]["tool_calls"]
    ]
    assert "".join(call["function"]["arguments"] for call in calls) == '{"city": "Zürich"}'
    assert calls[0] == {
        "index": 0, "id": "call_1", "function": {"arguments": "", "name": "get_weather"}, "type": "function",
    }  # fmt: skip
    chunks = [chunk["choices"][0]["delta"] for chunk in first("langchain_chunks.txt").stream or ()]
    assert [call for delta in chunks for call in delta.get("tool_calls", ())] == [
        {"index": 0, "id": "call_1", "function": {"name": "get_weather"}},
        {"index": 0, "id": None, "function": {"arguments": '{"city": '}},
        {"index": 0, "id": None, "function": {"arguments": '"Zürich"}'}},
    ]
    (answer,) = first("openai_message.txt").stream or ()
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_weather"
    parts = [chunk["choices"][0]["delta"] for chunk in first("sglang_results.txt").stream or ()]
    assert parts == [
        {"content": "Hi"},
        {"content": None, "tool_calls": [{"index": 0, "function": {"name": "get_weather"}}]},
        {"content": None, "tool_calls": [{"index": 0, "function": {"arguments": '{"city": 1}'}}]},
    ]


def test_a_message_of_langchain_is_the_answer_it_was_made_of() -> None:
    (answer,) = first("langchain_message.txt").stream or ()
    assert answer["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Let me look.",
        "reasoning_content": "Rain?",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city": "Zürich"}'},
            },
            {"id": "call_2", "type": "function", "function": {"name": "get_time", "arguments": '{"zone": '}},
        ],
    }


def test_cases_of_dynamo_bring_tools_state_and_expectation() -> None:
    unified = first("unified.yaml")
    assert unified.request is not None
    assert unified.request.tools == (CALL,)
    assert unified.request.tool_choice == {"type": "function", "function": {"name": "f"}}
    assert unified.request.reasoning_open is True
    assert unified.expect == {
        "content": None, "reasoning": "thinking", "tool_calls": [{"name": "f", "arguments": {"x": 1}}],
        "events": [
            {"kind": "reasoning", "text": "thinking"},
            {"kind": "tool_call", "name": "f", "arguments": {"x": 1}},
        ],
    }  # fmt: skip
    cut, none = taken(read("dynamo_stream.yaml")).outputs
    assert (cut.expect, none.expect) == ({"content": None, "tool_calls": []}, None)
    assert first("dynamo_batch.yaml").expect == {
        "content": "done", "tool_calls": [{"name": "f", "arguments": {"n": 1}}],
    }  # fmt: skip


def test_what_a_log_cut_is_told_and_only_its_beginning_is_used() -> None:
    for name in ("sglang_level2.txt", "sglang_level2.ndjson"):
        found = taken(read(name))
        assert [fact.certainty for fact in found.facts if fact.about == "text"] == ["lossy"]
        assert found.recording is not None
        assert (found.recording.text, found.recording.finish_reason) == (LONG, None)


# Damage, and what it does: to the text as a whole, and a warning or title that names it.
WHOLE = ("text", "ids")
DAMAGE: list[tuple[str, Callable[[str], str], str]] = [
    ("list.txt", lambda t: t[: len(t) - 12], "breaks off"),
    ("list.json", lambda t: t[: len(t) - 12], "breaks off"),
    ("list.txt", lambda t: ">>> deltas\n" + t + ">>> exit()\n", "6 deltas"),
    ("list.txt", lambda t: t + t, "2 lists of strings, 12 deltas"),
    ("repr.txt", lambda t: t[:-10], "no closing quote"),
    ("repr_lines.txt", lambda t: t[:-8], "breaks off"),
    ("bytes.txt", lambda t: t.replace("\\x9f", ""), "U+FFFD"),
    ("delta_text.txt", lambda t: "INFO 11-22 03:11:12 started\n" + t, "1 line of other messages"),
    ("delta_text_quoted.txt", lambda t: t[:-5], "breaks off"),
    ("ids.json", lambda t: t[:-10], "no closing bracket"),
    ("ids_chunked.json", lambda t: t[:-10], "no closing bracket"),
    ("ids_tensor.txt", lambda t: t.replace("52352, ", "..., "), "`...`"),
    ("ids.json", lambda t: t.replace("198", "-100"), "no token id"),
    ("ids.json", lambda t: t.replace("151667", "3000000"), "no vocabulary is that large"),
    ("ids.json", lambda t: t + t, "It is 2 lists"),
    ("replay_record.json", lambda t: t.replace('lens": [\n  2', 'lens": [\n  1'), "add up to 14"),
    ("replay_record.json", lambda t: t.replace("output_chunk_lens", "other"), "without output_chunk_lens"),
    ("replay_record.json", lambda t: t[: t.index("chat_request")], "record breaks off"),
    ("replay_record.json", lambda t: t + t, "2 replay records"),
    ("derender.sse", lambda t: t[:-200], "record breaks off"),
    ("vllm_log.txt", lambda t: t[: t.index("</tool_call>") + 3], "no closing quote"),
    ("vllm_log.txt", lambda t: t + t.replace("chatcmpl-9", "chatcmpl-8"), "2 outputs"),
    ("sglang_log.txt", lambda t: t[: t.index("</tool_call>")], "no closing quote"),
    ("sglang_log.txt", lambda t: t + t, "2 outputs"),
    ("sglang_log.txt", lambda t: t.replace("(rid=", "(!rid="), "1 output"),
    ("sglang.sse", lambda t: t.replace("<think>\\nRain", "<think>Rain", 1), "changed what an earlier one said"),
    ("sglang.sse", lambda t: t[:-150], "breaks off"),
    ("llama_cpp.sse", lambda t: t + t, "SSE log, 14 chunks"),
    ("llama_cpp.sse", lambda t: t[:-120], "breaks off"),
    ("llama_cpp_error.json", lambda t: t[:-30], "breaks off"),
    ("llama_cpp_tokens.txt", lambda t: t[:-2], "breaks off"),
    ("llama_cpp_verbose.txt", lambda t: t + t, "2 outputs"),
    ("ollama_error.json", lambda t: t[: t.index("', err=")], "its end is missing"),
    ("ollama_generate.ndjson", lambda t: t[:-80], "breaks off"),
    ("lm_studio.txt", lambda t: t + t.replace("Zürich", "Bern"), "2 outputs"),
    ("browser.har", lambda t: t[: t.index("content", t.index("event-stream"))], "JSON breaks off"),
    ("browser.har", lambda t: t.replace("choices", "other"), "HAR file without a model's answer"),
    ("litellm.txt", lambda t: t[:-30], "object breaks off"),
    ("langchain_chunks.txt", lambda t: t[:-30], "object breaks off"),
    ("langchain_bare.txt", lambda t: t[:-30], "object breaks off"),
    ("langchain_bare_chunks.txt", lambda t: t[:-20], "object breaks off"),
    ("langchain_bare_chunks.txt", lambda t: t + "content=more additional_kwargs=\n", "6 printed objects"),
    ("docker_json.txt", lambda t: t[: t.index("DONE") - 60], "no `data: [DONE]`"),
    ("log_lines.ndjson", lambda t: t + "{not JSON}\n" + '{"level": "info"}\n', "7 OpenAI chat objects"),
    ("openai_deltas.txt", lambda t: t[:-30], "object breaks off"),
    ("openai_deltas.txt", lambda t: t + "ChoiceDeltaToolCall(index=0, ...more)\n", "1 object cannot be read"),
    ("openai_chunks.txt", lambda t: t + t.replace("chatcmpl-5", "chatcmpl-6"), "6 printed objects"),
    ("tgi.sse", lambda t: t.replace("Rain", "\\ufffd"), "U+FFFD"),
    ("dynamo_batch.yaml", lambda t: t[: t.index("done'") - 8], "no whole YAML"),
    ("unified.yaml", lambda t: t.replace("delta_text: thinking", "delta_text: think"), "do not add up"),
]  # fmt: skip


@pytest.mark.replays
@pytest.mark.parametrize(("name", "damage", "words"), DAMAGE, ids=[f"{row[0]} {row[2]}" for row in DAMAGE])
def test_damage_is_named_and_what_is_whole_is_used(name: str, damage: Callable[[str], str], words: str) -> None:
    found = taken(damage(read(name)))
    assert words in found.message
    whole, part = first(name), found.recording
    if part is None:
        assert not found.usable
        return
    assert part.text is None or whole.text is None or prefixed(whole.text, part.text)


def prefixed(whole: str, part: str) -> bool:
    """Whether the part is a beginning of the whole, up to what was lost on purpose."""
    return whole.startswith(part) or "\ufffd" in part or part == whole.replace("\n", "", 1) or part.startswith("think<")


COUNTED = ("vllm_log.txt", "sglang_log.txt", "langchain_bare_chunks.txt")  # their cuts reach lines that no others do


@pytest.mark.parametrize("name", [row.name for row in EXPECTED])
@pytest.mark.replays(but=COUNTED)
def test_a_file_cut_anywhere_is_still_told(name: str) -> None:
    text = read(name)
    ends = range(0, len(text), max(1, len(text) // 25))
    for end in ends if name in COUNTED else every(6, ends, start=len(name)):
        found = taken(text[:end])
        assert found.message.startswith("Recognised: ")
        for output in found.outputs:
            assert output.deltas is None or "".join([delta.text for delta in output.deltas]) == output.text
            assert output.counts is None or sum(output.counts) == len(output.ids or ())


def test_take_as_chooses_another_reading() -> None:
    text = json.dumps(PARTS)
    found = recognise(text.encode(), pasted=True, take_as="raw_text")
    assert (found.kind, found.recording and found.recording.text) == ("raw_text", text)
    assert [reading.kind for reading in found.readings] == ["chunk_list"]


def test_each_of_several_outputs_has_a_name_of_its_own() -> None:
    file = FILES / "other_llama_cpp_tokens.txt"
    found = recognise(file.read_bytes()[28:], pasted=False)
    assert [output.label for output in found.outputs] == ["output 1", "task 7"]
