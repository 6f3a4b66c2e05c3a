"""A case with a recorded stream on the page: its chunks, what clients make of them, the server's stream beside ours."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.io import load_case
from parsers.cases.model import Case
from parsers.compare.beside import PLACED
from webapp.page.clients import CALLS_SHOWN, STRICT, client_views
from webapp.page.compare_sides import Replayed, replayed
from webapp.page.compare_state import Side
from webapp.page.form import Setup
from webapp.page.options import options
from webapp.page.recorded_form import as_recorded, chunks_of
from webapp.page.running import Run, Runner

Payload = dict[str, Any]
PARTIAL = {"HX-Request": "true"}


def chunk(delta: Payload, finish: str | None = None) -> Payload:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int | None = 0, id: str | None = None, **function: str) -> Payload:
    return chunk({"tool_calls": [{"index": index, "id": id, "function": function}]})


ROLE, END = chunk({"role": "assistant", "content": ""}), chunk({}, "tool_calls")
STREAM = [ROLE, chunk({"content": "Hi"}), call(0, "a", name="f", arguments=""), call(arguments='{"x": 1}'), END]
FAULTY = [*STREAM[:3], call(None, arguments='{"x": 1}'), chunk({}, "stop")]
TEXT = 'Hi<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'
DELTAS = [{"text": text} for text in ("", "Hi", TEXT[2:30], TEXT[30:], "")]


def case(stream: list[Payload] | None = None, parser: str = "auto", **given: Any) -> Case:
    known = {"stream": STREAM if stream is None else stream, **given}
    return load_case({"schema": 1, "parser": {"name": parser}, "input": known})


def log(stream: list[Payload]) -> str:
    return "".join([f"data: {json.dumps(payload)}\n\n" for payload in stream]) + "data: [DONE]\n\n"


@pytest.fixture
def shared(client: FlaskClient) -> Any:
    def share(found: Case) -> str:
        data = json.loads(found.model_dump_json(by_alias=True, exclude_defaults=True))
        return f"/c/{client.post('/api/v1/cases', json=data).get_json()['id']}"

    return share


def test_nobody_is_asked_to_search_other_chunkings_of_a_stream(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(case(parser="recorded"))).text
    assert "Find a failing one" not in page
    assert "no other chunking of it can fail" in page


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def pane(page: str, start: str, end: str = "</section>") -> str:
    return text_of(page.partition(start)[2].partition(end)[0])


# The page


def test_a_stream_alone_is_shown_chunk_by_chunk(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(case()) + "?step=2&result=wire").text
    said = text_of(page)
    assert "Every step is one chunk of the server." in said
    assert "These are the server's own chunks, as they were recorded." in said
    assert "nothing of it can be cut" in said
    assert "When the text arrived that the server sent is not known." in said
    assert "recorded stream (5 chunks)" in said
    assert "Compare with the server's stream" not in said
    assert "pytest file" not in said
    assert "Edit this format" not in page
    rows = [html.unescape(text_of(row)) for row in re.findall(r'<ol class="wire-rows">(.*?)</ol>', page, re.S)]
    assert '{"content": "", "role": "assistant"}' in rows[0].replace("\u00b7", " ")


def test_recorded_chunks_of_any_shape_are_shown_as_they_came(client: FlaskClient, shared: Any) -> None:
    odd = [ROLE, {"usage": {"total_tokens": 3}}, {"choices": "none"}, chunk({"content": "Hi"}, "stop")]
    odd.append({"choices": [{"index": 0, "delta": {}, "finish_reason": 7}]})
    page = client.get(shared(case(odd)) + "?result=wire&wire=sse").text
    events = re.search(r'<pre class="wire-text" id="wire-text">(.*?)</pre>', page, re.S)
    assert events is not None
    shown = html.unescape(re.sub(r"<[^>]+>", "", events[1])).split("\n\n")
    assert [json.loads(one.removeprefix("data: ")) for one in shown[:5]] == odd


def test_no_finish_reason_is_said_so(client: FlaskClient, shared: Any) -> None:
    assert "no finish reason" in text_of(client.get(shared(case(STREAM[:2]))).text)


def test_the_server_can_be_laid_beside_every_other_parser(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(case(text=TEXT)) + "?result=wire").text
    assert re.search(r'href="/c/\w+/compare\?b_parser=recorded"', page)
    own = client.get(shared(case(parser="recorded", text=TEXT)) + "?result=wire").text
    assert re.search(r'href="/c/\w+/compare\?a_parser=auto&amp;b_parser=recorded"', own)


def test_a_run_that_was_never_shared_posts_its_comparison(client: FlaskClient) -> None:
    source = json.loads(case(text=TEXT).model_dump_json(by_alias=True, exclude_defaults=True))
    page = client.post("/run", data={"text": json.dumps(source)}).text
    assert re.search(r'formaction="/compare"[^>]*value="b_parser=recorded"', page)
    carried = html.unescape(re.search(r'name="case" value="([^"]*)"', page)[1])  # type: ignore[index]
    answer = client.post("/compare", data={"case": carried, "go": "b_parser=recorded"})
    assert "recorded, placed by what it sends, as recorded" in text_of(answer.text)


def test_a_pasted_log_is_played_and_another_parser_of_it_is_refused_at_its_field(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": log(STREAM)})
    assert page.status_code == 200
    assert "Every step is one chunk of the server." in text_of(page.text)
    refused = client.post("/run", data={"text": log(STREAM), "parser": "qwen"})
    assert refused.status_code == 422
    assert "nothing for qwen to parse: use the parser recorded" in text_of(refused.text)
    char = client.post("/run", data={"text": log(STREAM), "chunking": "char"})
    assert "under no other chunking" in text_of(char.text)


def test_a_stream_cannot_be_cut_whatever_is_asked(client: FlaskClient, shared: Any) -> None:
    address = shared(case(parser="recorded", deltas=DELTAS))
    assert "nothing of it can be cut" in text_of(client.get(address + "?cut=5").text)
    assert client.get(address + "?chunk=char").status_code == 200


def test_what_was_sent_and_what_came_with_it_are_shown_though_nobody_says_what_became_of_what(
    client: FlaskClient, shared: Any
) -> None:
    page = client.get(shared(case(parser="recorded", deltas=DELTAS)) + "?step=3&result=final").text
    assert "run role-unknown" in page
    said = text_of(page)
    assert "the parser does not say" in said
    assert "5 tokens" in said
    result = pane(page, 'id="result"').replace("\u00b7", " ")
    assert "Hi" in result
    assert "key value schema x 1" in result


def test_expected_texts_of_several_lines_are_compared_as_text(client: FlaskClient, shared: Any) -> None:
    call = {"name": "f", "raw": '{"x":\n 1}'}
    expect = {"content": "Hi\nyou", "tool_calls": [call]}
    stream = [chunk({"content": "Hi\nyou"}), chunk({"tool_calls": [{"index": 0, "function": {"name": "f"}}]}), END]
    found = load_case({"schema": 1, "parser": {"name": "auto"}, "input": {"stream": stream}, "expect": expect})
    said = text_of(client.get(shared(found) + "?result=diff").text)
    assert "content same" in said
    assert "call 0 differs" in said


# What clients make of it


def test_three_clients_stand_beside_each_other(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(case(FAULTY)) + "?result=wire&wire=clients").text
    said = pane(page, 'class="clients"', 'class="wire-actions')
    assert said.count("breaks, gets 1 call") == 2
    assert "At step 4 : A part of a call has no index" in re.sub(r" ?\u00b7 ?", " ", said)
    assert 'data-step="4"' in page
    assert "by id gets 1 call, as the message has" in said
    assert "not the message's" in said


def test_clients_are_shown_for_every_parser(client: FlaskClient) -> None:
    page = client.get("/example/two-calls-with-prose?result=wire&wire=clients").text
    assert "gets 2 calls, as the message has" in pane(page, 'class="clients"', 'class="wire-actions')


def run_of(runner: Runner, found: Case) -> Run:
    return runner.run(found)


def test_the_strict_client_is_a_note_and_the_others_are_faults(runner: Runner) -> None:
    right = client_views(run_of(runner, case()).trace)
    assert [(view.severity, view.step) for view in right] == [("pass", None), ("pass", None), ("info", 4)]
    assert [view.note for view in right] == ["", "", STRICT]
    changed = [*STREAM[:3], call(0, "b", arguments='{"x": 1}'), END]
    by_id = client_views(run_of(runner, case(changed)).trace)[1]
    assert (by_id.severity, by_id.outcome) == ("error", "gets 2 calls")
    assert [made.differs for made in by_id.calls] == [True, True]


def test_many_calls_are_counted_and_none_at_all_is_said(runner: Runner) -> None:
    many = [call(number, f"c{number}", name="f", arguments="{}") for number in range(CALLS_SHOWN + 3)]
    view = client_views(run_of(runner, case([*many, END])).trace)[0]
    assert (len(view.calls), view.more) == (CALLS_SHOWN, 3)
    nothing = client_views(run_of(runner, case([chunk({"content": "Hi"}, "stop")])).trace)[0]
    assert (nothing.outcome, nothing.calls) == ("gets 0 calls, as the message has", [])


# Side by side


def side(runner: Runner, found: Case, **words: str) -> Replayed:
    return replayed(runner, found, "b", Side(**words))


def test_a_side_plays_the_stream_on_the_texts_of_its_chunks(runner: Runner) -> None:
    found = side(runner, case(parser="qwen", deltas=DELTAS), parser="recorded")
    assert (found.errors, found.side.chunk, found.moved) == ({}, "recorded", True)
    assert [step.span.end for step in found.run.trace.steps] == [0, 2, 30, len(TEXT), len(TEXT), len(TEXT)]
    assert PLACED not in found.run.trace.reasons


@pytest.mark.parametrize(
    ("parser", "words"), [("qwen", {"parser": "recorded"}), ("recorded", {"mode": "text", "parser": "recorded"})]
)
def test_a_stream_without_texts_stands_where_the_parser_sends_the_same(
    runner: Runner, parser: str, words: dict[str, str]
) -> None:
    found = side(runner, case(parser=parser, text=TEXT), **words)
    assert found.run.trace.text == TEXT
    assert found.run.trace.reasons[-1] == PLACED
    assert found.words == "recorded, placed by what it sends, as recorded, markers by text"
    assert [step.span.end for step in found.run.trace.steps[:2]] == [0, 2]


def test_the_parser_beside_a_played_stream_reads_the_output(runner: Runner) -> None:
    found = side(runner, case(parser="recorded", text=TEXT), parser="auto")
    assert (found.errors, found.run.trace.parser, found.side.chunk) == ({}, "qwen", "token")
    assert found.run.trace.text == TEXT


@pytest.mark.parametrize(
    ("found", "words", "field", "message"),
    [
        (case(parser="qwen", text=TEXT), {"parser": "recorded", "chunk": "char"}, "chunk", "as it was recorded only"),
        (case(), {"parser": "qwen"}, "parser", "nothing for qwen to parse"),
        (case(parser="qwen", text=TEXT), {"parser": "recorded+fallback"}, "parser", "recorded"),
    ],
)
def test_what_a_side_cannot_do_with_a_stream_is_said_beside_its_control(
    runner: Runner, found: Case, words: dict[str, str], field: str, message: str
) -> None:
    assert message in side(runner, found, **words).errors[field]


def test_a_case_without_a_stream_has_none_to_play(runner: Runner, make: Any) -> None:
    assert "no recorded stream" in side(runner, make.case(TEXT), parser="recorded").errors["parser"]


def test_the_page_of_two_sides_offers_the_stream_and_says_where_they_part(client: FlaskClient, shared: Any) -> None:
    lost = [*STREAM[:3], chunk({}), END]
    address = shared(case(lost, parser="qwen", deltas=DELTAS))
    page = client.get(address + "/compare?b_parser=recorded").text
    assert "recorded stream (5 chunks)" in page
    said = text_of(page)
    assert "The calls differ." in said
    assert "First in tool_calls[0].arguments" in said


def test_a_stream_alone_beside_itself_is_the_same_message(client: FlaskClient, shared: Any) -> None:
    assert "The same message on both sides." in text_of(client.get(shared(case()) + "/compare").text)


# The form


def test_the_form_offers_the_stream_where_there_is_one() -> None:
    assert not chunks_of(Setup())
    offered = {option.value: option.words for option in options(Setup(chunks=1), {}).parsers}
    assert offered["recorded"] == "recorded stream (1 chunk)"
    assert "recorded" not in {option.value for option in options(Setup(), {}).parsers}


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"input": {"stream": []}, "parser": {"name": "auto"}, "replay": [{"by": "token"}]}, False),
        ({"input": {"text": "a"}, "parser": {"name": "recorded"}, "replay": [{"by": "token"}]}, False),
        ({"input": {"text": "a"}, "parser": {"name": "auto"}, "replay": [{"by": "token"}]}, True),
        ({"input": {"stream": []}, "parser": {"name": "auto"}, "replay": [{"by": "char"}]}, True),
    ],
)
def test_the_usual_chunking_of_the_form_is_none_of_a_played_stream(data: dict[str, Any], kept: bool) -> None:
    as_recorded(data)
    assert ("replay" in data) == kept
