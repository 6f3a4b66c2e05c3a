"""The request beside a recording: a curl command, or the request's JSON, before or after the log or alone.

What decides how an output is parsed is taken from it (tools, tool_choice, chat_template_kwargs, model, stop strings,
the end of the prompt); everything else, and every header, is left behind. Field names: OpenAI API reference; vLLM's
chat_template_kwargs, include_stop_str_in_output and skip_special_tokens; SGLang's sampling_params; Ollama's options;
TGI's parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from parsers.intake.blocks import parts
from parsers.intake.chunks import ids_of
from parsers.intake.curl import Curl, curls
from parsers.intake.jsonread import skip_space, value_at, whole_characters
from parsers.intake.model import Payload, Warn
from parsers.vocabulary.types import Request

TAIL = 400  # characters of the prompt that are kept: about 64 tokens
# Which server an address is that of: by its usual port, or by a path that only it has.
_PORTS = ((":11434", "Ollama"), (":30000", "SGLang"), (":1234/", "LM Studio"))
_PATHS = (
    ("/api/generate", "Ollama"), ("/api/chat", "Ollama"), ("/generate_stream", "TGI"), ("/generate", "SGLang"),
    ("/completion", "llama.cpp"),
)  # fmt: skip
# No request lacks all of them.
_ASKING = re.compile(r'"(?:messages|prompt|input|inputs|sampling_params)"')


@dataclass(slots=True)
class Asked:
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


def take_request(body: str) -> Asked:
    """Take the request out of the body, if there is one; its lines are blanked."""
    asked = Asked(body)
    for curl in curls(body):
        _take_curl(asked, curl)
    if not asked.found:
        _take_first(asked)
    if not asked.found:
        _take_last(asked)
    if not asked.found and _ASKING.search(body):
        _take_inner(asked)
    return asked


def _take_curl(asked: Asked, curl: Curl) -> None:
    values = [value for value in (_json(data) for data in curl.data) if value is not None]
    value = next((value for value in values if _is_body(value)), None)
    if value is None and "/v1" not in curl.url and _server_at(curl.url) is None:
        return
    asked.leading = asked.leading or not asked.body[: curl.start].strip()
    asked.secret = asked.secret or curl.secret
    asked.server = asked.server or _server_at(curl.url)
    _blank(asked, curl.start, curl.end)
    if value is not None and asked.request is None:
        _take(asked, value, "a curl command")
    elif value is None and (curl.data or curl.files or curl.unclosed):
        asked.warnings += (_unread(curl),)
    asked.found = True


def _unread(curl: Curl) -> Warn:
    if curl.files:
        return Warn("request_file", f"The request is in a file ({curl.files[0]}): paste its JSON beside the log.")
    if curl.unclosed:
        return Warn("request_unread", "The curl command lacks a closing quote, so its request could not be read.")
    return Warn("request_unread", "The request of the curl command is no JSON object, so nothing was taken from it.")


def _take_first(asked: Asked) -> None:
    start = skip_space(asked.body, 0)
    found = value_at(asked.body, start) if asked.body.startswith("{", start) else None
    if found is not None and isinstance(found[0], dict) and is_request(found[0]):
        asked.leading = True
        _take(asked, found[0], "a JSON request")
        _blank(asked, start, found[1])


def _take_last(asked: Asked) -> None:
    """The last object that starts a line, if it is a request and nothing follows it."""
    start = max(asked.body.rfind("\n{"), -1) + 1
    if not start:
        return
    found = value_at(asked.body, start)
    if found is None or asked.body[found[1] :].strip() or not isinstance(found[0], dict):
        return
    if is_request(found[0]):
        _take(asked, found[0], "a JSON request")
        _blank(asked, start, found[1])


def _take_inner(asked: Asked) -> None:
    """A request in a code block, or between paragraphs."""
    for block in chain.from_iterable(parts(asked.body)):
        start = skip_space(asked.body, block.start)
        found = value_at(asked.body, start)
        if found is not None and isinstance(found[0], dict) and is_request(found[0]):
            _take(asked, found[0], "a JSON request")
            _blank(asked, start, found[1])
            return


def is_request(value: Payload) -> bool:
    """Whether an object is surely a request: its prompt, and something that only requests have."""
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


def _is_body(value: Payload) -> bool:
    return not {"messages", "prompt", "input", "text", "inputs", "input_ids"}.isdisjoint(value)


def _take(asked: Asked, value: Payload, words: str) -> None:
    asked.found = True
    asked.request = request_of(whole_characters(value))
    asked.prompt_ids = ids_of(value.get("prompt")) or ids_of(value.get("input_ids"))
    asked.server = asked.server or ("vLLM" if "return_token_ids" in value and "model" in value else None)
    asked.why += (f"With it came {words}.",)
    if taken := _listed(asked.request):
        asked.notes += (f"Taken from the request: {taken}.",)


def _listed(request: Request) -> str:
    names = {
        "tools": "tools", "tool_choice": "tool_choice", "template_kwargs": "chat_template_kwargs", "model": "model",
        "prompt_tail": "the end of the prompt", "stop": "stop", "include_stop": "include_stop_str_in_output",
        "skip_special_tokens": "skip_special_tokens",
    }  # fmt: skip
    return ", ".join([words for name, words in names.items() if getattr(request, name) is not None])


def request_of(value: Payload) -> Request:
    """What a request says that matters to a parser."""
    extra = value.get("extra_body")
    more: dict[str, Any] = {**_dict(value.get("parameters")), **_dict(value.get("options"))}
    said = {**more, **_dict(value.get("sampling_params")), **value, **_dict(extra)}
    return Request(
        tools=_tools(said),
        tool_choice=said.get("tool_choice"),
        template_kwargs=_dict(said.get("chat_template_kwargs")) or None,
        model=said["model"] if isinstance(said.get("model"), str) else None,
        prompt_tail=_prompt_tail(said),
        stop=_stop(said.get("stop")),
        include_stop=_flag(said, "include_stop_str_in_output", "no_stop_trim"),
        skip_special_tokens=_flag(said, "skip_special_tokens"),
    )


def joined(own: Request | None, asked: Request | None) -> Request | None:
    """What the recording itself says of the request, completed by the request that was given beside it."""
    if own is None or asked is None:
        return own or asked
    return replace(asked, **{name: getattr(own, name) for name in own.__slots__ if getattr(own, name) is not None})


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tools(said: Mapping[str, Any]) -> tuple[dict[str, Any], ...] | None:
    tools = said.get("tools")
    if isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools):
        return tuple(tools)
    functions = said.get("functions")
    if isinstance(functions, list) and all(isinstance(one, dict) for one in functions):
        return tuple([{"type": "function", "function": one} for one in functions])
    return None


def _prompt_tail(said: Mapping[str, Any]) -> str | None:
    """The end of a prompt that was given as text. Ollama renders it again unless the request says raw."""
    for name in ("prompt", "text", "inputs"):
        prompt = said.get(name)
        if isinstance(prompt, str) and prompt and (said.get("raw") is True or "options" not in said):
            return prompt[-TAIL:]
    return _prefill(said)


def _prefill(said: Mapping[str, Any]) -> str | None:
    """The beginning of the answer that the request itself gave, where it is to be continued."""
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


def _json(data: str) -> Payload | None:
    start = skip_space(data, 0)
    found = value_at(data, start)
    return found[0] if found is not None and isinstance(found[0], dict) else None


def _server_at(url: str) -> str | None:
    table = _PORTS if "/v1/" in url else _PORTS + _PATHS
    return next((server for part, server in table if part in url), None)


def _blank(asked: Asked, start: int, end: int) -> None:
    """Replace the request by blanks of the same length, so that offsets and line numbers stay."""
    gap = re.sub(r"[^\n]", " ", asked.body[start:end])
    asked.body = asked.body[:start] + gap + asked.body[end:]
