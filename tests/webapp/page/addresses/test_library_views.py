"""The library: what is listed, how it is found, and what is made of it."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from parsers.cases.case import Case, Expect
from parsers.cases.io import dumps, loads
from tests.webapp.engines.entering import own
from tests.webapp.page.conftest import case
from tests.webapp.page.dom import Node
from tests.webapp.page.dom import page as parse
from webapp.app import create_app
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import Entry, write_entry
from webapp.engines.patience import Patience
from webapp.page.addresses import library_views
from webapp.page.engines.run_of_all import run_columns
from webapp.page.library import importing
from webapp.page.library.library_page import age
from webapp.page.library.listed_case import listing_of, verdict_words
from webapp.release import installed_version
from webapp.services import EXTENSION
from webapp.settings import Settings, get_settings
from webapp.store import CaseStore, Listing, Sharing
from webapp.store.listings import Wanted

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
CUT = '<tool_call>\n{"name": "f", "argu'
SECRET = "nobody lists this"
SITE = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Flask]]:
    made: list[Flask] = []

    def build(**settings: Any) -> Flask:
        made.append(create_app(Settings(data_dir=tmp_path, **settings)))
        return made[-1]

    yield build
    for app in made:
        app.extensions[EXTENSION].store.close()


@pytest.fixture
def client(make: Callable[..., Flask]) -> FlaskClient:
    return make().test_client()


def share(client: FlaskClient, text: str, **more: str) -> str:
    """Share an output and return the id of its case."""
    form = {"case": dumps(case(text)), "listed": "1", **more}
    answer = client.post("/cases", data={key: value for key, value in form.items() if value})
    found = re.search(r"/c/(\w{16})", answer.text)
    assert found, answer.text
    return found[1]


def page(client: FlaskClient, path: str = "/library") -> Node:
    answer = client.get(path)
    assert answer.status_code == 200
    return parse(answer.text)


def titles(found: Node) -> list[str]:
    return [one.words for one in found.all("table tbody th a")]


def give(client: FlaskClient, name: str, data: bytes, **more: str) -> Any:
    return client.post("/library/import", data={"file": (io.BytesIO(data), name), **more})


@pytest.mark.replays
def test_what_was_ticked_is_listed_and_nothing_else(client: FlaskClient) -> None:
    share(client, CALL, title="Listed", tags="a, two words ,a")
    hidden = share(client, f"{SECRET} {CALL}", title=SECRET, listed="")
    for path in ("/library", f"/library?q={quote(SECRET)}", "/library?q=parser:qwen", "/library/export.jsonl"):
        typed = (f'value="{SECRET}"', f"<title>Cases with text:&#34;{SECRET}&#34;")
        assert SECRET not in reduce(lambda text, one: text.replace(one, ""), typed, client.get(path).text)
    assert titles(page(client)) == ["Listed"]
    assert client.get(f"/c/{hidden}").status_code == 200
    assert [one.words for one in page(client).all("table .tag")] == ["a", "two words"]


@pytest.mark.replays
@pytest.mark.parametrize("path", ["/library", "/library?q=</tool", "/api/v1/library"])
def test_who_looks_writes_nothing_and_sees_nothing_that_ended(client: FlaskClient, path: str) -> None:
    store: CaseStore = client.application.extensions[EXTENSION].store
    ended = Sharing(expires="2026-01-01T00:00:00.000Z")
    shown = Listing("Ended", "qwen", "builtin", "all_hold", "pass", CALL)
    store.save("a" * 16, "{}", "digest", "1.0", shown, sharing=ended)
    begun: list[bool] = []
    event.listen(store.engine, "begin", lambda one: begun.append("inspector_writes" in one.get_execution_options()))
    answer = client.get(path)
    assert (answer.status_code, "Ended" in answer.text, any(begun), store.expired()) == (200, False, False, 1)


@pytest.mark.replays
def test_a_share_says_whether_it_is_in_the_library(client: FlaskClient) -> None:
    form = {"case": dumps(case(CALL))}
    assert "It is not listed in the library" in client.post("/cases", data=form).text
    other = {"case": dumps(case(CUT)), "listed": "1"}
    assert "It is listed in the" in client.post("/cases", data=other).text


@pytest.mark.replays
@pytest.mark.parametrize(("word", "status", "rows"), [("1", 200, 1), ("on", 200, 1), ("false", 200, 0), ("no", 422, 0)])
def test_only_a_tick_lists_a_case(client: FlaskClient, word: str, status: int, rows: int) -> None:
    saved = client.post("/cases", data={"case": dumps(case(CALL)), "listed": word})
    assert saved.status_code == (201 if status == 200 else status)
    assert give(client, "one.case.json", dumps(case(CALL)).encode(), listed=word).status_code == status
    assert client.get("/api/v1/library").json["total"] == rows  # type: ignore[index]


def test_a_case_is_listed_by_sharing_it_again_with_the_tick(client: FlaskClient) -> None:
    made = share(client, CALL, title="First", note=" a\r\n\r\nb", listed="")
    box = 'name="listed" value="1" checked'
    assert box in client.get(f"/c/{made}/share").text
    told = client.post("/cases", data={"case": dumps(case(CALL)), "title": "Other", "listed": "1"})
    assert (told.status_code, "shared before with another title, note or tags" in told.text) == (200, True)
    assert titles(page(client)) == []
    assert (
        client.post(
            "/cases", data={"case": dumps(case(CALL)), "title": "First", "note": "b\na", "listed": "1"}
        ).status_code
        == 200
    )
    assert titles(page(client)) == ["First"]
    dialog = client.get(f"/c/{made}/share").text
    assert (box in dialog, "It is listed in the" in dialog) == (False, True)


TICKED = [
    ({}, "http://localhost", True),
    ({"public_url": "https://team.example"}, "http://localhost", False),
    ({"host": "0.0.0.0"}, "http://localhost", False),
    ({"trusted_hosts": ("team.example",)}, "http://team.example", False),
    ({"proxies": 1}, "http://localhost", False),
    ({"proxies": 1, "write_header": "X-Remote-User"}, "http://localhost", False),
]


@pytest.mark.parametrize(("settings", "base", "ticked"), TICKED)
@pytest.mark.replays
def test_the_box_is_ticked_on_ones_own_machine_alone(
    make: Callable[..., Flask], settings: dict[str, Any], base: str, ticked: bool
) -> None:
    client = make(**settings).test_client()
    for path in ("/example/two-calls-with-prose/share", "/library/import"):
        box = parse(client.get(path, base_url=base).text).one("input[name=listed]")
        assert ("checked" in box.attrs) is ticked


FOUND = [
    ("</tool", ["Call"]),
    ("<", ["Call", "Cut"]),
    ("t_", []),
    ("l_", ["Call", "Cut"]),
    ('"name": "f", "argu', ["Call", "Cut"]),
    ("parser:qwen", ["Call", "Cut", "Prose"]),
    ("verdict:all_hold", ["Call"]),
    ("tag:x <", ["Cut"]),
    ("parser:llama", []),
]


@pytest.mark.replays
def test_what_is_typed_finds_exactly_what_has_it(client: FlaskClient) -> None:
    for text, title, tags in (("Hello.", "Prose", ""), (CUT, "Cut", "x"), (CALL, "Call", "")):
        share(client, text, title=title, tags=tags)
    assert {query: titles(page(client, f"/library?q={quote(query)}")) for query, _ in FOUND} == dict(FOUND)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("verdict:text_loss", "There is no verdict 'text_loss'. There are: text_lost, "),
        ("check:chunkin Call", "There is no check 'chunkin'. There are: chunking, "),
        ("tag:none", "No case in this list has all of that."),
        ("verdict:text_lost check:chunking", "No case in this list has all of that."),
    ],
)
def test_a_word_that_its_field_does_not_take_is_said_with_those_that_it_takes(
    client: FlaskClient, query: str, said: str
) -> None:
    share(client, CALL, title="Call")
    assert page(client, f"/library?q={quote(query)}").one("p.empty").words.startswith(said)


def test_a_verdict_of_another_version_is_known_where_a_case_has_it(client: FlaskClient) -> None:
    shown = Listing("Call", "qwen", "builtin", "odd", "pass", CALL)
    client.application.extensions[EXTENSION].store.save("a" * 16, dumps(case(CALL)), "digest", "0.1", shown)
    assert titles(page(client, "/library?q=verdict:odd")) == ["Call"]
    assert page(client, "/library?q=verdict:odd+tag:none").one("p.empty").words.startswith("No case in this list")


LONG = "".join(f"text:{letter} " for letter in "abcdefghijkl") + "tag:nosuch"
TOO_LONG = "This search is for 13 parts, and 12 is the most: nothing was looked for."


def test_a_search_that_is_too_long_finds_nothing_and_stays_in_the_box(client: FlaskClient) -> None:
    share(client, CALL, title="Call")
    where = client.post("/library/collections", data={"title": "Mine", "q": ""}).headers["Location"]
    for path in ("/library", where):
        answer = client.get(path, query_string={"q": LONG})
        found = parse(answer.text)
        box = found.one("input[type=search]").attrs
        assert (answer.status_code, box["value"], "maxlength" in box) == (422, LONG, False)
        assert found.one(f"#{box['aria-describedby']}").words == TOO_LONG
        assert (titles(found), found.all(".empty"), found.all("nav.library-filters section")[1:]) == ([], [], [])


def test_nothing_is_done_about_a_search_that_is_too_long(client: FlaskClient) -> None:
    share(client, CALL, title="Call")
    asked = {"q": LONG}
    answers = [
        client.get("/library/export.jsonl", query_string=asked),
        client.get("/library/results/builtin", query_string=asked),
        client.post("/library/run", data={"engine": "builtin", **asked}),
        collect(client, **asked),
    ]
    assert [(one.status_code, TOO_LONG in one.text) for one in answers] == [(422, True)] * 4
    assert "not run" in page(client, "/library/results/builtin").one("table.matrix tbody tr").words


def test_a_list_is_titled_by_what_was_looked_for(client: FlaskClient) -> None:
    share(client, CALL, title="Call")
    where = client.post("/library/collections", data={"title": "Mine", "q": ""}).headers["Location"]
    pages = {
        "/library": "Library",
        "/library?q=tag:x": "Cases with tag:x",
        where: "Mine",
        f"{where}?q=tag:x": "Mine with tag:x",
        "/library/results/builtin": f"All cases by built in {installed_version()}",
        "/library/results/builtin?q=tag:x": f"Cases with tag:x by built in {installed_version()}",
    }
    found = {path: page(client, path).one("title").words for path in pages}
    assert found == {path: f"{title} · Toolcall Inspector" for path, title in pages.items()}


@pytest.mark.replays
def test_a_filter_is_a_link_and_says_how_many(client: FlaskClient) -> None:
    share(client, CALL, tags="x")
    share(client, CUT)
    filters = {one.words: one.attrs for one in page(client).all("nav.library-filters a")}
    assert filters["x 1"]["href"] == "/library?q=tag:x"
    assert {"All cases 2", "qwen 2", "holds 1", "builtin 2"} <= filters.keys()
    chosen = page(client, "/library?q=tag:x").all("nav.library-filters a[aria-current=true]")
    assert [(one.words, one.attrs["href"]) for one in chosen] == [("All cases 2", "/library"), ("x 1", "/library")]


@pytest.mark.replays
def test_a_row_shows_what_became_of_the_output(client: FlaskClient) -> None:
    share(client, f"Sure. {CALL}")
    row = page(client).one("table tbody tr")
    assert [one.attrs["class"].split("-")[-1] for one in row.all("svg.tile-band rect")] == [
        *("content", "name", "arguments")
    ]
    assert row.words.startswith("Case ")
    assert row.one("time").words == "now"


@pytest.mark.replays
def test_pages_go_on_where_the_last_one_ended(client: FlaskClient) -> None:
    give(client, "many.jsonl", "\n".join(json.dumps(numbered(n)) for n in range(53)).encode(), listed="1")
    first = page(client)
    assert len(titles(first)) == 50
    (more,) = first.all("a[rel=next]")
    assert len(titles(page(client, more.attrs["href"]))) == 3


def numbered(number: int) -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"Case {number}."}}


@pytest.mark.replays
def test_an_import_stores_what_it_can_and_names_the_rest(client: FlaskClient) -> None:
    text = "\n".join([json.dumps(numbered(1)), "{}", json.dumps({**numbered(2), "parser": {"name": "none"}})])
    answer = give(client, "some.jsonl", text.encode(), listed="1", tags="in")
    found = parse(answer.text)
    assert "1 stored, 0 known already, 2 failed" in found.one("div.notice[role=status]").words
    failures = [one.words for one in found.all("ul.import-failures li")]
    assert [one.partition(" ")[0] for one in failures] == ["some.jsonl::2", "some.jsonl::3"]
    assert "there is no parser 'none'" in failures[1]
    assert [one.words for one in page(client).all("table .tag")] == ["in"]


def test_the_keys_of_what_an_import_stored_are_shown_once(client: FlaskClient) -> None:
    found = parse(give(client, "some.jsonl", json.dumps(numbered(1)).encode()).text)
    (line,) = found.one("textarea#import-keys").words.splitlines()
    case_id, key = line.split()
    assert "deleted" in client.post(f"/c/{case_id}/delete", data={"key": key}).text.lower()
    assert client.get(f"/c/{case_id}").status_code == 410
    again = parse(give(client, "none.jsonl", b"{}").text)
    assert "hidden" in again.one("[data-import-kept]").attrs


@pytest.mark.replays
def test_an_import_given_again_knows_what_is_stored(client: FlaskClient) -> None:
    give(client, "one.json", json.dumps(numbered(1)).encode())
    assert "0 stored, 1 known already" in give(client, "one.json", json.dumps(numbered(1)).encode()).text
    assert titles(page(client)) == []
    assert "0 stored, 1 known already" in give(client, "one.json", json.dumps(numbered(1)).encode(), listed="1").text
    assert len(titles(page(client))) == 1


def test_an_import_without_time_says_what_is_left(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "CHECKS_SHARE", 0.0)
    text = "\n".join(json.dumps(numbered(n)) for n in range(4)).encode()
    told = give(client, "some.jsonl", text)
    assert "no time was left for 3" in told.text
    skip = parse(told.text).one("input[name=skip]").attrs["value"]
    assert "1 stored, 0 known already, 0 failed; no time was left for 2" in give(
        client, "some.jsonl", text, skip=skip
    ).text.replace("\n      ", " ")


def test_an_import_without_a_file_asks_for_one(client: FlaskClient) -> None:
    assert client.get("/library/import").status_code == 200
    answer = client.post("/library/import", data={"listed": "1"})
    assert (answer.status_code, "Choose a file" in answer.text) == (422, True)


@pytest.mark.replays
def test_what_is_exported_is_imported_as_the_same_cases(client: FlaskClient, tmp_path: Path) -> None:
    ids = {share(client, text) for text in (CALL, CUT, "Hello.")}
    lines = client.get("/library/export.jsonl").data
    with zipfile.ZipFile(io.BytesIO(client.get("/library/export.zip").data)) as archive:
        assert set(archive.namelist()) == {f"{one}.case.json" for one in ids}
        assert [loads(archive.read(name)) for name in archive.namelist()] == [*map(loads, lines.splitlines())]
    other = create_app(Settings(data_dir=tmp_path / "other"))
    assert "3 stored" in give(other.test_client(), "x.jsonl", lines, listed="1").text
    store: CaseStore = other.extensions[EXTENSION].store
    assert {one.case_id for one in store.library.search(Wanted()).rows} == ids
    store.close()


def test_only_what_was_found_is_exported(client: FlaskClient) -> None:
    share(client, CALL)
    share(client, "Hello.")
    assert client.get("/library/export.jsonl?q=Hello").data.count(b"\n") == 1
    assert client.get("/library/export.tar").status_code == 404


def collect(client: FlaskClient, **more: str) -> Any:
    return client.post("/library/collections", data={"title": "Gate", "q": "", **more})


def test_a_collection_has_an_address_and_keeps_what_was_found(client: FlaskClient) -> None:
    share(client, CALL, title="Call")
    made = collect(client, q="</tool")
    assert (made.status_code, made.headers["Cache-Control"]) == (201, "no-store")
    share(client, f"{CALL}!", title="Later")
    found = page(client, made.headers["Location"])
    assert titles(found) == ["Call"]
    assert found.one("h1").words == "Gate"
    assert "Gate 1" in [one.words for one in page(client).all("nav.library-filters a")]
    key = parse(made.text).one("#delete-key").attrs["value"]
    path = f"{made.headers['Location']}/delete"
    assert client.get(path).status_code == 200
    assert client.post(path, data={"key": "wrong"}).status_code == 422
    assert client.post(path, data={"key": key}).status_code == 200
    assert client.get(made.headers["Location"]).status_code == 404
    assert len(titles(page(client))) == 2


@pytest.mark.parametrize("more", [{"title": " "}, {"q": "not there"}])
def test_a_collection_needs_a_title_and_a_case(client: FlaskClient, more: dict[str, str]) -> None:
    share(client, CALL)
    assert collect(client, **more).status_code == 422


@pytest.mark.replays
@pytest.mark.parametrize("path", ["/library/c/nothing", "/library/export.jsonl?collection=x", "/library/results/x"])
def test_what_is_not_there_is_404(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.replays
def test_all_are_run_by_the_built_in_parsers_in_their_version(client: FlaskClient) -> None:
    share(client, CALL, title="Call")
    share(client, CUT, title="Cut")
    expect = {"content": "something else"}
    give(client, "x.json", json.dumps({**numbered(1), "title": "Expects", "expect": expect}).encode(), listed="1")
    answer = client.post("/library/run", data={"engine": "builtin"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/library/results/builtin")
    found = page(client, answer.headers["Location"])
    cells = {
        row.one("th").words: row.all("td")[0].words.partition(" ")[0] for row in found.all("table.matrix tbody tr")
    }
    assert cells == {"Call": "passes", "Cut": "warns", "Expects": "differs"}
    assert "All 3 cases of this list were run" in found.words
    assert "1 right, 1 wrong, 1 with warnings of 3 cases" in found.words
    squares = {one.attrs["aria-label"] for one in page(client).all("svg.squares")}
    assert squares == {"1 right", "1 wrong", "1 undecided"}
    title = f"built in {installed_version()}"
    assert page(client).one("#library-grammar a").words == title
    assert {one.words.partition(":")[0] for one in page(client).all("svg.squares title")} == {title}


@pytest.mark.replays
def test_a_run_goes_on_with_what_is_left(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_views, "SECONDS", -1.0)
    share(client, CALL)
    share(client, CUT)
    path = client.post("/library/run", data={"engine": "builtin", "q": "l"}).headers["Location"]
    found = page(client, path)
    assert found.one("button[type=submit].primary").words == "Run the other 1"
    client.post("/library/run", data={"engine": "builtin", "q": "l"})
    assert "were run" in page(client, path).words


@pytest.mark.replays
def test_a_run_holds_every_chunking_to_what_a_case_expects_as_check_does(make: Callable[..., Flask]) -> None:
    app = make()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "mine", own("Short"))
    entered(settings).card("mine")
    client = app.test_client()
    case = {"schema": 1, "parser": {"name": "passthrough"}, "input": {"text": "Hello there"}}
    give(client, "x.json", json.dumps({**case, "expect": {"content": "Hello there"}}).encode(), listed="1")
    client.post("/library/run", data={"engine": "mine"})
    assert (
        "differs content: Heo there, expected Hello there, character by character"
        in page(client, "/library/results/mine").one("table.matrix tbody tr").words
    )


def test_what_only_a_server_sent_is_run_by_nobody(client: FlaskClient) -> None:
    stream = [{"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}]
    data = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}, "title": "Sent"}
    assert "1 stored" in give(client, "x.json", json.dumps(data).encode(), listed="1").text
    assert titles(page(client, "/library?q=Hello.")) == ["Sent"]
    assert [one.attrs["class"].split("-")[-1] for one in page(client).all("svg.tile-band rect")] == ["content"]
    client.post("/library/run", data={"engine": "builtin"})
    assert "no output" in page(client, "/library/results/builtin").words


def test_an_engine_that_nobody_entered_runs_nothing(client: FlaskClient) -> None:
    assert client.post("/library/run", data={"engine": "vllm"}).status_code == 404


AGES = [("2026-01-31T09:00:00.000Z", "now"), ("2026-01-31T08:58:00.000Z", "2 min"), ("2026-01-31T06:00:00.000Z", "3 h"),
        ("2026-01-27T06:00:00.000Z", "4 d"), ("2024-01-27T06:00:00.000Z", "2 y")]  # fmt: skip


@pytest.mark.parametrize(("created", "words"), AGES)
def test_an_age_is_in_the_largest_unit(created: str, words: str) -> None:
    assert age(created, datetime.fromisoformat("2026-01-31T09:00:30.000+00:00")) == words


def test_an_output_that_nobody_checked_is_listed_as_such(runner: Any) -> None:
    given: Case = case("Hello.")
    found = listing_of(runner.run(given), given, None)
    assert (found.verdict, found.severity, found.checks) == ("unchecked", "info", [])
    assert (verdict_words("all_hold"), verdict_words("text_lost")) == ("holds", "text lost")


@pytest.mark.parametrize(("content", "words"), [("Bye.", ("not_expected", "error")), ("Hello.", ("nothing", "info"))])
def test_a_case_that_expects_something_else_does_not_hold(runner: Any, content: str, words: tuple[str, str]) -> None:
    given: Case = case("Hello.").model_copy(update={"expect": Expect(content=content)})
    found = listing_of(runner.run(given), given, [])
    assert (found.verdict.partition("_to_")[0], found.severity) == words
    assert verdict_words("not_expected") == "not as expected"


def test_an_output_beside_what_a_server_sent_is_read_by_the_parser_that_fits(client: FlaskClient) -> None:
    stream = [{"choices": [{"index": 0, "delta": {"content": CALL}, "finish_reason": "stop"}]}]
    given = {"text": CALL, "stream": stream}
    data = {"schema": 1, "parser": {"name": "recorded"}, "input": given, "title": "Leaked"}
    assert "1 stored" in give(client, "x.json", json.dumps(data).encode(), listed="1").text
    client.post("/library/run", data={"engine": "builtin"})
    assert "passes" in page(client, "/library/results/builtin").one("table.matrix tbody tr").words


@pytest.mark.replays
def test_an_entered_engine_runs_what_it_reads_and_says_what_it_does_not(
    make: Callable[..., Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "mine", own("Hermes"))
    entered(settings).card("mine")
    client = app.test_client()
    share(client, CALL, title="Call")
    with monkeypatch.context() as resting:
        resting.setattr(Patience, "rest", "it hung")
        client.post("/library/run", data={"engine": "mine"})
    cell = page(client, "/library/results/mine").all("table.matrix tbody td")[-3]
    assert cell.words == "not run", "it is run another time"
    give(client, "x.json", json.dumps({**numbered(1), "parser": {"name": "llama"}, "title": "L"}).encode(), listed="1")
    assert "mine" in [one.attrs["value"] for one in page(client).all("#run-engine option")]
    client.post("/library/run", data={"engine": "mine"})
    found = page(client, "/library/results/mine")
    cells = {
        row.one("th").words: row.all("td")[0].words.partition(" ")[0] for row in found.all("table.matrix tbody tr")
    }
    assert cells.keys() == {"Call", "L"}
    assert cells["L"] == "not"
    assert cells["Call"] in ("passes", "fails", "warns")
    use_engines(get_settings())


@pytest.mark.replays
def test_an_engine_with_one_parser_of_which_nobody_knows_what_it_reads_runs_what_it_is_asked_to(
    make: Callable[..., Flask],
) -> None:
    app = make()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "mine", own("Plain"))
    entered(settings).card("mine")
    client = app.test_client()
    share(client, CALL, title="Call")
    client.post("/library/run", data={"engine": "mine"})
    cell = page(client, "/library/results/mine").all("table.matrix tbody td")[-3]
    assert cell.words.partition(" ")[0] in ("passes", "fails", "warns")
    use_engines(get_settings())


@pytest.fixture
def parsers_of_mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "pp.py").write_text(GOOD, "utf-8")
    return folder


GOOD = """class P:
    version = "1.0"
    def begin(self, request=None): pass
    def feed(self, text, *more): return {"content": text}
    def finish(self, *reason): return None
"""
BAD = GOOD.replace('return {"content": text}', 'raise ValueError("boom, it is of another size")')


def enter(settings: Settings, folder: Path, **more: Any) -> None:
    given = {"class": "pp:P", "python": sys.executable, "path": str(folder), "seconds": 20}
    write_entry(settings, "mine", Entry.model_validate({**given, **more}))
    entered(settings).renew("mine")


def results(client: FlaskClient) -> Node:
    return page(client, "/library/results/mine")


@pytest.fixture
def entering(make: Callable[..., Flask]) -> Iterator[tuple[FlaskClient, Settings]]:
    app = make()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    client = app.test_client()
    data = {
        "schema": 1,
        "parser": {"name": "passthrough"},
        "input": {"text": "Hello."},
        "expect": {"content": "Hello."},
    }
    give(client, "x.json", json.dumps(data).encode(), listed="1")
    yield client, settings
    use_engines(get_settings())


@pytest.mark.replays
def test_a_revision_is_run_anew_though_it_says_the_same_version(
    entering: tuple[FlaskClient, Settings], parsers_of_mine: Path
) -> None:
    client, settings = entering
    enter(settings, parsers_of_mine, rev="HEAD", commit="a" * 40)
    client.post("/library/run", data={"engine": "mine"})
    found = results(client)
    assert "1 right of 1 cases that this version ran" in found.words
    assert found.one("h1").words.endswith("by mine 1.0 at aaaaaaaaaa")
    assert "Run again" not in found.words
    (parsers_of_mine / "pp.py").write_text(BAD, "utf-8")
    enter(settings, parsers_of_mine, rev="HEAD", commit="b" * 40)
    found = results(client)
    assert found.one("button.primary[type=submit]").words == "Run the other 1"
    assert "This version has run nothing yet" in found.words
    client.post("/library/run", data={"engine": "mine"})
    assert "1 wrong of 1 cases that this version ran" in results(client).one("main").words
    said = {one.words.split(": ")[0] for one in page(client).all("svg.squares title")}
    assert said == {"mine 1.0 at aaaaaaaaaa", "mine 1.0 at bbbbbbbbbb"}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("version", "said"), [('"1.0"', "Its files may have changed since"), ('""', "It says no version")]
)
def test_a_class_of_a_folder_is_run_again_and_its_results_are_of_no_version(
    entering: tuple[FlaskClient, Settings], parsers_of_mine: Path, version: str, said: str
) -> None:
    client, settings = entering
    file = parsers_of_mine / "pp.py"
    file.write_text(GOOD.replace('"1.0"', version), "utf-8")
    enter(settings, parsers_of_mine)
    assert "It has run nothing yet" in results(client).words
    client.post("/library/run", data={"engine": "mine"})
    found = results(client)
    assert "1 right of 1 cases that it ran, the last one" in found.words
    assert (said in found.words, "this version" in found.words) == (True, False)
    assert found.one("button[name=again]").words == "Run again"
    file.write_text(BAD.replace('"1.0"', version), "utf-8")
    client.post("/library/run", data={"engine": "mine"})
    assert "1 right of 1" in results(client).words, "what was run is not run again by itself"
    client.post("/library/run", data={"engine": "mine", "again": "1"})
    assert "1 wrong of 1 cases that it ran" in results(client).one("main").words
    assert len(page(client).all("svg.squares title")) == 1
    file.write_text("nothing", "utf-8")
    answer = client.post("/library/run", data={"engine": "mine", "again": "1"})
    assert (answer.status_code, "1 wrong of 1" in results(client).words) == (422, True), "nothing is lost"


@pytest.mark.replays
def test_what_has_one_code_for_ever_is_not_run_again(client: FlaskClient) -> None:
    share(client, CALL, title="Call")
    asked = {"engine": "builtin", "again": "1"}
    client.post("/library/run", data=asked)
    before = page(client, "/library/results/builtin").one("time").attrs["datetime"]
    client.post("/library/run", data=asked)
    found = page(client, "/library/results/builtin")
    assert (found.one("time").attrs["datetime"], "Run again" in found.words) == (before, False)


def test_long_versions_are_told_apart(entering: tuple[FlaskClient, Settings], parsers_of_mine: Path) -> None:
    _, settings = entering
    found = set()
    for ending in ("a", "bb"):
        (parsers_of_mine / "pp.py").write_text(GOOD.replace("1.0", f"{ending}{'1' * 90}"), "utf-8")
        enter(settings, parsers_of_mine, rev="HEAD", commit="c" * 40)
        found.add(run_columns(entered(settings))[-1].version)
    assert len(found) == 2
    assert {(len(one), one.endswith("1 at cccccccccc")) for one in found} == {(64, True)}
