"""How the raw output is recorded: one command for each server, to copy and to change.

Requests and what they bring: vLLM 0.33 `return_token_ids`, `return_prompt_text`; SGLang 0.5 `/generate`,
`return_output_ids_in_sglext`, `configure_logging`; llama.cpp tools/server/README.md; Ollama docs/api.md; TGI
`generate_stream`; LM Studio's developer log; Dynamo's troubleshooting page (`logprobs`). Nothing is ever
sent from here.
"""

from __future__ import annotations

from parsers.intake.evidence import Capture

_JSON = '-H "Content-Type: application/json"'
_CHAT = '"model": "MODEL", "messages": [{"role": "user", "content": "PROMPT"}], "tools": []'


def _curl(url: str, body: str, *, then: str = "> recorded.sse") -> str:
    return f"curl -sN http://localhost:{url} \\\n  {_JSON} \\\n  -d '{{{body}}}' {then}"


_ALL = tuple([Capture(*row) for row in (
    (
        "vLLM", "Each chunk then carries the token ids of its step beside what the parser made of them.",
        _curl("8000/v1/chat/completions", f'{_CHAT},\n      "stream": true, "return_token_ids": true, '
              '"return_prompt_text": true'),
    ),
    (
        "SGLang",
        "The native endpoint runs no parser: put the rendered prompt in. Each chunk holds text and token ids.",
        _curl("30000/generate", '"text": "RENDERED PROMPT", "stream": true,\n'
              '      "sampling_params": {"max_new_tokens": 1024, "skip_special_tokens": false}'),
    ),
    (
        "llama.cpp",
        "Render the prompt, then complete it: /completion runs no parser. Start llama-server with --special.",
        'curl -s http://localhost:8080/apply-template -d \'{"messages": [{"role": "user", "content": "PROMPT"}]}\'\n'
        + _curl("8080/completion", '"prompt": "RENDERED PROMPT", "stream": true, "return_tokens": true'),
    ),
    (
        "Ollama", "With raw: true Ollama neither renders the prompt nor parses the answer.",
        _curl("11434/api/generate", '"model": "MODEL", "raw": true, "prompt": "RENDERED PROMPT"',
              then="> recorded.ndjson"),
    ),
    (
        "TGI", "Each event holds one token with its id, special tokens included.",
        _curl("8080/generate_stream", '"inputs": "RENDERED PROMPT", "parameters": {"max_new_tokens": 1024}'),
    ),
    (
        "Dynamo", "The bytes of all tokens, joined, are the raw output. Not every model's reasoning is among them.",
        _curl("8000/v1/chat/completions", f'{_CHAT}, "logprobs": true', then="> recorded.json"),
    ),
    (
        "LM Studio",
        "The developer log quotes the raw output after `Model Output:`, once a tool call could not be parsed.",
        "lms log stream",
    ),
    (
        "any OpenAI-compatible server",
        "The bytes of all tokens come with the answer where the server supports log probabilities.",
        _curl("8000/v1/chat/completions", f'{_CHAT},\n      "stream": true, "logprobs": true'),
    ),
)])  # fmt: skip
SERVERS = tuple(capture.server for capture in _ALL)
ANY = SERVERS[-1]

# Run by its owner, on the machine that wrote the file: unpickling runs whatever the file says.
PICKLE = Capture(
    "SGLang dump",
    "Run this yourself where the file was written, then give dump.json: a pickle can run any code, so it is never "
    "opened here.",
    """python3 - dump.pkl > dump.json <<'EOF'
import json, pickle, sys
data = pickle.load(open(sys.argv[1], "rb"))
requests = data["requests"] if isinstance(data, dict) else data
for request, out, *times in requests:
    out = out if isinstance(out, dict) else vars(out)
    print(json.dumps({
        "event": "request.finished", "obj": {"text": getattr(request, "text", None)},
        "out": {key: out.get(key) for key in ("text", "output_ids", "meta_info")},
    }, default=str))
EOF""",
)


def captures(server: str | None) -> tuple[Capture, ...]:
    """Return the commands of all servers; first the one for `server`, or the one that fits any."""
    first = server if server in SERVERS else ANY
    return tuple(sorted(_ALL, key=lambda capture: capture.server != first))
