"""The tokens of a run as a tokenizer: by themselves, and with a whole one behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mistral_common
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.webapp.engines.entering import own
from webapp.engines.engine_host import EngineHost
from webapp.engines.workers.engine_worker import module_of
from webapp.engines.workers.token_table import MADE_UP, TokenTable, whole_tokenizer

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
    made = TokenTable(RUN, whole_tokenizer(str(file.parent), module_of))
    assert made.fed([5, 7, 8, 9, 11]) == [3, 0, 2, 4, 11]
    assert (made.get_added_vocab(), made.get_vocab()["b"], made.encode("a b")) == ({"<t>": 3}, 1, [0, 1])
    assert (made.convert_tokens_to_ids("b"), made.decode([3, 0]), made.decode([1])) == (1, "<t>a", "b")
    assert made.convert_ids_to_tokens([3, 1]) == ["<t>", "b"]


def test_an_id_of_the_tokenizer_that_spells_its_text_is_kept(file: Path) -> None:
    given = {"vocabulary": {"<new>": 90}, "tokens": [[1, "b"], [2, "c"], [90, "<new>"]]}
    made = TokenTable(given, whole_tokenizer(str(file), module_of))
    assert (made.fed([1, 2, 90]), made.get_added_vocab()) == ([1, 4, 90], {"<new>": 90})


def test_a_marker_that_the_tokenizer_does_not_have_is_text(file: Path) -> None:
    given = {"vocabulary": {"<new>": MADE_UP, "<t>": MADE_UP + 1}, "tokens": [[MADE_UP, "<new>"]]}
    made = TokenTable(given, whole_tokenizer(str(file), module_of))
    assert (made.fed([MADE_UP]), made.get_added_vocab(), "<new>" in made.get_vocab()) == ([4], {"<t>": 3}, False)


MISTRAL = Path(mistral_common.__file__).parent / "data"


@pytest.mark.replays
@pytest.mark.parametrize("name", ["tekken_240718.json", "mistral_instruct_tokenizer_240323.model.v3"])
def test_a_tokenizer_of_mistral_is_one_as_well(name: str) -> None:
    given = {"vocabulary": {"[TOOL_CALLS]": MADE_UP, "[ARGS]": MADE_UP + 1}, "tokens": [[MADE_UP, "[TOOL_CALLS]"]]}
    made = TokenTable(given, whole_tokenizer(str(MISTRAL / name), module_of))
    (marker,) = made.fed([MADE_UP])
    assert (made.get_added_vocab(), made.decode(marker)) == ({"[TOOL_CALLS]": marker}, "[TOOL_CALLS]")
    assert made.decode(made.encode("Hello, Bern!")) == "Hello, Bern!"
    assert made.get_vocab()["[TOOL_CALLS]"] == marker
    assert TokenTable(given, made._whole).get_vocab() is made.get_vocab(), "parsers keep it, and it has megabytes"


@pytest.mark.replays
def test_a_folder_is_searched_for_a_file_of_mistral(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text("{}")
    (tmp_path / "tekken.json").write_bytes((MISTRAL / "tekken_240718.json").read_bytes())
    assert whole_tokenizer(str(tmp_path), module_of).token_to_id("[TOOL_CALLS]") is not None


@pytest.mark.parametrize(("name", "text"), [("bad.json", '{"a": 1'), ("tekken.json", "{}"), ("", "")])
def test_a_file_that_is_no_tokenizer_is_named_with_those_that_are(tmp_path: Path, name: str, text: str) -> None:
    if name:
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"is no tokenizer that can be read .*; give a tokenizer.json, a tekken.json"):
        whole_tokenizer(str(tmp_path / name), module_of)


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
