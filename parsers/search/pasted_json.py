"""JSON that no model wrote: what is sent to a server, what it answers without a text, and what configures it.

Models write JSON as answers. So each kind asks for keys of the field, two of them where one alone is a common word.
(OpenAI API reference; Hugging Face's config.json, generation_config.json, tokenizer_config.json; arguments of vLLM 0.33
and SGLang 0.5; FastAPI's validation errors.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from parsers.search.known_errors import is_known_alone
from parsers.search.pasted_kinds import Pasted, serves_models
from parsers.wire.chat_parts import ChatPart, chat_part_of

_TOKENS = ("bos_token_id", "eos_token_id", "pad_token_id", "bos_token", "eos_token", "pad_token", "unk_token")
_MODEL = (
    "architectures", "model_type", "transformers_version", "torch_dtype", "tokenizer_class",
    "chat_template", "model_max_length", "rope_theta", "do_sample", "added_tokens", "pre_tokenizer", "hidden_size",
)  # fmt: skip
_SERVER = frozenset((
    "served_model_name", "tool_call_parser", "reasoning_parser", "tensor_parallel_size", "tp_size", "max_model_len",
    "gpu_memory_utilization", "mem_fraction_static", "enable_auto_tool_choice", "pipeline_parallel_size", "model_path",
    "max_num_seqs", "chat_template", "enable_prefix_caching", "kv_cache_dtype", "trust_remote_code", "n_gpu_layers",
    "total_slots", "n_ctx", "tokenizer_path", "context_length", "default_generation_settings",
))  # fmt: skip

_RECORD = (
    frozenset(("level", "levelname", "severity", "lvl")),
    frozenset(("ts", "time", "timestamp", "@timestamp", "asctime")),
    frozenset(("msg", "message", "event")),
)

# Keys of chat completions, Bedrock and Gemini, which stand in no call and no content of a model.
_BEGUN = re.compile(r"\s*(?:\[\s*)?\{\s*['\"]\w{1,40}['\"]\s*:")
_ANSWER_KEY = re.compile(
    r"['\"](choices|finish_reason|logprobs|tool_calls|usage|completion_tokens|prompt_tokens|system_fingerprint"
    r"|chat\.completion(?:\.chunk)?|delta|reasoning_content|refusal|stopReason|toolUseId|inputTokens|outputTokens"
    r"|latencyMs|finishReason|promptTokenCount|candidatesTokenCount)['\"]"
)
_KEYS_OF_ANSWER = 3

_ROLES = frozenset(("system", "user", "assistant", "tool", "developer"))
_OF_CHOICES = frozenset(("index", "finish_reason", "logprobs", "stop_reason", "matched_stop", "token_ids"))
_OF_PACKAGES = frozenset((
    "name", "version", "editable_project_location", "base_url", "build_number", "build_string", "channel", "dist_name",
    "platform",
))  # fmt: skip


def json_of(text: str) -> Any:
    """Return the object or the list that is all of a text, else None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_WORDS = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")
_KEY_LINES = re.compile(r"^\s{0,200}['\"]\w{1,40}['\"]: ?\S", re.MULTILINE)


def is_broken_answer(text: str) -> bool:
    """Return whether a text that is no JSON begins as an answer of a chat API does, as JSON or as Python prints it, or
    ends as one does that lost its beginning."""
    return (_BEGUN.match(text) is not None or _is_end(text)) and holds_answer(text, _KEYS_OF_ANSWER)


def _is_end(text: str) -> bool:
    """Return whether a text begins inside of an object that it closes: its first line is no words, and keys follow."""
    if not text.rstrip().endswith(("}", "]")) or text.count("}") <= text.count("{"):
        return False
    return not _WORDS.search(text.strip().partition("\n")[0]) and len(_KEY_LINES.findall(text)) > 1


def holds_answer(text: str, least: int = 1) -> bool:
    """Return whether a text has keys in it that only answers of chat APIs have, at least so many."""
    return len({found[1] for found in _ANSWER_KEY.finditer(text)}) >= least


def is_logged(line: str) -> bool:
    """Return whether a line is a log's record as JSON: a level, a time and what happened."""
    value = json_of(line) if line.startswith("{") else None
    return isinstance(value, dict) and all(not keys.isdisjoint(value) for keys in _RECORD)


# What proxies and frameworks say beside the code and the message of an error (gRPC over JSON, Spring, FastAPI).
_OF_ERRORS = frozenset((
    "code", "status", "message", "error", "detail", "details", "path", "timestamp", "request_id", "requestId",
    "traceId",
))  # fmt: skip

# What an answer cost, as OpenAI's chat and completions, and as Responses and Anthropic say it.
_COSTS = (frozenset(("prompt_tokens", "completion_tokens")), frozenset(("input_tokens", "output_tokens")))


def _is_empty_message(value: Any) -> bool:
    """Return whether it is an assistant's message, or an answer's choice, with nothing in it."""
    message = value.get("message", value.get("delta", value)) if isinstance(value, dict) else None
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return False
    return not any(value for key, value in message.items() if key != "role")


def _is_part(value: Any) -> bool:
    """Return whether it is a part of an answer that no model writes: a choice, or calls as a server sends them."""
    parts = [chat_part_of(one) for one in _objects(value)]
    called = [one for one in _objects(value) if one.get("tool_calls") or one.get("function_call")]
    return (
        bool(parts) and None not in parts and (bool(called) or not {ChatPart.CHOICE, ChatPart.CALL}.isdisjoint(parts))
    )


def _is_request(value: Any) -> bool:
    """Return whether it is a request."""
    return (
        isinstance(value, dict) and isinstance(value.get("messages"), list) and isinstance(value.get("model", ""), str)
    )


def _is_history(value: Any) -> bool:
    """Return whether it is the messages of a request, of several roles."""
    roles = [str(one.get("role")) for one in _objects(value)]
    return len(set(roles)) > 1 and _ROLES.issuperset(roles)


def _is_called(value: Any) -> bool:
    """Return whether messages hold calls, or what tools answered: models write chats, but not these."""
    return any("tool_calls" in one or "tool_call_id" in one for one in _objects(value))


def _always(value: Any) -> bool:
    return True


def _serves_models(value: Any) -> bool:
    return serves_models(json.dumps(value))


def _is_server_error(value: Any) -> bool:
    """Return whether it is the error of a server."""
    if not isinstance(value, dict):
        return False
    error, detail = value.get("error"), value.get("detail")
    said = isinstance(error, dict) and isinstance(error.get("message"), str)
    invalid = bool(detail) and all("loc" in one and "msg" in one for one in _objects(detail))
    failed = value.get("object") == "error" and isinstance(value.get("message"), str)
    refused = isinstance(detail, str) and len(value) == 1
    status = isinstance(value.get("message"), str) and isinstance(value.get("code", value.get("status")), int)
    known = any(is_known_alone(words) for key in ("error", "message") if isinstance(words := value.get(key), str))
    bare = refused or known or (status and value.keys() <= _OF_ERRORS)
    return (said and len(value) == 1) or failed or (invalid and isinstance(detail, list)) or bare


def _is_tools(value: Any) -> bool:
    """Return whether these are definitions of tools: a name with the schema of its arguments."""
    found = _objects(value.get("tools") if isinstance(value, dict) and "tools" in value else value)
    return bool(found) and all(map(_is_tool, found))


def _is_tool(value: Mapping[str, Any]) -> bool:
    function = value.get("function") if value.get("type") == "function" else value
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return False
    schema = next((function[key] for key in ("parameters", "input_schema", "inputSchema") if key in function), None)
    return isinstance(schema, dict) and schema.get("type") == "object" and isinstance(schema.get("properties"), dict)


def _is_model_config(value: Any) -> bool:
    """Return whether it configures a model or its tokenizer."""
    if not isinstance(value, dict):
        return False
    if "added_tokens_decoder" in value:
        return True
    own, tokens = [key for key in _MODEL if key in value], [key for key in _TOKENS if key in value]
    return len(own) + len(tokens) >= 2 and bool(tokens or "architectures" in own or "model_type" in own)


def _is_server_options(value: Any) -> bool:
    """Return whether these are the options of a server."""
    keys = {key.lstrip("-").replace("-", "_") for key in value} if isinstance(value, dict) else set()
    return len(keys & _SERVER) >= 2


def _is_manifest(value: Any) -> bool:
    """Return whether it is a manifest of Kubernetes."""
    return isinstance(value, dict) and {"apiVersion", "kind", "metadata"} <= value.keys()


def _has_no_text(value: Any) -> bool:
    """Return whether it is a server's list of its models, what an answer cost, or why it ended."""
    if not isinstance(value, dict):
        return False
    if "finish_reason" in value and value.keys() <= _OF_CHOICES:
        return True
    models = _objects(value.get("data")) if value.get("object") == "list" else _objects(value.get("models"))
    if models:
        return all("object" in one or "digest" in one or "modified_at" in one for one in models)
    cost = value["usage"] if value.keys() == {"usage"} else value
    return isinstance(cost, dict) and any(keys.issubset(cost) for keys in _COSTS)


def _is_packages(value: Any) -> bool:
    """Return whether it is `pip list --format json`."""
    found = _objects(value) if isinstance(value, list) else []
    return len(found) > 1 and all({"name", "version"} <= one.keys() <= _OF_PACKAGES for one in found)


def _is_schema(value: Any) -> bool:
    """Return whether it describes data, or an API."""
    if not isinstance(value, dict):
        return False
    properties = value.get("properties")
    described = value.get("type") == "object" and isinstance(properties, dict)
    schema = described and all(isinstance(one, dict) for one in (properties or {}).values())
    return (
        "$schema" in value or bool(schema) or ("paths" in value and not value.keys().isdisjoint(("openapi", "swagger")))
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, where it holds nothing else; an object alone is a list of one."""
    items: Iterable[Any] = value if isinstance(value, list) else [value]
    found = [one for one in items if isinstance(one, dict)]
    return found if not isinstance(value, list) or len(found) == len(value) else []


# A kind, whether a value is one, and if so, whether no model writes it as an answer.
_VALUES = (
    (Pasted.EMPTY_MESSAGE, _is_empty_message, _always),
    (Pasted.REQUEST, _is_request, _always),
    (Pasted.REQUEST, _is_history, _is_called),
    (Pasted.ANSWER, _is_part, _always),
    (Pasted.SERVER_ERROR, _is_server_error, _always),
    (Pasted.TOOLS, _is_tools, _always),
    (Pasted.MODEL, _is_model_config, _always),
    (Pasted.OPTIONS, _is_server_options, _always),
    (Pasted.OPTIONS, _is_manifest, _serves_models),
    (Pasted.NO_TEXT, _has_no_text, _always),
    (Pasted.ENVIRONMENT, _is_packages, _serves_models),
    (Pasted.DATA, _is_schema, _serves_models),
)


def value_kind(value: Any) -> tuple[Pasted, bool] | None:
    """Return what an object or a list of JSON is, and whether that is sure; None where it may well be an answer."""
    found = next(((kind, surely) for kind, is_one, surely in _VALUES if is_one(value)), None)
    return found and (found[0], found[1](value))
