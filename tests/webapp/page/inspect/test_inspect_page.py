"""The page that the panes make."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.webapp.page.conftest import Make
from webapp.page.form.setup import case_line
from webapp.page.inspect.index import index_of
from webapp.page.inspect.inspect_page import Links, View, ViewState, interesting_step, replay_page
from webapp.page.search.search_page import Search, SearchPanes, search_panes

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'
WRAPPED_CALL = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"


def test_a_page_starts_where_there_is_something_to_see(make: Any, runner: Any) -> None:
    cut = make.run('<tool_call>{"name": "f", "arguments": {"a": "b')
    assert interesting_step(index_of(cut), []) == index_of(cut).total
    warned = make.run(CALL, tools=[{"name": "g"}])
    steps = [found.step for found in runner.checked(warned).findings if found.step]
    idle = SearchPanes(Search("idle", automatic=True))
    assert replay_page(View(warned, warned, ViewState()), idle, Links("/x", ViewState())).cursor.step == min(steps)


def test_a_page_without_report_says_so(make: Any) -> None:
    run = make.run(CALL)
    page = replay_page(
        View(run, run, ViewState()), SearchPanes(Search("idle", automatic=True)), Links("/x", ViewState())
    )
    assert (page.checked.verdict, page.checked.quick, page.links.posted) == (None, None, False)
    assert json.loads(page.cursor.jumps)["emission"] == list(index_of(run).emissions)


@pytest.mark.replays
def test_a_posted_form_runs_behind_the_wrapper_and_shows_its_table(client: FlaskClient) -> None:
    fields = {"text": WRAPPED_CALL, "parser": "auto", "model_type": "Qwen3ForCausalLM", "wrapper": "1"}
    answer = client.post("/run", data=fields)
    assert answer.status_code == 200
    assert re.search(r'name="wrapper"[^>]* checked', answer.text)
    assert 'value="Qwen3ForCausalLM"' in answer.text
    for words in ("BUFFERING", "CANDIDATE_END", "TRY_QWEN_CODER", "behind the fallback wrapper"):
        assert words in answer.text
    again = client.post("/run", data={key: value for key, value in fields.items() if key != "wrapper"})
    assert "CANDIDATE_END" not in again.text


@pytest.mark.replays
def test_a_page_about_a_wrapped_run_can_be_drawn_at_every_step(make: Make) -> None:
    plain = make.case(WRAPPED_CALL)
    wrapped = plain.model_copy(update={"parser": plain.parser.model_copy(update={"engine": "fallback"})})
    run = make.runner.run(wrapped)
    panes = search_panes(run, make.runner.checked(run), Search("idle", automatic=True), None, case_line)
    for step in range(1, len(run.trace.steps) + 1):
        page = replay_page(View(run, run, ViewState(step=step)), panes, Links(None, ViewState(), case_line(run.case)))
        assert page.cursor.step == step


def drawn(make: Any, text: str, **more: Any) -> set[str]:
    """The boxes of the diagram that a page shows."""
    run = make.run(text, **more)
    page = replay_page(
        View(run, run, ViewState()), SearchPanes(Search("idle", automatic=True)), Links("/x", ViewState())
    )
    assert sum(page.machine.times[row.id] for row in page.machine.rows) == sum(page.machine.times.values())
    return {node.name for node in page.machine.drawing.nodes}


@pytest.mark.replays
def test_what_layers_add_is_drawn_where_it_fired(make: Any) -> None:
    forced = {"context": {"tool_choice": "required"}}
    assert {"GUIDED_CALL", "GUIDED_CALLS"} <= drawn(make, '[{"name": "f", "parameters": {}}]', **forced)
    assert "GUIDED_CALL" not in drawn(make, CALL, **forced)
    assert drawn(make, "<think>a <tool_call> b</think>c") == drawn(make, CALL)
