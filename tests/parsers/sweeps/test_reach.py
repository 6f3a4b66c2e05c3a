"""Which rows of a format a corpus reached, in how many outputs, and which it never did."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.written.corpus_rows import Wanted, corpus_rows
from parsers.cases.written.faults import FAULTS
from parsers.cases.written.generated import KIT
from parsers.replays.chunking import TRACED
from parsers.sweeps import reach as module
from parsers.sweeps.first_stage import read_whole
from parsers.sweeps.reach import Reached, Reaching
from parsers.sweeps.shard import BLANK, Plan, Requests
from parsers.sweeps.summary import Skip

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
COLUMNS = {"text": "output", "parser": "parser", "tools": "tools", "tool_choice": "tool_choice"}


def reached(*rows: Any, parser: str | None = "qwen", engine: str | None = None) -> Reached:
    named = None if parser is None else {"name": parser, **({} if engine is None else {"engine": engine})}
    found = Reaching(Plan(COLUMNS, named))
    assert found.take(enumerate(rows, 1)) == len([row for row in rows if row is not BLANK])
    return found.found


def fired(found: Reached, name: str = "qwen") -> dict[tuple[str, str], int]:
    return {(row.state, row.on): count for row, count in found.parsers[name].rows.items() if count}


def test_a_row_counts_the_outputs_in_which_it_fired() -> None:
    found = reached({"output": CALL + CALL}, BLANK, {"output": "It rains."}, {"output": CALL})
    assert found.parsers["qwen"].outputs == 3
    assert fired(found) == {
        ("CONTENT", "<tool_call>"): 2,
        ("CONTENT", "END"): 1,
        ("TOOL_CALL", "</tool_call>"): 2,
        ("AFTER_CALL", "<tool_call>"): 1,
        ("AFTER_CALL", "END"): 2,
    }
    never = found.parsers["qwen"].never
    assert {(row.state, row.on) for row in never}.isdisjoint(fired(found))
    assert [row.id for row in never] == sorted([row.id for row in never], key=lambda one: int(one[1:]))
    assert len(never) + len(fired(found)) == len(found.parsers["qwen"].rows)
    told = found.to_json()
    assert (told["parsers"][0]["never"], told["skipped"]) == (len(never), {})
    assert told["parsers"][0]["rows"][0] == {
        "id": "r0", "state": "CONTENT", "on": "<tool_call>", "to": "TOOL_CALL", "note": "", "outputs": 2,
    }  # fmt: skip


def test_rows_of_a_layer_are_missed_only_where_a_request_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 1)
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    forced = {"output": "It rains.", "tools": tools, "tool_choice": "required"}
    assert all(row.on != "GUIDED_LIST" for row in reached({"output": "It rains."}).parsers["qwen"].rows)
    rows = reached({"output": "It rains."}, forced, {"output": "It rains."}).parsers["qwen"].never
    assert "GUIDED_LIST" in {row.on for row in rows}


def test_our_own_parsers_tell_rows_and_no_lines() -> None:
    text, _, request = Requests(Plan(COLUMNS, {"name": "qwen"})).of({"output": CALL})
    assert request.replayer(text)[1].covered([TRACED]) == []


def test_what_is_no_output_or_has_no_rows_is_counted() -> None:
    found = reached(Skip.NOT_JSON, {"output": "x", "parser": "nonsense"}, {}, parser=None)
    assert (found.parsers, found.skipped) == ({}, {Skip.NOT_JSON: 1, Skip.REFUSED: 1, Skip.NO_OUTPUT: 1})
    assert found.to_json()["skipped"] == {"no_output": 1, "not_json": 1, "refused": 1}
    assert reached({"output": "x"}, engine="fallback").skipped == {Skip.REFUSED: 1}


@pytest.mark.replays
def test_every_chunking_reaches_the_same_rows() -> None:
    wanted = Wanted(("qwen", "mistral", "harmony"), 3, 0.5, 0.2, tuple(FAULTS), KIT)
    requests = Requests(Plan(COLUMNS))
    for row in corpus_rows(wanted, 0, 60):
        text, _, request = requests.of(row)
        _, replayer = request.replayer(text)
        whole = {move.row for move in read_whole(text, replayer, traced=True)[1]}
        steps = replayer.trace(TRACED).steps
        assert {move.row for step in steps for move in step.transitions} == whole, text
