"""The page that shows a case before and after its words were replaced."""

from __future__ import annotations

from itertools import count

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient

from parsers.cases.find import CaseFound
from parsers.cases.io import load_case, loads
from parsers.cases.redaction.redact import Redacted, Stays, Why
from parsers.replays.chunking import Chunking
from parsers.search.found import Found, OutcomeClass, Verdict
from parsers.vocabulary.types import Message
from tests.webapp.page.addresses.test_share_views import a_case, share
from webapp.jobs.redacting import RedactedCase, redact
from webapp.page.sharing.redacted_page import redacted_page
from webapp.services import EXTENSION, Services

TEXT = 'Dear Customer.\n<tool_call>\n{"name": "lookup", "arguments": {"city": "Zürich"}}\n</tool_call>'


@pytest.mark.replays
def test_both_sides_are_shown_and_the_redacted_case_goes_on(client: FlaskClient) -> None:
    posted = {"case": a_case(TEXT, title="Secret title", tools=[{"name": "lookup"}])}
    soup = BeautifulSoup(client.post("/redact", data=posted).text, "html.parser")
    before, after = (one.text for one in soup.select(".redact-sides .redact-text")[:2])
    assert "Customer" in before
    assert "Customer" not in after
    assert "<tool_call>" in after
    assert "The same findings stay" in soup.text
    carried = soup.select_one("form [name=case]")
    assert carried is not None
    case = loads(str(carried["value"]))
    assert case.source is not None
    assert case.source.redacted
    assert not {"Secret", "lookup", "Zürich"} & {*(case.title or "").split(), case.tools[0]["name"]}
    buttons = soup.select("main form button[type=submit]")
    actions = {str(one.get("formaction") or soup.select("main form")[0]["action"]) for one in buttons}
    assert {"/share", "/export/case", "/run"} <= actions


@pytest.mark.replays
def test_nothing_is_stored_by_looking(app: Flask, client: FlaskClient) -> None:
    found: Services = app.extensions[EXTENSION]
    before = found.store.count()
    client.post("/redact", data={"case": a_case("Look here.")})
    assert client.get("/example/unknown-tool/redact").status_code == 200
    assert found.store.count() == before


def test_a_shared_case_can_be_redacted_and_leads_back(client: FlaskClient) -> None:
    path, _ = share(client, "Shared words.")
    soup = BeautifulSoup(client.get(f"{path}/redact").text, "html.parser")
    assert soup.select_one(f'main a[href="{path}"]') is not None


def test_the_share_form_offers_it(client: FlaskClient) -> None:
    text = client.post("/share", data={"case": a_case("Words.")}).text
    assert 'formaction="/redact"' in text


@pytest.mark.parametrize(
    ("stays", "same", "words"),
    [
        ((Stays("beta", Why.NEEDED),), True, "These stay, for without them the finding is another (… stands for"),
        ((Stays("beta", Why.UNTRIED),), True, "There was no time to try"),
        ((), False, "The findings are others now."),
    ],
)
def test_what_could_not_be_replaced_is_named(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, stays: tuple[Stays, ...], same: bool, words: str
) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "alpha beta"}})
    made = RedactedCase(Redacted(case, 1, stays, same, 3), case)
    monkeypatch.setattr("webapp.page.addresses.redact_views.redact", lambda *_, **more: made)
    text = " ".join(BeautifulSoup(client.post("/redact", data={"case": a_case("x")}).text, "html.parser").text.split())
    assert words in text
    assert all(one.what in text for one in stays)


@pytest.mark.parametrize(("size", "clipped"), [(1_000, (False, False)), (9_000, (True, False)), (30_000, (True, True))])
@pytest.mark.replays
def test_of_a_long_output_it_is_said_that_not_all_is_shown(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, size: int, clipped: tuple[bool, bool]
) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "ab " * size}})
    made = RedactedCase(Redacted(case, 0, (), True, 1), case)
    page = redacted_page(made, lambda case: "{}")
    assert ((page.clipped, page.files_clipped), sum(len(part.text) for part in page.before)) == (
        clipped, min(3 * size, 20_000)
    )  # fmt: skip
    assert max(map(len, page.files)) <= 60_000
    monkeypatch.setattr("webapp.page.addresses.redact_views.redact", lambda *_, **more: made)
    text = client.post("/redact", data={"case": a_case("x")}).text
    assert ("The beginning of the output is shown" in text, "Its beginning is shown" in text) == clipped


def test_the_chunkings_that_a_search_found_are_kept(app: Flask) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Two words"}})
    settings = app.extensions[EXTENSION].settings
    seen = OutcomeClass(1, Message(), "stop", 1, 1, Chunking(by="cuts", cuts=(3,)), "cut")
    verdict = Verdict("all_hold", "pass", None, "words")
    found = CaseFound(case, Found("", [], [], [], [seen, seen], [], [], verdict))
    made = redact(case, settings, found=found)
    assert (made.same, made.made.replaced) == (True, 2)
    two = case.model_copy(update={"replay": (Chunking(by="char"), Chunking(by="whole"))})
    assert redact(two, settings, found=found).same


def test_without_time_words_stay(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Two words"}})
    other = case.model_copy(update={"parser": case.parser.model_copy(update={"name": "auto"})})
    made = redact(other, app.extensions[EXTENSION].settings, seconds=-1)
    assert made.same  # all at once is tried in any case

    runs = count()
    monkeypatch.setattr("webapp.jobs.redacting.shown_by", lambda run: next(runs))
    made = redact(case, app.extensions[EXTENSION].settings, seconds=-1)
    assert {one.why for one in made.made.stays} == {Why.UNTRIED}
    assert made.made.case.text() == "Two words"


def test_of_a_long_output_the_whole_is_compared_and_no_more(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.runs.runner.SHORT", 1)
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Two words"}})
    assert redact(case, app.extensions[EXTENSION].settings).same
