"""Faults of kinds that parsers in the field have had: each is found, told of in the right words, and made small.

The parsers are black boxes. Each one comes with an output that it reads rightly as well: of that nothing may be said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from parsers.cases.case import Case, ParserRef
from parsers.cases.engines import ENGINES, Choice, Engine, builtin
from parsers.cases.expect import differences
from parsers.cases.find import CaseFound, CaseSearch
from parsers.cases.io import dumps, load_case, loads
from parsers.cases.run import run_case
from parsers.replays.chunking import WHOLE
from parsers.replays.recorded import BlackBox
from parsers.search.search import NEVER_READ, READ_AS_ALLOWED
from parsers.search.sweep import cut_at
from parsers.selection.registry import Evidence
from parsers.vocabulary.trace import Proof, StreamParser
from parsers.vocabulary.types import Context, MessageDelta, Piece
from tests.amount import every
from tests.parsers.search.spoilt import (
    Blocks,
    Caps,
    ClosesTwice,
    CountsOn,
    CountsOnItself,
    Deaf,
    DropsBeside,
    DropsZeros,
    EatsAngles,
    EatsLines,
    EndsEarly,
    EndsTwice,
    FailsAtTimes,
    FirstOnly,
    LeaksLines,
    LosesTail,
    Merges,
    NamesAnew,
    NeedsEmpty,
    NeedsText,
    NeverCounts,
    OnlyLatin,
    Reorders,
    Respells,
    SaysAgain,
    Shares,
    Spoilt,
    Swaps,
    TextOnly,
    TrimsLast,
    UnescapesTwice,
    WholeOnly,
)

STRING = {"type": "string"}
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"city": STRING, "zip": STRING}}}
    for name in ("get_weather", "get_time")
]
TOKEN = re.compile(r"</?tool_call>|</?think>|\w{1,4}|\s+|.", re.DOTALL)


def call(name: str, **arguments: str) -> str:
    body = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


ONE = "I look it up: 3 < 4.\n" + call("get_weather", city="Paris")
TWO = call("get_weather", city="Paris") + "\n" + call("get_time", zip="00134") + "\nDone."
ZERO = call("get_time", zip="", city="Bern")
THINK = "<think>\nWhere?\n</think>\n\nSure.\n" + call("get_weather", city="Paris")
EMPTY = "<think>\n\n</think>\n\nIt is sunny."
PLAIN = "The weather is fine, and it will stay so.\n\nBye."


Make = Callable[[], Any]


def engines(make: Make, one_shot: Make | None = None) -> Mapping[str, Engine]:
    def box(of: Make) -> Callable[[], StreamParser]:
        return lambda: BlackBox("mine", of())

    def run(case: Case, evidence: Evidence) -> Choice:
        plain = case.model_copy(update={"parser": ParserRef(name=case.parser.name)})
        other = None if one_shot is None else box(one_shot)
        return replace(builtin(plain, evidence), make=box(make), black_box=True, one_shot=other)

    return {**ENGINES, "mine": run}


def search(text: str, given: Mapping[str, Engine], **more: Any) -> CaseFound:
    body = {
        **more,
        "schema": 1,
        "parser": {"name": "qwen", "engine": "mine"},
        "input": {"text": [text]},
        "tools": TOOLS,
    }
    made = CaseSearch(load_case(body), pieces=[Piece(token) for token in TOKEN.findall(text)], engines=given)
    for _ in made.run():
        pass
    return made.result()


class Seen(NamedTuple):
    """A fault, an output that shows it, and what is to be said: verdict, words of it, check made small, its size."""

    make: Make
    text: str
    kind: str
    words: str
    check: str
    size: int
    cuts: int = 0
    one_shot: Make | None = None
    shown: str | None = None


# The output itself is read rightly under every chunking; only changed ones are not.
CHANGED = "all_hold"
FAULTS = [
    Seen(
        LosesTail, ONE, "chunk_boundary", 'the arguments of the only call (`get_weather`) lose `"`', "chunking", 70, 1
    ),
    Seen(
        ClosesTwice, ONE, "chunk_boundary", "the arguments of the only call (`get_weather`) gain `}`", "chunking", 65, 1
    ),
    Seen(
        SaysAgain, ONE, "chunk_boundary", "if the server sends a delta without text, the arguments", "chunking", 65, 2
    ),
    Seen(
        EndsEarly, ONE, "chunk_boundary", "if the server sends a delta without text, the only call", "chunking", 65, 2
    ),
    Seen(NeedsText, ONE, "parser_failed", "if the server sends a delta without text", "parser_raised", 5, 1),
    Seen(
        TrimsLast, ONE, "chunk_boundary", "if the server sends a delta without text, the arguments", "chunking", 65, 2
    ),
    Seen(DropsZeros, ZERO, "types_changed", '`zip` of call 0 (`get_time`) is "" in the output', "values_kept", 70),
    Seen(EndsTwice, ONE, CHANGED, "with prose after the output, the parser sends", "neighbours", 65, shown=""),
    Seen(NeverCounts, TWO, "broken_stream", "index 0 serves two calls", "name_once_before_arguments", 125, 1),
    Seen(NeverCounts, ONE, CHANGED, "Read with a call to get_weather appended", "recovers", 125),
    Seen(
        DropsBeside, THINK, "chunk_boundary", "in one delta, `\\n\\nSure.\\n` is lost from the content", "chunking", 20
    ),
    Seen(EatsAngles, ONE, "text_lost", "The `<` of the output is nowhere in the content", "spans_cover_input", 5),
    Seen(UnescapesTwice, ONE, CHANGED, "Read with `\\n` in the argument `city`", "escapes", 72),
    Seen(Swaps, EMPTY, "wrong_channel", "text after `</think>` is sent as reasoning", "reasoning_boundary", 20),
    Seen(NamesAnew, ONE, "broken_stream", "the id of call 0 is sent again", "id_once", 65, 1),
    Seen(OnlyLatin, ONE + "🌍", "parser_failed", "UnicodeEncodeError", "parser_raised", 2),
    Seen(
        Merges,
        TWO,
        "chunk_boundary",
        "in one delta, the second call (`get_time`) is lost, and others change",
        "chunking",
        125,
    ),
    Seen(Blocks, ONE, CHANGED, "Read with `</tool_call>` in the argument", "escapes", 82),
    Seen(
        Spoilt,
        TWO,
        "chunk_boundary",
        "two code paths disagree: read by the one for whole outputs, the second call (`get_time`) is lost",
        "whole_equals_streamed",
        125,
        one_shot=FirstOnly,
    ),
    Seen(
        EatsLines,
        TWO,
        "chunk_boundary",
        "two code paths disagree: read by the one for whole outputs, the second call (`get_time`) is lost",
        "whole_equals_streamed",
        125,
        one_shot=FirstOnly,
    ),
    Seen(
        Spoilt,
        ONE,
        CHANGED,
        "Read with a call to get_weather appended",
        "recovers",
        125,
        one_shot=FirstOnly,
    ),
    Seen(
        Blocks,
        call("get_weather", city="Bern") + "\n" + call("get_time", zip="a</tool_call>b"),
        "chunk_boundary",
        "disagree: streamed, in whatever deltas, the second call (`get_time`) is lost; read by the one for whole"
        " outputs, both calls are lost.",
        "whole_equals_streamed",
        139,
        one_shot=TextOnly,
    ),
    Seen(
        Merges,
        TWO,
        "chunk_boundary",
        "when the output comes in one delta, the second call (`get_time`) is lost, and others change",
        "chunking",
        125,
        one_shot=WholeOnly,
    ),
]


ODD_WITH_PROSE = (SaysAgain, NeedsText, EndsTwice, EatsLines)

EACH = [pytest.param(seen, id=f"{seen.make.__name__}-{seen.check}") for seen in every(5, FAULTS)]


def test_a_leak_that_the_contract_allows_is_not_told_as_what_a_small_case_lacks() -> None:
    text = call("get_weather", city="Paris") + call("get_time", zip="00134")
    small = search(text, engines(LeaksLines)).found.minimized
    assert small is not None
    assert small.right is not None
    assert (small.right.content, small.soft) == (None, True)
    assert small.meant is not None
    assert (small.meant.content, [one.name for one in small.meant.tool_calls]) == (None, ["get_weather", "get_time"])


@pytest.mark.parametrize("make", [pytest.param(Shares, marks=pytest.mark.replays), FailsAtTimes])
@pytest.mark.parametrize("first", [0, *[pytest.param(first, marks=pytest.mark.replays) for first in (6, 12, 18, 24)]])
def test_a_fault_that_comes_and_goes_is_told_from_one_of_chunkings(
    monkeypatch: pytest.MonkeyPatch, make: type[Shares], first: int
) -> None:
    monkeypatch.setattr(Shares, "made", first)
    result = search(TWO, engines(make)).found
    said = result.verdict
    assert (said.kind, said.severity, said.about) == ("parser_flawed", "error", "parser")
    assert "does not read the same output alike every time: read once more in the same way" in said.headline
    assert {result.findings[number].check for number in said.findings} == {"reusable"}
    assert result.minimized is None


@pytest.mark.replays
@pytest.mark.parametrize("seen", EACH)
def test_a_fault_is_found_told_of_and_made_small(seen: Seen) -> None:
    given = engines(seen.make, seen.one_shot)
    result = search(seen.text, given)
    said, found = result.found.verdict, result.found
    assert (said.kind, said.about) == (seen.kind, None if seen.kind == CHANGED else "parser")
    told = [found.findings[number] for number in said.findings] or found.robustness
    assert seen.words in " ".join([said.headline] if said.findings else [one.message for one in told])
    small = result.found.minimized
    assert small is not None
    assert small.check == seen.check
    assert small.check in {one.check for one in told}
    assert len(small.text) <= seen.size
    assert small.chunking in (WHOLE, cut_at(())) or 0 < len(small.chunking.cuts or ()) <= seen.cuts
    assert result.minimized is not None
    again = run_case(loads(dumps(result.minimized)), engines=given)
    expect = result.minimized.expect
    wrong = expect is not None and differences(expect, again.trace.message)
    assert wrong or seen.shown is not None or small.check in [finding.check for finding in again.findings]


COMPACT = '<tool_call>\n{"name": "get_weather", "arguments": {"city":"Bern","zip":"01"}}\n</tool_call>'
COMPARING = ["chunking", "whole_equals_streamed"]


@pytest.mark.parametrize(
    ("make", "one_shot", "headline", "severities"),
    [
        pytest.param(Spoilt, Respells, "All checks hold", ["info"], marks=pytest.mark.replays),
        (
            Reorders,
            None,
            'With the chunking "whole", the arguments of call 0 (`get_weather`) have the same values in another order '
            "of keys, which depends on the cut",
            ["warning"],
        ),
        (
            Reorders,
            WholeOnly,
            'With the chunking "in one delta", the arguments of call 0 (`get_weather`) have the same values in another '
            "order of keys, which depends on the cut",
            ["warning"],
        ),
    ],
)
def test_what_depends_on_cuts_weighs_as_much_as_it_changes(
    make: Make, one_shot: Make | None, headline: str, severities: list[str]
) -> None:
    found = search(COMPACT, engines(make, one_shot), checks=COMPARING).found
    assert found.verdict.headline.startswith(headline)
    assert [one.severity for one in found.findings] == severities
    small = found.minimized
    assert (small is None) == (severities == ["info"])
    assert small is None or small.finding.grade == found.findings[0].grade


@pytest.mark.replays
def test_a_call_that_stays_text_is_missed_and_its_text_is_not_lost() -> None:
    found = search(ONE, engines(TextOnly), checks=["tool_call_dropped"]).found
    assert found.verdict.headline.startswith("The parser misses a call: the call to `get_weather` is not found")


@pytest.mark.replays
def test_a_call_that_only_an_empty_delta_brings_is_lost_in_one_delta_and_that_is_what_is_shown() -> None:
    text, cuts = call("get_weather", city="Bern"), {"cuts": "honest"}
    found = search(text, engines(NeedsEmpty), checks=COMPARING, contract="vllm", compare=cuts).found
    words = "The parser depends on chunk boundaries: when the output comes in one delta, the only call (`get_weather`)"
    assert found.verdict.headline == f"{words} is lost."
    (told,) = found.findings
    assert told.proof == found.verdict.proof == Proof({"by": "whole"})


@pytest.mark.replays
def test_what_only_a_long_output_shows_has_no_small_case() -> None:
    result = search(ONE, engines(Caps), checks=["no_length_cap"])
    (told,) = result.found.robustness
    assert told.message.startswith("Read with 16,000 characters in the argument")
    assert (result.found.minimized, result.minimized) == (None, None)


@pytest.mark.replays
@pytest.mark.parametrize("make", [CountsOn, CountsOnItself])
def test_numbers_of_calls_that_go_on_in_the_next_request_are_found(
    monkeypatch: pytest.MonkeyPatch, make: type[CountsOn]
) -> None:
    monkeypatch.setattr(CountsOn, "before", 0)
    findings = search(TWO, engines(make), checks=["reusable"]).found.findings
    (found,) = [one for one in findings if one.check == "reusable"]
    who = {CountsOn: "Read once more in the same way by a new parser instance"}
    again = who.get(make, "Read by the same parser instance after the same output")
    assert found.message.startswith(f"{again}, the numbers of its calls go on from those of another request: ")
    assert found.expected == "0, 1"
    assert (found.severity, found.about) == ("error", "parser")


@pytest.mark.parametrize(
    ("make", "one_shot", "text"),
    [
        *[pytest.param(Spoilt, None, text, marks=pytest.mark.replays) for text in (ONE, TWO, THINK, EMPTY, PLAIN)],
        *[pytest.param(Spoilt, WholeOnly, text, marks=pytest.mark.replays) for text in (ONE, TWO, THINK, EMPTY)],
        *[(fault.make, fault.one_shot, PLAIN) for fault in FAULTS if fault.make not in ODD_WITH_PROSE],
    ],
)
@pytest.mark.replays
def test_nothing_is_said_of_what_is_read_rightly(make: Make, one_shot: Make | None, text: str) -> None:
    found = search(text, engines(make, one_shot)).found
    assert [finding for finding in found.findings if finding.about == "parser" and finding.severity != "info"] == []
    assert found.verdict.kind == "all_hold"
    assert found.minimized is None
    assert len(found.outcomes) == 1


class StripsContent(Spoilt):
    """The text before the first call loses its last newline."""

    def read(self, text: str) -> MessageDelta | None:
        sent = super().read(text)
        return None if sent is None else replace(sent, content=None if sent.content is None else sent.content.rstrip())


class JoinsContent(Spoilt):
    """The text before the first call loses its blanks."""

    def read(self, text: str) -> MessageDelta | None:
        sent = super().read(text)
        return None if sent is None else replace(sent, content=sent.content and "".join(sent.content.split()))


STRIPS = "not the same by both code paths, as the contract `vllm` allows"


@pytest.mark.parametrize(
    ("one_shot", "contract", "kind", "severity", "words"),
    [
        (StripsContent, "vllm", "all_hold", "info", STRIPS),
        (StripsContent, "as_streamed", "chunk_boundary", "warning", "by whitespace only: `4.\\n` becomes `4.`"),
        (JoinsContent, "vllm", "chunk_boundary", "error", "by whitespace only"),
    ],
)
def test_white_space_that_only_one_code_path_leaves_out_is_a_matter_of_the_contract(
    one_shot: Make, contract: str, kind: str, severity: str, words: str
) -> None:
    found = search(ONE, engines(Spoilt, one_shot), contract=contract, checks=["whole_equals_streamed"]).found
    assert [one.severity for one in found.findings] == [severity]
    assert (found.verdict.kind, words in found.verdict.headline) == (kind, True), found.verdict.headline


class DropsAfter(Spoilt):
    """What comes after the calls is left out."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        after = sent is not None and self.assembler.calls > 0
        return replace(sent, content=None) if sent is not None and after else sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


AFTER = f"{call('get_weather', city='Paris')}\nDone."


KEPT = {"name": "mine", "content_after_calls": ["keep", "drop"]}


@pytest.mark.parametrize(
    ("contract", "severity", "headline"),
    [
        ("sglang", "info", "All checks hold: 1 complete call, not the same by both code paths, as the contract"),
        (KEPT, "info", "All checks hold: 1 complete call, not the same by both"),
        (
            "as_streamed",
            "error",
            r"The parser's two code paths disagree: read by the one for whole outputs, `\nDone.`",
        ),
    ],
)
def test_words_that_only_one_code_path_leaves_out_are_a_matter_of_the_contract(
    contract: Any, severity: str, headline: str
) -> None:
    found = search(AFTER, engines(Spoilt, DropsAfter), contract=contract, checks=COMPARING).found
    assert [(one.check, one.severity) for one in found.findings] == [("whole_equals_streamed", severity)]
    assert found.verdict.headline.startswith(headline)


class EatsALine(Spoilt):
    """A newline before content is left out that came in an earlier delta."""

    def on(self, text: str) -> MessageDelta | None:
        sent = super().on(text)
        if sent is None or sent.content is None or "\n" in text:
            return sent
        return replace(sent, content=sent.content.lstrip("\n"))


class StopsAtAMarker(Spoilt):
    """All that follows is lost from a delta on that has a whole marker."""

    stopped = False

    def on(self, text: str) -> MessageDelta | None:
        before, self.stopped = self.stopped, self.stopped or "<tool_call>" in text
        return None if before else super().on(text.partition("<tool_call>")[0] if self.stopped else text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None if self.stopped else super().finish(reason)


class StopsBeforeAMarker(StopsAtAMarker):
    """So is what stands before it in the same delta."""

    def on(self, text: str) -> MessageDelta | None:
        self.stopped = self.stopped or "<tool_call>" in text
        return None if self.stopped else Spoilt.on(self, text)


@pytest.mark.replays
@pytest.mark.parametrize(("contract", "words"), [("sglang", READ_AS_ALLOWED), ("openai", NEVER_READ)])
def test_a_smallest_form_that_only_cuts_inside_tokens_read_rightly_is_said_to_be_so(contract: str, words: str) -> None:
    text = "It writes `<tool_call>` then."
    found = search(text, engines(StopsBeforeAMarker), contract=contract, checks=["chunking"]).found
    assert found.verdict.sentences[-1] == words.format("this")


class NeedsACut(Spoilt):
    """A call is lost unless a delta ends inside its name."""

    found = False

    def on(self, text: str) -> MessageDelta | None:
        sent = super().on(text)
        self.found = self.found or text.endswith("get_")
        return sent if self.found else None

    def finish(self, reason: str | None) -> MessageDelta | None:
        return super().finish(reason) if self.found else None


@pytest.mark.replays
@pytest.mark.parametrize(
    ("make", "one_shot", "text", "contract", "headline", "told"),
    [
        (
            EatsALine,
            DropsAfter,
            AFTER,
            "sglang",
            'With the chunking "token by token", the message differs in the content, from character 0 of it on, by'
            " whitespace only",
            [("chunking", "warning", 0), ("whole_equals_streamed", "info", 0)],
        ),
        (
            StopsAtAMarker,
            Spoilt,
            "It writes `<tool_call>` then.",
            "openai",
            "The parser's two code paths disagree: streamed, in whatever deltas of whole tokens, “<tool_call>` then.”",
            [("whole_equals_streamed", "error", 2)],
        ),
        (
            StopsAtAMarker,
            Spoilt,
            "It writes `<tool_call>` then.",
            "sglang",
            "The parser's two code paths disagree: streamed, in whatever deltas of whole tokens, “<tool_call>` then.”",
            [("whole_equals_streamed", "warning", 1), ("spans_cover_input", "info", 0)],
        ),
        (
            NeedsACut,
            Spoilt,
            call("get_weather", city="Bern"),
            "openai",
            "The parser depends on chunk boundaries: when the output comes in one delta, the only call (`get_weather`)",
            [("chunking", "error", 0)],
        ),
    ],
)
def test_the_headline_is_of_streams_that_a_server_can_send_and_each_cause_is_told_once(
    make: Make, one_shot: Make, text: str, contract: str, headline: str, told: list[tuple[str, str, int]]
) -> None:
    checks = [*COMPARING, "spans_cover_input", "all_output_lost", "tool_call_dropped"]
    found = search(text, engines(make, one_shot), contract=contract, checks=checks).found
    assert found.verdict.headline.startswith(headline)
    assert [(one.check, one.severity, len(one.follows)) for one in found.findings] == told
    assert sum([one.count for one in found.outcomes if one.one_shot and not one.streamed]) == 0


class EndsInALine(Spoilt):
    """The content gains a newline at its end."""

    gains = True

    def finish(self, reason: str | None) -> MessageDelta | None:
        super().finish(reason)
        return MessageDelta(content="\n") if self.gains else None


class EndsInALineWhereCut(EndsInALine):
    """So it does where a delta ends inside a marker."""

    gains = False

    def on(self, text: str) -> MessageDelta | None:
        self.gains = self.gains or text.endswith("<to")
        return super().on(text)


@pytest.mark.replays
def test_what_a_code_path_does_is_not_told_of_cuts_that_no_server_makes() -> None:
    checks = ["chunking", "whole_equals_streamed"]
    found = search(ONE, engines(EndsInALineWhereCut, EndsInALine), checks=checks).found
    assert [(one.check, one.severity) for one in found.findings] == [("whole_equals_streamed", "warning")]
    assert found.verdict.headline.startswith("Read by the code path for whole outputs, the message differs")


class NeedsAQuote(Spoilt):
    """Arguments lose their end where no delta was a quote alone."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        self.alone = False

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        self.alone = self.alone or text == '"'
        for part in sent.tool_calls if sent is not None and not self.alone else ():
            part.arguments = (part.arguments or "").rstrip("}")
        return sent


@pytest.mark.replays
def test_of_a_fault_under_sure_cuts_it_is_said_which_assumed_ones_are_without_it() -> None:
    said = search(ONE, engines(NeedsAQuote), checks=["chunking"]).found.verdict
    assert (said.kind, said.severity) == ("chunk_boundary", "warning")
    assert said.headline.startswith("The parser may depend on chunk boundaries: when the output comes in one delta, ")
    assert ", but not if " in said.headline


class PassesOn(Spoilt):
    """All of the output is content."""

    def on(self, text: str) -> MessageDelta | None:
        return MessageDelta(content=text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


MISSED = "The parser finds no call in this output, while the built-in `qwen` reads"
QUOTES = call("get_weather", city="a </tool_call> or two")


@pytest.mark.parametrize(
    ("make", "text", "words"),
    [
        (Deaf, TWO, f"{MISSED} 2 complete calls."),
        pytest.param(
            PassesOn,
            TWO,
            f"{MISSED} 2 complete calls; no tools are declared, so that may be meant.",
            marks=pytest.mark.replays,
        ),
        pytest.param(Blocks, QUOTES, f"{MISSED} 1 complete call", marks=pytest.mark.replays),
    ],
)
def test_a_parser_that_finds_no_call_is_told_from_a_model_that_wrote_none(make: Make, text: str, words: str) -> None:
    body = {"schema": 1, "parser": {"name": "qwen", "engine": "mine"}, "input": {"text": [text]}}
    made = [CaseSearch(load_case({**body, "context": request}), engines=engines(make)) for request in CHOICES]
    assert all(list(one.run()) for one in made)
    said, unasked = (one.result().found for one in made)
    assert (said.verdict.kind, said.verdict.severity, said.verdict.about) == ("text_lost", "warning", "parser")
    assert said.verdict.headline.startswith(words)
    assert "output" not in [finding.about for finding in said.findings]
    assert not unasked.verdict.headline.startswith(MISSED)


CHOICES: list[dict[str, str]] = [{}, {"tool_choice": "none"}]


@pytest.mark.replays
def test_signs_are_not_missed_where_markup_or_a_rejected_call_is_in_the_text() -> None:
    for text in ("3 < 4 </tool_call> and so on", "3 < 4 <tool_call>[1]</tool_call>"):
        findings = search(text, engines(EatsAngles)).found.findings
        assert [one for one in findings if one.message.startswith("The `<` of")] == []
