"""A comparison to hand on: its report, its sides as case files, and the address it has once it is stored."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.io import dumps, loads
from tests.webapp.page.streams import TEXT, stream_case

OUTPUT = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
CASE = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": OUTPUT}})
OTHER = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi | there `all`."}})
WORDS = {"a_chunk": "token", "b_chunk": "whole", "b_parser": "llama"}
BESIDE = {"a_chunk": "token", "b_text": "paste:1", "b_chunk": "char", "at": "3"}
EXAMPLE = "/example/two-calls-with-prose"


def query(words: dict[str, str]) -> str:
    return "&".join([f"{name}={word}" for name, word in words.items()])


def saved(client: FlaskClient, words: dict[str, str], **more: str) -> Any:
    return client.post("/cases", data={"case": CASE, "go": query(words), **more})


def test_the_report_says_what_differs_and_where(client: FlaskClient) -> None:
    answer = client.get(f"{EXAMPLE}/comparison/markdown", query_string=WORDS)
    assert answer.mimetype == "text/markdown"
    assert "compared.md" in answer.headers["Content-Disposition"]
    for heading in ("What differs", "Sides, by", "Model output", "Messages", "Where the sides part first"):
        assert f"\n## {heading}" in answer.text
    assert "| tool_calls ✗ | `2` | `0` |" in answer.text
    assert f"<http://localhost{EXAMPLE}/compare?a_chunk=token&b_chunk=whole&b_parser=llama>" in answer.text


def test_the_report_of_a_posted_run_has_both_outputs_and_no_address(client: FlaskClient) -> None:
    text = client.post("/comparison/markdown", data={"case": CASE, "beside.1": OTHER, **BESIDE}).text
    assert "## Model output of A" in text
    assert "## Model output of B" in text
    assert "Open it again" not in text
    assert "&#124;" in text  # a bar of the text closes no cell


def test_sides_that_say_the_same_have_a_short_report(client: FlaskClient) -> None:
    text = client.get(f"{EXAMPLE}/comparison/markdown", query_string={"a_chunk": "token", "b_chunk": "char"}).text
    assert "The same message on both sides." in text.replace("&#", "")
    assert "Where the sides part first" not in text


def test_policies_of_a_side_are_told(client: FlaskClient) -> None:
    words = {"a_chunk": "token", "b_chunk": "token", "b_policy": "unknown_tool:drop"}
    assert "`unknown_tool: drop`" in client.get(f"{EXAMPLE}/comparison/markdown", query_string=words).text


@pytest.mark.parametrize(("side", "parser"), [("a", "qwen"), ("b", "llama"), ("z", "qwen")])
def test_a_side_is_a_case_file(client: FlaskClient, side: str, parser: str) -> None:
    case = loads(client.post("/comparison/case", data={"case": CASE, "side": side, **WORDS}).data)
    assert case.parser.name == parser
    assert case.text() == OUTPUT


@pytest.mark.parametrize(("target", "begins"), [("markdown", "unsaved-run-compared-"), ("case", "unsaved-run-a-qwen-")])
def test_files_of_untitled_runs_have_names_of_their_own(client: FlaskClient, target: str, begins: str) -> None:
    bare = {key: value for key, value in json.loads(CASE).items() if key != "title"}
    cases = [bare, {**bare, "input": {"text": f"Other {OUTPUT}"}}]
    answers = [client.post(f"/comparison/{target}", data={"case": json.dumps(one), **WORDS}) for one in cases]
    names = {answer.headers["Content-Disposition"].partition("filename=")[2].strip('"') for answer in answers}
    assert (len(names), all(name.startswith(begins) for name in names)) == (2, True), names


def test_there_is_no_other_export(client: FlaskClient) -> None:
    assert client.get(f"{EXAMPLE}/comparison/sse").status_code == 404


@pytest.mark.replays
def test_a_shared_comparison_opens_as_it_was(client: FlaskClient) -> None:
    answer = saved(client, BESIDE, **{"beside.1": OTHER})
    assert answer.status_code == 201
    assert answer.text.count("/delete") == 2
    link = re.search(r'id="permalink" value="http://localhost(/c/\w{16}/compare[^"]*)"', answer.text)
    assert link
    page = client.get(html.unescape(link[1]))
    assert page.status_code == 200
    assert 'data-at="3"' in page.text
    assert "there" in page.text  # a word of the other text


def test_a_comparison_that_is_stored_leads_to_its_address(client: FlaskClient) -> None:
    saved(client, WORDS)
    again = saved(client, WORDS)
    assert again.status_code == 200
    assert "/compare?a_chunk=token&b_chunk=whole&b_parser=llama" in html.unescape(again.text)


def test_without_script_the_form_to_share_carries_the_words_and_the_texts(client: FlaskClient) -> None:
    page = html.unescape(client.post("/share", data={"case": CASE, "beside.1": OTHER, **BESIDE}).text)
    assert 'name="go" value="a_chunk=token&b_chunk=char&b_text=paste:1&at=3"' in page
    assert f'name="beside.1" value="{OTHER}"' in page
    assert "Share this comparison" in page


def test_of_a_recording_beside_its_output_the_output_is_told_once(client: FlaskClient) -> None:
    case = dumps(stream_case(parser="qwen", text=TEXT))
    text = client.post("/comparison/markdown", data={"case": case, "a_parser": "recorded", "b_chunk": "token"}).text
    assert text.count("## Model output\n") == 1
    assert TEXT in text
    assert "The output is empty." not in text
    alone = {"case": dumps(stream_case()), "a_chunk": "recorded", "b_chunk": "recorded"}
    assert "Not recorded" in client.post("/comparison/markdown", data=alone).text
