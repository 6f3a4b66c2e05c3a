"""The gallery: every failure is a case that runs, and what its tile says is what the product computes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import resources

import pytest

from parsers.cases.case import ParserRef
from parsers.cases.corpus import case_texts
from parsers.cases.engines import RECORDED
from parsers.cases.expect import accept, differences
from parsers.cases.io import dumps
from parsers.cases.run import CaseRun, run_case
from parsers.formats.model import builtin_formats
from webapp.page.library.band import BandBar
from webapp.page.library.gallery import FACETS, FAILURES, STRIP, facets, filtered, gallery

FOLDER = resources.files("webapp.page.library") / "gallery"
ANSWERED = [name for name, tile in gallery().items() if tile.case.input.stream is not None]
SAID = {
    True: "The output is {}. The answer is the one quoted there; what it does not say is left out.",
    False: "The output is {}. No answer is quoted there.",
}


def ran(name: str, parser: str, *, compare: bool = True) -> CaseRun:
    tile = gallery()[name]
    return run_case(tile.case.model_copy(update={"parser": ParserRef(name=parser)}), compare=compare)


def test_there_are_failures_of_many_engines_formats_and_kinds() -> None:
    tiles = gallery().values()
    assert len(tiles) >= 40
    assert len(ANSWERED) >= 30
    assert {tile.failure for tile in tiles} == set(FAILURES)
    assert len({tile.engine for tile in tiles}) >= 8
    assert {tile.format for tile in tiles} <= set(builtin_formats())


def test_each_case_is_written_as_the_product_writes_it_and_has_its_tile() -> None:
    texts = case_texts((FOLDER / "gallery.cases.json").read_text(encoding="utf-8"))
    tiles = json.loads((FOLDER / "tiles.json").read_text(encoding="utf-8"))
    assert list(texts) == sorted(texts) == list(tiles)
    for name, text in texts.items():
        assert json.loads(text) == json.loads(dumps(gallery()[name].case))


@pytest.mark.parametrize("name", gallery())
def test_a_tile_names_its_thread_and_what_is_quoted_there(name: str) -> None:
    tile, source = gallery()[name], gallery()[name].case.source
    assert source is not None
    path = {"issue": "issues", "pull_request": "pull"}[source.kind]
    assert re.fullmatch(rf"https://github\.com/{source.project}/{path}/\d+", tile.link)
    assert tile.thread == f"{source.project} #{tile.link.rpartition('/')[2]}"
    assert tile.thread.rpartition("#")[2] in name
    quoted = "rebuilt from the thread" if tile.rebuilt else "quoted in the thread"
    assert source.note == SAID[name in ANSWERED].format(quoted)
    assert [len(re.findall(r"[.] [A-Z]", words)) for words in (tile.wrong, tile.ended)] == [0, 0]
    assert tile.wrong.endswith(".")
    assert tile.ended.endswith(".")


@pytest.mark.replays
@pytest.mark.parametrize("name", gallery())
def test_the_built_in_parser_reads_what_the_model_meant_under_every_chunking(name: str) -> None:
    tile = gallery()[name]
    run = ran(name, tile.format)
    assert tile.case.expect is not None
    assert differences(tile.case.expect, run.trace.message) == []
    assert [compared.label for compared in run.compared if not compared.same] == []


@pytest.mark.replays
@pytest.mark.parametrize("name", gallery())
def test_a_tile_is_red_where_an_answer_is_quoted_and_departs(name: str) -> None:
    tile = gallery()[name]
    if name not in ANSWERED:
        assert tile.facts.departure is None
        assert all(one.role != "lost" for one in tile.facts.bars)
        return
    right = accept(ran(name, tile.format, compare=False).trace.message)
    assert differences(right, ran(name, RECORDED, compare=False).trace.message)
    assert tile.facts.departure is not None
    assert any(one.role == "lost" for one in tile.facts.bars)


@pytest.mark.parametrize("name", ANSWERED)
def test_a_run_opens_on_the_answer_that_is_quoted(name: str) -> None:
    assert gallery()[name].case.parser == ParserRef(name=RECORDED)


@pytest.mark.parametrize(
    ("name", "part", "came", "right"),
    [
        ("sglang-40739-text-behind-the-call", "Content", "before", "beforeafter"),
        ("vllm-35266-opening-brace-missing", "Arguments of call 0", '"command": "echo hi"}', '{"command": "echo hi"}'),
        ("rapid-mlx-1515-value-cut-at-a-marker", "Arguments of call 0", '…k ends with "}',
         '…k ends with </tool_call> on its own."}'),
        ("trtllm-19228-no-arguments-streamed", "Arguments of call 0", "", "{}"),
        ("dynamo-9536-calls-with-a-semicolon", "", "0 calls", "2 calls: get_weather, get_time"),
        ("sglang-23071-call-without-a-name", "", "2 calls: bash, one without a name", "1 call: bash"),
        ("llamacpp-23838-documented-format-refused", "", "An error", "1 call: web_search_exa"),
    ],
)  # fmt: skip
def test_what_came_and_what_is_right_is_told(name: str, part: str, came: str, right: str) -> None:
    found = gallery()[name].facts.departure
    assert found is not None
    assert (found.part, found.came, found.right) == (part, came, right)


def test_a_band_shows_what_is_right_and_hatches_the_rest() -> None:
    bars = gallery()["rapid-mlx-1515-value-cut-at-a-marker"].facts.bars
    assert [one.role for one in bars] == ["name", "arguments", "arguments", "lost"]
    boxes = {one.role: (one.y, one.height) for one in bars}
    assert boxes == {"name": (5, 12), "arguments": (9, 8), "lost": (5, 12)}
    assert all(0 <= one.x <= one.x + one.width <= 100.01 for one in bars)


@pytest.mark.parametrize(
    ("name", "lost", "kept"),
    [
        ("vllm-46042-thought-with-its-tags", "<mm:think>reasoning text</mm:think>", "final answer"),
        ("vllm-30671-first-token-missing", "Ap", "ologies"),
        ("vllm-35266-opening-brace-missing", "c", "ommand"),
        ("vllm-53417-half-a-tag-in-the-value", "</｜DSML｜parameter", "Paris"),
        ("vllm-22975-call-left-in-content", "BaseService\\(", "Let me check"),
    ],
)  # fmt: skip
def test_what_leaked_is_hatched_and_what_came_is_not(name: str, lost: str, kept: str) -> None:
    text, bars = gallery()[name].case.text(), gallery()[name].facts.bars
    gone = "".join([char for at, char in enumerate(text) if role(bars, at / len(text)) == "lost"])
    assert lost in gone
    assert kept not in gone


def role(bars: Sequence[BandBar], at: float) -> str:
    """What stands at a place of a band; the middle of a character is inside its bar."""
    return next((one.role for one in bars if one.x <= at * 100 + 0.01 < one.x + one.width), "")


def test_a_version_is_told_from_its_engine() -> None:
    named = {tile.engine: tile.version for tile in gallery().values() if tile.version}
    assert named["LM Studio"] == "0.4.14+4"
    assert {"vLLM", "SGLang", "llama.cpp"} <= set(named)
    assert gallery()["trtllm-19228-no-arguments-streamed"].version == ""


def test_the_strip_is_of_red_tiles_of_as_many_engines() -> None:
    assert len({gallery()[name].engine for name in STRIP}) == len(STRIP) == 6
    assert set(STRIP) <= set(ANSWERED)


def test_filters_count_what_they_leave() -> None:
    for asked in ({}, {"engine": "SGLang"}, {"engine": "vLLM", "failure": "chunk_boundary"}):
        shown = facets(asked)
        assert [facet.name for facet in shown] == list(FACETS)
        for choice in [choice for facet in shown for choice in facet.choices]:
            assert choice.many == len(filtered(choice.query))
            assert choice.chosen == (choice.query == asked)


def test_a_filter_that_nothing_matches_stays_in_its_list() -> None:
    engine = facets({"engine": "none such"})[0]
    assert engine.chosen == "none such"
    assert [choice.many for choice in engine.choices if choice.chosen] == [0]
