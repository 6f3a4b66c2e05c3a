"""A case of Dynamo's unified conformance suite: a request with its deltas, and what is assembled of them, in order.

The shape is that of ai-dynamo/frontend-crates, conformance/fixtures-unified-v2/families/FAMILY/inputs_and_golden.yaml
(2026): a key under `cases`, `request` with `init`, tools and chunks, the last of which is the mark of the end, and
`golden.assembled`. The project numbers its cases, so `display_id` is left for it to fill in. The older trees are being
retired upstream and have no shape here.
"""

from __future__ import annotations

from parsers.cases.export.suite_literals import yaml_value
from parsers.cases.export.suite_subject import Subject
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_FINISH = "\u2039finish\u203a"  # the suite's mark for the end of the stream
_FAMILIES = {  # where a family is not called as our format is
    "deepseek": "deepseek_v3",
    "deepseek_v31": "deepseek_v3_1",
    "glm47_moe": "glm47",
    "hunyuan_a13b": "jamba",
    "kimik2": "kimi_k2",
    "llama": "llama3_json",
    "phi4_mini_json": "phi4",
    "qwen": "qwen3",
    "qwen_coder": "qwen3_coder",
}


def _literals(subject: Subject) -> Literals:
    subject.refuse_soft("Dynamo's suite")
    choice, context = subject.tool_choice, subject.case.context
    if choice in ("none", "required"):
        raise UsageError(f"Dynamo's suite has no tool_choice {choice!r}: export the case to another suite")
    subject.refuse_unread("Dynamo's suite")
    return {
        "FAMILY": _FAMILIES.get(subject.format.name, subject.format.name),
        "DESCRIPTION": yaml_value(subject.title),
        "INPUT": yaml_value("".join(subject.chunks)),
        "STATE": "Reasoning" if context.reasoning_open else "None",
        "NAMED": yaml_value(choice["function"]["name"] if isinstance(choice, dict) else None),
        "FINISH_REASON": yaml_value(context.finish_reason or "stop"),
        "TOOLS": yaml_value([tool["function"] for tool in subject.tools], 6),
        "CHUNKS": "\n".join(_chunks(subject)),
        "ASSEMBLED": "".join([f"\n      - {yaml_value(part, 8)}" for part in subject.parts()]) or " []",
    }


def _chunks(subject: Subject) -> list[str]:
    """The deltas, with the ids of tokens where a server recorded them."""
    rows = []
    recorded = any(piece.recorded for delta in subject.deltas for piece in delta.pieces)
    for text, ids in subject.tokens.deltas:
        rows.append(f"      - delta_text: {yaml_value(text)}")
        rows += [f"        delta_token_ids: {list(ids)}"] * recorded
    return [*rows, f"      - delta_text: {_FINISH}"]


DYNAMO = SuiteTarget(
    name="dynamo",
    words="Dynamo case",
    about="for its unified suite, in YAML",
    path="conformance/fixtures-unified-v2/families/{family}/inputs_and_golden.yaml",
    template="to_dynamo.txt",
    mimetype="application/yaml",
    comment="#",
    licence="Apache-2.0",
    literals=_literals,
    place="end",
    anchor="cases:",
    keeps_order=True,
    reads_arguments=True,
)
