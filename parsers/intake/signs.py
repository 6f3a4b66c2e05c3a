"""Which server wrote a log: the fields and names that only one of them uses.

vLLM: stop_reason, reasoning, token_ids, kv_transfer_params, ids chatcmpl-tool-. SGLang: matched_stop, sglext,
response_token_ids, ids of 32 hexadecimal digits. llama.cpp: timings, fingerprints b1234-. Ollama: fp_ollama. TGI:
fingerprints -sha-. Dynamo: nvext. LM Studio: model_info, stats. (Recorded answers of these servers in 2025 and 2026.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from parsers.intake.chunks import choices
from parsers.intake.model import Payload

_KEYS = {
    "prompt_token_ids": "vLLM", "prompt_text": "vLLM", "kv_transfer_params": "vLLM", "prompt_logprobs": "vLLM",
    "sglext": "SGLang", "timings": "llama.cpp", "__verbose": "llama.cpp", "nvext": "Dynamo", "stats": "LM Studio",
    "model_info": "LM Studio",
}  # fmt: skip
_CHOICE_KEYS = {
    "stop_reason": "vLLM", "token_ids": "vLLM", "matched_stop": "SGLang", "response_token_ids": "SGLang",
    "hidden_states": "SGLang",
}  # fmt: skip
_DELTA_KEYS = {"reasoning": "vLLM"}
_FINGERPRINTS = (
    (re.compile(r"b\d{3,6}-"), "llama.cpp"),
    (re.compile(r"fp_ollama"), "Ollama"),
    (re.compile(r"\d+\.\d+\.\d+(?:-\w+)?-(?:sha-|native)"), "TGI"),
    (re.compile(r"vllm"), "vLLM"),
)
_HEX_ID = re.compile(r"[0-9a-f]{32}")
_LOOKED_AT = 200  # payloads: the first ones tell, and a usage chunk at the end


def server_of(payloads: Iterable[Payload]) -> tuple[str | None, str | None]:
    """The server with the most signs, and the evidence as a sentence; (None, None) without any."""
    seen = list(payloads)
    signs: dict[str, dict[str, None]] = {}
    for payload in seen[:_LOOKED_AT] + seen[_LOOKED_AT:][-3:]:
        for server, sign in _signs(payload):
            signs.setdefault(server, {})[sign] = None
    if not signs:
        return None, None
    best = max(signs, key=lambda server: len(signs[server]))
    named = ", ".join(f"`{sign}`" for sign in list(signs[best])[:4])
    return best, f"{named} {'points' if len(signs[best]) == 1 else 'point'} to {best}."


def _signs(payload: Payload) -> Iterator[tuple[str, str]]:
    yield from [(server, key) for key, server in _KEYS.items() if key in payload]
    mark = payload.get("system_fingerprint")
    if isinstance(mark, str):
        yield from [(server, "system_fingerprint") for pattern, server in _FINGERPRINTS if pattern.match(mark)]
    name = payload.get("id")
    if isinstance(name, str) and _HEX_ID.fullmatch(name):
        yield "SGLang", "id"
    for choice in (choices(payload) or [])[:4]:
        yield from [(server, key) for key, server in _CHOICE_KEYS.items() if key in choice]
        part = choice.get("delta", choice.get("message"))
        if isinstance(part, dict) and str(name).startswith("chatcmpl-"):
            yield from [(server, key) for key, server in _DELTA_KEYS.items() if key in part]
