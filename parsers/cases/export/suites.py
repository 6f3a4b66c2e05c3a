"""The suites of others that a case can be written into as a test, by their names."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.cases.export.suite_target import SuiteTarget
from parsers.cases.export.to_dynamo import DYNAMO
from parsers.cases.export.to_llamacpp import LLAMACPP
from parsers.cases.export.to_sglang import SGLANG
from parsers.cases.export.to_tool_parser import TOOL_PARSER
from parsers.cases.export.to_transformers import TRANSFORMERS
from parsers.cases.export.to_vllm import VLLM
from parsers.cases.export.to_vllm_format import VLLM_FORMAT
from parsers.cases.export.to_vllm_rust import VLLM_RUST

_ALL = (VLLM, VLLM_FORMAT, VLLM_RUST, SGLANG, DYNAMO, TOOL_PARSER, LLAMACPP, TRANSFORMERS)
SUITES: Mapping[str, SuiteTarget] = {target.name: target for target in _ALL}
