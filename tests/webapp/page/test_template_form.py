"""The template part of the form: what is typed, what is said of it, and the case it makes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.io import load_case, loads, to_data
from parsers.vocabulary.types import UsageError
from webapp.page import template_form
from webapp.page.form import FormError, case_of, read_setup, setup_of
from webapp.page.template_form import EMPTY, report, template_examples, template_text

JSON_CALLS = template_examples()["json"]
TEMPLATE: dict[str, Any] = json.loads(JSON_CALLS.text)
OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


def fields(**more: str) -> dict[str, str]:
    given = {
        "parser": "response_template",
        "text": OUTPUT,
        "template": JSON_CALLS.text,
        "prompt_tail": JSON_CALLS.prefix,
    }
    return {**given, **more}


def data_of(**more: str) -> dict[str, Any]:
    return to_data(case_of(read_setup(fields(**more)), None))


def test_the_template_and_the_prefix_arrive_in_the_case() -> None:
    data = data_of(policy__recovery="fail", wrapper="1")
    assert data["parser"] == {
        "name": "response_template", "engine": "response_template", "options": {"template": TEMPLATE},
    }  # fmt: skip
    assert data["context"]["prompt_tail"] == JSON_CALLS.prefix


def test_lines_of_the_prefix_are_unix_lines() -> None:
    assert to_data(case_of(read_setup(fields(prompt_tail="a\r\n<think>\r\n")), None))["context"]["prompt_tail"] == [
        "a\n",
        "<think>\n",
    ]


def test_a_tokenizer_config_is_taken_for_its_template() -> None:
    config = json.dumps({"tokenizer_class": "X", "response_template": TEMPLATE})
    assert data_of(template=config)["parser"]["options"] == {"template": TEMPLATE}


def test_a_form_filled_from_its_case_makes_the_same_case() -> None:
    case = case_of(read_setup(fields()), None)
    setup = setup_of(case)
    assert (setup.template, setup.prompt_tail, setup.base) == (JSON_CALLS.text, JSON_CALLS.prefix, "")
    assert case_of(setup, None) == case


def test_a_prefix_with_carriage_returns_stays_in_the_case() -> None:
    case = load_case({
        "schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}, "context": {"prompt_tail": "a\r\n"},
    })  # fmt: skip
    assert setup_of(case).base


def test_another_parser_takes_no_template() -> None:
    data = data_of(parser="qwen")
    assert data["parser"] == {"name": "qwen"}
    assert data["context"]["prompt_tail"]


def test_a_template_of_no_engine_stays_out_of_the_form() -> None:
    assert template_text(None) == ""


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("", EMPTY),
        ("{", "The template is not JSON"),
        ('{"response_schema": {}}', "this is a response_schema"),
        ("[]", "a response_template is a JSON object"),
    ],
)
def test_what_is_no_template_is_said_at_its_field(template: str, words: str) -> None:
    with pytest.raises(FormError) as raised:
        data_of(template=template)
    assert (raised.value.field, raised.value.message.startswith(words)) == ("template", True)


@pytest.mark.parametrize(
    ("text", "prefix", "headline", "opens"),
    [
        ("  ", "", EMPTY, ""),
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
    found = report(text, prefix)
    assert (found.headline, found.opens) == (headline, opens)


def test_without_transformers_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise UsageError("the engine response_template needs transformers")

    monkeypatch.setattr(template_form, "lint", missing)
    assert report(JSON_CALLS.text, "").headline == "Not available here"


# the addresses


def test_a_run_shows_the_template_and_its_result(client: FlaskClient) -> None:
    html = client.post("/run", data=fields()).text
    assert 'data-node="TOOL_CALLS"' in html
    assert "The case brings a response_template." in html
    assert "Edit this format" not in html
    assert re.search(r'<option value="response_template" selected>', html)
    assert "&#34;start_anchor&#34;: &#34;&lt;|im_start|&gt;assistant\\n&#34;" in html


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{", "The template is not JSON"),
        ('{"start_anchor": "a", "fields": {"content": {"opens": "x"}}}', "No such key is known here"),
    ],
)
def test_a_wrong_template_keeps_what_was_typed(client: FlaskClient, template: str, words: str) -> None:
    answer = client.post("/run", data=fields(template=template, prompt_tail="kept"))
    assert answer.status_code == 422
    assert f'<a href="#template">{words}' in answer.text
    assert re.search(r'<textarea id="prompt_tail"[^>]*>\nkept</textarea>', answer.text)
    assert template.replace('"', "&#34;") in answer.text


@pytest.mark.parametrize(
    ("target", "whole"), [("div#template-report", False), ("details#template-part", True), ("", True)]
)
def test_htmx_gets_the_report_or_the_part(client: FlaskClient, target: str, whole: bool) -> None:
    html = client.post("/template", data=fields(), headers={**PARTIAL, "HX-Target": target}).text
    assert ('id="template"' in html) == whole
    assert 'id="template-report"' in html
    assert "<html" not in html


def test_an_example_is_put_into_the_form(client: FlaskClient) -> None:
    html = client.post("/template", data=fields(template_do="example:tagged", template="{", prompt_tail="")).text
    assert "<!doctype html>" in html
    assert "xml-inline" in html
    assert "After the prompt prefix, reasoning_content is open." in html
    assert OUTPUT.replace('"', "&#34;").replace("<", "&lt;").replace(">", "&gt;") in html


def test_a_check_without_script_keeps_what_was_typed(client: FlaskClient) -> None:
    html = client.post("/template", data=fields(template_do="check", template='{"fields": {')).text
    assert "Not JSON yet" in html
    assert "{&#34;fields&#34;: {</textarea>" in html


def case_text(client: FlaskClient) -> str:
    html = client.post("/run", data=fields()).text
    found = re.search(r'name="case" value="([^"]*)"', html)
    assert found
    return found[1].replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")


def test_a_shared_case_has_its_template(client: FlaskClient) -> None:
    html = client.post("/cases", data={"case": case_text(client)}).text
    path = re.search(r'href="(/c/\w{16})', html)
    assert path
    stored = loads(client.get(f"{path[1]}.json").data)
    assert stored.parser.options["template"] == TEMPLATE
    assert stored.input.tokens
    page = client.get(path[1]).text
    assert 'data-node="TOOL_CALLS"' in page
    assert client.get(f"{path[1]}/export/markdown").status_code == 200


def test_an_exported_test_runs_the_template(client: FlaskClient, tmp_path: Path) -> None:
    file = tmp_path / "test_template.py"
    expect = {"content": "Hi.", "tool_calls": [{"name": "f", "arguments": {"a": "b"}}]}
    answer = client.post("/export/pytest", data={"case": case_text(client), "expect": json.dumps(expect)})
    file.write_bytes(answer.data)
    assert "response_template" in file.read_text("utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", str(file)],
        cwd=Path(__file__).parents[3], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", ["case", "jsonl", "markdown", "sse"])
def test_other_exports_have_the_run(client: FlaskClient, target: str) -> None:
    answer = client.post(f"/export/{target}", data={"case": case_text(client)})
    assert (answer.status_code, b"tool_call" in answer.data) == (200, True)
