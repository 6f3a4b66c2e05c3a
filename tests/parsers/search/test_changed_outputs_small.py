"""Changed outputs that a foreign parser reads wrongly: what the contract allows, and what is made small of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.formats.contracts import contract_named
from parsers.replays.budget import Budget
from parsers.replays.chunking import WHOLE
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.found import Found
from parsers.search.search import NEVER_READ, READ_UNCHANGED
from parsers.search.taken_back import Change, CutOff, Doubled, Followed, LeftOut, Planted, change_of
from parsers.search.targets import Kept, Read
from parsers.selection.registry import get_format, policies
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Context, MessageDelta, Piece, ToolCallDelta
from tests.parsers.search.spoilt import Blocks, NeverCounts, Spoilt
from tests.parsers.search.test_foreign_parsers import by_tokens
from tests.parsers.search.test_targets import Holds, call
from tests.parsers.search.test_unseen_faults import ONE, TOOLS, engines


class ClosesCut(Spoilt):
    """A call that the output cuts off is closed; `name`: also one of which only a part of the name has come."""

    name = False

    def finish(self, reason: str | None) -> MessageDelta | None:
        said = self.assembler.message().tool_calls
        begun = self.text.partition('"name": "')[2]
        super().finish(reason)
        if said and not said[-1].arguments.endswith("}"):
            return MessageDelta(tool_calls=[ToolCallDelta(0, arguments="{}" if not said[-1].arguments else '"}')])
        return (
            MessageDelta(tool_calls=[ToolCallDelta(0, "c", begun, "{}")]) if self.name and begun and not said else None
        )


class ClosesNames(ClosesCut):
    name = True


class DropsContent(ClosesCut):
    """The same, and all content is lost, also of the whole output."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return None if sent is None else replace(sent, content=None)


class BlocksWithoutContent(Blocks):
    def finish(self, reason: str | None) -> MessageDelta | None:
        found = super().finish(reason)
        return None if found is None else replace(found, content=None)


class Fails(Spoilt):
    def on(self, text: str) -> MessageDelta | None:
        raise ValueError("no")


class DropsAfter(Spoilt):
    """Text after a call is lost, as the contract allows."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        if sent is not None and self.assembler.calls:
            sent.content = None
        return sent


class NeedsOneOpener(Spoilt):
    """It fails where a marker stands twice."""

    def on(self, text: str) -> MessageDelta | None:
        if "<tool_call><tool_call>" in self.text:
            raise ValueError("two")
        return super().on(text)


class StopsAtTwo(Spoilt):
    """It reads nothing more where a marker stands twice."""

    def on(self, text: str) -> MessageDelta | None:
        return None if "<tool_call><tool_call>" in self.text else super().on(text)


class Chokes(Spoilt):
    """It fails on a call that the output cuts off."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        if "<tool_call>" in self.text and not self.text.rstrip().endswith("</tool_call>"):
            raise ValueError("cut")
        return super().finish(reason)


class ChokesOnBrackets(Spoilt):
    def on(self, text: str) -> MessageDelta | None:
        if "[" in self.text:
            raise ValueError("bracket")
        return super().on(text)


class Rereads(Spoilt):
    """With each delta it reads all of a long output again, on a clock of its own."""

    now = 0

    def on(self, text: str) -> MessageDelta | None:
        Rereads.now += len(self.text) * (len(self.text) > 1_000)
        return super().on(text)


def searched(make: Callable[[], Any], *only: str, text: str = ONE, budget: Budget | None = None, **given: Any) -> Found:
    body = {"schema": 1, "parser": {"name": "qwen", "engine": "mine"}, "input": {"text": [text]}, "tools": TOOLS}
    case = load_case({**body, "checks": list(only), **given})
    made = CaseSearch(case, pieces=by_tokens(text), engines=engines(make), max_replays=100, budget=budget)
    assert list(made.run())
    return made.result().found


@pytest.mark.replays
@pytest.mark.parametrize(
    ("make", "check", "contract", "unchanged"),
    [
        (Blocks, "escapes", "vllm", True),
        (ClosesCut, "truncation", "strict", True),
        (ClosesNames, "truncation", "vllm", True),
        (NeverCounts, "recovers", "vllm", True),
        (DropsContent, "truncation", "strict", False),
    ],
)
def test_the_small_form_is_read_rightly_without_the_change(
    make: Callable[[], Any], check: str, contract: str, *, unchanged: bool
) -> None:
    found = searched(make, check, contract=contract)
    small = found.minimized
    assert found.verdict.kind == "all_hold"
    assert small is not None
    assert small.check == check
    assert (small.never_read, small.read_unchanged) == (True, unchanged)
    assert found.verdict.sentences[-1] == (READ_UNCHANGED if unchanged else NEVER_READ).format(f"`{check}`")


def test_a_plant_that_is_not_what_the_parser_stumbles_over_is_not_made_small() -> None:
    small = searched(BlocksWithoutContent, "escapes", contract="vllm").minimized
    assert small is None or not small.read_unchanged


def test_a_parser_that_fails_reads_nothing_rightly() -> None:
    fmt = get_format("qwen")
    given = Replayer(lambda: BlackBox("b", Fails()), (Piece(call()),), black_box=True, format=fmt)
    assert Kept.of(Holds(), given, WHOLE).reads is None


@pytest.mark.replays
def test_a_parser_that_takes_no_longer_than_it_may_is_not_slow() -> None:
    assert searched(Spoilt, "linear_arguments", budget=Budget(lambda: 0.0, each=1)).robustness == []


@pytest.mark.replays
def test_a_cut_call_that_the_contract_allows_is_a_note() -> None:
    (one,) = searched(ClosesCut, "truncation", contract="vllm").robustness
    assert (one.severity, one.policy) == ("info", "truncated_call=as_streamed|close|text|drop")
    assert searched(ClosesCut, "truncation", contract="vllm").minimized is None


@pytest.mark.replays
@pytest.mark.parametrize("make", [NeedsOneOpener, Chokes, ChokesOnBrackets])
def test_what_a_parser_fails_on_is_made_small_with_an_unchanged_form_that_it_reads(make: Callable[[], Any]) -> None:
    found = searched(make, "changed_output_raised", contract="vllm")
    small = found.minimized
    assert found.verdict.kind == "all_hold"
    assert small is not None
    assert (small.check, small.never_read, small.read_unchanged) == ("parser_raised", True, True)
    assert found.verdict.sentences[-1] == READ_UNCHANGED.format("`parser_raised`")


@pytest.mark.replays
def test_a_call_lost_behind_a_doubled_marker_is_found_where_it_stands_once() -> None:
    small = searched(StopsAtTwo, "recovers", contract="vllm").minimized
    assert small is not None
    assert "<tool_call><tool_call>" in small.text
    assert (small.never_read, small.read_unchanged) == (True, True)


def given(text: str) -> Replayer:
    fmt = get_format("qwen")
    made = {"black_box": True, "format": fmt, "terminals": fmt.terminals}
    return Replayer(lambda: BlackBox("b", Spoilt()), (Piece(text),), **made)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [Planted("nowhere"), Followed(), Doubled("<tool_call>"), LeftOut("x", "y", "z")])
def test_a_change_that_is_not_there_cannot_be_taken_back(change: Change) -> None:
    assert change.without(given(call())) is None
    assert Followed().without(replace(given(call()), format=None)) is None


@pytest.mark.parametrize(
    ("edit", "change"),
    [
        ((0, 11, ""), LeftOut("<tool_call>", "", "{")),
        ((11, 11, "<tool_call>"), Doubled("<tool_call>")),
        ((0, 0, "Hi."), Followed()),
        ((47, 59, ""), CutOff((Piece("</tool_call>"),), Context())),
        ((47, 59, "\n<tool_call>"), LeftOut("</tool_call>", "}", "<tool_call>")),
        ((59, 59, "</tool_call>\n<tool_call>"), Doubled("</tool_call>")),
        ((59, 59, "\n<tool_call>"), Followed()),
        ((40, 43, '"a]b"'), Planted("]")),
        ((40, 43, '"abcdefghi "'), None),
    ],
)
def test_what_was_done_shows_from_the_first_edit(edit: tuple[int, int, str], change: Change | None) -> None:
    assert len(call()) == 59
    assert change_of(Proof({}, (edit,)), given(call())) == change


def test_a_marker_left_out_after_another_stands_between_both() -> None:
    doubled = given("<tool_call>" + call())
    change = change_of(Proof({}, ((0, 11, ""),)), doubled)
    assert change == LeftOut("<tool_call>", "", "<tool_call>")
    assert change_of(Proof({}, ((11, 22, ""),)), doubled) == LeftOut("<tool_call>", "<tool_call>", "{")
    assert change_of(Proof({}), doubled) is None


def test_a_marker_that_was_left_out_goes_where_the_format_then_finds_no_flaw() -> None:
    text = call().replace("</tool_call>", "") + "\n" + call("g")
    mended = LeftOut("</tool_call>", "}", "<tool_call>").without(given("Hi {}<tool_call>" + text[11:]))
    assert mended is not None
    assert mended.text == "Hi {}" + call().replace("</tool_call>", "") + "\n</tool_call>" + call("g")


@pytest.mark.parametrize(("contract", "read"), [("vllm", Read.ALLOWED), ("openai", Read.NEVER)])
def test_what_the_contract_allows_is_a_right_reading_where_there_is_no_other(contract: str, read: Read) -> None:
    fmt = get_format("qwen")
    given = Replayer(
        lambda: BlackBox("drops", DropsAfter()),
        (Piece(call() + " Bye."),),
        black_box=True,
        format=fmt,
        policy=policies(fmt),
        contract=contract_named(contract),
    )
    kept = Kept.of(Holds(), given, WHOLE)
    assert kept.read is read
    assert (kept.reads is not None) is (read is Read.ALLOWED)
    assert kept.holds(given, WHOLE)


@pytest.mark.replays
def test_a_parser_too_slow_for_a_long_argument_is_said_to_be() -> None:
    budget = Budget(lambda: float(Rereads.now), each=100_000, unit="characters")
    found = searched(Rereads, "changed_output_raised", "linear_arguments", budget=budget)
    (one,) = found.robustness
    assert found.minimized is None
    assert one.message == (
        "Read with 2,000 characters in the argument `city`, 16 at a time, the parser is too slow: "
        "it was stopped, for it had taken more than 100,000 characters."
    )


@pytest.mark.replays
def test_calls_that_differ_from_the_built_in_reading_are_noted_beside_a_pass() -> None:
    class Capitals(Spoilt):
        def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
            for part in sent.tool_calls if sent is not None else ():
                part.arguments = (part.arguments or "").replace("a", "A")
            return sent

    found = searched(Capitals, "chunking")
    assert found.verdict.kind == "all_hold"
    assert any(words.startswith("Beside the built-in qwen, the arguments") for words in found.verdict.sentences)
    assert json.dumps(found.verdict.sentences).count("Beside") == 1
