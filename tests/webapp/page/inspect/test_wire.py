"""The wire view: chunks, event stream and the one object, of the window and no more, and the dialect of reasoning."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.wire.chunks import Dialect, Envelope
from tests.parsers.wire.client import Client, seen
from tests.webapp.page.streams import END, FAULTY, STREAM, call, chunk, stream_case
from webapp.page.inspect.index import TraceIndex, index_of
from webapp.page.inspect.result import (
    CALLS_SHOWN,
    CHUNKS_SHOWN,
    ITEMS_SHOWN,
    STRICT,
    TEXT_SHOWN,
    Wire,
    client_views,
    dialect_of,
    shortened,
    wire,
)
from webapp.page.inspect.window import STEPS_EACH_SIDE, window_around
from webapp.runs.runner import Run, Runner

CALL = '<think>Hm.</think>Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'
EXAMPLE = "/example/two-calls-with-prose"


def wire_of(index: TraceIndex, view: str = "chunks", step: int = 1, dialect: Dialect = "reasoning") -> Wire:
    return wire(index, window_around(index, step), step, view=view, envelope=Envelope("x", "m", 0, dialect), tokens=7)


def payloads(found: Wire) -> list[dict[str, Any]]:
    return [json.loads(row.event.removeprefix("data: ")) for row in found.rows]


@pytest.mark.parametrize("output", [CALL, "", "plain words"])
def test_the_rows_are_the_chunks_of_the_answer(make: Any, output: str) -> None:
    run = make.run(output)
    found = wire_of(index_of(run))
    assert Client().read(payloads(found)) == seen(run.trace.message)
    assert (found.whole, found.done, found.before, found.after) == (True, True, 0, 0)
    assert found.rows[-1].finish == run.trace.finish_reason
    assert [row.step for row in found.rows] == sorted(row.step for row in found.rows)


def test_a_row_and_the_envelope_make_the_chunk(make: Any) -> None:
    found = wire_of(index_of(make.run(CALL)))
    made = [json.loads(row.delta.join(found.envelope)) for row in found.rows[:-1]]
    assert made == payloads(found)[:-1]


def test_the_answer_in_one_piece(make: Any) -> None:
    run = make.run(CALL)
    found = wire_of(index_of(run), "response", dialect="reasoning_content")
    answer = json.loads("\n".join(found.response))
    message = answer["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("Hm.", run.trace.message.content)
    assert answer["usage"] == {"prompt_tokens": 0, "completion_tokens": 7, "total_tokens": 7}
    assert [event["type"] for event in answer["extensions"]["tool_call_chunks"]][::999] == ["start"]
    assert (found.whole, found.rows) == (True, [])


def test_only_the_steps_of_the_window_are_shown(make: Any) -> None:
    run = make.run("word " * 400, parser="passthrough")
    first, middle, last = (wire_of(index_of(run), step=step) for step in (1, 200, index_of(run).total))
    assert {row.step for row in middle.rows} == set(range(200 - STEPS_EACH_SIDE, 201 + STEPS_EACH_SIDE))
    assert [found.done for found in (first, middle, last)] == [False, False, True]
    assert not any(found.whole for found in (first, middle, last))
    roles = [payload["choices"][0]["delta"].get("role") for payload in payloads(first)]
    assert (roles[0], set(roles[1:])) == ("assistant", {None})
    assert "role" not in payloads(middle)[0]["choices"][0]["delta"]


@pytest.mark.replays
def test_a_step_that_sends_very_many_chunks_shows_some(make: Any) -> None:
    calls = CHUNKS_SHOWN
    output = '<tool_call>{"name": "f", "arguments": {}}</tool_call>' * calls
    run = make.run(output, replay=[{"by": "whole"}])
    first, last = wire_of(index_of(run)), wire_of(index_of(run), step=2)
    assert (len(first.rows), first.before, first.after) == (CHUNKS_SHOWN, 0, calls + 1)
    assert (len(last.rows), last.before, last.after, last.rows[-1].finish) == (CHUNKS_SHOWN, calls + 1, 0, "tool_calls")
    assert (first.done, last.done, first.whole, last.whole) == (False, True, False, False)


def test_a_very_long_chunk_keeps_its_two_ends(make: Any) -> None:
    run = make.run("word " * 900, parser="passthrough", replay=[{"by": "whole"}])
    found = wire_of(index_of(run))
    assert "2,5" in found.rows[0].delta
    assert len(found.rows[0].event) < TEXT_SHOWN + 100
    assert not found.whole


@pytest.mark.parametrize(
    ("view", "opening", "stop"),
    [("responses", "response.created", "completed"), ("messages", "message_start", "tool_use")],
)
def test_the_answer_as_another_api_streams_it_and_what_its_client_holds(
    make: Any, view: str, opening: str, stop: str
) -> None:
    index = index_of(make.run(CALL))
    first, last = (wire_of(index, view, step) for step in (1, index.total))
    assert (first.rows[0].delta, first.whole, first.api, first.stop, last.stop) == (opening, True, True, "", stop)
    assert [row.step for row in first.rows] == sorted([row.step for row in first.rows])
    kept = json.loads("\n".join(last.held))
    arguments = kept[-1].get("input") or json.loads(kept[-1]["arguments"])
    assert (kept[0]["text"], kept[1]["text"], arguments) == ("Hm.", "Hi.\n", {"a": "b c", "n": 3})
    assert len(json.loads("\n".join(first.held))) < len(kept)
    assert (first.broke, last.broke) == ("", "")


def test_only_the_events_of_the_window_are_shown(make: Any) -> None:
    run = make.run("word " * 400, parser="passthrough")
    middle = wire_of(index_of(run), "messages", step=200)
    assert {row.step for row in middle.rows} == set(range(200 - STEPS_EACH_SIDE, 201 + STEPS_EACH_SIDE))
    assert (middle.whole, middle.before, middle.after) == (False, 0, 0)


@pytest.mark.parametrize("view", ["responses", "messages"])
@pytest.mark.replays
def test_the_events_on_the_page_are_the_exported_ones(client: FlaskClient, view: str) -> None:
    page = client.get(f"{EXAMPLE}?dock=wire&wire={view}").text
    file = client.get(f"{EXAMPLE}/export/{view}")
    assert file.mimetype == "text/event-stream"
    assert text_of(page).split() == file.text.split()
    assert f'href="{EXAMPLE}/export/{view}"' in page


@pytest.mark.replays
def test_long_texts_and_lists_of_the_answer_are_shortened(make: Any) -> None:
    run = make.run("<think>" + "word " * 900, replay=[{"by": "char"}])
    found = wire_of(index_of(run), "response")
    answer = json.loads("\n".join(found.response))
    chunks = answer["extensions"]["reasoning_chunks"]
    assert len(chunks) == ITEMS_SHOWN + 1
    assert "more" in chunks[ITEMS_SHOWN // 2]
    assert len(answer["choices"][0]["message"]["reasoning"]) < TEXT_SHOWN + 50
    assert not found.whole


def test_what_is_short_stays_as_it_is() -> None:
    data = {"a": ["x" * TEXT_SHOWN] * ITEMS_SHOWN, "b": None, "c": 3}
    assert shortened(data) == data
    assert shortened("x" * TEXT_SHOWN) == "x" * TEXT_SHOWN


@pytest.mark.parametrize(
    ("name", "dialect"), [("", "reasoning"), ("nonsense", "reasoning"), ("reasoning_content", "reasoning_content")]
)
def test_a_dialect_is_one_of_two(name: str, dialect: str) -> None:
    assert dialect_of(name) == dialect


def text_of(page: str) -> str:
    found = re.search(r'<pre class="wire-text" id="wire-text">(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


def test_the_event_stream_on_the_page_is_the_exported_one(client: FlaskClient) -> None:
    page = client.get(f"{EXAMPLE}?result=wire&wire=sse&dialect=reasoning_content").text
    file = client.get(f"{EXAMPLE}/export/sse?dialect=reasoning_content")
    assert file.mimetype == "text/event-stream"
    assert 'filename="' in file.headers["Content-Disposition"]
    shown, exported = (
        [
            line if line.endswith("[DONE]") else json.loads(line.removeprefix("data: "))
            for line in text.split("\n\n")[:-1]
        ]
        for text in (text_of(page), file.text)
    )
    assert shown == exported
    assert f'href="{EXAMPLE}/export/sse?dialect=reasoning_content"' in page


def test_the_choices_are_links_that_keep_where_the_reader_is(client: FlaskClient) -> None:
    page = html.unescape(client.get(f"{EXAMPLE}?step=9&result=wire&machine=table&wire=sse").text)
    assert f'href="{EXAMPLE}?step=9&machine=table&dock=wire&wire=sse&dialect=reasoning_content"' in page
    assert f'href="{EXAMPLE}?step=9&machine=table&dock=wire&wire=response"' in page
    assert '<input type="hidden" name="wire" value="sse" data-view="wire" data-changed="1">' in page
    assert '<input type="hidden" name="dialect" value="reasoning" data-view="dialect">' in page


def test_without_an_address_the_choices_post_the_form_again(client: FlaskClient, make: Any) -> None:
    case = make.case(CALL).model_dump_json(by_alias=True, exclude_defaults=True)
    page = html.unescape(
        client.post("/run", data={"case": case, "result": "wire", "dialect": "reasoning_content"}).text
    )
    assert 'value="dock=wire&wire=sse&dialect=reasoning_content"' in page
    assert '"reasoning_content": "H' in page
    assert 'formaction="/export/sse"' in page
    file = client.post("/export/sse", data={"case": case, "dialect": "reasoning_content"}).text
    assert '"reasoning_content":"H' in file


def test_the_one_object_is_built_only_when_it_is_asked_for(client: FlaskClient) -> None:
    page = client.get(f"{EXAMPLE}?result=wire&wire=response").text
    assert json.loads(text_of(page))["object"] == "chat.completion"
    assert "chat.completion.chunk" not in page
    assert 'data-copy-text="wire-text"' in page


@pytest.fixture
def shared(client: FlaskClient) -> Any:
    def share(found: Case) -> str:
        data = json.loads(found.model_dump_json(by_alias=True, exclude_defaults=True))
        return f"/c/{client.post('/api/v1/cases', json=data).get_json()['id']}"

    return share


def words_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def pane(page: str, start: str, end: str = "</section>") -> str:
    return words_of(page.partition(start)[2].partition(end)[0])


def test_three_clients_stand_beside_each_other(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(FAULTY)) + "?result=wire&wire=clients").text
    said = pane(page, 'class="clients"', 'class="wire-actions')
    assert said.count("breaks, gets 1 call") == 2
    assert "At chunk 4 : A part of a call has no index" in re.sub(r" ?\u00b7 ?", " ", said)
    assert 'data-step="4"' in page
    assert "by id gets 1 call, as the message has" in said
    assert "not the message's" in said


def test_clients_are_shown_for_every_parser(client: FlaskClient) -> None:
    page = client.get("/example/two-calls-with-prose?result=wire&wire=clients").text
    assert "gets 2 calls, as the message has" in pane(page, 'class="clients"', 'class="wire-actions')


def run_of(runner: Runner, found: Case) -> Run:
    return runner.run(found)


def test_the_strict_client_is_a_note_and_the_others_are_faults(runner: Runner) -> None:
    right = client_views(run_of(runner, stream_case()).trace)
    assert [(view.severity, view.result.step) for view in right] == [("pass", None), ("pass", None), ("info", 4)]
    assert [view.note for view in right] == ["", "", STRICT]
    changed = [*STREAM[:3], call(0, "b", arguments='{"x": 1}'), END]
    by_id = client_views(run_of(runner, stream_case(changed)).trace)[1]
    assert (by_id.severity, by_id.outcome) == ("error", "gets 2 calls")
    assert [differs for _, _, differs in by_id.calls] == [True, True]


def test_many_calls_are_counted_and_none_at_all_is_said(runner: Runner) -> None:
    many = [call(number, f"c{number}", name="f", arguments="{}") for number in range(CALLS_SHOWN + 3)]
    view = client_views(run_of(runner, stream_case([*many, END])).trace)[0]
    assert (len(view.calls), view.more) == (CALLS_SHOWN, 3)
    nothing = client_views(run_of(runner, stream_case([chunk({"content": "Hi"}, "stop")])).trace)[0]
    assert (nothing.outcome, nothing.calls) == ("gets 0 calls, as the message has", [])
