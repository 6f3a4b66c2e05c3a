"""Which server wrote a log is told by what only it sends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise

CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
# a payload, the server it is from
SIGNS = [
    ({"timings": {}}, "llama.cpp"),
    ({"system_fingerprint": "b6100-0a1b2c"}, "llama.cpp"),
    ({"system_fingerprint": "fp_ollama"}, "Ollama"),
    ({"system_fingerprint": "3.3.4-sha-1a2b3c"}, "TGI"),
    ({"nvext": {}}, "Dynamo"),
    ({"stats": {}}, "LM Studio"),
    ({"id": "0" * 32}, "SGLang"),
    ({"system_fingerprint": 5, "id": 7}, "any OpenAI-compatible server"),
]


@pytest.mark.parametrize(("more", "server"), SIGNS)
def test_the_server_is_told_by_what_only_it_sends(more: dict[str, Any], server: str) -> None:
    assert recognise(f"data: {json.dumps(CHUNK | more)}\n\n".encode(), pasted=True).captures[0].server == server
