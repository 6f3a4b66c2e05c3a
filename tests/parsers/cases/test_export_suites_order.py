"""Tests for the suites of other projects of a parser that gives the same message in another order."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.cases.case import Case, Expect, ParserRef
from parsers.cases.engines import Choice, builtin
from parsers.cases.export.suite_subject import subject_of
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.run import run_case
from parsers.intake.dynamo_cases import read_dynamo
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.selection.registry import Evidence
from parsers.vocabulary.types import MessageDelta
from tests.parsers.cases.suite_standins import OurParser, use_vllm
from tests.parsers.cases.test_export_suites import CALL, OUTPUT, STANDINS, case, emitted, failures

EVENTS: list[dict[str, Any]] = [
    {"kind": "text", "text": OUTPUT.partition("<")[0]},
    *[{"kind": "tool_call", "name": "f", "arguments": {"x": number}} for number in (1, 2)],
]


class Late(OurParser):
    """It gives the text after the calls where a delta is of six characters: the same message."""

    held = ""

    def begin(self, _request: Any) -> None:
        """Its request it was given already."""

    def feed(self, delta: Any) -> MessageDelta | None:
        """A delta."""
        said = super().feed(delta.text)
        if said is not None and (self.held or len(delta.text) == 6):
            self.held, said.content = self.held + (said.content or ""), None
        return said

    def finish(self, _reason: Any = None) -> MessageDelta | None:
        """What was held."""
        return MessageDelta(None, self.held or None, [])


def plain(given_case: Case) -> Case:
    """The same of our parser."""
    return given_case.model_copy(update={"parser": ParserRef(name="qwen")})


def late(given_case: Case, evidence: Evidence) -> Choice:
    """The engine of it."""
    own = plain(given_case)
    return replace(builtin(own, evidence), make=lambda: BlackBox("late", Late(own)), black_box=True)


@pytest.mark.replays
@pytest.mark.parametrize("target", [name for name, suite in SUITES.items() if suite.keeps_order])
def test_an_order_that_only_some_chunkings_change_is_tested_under_one_of_them(target: str) -> None:
    sizes = [{"by": "token"}, {"by": "token", "size": 2}]
    given_case = case(expect={"events": EVENTS}, parser={"name": "qwen", "engine": "mine"}, replay=sizes)
    run = run_case(given_case, engines={"mine": late})
    assert all(one.same for one in run.compared)
    found = subject_of(run)
    assert (found.chunking, found.only_order) == (Chunking(by="token", size=2), True)
    assert found.fails == "events: expected 'text, tool_call, tool_call', came 'tool_call, tool_call, text'"
    assert (
        suite_file(SUITES[target], found).text
        != suite_file(SUITES[target], subject_of(run_case(plain(given_case)))).text
    )


CALLS = [("f", '{"x": 1}', {"x": 1}), ("f", '{"x": 1}', {"x": 1.0}), ("g", '{"x": 1}', {"x": 1}), ("f", "{", {"x": 1})]


@pytest.mark.parametrize(("name", "raw", "arguments"), CALLS)
def test_a_call_of_which_the_events_say_the_text_is_compared_by_it(name: str, raw: str, arguments: Any) -> None:
    """Unless the two say different calls, which no message has."""
    said = {"tool_calls": [{"name": "f", "arguments": arguments}], "events": [{**EVENTS[1], "name": name, "raw": raw}]}
    said["events"][0].pop("arguments")
    found = replace(subject_of(run_case(case(expect={"content": ""}))), expect=Expect.model_validate(said))
    (call,) = found.calls or ()
    assert call.raw == (raw if name == "f" and raw != "{" else None)


def test_a_big_integer_survives_dynamos_yaml() -> None:
    call = {"name": "f", "arguments": {"x": 9223372036854775807, "y": 1e300}}
    told = Expect.model_validate({"tool_calls": [call]})
    found = replace(subject_of(run_case(case(expect={"content": ""}))), expect=told, events=None)
    read = read_dynamo(suite_file(SUITES["dynamo"], found).text)
    assert read is not None
    expect = read.outputs[0].expect
    assert expect is not None
    assert expect["tool_calls"] == [call]


@pytest.mark.parametrize("target", STANDINS)
def test_of_parts_that_begin_in_one_delta_no_order_is_compared(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given_case = case(f"Hi.{CALL % 1}", expect={"events": [EVENTS[1], {"kind": "text", "text": "Hi."}]})
    for size, failed in (1, 1), (99, 0):
        only = Chunking(by="token", size=size), WHOLE
        source = emitted(target, given_case.model_copy(update={"replay": only}))
        STANDINS[target](monkeypatch, given_case)
        assert len(failures(source)) == failed


def test_a_call_that_comes_in_several_parts_of_a_delta_began_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    given_case = case(expect={"events": EVENTS}, replay=[{"by": "char"}])
    use_vllm(monkeypatch, given_case)
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(emitted("vllm", given_case), "emitted.py", "exec"), names)
    parts = [SimpleNamespace(index=0, function=SimpleNamespace(name=name)) for name in ("f", None)]
    (step,) = names["steps_of"]([SimpleNamespace(reasoning=None, content=None, tool_calls=parts)])
    assert step["call"] == ["f"]
