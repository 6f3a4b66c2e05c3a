"""A test for the crate tool-parser: a file of its integration tests.

The shape is that of smg-project/smg (once lightseekorg/smg), crates/tool_parser/tests (1.10.0): tools of
openai_protocol, a parser by the name that the factory has it by, `parse_incremental` for each chunk. At the end come
the arguments that were not streamed and the text that was held back, as its router takes them. Tools are read from
JSON: openai_protocol 1.16.0 gave a function a field more, and a test that names them all is compiled by one version.
"""

from __future__ import annotations

from parsers.cases.export.rust_code import assertions, chunks, json_text, refuse_reasoning, same_json
from parsers.cases.export.suite_literals import rust
from parsers.cases.export.suite_subject import Subject
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_PARSERS = {  # the name of the parser of a format in the crate's factory
    "cohere": "cohere",
    "deepseek": "deepseek",
    "deepseek_v31": "deepseek31",
    "deepseek_v32": "deepseek32",
    "deepseek_v4": "deepseek_v4",
    "glm45_moe": "glm45_moe",
    "glm47_moe": "glm47_moe",
    "inkling": "inkling",
    "json": "json",
    "kimi_k3": "kimi_k3",
    "kimik2": "kimik2",
    "llama": "llama",
    "minimax_m2": "minimax_m2",
    "mistral": "mistral",
    "pythonic": "pythonic",
    "qwen": "qwen",
    "qwen_coder": "qwen_coder",
    "step3": "step3",
}


def _literals(subject: Subject) -> Literals:
    refuse_reasoning(subject, "the crate tool-parser")
    subject.refuse_unread("a test of the crate tool-parser")
    parser = _PARSERS.get(subject.format.name)
    if parser is None:
        raise UsageError(f"the crate tool-parser has no parser that is known to read {subject.format.name}")
    return {
        "PARSER": rust(parser),
        "VALUE": "use serde_json::Value;\n" if same_json(subject) else "",
        "SAME_JSON": same_json(subject),
        "TOOLS": "".join([_tool(tool["function"]) for tool in subject.tools]),
        "CHUNKS": chunks(subject, 8),
        "CHECKS": assertions(subject, "text", "calls[{}].0", "calls[{}].1", 4),
    }


def _tool(function: dict[str, object]) -> str:
    told = {key: function[key] for key in ("name", "parameters")}
    return f"        serde_json::from_str({json_text({'type': 'function', 'function': told})}).unwrap(),\n"


TOOL_PARSER = SuiteTarget(
    name="tool_parser",
    words="tool-parser test",
    about="for the tests of the crate",
    path="crates/tool_parser/tests/tool_parser_{slug}.rs",
    template="to_tool_parser.txt",
    mimetype="text/x-rust",
    comment="//",
    licence="Apache-2.0",
    literals=_literals,
    reads=lambda case, fmt: fmt in _PARSERS,
)
