"""The template part of the form: what is typed, what is said of it, and the case it makes."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from parsers.cases.io import loads
from webapp.page.addresses.subjects import is_loopback
from webapp.page.form.form_page import template_examples
from webapp.page.sharing.preview_picture import picture_file
from webapp.runs.exports import TARGETS, filename
from webapp.services import EXTENSION

JSON_CALLS = template_examples()["json"]
TEMPLATE: dict[str, Any] = json.loads(JSON_CALLS.text)
TEMPLATE_OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
OUTPUT = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'


def fields(**more: str) -> dict[str, str]:
    given = {
        "parser": "response_template",
        "text": TEMPLATE_OUTPUT,
        "template": JSON_CALLS.text,
        "prompt_tail": JSON_CALLS.prefix,
    }
    return {**given, **more}


def case_text(client: FlaskClient) -> str:
    html = client.post("/run", data=fields()).text
    found = re.search(r'name="case" value="([^"]*)"', html)
    assert found
    return found[1].replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")


@pytest.mark.replays
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


@pytest.mark.replays
def test_an_exported_test_runs_the_template(client: FlaskClient, tmp_path: Path) -> None:
    file = tmp_path / "test_template.py"
    expect = {"content": "Hi.", "tool_calls": [{"name": "f", "arguments": {"a": "b"}}]}
    answer = client.post("/export/pytest", data={"case": case_text(client), "expect": json.dumps(expect)})
    file.write_bytes(answer.data)
    assert "response_template" in file.read_text("utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", str(file)],
        cwd=Path(__file__).parents[4], capture_output=True, text=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.replays
@pytest.mark.parametrize("target", ["case", "jsonl", "markdown", "sse"])
def test_other_exports_have_the_run(client: FlaskClient, target: str) -> None:
    answer = client.post(f"/export/{target}", data={"case": case_text(client)})
    assert (answer.status_code, b"tool_call" in answer.data) == (200, True)


@pytest.mark.parametrize("target", ["case", "jsonl", "sse", "pytest"])
@pytest.mark.replays
def test_no_check_is_run_for_an_export_that_tells_of_none(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.delattr("webapp.runs.runner.Runner.checked")
    posted = {"case": a_case("Long. " * 300), "expect": '{"content": "x"}'}
    assert client.post(f"/export/{target}", data=posted).status_code == 200


@pytest.mark.replays
def test_checks_of_a_report_that_take_too_long_go_on_when_it_is_asked_for_again(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.runs.runner.CHECKS_SHARE", 0)
    posted, done = {"case": a_case("Long. " * 200)}, [-1]
    while (again := client.post("/export/markdown", data=posted)).status_code == 503:
        done += [int(one) for one in re.findall(r"(\d+)% of them are made and kept\. Send the same", again.text)]
        assert done == sorted(done)
    assert (again.status_code, len(done) > 2) == (200, True)


def a_case(text: str = OUTPUT, **more: Any) -> str:
    return json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **more})


def share(client: FlaskClient, text: str, **fields: str) -> tuple[str, str]:
    """Share a text; its address and its delete key."""
    html = client.post("/cases", data={"case": a_case(text), **fields}).text
    path, key = re.search(r'href="((?:/t)?/c/\w{16})', html), re.search(r'id="delete-key" value="([^"]+)"', html)
    assert path
    assert key
    return path[1], key[1]


def test_the_first_save_shows_link_and_key_and_is_not_cached(client: FlaskClient) -> None:
    answer = client.post("/cases", data={"case": a_case("first"), "title": "T", "note": "wrong"})
    assert answer.status_code == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert 'id="delete-key"' in answer.text
    assert "Set-Cookie" not in answer.headers


def test_saving_again_leads_to_the_same_address(client: FlaskClient) -> None:
    path, _ = share(client, "again", title="One", note="Why\nnot", tags="a, b")
    for same in ({}, {"title": " One "}, {"note": "not", "tags": "b"}):
        answer = client.post("/cases", data={"case": a_case("again"), **same})
        assert (answer.status_code, answer.headers["Location"]) == (200, path)
        assert "It was shared before" in answer.text
        assert "as far as you shared it" in answer.text


def test_the_key_of_each_sharer_withdraws_their_share(client: FlaskClient) -> None:
    path, first = share(client, "shared twice", title="Mine", listed="1")
    second = re.findall(
        r'id="delete-key" value="([^"]+)"', client.post("/cases", data={"case": a_case("shared twice")}).text
    )
    answer = client.post(f"{path}/delete", data={"key": first})
    assert "Others shared the same case" in answer.text
    page = client.get(path)
    assert (page.status_code, "Mine" in page.text, "shared twice" in page.text) == (200, False, True)
    assert client.post(f"{path}/delete", data={"key": first}).status_code == 422
    assert "Deleted. Its text is gone" in client.post(f"{path}/delete", data={"key": second[0]}).text
    assert client.get(path).status_code == 410


@pytest.mark.replays
def test_a_share_ends_by_itself_where_its_sharer_chose_that(client: FlaskClient) -> None:
    store = client.application.extensions[EXTENSION].store
    assert 'name="expires"' in client.post("/share", data={"case": a_case()}).text
    answer = client.post("/cases", data={"case": a_case("for a day"), "expires": "day", "listed": "1"})
    path = answer.headers["Location"]
    assert "It expires on 20" in answer.text
    assert client.get(path).status_code == client.get(f"{path}/preview.png").status_code == 200
    then = store.now()
    store.now = lambda: then.replace(then[:4], "2999", 1)
    gone = client.get(path)
    assert (gone.status_code, "This case expired on 20" in gone.text) == (410, True)
    assert client.get(f"{path}/preview.png").status_code == 410
    assert not picture_file(client.application.extensions[EXTENSION].settings, path[3:]).exists()
    assert client.post("/cases", data={"case": a_case(), "expires": "year"}).status_code == 422


DROPPED = [
    ({"title": "Two"}, "as One before, and the title that you gave now is not stored."),
    ({"title": "One", "note": "Because"}, "as One before, and the note that you gave now is not stored."),
    ({"tags": "b, c"}, "as One before, and the tags that you gave now are not stored."),
    (
        {"title": "Two", "tags": "c", "listed": "1"},
        "as One before, and the title, tags that you gave now are not stored.",
    ),
]


@pytest.mark.replays
@pytest.mark.parametrize(("given", "said"), DROPPED)
def test_words_that_a_known_case_does_not_take_over_are_named(
    client: FlaskClient, given: dict[str, str], said: str
) -> None:
    text = f"known {said}"
    path, _ = share(client, text, title="One", note="Why", tags="a, b")
    answer = client.post("/cases", data={"case": a_case(text), **given})
    assert (answer.status_code, answer.headers["Location"]) == (200, path)
    assert said in " ".join(BeautifulSoup(answer.text, "html.parser").text.split())
    assert "Two" not in client.get(f"{path}.json").text


def test_a_title_that_a_known_case_without_one_does_not_take_over_is_named_when_it_is_listed(
    client: FlaskClient,
) -> None:
    share(client, "nameless")
    answer = client.post("/cases", data={"case": a_case("nameless"), "title": "Now", "listed": "1"})
    words = " ".join(BeautifulSoup(answer.text, "html.parser").text.split())
    assert "this one was shared without a title before, and the title that you gave now is not stored." in words
    assert "It is listed in the library." in words


SAID = {"title": "Acme", "notes": ["secret", "and more"], "flags": ["a"]}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("form", "kept"),
    [
        ({"title": "", "note": " ", "tags": ""}, {}),
        ({"title": "Acme", "note": " secret\r\nand more", "tags": "a"}, SAID),
        ({"title": "New", "note": "", "tags": "b"}, {"title": "New", "flags": ["b"]}),
        ({"note": "other"}, {**SAID, "notes": ["other"]}),
        ({}, SAID),
    ],
)
def test_a_field_that_is_emptied_says_nothing_and_one_that_is_not_sent_leaves_what_the_case_says(
    client: FlaskClient, form: dict[str, str], kept: dict[str, Any]
) -> None:
    text = f"words{len(form)}{len(kept)}"
    posted = {"case": a_case(text, **SAID), "listed": "1", **form}
    path = client.post("/cases", data=posted).headers["Location"]
    stored = json.loads(client.get(f"{path}.json").data)
    assert {name: stored[name] for name in SAID if name in stored} == kept
    (listed,) = client.get("/api/v1/library", query_string={"q": text}).get_json()["cases"]
    assert (listed["title"], listed["tags"]) == (kept.get("title", ""), kept.get("flags", []))


@pytest.mark.replays
def test_a_shared_case_leads_with_title_and_note_and_keeps_its_tokens(client: FlaskClient) -> None:
    path, _ = share(client, "lead", title="The title", note="What <b>is</b> wrong\r\nhere")
    html = client.get(path).text
    assert "<h2>The title</h2>" in html
    assert "What &lt;b&gt;is&lt;/b&gt; wrong\nhere" in html
    assert loads(client.get(f"{path}.json").data).input.tokens
    assert client.get(f"{path}.txt").data == b"lead"


def test_the_link_points_at_where_its_sharer_stood_or_the_first_finding(client: FlaskClient) -> None:
    asked = {"case": a_case(OUTPUT, tools=[{"name": "g"}])}
    answer = client.post("/cases", data=asked)
    assert re.search(r'value="http://localhost/c/\w{16}\?step=\d+"', answer.text)
    assert re.search(
        r'value="http://localhost/c/\w{16}\?step=2"', client.post("/cases", data={**asked, "step": "2"}).text
    )


@pytest.mark.replays
@pytest.mark.parametrize(
    ("view", "leads"),
    [
        ("step=2&pins=1,2&until=sent:args&dock=wire", "?step=2&dock=wire&until=sent:args&pins=1,2"),
        ("step=2&until=held > 3&find=1&nonsense=x", "?step=2&until=held+%3E+3"),
        ("step=end&filter=a%26b%3D1", "?step=end&filter=a%26b%3D1"),
        ("step=3&chunk=whole&screen=step", "?step=3&chunk=whole&screen=step#step"),
    ],
)
def test_the_link_keeps_what_its_sharer_looked_at_whoever_shared_it_before(
    client: FlaskClient, view: str, leads: str
) -> None:
    asked = {"case": a_case(OUTPUT, tools=[{"name": "g"}])}
    client.post("/cases", data={**asked, "view": "step=7&pins=7"})
    answer = client.post("/cases", data={**asked, "view": view})
    link = BeautifulSoup(answer.text, "html.parser").select_one("#permalink")
    assert link is not None
    assert re.sub(r".*/c/\w{16}", "", str(link["value"])) == leads


def test_the_share_page_of_a_run_carries_what_is_looked_at(client: FlaskClient) -> None:
    page = client.get("/example/unknown-tool/share?step=3&pins=2,3&until=commit&dock=events")
    field = BeautifulSoup(page.text, "html.parser").select_one("[name=view]")
    assert field is not None
    assert field["value"] == "step=3&dock=events&until=commit&pins=2,3"


def test_examples_and_shared_cases_can_be_shared_by_name(client: FlaskClient) -> None:
    assert client.post("/cases", data={"source": "example:unknown-tool"}).status_code == 201
    path, _ = share(client, "by name")
    assert client.post("/cases", data={"source": f"case:{path[3:]}"}).status_code == 200


@pytest.mark.parametrize("data", [{}, {"case": "{"}, {"source": "nonsense:x"}])
def test_nothing_to_share_is_refused(client: FlaskClient, data: dict[str, str]) -> None:
    assert client.post("/cases", data=data).status_code == 422


def test_the_share_page_of_a_copy_says_that_a_listed_one_names_no_parent_that_is_not_listed(
    client: FlaskClient,
) -> None:
    for listed in ("", "1"):
        path = client.post("/cases", data={"case": a_case(f"{OUTPUT}{listed}"), "listed": listed}).headers["Location"]
        copy = a_case(f"{OUTPUT} of a copy", parent=path[3:])
        assert ("will not name it" in client.post("/share", data={"case": copy}).text) == (not listed)


def test_share_pages_say_what_is_stored(client: FlaskClient) -> None:
    path, _ = share(client, "page")
    pages = [
        client.post("/share", data={"case": a_case()}),
        client.get("/example/unknown-tool/share"),
        client.get(f"{path}/share"),
    ]
    for page in pages:
        assert page.status_code == 200
        assert "shown once" in page.text
        assert "listens on this machine only" in page.text


def test_a_broken_case_cannot_be_shared(client: FlaskClient) -> None:
    assert client.post("/share", data={"case": "{"}).status_code == 422


def test_a_copy_names_its_parent(client: FlaskClient) -> None:
    path, _ = share(client, "parent")
    html = client.get(f"{path}/edit").text
    assert f'name="parent" value="{path[3:]}"' in html
    run = client.post("/run", data={"text": "child", "parent": path[3:]}).text
    assert f"parent&#34;:&#34;{path[3:]}" in run


def test_a_case_is_deleted_by_its_key_only(client: FlaskClient) -> None:
    path, key = share(client, "delete me")
    assert client.get(f"{path}/delete").status_code == 200
    assert client.post(f"{path}/delete", data={"key": "wrong"}).status_code == 422
    assert "Deleted." in client.post(f"{path}/delete", data={"key": key}).text
    gone = client.get(path)
    assert gone.status_code == 410
    assert "was deleted on" in gone.text


@pytest.mark.replays
def test_a_posted_run_says_that_it_is_shared_until_that_is_deleted(client: FlaskClient) -> None:
    token = client.post("/run", data={"text": "kept", "parser": "qwen"}).headers["X-Held-Run"]
    share_page = BeautifulSoup(client.get(f"/r/{token}/share").text, "html.parser")
    sent = {one["name"]: one["value"] for one in share_page.select("#share-form input[type=hidden]")}
    answer = client.post("/cases", data={**sent, "title": "Kept words"})
    key = BeautifulSoup(answer.text, "html.parser").select_one("#delete-key")
    assert key is not None
    path = answer.headers["Location"]
    for _ in range(2):
        page = client.get(f"/r/{token}").text
        assert 'data-heading="Kept words" data-note="shared"' in page
        assert f'<a href="{path}" data-leads-here>' in page
        client.post("/run", data={"case": sent["case"], "held": token})
    client.post(f"{path}/delete", data={"key": key["value"]})
    assert 'data-heading="Unsaved run" data-note="not shared"' in client.get(f"/r/{token}").text


def test_a_result_that_changed_since_is_announced(client: FlaskClient, app: Any) -> None:
    path, _ = share(client, "changed")
    assert "not the one that was shared" not in client.get(path).text
    store = app.extensions["inspector"].store
    body = client.get(f"{path}.json").text
    other = "0123456789abcdef"
    store.save(other, body, "another digest", "0.0.1")
    assert "not the one that was shared" in client.get(f"/c/{other}").text


def test_a_suite_that_cannot_say_a_case_is_not_offered_and_says_why(client: FlaskClient) -> None:
    path, _ = share(client, "no template")
    page = client.get(path).text
    assert ("vLLM Rust test" in page, "transformers test" in page) == (True, False)
    answer = client.post("/export/transformers", data={"case": a_case(), "expect": '{"content": "x"}'})
    assert answer.status_code == 422
    assert "this case brings none along" in answer.text


@pytest.mark.replays
@pytest.mark.parametrize("target", [target for target in TARGETS if target != "transformers"])
def test_every_export_is_a_download(client: FlaskClient, target: str) -> None:
    path, _ = share(client, f"export {target}")
    expect = {"expect": '{"content": "x", "tool_calls": []}', "case": a_case(f"export {target}")}
    tests = TARGETS[target].tests
    answer = client.post(f"/export/{target}", data=expect) if tests else client.get(f"{path}/export/{target}")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    assert answer.data


def test_examples_are_exported_too(client: FlaskClient) -> None:
    answer = client.get("/example/unknown-tool/export/case")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="a-tool-nobody-declared.case.json"'


def test_a_test_file_needs_a_word_on_what_is_right(client: FlaskClient) -> None:
    asked = client.post("/export/pytest", data={"case": a_case()})
    assert "What should come out?" in asked.text
    assert "&#34;name&#34;: &#34;f&#34;" in asked.text
    wrong = client.post("/export/pytest", data={"case": a_case(), "expect": '{"nonsense": 1}'})
    assert wrong.status_code == 422
    right = client.post("/export/pytest", data={"case": a_case(), "expect": '{"content": "Hi"}'})
    ast.parse(right.text)


def test_a_report_of_a_shared_case_has_its_link(client: FlaskClient) -> None:
    path, _ = share(client, "report")
    assert f"http://localhost{path}" in client.get(f"{path}/export/markdown").text


@pytest.mark.parametrize(
    ("path", "status"), [("/example/unknown-tool/export/nonsense", 404), ("/c/0/export/case", 404)]
)
def test_unknown_exports_are_not_found(client: FlaskClient, path: str, status: int) -> None:
    assert client.get(path).status_code == status


def test_an_export_of_nothing_is_refused(client: FlaskClient) -> None:
    assert client.post("/export/case").status_code == 422


@pytest.mark.replays
@pytest.mark.parametrize("target", [target for target in TARGETS if target not in ("transformers", "llamacpp")])
def test_files_of_untitled_outputs_have_names_of_their_own(client: FlaskClient, target: str) -> None:
    names = []
    for text in ("one output", "another output"):
        case = a_case(
            f"{text} {OUTPUT}", tools=[{"name": "f"}], expect={"tool_calls": [{"name": "g", "arguments": {}}]}
        )
        case_id = client.post("/api/v1/cases", json=json.loads(case)).get_json()["id"]
        stored = [f"/c/{case_id}/export/{target}", f"/api/v1/cases/{case_id}/export/{target}"]
        answers = [client.post(f"/export/{target}", data={"case": case}), *map(client.get, stored)]
        said = [answer.headers["Content-Disposition"].partition("filename=")[2].strip('"') for answer in answers]
        assert all(case_id[:8] in name and len(name) < 50 for name in said[1:])
        assert said[1] == said[2]
        names.append({*said})
    assert names[0].isdisjoint(names[1])


def test_a_name_that_leaves_no_letters_is_no_title_for_a_file(client: FlaskClient) -> None:
    path, _ = share(client, "letters", title="日本")
    case_id, answer = path.rpartition("/")[2], client.get(f"{path}/export/case")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="case-{case_id[:8]}.case.json"'


@pytest.mark.parametrize(
    ("title", "suffix", "name"),
    [
        ("A tool, nobody's!", ".md", "a-tool-nobody-s.md"),
        ("A b", "_test.py", "a_b_test.py"),
        ("日本", ".md", "case.md"),
    ],
)
def test_file_names_are_plain(title: str, suffix: str, name: str) -> None:
    assert filename(title, suffix) == name


@pytest.mark.parametrize(
    ("public", "host", "loopback"),
    [(None, "http://127.0.0.1:8765/", True), (None, "http://[::1]/", True), (None, "http://10.0.0.3/", False),
     ("https://inspector.example", "http://127.0.0.1/", False)],
)  # fmt: skip
def test_loopback_is_known(public: str | None, host: str, loopback: bool) -> None:
    assert is_loopback(public or host) is loopback


def test_a_shared_case_run_again_keeps_its_tokens_without_carrying_them(client: FlaskClient) -> None:
    text = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"tokens": [[None, "he"], [None, "llo"]]}})
    answer = client.post("/cases", data={"case": text})
    path = re.search(r'href="(/c/\w{16})', answer.text)
    assert path
    html = client.get(path[1]).text
    assert f'name="source" value="case:{path[1][3:]}"' in html
    assert 'name="base"' not in html
    run = client.post("/run", data={"text": "hello", "source": f"case:{path[1][3:]}", "parser": "passthrough"}).text
    assert "tokens&#34;:[[null,&#34;he&#34;],[null,&#34;llo&#34;]]" in run
