"""A test for vLLM's parsers in Rust: a module of tests for the end of the file that has the parser.

The shape is that of vllm-project/vllm, rust/src/parser/src/tool (0.33.0): a parser made with its tools and a tokenizer
that has the markers, `collect_attributed_stream` of test_utils.rs over chunks, `normal_text` and `calls`. That joins
all text, so where the case says the order the events are looked at as they came. Tools are read from JSON, so that a
field which another version has or has not is none of ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.cases.export.rust_code import assertions, chunks, json_text, refuse_reasoning, same_json
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
    "kimik2": ("kimi_k2", "KimiK2ToolParser"),
    "llama": ("json/llama", "Llama3JsonToolParser"),
    "mimo": ("mimo", "MiMoToolParser"),
    "minimax_m2": ("minimax_m2", "MinimaxM2ToolParser"),
    "minimax_m3": ("minimax_m3", "MinimaxM3ToolParser"),
    "mistral": ("json/mistral", "MistralToolParser"),
    "phi4_mini_json": ("json/phi4mini", "Phi4MiniJsonToolParser"),
    "qwen": ("json/hermes", "HermesToolParser"),
    "qwen_coder": ("qwen_coder", "Qwen3CoderToolParser"),
    "seed_oss": ("seed_oss", "SeedOssToolParser"),
}
_INNER = {"deepseek_v32": ("｜DSML｜",), "deepseek_v4": ("｜DSML｜",)}  # tokens that are a part of markers
_WORDS = 'text.split_whitespace().collect::<Vec<_>>().join(" ")'
_FIRST = 256  # of the ids of markers: those below are bytes
_ORDER = """

        let mut parser = @TYPE@::create(&tools, Arc::new(tokenizer.clone())).unwrap();
        let mut streamed = ToolParserOutput::default();
        let ids = tokenizer.encode(&chunks.concat(), false).unwrap();
        let mut rest = decode_ids(&tokenizer, &ids);
        for chunk in chunks {
            parser.parse_into(rest.drain_prefix(chunk.len()), &mut streamed).unwrap();
        }
        streamed.append(parser.finish().unwrap());
        let mut parts: Vec<(String, String)> = Vec::new();
        for event in &streamed.events {
            match event {
                ToolParserEvent::Text(text) => match parts.last_mut() {
                    Some((kind, before)) if kind == "text" => before.push_str(text),
                    _ if @TEXT@.is_empty() => {}
                    _ => parts.push(("text".to_string(), text.to_string())),
                },
                ToolParserEvent::ToolCall(call) => {
                    let kind = format!("call {}", call.tool_index);
                    if !parts.iter().any(|(known, _)| *known == kind) {
                        parts.push((kind, String::new()));
                    }
                }
            }
        }
        let order: Vec<(&str, String)> =
            parts.iter().map(|(kind, text)| (kind.as_str(), @SAID@)).collect();
        let wanted = [@PARTS@];
        assert_eq!(order, wanted.map(|(kind, text)| (kind, text.to_string())));"""


def _literals(subject: Subject) -> Literals:
    refuse_reasoning(subject, "vLLM's Rust frontend")
    subject.refuse_unread("a test of vLLM's Rust frontend")
    found = _PARSERS.get(subject.format.name)
    if found is None:
        raise UsageError(f"vLLM has no parser in Rust that is known to read {subject.format.name}")
    file, kind = found
    order = _order(subject)
    tools = "".join([_tool(tool["function"]) for tool in subject.tools])
    ordered = (
        _ORDER.replace("@TYPE@", kind)
        .replace("@TEXT@", "text.trim()" if subject.soft else "text")
        .replace("@SAID@", _WORDS if subject.soft else "text.clone()")
        .replace("@PARTS@", ", ".join([f"({rust(kind)}, {rust(text)})" for kind, text in order]))
        if order
        else ""
    )
    return {
        "FILE": file,
        "TYPE": kind,
        "MORE": ", ToolParserEvent, ToolParserOutput" if order else "",
        "HELPERS": "{collect_attributed_stream, decode_ids}" if order else "collect_attributed_stream",
        "TOKENIZER": "\n    use vllm_tokenizer::Tokenizer as _;" if order else "",
        "VALUE": "    use serde_json::Value;\n" if same_json(subject) else "",
        "SAME_JSON": same_json(subject, 4),
        "MARKERS": "".join(_markers(subject)),
        "TOOLS": tools,
        "CHUNKS": chunks(subject, 12),
        "CHECKS": _checks(subject),
        "ORDER": ordered,
    }


def _checks(subject: Subject) -> str:
    name, arguments = 'calls[{}].name.as_deref().unwrap_or("")', "calls[{}].arguments"
    return assertions(subject, "output.normal_text()", name, arguments, 8)


def _tool(function: dict[str, object]) -> str:
    told = {key: function[key] for key in ("name", "parameters") if key in function}
    return f"            serde_json::from_str({json_text(told)}).unwrap(),\n"


def _markers(subject: Subject) -> Iterator[str]:
    """The markers that are one token, for a tokenizer of tests: it takes none of one byte."""
    texts = [*_INNER.get(subject.format.name, ()), *subject.tokens.vocabulary]
    for number, text in enumerate([text for text in dict.fromkeys(texts) if len(text.encode()) > 1], _FIRST):
        yield f"\n            .with_regular_token({rust(text)}, {number})"


def _order(subject: Subject) -> list[tuple[str, str]]:
    """The parts where the case says their order: "text" with its text, and "call 0" for the first call."""
    kinds, calls = [], 0
    for kind, text in subject.order():
        kinds.append((f"call {calls}", "") if kind == "call" else (kind, text))
        calls += kind == "call"
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
    keeps_order=True,
)
