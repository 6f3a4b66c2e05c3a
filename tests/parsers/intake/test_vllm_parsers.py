"""Whose parser a sample of vLLM's tests is for: what its builder, its classes or its name say, before its output."""

from __future__ import annotations

import pytest

from parsers.cases.case import Case
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_subject import case_readers
from parsers.cases.io import loads
from parsers.intake.suites import suite_in
from parsers.intake.vllm_parsers import ALONE, GUESSED

HEAD = """
from functools import partial
from tests.parser.engine.replay_harness import Sample
from vllm.parser.engine.registered_adapters import {0}

def make(name, reasoning=""):
    return Sample(
        id=name, description="", source="", vocab={{"</think>": 2}}, tokens=[(2, "</think>"), (9, "Hi.")],
        expected_reasoning=reasoning, expected_content="Hi.", expected_tool_calls=None,
    )

def checked(sample, parser_cls):
    parser_cls(sample.vocab)

def build_one(name, parser_cls=Qwen3Parser):
    sample = make(name)
    checked(sample, parser_cls)
    return sample

def build_two(name):
    return build_one(name, parser_cls=MiMoParser)

def build_either(name, newer=False):
    sample = make(name)
    checked(sample, DeepSeekV41Parser if newer else DeepSeekV4Parser)
    return sample
"""
ALL = "DeepSeekV41Parser, DeepSeekV4Parser, MiMoParser, Qwen3Parser"
KEYED = """
_BUILDERS = {{"{0}": {1}}}

def build_samples(model):
    return [_BUILDERS[model](name) for name in ["anything"]]
"""
ROWS: dict[str, tuple[str, str]] = {
    "the key of its builder": (KEYED.format("glm47_moe", "build_one"), "glm47_moe"),
    "a key that is a reasoning parser alone": (KEYED.format("qwen3", "build_one"), "qwen_coder"),
    "a key that the server has a name for": (KEYED.format("kimi_k2", "make"), "kimi_k2"),
    "a key that is an alias": (KEYED.format("granite_thinking_parser", "make"), "granite_thinking_parser"),
    "a key that nobody knows, and the class of its builder": (KEYED.format("nobodys", "build_two"), "mimo"),
    "the class of the builder": ("S = build_one('anything')", "qwen_coder"),
    "the class that the outermost builder gives": ("S = build_two('anything')", "mimo"),
    "the beginning of its id": ("S = make('step3p5-content-only')", "step3p5"),
    "its id where a builder names two": ("S = build_either('deepseek_v41-content-only')", "deepseek_v41"),
    "the class of the test that writes it out": (
        "def test_it():\n    parser = adapters.KimiK2ParserToolAdapter\n"
        "    sample = Sample('a', '', '', {}, [(9, 'Hi.')], None, 'Hi.', None)", "kimi_k2",
    ),
}  # fmt: skip


def sample(source: str) -> Case:
    """The case of the one sample of a file."""
    (body,) = suite_in(source.encode(), filename="a.py").cases.values()
    return loads(body)


@pytest.mark.parametrize("name", ROWS)
def test_the_parser_of_a_sample_is_named_by(name: str) -> None:
    source, parser = ROWS[name]
    case = sample(HEAD.format(ALL) + source)
    assert (case.parser.name, GUESSED in case.notes) == (parser, False)


def test_the_one_class_of_a_file_says_whose_its_samples_are() -> None:
    source = HEAD.format("Glm47MoeParser").partition("def build_one")[0]
    assert sample(f"{source}S = make('anything')").parser.name == "glm47_moe"


def test_what_its_test_asks_the_server_for_comes_first() -> None:
    test = "def test_it():\n    get_parser(tool_parser_name='{}')\n"
    named = HEAD.format(ALL) + KEYED.format("glm47_moe", "make")
    asked = sample(named + test.format("minimax_m3"))
    assert (asked.parser.name, asked.notes) == ("minimax_m3", ())
    assert sample(named + test.format("nobodys")).parser.name == "glm47_moe"


@pytest.mark.parametrize(("text", "parser"), [("Hi.", "auto"), ("<|channel>thought\\nHm.<channel|>Hi.", "gemma4")])
def test_a_parser_that_nothing_names_is_guessed_and_the_case_says_so(text: str, parser: str) -> None:
    case = sample(f"S = Sample('a', 'Plain', '', {{}}, [(9, '{text}')], expected_reasoning='', expected_content='')")
    assert (case.parser.name, case.notes) == (parser, ("Plain", GUESSED))


def test_a_sample_with_reasoning_says_on_which_path_a_server_reads_it() -> None:
    assert sample(HEAD.format(ALL) + "S = make('glm47_moe-a')").notes == (ALONE,)
    assert sample(HEAD.format(ALL) + "S = make('glm47_moe-a', None)").notes == ()


@pytest.mark.parametrize(
    ("key", "tool", "reasoning"),
    [("qwen3", "qwen3_coder", "qwen3"), ("glm47_moe", "glm47", "glm47"), ("kimi_k2", "kimi_k2", "kimi_k2")],
)
def test_an_output_without_calls_is_read_by_the_servers_parsers_of_its_builder(
    key: str, tool: str, reasoning: str
) -> None:
    case = sample(HEAD.format(ALL) + KEYED.format(key, "make"))
    assert case_readers(names_of("vllm"), case) == (tool, reasoning)
