"""Cases run by a server that is entered: where nobody names its parser, the one that reads what the case's does."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.io import load_case
from tests.webapp.guests.serving import nobody
from webapp.engines import named_parser
from webapp.engines.named_parser import case_by_engine, engine_words
from webapp.guests.requests import CaseAsked
from webapp.guests.tasks import subject_of
from webapp.settings import Settings

TAGS = "<tool_call>\n<function=f>\n</function>\n</tool_call>"
TOOLS = ["hermes", "qwen3_coder", "deepseek_v3"]
REASONING = ["qwen3", "deepseek_r1", "nemotron_v3", "granite_thinking_parser"]


class Engines:
    """What is entered: a vLLM under two names, one that says nothing of itself, and another program."""

    def entries(self) -> dict[str, Any]:
        """By their names."""
        kinds = {"vllm": None, "pr": "vllm", "own": "mlx"}
        found = {name: SimpleNamespace(adapter=kind, own=None) for name, kind in kinds.items()}
        return {**found, "sglang": SimpleNamespace(adapter=None, own="acme.module:Acme")}

    def card(self, name: str) -> Any:
        """The parsers of one."""
        kinds = {"tool": TOOLS, "reasoning": REASONING}
        return SimpleNamespace(names=lambda kind: kinds[kind])


@pytest.fixture(autouse=True)
def _entered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_parser, "entered", lambda settings: Engines())


ASKED: list[tuple[str, dict[str, Any], str, list[str]]] = [
    ("vllm", {}, "a", ["--engine", "vllm:hermes"]),
    ("pr", {}, "a", ["--engine", "pr:hermes"]),
    ("pr:deepseek_v3", {}, "a", ["--engine", "pr:deepseek_v3"]),
    ("own", {}, "a", ["--engine", "own:auto"]),
    ("sglang", {"parser": {"name": "qwen3"}}, f"R</think>{TAGS}", ["--engine", "sglang:auto"]),  # a class of that name
    ("builtin", {}, "a", ["--engine", "builtin:auto"]),
    ("vllm", {"parser": {"name": "auto"}}, "a", ["--engine", "vllm:auto"]),
    ("vllm", {"parser": {"name": "apriel"}}, "a", ["--engine", "vllm:auto"]),
    ("vllm", {"parser": {"name": "step3"}}, "a", ["--engine", "vllm:auto"]),
    ("vllm", {"parser": {"name": "hermes", "engine": "other"}}, "a", ["--engine", "vllm:auto"]),
    ("vllm", {"parser": {"name": "qwen3"}}, f"R</think>{TAGS}",
     ["--engine", "vllm:qwen3_coder", "--reasoning-parser", "qwen3"]),
    ("vllm", {"parser": {"name": "qwen3"}}, TAGS, ["--engine", "vllm:qwen3_coder"]),
    ("vllm", {"parser": {"name": "qwen3"}, "context": {"reasoning_open": True}}, "a", ["--engine", "vllm:qwen3"]),
    ("vllm", {"parser": {"name": "nemotron_v3"}}, "</think><tool_call></tool_call>a",
     ["--engine", "vllm:qwen3_coder", "--reasoning-parser", "nemotron_v3"]),
    ("vllm", {"parser": {"name": "granite_thinking_parser"}}, f"</think>{TAGS}",
     ["--engine", "vllm:qwen3_coder", "--reasoning-parser", "granite_thinking_parser"]),
    ("vllm", {"parser": {"name": "granite_thinking_parser"}}, "</think>a",
     ["--engine", "vllm:granite_thinking_parser"]),
    ("vllm", {"parser": {"name": "deepseek_r1"}}, f"R</think>{TAGS}",
     ["--engine", "vllm:qwen3_coder", "--reasoning-parser", "deepseek_r1"]),
    ("vllm", {"expect": {"reasoning": "a"}}, "a", ["--engine", "vllm:hermes", "--reasoning-parser", "qwen3"]),
]  # fmt: skip


@pytest.mark.parametrize(("word", "keys", "text", "words"), ASKED)
def test_the_parser_of_a_server_is_the_one_that_reads_the_format(
    word: str, keys: dict[str, Any], text: str, words: list[str]
) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **keys})
    assert engine_words(case_by_engine(case, word, Settings())) == words


@pytest.mark.parametrize(("word", "markers"), [("own", ("<a>", "@@ ")), ("builtin", ())])
def test_declared_markers_are_those_of_the_output_whichever_engine_reads_it(
    word: str, markers: tuple[str, ...]
) -> None:
    parser = {"name": "auto", "engine": "other", "markers": ["<a>", "@@ "]}
    case = load_case({"schema": 1, "parser": parser, "input": {"text": "a"}})
    assert case_by_engine(case, word, Settings()).parser.markers == markers


def test_whoever_asks_as_a_guest_gets_the_same_parser() -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a"}, "contract": "spec"}
    found = subject_of(CaseAsked(case=json.dumps(case), engine="pr"), Settings(), nobody).case
    assert (found.parser.engine, found.parser.name, found.contract) == ("pr", "hermes", None)
