"""What the buttons of the editor do, and formats of the folder wherever a parser is chosen."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from markupsafe import Markup

from parsers.cases.io import loads
from parsers.formats.model import NOT_WRITTEN_OUT
from tests.webapp.page.formats.editing import OUTPUT, SHORT, area, fields, inline, words
from webapp.formats.format_text import skeleton
from webapp.page.formats.editor import MOST_SAMPLES


def do(client: FlaskClient, what: str, data: dict[str, Any]) -> str:
    answer = client.post("/formats/edit", data={**data, "do": what})
    assert answer.status_code == 200
    return answer.text


def numbers(html: str) -> list[str]:
    """The samples of a page; the one in the template is number 0."""
    return [number for number in re.findall(r'name="sample" value="(\d+)"', html) if number != "0"]


@pytest.mark.replays
def test_samples_are_added_and_removed_without_script(client: FlaskClient) -> None:
    data = fields(skeleton(), ("one", ""), ("two", ""), ("three", ""))
    assert numbers(do(client, "remove-2", data)) == ["1", "3"]
    assert numbers(do(client, "remove-9", fields(skeleton()))) == []
    html = do(client, "add", {**data, "sample": ["1", "3"]})
    assert numbers(html) == ["1", "3", "4"]
    assert area(html, "output.3") == "three"


def test_there_is_an_end_to_samples(client: FlaskClient) -> None:
    full = fields(skeleton(), *[("x", "")] * MOST_SAMPLES)
    html = do(client, "add", full)
    assert len(numbers(html)) == MOST_SAMPLES
    assert "data-add data-most" in html
    assert "disabled>Add a sample" in html


@pytest.mark.replays
def test_todays_result_becomes_what_is_expected(client: FlaskClient) -> None:
    html = do(client, "accept-1", fields(skeleton(), (OUTPUT, "")))
    calls = [{"name": "f", "arguments": {"a": "b"}}]
    assert json.loads(area(html, "expect.1")) == {"reasoning": None, "content": "Hi.\n", "tool_calls": calls}
    assert "As expected." in html
    assert area(do(client, "accept-1", fields("{", (OUTPUT, "kept"))), "expect.1") == "kept"


@pytest.mark.replays
def test_tidy_lays_the_text_out_and_keeps_what_is_no_json(client: FlaskClient) -> None:
    flat = json.dumps(json.loads(skeleton()))
    assert area(do(client, "tidy", fields(flat)), "format") == skeleton()
    assert area(do(client, "tidy", fields("{ x")), "format") == "{ x"


def test_a_sample_goes_to_the_inspector_with_the_format_in_it(client: FlaskClient) -> None:
    data = fields(skeleton(), ("first", ""), (OUTPUT, ""))
    first = client.post("/formats/inspect", data=data).text
    second = client.post("/formats/inspect", data={**data, "sample_of": "2"}).text
    assert "The case brings its own format." in first
    assert "tool_calls[0]" not in first
    assert "CallStart" in second


def test_a_shared_sample_is_stored_with_its_format_and_runs_anywhere(client: FlaskClient) -> None:
    html = client.post("/formats/share", data=fields(skeleton(), (OUTPUT, ""))).text
    case = re.search(r'name="case" value="([^"]*)"', html)
    assert case
    answer = client.post("/cases", data={"case": Markup(case[1]).unescape(), "title": "Mine"})
    assert answer.status_code == 201
    stored = loads(client.get(answer.headers["Location"] + ".json").text)
    assert stored.parser.format is not None
    assert stored.parser.format.name == "my_format"


def test_the_case_file_has_the_expectation_and_what_the_editor_has_no_field_for(client: FlaskClient) -> None:
    base = inline(title="A title", notes=["why"], replay=[{"by": "cuts", "cuts": [3]}, {"by": "char"}])
    kept = client.post("/formats/case", data=fields(skeleton(), (OUTPUT, '{"content": "x"}'), base=json.dumps(base)))
    case = loads(kept.data)
    assert (case.title, case.notes, len(case.replay)) == ("A title", ("why",), 2)
    assert case.expect is not None
    assert case.expect.content == "x"
    assert kept.headers["Content-Disposition"] == 'attachment; filename="a-title.case.json"'
    changed = loads(client.post("/formats/case", data=fields(skeleton(), ("other", ""), base=json.dumps(base))).data)
    assert (changed.text(), [one.by for one in changed.replay], changed.expect) == ("other", ["char"], None)


def test_case_files_of_untitled_samples_have_names_of_their_own(client: FlaskClient) -> None:
    answers = [client.post("/formats/case", data=fields(skeleton(), (text, ""))) for text in (OUTPUT, "other")]
    names = {answer.headers["Content-Disposition"].partition("filename=")[2].strip('"') for answer in answers}
    assert (len(names), all(name.startswith("my-format-") for name in names)) == (2, True), names


def test_recorded_tokens_stay_as_long_as_the_text_is_theirs(client: FlaskClient) -> None:
    base = inline(input={"tokens": [[7, "a"], [8, "b"]]}, source={"kind": "recorded"}, expect=None)
    del base["expect"]
    same = loads(client.post("/formats/case", data=fields(skeleton(), ("ab", ""), base=json.dumps(base))).data)
    other = loads(client.post("/formats/case", data=fields(skeleton(), ("abc", ""), base=json.dumps(base))).data)
    assert (same.mode(), other.mode()) == ("ids", "text")


@pytest.mark.parametrize(("text", "name"), [(skeleton(), "my_format.json"), ("{ broken", "format.json")])
def test_the_format_downloads_as_typed(client: FlaskClient, text: str, name: str) -> None:
    answer = client.post("/formats/file", data=fields(text.replace("\n", "\r\n")))
    assert answer.get_data(as_text=True) == text
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.replays
@pytest.mark.parametrize("path", ["inspect", "share", "case"])
@pytest.mark.parametrize(("sample", "message"), [(("x" * 2001, ""), "2,000 bytes"), (("x", "{"), "/expect: not JSON")])
def test_what_cannot_be_done_comes_back_with_everything_typed(
    client: FlaskClient, path: str, sample: tuple[str, str], message: str
) -> None:
    answer = client.post(f"/formats/{path}", data=fields(skeleton(), sample))
    if path == "case" and "bytes" in message:
        assert answer.status_code == 200  # a file of any size is the user's own
        return
    assert answer.status_code == 422
    assert message in words(answer.text)
    assert area(answer.text, "expect.1") == sample[1]


def test_a_broken_format_is_refused_with_its_line(client: FlaskClient) -> None:
    text = skeleton().replace('"to": "CALL",', '"to": "CALLS",', 1)
    answer = client.post("/formats/inspect", data=fields(text, (OUTPUT, "")))
    assert answer.status_code == 422
    assert "/parser/format/states/CONTENT/rows/0/to: line 13: CONTENT goes to CALLS" in words(answer.text)


@pytest.mark.replays
def test_a_text_that_extends_another_is_written_out_on_demand(client: FlaskClient) -> None:
    assert 'name="do" value="expand"' in do(client, "check", fields(SHORT))
    written = area(do(client, "expand", fields(SHORT)), "format")
    data = json.loads(written)
    assert not {"extends", "reasoning"} & data.keys()
    assert list(data["states"]) == ["CONTENT", "REASONING", "CALL"]
    assert written.index('"name"') < written.index('"terminals"') < written.index('"example"')
    assert area(do(client, "expand", fields(written)), "format") == written
    broken = SHORT.replace("folder_format", "nobody")
    assert area(do(client, "expand", fields(broken)), "format") == broken
    no_format = SHORT.replace('"title": "Extends another"', '"title": 3')
    assert json.loads(area(do(client, "expand", fields(no_format)), "format"))["title"] == 3


@pytest.mark.replays
def test_every_part_that_the_text_does_not_hold_says_where_it_comes_from(client: FlaskClient) -> None:
    text = words(do(client, "check", fields(SHORT, (OUTPUT, ""))))
    assert "r0 CONTENT <call> from folder_format CALL" in text
    assert "r1 CONTENT <think> reasoning block REASONING" in text
    assert "CALL from folder_format codec json_call" in text
    assert "THINK_START reasoning block" in text
    assert "CALL_START from folder_format" in text
    own = words(do(client, "check", fields(skeleton())))
    assert ("reasoning block" in own, "from folder_format" in own) == (False, False)


@pytest.mark.replays
def test_a_finding_about_an_inherited_row_names_the_parent_and_leads_to_its_name(client: FlaskClient) -> None:
    data = {**json.loads(SHORT), "states": {"CALL": None}}
    html = do(client, "check", fields(json.dumps(data, indent=1)))
    assert "unknown_target /extends From folder_format: CONTENT goes to CALL on CALL_START" in words(html)
    assert 'aria-label="Line 5, column 13"' in html
    (unreachable,) = re.findall(r'badge severity-warning">unreachable', do(client, "check", fields(lost_state())))
    assert unreachable


def lost_state() -> str:
    """A format that extends another and has a state of its own that nothing leads to."""
    lost = {"text": "content", "rows": [{"on": "CALL_END", "to": "LOST"}]}
    return json.dumps({**json.loads(SHORT), "states": {"LOST": lost}})


def test_a_parent_that_is_not_there_is_an_error_at_its_name(client: FlaskClient) -> None:
    html = do(client, "check", fields(SHORT.replace("folder_format", "nobody")))
    assert "not_a_format /extends There is no format 'nobody' to extend." in words(html)


@pytest.mark.parametrize("path", ["inspect", "share", "case"])
def test_a_case_of_the_editor_holds_the_format_written_out(client: FlaskClient, path: str) -> None:
    answer = client.post(f"/formats/{path}", data=fields(SHORT, (OUTPUT, ""), base=json.dumps(inline())))
    assert_written_out(json.loads(answer.text) if path == "case" else carried(answer.text))


def carried(html: str) -> dict[str, Any]:
    """The case that a page carries."""
    found: dict[str, Any] = json.loads(Markup(re.findall(r'name="case" value="([^"]*)"', html)[0]).unescape())
    return found


def assert_written_out(case: dict[str, Any]) -> None:
    """Its format has the rows of the parent and of the block, and neither of the two keys."""
    fmt = case["parser"]["format"]
    assert (fmt["name"], {"extends", "reasoning"} & fmt.keys()) == ("short_format", set())
    assert [row["on"] for row in fmt["states"]["CONTENT"]["rows"]] == ["CALL_START", "THINK_START", "THINK_END", "END"]


def test_what_is_shared_stored_exported_and_searched_is_written_out(client: FlaskClient) -> None:
    case = json.loads(client.post("/formats/case", data=fields(SHORT, (OUTPUT, ""))).text)
    stored = client.post("/cases", data={"case": json.dumps(case), "title": "Mine"}).headers["Location"]
    assert_written_out(client.get(f"{stored}.json").get_json())
    saved = client.post("/api/v1/cases", json=case).get_json()["id"]
    assert_written_out(client.get(f"/api/v1/cases/{saved}/export/case").get_json())
    html = client.post("/run", data={"case": json.dumps(case)}).text
    assert_written_out(carried(html))


@pytest.mark.parametrize("path", ["/api/v1/replay", "/api/v1/find", "/api/v1/cases"])
def test_a_case_whose_format_is_not_written_out_is_refused_in_one_sentence(client: FlaskClient, path: str) -> None:
    case = {"schema": 1, "parser": {"name": "short_format", "format": json.loads(SHORT)}, "input": {"text": OUTPUT}}
    answer = client.post(path, json=case)
    error = answer.get_json()["error"]
    assert (answer.status_code, error["field"]) == (422, "/parser/format")
    assert error["message"] == NOT_WRITTEN_OUT.format(key="extends")


def test_the_page_chooses_formats_of_the_folder_and_writes_them_into_the_case(client: FlaskClient) -> None:
    assert (
        '<option value="folder_format">folder_format (Of the folder, formats folder)</option>' in client.get("/").text
    )
    html = client.post("/run", data={"text": OUTPUT, "parser": "folder_format"}).text
    case = re.search(r'name="case" value="([^"]*)"', html)
    assert case
    assert loads(Markup(case[1]).unescape()).parser.format is not None


def test_a_case_with_its_own_format_is_not_shown_under_the_built_in_title(client: FlaskClient) -> None:
    data = fields(skeleton().replace("my_format", "qwen"), (OUTPUT, ""))
    html = client.post("/formats/inspect", data=data).text
    assert '<option value="qwen" selected>qwen</option>' in html
    assert html.count('<option value="qwen"') == 1


def test_a_carried_case_may_name_a_format_of_the_folder(client: FlaskClient) -> None:
    case = {"schema": 1, "parser": {"name": "mine"}, "input": {"text": OUTPUT}}
    assert "CallStart" in client.post("/run", data={"case": json.dumps(case)}).text


def test_the_api_lists_and_runs_formats_of_the_folder(client: FlaskClient) -> None:
    listed = {one["name"]: one["kind"] for one in client.get("/api/v1/parsers").get_json()}
    assert (listed["qwen"], listed["folder_format"]) == ("table", "folder")
    case = {"schema": 1, "parser": {"name": "mine"}, "input": {"text": OUTPUT}}
    assert client.post("/api/v1/replay", json=case).get_json()["message"]["tool_calls"][0]["name"] == "f"
    saved = client.post("/api/v1/cases", json=case).get_json()["id"]
    assert client.get(f"/api/v1/cases/{saved}").get_json()["parser"]["format"]["name"] == "folder_format"
