"""What the form offers, and what it says of a template."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.vocabulary.types import UsageError
from webapp.fields import EMPTY_TEMPLATE, template_text
from webapp.page.form import form_page
from webapp.page.form.form_page import choices, template_examples, template_report
from webapp.page.form.setup import Setup

JSON_CALLS = template_examples()["json"]
TEMPLATE_OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'


def test_decode_options_of_the_form_are_in_the_case_and_in_the_header(client: FlaskClient) -> None:
    form = {"text": "a text", "parser": "passthrough", "decode_policy": "sglang", "skip_special": "1", "stop": "END"}
    page = client.post("/run", data=form).text
    assert "markers by text, sglang, special tokens skipped, stop" in page
    assert 'value="sglang" checked' in page
    assert "END</textarea>" in page


@pytest.mark.parametrize(
    ("form", "field"), [({"decode_policy": "loud"}, "decode_policy"), ({"include_stop": "1"}, "decode_policy")]
)
def test_decode_options_that_make_no_sense_are_said_at_their_field(
    client: FlaskClient, form: dict[str, str], field: str
) -> None:
    answer = client.post("/run", data={"text": "a text", "parser": "passthrough", **form})
    assert answer.status_code == 422
    assert f'id="{field}-error"' in answer.text


Payload = dict[str, Any]


def chunk(delta: Payload, finish: str | None = None) -> Payload:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_the_form_offers_the_stream_where_there_is_one() -> None:
    offered = {option.value: option.words for option in choices(Setup(chunks=1), {}).parsers}
    assert offered["recorded"] == "recorded stream (1 chunk)"
    assert "recorded" not in {option.value for option in choices(Setup(), {}).parsers}


def fields(**more: str) -> dict[str, str]:
    given = {
        "parser": "response_template",
        "text": TEMPLATE_OUTPUT,
        "template": JSON_CALLS.text,
        "prompt_tail": JSON_CALLS.prefix,
    }
    return {**given, **more}


def test_a_template_of_no_engine_stays_out_of_the_form() -> None:
    assert template_text(None) == ""


@pytest.mark.parametrize(
    ("text", "prefix", "headline", "opens"),
    [
        ("  ", "", EMPTY_TEMPLATE, ""),
        ("{", "", "Not JSON yet", ""),
        ('{"fields": {}}', "", "This template cannot run", ""),
        (JSON_CALLS.text, "", "3 notes", ""),
        (JSON_CALLS.text, "<|im_start|>assistant\n<think>", "2 notes",
         "After the prompt prefix, reasoning_content is open."),
        ('{"start_anchor": "a", "fields": {"content": {}}}', "a", "No remarks",
         "After the prompt prefix, content is open."),
        ('{"start_anchor": "a", "fields": {"content": {"open": "x"}}}', "b", "2 warnings", ""),
    ],
)  # fmt: skip
def test_the_report_has_a_headline(text: str, prefix: str, headline: str, opens: str) -> None:
    found = template_report(text, prefix)
    assert (found.headline, found.opens) == (headline, opens)


def test_without_transformers_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise UsageError("the engine response_template needs transformers")

    monkeypatch.setattr(form_page, "lint", missing)
    assert template_report(JSON_CALLS.text, "").headline == "Not available here"


def test_the_form_offers_model_id_model_type_and_the_wrapper(client: FlaskClient) -> None:
    html = client.get("/new").text
    assert all(f'name="{name}"' in html for name in ("model", "model_type", "wrapper"))
    assert not re.search(r'name="wrapper"[^>]* checked', html)


def test_options_that_are_wrong_are_told_in_words(client: FlaskClient) -> None:
    parser = {"name": "qwen", "engine": "fallback", "options": {"budget": -1}}
    line = json.dumps({"schema": 1, "parser": parser, "input": {"text": "x"}})
    answer = client.post("/run", data={"text": line})
    assert answer.status_code == 422
    assert "Input should be greater than or equal to 0; the wrapper&#39;s options are budget, line_start" in answer.text
    assert 'id="wrapper-error"' in answer.text


@pytest.mark.replays
@pytest.mark.parametrize(
    ("chunking", "words"),
    [
        ({"by": "cuts", "cuts": []}, "in one delta"),
        ({"by": "cuts", "cuts": [3, 9]}, "cut at 3 and 9"),
        ({"by": "token", "size": 7}, "7 tokens"),
        ({"by": "random", "seed": 5}, "random, seed 5"),
        ({"by": "token", "size": 2}, "2 tokens"),
        ({"by": "whole"}, "whole, in one delta"),
    ],
)
def test_the_chunking_of_a_run_is_named_by_what_it_is(
    client: FlaskClient, chunking: dict[str, Any], words: str
) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi. How are you?"}, "replay": [chunking]}
    html = client.post("/run", data={"case": json.dumps(case)}).text
    choices_of = html.partition('<select id="chunking"')[2].partition("</select>")[0]
    assert re.findall(r" selected>([^<]*)<", choices_of) == [words]
