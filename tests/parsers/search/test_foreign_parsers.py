"""Foreign parsers that change what they read, the same under every chunking: the verdict says what they changed.

Each is a black box around a built-in parser whose deltas it changes. What the sentences are about is in the output and
in the message; what the model is said to have done wrong by the change, is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from typing import Any, NamedTuple

import pytest

from parsers.cases.case import Case
from parsers.cases.engines import ENGINES, Choice
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.replays.recorded import BlackBox
from parsers.search.found import Found
from parsers.selection.registry import Evidence, Selection, get_format
from parsers.vocabulary.types import Context, MessageDelta, Piece, ToolCallDelta
from tests.parsers.search.spoilt import CountsOn, Deaf, Spoilt, WholeOnly
from tests.parsers.search.test_unseen_faults import ONE, THINK, TOKEN, TOOLS, TWO, call, engines

BARE = call("get_time")
CRLF = "The wind is  weak today.\r\nBye for now."
PI = "3.14159265358979323846"
NUMBER = f'<tool_call>\n{{"name": "get_weather", "arguments": {{"city": {PI}}}}}\n</tool_call>'


class Changes(Spoilt):
    """It changes each delta that it sends."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return sent if sent is None else self.change(sent)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.sent(super().finish(reason), "")

    def change(self, sent: MessageDelta) -> MessageDelta:
        return sent


class SaysAllAloud(Changes):
    """Reasoning goes to the content."""

    def change(self, sent: MessageDelta) -> MessageDelta:
        return MessageDelta(None, f"{sent.reasoning or ''}{sent.content or ''}" or None, sent.tool_calls)


class OnlyThinks(Changes):
    """Content goes to the reasoning."""

    def change(self, sent: MessageDelta) -> MessageDelta:
        return MessageDelta(f"{sent.reasoning or ''}{sent.content or ''}" or None, None, sent.tool_calls)


class Awaits(Spoilt):
    """Behind a marker it waits for a call, to the end."""

    def on(self, text: str) -> MessageDelta | None:
        before, at, _ = self.text.partition("<tool_call>")
        new = len(self.text) - len(text)
        return MessageDelta(content=before[new:] or None) if at or not self.held(before) else None

    def held(self, text: str) -> bool:
        """Whether a marker may begin."""
        return any(text.endswith("<tool_call>"[:size]) for size in range(1, 11))

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


class DropsReturns(Changes):
    """Line ends of two characters become one."""

    def change(self, sent: MessageDelta) -> MessageDelta:
        return replace(sent, content=(sent.content or "").replace("\r", "") or None)


class OneBlank(Changes):
    """A blank after a blank is left out."""

    last = ""

    def change(self, sent: MessageDelta) -> MessageDelta:
        kept = []
        for char in sent.content or "":
            kept += [char] if (self.last, char) != (" ", " ") else []
            self.last = char
        return replace(sent, content="".join(kept) or None)


class Renames(Changes):
    """Names have hyphens."""

    def change(self, sent: MessageDelta) -> MessageDelta:
        for part in sent.tool_calls:
            part.name = None if part.name is None else part.name.replace("_", "-")
        return sent


class Doubles(Changes):
    """Arguments go through a program that has doubles for numbers."""

    kept = ""

    def change(self, sent: MessageDelta) -> MessageDelta:
        for part in sent.tool_calls:
            self.kept, part.arguments = self.kept + (part.arguments or ""), None
            if self.kept.endswith("}"):
                part.arguments, self.kept = json.dumps(json.loads(self.kept)), ""
        return sent


class DropsEmpty(Changes):
    """Arguments are kept back until they are whole, and none that are empty are ever sent."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        self.kept = ""

    def change(self, sent: MessageDelta) -> MessageDelta:
        for part in sent.tool_calls:
            self.kept, part.arguments = self.kept + (part.arguments or ""), None
            if self.kept.endswith("}"):
                part.arguments, self.kept = None if self.kept == "{}" else self.kept, ""
        return sent


class Decodes(WholeOnly):
    """Character references become what they stand for."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return None if sent is None else replace(sent, content=unescape(sent.content or ""))


class ReadsNoReasoning(Spoilt):
    """The markers of reasoning stay in the content."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None

    def on(self, text: str) -> MessageDelta | None:
        return MessageDelta(content=text)


class StripsDeltas(Spoilt):
    """The blank at the end of each delta is lost."""

    def on(self, text: str) -> MessageDelta | None:
        return super().on(text.rstrip(" "))


class FailsOnQuote(Spoilt):
    """A delta of one quote is an index error."""

    def on(self, text: str) -> MessageDelta | None:
        if text == '"':
            raise IndexError("string index out of range")
        return super().on(text)


class Forgets(Spoilt):
    """The first instance of a process sends the content, the others do not."""

    made = 0

    def __init__(self) -> None:
        Forgets.made += 1
        self.first = Forgets.made == 1

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return sent if sent is None or self.first else replace(sent, content=None)


class Said(NamedTuple):
    """A parser, an output, and what is said of the two: kind, severity, whose fault, words of the headline."""

    make: Callable[[], Any]
    text: str
    kind: str
    severity: str
    about: str
    words: str
    given: Mapping[str, Any] | None = None


MOVED = "`Where?` is sent as content; in the output it is reasoning."
BLANKS = "by whitespace only: `It is` becomes `Itis`"
NAMED = "the output names call 0 `get_weather`; the parser sends `get-weather`."
SAID: dict[str, Said] = {
    "reasoning as content": Said(SaysAllAloud, THINK, "wrong_channel", "error", "parser", MOVED),
    "the same, strict": Said(SaysAllAloud, THINK, "wrong_channel", "error", "parser", MOVED, {"contract": "strict"}),
    "content as reasoning": Said(
        OnlyThinks, THINK, "wrong_channel", "error", "parser", "text after `</think>` is sent as reasoning."
    ),
    "a plain answer as reasoning": Said(
        OnlyThinks, "It is so.", "prompt_state_unknown", "warning", "request",
        "`It is so.` is sent as reasoning, which is right only if the prompt opened reasoning",
    ),
    "the same, and the prompt is known": Said(
        OnlyThinks, "It is so.", "wrong_channel", "error", "parser",
        "`It is so.` is sent as reasoning; in the output it is content.", {"context": {"reasoning_open": False}},
    ),
    "prose behind a marker": Said(
        Awaits, "Use the <tool_call> marker when you want to call a tool.", "text_lost", "error", "parser",
        "The parser loses text: the end of the answer is lost, 48 characters from character 8 of the output on;",
        {"contract": "vllm"},
    ),
    "line ends": Said(
        DropsReturns, CRLF, "text_changed", "warning", "parser",
        "White space is changed in the content: `today.\\r\\nBye` becomes `today.\\nBye`.",
    ),
    "line ends, strict": Said(
        DropsReturns, CRLF, "text_changed", "error", "parser",
        "The parser changes what the output says: white space is changed in the content", {"contract": "strict"},
    ),
    "blanks": Said(
        OneBlank, CRLF, "text_changed", "warning", "parser",
        "White space is changed in the content: `is  weak` becomes `is weak`.", {"contract": "vllm"},
    ),
    "a name": Said(Renames, ONE, "text_changed", "error", "parser", NAMED),
    "a name, without tools": Said(Renames, ONE, "text_changed", "error", "parser", NAMED, {"tools": []}),
    "a failure": Said(
        FailsOnQuote, ONE, "parser_failed", "error", "parser",
        "on the delta `\"`, with IndexError: string index out of range.",
    ),
    "a failure, without tools": Said(
        FailsOnQuote, ONE, "parser_failed", "error", "parser", "with IndexError: string index out of range.",
        {"tools": []},
    ),
    "reasoning that is not read": Said(
        ReadsNoReasoning, "<think>Where?</think>Here.", "marker_leak", "warning", "parser",
        "`<think>` stays in the content; the built-in parser `qwen` reads it as a marker.",
    ),
    "blanks at the end of deltas": Said(StripsDeltas, "It is so.", "chunk_boundary", "warning", "parser", BLANKS),
    "no arguments": Said(
        DropsEmpty, BARE, "broken_arguments", "error", "parser",
        "the arguments of call 0 (`get_time`) are empty, where the output has `{}`.",
    ),
    "no arguments of a second call": Said(
        DropsEmpty, f"{call('get_weather', city='Paris')}\n{BARE}", "broken_arguments", "error", "parser",
        "the arguments of call 1 (`get_time`) are empty, where the output has `{}`.", {"tools": []},
    ),
    "a number": Said(
        Doubles, NUMBER, "types_changed", "error", "parser",
        f"is {PI} in the output and has become 3.141592653589793: digits beyond double precision are lost.",
        {"tools": []},
    ),
}  # fmt: skip
COUNTED = ("reasoning as content", "a plain answer as reasoning")  # they reach lines that no others do


def searched(text: str, make: Callable[[], Any], pieces: list[Piece] | None = None, **given: Any) -> Found:
    body = {
        "schema": 1,
        "parser": {"name": "qwen", "engine": "mine"},
        "input": {"text": [text]},
        "tools": TOOLS,
        **given,
    }
    made = CaseSearch(load_case(body), pieces=pieces, engines=engines(make), max_replays=200)
    assert list(made.run())
    return made.result().found


def by_tokens(text: str) -> list[Piece]:
    return [Piece(token) for token in TOKEN.findall(text)]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in COUNTED else pytest.mark.replays) for name in SAID]
)
def test_the_verdict_names_what_the_parser_changed(name: str) -> None:
    said = SAID[name]
    result = searched(said.text, said.make, by_tokens(said.text), **(said.given or {}))
    verdict = result.verdict
    assert (verdict.kind, verdict.severity, verdict.about) == (said.kind, said.severity, said.about), verdict.headline
    assert said.words in verdict.headline
    assert [one for one in result.findings if one.about == "output"] == [], "the model is blamed for nothing"
    assert len([one for one in result.findings if one.severity != "info"]) == 1, "one cause, one finding"
    assert not any("nowhere in" in one.message for one in result.findings)


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Forgets, "made", 0)
    monkeypatch.setattr(CountsOn, "before", 0)


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    ("make", "text", "words"),
    [
        (Forgets, "It is so.", "the content differs"),
        (CountsOn, ONE, "the numbers of its calls go on from those of another request"),
        pytest.param(CountsOn, TWO, "the numbers of its calls go on", marks=pytest.mark.replays),
    ],
)
@pytest.mark.replays
def test_what_one_request_leaves_to_the_next_is_one_finding(make: Callable[[], Any], text: str, words: str) -> None:
    result = searched(text, make, by_tokens(text))
    assert result.verdict.headline.startswith("The parser does not read the same output alike every time: ")
    assert words in result.verdict.headline
    assert [one.check for one in result.findings] == ["reusable"]


class KeepsMarker(Changes):
    """A marker goes into a value, with the end of the call."""

    def change(self, sent: MessageDelta) -> MessageDelta:
        for part in sent.tool_calls:
            part.arguments = (part.arguments or "").replace('"}', '</tool_call>"}')
        return sent


@pytest.mark.parametrize(
    ("tools", "told"), [(ONE, 1), *[pytest.param(tools, 1, marks=pytest.mark.replays) for tools in (THINK, TWO)]]
)
def test_a_marker_inside_a_value_that_the_format_reads_as_one_is_found(tools: str, told: int) -> None:
    result = searched(tools, KeepsMarker, [Piece(tools)], checks=["no_argument_leak"])
    leaks = [one.message for one in result.findings if one.severity == "warning"]
    words = (
        "`</tool_call>` stands in a string of call 0 (`get_weather`); the built-in parser `qwen` reads it as a marker."
    )
    assert leaks[:told] == [words]


@pytest.mark.parametrize("text", ["Bread &amp; butter.", "Bread &amp; butter, tea &amp; milk."])
def test_character_references_that_are_decoded_are_a_note(text: str) -> None:
    result = searched(text, Decodes, by_tokens(text), checks=["spans_cover_input"])
    (note,) = result.findings
    assert note.message == "The `&amp;` of the output is sent as `&`: character references are decoded."
    assert (note.severity, result.verdict.kind) == ("info", "all_hold")
    kept = searched("Bread &amp; butter.", Deaf, by_tokens("Bread &amp; butter."), checks=["spans_cover_input"])
    assert kept.findings == []


@pytest.mark.replays
def test_without_tokens_characters_stand_in_and_that_is_said() -> None:
    assumed = (
        "No tokens were given: each character is taken for one, which is an assumption about the model's tokenizer."
    )
    for tokens in (None, [Piece("It", 1), Piece(" is", 2), Piece(".", 3)]):
        result = searched("It is.", Spoilt, tokens, tokenizer={"name": "qwen3"})
        assert any(words.startswith(assumed) for words in result.verdict.sentences) is (tokens is None)


class TaggedCalls(Spoilt):
    """Calls of a grammar that nobody else knows, read at the end."""

    def on(self, text: str) -> MessageDelta | None:
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        before, name, key, value = re.split(r"<fn (\w+)><param (\w+)>(\w+)</param></fn>", self.text)[:4]
        return MessageDelta(content=before, tool_calls=[ToolCallDelta(0, "id", name, json.dumps({key: value}))])


def without_grammar(text: str, make: Callable[[], Any], shown: str = "mine") -> Found:
    """What is found of a parser whose grammar nobody knows."""

    def mine(case: Case, evidence: Evidence) -> Choice:
        plain = get_format("passthrough")
        return Choice(plain, Selection(shown, ()), lambda: BlackBox("mine", make()), black_box=True)

    parser = {"name": shown, "engine": "mine"}
    case = load_case({"schema": 1, "parser": parser, "input": {"text": text}, "tools": TOOLS})
    made = CaseSearch(case, pieces=by_tokens(text), engines={**ENGINES, "mine": mine}, max_replays=100)
    assert list(made.run())
    return made.result().found


@pytest.mark.parametrize("shown", ["passthrough", "mine"])
def test_markup_of_a_grammar_that_is_not_known_is_not_lost(shown: str) -> None:
    text = "See: <fn get_weather><param city>Paris</param></fn>"
    assert without_grammar(text, TaggedCalls, shown).verdict.kind == "all_hold"


class AtTheEnd(Spoilt):
    """It says all at the end, and counts its deltas."""

    def begin(self, context: Context) -> None:
        super().begin(context)
        self.deltas = 0

    def on(self, text: str) -> MessageDelta | None:
        self.deltas += bool(text)
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        return MessageDelta(content=self.all())

    def all(self) -> str:
        return self.text[:-1]


class InParts(AtTheEnd):
    """The last character stays behind where the output comes in more than one delta."""

    def all(self) -> str:
        return self.text if self.deltas == 1 else self.text[:-1]


class MarksParts(AtTheEnd):
    """Markup of its own stands in the content where the output comes in more than one delta."""

    def all(self) -> str:
        return self.text if self.deltas == 1 else f"<tool_call>{self.text}"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (AtTheEnd, "The `.` of the output is nowhere in the content."),
        (InParts, "as soon as the output comes in more than one delta, `.` is lost from the content."),
        (MarksParts, "as soon as the output comes in more than one delta, "),
    ],
)
def test_a_character_that_stays_behind_is_told_without_a_grammar_and_blames_no_place(
    kind: type[Spoilt], words: str
) -> None:
    assert words in without_grammar("It will rain today. It will.", kind).verdict.headline


class DropsLonely(Changes):
    """A call is cut short, by one character more where a delta was a single letter: right is the other code path."""

    lonely = False

    def on(self, text: str) -> MessageDelta | None:
        self.lonely = self.lonely or len(text) == 1
        return super().on(text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        super().finish(reason)
        return MessageDelta(content="one" if self.lonely else "o")

    def change(self, sent: MessageDelta) -> MessageDelta:
        return MessageDelta()


@pytest.mark.replays
def test_what_only_the_code_path_for_whole_outputs_reads_is_no_matter_of_more_than_one_delta() -> None:
    body = {"schema": 1, "parser": {"name": "qwen", "engine": "mine"}, "input": {"text": [ONE]}, "tools": TOOLS}
    made = CaseSearch(load_case(body), pieces=by_tokens(ONE), engines=engines(DropsLonely, Spoilt), max_replays=200)
    assert list(made.run())
    assert "in one delta, the only call (`get_weather`) is lost" in made.result().found.verdict.headline


class KeepsLineEnds(WholeOnly):
    """The white space between two calls is content."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        return None if sent is None else replace(sent, content=f"{sent.content or ''}\n")


@pytest.mark.replays
def test_white_space_between_calls_is_no_more_of_a_fault_where_no_text_stands_before_them() -> None:
    two = "\n".join([call("get_weather", city="Paris"), call("get_weather", city="Oslo")])
    for text in (two, f"So:\n{two}"):
        assert searched(text, KeepsLineEnds, by_tokens(text)).verdict.kind == "all_hold"


class DropsAround(Changes):
    """Text is lost behind the first call, and before one in the same delta."""

    called = False

    def change(self, sent: MessageDelta) -> MessageDelta:
        self.called = self.called or bool(sent.tool_calls)
        return replace(sent, content=None) if self.called else sent


@pytest.mark.replays
def test_the_reading_that_keeps_more_of_the_text_is_not_called_the_fault() -> None:
    text = f"Sure, saving it.\n{call('get_weather', city='Paris')}\nDone, anything else?"
    headline = searched(text, DropsAround, by_tokens(text)).verdict.headline
    assert "in one delta, `Sure, saving it.` is lost from the content" in headline


class FailsOnLetter(Spoilt):
    """A delta of one letter is more than it can read."""

    def on(self, text: str) -> MessageDelta | None:
        if text == "t":
            raise ValueError("a letter alone")
        return super().on(text)


def test_a_failure_under_cuts_inside_tokens_that_no_server_makes_is_a_warning() -> None:
    given = {"replay": [{"by": "char"}], "tokenizer": {"name": "qwen3"}}
    verdict = searched(ONE, FailsOnLetter, by_tokens(ONE), **given).verdict
    assert (verdict.kind, verdict.severity) == ("parser_failed", "warning")
    assert "cut inside a token as no server does" in verdict.headline


KEPT = call("get_weather", city="Paris")[:50]


@pytest.mark.parametrize(
    ("contract", "kind", "sentence"),
    [
        ("strict", "parser_flawed", None),
        (
            "vllm",
            "no_complete_call",
            "The contract `vllm` decides what becomes of a call the output cuts off: as streamed (`truncated_call`).",
        ),
        ("openai", "no_complete_call", None),
    ],
)
@pytest.mark.replays
def test_a_contract_is_named_once_where_it_decides(contract: str, kind: str, sentence: str | None) -> None:
    verdict = searched(KEPT, Spoilt, by_tokens(KEPT), contract=contract).verdict
    assert verdict.kind == kind
    named = [words for words in (verdict.headline, *verdict.sentences) if "contract" in words]
    if contract == "strict":
        assert named == [verdict.headline]
        assert "is sent, which is none by the contract `strict` (truncated_call=text)" in verdict.headline
    else:
        assert named == [sentence] * (sentence is not None)


class Closes(Changes):
    """Arguments that are cut off are closed at the end."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        super().finish(reason)
        return MessageDelta(tool_calls=[ToolCallDelta(0, arguments='"}')])


class ClosesAfterFew(Closes):
    """The same, where the last delta is short."""

    def on(self, text: str) -> MessageDelta | None:
        self.last = text
        return super().on(text)

    def finish(self, reason: str | None) -> MessageDelta | None:
        return super().finish(reason) if len(self.last) < 9 else Changes.finish(self, reason)


class Leaves(Changes):
    """All of an output with text beside its calls is content."""

    def on(self, text: str) -> MessageDelta | None:
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        return MessageDelta(content=self.text)


class KeepsTheBeginning(Leaves):
    """Nothing but the text before the first marker is left."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        return MessageDelta(content=self.text.partition("<")[0])


CUT = call("get_weather", city="Paris").partition("is")[0]
DROPS = {"name": "mine", "unknown_tool": ["keep", "drop"]}
TEXT = {"name": "mine", "unknown_tool": ["keep", "text"]}


@pytest.mark.parametrize(
    ("contract", "text", "kind", "words"),
    [
        ("vllm", CUT, Closes, "1 call that the output cuts off, which the contract `vllm` lets the parser complete"),
        ("vllm", CUT, ClosesAfterFew, ", not the same under all chunkings, as the contract `vllm` allows ("),
        (TEXT, f"So: {call('h')}", Leaves, "no calls, for the markup of 1 call stands in the content, as"),
        (DROPS, f"So: {call('f')}", KeepsTheBeginning, "no calls, for 1 call of the output is left out, as"),
    ],
)
def test_the_headline_says_what_the_contract_makes_of_calls(
    contract: Any, text: str, kind: type[Spoilt], words: str
) -> None:
    found = searched(text, kind, by_tokens(text), contract=contract).verdict
    assert words in found.headline, found.headline


@pytest.mark.parametrize("parser", ["pythonic", "llama4_pythonic"])
@pytest.mark.replays
def test_a_python_none_for_a_declared_string_is_no_fault_of_who_reads_it_as_null(parser: str) -> None:
    parameters = {"type": "object", "properties": {"units": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    body = {"schema": 1, "parser": {"name": parser}, "input": {"text": "[f(units=None)]"}, "tools": tools}
    made = CaseSearch(load_case(body), max_replays=200)
    assert list(made.run())
    assert made.result().found.verdict.kind == "all_hold"


@pytest.mark.parametrize(
    "text",
    [pytest.param(BARE, marks=pytest.mark.replays), f"I look.\n{call('get_weather', city='Paris')}\n{BARE}"],
)
def test_a_small_case_of_arguments_that_never_come_shows_them(text: str) -> None:
    small = searched(text, DropsEmpty, by_tokens(text)).minimized
    assert small is not None
    assert small.check == "arguments_json"
    assert small.finding.message.endswith("are empty, where the output has `{}`.")
    assert "".join([piece.text for piece in small.pieces]).count("<tool_call>") == 1


@pytest.mark.replays
def test_where_the_output_writes_no_arguments_no_parser_lost_them() -> None:
    found = searched('<tool_call>\n{"name": "get_time"}\n</tool_call>', DropsEmpty)
    words = "are empty: the output writes none, for which the API has `{}`."
    assert (found.verdict.kind, found.verdict.severity) == ("output_flawed", "warning")
    assert words in found.verdict.headline
