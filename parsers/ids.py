"""Tool call ids that a server would make up, here from a seed so that a replay always gives the same.

Shapes: chatcmpl_tool `chatcmpl-tool-` and 32 hex digits (vLLM), call_hex `call_` and 16 hex digits (vllm.rs),
mistral9 nine letters or digits (mistral-common checks this), kimi `functions.NAME:INDEX` (Kimi K2's own form).
"""

from __future__ import annotations

import hashlib

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def call_id(dialect: str, format_dialect: str, seed: int, index: int, name: str) -> str:
    """The id of call `index`, in the policy's dialect or the format's own."""
    chosen = format_dialect if dialect == "format" else dialect
    if chosen == "kimi":
        return f"functions.{name}:{index}"
    digest = hashlib.sha256(f"tool call id {seed} {index}".encode()).digest()
    if chosen == "mistral9":
        return "".join(ALPHANUMERIC[byte % len(ALPHANUMERIC)] for byte in digest[:9])
    if chosen == "call_hex":
        return f"call_{digest.hex()[:16]}"
    return f"chatcmpl-tool-{digest.hex()[:32]}"
