"""The adapters of LMDeploy, mlx-lm, openai-harmony, mistral-common, transformers and vLLM's Rust parsers: on stand-ins,
and on the packages where the tests have them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.webapp.engines.library_stand_ins import RUST, harmony, lmdeploy, mlx
from tests.webapp.engines.stand_ins import WORDS, install
from tests.webapp.engines.test_adapters import TOOLS, ask, worker
from webapp.engines.protocol import read_card
from webapp.engines.workers import (
    adapter_harmony,
    adapter_installed,
    adapter_lmdeploy,
    adapter_mistral,
    adapter_mlx,
    adapter_transformers,
    adapter_vllm_rust,
)

REQUEST = {"tools": TOOLS, "tool_choice": "auto"}
TEMPLATE = {
    "start_anchor": "A:",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "content": {},
        "tool_calls": {
            "open": "<c>",
            "close": "</c>",
            "content": "json",
            "repeats": True,
            "transform": {"type": "function", "function": "{content}"},
        },
    },
}


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def said(one: Any) -> list[Any]:
    """What was sent at each step: reasoning, content, and calls as index, name and arguments."""
    return [
        sent
        and (
            sent.reasoning,
            sent.content,
            [(call.index, call.function.name, call.function.arguments) for call in sent.tool_calls],
        )
        for sent in one.sent
    ]


@pytest.mark.replays
def test_lmdeploy_is_called_as_its_runner_calls_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lmdeploy())
    adapter = adapter_lmdeploy.adapter()
    card = read_card(worker(adapter).hello({}))
    assert (card.names("tool"), card.names("reasoning")) == (["qwen3", "gpt-oss"], ["default"])
    found = ask(adapter, ["A", [7]], ["f", [8]], parser="qwen3", reasoning_parser="default", observe="state")
    assert said(found) == [("A", None, []), (None, "f", [(0, "f", ""), (0, None, None)]), None]
    assert WORDS == [(("default", "qwen3"), "auto", None), ("A", [7], False), ("f", [8], False), ("", [], True)]
    assert said(ask(adapter, ["f", [8]], parser="qwen3", path="whole")) == [(None, "f", [(0, "f", "{}")])]


@pytest.mark.parametrize(("name", "named"), [("default", ("default", None)), ("gpt-oss", None)])
def test_parsers_of_lmdeploy_may_stand_alone(monkeypatch: pytest.MonkeyPatch, name: str, named: Any) -> None:
    install(monkeypatch, lmdeploy())
    ask(adapter_lmdeploy.adapter(), ["a", [7]], parser=name, request={"tools": []})
    assert WORDS[0] == (named, "none", None)


def test_a_parser_that_lmdeploy_has_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lmdeploy())
    answer = worker(adapter_lmdeploy.adapter()).run({"request": {}, "parser": "x", "replays": [[]]})
    assert answer["replays"][0]["raised"]["message"] == "there is no parser x"


def test_what_of_lmdeploy_asks_for_torch_is_stood_in_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, module in [*sys.modules.items()]:
        monkeypatch.setitem(sys.modules, name, module)  # put right again afterwards
    (tmp_path / "lmdeploy" / "serve" / "openai").mkdir(parents=True)
    (tmp_path / "lmdeploy" / "__init__.py").write_text("import no_torch")
    (tmp_path / "lmdeploy" / "serve" / "openai" / "protocol.py").write_text(
        "from lmdeploy.utils import get_logger\nChatCompletionRequest = dict"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="pars"):
        adapter_lmdeploy.adapter()
    assert sys.modules["lmdeploy.serve.openai.protocol"].get_logger("x").name == "x"


@pytest.fixture
def mlx_adapter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    install(monkeypatch, mlx(tmp_path))
    sys.modules["mlx_lm.tool_parsers"].__path__ = [str(tmp_path)]
    return adapter_mlx.adapter()


def test_mlx_lm_is_called_in_the_order_of_its_server(mlx_adapter: Any) -> None:
    card = read_card(worker(mlx_adapter).hello({}))
    assert (card.names("tool"), card.names("reasoning"), card.server.many_tokens) == (
        ["json_tools"],
        ["think"],
        "never",
    )
    deltas = [[one] for one in ("<think>", "T", "</think>", "x", "[", "f", "]", "y")]
    found = ask(mlx_adapter, *deltas, parser="json_tools", reasoning_parser="think", observe="state")
    thought: Any = ("T", None, [])
    call: Any = (None, None, [(0, "f", "{}")])
    assert said(found) == [None, thought, None, (None, "x", []), None, None, call, (None, "y", []), (None, None, [])]
    assert WORDS == [("formatter", True, 1, True)]


@pytest.mark.parametrize(
    ("deltas", "reason", "last"),
    [
        (["[", "f"], "length", (None, None, [(0, "f", "{}")])),
        (["<"], "length", (None, "<", [])),
        (["<"], "stop", (None, None, [])),
        (["[", "f", "]"], "stop", (None, None, [])),
    ],
)
def test_the_end_of_mlx_lm_sends_what_is_open(mlx_adapter: Any, deltas: list[str], reason: str, last: Any) -> None:
    found = ask(mlx_adapter, *[[one] for one in deltas], parser="json_tools", finish_reason=reason)
    assert said(found)[-1] == last


def test_mlx_lm_may_begin_in_reasoning_and_has_no_other_parser(mlx_adapter: Any) -> None:
    request = {**REQUEST, "reasoning_open": True}
    assert said(ask(mlx_adapter, ["T"], parser="think", request=request))[0] == ("T", None, [])
    answer = worker(mlx_adapter).run({"request": request, "parser": "x", "replays": [[]]})
    assert answer["replays"][0]["raised"]["message"] == "there is no parser x"


@pytest.fixture
def harmony_adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    install(monkeypatch, harmony())
    return adapter_harmony.adapter()


@pytest.mark.replays
@pytest.mark.parametrize(
    ("given", "words"), [({}, "kept by no earlier download"), ({"tokenizer": "/nowhere"}, "not in ")]
)
def test_harmony_without_its_vocabulary_says_how_it_is_given(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], words: str
) -> None:
    def missing(name: Any) -> Any:
        raise OSError("error downloading or loading vocab file")

    modules = harmony()
    modules["openai_harmony"]["load_harmony_encoding"] = missing
    install(monkeypatch, modules)
    monkeypatch.setenv("TIKTOKEN_ENCODINGS_BASE", "")
    with pytest.raises(LookupError, match=rf"its vocabulary is {words}.*with --tokenizer PATH"):
        worker(adapter_harmony.adapter()).hello(given)


def test_harmony_is_fed_token_by_token(harmony_adapter: Any, tmp_path: Path) -> None:
    card = read_card(worker(harmony_adapter).hello({"tokenizer": str(tmp_path / "o200k_base.tiktoken")}))
    assert (card.names("tool"), os.environ["TIKTOKEN_ENCODINGS_BASE"]) == (["StreamableParser"], str(tmp_path))
    tokens = [[65, "A"], [2, "fg!"], [3, "g"], [120, "x"]]
    run = {"parser": "StreamableParser", "tokens": tokens, "observe": "state"}
    found = ask(harmony_adapter, ["A", [65]], ["fg!", [2]], ["xg", [120, 3]], ["y", []], **run)
    call = [(0, "f", ""), (0, None, "g")]
    assert said(found) == [
        ("A", None, []),
        (None, None, call),
        (None, "x", [(1, "f", ""), (1, None, "g")]),
        (None, "y", []),
        None,
    ]
    whole = ask(harmony_adapter, ["Af!x", []], path="whole", **run)
    assert said(whole) == [("A", "x", [(0, "f", "f")])]


@pytest.mark.replays
def test_ids_that_harmony_cannot_decode_are_encoded_anew(harmony_adapter: Any) -> None:
    worker(harmony_adapter).hello({})
    found = ask(harmony_adapter, ["x", [-1]], parser="StreamableParser", tokens=[[-1, "x"]])
    assert said(found) == [(None, "x", []), None]


@pytest.mark.replays
@pytest.mark.parametrize("make", ["harmony_adapter", "mistral_adapter", "transformers_adapter"])
def test_a_library_has_one_parser(request: pytest.FixtureRequest, make: str) -> None:
    adapter = request.getfixturevalue(make)
    worker(adapter).hello({})
    run = {"request": REQUEST, "parser": "x", "path": "whole", "replays": [[["a"]]]}
    assert worker(adapter).run(run)["replays"][0]["raised"]["message"] == "there is no parser x"


@pytest.fixture(scope="module")
def mistral_adapter() -> Any:
    return adapter_mistral.adapter()


@pytest.mark.replays
def test_mistral_common_reads_whole_outputs(mistral_adapter: Any) -> None:
    card = read_card(worker(mistral_adapter).hello({}))
    assert (card.name, card.streams, card.whole) == ("mistral-common", False, True)
    text = 'Hi.[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]'
    found = ask(mistral_adapter, [text, [1, 2]], parser="mistral", path="whole")
    assert said(found) == [(None, "Hi.", [(0, "f", '{"a": 1}')])]
    ids = mistral_adapter._tokenizer.tokenizer.encode("Hi.[X]", bos=False, eos=False)
    assert said(ask(mistral_adapter, ["Hi.[X]", ids], parser="mistral", path="whole")) == [(None, "Hi.[X]", [])]
    assert said(ask(mistral_adapter, ["[NOPE]", []], parser="mistral", path="whole")) == [(None, "[NOPE]", [])]
    (one,) = worker(mistral_adapter).run({"parser": "mistral", "replays": [[["a"]]]})["replays"]
    assert one["raised"]["message"] == "mistral-common reads whole outputs only"


def test_thinking_of_mistral_is_reasoning(mistral_adapter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    worker(mistral_adapter).hello({})  # loads it
    inner = mistral_adapter._tokenizer
    ids = [[number] for number in inner.tokenizer.encode("ab", bos=False, eos=False)]
    given = SimpleNamespace(tokenizer=inner.tokenizer, decode=inner.decode, BEGIN_THINK=1, END_THINK=2)
    monkeypatch.setattr(mistral_adapter, "_tokenizer", given)
    split = SimpleNamespace(
        _split_content_and_think_chunks=lambda tokens, begin, end: [(ids[0], True), (ids[0], False)]
    )
    monkeypatch.setattr(mistral_adapter, "_think", split)
    (found,) = said(ask(mistral_adapter, ["ab", []], parser="mistral", path="whole"))
    assert found == (found[0], found[0], [])


@pytest.fixture
def transformers_adapter(tmp_path: Path) -> Any:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"response_template": TEMPLATE}))
    adapter = adapter_transformers.adapter()
    adapter.take_tokenizer(str(tmp_path))
    return adapter


@pytest.mark.replays
def test_transformers_reads_by_the_template_of_a_tokenizer(transformers_adapter: Any) -> None:
    card = read_card(worker(transformers_adapter).hello({}))
    assert (card.name, card.tokenizer, card.wants) == ("transformers", "needed", "text")
    deltas = [["T</think>Hi"], ['<c>{"name": "f", "arguments": {"a": 1}}</c>'], ["."]]
    run = {"parser": "response_template", "request": {**REQUEST, "prompt_tail": "A:<think>"}, "observe": "state"}
    call = [(0, "f", '{"a": 1}')]
    found = said(ask(transformers_adapter, *deltas, **run))
    assert found == [("T", "Hi", []), (None, None, call), (None, ".", []), None]
    (whole,) = said(ask(transformers_adapter, *deltas[:2], path="whole", **run))
    assert whole == ("T", "Hi", call)


def test_a_template_may_be_given_alone_and_one_must_be_there(tmp_path: Path) -> None:
    adapter = adapter_transformers.adapter()
    (tmp_path / "t.json").write_text(json.dumps(TEMPLATE))
    adapter.take_tokenizer(str(tmp_path / "t.json"))
    assert said(ask(adapter, ["Hi"], parser="response_template"))[0] == (None, "Hi", [])
    for text, words in (
        ("{}", r"there is no response_template in t\.json"),
        ("{no", r"t\.json is not JSON \(Expecting property name .*\); give --tokenizer a tokenizer_config\.json"),
        ("[1]", r"t\.json holds no JSON object; give --tokenizer"),
    ):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(LookupError, match=words):
            adapter.take_tokenizer(str(tmp_path / "t.json"))


def test_the_rust_parsers_of_vllm_are_loaded_by_themselves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "vllm", raising=False)
    monkeypatch.setattr(metadata, "version", lambda name: "0.27.1")
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("import no_torch")
    with pytest.raises(ImportError, match=r"this vLLM has no vllm\._rust_tool_parser"):
        adapter_vllm_rust.adapter()
    (tmp_path / "vllm" / "_rust_tool_parser.py").write_text(RUST)
    adapter = adapter_vllm_rust.adapter()
    assert read_card(worker(adapter).hello({})).names("tool") == ["KimiK2ToolParser"]
    assert said(ask(adapter, ["a"], ["f"], parser="KimiK2ToolParser")) == [
        (None, "a", []),
        (None, "f", [(0, "f", "{}")]),
        (None, None, []),
    ]


@pytest.mark.parametrize(
    ("there", "adapters"),
    [
        ({"vllm", "transformers"}, {"vllm": "9.9"}),
        ({"mistral_common", "transformers"}, {"mistral": "9.9", "transformers": "9.9"}),
        ({"sglang", "lmdeploy"}, {"sglang": "9.9", "lmdeploy": "9.9"}),
        (set(), {}),
    ],
)
def test_servers_are_found_before_the_libraries_they_bring(
    monkeypatch: pytest.MonkeyPatch, there: set[str], adapters: dict[str, str]
) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: name if name in there else None)
    monkeypatch.setattr(metadata, "version", lambda name: "9.9")
    assert adapter_installed.adapter().hello()["adapters"] == adapters


def test_a_package_without_metadata_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: name if name == "vllm" else None)
    monkeypatch.setattr(metadata, "version", lambda name: (_ for _ in ()).throw(metadata.PackageNotFoundError))
    assert adapter_installed.adapter().hello()["adapters"] == {"vllm": ""}
