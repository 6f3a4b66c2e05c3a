"""What a server sent a second time, and what people say twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import characters, replayer_of
from parsers.checks import Subject, run_checks
from parsers.checks.causes import by_cause
from parsers.checks.subject import subject_of
from parsers.vocabulary.trace import Finding
from tests.growth import assert_linear, seconds

SUNNY = ["The", " weather", " in", " Paris", " is", " sunny", " today", "."]
TODAY = "\u4eca\u65e5\u306f"
STAYS = [" It", " will", " stay", " so", "."]


def recorded(deltas: list[dict[str, Any]], /, tools: Sequence[dict[str, Any]] = (), **given: Any) -> Subject:
    stream: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    stream.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    told = {"input": {"stream": stream, **given}, "tools": [*tools]}
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, **told})
    replayer = replayer_of(case, choose(case), case.pieces() or characters(case.text()))
    trace = replayer.trace(replayer.traced)
    return subject_of(replayer, trace, trace, ())


def said(deltas: list[dict[str, Any]], /, **given: Any) -> list[Finding]:
    return run_checks(recorded(deltas, **given), ["sent_once"]).findings


def content(*texts: str) -> list[dict[str, Any]]:
    return [{"content": text} for text in texts]


def twice(deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [delta for delta in deltas for _ in range(2)]


PARAGRAPH = "The sun is out. The air is clear, and the roads are dry.\nNobody is in a hurry today."
AGAIN: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "every delta twice": (
        twice(content(*SUNNY)),
        "Every delta came twice: 8 deltas, each followed by the same once more.", 2,
    ),
    "two deltas, each of them twice": (
        twice(content("It", " rains.")), "Every delta came twice: 2 deltas, each followed by the same once more.", 2,
    ),
    "every delta of reasoning and content twice": (
        twice([{"reasoning_content": text} for text in STAYS] + content(*SUNNY)),
        "Every delta came twice: 13 deltas", 2,
    ),
    "the whole text again at the end": (
        content(*SUNNY, *STAYS, "".join(SUNNY + STAYS)),
        "The whole text of the content came again in one piece, with chunk 14.", 14,
    ),
    "a text of two paragraphs again": (content(PARAGRAPH[:20], PARAGRAPH[20:], PARAGRAPH), "with chunk 3.", 3),
    "the whole reasoning again": (
        [{"reasoning": text} for text in (*STAYS, "".join(STAYS))], "The whole text of the reasoning came again", 6,
    ),
    "the same as reasoning and as content, side by side": (
        [{"reasoning_content": text, "content": text} for text in SUNNY],
        "The same text came as reasoning and as content.", 1,
    ),
    "the same as reasoning and as content, one after the other": (
        [{"reasoning_content": text} for text in SUNNY] + content("".join(SUNNY)),
        "The same text came as reasoning and as content.", 9,
    ),
    "each delta with all before it": (
        content(*["".join(SUNNY[:end]) for end in range(1, 9)]),
        "Each delta of the content repeats all of the text before it.", 2,
    ),
    "a sentence again, token by token": (
        content(*SUNNY, " ", *SUNNY, *STAYS),
        "`The weather in Paris is sunny today.` came twice in a row in the content, the second time from chunk 10 on.",
        10,
    ),
    "a sentence again in one delta": (
        content("So: ", "".join(SUNNY), " The weather in Paris is sunny today. And so on."), "from chunk 3 on.", 3,
    ),
    "the end of what was sent, again": (
        content("He says that one of them all is", " that one of them all is late"),
        "`that one of them all is` came twice in a row", 2,
    ),
    "a sentence in another script": (
        content("It is so. ", f"{TODAY} one two three four five\u3002", f"{TODAY} one two three four five\u3002", "."),
        "came twice in a row", 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AGAIN)
def test_what_is_sent_again_is_said_as_it_shows(name: str) -> None:
    deltas, words, step = AGAIN[name]
    (finding,) = said(deltas)
    assert words in finding.message
    assert (finding.severity, finding.about, finding.step) == ("warning", "parser", step)


POEM = "Row, row, row your boat,\nGently down the stream.\n"
ROW = "| Paris | sunny | 20 degrees | no rain |\n"
HONEST: dict[str, list[dict[str, Any]]] = {
    "a plain answer": content(*SUNNY, *STAYS),
    "ha ha": content("ha", " ha", " ha", " ha"),
    "ha ha in pairs": twice(content("ha", " ha")),
    "no, no": content("No, ", "no, ", "no, no, "),
    "a refrain": content(POEM, POEM),
    "a refrain, token by token": content(*[f"{word} " for word in (POEM + POEM).split(" ")]),
    "a list": content(*["- buy some milk and bread\n"] * 2, "- go home\n"),
    "a list by tokens": content(*["- ", "buy some ", "milk and ", "bread", "\n"] * 2),
    "rows of a table": content("| a | b |\n", ROW, ROW, ROW),
    "two rows": content(ROW, ROW),
    "a loop of the model": content(*["I will do that for you now. "] * 5),
    "a short saying": content("I love you. ", "I love you. ", "And you?"),
    "a line again further down": content("".join(SUNNY), " Really. ", "".join(SUNNY)),
    "a text that begins as it ends": content("one two ", "three", " one two "),
    "reasoning that is the answer": [{"reasoning": "42"}, {"content": "42"}],
    "calls alone": [
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
    ],
    "nothing": [],
    "numbers that grow": content("1", "10", "100"),
    "a question and its answer": content("Is it so? ", "It is so."),
    "a sentence without an end": content("It is so. ", "and so on"),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_repetition_is_nobodys_fault(name: str) -> None:
    assert said(HONEST[name]) == []


def arguments(*texts: str) -> list[dict[str, Any]]:
    first = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": ""}}]}
    return [first, *[{"tool_calls": [{"index": 0, "function": {"arguments": text}}]} for text in texts]]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (("{", "{", '"a": 1}', '"a": 1}'), "Every delta of the arguments of call 0 (`f`) came twice."),
        (("{", '{"a"', '{"a": 1}'), "Each delta of the arguments of call 0 (`f`) repeats all of the text before it."),
        (("{}", "{}"), "Every delta of the arguments of call 0 (`f`) came twice."),
        (('{"a": ', "1}", '{"a": 1}'), "The whole text of the arguments of call 0 (`f`) came twice."),
        (('{"a": ', "1}"), None),
        (("{", '"a": 1', '"b": 2}'), None),
        (('{"a": 1',), None),
        (("[", "[", "1]", "1]"), None),
    ],
)
def test_arguments_that_came_again_are_the_cause_of_what_is_no_json(texts: tuple[str, ...], words: str | None) -> None:
    subject = recorded(arguments(*texts))
    found = by_cause(run_checks(subject, ["sent_once", "arguments_prefix", "arguments_json"]).findings)
    told = [one for one in found if one.check == "sent_once"]
    assert [(one.message, one.severity) for one in told] == ([] if words is None else [(words, "error")])
    assert words is None or len(found) == 1


def test_where_the_raw_output_is_known_it_says_what_was_repeated() -> None:
    sent = [*SUNNY, "".join(SUNNY)]
    written = [{"text": text} for text in ("<think>Hm.</think>" + sent[0], *sent[1:])]
    assert said(content(*sent), deltas=written) == []


SIZES = (500, 1_000, 2_000, 4_000)
HOSTILE: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "one word": lambda size: content(*["word "] * size),
    "sentences": lambda size: content(*[f"w{number} and so on it goes. " for number in range(size)]),
    "one sentence": lambda size: content(*["It is as it is here. "] * size),
    "two long deltas": lambda size: content("a b c d " * size, "a b c d " * size),
    "deltas that grow": lambda size: content(*["ab" * (number % 300) + "c" for number in range(size // 100)]),
}


@pytest.mark.linear
@pytest.mark.parametrize("name", HOSTILE)
def test_looking_for_it_takes_linear_time(name: str) -> None:
    made = {size: recorded(HOSTILE[name](size)) for size in SIZES}
    assert_linear(lambda size: seconds(lambda: run_checks(made[size], ["sent_once"])), SIZES)
