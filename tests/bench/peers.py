"""Other people's parsers on the same outputs, beside ours in the same run: how many times as long a token takes there.

A peer runs in an interpreter of its own (`peer_worker.py`), fed one token a delta as its server does, and takes turns
with ours, which is fed the same deltas. Where the parser of a peer is told ids, so is ours.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from parsers.replays.replay import parse
from parsers.vocabulary.types import Mode
from tests.bench.clock import best_of, seconds
from tests.bench.engine import begun, fed, feeding, message_of
from tests.bench.outputs import ARGUMENTS, Kind, Output, as_said

WORKER = Path(__file__).with_name("peer_worker.py")
MOST_SECONDS = 1.0  # of processor time for one replay of a peer; a longer one is cut short
HANG_SECONDS = 10.0  # of wall time, after which a replay that was not cut short hangs in one delta


class Names(NamedTuple):
    """What an engine calls the parsers of a grammar: that of calls, and that of reasoning where it has one.

    `asks_for` is a marker that must be in the vocabulary, although outputs need not hold it.
    """

    tool: str
    reasoning: str | None = None
    asks_for: str | None = None


VLLM = {
    "qwen": Names("hermes", "qwen3"),
    "qwen_coder": Names("qwen3_coder", "qwen3"),
    "deepseek_v31": Names("deepseek_v31", "deepseek_r1"),
    "deepseek_v32": Names("deepseek_v32"),
    "llama": Names("llama3_json", asks_for="<|python_tag|>"),
    "mistral_array": Names("mistral", "mistral"),
    "mistral_name": Names("mistral", "mistral"),
    "kimik2": Names("kimi_k2", "kimi_k2"),
    "glm45_moe": Names("glm45", "glm45"),
    "pythonic": Names("pythonic"),
    "minimax_m2": Names("minimax_m2", "minimax_m2"),
    "gemma4": Names("gemma4", "gemma4"),
    "seed_oss": Names("seed_oss", "seed_oss"),
}
SGLANG = {
    "qwen": Names("qwen25", "qwen3"),
    "qwen_coder": Names("qwen3_coder", "qwen3"),
    "deepseek_v31": Names("deepseekv31", "deepseek-r1"),
    "deepseek_v32": Names("deepseekv32", "deepseek-r1"),
    "llama": Names("llama3"),
    "mistral_array": Names("mistral", "mistral"),
    "mistral_name": Names("mistral", "mistral"),
    "kimik2": Names("kimi_k2", "kimi_k2"),
    "glm45_moe": Names("glm45", "glm45"),
    "harmony": Names("gpt-oss", "gpt-oss"),
    "pythonic": Names("pythonic"),
    "minimax_m2": Names("minimax-m2", "minimax"),
    "gemma4": Names("gemma4", "gemma4"),
}
_TEXT = {"content": "text", "repeats": True, "join": "", "optional": True}
_JSON_CALLS = {"open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": True, "optional": True}
_LISTED_CALLS = {
    "open": "[TOOL_CALLS]",
    "close": "</s>",
    "content": "json",
    "transform_each": True,
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
    "optional": True,
}
_TAGGED_CALLS = {
    "open_pattern": r"<tool_call>\s*<function=(?P<name>[^>\n]+)>",
    "close": "</tool_call>",
    "content": "xml-inline",
    "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>"},
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    "repeats": True,
    "optional": True,
}
TEMPLATES = {
    "qwen": (_JSON_CALLS, "<think>", "</think>"),
    "qwen_coder": (_TAGGED_CALLS, "<think>", "</think>"),
    "mistral_array": (_LISTED_CALLS, "[THINK]", "[/THINK]"),
}


def _template(grammar: str) -> dict[str, Any]:
    calls, opened, closed = TEMPLATES[grammar]
    thinking = {"open": opened, "close": closed, "content": "text", "optional": True}
    fields = {"content": _TEXT, "thinking": thinking, "tool_calls": calls}
    return {"version": 1, "defaults": {"role": "assistant"}, "start_anchor": "assistant\n", "fields": fields}


@dataclass(frozen=True)
class Engine:
    """A peer by the name of its package, which grammars and kinds it has a parser for, and whether that is told ids.

    `assembles`: what it gives is the whole message, which ours is then put together to as well.
    """

    package: str
    title: str
    names: dict[str, Names]
    mode: Mode = "text"
    kinds: frozenset[Kind] = frozenset(Kind)
    assembles: bool = False


OWN = (  # those that are installed with our tests
    Engine("transformers", "ResponseParser", {name: Names("", "") for name in TEMPLATES}, assembles=True),
    Engine("partial_json_parser", "partial_json_parser", {"json": Names("")}, kinds=ARGUMENTS),
)
GIVEN = (Engine("vllm", "vLLM", VLLM, "ids"), Engine("sglang", "SGLang", SGLANG))


@dataclass(frozen=True)
class Beside:
    """What an output costs there and here, in microseconds a token; here also with all deltas at hand.

    `design` is what the peer says of its parser. `cut`: its replay was cut short, so it is at least this. `wrong`: what
    came out is not what the output says. `error` is why there is no figure.
    """

    engine: Engine
    output: Output
    theirs: float = 0.0
    fed: float = 0.0
    replayed: float = 0.0
    design: str = ""
    cut: bool = False
    wrong: bool = False
    error: str = ""


@dataclass
class Peer:
    """A running worker. `version` is that of its engine; without one it could not be loaded, and `error` says why."""

    engine: Engine
    process: subprocess.Popen[str]
    version: str = ""
    error: str = ""

    def hear(self) -> dict[str, Any]:
        """The next line it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        said: dict[str, Any] = json.loads(line) if line else {"error": "the interpreter ended"}
        return said

    def ask(self, output: Output) -> dict[str, Any]:
        """What comes of replays of an output."""
        assert self.process.stdin is not None
        names = self.engine.names[output.grammar]
        asked = {
            "tool": names.tool,
            "reasoning": names.reasoning if output.kind is Kind.REASONING else None,
            "template": _template(output.grammar) if output.grammar in TEMPLATES else None,
            "deltas": [(piece.token_id, piece.text) for piece in output.pieces],
            "special": output.markers | ({names.asks_for: 0} if names.asks_for else {}),
            "tools": output.tools,
            "times": 3,
            "most": MOST_SECONDS,
            "patience": HANG_SECONDS,
        }
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        return self.hear()


@contextmanager
def started(engine: Engine, python: str) -> Iterator[Peer]:
    """A worker in that interpreter; it ends with the block."""
    command = [python, "-u", str(WORKER), engine.package]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8") as process:
        try:
            peer = Peer(engine, process)
            said = peer.hear()
            peer.version, peer.error = said.get("version", ""), said.get("error", "")
            yield peer
        finally:
            process.kill()


def is_known(engine: Engine, output: Output) -> bool:
    """Return whether the engine has a parser for an output."""
    names = engine.names.get(output.grammar)
    return (
        names is not None
        and output.kind in engine.kinds
        and (output.kind is not Kind.REASONING or names.reasoning is not None)
    )


def beside(peer: Peer, output: Output) -> Beside:
    """What an output costs there and here, taking turns."""
    mode, last = peer.engine.mode, dict[str, Any]()
    deltas = output.deltas(mode)
    made, parser, tokens = list(deltas), output.parser, len(output.pieces)
    markers = output.markers if mode == "ids" else None

    def theirs() -> float:
        last.update(peer.ask(output))
        return float("inf") if "error" in last else last["seconds"] * tokens / last["fed"]

    best = best_of(
        theirs,
        partial(feeding, output, mode, made, assembled=peer.engine.assembles),
        partial(seconds, partial(parse, parser, deltas, output.context, mode=mode, markers=markers)),
    )
    if "error" in last:
        return Beside(peer.engine, output, error=last["error"])
    ours = message_of(fed(begun(output, mode), made))
    assert says(output, *as_said(ours)), f"{output.grammar}, {output.kind}: we read something else"
    cut = last["fed"] < tokens
    wrong = not cut and not says(output, *last["message"].values())
    there, here, replayed = [1e6 * one / tokens for one in best]
    return Beside(peer.engine, output, there, here, replayed, last["design"], cut=cut, wrong=wrong)


def says(output: Output, content: str, reasoning: str, calls: list[tuple[str, str]]) -> bool:
    """Return whether a message is what the output says."""
    try:
        return output.is_said_by(content, reasoning, [(name, json.loads(text)) for name, text in calls])
    except ValueError:
        return False
