"""What a parser of an unknown grammar leaves out of a plain answer: told where that is proven, and of no parser that is
right."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from parsers.checks.plain_end import Beginning, unsent
from parsers.vocabulary.types import Context, Delta, Message, MessageDelta, ToolCall, ToolCallDelta
from tests.parsers.search.test_unknown_grammar import searched

LONG = "The weather in Paris is sunny today, and so it will stay for the week"
Change = Callable[[str], str]


class AtTheEnd:
    """It sends what a change makes of the output, as content or as reasoning, once that is over."""

    def __init__(self, change: Change, channel: str = "content") -> None:
        self.change, self.channel = change, channel

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        text = self.change(self.text) or None
        return MessageDelta(content=text) if self.channel == "content" else MessageDelta(reasoning=text)


def last_character(text: str) -> str:
    return text.removesuffix("<|im_end|>").rstrip()[:-1]


def last_word(text: str) -> str:
    return text.removesuffix("<|im_end|>").rstrip().rpartition(" ")[0]


def last_line(text: str) -> str:
    return text.rpartition("\n")[0]


def whole_sentences(text: str) -> str:
    return text[: text.rfind(".") + 1]


def letter(text: str) -> str:
    return text.replace("sunny", "sunn")


def end_word(text: str) -> str:
    return text.removesuffix("END").rstrip()


@pytest.mark.replays(but=("last_character", "a part"))
@pytest.mark.parametrize(
    ("change", "channel", "text", "severity", "words"),
    [
        pytest.param(
            last_character, "content", LONG, "error", "is lost: `k` is nowhere in the message.", id="last_character"
        ),
        (last_character, "reasoning", LONG, "error", "is lost: `k` is nowhere in the message."),
        (last_word, "content", LONG, "warning", "is lost: `week` is nowhere in the message."),
        (last_word, "content", f"{LONG}<|im_end|>\n", "warning", "declare it with `--markers`"),
        (last_word, "content", "Bonjour tout le monde ici fr", "warning", "declare it with `--markers`"),
        (whole_sentences, "content", "It is so. It was so. And then", "warning", "declare it with `--markers`"),
        (last_character, "content", "これはとても長い文章です", "error", "is lost: `す` is nowhere in the message."),
        (last_line, "content", f"{LONG}\nand the next\none", "warning", "is lost: `one` is nowhere in the message."),
        pytest.param(
            last_character, "content", "Hi", "warning", "are lost: of `Hi` only `H` is in the message.", id="a part"
        ),
        (letter, "content", LONG, "warning", "are lost: of `sunny` only `sunn` is in the message."),
    ],
)
def test_what_is_missing_of_a_plain_answer_is_told_though_nobody_knows_the_grammar(
    change: Change, channel: str, text: str, severity: str, words: str
) -> None:
    said = searched(lambda: AtTheEnd(change, channel), text, tools=[]).verdict
    assert words in " ".join([said.headline, *said.sentences])
    assert (said.kind, said.severity) == ("text_lost", severity)


CALLED = "<call>ring</call> All of it is done by now"


class CallsFirst(AtTheEnd):
    """A call stands before the answer, or a thought."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        begun, call, rest = self.text.partition("</call>")
        if not call:
            return MessageDelta(reasoning=begun)
        calls = [ToolCallDelta(0, "c", "ring", "{}")]
        said = begun.removeprefix("<call>ring")
        return MessageDelta(said or None, self.change(rest) or None, calls if said == "" else [])


@pytest.mark.replays
@pytest.mark.parametrize("text", [CALLED, CALLED.replace("<call>ring", "So I think it over.")])
@pytest.mark.parametrize("change", [last_character, last_word, str, end_word])
def test_the_end_of_an_answer_is_missed_behind_a_call_or_a_thought_as_well(change: Change, text: str) -> None:
    found = searched(lambda: CallsFirst(change), text + " END" * (change is end_word), tools=[])
    kind = "text_lost" if change in (last_character, last_word) else "all_hold"
    assert (found.verdict.kind, len(found.findings)) == (kind, kind == "text_lost"), found.findings


def commands(text: str) -> str:
    """`CALL name key=value`, a grammar whose markup is words; one that is cut off is no call."""
    return re.sub(r" ?CALL( \w+(( \w+=\w*)+|\Z)|\Z)", "", text)


def sentences(text: str) -> str:
    """Without a sentence that is not whole, as some servers do on purpose."""
    return text[: text.rfind(".") + 1] or text


def unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("&amp;", "&")


def once_ended(text: str) -> str:
    """Nothing of an output whose end is not there."""
    return text.removesuffix(" END") if text.endswith(" END") else ""


@pytest.mark.replays(but=("end_word",))
@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param(end_word, f"{LONG} END", id="end_word"),
        (once_ended, "The weather in Paris is sunny today END"),
        (end_word, f"{LONG}END"),
        (end_word, "It is so END"),
        (commands, "Let me look. CALL weather city=Paris"),
        (commands, "Let me look. CALL weather"),
        (commands, "Let us CALL it a day and then CALL weather"),
        (sentences, "It is so. It was so. And"),
        (unescaped, "One line\\nanother line &amp; one more"),
        (str, f"{LONG}<|im_end|>"),
        (str.strip, f"  {LONG}\n\n"),
    ],
)
def test_a_parser_that_is_right_is_not_accused(change: Change, text: str) -> None:
    found = searched(lambda: AtTheEnd(change), text, tools=[])
    assert [one.message for one in found.findings if one.severity != "info"] == []
    assert (found.verdict.kind, found.verdict.severity) == ("all_hold", "pass")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("It is sunny in Paris\nEND", "\nEND"),
        ("It is sunny in Paris END", " END"),
        ("It is sunny in Paris.\nUser: And what about Rome?", "\nUser:"),
    ],
)
def test_a_declared_marker_may_begin_with_a_blank(text: str, marker: str) -> None:
    found = searched(lambda: AtTheEnd(lambda said: said.partition(marker)[0]), text, (marker,), tools=[])
    assert [one.message for one in found.findings if one.severity == "error"] == []
    kept = searched(lambda: AtTheEnd(lambda said: said[:14]), "It is sunny in Paris", (marker,), tools=[])
    assert kept.verdict.severity == "error"


END = "`END` at the end of the output is nowhere in the message. The grammar is not known: it may be markup."
LESS = Beginning(8, Message("It is", "s"))
KEPT, LOST = Beginning(5, Message(content="It is")), Beginning(5, Message(content="It i"))
WORD, NONE = Beginning(5, Message(content="It")), Beginning(5, Message())


@pytest.mark.parametrize(
    ("text", "message", "others", "told"),
    [
        ("It is so END", Message(content="It is so"), [KEPT], ("info", END)),
        ("It is so END", Message(content="It is so"), [LOST, KEPT], ("info", END)),
        ("It is so END", Message(content="It is so"), [], ("info", END)),
        ("It is so END", Message(content="It is so"), [LOST] * 2, ("warning", "The end of the answer is lost: `END`")),
        ("It is so END", Message(content="It is so"), [NONE] * 5, ("info", END)),
        ("It is so END", Message(content="It is so"), [LOST] * 3, ("warning", "is lost: `END`")),
        ("It is so", Message(content="It is s"), [WORD, WORD, LOST], ("warning", "of `so` only `s`")),
        ("It is so", Message(content="It is s"), [LOST] * 3, ("error", "The end of the answer is lost: `o`")),
        ("It is so </s>", Message(content="It is so"), [], None),
        ("It is so END<eos> </s>", Message(content="It is so"), [], ("info", END)),
        (f"It is so END{'</s>' * 9}", Message(content="It is so"), [], None),  # so many end no turn
        ("It is so <end", Message(content="It is so"), [], None),
        ("It is so END", Message("It is", "so"), [], None),
        ("It is so END", Message("It is", "so"), [LESS] * 2, ("warning", "The end of the answer is lost: `END`")),
        ("It is so END", Message("It is", "so"), [LESS] * 3, ("warning", "is lost: `END`")),
        ("It is so END", Message(content="It is so", tool_calls=[ToolCall("", "f", "{}")]), [], None),
        ("It is so f", Message(content="It is so", tool_calls=[ToolCall("", "f", "{}")]), [LOST] * 3, None),
        ("It is so a", Message(content="It is so", tool_calls=[ToolCall("", "f", '{"b": "a"}')]), [LOST] * 3, None),
        ("RUN it", Message(tool_calls=[ToolCall("", "f", "{}")]), [LOST] * 3, None),
        ("It is so.", Message(content="It is so"), [], None),
        ("So it is", Message(content="It is so"), [], None),
        ("Say hello, all", Message(content="ay hell, al"), [], ("warning", "of `Say` only `ay` is in the message (3")),
        ("a 12 b", Message(content="a 1 b"), [], ("warning", "of `12` only `1` is in the message.")),
        ("I say hello", Message(content="I say ello"), [], ("warning", "of `hello` only `ello` is in the message.")),
        ("Say [hello] all", Message(content="Say [hell] all"), [], None),
        ("Say iHello all", Message(content="Say iHell all"), [], None),
    ],
)
def test_what_is_said_follows_from_what_beginnings_show(
    text: str, message: Message, others: list[Beginning], told: tuple[str, str] | None
) -> None:
    found = unsent(text, message, others, ["<eos>"])
    assert (found is None) is (told is None)
    if found is not None and told is not None:
        assert (found.severity, told[1] in found.words) == (told[0], True), found.words
        assert text[found.start : found.end].strip() != ""
