"""Entered engines as sides of a comparison: two versions of one parser beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.compare.divergence import EXACT
from tests.webapp.engines.entering import fake, own
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import write_entry
from webapp.page.compare import matrix as module
from webapp.page.compare.asked import Asked, CompareLinks, Side
from webapp.page.compare.compare_form import compare_form, rules_of
from webapp.page.compare.compare_page import sides_page
from webapp.page.compare.matrix import matrix
from webapp.page.compare.picker import picker
from webapp.page.compare.sides import replayed
from webapp.runs.runner import Runner
from webapp.settings import Settings, get_settings

TEXT = "Hello <b>you</b>,\nit is sunny."


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    settings = Settings(data_dir=tmp_path)
    for name in ("Old", "Cut", "Same", "Late"):
        write_entry(settings, name.lower(), own(name, **{"class": f"paired_parsers:{name}"}))
    use_engines(settings)
    for name in ("old", "cut", "same", "late"):
        entered(settings).card(name)
    yield Runner(settings)
    use_engines(get_settings())


def case(**more: Any) -> Any:
    return load_case({"schema": 1, "parser": {"name": "Old", "engine": "old"}, "input": {"text": TEXT}, **more})


def page(runner: Runner, word: str, chunk: str = "cuts:17,18") -> Any:
    found = case()
    sides = [replayed(runner, found, "a", Side(chunk=chunk)), replayed(runner, found, "b", Side(chunk, parser=word))]
    links = CompareLinks("/r/x/compare", Asked((sides[0].side, sides[1].side)))
    made = sides_page(runner, sides, rules_of(found, Asked(), sides), links=links, inspect="")
    assert sides[1].errors == {}
    return made


def test_two_versions_stand_beside_each_other_with_the_first_step_at_which_they_part(runner: Runner) -> None:
    said = page(runner, "cut:Cut").sentence
    (first,) = said.firsts
    assert (said.severity, first.sends.step, first.sends.at) == ("warning", 2, 17)  # only whitespace differs
    assert first.where == "First in content at character 17 of the output"
    assert first.steps == (2, 3)


def test_the_state_of_both_is_there_at_the_step(runner: Runner) -> None:
    columns = page(runner, "cut:Cut").columns
    assert [column.side.run.parser for column in columns] == ["old:Old", "cut:Cut"]
    cards = [step.card for column in columns for step in column.steps if step.card.step == 1]
    assert [card.own for card in cards] == [True, True]


def test_one_that_sends_the_same_has_no_such_step(runner: Runner) -> None:
    said = page(runner, "same:Same").sentence
    assert (said.severity, said.firsts) == ("pass", [])


def test_one_that_sends_the_same_message_otherwise_is_said_to(runner: Runner) -> None:
    said = page(runner, "late:Late").sentence
    assert (said.severity, [first.sends.step for first in said.firsts]) == ("pass", [1])
    assert [(first.where, first.sends.at) for first in said.firsts] == [("", 0)]


@pytest.mark.replays
def test_a_page_of_sides_that_only_send_otherwise_opens_there_and_has_one_place(runner: Runner) -> None:
    found = page(runner, "late:Late")
    assert (found.cursor.at, found.cursor.nav["parting"]) == (0, (None, None))
    assert [(place.start, place.what) for place in found.places] == [
        (0, "the same message, sent otherwise from here on")
    ]
    assert found.sentence.rest == "Every character has the same owner on both sides."


CALL = 'Hi <tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def beside_qwen(runner: Runner, word: str, tools: list[Any], *, text: str = CALL) -> Any:
    found = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "tools": tools})
    sides = [replayed(runner, found, "a", Side("token")), replayed(runner, found, "b", Side("token", parser=word))]
    links = CompareLinks("/r/x/compare", Asked((sides[0].side, sides[1].side)))
    return sides_page(runner, sides, rules_of(found, Asked(), sides), links=links, inspect="")


@pytest.fixture
def fakes(runner: Runner) -> Runner:
    write_entry(runner.settings, "fake", fake())
    entered(runner.settings).card("fake")
    return runner


@pytest.mark.parametrize(("tools", "role"), [([], "content"), ([TOOL], "lost")])
def test_the_lane_of_an_engine_has_what_it_sent_and_calls_that_leaked_are_one_place(
    fakes: Runner, tools: list[Any], role: str
) -> None:
    found = beside_qwen(fakes, "fake:echo", tools)
    assert role in {bar.bar.kind for bar in found.band.lanes[1].roles}
    (place,) = [place for place in found.places if place.start < len(CALL)]
    assert (place.span, place.a, place.b) == (f"3–{len(CALL)}", "marker", role)
    assert found.sentence.firsts[0].where == "First in calls at character 3 of the output"
    assert found.roles[-1] == ("lost" if role == "lost" else "dropped")


@pytest.mark.replays
def test_characters_of_which_a_side_says_nothing_part_nowhere(fakes: Runner) -> None:
    found = beside_qwen(fakes, "old:Old", [], text="Just words.")
    bits = [bit for strip in found.strips for bit in strip.bits]
    silent = [bit for bit in bits if "unknown" in bit.roles.values()]
    assert found.apart is None
    assert {bit.words for bit in silent} <= {"content, not known on B"}


@pytest.mark.replays
def test_what_an_engine_made_of_the_whole_is_no_delta_and_is_named_so(fakes: Runner) -> None:
    found = load_case({"schema": 1, "parser": {"name": "upper", "engine": "fake"}, "input": {"text": "Hi"}})
    one, apart = [replayed(fakes, found, "b", Side(chunk=word)) for word in ("cuts", "whole")]
    assert (one.chunk_words, apart.chunk_words) == ("in one delta", "not streamed, as a whole")
    assert [side.run.trace.message.content for side in (one, apart)] == ["HI", "Hi"]
    offered = {option.value: option.words for option in compare_form(fakes, found, [one, apart], {}, []).chunks}
    assert (offered["cuts"], offered["whole"]) == ("in one delta", "whole; by an engine not streamed, as a whole")
    links = CompareLinks("/r/x/compare", Asked((Side("token"), Side("token"))))
    groups = dict(picker(fakes, found, [replayed(fakes, found, "a", Side("token"))], links).groups)
    assert [one.words for one in groups["Same parser, another chunking"]][:2] == [
        "in one delta",
        "not streamed, as a whole",
    ]


def test_engines_are_rows_of_the_matrix_on_demand_and_those_that_are_sides_always(fakes: Runner) -> None:
    write_entry(fakes.settings, "again", own("Hermes"))
    entered(fakes.settings).card("again")
    found = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}, "tools": [TOOL]})
    sides = [replayed(fakes, found, "a", Side("token")), replayed(fakes, found, "b", Side("token", parser="fake:echo"))]
    rows = {}
    for which in ("near", "engines"):
        found_rows = matrix(fakes, sides, which, EXACT)
        assert found_rows is not None
        assert [*found_rows.waiting] == (["fake"] if which == "near" else ["again"]), "nothing is asked with the table"
        found_rows = matrix(fakes, sides, which, EXACT, "fake")
        assert found_rows is not None
        rows[which] = {row.parser: row for row in found_rows.rows}
    echo = rows["near"]["fake:echo"]
    assert (echo.title, {cell.words for cell in echo.cells}, echo.cells[-1].chunk) == ("fake 1.0", {"no call"}, "cuts")
    assert {*rows["engines"]} - {*rows["near"]} == {"again:hermes"}
    assert rows["engines"]["fake:echo"] is echo, "what an engine gave is kept"


@pytest.mark.replays
@pytest.mark.parametrize(
    ("parser", "seconds", "left"),
    [("hangs", 10, "it did not return in"), ("echo", 0, "was at work for"), ("crashes", 10, "")],
)
def test_an_engine_that_hung_or_took_long_is_not_asked_for_its_other_parsers(
    fakes: Runner, monkeypatch: pytest.MonkeyPatch, parser: str, seconds: float, left: str
) -> None:
    write_entry(fakes.settings, "fake", fake(seconds=0.5 if parser == "hangs" else 10))
    entered(fakes.settings).card("fake")
    monkeypatch.setattr(module, "ENGINE_SECONDS", seconds)
    found = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL + "!"}})
    monkeypatch.setattr(module, "_readers", lambda _: [(f"fake:{parser}", ""), ("fake:upper", "")])
    made = matrix(fakes, [replayed(fakes, found, "a", Side("token"))], "engines", EXACT, "fake")
    assert made is not None
    first, second = [row for _, row in made.of("fake")]
    words = [cell.words for cell in second.cells]
    assert ("not asked" in words, left in second.left) == (bool(left), True)
    if parser == "hangs":
        assert [cell.words for cell in first.cells] == ["hangs", *["not asked"] * 3]


@pytest.mark.replays
def test_an_engine_that_does_not_start_is_tried_once(fakes: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    found = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}})
    monkeypatch.setattr(module, "_readers", lambda _: [("silent:a", ""), ("silent:b", "")])
    write_entry(fakes.settings, "silent", fake("dies"))
    made = matrix(fakes, [replayed(fakes, found, "a", Side("token"))], "engines", EXACT, "silent")
    assert made is not None
    first, second = [row for _, row in made.of("silent")]
    assert first.cells[0].words == "no answer"
    assert first.left.startswith("silent:a: engine silent does not start")
    assert {cell.words for cell in second.cells} == {"not asked"}


@pytest.mark.replays
def test_sides_that_are_fed_otherwise_are_not_compared_step_by_step(runner: Runner) -> None:
    found = case()
    sides = [replayed(runner, found, name, Side(chunk)) for name, chunk in (("a", "cuts:17,18"), ("b", "char"))]
    links = CompareLinks("/r/x/compare", Asked((sides[0].side, sides[1].side)))
    made = sides_page(runner, sides, rules_of(found, Asked(), sides), links=links, inspect="")
    assert made.sentence.firsts == []


@pytest.mark.replays
@pytest.mark.parametrize("word", ["nope:Cut", "cut:Nope"])
def test_an_engine_that_cannot_be_used_is_said_beside_the_control(runner: Runner, word: str) -> None:
    side = replayed(runner, case(), "b", Side(parser=word))
    assert ("parser" in side.errors, side.run.parser) == (True, "old:Old")


@pytest.mark.replays
def test_other_versions_of_the_parser_are_offered_first(runner: Runner) -> None:
    found = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "<tool_call>"}})
    settings = runner.settings
    write_entry(settings, "fake", own("Plain"))
    sides = [replayed(runner, found, "a", Side())]
    links = CompareLinks("/r/x/compare", Asked((sides[0].side, Side(chunk="whole"))))
    offered = dict(picker(runner, found, sides, links).groups)["Same text, another parser"]
    assert not [one for one in offered if ":" in one.words]
    mine = [replayed(runner, case(), "a", Side())]
    write_entry(settings, "new", own("Old", **{"class": "paired_parsers:Old"}))
    entered(settings).card("new")
    again = dict(picker(runner, case(), mine, links).groups)["Same text, another parser"]
    assert ("new:Old", "class 1") in [(one.words, one.note) for one in again]


@pytest.mark.replays
def test_an_entry_that_was_replaced_is_replayed_again(runner: Runner) -> None:
    assert page(runner, "same:Same").sentence.severity == "pass"
    write_entry(runner.settings, "same", own("Cut", **{"class": "paired_parsers:Cut"}))
    entered(runner.settings).card("same")
    assert page(runner, "same:Cut").sentence.severity == "warning"
    before = runner.run(case())
    assert runner.run(case()) is before
    write_entry(runner.settings, "old", own("Old", seconds=19, **{"class": "paired_parsers:Old"}))
    assert runner.run(case()) is not before
