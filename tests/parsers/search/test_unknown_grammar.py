"""What is said of parsers whose grammar is not known: the message depends on the chunking, and which one is fuller.

The parsers read calls between two markers of their own. Right is nobody's word but that of declared markers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES, Choice
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.compare.divergence import EXACT
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.found import Found
from parsers.search.minimize import Start, minimized
from parsers.search.shrink import form_of
from parsers.search.targets import Differs, Kept
from parsers.selection.registry import Evidence, Selection, get_format
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Delta, MessageDelta, ToolCallDelta
from tests.parsers.search.test_foreign_parsers import by_tokens

TAGS, SIGNS, ARROWS, BLANKS = ("<call>", "</call>"), ("@@", "@@"), ("CALL>>", "<<DONE"), ("@@call ", "@@")
SECTIONS = ("§", "§")
TOOLS = [{"name": name, "parameters": {"type": "object"}} for name in ("reserve_table", "ring")]
ONE, TWO = [json.dumps({"name": one, "args": {"a": 1}}) for one in ("reserve_table", "ring")]


class Reads:
    """It reads rightly. `held`: text that may begin a marker waits."""

    held = True

    def __init__(self, pair: tuple[str, str] = TAGS) -> None:
        self.pair = pair

    def begin(self, context: Context) -> None:
        self.left, self.inside, self.count = "", False, 0

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.left += delta.text
        return self.read()

    def read(self) -> MessageDelta:
        sent = MessageDelta(content="")
        while (at := self.left.find(self.pair[self.inside])) >= 0:
            part, self.left = self.left[:at], self.left[at + len(self.pair[self.inside]) :]
            self.take(sent, part)
            self.inside = not self.inside
            if not self.inside and self.is_enough():
                break
        else:
            kept = len(self.left) if self.inside else self.beginning() if self.held else 0
            sent.content = f"{sent.content}{self.left[: len(self.left) - kept]}"
            self.left = self.left[len(self.left) - kept :]
        return MessageDelta(content=sent.content or None, tool_calls=sent.tool_calls)

    def take(self, sent: MessageDelta, part: str) -> None:
        if not self.inside:
            sent.content = f"{sent.content}{part}"
            return
        call = json.loads(part)
        sent.tool_calls.append(ToolCallDelta(self.count, f"c{self.count}", call["name"], json.dumps(call["args"])))
        self.count += 1

    def is_enough(self) -> bool:
        return False

    def beginning(self) -> int:
        marker = self.pair[0]
        return max(size for size in range(len(marker)) if self.left.endswith(marker[:size]))

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None if self.inside or not self.left else MessageDelta(content=self.left)


class LeaksWhereCut(Reads):
    """A marker that is cut in two stays content."""

    held = False


class OneADelta(Reads):
    """Of two calls in a delta the second stays content."""

    def is_enough(self) -> bool:
        return True


class SendsTwice(Reads):
    """A call whose marker is the end of a delta is sent twice."""

    def take(self, sent: MessageDelta, part: str) -> None:
        super().take(sent, part)
        if self.inside and not self.left:
            super().take(sent, part)


def searched(make: Any, text: str, markers: tuple[str, ...] = (), tools: Any = TOOLS) -> Found:
    def mine(case: Case, evidence: Evidence) -> Choice:
        plain = get_format("passthrough")
        return Choice(plain, Selection("mine", ()), lambda: BlackBox("mine", make()), black_box=True)

    parser = {"name": "mine", "engine": "mine", "markers": [*markers]}
    case = load_case({"schema": 1, "parser": parser, "input": {"text": text}, "tools": tools})
    made = CaseSearch(case, pieces=by_tokens(text), engines={**ENGINES, "mine": mine}, max_replays=150)
    assert list(made.run())
    return made.result().found


def written(pair: tuple[str, str], *calls: str) -> str:
    begin, end = pair
    return "\n".join(["Sure, I call.", *[f"{begin}{one}{end}" for one in calls]])


class Said(NamedTuple):
    """A parser, the text, declared markers, and what is to be said: the severity, words of it, the smallest form's."""

    make: Any
    text: str
    markers: tuple[str, ...]
    severity: str
    words: str


SAID: Mapping[str, Said] = {
    "a leak under assumed cuts": Said(
        LeaksWhereCut, written(TAGS, ONE, TWO), (), "warning", "the first call (`reserve_table`) is lost"
    ),
    "the same with declared markers": Said(
        LeaksWhereCut, written(TAGS, ONE, TWO), TAGS, "warning", "the first call (`reserve_table`) is lost"
    ),
    "a call lost in one delta": Said(
        OneADelta, written(TAGS, ONE, TWO), (), "error", "in one delta, the second call (`ring`) is lost"
    ),
    "the same with declared markers ": Said(
        OneADelta, written(TAGS, ONE, TWO), TAGS, "error", "in one delta, the second call (`ring`) is lost"
    ),
    "a call lost in one delta between signs": Said(
        partial(OneADelta, SIGNS), written(SIGNS, ONE, TWO), SIGNS, "error", "the second call (`ring`) is lost"
    ),
}  # fmt: skip


COUNTED = ("the same with declared markers", "a call lost in one delta")  # they reach lines that no others do


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in COUNTED else pytest.mark.replays) for name in SAID]
)
def test_a_message_that_lost_a_call_or_left_markers_is_never_called_right(name: str) -> None:
    said = SAID[name]
    found = searched(said.make, said.text, said.markers)
    verdict = found.verdict
    assert (verdict.kind, verdict.severity) == ("chunk_boundary", said.severity), verdict.headline
    assert said.words in verdict.headline
    told = " ".join([verdict.headline, *verdict.sentences, *[one.message for one in found.findings]])
    assert "too many" not in told
    assert "the right message" not in told
    assert "what the format reads" not in told
    (first,) = [one for one in found.findings if one.check == "chunking"]
    assert first.severity == said.severity
    for one in (first, *first.follows):
        assert (one.expected is None) is (not said.markers)
    small = found.minimized
    assert small is not None
    assert small.unsure is (small.right is None)
    assert small.meant is not None
    assert small.gives is not None
    assert len(small.gives.tool_calls) < len(small.meant.tool_calls)
    assert (small.right is not None) <= bool(said.markers)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("pair", "markers"),
    [
        (BLANKS, ()),
        (BLANKS, BLANKS),
        (BLANKS, ("@@call", "@@")),
        (SIGNS, SIGNS),
        (TAGS, TAGS),
        (ARROWS, ()),
        (SECTIONS, SECTIONS),
    ],
)
def test_a_parser_that_reads_its_own_grammar_rightly_is_not_accused(
    pair: tuple[str, str], markers: tuple[str, ...]
) -> None:
    found = searched(partial(Reads, pair), written(pair, ONE, TWO), markers)
    assert found.verdict.kind == "all_hold", found.verdict.headline
    assert [one for one in found.findings if one.severity != "info"] == []


@pytest.mark.replays
def test_a_call_that_is_sent_twice_under_some_cuts_is_no_loss_under_the_others() -> None:
    verdict = searched(SendsTwice, written(TAGS, TWO) + " Done.").verdict
    assert "is lost" not in verdict.headline
    assert "one call too many comes out, to `ring`" in verdict.headline


@pytest.mark.replays
def test_a_call_that_few_chunkings_send_twice_is_one_too_many_though_prose_has_its_name() -> None:
    verdict = searched(SendsTwice, f"Shall I ring and ring again? {written(TAGS, TWO)} Done.").verdict
    assert "one call too many comes out, to `ring`" in verdict.headline
    assert "is lost" not in verdict.headline


class LosesLast(Reads):
    """The last character comes only where all comes in one delta."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        self.fed, self.last = 0, ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.fed += 1
        sent = super().feed(delta)
        assert sent is not None
        text = f"{self.last}{sent.content or ''}"
        self.last = text[-1:]
        return MessageDelta(content=text[:-1] or None, tool_calls=sent.tool_calls)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return MessageDelta(content=self.last) if self.fed == 1 else None


@pytest.mark.replays
@pytest.mark.parametrize("end", [" ok", " It is so."])
def test_the_message_in_one_delta_that_has_one_character_more_of_the_answer_is_the_fullest(end: str) -> None:
    found = searched(LosesLast, written(TAGS, ONE) + end)
    assert f"`{end[-1]}` is lost from the content" in found.verdict.headline
    assert "1 gives the fullest message, e.g. whole" in " ".join(found.verdict.sentences)
    small = found.minimized
    assert small is not None
    assert small.meant is not None
    assert small.gives is not None
    assert len(small.meant.content or "") > len(small.gives.content or "")


class Holds(Reads):
    """Reasoning-like markup of signs goes, and no call is read."""

    def take(self, sent: MessageDelta, part: str) -> None:
        sent.content = f"{sent.content}{part}"


@pytest.mark.replays
def test_a_declared_marker_may_be_one_character() -> None:
    declared = searched(partial(Holds, SECTIONS), "It is §very§ warm here, and dry", SECTIONS)
    assert declared.verdict.kind == "all_hold"
    lost = searched(partial(OneADelta, SECTIONS), written(SECTIONS, ONE, TWO), SECTIONS)
    assert "in one delta, the second call (`ring`) is lost" in lost.verdict.headline


@pytest.mark.parametrize(("markers", "kind"), [((), "text_lost"), (("..", ".."), "all_hold")])
def test_declared_markers_of_signs_that_end_sentences_are_no_lost_text(markers: tuple[str, ...], kind: str) -> None:
    found = searched(partial(Holds, ("..", "..")), "It is ..very.. warm here, and dry.", markers)
    assert found.verdict.kind == kind, found.verdict.headline


@pytest.mark.replays
@pytest.mark.parametrize("markers", [(), TAGS])
def test_what_stands_between_declared_markers_may_be_markup(markers: tuple[str, ...]) -> None:
    odd = json.dumps({"name": "ring", "args": {"a": 1}, "comment": {"hidden": "nobody"}})
    assert searched(Reads, written(TAGS, odd), markers).verdict.kind == "all_hold"


def test_a_small_form_whose_other_chunking_lost_a_call_is_not_held_to_that() -> None:
    pieces, by = tuple(by_tokens(written(TAGS, ONE, TWO))), Chunking(by="char")
    box = Replayer(lambda: BlackBox("mine", OneADelta()), pieces, black_box=True)
    differs = Differs.at(box, by, EXACT, WHOLE)
    assert differs is not None
    finding = Finding("chunking", "error", "parser", "They differ.")
    start = Start(finding, form_of(box, by), Kept.of(differs, box, by, []), box)
    small = minimized(box, start, start.form, EXACT, 1)
    assert small is not None
    assert "too many" not in small.finding.message
    assert (small.meant, small.right) == (None, None)
