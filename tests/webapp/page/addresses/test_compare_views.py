"""The addresses of a comparison, with and without script, stored and posted."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from parsers.cases.io import dumps
from tests.webapp.page.streams import END, STREAM, TEXT, chunk, log, stream_case
from webapp.page.library.examples import examples

EXAMPLE = "/example/two-calls-with-prose/compare"
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}
OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'


def carried(page: str) -> str:
    """The case a page carries."""
    found = re.search(r'name="case" value="([^"]*)"', page)
    assert found
    return html.unescape(found[1])


def headline(page: str) -> str:
    found = re.search(r"compare-sentence.*?<strong>([^<]*)</strong>", page, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def stored(client: FlaskClient) -> str:
    """The id of a shared case."""
    case = dumps(examples()["unknown-tool"].case)
    answer = client.post("/cases", data={"case": case})
    return answer.headers["Location"].partition("/c/")[2].partition("?")[0]


@pytest.mark.replays
@pytest.mark.parametrize("name", examples())
def test_every_example_can_be_compared(client: FlaskClient, name: str) -> None:
    answer = client.get(f"/example/{name}/compare")
    assert answer.status_code == 200
    assert headline(answer.text) == "The same message on both sides."


def test_a_bare_address_compares_with_the_whole_output_in_one_delta(client: FlaskClient) -> None:
    page = client.get(EXAMPLE).text
    assert 'id="a_chunk" name="a_chunk" value="token"' in page
    assert 'id="b_chunk" name="b_chunk" value="whole"' in page


@pytest.mark.replays
def test_a_case_that_is_whole_is_compared_token_by_token(client: FlaskClient) -> None:
    case = json.loads(dumps(examples()["unknown-tool"].case)) | {"replay": [{"by": "whole"}]}
    page = client.post("/compare", data={"case": json.dumps(case)}).text
    assert 'name="b_chunk" value="token"' in page


@pytest.mark.replays
def test_both_sides_are_what_the_address_says(client: FlaskClient) -> None:
    page = client.get(f"{EXAMPLE}?b_parser=passthrough&at=60&a_chunk=char:5").text
    assert headline(page) == "The calls differ."
    assert 'data-at="60"' in page
    assert "5 characters" in page


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "location"),
    [
        ("a_chunk=&b_chunk=whole&a_parser=", "a_chunk=token&b_chunk=whole"),
        ("a_policy.unknown_tool=drop&a_policy.recovery=&b_chunk=char", "a_chunk=token&a_policy=unknown_tool:drop"),
        ("b_chunk=cuts:5,9&arguments=json&ids=&at=7&b_start=", "arguments=json&at=7"),
    ],
)
def test_an_address_that_a_form_made_is_tidied(client: FlaskClient, query: str, location: str) -> None:
    answer = client.get(f"{EXAMPLE}?{query}")
    assert answer.status_code == 303
    assert location in answer.headers["Location"]
    assert client.get(answer.headers["Location"]).status_code == 200


def test_what_makes_no_sense_is_said_beside_its_control_and_kept(client: FlaskClient) -> None:
    answer = client.get(f"{EXAMPLE}?a_chunk=zap&b_parser=nobody&at=x&whitespace=loud&b_mode=ids&a_start=")
    assert answer.status_code == 200
    for name in ("a_chunk", "b_parser", "at", "whitespace", "b_mode"):
        assert f'id="{name}-error"' in answer.text
        assert f'aria-describedby="{name}-error"' in answer.text
    assert 'name="a_chunk" value="zap"' in answer.text
    assert '<option value="nobody" selected>nobody</option>' in answer.text
    assert headline(answer.text) == "The same message on both sides."


@pytest.mark.replays
def test_htmx_gets_the_window_alone(client: FlaskClient) -> None:
    url = f"{EXAMPLE}?a_chunk=token&b_chunk=whole&at=100"
    part = client.get(url, headers={**PARTIAL, "HX-Target": "div#window"}).text
    assert "data-compare-window" in part
    assert 'id="cursor"' not in part
    assert 'data-at="100"' in part
    whole = client.get(url, headers={**PARTIAL, "HX-Target": "div#page"}).text
    assert 'id="cursor"' in whole
    assert "<html" not in whole


@pytest.mark.replays
def test_a_shared_case_has_an_address_of_its_comparison(client: FlaskClient, stored: str) -> None:
    page = client.get(f"/c/{stored}/compare?b_parser=passthrough&a_chunk=token&b_chunk=token").text
    assert f'data-address="/c/{stored}/compare"' in page
    assert f'href="/c/{stored}/compare?a_chunk=token&amp;b_chunk=token&amp;b_parser=passthrough&amp;at=' in page
    assert f'href="/c/{stored}?step=' in page
    assert client.get("/c/0000000000000000/compare").status_code == 404


@pytest.mark.replays
def test_a_posted_run_moves_by_posting_itself_and_is_not_stored(client: FlaskClient, app: Flask) -> None:
    before = app.extensions["inspector"].store.count()
    case = carried(client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).text)
    page = client.post("/compare", data={"case": case, "go": "b_parser=passthrough"}).text
    assert headline(page) == "The calls differ."
    assert json.loads(carried(page)) == json.loads(case)
    buttons = [html.unescape(value) for value in re.findall(r'name="go" value="([^"]*)"', page)]
    moved = client.post("/compare", data={"case": case, "go": next(go for go in buttons if go.endswith("at=15"))}).text
    assert 'data-at="15"' in moved
    assert headline(moved) == headline(page)
    (held,) = re.findall(r'data-address="(/r/[0-9a-f]{32}/compare)"', page)
    assert headline(client.get(f"{held}?b_parser=passthrough").text) == headline(page)
    assert app.extensions["inspector"].store.count() == before


@pytest.mark.parametrize(
    ("data", "status"),
    [({"case": "{"}, 422), ({}, 422), ({"case": '{"schema": 1, "parser": {"name": "x"}, "input": {"text": ""}}'}, 422)],
)
def test_a_case_that_cannot_be_compared_is_refused(client: FlaskClient, data: dict[str, str], status: int) -> None:
    assert client.post("/compare", data=data).status_code == status


def test_a_reload_without_a_case_says_so(client: FlaskClient) -> None:
    answer = client.get("/compare")
    assert answer.status_code == 404
    assert "There is no case to compare" in answer.text


@pytest.mark.replays
@pytest.mark.parametrize(("side", "parser"), [("a", "kimik2"), ("b", "passthrough")])
def test_a_side_opens_as_a_run_in_the_inspector(client: FlaskClient, side: str, parser: str) -> None:
    go = f"b_parser=passthrough&b_chunk=char:5&side={side}&source=example:two-calls-with-prose"
    page = client.post("/compare/open", data={"go": go, "at": "3"}).text
    assert 'id="inspector"' in page
    assert json.loads(carried(page))["parser"]["name"] == parser


def test_a_side_of_a_shared_case_names_it_as_its_parent(client: FlaskClient, stored: str) -> None:
    page = client.post("/compare/open", data={"go": f"b_start=reasoning&side=b&source=case:{stored}"}).text
    assert json.loads(carried(page))["parent"] == stored
    case = carried(client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).text)
    page = client.post("/compare/open", data={"case": case, "go": "a_chunk=whole&side=a"}).text
    assert json.loads(carried(page))["replay"] == [{"by": "whole"}]


@pytest.mark.replays
def test_recorded_ids_offer_the_choice_of_how_markers_are_recognised(client: FlaskClient) -> None:
    tokens: list[Any] = [[7, "<tool_call>", {"kind": "special"}], [8, '{"name": "f", "arguments": {}}'],
                         [9, "</tool_call>", {"kind": "special"}]]  # fmt: skip
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"tokens": tokens}, "source": {"kind": "recorded"},
            "tokenizer": {"vocab": {"<tool_call>": 7, "</tool_call>": 9}}}  # fmt: skip
    page = client.post("/compare", data={"case": json.dumps(case), "b_mode": "text"}).text
    assert 'id="a_mode"' in page
    assert "markers by ids" in page
    assert "markers by text" in page
    assert 'id="a_mode"' not in client.get(EXAMPLE).text


@pytest.mark.replays
def test_the_wrapper_is_offered_and_named(client: FlaskClient) -> None:
    page = client.get(f"{EXAMPLE}?b_parser=%2Bfallback").text
    assert '<option value="+fallback" selected>kimik2, behind the wrapper</option>' in page
    case = json.loads(dumps(examples()["unknown-tool"].case))
    case["parser"]["engine"] = "fallback"
    wrapped = client.post("/compare", data={"case": json.dumps(case), "b_parser": "passthrough+fallback"}).text
    assert "behind the wrapper</option>" in wrapped
    assert '<option value="passthrough+fallback" selected>' in wrapped


def test_model_output_never_becomes_markup(client: FlaskClient) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "<script>alert(1)</script>\u202e<b>"}}
    page = client.post("/compare", data={"case": json.dumps(case), "b_parser": "passthrough"}).text
    assert "<script>alert" not in page
    assert "\u202e" not in page.replace("\\u202e", "")


def test_another_stored_case_is_a_side_by_its_address(client: FlaskClient, stored: str) -> None:
    data = {"source": "example:two-calls-with-prose", "a_chunk": "token", "b_chunk": "whole"}
    for address in (f"http://localhost/c/{stored}?step=3", f"case:{stored}", stored):
        answer = client.post("/compare/put", data={**data, "put": address})
        assert answer.status_code == 303
        assert answer.headers["Location"] == f"{EXAMPLE}?a_chunk=token&b_chunk=whole&c_text=case:{stored}"
    page = client.get(answer.headers["Location"]).text
    assert f"case {stored}" in page
    assert "The outputs differ from A&#39;s: C in " in page
    answer = client.post("/compare/put", data={**data, "put": "/example/unknown-tool"})
    assert answer.headers["Location"].endswith("c_text=example:unknown-tool")


def put(client: FlaskClient, text: str, **more: str) -> Any:
    case = carried(client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).text)
    return client.post("/compare/put", data={"case": case, "a_chunk": "token", "b_chunk": "whole", "put": text, **more})


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/c/abcdefghjkmnpqrs", "there is no case &#39;abcdefghjkmnpqrs&#39; on this server."),
        ("http://elsewhere.example/c/doesnotexist1234", "No case, example or run has the address"),
        ("/example/nothing", "&#39;example:nothing&#39; is no output that is known here"),
        ("/r/0123456789abcdef0123456789abcdef", "That run is not held here any more."),
    ],
)
def test_an_address_of_nothing_is_put_beside_nobody(client: FlaskClient, address: str, said: str) -> None:
    answer = put(client, address)
    assert (answer.status_code, said in answer.text) == (422, True)
    assert "on all 3 sides" not in answer.text


@pytest.mark.replays
def test_a_pasted_text_is_carried_by_the_page_and_stands_in_no_address(client: FlaskClient) -> None:
    page = put(client, OUTPUT.replace("Hi", "Goodbye")).text
    assert "text 1: qwen, token by token" in page
    (beside,) = re.findall(r'id="cursor".*?name="beside\.1" value="([^"]*)"', page, re.DOTALL)
    assert "Goodbye" in beside
    (held,) = re.findall(r'data-address="(/r/[0-9a-f]{32}/compare)"', page)
    query = "a_chunk=token&b_chunk=whole&c_text=paste:1&at=3"
    again = client.get(f"{held}?{query}")
    assert headline(again.text) == headline(page)
    form = {"case": carried(page), "beside.1": html.unescape(beside), "go": query}
    assert headline(client.post("/compare", data=form).text) == headline(page)
    form["go"] = f"{query}&side=c"
    assert "Goodbye" in carried(client.post("/compare/open", data=form).text)


def test_texts_that_no_side_uses_are_left_behind(client: FlaskClient) -> None:
    case = carried(client.post("/run", data={"text": "Hi.", "parser": "qwen"}).text)
    texts = {f"beside.{number}": case.replace("Hi.", f"Text {number}.") for number in (1, 2)}
    words = {"a_chunk": "token", "b_text": "paste:2"}
    page = client.post("/compare/put", data={"case": case, "put": "Text 3.", **texts, **words}).text
    assert 'name="b_text" value="paste:1"' in page
    assert 'name="c_text" value="paste:2"' in page
    assert "Text 1." not in page


def test_a_recording_beside_a_text_plays_what_the_server_sent(client: FlaskClient) -> None:
    chunks = [json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}) for text in ("Hi", " there")]
    page = put(client, "".join(f"data: {chunk}\n\n" for chunk in chunks) + "data: [DONE]\n").text
    assert "text 1: " in page
    assert html.unescape(headline(page)) == (
        "B gives the same message; C gives other calls from character 2 of A's message on."
    )


def test_a_run_that_is_held_is_found_by_its_address(client: FlaskClient) -> None:
    held = re.findall(
        r'data-held="(/r/[0-9a-f]{32})"', client.post("/run", data={"text": "Other.", "parser": "qwen"}).text
    )
    assert "Other." in put(client, f"http://localhost{held[0]}?step=2").text


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (" ", {}, "Paste an output"),
        (f"/r/{'0' * 32}", {}, "not held here any more"),
        ("x", {"c_chunk": "char", "d_chunk": "char"}, "4 sides at most"),
        ("x", {f"{name}_text": f"paste:{at}" for name, at in zip("bc", (1, 9), strict=True)}, "known here"),
        ('{"schema": 1, "parser": {"name": "qwen"}}', {}, "input"),
    ],
)  # fmt: skip
def test_what_cannot_be_put_beside_is_said(client: FlaskClient, text: str, words: dict[str, str], says: str) -> None:
    answer = put(client, text, **words)
    assert says in answer.text
    assert (answer.status_code == 422) == ("put-error" in answer.text)


def test_one_page_carries_so_many_texts(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.page.addresses.compare_texts.MOST", 1)
    case = carried(client.post("/run", data={"text": "Hi.", "parser": "qwen"}).text)
    form = {"case": case, "put": "Three.", "beside.1": case, "b_text": "paste:1"}
    assert "1 texts at most" in client.post("/compare/put", data=form).text


@pytest.mark.replays
@pytest.mark.parametrize(
    ("word", "says"),
    [("parent", "no parent"), ("case:0000000000000000", "no case"), ("example:nothing", "no output that is known here"),
     ("paste:1", "no output that is known here"), ("zap", "no output that is known here")],
)  # fmt: skip
def test_an_output_that_is_not_here_is_said_beside_its_control(client: FlaskClient, word: str, says: str) -> None:
    answer = client.get(f"{EXAMPLE}?a_chunk=token&b_text={word}")
    found = re.search(r'id="b_text-error".*?</p>', answer.text, re.DOTALL)
    assert found
    assert says in html.unescape(found[0])


@pytest.mark.replays
def test_a_copy_is_compared_with_its_parent_and_says_what_it_changed(client: FlaskClient, stored: str) -> None:
    case = json.loads(client.get(f"/c/{stored}.json").text) | {
        "parent": stored,
        "input": {"text": OUTPUT},
        "title": "Mine",
    }
    location = client.post("/cases", data={"case": json.dumps(case), "title": "Mine"}).headers["Location"]
    page = client.get(location).text
    assert "Differs from its parent" in page
    assert "<ins>" in page
    assert "b_text=parent" in page
    assert "The output of B differs" in client.get(location.partition("?")[0] + "/compare?b_text=parent").text
    client.post(f"/c/{stored}/delete", data={"key": "wrong"})
    assert "the parent of this copy" in client.get(location.partition("?")[0] + "/compare").text


@pytest.mark.replays
def test_the_matrix_comes_when_it_is_asked_for(client: FlaskClient) -> None:
    url = f"{EXAMPLE}?a_chunk=token&b_chunk=whole"
    assert '<table class="matrix">' not in client.get(url).text
    part = client.get(f"{url}&matrix=near", headers={**PARTIAL, "HX-Target": "div#matrix"}).text
    assert "same message" in part
    assert 'id="cursor"' not in part
    assert "matrix=near" in client.get(f"{url}&matrix=near").text


def test_a_reload_of_what_was_put_beside_says_so(client: FlaskClient) -> None:
    assert client.get("/compare/put").status_code == 404


@pytest.mark.replays
def test_a_recording_is_usually_beside_what_its_parser_reads(client: FlaskClient) -> None:
    page = client.get("/example/sglang-24147-value-ends-like-a-tag/compare").text
    assert "field-error" not in page
    assert "glm47_moe, token by token" in page
    assert page.index("recorded, as recorded") < page.index("glm47_moe, token by token")


def _recording(*texts: str) -> str:
    """A log of a server that sent a call and these texts: its raw output is not known."""
    return log([*STREAM[:4], *[chunk({"content": text}) for text in texts], END])


@pytest.mark.replays
def test_a_pasted_recording_is_usually_beside_what_leaked(client: FlaskClient) -> None:
    log = _recording("So.\n", '<tool_call>\n{"name": "f", "arguments": ', '{"a": 1}}\n</tool_call>')
    run = client.post("/run", data={"text": log})
    assert "b_chunk=whole" not in run.text
    page = client.get(f"/r/{run.headers['X-Held-Run']}/compare").text
    assert "field-error" not in page
    assert "text 1, what leaked: " in page
    assert "qwen, token by token" in page
    assert headline(page) == "The calls differ."
    assert re.search(
        r"</strong> Call 0 differs in its arguments; the content has \d+ characters of A that B lacks", page
    )


@pytest.mark.replays
def test_a_recording_that_parses_its_raw_output_is_usually_beside_what_the_server_sent(
    client: FlaskClient,
) -> None:
    held = client.post("/run", data={"text": dumps(stream_case(parser="qwen", text=TEXT))}).headers["X-Held-Run"]
    page = client.get(f"/r/{held}/compare").text
    assert page.index("recorded, as recorded") < page.index("qwen, token by token")


@pytest.mark.replays
@pytest.mark.parametrize("first", ["", "a"])
def test_a_recording_without_its_output_is_laid_beside_another_by_message(client: FlaskClient, first: str) -> None:
    run = client.post("/run", data={"text": _recording("So.\n", "More.")})
    other = client.post("/run", data={"text": "Hi", "parser": "qwen"})
    held = (run if first else other).headers["X-Held-Run"]
    put = carried(client.get(f"/r/{(other if first else run).headers['X-Held-Run']}").text)
    form = {"case": carried(client.get(f"/r/{held}").text), "put": put, "a_chunk": "recorded" if first else "token"}
    page = client.post("/compare/put", data=form).text
    assert "What was sent" in page
    assert "end of the message" in page
    assert "So." in page.partition('class="strips"')[2].partition("</section>")[0]


def test_a_pasted_recording_without_a_leak_has_nothing_beside_it_until_a_text_is_put(client: FlaskClient) -> None:
    run = client.post("/run", data={"text": _recording("Yes", ", that is it.")})
    page = client.get(f"/r/{run.headers['X-Held-Run']}/compare").text
    assert "There is nothing to lay beside this recording." in page
    assert "field-error" not in page
    form = {"case": carried(page), "put": "Yes.", "a_chunk": "recorded", "b_chunk": "recorded"}
    put = client.post("/compare/put", data=form).text
    assert "two replays" in put
    assert "text 1" in put
