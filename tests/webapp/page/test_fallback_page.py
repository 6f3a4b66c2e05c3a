"""The wrapper and the model's type in the page, without script."""

from __future__ import annotations

import json
import re

import pytest
from flask.testing import FlaskClient

from tests.webapp.page.conftest import Make
from webapp.page.form import case_line
from webapp.page.inspector import inspector
from webapp.page.search import Search
from webapp.page.search_panes import search_panes
from webapp.page.state import Links, ViewState

CALL = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"


def test_the_form_offers_model_id_model_type_and_the_wrapper(client: FlaskClient) -> None:
    html = client.get("/new").text
    assert all(f'name="{name}"' in html for name in ("model", "model_type", "wrapper"))
    assert not re.search(r'name="wrapper"[^>]* checked', html)


@pytest.mark.replays
def test_a_posted_form_runs_behind_the_wrapper_and_shows_its_table(client: FlaskClient) -> None:
    fields = {"text": CALL, "parser": "auto", "model_type": "Qwen3ForCausalLM", "wrapper": "1"}
    answer = client.post("/run", data=fields)
    assert answer.status_code == 200
    assert re.search(r'name="wrapper"[^>]* checked', answer.text)
    assert 'value="Qwen3ForCausalLM"' in answer.text
    for words in ("BUFFERING", "CANDIDATE_END", "TRY_QWEN_CODER", "behind the fallback wrapper"):
        assert words in answer.text
    again = client.post("/run", data={key: value for key, value in fields.items() if key != "wrapper"})
    assert "CANDIDATE_END" not in again.text


def test_options_that_are_wrong_are_told_in_words(client: FlaskClient) -> None:
    parser = {"name": "qwen", "engine": "fallback", "options": {"budget": -1}}
    line = json.dumps({"schema": 1, "parser": parser, "input": {"text": "x"}})
    answer = client.post("/run", data={"text": line})
    assert answer.status_code == 422
    assert "Input should be greater than or equal to 0; the wrapper&#39;s options are budget, line_start" in answer.text
    assert 'id="wrapper-error"' in answer.text


@pytest.mark.replays
def test_a_page_about_a_wrapped_run_can_be_drawn_at_every_step(make: Make) -> None:
    plain = make.case(CALL)
    wrapped = plain.model_copy(update={"parser": plain.parser.model_copy(update={"engine": "fallback"})})
    run = make.runner.run(wrapped)
    panes = search_panes(run, make.runner.report(run), Search("idle", automatic=True), None, case_line)
    for step in range(1, len(run.trace.steps) + 1):
        page = inspector(run, panes, Links(None, ViewState(step=step)), posted_case=case_line(run.case))
        assert page.step == step
