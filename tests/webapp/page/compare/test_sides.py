"""The two replays of a comparison."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import load_case
from parsers.vocabulary.types import UsageError
from tests.webapp.page.streams import DELTAS, END, STREAM, TEXT, chunk, stream_case
from webapp.page.compare.asked import Side
from webapp.page.compare.sides import Replayed, replayed
from webapp.runs.runner import Runner
from webapp.settings import Settings

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
IDS = [("<tool_call>", 7, "special"), ('{"name": "f", "arguments": {}}', 8, "text"), ("</tool_call>", 9, "special")]
RECORDED: dict[str, Any] = {
    "input": {"tokens": [[number, text, {"kind": kind}] for text, number, kind in IDS]},
    "source": {"kind": "recorded"},
    "tokenizer": {"vocab": {"<tool_call>": 7, "</tool_call>": 9}},
}


@pytest.fixture
def shared(client: FlaskClient) -> Any:
    def share(found: Case) -> str:
        data = json.loads(found.model_dump_json(by_alias=True, exclude_defaults=True))
        return f"/c/{client.post('/api/v1/cases', json=data).get_json()['id']}"

    return share


def words_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def stream_side(runner: Runner, found: Case, **words: str) -> Replayed:
    return replayed(runner, found, "b", Side(**words))


def test_a_side_plays_the_stream_on_the_texts_of_its_chunks(runner: Runner) -> None:
    found = stream_side(runner, stream_case(parser="qwen", deltas=DELTAS), parser="recorded")
    assert (found.errors, found.side.chunk, found.moved) == ({}, "recorded", True)
    assert [step.span.end for step in found.run.trace.steps] == [0, 2, 30, len(TEXT), len(TEXT), len(TEXT)]


def test_the_parser_beside_a_played_stream_reads_the_output(runner: Runner) -> None:
    found = stream_side(runner, stream_case(parser="recorded", text=TEXT), parser="auto")
    assert (found.errors, found.run.trace.parser, found.side.chunk) == ({}, "qwen", "token")
    assert found.run.trace.text == TEXT


@pytest.mark.parametrize(
    ("found", "words", "field", "message"),
    [
        (
            stream_case(parser="qwen", text=TEXT),
            {"parser": "recorded", "chunk": "char"},
            "chunk",
            "as it was recorded only",
        ),
        (stream_case(), {"parser": "qwen"}, "parser", "nothing for qwen to parse"),
        (stream_case(parser="qwen", text=TEXT), {"parser": "recorded+fallback"}, "parser", "recorded"),
    ],
)
def test_what_a_side_cannot_do_with_a_stream_is_said_beside_its_control(
    runner: Runner, found: Case, words: dict[str, str], field: str, message: str
) -> None:
    assert message in stream_side(runner, found, **words).errors[field]


def test_a_case_without_a_stream_has_none_to_play(runner: Runner, make: Any) -> None:
    assert "no recorded stream" in stream_side(runner, make.case(TEXT), parser="recorded").errors["parser"]


@pytest.mark.replays
def test_the_page_of_two_sides_offers_the_stream_and_says_where_they_part(client: FlaskClient, shared: Any) -> None:
    lost = [*STREAM[:3], chunk({}), END]
    address = shared(stream_case(lost, parser="qwen", deltas=DELTAS))
    page = client.get(address + "/compare?b_parser=recorded").text
    assert "recorded stream (5 chunks)" in page
    said = words_of(page)
    assert "The calls differ." in said
    assert "First in tool_calls[0].arguments" in said


def test_a_stream_alone_has_nothing_beside_it(client: FlaskClient, shared: Any) -> None:
    page = client.get(f"{shared(stream_case())}/compare").text
    assert "There is nothing to lay beside this recording." in words_of(page)


@pytest.fixture
def side(runner: Runner, make: Any) -> Any:
    def run(words: Side, text: str = CALL, **more: Any) -> Replayed:
        return replayed(runner, make.case(text, **more), "b", words)

    return run


def recorded() -> Case:
    return load_case({"schema": 1, "parser": {"name": "auto"}, **RECORDED})


def test_without_words_a_side_is_the_case_itself(side: Any, runner: Runner, make: Any) -> None:
    found = side(Side())
    assert found.run is runner.run(make.case(CALL))
    assert (found.is_own, found.moved, found.side.chunk, found.title) == (True, False, "token", "B")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (Side(chunk="cuts:3,20"), "qwen, cut at 3 and 20, markers by text"),
        (Side(parser="hermes"), "qwen, token by token, markers by text"),
        (Side(parser="passthrough"), "passthrough, token by token, markers by text"),
        (Side(parser="+fallback"), "qwen, wrapped, token by token, markers by text"),
        (Side(parser="llama+fallback"), "llama, wrapped, token by token, markers by text"),
        (Side(parser="auto"), "qwen, token by token, markers by text"),
        (Side(start="reasoning"), "qwen, token by token, markers by text, starts in reasoning"),
        (Side(mode="text"), "qwen, token by token, markers by text"),
    ],
)
def test_every_word_does_what_it_says(side: Any, words: Side, says: str) -> None:
    found = side(words)
    assert found.words == says
    assert found.errors == {}


def test_a_wrapped_case_stays_wrapped(side: Any) -> None:
    found = side(Side(parser="+fallback", chunk="whole"))
    again = replayed(Runner(Settings(data_dir=Path("unused"))), found.case, "a", Side(parser="+fallback"))
    assert again.case == found.case


def test_policies_go_over_those_of_the_case(side: Any) -> None:
    found = side(Side(policy="unknown_tool:drop"), tools=[{"name": "g"}])
    assert found.run.policy["unknown_tool"] == "drop"
    assert found.run.trace.message.tool_calls == []


def test_both_sides_read_the_same_tokens(side: Any) -> None:
    assert side(Side(parser="passthrough")).run.pieces == side(Side()).run.pieces


def test_a_start_overrides_the_end_of_the_prompt(side: Any) -> None:
    context = {"prompt_tail": "<think>\n"}
    assert side(Side(), text="Hm.</think>Yes", parser="qwen3", context=context).run.trace.message.reasoning == "Hm."
    found = side(Side(start="content"), text="Hm.</think>Yes", parser="qwen3", context=context)
    assert found.run.trace.steps[0].state == "CONTENT"


def test_recorded_ids_can_be_read_as_text(runner: Runner) -> None:
    ids, text = (replayed(runner, recorded(), "a", Side(mode=mode)) for mode in ("ids", "text"))
    assert (ids.run.trace.mode, text.run.trace.mode) == ("ids", "text")
    assert ids.run.format.name == text.run.format.name
    assert not any(piece.recorded for piece in text.run.pieces)
    named = recorded().model_copy(update={"parser": recorded().parser.model_copy(update={"name": "qwen"})})
    assert replayed(runner, named, "a", Side(mode="text")).run.trace.mode == "text"


@pytest.mark.parametrize(
    ("words", "field", "says"),
    [
        (Side(chunk="zap"), "chunk", "is no chunking"),
        (Side(chunk="cuts:9999"), "chunk", "9999"),
        (Side(chunk="recorded"), "chunk", "o deltas were recorded"),
        (Side(parser="nobody"), "parser", "no parser 'nobody'"),
        (Side(parser="qwen+loudly"), "parser", "NAME+fallback"),
        (Side(policy="unknown_tool"), "policy", "says no value"),
        (Side(policy="unknown_tool:keep,nothing:here"), "policy", "no policy 'nothing'"),
        (Side(policy="unknown_tool:perhaps"), "policy", "cannot be 'perhaps'"),
        (Side(mode="ids"), "mode", "no recorded ids"),
        (Side(mode="smell"), "mode", "ids or text"),
        (Side(start="middle"), "start", "content or reasoning"),
    ],
)
def test_a_word_that_makes_no_sense_is_said_and_left_out(side: Any, words: Side, field: str, says: str) -> None:
    found = side(words)
    assert list(found.errors) == [field]
    assert says in found.errors[field]
    assert found.given == words
    assert getattr(found.side, field) == ("token" if field == "chunk" else "")
    assert found.run.trace.message.tool_calls[0].name == "f"


def test_one_bad_word_leaves_the_others_in_force(side: Any) -> None:
    found = side(Side(chunk="zap", parser="passthrough", start="nowhere"))
    assert list(found.errors) == ["start", "chunk"]
    assert found.run.format.name == "passthrough"


def test_a_parser_that_cannot_take_the_request_is_named(side: Any) -> None:
    context = {"prompt_tail": "<think>\n", "reasoning_open": False}
    found = side(Side(parser="qwen3"), parser="passthrough", context=context)
    assert "prompt_tail" in found.errors["parser"]
    assert found.run.format.name == "passthrough"


def test_a_case_that_cannot_be_replayed_at_all_is_refused(runner: Runner, make: Any) -> None:
    with pytest.raises(UsageError):
        replayed(runner, make.case(CALL, parser="nobody"), "a", Side(chunk="whole"))


def test_a_side_is_a_case_of_its_own(side: Any) -> None:
    found = side(Side(chunk="char:5", parser="passthrough"))
    assert found.standalone.parser.name == "passthrough"
    assert found.standalone.replay[0].size == 5
    assert dataclasses.asdict(found.side)["chunk"] == "char:5"
