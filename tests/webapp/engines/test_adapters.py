"""The adapters of vLLM and SGLang call what those servers call, in their order; here on stand-ins."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from enum import Enum
from functools import partial
from importlib import util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.vocabulary.observed import Move, Table
from tests.webapp.engines import own_parsers
from tests.webapp.engines.stand_ins import WORDS, FunctionCallParser, Parser, install, sglang, vllm
from webapp.engines.protocol import read_card, read_replays
from webapp.engines.workers import adapter_class, adapter_sglang
from webapp.engines.workers.engine_worker import Printed, Worker, told

TOOLS = [{"type": "function", "function": {"name": "f"}}]
RUN: dict[str, Any] = {
    "request": {"tools": TOOLS, "tool_choice": "auto"},
    "vocabulary": {"<t>": 5},
    "tokens": [[7, "a"]],
}


class Unguarded:
    """No guard."""

    on = False


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def worker(adapter: Any) -> Worker:
    return Worker(adapter, Printed(sys.stderr), Unguarded())


def ask(adapter: Any, *deltas: Any, **more: Any) -> Any:
    answer = json.loads(json.dumps(worker(adapter).run({**RUN, **more, "replays": [list(deltas)]})))
    steps = 1 if more.get("path") == "whole" else len(deltas) + 1
    (one,) = read_replays(answer, [steps])
    assert one.raised is None, one.raised
    return one


def vllm_adapter(patch: pytest.MonkeyPatch, own: str = "", plugin: str = "", **how: Any) -> Any:
    install(patch, vllm(**how))
    from webapp.engines.workers import adapter_vllm

    return adapter_vllm.adapter(own, plugin)


def sglang_adapter(patch: pytest.MonkeyPatch, own: str = "") -> Any:
    install(patch, sglang())
    return adapter_sglang.adapter(own)


def test_vllm_says_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    card = read_card(worker(vllm_adapter(monkeypatch)).hello({}))
    assert (card.name, card.version, card.wants, card.contract) == ("vllm", "9.9", "ids", "vllm")
    assert (card.names("tool"), card.names("reasoning")) == (["hermes", "qwen3_coder"], ["qwen3"])


def test_vllm_streams_by_the_servers_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ask(
        vllm_adapter(monkeypatch), ["a", [7]], ["f", [8]], parser="hermes", reasoning_parser="qwen3", observe="state"
    )
    assert WORDS == [
        ("get_parser", "hermes", "qwen3"),
        ("made", 5, True, {}),
        ("made", 5, True, {}),
        ("adjust", "auto"),
        ("step", "a", None),
        ("parse_delta", "a", [7], [], False),
        ("step", "f", None),
        ("parse_delta", "f", [8], [], False),
        ("step", "", "stop"),
        ("parse_delta", "", [], [], True),
    ]
    assert [sent and sent.content for sent in found.sent] == ["a", "f", None]
    assert [(call.index, call.id, call.function.name) for call in found.sent[1].tool_calls] == [
        (0, "i", "f"),
        (1, None, None),
    ]


def test_vllm_without_a_processor_is_called_by_parse_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter, more = vllm_adapter(monkeypatch, processor=False), {"finish_reason": "stop", "prompt_ids": [1]}
    found = ask(adapter, ["a", [7]], ["b", [8]], parser="hermes", **more)
    assert [word for word in WORDS if word[0] == "parse_delta"] == [
        ("parse_delta", "a", [7], [1], False),
        ("parse_delta", "b", [8], [1], False),
        ("parse_delta", "", [], [1], True),
    ]
    assert found.sent[0].content == "a"


@pytest.mark.replays
@pytest.mark.parametrize(
    ("deltas", "reason", "ends"),
    [
        ([["a", [7]]], "stop", [True]),
        ([["a", [7]], ["b", [8]]], "stop", [False, False, True]),
        ([["a", [7]], ["b", [8]]], "length", [False, True]),
        ([["a", [7]], ["bc", [8, 9]]], "stop", [False, True]),
        ([["a", [7]], ["bc", [8, 9]], ["", []]], "stop", [False, False, False, True]),
    ],
)
def test_the_end_comes_with_the_last_delta_where_vllm_has_it_there(
    monkeypatch: pytest.MonkeyPatch, deltas: list[Any], reason: str, ends: list[bool]
) -> None:
    found = ask(vllm_adapter(monkeypatch, processor=False), *deltas, parser="hermes", finish_reason=reason)
    assert [word[-1] for word in WORDS if word[0] == "parse_delta"] == ends
    assert len(found.sent) == len(deltas) + 1


@pytest.mark.parametrize("processor", [True, False])
def test_vllm_reads_whole_outputs_by_parse(monkeypatch: pytest.MonkeyPatch, processor: bool) -> None:
    adapter = vllm_adapter(monkeypatch, processor=processor)
    (sent,) = ask(adapter, ["ab", [7]], parser="hermes", path="whole", prompt_ids=[3]).sent
    assert (sent.content, sent.tool_calls[0].function.name, ("prompt", [3]) in WORDS) == ("ab", "f", True)


def test_a_reasoning_parser_of_vllm_may_be_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ask(vllm_adapter(monkeypatch), ["a", [7]], parser="qwen3")
    assert WORDS[0] == ("get_parser", None, "qwen3")


@pytest.mark.replays
@pytest.mark.parametrize(("name", "words"), [("Parser", "made"), ("Processor", "get_parser")])
def test_a_class_for_vllm_is_its_parser_or_registered(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    adapter = vllm_adapter(monkeypatch, f"tests.webapp.engines.stand_ins:{name}")
    ask(adapter, ["a", [7]], parser=name)
    assert (WORDS[0][0], read_card(worker(adapter).hello({})).names("tool")) == (words, [name])


def test_the_request_is_adjusted_by_another_instance_that_knows_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = vllm_adapter(monkeypatch)
    ask(adapter, ["a", [7]], parser="hermes", prompt_ids=[5])
    assert [word for word in WORDS if word[0] in ("prompt", "adjust")] == [("prompt", [5]), ("adjust", "auto")]
    WORDS.clear()
    ask(adapter, ["a", [7]], parser="hermes", request={"tools": [], "tool_choice": "auto"})
    assert [word for word in WORDS if word[0] == "adjust"] == []


REGISTERS = """
from vllm.tool_parsers import ToolParserManager
class Mine: pass
ToolParserManager.register_module(name={name!r}, module=Mine, force=True)
"""


def plugin(folder: Path, text: str) -> str:
    """A plugin with that text."""
    file = folder / "acme_plugin.py"
    file.write_text(text, "utf-8")
    return str(file)


@pytest.mark.replays
@pytest.mark.parametrize("name", ["acme", "hermes", "qwen3_coder"])
def test_the_parsers_that_a_plugin_registers_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.delitem(sys.modules, "acme_plugin", raising=False)
    adapter = vllm_adapter(monkeypatch, plugin=plugin(tmp_path, REGISTERS.format(name=name)))
    assert read_card(worker(adapter).hello({})).plugged == [name]


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        (None, "there is no Python file", ""),
        ("def f(:", "SyntaxError: invalid syntax; vLLM logs that", "line 1 of acme_plugin.py"),
        ("\nimport nothing_here", "No module named 'nothing_here'; vLLM", "<module>, line 2 of acme_plugin.py"),
        ("x = 1", "it registers no parser; give a class", "acme_plugin.py"),
    ],
)
def test_a_plugin_that_registers_nothing_is_refused_with_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, said: str, place: str
) -> None:
    file = str(tmp_path / "acme_plugin.py") if text is None else plugin(tmp_path, text)
    with pytest.raises(Exception, match=said) as raised:
        vllm_adapter(monkeypatch, plugin=file)
    assert told(raised.value)["place"] == place


def test_the_tool_parser_openai_is_the_one_for_gpt_oss(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    adapter = vllm_adapter(monkeypatch, plugin=plugin(tmp_path, REGISTERS.format(name="openai")))
    assert "openai" in read_card(worker(adapter).hello({})).names("tool")
    ask(adapter, ["a", [7]], parser="openai")
    assert WORDS[0] == ("get_parser", "openai", None, "is_harmony")


def test_sglang_says_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    card = read_card(worker(sglang_adapter(monkeypatch)).hello({}))
    assert (card.name, card.wants, card.names("tool"), card.names("reasoning")) == (
        "sglang",
        "text",
        ["qwen25"],
        ["k2_horizon", "qwen3"],
    )


def test_sglang_takes_reasoning_for_open_where_its_server_always_does(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = sglang_adapter(monkeypatch)
    for parser in ("k2_horizon", "qwen3"):
        found = ask(adapter, ["A"], ["b"], parser="qwen25", reasoning_parser=parser)
        assert found.raised is None
    forced = {one[1]: one[3] for one in WORDS if one[0] == "reasoning"}
    assert forced == {"k2_horizon": True, "qwen3": False}


def test_sglang_reads_reasoning_first_and_flushes_both(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = sglang_adapter(monkeypatch)
    found = ask(adapter, ["A"], ["b"], ["f"], parser="qwen25", reasoning_parser="qwen3", observe="state")
    assert WORDS == [
        ("calls", "qwen25", 1),
        ("reasoning", "qwen3", True, False, {}, True),
        ("chunk", ""),
        ("chunk", "b"),
        ("chunk", "f"),
        ("chunk", "?"),
        ("end",),
    ]
    assert [(sent.reasoning, sent.content) for sent in found.sent] == [
        ("A", None),
        (None, "b"),
        (None, None),
        (None, "?!"),
    ]
    assert [(call.id, call.function.name, call.function.arguments) for call in found.sent[2].tool_calls] == [
        ("call_0", "f", ""),
        (None, None, '{"a"'),
    ]
    assert [call.function.arguments for call in found.sent[3].tool_calls] == [": 1}"]


def test_sglang_reads_whole_outputs_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = sglang_adapter(monkeypatch)
    (sent,) = ask(adapter, ["A/bf"], parser="qwen25", reasoning_parser="qwen3", path="whole").sent
    assert (sent.reasoning, sent.content, sent.tool_calls[0].function.name) == ("A", "b", "f")
    (plain,) = ask(adapter, ["ab"], parser="qwen25", path="whole").sent
    assert (plain.reasoning, plain.content, plain.tool_calls) == (None, "ab", [])


def test_sglang_asks_no_parser_for_calls_that_nobody_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = sglang_adapter(monkeypatch)
    found = ask(adapter, ["f"], parser="qwen25", request={"tools": [], "tool_choice": "auto"})
    assert ([sent and sent.content for sent in found.sent], WORDS[1:]) == (["f", None], [])
    found = ask(adapter, ["A"], ["b"], parser="qwen3", finish_reason="abort")
    assert [sent and (sent.reasoning, sent.content) for sent in found.sent] == [("A", None), (None, "b"), None]


@pytest.mark.replays
def test_a_detector_of_ones_own_is_one_of_sglangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", {})
    adapter = sglang_adapter(monkeypatch, "tests.webapp.engines.stand_ins:Detector")
    assert read_card(worker(adapter).hello({})).names("tool") == ["Detector"]
    assert ask(adapter, ["a"], parser="Detector").sent[0].content == "a"


def test_what_sglang_imports_besides_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = sglang()
    del modules["sglang.srt.entrypoints.openai.protocol"]
    install(monkeypatch, modules)
    for name in ("xgrammar", "xgrammar.structural_tag", *modules, "sglang.srt.entrypoints.openai.protocol"):
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name) or None)  # put right again afterwards
    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name in ("sglang", "xgrammar") else found(name))
    adapter_sglang.stand_in()
    tool = sys.modules["sglang.srt.entrypoints.openai.protocol"].Tool(**TOOLS[0])
    assert (tool.function.name, sys.modules["xgrammar.structural_tag"].Anything.__name__) == ("f", "Anything")
    with pytest.raises(AttributeError):
        sys.modules["xgrammar"].__path__  # noqa: B018


def test_a_class_is_run_by_its_methods_or_by_the_adapter_of_its_base(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(adapter_class.adapter("tests.webapp.engines.own_parsers:Plain"), adapter_class.Class)
    with pytest.raises(TypeError, match="a class is given as module:Class"):
        adapter_class.adapter("own_parsers")
    with pytest.raises(TypeError, match="Shapeless has the methods of no known shape, which are: begin"):
        adapter_class.adapter("tests.webapp.engines.own_parsers:Shapeless")
    base = type("ToolParser", (), {"__module__": "vllm.tool_parsers"})
    monkeypatch.setattr("tests.webapp.engines.own_parsers.Plain", type("Mine", (base,), {}))
    monkeypatch.setitem(adapter_class.WORKER, "adapter_of", lambda *given: given)
    name, kind = adapter_class.adapter("tests.webapp.engines.own_parsers:Plain")
    assert (name, kind.__name__) == ("vllm", "Mine")


OWN = "tests.webapp.engines.own_parsers"
TOLD = {"request": {"tools": TOOLS, "tool_choice": "auto"}, "vocabulary": {}, "tokens": []}


def of_own(name: str, *deltas: Any, **more: Any) -> Any:
    adapter = adapter_class.adapter(f"{OWN}:{name}")
    (found,) = worker(adapter).run({**RUN, **TOLD, "parser": name, "replays": [[*deltas]], **more})["replays"]
    return found


@pytest.mark.replays
def test_a_class_as_vllms_of_reasoning_and_calls_is_fed_as_its_server_feeds_it() -> None:
    sent = of_own("Unified", ["(a)", [7]], ["bf", [8]], ["", []], prompt_ids=[1])["sent"]
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    assert [one and {key: value for key, value in one.items() if value} for one in sent] == [
        {"reasoning": "(a)"},
        {"content": "b[8][1]False", "tool_calls": [call]},
        {"content": "[][1]False"},
        {"content": "[][1]True"},
    ]
    only = of_own("Unified", ["b", [8]])["sent"]
    assert (only[0]["content"], only[1]) == ("b[8][]True", None), "with the delta that is all there is it is told"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("UnifiedBothWays", "f", {"reasoning": "Hm.", "content": "[7]", "tool_calls": [("f", "True")]}),
        ("UnifiedBothWays", "a", {"reasoning": "Hm.", "content": "[7]", "tool_calls": []}),
        ("UnifiedOfTwo", "a", {"content": "a"}),
    ],
)
def test_a_class_of_that_shape_reads_whole_outputs_as_its_server_asks_it(
    name: str, text: str, said: dict[str, Any]
) -> None:
    (found,) = of_own(name, [text, [7]], path="whole")["sent"]
    calls = [(one["function"]["name"], one["function"]["arguments"]) for one in found.get("tool_calls", ())]
    assert {**found, **({"tool_calls": calls} if "tool_calls" in found else {})} == said


def test_what_such_a_class_returns_and_is_no_delta_is_told_with_the_method() -> None:
    raised = of_own("Unified", ["!"])["raised"]
    assert (raised["step"], raised["kind"]) == (1, "ShapeError")
    assert raised["message"] == "parse_delta returned a str, which has neither reasoning nor content nor tool_calls"
    assert re.fullmatch(r"parse_delta, line \d+ of own_parsers.py", raised["place"])
    raised = of_own("UnifiedBothWays", ["none"], path="whole")["raised"]
    assert raised["message"] == "parse returned a NoneType, not a tuple of reasoning, content, tool_calls"
    assert raised["place"].startswith("parse, line ")
    with pytest.raises(TypeError, match=r"Unending\.parse_delta is called with 4 arguments and finished: got an unexp"):
        adapter_class.adapter(f"{OWN}:Unending")


def test_a_class_as_vllms_gets_the_tools_where_it_takes_them() -> None:
    assert of_own("LegacyOfTools", ["a"])["sent"][0] == {"content": "f"}


def bound(tokenizer: Any, *, tools: Any) -> Any:
    """What a partial of it was given already stays."""
    return tokenizer, tools


@pytest.mark.parametrize(
    ("make", "made"),
    [
        (lambda tokenizer, strict=True: (tokenizer, strict), (1, True)),
        (lambda tokenizer, *, strict=True: (tokenizer, strict), (1, True)),
        (lambda tokenizer, strict=True, tools=None: (tokenizer, strict, tools), (1, True, 2)),
        (lambda tokenizer, tools=None: (tokenizer, tools), (1, 2)),
        (lambda tokenizer, *, tools=None: (tokenizer, tools), (1, 2)),
        (lambda tokenizer, functions: (tokenizer, functions), (1, 2)),
        (lambda tokenizer, functions, /: (tokenizer, functions), (1, 2)),
        (lambda *given: given, (1, 2)),
        (lambda tokenizer, *given: (tokenizer, given), (1, (2,))),
        (lambda tokenizer, **more: (tokenizer, more), (1, {})),
        (lambda tokenizer, **tools: (tokenizer, tools), (1, {})),
        (lambda tokenizer: tokenizer, 1),
        (lambda: "made", "made"),
        (partial(bound, tools=3), (1, 3)),
        (max, 2),  # which is written in C, and tells nothing of what it takes
    ],
)
def test_what_makes_a_parser_gets_the_tools_as_tools_or_as_the_second_that_it_must_get(make: Any, made: Any) -> None:
    assert adapter_class.made_with(make, 1, 2) == made


@pytest.mark.replays
@pytest.mark.parametrize(("name", "said"), [("LegacyOfChoice", "True "), ("LegacyOfNamed", "True f")])
def test_a_class_as_vllms_keeps_what_is_its_own_to_choose(name: str, said: str) -> None:
    assert of_own(name, ["a"])["sent"][0] == {"content": said}


@pytest.mark.parametrize(
    "shape", [own_parsers.Plain, own_parsers.Detector, own_parsers.LegacyOfTools, own_parsers.Unified]
)
def test_the_parsers_of_a_class_can_be_made_by_a_function(shape: Any) -> None:
    made: list[tuple[Any, ...]] = []

    def make(*given: Any) -> Any:
        made.append(given)
        return shape(*given)

    assert ask(adapter_class.adapter_for(shape, make), ["a"], parser=shape.__name__).raised is None
    assert len(made) == 1


F = {"index": 0, "function": {"name": "f", "arguments": '{"whole": 1}'}}
AUTO = {"index": 0, "function": {"name": "f", "arguments": "auto"}}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("BothWays", "af", {"content": "a", "tool_calls": [F]}),
        ("BothWays", "f", {"content": None, "tool_calls": [F]}),
        ("BothWays", "a", {"content": "a"}),
        ("BothWays", "", {"content": None}),
        ("LegacyBothWays", "f", {"content": None, "tool_calls": [AUTO]}),
        ("LegacyBothWays", "a", {"content": "a", "tool_calls": []}),
        ("LegacyOfDicts", "f", {"content": None, "tool_calls": [AUTO]}),
        ("LegacyOfDicts", "no", {"content": "no", "tool_calls": []}),
        ("LegacyParsed", "a", {"content": "a of 0"}),
    ],
)
@pytest.mark.replays
def test_a_class_of_a_servers_shape_reads_whole_outputs_by_its_second_path(
    name: str, text: str, said: dict[str, Any]
) -> None:
    adapter = adapter_class.adapter(f"tests.webapp.engines.own_parsers:{name}")
    card = read_card(worker(adapter).hello({}))
    assert card.whole
    run = {**RUN, "request": {"tools": TOOLS, "tool_choice": "auto"}, "parser": card.names("tool")[0], "path": "whole"}
    answer = worker(adapter).run({**run, "vocabulary": {}, "tokens": [], "replays": [[[text]]]})
    assert answer["replays"][0]["sent"] == [said]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("none", "extract_tool_calls returned a NoneType, which has neither tool_calls nor content"),
        ("number", "extract_tool_calls returned an int as tool_calls, not a list of calls"),
    ],
)
def test_what_a_class_returns_of_a_whole_output_and_is_none_is_told_where_its_method_is(text: str, said: str) -> None:
    adapter = adapter_class.adapter("tests.webapp.engines.own_parsers:LegacyOfDicts")
    run = {**RUN, "request": {"tools": TOOLS, "tool_choice": "auto"}, "parser": "LegacyOfDicts", "path": "whole"}
    answer = worker(adapter).run({**run, "vocabulary": {}, "tokens": [], "replays": [[[text]]]})
    raised = answer["replays"][0]["raised"]
    assert (raised["kind"], raised["message"]) == ("ShapeError", said)
    assert re.fullmatch(r"extract_tool_calls, line \d+ of own_parsers.py", raised["place"])


def test_a_class_may_name_its_parser() -> None:
    adapter = adapter_class.adapter("tests.webapp.engines.own_parsers:BothWays")
    assert read_card(worker(adapter).hello({})).names("tool") == ["hermes"]


def test_a_class_runs_no_parser_of_another_name() -> None:
    adapter = adapter_class.adapter("tests.webapp.engines.own_parsers:Plain")
    answer = worker(adapter).run({**RUN, "parser": "other", "replays": [[["a"]]]})
    assert answer["replays"][0]["raised"]["kind"] == "LookupError"


class Stands(Enum):
    """The states of a machine of vLLM's."""

    CONTENT = 1
    CALL = 2


class Machine:
    """As much of vLLM's machine as is looked at: `<` opens a call."""

    def __init__(self) -> None:
        rows = {(Stands.CONTENT, "OPEN"): SimpleNamespace(next_state=Stands.CALL)}
        self.config = SimpleNamespace(transitions=rows, terminals={"OPEN": "<"}, initial_state=Stands.CONTENT)
        self.state = Stands.CONTENT

    def _on_terminal(self, terminal: str, value: str) -> None:
        self.state = self.config.transitions[self.state, terminal].next_state


class OnMachine(Parser):
    """A parser on it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._engine = Machine()

    def parse_delta(self, text: str, *given: Any, **more: Any) -> Any:
        if "<" in text:
            self._engine._on_terminal("OPEN", "<")
        return super().parse_delta(text, *given, **more)


def test_vllms_own_machine_tells_of_its_transitions(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = vllm_adapter(monkeypatch)
    monkeypatch.setattr(adapter._manager, "get_parser", lambda **given: OnMachine)
    found = ask(adapter, ["a", [7]], ["<", [8]], parser="hermes", reasoning_parser=None, observe="state")
    assert found.table is not None
    assert found.table.table() == Table("CONTENT", (Move("CONTENT", "OPEN", "CALL"),), {"OPEN": "<"})
    assert [(one.state, [tuple(move) for move in one.moves]) for one in found.states or ()] == [
        ("CONTENT", []),
        ("CALL", [("CONTENT", "OPEN", "CALL")]),
        ("CALL", []),
    ]


def test_a_class_that_is_at_hand_is_run_by_the_adapters_of_servers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", {})
    found: Any = own_parsers.Detector
    assert read_card(worker(sglang_adapter(monkeypatch, found)).hello({})).names("tool") == ["Detector"]
    known: Any = type("Mine", (Parser,), {})
    assert read_card(worker(vllm_adapter(monkeypatch, known)).hello({})).names("tool") == ["Mine"]
