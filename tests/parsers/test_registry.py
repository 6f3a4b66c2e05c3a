"""Parsers by name, and how one is chosen: every choice says why."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats
from parsers.formats.rows import policy_in_force, policy_values
from parsers.machine import Machine
from parsers.registry import Evidence, build, get_format, names, policies, resolve, select
from parsers.types import UsageError

ALIASES = [(alias, fmt.name) for fmt in builtin_formats().values() for alias in fmt.aliases]


def test_names_are_the_built_in_formats() -> None:
    assert {"passthrough", "qwen", "qwen_coder", "kimik2", "llama", "mistral"} <= set(names())
    assert [get_format(name).name for name in names()] == names()


@pytest.mark.parametrize(("alias", "name"), [*ALIASES, (" qwen ", "qwen")])
def test_an_alias_stands_for_its_parser(alias: str, name: str) -> None:
    assert resolve(alias) == name
    assert get_format(alias).name == name


def test_no_alias_is_given_twice_or_hides_a_name() -> None:
    known = [alias for alias, _ in ALIASES] + names()
    assert len(known) == len(set(known))


def test_an_unknown_name_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UsageError, match=r"there is no parser 'gwen'; valid parsers: .*qwen, qwen_coder.*, or auto"):
        get_format("gwen")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"reasoning": "keep"}, r"there is no policy 'reasoning'; valid policies: reasoning_tail, "),
        ({"reasoning_tail": "cut"}, r"policy reasoning_tail cannot be 'cut'; valid values: strip, keep"),
    ],
)
def test_a_policy_that_does_not_exist_is_refused(policy: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        build(get_format("qwen"), policy)


def test_every_policy_has_a_value_and_overrides_win() -> None:
    fmt = get_format("qwen")
    values = policies(fmt, {"reasoning_tail": "keep"})
    assert values.keys() == policy_values().keys()
    assert values["reasoning_tail"] == "keep"
    assert values == policy_in_force(fmt, {"reasoning_tail": "keep"})
    assert policies(fmt)["reasoning_tail"] == "strip"


def test_a_parser_is_built_under_its_policies() -> None:
    parser = build(get_format("qwen"), {"reasoning_tail": "keep"})
    assert isinstance(parser, Machine)
    assert (parser.name, parser.policy["reasoning_tail"]) == ("qwen", "keep")


@pytest.mark.parametrize(
    ("evidence", "name", "reason"),
    [
        (Evidence(enforced="qwen"), "qwen", "qwen was asked for."),
        (Evidence(enforced=" hermes "), "qwen", "hermes (an alias of qwen) was asked for."),
        (Evidence(enforced="passthrough", model_id="Qwen3-8B"), "passthrough", "passthrough was asked for."),
        (Evidence(model_type="mistral3"), "mistral", "Model type mistral3 is listed for mistral."),
        (Evidence(model_type="qwen3"), "qwen", "Model type qwen3 is listed for qwen and qwen_coder."),
        (Evidence(model_type="qwen3", model_id="Qwen3-Coder-30B"), "qwen_coder", "Model type qwen3 is listed for"),
        (Evidence(model_type="qwen3", model_id="mine"), "qwen", "Model type qwen3 is listed for qwen and qwen_coder."),
        (Evidence(model_type="kimi_k2", model_id="Qwen3-8B"), "kimik2", "Model type kimi_k2 is listed for kimik2."),
        (
            Evidence(model_type="new_type", model_id="Qwen/Qwen3-8B"),
            "qwen",
            "The model id Qwen/Qwen3-8B contains 'qwen'.",
        ),
        (Evidence(model_id="Qwen3-Coder"), "qwen_coder", "The model id Qwen3-Coder contains 'coder'."),
        (Evidence(model_id="NousResearch/Hermes-3-Llama-3.1-8B"), "llama", "contains 'llama-3'"),
        (Evidence(model_id="moonshotai/Kimi-K2-Instruct"), "kimik2", "contains 'kimi-k2'"),
        (Evidence(model_id="mistralai/Devstral-Small"), "mistral", "contains 'devstral'"),
        (Evidence(model_id="gpt-2"), "passthrough", "Neither model, vocabulary nor output points to a format."),
        (
            Evidence(vocabulary={"<tool_call>", "</tool_call>", "<x>"}),
            "qwen",
            "The vocabulary has <tool_call>, </tool_call> as single tokens.",
        ),
        (
            Evidence(vocabulary={"<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>", "<|python_tag|>"}),
            "kimik2",
            "The vocabulary has <|tool_calls_section_begin|>, <|tool_call_argument_begin|> as single tokens.",
        ),
        (Evidence(vocabulary={"<tool_call>"}), "passthrough", "Neither model"),
        (Evidence(text='x<tool_call>\n{"name"'), "qwen", "The output has '<tool_call>\\n{' at character 1."),
        (
            Evidence(text="<tool_call>\n<function=f>"),
            "qwen_coder",
            "The output has '<tool_call>\\n<function=' at character 0.",
        ),
        (Evidence(text='[TOOL_CALLS][{"name": "f"'), "mistral", "The output has '[TOOL_CALLS]' at character 0."),
        (Evidence(text="a word"), "passthrough", "Neither model, vocabulary nor output points to a format."),
        (Evidence(), "passthrough", "Neither model, vocabulary nor output points to a format."),
        (Evidence(enforced="auto"), "passthrough", "Neither model"),
        (Evidence(enforced=" "), "passthrough", "Neither model"),
    ],
)
def test_a_parser_is_chosen_with_a_reason(evidence: Evidence, name: str, reason: str) -> None:
    selection = select(evidence)
    assert selection.name == name
    assert reason in selection.reasons[0]


def test_an_unknown_enforced_parser_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no parser 'gwen'"):
        select(Evidence(enforced="gwen"))
