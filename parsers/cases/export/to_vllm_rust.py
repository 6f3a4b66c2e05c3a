"""A test for vLLM's parsers in Rust: a module of tests for the end of the file that has the parser.

The shape is that of vllm-project/vllm, rust/src/parser/src/tool (2026): a parser made with its tools, `collect_stream`
of test_utils.rs over chunks, `normal_text` and `calls`. That joins all text, so where the case says the order the
events are looked at as they came.
"""

from __future__ import annotations

from parsers.cases.export.rust_code import assertions, chunks, json_text, refuse_reasoning
from parsers.cases.export.suite_literals import rust
from parsers.cases.export.suite_subject import Subject
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_FOLDER = "rust/src/parser/src/tool"
_PARSERS = {  # the parser of a format: its file and its type
    "deepseek": ("deepseek_json/deepseek_v3", "DeepSeekV3ToolParser"),
    "deepseek_v31": ("deepseek_json/deepseek_v31", "DeepSeekV31ToolParser"),
    "deepseek_v32": ("deepseek_dsml/deepseek_v32", "DeepSeekV32ToolParser"),
    "deepseek_v4": ("deepseek_dsml/deepseek_v4", "DeepSeekV4ToolParser"),
    "glm45_moe": ("glm_xml/glm45_moe", "Glm45MoeToolParser"),
    "glm47_moe": ("glm_xml/glm47_moe", "Glm47MoeToolParser"),
    "granite": ("json/granite4", "Granite4ToolParser"),
    "internlm": ("json/internlm2", "Internlm2ToolParser"),
    "json": ("json/xlam", "XlamToolParser"),
    "kimik2": ("kimi_k2", "KimiK2ToolParser"),
    "llama": ("json/llama", "Llama3JsonToolParser"),
    "minimax_m2": ("minimax_m2", "MinimaxM2ToolParser"),
    "minimax_m3": ("minimax_m3", "MinimaxM3ToolParser"),
    "mistral": ("json/mistral", "MistralToolParser"),
    "phi4_mini_json": ("json/phi4mini", "Phi4MiniJsonToolParser"),
    "qwen": ("json/hermes", "HermesToolParser"),
    "qwen_coder": ("qwen_coder", "Qwen3CoderToolParser"),
    "seed_oss": ("seed_oss", "SeedOssToolParser"),
}
_ORDER = """

        let mut parser = @TYPE@::create(&tools).unwrap();
        let mut streamed = ToolParserOutput::default();
        for chunk in chunks {
            parser.parse_into(chunk, &mut streamed).unwrap();
        }
        streamed.append(parser.finish().unwrap());
        let mut order: Vec<String> = Vec::new();
        for event in &streamed.events {
            let kind = match event {
                ToolParserEvent::Text(_) => "text".to_string(),
                ToolParserEvent::ToolCall(call) => format!("call {}", call.tool_index),
            };
            let known = kind != "text" && order.contains(&kind);
            if !known && order.last() != Some(&kind) {
                order.push(kind);
            }
        }
        assert_eq!(order, @KINDS@);"""


def _literals(subject: Subject) -> Literals:
    refuse_reasoning(subject, "vLLM's Rust frontend")
    found = _PARSERS.get(subject.format.name)
    if found is None:
        raise UsageError(f"vLLM has no parser in Rust that is known to read {subject.format.name}")
    file, kind = found
    order = _order(subject)
    tools = "".join([_tool(tool["function"]) for tool in subject.tools])
    ordered = _ORDER.replace("@TYPE@", kind).replace("@KINDS@", f"[{', '.join(map(rust, order))}]") if order else ""
    return {
        "FILE": file,
        "TYPE": kind,
        "MORE": ", ToolParserEvent, ToolParserOutput" if order else "",
        "VALUE": "    use serde_json::Value;\n\n" if "<Value>" in _checks(subject) else "",
        "TOOLS": tools,
        "CHUNKS": chunks(subject, 12),
        "CHECKS": _checks(subject),
        "ORDER": ordered,
    }


def _checks(subject: Subject) -> str:
    name, arguments = 'calls[{}].name.as_deref().unwrap_or("")', "calls[{}].arguments"
    return assertions(subject, "output.normal_text()", name, arguments, 8)


def _tool(function: dict[str, object]) -> str:
    return (
        f"            Tool {{\n                name: {rust(str(function['name']))}.to_string(),\n"
        "                description: None,\n"
        f"                parameters: serde_json::from_str({json_text(function['parameters'])}).unwrap(),\n"
        "                strict: None,\n            },\n"
    )


def _order(subject: Subject) -> list[str]:
    """The kinds of the parts where the case says their order: "text", and "call 0" for the first call."""
    kinds, calls = [], 0
    for event in subject.expect.events or ():
        kinds.append(f"call {calls}" if event.kind == "tool_call" else "text")
        calls += event.kind == "tool_call"
    return kinds


VLLM_RUST = SuiteTarget(
    name="vllm_rust",
    words="vLLM Rust test",
    about="for the end of its parser's file",
    path=_FOLDER + "/{file}.rs",
    template="to_vllm_rust.txt",
    mimetype="text/x-rust",
    comment="//",
    licence="Apache-2.0",
    literals=_literals,
    reads=lambda case, fmt: fmt in _PARSERS,
    place="end",
)
