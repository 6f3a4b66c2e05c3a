"""The recordings that are no OpenAI log, and what each is taken for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FILES = Path(__file__).parent / "files"
PARTS = [
    "<think>\n", "Rain? 🌦", "\n</think>\n\n", '<tool_call>\n{"name": "get_',
    'weather", "arguments": {"city": "Zürich"}}', "\n</tool_call>",
]  # fmt: skip
TEXT = "".join(PARTS)
LONG = "<think>" + "a" * 1017
IDS = (151667, 198, 59039, 30, 52352, 198, 151668, 271, 151657, 198, 4913, 606, 788, 330, 151658)
COUNTS = (2, 3, 3, 3, 3, 1)
CALL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

ANY = "any OpenAI-compatible server"


class Out(NamedTuple):
    """What is taken out of a file for one output."""

    text: str | None = None
    ids: tuple[int, ...] | None = None
    counts: tuple[int, ...] | None = None
    deltas: list[str] | None = None
    chunks: int | None = None
    finish: str | None = None
    label: str = ""


class Row(NamedTuple):
    """A file, what it is taken for, and the server whose capture command comes first."""

    name: str
    kind: str
    outputs: list[Out]
    warnings: Sequence[str] = ()
    server: str | None = None


EXPECTED = [
    Row(
        "browser.har",
        "sse_log",
        [Out(TEXT, deltas=PARTS, chunks=7, finish="stop")],
        warnings=["har_secrets"],
        server=ANY,
    ),
    Row("bytes.txt", "text_literal", [Out(TEXT)]),
    Row("delta_text.txt", "chunk_list", [Out(TEXT, deltas=PARTS)], warnings=["unquoted"]),
    Row("delta_text_quoted.txt", "chunk_list", [Out(TEXT, deltas=PARTS)], warnings=["other_lines"]),
    Row("derender.sse", "replay_record", [Out(ids=IDS, counts=COUNTS, chunks=6)], server="vLLM"),
    Row("docker_json.txt", "sse_log", [Out(chunks=7, finish="tool_calls")], server=ANY),
    Row(
        "dynamo_batch.yaml",
        "dynamo_yaml",
        [Out('<tool_call>{"name": "f", "arguments": {"n": 1}}</tool_call> done', label="PARSER.batch.1.x")],
    ),
    Row(
        "dynamo_stream.yaml",
        "dynamo_yaml",
        [
            Out(
                '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a',
                deltas=[
                    "<|tool_calls_section_begin|><|tool_call_begin|>func",
                    'tions.f:0<|tool_call_argument_begin|>{"a',
                    "",
                ],
                finish="stop",
                label="PARSER.stream.4.x",
            ),
            Out("yesyes", deltas=["yes", "yes"], label="PARSER.stream.1.x"),
        ],
        warnings=["no_expectation"],
    ),
    Row("ids.json", "token_ids", [Out(ids=IDS)], server=ANY),
    Row("ids_bare.txt", "token_ids", [Out(ids=IDS)], server=ANY),
    Row("ids_chunked.json", "token_ids", [Out(ids=IDS, counts=COUNTS)], server=ANY),
    Row("ids_key.txt", "token_ids", [Out(ids=IDS)], server=ANY),
    Row("ids_steps.txt", "token_ids", [Out(ids=IDS, counts=COUNTS)], warnings=["lists_joined"], server=ANY),
    Row("ids_tensor.txt", "token_ids", [Out(ids=IDS)], server=ANY),
    Row("issue.md", "json_response", [Out(TEXT, chunks=1, finish="stop")], warnings=["other_text"], server=ANY),
    Row("langchain_bare.txt", "client_objects", [Out(chunks=1, finish="tool_calls")], server=ANY),
    Row("langchain_bare_chunks.txt", "client_objects", [Out(chunks=6, finish="tool_calls")], server=ANY),
    Row("langchain_chunks.txt", "client_objects", [Out(chunks=5, finish="tool_calls")], server=ANY),
    Row(
        "langchain_message.txt",
        "client_objects",
        [Out(chunks=1)],
        warnings=["arguments_rewritten"],
        server=ANY,
    ),
    Row("list.json", "chunk_list", [Out(TEXT, deltas=PARTS)]),
    Row("list.txt", "chunk_list", [Out(TEXT, deltas=PARTS)]),
    Row("litellm.txt", "client_objects", [Out(TEXT, deltas=PARTS, chunks=7, finish="stop")], server=ANY),
    Row(
        "llama_cpp.json",
        "json_response",
        [Out("<think>🌦</think>", ids=(151667, 8, 9, 151668), finish="length")],
        warnings=["special_tokens"],
        server="llama.cpp",
    ),
    Row(
        "llama_cpp.sse",
        "sse_log",
        [Out(TEXT, ids=IDS, counts=(2, 3, 3, 3, 3, 1, 0), deltas=[*PARTS, ""], finish="stop")],
        warnings=["special_tokens"],
        server="llama.cpp",
    ),
    Row(
        "llama_cpp_error.json",
        "server_log",
        [Out(TEXT[9:])],
        warnings=["text_start_missing", "special_tokens"],
        server="llama.cpp",
    ),
    Row(
        "llama_cpp_tokens.txt",
        "server_log",
        [
            Out(
                "Rain?\n",
                ids=(151667, 59039, 30, 198, 151668),
                counts=(1, 1, 1, 1, 1),
                deltas=["", "Rain", "?", "\n", ""],
            )
        ],
        warnings=["specials_missing"],
        server="llama.cpp",
    ),
    Row("llama_cpp_unparsed.txt", "server_log", [Out(TEXT)], warnings=["special_tokens"], server="llama.cpp"),
    Row(
        "llama_cpp_verbose.txt",
        "server_log",
        [
            Out(
                TEXT,
                deltas=[
                    "<think>",
                    "\nRain? 🌦",
                    "\n</think>\n",
                    '\n<tool_call>\n{"name": "get_',
                    'weather", "arguments": {"city": "Zürich"}}',
                    "\n</tool_call>",
                ],
            )
        ],
        warnings=["special_tokens"],
        server="llama.cpp",
    ),
    Row("lm_studio.txt", "server_log", [Out(TEXT)]),
    Row("log_lines.ndjson", "json_response", [Out(chunks=7, finish="tool_calls")], server=ANY),
    Row(
        "ollama_chat.ndjson",
        "ndjson_log",
        [Out(chunks=4, finish="stop")],
        warnings=["parsed", "arguments_rewritten"],
        server="Ollama",
    ),
    Row("ollama_error.json", "server_log", [Out('{"city": "Zürich"}}')], warnings=["only_the_call"], server="Ollama"),
    Row(
        "ollama_generate.ndjson",
        "ndjson_log",
        [Out(TEXT, deltas=[*PARTS, ""], finish="stop")],
        warnings=["special_tokens"],
        server="Ollama",
    ),
    Row("ollama_thinking.ndjson", "ndjson_log", [Out(chunks=3, finish="length")], warnings=["parsed"], server="Ollama"),
    Row("openai_chunks.txt", "client_objects", [Out(chunks=3, finish="tool_calls")], server=ANY),
    Row("openai_deltas.txt", "client_objects", [Out(chunks=3)], server=ANY),
    Row("openai_message.txt", "client_objects", [Out(chunks=1)], server=ANY),
    Row("replay_record.json", "replay_record", [Out(ids=IDS, counts=COUNTS)], server="vLLM"),
    Row("replay_record.txt", "replay_record", [Out(ids=IDS, counts=COUNTS)], server="vLLM"),
    Row("repr.txt", "text_literal", [Out(TEXT)]),
    Row("repr_lines.txt", "chunk_list", [Out(TEXT, deltas=PARTS)]),
    Row(
        "sglang.json",
        "json_response",
        [Out(TEXT, ids=IDS, finish="stop")],
        warnings=["special_tokens_asked"],
        server="SGLang",
    ),
    Row(
        "sglang.sse",
        "sse_log",
        [Out(TEXT, ids=IDS, counts=COUNTS, deltas=PARTS, finish="stop")],
        warnings=["special_tokens_asked"],
        server="SGLang",
    ),
    Row(
        "sglang_increments.sse",
        "sse_log",
        [Out(TEXT, ids=IDS, counts=COUNTS, deltas=PARTS, finish="stop")],
        warnings=["special_tokens_asked", "increments"],
        server="SGLang",
    ),
    Row(
        "sglang_level2.ndjson",
        "json_response",
        [Out(LONG)],
        warnings=["special_tokens_asked", "ids_cut", "text_cut", "no_finish"],
        server="SGLang",
    ),
    Row("sglang_level2.txt", "server_log", [Out(LONG)], warnings=["text_cut", "special_tokens"], server="SGLang"),
    Row("sglang_log.ndjson", "ndjson_log", [Out(TEXT, ids=IDS, finish="stop")]),
    Row("sglang_log.txt", "server_log", [Out(TEXT, ids=IDS, finish="stop")]),
    Row("sglang_results.txt", "client_objects", [Out(chunks=3)], server=ANY),
    Row("string.json", "text_literal", [Out(TEXT)]),
    Row(
        "tgi.json",
        "json_response",
        [Out("<think>Rain?</think><|im_end|>", ids=(151667, 59039, 30, 151668, 151645), finish="length")],
    ),
    Row(
        "tgi.sse",
        "sse_log",
        [
            Out(
                "<think>Rain?</think><|im_end|>",
                ids=(151667, 59039, 30, 151668, 151645),
                counts=(1, 1, 1, 1, 1),
                deltas=["<think>", "Rain", "?", "</think>", "<|im_end|>"],
                finish="stop",
            )
        ],
    ),
    Row("tgi_text.json", "json_response", [Out("Rain?")], warnings=["specials_missing", "no_finish"], server="TGI"),
    Row(
        "unified.yaml",
        "dynamo_yaml",
        [
            Out(
                "thinking<channel|><|tool_call>call:f{x:1}<tool_call|>",
                deltas=["thinking", "<channel|>", "<|tool_call>call:f{x:1}<tool_call|>"],
                finish="stop",
                label="reason_then_tool",
            )
        ],
    ),
    Row("vllm_generate.json", "json_response", [Out(ids=IDS, finish="stop")], server="vLLM"),
    Row("vllm_generate.sse", "sse_log", [Out(ids=IDS, counts=COUNTS, finish="stop")], server="vLLM"),
    Row("vllm_log.txt", "server_log", [Out(TEXT, ids=IDS)], warnings=["special_tokens"], server="vLLM"),
    Row(
        "vllm_log_cut.txt",
        "server_log",
        [
            Out(
                "<think>\nRain",
                ids=(151667, 198, 59039, 30, 52352, 198, 151668, 271, 151657, 198, 4913, 606),
                finish="stop",
            )
        ],
        warnings=["text_cut", "special_tokens"],
        server="vLLM",
    ),
    Row(
        "vllm_log_two.txt",
        "server_log",
        [Out("one", finish="stop", label="cmpl-1-0"), Out(ids=(5, 6), chunks=1, finish="stop", label="chatcmpl-2")],
        warnings=["special_tokens", "parsed"],
        server="vLLM",
    ),
    Row("vllm_offline.txt", "client_objects", [Out(TEXT, ids=IDS, finish="stop")]),
]
