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


@pytest.mark.replays
def test_nobody_is_asked_to_cut_a_stream_or_to_search_its_chunkings(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(parser="recorded")) + "?dock=truncation").text
    assert "Find a failing one" not in page
    assert re.findall(r'data-tab="(\w+)"', page.partition('aria-label="Dock"')[2].partition("</nav>")[0]) == [
        "findings", "events", "watch", "wire",
    ]  # fmt: skip
    assert 'data-show="findings"' in page


def words_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def pane(page: str, start: str, end: str = "</section>") -> str:
    return words_of(page.partition(start)[2].partition(end)[0])


def test_a_stream_alone_is_shown_chunk_by_chunk(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case()) + "?step=2&result=wire").text
    said = words_of(page)
    assert "A recording has no state table" in said
    assert "UNKNOWN" not in page
    assert "These are the server's own chunks, as they were recorded." in said
    assert "When each chunk came was not recorded: chunks stand in order, evenly spaced." in said
    assert '<option value="recorded" selected>recorded</option>' in page
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


@pytest.mark.replays
def test_no_finish_reason_is_said_at_the_end_and_not_at_a_chunk_that_there_is_not(
    client: FlaskClient, shared: Any
) -> None:
    address = shared(stream_case(STREAM[:2]))
    for place in ("", "?step=1", "?step=3", "?step=end&dock=events", "?step=end&dock=wire", "?pins=3&dock=watch"):
        page = client.get(address + place).text
        assert "no finish reason at the end" in words_of(page)
        assert not re.search(r"(?i)\b(chunk|step) 3\b", words_of(page))


@pytest.mark.parametrize(
    ("asked", "field", "title"),
    [("2", "2", "chunk 2 of 5"), ("end", "end", "end of the stream"), ("99", "end", "end of the stream")],
)
def test_the_place_is_a_chunk_or_the_end(client: FlaskClient, shared: Any, asked: str, field: str, title: str) -> None:
    page = client.get(f"{shared(stream_case())}?step={asked}").text
    assert f'name="step" value="{field}"' in page
    assert words_of(page).split(" · ")[0].strip().endswith(f", {title}")
    assert "step=99" not in page


@pytest.mark.replays
def test_the_server_can_be_laid_beside_every_other_parser(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(text=TEXT)) + "?result=wire").text
    assert re.search(r'href="/c/\w+/compare\?a_parser=recorded"', page)
    own = client.get(shared(stream_case(parser="recorded", text=TEXT)) + "?result=wire").text
    assert re.search(r'href="/c/\w+/compare\?a_parser=recorded&amp;b_parser=qwen"', own)


def test_what_the_verdict_calls_an_error_is_one_in_the_pane_of_its_chunk(client: FlaskClient) -> None:
    left = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    page = client.post("/run", data={"text": log([*STREAM[:4], chunk({"content": left}), END])}).text
    assert 'data-severity="error"' in page
    assert re.findall(r'class="chunk-note severity-(\w+)"', page) == ["error"]


@pytest.mark.replays
def test_a_run_that_was_never_shared_posts_its_comparison(client: FlaskClient) -> None:
    source = json.loads(stream_case(text=TEXT).model_dump_json(by_alias=True, exclude_defaults=True))
    page = client.post("/run", data={"text": json.dumps(source)}).text
    assert re.search(r'formaction="/compare"[^>]*value="a_parser=recorded"', page)
    carried = html.unescape(re.search(r'name="case" value="([^"]*)"', page)[1])  # type: ignore[index]
    answer = client.post("/compare", data={"case": carried, "go": "a_parser=recorded"})
    assert "recorded, as recorded" in words_of(answer.text)


def test_a_pasted_log_is_played_and_another_parser_of_it_is_refused_at_its_field(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": log(STREAM)})
    assert page.status_code == 200
    assert "2 content Hi" in words_of(page.text).replace("\u00b7", " ")
    refused = client.post("/run", data={"text": log(STREAM), "parser": "qwen"})
    assert refused.status_code == 422
    assert "nothing for qwen to parse: use the parser recorded" in words_of(refused.text)
    char = client.post("/run", data={"text": log(STREAM), "chunking": "char"})
    assert "under no other chunking" in words_of(char.text)


def test_a_stream_cannot_be_cut_whatever_is_asked(client: FlaskClient, shared: Any) -> None:
    address = shared(stream_case(parser="recorded", deltas=DELTAS))
    assert client.get(address + "?cut=5").status_code == 200
    assert client.get(address + "?chunk=char").status_code == 200


def test_what_was_sent_and_what_came_with_it_are_shown_beside_each_other(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(parser="recorded", deltas=DELTAS)) + "?step=3&result=final").text
    step = pane(page, 'data-at="3"', 'data-at="4"').replace("\u00b7", " ")
    assert "Raw <tool_call>" in step
    assert "28 characters" in step
    assert "5 tokens" in words_of(page)
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


LEFT = [ROLE, chunk({"content": 'Hi <tool_call>{"name": "f", '}), chunk({"content": '"arguments": {}}</tool_call>'})]
LEFT += [
    chunk({"reasoning": "hm"}),
    END,
    {"choices": [], "usage": {"completion_tokens": 9}},
    {"error": {"message": "x"}},
]
TIMES = [0, 20, 40, 400, 400.5, 401, None]


def test_chunks_stand_with_their_times_gaps_and_bursts(client: FlaskClient, shared: Any) -> None:
    page = client.get(shared(stream_case(LEFT, times=TIMES)) + "?step=4&until=gap+>+60ms").text
    rows = [words_of(row).split() for row in re.findall(r"<tr data-row=.*?</tr>", pane_html(page, 'id="input"'), re.S)]
    assert [" ".join(row)[:24] for row in rows[:2]] == ["1 0 – role assistant", "2 20 +20 content Hi · <t"]
    assert [row[3:6] for row in rows[3:6]] == [["gap,", "burst,", "1"], ["burst,", "2", "of"], ["burst,", "3", "of"]]
    assert rows[6][1:3] == ["–", "–"]
    said = words_of(page)
    assert "360 ms before chunk 4 is the longest gap" in said
    assert "Chunks 4 to 6 came in one burst" in said
    assert "400 ms after the first, 360 ms after chunk 3 (median 20 ms)" in said
    assert "1 stop" in said
    assert json.loads(html.unescape(re.search(r'data-times="([^"]*)"', page)[1])) == [0, 20, 40, 400, 400.5, 401, 401]  # type: ignore[index]


def pane_html(page: str, start: str) -> str:
    return page.partition(start)[2].partition("</section>")[0]


@pytest.mark.replays
def test_what_leaked_is_marked_and_replayed_where_it_stands(client: FlaskClient, shared: Any) -> None:
    stream = [*LEFT[:3], chunk({}, "stop")]
    page = client.get(shared(stream_case(stream)) + "?step=2").text
    assert "Chunks 2–3 carry 53 characters of markup as content." in words_of(page)
    assert page.count("role-leaked run-start") == 4  # two chunks, in the table and in their cards
    assert re.search(r'role-leaked[^"]*now"\s+data-sent="2"', pane_html(page, 'id="result"'))
    assert page.count("Replay what leaked with qwen") == 2
    source = re.search(r'name="source" value="([^"]*)"', page)
    proof = re.search(r'name="proof"\s+value="([^"]*)"', page)
    assert source is not None
    assert proof is not None
    again = client.post("/find/proof", data={"source": source[1], "proof": html.unescape(proof[1])})
    assert "qwen" in words_of(again.text)
    assert "call 0 f" in words_of(again.text)


def test_the_end_of_a_stream_says_how_it_ended(client: FlaskClient, shared: Any) -> None:
    ended = client.get(shared(stream_case(STREAM, done=True)) + "?step=6").text
    assert "[DONE] was recorded behind the last chunk" in words_of(pane_html(ended, 'data-at="6"'))
    assert "no [DONE] was recorded" in words_of(client.get(shared(stream_case(STREAM)) + "?step=6").text)


@pytest.mark.replays
def test_a_raw_output_that_is_added_is_what_the_parser_is_judged_by(client: FlaskClient, shared: Any) -> None:
    address = shared(stream_case(STREAM))
    page = client.post("/run", data={"source": f"case:{address[3:]}", "raw_output": TEXT.replace("Hi", "Ho")}).text
    said = words_of(page)
    assert "recorded stream (5 chunks)" in said
    assert "The server" in said
    assert 'id="strip"' in page
    refused = client.post("/run", data={"raw_output": TEXT})
    assert refused.status_code == 422


@pytest.mark.replays
def test_a_long_stream_is_drawn_around_the_cursor_only(client: FlaskClient, shared: Any) -> None:
    stream = [ROLE, *[chunk({"content": "ab "}) for _ in range(1500)], chunk({}, "stop")]
    page = client.get(shared(stream_case(stream, times=[*range(0, 15020, 10)])) + "?step=700").text
    table = pane_html(page, 'id="input"')
    assert table.count("<tr data-row") == 33
    assert "683 chunks before" in words_of(table)
    band = pane_html(page, 'id="overview"')
    assert band.count("band-role") <= 1000
    assert "characters from step" in words_of(pane_html(page, 'id="result"'))


@pytest.mark.replays
@pytest.mark.parametrize("last", [1_767_225_600_000, 1e13])
def test_the_page_of_a_stream_that_took_years_is_no_longer_than_another(
    client: FlaskClient, shared: Any, last: float
) -> None:
    page = client.get(shared(stream_case(STREAM[-2:], times=[0, last]))).text
    assert len(page) < 2 * len(client.get(shared(stream_case(STREAM[-2:], times=[0, 9]))).text)
