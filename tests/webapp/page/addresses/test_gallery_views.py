"""The page of the gallery, its filters, the strip on the first page, and the words above the run of a failure."""

from __future__ import annotations

import html
import re

import pytest
from flask.testing import FlaskClient

from parsers.cases.io import dumps
from tests.amount import every
from webapp.page.library.examples import examples
from webapp.page.library.gallery import SHOWN, STRIP, gallery

RED, NEUTRAL = "sglang-24147-value-ends-like-a-tag", "omlx-2507-closing-marker-in-a-string"


@pytest.mark.replays
def test_every_failure_is_one_click_away_with_its_thread_and_its_words(client: FlaskClient) -> None:
    page = html.unescape(client.get("/gallery?shown=999").text)
    for name, tile in gallery().items():
        assert page.count(f'href="/example/{name}"') == 1
        assert f'href="{tile.link}" rel="noreferrer"' in page
        assert f"{tile.wrong} {tile.ended}" in page
    red = sum(tile.facts.departure is not None for tile in gallery().values())
    assert page.count("tile-verdict severity-error") == red
    assert page.count("As reported: no answer is quoted") == len(gallery()) - red


def test_every_filter_is_a_link_that_says_how_many_it_leaves(client: FlaskClient) -> None:
    page = html.unescape(client.get("/gallery?engine=vLLM").text)
    found = re.findall(r'<li><a href="(/gallery[^"]*)"[^>]*>\s*<span>[^<]*</span><span class="quiet">(\d+)', page)
    assert len(found) > 20
    for address, many in (found[0], found[1], found[-1]):
        assert f'data-shown="{many}"' in client.get(address).text


def test_more_tiles_are_a_link_away_until_all_are_there(client: FlaskClient) -> None:
    first = html.unescape(client.get("/gallery").text)
    assert first.count('<li class="tile"') == SHOWN
    assert f"/gallery?shown={2 * SHOWN}#tile-{SHOWN + 1}" in first
    assert f'data-shown="{len(gallery())}"' in first
    assert "more-tiles" not in client.get(f"/gallery?shown={len(gallery())}").text
    few = html.unescape(client.get("/gallery?engine=vLLM&shown=20").text)
    assert f"/gallery?shown={20 + SHOWN}&engine=vLLM#tile-21" in few


def test_what_nothing_is_says_so_and_leads_back(client: FlaskClient) -> None:
    page = client.get("/gallery?engine=%3Cb%3E&failure=doubled").text
    assert "Nothing here is all of that." in page
    assert "<b>" not in page
    assert '<a class="button" href="/gallery#main">Show all</a>' in page


def test_the_worked_examples_are_below_and_where_they_were(client: FlaskClient) -> None:
    page = client.get("/gallery").text
    assert all(f'href="/example/{name}"' in page for name in examples())
    assert client.get("/examples").location == "/gallery#how-it-works"


def test_the_first_page_shows_a_strip_of_them(client: FlaskClient) -> None:
    page = client.get("/").text
    assert re.findall(r'class="tile" href="/example/([^"]+)"', page) == list(STRIP)
    assert f'<a href="/gallery">All {len(gallery())}</a>' in page
    assert page.count('class="tile-band"') == len(STRIP)


@pytest.mark.replays
@pytest.mark.parametrize("name", [RED, NEUTRAL])
def test_a_run_says_what_went_wrong_and_what_ended_it(client: FlaskClient, name: str) -> None:
    tile, page = gallery()[name], html.unescape(client.get(f"/example/{name}").text)
    above = page.partition('<section class="failure"')[2].partition("</section>")[0]
    assert f"{tile.wrong} {tile.ended}" in above
    assert tile.link in above
    assert ("As reported" in above) == (name == NEUTRAL)
    assert client.get(f"/example/{name}.json").text == dumps(tile.case)


@pytest.mark.replays
def test_a_red_tile_opens_a_red_run_of_the_recording_beside_its_parser(client: FlaskClient) -> None:
    for name in every(4, [name for name, tile in gallery().items() if tile.facts.departure]):
        page = html.unescape(client.get(f"/example/{name}").text)
        verdict = page.partition('id="verdict"')[2].partition("</section>")[0]
        assert 'data-severity="error"' in verdict, name
        assert f"<code>{gallery()[name].format}</code> reads" in verdict
        assert f'href="/example/{name}/compare?a_parser=recorded&b_parser={gallery()[name].format}"' in verdict
        assert "What a client has" in page


@pytest.mark.replays
def test_a_smaller_case_of_a_failure_says_where_it_is_from(client: FlaskClient) -> None:
    page = client.post("/run", data={"case": dumps(gallery()[NEUTRAL].case), "origin": f"example:{NEUTRAL}"}).text
    assert f'href="/example/{NEUTRAL}"' in page


def test_there_is_no_example_of_another_name(client: FlaskClient) -> None:
    assert client.get("/example/none-such").status_code == 404


def test_an_opened_tile_shows_what_is_lost_of_the_output(client: FlaskClient) -> None:
    page = client.get("/example/vllm-31501-call-in-one-delta").text
    band = page.partition('class="raw-band"')[2].partition("</svg>")[0]
    assert band.count("role-lost") == 2
    text = page.partition('class="raw-output"')[2].partition("</section>")[0]
    assert "29 of 81 lost" in text
    assert re.findall(r'role-lost[^"]*" title="[^"]*">([^<]*)', text)[0] == "list_directory"
    assert 'class="raw-output"' not in client.get(f"/example/{NEUTRAL}").text


def test_an_answer_that_only_its_case_knows_to_be_wrong_is_among_the_findings(client: FlaskClient) -> None:
    page = client.get("/example/vllm-55082-empty-unless-token-by-token").text
    assert re.search(r'Findings <span class="count severity-error">3<', page)
    pane = page.partition('id="findings"')[2].partition("</section>")[0]
    assert "1 error beside the checks" in pane
    assert "The server sent wrong arguments of call 0" in html.unescape(pane)
