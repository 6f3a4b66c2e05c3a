"""What `make test-engines` sets up is locked, what it searches is there, and its page says what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engines.builds import COMMANDS, LOCKS, TOKENIZERS, made
from tests.engines.engine_sets import SETS
from tests.engines.engines_page import WORDS, Tried, page
from tests.engines.library import LACKS, PATHS, RAISES, Passes, examples, passes
from tests.engines.program import Search, Searched, searches
from tests.webapp.engines.entering import fake
from tests.webapp.engines.fake_engine import hello
from webapp.engines.entered import use_engines
from webapp.engines.entries import ADAPTERS, write_entry
from webapp.engines.protocol import read_card
from webapp.settings import Settings, get_settings


def test_every_set_is_locked_and_every_adapter_tried() -> None:
    assert {one.python for one in SETS if one.python} <= {file.stem for file in LOCKS.glob("*.txt")}
    assert {one.adapter for one in SETS if one.adapter} == {*ADAPTERS} - {"class"}
    assert {one.command for one in SETS} - {""} == {*COMMANDS}
    assert {one.tokenizer for one in SETS} - {""} == {*TOKENIZERS}


@pytest.mark.parametrize("name", ["bugs", "right"])
def test_every_search_has_an_output_for_an_engine_that_is_set_up(name: str) -> None:
    found = searches(name)
    assert [one for one in found if not one.text] == []
    assert {one.parser.partition(":")[0] for one in found} <= {one.name for one in SETS}


def test_what_was_made_of_the_same_files_is_not_made_again(tmp_path: Path) -> None:
    source, place = tmp_path / "lock.txt", tmp_path / "made"

    def again() -> bool:
        with made(place, source) as wanted:
            place.mkdir(exist_ok=True)
        return wanted

    source.write_text("1")
    assert [again(), again()] == [True, False]
    source.write_text("2")
    assert again()


def test_parsers_are_told_apart_by_the_example_of_their_format(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    write_entry(settings, "fake", fake())
    use_engines(settings)
    names: list[Any] = [{"name": name} for name in ("hermes", "echo")]
    card = read_card({**hello([]), "parsers": names})
    found = passes(settings, "fake", card, [])
    use_engines(get_settings())
    assert (found.unread, found.raises, found.holds) == (["echo"], ["hermes"], [])  # it has no such parser


@pytest.mark.parametrize(
    ("errors", "word"),
    [
        (set(), "holds"),
        ({PATHS}, "paths"),
        ({PATHS, "chunking"}, "differs"),
        ({RAISES, "chunking"}, "raises"),
        ({LACKS}, "lacks"),
    ],
)
def test_what_two_code_paths_give_and_what_is_not_there_is_told_from_what_cuts_do(errors: set[str], word: str) -> None:
    found = Passes()
    found.of(errors).append("one")
    assert [name for name in WORDS if getattr(found, name)] == [word]


def test_an_output_of_its_own_is_of_a_parser_that_is_tried() -> None:
    assert {name.partition(":")[0] for name in examples()} <= {one.name for one in SETS}


def test_the_page_says_what_is_there_and_what_was_found() -> None:
    search = Search("fake:echo", "text", "an issue")
    card = read_card(hello([]))
    there = Tried(SETS[0], card, checked="kept")
    text = page([there, Tried(SETS[1], absent="no | compiler")], [Searched(search, "Lost | found.", 2, 1_200, 3.4)], [])
    assert f"| vLLM | fake 1.0 | {len(card.parsers) - 1} | 1 | kept | 0 | 0 | 0 | 0 | 0 | 0 |" in text
    assert r"| `fake:echo` | an issue | Lost \| found. | 1,200 | 3 |" in text
    assert "| SGLang, without torch | absent: no" in text
