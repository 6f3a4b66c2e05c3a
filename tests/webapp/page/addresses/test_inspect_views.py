"""The addresses, as a browser without script and as htmx meet them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import dumps, load_case
from webapp.page.library.examples import examples
from webapp.runs.held import HeldRuns

OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


def carried(html: str) -> str:
    """The case a page carries."""
    found = re.search(r'name="case" value="([^"]*)"', html)
    assert found
    return found[1].replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")


@pytest.mark.parametrize("path", ["/", "/new", "/run", "/gallery", "/help", "/checks"])
def test_pages_answer(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.text.startswith("<!doctype html>")


@pytest.mark.replays
@pytest.mark.parametrize("name", examples())
def test_every_example_replays_and_is_a_case_file(client: FlaskClient, name: str) -> None:
    assert client.get(f"/example/{name}").status_code == 200
    assert client.get(f"/example/{name}.json").text == dumps(examples()[name].case)


def test_the_first_page_has_form_and_cards_and_runs_nothing(client: FlaskClient) -> None:
    html = client.get("/").text
    assert html.count('href="/example/') >= len(examples())
    assert 'id="inspector"' not in html
    assert 'action="/run"' in html


@pytest.mark.replays
def test_a_step_in_the_address_is_the_step_on_the_page(client: FlaskClient) -> None:
    assert 'data-step-now="5"' in client.get("/example/unknown-tool?step=5").text
    assert 'data-step-now="1"' in client.get("/example/unknown-tool?step=0").text


@pytest.mark.parametrize("target", ["window", "page"])
def test_htmx_gets_the_part_it_asks_for(client: FlaskClient, target: str) -> None:
    answer = client.get("/example/unknown-tool?step=3", headers={**PARTIAL, "HX-Target": f"div#{target}"})
    assert "<html" not in answer.text
    assert ('id="inspector"' in answer.text) == (target == "page")
    assert {"HX-Request", "HX-Request-Type"} <= set(answer.vary)


@pytest.mark.parametrize(
    ("asks", "parts"),
    [
        ("pins", ["#pins", "#pins-note", "#pin-marks", "[data-count=watch]"]),
        ("events", ["#event-list", "#filter-note"]),
        ("stops", ["#stops", "#stop-marks"]),
    ],
)
def test_what_was_chosen_changes_its_own_parts_alone(client: FlaskClient, asks: str, parts: list[str]) -> None:
    chosen = "step=3&pins=2,3&filter=sent:name&until=sent:name"
    answer = client.get(f"/example/unknown-tool?{chosen}", headers={**PARTIAL, "HX-Target": f"span#ask-{asks}"})
    assert re.findall(r'<hx-partial hx-target="([^"]+)"', answer.text) == parts
    assert re.sub(r"(?s)<hx-partial.*?</hx-partial>", "", answer.text).strip() == ""


def test_a_restored_page_is_a_whole_page(client: FlaskClient) -> None:
    answer = client.get("/example/unknown-tool", headers={"HX-Request": "true", "HX-Request-Type": "full"})
    assert "<html" in answer.text


def test_pasted_text_is_replayed_and_nothing_is_stored(client: FlaskClient, app: Any) -> None:
    before = app.extensions["inspector"].store.count()
    html = client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).text
    assert "not shared" in html
    assert json.loads(carried(html))["parser"]["name"] == "qwen"
    assert app.extensions["inspector"].store.count() == before


def test_without_script_a_posted_run_steps_by_posting_itself(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).text
    again = client.post("/run", data={"case": carried(html), "go": "step=3&result=diff&dock=wire", "step": "9"}).text
    assert 'data-step-now="3"' in again
    assert 'id="result" aria-labelledby="result-title" tabindex="-1" data-show="diff"' in again
    assert 'id="dock" tabindex="-1" data-show="wire"' in again


def test_a_run_by_htmx_moves_the_address_away_from_the_old_case(client: FlaskClient) -> None:
    answer = client.post("/run", data={"text": OUTPUT}, headers={**PARTIAL, "HX-Target": "div#page"})
    assert re.fullmatch(r"/r/[0-9a-f]{32}", answer.headers["HX-Push-Url"])
    private = client.post("/run", data={"text": OUTPUT, "private": "1"}, headers={**PARTIAL, "HX-Target": "div#page"})
    assert "HX-Push-Url" not in private.headers


@pytest.mark.replays
def test_a_page_grows_with_its_output_by_a_few_bytes_for_each(client: FlaskClient) -> None:
    """Without script each step posts the output, which is in the page for that; nothing else grows."""
    small, large = (
        len(client.post("/run", data={"text": "\n" * size, "parser": "qwen"}).data) for size in (2_000, 4_000)
    )
    assert large - small < 8 * 2_000


@pytest.mark.replays
def test_a_window_of_steps_is_small_on_the_wire(client: FlaskClient) -> None:
    calls = [
        {"name": f"f{at % 7}", "arguments": {"a": at * 7919 % 1000 / 1000, "b": [at, {"k": None}]}} for at in range(45)
    ]
    text = "".join([f"<tool_call>\n{json.dumps(call)}\n</tool_call>\n" for call in calls])
    address = (
        f"/r/{client.post('/run', data={'text': text, 'parser': 'qwen', 'take_as': 'raw_text'}).headers['X-Held-Run']}"
    )
    headers = {**PARTIAL, "HX-Target": "div#window", "Accept-Encoding": "gzip"}
    sizes = [len(client.get(f"{address}?step={step}", headers=headers).data) for step in (200, 400, 600)]
    assert max(sizes) < 25_000


def test_a_posted_run_whose_page_was_left_is_held_for_two_minutes(client: FlaskClient, app: Flask) -> None:
    held = app.extensions["inspector"].held = HeldRuns(1_000_000, 3_600)
    token = client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).headers["X-Held-Run"]
    assert client.post(f"/r/{token}/left").status_code == 204
    assert 100 < held.seconds_left <= 120
    assert client.get(f"/r/{token}").status_code == 200
    assert held.seconds_left > 3_000


@pytest.mark.replays
def test_a_posted_run_has_an_address_while_it_is_held(client: FlaskClient, app: Flask) -> None:
    page = client.post("/run", data={"text": OUTPUT, "parser": "qwen"})
    address = f"/r/{page.headers['X-Held-Run']}"
    assert f'data-held="{address}"' in page.text
    again = client.get(f"{address}?step=3")
    assert (again.status_code, carried(again.text)) == (200, carried(page.text))
    assert 'data-step-now="3"' in again.text
    assert again.headers["X-Held-Run"] == page.headers["X-Held-Run"]
    window = client.get(f"{address}?step=2", headers={**PARTIAL, "HX-Target": "div#window"})
    posted = {"case": carried(page.text), "go": "step=2"}
    assert window.text == client.post("/run", data=posted, headers={**PARTIAL, "HX-Target": "div#window"}).text
    assert [part in window.text for part in ("data-diagram", '<section id="machine" hx-preserve>')] == [False, True]
    app.extensions["inspector"].held = HeldRuns(1_000_000, 60)
    gone = client.get(address)
    assert (gone.status_code, "data-kept-run" in gone.text, "go back in the browser" in gone.text) == (410, True, True)
    assert client.get(f"{address}/find", headers=PARTIAL).status_code == 410


@pytest.mark.replays
@pytest.mark.parametrize(("words", "says_so"), [("Hi", True), ("what nobody can read", False)])
def test_a_run_edited_from_one_of_another_process_says_so_and_is_shown_in_any_case(
    client: FlaskClient, app: Flask, words: str, says_so: bool
) -> None:
    line = carried(client.post("/run", data={"text": OUTPUT, "parser": "qwen"}).text) if says_so else words
    app.extensions["inspector"].held = HeldRuns(1_000_000, 60, ask=lambda _question: {"raw": line.encode()})
    page = client.post("/run", data={"text": OUTPUT.replace("Hi", "Ho"), "parser": "qwen", "held": "0" * 32})
    assert (page.status_code, "Ho." in page.text, 'id="fork"' in page.text) == (200, True, says_so)
    put = client.post("/compare/put", data={"case": carried(page.text), "put": f"/r/{'1' * 32}"})
    assert (put.status_code, "not held here any more" in put.text) == ((200, False) if says_so else (422, True))


def test_the_report_of_a_long_run_comes_in_parts(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.runs.runner.SHORT", 10)
    page = client.post("/run", data={"text": f"Not asked for before. {OUTPUT}", "parser": "qwen"})
    assert "Not checked yet." in page.text
    address = f"/r/{page.headers['X-Held-Run']}"
    headers = {**PARTIAL, "HX-Target": "main#inspector"}
    monkeypatch.setattr("webapp.page.addresses.inspect_views.REPORT_SECONDS", 0)
    first = client.get(f"{address}?step=2&report=1", headers=headers).text
    assert "data-report-left" in first
    assert "Working … 0 %" in first
    assert client.get(f"{address}/share").status_code == 200
    monkeypatch.setattr("webapp.page.addresses.inspect_views.REPORT_SECONDS", 60)
    whole = client.get(f"{address}?step=2&report=1", headers=headers).text
    assert "data-report-left" not in whole
    assert 'hx-target="#chunkings"' in whole
    lag = "Characters fed between arrival and emission"
    assert [lag in page.text, lag in whole, lag in client.get(address).text] == [False, True, True]


@pytest.mark.replays
def test_without_script_a_report_comes_in_parts_too(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.runs.runner.SHORT", 10)
    page = client.post("/run", data={"text": f"Without script. {OUTPUT}", "parser": "qwen"})
    address = f"/r/{page.headers['X-Held-Run']}?report=1"
    monkeypatch.setattr("webapp.page.addresses.inspect_views.PAGE_REPORT_SECONDS", 0.001)
    parts = list[str]()
    while "data-report-pending" in (text := client.get(address).text):
        parts += re.findall(r"(\d+) % are done", text)
    assert len(parts) > 1
    assert sorted(parts, key=int) == parts
    assert "checks hold" in text


def test_a_run_keeps_its_address_while_it_is_posted_again(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": OUTPUT, "parser": "qwen"})
    token = page.headers["X-Held-Run"]
    step = client.post("/run", data={"case": carried(page.text), "held": token, "go": "step=2"})
    assert (step.headers["X-Held-Run"], carried(step.text)) == (token, carried(page.text))
    other = client.post("/run", data={"text": "other", "held": token})
    assert other.headers["X-Held-Run"] != token


def test_a_pasted_log_is_there_after_a_reload(client: FlaskClient) -> None:
    log = 'data: {"choices": [{"index": 0, "delta": {"content": "Hello"}}]}\n\ndata: [DONE]\n'
    page = client.post("/run", data={"text": log})
    again = client.get(f"/r/{page.headers['X-Held-Run']}")
    assert again.text.count("data: [DONE]") == page.text.count("data: [DONE]") > 0


def test_the_same_form_gives_the_same_text_in_both_encodings(client: FlaskClient) -> None:
    urlencoded = client.post("/run", data={"text": "\na\r\n b\n"}).text
    multipart = client.post("/run", data={"text": "\na\r\n b\n"}, content_type="multipart/form-data").text
    assert carried(urlencoded) == carried(multipart)
    assert json.loads(carried(urlencoded))["input"]["text"] == "\na\n b\n"


def test_a_text_area_starts_with_an_extra_newline(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": "\nx"}).text
    assert re.search(r'<textarea id="text"[^>]*>\n\nx</textarea>', html)


def test_bad_fields_give_422_with_the_form_kept(client: FlaskClient) -> None:
    answer = client.post("/run", data={"text": "keep me", "tools": "[{"})
    assert answer.status_code == 422
    assert "keep me</textarea>" in answer.text
    assert 'href="#tools"' in answer.text


def test_an_unknown_parser_lists_the_known_ones(client: FlaskClient) -> None:
    answer = client.post("/run", data={"text": "x", "parser": "nonsense"})
    assert answer.status_code == 422
    assert "valid parsers: " in answer.text


def test_a_carried_case_that_is_broken_gives_422(client: FlaskClient) -> None:
    assert client.post("/run", data={"case": "{"}).status_code == 422


@pytest.mark.parametrize(
    ("text", "words"),
    [("x" * 5001, "5,001 bytes; the limit is 5,000 bytes"), ("ÿ 1" * 1100, "tokens; the limit is 2,000 tokens")],
)
def test_over_a_limit_gives_413_with_limit_and_size_and_the_text(client: FlaskClient, text: str, words: str) -> None:
    answer = client.post("/run", data={"text": text, "tokenizer": "characters"})
    assert answer.status_code == 413
    assert words in answer.text
    assert f"{text}</textarea>" in answer.text


def test_an_sse_log_is_named(client: FlaskClient) -> None:
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "x"}}]}
    answer = client.post("/run", data={"text": f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n"})
    assert answer.status_code == 200
    assert "SSE log" in answer.text
    assert 'name="take_as"' in answer.text


@pytest.mark.replays
def test_forced_text_is_taken_as_it_stands(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": '["a", "b"]', "take_as": "raw_text"}).text
    assert json.loads(carried(html))["input"]["text"] == '["a", "b"]'


def test_a_file_is_taken_byte_for_byte(client: FlaskClient) -> None:
    import io

    data = {"text": "", "file": (io.BytesIO(b"a\r\nb"), "x.txt")}
    html = client.post("/run", data=data, content_type="multipart/form-data").text
    assert "".join(json.loads(carried(html))["input"]["text"]) == "a\r\nb"


def test_hostile_text_is_never_markup(client: FlaskClient) -> None:
    html = client.post("/run", data={"text": "</textarea><script>alert(1)</script>\u202e\x00"}).text
    assert "<script>alert" not in html
    assert "\u202e" not in html.split("<textarea")[0]


@pytest.mark.replays
@pytest.mark.parametrize("chunk", ["char", "token:3", "cuts:20", "random:7", "whole"])
def test_another_chunking_can_be_opened(client: FlaskClient, chunk: str) -> None:
    html = client.get(f"/example/unknown-tool?chunk={chunk}").text
    assert "another chunking" in html
    assert f'data-chunk="{chunk}"' in html
    assert f'href="/example/unknown-tool/compare?b_chunk={chunk}"' in html


@pytest.mark.replays
@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        ("5", "is no chunking"),
        ("cuts:99999", "99999"),
        ("cuts:x", "is no chunking"),
        ("recorded", "no deltas were recorded"),
    ],
)
def test_a_chunking_that_cannot_be_used_is_said_and_the_own_one_is_shown(
    client: FlaskClient, chunk: str, words: str
) -> None:
    html = client.get(f"/example/unknown-tool?chunk={chunk}").text
    assert words in html
    assert "own chunking is shown" in html
    assert 'data-chunk=""' in html


@pytest.mark.parametrize("path", ["/nothing", "/example/nothing", "/c/0000000000000000"])
def test_unknown_addresses_give_404_in_the_same_look(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert 'class="banner"' in answer.text


@pytest.mark.replays
def test_strict_by_environment_is_written_into_the_case(tmp_path: Any) -> None:
    from webapp.app import create_app
    from webapp.settings import Settings

    app = create_app(Settings(data_dir=tmp_path, strict=True))
    html = app.test_client().post("/run", data={"text": "x"}).text
    app.extensions["inspector"].store.close()
    assert json.loads(carried(html))["context"]["strict"] is True


@pytest.mark.replays
def test_a_long_output_opens_before_its_chunkings_are_compared(client: FlaskClient, monkeypatch: Any) -> None:
    monkeypatch.setattr("webapp.runs.runner.SHORT", 1)
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "some words here"}})
    first = client.post("/run", data={"case": dumps(case)}).text
    assert "data-report-pending" in first
    assert "Not checked yet" in first
    second = client.post("/run", data={"case": dumps(case), "report": "1"}).text
    assert "data-report-pending" not in second


@pytest.mark.parametrize("path", ["/static/js/main.js", "/style/page.css"])
def test_static_files_with_a_hash_are_kept_for_ever(client: FlaskClient, path: str) -> None:
    html = client.get("/help").text
    hashed = re.search(rf'(?:href|src)="({path}\?v=[0-9a-f]{{12}})"', html)
    assert hashed
    ages = []
    for address in (hashed[1], path):
        with client.get(address) as answer:
            ages.append(answer.cache_control.max_age)
    assert ages == [365 * 24 * 3600, None]


POSTS = {
    "a text": {"text": OUTPUT, "parser": "qwen"},
    "a case file": {"text": dumps(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}}))},
    "a changed case": {
        "text": "x",
        "parser": "json",
        "base": '{"schema":1,"parser":{"name":"qwen"},"input":{"text":"x"}}',
    },
    "another text": {"text": "y", "base": '{"schema":1,"parser":{"name":"qwen"},"input":{"text":"x"},"title":"T"}'},
    "an example": {"text": "y", "source": "example:unknown-tool"},
    "a carried case": {"case": '{"schema":1,"parser":{"name":"qwen"},"input":{"text":"x"}}', "go": "step=1"},
}


@pytest.mark.replays
@pytest.mark.parametrize("what", POSTS)
def test_a_post_validates_its_case_once(client: FlaskClient, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    examples()
    validate, validated = Case.model_validate, []

    def counted(data: Any) -> Case:
        validated.append(data)
        return validate(data)

    monkeypatch.setattr(Case, "model_validate", counted)
    assert client.post("/run", data=POSTS[what]).status_code == 200
    assert len(validated) == 1


@pytest.mark.parametrize(("asks", "kind"), [("full", "submit"), ("partial", "button")])
def test_a_script_gets_plain_buttons_for_the_steps_of_a_run_without_address(
    client: FlaskClient, asks: str, kind: str
) -> None:
    """Each button of the form makes a browser look for the first one again, and a window has hundreds."""
    said = {"HX-Request": "true", "HX-Request-Type": asks, "HX-Target": "div#page"}
    page = client.post("/run", data={"text": "Some words.", "parser": "qwen"}, headers=said).text
    tokens = re.findall(r'<button type="(\w+)"[^>]* data-token', page)
    assert set(tokens) == {kind}
    assert '<button type="submit" form="cursor" name="go" value="input=text"' in page
