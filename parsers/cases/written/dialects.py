"""How each built-in format writes a message, by its name."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.cases.written.notation import (
    Dialect,
    blocks_content,
    dsml,
    functionary,
    functionary_content,
    gigachat_content,
    harmony,
    harmony_call,
    harmony_content,
    inkling,
    json_call,
    keyvalue,
    kimi_header,
    kimi_k3,
    llama,
    llama_content,
    mistral_array,
    mistral_name,
    muse,
    named,
    python_call,
    solar,
    tags,
    typed_by_tag,
    unpadded_content,
)

QWEN_JSON = json_call("<tool_call>\n", "\n</tool_call>")
QWEN_TAGS = tags("<tool_call>\n<function={n}>\n", "<parameter={k}>\n{v}\n</parameter>\n", "</function>\n</tool_call>")
ARG_TAGS = "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>"
ARG_LINES = "<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n"
THINK_M = ("[THINK]", "[/THINK]")
V3 = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
FENCE = "```"
NS = "]<]minimax[>["


DIALECTS: Mapping[str, Dialect] = {
    "qwen": Dialect("qwen", QWEN_JSON),
    "qwen_one_line": Dialect("qwen", json_call("<tool_call>", "</tool_call>")),
    "qwen_agent": Dialect("qwen_agent", named("✿FUNCTION✿: ", "\n✿ARGS✿: ", "")),
    "qwen_coder": Dialect("qwen_coder", QWEN_TAGS, values="tags"),
    "kimik2": Dialect("kimik2", kimi_header, section=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>")),
    "llama": Dialect("llama", llama, None, content=llama_content),
    "mistral_array": Dialect("mistral", mistral_array, THINK_M),
    "mistral_name": Dialect("mistral", mistral_name, THINK_M),
    "mistral_array_fixed": Dialect("mistral", mistral_array, None, policy={"mistral_version": "pre_v11"}),
    "mistral_name_fixed": Dialect("mistral", mistral_name, None, policy={"mistral_version": "v11"}),
    "llama_function_tag": Dialect("llama_function_tag", named("<function=", ">", "</function>"), None),
    "granite": Dialect("granite", json_call(), section=("<|tool_call|>[", "]"), between=", "),
    "phi4_mini_json": Dialect("phi4_mini_json", json_call(), None, section=("functools[", "]"), between=", "),
    "hunyuan_a13b": Dialect(
        "hunyuan_a13b",
        json_call(),
        ("<think>\n", "</think>\n"),
        section=("<tool_calls>[", "]</tool_calls>"),
        between=", ",
    ),
    "json": Dialect("json", json_call(key="parameters"), section=("[", "]"), between=","),
    "json_fence": Dialect("json", json_call("```json\n", "\n```")),
    "json_tags": Dialect("json", json_call("<tool_call>", "</tool_call>")),
    "cohere": Dialect(
        "cohere",
        json_call(key="parameters"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        section=("<|START_ACTION|>[", "]<|END_ACTION|>"),
        between=",",
    ),
    "internlm": Dialect("internlm", json_call("<|action_start|><|plugin|>\n", "<|action_end|>", "parameters")),
    "ernie45": Dialect("ernie45", QWEN_JSON, content=unpadded_content),
    "qwen3_json": Dialect("qwen3", QWEN_JSON),
    "qwen3_tags": Dialect("qwen3", QWEN_TAGS, values="tags"),
    "nemotron_v3": Dialect("nemotron_v3", QWEN_TAGS, values="tags"),
    "step3p5": Dialect("step3p5", QWEN_TAGS, values="tags"),
    "mimo": Dialect(
        "mimo",
        tags("<tool_call>\n<function={n}>\n", "<parameter={k}>{v}</parameter>\n", "</function>\n</tool_call>"),
        values="tags",
    ),
    "seed_oss": Dialect(
        "seed_oss",
        tags(
            "<seed:tool_call>\n<function={n}>\n",
            "<parameter={k}>\n{v}\n</parameter>\n",
            "</function>\n</seed:tool_call>",
        ),
        ("<seed:think>", "</seed:think>"),
        values="tags",
    ),
    "glm45_moe": Dialect("glm45_moe", tags("<tool_call>{n}\n", ARG_LINES, "</tool_call>"), values="tags"),
    "glm47_moe": Dialect("glm47_moe", tags("<tool_call>{n}", ARG_TAGS, "</tool_call>"), values="tags"),
    "glm53": Dialect("glm53", tags("<tool_call>{n}", ARG_TAGS, "</tool_call>"), values="tags"),
    "longcat": Dialect(
        "longcat",
        tags(
            "<longcat_tool_call>{n}\n",
            "<longcat_arg_key>{k}</longcat_arg_key>\n<longcat_arg_value>{v}</longcat_arg_value>\n",
            "</longcat_tool_call>",
        ),
        ("<longcat_think>", "</longcat_think>"),
        values="tags",
    ),
    "hunyuan": Dialect(
        "hunyuan",
        tags("<tool_call>{n}<tool_sep>\n", ARG_LINES, "</tool_call>\n"),
        section=("<tool_calls>\n", "</tool_calls>"),
        values="tags",
    ),
    "minimax_m2": Dialect(
        "minimax_m2",
        tags('<invoke name="{n}">\n', '<parameter name="{k}">{v}</parameter>\n', "</invoke>\n"),
        section=("<minimax:tool_call>\n", "</minimax:tool_call>"),
        values="tags",
    ),
    "ling3": Dialect("ling3", tags("<tool_call>{n}\n", ARG_LINES, "</tool_call>"), values="tags"),
    "iquest_q1": Dialect("iquest_q1", tags("<iquest_tool_call>{n}", ARG_TAGS, "</iquest_tool_call>"), values="tags"),
    "gigachat3": Dialect(
        "gigachat3", json_call("<|function_call|>", "<|message_sep|>"), None, content=gigachat_content
    ),
    "gigachat3_header": Dialect(
        "gigachat3",
        json_call("<|message_sep|>\n\nfunction call<|role_sep|>\n", "<|message_sep|>\n\n"),
        None,
        content=gigachat_content,
    ),
    "minicpm5": Dialect(
        "minicpm5",
        tags('<function name="{n}">', '<param name="{k}">{v}</param>', "</function>"),
        values="tags",
        policy={"entity_decoding": "off"},
    ),
    "minicpm5_cdata": Dialect(
        "minicpm5",
        tags('<function name="{n}">\n', '<param name="{k}"><![CDATA[{v}]]></param>\n', "</function>"),
        values="tags",
    ),
    "dots": Dialect(
        "dots",
        tags('<invoke name="{n}">\n', '<parameter name="{k}">{v}</parameter>\n', "</invoke>\n"),
        section=("<dots_function_call>\n", "</dots_function_call>"),
        values="tags",
        content=unpadded_content,
    ),
    "dots_json": Dialect("dots", json_call("<dots_function_call>", "</dots_function_call>")),
    "inkling": Dialect("inkling", json_call(key="args"), whole=inkling, content=blocks_content),
    "k2_horizon": Dialect(
        "k2_horizon",
        tags(
            "<ifm|tool_call>{n}\n",
            "<ifm|arg_key>{k}</ifm|arg_key>\n<ifm|arg_value>{v}</ifm|arg_value>\n",
            "</ifm|tool_call>\n",
        ),
        ("<ifm|think>", "</ifm|think>"),
        section=("<ifm|tool_calls>\n", "</ifm|tool_calls>"),
        values="tags",
    ),
    "k2_horizon_typed": Dialect(
        "k2_horizon",
        typed_by_tag,
        ("<ifm|think_fast>", "</ifm|think_fast>"),
        section=("<ifm|tool_calls>", "</ifm|tool_calls>"),
        values="typed",
    ),
    "k2_horizon_json": Dialect(
        "k2_horizon",
        json_call("<ifm|tool_call>", "</ifm|tool_call>"),
        ("<ifm|think_faster>", "</ifm|think_faster>"),
        section=("<ifm|tool_calls>", "</ifm|tool_calls>"),
    ),
    "plamo3": Dialect(
        "plamo3",
        named(
            "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>",
            "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>",
            "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
        ),
        ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
        section=("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
    ),
    "muse": Dialect("muse", tags("", "", ""), whole=muse, values="tags", content=blocks_content),
    "muse_glimmer": Dialect("muse_glimmer", tags("", "", ""), whole=muse, values="tags", content=blocks_content),
    "functionary_v3_2": Dialect(
        "functionary_v3_2", named(">>>", "\n", ""), None, whole=functionary, content=functionary_content
    ),
    "solar_open": Dialect("solar_open", json_call(), whole=solar, content=blocks_content),
    "minimax_m1": Dialect("minimax_m1", json_call("", "\n"), section=("<tool_calls>\n", "</tool_calls>")),
    "nemotron_v2": Dialect("nemotron_v2", json_call(), section=("<TOOLCALL>[", "]</TOOLCALL>"), between=", "),
    "apertus": Dialect(
        "apertus",
        named('{"', '": ', "}"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        section=("<|tools_prefix|>[", "]<|tools_suffix|>"),
        between=", ",
    ),
    "minimax_m3": Dialect(
        "minimax_m3",
        tags(f'{NS}<invoke name="{{n}}">', f"{NS}<{{k}}>{{v}}{NS}</{{k}}>", f"{NS}</invoke>\n"),
        ("<mm:think>", "</mm:think>"),
        section=(f"{NS}<tool_call>\n", f"{NS}</tool_call>"),
        values="tags",
    ),
    "deepseek": Dialect(
        "deepseek",
        named("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", f"\n{FENCE}json\n", f"\n{FENCE}<｜tool▁call▁end｜>"),
        section=V3,
        between="\n",
    ),
    "deepseek_v31": Dialect(
        "deepseek_v31", named("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"), section=V3
    ),
    "deepseek_v32": dsml("deepseek_v32", "function_calls"),
    "deepseek_v4": dsml("deepseek_v4", "tool_calls"),
    "deepseek_v4_json": dsml("deepseek_v4", "tool_calls", as_object=True),
    "deepseek_v41": dsml("deepseek_v41", " calls", " "),
    "gigachat35": dsml("gigachat35", "tool_calls", word="GCML"),
    "apriel": Dialect(
        "apriel",
        json_call(),
        ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
        section=("<tool_calls>[", "]</tool_calls>"),
        between=", ",
    ),
    "step3": Dialect(
        "step3",
        tags(
            '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{n}">\n',
            '<steptml:parameter name="{k}">{v}</steptml:parameter>\n',
            "</steptml:invoke><｜tool_call_end｜>\n",
        ),
        section=("<｜tool_calls_begin｜>\n", "<｜tool_calls_end｜>"),
        values="tags",
    ),
    "kimi_k3": Dialect(
        "kimi_k3",
        kimi_k3,
        ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        section=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
        values="typed",
        content=unpadded_content,
    ),
    "harmony": Dialect("harmony", harmony_call, content=harmony_content, whole=harmony),
    "pythonic": Dialect("pythonic", python_call, section=("[", "]"), between=", ", values="own"),
    "llama4_pythonic": Dialect(
        "llama4_pythonic",
        python_call,
        None,
        section=("<|python_start|>[", "]<|python_end|>"),
        between=", ",
        values="own",
    ),
    "lfm2": Dialect(
        "lfm2", python_call, section=("<|tool_call_start|>[", "]<|tool_call_end|>"), between=", ", values="own"
    ),
    "lfm2_json": Dialect("lfm2", json_call(), section=("<|tool_call_start|>[", "]<|tool_call_end|>"), between=", "),
    "olmo3": Dialect(
        "olmo3", python_call, section=("<function_calls>", "</function_calls>"), between="\n", values="own"
    ),
    "gemma4": Dialect(
        "gemma4",
        keyvalue("<|tool_call>call:", '<|"|>', "<tool_call|>"),
        ("<|channel>thought\n", "<channel|>"),
        values="own",
    ),
    "functiongemma": Dialect(
        "functiongemma",
        keyvalue("<start_function_call>call:", "<escape>", "<end_function_call>"),
        None,
        values="own",
    ),
}
