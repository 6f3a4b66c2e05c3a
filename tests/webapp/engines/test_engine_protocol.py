"""What an engine says is believed only as far as it has the protocol's types and sizes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from parsers.vocabulary.types import MessageDelta, ToolCallDelta
from tests.webapp.engines.fake_engine import hello
from webapp.engines import protocol
from webapp.engines.protocol import (
    FREE_SENT,
    LEAST_SHOWN,
    MOST_SHARES,
    MOST_SHOWN,
    Card,
    ProtocolError,
    Replayed,
    Sent,
    read,
    read_card,
    read_replays,
)

CARD = hello([])
DEEP: Any = []
for _ in range(5_000):
    DEEP = [DEEP]


def test_a_card_is_read_and_keys_of_later_protocols_are_passed_over() -> None:
    card = read_card(CARD)
    assert (card.name, card.version, card.wants, card.whole) == ("fake", "1.0", "ids", True)
    assert (card.names("reasoning"), "echo" in card.names("tool")) == (["thinks"], True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protocol": 3}, "/protocol: this program speaks 1, the engine 3"),
        ({"protocol": "1"}, "/protocol: this program speaks 1, the engine 1"),
        ({"parsers": []}, "/parsers: must have at least 1 entry"),
        ({"parsers": {"name": "a"}}, "/parsers: must be a list, not a JSON object"),
        ({"parsers": ["a"]}, "/parsers/0: must be a JSON object with name, not a string"),
        ({"parsers": [{}]}, "/parsers/0/name: is missing"),
        ({"parsers": [{"name": "a b"}]}, "/parsers/0/name: must be a word without a colon and a comma"),
        ({"parsers": [{"name": "a", "kind": "magic"}]}, '/parsers/0/kind: must be "tool" or "reasoning"'),
        ({"name": "x" * 101}, "/name: must have at most 100 characters"),
        ({"name": None}, "/name: must be a string, not null"),
        ({"wants": "bytes"}, '/wants: must be "text" or "ids"'),
        ({"sources": ["/src", "a\0"]}, "/sources/1: must have characters, and no NUL among them"),
        ({"sources": [""]}, "/sources/0: must have characters, and no NUL among them"),
        ({"sources": ["\ud800"]}, "/sources/0: must be a string without half a surrogate pair"),
        ({"server": True}, "/server: must be a JSON object with holds_text, many_tokens, empty_deltas, not true"),
        ({"whole": "yes"}, "/whole: must be true or false, not a string"),
    ],
)
def test_a_card_that_is_none_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_card({**CARD, **change})
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("replays", "words"),
    [
        ([], "/replays: 1 were asked for, 0 came"),
        ([{"sent": [None]}], "/replays/0: it has 2 steps"),
        (
            [{"sent": [None, 3]}],
            "/replays/0/sent/1: must be a JSON object with reasoning, content, tool_calls, not a number",
        ),
        ([{"sent": [{"content": ["x"]}, None]}], "/replays/0/sent/0/content: must be a string of at most 10,000,000 "),
        ([{"sent": [{"tool_calls": [{"index": -(10**9)}]}, None]}], "/replays/0/sent/0/tool_calls/0/index"),
        ([{"sent": [{"tool_calls": [{"index": 10**9}]}, None]}], "/replays/0/sent/0/tool_calls/0/index"),
        ([{"sent": [], "raised": {"step": 3}}], "/replays/0: it has 2 steps, and is said to have failed at step 3"),
        ([{"sent": [None, None], "raised": {"step": 1}}], "/replays/0: it has 2 steps, and is said to have failed"),
        (
            [{"sent": [], "raised": {"step": 0, "message": "x" * 2_001}}],
            "/replays/0/raised/message: must be a string of",
        ),
        ([{"sent": [None, None], "printed": [[1]]}], "/replays/0/printed/0/1: is missing"),
        (
            [{"sent": [None, None], "micros": [1, 10**400]}],
            "/replays/0/micros/1: must be at most 9,007,199,254,740,992",
        ),
        ([{"sent": [None, None], "micros": [1.5]}], "/replays/0/micros/0: must be a whole number, not a number with a"),
        ([{"sent": [None, None], "attributes": []}], "/replays/0/attributes: must be a JSON object, not a list"),
        ([{"sent": [None, None], "micros": [-1]}], "/replays/0/micros/0: must be at least 0"),
        ([{"sent": [None, None], "executed": 10**400}], "/replays/0/executed: must be at most 9,007"),
        (DEEP, "/replays/0: must be a JSON object with sent, not a list"),
    ],
)
def test_replays_that_are_none_are_refused(replays: Any, words: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_replays({"replays": replays}, [2])
    assert str(caught.value).startswith(words)


def test_half_a_pair_is_text() -> None:
    (one,) = read_replays({"replays": [{"sent": [{"content": "\ud83d"}, None]}]}, [2])
    assert one.tape().sent == (MessageDelta(None, "\ud83d"), None)


@pytest.mark.parametrize(
    ("said", "delta"),
    [
        ({}, None),
        ({"content": "", "tool_calls": []}, None),
        ({"reasoning": "r"}, MessageDelta("r")),
        ({"tool_calls": [{"index": 1}]}, MessageDelta(None, None, [ToolCallDelta(1)])),
        ({"tool_calls": [{"index": -1}]}, MessageDelta(None, None, [ToolCallDelta(-1)])),
        (
            {"tool_calls": [{"index": 0, "id": "i", "function": {"name": "f", "arguments": "{}"}}]},
            MessageDelta(None, None, [ToolCallDelta(0, "i", "f", "{}")]),
        ),
    ],
)
def test_a_delta_is_that_of_a_chat_completion(said: dict[str, Any], delta: MessageDelta | None) -> None:
    assert read(Sent, said).delta() == delta


def test_nothing_nested_without_end_is_looked_at() -> None:
    class Endless(dict[str, Any]):
        pass

    data: Any = Endless()
    data["server"] = data
    with pytest.raises(ProtocolError):
        read(Card, data)


def test_not_more_is_shown_of_a_parser_than_may_be() -> None:
    big = "x" * 2_000
    state = {"changed": [[f"Mine.a{number}", big, big, None] for number in range(100)], "state": "INSIDE"}
    (found,) = read_replays({"replays": [{"sent": [None] * 9, "states": [state] * 9}]}, [9])
    kept = found.bounded().states
    assert kept is not None
    assert [len(one.changed) for one in kept] == [100] * 4 + [1] + [0] * 4
    assert {one.state for one in kept} == {"INSIDE"}
    assert "more than 2,000,000 characters" in kept[4].changed[0][2]
    few = read_replays({"replays": [{"sent": [None], "states": [state]}]}, [1])[0]
    assert few.bounded() is few


def many(**values: Any) -> dict[str, Any]:
    return {"replays": [{"sent": [None, None], **values}]}


LONG = {"index": 0, "function": {"arguments": "x" * 9_000_000}}
CALL = {"index": 0, "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ([{"tool_calls": [CALL] * (MOST_SHARES + 5)}, None], "/replays/0/sent: it sends more than 50,004 shares of"),
        ([{"content": "x" * 9_999_999, "reasoning": "x" * 9_999_999}, {"content": "xxx"}], "more than 20,000,000 char"),
        ([{"tool_calls": [LONG, LONG]}, {"tool_calls": [LONG]}], "more than 20,000,000 characters"),
    ],
)
def test_what_no_parser_sends_is_refused(sent: list[Any], words: str) -> None:
    with pytest.raises(ProtocolError, match=words):
        read_replays(many(sent=sent), [2])


LINES = {"name": "f", "first": 1, "lines": [1] * 9_000, "ran": [1] * 9_000}


@pytest.mark.parametrize(
    ("replays", "words"),
    [
        ([{"sent": [{}] * 3}], "/replays/0/sent: it has 2 steps, its end among them, and 3 were answered"),
        ([{"sent": [], "raised": {"step": 1}, "micros": [1] * 3}], "/replays/0/micros: it has 2 steps"),
        ([{"sent": [None, None], "states": [{}] * 3}], "/replays/0/states: it has 2 steps"),
        ([{"sent": [3]}] * 2, "/replays: 1 were asked for, 2 came"),
        ([{"sent": [None, None], "covered": [LINES] * 3}], "/replays/0/covered: it tells of more than 20,000 lines"),
    ],
)
def test_what_is_too_many_is_refused_before_a_model_is_made_of_any_of_it(
    monkeypatch: pytest.MonkeyPatch, replays: list[Any], words: str
) -> None:
    monkeypatch.setattr(protocol, "read", None)
    with pytest.raises(ProtocolError) as caught:
        read_replays({"replays": replays}, [2])
    assert str(caught.value).startswith(words)


def test_few_replays_of_a_message_show_all_that_one_may() -> None:
    states = [{"changed": [1] * (MOST_SHOWN // LEAST_SHOWN)}]
    with pytest.raises(ProtocolError, match="/replays/4/states: all replays show too much"):
        read_replays({"replays": [{"sent": [None], "states": states}] * 5}, [1] * 5)


@pytest.mark.parametrize(
    "more",
    [
        {"sent": [1] * 900},
        {"micros": ["1"] * 900},
        {"states": [1] * 900},
        {"covered": [{"name": "f", "first": 1, "lines": ["1"] * 900, "ran": []}]},
        {"sent": [{"tool_calls": [1] * 900}, *[None] * 899]},
        {"attributes": dict.fromkeys(map(str, range(1_001)), 1)},
        {"table": {"rows": [["a", "b", "c"]], "terminals": dict.fromkeys(map(str, range(2_001)), 1)}},
    ],
)
def test_of_many_things_that_are_wrong_the_first_is_told_and_no_other_one_looked_for(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        Replayed.model_validate({"sent": [None] * 900, **more})
    assert caught.value.error_count() == 1


def test_what_the_host_noticed_is_not_for_an_engine_to_say() -> None:
    assert read_replays(many(noticed=["it is well"]), [2])[0].noticed == []


@pytest.mark.parametrize(
    ("changed", "moves"),
    [([["", "", "", None]] * 900, []), ([], [["", "", ""]] * 1_900), ([["a", "b", "c", None]], [])],
)
@pytest.mark.replays
def test_small_things_that_a_parser_shows_count_as_well(changed: list[Any], moves: list[Any]) -> None:
    state, steps = {"changed": changed, "state": "s", "moves": moves}, 400
    (found,) = read_replays(many(sent=[None] * steps, states=[dict(state) for _ in range(steps)]), [steps])
    bounded = found.bounded()
    shown = [one for one in bounded.states or () if one.changed or one.moves]
    most = MOST_SHOWN // LEAST_SHOWN // max(len(changed) + len(moves), 1) + 1
    assert (len(shown), len(bounded.states or ())) == (min(most, steps), steps)
    assert ("left out" in str(shown[-1].changed)) == (most < steps)
    assert {one.state for one in bounded.states or ()} == {"s"}


def test_more_than_all_that_was_fed_at_each_step_is_sent_by_no_parser() -> None:
    answer = many(sent=[{"content": "x" * FREE_SENT}, {"content": "x" * 200}])
    assert read_replays(answer, [2], [17])
    with pytest.raises(ProtocolError, match="it sends more than 1,000,192 characters"):
        read_replays(answer, [2], [16])
