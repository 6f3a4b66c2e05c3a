"""Logs of OpenAI's API as servers write them: what each file is taken for, and what its damaged variants say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.intake import Intake, recognise
from parsers.vocabulary.types import Recording
from tests.amount import every

FILES = Path(__file__).parent / "files"
VLLM_IDS = (151667, 10380, 432, 705, 151668, 151657, 4913, 8926, 151658, 151645)
CALLS = '<think>hm</think>\n<tool_call>{"name": "f", "arguments": {}}</tool_call>'

# name, kind, [(label, text, ids, counts, deltas, chunks, finish reason)], warnings, server whose command comes first
Output = tuple[
    str, str | None, tuple[int, ...] | None, tuple[int, ...] | None, list[str] | None, int | None, str | None
]
EXPECTED: list[tuple[str, str, list[Output], list[str], str | None]] = [
    ("vllm_chat.sse", "sse_log", [("", None, VLLM_IDS, (2,) * 5, None, 7, "tool_calls")], [], "vLLM"),
    (
        "vllm_chat_swallowed.sse", "sse_log",
        [("", None, (151667, 10380, 432, 705, 8926, 151658, 151645), (2, 2, 1, 2), None, 7, "tool_calls")],
        ["ids_swallowed"], "vLLM",
    ),
    (
        "vllm_chat.json", "json_response",
        [("", None, (151667, 80022, 151668, 151657, 151658), None, None, 1, "tool_calls")], [], "vLLM",
    ),
    (
        "logprobs.sse", "sse_log",
        [("", "<think>ok</think>🌦", None, None, ["<think>ok", "</think>🌦"], 4, "stop")], [], None,
    ),
    (
        "logprobs_lossy.sse", "sse_log", [("", "Rain \ufffd\ufffd", None, None, None, 3, "stop")],
        ["lossy_bytes"], "any OpenAI-compatible server",
    ),
    ("token_id_names.sse", "sse_log", [("", None, (13048, 498, 151645), (1, 2), None, 2, "stop")], [], "vLLM"),
    ("sglang_chat.json", "json_response", [("", None, (17453, 151336), None, None, 1, "stop")], [], "SGLang"),
    (
        "sglang_sglext.sse", "sse_log", [("", None, (9, 17453, 151336), None, None, 5, "stop")],
        ["ids_without_chunks"], "SGLang",
    ),
    (
        "sglang_event.sse", "sse_log", [("", None, (9, 17453, 151336), None, None, 5, "stop")],
        ["ids_without_chunks"], "SGLang",
    ),
    (
        "unparsed.sse", "sse_log",
        [("", CALLS, None, None, [CALLS[:14], CALLS[14:29], CALLS[29:]], 5, "stop")],
        [], "any OpenAI-compatible server",
    ),
    (
        "plain.sse", "sse_log", [("", None, None, None, None, 4, "stop")],
        ["no_markers"], "any OpenAI-compatible server",
    ),
    (
        "two_choices.sse", "sse_log",
        [("choice 1", None, (1, 9), (1, 1), None, 3, "stop"), ("choice 2", None, (2,), (1, 0), None, 3, "length")],
        ["several"], "vLLM",
    ),
    (
        "two_responses.sse", "sse_log",
        [
            ("response 1", "<think>one", None, None, ["<think>one"], 3, "stop"),
            ("response 2", "<think>two", None, None, ["<think>two"], 3, "stop"),
        ],
        ["several"], "any OpenAI-compatible server",
    ),
    (
        "interleaved.sse", "sse_log",
        [
            ("response 1", "<think>one", None, None, ["<think>one"], 3, "stop"),
            ("response 2", "<think>two", None, None, ["<think>two"], 3, "stop"),
        ],
        ["interleaved", "several"], "any OpenAI-compatible server",
    ),
    (
        "completions.sse", "sse_log",
        [
            (
                "", "<think>ok</think><|im_end|>", (151667, 562, 151668, 151645), (1, 2, 1),
                ["<think>", "ok</think>", "<|im_end|>"], None, "stop",
            )
        ],
        ["special_tokens_asked"], "vLLM",
    ),
    (
        "completions.json", "json_response", [("", "[TOOL_CALLS]f{}", None, None, None, None, "stop")],
        ["special_tokens_asked"], "any OpenAI-compatible server",
    ),
    ("curl_verbose.txt", "sse_log", [("", None, VLLM_IDS, (2,) * 5, None, 7, "tool_calls")], ["secret"], "vLLM"),
    (
        "curl_heredoc.txt", "sse_log",
        [("", "a</think>b", (1, 2, 3), (2, 1), ["a</think>", "b"], None, "stop")], [], None,
    ),
    ("request_first.txt", "sse_log", [("", None, VLLM_IDS, (2,) * 5, None, 7, "tool_calls")], [], "vLLM"),
    ("request_last.txt", "sse_log", [("", None, VLLM_IDS, (2,) * 5, None, 7, "tool_calls")], [], "vLLM"),
    ("request.json", "request", [], [], "any OpenAI-compatible server"),
    (
        "printed_bytes.txt", "sse_log", [("", "<think>one", None, None, ["<think>one"], 3, "stop")],
        [], "any OpenAI-compatible server",
    ),
    (
        "prefixed.txt", "sse_log", [("", "<think>one", None, None, ["<think>one"], 3, "stop")],
        ["prefixed"], "any OpenAI-compatible server",
    ),
    ("chunks.ndjson", "ndjson_log", [("", None, VLLM_IDS, (2,) * 5, None, 7, "tool_calls")], [], "vLLM"),
    (
        "midstream_error.sse", "sse_log", [("", None, VLLM_IDS[:6], (2,) * 3, None, 5, None)],
        ["error", "no_done", "no_finish"], "vLLM",
    ),
    (
        "bad_chunk.sse", "sse_log",
        [("", None, VLLM_IDS[:2] + VLLM_IDS[4:], (2,) * 4, None, 6, "tool_calls")],
        ["bad_chunk", "ids_swallowed"], "vLLM",
    ),
    (
        "responses.sse", "sse_log", [("", None, (200005, 35644, 200012), None, None, 7, "tool_calls")],
        ["ids_without_chunks"], "any OpenAI-compatible server",
    ),
    (
        "responses.json", "json_response", [("", None, None, None, None, 1, "length")],
        [], "any OpenAI-compatible server",
    ),
    (
        "anthropic.sse", "sse_log", [("", None, None, None, None, 5, "tool_calls")],
        [], "any OpenAI-compatible server",
    ),
    (
        "anthropic.json", "json_response", [("", None, None, None, None, 1, "length")],
        ["arguments_rewritten"], "any OpenAI-compatible server",
    ),
]  # fmt: skip
NAMES = [name for name, *_ in EXPECTED]


def data_of(name: str) -> bytes:
    return (FILES / name).read_bytes()


def read(data: bytes) -> Intake:
    return recognise(data, pasted=False)


def shape(output: Recording) -> Output:
    return (
        output.label,
        output.text,
        output.ids,
        output.counts,
        None if output.deltas is None else [delta.text for delta in output.deltas],
        None if output.stream is None else len(output.stream),
        output.finish_reason,
    )


def codes(found: Intake) -> list[str]:
    return [warn.code for warn in found.warnings]


@pytest.mark.parametrize(("name", "kind", "outputs", "warnings", "server"), EXPECTED, ids=NAMES)
def test_each_file_is_taken_for_what_it_is(
    name: str, kind: str, outputs: list[Output], warnings: list[str], server: str | None
) -> None:
    found = read(data_of(name))
    assert (found.kind, found.usable) == (kind, bool(outputs))
    assert [shape(output) for output in found.outputs] == outputs
    assert codes(found) == warnings
    assert (found.captures[0].server if found.captures else None) == server
    assert found.readings[-1].kind == "raw_text"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.replays
def test_pasted_with_the_line_ends_of_browsers_it_is_the_same(name: str) -> None:
    plain, pasted = read(data_of(name)), recognise(data_of(name).replace(b"\n", b"\r\n"), pasted=True)
    assert [shape(output) for output in pasted.outputs] == [shape(output) for output in plain.outputs]
    uploaded = read(data_of(name).replace(b"\n", b"\r\n"))
    assert [shape(output) for output in uploaded.outputs] == [shape(output) for output in plain.outputs]


def test_the_chunks_are_kept_as_they_came() -> None:
    sent = [json.loads(line[6:]) for line in data_of("vllm_chat.sse").decode().split("\n\n")[:-2]]
    found = read(data_of("vllm_chat.sse"))
    assert found.recording is not None
    assert list(found.recording.stream or ()) == sent
    assert (found.recording.prompt_ids, found.recording.prompt_text) == ((151644, 872, 198), "<|im_start|>user\n")
    assert found.recording.request is not None
    assert found.recording.request.model == "Qwen/Qwen3-8B"


def test_true_bytes_become_tokens_that_say_where_a_character_is_cut() -> None:
    found = read(data_of("logprobs.sse"))
    assert found.recording is not None
    pieces = found.recording.pieces or ()
    assert [(piece.text, piece.raw, piece.kind, piece.recorded) for piece in pieces] == [
        ("<think>", b"<think>", "text", True), ("ok", b"ok", "text", True), ("</think>", b"</think>", "text", True),
        ("", b"\xf0\x9f", "partial", True), ("🌦", b"\x8c\xa6", "text", True),
    ]  # fmt: skip
    assert found.facts[0].certainty == "exact"


@pytest.mark.parametrize("name", ["sglang_chat.json", "sglang_sglext.sse", "sglang_event.sse"])
def test_sglang_tells_the_stop_token_and_the_prompt(name: str) -> None:
    found = read(data_of(name))
    assert found.recording is not None
    assert (found.recording.stop_reason, found.recording.prompt_ids) == (151336, (5, 6))


# What each fact is worth, in their order: text, ids, deltas, server, tools, start, finish.
FACTS = [
    ("vllm_chat.sse", "missing exact exact exact missing exact exact"),
    ("vllm_chat_swallowed.sse", "missing lossy exact exact missing exact exact"),
    ("logprobs.sse", "exact missing exact exact missing assumed exact"),
    ("logprobs_lossy.sse", "lossy missing missing exact missing assumed exact"),
    ("unparsed.sse", "assumed missing exact exact missing assumed exact"),
    ("plain.sse", "missing missing missing exact missing assumed exact"),
    ("completions.sse", "assumed exact exact missing missing exact exact"),
    ("curl_verbose.txt", "missing exact exact exact exact exact exact"),
    ("curl_heredoc.txt", "exact exact exact missing missing exact exact"),
    ("midstream_error.sse", "missing exact exact exact missing exact missing"),
    ("vllm_chat.json", "missing exact missing exact missing exact exact"),
]


@pytest.mark.parametrize(("name", "certainties"), FACTS)
def test_the_facts_say_how_sure_each_part_is(name: str, certainties: str) -> None:
    found = read(data_of(name))
    assert [fact.about for fact in found.facts] == ["text", "ids", "deltas", "server", "tools", "start", "finish"]
    assert " ".join(fact.certainty for fact in found.facts) == certainties


def test_a_secret_stays_out_of_everything_that_is_handed_on() -> None:
    data = data_of("curl_verbose.txt")
    for found in (read(data), recognise(data, pasted=True, take_as="raw_text")):
        assert "sk-not" not in repr(found)
        assert "secret" in codes(found)


# Damage -----------------------------------------------------------------------------------------------------------

LOGS = [name for name, kind, *_ in EXPECTED if kind != "request"]
STREAMS = [name for name in LOGS if not name.endswith(("json", "_last.txt", "anthropic.sse"))]
SURE = {"no_done", "no_finish", "cut_line", "cut_json", "ids_swallowed", "other_lines", "bad_chunk"}


def is_part(part: Intake, whole: Intake) -> bool:
    """Whether every output of `part` is the beginning of one of `whole`, or some of its chunks."""
    return all(any(_begins(one, other) for other in whole.outputs) for one in part.outputs if one.stream or one.text)


def _begins(one: Recording, other: Recording) -> bool:
    stream = list(other.stream or ())
    chunks = all(chunk in stream or "choices" not in chunk for chunk in one.stream or ())
    ids = one.ids is None or other.ids is None or set(one.ids) <= set(other.ids)
    # A broken-off log may show too few markers, or no finish reason, to tell parsed content from raw text.
    text = one.text is None or other.text is None or other.text.startswith(one.text)
    return (chunks or one.kind == "json_response") and ids and text


@pytest.mark.replays
@pytest.mark.parametrize("name", LOGS)
def test_cut_anywhere_it_says_so_and_keeps_what_is_whole(name: str) -> None:
    data, whole = data_of(name), read(data_of(name))
    for at in every(8, range(40, len(data.rstrip()) - 15, 40), start=len(name)):
        found = read(data[:at].decode(errors="ignore").encode())
        ended = b"[DONE]" in data[:at] and b"data:" not in data[:at].rpartition(b"[DONE]")[2]
        if found.kind == whole.kind and found.outputs and not ended:
            assert is_part(found, whole), at
            assert SURE & set(codes(found)), (at, found.message)


@pytest.mark.replays
@pytest.mark.parametrize("name", STREAMS)
def test_without_its_last_line_it_says_so(name: str) -> None:
    lines = data_of(name).decode().rstrip().split("\n")
    cut = lines[: max(at for at, line in enumerate(lines) if "data:" in line)]
    found = read("\n".join(cut).encode())
    assert is_part(found, read(data_of(name)))
    assert SURE & set(codes(found)), found.message


NOISE = "WARNING 11-22 03:14:07 something else was printed here\n"
Damage = Callable[[list[str]], list[str]]
# what is done to the lines of a log, and the warning that names it
DAMAGES: list[tuple[str, Damage, str]] = [
    ("noise", lambda lines: [lines[0], NOISE.strip(), *lines[1:]], "other_lines"),
    ("error", lambda lines: [*lines[:-4], 'data: {"error":{"message":"out of memory","code":500}}'], "error"),
    ("half a chunk", lambda lines: [lines[0], lines[2][: len(lines[2]) // 2], *lines[3:]], "bad_chunk"),
    ("curl's error", lambda lines: [*lines, "curl: (18) transfer closed with outstanding read data"], "curl_error"),
    ("doubled", lambda lines: lines * 2, "several"),
]


@pytest.mark.parametrize("name", ["vllm_chat.sse", "unparsed.sse", "plain.sse", "logprobs.sse", "two_choices.sse"])
@pytest.mark.parametrize(("damage", "code"), [each[1:] for each in DAMAGES], ids=[each[0] for each in DAMAGES])
@pytest.mark.replays
def test_damage_is_named_and_the_rest_is_used(name: str, damage: Damage, code: str) -> None:
    found = read("\n".join(damage(data_of(name).decode().split("\n"))).encode())
    assert code in codes(found), found.message
    assert found.usable
    if code != "bad_chunk":
        assert is_part(found, read(data_of(name)))


def test_a_bad_chunk_is_named_with_its_line() -> None:
    found = read(data_of("bad_chunk.sse"))
    assert "1 chunk cannot be read and was skipped (line 5)" in found.message


def test_the_error_of_the_server_is_quoted() -> None:
    assert "The server sent an error (line 9): engine died" in read(data_of("midstream_error.sse")).message


def test_the_same_log_twice_is_two_responses() -> None:
    found = read(data_of("vllm_chat.sse") * 2)
    assert [output.label for output in found.outputs] == ["response 1", "response 2"]
    assert [output.ids for output in found.outputs] == [VLLM_IDS, VLLM_IDS]
