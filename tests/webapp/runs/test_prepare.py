"""Decode policies in the service: what a tokenizer tells of a case, what is saved, and what is exported."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.io import load_case, loads
from parsers.cases.run import IGNORED
from webapp.jobs.search_program import case_search
from webapp.runs.exports import exported
from webapp.runs.prepare import prepare, stored_form
from webapp.runs.runner import Runner
from webapp.settings import get_settings
from webapp.tokenizers import get_tokenizer

TEXT = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": "你"}}\n</tool_call>'
IDS = get_tokenizer("embedded", format=None).encode(TEXT)
WORDS = {"policy": "text_streamer", "stop": ["</tool"]}


def case_of(**keys: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": TEXT}, **keys})


def recorded(ids: list[int] | None = None, name: str | None = "embedded", **keys: Any) -> Case:
    deltas = [{"text": TEXT[:8], "ids": (IDS if ids is None else ids)[:9]}, {"text": TEXT[8:], "ids": IDS[9:]}]
    tokenizer = {"name": name} if name else {"revision": "1"}
    source = {"kind": "recorded"}
    return case_of(input={"deltas": deltas}, tokenizer=tokenizer, source=source, **keys)


def service() -> Runner:
    return Runner(get_settings(), keep=False)


def test_recorded_ids_become_tokens_where_the_tokenizer_spells_the_text() -> None:
    run = service().run_checked(recorded(replay=[{"by": "recorded"}]))
    assert run.trace.mode == "ids"
    assert [step.ids for step in run.trace.steps[:2]] == [tuple(IDS[:9]), tuple(IDS[9:])]
    assert run.trace.text[slice(*run.trace.steps[0].span)] == TEXT[:8]
    assert IGNORED not in run.trace.reasons


@pytest.mark.parametrize("case", [recorded([7, 8, 9]), recorded(name=None), recorded(name="nobody")])
def test_ids_that_spell_another_text_are_left_alone(case: Case) -> None:
    assert prepare(case, get_settings()).case.input == case.input


def test_a_parser_that_nobody_knows_is_said_with_its_place() -> None:
    with pytest.raises(CaseError) as caught:
        prepare(recorded(parser={"name": "nobody"}), get_settings())
    assert caught.value.pointer == "/parser/name"


def test_ids_that_are_left_alone_are_said_to_be() -> None:
    run = service().run_checked(recorded([7, 8, 9]))
    assert (run.trace.mode, run.trace.text) == ("text", TEXT)
    assert IGNORED in run.trace.reasons


def test_the_tokenizer_says_how_it_spells_bytes() -> None:
    asked = case_of(tokenizer={"name": "characters", "decoder": "byte_fallback"}, decode=WORDS)
    assert prepare(asked, get_settings()).case.decoder == "byte_level"
    plain = case_of(tokenizer={"name": "characters"})
    assert prepare(plain, get_settings()).case == plain


def test_a_decoded_case_is_saved_with_the_tokens_as_they_were() -> None:
    run = service().run_checked(case_of(decode=WORDS))
    stored = stored_form(run)
    assert (stored.text(), stored.decode) == (TEXT, case_of(decode=WORDS).decode)
    assert run.trace.text == TEXT[: TEXT.index("</tool")]
    assert service().run_checked(stored).trace.text == run.trace.text


def test_cuts_are_checked_against_the_decoded_text() -> None:
    asked = case_of(decode=WORDS, replay=[{"by": "cuts", "cuts": [len(TEXT) - 3]}])
    with pytest.raises(CaseError, match="is not inside the output"):
        service().run_checked(asked)


def test_a_search_goes_by_the_decoded_text() -> None:
    search = case_search(case_of(decode=WORDS, checks=["chunking"]), get_settings())
    next(iter(search.run()))
    assert search.result().found.outcomes[0].message.tool_calls[0].arguments == '{"a": "你"}'


def test_the_page_has_what_became_of_each_token() -> None:
    run = Runner(get_settings()).run(case_of(decode=WORDS))
    assert run.decoded is not None
    assert run.pieces == run.decoded.pieces
    assert "".join([piece.text for piece in run.stored]) == TEXT
    assert run.replayer.due == run.decoded.due


def test_an_exported_test_file_holds_what_was_decoded(tmp_path: Path) -> None:
    asked = recorded(decode={"policy": "text_streamer"}, replay=[{"by": "recorded"}, {"by": "token"}])
    run = service().run_checked(asked)
    path = tmp_path / "test_exported.py"
    path.write_text(exported(run, "pytest", accept=True).text, encoding="utf-8")
    names = runpy.run_path(str(path))
    assert "decode" not in names["CASE"]
    deltas = names["CHUNKINGS"]["as recorded"]
    assert [ids for _, ids in deltas] == [IDS[:9], IDS[9:]]
    for fed in names["CHUNKINGS"].values():
        assert names["replay"](fed)["tool_calls"] == [{"name": "f", "arguments": '{"a": "你"}'}]


@pytest.mark.parametrize("target", ["case", "jsonl", "markdown"])
def test_other_exports_keep_the_policy(target: str) -> None:
    text = exported(service().run_checked(case_of(decode=WORDS)), target).text
    if target == "markdown":
        assert '- decode policy: `"text_streamer"`' in text
    else:
        assert loads(text).decode == case_of(decode=WORDS).decode
        assert json.loads(text)["decode"] == WORDS
