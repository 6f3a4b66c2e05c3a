"""A case with a recorded stream on the page."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import load_case
from tests.webapp.page.streams import DELTAS, END, ROLE, STREAM, TEXT, chunk, log, stream_case


@pytest.fixture
def shared(client: FlaskClient) -> Any:
    def share(found: Case) -> str:
        data = json.loads(found.model_dump_json(by_alias=True, exclude_defaults=True))
        return f"/c/{client.post('/api/v1/cases', json=data).get_json()['id']}"

    return share


def test_nobody_is_asked_to_search_other_chunkings_of_a_stream(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(parser="recorded"))).text
    assert "Find a failing one" not in page
    assert "no other chunking of it can fail" in page


def words_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def pane(page: str, start: str, end: str = "</section>") -> str:
    return words_of(page.partition(start)[2].partition(end)[0])


def test_a_stream_alone_is_shown_chunk_by_chunk(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case()) + "?step=2&result=wire").text
    said = words_of(page)
    assert "Every step is one chunk of the server." in said
    assert "These are the server's own chunks, as they were recorded." in said
    assert "nothing of it can be cut" in said
    assert "When the text arrived that the server sent is not known." in said
    assert "recorded stream (5 chunks)" in said
    assert "Compare with the server's stream" not in said
    assert "pytest file" not in said
    assert "Edit this format" not in page
    rows = [html.unescape(words_of(row)) for row in re.findall(r'<ol class="wire-rows">(.*?)</ol>', page, re.S)]
    assert '{"content": "", "role": "assistant"}' in rows[0].replace("\u00b7", " ")


def test_recorded_chunks_of_any_shape_are_shown_as_they_came(client: FlaskClient, shared: Any) -> None:
    odd = [ROLE, {"usage": {"total_tokens": 3}}, {"choices": "none"}, chunk({"content": "Hi"}, "stop")]
    odd.append({"choices": [{"index": 0, "delta": {}, "finish_reason": 7}]})
    page = client.get(shared(stream_case(odd)) + "?result=wire&wire=sse").text
    events = re.search(r'<pre class="wire-text" id="wire-text">(.*?)</pre>', page, re.S)
    assert events is not None
    shown = html.unescape(re.sub(r"<[^>]+>", "", events[1])).split("\n\n")
    assert [json.loads(one.removeprefix("data: ")) for one in shown[:5]] == odd


def test_no_finish_reason_is_said_so(client: FlaskClient, shared: Any) -> None:
    assert "no finish reason" in words_of(client.get(shared(stream_case(STREAM[:2]))).text)


def test_the_server_can_be_laid_beside_every_other_parser(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(text=TEXT)) + "?result=wire").text
    assert re.search(r'href="/c/\w+/compare\?b_parser=recorded"', page)
    own = client.get(shared(stream_case(parser="recorded", text=TEXT)) + "?result=wire").text
    assert re.search(r'href="/c/\w+/compare\?a_parser=auto&amp;b_parser=recorded"', own)


def test_a_run_that_was_never_shared_posts_its_comparison(client: FlaskClient) -> None:
    source = json.loads(stream_case(text=TEXT).model_dump_json(by_alias=True, exclude_defaults=True))
    page = client.post("/run", data={"text": json.dumps(source)}).text
    assert re.search(r'formaction="/compare"[^>]*value="b_parser=recorded"', page)
    carried = html.unescape(re.search(r'name="case" value="([^"]*)"', page)[1])  # type: ignore[index]
    answer = client.post("/compare", data={"case": carried, "go": "b_parser=recorded"})
    assert "recorded, placed by what it sends, as recorded" in words_of(answer.text)


def test_a_pasted_log_is_played_and_another_parser_of_it_is_refused_at_its_field(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": log(STREAM)})
    assert page.status_code == 200
    assert "Every step is one chunk of the server." in words_of(page.text)
    refused = client.post("/run", data={"text": log(STREAM), "parser": "qwen"})
    assert refused.status_code == 422
    assert "nothing for qwen to parse: use the parser recorded" in words_of(refused.text)
    char = client.post("/run", data={"text": log(STREAM), "chunking": "char"})
    assert "under no other chunking" in words_of(char.text)


def test_a_stream_cannot_be_cut_whatever_is_asked(client: FlaskClient, shared: Any) -> None:
    address = shared(stream_case(parser="recorded", deltas=DELTAS))
    assert "nothing of it can be cut" in words_of(client.get(address + "?cut=5").text)
    assert client.get(address + "?chunk=char").status_code == 200


def test_what_was_sent_and_what_came_with_it_are_shown_though_nobody_says_what_became_of_what(
    client: FlaskClient, shared: Any
) -> None:
    page = client.get(shared(stream_case(parser="recorded", deltas=DELTAS)) + "?step=3&result=final").text
    assert "run role-unknown" in page
    said = words_of(page)
    assert "the parser does not say" in said
    assert "5 tokens" in said
    result = pane(page, 'id="result"').replace("\u00b7", " ")
    assert "Hi" in result
    assert "key value x 1" in result


def test_expected_texts_of_several_lines_are_compared_as_text(client: FlaskClient, shared: Any) -> None:
    call = {"name": "f", "raw": '{"x":\n 1}'}
    expect = {"content": "Hi\nyou", "tool_calls": [call]}
    stream = [chunk({"content": "Hi\nyou"}), chunk({"tool_calls": [{"index": 0, "function": {"name": "f"}}]}), END]
    found = load_case({"schema": 1, "parser": {"name": "auto"}, "input": {"stream": stream}, "expect": expect})
    said = words_of(client.get(shared(found) + "?result=diff").text)
    assert "content same" in said
    assert "call 0 differs" in said
