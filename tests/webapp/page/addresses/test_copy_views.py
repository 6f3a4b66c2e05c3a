"""What copy buttons ask for is the whole value, whatever a pane folds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.corpus import case_data
from tests.webapp.page.addresses.test_live_views import OUTPUT

CASE = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": OUTPUT}, "replay": [{"by": "char"}]}


def copied(client: FlaskClient, what: str, case: dict[str, Any] = CASE, **query: Any) -> str:
    answer = client.post(f"/copy/{what}", data={"case": json.dumps(case)}, query_string=query)
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    return answer.text


@pytest.mark.parametrize(
    ("step", "content", "calls"), [(3, "Hi.", 0), (1, "H", 0), (None, "Hi.\n", 1), (999, "Hi.\n", 1)]
)
def test_a_message_is_copied_as_it_is_at_the_step(client: FlaskClient, step: Any, content: str, calls: int) -> None:
    message = json.loads(copied(client, "message", **({} if step is None else {"step": step})))
    assert (message["content"], len(message["tool_calls"])) == (content, calls)


def test_a_step_is_what_a_replay_prints_and_of_a_recording_its_chunk(client: FlaskClient) -> None:
    assert json.loads(copied(client, "step", step=2))["span"] == [1, 2]
    recorded = case_data("recorded/no-index")
    assert json.loads(copied(client, "step", recorded, step=1)) == recorded["input"]["stream"][0]


def test_a_machine_is_mermaid_and_the_chunking_of_the_address_counts(client: FlaskClient) -> None:
    assert copied(client, "machine").startswith("stateDiagram-v2\n")
    assert json.loads(copied(client, "step", step=1, chunk="whole"))["span"] == [0, len(OUTPUT)]


def test_nothing_else_is_copied(client: FlaskClient) -> None:
    assert client.get("/example/two-calls-with-prose/copy/other").status_code == 404
