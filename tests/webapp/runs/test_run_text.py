"""A run as JSON text: the pieces are the object, parts of it are what they are in the whole, memory stays flat."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases import run as runs
from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, run_json
from parsers.vocabulary.trace import Step, Trace
from webapp.runs.run_text import PIECE, STEP_KEYS, Part, json_lines, json_text
from webapp.runs.runner import Runner
from webapp.settings import get_settings

CALL = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
LINE_ENDS = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh\ni"


def run_of(text: str, **keys: Any) -> CaseRun:
    data = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "tokenizer": {"name": "characters"}}
    return Runner(get_settings(), keep=False).run_checked(load_case({**data, **keys}))


KEYS = frozenset(run_json(run_of("")))


@pytest.fixture(scope="module")
def run() -> CaseRun:
    return run_of(CALL * 3)


@pytest.fixture(scope="module")
def whole(run: CaseRun) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(run_json(run)))
    return found


@pytest.mark.replays
@pytest.mark.parametrize("text", ["", "a", CALL, CALL * 30, LINE_ENDS])
def test_the_text_in_pieces_is_that_of_run_json(text: str) -> None:
    run = run_of(text)
    written = "".join(json_text(run))
    assert written.endswith("}\n")
    assert json.loads(written) == json.loads(json.dumps(run_json(run)))
    assert list(json.loads(written)) == list(run_json(run))


def test_the_summary_stands_before_what_grows_with_the_output(whole: dict[str, Any]) -> None:
    sizes = {key: len(json.dumps(value)) for key, value in whole.items()}
    assert list(whole)[-2:] == ["deltas", "steps"]
    assert sizes["steps"] > 3 * sum(size for key, size in sizes.items() if key not in STEP_KEYS)


@given(keys=st.sets(st.sampled_from(sorted(KEYS))), ends=st.tuples(*[st.integers(0, 250)] * 2))
@pytest.mark.replays
def test_a_part_is_what_it_is_in_the_whole(
    run: CaseRun, whole: dict[str, Any], keys: set[str], ends: tuple[int, int]
) -> None:
    part = Part(frozenset(keys), range(*ends))
    wanted = {key: value[slice(*ends)] if key in STEP_KEYS else value for key, value in whole.items() if key in keys}
    found = json.loads("".join(json_text(run, part)))
    assert (found, list(found)) == (wanted, list(wanted))
    head, *rows = map(json.loads, "".join(json_lines(run, part)).splitlines())
    assert head == {key: value for key, value in wanted.items() if key not in STEP_KEYS}
    assert rows == (whole["steps"][slice(*ends)] if STEP_KEYS & keys else [])


def test_no_text_of_an_output_ends_a_line_for_any_reader() -> None:
    run = run_of(LINE_ENDS)
    rows = "".join(json_lines(run, Part(KEYS))).splitlines()
    assert len(rows) == 1 + len(run.trace.steps)
    assert "".join([json.loads(row)["text"] for row in rows[1:]]) == LINE_ENDS


def test_lines_that_take_more_than_they_may_end_with_one_that_says_so() -> None:
    run = run_of("one two three")
    whole = "".join(json_lines(run, Part(KEYS))).splitlines()
    cut = "".join(json_lines(run, Part(KEYS), len(f"{whole[1]}\n{whole[2]}\n".encode()))).splitlines()
    assert cut[:3] == whole[:3]
    assert len(cut) == 4
    assert "ask for those from 3 on by themselves" in json.loads(cut[3])["error"]


@pytest.mark.replays
@pytest.mark.parametrize("write", [json_text, json_lines])
def test_steps_are_made_as_their_pieces_are_read(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of("word " * 500)
    made: list[int] = []
    step_json = runs.step_json

    def counted(trace: Trace, step: Step) -> dict[str, Any]:
        made.append(step.index)
        return step_json(trace, step)

    monkeypatch.setattr(runs, "step_json", counted)
    seen = [(len(piece), len(made)) for piece in write(run, Part(KEYS))]
    assert 0 < min(seen)[0] < max(seen)[0] < PIECE + 20_000
    assert max(after - before for (_, before), (_, after) in pairwise([(0, 0), *seen])) <= PIECE // 130
    assert seen[-1][1] == len(run.trace.steps) > 2_000


@pytest.mark.parametrize("text", ["", "a", "ab " * 50, CALL])
def test_a_run_takes_at_least_the_bytes_that_are_foreseen(text: str) -> None:
    run = run_of(text)
    for part in (Part(frozenset({"steps"})), Part(frozenset({"steps"}), range(1, 40))):
        written = len("".join(json_text(run, part)).encode())
        assert written / 9 - 20 <= part.least_bytes(len(run.trace.steps)) <= written
    assert Part(frozenset({"message", "deltas"})).least_bytes(1_000) == 0
