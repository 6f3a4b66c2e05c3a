"""Cases of Dynamo's tests in YAML: each case of a file is an output, with its tools and what should come out of it.

    parity       family, mode: batch | stream, cases: {id: {model_text | chunks: [{delta_text}], tools, expected}}
    unified v2   cases: {id: {request: {input, init: {starting_state}, tools, chunks}, golden: {assembled}}}

(ai-dynamo/dynamo tests/parity, ai-dynamo/frontend-crates conformance/fixtures-unified-v2; 2026.) A file that holds only
what engines made of the cases is named as that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from parsers.cases.export.suite_subject import identifier
from parsers.intake.evidence import REPLAY, Intake, Payload, Warn, intake_of, make_labels_differ, number
from parsers.intake.plain_text import without_lone_surrogates
from parsers.intake.written_values import object_of, objects_of, word_of
from parsers.intake.yaml_values import YamlError, load_yaml
from parsers.vocabulary.types import RecordedDelta, Recording, Request

FINISH = "\u2039finish\u203a"  # the unified suite's mark for the end of the stream: no text
# The engines whose expectation is taken, the first that has one: they agree unless a case says why not.
_ENGINES = ("dynamo", "vllm", "sglang")
_SIGN = re.compile(r"^(?:cases|changes|request|golden|observations):[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_DETAIL = re.compile(r"[\s{,-](?:model_text|delta_text|starting_state|assembled|semantic_sha256|normal_text):")
_NO_OUTPUT = "Dynamo YAML without an output"
_WHY = "It has the keys of Dynamo's test cases."
_NO_INPUT = "It holds what engines made of the cases, not the outputs: give inputs_and_golden.yaml of the same family."
_STATES = {"none": False, "content": False, "reasoning": True, "thinking": True}


def read_dynamo(body: str) -> Intake | None:
    """Read the cases of a file."""
    if _SIGN.search(body) is None or _DETAIL.search(body) is None:
        return None
    try:
        value = load_yaml(body)
    except YamlError as error:
        return Intake(kind="dynamo_yaml", title=_NO_OUTPUT, advice=str(error), why=(_WHY,))
    if not isinstance(value, dict):
        return None
    made = [one for name, case in _cases(value) if (one := _output(name, case)) is not None]
    if made:
        return _intake(value, made)
    observed = any(isinstance(value.get(key), dict | list) for key in ("changes", "observations", "cases"))
    return Intake(kind="dynamo_yaml", title=_NO_OUTPUT, advice=_NO_INPUT, why=(_WHY,)) if observed else None


def _cases(value: Payload) -> Iterator[tuple[str, Payload]]:
    """Yield every case with its id; a file may also be one case."""
    cases = value.get("cases")
    if isinstance(cases, dict):
        yield from [(str(name), case) for name, case in cases.items() if isinstance(case, dict)]
    elif isinstance(cases, list):
        numbered = [(at, case) for at, case in enumerate(cases, 1) if isinstance(case, dict)]
        yield from [(str(case.get("id", f"case {at}")), case) for at, case in numbered]
    else:
        yield "", value


def _output(name: str, case: Payload) -> tuple[Recording, list[Warn]] | None:
    request = object_of(case.get("request"))
    source = request or case
    chunks = objects_of(source.get("chunks")) or []
    deltas = [_text(chunk.get("delta_text")) or "" for chunk in chunks] or None
    if deltas is not None and deltas[-1] == FINISH:
        del deltas[-1]
    finish = [reason for chunk in chunks if (reason := word_of(chunk.get("finish_reason")))][-1:]
    text = _text(case.get("model_text", request.get("input")))
    if deltas is None and text is None:
        return None
    warnings = []
    if deltas is not None and text is not None and text != "".join(deltas):
        words = "The chunks of a case do not add up to its text; the chunks are used."
        warnings.append(Warn("chunks_differ", words))
    text = "".join(deltas) if deltas is not None else text or ""
    made = Recording(
        text,
        "dynamo_yaml",
        _title(name, word_of(case.get("description")) or ""),
        deltas=tuple([RecordedDelta(part) for part in deltas]) if deltas is not None else None,
        finish_reason=word_of(request.get("finish_reason")) or next(iter(finish), None),
        request=_request(source),
        expect=_golden(case.get("golden")) if request else _parity(case.get("expected")),
    )
    if made.expect is None:
        words = "A case says nothing of what should come out, or only that engines differ."
        warnings.append(Warn("no_expectation", words))
    return made, warnings


def _title(name: str, said: str) -> str:
    """What a case is called: of one that was exported, whose name is made of its title, that."""
    return said if said and identifier(said) == name else name


def _text(value: Any) -> str | None:
    """Return a text, also where somebody left out the quotes of a number or of true."""
    if isinstance(value, bool):
        return str(value).lower()
    return without_lone_surrogates(str(value)) if isinstance(value, str | int | float) else None


def _request(source: Payload) -> Request:
    init = object_of(source.get("init"))
    given = objects_of(source.get("tools"))
    tools = [tool if "function" in tool else {"type": "function", "function": tool} for tool in given or []]
    named = word_of(init.get("named_tool"))
    return Request(
        tools=None if given is None else tuple(tools),
        tool_choice={"type": "function", "function": {"name": named}} if named else None,
        reasoning_open=_STATES.get((word_of(init.get("starting_state")) or "").lower()),
    )


def _parity(expected: Any) -> Payload | None:
    """Return what the first engine with an expectation made of the case."""
    engines = object_of(expected)
    for engine in _ENGINES:
        said = object_of(engines.get(engine))
        calls = objects_of(said.get("calls"))
        if calls is not None:
            return _expectation(word_of(said.get("reasoning_text")), word_of(said.get("normal_text")), calls)
    return None


def _golden(golden: Any) -> Payload | None:
    """Return the parts in the order of emission, and joined by kind."""
    parts = objects_of(object_of(golden).get("assembled"))
    if parts is None:
        return None
    texts = [(part.get("kind"), word_of(part.get("text")) or "") for part in parts]
    reasoning, content = ("".join([text for kind, text in texts if kind == one]) for one in ("reasoning", "text"))
    expect = _expectation(reasoning, content, [part for part in parts if part.get("kind") == "tool_call"])
    return {**expect, "events": list(_in_order(parts))}


def _in_order(parts: list[Payload]) -> Iterator[Payload]:
    """The parts in a case's words: parts of text that follow each other are one."""
    before: Payload = {}
    for part in parts:
        kind, text = part.get("kind"), word_of(part.get("text")) or ""
        if kind == "tool_call":
            before = {"kind": kind, **_call(part)}
            yield before
        elif kind in ("reasoning", "text") and text:
            if before.get("kind") == kind:
                before["text"] += text
                continue
            before = {"kind": kind, "text": text}
            yield before


def _expectation(reasoning: str | None, content: str | None, calls: list[Payload]) -> Payload:
    """Return a case's words: no text is null; arguments are an object, or text where they are none."""
    expect: Payload = {"content": content or None}
    if reasoning is not None:
        expect["reasoning"] = reasoning or None
    expect["tool_calls"] = [_call(call) for call in calls]
    return expect


def _call(call: Payload) -> Payload:
    arguments = call.get("arguments")
    told = {"arguments": arguments} if isinstance(arguments, dict) else {"raw": word_of(arguments) or ""}
    return {"name": word_of(call.get("name")) or "", **told}


def _intake(value: Payload, made: list[tuple[Recording, list[Warn]]]) -> Intake:
    outputs = [recording for recording, _ in made]
    make_labels_differ(outputs)
    document = object_of(value.get("input_document")) or value
    family, mode = word_of(document.get("family")), word_of(document.get("mode"))
    what = " ".join([word for word in ("Dynamo YAML", mode, f"({family})" if family else None) if word])
    found = intake_of(
        "dynamo_yaml",
        f"{what}, {number(len(made), 'case')}",
        outputs,
        why=_WHY,
        advice=REPLAY + (f" Dynamo names it {family}." if family else ""),
        warnings=[warn for _, warnings in made for warn in warnings],
        server="Dynamo",
    )
    found.family = family or ""
    return found
