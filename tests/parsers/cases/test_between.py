"""A case as two parsers have it: searched for where they differ, the smallest as a case, all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from parsers.cases.between import SearchBetween, between_json, parted_json
from parsers.cases.case import CaseError
from parsers.cases.engines import Engine
from parsers.cases.io import load_case, loads
from parsers.cases.run import run_case
from parsers.replays.chunking import WHOLE, Chunking
from parsers.vocabulary.types import MessageDelta
from tests.parsers.search.spoilt import EndsTwice, LosesTail, Spoilt
from tests.parsers.search.test_unseen_faults import TOOLS, TWO, call, engines

TEXT = "Sure.\n" + call("get_weather", city="Paris")


class LosesAfter(Spoilt):
    """Content after a call is lost, as the contract of vLLM allows."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None and "</tool_call>" in self.text:
            sent.content = None
        return sent


def given(text: str = TEXT, engine: str | None = None, **more: Any) -> Any:
    parser = {"name": "qwen", **({"engine": engine} if engine else {})}
    return load_case({"schema": 1, "parser": parser, "input": {"text": text}, "tools": TOOLS, **more})


def searched(known: Mapping[str, Engine], text: str = TEXT, *, stated: bool = False, **more: Any) -> Any:
    made = SearchBetween((given(text, **more), given(text, "mine", **more)), engines=known, stated=stated)
    assert [one.stage for one in made.run()][-1] == "done"
    return made.result()


@pytest.mark.replays
def test_the_smallest_output_is_a_case_that_expects_nothing() -> None:
    found = searched(engines(LosesTail))
    small = found.smallest
    assert found.differ
    assert (small.parser.name, small.expect, small.title) == (
        "qwen",
        None,
        "qwen (smallest output on which two parsers differ)",
    )
    assert [tool["function"]["name"] if "function" in tool else tool["name"] for tool in small.tools] == ["get_weather"]
    known = engines(LosesTail)
    again = SearchBetween((small, small.model_copy(update={"parser": given(engine="mine").parser})), engines=known)
    assert not again.replayed().same


@pytest.mark.replays
def test_recorded_tokens_stay_tokens() -> None:
    tokens = [["<tool_call>", 7, "special"], *[[part, 100 + n, "text"] for n, part in enumerate(TEXT.split())]]
    stored = {"input": {"tokens": [[number, text, {"kind": kind}] for text, number, kind in tokens]}}
    body = {"schema": 1, "parser": {"name": "qwen"}, "source": {"kind": "recorded"}, **stored}
    cases = load_case(body), load_case({**body, "parser": {"name": "passthrough"}})
    made = SearchBetween(cases)
    _ = [*made.run()]
    small = made.result().smallest
    assert small is not None
    assert small.input.tokens is not None
    assert run_case(small).trace.message != run_case(small.model_copy(update={"parser": cases[1].parser})).trace.message


@pytest.mark.replays
def test_what_was_changed_stands_in_the_notes() -> None:
    found = searched(engines(EndsTwice), TEXT)
    assert found.found.first.change
    assert found.smallest.notes[-1] == f"The output was changed first: {found.found.first.change}."


def test_what_the_contract_allows_is_no_difference() -> None:
    lost = searched(engines(LosesAfter), TWO, contract="openai")
    assert (lost.differ, lost.found.allowed) == (True, 0)
    allowed = searched(engines(LosesAfter), TWO, contract="vllm")
    assert allowed.found.allowed > 0
    assert not allowed.differ or allowed.found.first.change


def test_where_a_case_states_what_is_right_no_contract_allows_another_message() -> None:
    stated = searched(engines(LosesAfter), TWO, contract="vllm", stated=True)
    assert (stated.differ, stated.found.allowed, stated.found.first.change) == (True, 0, "")
    assert stated.smallest is not None
    assert stated.found.smallest.text == stated.smallest.text()


def test_all_of_it_is_json() -> None:
    data = json.loads(json.dumps(between_json(searched(engines(LosesTail)))))
    assert (data["differ"], data["changed"], data["complete"], data["samples"]) == (True, 0, True, [])
    assert loads(json.dumps(data["case"])).text() == data["smallest"]["text"]
    small = data["smallest"]
    assert (small["same"], small["parting"]["channel"]) == (False, "tool_calls[0].arguments")
    assert [side["there"]["index"] > 0 for side in small["sides"]] == [True, True]
    none = between_json(searched(engines(Spoilt), "Sure."))
    assert [none[key] for key in ("differ", "found", "smallest", "case")] == [False, None, None, None]


def test_a_case_is_replayed_by_both_under_any_chunking() -> None:
    made = SearchBetween((given(), given(engine="mine")), engines=engines(Spoilt))
    same = parted_json(made.replayed(WHOLE))
    assert (same["same"], same["step"], same["chunking"]["by"]) == (True, None, "whole")
    assert made.replayed().chunking == Chunking(by="token")


def test_a_recorded_stream_is_refused() -> None:
    stream = [{"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}]
    played = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}})
    with pytest.raises(CaseError, match="a recorded stream has one chunking"):
        SearchBetween((played, played))
