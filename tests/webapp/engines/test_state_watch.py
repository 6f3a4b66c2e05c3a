"""What is told of a parser's attributes: which changed, by what they grew, and in which state that leaves it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.engines.workers.line_trace import fields_of, spelled
from webapp.engines.workers.state_watch import MOST_ATTRIBUTES, MOST_CHANGES, MOST_LENGTH, MOST_TOLD, StateWatch


class Mode(Enum):
    """Where a parser stands."""

    TEXT = 1
    CALL = 2


class Parser:
    """What is looked at."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


class Slotted:
    """What keeps its attributes in slots, and more below them."""

    __slots__ = ("at", "late", "state")


class Below(Slotted):
    """It has both."""


def watching(parser: Any, **more: Any) -> StateWatch:
    watch = StateWatch(spelled, fields_of)
    watch.begin(SimpleNamespace(watched=lambda: [parser, 3], **more))
    return watch


def put(**values: Any) -> Callable[[Parser], None]:
    return lambda parser: vars(parser).update(values)


@pytest.mark.parametrize(
    ("before", "change", "told"),
    [
        ({"at": 1}, put(at=1), []),
        ({"at": 1}, put(at=2), [["Parser.at", "1", "2", None]]),
        ({"at": 1}, put(at=True), [["Parser.at", "1", "True", None]]),
        ({"text": "ab"}, put(text="abc"), [["Parser.text", "'ab'", "'abc'", "'c'"]]),
        ({"text": "ab"}, put(text="b"), [["Parser.text", "'ab'", "'b'", None]]),
        ({"text": ""}, put(text="b"), [["Parser.text", "''", "'b'", None]]),
        ({}, put(late=None), [["Parser.late", None, "None", None]]),
        ({"calls": []}, put(calls=["{"]), [["Parser.calls[0]", None, "'{'", None]]),
        ({"calls": ["{"]}, put(calls=['{"a']), [["Parser.calls[0]", "'{'", "'{\"a'", "'\"a'"]]),
        ({"calls": [object()]}, put(calls=[object()]), []),
        ({"ids": [1]}, put(ids=[1, 2]), [["Parser.ids", "[1]", "[1, 2]", None]]),
        ({"known": {"a": 1}}, put(known={"a": 2}), [["Parser.known", "{'a': 1}", "{'a': 2}", None]]),
        ({"mode": Mode.TEXT}, put(mode=Mode.CALL), [["Parser.mode", "TEXT", "CALL", None]]),
        ({"other": object()}, put(other=open), []),
        ({"text_cache": "a"}, put(text_cache="b"), []),
        (
            {"many": [*range(MOST_LENGTH + 1)]},
            put(many=[*range(MOST_LENGTH + 2)]),
            [["Parser.many", "<list of 65>", "<list of 66>", None]],
        ),
    ],
)
def test_what_changed_is_told(before: dict[str, Any], change: Callable[[Parser], None], told: list[Any]) -> None:
    parser = Parser(**before)
    watch = watching(parser)
    change(parser)
    assert watch.step()["changed"] == told
    assert watch.step()["changed"] == []


def test_what_is_changed_in_place_is_seen() -> None:
    parser = Parser(calls=[{"name": "f"}], known={"a": []})
    watch = watching(parser)
    parser.calls[0]["name"] = "g"  # type: ignore[attr-defined]
    parser.known["a"].append(1)  # type: ignore[attr-defined]
    assert [one[0] for one in watch.step()["changed"]] == ["Parser.calls[0]", "Parser.known"]


@pytest.mark.parametrize(
    ("values", "state"), [({"_state": Mode.CALL}, "CALL"), ({"mode": Mode.CALL}, ""), ({"state": 3}, "")]
)
def test_a_state_is_a_member_in_an_attribute_that_is_called_one(values: dict[str, Any], state: str) -> None:
    assert watching(Parser(**values)).step()["state"] == state


def test_transitions_are_told_as_they_are_declared_and_made() -> None:
    table = {(Mode.TEXT, "OPEN"): SimpleNamespace(next_state=Mode.CALL)}
    moves = [["TEXT", "OPEN", "CALL"]]
    watch = watching(
        Parser(), table=lambda: (table, {"OPEN": ("<a>", "<b>"), "NONE": ()}, Mode.TEXT), moved=lambda: moves
    )
    assert watch.told()["table"] == {"initial": "TEXT", "rows": moves, "terminals": {"OPEN": "<a>", "NONE": ""}}
    assert watch.step()["moves"] == moves


def test_one_that_declares_none_has_no_table() -> None:
    watch = watching(Parser(a=1), table=lambda: None, moved=list)
    assert watch.told() == {"attributes": {"Parser.a": "1"}}
    assert watch.step() == {"changed": [], "state": ""}


def test_a_replay_that_shows_nothing_has_no_attributes() -> None:
    watch = StateWatch(spelled, fields_of)
    watch.begin(SimpleNamespace())
    assert (watch.told(), watch.step()["changed"]) == ({"attributes": {}}, [])


def test_everything_is_bounded() -> None:
    parser = Parser(**{f"a{number}": 0 for number in range(2 * MOST_ATTRIBUTES)})
    watch = watching(parser)
    assert len(watch.told()["attributes"]) == MOST_ATTRIBUTES
    put(**dict.fromkeys(vars(parser), 1))(parser)
    assert len(watch.step()["changed"]) == MOST_CHANGES


@pytest.mark.replays
def test_behind_so_many_characters_only_states_are_told() -> None:
    parser = Parser(text="", state=Mode.TEXT)
    watch, told = watching(parser), 0
    for number in range(MOST_TOLD // 100):
        parser.text = f"{number:1000}"  # type: ignore[attr-defined]
        told += bool(watch.step()["changed"])
    assert 1_000 < told < MOST_TOLD // 300
    assert watch.step()["state"] == "TEXT"


@pytest.mark.parametrize("kind", [Slotted, Below])
def test_attributes_in_slots_are_looked_at(kind: type[Any]) -> None:
    parser = kind()
    parser.at, parser.state = 1, Mode.TEXT
    watch = watching(parser)
    assert watch.told()["attributes"] == {f"{kind.__name__}.at": "1", f"{kind.__name__}.state": "TEXT"}
    parser.at, parser.late, parser.state = 2, "x", Mode.CALL
    told = watch.step()
    assert ([one[0].partition(".")[2] for one in told["changed"]], told["state"]) == (["at", "late", "state"], "CALL")
    if kind is Below:
        parser.own = "y"
        assert watch.step()["changed"] == [["Below.own", None, "'y'", None]]
