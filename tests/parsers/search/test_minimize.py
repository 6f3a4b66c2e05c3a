"""Which finding is made small, and what is said of the small form."""

from __future__ import annotations

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.cases.run import characters, run_case
from parsers.cases.tested import as_test
from parsers.compare.divergence import EXACT
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.found import Verdict
from parsers.search.harms import kind_of
from parsers.search.minimize import Start, _worst_first, minimized, start_of
from parsers.search.outcomes import Outcomes
from parsers.search.own_reading import own_reading
from parsers.search.shrink import form_of
from parsers.search.targets import Finds, Kept
from parsers.selection.registry import get_format, maker
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import About, Finding, Proof
from parsers.vocabulary.types import Context, Message, MessageDelta, ToolCall
from tests.parsers.search.faulty import case_of, engines, loses_brace
from tests.parsers.search.spoilt import Spoilt
from tests.parsers.search.test_unseen_faults import engines as boxes

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
RIGHT = Replayer(maker(get_format("qwen")), characters(CALL))


def begun() -> Outcomes:
    outcomes = Outcomes(RIGHT, EXACT)
    outcomes.begin(TRACED, RIGHT.trace(TRACED))
    return outcomes


@pytest.mark.parametrize(
    ("check", "severity", "about", "proof"),
    [
        ("chunking", "error", "parser", None),
        ("parser_raised", "error", "parser", Proof(edits=((0, 4, ""),))),
        ("arguments_json", "error", "parser", None),
        ("no such check", "warning", "parser", None),
        ("arguments_json", "error", "output", None),
        ("arguments_json", "info", "parser", None),
    ],
)
def test_a_finding_that_no_replay_shows_is_not_made_small(
    check: str, severity: Severity, about: About, proof: Proof | None
) -> None:
    finding = Finding(check, severity, about, "It is said to fail.", proof=proof)
    assert start_of(RIGHT, TRACED, begun(), [finding], EXACT) is None


def test_a_form_that_does_not_show_its_finding_is_not_shown() -> None:
    finding = Finding("arguments_json", "error", "parser", "It is said to fail.")
    kept = Kept.of(Finds(finding, EXACT, True), RIGHT, WHOLE)
    start = Start(finding, form_of(RIGHT, WHOLE), kept, RIGHT)
    assert minimized(RIGHT, start, start.form, EXACT, 1) is None


@pytest.mark.replays
def test_what_every_chunking_shows_is_made_small_whole() -> None:
    case = case_of("[get_weather(city='Paris', days=[1, 2]), get_time()]", "pythonic", checks=["arguments_closed"])
    search = CaseSearch(case, engines=engines(loses_brace))
    assert list(search.run())
    found = search.result().found
    assert len(found.outcomes) == 1
    assert found.minimized is not None
    assert (found.minimized.text, found.minimized.chunking) == ("[g()]", WHOLE)


class TwoFaults(Spoilt):
    """It keeps the last character of the content for ever, and loses the one that follows a marker which was cut."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        self.kept = ""

    def on(self, text: str) -> MessageDelta | None:
        before = self.text[: len(self.text) - len(text)]
        sent = self.read(text)
        if sent is not None and sent.content:
            cut = any(before.endswith("</tool_call>"[:size]) for size in range(1, 12))
            content = self.kept + sent.content[cut:]
            sent.content, self.kept = content[:-1] or None, content[-1:]
        return sent


def test_a_second_fault_that_shows_everywhere_keeps_no_second_call_in_the_small_case() -> None:
    text = (
        'I will look that up for you now. <tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}'
        '</tool_call> Let us see what comes of it. <tool_call>{"name": "get_time", "arguments": {"zone": "CET"}}'
        "</tool_call>Bye for now."
    )
    tools = [{"name": name, "parameters": {"type": "object"}} for name in ("get_weather", "get_time")]
    parser = {"name": "qwen", "engine": "mine"}
    case = load_case({"schema": 1, "parser": parser, "input": {"text": text}, "tools": tools, "contract": "openai"})
    search = CaseSearch(case, engines=boxes(TwoFaults))
    assert list(search.run())
    found = search.result().found.minimized
    assert found is not None
    assert found.text == '<tool_call>{"name":"get_time","arguments":{}}</tool_call>Bf'
    assert found.chunking.cuts == (56,), "inside the marker, before its last character"


class LosesBlanks(Spoilt):
    """A delta that is nothing but white space."""

    def on(self, text: str) -> MessageDelta | None:
        return self.read("" if text.isspace() else text)


@pytest.mark.replays
def test_what_the_format_reads_is_right_where_the_parser_gives_it_under_some_chunking() -> None:
    case = load_case(
        {"schema": 1, "parser": {"name": "qwen", "engine": "mine"}, "input": {"text": "Well there\n\nfriend."}}
    )
    search = CaseSearch(case, engines=boxes(LosesBlanks))
    assert list(search.run())
    small = search.result().minimized
    assert small is not None
    assert small.expect is not None
    assert small.expect.content == small.text()
    assert as_test(run_case(small, engines=boxes(LosesBlanks))).outcome == "FAIL"
    assert as_test(run_case(small, engines=boxes(Spoilt))).outcome == "ok"


def test_calls_that_were_whole_stay_whole() -> None:
    finding = Finding("no_such_check", "error", "parser", "It is said to fail.")
    cut = RIGHT.with_pieces(RIGHT.pieces[:-20])
    assert not Finds(finding, EXACT, True).holds(cut, Chunking(by="char"))


def test_where_no_format_is_known_nothing_is_its_own_reading() -> None:
    assert RIGHT.format is None
    assert own_reading(RIGHT) is None


def test_the_same_calls_in_another_order_differ_in_their_order() -> None:
    calls = [ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}")]
    turned = Message(tool_calls=calls, order=(1, 0))
    assert kind_of(Message(tool_calls=calls), turned, EXACT) == {("calls", ((), (1, 0)))}


def test_where_the_verdict_is_about_chunkings_what_compares_them_is_made_small_first() -> None:
    found = [Finding(name, "error", "parser", "It is wrong.") for name in ("parser_raised", "chunking")]
    said = Verdict("chunk_boundary", "error", "parser", "It depends on the cuts.")
    assert [one.check for one in _worst_first(found, said)] == ["chunking", "parser_raised"]
    assert [one.check for one in _worst_first(found, None)] == ["parser_raised", "chunking"]
