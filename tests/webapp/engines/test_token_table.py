"""The tokens of a run as a tokenizer: by themselves, and with a whole one behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.webapp.engines.entering import own
from webapp.engines.engine_host import EngineHost
from webapp.engines.workers.token_table import TokenTable, whole_tokenizer

RUN: dict[str, Any] = {"vocabulary": {"<t>": 5}, "tokens": [[7, "a"], [8, "ab"], [9, " no"], [5, "<t>"]]}
WORDS = {"a": 0, "b": 1, "ab": 2, "<t>": 3, "?": 4}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = Tokenizer(models.WordLevel(WORDS, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
    made.add_special_tokens(["<t>"])
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_it_is_as_much_of_a_tokenizer_as_parsers_ask_for() -> None:
    made = TokenTable(RUN)
    assert (made.convert_tokens_to_ids("a"), made.convert_tokens_to_ids(["<t>", "no"])) == (7, [5, None])
    assert (made.decode([7, 5]), made.decode(7), made.encode("a"), made.encode("no")) == ("a<t>", "a", [7], [])
    assert (made.tokenize("x"), made.convert_tokens_to_string(["a", "b"]), len(made)) == (["x"], "ab", 1_000_000)
    assert made.vocab == {"a": 7, "ab": 8, " no": 9, "<t>": 5}
    assert (made.get_added_vocab(), made.fed([7, 5])) == ({"<t>": 5}, [7, 5])


def test_a_text_has_the_longest_tokens_that_are_known() -> None:
    made = TokenTable(RUN)
    assert (made.encode("<t>aba no"), made.tokenize("ab<t>"), made.encode("abx")) == ([5, 8, 7, 9], ["ab", "<t>"], [])


def test_with_a_whole_tokenizer_ids_are_its_own(file: Path) -> None:
    made = TokenTable(RUN, whole_tokenizer(str(file.parent)))
    assert made.fed([5, 7, 8, 9, 11]) == [3, 0, 2, 4, 11]
    assert (made.get_added_vocab(), made.get_vocab()["b"], made.encode("a b")) == ({"<t>": 3}, 1, [0, 1])
    assert (made.convert_tokens_to_ids("b"), made.decode([3, 0]), made.decode([1])) == (1, "<t>a", "b")
    assert made.convert_ids_to_tokens([3, 1]) == ["<t>", "b"]


def test_an_id_of_the_tokenizer_that_spells_its_text_is_kept(file: Path) -> None:
    given = {"vocabulary": {"<new>": 90}, "tokens": [[1, "b"], [2, "c"]]}
    made = TokenTable(given, whole_tokenizer(str(file)))
    assert (made.fed([1, 2]), made.get_added_vocab()) == ([1, 4], {"<new>": 90})


def test_the_worker_reads_the_tokenizer_of_the_entry(file: Path) -> None:
    host = EngineHost("x", own("Legacy", tokenizer=str(file)))
    try:
        assert host.card().name == "class"
    finally:
        host.close()


def test_parts_of_tokens_are_read_and_not_looked_up() -> None:
    made = TokenTable({"vocabulary": {"<t>": 2_000_000}, "tokens": [[7, "a"], [2_001_000, "b"], [2_000_000, "<t>"]]})
    assert (made.get_vocab(), made.decode([2_001_000, 7])) == ({"a": 7, "<t>": 2_000_000}, "ba")
    assert (made.encode("b"), made.encode("<t>a")) == ([], [2_000_000, 7])
