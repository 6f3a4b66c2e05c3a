"""Whose call an output holds, whatever a model calls itself."""

from __future__ import annotations

import pytest

from parsers.selection.claims import claiming_formats
from parsers.selection.registry import Evidence, known_format, select
from tests.corpus import CORPORA, case_named, case_names
from tests.growth import assert_linear, seconds

HERMES = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
CODER = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
GLM = "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"
GLM47 = GLM.replace("\n", "")
MISTRAL = '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]'
LLAMA = '<|python_tag|>{"name": "f", "parameters": {"a": 1}}'
PYTHONIC = "[f(a=1)]"
GRANITE = '<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]'
HARMONY = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>"
DEEPSEEK = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"

# Outputs whose opening marker a server or the prompt has taken, and the format that knows what is left.
UNOPENED = [
    ('call:f{a:<|"|>x<|"|>}<tool_call|>', "gemma4"),
    ('call:f{a:<|"|>x<|"|>}', "gemma4"),
    ("call:f{a:<escape>x<escape>}", "functiongemma"),
    ("call:f{a:1}<tool_call|>", "gemma4"),
    ("call:f{a:<escape>x<escape>}<end_function_call>", "functiongemma"),
    ("<function=f>\n<parameter=a>1</parameter>\n</function>\n</seed:tool_call>", "seed_oss"),
    ("<function=f>\n<parameter=a>1</parameter>\n</function>\n</tool_call>", "qwen_coder"),
    ('<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</dots_function_call>', "dots"),
    ('<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>', "minimax_m2"),
]

# Model id, an output of reasoning without a complete call, the parser that reads it.
REASONED = [
    (None, "<think>Hm.", "deepseek_r1"),
    (None, "<think>Hm.</think>", "deepseek_r1"),
    (None, "<think>Hm.</think>Yes.", "deepseek_r1"),
    (None, "Hm.</think>\n\nYes.", "deepseek_r1"),
    (None, "[THINK]Hm.", "mistral"),
    (None, "<|channel>thought\nHm.", "gemma4"),
    (None, "<|channel|>analysis<|message|>Hm.", "harmony"),
    (None, "analysisHm.assistantfinalYes.", "harmony"),
    (None, "<seed:think>Hm.", "seed_oss"),
    (None, "<think>I may write <tool_call> {</tool_call>.</think>No.", "qwen"),
    (None, f"<think>Hm.</think>{CODER[:30]}", "qwen_coder"),
    (None, "<think>Hm.</think><|START_ACTION|>[", "cohere"),
    (None, "`</think>` ends it.", "passthrough"),
    (None, "It closes with </think> and goes on.", "passthrough"),
    ("Qwen/Qwen3-8B", "<think>Hm.", "qwen"),
    ("meta-llama/Llama-3.1-8B-Instruct", "<think>Hm.</think>Yes.", "deepseek_r1"),
    ("openai/gpt-oss-20b", "[THINK]Hm.", "mistral"),
    ("openai/gpt-oss-20b", "Hm.", "harmony"),
]

# JSON and Python without markers: an output that is no more than that, or has it on lines of its own, calls; an answer
# that shows it in code does not.
OBJECT, LIST = '{"name": "f", "arguments": {"a": 1}}', '[{"name": "f", "arguments": {"a": 1}}]'
SHOWN = [
    (OBJECT, "llama"),
    (f"Sure, I will.\n{OBJECT}", "llama"),
    (f"```json\n{OBJECT}\n```", "json"),
    (f"`{OBJECT}`", "llama"),
    (f"Send `{OBJECT}` to it.", "passthrough"),
    (f"`{OBJECT}` is what you send.", "passthrough"),
    (f"Send `{LIST}` to it.", "passthrough"),
    (f"Send this:\n\n```json\n{OBJECT}\n```\n\nThen wait.", "passthrough"),
    (f"Send this:\n```\n{OBJECT}\n```", "passthrough"),
    (f"```json\n{OBJECT}\n```\nis what you send.", "passthrough"),
    (f"Send this:\n```json\n{OBJECT}", "passthrough"),
    ("Use `[f(a=1)]` for it.", "passthrough"),
    (f"Not `{OBJECT}` but:\n{LIST}", "json"),
    (f"Not ```x``` but:\n{LIST}", "json"),
    ("In Ruby call:g{} is a symbol.", "passthrough"),
    ("call:g{}", "passthrough"),
    ("call:g{a:1}", "passthrough"),
    ('Llamas say "<|python_tag|>".', "passthrough"),
    ("Mistral writes '[TOOL_CALLS]', Kimi «<|tool_call_begin|>», others “<|tool_call>”.", "passthrough"),
    ('Not "[TOOL_CALLS]" but <|python_tag|>', "llama"),
    ('He said "[TOOL_CALLS] and more"', "mistral"),
]

# Model id, output, the parser that reads it.
CHOICES = [
    ("NousResearch/Hermes-2-Pro-Mistral-7B", HERMES, "qwen"),
    ("NousResearch/Hermes-2-Pro-Mistral-7B", "No call.", "qwen"),
    ("mistralai/Mistral-7B-Instruct-v0.3", HERMES, "qwen"),
    ("mistralai/Mistral-7B-Instruct-v0.3", MISTRAL, "mistral"),
    ("mistralai/Mistral-7B-Instruct-v0.3", "No call.", "mistral"),
    ("meta-llama/Llama-3.2-3B-Instruct", PYTHONIC, "pythonic"),
    ("meta-llama/Llama-3.2-3B-Instruct", LLAMA, "llama"),
    ("meta-llama/Llama-3.2-3B-Instruct", '{"name": "f", "parameters": {"a": 1}}', "llama"),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", f"Hm.</think>{HERMES}", "qwen"),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", LLAMA, "llama"),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "Hm.</think>No call.", "deepseek_r1"),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", CODER, "qwen_coder"),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", HERMES, "qwen_coder"),
    ("Qwen/Qwen3-8B", CODER, "qwen_coder"),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B", CODER, "nemotron_v3"),
    ("zai-org/GLM-4.7", GLM47, "glm47_moe"),
    ("zai-org/GLM-4.5", GLM47, "glm45_moe"),
    ("zai-org/GLM-4.5", GLM, "glm45_moe"),
    ("ibm-granite/granite-3.3-8b-instruct", GRANITE, "granite"),
    ("openai/gpt-oss-20b", HARMONY, "harmony"),
    ("my-finetune", HARMONY, "harmony"),
    ("my-finetune", HERMES, "qwen"),
    ("my-finetune", f"<think>`</think>` ends it.</think>\n{HERMES}", "qwen"),
    ("my-finetune", HERMES.replace("\n{", "  {"), "qwen"),
    ("my-finetune", "<tool_call>get_time</tool_call>", "glm45_moe"),
    ("my-finetune", CODER, "qwen_coder"),
    ("my-finetune", GLM, "glm45_moe"),
    ("my-finetune", GLM47, "glm47_moe"),
    ("my-finetune", PYTHONIC, "pythonic"),
    ("my-finetune", DEEPSEEK, "deepseek_v31"),
    ("my-finetune", HERMES.replace("1}", '"</think>"}'), "qwen"),
    ("my-finetune", "[link](address) and f(x)", "passthrough"),
    ("mistralai/Mistral-7B-Instruct-v0.3", 'Now <TOOL>[{"name": "f", "arguments": {"a": 1}}]</TOOL>', "mistral"),
    ("CohereLabs/c4ai-command-r-plus", "No call.", "passthrough"),
    # Cut off: no call is complete, so the model decides.
    ("mistralai/Mistral-7B-Instruct-v0.3", HERMES[:40], "mistral"),
]

# Cases whose parser reads what is another one's to read, or gives up on it.
OTHERS = {
    "deepseek/malformed-empty-block": "two grammars of DeepSeek differ in what an empty block is",
    "json/marker-before-array": "json reads calls behind others' markers too",
    "json/tags": "json reads calls behind others' markers too",
    "json/tags-array-cut": "json reads calls behind others' markers too",
    "llama_function_tag/malformed-bare-words": "tagged formats read words without tags as a call without arguments",
    "muse/empty-headers": "harmony takes the recipient of a message for a tool",
    "muse/next-message": "harmony takes the recipient of a message for a tool",
    "passthrough/markers-are-text": "it reads nothing",
    "passthrough/reasoning-then-call": "it reads nothing",
    "qwen3/glm-block": "it reads GLM's calls too",
    "qwen_coder/glm-block": "it reads GLM's calls too",
    "qwen_coder/glm-block-alone": "it reads GLM's calls too",
}


@pytest.mark.parametrize(("text", "parser"), SHOWN)
@pytest.mark.parametrize("tools", [(), ("f",)])
def test_code_in_an_answer_is_no_call(text: str, parser: str, tools: tuple[str, ...]) -> None:
    assert select(Evidence(text=text, tools=tools)).name == parser


def test_a_call_by_a_word_that_prose_has_is_one_where_its_tool_is_declared() -> None:
    assert select(Evidence(text="call:f{a:1}", tools=("f",))).name == "functiongemma"


@pytest.mark.replays
@pytest.mark.parametrize(("model", "text", "parser"), CHOICES)
def test_a_model_id_never_overrides_a_clear_output(model: str, text: str, parser: str) -> None:
    assert select(Evidence(model_id=model, text=text)).name == parser


@pytest.mark.parametrize(("text", "name"), UNOPENED)
def test_what_closes_a_call_tells_near_relatives_apart(text: str, name: str) -> None:
    assert select(Evidence(text=text)).name == name


@pytest.mark.parametrize(("model", "text", "name"), REASONED)
def test_the_format_of_the_reasoning_is_taken_where_no_call_is_complete(
    model: str | None, text: str, name: str
) -> None:
    assert select(Evidence(model_id=model, text=text)).name == name


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.replays(
    but=(
        "minicpm5",
        "solar_open",
        "qwen_coder",
        "harmony",
    )
)
def test_a_case_is_claimed_by_its_own_parser(corpus: str) -> None:
    others = []
    for name in case_names(corpus):
        case = case_named(name)
        fmt = known_format(case.parser.name) if case.parser.format is None and case.parser.engine is None else None
        free = fmt is not None and case.context.tool_choice in ("auto", "none")
        claiming = claiming_formats(case.text()) if free else ()
        if fmt is not None and claiming and fmt.name not in claiming:
            others.append(name)
    assert others == [name for name in sorted(OTHERS) if name.startswith(f"{corpus}/")]


def test_a_bare_list_that_the_request_asks_for_is_nobody_s_own() -> None:
    text = '[{"name": "f", "parameters": {"a": 1}}]'
    assert select(Evidence(model_id="Qwen/Qwen3-8B", text=text)).name == "json"
    assert select(Evidence(model_id="Qwen/Qwen3-8B", text=text, guided=True)).name == "qwen"
    assert select(Evidence(model_id="meta-llama/Llama-3.1-8B", text=HERMES, guided=True)).name == "qwen"


@pytest.mark.parametrize(
    ("text", "tools", "claiming"),
    [
        ("The <tool_call>x</tool_call> tag.", (), False),
        ("The <tool_call>x</tool_call> tag.", ("x",), True),
        ("Now:\n<tool_call>x</tool_call>", (), True),
        ('{"tz": "UTC"}', (), False),
        ("", (), False),
    ],
)
def test_a_call_without_arguments_in_prose_is_one_only_where_its_tool_is_declared(
    text: str, tools: tuple[str, ...], claiming: bool
) -> None:
    assert bool(claiming_formats(text, tools)) is claiming


def test_a_long_call_is_claimed_before_its_end_and_by_nobody_who_has_none_open() -> None:
    long = HERMES.replace("1}", f'"{"word " * 10_000}"}}')
    assert "qwen" in claiming_formats(long)
    assert claiming_formats(long) == claiming_formats(HERMES)
    assert claiming_formats("Use <tool_call> as a tag. " + "word " * 10_000) == ()


def test_reasons_name_the_call_before_or_beside_the_model() -> None:
    [read] = select(Evidence(text=LLAMA)).reasons[-1:]
    assert read == "The output has a complete call that llama reads."
    both = select(Evidence(model_id="Qwen/Qwen3-8B", text=HERMES)).reasons
    assert both[0] == "The model id Qwen/Qwen3-8B contains 'qwen'."
    assert both[1].startswith("The output has a complete call that ernie45, ")


@pytest.mark.linear
@pytest.mark.parametrize("unit", ["Use <tool_call> here. ", "word ", '{"name": 1} '])
def test_the_time_grows_with_the_length(unit: str) -> None:
    assert_linear(lambda size: seconds(lambda: claiming_formats(unit * size)), (1_000, 2_000, 4_000))
