"""A format as rows with ids, as a table, as Mermaid text, and as the graph that is drawn."""

from __future__ import annotations

import re
from typing import Any

import pytest

from parsers.formats.diagram import END, MOST_NODES, diagram, mermaid, rows_table, walked
from parsers.formats.layout import NOTHING_DRAWN
from parsers.formats.model import Format, Policy, builtin_formats, guard_holds, load_format, row_ids
from tests.amount import every

PRE, V11 = {"mistral_version": ["pre_v11"]}, {"mistral_version": ["v11"]}


def make(states: dict[str, Any], **changes: Any) -> Format:
    data = {"schema": 1, "name": "made", "title": "Made", "initial": next(iter(states), "NONE"), "states": states}
    return load_format(data | {"terminals": {"OPEN": "<call>", "CLOSE": "</call>"}} | changes)


CONTENT = [{"on": "OPEN", "to": "CALL", "emit": ["CallStart"], "note": "A call."}, {"on": "END", "to": "CONTENT"}]
CALL = [
    {"on": "CLOSE", "to": "CONTENT", "emit": ["CallEnd"], "when": PRE},
    {"on": "CLOSE", "to": "CALL", "when": V11, "diagnostic": "odd"},
    {"on": "DONE", "to": "CONTENT"},
    {"on": "END", "to": "CALL", "emit": ["CallEnd"]},
]
FORMAT = make({"CONTENT": {"rows": CONTENT}, "CALL": {"rows": CALL}}, initial_when_reasoning_open="CALL")


def edges(fmt: Format, policy: dict[str, str] | None = None) -> dict[tuple[str, str], str]:
    return {(edge.source, edge.target): edge.label for edge in diagram(fmt, policy).edges}


def test_rows_are_counted_through_all_states() -> None:
    ids = row_ids(FORMAT)
    assert ids["CONTENT", 0] == "r0"
    assert ids["CALL", 0] == "r2"
    assert list(ids.values()) == [f"r{number}" for number in range(6)]


def test_a_guard_holds_when_every_policy_it_names_has_one_of_its_values() -> None:
    row = FORMAT.states["CALL"].rows[0]
    assert guard_holds(row, {"mistral_version": "pre_v11"})
    assert not guard_holds(row, {"mistral_version": "v11"})
    assert not guard_holds(row, {})
    assert guard_holds(FORMAT.states["CONTENT"].rows[0], {})


def test_policies_are_the_formats_own_unless_another_value_is_asked_for() -> None:
    own = FORMAT.model_copy(update={"policy": Policy(mistral_version="v11")})
    assert edges(own, {}) == edges(FORMAT, {"mistral_version": "v11"})
    assert edges(own, {"mistral_version": "pre_v11"}) == edges(FORMAT, {"mistral_version": "pre_v11"})


def test_the_table_has_a_line_per_row_with_the_terminals_text() -> None:
    table = rows_table(FORMAT)
    assert [(line.id, line.state, line.trigger, line.text, line.to) for line in table[:3]] == [
        ("r0", "CONTENT", "OPEN", "<call>", "CALL"),
        ("r1", "CONTENT", "END", None, "CONTENT"),
        ("r2", "CALL", "CLOSE", "</call>", "CONTENT"),
    ]
    assert (table[0].emit, table[0].keep, table[0].note, table[0].when) == (("CallStart",), "drop", "A call.", "")
    assert (table[3].when, table[3].diagnostic) == ("mistral_version: v11", "odd")


def test_parallel_rows_are_one_edge_and_end_rows_lead_to_the_end() -> None:
    assert edges(FORMAT) == {
        ("CONTENT", "CALL"): "<call>",
        ("CONTENT", END): "end",
        ("CALL", "CONTENT"): "</call> +1",
        ("CALL", "CALL"): "</call>",
        ("CALL", END): "end",
    }


def test_rows_whose_guard_does_not_hold_are_left_out() -> None:
    assert edges(FORMAT, {"mistral_version": "v11"})["CALL", "CONTENT"] == "done"
    assert ("CALL", "CALL") not in edges(FORMAT, {"mistral_version": "pre_v11"})
    assert edges(FORMAT, {})["CALL", "CONTENT"] == "done"


def test_a_state_called_end_is_not_the_end_of_the_output() -> None:
    fmt = make({"CONTENT": {"rows": [{"on": "OPEN", "to": "END"}, {"on": "END", "to": "CONTENT"}]}, "END": {}})
    assert [(node.name, node.end) for node in diagram(fmt).nodes] == [
        ("CONTENT", False),
        ("END", False),
        ("(END)", True),
    ]
    assert edges(fmt) == {("CONTENT", "END"): "<call>", ("CONTENT", "(END)"): "end"}


@pytest.mark.parametrize(
    ("states", "initial", "nodes"),
    [
        ({}, "NONE", []),
        ({"A": {}}, "NONE", ["A"]),
        ({"A": {"rows": [{"on": "OPEN", "to": "NOWHERE"}]}}, "A", ["A"]),
        ({"A": {"rows": [{"on": "END", "to": "NOWHERE"}]}}, "A", ["A", "END"]),
    ],
)
def test_a_broken_format_is_drawn_as_far_as_it_goes(states: dict[str, Any], initial: str, nodes: list[str]) -> None:
    assert [node.name for node in diagram(make(states, initial=initial)).nodes] == nodes


@pytest.mark.parametrize(("many", "label"), [(1, "<|tool_ca…_begin|>"), (7, "<|tool…gin|>")])
def test_a_long_marker_beside_an_edge_is_cut_the_shorter_the_less_room_there_is(many: int, label: str) -> None:
    states: dict[str, Any] = {f"S{at}": {} for at in range(1, many)}
    states["CONTENT"] = {"rows": [{"on": "OPEN", "to": "CONTENT"}]}
    fmt = make(states, terminals={"OPEN": "<|tool_calls_begin|>"})
    assert edges(fmt) == {("CONTENT", "CONTENT"): label}


def test_mermaid_has_a_line_per_start_and_row() -> None:
    assert mermaid(FORMAT).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> CONTENT",
        "    [*] --> CALL",
        "    CONTENT --> CALL : r0 OPEN / CallStart",
        "    CONTENT --> [*] : r1 END",
        "    CALL --> CONTENT : r2 CLOSE / CallEnd when mistral_version is pre_v11",
        "    CALL --> CALL : r3 CLOSE when mistral_version is v11",
        "    CALL --> CONTENT : r4 DONE",
        "    CALL --> [*] : r5 END / CallEnd",
    ]


def test_mermaid_does_not_take_a_state_for_a_statement() -> None:
    fmt = make({"Note": {"rows": [{"on": "END", "to": "Note"}]}, "NOTES": {}})
    assert mermaid(fmt).splitlines()[1:] == [
        '    state "Note" as Note_',
        "    [*] --> Note_",
        "    Note_ --> [*] : r0 END",
    ]


def test_mermaid_names_no_two_states_alike() -> None:
    fmt = make({"Note": {}, "Note_": {"rows": [{"on": "END", "to": "Note"}]}})
    assert mermaid(fmt).splitlines()[1:3] == ['    state "Note" as Note__', "    [*] --> Note__"]


def test_no_text_of_a_user_can_break_out_of_a_mermaid_line() -> None:
    row = {"on": "a:b;c\n--> [*] : x %%", "to": "A", "when": {"recovery": ["{}<b>#quot;"]}}
    lines = mermaid(make({"A": {"rows": [row]}})).splitlines()
    assert len(lines) == 3
    assert re.fullmatch(r"    A --> A : [\w ,/.\-]+", lines[2])


@pytest.mark.replays
@pytest.mark.parametrize("name", every(8, builtin_formats()))
def test_every_built_in_format_has_all_its_rows_in_every_view(name: str) -> None:
    fmt = builtin_formats()[name]
    ids = list(row_ids(fmt).values())
    assert [line.id for line in rows_table(fmt)] == ids
    assert sorted(row for edge in diagram(fmt).edges for row in edge.rows) == sorted(ids)
    assert re.findall(r" : (r\d+) ", mermaid(fmt)) == ids


def walk(fmt: Format, times: dict[str, int]) -> tuple[list[str], dict[tuple[str, str], str]]:
    drawn = walked(fmt, times)
    return [node.name for node in drawn.nodes], {(edge.source, edge.target): edge.label for edge in drawn.edges}


@pytest.mark.parametrize(("states", "rows"), [(MOST_NODES, 1), (20, 20)])
def test_what_no_eye_would_follow_is_not_drawn(states: int, rows: int) -> None:
    names = [f"S{number}" for number in range(states)]
    table = [{"on": f"T{n}", "to": names[n]} for n in range(rows)]
    many = {name: {"rows": [*table, {"on": "END", "to": name}]} for name in names}
    drawing = diagram(make(many, terminals={f"T{n}": f"<{n}>" for n in range(rows)}))
    assert drawing is NOTHING_DRAWN


def test_a_walk_shows_the_rows_that_fired_with_what_they_read_and_how_often() -> None:
    names, drawn = walk(FORMAT, {"r0": 2, "r2": 1, "r4": 1200, "r1": 1, "r5": 0})
    assert names == ["CONTENT", "CALL", END]
    assert drawn == {
        ("CONTENT", "CALL"): "<call> × 2",
        ("CALL", "CONTENT"): "</call> done × 1,201",
        ("CONTENT", END): "end × 1",
    }


def test_a_walk_through_nothing_is_the_first_state() -> None:
    assert walk(FORMAT, {}) == (["CONTENT"], {})


def test_a_walk_may_begin_in_another_state() -> None:
    names, drawn = walk(FORMAT, {"r3": 1})
    assert (names, drawn) == (["CALL"], {("CALL", "CALL"): "</call> × 1"})


def test_beside_an_edge_stand_two_short_texts_with_their_white_space() -> None:
    texts = {"A": "x" * 40, "B": "\n ", "C": "c", "D": "d"}
    rows = [{"on": name, "to": "TWO"} for name in texts]
    fmt = make({"END": {"rows": rows}, "TWO": {"rows": [{"on": "END", "to": "TWO"}]}}, terminals=texts)
    names, drawn = walk(fmt, dict.fromkeys(["r0", "r1", "r2", "r3", "r4"], 1))
    assert names == ["END", "TWO", "(END)"]
    assert drawn == {("END", "TWO"): f"{'x' * 9}…{'x' * 8} ⏎· +2 × 4", ("TWO", "(END)"): "end × 1"}
