"""Cases checked with a parser that is served: outcomes, the smallest chunking, the deltas around it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.replays.chunking import Chunking
from tests.webapp.guests.serving import (
    CALL,
    EXPECT,
    HANGS,
    Alternating,
    Fickle,
    Greedy,
    Hasty,
    Hermes,
    Keeping,
    Merged,
    Naive,
    Passing,
    PassingRaise,
    Raising,
    Rash,
    Spacious,
    Tardy,
    case_text,
    nobody,
    patient,
    served,
)
from webapp.engines.protocol import Card, EngineError, read_card
from webapp.guests.guest import BATCH, Guest
from webapp.guests.requests import CaseAsked, Checked
from webapp.guests.tasks import check
from webapp.settings import Settings

PARTS = [{"kind": "text", "text": "Sure."}, {"kind": "tool_call", **EXPECT["tool_calls"][0]}]  # type: ignore[dict-item]
LONG = f"{'One word. ' * 30}{CALL}"


def checked(kind: type | None, text: str, **more: Any) -> Checked:
    card, ask = served(kind) if kind is not None else (None, nobody)
    return check(CaseAsked(case=text, card=card, name="a.case.json", **more), Settings(), ask)


@pytest.mark.parametrize(
    ("kind", "keys", "outcome"),
    [
        (Naive, {}, "FAIL"),
        (Hermes, {}, "ok"),
        (Naive, {"verdict": "known_bug"}, "known bug"),
        (Hermes, {"verdict": "known_bug"}, "fixed"),
        (Naive, {"engines": {"class": {"verdict": "known_bug"}}}, "known bug"),
        (Naive, {"engines": {"class:Naive": {"verdict": "known_bug"}}}, "known bug"),
        (Naive, {"engines": {"vllm": {"verdict": "known_bug"}}}, "FAIL"),
        (Hermes, {"parser": {"name": "qwen", "engine": "vllm"}}, "ok"),
        (Hermes, {"parser": {"name": "hermes", "policy": {"invalid_call": "strict"}}}, "ok"),
        (Hermes, {"parser": {"name": "auto"}}, "ok"),
        (None, {}, "ok"),
        (None, {"parser": {"name": "hermes", "engine": "vllm"}}, "skip"),
        (None, {"schema": 2}, "unusable"),
        (None, {"parser": {"name": "nobody"}}, "unusable"),
        (Hermes, {"replay": [{"by": "cuts", "cuts": [9_000]}]}, "unusable"),
    ],
)
@pytest.mark.replays
def test_a_case_has_the_outcome_that_check_would_tell(kind: type | None, keys: dict[str, Any], outcome: str) -> None:
    assert checked(kind, case_text(**keys)).outcome == outcome


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"engine": "nobody"}, "engine 'nobody' is not entered here"),
        ({"card": {"protocol": 9}}, "the card of the parser that is served is none"),
    ],
)
def test_what_cannot_run_says_why(keys: dict[str, Any], words: str) -> None:
    found = check(CaseAsked(**{"case": case_text(), **keys}), Settings(), nobody)
    assert (found.outcome, words in found.why) == ("unusable", True)


def test_an_output_over_a_limit_is_unusable() -> None:
    found = check(CaseAsked(case=case_text()), Settings(max_text_bytes=10), nobody)
    assert (found.outcome, "MAX_TEXT_BYTES" in found.why) == ("unusable", True)


def test_a_built_in_parser_may_be_named() -> None:
    assert check(CaseAsked(case=case_text(), engine="builtin:qwen"), Settings(), nobody).outcome == "ok"


def test_the_command_of_an_engine_that_is_named_asks_for_it_again() -> None:
    found = check(CaseAsked(case=case_text(expect={"content": "?"}), engine="builtin:qwen"), Settings(), nobody)
    assert found.shown is not None
    assert found.shown.command.endswith(" --engine builtin:qwen")


@pytest.mark.replays
def test_without_expectation_an_error_of_the_replay_under_study_is_shown_there_and_not_where_it_is_right() -> None:
    output = '<think></think><tool_call>{"name": "f", "arguments": {}}</tool_call>'
    text = case_text(output, expect=None, replay=[{"by": "token", "holdback_chars": 1}])
    shown = checked(Hasty, text).shown
    assert shown is not None
    assert (shown.label, shown.at) == ("cut at 25", 1)
    again = checked(Hasty, text, chunking=Chunking.model_validate(shown.chunking))
    assert (again.outcome, [one.check for one in again.errors]) == ("FAIL", ["no_terminal_leak"])


@pytest.mark.replays
def test_a_failure_shows_the_smallest_chunking_and_the_step_that_went_wrong() -> None:
    shown = checked(Naive, case_text(replay=[{"by": "char"}])).shown
    assert shown is not None
    assert (shown.label, shown.deltas, shown.at) == ("cut at 15", 2, 1)
    assert [one.field for one in shown.differences] == ["content", "tool_calls"]
    assert [(step.index, step.fed[:7], step.end) for step in shown.steps] == [
        (1, "Sure.<t", False),
        (2, '>\n{"nam', False),
        (3, "", True),
    ]
    assert shown.command == "toolcall-inspector replay a.case.json --cuts 15"


@pytest.mark.replays
def test_a_chunking_that_is_named_is_the_only_one_and_stays() -> None:
    found = checked(Naive, case_text(), chunking=Chunking(by="char"))
    assert found.shown is not None
    assert (found.replays, found.failing, found.shown.label) == (1, 1, "character by character")
    assert checked(Naive, case_text(), chunking=Chunking(by="whole")).outcome == "ok"


@pytest.mark.replays
def test_of_many_steps_those_around_the_wrong_one_are_shown() -> None:
    shown = checked(Naive, case_text(LONG, expect={**EXPECT, "content": "One word. " * 30}),
                    chunking=Chunking(by="char")).shown  # fmt: skip
    assert shown is not None
    assert shown.deltas > 300
    assert [step.index for step in shown.steps] == [*range(shown.at - 3, shown.at + 4)]


@pytest.mark.replays
def test_a_smaller_chunking_shows_the_same_failure() -> None:
    text = "It is a fine day and the sun is out, so that nobody stays at home for long."
    found = checked(Fickle, case_text(text, expect={"content": text}, replay=[{"by": "char"}, {"by": "whole"}]))
    assert found.shown is not None
    assert [(one.field, one.actual) for one in found.shown.differences] == [("content", "")]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("right", "sizes", "numbers", "left"),
    [
        (0, [], (2, 2), "9 of 10 other chunkings were"),
        (1, [], (3, 2), "8 of 10 other chunkings were"),
        (0, [1, 2, 3], (2, 2), "2 of 3 other chunkings were"),
        (0, [1, 2], (2, 2), "1 of 2 other chunkings was"),
        (0, [1], (2, 2), "9 of 10 other chunkings were"),
    ],
)
def test_what_hangs_counts_where_it_was_tried_and_the_rest_is_told_as_not_run(
    right: int, sizes: list[int], numbers: tuple[int, int], left: str
) -> None:
    fed: list[Any] = []
    card, ask = served(Hermes)
    text = case_text(replay=[{"by": "char", "size": one} for one in sizes])
    found = check(CaseAsked(case=text, card=card), Settings(), patient(ask, right, fed))
    late = f"{left} not run. Hangs: 2 replays did not return."
    assert (found.outcome, found.replays, found.failing, found.late) == ("FAIL", *numbers, late)
    assert found.shown is not None
    assert found.shown.steps[found.shown.at - 1].raised == "Hangs: 2 replays did not return"
    assert found.shown.deltas in [len(deltas) for deltas in fed[right:]]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("kind", "expect", "cut", "fields"),
    [
        (Naive, {"events": PARTS}, 15, ["events"]),
        (Naive, {**EXPECT, "events": PARTS}, 15, ["content", "tool_calls", "events"]),
        (Tardy, {"events": PARTS}, 67, ["events"]),
    ],
)
def test_a_failure_of_what_is_stated_in_order_is_shown_by_one_cut(
    kind: type, expect: dict[str, Any], cut: int, fields: list[str]
) -> None:
    shown = checked(kind, case_text(expect=expect, replay=[{"by": "char"}])).shown
    assert shown is not None
    assert (shown.label, [one.field for one in shown.differences]) == (f"cut at {cut}", fields)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Keeping, "(token by token), the output gives another message: the content differs; what one replay leaves"),
        (Alternating, ", the parser "),
        (Passing, ", the output gives another message: the content differs; "),
        (PassingRaise, ", the parser does not fail, as it did before with KeyError"),
    ],
)
def test_a_parser_that_reads_otherwise_once_more_is_told_and_all_replays_are_what_shows_it(
    kind: type, words: str
) -> None:
    fresh = type(kind.__name__, (kind,), {})  # with nothing left of another test
    found = checked(fresh, case_text())
    assert found.shown is not None
    assert found.unsteady.startswith("The parser does not read the same output alike every time: read once more (")
    assert words in found.unsteady
    assert (found.outcome, found.shown.command) == ("FAIL", "toolcall-inspector check a.case.json")
    assert found.shown.differences
    assert found.shown.steps


def test_a_chunking_that_is_named_is_told_as_unsteady_and_shown_by_itself() -> None:
    fresh = type("Keeping", (Keeping,), {"left": " At first."})
    found = checked(fresh, case_text(), chunking=Chunking(by="whole"))
    assert found.shown is not None
    assert (bool(found.unsteady), found.failing) == (True, 1)
    assert found.shown.command == "toolcall-inspector replay a.case.json --chunk whole"


def test_a_parser_that_hangs_once_more_is_not_told_as_unsteady() -> None:
    card, ask = served(Naive)
    made: list[Any] = []

    def answered(run: Any) -> Any:
        made.extend(run["replays"])
        told = ask(run)
        return told if len(made) <= 12 else {"replays": [{"sent": [], "raised": HANGS}] * len(run["replays"])}

    found = check(CaseAsked(case=case_text(replay=[{"by": "char"}, {"by": "whole"}]), card=card), Settings(), answered)
    assert (found.outcome, found.unsteady) == ("FAIL", "")
    made[:] = [None] * 9
    found = check(CaseAsked(case=case_text(replay=[{"by": "char"}, {"by": "whole"}]), card=card), Settings(), answered)
    assert (found.outcome, found.unsteady) == ("FAIL", "")


@pytest.mark.replays
@pytest.mark.parametrize("kind", [Naive, Raising])
def test_a_parser_that_is_wrong_alike_once_more_is_not_told_as_unsteady(kind: type) -> None:
    found = checked(kind, case_text())
    assert (found.outcome, found.unsteady) == ("FAIL", "")


@pytest.mark.replays
def test_a_failure_of_the_parser_is_told_at_its_step() -> None:
    shown = checked(Raising, case_text()).shown
    assert shown is not None
    failed = next(step for step in shown.steps if step.index == shown.at)
    assert failed.raised is not None
    assert "too many brackets" in failed.raised


TWO = f"{CALL}\n{CALL.replace('Bern', 'Zürich')}"
BOTH = [{"name": "get_weather", "arguments": {"city": city}} for city in ("Bern", "Zürich")]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("output", "calls", "cuts", "at"),
    [
        (TWO, BOTH, (), 1),
        (TWO, BOTH, (len(CALL) + 1,), 2),
        (CALL, BOTH[1:], (len(CALL) - 2,), 2),
        (CALL, [{**BOTH[0], "raw": '{"city":"Bern"}', "arguments": None}], (5, 9), 3),
    ],
)
def test_arguments_that_are_stated_as_a_value_are_wrong_at_the_step_that_cannot_begin_it(
    output: str, calls: list[dict[str, Any]], cuts: tuple[int, ...], at: int
) -> None:
    found = checked(Merged, case_text(output, expect={"tool_calls": calls}), chunking=Chunking(by="cuts", cuts=cuts))
    assert found.shown is not None
    assert found.shown.at == at


@pytest.mark.replays
def test_arguments_are_right_however_they_are_spelled_where_another_replay_spells_them_otherwise() -> None:
    text = case_text(f"{CALL} Bye", expect={"content": "", "tool_calls": EXPECT["tool_calls"]})
    shown = checked(Spacious, text, chunking=Chunking(by="cuts", cuts=(len(CALL),))).shown
    assert shown is not None
    assert shown.at == 2


def test_without_an_expectation_what_differs_from_the_first_replay_fails() -> None:
    text = "It is a fine day and the sun is out, so that nobody stays at home for long."
    found = checked(Greedy, json.dumps({"schema": 1, "parser": {"name": "hermes"}, "input": {"text": text}}))
    assert found.shown is not None
    assert (found.outcome, found.failing, bool(found.errors)) == ("FAIL", 0, True)
    assert found.shown.label.startswith("cut at ")
    assert found.shown.deltas <= 3


@pytest.mark.replays
@pytest.mark.parametrize(
    "expect",
    [
        {"finish_reason": "stop"},
        {"tool_calls": [{"name": "get_time", "arguments": {}}]},
        {"content": "Sure.", "tool_calls": [{"name": "get_weather", "raw": "{}"}]},
        {"reasoning": "Hm", "content": "Sure."},
    ],
)
def test_what_is_wrong_under_every_chunking_is_shown_too(expect: dict[str, Any]) -> None:
    found = checked(Hermes, case_text(expect=expect))
    assert found.shown is not None
    assert (found.outcome, found.failing, found.shown.at > 0) == ("FAIL", found.replays, True)


def test_where_the_message_is_right_the_step_is_that_of_the_error() -> None:
    first, second = ({"name": "f", "arguments": "{"}, "a"), ({"name": "g", "arguments": "}"}, "b")
    calls = [{"tool_calls": [{"index": 0, "id": one, "function": function}]} for function, one in (first, second)]
    stream = [{"choices": [{"index": 0, "delta": delta}]} for delta in ({"content": "Hi"}, *calls, {"content": "!"})]
    text = case_text(parser={"name": "recorded", "engine": "recorded"}, input={"stream": stream}, expect={})
    found = checked(None, text)
    assert found.shown is not None
    assert (found.outcome, found.failing, found.errors[0].step, found.shown.at) == ("FAIL", 0, 3, 3)


@pytest.mark.replays
def test_long_deltas_are_shown_with_their_ends() -> None:
    shown = checked(Naive, case_text("x" * 900 + CALL, expect={"content": "y"})).shown
    assert shown is not None
    assert max(len(step.fed) for step in shown.steps) == 201


def guest(ask: Any = nobody, name: str = "class") -> Guest:
    card, _ = served(Hermes)
    return Guest(read_card({**card, "name": name}), ask)


def test_a_guest_has_a_name_that_no_engine_of_ours_has() -> None:
    assert [guest(name=one).name for one in ("class", "builtin", "auto", "My Parser!", "!")] == [
        "class",
        "guest_builtin",
        "guest_auto",
        "My_Parser_",
        "_",
    ]


def test_many_replays_are_asked_in_several_messages() -> None:
    card, ask = served(Hermes)
    asked: list[int] = []

    def counted(run: Any) -> Any:
        asked.append(len(run["replays"]))
        return ask(run)

    run = {"request": {}, "path": "stream", "replays": [[["a"]]] * (BATCH + 2)}
    assert len(Guest(read_card(card), counted).play("class", run)) == BATCH + 2
    assert asked == [BATCH, 2]
    assert guest().play("class", {**run, "replays": []}) == []


def test_a_guest_that_says_what_is_no_answer_is_not_believed() -> None:
    garbled = guest(lambda run: {"replays": [{"sent": "x"}]})
    with pytest.raises(EngineError, match="does not speak the protocol: /replays/0/sent"):
        garbled.play("class", {"path": "whole", "replays": [[["a"]]]})
    card, _ = served(Hermes)
    found = check(CaseAsked(case=case_text(), card=card), Settings(), lambda run: 7)
    assert (found.outcome, "does not speak the protocol" in found.why) == ("unusable", True)


def test_a_guest_tells_who_it_is_and_no_lines() -> None:
    assert isinstance(guest().card("class"), Card)
    with pytest.raises(EngineError, match="tells no lines"):
        guest().lines("class", {})


@pytest.mark.replays
def test_what_came_in_one_delta_may_have_come_in_any_order() -> None:
    events = [
        {"kind": "tool_call", "name": "get_weather", "arguments": {"city": "Bern"}},
        {"kind": "text", "text": "Bye"},
    ]
    found = checked(Hasty, case_text(f"{CALL}Bye", expect={"events": events}))
    assert (found.outcome, found.failing) == ("ok", 0)
    assert checked(Hasty, case_text(f"{CALL}Bye", expect={"events": events[::-1]})).failing


@pytest.mark.replays
@pytest.mark.parametrize(
    ("expect", "at"),
    [
        ({"content": "Hi w"}, 2),
        ({"content": "Hi w", "tool_calls": []}, 1),
        ({"events": [{"kind": "text", "text": "Hi w"}]}, 1),
    ],
)
def test_a_call_is_not_blamed_where_the_case_says_nothing_of_calls(expect: dict[str, Any], at: int) -> None:
    text = case_text(f"Hi{CALL} w!", expect=expect)
    shown = checked(Rash, text, chunking=Chunking(by="cuts", cuts=(len(f"Hi{CALL}"),))).shown
    assert shown is not None
    assert shown.at == at
