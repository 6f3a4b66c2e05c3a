"""Dynamo's YAML cases with what should come out of them, beside what our parsers make of them.

They stand in tests/parity of ai-dynamo/dynamo and in conformance of ai-dynamo/frontend-crates (2026). The files are
read by `parsers.intake`, as the page reads them. The folder of a file is the family, a name of a parser. A parser of
Dynamo is not told how a stream ended. Under Dynamo's contract calls that are cut off or malformed are dropped, text
behind the first call too, and values of JSON stay as they are written; white space is compared softly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from parsers.cases.case import Compare, Expect
from parsers.cases.expect import differences
from parsers.formats.contracts import Contract, builtin_contracts
from parsers.formats.model import Format
from parsers.intake.dynamo_cases import read_dynamo
from parsers.selection.registry import known_format
from parsers.vocabulary.types import Context, Mode, Recording, Tool
from tests.truth.known import Outcome
from tests.truth.served import Reader, Run, variants

_CONTRACT = Contract(
    name="dynamo",
    truncated_call=("drop",),
    invalid_call=("strict",),
    json_values=("as_written",),
    content_between_calls=("drop",),
    content_after_calls=("drop",),
)
_ENGINES = ("dynamo", "vllm", "sglang")  # a case may say what each of them does, where they differ in good faith
_KEEPING = frozenset(("harmony",))  # where text behind the first call is kept
# Families whose names are no alias: `dynamo-parsers` names of 2026.
_FAMILIES = {
    "deepseek_v3_1": "deepseek_v31",
    "deepseek_v3_2": "deepseek_v32",
    "phi4": "phi4_mini_json",
    "qwen3_coder": "qwen_coder",
    "kimi_k2": "kimik2",
    "glm47": "glm47_moe",
    "hermes": "qwen",
    "qwen3": "qwen",
    "jamba": "hunyuan_a13b",
    "llama3_json": "llama",
    "deepseek_v3": "deepseek",
}


def dynamo_outcomes(tree: Path, run: Run) -> Iterator[Outcome]:
    """The outcome of each case of all YAML files below a tree."""
    for path in sorted(tree.rglob("*.yaml")):
        yield from outcomes_of(path.read_text("utf-8"), path.parent.name, f"{path.parent.name}/{path.stem}", run)


def outcomes_of(body: str, family: str, where: str, run: Run) -> Iterator[Outcome]:
    """The outcome of each case of one file."""
    found = read_dynamo(body)
    fmt = known_format(_FAMILIES.get(family, family))
    others = {engine: _expected_of(body, engine) for engine in _ENGINES}
    keeps = {"content_between_calls": (), "content_after_calls": ()} if family in _KEEPING else {}
    own = _CONTRACT.model_copy(update=keeps)
    for output in found.outputs if found is not None else ():
        test = f"{where}::{output.label}"
        if not run.has(test):
            continue
        if fmt is None or output.expect is None:
            yield Outcome(test, None, "no format" if fmt is None else "no expectation")
            continue
        reader = _reader(fmt, output, run.contract(test, own), run.mode)
        why = _difference(reader, output, output.expect)
        said = [(engine, cases[output.label]) for engine, cases in others.items() if why and output.label in cases]
        allowed = any(_is_allowed(reader, output, expect, engine) for engine, expect in said)
        yield Outcome(test, not why or allowed, why, under_contract=allowed)


def _expected_of(body: str, engine: str) -> dict[str, Mapping[str, Any]]:
    """What the file says an engine makes of its cases, by their names."""
    data = yaml.safe_load(body)
    cases = data.get("cases") if isinstance(data, dict) else None
    for case in cases.values() if isinstance(cases, dict) else ():
        expected = case.get("expected") if isinstance(case, dict) else None
        if isinstance(expected, dict):
            case["expected"] = {key: value for key, value in expected.items() if key == engine}
    found = read_dynamo(yaml.safe_dump(data, allow_unicode=True, sort_keys=False))
    outputs = found.outputs if found is not None else ()
    return {output.label: output.expect for output in outputs if output.expect is not None}


def _is_allowed(reader: Reader, output: Recording, expect: Mapping[str, Any], engine: str) -> bool:
    """Return whether the output is read as the file says of an engine, under what that engine's contract allows."""
    for contract in variants(builtin_contracts()[engine]):
        served = replace(reader, contract=contract)
        if not _difference(replace(served, quick=True), output, expect):
            return not _difference(served, output, expect)
    return False


def _difference(reader: Reader, output: Recording, expect: Mapping[str, Any]) -> str:
    """What is read differently than expected, in words; nothing where it is right."""
    wanted = Expect.model_validate({key: "" if value is None else value for key, value in expect.items()})
    try:
        wrong = differences(wanted, reader.message(_text(output)), compare=Compare(whitespace="soft"))
    except AssertionError as error:
        return str(error)
    return "; ".join([f"{one.field} {one.actual!r:.80} for {one.expected!r:.80}" for one in wrong])


def _text(output: Recording) -> str:
    return output.text or "".join([delta.text for delta in output.deltas or ()])


def _reader(fmt: Format, output: Recording, contract: Contract, mode: Mode) -> Reader:
    request = output.request
    functions = [tool.get("function", {}) for tool in (request.tools if request else None) or ()]
    tools = tuple([Tool(str(one.get("name")), parameters=one.get("parameters") or {}) for one in functions])
    context = Context(tools=tools, reasoning_open=bool(request and request.reasoning_open))
    parts = tuple([delta.text for delta in output.deltas or ()])
    return Reader(fmt, context, contract, mode, parts)
