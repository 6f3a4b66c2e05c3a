"""What is exported is read back as the same case, by every reader of a suite that there is an export for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.corpus import jsonl
from parsers.cases.expect import accept
from parsers.cases.export.pytest_file import EngineParser, pytest_file
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_subject import Subject, object_of, subject_of
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.io import dumps, loads
from parsers.cases.run import run_case
from parsers.cases.tested import as_test
from parsers.intake.suites import suite_in
from parsers.replays.chunking import Chunking
from parsers.selection.registry import get_format
from parsers.vocabulary.types import UsageError
from tests.amount import every
from tests.corpus import case_named, case_names
from tests.parsers.cases.test_export_suites import CALL, case

CHUNKINGS = [
    {"by": "token"},
    {"by": "token", "size": 4},
    {"by": "cuts", "cuts": []},
    {"by": "whole"},
    {"by": "char", "size": 5},
    {"by": "random", "seed": 3, "unit": "char"},
    {"by": "token", "text_delay": 2},
    {"by": "token", "holdback_chars": 4},
]
SERVERS = {"vllm", "vllm_format"}


def subject(given: Case) -> Subject | None:
    """The subject of a case, or None where no suite can say it: what it expects must come out, by its parser's name."""
    try:
        run = run_case(given, compare=False)
        found = subject_of(run, expect=given.known.expect or accept(run.trace.message))
    except UsageError:
        return None
    return None if found.fails else found


@cache
def subjects() -> dict[str, Subject]:
    """Cases that name a parser and nothing that changes what it reads, each under one chunking. No suite says that the
    limit of length cut an output off."""
    made = {}
    for number, name in enumerate(every(60, case_names(), 5)):
        case = case_named(name)
        plain = not (case.parser.engine or case.parser.policy or case.parser.format or case.contract or case.decode)
        plain = plain and case.context.finish_reason != "length"
        chunking = Chunking.model_validate(CHUNKINGS[number % len(CHUNKINGS)])
        found = subject(case.model_copy(update={"replay": (chunking,)})) if plain and case.has_raw else None
        if found is not None:
            made[name] = found
    return made


def read_back(text: str, suffix: str) -> Case:
    found = suite_in(text.encode(), filename=f"a{suffix}")
    ((name, body),) = found.cases.items()
    case = loads(body)
    assert (case.title or name, found.skipped) == (name, ())
    return case


def told(found: Subject, target: str) -> dict[str, Any]:
    """What a suite says of a case. Of a call that is text it says the text, else the value of its arguments."""
    calls = [(call.name, call.raw if object_of(call) is None else object_of(call)) for call in found.calls or ()]
    says = {
        "text": "".join(found.chunks),
        "deltas": [text for text in found.chunks if text],
        "calls": calls,
        "content": found.expect.content,
        "tools": found.tools,
        "tool_choice": found.tool_choice,
    }
    if target in SERVERS:
        says["parsers"] = found.named("vllm", names_of("vllm"))
        says["deltas and ids"] = [one for one in found.tokens.deltas if any(one)]
        says["raw"] = [call.raw for call in found.calls or ()]
    if target == "vllm":
        says |= {"reasoning": found.expect.reasoning, "prompt": found.tokens.prompt, "order": found.order()}
        says["template_kwargs"] = found.case.context.template_kwargs
    if target == "dynamo":
        says |= {"parts": found.parts(), "content": "", "reasoning_open": bool(found.case.context.reasoning_open)}
    return says


@pytest.mark.parametrize("target", ["vllm", "vllm_format", "dynamo"])
@pytest.mark.replays
def test_a_test_for_a_suite_is_read_back_as_its_case(target: str) -> None:
    tried, others = 0, 0
    for name, found in subjects().items():
        try:
            text = suite_file(SUITES[target], found).text
        except UsageError:
            continue
        back = read_back(text, ".yaml" if target == "dynamo" else ".py")
        again = subject(back)
        if again is None and back.parser.name != found.parser:
            others += 1  # another of our parsers is exported under the same names of the server
            continue
        assert again is not None, name
        assert told(again, target) == told(found, target), name
        tried += 1
    assert tried > 10 * others


TAGS = "<tool_call>\n<function=f>\n<parameter=x>1</parameter>\n</function>\n</tool_call>"
CALLS: list[dict[str, Any]] = [{"name": "f", "arguments": {"x": 1}}, {"name": "f", "raw": '{"x": 2}'}]
EVENTS = [{"kind": "text", "text": "So."}, *[{"kind": "tool_call", **call} for call in CALLS]]
SAID: dict[str, dict[str, Any]] = {
    "arguments as text and as a value": {"expect": {"content": "So.", "tool_calls": CALLS}},
    "arguments as text": {"expect": {"tool_calls": [CALLS[1] | {"raw": '{"x": 1}'}, CALLS[1]]}},
    "order": {"expect": {"events": EVENTS, "tool_calls": CALLS}},
    "a named tool": {"context": {"tool_choice": {"name": "f"}}, "expect": {"tool_calls": CALLS}},
    "reasoning": {
        "text": f"Hm.</think>{TAGS}",
        "parser": {"name": "qwen3"},
        "context": {"reasoning_open": True, "prompt_tail": "<think>"},
        "expect": {"reasoning": "Hm.", "content": "", "tool_calls": CALLS[:1]},
    },
    "nothing but text": {"text": "So.", "expect": {"content": "So."}},
}


@pytest.mark.parametrize("target", ["vllm", "vllm_format", "dynamo"])
@pytest.mark.parametrize("name", SAID)
def test_all_that_a_case_says_is_read_back(target: str, name: str) -> None:
    made = case(**{"text": f"So.{CALL % 1}{CALL % 2}", "title": "Two calls, streamed", **SAID[name]})
    found = subject(made)
    assert found is not None
    try:
        text = suite_file(SUITES[target], found).text
    except UsageError:
        assert target == "vllm_format"
        return
    back = read_back(text, ".yaml" if target == "dynamo" else ".py")
    again = subject(back)
    assert again is not None
    assert told(again, target) == told(found, target)
    assert (back.title == made.title) is (target != "vllm_format")


AROUND = [*EVENTS[:2], {"kind": "text", "text": "it is."}, EVENTS[2]]
SOFT: dict[str, dict[str, Any]] = {
    "content": {"text": f"So it\nis. {CALL % 1}{CALL % 2}", "expect": {"content": "So  it is.", "tool_calls": CALLS}},
    "parts": {"text": f"So. {CALL % 1} it is.\n {CALL % 2}", "expect": {"events": AROUND}},
    "parts, whole": {"text": f"So. {CALL % 1} it is.\n {CALL % 2}", "expect": {"events": AROUND}, "whole": True},
}


@pytest.mark.parametrize("target", sorted(SERVERS))
@pytest.mark.parametrize("name", SOFT)
def test_white_space_that_does_not_count_is_read_back(target: str, name: str) -> None:
    said = {**SOFT[name], "compare": {"whitespace": "soft"}}
    whole = said.pop("whole", False)
    found = subject(case(**said))
    assert found is not None
    back = read_back(suite_file(SUITES[target], replace(found, whole=whole)).text, ".py")
    assert back.compare.whitespace == "soft"
    assert as_test(run_case(back)).failing == []
    assert (back.expect is not None and back.expect.content is None) is (name != "content")


LIKE_VALUES = (
    "42", "1.50", "1e5", "3e-7", "0x10", "007", "1_000", "true", "True", "null", "~", "=", "<<", "2001-01-01", ".inf",
)  # fmt: skip


@pytest.mark.replays
@pytest.mark.parametrize("word", LIKE_VALUES)
def test_texts_like_values_of_yaml_are_read_back_as_texts(word: str) -> None:
    body = f'<tool_call>\n{{"name": "{word}", "arguments": {{"{word}": "{word}", "x": 1e16}}}}\n</tool_call>'
    tools = [{"name": word, "description": word, "parameters": {"type": "object", "title": word}}]
    call = {"name": word, "arguments": {word: word, "x": 1e16}}
    for text, expect in ((word, {"content": word}), (word + body, {"content": word, "tool_calls": [call]})):
        found = subject(case(text=text, tools=tools, title=word, expect=expect))
        assert found is not None
        back = read_back(suite_file(SUITES["dynamo"], found).text, ".yaml")
        again = subject(back)
        assert again is not None
        assert told(again, "dynamo") == told(found, "dynamo")
        assert back.title == word


SHAPES: dict[str, Callable[[Case], str]] = {
    "case": dumps,
    "jsonl": jsonl,
    "pytest": lambda case: pytest_file(case, case.pieces() or run_case(case, compare=False).pieces),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.replays
def test_our_own_files_are_read_back_as_they_were(shape: str) -> None:
    tried = 0
    for name in every(60, case_names(), 2):
        case = case_named(name)
        if shape == "pytest" and (
            not case.has_raw or case.decode or not case.expect or case.parser.name == "auto" or case.parser.engine
        ):
            continue
        (body,) = suite_in(SHAPES[shape](case).encode(), filename="a.py" if shape == "pytest" else None).cases.values()
        back = loads(body)
        tokens = {"input": case.with_pieces(back.pieces() or ()).input} if shape == "pytest" else {}
        if shape == "pytest":
            back = back.model_copy(update={"input": back.input.model_copy(update={"text": tokens["input"].text})})
        assert back.model_copy(update={"title": case.title}) == case.model_copy(update=tokens), name
        tried += 1
    assert tried > 10


@pytest.mark.replays
@pytest.mark.parametrize("chunking", CHUNKINGS, ids=lambda one: Chunking.model_validate(one).model_dump_json())
def test_the_test_of_an_engine_is_read_back_with_its_chunking(chunking: dict[str, Any]) -> None:
    case = case_named("qwen/parallel").model_copy(update={"replay": (Chunking.model_validate(chunking),)})
    engine = case.model_copy(update={"parser": case.parser.model_copy(update={"engine": "vllm", "name": "hermes"})})
    pieces = run_case(case, compare=False).pieces
    parser = EngineParser("vllm", "hermes", get_format("qwen"))
    back = read_back(pytest_file(engine, pieces, tested=parser), ".py")
    said = [(one.parser, one.replay, one.text(), one.tools, one.expect) for one in (back, engine)]
    assert said[0] == said[1]
