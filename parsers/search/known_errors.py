"""Errors that people paste alone: what each means, and whose output has to be recorded to see why.

An error holds nothing to replay. What it does say is which server or library gave up on what, so each row names the
meaning and the server whose capture brings the raw output; where a request was refused, nothing was generated, and the
request is what to look at. (Messages as vLLM 0.33, SGLang 0.5, llama.cpp, Ollama 0.20, LM Studio 0.4, LangChain 1,
Vercel's AI SDK 5, LiteLLM 1, openai-python 2 and the APIs of OpenAI, Anthropic, Gemini, Groq, Mistral and Bedrock write
them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from parsers.search.markup import marker_in
from parsers.search.pasted_lines import is_sentence
from parsers.search.report_words import ADVICE


class KnownError(NamedTuple):
    """An error, known by what it says: what it means, and the server to record from, None where any may be.

    `refused`: the request was, and there is no output to record.
    """

    sign: re.Pattern[str]
    meaning: str
    server: str | None
    refused: bool


# Raised on what a model wrote: its output is what to record.
_WRITTEN: tuple[tuple[str, str, str | None], ...] = (
    (r"Error in extracting tool call from response|Error trying to handle streaming tool call",
     "A parser of vLLM raised on what the model wrote; the call stays in the content or is lost.", "vLLM"),
    (r"(?:serving_chat|tool_parser)[\s\S]{0,2000}?index out of range",
     "The server's own bookkeeping of calls broke while it streamed.", "vLLM"),
    (r"HarmonyError|unexpected tokens remaining in message header",
     "gpt-oss wrote a header that Harmony's parser does not know: what is quoted is the header, not the output.",
     "vLLM"),
    (r"Failed to detect and parse|detect_and_parse|parse_streaming_increment|Failed to parse JSON part"
     r"|Model attempted to call undefined function",
     "A detector of SGLang could not read what the model wrote, or the call names no tool of the request.", "SGLang"),
    (r"Failed to parse input at pos|unparsed \S+ output",
     "llama.cpp's parser could not read the output at that place.", "llama.cpp"),
    (r"Invalid diff: now finding less tool calls|Invalid diff",
     "llama.cpp's parser took back a call that it had sent: parsing more text gave less.", "llama.cpp"),
    (r"Unexpected empty grammar stack after accepting piece",
     "The grammar that llama.cpp made of the tools does not allow what the model wrote.", "llama.cpp"),
    (r"Failed to parse tool call arguments as JSON|\[json\.exception\.parse_error\.\d",
     "llama.cpp could not read the arguments of a call as JSON: those that the model wrote, perhaps cut at its limit "
     "of tokens, or those of an earlier call among the messages of the request.", "llama.cpp"),
    (r"error parsing tool call(?!: raw)|tool call parsing failed|\bXML syntax error on line \d",
     "Ollama could not read a call that the model wrote.", "Ollama"),
    (r"Failed to (?:generate a|parse) tool call\b(?! arguments as JSON)|Tool call generation failed",
     "LM Studio could not read a call that the model wrote; its log quotes the output behind `Model Output:`.",
     "LM Studio"),
    (r"tool_use_failed|Failed to call a function|failed_generation|output_parse_failed"
     r"|[Tt]ool call validation failed|requested tool does not exist|Tool choice is (?:none|required), but",
     "Groq's parser could not read the call, or the call does not fit the tools. "
     "The raw output is in `error.failed_generation` of the answer.", None),
    (r"MALFORMED_FUNCTION_CALL|[Mm]alformed function call|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS",
     "Gemini's model wrote a call that Google's parser could not read, or one that was not asked for. "
     "`finishMessage` of the candidate quotes it; the raw output is not sent.", None),
    (r"AI_InvalidToolInputError|AI_InvalidToolArgumentsError|AI_JSONParseError|InvalidToolInputError|JSON\s+parsing\s+failed:\s+Text:",
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
    (r"[Cc]ould not finish the message because max_tokens|LengthFinishReasonError|\bmax_tokens_reached\b",
     "The output was cut at its limit of tokens: a call that was begun has no end.", None),
)  # fmt: skip
# The request was refused: nothing was generated.
_REFUSED: tuple[tuple[str, str, str | None], ...] = (
    (r"\"?auto\"? tool choice requires --enable-auto-tool-choice",
     "vLLM runs without a parser of calls: start it with --enable-auto-tool-choice and --tool-call-parser.", "vLLM"),
    (r"[Tt]ool parser could not locate tool call start/end tokens|could not locate think start/end tokens",
     "The tokenizer lacks the parser's markers: the parser is another model family's.", "vLLM"),
    (r"invalid tool call parser|Unsupported tool_call_parser|Tool Call Parser Not Given|invalid reasoning parser",
     "The server knows no parser of that name, or was given none: see its list for --tool-call-parser.", None),
    (r"default chat template is no longer allowed|chat template to use\b|tokenizer\.chat_template is not set",
     "The model's tokenizer has no chat template: give the server one with --chat-template.", None),
    (r"JSON schema contains features not supported by xgrammar|Failed to convert the grammar"
     r"|Grammar (?:error|compilation (?:error|failed))|JSON schema conversion failed|failed to parse grammar"
     r"|[Uu]nrecognized schema",
     "The server could not make a grammar of the tools' schemas.", None),
    (r"(?:tools|tool_choice) param requires --jinja|requires --jinja flag",
     "llama-server runs without --jinja, so it neither writes tools into the prompt nor parses calls.", "llama.cpp"),
    (r"Cannot use (?:tools with stream|custom grammar constraints with tools)",
     "llama-server takes no grammar of your own, or in older builds no stream, beside tools.", "llama.cpp"),
    (r"Assistant response prefill is incompatible|Cannot have 2 or more assistant messages at the end",
     "llama-server does not go on with the last message: the request must end with a user's or a tool's.",
     "llama.cpp"),
    (r"does not support tools", "Ollama has no template with tools for this model.", "Ollama"),
    (r"cannot unmarshal \w+ into Go (?:struct field|value)",
     "Ollama got a request of another shape: its native API takes a call's arguments as an object, not as a string.",
     "Ollama"),
    (r"Invalid 'messages' in payload|Invalid tool_choice type",
     "LM Studio refused the request: a message, or the tool_choice, has a shape that it does not take.", "LM Studio"),
    (r"assistant message with 'tool_calls' must be followed by tool messages"
     r"|did not have response messages|messages with role 'tool' must be a response"
     r"|No tool (?:output found for function call|call found for function call output)",
     "In the messages a call and its result do not stand together: each call needs one result with its id.", None),
    (r"Invalid schema for (?:function|response_format)|tools\.\d+\.(?:custom\.)?input_schema"
     r"|function_declarations\[\d+\]|tools\[\d+\]\.(?:function|name|type|parameters)|is not of type 'object'"
     r"|should be non-empty for OBJECT type",
     "The definition of a tool is not as the API takes it: its schema, its name or its place.", None),
    (r"messages\[\d+\]\.tool_calls|string does not match pattern\. Expected a string",
     "A message of the request holds a call that the API does not take, perhaps with a name that was read wrongly.",
     None),
    (r"'tool_choice' is only allowed when 'tools' are specified|Tool choice must be auto"
     r"|tool_choice\b.{0,40}not (?:yet )?(?:supported|allowed)|tool_choice is required but",
     "The server refuses the tool_choice of the request.", None),
    (r"unexpected .?tool_use_id.? found in|tool_use.? ids were found without .?tool_result"
     r"|tool_use.? ids must be unique|must have a corresponding .?tool_use.? block",
     "In Anthropic's messages each tool_result must follow the message with its tool_use, and each tool_use needs one.",
     None),
    (r"Requests which include .?tool_use.? or .?tool_result|toolConfig field must be defined",
     "The messages hold calls, but the request declares no tools: send the tools each time.", None),
    (r"Expected .?thinking.? or .?redacted_thinking|missing a .?thought_signature|Missing .?reasoning_content.? field",
     "What the model thought before a call must be sent back with that call, and was left out.", None),
    (r"number of function response parts|function call turn comes immediately after|toolResult blocks at messages"
     r"|Expected toolResult|Not the same number of function calls and responses",
     "The results do not match the calls before them, in number or place.", None),
    (r"Function calling with a response mime type|Function calling is not (?:enabled|supported)",
     "The model, or this kind of answer, takes no tools.", None),
    (r"Tool call id was .{1,80} but must be|Function name was .{1,80} but must be|Expected last role User or Tool"
     r"|Unexpected role .{1,20} after role",
     "Mistral refuses the messages: ids have nine letters or digits, and roles a fixed order.", None),
    (r"(?:maximum context length|context (?:length|window|size) (?:exceeded|of)|exceeds the available context)",
     "The prompt does not fit.", None),
    (r"[Rr]oles must alternate|TemplateError|jinja2\.exceptions|Error rendering prompt"
     r"|Unknown (?:method|filter).{0,80}at row|Value is not callable|Only user and assistant roles are supported",
     "The chat template refused the messages.", None),
)  # fmt: skip
NOTHING_GENERATED = "Nothing was generated: what to look at is the request, its messages and its tools."
KNOWN_ERRORS = (
    *[KnownError(re.compile(sign), meaning, server, refused=False) for sign, meaning, server in _WRITTEN],
    *[KnownError(re.compile(sign), meaning, server, refused=True) for sign, meaning, server in _REFUSED],
)
_LONGEST = 50_000  # characters that are searched
_MOST = 3
_ALONE, _LINES, _HEAD = 3_000, 12, 200  # characters and lines of an error alone, and characters before what it says
_MEANS = re.compile(r"\b(?:means|is raised|is returned|happens|occurs|says that|indicates|tells)\b")
# What stands before what an error says that no sentence begins with: nothing, a label, a quotation mark, a name with
# signs in it; and the words with which some errors begin.
_BEFORE = re.compile(
    r"(?P<label>|[\s\S]*[:\"'`({\[=>*-]\s*|\s*(?=[^\s\w]*\w)\S*[/._\d]\S*\s?)"
    r"(?:Hermes 2 Pro |As of transformers v[\d.]+, |This model's |The provided |the request |An "
    r"|Please ensure that (?:the )?|Function call is |The number of |The |GenerateContentRequest\.)?\Z"
)


def known_errors(text: str) -> Iterator[KnownError]:
    """Yield what is known of the errors in a text, the first few."""
    found = (row for row in KNOWN_ERRORS if row.sign.search(text, 0, _LONGEST))
    for _, row in zip(range(_MOST), found, strict=False):
        yield row


def is_known_alone(text: str) -> bool:
    """Return whether a text is a known error and nothing more: nobody says what it means or what to do about it."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(text) > _ALONE or len(lines) > _LINES:
        return False
    return any(_is_alone(text, found) for row in KNOWN_ERRORS if (found := row.sign.search(text)) is not None)


def _is_alone(text: str, sign: re.Match[str]) -> bool:
    before = text[: sign.start()]
    begun = _BEFORE.match(before) if len(before) <= _HEAD else None
    if begun is None or marker_in(before) >= 0 or ADVICE.search(before):
        return False
    begin, end = before.rfind("\n") + 1, text.find("\n", sign.end())
    if is_sentence(f"{begun['label'][begin:]}."):
        return False
    end = len(text) if end < 0 else end
    others = [*text[:begin].splitlines(), *text[end:].splitlines()]
    said = any(line.startswith(("#", "```", "~~~")) or is_sentence(line) for line in others)
    return not (said or _MEANS.search(text, sign.end(), end) or ADVICE.search(text, end))
