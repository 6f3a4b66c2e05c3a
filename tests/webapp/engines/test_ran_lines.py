"""The lines that a step of somebody else's parser ran: in order, with what they changed, and which of them sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from parsers.replays.ran_lines import Changed, RanLines
from parsers.vocabulary.types import MessageDelta, UsageError
from tests.webapp.engines import line_parsers
from webapp.engines.engine_host import EngineHost
from webapp.engines.entries import Entry
from webapp.engines.lines import lines_of, read_lines
from webapp.engines.protocol import ProtocolError
from webapp.engines.workers.line_trace import MOST_EVENTS, MOST_SHOWN, LineTrace, Roots, spelled

FILE = Path(line_parsers.__file__)
SOURCE = FILE.read_text("utf-8").splitlines()


def line(text: str) -> int:
    """The number of the line that has a text."""
    return next(number for number, one in enumerate(SOURCE, 1) if text in one)


@pytest.fixture(scope="module")
def host() -> Iterator[EngineHost]:
    given = {"class": "line_parsers:Sender", "python": sys.executable, "path": str(FILE.parent), "seconds": 20}
    found = EngineHost("sender", Entry.model_validate(given))
    found.card()
    yield found
    found.close()


def ran(host: EngineHost, *texts: str, step: int, **more: Any) -> RanLines:
    asked = {"parser": "Sender", "request": {}, "replays": [[[text] for text in texts]], "observe": "lines"}
    return host.lines({**asked, "step": step, **more})


def test_the_lines_of_a_step_are_told_in_the_order_in_which_they_ran(host: EngineHost) -> None:
    found = ran(host, "ab", "c<", step=2)
    assert [one.name.rpartition(".")[2] for one in found.functions] == ["feed", "before"]
    assert {one.file for one in found.functions} == {"line_parsers.py"}
    assert found.functions[1].source[0] == SOURCE[found.functions[1].first - 1]
    first, last = line("self.buffer += text"), line('return {"content": out} if out else None')
    assert [one.line for one in found.lines] == [first, first + 1, first + 3, first + 4, *range(last - 3, last + 1)]
    assert [one.depth for one in found.lines] == [0] * 4 + [1] * 4


def test_a_line_stands_with_what_it_changed_and_returned(host: EngineHost) -> None:
    found = ran(host, "ab", "c<", step=2)
    assert found.lines[0].changed == (Changed("self.buffer", "''", "'c<'"),)
    assert found.lines[5].changed == (Changed("out", None, "'c'"),)
    assert found.lines[-1].returned == "{'content': 'c'}"


def test_the_line_that_returned_what_was_sent_is_named(host: EngineHost) -> None:
    found = ran(host, "ab", "c<", step=2, sought="c")
    assert found.sent_from is not None
    assert found.lines[found.sent_from].line == line('return {"content": out} if out else None')
    assert ran(host, "ab", "c<", step=2, sought="nowhere").sent_from is None


def test_the_line_that_raised_says_so(host: EngineHost) -> None:
    (raised,) = [one for one in ran(host, "a", "b!", step=2).lines if one.raised]
    assert (raised.line, raised.raised) == (line("raise ValueError"), "ValueError: no !")


def test_other_steps_that_ran_a_line_are_told(host: EngineHost) -> None:
    at = line("at = self.buffer.index")
    assert ran(host, "a", "<", "b", "c", step=2, where=("line_parsers.py", at)).steps == (3, 4)
    assert ran(host, "a", "<", "b", step=1, where=("other.py", at)).steps == ()


def test_lines_without_end_are_counted(host: EngineHost) -> None:
    found = ran(host, "<?", step=2)
    assert len(found.lines) == MOST_EVENTS
    assert found.left_out > 8_000


def test_an_engine_that_tells_no_lines_is_refused(host: EngineHost) -> None:
    with pytest.raises(UsageError, match="engine sender does not tell which lines ran: its worker does not know"):
        host.lines({"parser": "Sender", "request": {}, "replays": [[["a"]]], "step": 1})
    with pytest.raises(UsageError, match="does not tell which lines ran: IndexError"):
        host.lines({"replays": [[[]]], "observe": "lines", "step": 1, "path": "whole"})


EVENT = {"function": 0, "line": 1, "depth": 0}
FUNCTION = {"name": "f", "file": "f.py", "first": 1}


@pytest.mark.parametrize(
    "said",
    [
        {"functions": [], "events": [EVENT]},
        {"functions": [FUNCTION], "events": [EVENT], "sent_from": 1},
        {"functions": [FUNCTION], "events": [EVENT], "put_at": 1},
        {"functions": [], "events": [], "put_at": 0},
        {"functions": [], "events": [], "sent_from": 0},
        {"functions": [FUNCTION] * 61, "events": []},
        {"functions": [FUNCTION], "events": [{**EVENT, "line": -1}]},
        {"functions": [FUNCTION], "events": [{**EVENT, "depth": 10**400}]},
        {"functions": [], "events": [], "left_out": 10**400},
    ],
)
def test_what_does_not_fit_is_not_believed(said: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        read_lines({"replays": [{"lines": said}]}, 1)


@pytest.mark.parametrize(
    ("sent", "step", "told"),
    [
        ([], 1, (None, False)),
        ([None], 1, (None, True)),
        ([{"content": "a"}, {"content": "b"}], 2, (MessageDelta(content="b"), True)),
        ([{"content": "a"}], 2, (None, False)),
    ],
)
def test_what_the_step_sent_is_told_with_its_lines(
    sent: list[Any], step: int, told: tuple[MessageDelta | None, bool]
) -> None:
    found = read_lines({"replays": [{"lines": {"functions": [], "events": []}, "sent": sent}]}, step)
    assert found is not None
    assert (found.sent, found.is_told) == told


def test_what_another_process_read_is_the_same() -> None:
    said = {"functions": [FUNCTION], "events": [EVENT]}
    found = read_lines({"replays": [{"lines": said, "sent": [{"content": "a", "tool_calls": [{"index": 1}]}]}]}, 1)
    assert found is not None
    assert lines_of(asdict(found)) == found


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("ab", "'ab'"),
        ([1, 2], "[1, 2]"),
        (line_parsers.Odd(), "<Odd"),
        ("a" * 500, "'" + "a" * 80 + " … " + "a" * 80 + "' (500)"),
    ],
)
def test_values_are_shown_short(value: Any, shown: str) -> None:
    assert spelled(value).startswith(shown)
    assert len(spelled(value)) <= 3 * MOST_SHOWN


def test_lines_of_somebody_elses_files_are_not_looked_at() -> None:
    with LineTrace(Roots([line_parsers.Sender()])) as trace:
        Path("a") / "b"
        line_parsers.Sender().begin({})
    assert {one["name"] for one in trace.told()["functions"]} == {"Sender.begin"}
    assert Roots([1, "a"]).name_of(FILE.as_posix()) == ""
