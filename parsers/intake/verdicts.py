"""Why a log's raw output cannot be rebuilt, in words, and what to do instead.

For chat logs the payloads are looked through: calls or reasoning that stand apart prove that the server's parser
was at work; recorded token ids or log probabilities offer a way back to the raw text (vLLM `return_token_ids`,
SGLang `sglext`; OpenAI API reference, `logprobs.content[].bytes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from parsers.intake.chunks import choices
from parsers.intake.families import CAPTURE, DECODE
from parsers.intake.log import Log
from parsers.intake.model import Payload, number

_BYTES = "Join `logprobs.content[].bytes` of all of them in order, decode the bytes as UTF-8 and paste the text."
_UNPARSED = (
    " If the server ran without parsers, the content is the raw output: paste a JSON array of the content strings, "
    "which is read as a list of deltas."
)


def verdict(log: Log) -> str:
    """Why the log cannot be replayed, and what to do next."""
    if not log.frames:
        return "It holds no chunk at all. Paste the whole log."
    return log.family.verdict or _chat_verdict(log)


def _chat_verdict(log: Log) -> str:
    found: Counter[str] = Counter()
    for frame in log.frames:
        found.update(set(_traits(frame.payload or {})))
    return f"{_reason(found)} {_way_out(found)}"


def _traits(payload: Payload) -> Iterator[str]:
    """What one payload shows."""
    if payload.get("sglext"):
        yield "ids"
    for choice in choices(payload) or []:
        part = choice.get("delta", choice.get("message"))
        part = part if isinstance(part, dict) else {}
        if part.get("tool_calls") or part.get("function_call"):
            yield "calls"
        if part.get("reasoning") or part.get("reasoning_content"):
            yield "reasoning"
        if choice.get("token_ids") or choice.get("response_token_ids"):
            yield "ids"
        if choice.get("logprobs"):
            yield "logprobs"


def _reason(found: Counter[str]) -> str:
    end = "so the raw output cannot be rebuilt from it."
    if found["calls"]:
        return f"The server has parsed it already ({number(found['calls'], 'object')} with tool_calls), {end}"
    if found["reasoning"]:
        return f"The server has split the reasoning off already, {end}"
    return f"It holds the content after the server's parser, {end}"


def _way_out(found: Counter[str]) -> str:
    if found["ids"]:
        return f"But token ids were recorded ({number(found['ids'], 'object')}). {DECODE}"
    if found["logprobs"]:
        return f"But log probabilities were recorded ({number(found['logprobs'], 'object')}). {_BYTES}"
    if found["calls"] or found["reasoning"]:
        return CAPTURE
    return CAPTURE + _UNPARSED
