"""Errors that people paste alone: what each means, and whose output has to be recorded to see why.

An error holds nothing to replay. What it does say is which server or library gave up on what, so each row names the
meaning and the server whose capture brings the raw output. (Messages as vLLM 0.33, SGLang 0.5, llama.cpp, Ollama 0.12,
LangChain 1, Vercel's AI SDK 5, LiteLLM 1, Groq's API and openai-python 2 write them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class KnownError(NamedTuple):
    """An error, known by what it says: what it means, and the server to record from, None where any may be."""

    sign: re.Pattern[str]
    meaning: str
    server: str | None


_ROWS: tuple[tuple[str, str, str | None], ...] = (
    (r"\"auto\" tool choice requires --enable-auto-tool-choice",
     "vLLM runs without a parser of calls: start it with --enable-auto-tool-choice and --tool-call-parser.", "vLLM"),
    (r"Error in extracting tool call from response|Error trying to handle streaming tool call",
     "A parser of vLLM raised on what the model wrote; the call stays in the content or is lost.", "vLLM"),
    (r"[Tt]ool parser could not locate tool call start/end tokens",
     "The tokenizer lacks the parser's markers: the parser is another model family's.", "vLLM"),
    (r"(?:serving_chat|tool_parser)[\s\S]{0,2000}?index out of range",
     "The server's own bookkeeping of calls broke while it streamed.", "vLLM"),
    (r"Failed to detect and parse|detect_and_parse|parse_streaming_increment|Error in parse_streaming",
     "A detector of SGLang could not read what the model wrote.", "SGLang"),
    (r"Failed to parse input at pos|unparsed \S+ output",
     "llama.cpp's parser could not read the output at that place.", "llama.cpp"),
    (r"Invalid diff: now finding less tool calls|Invalid diff",
     "llama.cpp's parser took back a call that it had sent: parsing more text gave less.", "llama.cpp"),
    (r"tools param requires --jinja|requires --jinja flag",
     "llama-server runs without --jinja, so it neither writes tools into the prompt nor parses calls.", "llama.cpp"),
    (r"Unexpected empty grammar stack after accepting piece",
     "The grammar that llama.cpp made of the tools does not allow what the model wrote.", "llama.cpp"),
    (r"error parsing tool call(?!: raw)|does not support tools",
     "Ollama could not read a call, or has no template with tools for this model.", "Ollama"),
    (r"tool_use_failed|Failed to call a function|failed_generation",
     "Groq's parser could not read the call. The raw output is in `error.failed_generation` of the answer.", None),
    (r"AI_InvalidToolInputError|AI_InvalidToolArgumentsError|AI_JSONParseError|InvalidToolInputError",
     "The AI SDK got arguments that are no JSON, or do not fit the tool's schema.", None),
    (r"AI_NoSuchToolError|Model tried to call unavailable tool",
     "The model called a tool that the request does not name, or a parser mangled the name.", None),
    (r"OUTPUT_PARSING_FAILURE|OutputParserException|Could not parse tool input"
     r"|arguments:\s[\s\S]{0,2000}?not valid JSON",
     "LangChain could not read the arguments of a call as JSON.", None),
    (r"JSONDecodeError|Unterminated string starting at|Expecting (?:value|',' delimiter|property name)"
     r"|Unexpected (?:end of JSON input|token .{1,40} in JSON)",
     "A client read arguments, or a chunk, as JSON, and they are none: cut, sent twice, or not closed.", None),
    (r"Additional properties are not allowed|validation errors? for \w+",
     "What arrived does not fit the schema of the tool or of the client's type.", None),
    (r"Tool choice must be auto|tool_choice.{0,40}(?:not supported|required)",
     "The server refuses the tool_choice of the request; nothing was generated.", None),
    (r"(?:maximum context length|context (?:length|window|size) (?:exceeded|of)|exceeds the available context)",
     "The prompt does not fit: nothing was generated.", None),
    (r"Conversation roles must alternate|TemplateError|jinja2\.exceptions|Error rendering prompt",
     "The chat template refused the messages: nothing was generated.", None),
)  # fmt: skip
KNOWN_ERRORS = tuple([KnownError(re.compile(sign), meaning, server) for sign, meaning, server in _ROWS])
_LONGEST = 50_000  # characters that are searched
_MOST = 3


def known_errors(text: str) -> Iterator[KnownError]:
    """Yield what is known of the errors in a text, the first few."""
    found = (row for row in KNOWN_ERRORS if row.sign.search(text, 0, _LONGEST))
    for _, row in zip(range(_MOST), found, strict=False):
        yield row
