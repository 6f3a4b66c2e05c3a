"""What is prose and what markup where the grammar is not known: words for what is lost, silence for markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from parsers.cases.engines import ENGINES, PLAYED, Choice
from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.checks.prose import consumed_tags, lost_prose
from parsers.replays.recorded import BlackBox
from parsers.selection.registry import Selection
from parsers.vocabulary.types import Context, Delta, MessageDelta, ToolCallDelta

Change = Callable[[MessageDelta], MessageDelta]


@pytest.mark.parametrize(
    ("text", "sent", "tags"),
    [
        ("", (), []),
        ("Hi <b>", ("Hi <b>",), []),
        ("<call>f</call>", ("f",), ["<call>", "</call>"]),
        ("<x> is a tag: <x>1</x>", ("<x> is a tag: ", "1"), ["<x>", "</x>"]),
        ("[CALL]f[/CALL]", ("f",), ["[CALL]", "[/CALL]"]),
    ],
)
def test_tags_that_are_fewer_in_what_is_sent_were_consumed(text: str, sent: tuple[str, ...], tags: list[str]) -> None:
    assert consumed_tags(text, sent) == tags


@pytest.mark.parametrize(
    ("text", "known", "lost"),
    [
        ("", "", []),
        ("It was all.", "", ["It", "was", "all"]),
        ("It was all.", "it was all", []),
        ("That was the whole of it.", "that", ["was", "the", "whole", "of", "it"]),
        ("You and they know that one.", "you and they know", []),
        ("Done.", "", ["Done"]),
        ("Done", "", []),
        ("<call fn=f><param key=city>Paris</param></call>", "f paris", []),
        ('{"name": "f", "arguments": {"a": {"b c": [1, 2]}}}', "", []),
        ("[fetch(city='Bern and Basel')]", "", []),
        ("CALL=f city:Bern END", "f", []),
        ("CALL weather city=Bern", "", []),
        ("So NASA said it.", "", ["said", "it"]),
        ("<|call|>f<|end|> It is gone now.", "f", ["It", "is", "gone", "now"]),
        ("f 12 13 14", "", []),
        (f"It is gone. {'(' * 12}a b{')' * 12}", "", ["It", "is", "gone"]),
    ],
)
def test_lost_words_are_prose(text: str, known: str, lost: list[str]) -> None:
    assert list(lost_prose(text, set(known.split()))) == lost


class Own:
    """A parser of `<call fn=NAME><param key=KEY>VALUE</param></call>`, which no built-in format reads; it answers at
    the end. `change` spoils its message."""

    def __init__(self, change: Change) -> None:
        self.change = change

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        calls = []
        for number, (name, inner) in enumerate(_CALL.findall(self.text)):
            arguments = json.dumps(dict(re.findall(r"<param key=(\w+)>(.*?)</param>", inner)))
            calls.append(ToolCallDelta(number, f"c{number}", name, arguments))
        return self.change(MessageDelta(content=_CALL.sub("", self.text) or None, tool_calls=calls))


_CALL = re.compile(r"<call fn=(\w+)>(.*?)</call>", re.DOTALL)
WRITTEN = "I look first.<call fn=get><param key=city>Bern</param><param key=days>0.10</param></call>It was all of it."


def same(delta: MessageDelta) -> MessageDelta:
    return delta


def without_prose(delta: MessageDelta) -> MessageDelta:
    return replace(delta, content="I look first.")


def with_numbers(delta: MessageDelta) -> MessageDelta:
    for call in delta.tool_calls:
        call.arguments = (call.arguments or "").replace('"0.10"', "0.1")
    return delta


def nothing(delta: MessageDelta) -> MessageDelta:
    return MessageDelta()


@pytest.mark.replays
@pytest.mark.parametrize("declared", [(), ("<call fn=", "</call>", "<param key=", "</param>")])
@pytest.mark.parametrize(
    ("text", "change", "kind", "severity", "words"),
    [
        (WRITTEN, same, "all_hold", "pass", "1 complete call ("),
        (WRITTEN, without_prose, "text_lost", "warning", "The word `It` of the output is nowhere in the message"),
        (WRITTEN, with_numbers, "all_hold", "pass", "1 complete call ("),
        ("<call fn=get><param key=city>Bern</param></call>", nothing, "text_lost", None, "whole output is lost"),
        (WRITTEN, nothing, "text_lost", "error", "the whole output is lost"),
        ("Nothing to say.", nothing, "text_lost", None, "whole output is lost"),
        ("before<call fn=get></call>after", same, "all_hold", "pass", "1 complete call ("),
        (f"{WRITTEN}<|im_end|>", same, "all_hold", "pass", "a server may leave it out before its parser is asked"),
    ],
)
def test_a_parser_of_an_unknown_grammar_is_judged_by_what_it_shows(
    text: str, change: Change, kind: str, severity: str | None, words: str, declared: tuple[str, ...]
) -> None:
    severity = severity or ("error" if declared else "warning")  # all of it may be markup where nobody declares it
    plain = Choice(PLAYED, Selection("own", ()), lambda: BlackBox("own", Own(change)), black_box=True)
    named = {"name": "own", "engine": "own", "markers": [*declared]}
    case = load_case({"schema": 1, "parser": named, "input": {"text": text}, "tools": [{"name": "get"}]})
    search = CaseSearch(case, engines={**ENGINES, "own": lambda case, evidence: plain}, max_replays=40)
    assert list(search.run())
    found = search.result().found
    said = found.verdict
    assert (said.kind, said.severity) == (kind, severity), said.headline
    assert words in " ".join([said.headline, *said.sentences])
    assert (severity == "error") == any(one.severity == "error" for one in found.findings)
