"""POST /intake and POST /template: nothing is run."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.io import load_case
from tests.corpus import dump_corpus
from tests.webapp.page.dom import page
from tests.webapp.page.form.logs import CALLS, CURL, TWO
from webapp.app import create_app
from webapp.page.form.form_page import template_examples
from webapp.settings import Settings

JSON_CALLS = template_examples()["json"]
TEMPLATE_OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
PARTIAL_POST = {"HX-Request": "true", "HX-Request-Type": "partial"}
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#intake"}


def fields(**more: str) -> dict[str, str]:
    given = {
        "parser": "response_template",
        "text": TEMPLATE_OUTPUT,
        "template": JSON_CALLS.text,
        "prompt_tail": JSON_CALLS.prefix,
    }
    return {**given, **more}


@pytest.mark.replays
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
    html = client.post("/template", data=fields(), headers={**PARTIAL_POST, "HX-Target": target}).text
    assert ('id="template"' in html) == whole
    assert 'id="template-report"' in html
    assert "<html" not in html


def test_an_example_is_put_into_the_form(client: FlaskClient) -> None:
    html = client.post("/template", data=fields(template_do="example:tagged", template="{", prompt_tail="")).text
    assert "<!doctype html>" in html
    assert "xml-inline" in html
    assert "After the prompt prefix, reasoning_content is open." in html
    assert TEMPLATE_OUTPUT.replace('"', "&#34;").replace("<", "&lt;").replace(">", "&gt;") in html


def test_a_check_without_script_keeps_what_was_typed(client: FlaskClient) -> None:
    html = client.post("/template", data=fields(template_do="check", template='{"fields": {')).text
    assert "Not JSON yet" in html
    assert "{&#34;fields&#34;: {</textarea>" in html


def words(html: str, selector: str) -> str:
    return page(html).one(selector).words


def typed_text(html: str, field: str = "text") -> str:
    """What stands in a text area; browsers drop its first newline."""
    return page(html).one(f"textarea#{field}").text.removeprefix("\n")


def test_the_question_what_it_is_runs_nothing(client: FlaskClient) -> None:
    html = client.post("/intake", data={"text": CURL + CALLS}).text
    assert "Recognised: OpenAI" in words(html, "#intake")
    assert page(html).all("#inspector") == []
    assert typed_text(html, "text") == CURL + CALLS
    assert "get_weather" in typed_text(html, "tools")


def test_htmx_gets_the_panel_alone(client: FlaskClient) -> None:
    html = client.post("/intake", data={"text": TWO}, headers=PARTIAL).text
    assert html.strip().startswith('<div id="intake"')
    assert [one.attrs["value"] for one in page(html).all("[name=output]")] == ["0", "1"]


def test_the_table_says_how_sure_each_thing_is_in_words(client: FlaskClient) -> None:
    html = client.post("/intake", data={"text": CALLS}, headers=PARTIAL).text
    rows = {row.one("th").text: row.one("td").words for row in page(html).all(".intake-facts tr")}
    assert rows["Raw output"] == "missing"
    assert rows["Server's deltas"] == "exact"
    assert len(page(html).all(".intake-facts .certainty svg")) == len(rows)


def test_the_command_that_records_the_raw_output_can_be_copied(client: FlaskClient) -> None:
    html = client.post("/intake", data={"text": CALLS}, headers=PARTIAL).text
    first = page(html).all(".intake-captures details")
    assert "open" in first[0].attrs
    assert not [one for one in first[1:] if "open" in one.attrs]
    assert "curl" in first[0].one("pre").text


def test_every_field_that_is_asked_for_is_on_the_page(client: FlaskClient) -> None:
    html = client.post("/intake", data={"text": "[1, 2]"}).text
    asked = {link.attrs["href"] for link in page(html).all(".intake-wanted a")}
    assert "#tokenizer" in asked
    assert [one for one in asked if page(html).one(str(one)) is None] == []


@pytest.mark.replays
def test_a_run_folds_the_panel_above_the_input(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": CALLS}).text
    panel = page(html).one("#intake details")
    assert "open" not in panel.attrs
    assert words(html, "#intake summary").startswith("raw text unknown")
    assert html.index('id="intake"') < html.index('id="inspector"')


@pytest.mark.replays
def test_a_wrong_guess_is_overridden_with_one_button(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": '["a", "b"]'}).text
    page(html).one('#intake button[name="take_as"][value="raw_text"]')
    html = client.post("/run", data={"text": '["a", "b"]', "take_as": "raw_text"}).text
    assert page(html).all('#intake button[name="take_as"][value="auto"]')
    assert words(html, "#intake h2").startswith("Taken as raw model output")
    html = client.post("/run", data={"text": '["a", "b"]', "take_as": "auto", "taken_as": "raw_text"}).text
    assert words(html, "#intake h2").startswith("Recognised: list of 2 deltas")


def test_what_cannot_be_replayed_comes_back_with_its_panel_and_its_text(client: FlaskClient) -> None:
    answer = client.post("/run", data={"text": "[1, 2, 3]"})
    assert answer.status_code == 422
    assert "choose the model's own tokenizer" in words(answer.text, "#tokenizer-error")
    assert "Needed before it can be replayed" in words(answer.text, "#intake")
    assert typed_text(answer.text, "text") == "[1, 2, 3]"


def test_without_script_a_request_stays_when_its_answer_is_pasted_later(client: FlaskClient) -> None:
    first = client.post("/run", data={"text": CURL})
    assert first.status_code == 422
    named = page(first.text).all("#setup textarea[name]")
    fields = {one.attrs["name"]: one.text.removeprefix("\n") for one in named}
    html = client.post("/run", data={**fields, "text": CALLS}).text
    assert "Kept from what was given before Tools 1 tool:" in words(html, "#intake")
    assert words(html, "#tools-summary") == "Tools 1"


@pytest.mark.replays
def test_without_script_a_step_keeps_the_log(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": TWO, "output": "1"}).text
    form = page(html).one("form#cursor")
    fields = {one.attrs["name"]: one.attrs.get("value", one.text.removeprefix("\n")) for one in form.all("[name]")}
    html = client.post("/run", data={**fields, "go": "step=2"}).text
    assert typed_text(html, "text") == TWO
    assert page(html).one("[name=output][checked]").attrs["value"] == "1"


def test_the_format_of_a_case_of_ones_own_stays_while_a_log_is_stepped_through(client: FlaskClient) -> None:
    fmt = {
        "schema": 1,
        "name": "mine",
        "title": "Mine",
        "initial": "S",
        "states": {"S": {"text": "content", "rows": [{"on": "END", "to": "S"}]}},
    }
    case = {"schema": 1, "parser": {"name": "mine", "format": fmt}, "input": {"text": "ab"}}
    html = client.post("/run", data={"case": json.dumps(case), "pasted": '["a", "b"]', "go": "step=1"}).text
    assert "mine" in page(html).one("[name=base]").attrs["value"]


@pytest.mark.parametrize("address", ["/intake", "/run"])
def test_a_tokenizer_that_cannot_be_used_is_said_at_its_field(client: FlaskClient, address: str) -> None:
    data: dict[str, Any] = {"text": "[1, 2]", "tokenizer_file": (io.BytesIO(b"no tokenizer"), "tokenizer.json")}
    answer = client.post(address, data=data, content_type="multipart/form-data")
    assert answer.status_code == 422
    assert page(answer.text).all("#tokenizer_file-error")
    assert typed_text(answer.text, "text") == "[1, 2]"


def test_an_uploaded_tokenizer_is_chosen_and_gives_the_ids_their_text(client: FlaskClient) -> None:
    vocab = {letter: index for index, letter in enumerate("abcdefgh")}
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    file = {"version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": byte_level, "decoder": byte_level}
    data: dict[str, Any] = {
        "text": "[[0, 1], [2]]",
        "tokenizer_file": (io.BytesIO(json.dumps(file).encode()), "tokenizer.json"),
    }
    answer = client.post("/run", data=data, content_type="multipart/form-data")
    assert answer.status_code == 200, words(answer.text, "#errors")
    assert "text rebuilt from token ids" in words(answer.text, "#intake summary")
    chosen = page(answer.text).one("#tokenizer option[selected]")
    assert re.match("upload:[0-9a-f]{16}$", chosen.attrs["value"])
    assert chosen.parent
    assert chosen.parent.attrs["label"] == "Uploads"
    assert re.match(r"tokenizer\.json [0-9a-f]{6}, 8$", chosen.words)  # which of all files of this name
    first = page(client.get(f"/?tokenizer={chosen.attrs['value']}").text)
    assert first.one("#tokenizer option[selected]").attrs["value"] == chosen.attrs["value"]
    assert page(client.get("/?tokenizer=none").text).one("#tokenizer option[selected]").attrs["value"] == "embedded"


def test_a_tokenizer_that_is_not_here_stays_choosable(client: FlaskClient) -> None:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"tokens": [[1, "a"]]}, "tokenizer": {"name": "theirs"}}
    html = client.post("/run", data={"case": json.dumps(case)}).text
    assert words(html, "#tokenizer option[selected]") == "theirs (of this case)"


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A server that takes requests of 20,000 bytes."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("narrow"), max_text_bytes=10_000, max_request_bytes=20_000)
    app = create_app(settings)
    yield app.test_client()
    app.extensions["inspector"].store.close()


@pytest.mark.parametrize("address", ["/intake", "/run"])
def test_a_file_over_the_limit_is_said_with_the_form(narrow: FlaskClient, address: str) -> None:
    data: dict[str, Any] = {"text": "mine", "file": (io.BytesIO(b"x" * 20_001), "large.txt")}
    answer = narrow.post(address, data=data, content_type="multipart/form-data")
    assert answer.status_code == 413
    assert "The file large.txt has 20,001 bytes; the limit is 20,000 bytes" in words(answer.text, "#errors")
    assert typed_text(answer.text) == "mine"


def test_a_tokenizer_may_be_larger_than_a_recording(narrow: FlaskClient) -> None:
    data: dict[str, Any] = {"text": "mine", "tokenizer_file": (io.BytesIO(b" " * 20_001), "tokenizer.json")}
    answer = narrow.post("/run", data=data, content_type="multipart/form-data")
    assert answer.status_code == 422
    assert page(answer.text).all("#tokenizer_file-error")


@pytest.mark.parametrize("kind", ["multipart/form-data", "application/x-www-form-urlencoded"])
def test_a_text_over_the_limit_is_refused_however_it_comes(narrow: FlaskClient, kind: str) -> None:
    answer = narrow.post("/run", data={"text": "x" * 20_001}, content_type=kind)
    assert answer.status_code == 413
    assert "TOOLCALL_INSPECTOR_MAX_REQUEST_BYTES" in answer.text


@pytest.mark.replays
def test_the_cases_of_a_corpus_are_offered_and_one_stays_chosen_while_it_is_stepped_through(
    client: FlaskClient,
) -> None:
    corpus = dump_corpus(
        {
            name: load_case({"schema": 1, "notes": ["Kept."], "parser": {"name": "qwen"}, "input": {"text": name}})
            for name in ("first", "second", "third")
        }
    )
    html = client.post("/intake", data={"text": corpus}, headers=PARTIAL).text
    assert "It holds 3 cases; one is replayed" in words(html, ".intake-outputs")
    html = client.post("/run", data={"file": (io.BytesIO(corpus.encode()), "x.cases.json"), "output": "1"}).text
    assert words(html, "#intake summary").startswith("Corpus of 3 cases; case second")
    form = page(html).one("form#cursor")
    fields = {one.attrs["name"]: one.attrs.get("value", one.text.removeprefix("\n")) for one in form.all("[name]")}
    html = client.post("/run", data={**fields, "go": "step=2"}).text
    assert (typed_text(html), page(html).one("[name=output][checked]").attrs["value"]) == (corpus, "1")
    base = page(html).one("[name=base]").attrs["value"]
    html = client.post("/run", data={"text": corpus, "output": "1", "base": base, "parser": "mistral"}).text
    assert '"name":"mistral"' in page(html).one("[name=case]").attrs["value"]
