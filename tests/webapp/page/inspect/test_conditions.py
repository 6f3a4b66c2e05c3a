"""Conditions on steps: what each holds at, and what is said of one that there is none of."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.vocabulary.events import Diagnostic, Raised
from parsers.wire.arrivals import arrivals
from webapp.page.inspect.conditions import Look, Names, completions, names_of, names_of_chunks, read_conditions, stops
from webapp.page.inspect.index import index_of

TEXT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c"}}\n</tool_call>\n<tool_call>\n{"name": "g", "arg'


@pytest.fixture(scope="module")
def index(make: Any) -> Any:
    return index_of(make.run(TEXT, replay=[{"by": "char"}]))


def at(index: Any, words: str) -> list[str]:
    """The characters that were fed at the stops; empty for the end."""
    found = stops(index, words)
    assert not found.problem
    return [index.trace.text[step.span.start : step.span.end] for step in map(index.step, found.steps)]


@pytest.mark.parametrize("chunking", [{"by": "char"}, {"by": "whole"}, {"by": "token"}], ids=lambda how: how["by"])
@pytest.mark.parametrize("minus", ["", "-"])
def test_no_step_is_passed_over(make: Any, chunking: dict[str, str], minus: str) -> None:
    index = index_of(make.run(f'{TEXT}uments": x }}</tool_call> or {{', replay=[chunking]))
    rows = [f"row:{row}" for row in ("r0", "r1", "r2", "r3")]
    for words in [*[words for words, _ in completions(Names())], *rows, "held = 0", "held < 9", "sent:anything"]:
        found = read_conditions(minus + words)
        looked = [n for n in range(1, index.total + 1) if found.hold(Look(index, (one := index.step(n)), one.events))]
        assert stops(index, minus + words).steps == looked, words


@pytest.mark.parametrize(
    ("words", "fed"),
    [
        ("step < 4", ["H", "i", "."]),
        ("step<=2", ["H", "i"]),
        ("step >= 2 step < 4", ["i", "."]),
        ("step = 3", ["."]),
        ("held > 27 call:0", []),
        ("sent:content", ["H", "i", ".", "\n"]),
        ("sent:name", ['"', '"']),
        ("sent:args call:1", []),
        ("state:content -sent:content -held>0", []),
        ('text:"<tool_call>"', [">", ">"]),
        ('text:"b c"', ["c"]),
        ("emit:arguments call:1 step<60", []),
        ("raised", []),
        ("row:r0", [">"]),
        ("json:whole", [">"]),
        ("json:broken", [""]),  # the call that is cut off, at the end
        ("CallStart", ['"', '"']),
        ("commit", ['"', '"']),
        ("commit call:1", ['"']),
        ('"commit"', []),
        ('"contenttext"', ["H", "i", ".", "\n"]),
        ("err:no_such", []),
        ("dropped:space", ['"']),
        ("sent:anything step<2", ["H"]),
        ("sent:nothing step<7", ["<", "t"]),
    ],
)
def test_a_condition_holds_at_its_steps(index: Any, words: str, fed: list[str]) -> None:
    assert at(index, words) == fed


NAMES = Names(["CONTENT", "TOOL_CALL"], {"r0": "", "r1": ""})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "held > 3 color:red",
            "There is no condition color: – try held > 20, step > 9, gap > 60ms, state:, sent:,",
        ),
        ("held > much", "held is compared with a number, as in held > 20."),
        ("held > 99999999999999999999", "held is compared with a number of 9 digits at most, as in held > 20."),
        ("gap>9999999999ms", "gap is compared with a number of 9 digits at most, as in gap > 20."),
        ("HELD > much", "held is compared with a number, as in held > 20."),
        ("HELD > 3 Step:4", ""),
        ("held > 3 or raised", "or is no condition: every word has to hold, one with a minus must not"),
        ("(held > 3)", "(held is no condition: every word has to hold, one with a minus must not"),
        ("content > 3", "content is nothing to compare: held, step and gap are compared with a number"),
        ("hld > 3", "hld is no condition – is held > 3 meant?"),
        ("raised -Hled>=3", "Hled is no condition – is held >=3 meant?"),
        ("stp = 3", "stp is no condition – is step = 3 meant?"),
        ("a > b", "a is nothing to compare: held, step and gap"),
        ("x=1 a>b", ""),
        ("> 3", "> is no condition"),
        ("stat:CONTENT", "There is no condition stat: – is state: meant?"),
        ('">" "or"', ""),
        ("step", ""),
        ('text:"</tool', "The quotation mark before </tool is not closed."),
        ('"half', "The quotation mark before half is not closed."),
        ("text:", 'text: takes what comes to its end there, as in text:"</tool".'),
        ("call:first", "call: takes the number of a call, as in call:0."),
        ("sent:all", "sent:all is none of this run: there are content, reasoning, name, id, args, call, anything,"),
        ("json:bad", "json:bad is none of this run: there are whole, broken."),
        ("state:tool_call", ""),
        ("state:REASONING", "state:REASONING is none of this run: there are CONTENT, TOOL_CALL."),
        ("-row:r9", "row:r9 is none of this run: there are r0, r1."),
    ],
)
def test_what_is_no_condition_is_said_in_a_sentence_and_stops_nowhere(index: Any, words: str, said: str) -> None:
    found = stops(index, words, NAMES)
    assert found.problem.startswith(said)
    assert bool(found.problem) == bool(said)
    assert not (found.problem and found.steps)


@pytest.mark.parametrize(
    ("gaps", "words", "said"),
    [
        ((None, 0.08), "gap > 60ms", ""),
        (
            (None, None),
            "gap > 60ms",
            "gap asks when the chunks of a recording came, and no times of them are known here.",
        ),
        ((), "-gap < 5", "gap asks when the chunks of a recording came, and no times of them are known here."),
        ((None, 0.08), "held > 5", "held asks what a parser kept back, and a recording does not tell that."),
    ],
)
def test_what_a_recording_does_not_tell_is_no_condition(make: Any, gaps: Any, words: str, said: str) -> None:
    index = index_of(make.run(TEXT))
    index.arrivals = arrivals((0.0, *gaps[1:]))
    names = names_of_chunks(index)
    found = stops(index, words, names)
    assert (found.problem, any(one.startswith("gap") for one, _ in completions(names))) == (said, gaps == (None, 0.08))


def test_an_exception_of_the_parser_is_a_condition(index: Any) -> None:
    looks = [Look(index, index.step(1), [event]) for event in (Raised(0, 1, "parser_raised"), Diagnostic(0, 1, "odd"))]
    assert [read_conditions("raised").hold(look) for look in looks] == [True, False]
    assert [read_conditions("err:odd").hold(look) for look in looks] == [False, True]
    assert [read_conditions('"raised"').hold(look) for look in looks] == [True, False]


def test_no_words_are_no_condition(index: Any) -> None:
    assert stops(index, "  ").steps == []
    assert (read_conditions("").all, read_conditions("").problem) == ([], "")


def test_states_and_rows_of_the_format_and_of_the_run_are_offered(make: Any) -> None:
    run = make.run(TEXT)
    names = names_of(run.format, index_of(run))
    offered = dict(completions(names))
    assert {"held > 20", "state:TOOL_CALL", "raised", "json:broken"} <= offered.keys()
    assert offered["row:r0"].startswith("CONTENT on <tool_call> to ")
    assert all(not read_conditions(words, names).problem for words in offered)


def test_of_very_many_stops_the_first_are_listed_and_the_others_counted(index: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("webapp.page.inspect.conditions._STOPS_LISTED", 10)
    found = stops(index, "step > 0")
    assert found.steps == list(range(1, 11))
    assert found.more == index.total - 10
