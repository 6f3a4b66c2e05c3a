"""The list of formats and the format editor, as a browser without script and as htmx meet them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from markupsafe import Markup

from parsers.cases.io import loads
from parsers.formats.model import builtin_formats
from tests.amount import every
from tests.corpus import case_data
from tests.parsers.parsing import Hasty
from tests.webapp.page.formats.editing import BARE, OUTPUT, PARTIAL, area, fields, inline, words
from webapp.app import create_app
from webapp.formats.format_text import skeleton
from webapp.page.library.examples import examples
from webapp.services import EXTENSION
from webapp.settings import Settings


def test_the_list_has_every_format_and_what_was_refused(client: FlaskClient) -> None:
    html = client.get("/formats").text
    for name in (*builtin_formats(), "folder_format"):
        assert f'href="/formats/edit?from={name}"' in html
        assert f'href="/formats/example/{name}"' in html
    assert "broken.json is not used: line 1, /: Not JSON" in words(html)


def test_without_a_folder_the_list_says_how_to_have_one(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    assert "TOOLCALL_INSPECTOR_FORMATS" in app.test_client().get("/formats").text
    app.extensions[EXTENSION].store.close()


def test_a_server_with_a_file_that_is_refused_starts_and_says_so(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(Settings(data_dir=tmp_path, formats=folder))
    assert [line.partition(": line")[0] for line in caplog.messages] == ["formats folder: broken.json is not used"]
    app.extensions[EXTENSION].store.close()


def test_an_empty_folder_says_what_belongs_into_it(tmp_path: Path) -> None:
    (tmp_path / "formats").mkdir()
    app = create_app(Settings(data_dir=tmp_path / "data", formats=tmp_path / "formats"))
    assert "It holds no *.json file yet" in words(app.test_client().get("/formats").text)
    app.extensions[EXTENSION].store.close()


@pytest.mark.parametrize("name", ["qwen", "folder_format"])
def test_the_example_of_a_format_is_replayed(client: FlaskClient, name: str) -> None:
    html = client.get(f"/formats/example/{name}").text
    assert "get_weather" in html
    assert f"Example of {name}" in html


@pytest.mark.replays
@pytest.mark.parametrize("name", every(8, builtin_formats()))
def test_a_built_in_format_opens_as_its_author_laid_it_out(client: FlaskClient, name: str) -> None:
    html = client.get(f"/formats/edit?from={name}").text
    assert json.loads(area(html, "format"))["name"] == name
    assert area(html, "output.1").split() == builtin_formats()[name].example.split()
    assert f'<option value="{name}" selected>' in html or name == "passthrough"
    assert "it does not run" not in html


@pytest.mark.replays
def test_a_new_format_begins_with_the_skeleton_and_its_example(client: FlaskClient) -> None:
    html = client.get("/formats/edit").text
    assert area(html, "format") == skeleton()
    assert "Nothing found · all samples fine" in words(html)


@pytest.mark.replays
def test_a_format_of_the_folder_opens_as_its_file(client: FlaskClient, folder: Path) -> None:
    assert area(client.get("/formats/edit?from=folder_format").text, "format") == (folder / "own.json").read_text()


@pytest.mark.parametrize("query", ["from=nothing", "source=nothing", "source=example:nothing", "source=case:nothing"])
def test_what_is_not_there_is_404(client: FlaskClient, query: str) -> None:
    assert client.get(f"/formats/edit?{query}").status_code == 404


def test_the_reference_is_a_page(client: FlaskClient) -> None:
    assert "<h1" in client.get("/formats/language").text


@pytest.mark.replays
def test_an_example_opens_with_its_output_tools_and_parser(client: FlaskClient) -> None:
    case = examples()["unknown-tool"].case
    html = client.get("/formats/edit?source=example:unknown-tool").text
    assert area(html, "output.1") == case.text()
    assert json.loads(area(html, "tools")) == list(case.tools)
    assert json.loads(area(html, "format"))["name"] == case.parser.name


@pytest.mark.replays
def test_a_case_with_its_own_format_opens_with_output_and_expectation(client: FlaskClient) -> None:
    data = {"case": json.dumps(inline(context={"reasoning_open": True}))}
    html = client.post("/formats/edit", data=data, follow_redirects=True).text
    assert json.loads(area(html, "format"))["terminals"] == {"CALL_START": "<call>", "CALL_END": "</call>"}
    assert area(html, "output.1") == OUTPUT
    assert json.loads(area(html, "expect.1")) == inline()["expect"]
    assert '<option value="opened" selected>' in html
    assert 'value="1" checked' in html
    assert "As expected." in html


@pytest.mark.replays
def test_a_shared_case_opens_and_is_the_parent_of_what_comes_of_it(client: FlaskClient) -> None:
    saved = client.post("/api/v1/cases", json=inline()).get_json()["id"]
    html = client.get(f"/formats/edit?source=case:{saved}").text
    base = re.search(r'name="base" value="([^"]*)"', html)
    assert base
    assert loads(Markup(base[1]).unescape()).parent == saved


def test_a_case_with_a_broken_format_opens_so_that_it_can_be_mended(client: FlaskClient) -> None:
    fmt = {**json.loads(skeleton()), "initial": "NOWHERE"}
    data = {"case": json.dumps(inline(parser={"name": "my_format", "format": fmt}))}
    html = client.post("/formats/edit", data=data, follow_redirects=True).text
    assert "unknown_initial" in html
    assert area(html, "output.1") == OUTPUT


def test_a_case_of_another_engine_is_refused_in_words(client: FlaskClient) -> None:
    broken = inline(parser={"name": "qwen", "engine": "elsewhere"})
    answer = client.post("/formats/edit", data={"case": json.dumps(broken)}, follow_redirects=True)
    assert (answer.status_code, "another engine" in words(answer.text)) == (422, True)


@pytest.mark.replays
@pytest.mark.parametrize("path", ["/example/unknown-tool", "/c"])
def test_the_machine_pane_leads_to_the_editor(client: FlaskClient, path: str) -> None:
    if path == "/c":
        path = f"/c/{client.post('/api/v1/cases', json=inline()).get_json()['id']}"
    found = re.search(r'href="(/formats/edit\?source=[^"]*)"', client.get(path).text)
    assert found
    assert client.get(Markup(found[1]).unescape()).status_code == 200


def test_the_machine_pane_of_a_run_posts_its_case_to_the_editor(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": OUTPUT}).text
    assert 'formaction="/formats/edit" formmethod="post"' in html


@pytest.mark.replays
def test_htmx_gets_what_is_said_and_no_field(client: FlaskClient) -> None:
    answer = client.post("/formats/edit", data=fields(skeleton(), (OUTPUT, "")), headers=PARTIAL)
    assert answer.status_code == 200
    assert re.findall(r'hx-target="#([\w-]+)"', answer.text) == [
        "format-status", "format-gutter", "format-findings", "format-machine", "sample-outcome-1",
    ]  # fmt: skip
    assert "<textarea" not in answer.text


def test_while_the_text_is_broken_the_last_drawing_and_results_stay(client: FlaskClient) -> None:
    answer = client.post("/formats/edit", data=fields("{", (OUTPUT, "")), headers=PARTIAL)
    assert re.findall(r'hx-target="#([\w-]+)"', answer.text) == ["format-status", "format-gutter", "format-findings"]
    assert "data-stale" in answer.text


@pytest.mark.parametrize("text", ["{ not json", "", skeleton().replace('"to": "CALL"', '"to": "CALLS"')])
def test_nothing_typed_is_lost_and_nothing_broken_runs(client: FlaskClient, text: str) -> None:
    html = client.post("/formats/edit", data=fields(text, (OUTPUT, "{"), ("second", ""), tools="[", beside="qwen")).text
    assert area(html, "format") == text
    assert [area(html, name) for name in ("output.1", "expect.1", "output.2", "tools")] == [OUTPUT, "{", "second", "["]
    assert "Not replayed: the format has an error." in html


def test_a_finding_names_its_line_and_the_caret_behind_it(client: FlaskClient) -> None:
    text = skeleton().replace('"to": "CALL",', '"to": "CALLS",', 1)
    html = client.post("/formats/edit", data=fields(text)).text
    found = re.search(r'data-caret="(\d+)" data-caret-end="(\d+)" data-line="(\d+)"', html)
    assert found
    start, end, line = map(int, found.groups())
    assert (text[start:end], "CALLS" in text.splitlines()[line - 1]) == ('"CALLS"', True)
    assert f'<li class="severity-error">{line}</li>' in html


@pytest.mark.replays
def test_unreachable_states_and_rows_that_cannot_fire_are_said(client: FlaskClient) -> None:
    row = '{"on": "DONE", "to": "LOST"}, {"on": "END", "to": "LOST"}'
    lost = f'"LOST": {{"text": "content", "rows": [{row}]}},\n    "CALL": {{'
    idle = '"rows": [\n        {"on": "OTHER", "to": "CONTENT"},'
    text = skeleton().replace('"CALL": {', lost).replace('"rows": [', idle, 1)
    said = words(client.post("/formats/edit", data=fields(text, (OUTPUT, ""))).text)
    assert "4 states" not in said
    assert "3 states, 1 unreachable" in said
    assert "3 can never fire" in said
    assert "unreachable_state /states/LOST" in said
    assert "never_fires /states/CONTENT/rows/0" in said


@pytest.mark.replays
def test_what_states_accept_and_how_terminals_stand_in_the_vocabulary_is_said(client: FlaskClient) -> None:
    said = words(client.post("/formats/edit", data=fields(skeleton(), (OUTPUT, ""))).text)
    assert "CONTENT first content <call> END" in said
    assert "CALL codec json_call </call> REJECT, OTHER, END" in said
    assert "2 terminals, 2 in the embedded tokenizer's vocabulary" in said


def test_many_states_are_listed_and_not_drawn(client: FlaskClient) -> None:
    states = {f"S{n}": {"text": "content", "rows": [{"on": "END", "to": "S0"}]} for n in range(30)}
    text = json.dumps({"schema": 1, "name": "x", "title": "x", "initial": "S0", "states": states})
    html = client.post("/formats/edit", data=fields(text)).text
    assert "too large to draw while you type" in html
    assert "<code>S29</code>" in html


def test_a_run_of_a_format_that_is_too_large_to_draw_shows_its_table(client: FlaskClient) -> None:
    states = {f"S{n}": {"text": "content", "rows": [{"on": "END", "to": f"S{n}"}]} for n in range(120)}
    text = json.dumps({"schema": 1, "name": "x", "title": "x", "initial": "S0", "states": states, "terminals": {}})
    html = client.post("/formats/inspect", data=fields(text, ("Hi.", ""))).text
    assert "120 rows are too many to draw; the table lists them." in words(html)
    assert 'data-rule="r119"' in html


@pytest.mark.replays
def test_samples_are_compared_with_the_format_beside_and_with_what_is_expected(client: FlaskClient) -> None:
    expect = json.dumps({"content": "Hi.\n", "tool_calls": [{"name": "g", "arguments": {"a": "b"}}]})
    said = words(client.post("/formats/edit", data=fields(skeleton(), (OUTPUT, expect), beside="qwen")).text)
    assert "Not as expected: tool_calls[0].name." in said
    assert re.search(r"The same message under \d+ chunkings, token by token and whole among them", said)
    assert "Not the message of qwen: 4 parts differ." in said
    assert "part my_format, as typed qwen expected" in said
    assert "1 sample failing" in said


@pytest.mark.replays
def test_samples_are_fine_only_if_nothing_at_all_differs(client: FlaskClient) -> None:
    data = fields(skeleton(), (OUTPUT, ""), ("Hi.", ""), ("<call>", ""), beside="qwen")
    assert "no sample failing, 2 differ from qwen" in words(client.post("/formats/edit", data=data).text)
    same = fields(skeleton(), ("Hi.", ""), beside="qwen")
    assert "all samples fine" in words(client.post("/formats/edit", data=same).text)


@pytest.mark.replays
def test_an_example_that_is_no_sample_is_read_in_many_chunkings(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, odd = json.dumps({**BARE, "example": "<call>f:</call>"}), "With the chunking"
    assert odd not in words(client.post("/formats/edit", data=fields(text, (OUTPUT, ""))).text)
    monkeypatch.setattr("webapp.runs.format_example.build", Hasty.build)
    html = client.post("/formats/edit", data=fields(text, (OUTPUT, ""))).text
    assert f'{odd} "whole" the message is not the one of token by token' in words(html)
    assert "The same message under" in words(html)
    assert odd not in words(client.post("/formats/edit", data=fields(text, ("<call>f:</call>", ""))).text)


@pytest.mark.replays
def test_the_format_as_opened_may_stand_beside(client: FlaskClient) -> None:
    data = fields(skeleton().replace("<call>", "<tool>"), (OUTPUT, ""), beside="opened", base=json.dumps(inline()))
    said = words(client.post("/formats/edit", data=data).text)
    assert "my_format, as opened" in said
    assert "no sample failing, 1 differs from my_format" in said
    assert "Not the message of my_format" in said
    assert "my_format, as opened" not in words(client.post("/formats/edit", data={**data, "base": "{"}).text)


SAMPLES = [
    (("x" * 2001, ""), "The output has 2,001 bytes; the limit is 2,000 bytes"),
    (("ÿ 1" * 300, ""), "tokens; the limit is 500 tokens"),
    (("x", "{"), "Expected: Not JSON: Expecting property name"),
    (("x", '{"contents": "x"}'), "Expected: Unknown key"),
]


@pytest.mark.replays
@pytest.mark.parametrize(("sample", "message"), SAMPLES)
def test_a_sample_that_cannot_be_replayed_says_why(client: FlaskClient, sample: tuple[str, str], message: str) -> None:
    assert message in words(client.post("/formats/edit", data=fields(skeleton(), sample)).text)


@pytest.mark.replays
def test_a_sample_too_long_to_replay_while_typing_is_sent_to_the_inspector(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    data = fields(skeleton(), ("ÿ 1" * 8_000, ""))
    said = words(app.test_client().post("/formats/edit", data=data).text)
    assert (
        "too many to replay while you type: the editor takes 20,000. Shorten it, or open it in the inspector." in said
    )
    app.extensions[EXTENSION].store.close()


@pytest.mark.replays
def test_tools_that_are_wrong_are_said_at_the_samples_and_right_ones_count(client: FlaskClient) -> None:
    output = "<call><parameter=a>\n1\n</parameter></call>"
    text = skeleton()
    assert "Tools: Not JSON" in words(client.post("/formats/edit", data=fields(text, (output, ""), tools="{")).text)
    one = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    html = client.post("/formats/edit", data=fields(text, (OUTPUT, ""), tools=json.dumps(one))).text
    assert "Tools:" not in words(html)


def test_a_marker_that_cannot_be_one_is_said_and_not_raised(client: FlaskClient) -> None:
    text = skeleton().replace('"<call>"', '"Ġcall"')
    assert "cannot be a marker" in words(client.post("/formats/edit", data=fields(text, ("x", ""))).text)


@pytest.mark.replays
def test_strings_that_cannot_go_round_are_a_warning_and_a_sample_that_hits_it_is_told(client: FlaskClient) -> None:
    expect = json.dumps({"tool_calls": [{"name": "f", "arguments": {"a": ["x</parameter>y"]}}]})
    output = "<call>f:<parameter=a>x</parameter>y</parameter></call>"
    said = words(client.post("/formats/edit", data=fields(json.dumps(BARE), (output, expect))).text)
    assert "Warning cannot_round_trip /states/CALL/codec" in said
    assert "/a/0 holds </parameter> , which ends a value: no output can spell it in this format." in said
    assert "y</parameter> is left over: the value may have held its own closing tag." in said


@pytest.mark.replays
@pytest.mark.parametrize("number", ["9" * 5000, "²", "-1", "two"])
def test_a_number_that_is_none_is_no_fault_of_the_server(client: FlaskClient, number: str) -> None:
    typed = {"format": skeleton(), "sample": "1", "output.1": "Hi."}
    assert client.post("/formats/edit", data={**typed, "do": f"remove-{number}"}).status_code == 200
    assert client.post("/formats/inspect", data={**typed, "sample_of": number}).status_code in (200, 422)


def test_what_a_server_played_has_no_table_to_edit(client: FlaskClient) -> None:
    case = case_data("recorded/beside-the-output-departs")
    case["parser"] = {"name": "recorded"}
    name = (client.post("/api/v1/cases", json=case).json or {})["id"]
    assert client.get(f"/formats/edit?source=case:{name}").status_code == 422
