"""Cases of Dynamo's tests in YAML: each case of a file is an output, with its tools and what should come out of it.

    parity       family, mode: batch | stream, cases: {id: {model_text | chunks: [{delta_text}], tools, expected}}
    unified v2   cases: {id: {request: {input, init: {starting_state}, tools, chunks}, golden: {assembled}}}

(ai-dynamo/dynamo tests/parity, ai-dynamo/frontend-crates conformance/fixtures-unified-v2; 2026.) A file that holds only
what engines made of the cases is named as that. A case that says what none of ours can is not read and named by its
line, and a file that gives a key twice is not read at all: of two cases of one name the reader of YAML keeps the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from parsers.cases.export.suite_subject import identifier
from parsers.intake.evidence import (
    REPLAY,
    Intake,
    Payload,
    Skipped,
    Warn,
    WarnCode,
    intake_of,
    make_labels_differ,
    number,
    skipped_warnings,
)
from parsers.intake.written_values import object_of, objects_of, word_of
from parsers.intake.yaml_keys import Twice, keys_under
from parsers.intake.yaml_spelling import plain_value, spelled_text
from parsers.intake.yaml_values import YamlError, load_spelled
from parsers.vocabulary.types import RecordedDelta, Recording, Request

FINISH = "\u2039finish\u203a"  # the unified suite's mark for the end of the stream: no text
# The engines whose expectation is taken, the first that has one: they agree unless a case says why not.
_ENGINES = ("dynamo", "vllm", "sglang")
_SIGN = re.compile(r"^(?:cases|changes|request|golden|observations):[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_DETAIL = re.compile(r"[\s{,-](?:model_text|delta_text|starting_state|assembled|semantic_sha256|normal_text):")
_NO_OUTPUT = "Dynamo YAML without an output"
_WHY = "It has the keys of Dynamo's test cases."
_NO_INPUT = "It holds what engines made of the cases, not the outputs: give inputs_and_golden.yaml of the same family."
_UNREAD = "None of its cases can be read."
_NO_TEXT = "it has no output: give request.input, or chunks"
_CASES = "cases"
_OF_A_GOLDEN = frozenset({"golden", "expected"})
_OF_A_CASE = _OF_A_GOLDEN | {"request", "model_text", "chunks"}  # no engine's result has these
_OF_A_CHUNK = frozenset({"delta_text", "delta_token_ids", "finish_reason"})
_OF_A_TOOL = frozenset({"name", "description", "title"})  # what has a text, also in its schema
_KINDS = ("reasoning", "text", "tool_call")
_SHOWN = 8
_STATES = {"none": False, "content": False, "reasoning": True, "thinking": True}


class _UnreadError(Exception):
    """Why a case is not read, for behind a colon."""


class _Made(NamedTuple):
    """The output of a case; `apart`: its chunks do not add up to its text."""

    output: Recording
    apart: bool


def read_dynamo(body: str) -> Intake | None:
    """Read the cases of a file."""
    if _SIGN.search(body) is None or _DETAIL.search(body) is None:
        return None
    try:
        value = load_spelled(body)
    except YamlError as error:
        return _without_output(str(error), (Skipped(1, str(error)),))
    if not isinstance(value, dict):
        return None
    keys = keys_under(body, _CASES)
    if keys.twice is not None:
        words = _twice(keys.twice)
        return _without_output(words, (Skipped(keys.twice.second, words),))
    made, unread = list[_Made](), list[Skipped]()
    for name, line, case in _cases(value, keys.lines):
        try:
            made.append(_output(name, line, case))
        except _UnreadError as error:
            unread.append(Skipped(line, f"{name}: {error}" if name else str(error)))
    if made:
        return _intake(value, made, tuple(unread))
    if any(_is_case(case, alone=case is value) for _, _, case in _cases(value, keys.lines)):
        return _without_output(_UNREAD, tuple(unread))
    observed = any(isinstance(value.get(key), dict | list) for key in ("changes", "observations", _CASES))
    return _without_output(_NO_INPUT) if observed else None


def _without_output(advice: str, skipped: tuple[Skipped, ...] = ()) -> Intake:
    warnings = skipped_warnings(skipped, "Line") if advice == _UNREAD else ()
    return Intake(kind="dynamo_yaml", title=_NO_OUTPUT, advice=advice, why=(_WHY,), warnings=warnings, skipped=skipped)


def _twice(found: Twice) -> str:
    where = f"at line {found.first:,} and at line {found.second:,}"
    if found.under == _CASES:
        return f"Two cases are called {found.key!r}, {where}: rename one."
    return f"The key {found.key!r} is given twice in one mapping, {where}: leave one out."


def _is_case(case: Any, *, alone: bool) -> bool:
    """Return whether something is a case, be it right or not. `alone`: it is all of a file, which may be any other."""
    return isinstance(case, dict) and not case.keys().isdisjoint(_OF_A_GOLDEN if alone else _OF_A_CASE)


def _cases(value: Payload, lines: Mapping[str, int]) -> Iterator[tuple[str, int, Any]]:
    """Yield every case with its id and line; a file may also be one case."""
    cases = value.get(_CASES)
    if isinstance(cases, dict):
        yield from [(name, lines.get(name, 1), case) for name, case in cases.items()]
    elif isinstance(cases, list):
        for at, case in enumerate(cases, 1):
            yield spelled_text(object_of(case).get("id")) or f"case {at}", lines.get(str(at), 1), case
    else:
        yield "", 1, value


def _output(name: str, line: int, case: Any) -> _Made:
    """The output of a case. Raises _UnreadError."""
    if not isinstance(case, dict):
        raise _UnreadError("it is no mapping")
    request = object_of(case.get("request"))
    source = request or case
    chunks = _mappings(source, "chunks") or []
    deltas = [_delta(at, chunk) for at, chunk in enumerate(chunks, 1)] or None
    if deltas is not None and deltas[-1] == FINISH:
        del deltas[-1]
    finish = [reason for chunk in chunks if (reason := word_of(chunk.get("finish_reason")))][-1:]
    text = spelled_text(case.get("model_text", request.get("input")))
    if deltas is None and text is None:
        raise _UnreadError(_NO_TEXT)
    fed = text or "" if deltas is None else "".join(deltas)
    output = Recording(
        fed,
        "dynamo_yaml",
        _title(name, spelled_text(case.get("description")) or ""),
        deltas=tuple([RecordedDelta(part) for part in deltas]) if deltas is not None else None,
        finish_reason=word_of(request.get("finish_reason")) or next(iter(finish), None),
        request=_request(source),
        expect=_golden(case.get("golden")) if request else _parity(case.get("expected")),
        line=line,
    )
    return _Made(output, apart=text not in (None, fed))


def _mappings(source: Payload, key: str) -> list[Payload] | None:
    """A list of mappings, None where there is none. Raises _UnreadError for anything else."""
    found = objects_of(source.get(key))
    if found is None and source.get(key) is not None:
        raise _UnreadError(f"its {key} are no list of mappings")
    return found


def _delta(at: int, chunk: Payload) -> str:
    """The text of a chunk, which may be none. Raises _UnreadError where it has something else in its place."""
    given = chunk.get("delta_text")
    text = spelled_text(given)
    if (text is None and given is not None) or _OF_A_CHUNK.isdisjoint(chunk):
        raise _UnreadError(f"its chunk {at:,} has no delta_text")
    return text or ""


def _title(name: str, said: str) -> str:
    """What a case is called: of one that was exported, whose name is made of its title, that."""
    return said if said and identifier(said) == name else name


def _request(source: Payload) -> Request:
    init = object_of(source.get("init"))
    given = _mappings(source, "tools")
    plain = [plain_value(tool, _OF_A_TOOL) for tool in given or []]
    tools = [tool if "function" in tool else {"type": "function", "function": tool} for tool in plain]
    named = spelled_text(init.get("named_tool"))
    return Request(
        tools=None if given is None else tuple(tools),
        tool_choice={"type": "function", "function": {"name": named}} if named else None,
        reasoning_open=_STATES.get((word_of(init.get("starting_state")) or "").lower()),
    )


def _parity(expected: Any) -> Payload | None:
    """Return what the first engine with an expectation made of the case. Raises _UnreadError for what no case can
    expect."""
    engines = object_of(expected)
    for engine in _ENGINES:
        said = object_of(engines.get(engine))
        calls = objects_of(said.get("calls"))
        if calls is not None:
            reasoning, content = (_expected_text(said, key) for key in ("reasoning_text", "normal_text"))
            return _expectation(reasoning, content, [_call(call) for call in calls])
    return None


def _golden(golden: Any) -> Payload | None:
    """Return the parts in the order of emission, and joined by kind; None where there is no golden. Raises
    _UnreadError for one that no case can expect."""
    if golden is None:
        return None
    assembled = objects_of(object_of(golden).get("assembled"))
    if assembled is None:
        raise _UnreadError("its golden has no list of mappings called assembled")
    parts = [_part(part) for part in assembled]
    reasoning, content = ("".join([part["text"] for part in parts if part["kind"] == one]) for one in _KINDS[:2])
    calls = [{key: part[key] for key in part if key != "kind"} for part in parts if part["kind"] == "tool_call"]
    return {**_expectation(reasoning, content, calls), "events": list(_in_order(parts))}


def _part(part: Payload) -> Payload:
    """A part of a golden in a case's words. Raises _UnreadError."""
    kind = plain_value(part.get("kind"))
    if kind not in _KINDS:
        raise _UnreadError(f"its golden has a part of kind {kind}, which no case can expect")
    said = _call(part) if kind == "tool_call" else {"text": _expected_text(part, "text") or ""}
    return {"kind": kind, **said}


def _in_order(parts: list[Payload]) -> Iterator[Payload]:
    """The parts but for empty texts: parts of text that follow each other are one."""
    before: Payload = {}
    for part in parts:
        if part["kind"] == "tool_call":
            before = part
            yield before
        elif part["text"]:
            if before.get("kind") == part["kind"]:
                before["text"] += part["text"]
                continue
            before = {**part}
            yield before


def _expectation(reasoning: str | None, content: str | None, calls: list[Payload]) -> Payload:
    """Return a case's words: no text is null."""
    expect: Payload = {"content": content or None}
    if reasoning is not None:
        expect["reasoning"] = reasoning or None
    expect["tool_calls"] = calls
    return expect


def _call(call: Payload) -> Payload:
    """A call in a case's words: arguments are an object, or text where they are none. Raises _UnreadError."""
    given = call.get("arguments")
    name = _expected_text(call, "name") or ""
    if isinstance(given, dict):
        return {"name": name, "arguments": plain_value(given)}
    return {"name": name, "raw": _expected_text(call, "arguments") or ""}


def _expected_text(given: Payload, key: str) -> str | None:
    """A text that is expected, which may be none. Raises _UnreadError where something else is in its place."""
    text = spelled_text(given.get(key))
    if text is None and given.get(key) is not None:
        raise _UnreadError(f"what it expects has no text as its {key}")
    return text


def _intake(value: Payload, made: list[_Made], unread: tuple[Skipped, ...]) -> Intake:
    outputs = [one.output for one in made]
    make_labels_differ(outputs)
    document = object_of(value.get("input_document")) or value
    family, mode = word_of(document.get("family")), word_of(document.get("mode"))
    what = " ".join([word for word in ("Dynamo YAML", mode, f"({family})" if family else None) if word])
    apart, silent = [one.output for one in made if one.apart], [one for one in outputs if one.expect is None]
    found = intake_of(
        "dynamo_yaml",
        f"{what}, {number(len(outputs), 'case')}",
        outputs,
        why=_WHY,
        advice=REPLAY + (f" Dynamo names it {family}." if family else ""),
        warnings=[
            *skipped_warnings(unread, "Line"),
            *_warned("chunks_differ", "The chunks do not add up to the text, and are used", apart),
            *_warned("no_expectation", "Nothing is said of what should come out, or only that engines differ", silent),
        ],
        server="Dynamo",
    )
    found.family, found.skipped = family or "", unread
    return found


def _warned(code: WarnCode, words: str, outputs: list[Recording]) -> list[Warn]:
    """A warning about some cases, which it names; none where there are none."""
    named = [f"{one.label} (line {one.line:,})" if one.label else f"line {one.line:,}" for one in outputs]
    more = f" and {len(named) - _SHOWN:,} more" if len(named) > _SHOWN else ""
    return [Warn(code, f"{words}: {', '.join(named[:_SHOWN])}{more}.")] if named else []
