"""A timed log whose call stayed in the content: its steps know when what they were fed came."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import dumps
from tests.webapp.page.streams import TEXT, chunk, stream_case
from webapp.page.inspect.conditions import completions, names_of, stops
from webapp.page.inspect.index import index_of
from webapp.page.inspect.plots import overview
from webapp.page.inspect.step import card
from webapp.runs.runner import Runner

PARTS = ["Hi", TEXT[2:30], TEXT[30:]]
TIMES = [0.0, 40.0, 900.0, 1000.0]


def timed(parts: list[str] = PARTS, times: list[float | None] | None = None) -> Case:
    sent = [*[chunk({"content": part}) for part in parts], chunk({}, "stop")]
    known: dict[str, Any] = {"deltas": [{"text": part} for part in PARTS], "times": times or TIMES}
    return stream_case(sent, parser="qwen", **known)


def test_every_step_says_when_its_last_character_came(runner: Runner) -> None:
    run = runner.run(timed())
    index = index_of(run)
    assert [card(index, number, {}).came for number in range(1, index.total + 1)] == [
        "the first",
        "40 ms after the first, 40 ms after step 1 (median 100 ms)",
        "900 ms after the first, 860 ms after step 2 (median 100 ms)",
        "1 s after the first, 100 ms after step 3 (median 100 ms)",
    ]


def test_gaps_are_conditions_and_bars_of_the_band(runner: Runner) -> None:
    run = runner.run(timed())
    index, names = index_of(run), names_of(run.format, index_of(run))
    assert stops(index, "gap > 99ms", names).steps == [3, 4]
    assert "gap > 60ms" in dict(completions(names))
    assert [round(x) for x, _, _ in overview(index, [], 1).gaps] == [25, 50, 75]


@pytest.mark.parametrize(
    "case", [timed(times=[None] * 4), stream_case(parser="qwen", text=TEXT, times=[*TIMES, 1200.0])]
)
def test_where_no_times_or_chunks_of_the_output_are_known_nothing_is_said_of_them(runner: Runner, case: Case) -> None:
    index = index_of(runner.run(case))
    assert (index.arrivals, card(index, 1, {}).came, overview(index, [], 1).gaps) == (None, "", ())


def test_the_page_plays_at_recorded_speed_and_calls_its_pieces_deltas(client: FlaskClient) -> None:
    page = client.post("/run", data={"case": dumps(timed())}, follow_redirects=True).text
    assert 'data-times="[0.0,40.0,900.0,1000.0]"' in page
    assert "1× as recorded" in page
    words = " ".join(page.split())
    assert f"{len(TEXT)} characters" in words
    assert ", 3 deltas" in words
    assert "delta by delta" in words
    assert "token by token" not in words.partition('id="setup"')[2].partition("<section")[0]
