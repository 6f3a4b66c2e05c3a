"""A block for llama.cpp's tests/test-chat.cpp: a chain of its test builder, for the beginning of the function that has
them all.

The shape is that of ggml-org/llama.cpp (tests/test-chat.cpp of 2026): `peg_tester` with a chat template, `test` of a
whole output, `tools`, `reasoning_format`, `enable_thinking`, `expect` and `run`. The harness itself parses every
beginning of the output, so no chunking is given. It compares whole messages, ids of calls too, which no case says.
"""

from __future__ import annotations

from parsers.cases import jsontext
from parsers.cases.expect import arguments_text
from parsers.cases.export.suite_literals import cpp
from parsers.cases.export.suite_subject import Subject
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_TEMPLATES = {  # of models/templates, the one of a format
    "apertus": "Apertus-8B-Instruct",
    "apriel": "unsloth-Apriel-1.5",
    "cohere": "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "deepseek_r1": "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek_v31": "deepseek-ai-DeepSeek-V3.1",
    "deepseek_v32": "deepseek-ai-DeepSeek-V3.2",
    "deepseek_v4": "deepseek-ai-DeepSeek-V4",
    "functionary_v3_2": "meetkai-functionary-medium-v3.2",
    "gemma4": "google-gemma-4-31B-it",
    "gigachat3": "GigaChat3-10B-A1.8B",
    "glm45_moe": "GLM-4.6",
    "glm47_moe": "GLM-4.7-Flash",
    "granite": "ibm-granite-granite-3.3-2B-Instruct",
    "harmony": "openai-gpt-oss-120b",
    "hunyuan": "tencent-Hy3",
    "kimi_k3": "Kimi-K3",
    "kimik2": "Kimi-K2-Instruct",
    "lfm2": "LFM2-8B-A1B",
    "ling3": "inclusionai-ling-3.0-flash",
    "llama": "meta-llama-Llama-3.1-8B-Instruct",
    "mimo": "MiMo-VL",
    "minicpm5": "openbmb-MiniCPM5-1B",
    "minimax_m1": "MiniMax-M1",
    "minimax_m2": "MiniMax-M2",
    "minimax_m3": "MiniMax-M3",
    "mistral": "mistralai-Mistral-Nemo-Instruct-2407",
    "muse_glimmer": "muse-glimmer",
    "nemotron_v2": "NVIDIA-Nemotron-Nano-v2",
    "nemotron_v3": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "qwen": "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "qwen3": "Qwen-Qwen3-0.6B",
    "qwen_coder": "Qwen3-Coder",
    "seed_oss": "ByteDance-Seed-OSS",
    "solar_open": "upstage-Solar-Open-100B",
    "step3p5": "StepFun3.5-Flash",
}
_INDENT = "\n            "


def _literals(subject: Subject) -> Literals:
    subject.refuse_soft("llama.cpp")
    if subject.tool_choice == "none":  # without tools it reads none by itself
        subject.refuse_unread("llama.cpp's test")
    own = subject.parser.removesuffix(".jinja") if subject.engine == "llamacpp" else None
    template = own or _TEMPLATES.get(subject.format.name)
    if template is None:
        raise UsageError(f"llama.cpp has no template that is known to write {subject.format.name}")
    if subject.expect.content is None or subject.calls is None:
        raise UsageError("llama.cpp compares whole messages: say under 'expect' what content and tool_calls should be")
    tools = [tool["function"] for tool in subject.tools]
    return {
        "TEMPLATE": cpp(f"models/templates/{template}.jinja"),
        "TOOLS": "".join([_tool(at, tool) for at, tool in enumerate(tools)]),
        "OUTPUT": cpp("".join(subject.chunks)),
        "EXPECTED": "".join(_expected(subject)),
        "CHAIN": "".join([f"{_INDENT}{link}" for link in _chain(subject, len(tools))]),
    }


def _tool(at: int, function: dict[str, object]) -> str:
    parts = (str(function["name"]), str(function.get("description") or ""), jsontext.line(function["parameters"]))
    return f"        common_chat_tool tool_{at}{{ {', '.join(map(cpp, parts))} }};\n"


def _expected(subject: Subject) -> list[str]:
    expect = subject.expect
    rows = [f"        expected.content = {cpp(expect.content)};\n"] if expect.content else []
    rows += [f"        expected.reasoning_content = {cpp(expect.reasoning)};\n"] if expect.reasoning else []
    for call in expect.tool_calls or ():
        told = ", ".join(map(cpp, (call.name, arguments_text(call), "")))
        rows.append(f"        expected.tool_calls.push_back({{ {told} }});\n")
    return rows


def _chain(subject: Subject, tools: int) -> list[str]:
    links = [".reasoning_format(COMMON_REASONING_FORMAT_DEEPSEEK)"] if subject.expect.reasoning else []
    thinking = subject.case.context.template_kwargs.get("enable_thinking", bool(subject.expect.reasoning))
    links.append(f".enable_thinking({'true' if thinking else 'false'})")
    if tools:
        links.append(f".tools({{ {', '.join([f'tool_{at}' for at in range(tools)])} }})")
    links += [".parallel_tool_calls(true)"] if len(subject.calls or ()) > 1 else []
    return [*links, ".expect(expected)", ".run();"]


LLAMACPP = SuiteTarget(
    name="llamacpp",
    words="llama.cpp test",
    about="a chain for test-chat.cpp",
    path="tests/test-chat.cpp",
    template="to_llamacpp.txt",
    mimetype="text/x-c++src",
    comment="    //",
    licence="MIT",
    literals=_literals,
    reads=lambda case, fmt: fmt in _TEMPLATES,
    place="behind",
    anchor="static void test_template_output_peg_parsers(bool detailed_debug) {",
    reads_arguments=True,
)
