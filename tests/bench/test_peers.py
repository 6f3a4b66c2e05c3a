"""Peers in interpreters of their own: those that are installed, and engines that are made up."""

from __future__ import annotations

import os
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.amount import every
from tests.bench import clock, peers, tables
from tests.bench.outputs import Kind, Output
from tests.bench.peer_worker import HANGS
from tests.bench.peers import GIVEN, OWN, Beside, Engine, beside, is_known, started

ENGINES = {engine.package: engine for engine in (*OWN, *GIVEN)}

# As much of both engines as the worker asks for. They take `mood` from the name of the tool.
PROTOCOL = """
class Plain:
    def __init__(self, **fields): vars(self).update(fields)
class ChatCompletionRequest(Plain): pass
"""
PARSER = """
import json, time
class Reader:
    def __init__(self, mood): self.mood, self.text, self.read = mood, "", 0
    def more(self, text):
        self.text += text
        if self.mood == "hang" and len(self.text) > 100:
            while True: pass
        if self.mood == "raise": raise ValueError("no")
        if self.mood == "slow": sum(range(5_000))
    def call(self):
        found = json.loads(self.text.strip("<tool_cal>/\\n"))
        return found["name"], json.dumps(found["arguments"] if self.mood != "lose" else {})
"""
VLLM = """
from types import SimpleNamespace as Some
from vllm.reader import Reader
class Parser:
    tool_parser = Some(engine_based_streaming=True)
    def __init__(self, tokenizer, tools): self.reader, self.ids = Reader(Parser.mood), tokenizer.get_vocab()
    def parse_delta(self, text, ids, request, prompt, *, finished):
        assert all(self.ids[text] == one for one in ids)
        self.reader.more(text)
        if not finished: return None
        name, arguments = self.reader.call()
        call = Some(index=0, function=Some(name=name, arguments=arguments))
        return Some(content=None, reasoning=None, tool_calls=[call])
class ParserManager:
    @staticmethod
    def get_parser(*, tool_parser_name, reasoning_parser_name, enable_auto_tools):
        Parser.mood = tool_parser_name
        return Parser
"""
SGLANG = """
from types import SimpleNamespace as Some
from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice
from sglang.reader import Reader
class FunctionCallParser:
    def __init__(self, tools, mood):
        assert isinstance(tools[0], Tool) and tools[0].function.name
        self.reader, self.detector = Reader(mood), Some(prev_tool_call_arr=[], streamed_args_for_tool=[])
    def parse_stream_chunk(self, text):
        self.reader.more(text)
        return "", []
    def parse_stream_end(self):
        name, arguments = self.reader.call()
        self.detector.prev_tool_call_arr.append({"arguments": arguments})
        self.detector.streamed_args_for_tool.append(arguments[:-1])
        return "", [Some(tool_index=0, name=name, parameters=arguments[:-1])]
"""
FILES = {
    "vllm/__init__.py": "",
    "vllm/reader.py": PARSER,
    "vllm/parser/__init__.py": VLLM,
    "vllm/entrypoints/openai/chat_completion/protocol.py": PROTOCOL,
    "vllm-1.2.dist-info/METADATA": "Name: vllm\nVersion: 1.2\n",
    "sglang/__init__.py": "import torch",
    "sglang/reader.py": PARSER,
    "sglang/srt/function_call/function_call_parser.py": SGLANG,
    "sglang/srt/parser/reasoning_parser.py": "class ReasoningParser: pass\n",
    "sglang-3.4.dist-info/METADATA": "Name: sglang\nVersion: 3.4\n",
}


# The most that a replay may take, in seconds of processor time, and what its cell in the table says.
MOODS = {"read": (5.0, ""), "lose": (5.0, " !"), "slow": (0.0, "> "), "raise": (5.0, "raises"), "hang": (5.0, HANGS)}


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure is looked at, so one round is enough."""
    monkeypatch.setattr(clock, "ROUNDS", 1)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines, where an interpreter finds them."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))


def measured(package: str, mood: str) -> Beside:
    """A string argument in `qwen`, read by an engine in some mood."""
    engine = ENGINES[package]
    engine = Engine(package, engine.title, {"qwen": peers.Names(mood)}, engine.mode)
    with started(engine, sys.executable) as peer:
        assert (peer.version, peer.error) == ({"vllm": "1.2", "sglang": "3.4"}[package], "")
        return beside(peer, Output("qwen", Kind.STRING, 200))


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("package", "mood"), every(3, product(["vllm", "sglang"], MOODS)))
def test_an_engine_is_measured_and_marked(package: str, mood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    most, cell = MOODS[mood]
    monkeypatch.setattr(peers, "MOST_SECONDS", most)
    monkeypatch.setattr(peers, "HANG_SECONDS", 5.0 if mood != "hang" else 0.2)
    found = measured(package, mood)
    ((title, grammar, *cells),) = tables.peer_grammars([found])
    known = [one for one in cells if one != "–"]
    assert (title.startswith(ENGINES[package].title), grammar, len(known)) == (True, "`qwen`", 1)
    assert known[0].strip("0123456789.") == cell
    assert bool(tables.peer_medians([found])) == (not found.error)


def test_an_engine_that_is_not_there_says_so() -> None:
    with started(ENGINES["vllm"], sys.executable) as peer:
        assert (peer.version, peer.error) == ("", "ModuleNotFoundError: No module named 'vllm'")


@pytest.mark.parametrize(
    ("package", "read"),
    [
        (
            "transformers",
            {
                "qwen": {Kind.CONTENT, Kind.REASONING, Kind.STRING, Kind.CALLS, Kind.JSON},
                "qwen_coder": {Kind.CONTENT, Kind.REASONING, Kind.TAGGED},
            },
        ),
        ("partial_json_parser", {"json": {Kind.STRING, Kind.CALLS, Kind.JSON}}),
    ],
)
def test_an_installed_engine_reads_what_the_output_says(package: str, read: dict[str, set[Kind]]) -> None:
    outputs = [Output(grammar, kind, 60) for grammar, kinds in read.items() for kind in Kind if kind in kinds]
    with started(ENGINES[package], sys.executable) as peer:
        found = [beside(peer, output) for output in outputs if is_known(peer.engine, output)]
    assert [one.output.kind for one in found if not (one.wrong or one.cut or one.error)] == [
        output.kind for output in outputs
    ]
    assert min([one.theirs for one in found]) > 0
