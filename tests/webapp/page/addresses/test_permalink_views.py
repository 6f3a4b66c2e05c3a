"""A case in a frame, as a picture and beside its own past, and a form that somebody else filled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from flask import Flask
from flask.testing import FlaskClient

from parsers.cases.message_events import MessageEvent
from parsers.cases.outcome_words import WrittenOutcome, dumped, loaded
from parsers.cases.stored_outcome import Outcome, outcome_digest
from parsers.vocabulary.types import Message, ToolCall
from tests.webapp.page.addresses.test_share_views import OUTPUT, share
from tests.webapp.store.stale_cases import make_stale
from webapp.app import create_app
from webapp.page.addresses import permalink_views
from webapp.runs import exports
from webapp.services import EXTENSION, Services
from webapp.settings import Settings

ELSEWHERE = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
ORIGINS = ("https://tracker.example", "http://localhost:9")


@pytest.fixture
def framed(tmp_path: Path) -> Iterator[FlaskClient]:
    """A server whose cases may be framed."""
    app = create_app(Settings(data_dir=tmp_path, embed_origins=ORIGINS, public_url="https://inspector.example/t"))
    yield app.test_client()
    app.extensions[EXTENSION].store.close()


def policy(headers: Any) -> dict[str, str]:
    parts = [part.strip().partition(" ") for part in headers["Content-Security-Policy"].split(";")]
    return {name: value for name, _, value in parts}


def test_a_frame_shows_verdict_deltas_and_message_and_leads_to_the_case(client: FlaskClient) -> None:
    path, _ = share(client, OUTPUT, title="A call")
    answer = client.get(f"{path}/embed")
    soup = BeautifulSoup(answer.text, "html.parser")
    assert (answer.status_code, soup.h1 is not None and "checks hold" in soup.h1.text) == (200, True)
    assert "A call" in soup.text
    assert soup.select_one(".role-name") is not None
    assert len(soup.select(".embed-deltas li")) > 2
    (link,) = soup.find_all("a")
    assert (link["href"], link["target"], link["rel"]) == (f"http://localhost{path}", "_blank", ["noopener"])


def test_a_frame_has_no_script_form_or_key(client: FlaskClient) -> None:
    path, key = share(client, f"{OUTPUT} again")
    text = client.get(f"{path}/embed").text
    soup = BeautifulSoup(text, "html.parser")
    assert soup.find_all(["script", "form", "input", "button", "iframe", "img"]) == []
    assert key not in text
    assert not [one for one in soup.find_all(True) if any(name.startswith(("on", "hx-")) for name in one.attrs)]


@pytest.mark.replays
def test_nothing_may_be_framed_unless_the_settings_say_by_whom(client: FlaskClient, framed: FlaskClient) -> None:
    here, there = share(client, "framed")[0], share(framed, "framed")[0].removeprefix("/t")
    assert policy(client.get(f"{here}/embed").headers)["frame-ancestors"] == "'none'"
    answer = framed.get(f"{there}/embed")
    assert policy(answer.headers)["frame-ancestors"] == " ".join(ORIGINS)
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    for other in (there, f"{there}.json", f"{there}/share", "/", "/gallery"):
        assert policy(framed.get(other).headers)["frame-ancestors"] == "'none'"


def test_the_policy_of_a_frame_allows_a_style_and_no_more(client: FlaskClient) -> None:
    path, _ = share(client, "styled")
    said = policy(client.get(f"{path}/embed").headers)
    assert {name for name, value in said.items() if value != "'none'"} == {"style-src"}


@pytest.mark.parametrize("tail", ["/embed", "/preview.png"])
def test_what_is_deleted_is_shown_nowhere(client: FlaskClient, tail: str) -> None:
    path, key = share(client, f"gone{tail}", listed="1")
    assert client.get(path + tail).status_code == 200
    client.post(f"{path}/delete", data={"key": key})
    assert client.get(path + tail).status_code == 410
    assert client.get(f"/c/{'0' * 16}{tail}").status_code == 404


def test_only_a_case_of_the_library_has_a_picture(client: FlaskClient) -> None:
    path, _ = share(client, "unlisted")
    assert client.get(f"{path}/preview.png").status_code == 404
    assert "og:" not in client.get(path).text


def test_a_picture_is_drawn_once_kept_and_deleted_with_the_case(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, key = share(client, "drawn", listed="1")
    first = client.get(f"{path}/preview.png")
    assert (first.status_code, first.mimetype, first.data[:4]) == (200, "image/png", b"\x89PNG")
    monkeypatch.setattr(permalink_views, "drawn", lambda shown: pytest.fail("drawn again"))
    assert client.get(f"{path}/preview.png").data == first.data
    known = client.get(f"{path}/preview.png", headers={"If-None-Match": first.headers["ETag"]})
    assert (known.status_code, first.headers["Cache-Control"]) == (304, "public, no-cache"), "it may be gone by then"
    found: Services = app.extensions[EXTENSION]
    kept = found.settings.data_dir / "pictures" / f"{path.removeprefix('/c/')}.png"
    assert kept.is_file()
    client.post(f"{path}/delete", data={"key": key})
    assert not kept.exists()


@pytest.mark.parametrize(("sharers", "status"), [(1, 410), (2, 200)])
def test_a_picture_that_was_drawn_while_a_share_was_withdrawn_is_not_kept(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, sharers: int, status: int
) -> None:
    text = f"withdrawn from {sharers}"
    shares = [share(client, text, title="My words", listed="1") for _ in range(sharers)]
    titles, (path, key) = list[str](), shares[0]

    def draws(shown: Any) -> bytes:
        if not titles:
            assert client.post(f"{path}/delete", data={"key": key}).status_code == 200
        titles.append(shown.title)
        return str(shown.title).encode()

    monkeypatch.setattr(permalink_views, "drawn", draws)
    answer = client.get(f"{path}/preview.png")
    assert answer.status_code == status
    case_id = path.removeprefix("/c/")
    kept = app.extensions[EXTENSION].settings.data_dir / "pictures" / f"{case_id}.png"
    left = [] if status == 410 else [f"Case {case_id}"]
    assert [titles, [kept.read_text("utf-8")] if kept.exists() else []] == [["My words", *left], left]


@pytest.mark.replays
def test_the_page_of_a_listed_case_names_its_picture_by_the_public_address(
    framed: FlaskClient,
) -> None:
    path = share(framed, "named", title='A "title"', listed="1")[0]
    soup = BeautifulSoup(framed.get(path).text, "html.parser")
    told = {one["property"]: one["content"] for one in soup.find_all("meta", property=True)}
    assert told["og:image"] == f"https://inspector.example{path}/preview.png"
    assert (told["og:url"], told["og:title"]) == (f"https://inspector.example{path}", 'A "title"')
    card = soup.find("meta", attrs={"name": "twitter:card"})
    assert isinstance(card, Tag)
    assert card["content"] == "summary_large_image"


def stale(app: Flask, path: str, digest: str, message: str | None = None) -> None:
    """Make a stored case one whose result was another."""
    found: Services = app.extensions[EXTENSION]
    make_stale(found.store, path.removeprefix("/c/"), outcome_digest=digest, message=message)


def digest_of(app: Flask, path: str) -> str:
    found: Services = app.extensions[EXTENSION]
    stored = found.store.get(path.removeprefix("/c/"))
    assert stored is not None
    return stored.outcome_digest


@pytest.mark.parametrize("tail", ["", "/embed"])
def test_a_case_whose_result_is_the_same_says_nothing(client: FlaskClient, tail: str) -> None:
    path, _ = share(client, f"the same{tail}")
    assert "the one that was shared" not in client.get(path + tail).text


@pytest.mark.replays
def test_what_differs_from_the_shared_result_stands_beside_it(app: Flask, client: FlaskClient) -> None:
    path, _ = share(client, "Nine char")
    stale(app, path, re.sub(r" c\d+\.\w{8}", " c12.00000000", digest_of(app, path)))
    soup = BeautifulSoup(client.get(path).text, "html.parser")
    rows = {
        row.select("th")[0].text: [cell.text for cell in row.find_all("td")]
        for row in soup.select(".drift-parts tbody tr")
    }
    assert rows["Content"] == ["12 characters, what it said is not known", "9 characters"]
    assert "Cases of older versions have the sizes of what came out" in soup.text
    assert [*rows] == ["Content"]
    assert "The same as then: reasoning (none), calls (none), finish reason (stop), findings (none)." in soup.text
    assert "What differs: the content." in soup.text
    assert "version 0.0.1" in soup.text
    assert "What differs: the content." in client.get(f"{path}/embed").text


@pytest.mark.replays
def test_what_it_said_then_stands_beside_what_it_says_today(app: Flask, client: FlaskClient) -> None:
    path, _ = share(client, "Nine digs")
    then = Message(None, "Seven <b>", [ToolCall("i", "f", '{"a": 1}')])
    written = dumped(WrittenOutcome(then, engine="vllm 0.9.0"))
    stale(app, path, outcome_digest(Outcome(then, [], "stop", [])), written)
    soup = BeautifulSoup(client.get(path).text, "html.parser")
    told = [[code.text for code in row.find_all("code")] for row in soup.select(".drift-parts tbody tr")]
    assert told == [["Seven·<b>", "Nine·digs"], ['f({"a":·1})']]
    assert "is not known" not in soup.select(".drift")[0].text
    assert re.search(r"Shared [\d-]{10}, version 0\.0\.1, vllm 0\.9\.0", soup.select(".drift-parts thead")[0].text)
    assert "Shared with version 0.0.1, vllm 0.9.0; this is version" in client.get(f"{path}/embed").text


@pytest.mark.replays
def test_another_order_of_the_same_parts_is_a_departure(app: Flask, client: FlaskClient) -> None:
    path, _ = share(client, OUTPUT + "after")
    digest, message = digest_of(app, path), Message(None, "after", [ToolCall("i", "f", "{}")])
    then = Outcome(message, [MessageEvent("text", "after"), MessageEvent("tool_call", "{}")], "stop", [])
    stale(app, path, re.sub(r" o\w{8}", " o00000000", digest), dumped(WrittenOutcome(shape=then.shape)))
    soup = BeautifulSoup(client.get(path).text, "html.parser")
    rows = [[cell.text for cell in row.select("th, td")] for row in soup.select(".drift-parts tbody tr")]
    assert rows == [["Order", "content (5), call", "content (3), call, content (5)"]]
    assert "What differs: the order." in soup.text


def test_the_engine_that_ran_a_case_is_kept_beside_it(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "engine_title", lambda name: f"vllm 0.9.0 at main (0123456789) for {name}")
    path, _ = share(client, "By whom")
    stored = app.extensions[EXTENSION].store.get(path.removeprefix("/c/"))
    assert loaded(stored.message).engine == "vllm 0.9.0 at main (0123456789) for None"


def test_of_a_case_of_an_earlier_version_it_is_known_that_its_result_was_another(
    app: Flask, client: FlaskClient
) -> None:
    path, _ = share(client, "Of old")
    stale(app, path, "0" * 64)
    text = client.get(path).text
    assert "which part is another is not known" in " ".join(text.split())


def test_what_another_site_posts_is_shown_in_the_form_and_no_more(app: Flask, client: FlaskClient) -> None:
    found: Services = app.extensions[EXTENSION]
    before = found.store.count()
    posted = {"text": "Posted <b>text</b>", "parser": "mistral", "tools": "[]", "tool_choice": "none",
              "source": "case:" + "0" * 16, "base": "{}", "parent": "x"}  # fmt: skip
    answer = client.post("/new", data=posted, headers=ELSEWHERE)
    soup = BeautifulSoup(answer.text, "html.parser")
    area, parser = soup.select_one("#text"), soup.select_one("#parser option[selected]")
    assert answer.status_code == 200
    assert area is not None
    assert area.text.strip() == "Posted <b>text</b>"
    assert parser is not None
    assert parser["value"] == "mistral"
    assert soup.select_one("#inspector") is None
    assert [one["value"] for one in soup.select("[name=source], [name=base], [name=parent]") if one.get("value")] == []
    assert (found.store.count(), "Set-Cookie" in answer.headers) == (before, False)
    assert policy(answer.headers)["frame-ancestors"] == "'none'"


def test_every_other_address_refuses_what_another_site_posts(client: FlaskClient) -> None:
    for path in ("/run", "/cases", "/intake", "/redact", "/new/"):
        assert client.post(path, data={"text": "x"}, headers=ELSEWHERE).status_code == 403


def test_a_text_that_is_too_large_for_the_form_is_refused(client: FlaskClient) -> None:
    assert client.post("/new", data={"text": "x" * 9_000_000}, headers=ELSEWHERE).status_code == 413
