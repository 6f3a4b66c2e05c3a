"""Smaller cases of a parser that is served, generated outputs, and answers that come with a request."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from parsers.cases.io import loads
from parsers.cases.tested import CaseTest, as_test
from parsers.vocabulary.types import UsageError
from tests.webapp.guests.serving import (
    CALL,
    Calm,
    Hasty,
    Hermes,
    Keeping,
    Musing,
    Naive,
    Rash,
    case_text,
    patient,
    served,
)
from webapp.guests import narrowed
from webapp.guests.alike import is_alike
from webapp.guests.answers import MOST_RUNS, Answers, Known, WantedError, digest
from webapp.guests.narrowed import ELSE, NONE, NOT_TRUE, TOO_SLOW, find
from webapp.guests.requests import CaseAsked, OutputsAsked, Smaller
from webapp.guests.tasks import check, outputs, stand_in_for, subject_of
from webapp.settings import Settings

LONGER = f"Let me see what the weather will be like.{CALL}"
EXPECT = {"content": "Let me see what the weather will be like.", "tool_calls": [
    {"name": "get_weather", "arguments": {"city": "Bern"}}]}  # fmt: skip


def found(kind: type, output: str = LONGER, **keys: Any) -> Smaller:
    card, ask = served(kind)
    text = case_text(output, **{"expect": EXPECT, **keys})
    return find(CaseAsked(case=text, card=card), Settings(), ask, 60, 150)


def fails(kind: type, text: str) -> bool:
    card, ask = served(kind)
    return check(CaseAsked(case=text, card=card), Settings(), ask).outcome == "FAIL"


def test_of_a_parser_that_does_not_read_alike_every_time_nothing_is_made_small() -> None:
    said = found(type("Keeping", (Keeping,), {}))
    assert said.case is None
    assert said.headline.startswith(f"{NOT_TRUE} The parser does not read the same output alike every time: read once")


@pytest.mark.parametrize("parser", [{"name": "hermes", "policy": {"invalid_call": "strict"}}, {"name": "auto"}])
@pytest.mark.replays
def test_a_smaller_case_fails_alike_and_keeps_its_parser(parser: dict[str, Any]) -> None:
    smaller = found(Naive, parser=parser)
    assert smaller.case is not None
    case = loads(smaller.case)
    assert len(case.text()) < len(LONGER)
    assert (case.parser.name, case.parser.engine) == ("qwen" if parser["name"] == "auto" else "hermes", None)
    assert fails(Naive, smaller.case)
    assert not fails(Hermes, smaller.case)


@pytest.mark.replays
def test_what_is_wrong_under_every_chunking_is_made_small_beside_the_built_in_parser() -> None:
    smaller = found(Musing)
    assert smaller.case is not None
    assert (smaller.headline, smaller.check) == (
        "Beside what qwen reads, `l` becomes reasoning, not content.",
        "expectation",
    )
    assert len(loads(smaller.case).text()) < len(LONGER)
    assert fails(Musing, smaller.case)
    assert not fails(Hermes, smaller.case)


BEHIND = 'ab <tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call> z'
TWICE = ' <tool_call><tool_call>{"name":"f","arguments":{}}\n</tool_call>'
F = [{"name": "f", "parameters": {"type": "object"}}]


def of_f(output: str, content: str, arguments: dict[str, Any]) -> str:
    expect = {"content": content, "tool_calls": [{"name": "f", "arguments": arguments}]}
    return case_text(output, parser={"name": "qwen"}, tools=F, expect=expect)


@pytest.mark.replays
def test_text_that_is_lost_behind_a_call_is_lost_there_in_the_smaller_case() -> None:
    expect = {"content": "ab  z", "tool_calls": [{"name": "f", "arguments": {"a": "b"}}]}
    smaller = found(Hermes, BEHIND, parser={"name": "qwen"}, tools=F, expect=expect)
    assert smaller.case is not None
    case = loads(smaller.case)
    assert (case.text()[-1:], case.expect is not None and case.expect.content) == ("z", "z")


OTHERS = [
    (of_f(f"{BEHIND}z", "ab  zz", {"a": "b"}), True),
    (of_f(TWICE, " <tool_call>", {}), False),  # a marker is lost, in front of the call
    (of_f(BEHIND.replace("ab ", "").replace(" z", ""), "z", {"a": "b"}), False),  # what stands nowhere is not behind it
]


@pytest.mark.parametrize(("other", "alike"), OTHERS)
def test_a_case_that_loses_other_text_does_not_fail_alike(other: str, alike: bool) -> None:
    card, ask = served(Hermes)

    def tested(text: str) -> CaseTest:
        return as_test(subject_of(CaseAsked(case=text, card=card), Settings(), ask).run()[0])

    whole, small = tested(of_f(BEHIND, "ab  z", {"a": "b"})), tested(other)
    assert small.failing
    assert is_alike(whole, small, "expectation") is alike


@pytest.mark.replays
def test_where_only_another_failure_can_be_made_smaller_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrowed, "is_alike", lambda *_: False)
    monkeypatch.setattr(narrowed, "_by_search", lambda *_: Smaller(headline=NONE))
    expect = {"content": "ab  z", "tool_calls": [{"name": "f", "arguments": {"a": "b"}}]}
    smaller = found(Hermes, BEHIND, parser={"name": "qwen"}, tools=F, expect=expect)
    words = f"{NONE} {ELSE} Beside what qwen reads, `z` is lost from the content."
    assert (smaller.case, smaller.headline) == (None, words)


@pytest.mark.replays
def test_what_events_alone_say_is_made_small_too() -> None:
    parts = [{"kind": "text", "text": EXPECT["content"]}, {"kind": "tool_call", **EXPECT["tool_calls"][0]}]  # type: ignore[dict-item]
    smaller = found(Naive, expect={"events": parts})
    assert smaller.case is not None
    assert fails(Naive, smaller.case)
    assert not fails(Hermes, smaller.case)


TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}}  # fmt: skip


@pytest.mark.parametrize("replay", [{"by": "cuts", "cuts": [45]}, {"by": "token", "holdback_chars": 3}])
@pytest.mark.replays
def test_a_call_that_a_cut_loses_is_lost_by_a_cut_in_the_smaller_case(replay: dict[str, Any]) -> None:
    smaller = found(Hasty, parser={"name": "qwen"}, tools=[TOOL], replay=[replay])
    assert smaller.case is not None
    assert smaller.check == "tool_call_dropped"
    assert len(loads(smaller.case).text()) < len(LONGER)
    assert fails(Hasty, smaller.case)
    assert not fails(Hermes, smaller.case)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Calm, {"expect": {"content": LONGER}}),
        (Musing, {"expect": {"content": "else"}}),
        (Musing, {"expect": None}),
        (Musing, {"parser": {"name": "passthrough"}, "expect": {"content": "else"}}),
    ],
)
@pytest.mark.replays
def test_where_nothing_smaller_fails_that_is_said(kind: type, keys: dict[str, Any]) -> None:
    smaller = found(kind, **keys)
    assert (smaller.case, smaller.headline.startswith(f"{NONE} {ELSE} ")) == (None, True)


@pytest.mark.replays
def test_a_smaller_case_is_about_the_failure_that_is_shown_and_about_no_other_one_of_the_parser() -> None:
    """Blanks between calls are shown, under every chunking; the search finds a marker that is cut."""
    calls = [{"name": name, "arguments": {"x": 1}} for name in "ab"]
    text = "\n".join([f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls])
    smaller = found(Rash, text, parser={"name": "qwen"}, expect={"content": None, "tool_calls": calls})
    assert (smaller.headline, smaller.case is None) == ("Beside what qwen reads, `\\n` is added to the content.", False)
    card, ask = served(Rash)
    again = check(CaseAsked(case=smaller.case or "", card=card), Settings(), ask)
    assert again.shown is not None
    assert (again.failing, [one.field for one in again.shown.differences]) == (again.replays, ["content"])


def test_what_hangs_is_not_made_smaller() -> None:
    card, ask = served(Hermes)
    assert find(CaseAsked(case=case_text(), card=card), Settings(), patient(ask, 0, []), 60, 150) == Smaller(
        headline=TOO_SLOW
    )


def test_a_search_that_its_time_ended_says_that_it_was_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a second whenever it is looked at."""
    told = []
    for seconds in (30, 52, 1_000_000):
        monkeypatch.setattr(narrowed, "monotonic", itertools.count().__next__)
        card, ask = served(Naive)
        told.append(find(CaseAsked(case=case_text(LONGER, expect=EXPECT), card=card), Settings(), ask, seconds, 150))
    assert [(one.case is None, one.late) for one in told] == [(True, True), (False, True), (False, False)]
    assert len(loads(told[1].case or "").text()) > len(loads(told[2].case or "").text())


def test_a_search_ends_with_its_time() -> None:
    card, ask = served(Hermes)
    assert find(CaseAsked(case=case_text(), card=card), Settings(), ask, 0, 150).case is None


def test_outputs_are_of_the_format_that_is_named_or_that_a_case_is_in() -> None:
    named = outputs(OutputsAsked(format="hermes", seed=4, count=3))
    assert (named.format, len(named.cases)) == ("qwen", 3)
    for parser in ("qwen", "auto"):
        assert outputs(OutputsAsked(case=case_text(parser={"name": parser}), seed=4, count=3)) == named
    with pytest.raises(UsageError, match="say of which format"):
        outputs(OutputsAsked())


@pytest.mark.parametrize("parser", [{"name": "MyParser", "engine": "mine"}, {"name": "anything"}])
def test_outputs_are_of_the_format_of_a_case_whose_parser_is_not_one_of_ours(parser: dict[str, str]) -> None:
    named = outputs(OutputsAsked(format="qwen", seed=4, count=1))
    assert outputs(OutputsAsked(case=case_text(CALL, parser=parser), seed=4, count=1)) == named


@pytest.mark.replays
def test_the_smallest_form_is_no_smaller_one() -> None:
    smaller = found(Naive)
    assert smaller.case is not None
    assert not smaller.same
    card, ask = served(Naive)
    again = find(CaseAsked(case=smaller.case, card=card), Settings(), ask, 60, 150)
    assert again.same
    assert again.case is not None
    assert json.loads(again.case)["title"] == json.loads(smaller.case)["title"]


def answered(kind: type, text: str, task: Any, *, stands_in: bool = True) -> tuple[Any, int]:
    """The answer of a task by requests that bring what is known, and how many it took."""
    card, ask = served(kind)
    known: list[Known] = []
    for number in range(400):
        asked = CaseAsked(case=text, card=card, known=tuple(known))
        answers = Answers(asked.known, stand_in_for(asked) if stands_in else None)
        result = None
        try:
            result = task(asked, answers.ask)
        except WantedError:
            assert answers.wanted
        if not answers.wanted:
            return result, number + 1
        assert len(answers.wanted) <= MOST_RUNS
        known += [Known(of=digest(run), answer=ask(run)) for run in answers.wanted]
    raise AssertionError("it never ends")


def checking(asked: CaseAsked, ask: Any) -> Any:
    return check(asked, Settings(), ask)


@pytest.mark.parametrize("kind", [Naive, Hermes, Musing])
@pytest.mark.replays
def test_a_check_by_requests_alone_has_the_same_result(kind: type) -> None:
    card, ask = served(kind)
    direct = check(CaseAsked(case=case_text(), card=card), Settings(), ask)
    guessed, few = answered(kind, case_text(), checking)
    plain, many = answered(kind, case_text(), checking, stands_in=False)
    assert without_time(guessed) == without_time(plain) == without_time(direct)
    assert few <= many


def without_time(checked: Any) -> Any:
    return json.loads(checked.model_dump_json())


def test_whoever_stands_in_knows_both_paths() -> None:
    stand_in = stand_in_for(CaseAsked(case=case_text()))
    assert stand_in is not None
    run = {"request": {"tools": [], "reasoning_open": False}, "finish_reason": None, "replays": [[["Sure."], [CALL]]]}
    streamed = stand_in({**run, "path": "stream"})["replays"][0]["sent"]
    whole = stand_in({**run, "path": "whole"})["replays"][0]["sent"]
    assert (len(streamed), streamed[0], len(whole)) == (3, {"content": "Sure."}, 1)
    assert whole[0]["tool_calls"][0]["function"]["name"] == "get_weather"
    assert stand_in_for(CaseAsked(case="{}")) is None
    assert stand_in_for(CaseAsked(case=case_text(parser={"name": "auto"}))) is not None


def test_whoever_asks_may_have_less_time_than_a_search_takes() -> None:
    """Then both ways to look for a smaller case end at once, and there is none."""
    card, ask = served(Musing)
    asked = CaseAsked(case=case_text(LONGER, expect=EXPECT), card=card, seconds=0)
    assert find(asked, Settings(), ask, 60, 150) == Smaller(headline=NONE, late=True)
