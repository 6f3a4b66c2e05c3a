"""The request beside a recording: a curl command, or the request's JSON, before or after the log or alone.

What decides how an output is parsed is taken from it (tools, tool_choice, chat_template_kwargs, model, stop strings,
the end of the prompt); everything else, and every header, is left behind. Field names: OpenAI API reference; vLLM's
chat_template_kwargs, include_stop_str_in_output and skip_special_tokens; SGLang's sampling_params; Ollama's options;
TGI's parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from parsers.intake.curl_commands import Curl, curl_commands
from parsers.intake.evidence import Payload, Warn
from parsers.intake.plain_text import whole_characters
from parsers.intake.surroundings import blocks_by_kind
from parsers.intake.written_values import ids_of, object_of, objects_of, skip_space, value_at, word_of
from parsers.vocabulary.types import Request

TAIL = 400  # characters of the prompt that are kept: about 64 tokens
# Which server an address is that of: by its usual port, or by a path that only it has.
_PORTS = ((":11434", "Ollama"), (":30000", "SGLang"), (":1234/", "LM Studio"))
_PATHS = (
    ("/api/generate", "Ollama"), ("/api/chat", "Ollama"), ("/generate_stream", "TGI"), ("/generate", "SGLang"),
    ("/completion", "llama.cpp"),
)  # fmt: skip
_BODY_KEYS = frozenset({"messages", "prompt", "input", "text", "inputs", "input_ids"})
_NAMES = {
    "tools": "tools", "tool_choice": "tool_choice", "template_kwargs": "chat_template_kwargs", "model": "model",
    "prompt_tail": "the end of the prompt", "stop": "stop", "include_stop": "include_stop_str_in_output",
    "skip_special_tokens": "skip_special_tokens",
}  # fmt: skip
# No request lacks all of them.
_ASKING = re.compile(r'"(?:messages|prompt|input|inputs|sampling_params)"')


@dataclass(slots=True)
class RequestBeside:
    """The body without the request, and what the request said. `leading`: nothing stood before it."""

    body: str
    found: bool = False
    leading: bool = False
    request: Request | None = None
    prompt_ids: tuple[int, ...] | None = None
    server: str | None = None
    secret: bool = False
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[Warn, ...] = ()


def take_request(body: str) -> RequestBeside:
    """Take the request out of the body, if there is one; its lines are blanked."""
    asked = RequestBeside(body)
    for curl in curl_commands(body):
        _take_curl(asked, curl)
    found = None if asked.found else next(_json_requests(body), None)
    if found is not None:
        start, end, value = found
        asked.leading = start == skip_space(body, 0)
        _take(asked, value, "a JSON request")
        _blank(asked, start, end)
    return asked


def _json_requests(body: str) -> Iterator[tuple[int, int, Payload]]:
    """Yield requests with their offsets: first in the body, last in it, in a code block or in prose."""
    yield from _request_at(body, skip_space(body, 0))
    last = body.rfind("\n{") + 1
    yield from [one for one in (_request_at(body, last) if last else ()) if not body[one[1] :].strip()]
    for block in chain.from_iterable(blocks_by_kind(body)) if _ASKING.search(body) else ():
        yield from _request_at(body, skip_space(body, block.start))


def _request_at(body: str, start: int) -> list[tuple[int, int, Payload]]:
    found = value_at(body, start) if body.startswith("{", start) else None
    return [(start, found[1], found[0])] if found is not None and is_request(found[0]) else []


def _take_curl(asked: RequestBeside, curl: Curl) -> None:
    value = next((value for value in map(_leading_object, curl.data) if not _BODY_KEYS.isdisjoint(value)), None)
    if value is None and "/v1" not in curl.url and _server_at(curl.url) is None:
        return
    asked.leading = asked.leading or not asked.body[: curl.start].strip()
    asked.secret = asked.secret or curl.secret
    asked.server = asked.server or _server_at(curl.url)
    _blank(asked, curl.start, curl.end)
    if value is not None and asked.request is None:
        _take(asked, value, "a curl command")
    elif value is None and (curl.data or curl.files or curl.unclosed):
        asked.warnings += (_unread_warning(curl),)
    asked.found = True


def _unread_warning(curl: Curl) -> Warn:
    if curl.files:
        return Warn("request_file", f"The request is in a file ({curl.files[0]}): paste its JSON beside the log.")
    if curl.unclosed:
        return Warn("request_unread", "The curl command lacks a closing quote, so its request could not be read.")
    return Warn("request_unread", "The request of the curl command is no JSON object, so nothing was taken from it.")


def is_request(value: Payload) -> bool:
    """Return True for what is surely a request: it has a prompt, and something that only requests have."""
    # llama.cpp's answer repeats the request; its `stop` says whether it is the last.
    if "choices" in value or "parser" in value or isinstance(value.get("stop"), bool):
        return False
    messages = value.get("messages")
    if isinstance(messages, list) and all(isinstance(one, dict) and "role" in one for one in messages):
        return "model" in value or len(messages) > 0
    if isinstance(value.get("model"), str) and ("prompt" in value or "input" in value) and "output" not in value:
        return True
    if isinstance(value.get("sampling_params"), dict):
        return "text" in value or "input_ids" in value
    return isinstance(value.get("inputs"), str) and isinstance(value.get("parameters"), dict)


def _take(asked: RequestBeside, value: Payload, words: str) -> None:
    asked.found = True
    asked.request = request_of(whole_characters(value))
    asked.prompt_ids = ids_of(value.get("prompt")) or ids_of(value.get("input_ids"))
    asked.server = asked.server or ("vLLM" if "return_token_ids" in value and "model" in value else None)
    asked.why += (f"With it came {words}.",)
    if taken := ", ".join([words for name, words in _NAMES.items() if getattr(asked.request, name) is not None]):
        asked.notes += (f"Taken from the request: {taken}.",)


def request_of(value: Payload) -> Request:
    """Return all that a request says that matters to a parser."""
    places = ("parameters", "options", "sampling_params")
    said = {key: one for name in places for key, one in object_of(value.get(name)).items()}
    said |= {**value, **object_of(value.get("extra_body"))}
    return Request(
        tools=_tools(said),
        tool_choice=said.get("tool_choice"),
        template_kwargs=object_of(said.get("chat_template_kwargs")) or None,
        model=word_of(said.get("model")),
        prompt_tail=_prompt_tail(said),
        stop=_stop(said.get("stop")),
        include_stop=_flag(said, "include_stop_str_in_output", "no_stop_trim"),
        skip_special_tokens=_flag(said, "skip_special_tokens"),
    )


def merged_request(own: Request | None, asked: Request | None) -> Request | None:
    """Complete what the recording itself says of the request by the request that was given beside it."""
    if own is None or asked is None:
        return own or asked
    return replace(asked, **{name: getattr(own, name) for name in own.__slots__ if getattr(own, name) is not None})


def _tools(said: Mapping[str, Any]) -> tuple[Payload, ...] | None:
    tools = objects_of(said.get("tools"))
    if tools is not None:
        return tuple(tools)
    functions = objects_of(said.get("functions"))
    return None if functions is None else tuple([{"type": "function", "function": one} for one in functions])


def _prompt_tail(said: Mapping[str, Any]) -> str | None:
    """Return the end of a prompt given as text. Ollama renders it again unless the request says raw."""
    for name in ("prompt", "text", "inputs"):
        prompt = said.get(name)
        if isinstance(prompt, str) and prompt and (said.get("raw") is True or "options" not in said):
            return prompt[-TAIL:]
    return _prefill(said)


def _prefill(said: Mapping[str, Any]) -> str | None:
    """Return the beginning of the answer that the request itself gave, where it is to be continued."""
    messages = said.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    if said.get("continue_final_message") is not True or not isinstance(last, dict):
        return None
    content = last.get("content")
    return content[-TAIL:] if isinstance(content, str) and content else None


def _stop(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


def _flag(said: Mapping[str, Any], *names: str) -> bool | None:
    return next((said[name] for name in names if isinstance(said.get(name), bool)), None)


def _leading_object(data: str) -> Payload:
    found = value_at(data, skip_space(data, 0))
    return object_of(found[0]) if found is not None else {}


def _server_at(url: str) -> str | None:
    table = _PORTS if "/v1/" in url else _PORTS + _PATHS
    return next((server for part, server in table if part in url), None)


def _blank(asked: RequestBeside, start: int, end: int) -> None:
    """Replace the request by blanks of the same length, so that offsets and line numbers stay."""
    gap = re.sub(r"[^\n]", " ", asked.body[start:end])
    asked.body = asked.body[:start] + gap + asked.body[end:]
