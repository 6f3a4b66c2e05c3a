"""A text that is no output is neither searched nor judged: the verdict alone is found."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.find import CaseFound, CaseSearch, find_json
from parsers.cases.io import load_case
from parsers.intake import recognise
from parsers.search.found import Verdict, Why
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


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ('{"added_tokens_decoder": {"1": {"content": "<tool_call>"}}}', "no_output", "the configuration of a model"),
        ('<tool_response>\n{"a": 22}\n</tool_response>', "perhaps_no_output", "the result of a tool"),
        ('tool_call_regex = re.compile(r"<tool_call>(.*?)</tool_call>", re.S)', "perhaps_no_output", "a program"),
    ],
)
@pytest.mark.replays
def test_what_holds_markers_for_a_parser_or_from_a_tool_is_no_pass(text: str, kind: str, words: str) -> None:
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}), max_replays=5)
    assert list(search.run())
    said = search.result().found.verdict
    assert said.kind == kind
    assert words in said.headline


TABLE = "id,model,ms\n1,m,20\n2,m,31\n"


@pytest.mark.parametrize(
    "text", [TABLE, "FROM python:3.12\nWORKDIR /app\nCMD run\n", "SELECT a\nFROM t\nWHERE a > 1;\n"]
)
@pytest.mark.replays
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


def verdict_of(text: str, **given: Any) -> Verdict:
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": text}, **given}))
    assert list(search.run())
    return search.result().found.verdict


ERROR = "Error: the file does not exist. Which one did you mean?"


@pytest.mark.parametrize("text", [f"{ERROR}<|im_end|>", CALL, f"<think>{TABLE}</think>\nHi."])
@pytest.mark.replays
def test_markers_calls_and_reasoning_take_nothing_away_from_a_pass(text: str) -> None:
    assert verdict_of(text).kind == "all_hold"


@pytest.mark.parametrize(
    "text",
    [
        "We run it behind nginx, and every third request returns an empty answer. Any pointers?",
        "Minutes of the weekly: calls are dropped since Monday, and Ana will bisect.",
        '["Qwen/Qwen3-32B"]',
        "The weather is nice.",
    ],
)
@pytest.mark.replays
def test_a_text_that_holds_nothing_for_a_parser_is_no_pass(text: str) -> None:
    said = verdict_of(text)
    assert (said.kind, said.severity, said.about, said.why) == ("nothing_to_parse", "info", "request", Why.UNMARKED)
    assert said.sentences[0].startswith("If a model wrote it, it is a plain answer, and all checks hold (")
    assert said.sentences[1].startswith("It looks like ")
    assert said.sentences[2].startswith("If it was to hold a call, or is about an output, paste what the model wrote")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("We run it behind nginx. Any pointers?", "prose, as answers, reports, mails and pages are"),
        ("seit gestern kommen keine Aufrufe mehr an und niemand weiss es", "prose, as answers, reports, mails"),
        ("Paris", "a single word or value"),
        ("Paris, France", "a few words"),
        ("Paris\nRome\nLima", "lines of a few words"),
    ],
)
@pytest.mark.replays
def test_what_holds_nothing_for_a_parser_is_told_what_it_looks_like(text: str, form: str) -> None:
    assert verdict_of(text).sentences[1].startswith(f"It looks like {form}")


@pytest.mark.parametrize(
    "text",
    [
        '"user"\n"assistant"\n"tool"',
        "user\nassistant\ntool\nassistant",
        '["user", "assistant", "user"]',
        "$ jq -r '.messages[].role' request.json\nsystem\nuser",
        'cat a.json | jq \'.[].role\'\n"system"\n"user"',
        '"tool_calls"\n"stop"',
        '"tool_use"\nnull',
    ],
)
def test_what_a_filter_took_out_of_messages_is_no_output(text: str) -> None:
    said = verdict_of(text)
    assert said.kind == "no_output"
    assert "fields that a filter took out of messages" in said.headline
    assert said.sentences[0].endswith("or the whole answer that the server sent.")
    assert recognise(text.encode(), pasted=True).kind == "raw_text"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("user\nassistant\ntool", "perhaps_no_output"),
        ('.messages[] | select(.role == "assistant") | .content', "perhaps_no_output"),
        ("user", "nothing_to_parse"),
        ("stop\nstop", "nothing_to_parse"),
        ('"user"\n"Hi."', "nothing_to_parse"),
    ],
)
def test_what_a_model_may_write_as_well_is_a_doubt_or_a_plain_text(text: str, kind: str) -> None:
    assert verdict_of(text).kind == kind


def test_tools_do_not_make_an_output_of_it() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    assert verdict_of("The server drops every third call.", tools=[tool]).kind == "nothing_to_parse"


def test_what_it_looks_like_is_said_in_place_of_what_to_paste() -> None:
    said = verdict_of(ERROR)
    assert said.kind == "nothing_to_parse"
    assert said.sentences[0].startswith("It looks like the message of an error.")
    assert not any("paste what the model wrote" in words for words in said.sentences)


@pytest.mark.parametrize(
    "given",
    [
        {"context": {"finish_reason": "stop"}},
        {"context": {"reasoning_open": False}},
        {"context": {"prompt_tail": "<|im_start|>assistant\n"}},
        {"context": {"tool_choice": "none"}},
    ],
    ids=lambda given: "-".join(given),
)
def test_what_else_is_known_of_it_says_that_it_is_an_output(given: dict[str, Any]) -> None:
    said = verdict_of("It is done.", **given)
    assert (said.kind, said.severity) == ("all_hold", "pass")


SCRIPT = "#!/bin/bash\nset -e\ndocker run -p 8000:80 nginx\ncurl localhost:8000"
JSON_ERROR = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
SAID = {"choices": [{"index": 0, "delta": {"content": SCRIPT}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "given",
    [
        {"input": {"tokens": [[1, SCRIPT], [2, "<|im_end|>", {"kind": "special"}]]}, "source": {"kind": "token_ids"}},
        {"input": {"text": SCRIPT, "stream": [SAID]}},
        {"input": {"text": SCRIPT, "deltas": [{"text": SCRIPT[:9]}, {"text": SCRIPT[9:]}]}},
        {"input": {"text": SCRIPT}, "context": {"finish_reason": "stop"}},
        {"input": {"text": f"{SCRIPT}<|im_end|>\n"}},
        {"input": {"text": f"{JSON_ERROR}<|im_end|>"}},
        {"input": {"text": f"{SCRIPT}</s>"}, "parser": {"name": "mistral"}},
        {"input": {"text": TABLE}, "context": {"finish_reason": "stop"}},
    ],
)
@pytest.mark.replays
def test_what_a_model_is_known_to_have_written_is_an_output_whatever_it_looks_like(given: dict[str, Any]) -> None:
    search = CaseSearch(load_case({"schema": 1, "parser": {"name": "qwen3"}, **given}))
    assert list(search.run())
    said = search.result().found.verdict
    assert (said.kind, said.severity) == ("all_hold", "pass")
    assert not any("looks like" in words for words in said.sentences)


@pytest.mark.parametrize(
    "text", [SCRIPT, JSON_ERROR, f"{JSON_ERROR}\n{CALL}<|im_end|>", f"{JSON_ERROR} <|im_end|> <|im_end|>", CHAT]
)
def test_without_such_a_sign_or_with_other_markers_it_is_none(text: str) -> None:
    assert searched(text).found.verdict.kind == "no_output"


def test_a_prompt_that_was_recorded_is_one() -> None:
    given = {"parser": {"name": "qwen"}, "input": {"text": CHAT}, "context": {"finish_reason": "stop"}}
    search = CaseSearch(load_case({"schema": 1, **given}))
    assert list(search.run())
    assert search.result().found.verdict.kind == "no_output"
