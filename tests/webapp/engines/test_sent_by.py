"""From a character that a step sent back to the line that put it there, and to the one that returned it."""

from __future__ import annotations

import io
import sys
from collections import namedtuple
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.engines.workers import sent_by
from webapp.engines.workers.adapter_class import Class
from webapp.engines.workers.engine_worker import Printed, Worker
from webapp.engines.workers.first_made import FirstMade
from webapp.engines.workers.sent_by import MOST_SOUGHT, SentBy, Sought

FOLDER = Path(__file__).parent


class Unguarded:
    """No guard: an audit hook stays for ever."""

    on = False


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the parsers, as an interpreter has it that somebody entered."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield __import__("sending_parsers")
    for name in ("sending_parsers", "message_classes", "charwise"):
        sys.modules.pop(name, None)


def named(own: Any, kind: str, *texts: str, **sought: Any) -> tuple[str, str]:
    """The comments of the lines that put there and returned what was sought at the last of these steps."""
    with redirect_stdout(printed := Printed(io.StringIO())):
        worker = Worker(Class(getattr(own, kind)), printed, Unguarded())
        run = {"request": {}, "replays": [[[text] for text in texts]], "observe": "lines", "step": len(texts)}
        (answer,) = worker.run({**run, **sought})["replays"]
    lines = answer["lines"]
    put, sent = ["" if at is None else said_at(lines, at) for at in (lines["put_at"], lines["sent_from"])]
    return put, sent


def said_at(lines: dict[str, Any], at: int) -> str:
    """The comment of the line of an event."""
    event = lines["events"][at]
    function = lines["functions"][event["function"]]
    line: str = function["source"][event["line"] - function["first"]]
    return line.rpartition("# ")[2]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("kind", "sought", "lines"),
    [
        ("Merged", {"sought": "WRONG", "channel": "content"}, ("", "merged: words")),
        ("Merged", {"sought": "WRONG", "channel": "name", "call": 0}, ("merged: function", "merged: call")),
        (
            "Merged",
            {"sought": '{"city": "Bern"}', "channel": "arguments", "call": 0},
            ("merged: function", "merged: call"),
        ),
        (
            "Merged",
            {"sought": "WRONG", "channel": "name", "call": 1},
            ("merged: function", "merged: call"),
        ),  # by what is in it
        ("Filling", {"sought": "abC!", "channel": "content"}, ("filling: second", "filling: return")),
        ("Filling", {"sought": "abC!", "channel": "content", "at": 2}, ("filling: second", "filling: return")),
        ("Filling", {"sought": "abC!", "channel": "content", "at": 1}, ("filling: first", "filling: return")),
        ("Filling", {"sought": "g", "channel": "name", "call": 1}, ("filling: call", "filling: return")),
        ("Filling", {"sought": "nowhere", "channel": "content"}, ("", "")),
        ("Replacing", {"sought": "ab-c!", "channel": "content", "at": 0}, ("replacing: first", "replacing: return")),
        ("Replacing", {"sought": "ab-c!", "channel": "content", "at": 3}, ("replacing: second", "replacing: return")),
        ("Helped", {"sought": "bc!", "channel": "content"}, ("helped: cut", "helped: return")),
        ("Local", {"sought": "ABC!", "channel": "content", "at": 1}, ("local: loop", "local: return")),
        ("Validated", {"sought": "abc!", "channel": "content"}, ("validated: made", "validated: return")),
        ("Appended", {"sought": "abc!?", "channel": "content"}, ("appended: add", "appended: return")),
        ("Plain", {"sought": "abc!", "channel": "content"}, ("", "plain: return")),
        ("Plain", {"sought": "abc!"}, ("", "plain: return")),
        ("Plain", {"sought": ""}, ("", "")),
    ],
)
def test_a_character_leads_to_the_line_that_put_it_there(
    own: Any, kind: str, sought: dict[str, Any], lines: tuple[str, str]
) -> None:
    assert named(own, kind, "abc!", **sought) == lines


@pytest.mark.replays
@pytest.mark.parametrize(
    ("kind", "fed", "sought", "lines"),
    [
        ("Unescaping", ["ab", '"O', "ld"], '"Old', ("unescaping: broken", "unescaping: return")),
        ("UnescapingInPlace", ['"O'], '"O', ("", "in place: return")),  # a line may as well pass on what it is fed
        ("UnescapingInPlace", ['"O\\"', '"O"'], '"O\\"', ("in place: broken", "in place: return")),
        ("Cutting", ["abc", "de"], "bcde", ("cutting: cut", "cutting: return")),
    ],
)
def test_a_line_that_holds_what_was_fed_has_put_nothing_there(
    own: Any, kind: str, fed: list[str], sought: str, lines: tuple[str, str]
) -> None:
    assert named(own, kind, *fed, sought=sought, channel="content") == lines


DUMPED = ("repaired: dumped", "call of")
CITY = '<{"city": "Berne", "n": "1"}>'
WRONG = '{"city": "B3rne", "n": "1"}'


@pytest.mark.replays
@pytest.mark.parametrize(
    ("kind", "fed", "sought", "at", "lines"),
    [
        ("CleanedInside", [CITY], WRONG, 11, ("cleaned: wrong", "call of")),
        ("CleanedInside", [CITY], WRONG, 21, ("", "call of")),  # as it was fed
        ("RepairedInside", [CITY], WRONG, 11, ("repaired: wrong", "call of")),
        ("RepairedInside", [CITY.replace("1", "\\n")], WRONG.replace("1", "\\n"), 24, ("", "call of")),
        ("RepairedInside", [CITY.replace("1", "é")], WRONG.replace("1", "\\u00e9"), 25, DUMPED),
        ("CleanedBefore", [*CITY[1:13]], "3", 0, ("cleaned: wrong", "call of")),  # a character a step
        ("CleanedBefore", [*CITY[1:12]], "B", 0, ("", "call of")),
        ("KeptCleaned", [CITY, ""], CITY.replace("e", "3", 1), 12, ("", "call of")),  # no line of this step
    ],
)
def test_a_character_that_a_helper_altered_leads_to_the_helper(
    own: Any, kind: str, fed: list[str], sought: str, at: int, lines: tuple[str, str]
) -> None:
    assert named(own, kind, *fed, sought=sought, channel="arguments", call=0, at=at) == lines


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("say 012345x678901 to me", True),
        ("45x678901 and more", True),  # begins within it
        ("more and 012345x67", True),  # ends within it
        ("5x67", True),
        ("5x6", False),  # few characters are met by accident
        ("012345", False),
        ("45x6 and more", False),
        ({"words": ["345x67"]}, False),
        ({"words": "345x67"}, True),
        (["345x67"], True),
        (None, False),
    ],
)
def test_a_value_holds_a_character_with_what_stands_around_it(value: Any, holds: bool) -> None:
    made = FirstMade("0012345x6789011", 7, "", "fed")
    made.seen(value, "now")
    assert made.moments == (["now"] if holds else [])


def test_a_character_that_joins_others_was_made_by_the_line_that_left_it_alone() -> None:
    made = FirstMade("it`s", 2, '{"a": "', "it's")
    for moment, value in enumerate(['{"a": "it\'s"}', [*'{"a": "i'], "t", [*'{"a": "it'], "'", "`", [*'{"a": "it`']]):
        made.seen(value, moment)
    assert made.moments == [5]
    other = FirstMade("it`s", 2, '{"a": "', "it's")
    for moment, value in enumerate([[*'{"a": "it'], "`", "'", [*'{"a": "it`'], '{"a": "it`s']):
        other.seen(value, moment)
    assert other.moments == [4]


def test_helpers_beside_the_module_of_a_class_are_looked_at(own: Any) -> None:
    found = named(own, "Charwise", "don't go", sought="don`t go", channel="content", at=3)
    assert found == ("charwise: other", "charwise: return")


def test_what_a_message_had_before_the_step_is_no_part_of_what_it_gained(own: Any) -> None:
    found = named(own, "Growing", "ab", "ab", sought="ab!", channel="content")
    assert found == ("growing: more", "growing: return")


Pair = namedtuple("Pair", ["normal_text", "calls"])


class Slotted:
    """A share of a call without a dictionary."""

    __slots__ = ("arguments", "name", "tool_index")

    def __init__(self, name: str) -> None:
        self.name, self.tool_index = name, 1


@pytest.mark.parametrize(
    ("value", "channel", "call", "said"),
    [
        ({"content": "a"}, "content", None, "a"),
        ({"content": None}, "content", None, None),
        (SimpleNamespace(content="a", reasoning="b"), "reasoning", None, "b"),
        (Pair("a", [Slotted("f")]), "content", None, "a"),
        (Pair("a", [Slotted("f")]), "name", 1, "f"),
        (Pair("a", [Slotted("f")]), "name", 0, None),
        ([{"content": "a"}, {"content": "b"}], "content", None, "ab"),
        (({"content": "a"}, True), "content", None, "a"),
        ([1, {"content": "a"}], "content", None, None),  # a list of ids is not looked through
        ({"type": "function", "function": {"name": "f", "parameters": {}}}, "name", None, None),  # a declared tool
        ({"index": 0, "function": {"name": "f"}}, "name", 0, "f"),
        ({"name": "f", "arguments": {"a": 1}}, "name", None, "f"),
        ({"content": "a" * (MOST_SOUGHT + 1)}, "content", None, None),
        ([{"content": "a" * MOST_SOUGHT}] * 2, "content", None, None),
        (object(), "content", None, None),
        ([[[[[[{"content": "a"}]]]]]], "content", None, None),
    ],
)
def test_what_a_value_says_in_a_channel(value: Any, channel: str, call: int | None, said: str | None) -> None:
    assert sent_by._joined(value, channel, call) == said


def test_a_text_that_is_too_long_is_not_looked_for() -> None:
    assert SentBy(Sought("a" * (MOST_SOUGHT + 1)), "").idle
    assert not SentBy(Sought("a"), "").idle
