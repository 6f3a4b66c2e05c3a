"""What `make test-engines` sets up: each engine in an environment of its own, by a locked set of requirements.

`python`: the set that is installed for its interpreter; `adapter` calls it there. `tokenizer` and `command` are made by
what `builds.py` does under that name. `variable`: of its environment, by which openai-harmony finds its vocabulary.
`needs`: a program without which it is absent.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineSet:
    """One engine under the name of its entry."""

    name: str
    title: str
    python: str = ""
    adapter: str = ""
    tokenizer: str = ""
    variable: str = ""
    command: str = ""
    needs: tuple[str, ...] = ()


SETS = (
    EngineSet("vllm", "vLLM", "vllm", "vllm", variable="TIKTOKEN_ENCODINGS_BASE"),
    EngineSet("sglang", "SGLang, without torch", "sglang", "sglang"),
    EngineSet("lmdeploy", "LMDeploy, without torch", "lmdeploy", "lmdeploy", variable="TIKTOKEN_ENCODINGS_BASE"),
    EngineSet("mlx", "mlx-lm", "mlx", "mlx"),
    EngineSet("harmony", "openai-harmony", "libraries", "harmony", tokenizer="o200k"),
    EngineSet("mistral", "mistral-common", "libraries", "mistral"),
    EngineSet("transformers", "transformers", "libraries", "transformers", tokenizer="template"),
    EngineSet("vllm_rust", "vLLM's parsers in Rust", "vllm_rust", "vllm_rust"),
    EngineSet("aisdk", "@ai-sdk-tool/parser, by docs/examples/ai_sdk_worker.mjs", command="aisdk"),
    EngineSet("llamacpp", "llama.cpp, by docs/examples/llama_worker.cpp", command="llamacpp", needs=("c++",)),
    EngineSet("go", "docs/examples/worker.go", command="go", needs=("go",)),
)
