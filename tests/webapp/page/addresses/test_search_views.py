"""The addresses of a search: started, asked, cancelled, shown, with script and without."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from parsers.vocabulary.trace import Proof
from tests.webapp.page.searches import FAULTY, SLOW, faulty_search
from webapp.app import create_app
from webapp.engines import ENGINES
from webapp.jobs.searches import Searches
from webapp.services import EXTENSION
from webapp.settings import Settings

PATIENCE = 300  # seconds: a busy machine shortens no search
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TEXT = f"{CALL}\n{CALL.replace('f', 'g')}"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), find_seconds=PATIENCE)
    app = create_app(settings)
    services = app.extensions[EXTENSION]
    services.searches = Searches(settings, faulty_search.__module__)
    with pytest.MonkeyPatch.context() as patch:
        for name, engine in FAULTY.items():
            patch.setitem(ENGINES, name, engine)
        yield app
    services.searches.close()
    services.store.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def line(text: str = TEXT, engine: str | None = None, **more: Any) -> str:
    parser = {"name": "qwen"} | ({"engine": engine} if engine else {})
    return json.dumps({"schema": 1, "parser": parser, "input": {"text": text}, **more})


def shared(client: FlaskClient, case: str) -> str:
    """The address of a case once it is stored."""
    return str(client.post("/cases", data={"case": case}).headers["Location"]).partition("?")[0]


def finished(client: FlaskClient, app: Flask, path: str) -> str:
    """The page of a stored case whose search is over."""
    found = client.get(f"{path}?find=1").text
    for job in list(app.extensions[EXTENSION].searches.jobs._active.values()):
        job.wait(PATIENCE)
    return client.get(path).text if "data-searching" in found else found


def carried(html: str, name: str) -> str:
    found = re.search(rf'name="{name}"\s+value="([^"]*)"', html)
    assert found
    return unescape(found[1])


@pytest.mark.replays
def test_a_page_starts_its_search_and_says_so(client: FlaskClient) -> None:
    html = client.get("/example/unknown-tool").text
    assert 'hx-get="/example/unknown-tool/find"' in html
    assert "data-searching" in html
    assert "after a first look" in html


@pytest.mark.replays
def test_a_long_output_is_searched_when_somebody_asks(client: FlaskClient) -> None:
    html = client.post("/run", data={"case": line("word " * 5_000)}).text
    assert "data-searching" not in html
    assert re.search(r'hx-get="/r/[0-9a-f]{32}/find"', html)
    assert "Find a failing one" in html


@pytest.mark.replays
def test_a_search_without_script_comes_with_the_page_and_stays(client: FlaskClient, app: Flask) -> None:
    path = shared(client, line(engine="loses-second"))
    html = finished(client, app, path)
    assert "Smallest case: " in html
    assert "Outcome A" in html
    assert "data-heat" in html
    assert "data-searching" not in html
    assert "Smallest case: " in client.get(path).text


@pytest.mark.replays
def test_a_posted_run_is_searched_without_script_by_posting_it(client: FlaskClient, app: Flask) -> None:
    fields = {"case": line("Some words."), "go": "find=1&step=2"}
    client.post("/run", data=fields)
    for job in list(app.extensions[EXTENSION].searches.jobs._active.values()):
        job.wait(PATIENCE)
    html = client.post("/run", data=fields).text
    assert "Searched, " in html
    assert 'data-step-now="2"' in html


@pytest.mark.replays
def test_asked_by_htmx_a_finished_search_sends_what_it_changed(client: FlaskClient, app: Flask) -> None:
    path = shared(client, line(engine="loses-second"))
    finished(client, app, path)
    parts = client.get(f"{path}/find", headers=PARTIAL).text
    for target in ("said", "overview", "chunkings", "findings"):
        assert f'hx-target="#{target}"' in parts
    assert "<html" not in parts
    assert "data-searching" not in parts
    assert "<html" in client.get(f"{path}/find").text


def test_a_posted_run_is_searched_and_cancelled_by_posting_it(client: FlaskClient, app: Flask) -> None:
    case = line(SLOW)
    first = client.post("/find", data={"case": case}, headers=PARTIAL).text
    assert 'id="search-poll"' in first
    assert "data-searching" in first
    assert 'hx-target="#search"' in first
    assert "hx-target=\"#said\"" not in first  # fmt: skip
    job = next(iter(app.extensions[EXTENSION].searches.jobs._active.values()))
    cancelled = client.post("/find/cancel", data={"case": case}, headers=PARTIAL).text
    assert job.state == "cancelled"
    assert "The search was cancelled." in cancelled
    assert "Search again" in cancelled
    polled = client.post("/find", data={"case": case}, headers=PARTIAL).text
    assert "cancelled" in polled
    again = client.post("/find", data={"case": case, "again": "1"}, headers=PARTIAL).text
    assert "data-searching" in again
    client.post("/find/cancel", data={"case": case})


@pytest.mark.replays
def test_without_script_a_slow_search_shows_how_far_it_is(client: FlaskClient, monkeypatch: Any) -> None:
    monkeypatch.setattr("webapp.page.addresses.inspect_views.WAIT_SECONDS", 0.5)
    path = shared(client, line(f"{SLOW} Really."))
    html = client.get(f"{path}?find=1").text
    assert "Look again" in html
    assert re.search(r"<progress|starting", html)
    source = f"case:{path.rpartition('/')[2]}"
    assert carried(html, "source") == source
    assert "Search again" in client.post("/find/cancel", data={"source": source}).text


@pytest.mark.replays
def test_an_example_can_be_cancelled_by_name(client: FlaskClient) -> None:
    client.get("/example/unknown-tool/find", headers=PARTIAL)
    answer = client.post("/find/cancel", data={"source": "example:unknown-tool"}, headers=PARTIAL)
    assert answer.status_code == 200


@pytest.mark.replays
def test_the_smallest_form_opens_with_a_link_back(client: FlaskClient, app: Flask) -> None:
    path = shared(client, line(f"{TEXT} and more", "drops-text", title="Long one"))
    html = finished(client, app, path)
    box = html[html.index('class="smallest"') :]
    case, origin = carried(box, "case"), carried(box, "origin")
    assert origin == f"case:{path.rpartition('/')[2]}"
    opened = client.post("/run", data={"case": case, "origin": origin}).text
    assert "smallest failing form of" in opened.lower()
    assert f'<a href="{path}">Long one</a>' in opened
    assert json.loads(case)["parent"] == path.rpartition("/")[2]
    assert "<strong>Error</strong>" in opened


@pytest.mark.replays
@pytest.mark.parametrize(
    ("origin", "link"), [("example:unknown-tool", True), ("example:nothing", False), ("case:00", False), ("", False)]
)
def test_only_a_case_that_is_there_is_linked_back_to(client: FlaskClient, origin: str, link: bool) -> None:
    html = client.post("/run", data={"case": line("x"), "origin": origin}).text
    assert ("smallest failing form of" in html) is link


@pytest.mark.replays
def test_a_deleted_parent_is_not_linked(client: FlaskClient) -> None:
    first = client.post("/cases", data={"case": line("parent of another")})
    parent = first.headers["Location"].rpartition("/")[2]
    child = shared(client, line("child of another", parent=parent))
    assert f'href="/c/{parent}"' in client.get(child).text
    key = unescape(re.search(r'id="delete-key"[^>]*value="([^"]*)"', first.text)[1])  # type: ignore[index]
    client.post(f"/c/{parent}/delete", data={"key": key})
    assert f'href="/c/{parent}"' not in client.get(child).text
    assert "smallest failing" not in client.post("/run", data={"case": line("x"), "origin": f"case:{parent}"}).text


def proof(**more: Any) -> str:
    return json.dumps(Proof(**more).to_json())


@pytest.mark.replays
def test_a_proof_opens_as_a_run_of_its_own(client: FlaskClient) -> None:
    data = {"source": "example:unknown-tool", "proof": proof(edits=((0, 3, "New"),))}
    html = client.post("/find/proof", data=data).text
    assert "(changed to show a finding)" in html
    path = shared(client, line("Some words."))
    source = f"case:{path.rpartition('/')[2]}"
    changed = client.post("/find/proof", data={"source": source, "proof": proof(edits=((0, 4, "Other"),))}).text
    case = json.loads(carried(changed, "case"))
    assert "".join(case["input"]["text"]) == "Other words."
    assert case["parent"] == path.rpartition("/")[2]


@pytest.mark.replays
def test_what_a_server_left_opens_as_a_run_of_the_parser_that_reads_it(client: FlaskClient, app: Flask) -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": CALL}, "finish_reason": "stop"}]}]
    case = json.dumps({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": chunks}})
    path = shared(client, case)
    html = finished(client, app, path)
    assert "The server left markup" in html
    data = {"source": f"case:{path.rpartition('/')[2]}", "proof": carried(html, "proof")}
    opened = json.loads(carried(client.post("/find/proof", data=data).text, "case"))
    assert ("".join(opened["input"]["text"]), opened["parser"]["name"]) == (CALL, "qwen")


@pytest.mark.replays
def test_what_is_no_output_is_not_said_to_hold(client: FlaskClient, app: Flask) -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no\n'
    path = shared(client, line(text))
    for html in (client.get(path).text, finished(client, app, path)):
        assert "This is no output of a model: it looks like a Python traceback." in html
        assert "No check ran: there is no output to judge." in html
        assert "checks hold" not in html
        assert "replays, " not in html


@pytest.mark.replays
def test_robustness_is_a_panel_of_the_dock(client: FlaskClient, app: Flask) -> None:
    html = finished(client, app, shared(client, line(CALL, engine="loses-second")))
    assert "All checks hold: 1 complete call" in html
    assert re.search(r'<section class="pane panel[^>]* id="robustness".*?<ol class="findings">', html, re.DOTALL)


@pytest.mark.parametrize("text", ["", "{", '{"edits": "x"}', "[]", proof(edits=((0, 9_999, ""),))])
def test_what_is_no_proof_is_refused_in_words(client: FlaskClient, text: str) -> None:
    answer = client.post("/find/proof", data={"source": "example:unknown-tool", "proof": text})
    assert answer.status_code == 422
    assert "proof" in answer.text or "does not fit" in answer.text


@pytest.mark.replays
def test_a_search_of_a_run_that_is_not_held_opens_as_a_page(client: FlaskClient) -> None:
    answer = client.post("/find", data={"case": line("not held before")})
    assert answer.status_code == 200
    assert re.search(r'data-held="/r/[\w-]+"', answer.text)
