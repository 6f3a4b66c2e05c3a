"""A text that is no output is neither searched nor judged: the verdict alone is found."""

from __future__ import annotations

import pytest

from parsers.cases.find import CaseFound, CaseSearch, find_json
from parsers.cases.io import load_case
from parsers.search.found import Why
from parsers.search.no_output import no_output_in
from parsers.vocabulary.types import Context
from tests.parsers.search.test_pasted import CURL, PROSE, TRACEBACK
from tests.parsers.search.test_pasted_outputs import CALL, CHAT


def searched(text: str, parser: str = "qwen") -> CaseFound:
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": parser}, "input": {"text": text}}))
    assert len(list(search.run())) == 1
    return search.result()


@pytest.mark.parametrize("text", [TRACEBACK, CURL, PROSE, CHAT, f"{CHAT}{CALL}"])
def test_nothing_is_replayed_and_no_check_holds(text: str) -> None:
    result = searched(text)
    found = result.found
    assert (found.verdict.kind, found.verdict.why, found.judged) == ("no_output", Why.NO_OUTPUT, False)
    assert (found.replays, found.holding, found.findings, found.outcomes, found.groups) == (0, [], [], [], [])
    assert (found.complete, result.minimized) == (True, None)
    assert find_json(result)["verdict"]["kind"] == "no_output"


@pytest.mark.parametrize("start", [CALL, "It is a last turn."])
def test_the_last_turn_of_a_conversation_is_offered(start: str) -> None:
    text = f"{CHAT}{start}<|im_end|>\n"
    said = searched(text).found.verdict
    assert said.headline == "This is no output of a model: it looks like a whole conversation."
    assert said.offer == start
    assert said.proof is not None
    assert said.proof.edits == ((0, len(text), start),)


def test_a_prompt_is_called_one() -> None:
    said = searched(CHAT).found.verdict
    assert said.headline == "This is no output of a model: it looks like a prompt."
    assert said.offer is None


def test_what_is_quoted_is_offered_alone_where_nobody_knows_a_parser_for_it() -> None:
    said = no_output_in(f"{CHAT}It is a last turn.", Context(), None)
    assert said is not None
    assert (said.offer, said.proof) == ("It is a last turn.", None)


def test_an_output_is_judged() -> None:
    assert no_output_in(CALL, Context(), None) is None


TABLE = "id,model,ms\n1,m,20\n2,m,31\n"


@pytest.mark.parametrize(
    "text", [TABLE, "FROM python:3.12\nWORKDIR /app\nCMD run\n", "SELECT a\nFROM t\nWHERE a > 1;\n"]
)
def test_what_people_paste_and_models_write_is_judged_and_no_pass(text: str) -> None:
    found = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}))
    assert list(found.run())
    result = found.result().found
    said = result.verdict
    assert (said.kind, said.severity, said.about, said.why) == ("perhaps_no_output", "info", "request", Why.DOUBTFUL)
    assert said.headline.startswith("This may be no output of a model: it looks like ")
    assert said.sentences[0].startswith("If a model wrote it, all checks hold; if not: ")
    assert result.judged
    assert not any("looks like" in words for words in said.sentences)


@pytest.mark.parametrize(
    "text", ["Error: the file does not exist. Which one did you mean?", CALL, f"<think>{TABLE}</think>\nHi."]
)
def test_words_calls_and_reasoning_take_nothing_away_from_a_pass(text: str) -> None:
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": text}}))
    assert list(search.run())
    assert search.result().found.verdict.kind == "all_hold"
