"""Calls that a chat template writes again: read by the same parser, compared by value, never a failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.checks.check import Need
from parsers.replays.replayer import Rendering, Rerender
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, ToolCall

CALL = '<tool_call>\n{"name": "find", "arguments": {"city":"Bern","days":2}}\n</tool_call>'
Write = Callable[[str, Any], str]


def qwen(name: str, arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>\n"


def qwen_twice(name: str, arguments: Any) -> str:
    """Arguments that were encoded once too often: a parser may decode those that were encoded twice."""
    return qwen(name, json.dumps(arguments))


def template(object_: Write | str, string: Write | str = qwen_twice) -> Rerender:
    """A template as what it makes of one call, or the words of its problem."""

    def rerender(calls: Sequence[ToolCall], _context: Context, ends: Sequence[str]) -> Sequence[Rendering]:
        assert "<|im_end|>" in ends
        given = [(call.name, json.loads(call.arguments), call.arguments) for call in calls]
        first = object_ if isinstance(object_, str) else "".join(object_(name, value) for name, value, _ in given)
        second = string if isinstance(string, str) else "".join(string(name, text) for name, _, text in given)
        return [
            Rendering("object", problem=first) if isinstance(object_, str) else Rendering("object", first),
            Rendering("string", problem=second) if isinstance(string, str) else Rendering("string", second),
        ]

    return rerender


def case(text: str = CALL, parser: str = "qwen", **context: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": parser}, "input": {"text": text}, "context": context})


def found(rerender: Rerender, of: Case | None = None) -> list[Finding]:
    run = run_case(of or case(), rerender=rerender, compare=False)
    return [one for one in run.findings if one.check == "rerenders"]


def test_calls_that_come_back_the_same_are_holding_whatever_their_spelling() -> None:
    run = run_case(case(f"Let me see.\n{CALL}\n{CALL}"), rerender=template(qwen, "fails"), compare=False)
    assert "rerenders" in run.holding


def test_without_a_template_the_check_is_skipped_and_says_so() -> None:
    assert ("rerenders", Need.RERENDERED) in run_case(case()).skipped


@pytest.mark.parametrize(
    ("write", "actual"),
    [
        (lambda name, value: qwen(name, {"city": value["city"]}), '{"city": "Bern"}'),
        (lambda name, value: qwen_twice(name, json.dumps(value)), "city"),
        (lambda _name, _value: "", "no call"),
    ],
    ids=["loses an argument", "escapes twice", "writes nothing"],
)
def test_a_template_that_writes_other_calls_is_one_warning_with_its_proof(write: Write, actual: str) -> None:
    [one] = found(template(write, "it wants an object."))
    assert (one.severity, one.about) == ("warning", "parser")
    assert one.message == "Written by the chat template with arguments as an object: the calls are not the same."
    assert actual in (one.actual or "")
    assert one.proof is not None
    assert one.proof.edits[0][:2] == (0, len(CALL))


def test_a_template_that_needs_arguments_as_text_is_a_note_on_what_its_server_must_do() -> None:
    def only_text(name: str, value: Any) -> str:
        return qwen(name, json.loads(value)) if isinstance(value, str) else qwen(name, str(value))

    [one] = found(template(only_text, only_text))
    assert (one.severity, one.about) == ("info", "request")
    assert one.message.endswith("this template needs a server that gives it arguments as text.")


def test_what_a_template_cannot_do_is_a_note_in_its_own_words() -> None:
    [one] = found(template("it refuses two calls.", "it refuses two calls."))
    assert (one.severity, one.about) == ("info", "request")
    assert one.message == "Written by the chat template with arguments as an object: it refuses two calls."


def test_a_template_that_takes_no_object_and_writes_other_calls_from_text_is_both() -> None:
    notes = found(template("it wants text.", lambda _name, _value: ""))
    assert [one.severity for one in notes] == ["warning", "info"]


@pytest.mark.parametrize(
    ("text", "context"),
    [("It rains.", {}), (CALL[:-20], {}), (CALL, {"tool_choice": "none"})],
    ids=["no call", "a call cut off", "no call wanted"],
)
def test_a_template_is_not_asked_where_there_is_nothing_to_write(text: str, context: dict[str, Any]) -> None:
    def never(_calls: Sequence[ToolCall], _context: Context, _ends: Sequence[str]) -> Sequence[Rendering]:
        raise AssertionError

    assert found(never, case(text, **context)) == []


def test_a_search_writes_the_calls_again_and_finds_the_smallest_that_change() -> None:
    loses = template(lambda name, value: qwen(name, {k: v for k, v in value.items() if k != "days"}))
    of = case(f"First this.\n{CALL}").model_copy(update={"checks": ("rerenders",)})
    search = CaseSearch(of, rerender=loses, max_replays=20)
    for _ in search.run():
        pass
    result = search.result()
    assert result.found.variants["rerendered"] >= 2
    said = result.found.verdict
    assert (said.kind, said.severity, said.about) == ("template_departs", "warning", "request")
    assert said.headline == (
        "The chat template and `qwen` do not fit: where the template writes these calls for the next prompt, "
        'the arguments of the only call (`find`) lose `, "days": 2`.'
    )
    assert [one.severity for one in result.found.findings] == ["warning"]
    assert result.minimized is not None
    assert "First" not in result.minimized.text()
    assert "days" in result.minimized.text()


def test_the_reading_of_a_rendering_starts_in_content_whatever_the_prompt_said() -> None:
    of = case(f"Hm.</think>{CALL}", "qwen3", reasoning_open=True, prompt_tail="<think>\n")
    run = run_case(of, rerender=template(qwen), compare=False)
    assert "rerenders" in run.holding
