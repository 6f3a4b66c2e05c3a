"""Parsers by name, and how one is chosen: every choice says why."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats, policy_values
from parsers.machine.machine import Machine
from parsers.selection.registry import Evidence, build, get_format, known_format, names, policies, resolve, select
from parsers.vocabulary.types import UsageError

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
    with pytest.raises(UsageError, match=r"there is no parser 'gwen'; valid parsers: .*qwen, .*qwen_coder.*, or auto"):
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
    assert values == {**fmt.policy.model_dump(), "reasoning_tail": "keep"}
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
        (Evidence(model_type="qwen3"), "qwen", "Model type qwen3 is listed for qwen and qwen_coder and deepseek_r1."),
        (Evidence(model_type="qwen3", model_id="Qwen3-Coder-30B"), "qwen_coder", "Model type qwen3 is listed for"),
        (
            Evidence(model_type="qwen3", model_id="mine"),
            "qwen",
            "Model type qwen3 is listed for qwen and qwen_coder and deepseek_r1.",
        ),
        (Evidence(model_type="kimi_k2", model_id="Qwen3-8B"), "kimik2", "Model type kimi_k2 is listed for kimik2."),
        (
            Evidence(model_type="new_type", model_id="Qwen/Qwen3-8B"),
            "qwen",
            "The model id Qwen/Qwen3-8B contains 'qwen'.",
        ),
        (Evidence(model_id="Qwen3-Coder"), "qwen_coder", "The model id Qwen3-Coder contains 'qwen3-coder'."),
        (Evidence(model_id="NousResearch/Hermes-3-Llama-3.1-8B"), "qwen", "contains 'hermes'"),
        (Evidence(model_id="moonshotai/Kimi-K2-Instruct"), "kimik2", "contains 'kimi-k2'"),
        (Evidence(model_id="moonshotai/Kimi-K3"), "kimi_k3", "contains 'kimi-k3'"),
        (Evidence(model_id="ibm-granite/granite-3.1-8b-instruct"), "granite", "contains 'granite'"),
        (Evidence(model_id="tencent/Hunyuan-A13B-Instruct"), "hunyuan_a13b", "contains 'hunyuan'"),
        (Evidence(model_id="ai21labs/AI21-Jamba-Mini-1.6"), "hunyuan_a13b", "contains 'jamba'"),
        (Evidence(model_id="tencent/Hy3-preview"), "hunyuan", "contains 'hy3'"),
        (Evidence(model_id="microsoft/Phi-4-mini-instruct"), "phi4_mini_json", "contains 'phi-4-mini'"),
        (Evidence(model_id="CohereLabs/c4ai-command-a-03-2025"), "cohere", "contains 'c4ai-command'"),
        (Evidence(model_id="internlm/internlm3-8b-instruct"), "internlm", "contains 'internlm'"),
        (
            Evidence(model_id="meetkai/functionary-small-v3.1"),
            "llama_function_tag",
            "contains 'functionary-small-v3.1'",
        ),
        (Evidence(text='<|tool_call|>[{"name": "f"'), "granite", "The output has '<|tool_call|>' at character 0."),
        (Evidence(text='x functools[{"name"'), "phi4_mini_json", "The output has 'functools[' at character 2."),
        (
            Evidence(text="<tool_calls>\n<tool_call>f<tool_sep>"),
            "hunyuan",
            "The output has '<tool_calls>\\n<tool_call>'",
        ),
        (Evidence(text='<tool_calls>[{"name"'), "hunyuan_a13b", "The output has '<tool_calls>[' at character 0."),
        (Evidence(text='```json\n[{"name"'), "json", "The output has '```json\\n[{\"name\"' at character 0."),
        (
            Evidence(model_type="deepseek_v3", model_id="deepseek-ai/DeepSeek-R1-0528"),
            "deepseek",
            "deepseek_v3 is listed",
        ),
        (
            Evidence(model_type="deepseek_v3", model_id="deepseek-ai/DeepSeek-V3.1"),
            "deepseek_v31",
            "deepseek_v3 is listed",
        ),
        (Evidence(model_type="deepseek_v32"), "deepseek_v32", "Model type deepseek_v32 is listed for deepseek_v32."),
        (Evidence(model_id="deepseek-ai/DeepSeek-V4-Flash"), "deepseek_v4", "contains 'deepseek-v4'"),
        (Evidence(model_id="deepseek-ai/DeepSeek-V4.1"), "deepseek_v41", "contains 'deepseek-v4.1'"),
        (
            Evidence(model_id="deepseek-ai/DeepSeek-R1-Distill-Llama-8B"),
            "deepseek_r1",
            "contains 'deepseek-r1-distill'",
        ),
        (Evidence(model_id="openai/gpt-oss-20b"), "harmony", "contains 'gpt-oss'"),
        (Evidence(text="<｜DSML｜ calls>"), "deepseek_v41", "The output has '<｜DSML｜ calls>' at character 0."),
        (Evidence(text="<｜DSML｜tool_calls>"), "deepseek_v4", "The output has '<｜DSML｜tool_calls>' at character 0."),
        (Evidence(text="f<｜tool▁sep｜>{}"), "deepseek_v31", "The output has '<｜tool▁sep｜>' at character 1."),
        (
            Evidence(text="function<｜tool▁sep｜>f"),
            "deepseek",
            "The output has 'function<｜tool▁sep｜>' at character 0.",
        ),
        (Evidence(text="commentary to=functions.f json{}"), "harmony", "'commentary to=functions.' at character 0."),
        (
            Evidence(vocabulary={"<|channel|>", "<|message|>", "<|constrain|>", "<|call|>"}),
            "harmony",
            "The vocabulary has <|channel|>, <|message|>, <|constrain|> as single tokens.",
        ),
        (Evidence(model_id="mistralai/Devstral-Small"), "mistral", "contains 'devstral'"),
        (Evidence(model_id="zai-org/GLM-4.6"), "glm45_moe", "contains 'glm-4.6'"),
        (Evidence(model_id="zai-org/GLM-5.1-FP8"), "glm47_moe", "contains 'glm-5'"),
        (Evidence(model_id="zai-org/GLM-5.3-Flash"), "glm53", "contains 'glm-5.3'"),
        (Evidence(model_id="MiniMaxAI/MiniMax-M2.5"), "minimax_m2", "contains 'minimax-m2'"),
        (Evidence(model_id="MiniMaxAI/MiniMax-M3"), "minimax_m3", "contains 'minimax-m3'"),
        (Evidence(model_id="MiniMaxAI/MiniMax-M1-80k"), "minimax_m1", "contains 'minimax-m1'"),
        (Evidence(model_id="MiniMaxAI/MiniMax-Text-01"), "passthrough", "Neither model"),
        (Evidence(model_id="nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B"), "nemotron_v3", "contains 'nemotron-3'"),
        (Evidence(model_type="seed_oss"), "seed_oss", "Model type seed_oss is listed for seed_oss."),
        (Evidence(text="<tool_call>f\n<arg_key>a"), "glm45_moe", "The output has '\\n<arg_key>' at character 12."),
        (Evidence(text="<tool_call>f<arg_key>a"), "glm47_moe", "The output has '<arg_key>' at character 12."),
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
        *[
            (Evidence(vocabulary={"<tool_call>", "</tool_call>"}, text=text), name, "</tool_call> as single tokens.")
            for text, name in [
                ("<tool_call>\n<function=f>\n<parameter=city>\nPar", "qwen_coder"),
                ("<think>Hm.</think>\n\n<tool_call>\n<function=f>\n<parameter=city>\nParis", "qwen_coder"),
                ('<tool_call>\n{"name": "f", "arguments": {"code": "<function=', "qwen"),
                ("<tool_call>", "qwen"),
                ("Sure.", "qwen"),
            ]
        ],
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


@pytest.mark.parametrize(("name", "found"), [("qwen", "qwen"), ("hermes", "qwen"), ("response_template", None)])
def test_a_name_that_may_be_no_formats_is_looked_up_without_an_error(name: str, found: str | None) -> None:
    fmt = known_format(name)
    assert (fmt and fmt.name) == found
