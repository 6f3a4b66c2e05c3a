"""What the output spells otherwise is in it: no parser that decodes it is accused; what one makes up is still told."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from unicodedata import normalize
from urllib.parse import parse_qsl

import pytest

from parsers.checks.spelled import apart, spelled
from parsers.vocabulary.types import Context, Delta, MessageDelta, ToolCallDelta
from tests.parsers.search.test_unknown_grammar import searched

Read = Callable[[str], MessageDelta]


class AtTheEnd:
    def __init__(self, read: Read) -> None:
        self.read = read

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.read(self.text)


def content(change: Callable[[str], str]) -> Read:
    return lambda text: MessageDelta(content=change(text) or None)


def answer(text: str) -> str:
    return str(json.loads(text)["answer"]) if text.endswith("}") else ""


def tagged(text: str) -> str:
    return html.unescape(text.removeprefix("<answer>").removesuffix("</answer>"))


def composed(text: str) -> str:
    return normalize("NFC", text)


def decomposed(text: str) -> str:
    return normalize("NFD", text)


def thought(text: str) -> MessageDelta:
    before, _, after = tagged(text).partition(" so ")
    return MessageDelta(before or None, after or None)


def query(text: str) -> MessageDelta:
    name, _, given = text.partition("?")
    return MessageDelta(tool_calls=[ToolCallDelta(0, "c", name, json.dumps(dict(parse_qsl(given))))])


def one_more(text: str) -> str:
    return f"{tagged(text)} indeed"


@pytest.mark.replays
@pytest.mark.parametrize(
    ("read", "text", "kind"),
    [
        (content(answer), '{"answer": "Caf\\u00e9 cr\\u00e8me \\ud83d\\ude00 is \\"here\\""}', "all_hold"),
        (content(tagged), "<answer>If a &lt; b then b &gt; a &amp; so on</answer>", "all_hold"),
        (content(tagged), "<answer>It&#39;s sunny in Paris</answer>", "all_hold"),
        (thought, "<answer>&eacute;&eacute; so &eacute;</answer>", "all_hold"),
        (query, "weather?city=S%C3%A3o+Paulo&days=3", "all_hold"),
        (content(composed), "Un cafe\u0301 a\u0300 Paris", "all_hold"),
        (content(decomposed), "Un café à Paris", "all_hold"),
        (content(one_more), "<answer>If a &lt; b, é</answer>", "text_added"),
        (content(lambda text: text.replace("é", "ő")), "Un café à Paris", "text_added"),
        (content(lambda text: tagged(text) + "<"), "<answer>&lt;&lt;</answer>", "all_hold"),  # of either spelling
    ],
)
def test_what_is_decoded_is_not_made_up(read: Read, text: str, kind: str) -> None:
    tools = [{"name": "weather", "parameters": {"type": "object"}}] if read is query else []
    found = searched(lambda: AtTheEnd(read), text, tools=tools)
    told = [one.message for one in found.findings if one.severity == "error"]
    assert (bool(told), found.verdict.kind) == (kind != "all_hold", kind), (told, found.verdict.headline)


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("a\\u00e9b", "a\\u00e9e\u0301b"),
        ("\\ud83d\\ude00", "\\ud83d\\ude00😀"),
        ("a &lt; é", "a &lt;< e\u0301"),
        ("%C3%A3 100%", "%C3%A3a\u0303 100%"),
        ("\\é &no; plain", "\\e\u0301e\u0301 &no; plain"),
    ],
)
def test_each_spelling_stands_before_what_it_means(text: str, both: str) -> None:
    found = spelled(text)
    assert found.text == both
    assert [found.limit(0), found.limit(len(text))] == [0, len(both)]
    assert all(apart(text[:end]).startswith(both[:1]) for end in range(1, len(text)))


def test_a_spelling_of_which_a_part_came_is_whole() -> None:
    found = spelled("ab&lt;cd&gt;e")
    assert [found.text[: found.limit(raw)] for raw in (1, 2, 3, 6, 7, 9, 13)] == [
        "a", "ab", "ab&lt;<", "ab&lt;<", "ab&lt;<c", "ab&lt;<cd&gt;>", "ab&lt;<cd&gt;>e",
    ]  # fmt: skip
