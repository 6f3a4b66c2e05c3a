"""The worked examples of docs/examples keep the protocol and parse: the class of docs/extending.md, JavaScript on a
stand-in for its package, Go where it is there. With the real packages `make test-engines` runs them, and the one in
C++."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webapp.engines.conformance import conformance
from webapp.engines.engine_host import EngineHost
from webapp.engines.entries import Entry

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"
NODE = Path(sys.executable).with_name("node")
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
PACKAGE = """
const parser = () => ({
  createStreamParser: () =>
    new TransformStream({
      transform(part, out) {
        if (part.delta === "?") throw new TypeError("no ?");
        if (part.type === "finish") return;
        if (part.delta !== "f") return out.enqueue(part);
        out.enqueue({ type: "tool-input-start", id: "a", toolName: "f" });
        out.enqueue({ type: "tool-input-delta", id: "a", delta: "{" });
        out.enqueue({ type: "tool-call", toolCallId: "a", toolName: "f", input: "{}" });
        out.enqueue({ type: "tool-call", toolCallId: "b", toolName: "f", input: "[]" });
      },
    }),
  parseGeneratedText: ({ text }) => [{ type: "text", text }],
});
export { parser as hermesProtocol, parser as morphXmlProtocol };
export { parser as yamlXmlProtocol, parser as qwen3CoderProtocol };
"""


def kept(host: EngineHost) -> None:
    assert [one for one in conformance(host) if one.wrong] == []


def replayed(host: EngineHost, parser: str, deltas: list[str], **more: Any) -> dict[str, Any]:
    run = {"parser": parser, "request": {"tools": TOOLS}, "replays": [[[text] for text in deltas]], **more}
    answer: dict[str, Any] = host.raw("run", run)["replays"][0]
    return answer


def said(answer: dict[str, Any]) -> list[Any]:
    return [
        one and (one["content"], [(call["index"], *call["function"].values()) for call in one["tool_calls"]])
        for one in answer["sent"]
    ]


@pytest.fixture
def javascript(tmp_path: Path) -> Iterator[EngineHost]:
    package = tmp_path / "node_modules" / "@ai-sdk-tool" / "parser"
    (package / "dist").mkdir(parents=True)
    (package / "dist" / "index.js").write_text(PACKAGE)
    (package / "package.json").write_text('{"version": "9.9", "type": "module", "main": "./dist/index.js"}')
    host = EngineHost("js", Entry(command=(str(NODE), str(EXAMPLES / "ai_sdk_worker.mjs")), folder=str(tmp_path)))
    yield host
    host.close()


@pytest.mark.skipif(not NODE.exists(), reason="there is no Node")
def test_the_example_in_javascript_keeps_the_protocol_and_sends_what_is_streamed(javascript: EngineHost) -> None:
    kept(javascript)
    assert javascript.card().version == "9.9"
    call = [(0, "f", ""), (0, None, "{"), (0, None, "}"), (1, "f", "[]")]
    assert said(replayed(javascript, "hermes", ["Hi", "f"])) == [("Hi", []), ("", call), None]
    assert said(replayed(javascript, "hermes", ["Hi"], path="whole")) == [("Hi", [])]


@pytest.mark.skipif(not NODE.exists(), reason="there is no Node")
def test_what_a_parser_in_javascript_throws_is_told_at_its_step(javascript: EngineHost) -> None:
    found = replayed(javascript, "hermes", ["Hi", "?", "more"])
    assert (said(found), found["raised"]) == ([("Hi", [])], {"step": 2, "kind": "TypeError", "message": "no ?"})


@pytest.mark.replays
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go")
def test_the_example_in_go_keeps_the_protocol_and_reads_calls(tmp_path: Path) -> None:
    worker = tmp_path / "worker"
    subprocess.run(["go", "build", "-o", str(worker), str(EXAMPLES / "worker.go")], check=True)
    host = EngineHost("go", Entry(command=(str(worker),)))
    kept(host)
    text = 'Hi <to<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>.<tool'
    for deltas in ([text], [*text]):
        found = [one for one in replayed(host, "tags", deltas)["sent"] if one]
        calls = [call for one in found for call in one["tool_calls"]]
        assert "".join([one["content"] for one in found]) == "Hi <to.<tool"
        assert calls == [{"index": 0, "function": {"name": "f", "arguments": '{"a": 1}'}}]
    host.close()


def test_the_class_of_the_documentation_is_run(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(class MyParser:.*?)```", text, re.DOTALL)
    (tmp_path / "mymodule.py").write_text(code)
    assert len(code.splitlines()) <= 10
    entry = {"python": sys.executable, "class": "mymodule:MyParser", "path": str(tmp_path)}
    host = EngineHost("mine", Entry.model_validate(entry))
    kept(host)
    assert replayed(host, "MyParser", ["Hi", "!"])["sent"] == [{"content": "Hi"}, {"content": "!"}, None]
    host.close()
