"""Two sides that decode the same tokens differently."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import dumps, load_case
from parsers.compare.divergence import Rules
from parsers.compare.exact_text import LEFT_OUT
from webapp.page.compare.asked import Side
from webapp.page.compare.difference import Both, compare
from webapp.page.compare.sides import Replayed, on_one_text, replayed
from webapp.page.inspect.index import index_of
from webapp.runs.runner import Runner

TOKENS = [
    [9, "[TOOL_CALLS]", {"kind": "special"}],
    [20, '[{"name": "f", '],
    [21, '"arguments": {"a": "b"}}]'],
    [2, "</s>", {"kind": "special"}],
]
TEXT = '[TOOL_CALLS][{"name": "f", "arguments": {"a": "b"}}]</s>'


def case(tokens: list[Any], parser: str = "mistral", **more: Any) -> Case:
    data = {"schema": 1, "parser": {"name": parser}, "input": {"tokens": tokens}, "source": {"kind": "recorded"}}
    return load_case({**data, **more})


def sides(runner: Runner, of: Case, a: str, b: str) -> tuple[Replayed, Replayed]:
    sides = [replayed(runner, of, name, Side(decode=word)) for name, word in (("a", a), ("b", b))]
    left, right = on_one_text(runner, sides)
    return left, right


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("exact", None),
        ("vllm_fast", {"policy": "vllm_fast"}),
        ("+skip", {"skip_special_tokens": True}),
        ("sglang+skip+drop", {"policy": "sglang", "skip_special_tokens": True, "drop_eos": True}),
        ("vllm_slow+keep+stay+nostop", {"policy": "vllm_slow"}),
    ],
)
def test_a_word_says_how_a_side_is_decoded(runner: Runner, word: str, says: dict[str, Any] | None) -> None:
    found = replayed(runner, case(TOKENS), "a", Side(decode=word)).case.decode
    assert (found and found.model_dump(exclude_defaults=True)) == says


def test_what_a_word_does_not_name_is_as_in_the_case(runner: Runner) -> None:
    own = case(TOKENS, decode={"stop": ["zzz"], "skip_special_tokens": True})
    found = replayed(runner, own, "a", Side(decode="vllm_fast"))
    assert found.case.decode is not None
    assert (found.case.decode.stop, found.case.decode.skip_special_tokens) == (("zzz",), True)
    assert found.words.endswith('vllm_fast, special tokens skipped, stop "zzz"')
    assert replayed(runner, own, "a", Side(decode="+nostop+keep")).case.decode is None


@pytest.mark.parametrize(("word", "wrong"), [("loud", "'loud'"), ("exact+loud", "'loud'")])
def test_a_word_that_makes_no_sense_is_said_and_left_out(runner: Runner, word: str, wrong: str) -> None:
    found = replayed(runner, case(TOKENS), "a", Side(decode=word))
    assert wrong in found.errors["decode"]
    assert found.side.decode == ""


def test_a_marker_that_one_side_skips_is_dropped_there_and_the_sides_part_at_it(runner: Runner) -> None:
    left, right = sides(runner, case(TOKENS), "exact", "exact+skip")
    assert left.run.trace.text == right.run.trace.text == TEXT
    first = right.run.trace.partition[0]
    assert (first.start, first.end, first.owner, first.reason) == (0, len("[TOOL_CALLS]"), "dropped", LEFT_OUT)
    found = compare(Both.of(index_of(left.run), index_of(right.run)), Rules())
    assert found.grade == "calls"
    assert found.starts[0] == 0


def test_text_around_a_skipped_token_stays_where_it_was(runner: Runner) -> None:
    of = case([[1, "one "], [2, "<s>", {"kind": "special"}], [3, "two"]], "passthrough", replay=[{"by": "whole"}])
    _, right = sides(runner, of, "exact", "exact+skip")
    places = [(part.text, part.start, part.end) for part in index_of(right.run).content.rows()]
    assert places == [("one ", 0, 4), ("two", 7, 10)]


def test_sides_that_read_the_same_text_stay_as_they_are(runner: Runner) -> None:
    own = case(TOKENS)
    left, right = sides(runner, own, "exact", "sglang")
    assert left.case == own
    assert right.run.trace.text == left.run.trace.text


@pytest.mark.replays
def test_the_page_offers_the_policies_and_shows_where_they_part(client: FlaskClient) -> None:
    form = {"case": dumps(case(TOKENS)), "a_decode": "exact", "b_decode": "exact skip"}
    page = client.post("/compare", data=form)
    assert page.status_code == 200
    assert "special tokens skipped" in page.text
    assert '<option value="exact+skip" selected>' in page.text
    assert LEFT_OUT.words in page.text or "dropped on B" in page.text


def test_a_word_of_an_address_that_no_option_has_stays_chosen(client: FlaskClient) -> None:
    form = {"case": dumps(case(TOKENS)), "b_decode": "exact+drop"}
    assert '<option value="exact+drop" selected>' in client.post("/compare", data=form).text
