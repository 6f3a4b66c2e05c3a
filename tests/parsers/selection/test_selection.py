"""Which parser a model is read with: vllm.rs's tables of families and ids, corrected where a model writes otherwise."""

from __future__ import annotations

import pytest

from parsers.selection.registry import BY_TYPE, FAMILIES, Evidence, get_format, names, resolve, select
from parsers.vocabulary.types import UsageError

VLLM_RS_NAMES = (
    *("passthrough", "json", "mistral", "qwen", "qwen_coder", "pythonic", "llama", "deepseek", "glm45_moe"),
    *("glm47_moe", "step3", "kimik2", "minimax_m2"),
)

# Family (vllm.rs ModelType), one model_type, one architecture, parser.
FAMILY_TABLE = [
    ("LLaMa", "llama", "LlamaForCausalLM", "llama"),
    ("LLaMa", "llama3", "IQuestCoderForCausalLM", "llama"),
    ("Mistral", "mistral", "MistralForCausalLM", "mistral"),
    ("Mistral3VL", "mistral3", "Mistral3ForConditionalGeneration", "mistral"),
    ("Qwen3_5", "qwen35", "Qwen3_5ForConditionalGeneration", "qwen_coder"),
    ("Qwen3_5MoE", "qwen3_next", "Qwen3NextForCausalLM", "qwen_coder"),
    ("Qwen3", "qwen3", "Qwen2ForCausalLM", "qwen"),
    ("Qwen3MoE", "qwen3_moe", "Qwen3MoeForCausalLM", "qwen"),
    ("Qwen3VL", "qwen3_vl", "Qwen3VLForConditionalGeneration", "qwen"),
    ("Gemma", "gemma2", "Gemma2ForCausalLM", "json"),
    ("Gemma3", "gemma3_text", "Gemma3ForConditionalGeneration", "json"),
    ("Gemma4", "gemma4", "Gemma4ForConditionalGeneration", "gemma4"),
    ("LLaMa4", "llama4", "Llama4ForConditionalGeneration", "pythonic"),
    ("Phi", "phi3", "Phi3ForCausalLM", "qwen"),
    ("Phi4", "phi4", "Phi4ForCausalLM", "qwen"),
    ("GLM4", "glm4", "Glm4ForCausalLM", "glm47_moe"),
    ("GLM4MoE", "glm4_moe", "Glm4MoeForCausalLM", "glm47_moe"),
    ("GLM4MoeLite", "glm4_moe_lite", "Glm4MoeLiteForCausalLM", "glm47_moe"),
    ("Yi", "yi", "YiForCausalLM", "qwen"),
    ("StableLM", "stablelm", "StableLmForCausalLM", "qwen"),
    ("DeepSeek", "deepseek_v3", "DeepseekV3ForCausalLM", "deepseek"),
    ("MiniMax", "minimax_m2", "MiniMaxM2ForCausalLM", "minimax_m2"),
]

# Ids of vllm.rs's own table and of real models, and what their models write.
ID_TABLE = [
    ("mistral-7b-instruct", "mistral"),
    ("mixtral-8x7b", "mistral"),
    ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral"),
    ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen_coder"),
    ("qwen3-coder-30b", "qwen_coder"),
    ("Qwen/Qwen3.5-35B-A3B", "qwen_coder"),
    ("Qwen/Qwen3.8-27B", "qwen_coder"),
    ("Qwen/Qwen3-Coder-Next", "qwen_coder"),
    ("Qwen/Qwen3-Next-80B-A3B-Thinking", "qwen"),
    ("HuggingFaceTB/SmolLM3-3B", "qwen"),
    ("moonshotai/Kimi-Linear-48B-A3B-Instruct", "kimik2"),
    ("Qwen/Qwen2.5-Coder-32B-Instruct", "qwen"),
    ("Qwen/Qwen2.5-7B-Instruct", "qwen"),
    ("qwen3-8b", "qwen"),
    ("NousResearch/Hermes-2-Pro-Llama-3-8B", "qwen"),
    ("llama-4-scout", "pythonic"),
    ("meta-llama/Llama-4-Maverick-17B-128E-Instruct", "pythonic"),
    ("meta-llama/Llama-3.2-1B-Instruct", "llama"),
    ("meta-llama-3.2-3b", "llama"),
    ("deepseek-v3", "deepseek"),
    ("deepseek-ai/DeepSeek-V3-0324", "deepseek"),
    ("deepseek-ai/DeepSeek-V3.1", "deepseek_v31"),
    ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek_v31"),
    ("deepseek-ai/DeepSeek-V3.2", "deepseek_v32"),
    ("deepseek-coder-v2", "deepseek"),
    ("zai-org/GLM-4.5", "glm45_moe"),
    ("glm-4.6", "glm45_moe"),
    ("zai-org/GLM-4.7", "glm47_moe"),
    ("stepfun-ai/step3", "step3"),
    ("Step-3", "step3"),
    ("kimi-k2-instruct", "kimik2"),
    ("moonshotai/Kimi-K2-Thinking", "kimik2"),
    ("MiniMaxAI/MiniMax-M2", "minimax_m2"),
    ("google/gemma-3-27b-it", "json"),
    ("google/gemma-4-26B-A4B-it", "gemma4"),
    ("google/functiongemma-270m-it", "functiongemma"),
    ("LiquidAI/LFM2.5-1.2B-Instruct", "lfm2"),
    ("allenai/Olmo-3-7B-Instruct", "olmo3"),
    ("Team-ACE/ToolACE-2-Llama-3.1-8B", "pythonic"),
    ("gpt-4o", "passthrough"),
    ("claude-3", "passthrough"),
]


@pytest.mark.parametrize("name", VLLM_RS_NAMES)
def test_the_thirteen_names_are_exact(name: str) -> None:
    assert name in names()
    assert get_format(name).name == name


def test_every_family_is_in_the_table() -> None:
    assert {family for family, *_ in FAMILY_TABLE} == {family.name for family in FAMILIES}
    assert {BY_TYPE[name.casefold()].name for family in FAMILIES for name in family.types} == {f.name for f in FAMILIES}


@pytest.mark.parametrize(("family", "model_type", "architecture", "parser"), FAMILY_TABLE)
def test_a_model_type_selects_the_parser_of_its_family(
    family: str, model_type: str, architecture: str, parser: str
) -> None:
    for spelling in (family, model_type, architecture, f" {architecture.upper()} "):
        selection = select(Evidence(model_type=spelling, model_id="anything"))
        assert selection.name == parser, spelling
        assert selection.reasons[0].startswith(f"Model type {spelling.strip()} is listed for {parser}")


@pytest.mark.parametrize("family", ["Qwen3", "Qwen3MoE", "Qwen3VL", "Qwen2ForCausalLM"])
@pytest.mark.parametrize("part", ["Coder", "qwen3.5", "QWEN3.6"])
def test_the_model_id_decides_between_the_two_grammars_of_qwen_3(family: str, part: str) -> None:
    selection = select(Evidence(model_type=family, model_id=f"mine-{part}-8b"))
    assert selection.name == "qwen_coder"
    assert f"contains {part.lower()!r}" in selection.reasons[1]
    assert select(Evidence(model_type=family, model_id="mine-8b")).name == "qwen"


def test_a_coder_of_qwen_2_5_writes_json_like_its_family() -> None:
    assert select(Evidence(model_type="qwen2", model_id="Qwen2.5-Coder-7B")).name == "qwen"


def test_the_id_does_not_overrule_a_family_without_coders() -> None:
    assert select(Evidence(model_type="stablelm", model_id="stable-coder")).name == "qwen"


# A fine-tune keeps the architecture it began with; its id names the grammar.
@pytest.mark.parametrize(
    ("model_type", "model_id", "parser"),
    [
        ("llama", "NousResearch/Hermes-3-Llama-3.1-8B", "qwen"),
        ("llama", "meetkai/functionary-medium-v3.1", "llama_function_tag"),
        ("llama", "Salesforce/Llama-xLAM-2-8b-fc-r", "json"),
        ("llama", "Team-ACE/ToolACE-8B", "pythonic"),
        ("llama", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "deepseek_r1"),
        ("llama", "meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("phi3", "microsoft/Phi-4-mini-instruct", "phi4_mini_json"),
        ("gemma3_text", "google/functiongemma-270m-it", "functiongemma"),
        ("gemma3", "google/gemma-3-27b-it", "json"),
        ("qwen3_next", "Qwen/Qwen3-Next-80B-A3B-Thinking", "qwen"),
        ("qwen3_next", "Qwen/Qwen3-Coder-Next", "qwen_coder"),
        ("deepseek_v4", "deepseek-ai/DeepSeek-V4.1-Flash", "deepseek_v41"),
        ("glm_moe_dsa", "zai-org/GLM-5.3", "glm53"),
        ("glm_moe_dsa", "zai-org/GLM-5", "glm47_moe"),
    ],
)
def test_the_id_of_a_fine_tune_overrules_its_architecture(model_type: str, model_id: str, parser: str) -> None:
    assert select(Evidence(model_type=model_type, model_id=model_id)).name == parser


@pytest.mark.parametrize(("model_id", "parser"), [("zai-org/GLM-4.5-Air", "glm45_moe"), ("GLM-4.7", "glm47_moe")])
def test_the_id_decides_among_the_formats_that_list_a_type(model_id: str, parser: str) -> None:
    selection = select(Evidence(model_type="Glm4MoE", model_id=model_id))
    assert selection.name == select(Evidence(model_type="glm4_moe", model_id=model_id)).name == parser


@pytest.mark.parametrize(("model_id", "parser"), ID_TABLE)
def test_a_model_id_selects_the_parser_of_its_grammar(model_id: str, parser: str) -> None:
    assert select(Evidence(model_id=model_id)).name == parser


def test_evidence_counts_in_the_order_enforced_type_id_vocabulary_text() -> None:
    everything = Evidence("mistral", "llama", "kimi-k2", ("<tool_call>", "</tool_call>"), "<function=f>")
    order = []
    for field in ("enforced", "model_type", "model_id", "vocabulary", "text"):
        order.append(select(everything).name)
        setattr(everything, field, () if field == "vocabulary" else "")
    assert [*order, select(everything).name] == ["mistral", "llama", "kimik2", "qwen", "qwen_coder", "passthrough"]


@pytest.mark.parametrize("value", [None, "", "  ", "auto", " auto "])
def test_an_enforced_parser_that_is_empty_is_not_enforced(value: str | None) -> None:
    assert select(Evidence(enforced=value, model_type="llama")).name == "llama"


def test_an_enforced_parser_is_trimmed_and_an_invalid_one_is_refused_with_all_names() -> None:
    assert select(Evidence(enforced=" qwen_coder\n")).name == "qwen_coder"
    with pytest.raises(UsageError) as refused:
        select(Evidence(enforced="qwen-coder"))
    assert "'qwen-coder'" in str(refused.value)
    assert all(name in str(refused.value) for name in names())


def test_names_and_aliases_are_told_apart_by_case() -> None:
    with pytest.raises(UsageError):
        resolve("Qwen")


@pytest.mark.parametrize("model_type", ["", "  ", "never_heard_of"])
def test_a_type_that_no_format_lists_decides_nothing(model_type: str) -> None:
    assert select(Evidence(model_type=model_type, model_id="Qwen3-8B")).name == "qwen"


MENTIONED = [
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<|tool_calls_section_begin|>",
    "<｜DSML｜function_calls>",
    "<function=f>",
]


@pytest.mark.parametrize("marker", MENTIONED)
@pytest.mark.parametrize(
    "text", ["It looks for `{}` there.", "Like this:\n```\n{}\n```\nDone.", "`{0}` and `{0}`: both."]
)
def test_a_marker_that_is_only_mentioned_in_code_chooses_nothing(marker: str, text: str) -> None:
    assert select(Evidence(text=text.format(marker))).name == "passthrough"


@pytest.mark.parametrize(
    ("text", "parser"),
    [
        ("It begins with `[TOOL_CALLS]`. [TOOL_CALLS]f", "mistral"),
        ('Like this:\n```\n[TOOL_CALLS]f{"a": 1}\n```\nDone.', "mistral"),
        ("```\n[TOOL_CALLS]f", "mistral"),
    ],
)
def test_a_marker_that_stands_for_itself_chooses_beside_one_that_is_mentioned(text: str, parser: str) -> None:
    assert select(Evidence(text=text)).name == parser


@pytest.mark.parametrize(
    ("text", "parser"),
    [
        ("[f(a=1), g()]", "pythonic"),
        ('So:\n[get_weather(city="Bern")]', "pythonic"),
        ("see [f(x)]", "passthrough"),
        ("[1, 2]", "passthrough"),
        ("[link](address)", "passthrough"),
    ],
)
def test_a_list_of_python_calls_at_the_beginning_of_a_line_is_recognised(text: str, parser: str) -> None:
    assert select(Evidence(text=text)).name == parser


@pytest.mark.parametrize(
    ("text", "parser"),
    [
        ("<tool_call>\n<function=f>\n</function>\n</tool_call>", "qwen_coder"),
        ('<tool_call>\n{"name": "f"}\n</tool_call>', "qwen"),
        ("no call at all", "qwen"),
    ],
)
def test_a_type_with_several_grammars_is_told_by_the_output(text: str, parser: str) -> None:
    found = select(Evidence(model_type="qwen3_moe", text=text))
    assert found.name == parser
    assert "qwen3_moe" in found.reasons[0]
