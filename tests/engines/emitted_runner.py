"""Runs exported tests in the interpreter of an engine, with small stand-ins for what only its repository has.

`python emitted_runner.py FOLDER`: every file of it; prints a line of JSON with why each fails, "" where it passes. It
has nothing of ours but the worker's adapter, which loads SGLang's parsers where torch is absent.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
import unittest
from importlib import util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

WORKERS = Path(__file__).resolve().parents[2] / "webapp" / "engines" / "workers"


def module(name: str, **content: Any) -> None:
    """A module of that name, and those it stands in."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        made = sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
        vars(made).setdefault("__path__", [])
    vars(sys.modules[name]).update(content)


def use_pytest() -> None:
    """As much of pytest as these files ask for."""

    def parametrize(names: str, values: Any) -> Any:
        def mark(test: Any) -> Any:
            test.given = [{names: value} for value in values]
            return test

        return mark

    module("pytest", mark=SimpleNamespace(parametrize=parametrize))


def use_sglang() -> None:
    """What registers a test, and its class."""
    sys.path.insert(0, str(WORKERS))
    importlib.import_module("adapter_sglang").stand_in()
    module("sglang.test.ci.ci_register", register_cpu_ci=lambda *_: None)
    module("sglang.test.test_utils", CustomTestCase=unittest.TestCase)


def use_vllm() -> None:
    """The replay harness."""
    protocol = importlib.import_module("vllm.entrypoints.openai.chat_completion.protocol")

    def replay_streaming(
        parser: Any, tokens: Any, chunk_size: Any, tools: Any, prompt_token_ids: Any, finished_on_last: bool = False
    ) -> list[Any]:
        size, request, said = chunk_size or len(tokens), test_request(tools), []
        for at in range(0, len(tokens), size):
            ids, texts = zip(*tokens[at : at + size], strict=True)
            prompt = None if at else prompt_token_ids or []
            last = finished_on_last and at + size >= len(tokens)
            said.append(parser.parse_delta("".join(texts), [*ids], request, prompt_token_ids=prompt, finished=last))
        return said

    def test_request(tools: Any) -> Any:
        return protocol.ChatCompletionRequest(model="m", messages=[], tools=tools)

    def whole(parser: Any, sample: Any, request: Any) -> Any:
        text = "".join([text for _, text in sample.tokens])
        reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
        told = [{"name": call.name, "arguments": call.arguments} for call in calls or []]
        return SimpleNamespace(reasoning=reasoning or "", content=content or "", tool_calls=told)

    module(
        "tests.parser.engine.replay_harness",
        Sample=SimpleNamespace,
        _test_request=test_request,
        assert_parse_output=compare,
        collect_output=collect,
        MockTokenizer=lambda vocab, tokens: Tokens(SimpleNamespace(vocab=vocab, tokens=tokens)),
        make_mock_tokenizer=Tokens,
        parse_non_streaming=whole,
        replay_streaming=replay_streaming,
    )
    module("tests.tool_parsers.test_format_conformance", FormatFixture=SimpleNamespace)
    module("tests.tool_parsers.utils", run_tool_extraction_streaming_batched=batched)


def batched(parser: Any, texts: Any, ids: Any, lengths: Any, request: Any, assert_one_tool_per_delta: bool) -> Any:
    """A tool parser alone, fed by groups of tokens."""
    at = 0
    sent: list[Any] = []
    for length in lengths:
        end = at + length
        before, now = "".join(texts[:at]), "".join(texts[:end])
        delta = now[len(before) :]
        said = parser.extract_tool_calls_streaming(before, now, delta, ids[:at], ids[:end], ids[at:end], request)
        sent, at = [*sent, said], end
    found = collect(sent)
    calls = [SimpleNamespace(function=SimpleNamespace(**call)) for call in found.tool_calls]
    return SimpleNamespace(other_content=found.content, tool_calls=calls)


class Tokens:
    """The tokens of a sample."""

    bos_token_id = eos_token_id = pad_token_id = None

    def __init__(self, sample: Any) -> None:
        self.vocab = {**sample.vocab, **{text: number for number, text in sample.tokens if text not in sample.vocab}}
        self.all_special_tokens, self.all_special_ids = [*sample.vocab], [*sample.vocab.values()]
        self.texts = dict(sample.tokens)  # as vLLM's own harness, which knows no text of other ids

    def get_vocab(self) -> dict[str, int]:
        """Ids by text."""
        return self.vocab

    def encode(self, text: str, **_: Any) -> list[int]:
        """The ids of a text that is one token."""
        return [self.vocab[text]] if text in self.vocab else []

    def decode(self, ids: list[int], **_: Any) -> str:
        """The text of some ids."""
        return "".join([self.texts.get(number, "") for number in ids])


def collect(deltas: Any) -> Any:
    """What a client makes of the deltas."""
    said = SimpleNamespace(reasoning="", content="", tool_calls=[])
    calls: dict[int, dict[str, str]] = {}
    for delta in [delta for delta in deltas if delta is not None]:
        said.reasoning += delta.reasoning or ""
        said.content += delta.content or ""
        for call in delta.tool_calls or []:
            known = calls.setdefault(call.index, {"name": "", "arguments": ""})
            known["name"] = known["name"] or call.function.name or ""
            known["arguments"] += call.function.arguments or ""
    said.tool_calls = [*calls.values()]
    return said


def compare(output: Any, sample: Any) -> None:
    """As the harness compares."""
    for field in ("reasoning", "content"):
        wanted = getattr(sample, "expected_" + field)
        assert wanted in (None, getattr(output, field)), f"{field}: {getattr(output, field)!r}, expected {wanted!r}"
    if sample.expected_tool_calls is None:
        return
    names = [call["name"] for call in output.tool_calls]
    assert names == [call["name"] for call in sample.expected_tool_calls], names
    for call, wanted in zip(output.tool_calls, sample.expected_tool_calls, strict=True):
        assert "arguments" not in wanted or json.loads(call["arguments"]) == wanted["arguments"], call


def why(path: Path) -> str:
    """Why a file fails."""
    spec = util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # noqa: PT018 - said to the type checker
    found = util.module_from_spec(spec)
    spec.loader.exec_module(found)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(found).run(result)
    said = [text.strip().splitlines()[-1] for _, text in (*result.failures, *result.errors)]
    for name, test in vars(found).items():
        for given in getattr(test, "given", [{}]) if name.startswith("test_") else ():
            try:
                test(**given)
            except (AssertionError, ValueError) as error:
                said.append(f"{type(error).__name__}: {error}")
    return "; ".join(said)


if __name__ == "__main__":
    use_pytest()
    use_vllm() if util.find_spec("vllm") else use_sglang()
    print(json.dumps({path.stem: why(path) for path in sorted(Path(sys.argv[1]).glob("test_*.py"))}))
