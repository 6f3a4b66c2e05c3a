"""The stand-alone test file of a case of another engine: it makes that engine's parser itself."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.expect import accept
from parsers.cases.export.pytest_file import EngineParser, pytest_file
from parsers.cases.run import run_case
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE, Chunking
from tests.parsers.cases.suite_standins import OurParser, use_modules
from tests.parsers.cases.test_export_suites import CALL, case, failures

GIVEN = case(f"So.{CALL % 1}", source={"kind": "recorded"}, context={"prompt_tail": "x<tool_call>"})
CHUNKINGS = [Chunking(by="token", size=2), Chunking(by="char"), Chunking(by="token", text_delay=1), WHOLE]
FMT = builtin_formats()["qwen"]


def exported(engine: str, name: str = "qwen", own_class: str = "") -> str:
    """The file of a case of an engine."""
    done = run_case(GIVEN)
    how = EngineParser(engine, name, FMT, own_class)
    expect = accept(done.trace.message)
    return pytest_file(GIVEN, done.pieces, expect=expect, chunkings=CHUNKINGS, parser="qwen", tested=how)


class Vllm(OurParser):
    """A parser of vLLM's."""

    def __init__(self, tokenizer: Any, tools: Any, chat_template_kwargs: Any) -> None:
        super().__init__(GIVEN)
        assert tokenizer.get_added_vocab()["<tool_call>"] in tokenizer.all_special_ids
        assert tokenizer.decode(tokenizer.encode("<tool_call>")) == "<tool_call>"
        self.tokenizer = tokenizer

    def parse_delta(self, text: str, ids: list[int], request: Any, prompt_token_ids: Any, finished: bool) -> Any:
        """As its server calls it."""
        assert "".join(self.tokenizer.convert_ids_to_tokens(ids)) == text or request.late(ids, text)
        parts = [self.feed(text), self.finish() if finished else None]
        said = [one.to_openai() for one in parts if one is not None]
        content = "".join([one.get("content") or "" for one in said])
        calls = [call for one in said for call in one.get("tool_calls") or ()]
        return SimpleNamespace(model_dump=lambda exclude_none: {"content": content, "tool_calls": calls})

    def set_prompt_token_ids(self, ids: list[int]) -> None:
        """As its server calls it before it reads a whole output."""
        assert len(ids) == 1

    def parse(self, text: str, request: Any, *, enable_auto_tools: bool, model_output_token_ids: list[int]) -> Any:
        """The code for whole outputs."""
        assert enable_auto_tools
        assert self.tokenizer.decode(model_output_token_ids) == text
        return None, *whole_of(self, text)


def whole_of(parser: OurParser, text: str) -> tuple[str, list[Any]]:
    """A whole output, and its calls, which `Whole.lost` are not among."""
    content, calls = parts(parser.feed(text))
    return content, [SimpleNamespace(name=one.name, arguments=one.parameters) for one in calls][Whole.lost :]


class Whole:
    """How many calls the code for whole outputs loses."""

    lost = 0


class Sglang(OurParser):
    """The calls and the reasoning of SGLang's."""

    prev_tool_call_arr: tuple[Any, ...] = ({"arguments": {"x": 1}},)
    streamed_args_for_tool: tuple[str, ...] = ('{"x": 1}',)

    def __init__(self, **names: Any) -> None:
        super().__init__(GIVEN)
        self.detector = self

    def parse_stream_chunk(self, text: str) -> tuple[str, list[Any]]:
        """As its server calls it."""
        return parts(self.feed(text) if text else None)

    def parse_stream_end(self) -> tuple[str, list[Any]]:
        """The end."""
        return parts(self.finish())

    def has_tool_call(self, text: str) -> bool:
        """It is asked first."""
        return "<tool_call>" in text

    def parses_without_tools(self) -> bool:
        """Without tools it is not asked."""
        return False

    def parse_non_stream(self, text: str) -> tuple[str, list[Any]]:
        """The code for whole outputs."""
        content, calls = whole_of(self, text)
        return content, [SimpleNamespace(name=one.name, parameters=one.arguments) for one in calls]


class Thinks:
    """Nothing is reasoning."""

    def __init__(self, *names: Any, **more: Any) -> None:
        self.detector = None

    def parse_non_stream(self, text: str) -> tuple[str, str]:
        """All is text."""
        return "", text

    def parse_stream_chunk(self, text: str) -> tuple[str, str]:
        """All is text."""
        return "", text

    def parse_stream_end(self) -> tuple[str, str]:
        """Nothing is left."""
        return "", ""


def parts(said: Any) -> tuple[str, list[Any]]:
    """What SGLang returns."""
    if said is None:
        return "", []
    calls = [SimpleNamespace(tool_index=one.index, name=one.name, parameters=one.arguments) for one in said.tool_calls]
    return said.content or "", calls


def use(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """The packages of an engine."""
    request = lambda **keys: SimpleNamespace(**keys, late=lambda ids, text: True)  # noqa: E731
    manager = SimpleNamespace(get_parser=lambda **names: Vllm)
    found: dict[str, dict[str, dict[str, Any]]] = {
        "vllm": {
            "vllm.entrypoints.openai.chat_completion.protocol": {"ChatCompletionRequest": request},
            "vllm.parser": {"ParserManager": manager},
        },
        "sglang": {
            "sglang.srt.entrypoints.openai.protocol": {"Tool": SimpleNamespace},
            "sglang.srt.function_call.function_call_parser": {"FunctionCallParser": Sglang},
            "sglang.srt.parser.reasoning_parser": {"ReasoningParser": Thinks},
        },
    }
    use_modules(monkeypatch, found[engine])


@pytest.mark.parametrize(("engine", "name"), [("vllm", "hermes"), ("sglang", "qwen25")])
def test_a_file_makes_the_parser_of_its_engine(engine: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = exported(engine, name)
    use(monkeypatch, engine)
    assert f"TOOL_PARSER = '{name}'" in source
    assert failures(source) == []


@pytest.mark.parametrize(("engine", "name"), [("vllm", "hermes"), ("sglang", "qwen25")])
def test_a_fault_of_the_code_for_whole_outputs_fails(engine: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = exported(engine, name)
    use(monkeypatch, engine)
    monkeypatch.setattr(Whole, "lost", 1)
    (failed,) = failures(source)
    assert failed.startswith("test_the_message_is_as_expected")


@pytest.mark.parametrize("keys", [{"tools": []}, {"context": {"tool_choice": "none"}}])
def test_sglangs_server_asks_for_no_calls_where_there_are_no_tools_or_the_choice_is_none(
    keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = case(f"So.{CALL % 1}", expect={"content": f"So.{CALL % 1}", "tool_calls": []}, **keys)
    use(monkeypatch, "sglang")
    source = pytest_file(given, chunkings=CHUNKINGS, tested=EngineParser("sglang", "qwen25", FMT))
    assert failures(source) == []


def test_vllms_parser_is_called_by_the_code_around_it_where_a_release_has_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    around: list[str] = []

    class Processor:
        def __init__(self, request: Any, parser: Any, **how: Any) -> None:
            self.parser, self.request = parser, request

        def step(self, text: str, ids: list[int], reason: str | None, prompt: list[int]) -> Any:
            around.append("step")
            said = self.parser.parse_delta(text, ids, self.request, prompt, finished=reason is not None)
            return SimpleNamespace(delta=said)

    def fields(request: Any, thought: Any, content: Any, calls: Any, **how: Any) -> Any:
        around.append("fields")
        told = [SimpleNamespace(function=one) for one in calls]
        return SimpleNamespace(reasoning=thought, content=content, tool_calls=told)

    def adjusted(parser: Vllm, request: Any) -> Any:
        around.append("adjusted")
        return request

    source = exported("vllm", "hermes")
    use(monkeypatch, "vllm")
    server = "vllm.entrypoints.openai.chat_completion"
    use_modules(monkeypatch, {
        f"{server}.stream_processor": {"ChatStreamProcessor": Processor},
        f"{server}.message_assembly": {"assemble_chat_message_fields": fields},
    })  # fmt: skip
    monkeypatch.setattr(Vllm, "adjust_request", adjusted, raising=False)
    assert failures(source) == []
    assert {*around} == {"step", "fields", "adjusted"}


def test_a_parser_of_reasoning_alone_is_made_as_such() -> None:
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(exported("vllm", "qwen3"), "exported.py", "exec"), names)
    assert (names["TOOL_PARSER"], names["REASONING_PARSER"], len(names["PROMPT_IDS"])) == (None, "qwen3", 1)


class Own(OurParser):
    """begin, feed, finish."""

    def __init__(self) -> None:
        super().__init__(GIVEN)

    def begin(self, request: Any) -> None:
        """The request."""
        assert request["tools"][0]["function"]["name"] == "f"

    def feed(self, text: str, ids: Any = ()) -> Any:
        """A delta."""
        said = super().feed(text)
        return None if said is None else said.to_openai()

    def finish(self, reason: Any = None) -> Any:
        """The end."""
        said = super().finish()
        return None if said is None else said.to_openai()


class Detects(OurParser):
    """As SGLang has them."""

    def __init__(self) -> None:
        super().__init__(GIVEN)

    def parse_streaming_increment(self, text: str, tools: Any) -> Any:
        """A delta."""
        assert tools[0].function.name == "f"
        content, calls = parts(self.feed(text))
        return SimpleNamespace(normal_text=content, calls=calls)

    def finish(self, tools: Any = None) -> Any:
        """The end."""
        content, calls = parts(super().finish())
        return SimpleNamespace(normal_text=content, calls=calls)


class Streams(OurParser):
    """As vLLM's that are written by hand."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(GIVEN)
        assert tokenizer.get_vocab()["<tool_call>"] == tokenizer.convert_tokens_to_ids("<tool_call>")

    def extract_tool_calls_streaming(self, before: str, after: str, text: str, *ids: Any) -> Any:
        """A delta."""
        assert before + text == after
        said = self.feed(text) if text or ids[2] else self.finish()
        if said is None:
            return None
        calls = [SimpleNamespace(index=one.index, function=one) for one in said.tool_calls]
        return SimpleNamespace(content=said.content, tool_calls=calls)


class Chooses(Streams):
    """It has a choice of its own."""

    def __init__(self, tokenizer: Any, strict: bool = True) -> None:
        super().__init__(tokenizer)
        assert strict is True


class Names(Streams):
    """It has one, and is given the tools by name."""

    def __init__(self, tokenizer: Any, strict: bool = True, *, tools: Any = None) -> None:
        super().__init__(tokenizer)
        assert (strict, tools[0].function.name) == (True, "f")


class Takes(Streams):
    """It takes whatever it is given, as vLLM gives it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(given[0])
        assert given[1][0].function.name == "f"


class InC:
    """What it takes nobody is told."""

    def __get__(self, *given: Any) -> Any:
        raise ValueError


class Untold(Takes):
    """As one that is written in C."""

    __signature__ = InC()


class Unites(OurParser):
    """As vLLM's of reasoning and calls."""

    def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **more: Any) -> None:
        super().__init__(GIVEN)
        assert tools[0].function.name == "f"

    def parse_delta(self, text: str, ids: list[int], request: Any, prompt: Any = None, *, finished: bool) -> Any:
        """A delta, or the last one."""
        assert request.tools[0].function.name == "f"
        assert len(prompt) == 1
        said = self.finish() if finished and not text else self.feed(text)
        if said is None:
            return None
        calls = [SimpleNamespace(index=one.index, function=one) for one in said.tool_calls]
        return SimpleNamespace(reasoning=said.reasoning, content=said.content, tool_calls=calls)


@pytest.mark.parametrize(
    "kind", [Own, Detects, Streams, Chooses, Names, Takes, Untold, Unites], ids=lambda kind: kind.__name__
)
def test_a_file_makes_a_class_of_ones_own(kind: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("my_parsers")
    vars(module)["Mine"] = kind
    monkeypatch.setitem(sys.modules, "my_parsers", module)
    assert failures(exported("class", "Mine", "my_parsers:Mine")) == []


@pytest.mark.parametrize(
    ("engine", "own_class", "sentence"),
    [
        ("", "", "put your own parser into make_parser, or install toolcall-inspector, which has the one of this case"),
        ("vllm", "", r"put your own parser into make_parser, or install vLLM \(0.24 or newer\)"),
        ("sglang", "", r"put your own parser into make_parser, or install SGLang \(0.5\)"),
        ("class", "no_such_module:X", "or let Python find the module no_such_module, which has it"),
    ],
)
def test_where_nothing_is_installed_one_sentence_says_what_to_do(
    engine: str, own_class: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("webapp.engines", "vllm", "sglang"):
        monkeypatch.setitem(sys.modules, package, None)
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(exported(engine, "hermes", own_class), "exported.py", "exec"), names)
    with pytest.raises(pytest.fail.Exception, match=sentence) as raised:
        names["make_parser"]()
    assert raised.value.__suppress_context__  # what could not be imported is not printed before it
