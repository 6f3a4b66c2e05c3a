"""Other projects' data are read, run on our parsers and compared with what is known: small samples of their shapes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from parsers.formats.contracts import Contract, builtin_contracts
from parsers.vocabulary.types import Mode
from tests.truth.cxx import Call, Name, Reader, UnreadError
from tests.truth.dynamo import outcomes_of as dynamo_outcomes_of
from tests.truth.known import Judgement, Outcome, Tally, judged, read_known, table, tally
from tests.truth.llamacpp import llamacpp_outcomes
from tests.truth.llamacpp import outcomes_of as llamacpp_outcomes_of
from tests.truth.served import Run

ROOT = Path(__file__).resolve().parents[2]

TABLES = r"""
static common_chat_tool ping_tool{ /* .name = */ "ping", "A ping.", R"({"type": "object"})" };
const common_chat_msg pinged = simple_assist_msg("Hi", "", "ping", "{\"n\": 1}");
static void test() {
    auto tst = peg_tester("models/templates/Qwen2.5-7B.jinja", true);
    tst.test("Hi\n<tool_call>\n"
             "{\"name\": \"ping\", \"arguments\": {\"n\": 1}}\n</tool_call>")  // one call
        .tools({ ping_tool }).expect(pinged).run();
    tst.test("Hi").expect(message_with_tool_calls("ping", R"x({})x")).run();
    tst.test("Hi").expect_content("Hi").expect_reasoning("").expect_tool_calls({}).is_partial(true).run();
    tst.test(made()).expect(pinged).run();
    tst.test("Hi").expect(unknown).run();
    tst.test("<think>a</think>b").expect_content("<think>a</think>b").run();
    auto other = peg_tester(path);
    tst.test("Hi").expect(simple_assist_msg("Hi")).run();
}
"""

YAML = """
family: hermes
cases:
  one:
    model_text: '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    expected: {vllm: {calls: [{name: f, arguments: {a: 1}}], normal_text: ''}}
  two:
    chunks: [{delta_text: Hi}, {delta_text: ' there'}]
    expected: {vllm: {calls: [], normal_text: Hello}}
  three:
    model_text: Hi
  four:
    model_text: '<tool_call>{"name": "f", "arguments": {"a": '
    expected:
      dynamo: {calls: [{name: g, arguments: {}}], normal_text: ''}
      vllm: {calls: [], normal_text: ''}
"""

VLLM = {
    "vllm/tool_parsers/__init__.py": '_T = {"hermes": ("hermes_tool_parser", "Hermes"), "new": ("new", "New")}\n',
    "vllm/reasoning/__init__.py": '_R = {"qwen3": ("qwen3_reasoning_parser", "Qwen3")}\n',
    "vllm/tool_parsers/hermes_tool_parser.py": 'MARK = "<tool_call>"\n',
    "tests/__init__.py": "",
    "tests/tool_parsers/__init__.py": "",
    "tests/tool_parsers/test_sample.py": """
from vllm.tokenizers import get_tokenizer
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.hermes_tool_parser import MARK, Hermes, helper
from vllm.reasoning import ReasoningParserManager

CALL = MARK + '{"name": "f", "arguments": {"a": 1}}</tool_call>'

def test_whole():
    found = Hermes(get_tokenizer("any")).extract_tool_calls("Hi " + CALL, None)
    assert (found.tools_called, found.tool_calls[0].function.arguments) == (True, '{"a": 1}')

def test_streamed():
    parser = ToolParserManager.get_tool_parser("hermes")(get_tokenizer("any"))
    before, sent = "", []
    for part in parser.model_tokenizer.tokenize(CALL):
        sent.append(parser.extract_tool_calls_streaming(before, before + part, part, [], [], [], None))
        before += part
    shares = [one.function.arguments for delta in sent if delta for one in delta.tool_calls]
    assert "".join(shares) == '{"a": 1}'

def test_reasoning():
    parser = ReasoningParserManager.get_reasoning_parser("qwen3")(get_tokenizer("any"))
    assert parser.extract_reasoning("a</think>b", None) == ("a", "b")

def test_wrong():
    assert Hermes(get_tokenizer("any")).extract_tool_calls("Hi", None).content == "Hello"

def test_after():
    assert Hermes(get_tokenizer("any")).extract_tool_calls("Hi" + CALL + "Bye", None).content == "Hi"

def test_inside():
    helper()

def test_absent():
    ToolParserManager.get_tool_parser("new")(get_tokenizer("any"))
""",
}

SGLANG = {
    "python/sglang/srt/function_call/function_call_parser.py": """
class FunctionCallParser:
    ToolCallParserEnum: dict = {"hermes": HermesDetector, "lfm2": Lfm2Detector}
""",
    "python/sglang/srt/parser/reasoning_parser.py": """
class ReasoningParser:
    DetectorMap: dict = {"qwen3": Qwen3Detector, "minimax-append-think": AppendDetector}
""",
    "test/test_sample.py": """
import json
import pytest
from sglang.srt.entrypoints.openai.protocol import Function, Tool
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.hermes_detector import HermesDetector
from sglang.srt.function_call.json_array_parser import JsonArrayParser
from sglang.srt.function_call.lfm2_detector import Lfm2Detector
from sglang.srt.parser.reasoning_parser import AppendDetector, BaseReasoningFormatDetector, ReasoningParser
from sglang.test.ci.ci_register import register_cpu_ci
from sglang.test.test_utils import CustomTestCase, helper

register_cpu_ci(1.0)
TOOLS = [Tool(function=Function(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}))]
CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'

class TestSample(CustomTestCase):
    def test_whole(self):
        found = HermesDetector().detect_and_parse("Hi " + CALL, TOOLS)
        self.assertEqual([(one.name, json.loads(one.parameters)) for one in found.calls], [("f", {"a": 1})])

    def test_streamed(self):
        detector, sent = HermesDetector(), []
        for part in ("<tool_", 'call>{"name": "f", "argu', 'ments": {"a": 1}}', "</tool_call>"):
            sent += detector.parse_streaming_increment(part, TOOLS).calls
        sent += detector.finish(TOOLS).calls
        self.assertEqual(detector._buffer, "")
        self.assertEqual("".join(one.parameters for one in sent if not one.name), '{"a": 1}')
        whole = Lfm2Detector().parse_streaming_increment('<|tool_call_start|>[f(a=1)]<|tool_call_end|>', TOOLS)
        self.assertEqual(whole.calls, [ToolCallItem(tool_index=0, name="f", parameters='{"a": 1}')])

def test_reasoning():
    assert ReasoningParser("QWEN3").parse_non_stream("<think>a</think>b") == ("a", "b")
    assert ReasoningParser("qwen3").parse_stream_chunk("<think>a") == ("a", "")
    opened = BaseReasoningFormatDetector("<think>", "</think>", force_reasoning=True)
    assert opened.detect_and_parse("a").reasoning_text == "a"
    for name in (None, "else"):
        with pytest.raises(ValueError):
            ReasoningParser(name)

def test_appended():
    assert AppendDetector().parse_streaming_increment("a") == StreamingParseResult(normal_text="<think>a")

def test_guided():
    assert JsonArrayParser().detect_and_parse('[{"name": "f", "parameters": {"a": 1}}]', TOOLS).calls[0].name == "f"

def test_wrong():
    assert HermesDetector().detect_and_parse("Hi", TOOLS).normal_text == "Hello"

def test_inside():
    helper()

def test_kept():
    assert not HermesDetector()._buffer
""",
}


def test_tables_of_cxx_are_read_and_compared() -> None:
    found = {one.test: (one.right, one.why) for one in llamacpp_outcomes_of(TABLES, Run())}
    assert found["Qwen2.5-7B 1"] == (True, "")
    assert found["Qwen2.5-7B 2"][0] is False
    assert found["Qwen2.5-7B 3"] == (None, "not about a whole output")
    assert found["Qwen2.5-7B 4"] == found["Qwen2.5-7B 5"] == (None, "not read")
    assert found["Qwen2.5-7B 6"] == (None, "reasoning is kept as text")
    assert found["? 1"] == (None, "no format")


def test_a_tree_without_the_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"there is no tests/test-chat\.cpp"):
        next(llamacpp_outcomes(tmp_path, Run()))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test-chat.cpp").write_text(TABLES, "utf-8")
    assert len(list(llamacpp_outcomes(tmp_path, Run()))) == 7


def test_values_of_cxx_are_read_as_they_are_meant() -> None:
    source = r'f({ "a\n" "b\x41", std::string("c") + R"(d")", 1.5, g() }, COUNT) .then(/* x */ true)'
    reader = Reader(source)
    assert reader.value() == Call("f", (["a\nbA", 'cd"', "1.5", Call("g", ())], Name("COUNT")))
    assert list(reader.chain()) == [Call("then", (Name("true"),))]
    for wrong in ("f(1 2)", "?", '"a" + b'):
        with pytest.raises(UnreadError):
            Reader(wrong).value()


@pytest.mark.parametrize("mode", ["text", "ids"])
def test_cases_of_dynamo_are_read_and_compared(mode: Mode) -> None:
    outcomes = dynamo_outcomes_of(YAML, "hermes", "hermes/a", Run(mode))
    found = {one.test: (one.right, one.under_contract, one.why) for one in outcomes}
    assert found["hermes/a::one"] == (True, False, "")
    assert found["hermes/a::two"] == (False, False, "content 'Hi there' for 'Hello'")
    assert found["hermes/a::three"] == (None, False, "no expectation")
    assert found["hermes/a::four"][:2] == (True, True)
    assert {one.why for one in dynamo_outcomes_of(YAML, "unknown", "x", Run())} == {"no format"}
    assert [one.test for one in dynamo_outcomes_of(YAML, "hermes", "x", Run(only=frozenset(["x::two"])))] == ["x::two"]


@pytest.mark.parametrize("mode", ["text", "ids"])
def test_assertions_of_vllm_run_on_a_stand_in(tmp_path: Path, mode: Mode) -> None:
    passed = dict.fromkeys(("whole", "streamed", "reasoning"), "passed")
    found = run_child("vllm", tmp_path, VLLM, {"mode": mode, "contracts": {}, "only": None}, "tests/tool_parsers")
    assert found == {**passed, "wrong": "failed", "inside": "skipped", "absent": "skipped", "after": "failed"}


def test_a_test_of_vllm_runs_under_the_contract_that_is_known_for_it(tmp_path: Path) -> None:
    test = "tests/tool_parsers/test_sample.py::test_after"
    asked = {"mode": "text", "contracts": {test: {"content_after_calls": ["drop"]}}, "only": [test]}
    assert run_child("vllm", tmp_path, VLLM, asked, "tests/tool_parsers") == {"after": "passed"}


@pytest.mark.parametrize("mode", ["text", "ids"])
def test_assertions_of_sglang_run_on_a_stand_in(tmp_path: Path, mode: Mode) -> None:
    passed = dict.fromkeys(("whole", "streamed", "reasoning", "appended", "guided"), "passed")
    found = run_child("sglang", tmp_path, SGLANG, {"mode": mode, "contracts": {}, "only": None}, "test")
    assert found == {**passed, "wrong": "failed", "inside": "skipped", "kept": "skipped"}


def run_child(
    suite: str, tree: Path, files: Mapping[str, str], asked: Mapping[str, Any], folder: str
) -> dict[str, str]:
    """What becomes of the tests in such a tree, by the last word of their names."""
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "tests.truth.child", suite, str(tree), folder]
    said = json.dumps(asked)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True, input=said)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {one["id"].rpartition("_")[2]: one["outcome"] for one in lines}


def test_a_new_mismatch_shows_and_a_known_one_is_counted() -> None:
    groups = [{"judgement": "contract", "why": "x", "tests": ["b", "gone"]}]
    entry = {"version": "1", "mismatches": groups}
    outcomes = [Outcome("a", True), Outcome("b", False), Outcome("c", False, "why"), Outcome("d", None)]
    found = tally("s", "text", outcomes, entry)
    assert (found.new, found.gone) == ((Outcome("c", False, "why"),), ("gone",))
    assert found.row == ("s 1", "text", "3", "1", "0", "0", "1", "0", "1", "33.3 %", "no", "1")
    lines = table([found, Tally("t", None)]).splitlines()
    assert lines[2].split() == ["t", "absent"]
    assert tally("t", "ids", [], None).row[-3:] == ("100.0 %", "yes", "0")


def test_a_group_asks_for_nothing_that_the_contract_of_its_server_does_not_allow() -> None:
    contracts = builtin_contracts()
    for suite, entry in read_known().items():
        for group in entry["mismatches"] if suite in contracts else ():
            asked = {(key, value) for key, values in group.get("contract", {}).items() for value in values}
            assert asked <= {(key, value) for key, _ in asked for value in contracts[suite].values(key)}


def test_what_is_not_right_is_run_again_under_its_contract() -> None:
    asked: list[Run] = []

    def outcomes_of(run: Run) -> list[Outcome]:
        asked.append(run)
        return [Outcome(test, test in run.contracts) for test in ("a", "b") if run.has(test)]

    groups = [{"judgement": "contract", "why": "x", "contract": {"unknown_tool": ["drop"]}, "tests": ["a", "c"]}]
    found = judged({"version": "1", "mismatches": groups}, "text", outcomes_of)
    assert found == [Outcome("a", True, under_contract=True), Outcome("b", False)]
    assert asked[1].only == frozenset(["a"])
    assert asked[1].contract("a").unknown_tool == ("drop",)
    promised = tally("s", "text", [Outcome("a", False)], {"mismatches": groups})
    assert [one.test for one in promised.new] == ["a"]


def test_the_known_mismatches_have_a_judgement_and_a_reason_and_stand_once() -> None:
    for suite, entry in read_known().items():
        groups = entry["mismatches"]
        tests = [test for group in groups for test in group["tests"]]
        assert len(tests) == len(set(tests))
        assert all(Judgement(group["judgement"]) and group["why"].endswith(".") for group in groups)
        for group in groups:
            own = builtin_contracts().get(suite)
            said = Contract.model_validate({"name": "known", **group.get("contract", {})})
            allowed = [set(said.values(key)) <= set(own.values(key)) for key in group.get("contract", {}) if own]
            assert all(allowed), group["contract"]
