"""What a smaller form keeps of the first one: its cuts, its grammar, the kind of the loss, and a right reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from parsers.compare.divergence import EXACT
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.cut_places import are_kept, cut_places
from parsers.search.harms import kind_of
from parsers.search.own_reading import own_reading
from parsers.search.search import Search
from parsers.search.sweep import cut_at
from parsers.search.targets import Differs, Finds, Kept, Read, plain_chunkings
from parsers.selection.registry import build, get_format, maker, policies
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Delta, Message, MessageDelta, Piece, Tool, ToolCall
from parsers.wire.assemble import Assembler
from tests.parsers.search.spoilt import Spoilt


@dataclass
class Holds:
    """A target that always holds."""

    replays: int = 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        return True


def replayer_of(name: str, tokens: Sequence[str], **more: object) -> Replayer:
    fmt = get_format(name)
    pieces = tuple([Piece(token) for token in tokens])
    made = {"terminals": fmt.terminals, "format": fmt, "policy": policies(fmt), **more}
    return Replayer(maker(fmt, policies(fmt)), pieces, **made)  # type: ignore[arg-type]


def call(name: str = "f", arguments: str = '{"a": 1}') -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


TWO = call() + call("g")
DEEPSEEK = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
)
STEP3 = (
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">'
    '<steptml:parameter name="a">1</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>'
)
CODER = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize(
    ("name", "first", "small"),
    [
        ("qwen", TWO, '<tool_call>{"name": "f""arguments": {}}</tool_call>'),
        ("qwen", TWO, '<tool_call>{"name": "f", "arguments": {}}' + call("g")),
        ("qwen", TWO, '<tool_call>{"name": "f", "arguments": {}}'),
        ("qwen", TWO, '<tool_call>{"name": "f"}</tool_call>'),
        ("qwen", TWO, call(arguments='{"a" 1}')),
        ("qwen", TWO, "<tool_call></tool_call>"),
        ("granite", '<|tool_call|>[{"name": "f", "arguments": {}}]', '<|tool_call|>{"name": "f", "arguments": {}}'),
        ("apertus", '<|tools_prefix|>[{"f": {}}]<|tools_suffix|>', '<|tools_prefix|>[{"f": {}}]'),
        ("phi4_mini_json", 'functools[{"name": "f", "arguments": {}}]', 'functools{"name": "f", "arguments": {}}'),
        (
            "deepseek_v31",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜><｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
        ("deepseek", DEEPSEEK, DEEPSEEK.replace("function", "")),
        ("deepseek", DEEPSEEK, DEEPSEEK.replace("f\n```", "f```")),
        ("deepseek", DEEPSEEK, DEEPSEEK.replace("\n```<", "```<")),
        ("step3", STEP3, STEP3.replace("function<｜tool_sep｜>", "")),
        ("step3", STEP3, STEP3.replace('name="a"', 'n="a"')),
        ("qwen_coder", CODER, CODER.replace("\n</function>", "\nx\n</function>")),
        ("qwen", TWO, call(arguments="[]")),
        ("qwen", TWO, call(arguments='{"": 1}')),
    ],
)
def test_a_form_with_a_flaw_that_the_first_one_has_not_is_refused(name: str, first: str, small: str) -> None:
    begun = replayer_of(name, [first])
    kept = Kept.of(Holds(), begun, WHOLE)
    assert kept.holds(begun, WHOLE)
    assert not kept.holds(begun.with_pieces((Piece(small),)), WHOLE)


def test_a_call_without_its_arguments_is_as_good() -> None:
    begun = replayer_of("qwen_coder", [CODER])
    small = CODER.replace("<parameter=a>\n1\n</parameter>\n", "")
    assert Kept.of(Holds(), begun, WHOLE).holds(begun.with_pieces((Piece(small),)), WHOLE)


@pytest.mark.parametrize("small", [call(), call(arguments="{}"), "Sure.", call("g") + call()])
def test_fewer_and_shorter_calls_are_as_good(small: str) -> None:
    begun = replayer_of("qwen", ["Sure. " + TWO])
    assert Kept.of(Holds(), begun, WHOLE).holds(begun.with_pieces((Piece(small),)), WHOLE)


def test_a_flaw_that_the_first_form_has_may_stay() -> None:
    begun = replayer_of("qwen", ['Hi <tool_call>{"name": "f", "arguments": {"a": '])
    kept = Kept.of(Holds(), begun, WHOLE)
    assert kept.holds(begun.with_pieces((Piece('<tool_call>{"name": "f", "arguments": {'),)), WHOLE)


def test_undeclared_names_are_a_flaw() -> None:
    begun = replayer_of("qwen", [call()], context=Context(tools=(Tool("f"),)))
    own = own_reading(begun.with_pieces((Piece(call("h")),)))
    assert own is not None
    assert dict(own.flaws) == {"unknown_name": 1}


TOKENS = ("<tool_call>", '{"name":', ' "fetch",', ' "arguments":', ' {"a": 1}}', "</tool_call>")


@pytest.mark.parametrize(
    ("first", "small", "stays"),
    [
        ((11,), (19,), True),
        ((11,), (14,), False),  # inside a token
        ((14,), (15,), True),
        ((14,), (5,), False),  # inside a special token
        ((5,), (6,), True),
    ],
)
def test_a_cut_stays_as_honest_as_it_was(first: tuple[int, ...], small: tuple[int, ...], *, stays: bool) -> None:
    begun = replayer_of("qwen", TOKENS)
    assert Kept.of(Holds(), begun, cut_at(first)).holds(begun, cut_at(small)) is stays


@pytest.mark.parametrize(
    ("first", "small", "stays"),
    [((11,), (11,), True), ((11,), (19,), False), ((19,), (11,), True), ((11, 19), (19,), True), ((14,), (5,), False)],
)
def test_a_cut_at_a_marker_stays_at_that_marker(first: tuple[int, ...], small: tuple[int, ...], *, stays: bool) -> None:
    begun = replayer_of("qwen", TOKENS)
    shorter = begun.with_pieces((*map(Piece, TOKENS[:3]), Piece(' "arguments":'), Piece(" {}}"), Piece("</tool_call>")))
    assert Kept.of(Holds(), begun, cut_at(first)).holds(shorter, cut_at(small)) is stays


def test_cuts_that_make_no_difference_are_left_out_before_their_places_count() -> None:
    begun = replayer_of("qwen", TOKENS)
    kept = Kept.of(Holds(), begun, cut_at((11, 19)))
    assert kept.holds(begun, cut_at((11,)))
    assert not kept.holds(begun.with_pieces((*begun.pieces[:4], Piece(" {}}"), begun.pieces[5])), cut_at((19,)))


@pytest.mark.parametrize(
    ("cut", "place"),
    [
        (5, {("<tool_call>", "inside")}),
        (11, {("<tool_call>", "behind")}),
        (19, set()),
        (51, {("</tool_call>", "before")}),
        (63, {("</tool_call>", "behind")}),
        (64, {("<b>", "inside")}),
        (66, set()),  # what only looks like a marker is one where it is cut apart
    ],
)
def test_where_a_cut_stands(cut: int, place: set[tuple[str, str]]) -> None:
    given = replayer_of("qwen", [*TOKENS, "<b>", "!"])
    assert cut_places(given, cut_at((cut,))) == {frozenset(place)}


@pytest.mark.parametrize(
    ("first", "small", "kept"), [((5,), (5,), True), ((5,), (6,), True), ((11,), (5,), False), ((19,), (64,), False)]
)
def test_no_marker_is_cut_apart_that_was_whole(first: tuple[int, ...], small: tuple[int, ...], *, kept: bool) -> None:
    given = replayer_of("qwen", [*TOKENS, "<b>", "!"])
    assert are_kept(cut_places(given, cut_at(small)), cut_places(given, cut_at(first))) is kept


def test_where_no_format_is_known_only_the_cuts_are_kept() -> None:
    begun = replayer_of("qwen", TOKENS, format=None)
    kept = Kept.of(Holds(), begun, cut_at((19,)))
    assert kept.own is None
    assert kept.holds(begun.with_pieces((Piece("}"), Piece("{"))), cut_at((1,)))


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        ("Hi", "Hi assistant", ("content", "gained", "word")),
        ("Hi", "Hi<|start|>", ("content", "gained", "<|start|>")),
        ("Hi all", "Hi", ("content", "lost", "word")),
        ("Hi <", "Hi", ("content", "lost", "sign")),
        ("ab", "ba", ("content", "changed", "word")),
    ],
)
def test_what_is_gained_is_told_from_what_is_lost(right: str, wrong: str, kind: tuple[str, ...]) -> None:
    assert kind in kind_of(Message(content=wrong), Message(content=right), EXACT)
    assert kind_of(Message(content=right), Message(content=right), EXACT) == frozenset()


ONE, OTHER, LAST = (ToolCall("", name, "{}") for name in "fgh")


@pytest.mark.parametrize(
    ("left", "other"),
    [([ONE], [LAST]), ([ONE], [OTHER]), ([OTHER], [LAST]), ([], [ONE]), ([ONE, OTHER], [ONE, LAST])],
)
def test_which_calls_are_lost_is_told_apart(left: list[ToolCall], other: list[ToolCall]) -> None:
    right = Message(tool_calls=[ONE, OTHER, LAST])
    kinds = [kind_of(Message(tool_calls=calls), right, EXACT) for calls in (left, other)]
    assert kinds[0] != kinds[1]
    shorter = Message(tool_calls=[ONE, OTHER])
    assert kind_of(Message(tool_calls=[ONE]), shorter, EXACT) == kind_of(Message(tool_calls=[ONE]), right, EXACT)


def test_a_call_sent_as_text_is_told_from_one_that_is_lost() -> None:
    right = Message(tool_calls=[ToolCall("", "f", "{}")])
    sent, lost = Message(content=call()), Message()
    assert kind_of(sent, right, EXACT) != kind_of(lost, right, EXACT)


class LeaksRole:
    """A harmony parser that sends the role as content where a delta begins with it, and a marker that is cut."""

    def begin(self, context: Context) -> None:
        self.inner, self.assembler = build(get_format("harmony")), Assembler()
        self.inner.begin(context)

    def feed(self, delta: Delta) -> MessageDelta | None:
        sent, text = self.assembler.add(self.inner.feed(delta)), delta.text
        leaked = "assistant" if text.startswith("assistant") else text if text.endswith("<|start|") else ""
        if leaked:
            sent = sent or MessageDelta()
            sent.content = (sent.content or "") + leaked
        return sent

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.assembler.add(self.inner.finish(reason))


HARMONY = (
    *("<|channel|>", "analysis", "<|message|>", "Hm", ".", "<|end|>", "<|start|>", "assistant", "<|channel|>"),
    *("final", "<|message|>", "Hello", ".", "<|end|>"),
)


@pytest.mark.replays
def test_a_leak_of_a_word_between_tokens_stays_one() -> None:
    fmt = get_format("harmony")
    pieces = tuple([Piece(token) for token in HARMONY])
    given = Replayer(
        lambda: BlackBox("leaks", LeaksRole()),
        pieces,
        black_box=True,
        terminals=fmt.terminals,
        format=fmt,
        policy=policies(fmt),
    )
    search = Search(given, only=["chunking"], max_replays=100)
    assert list(search.run())
    small = search.found().minimized
    assert small is not None
    assert "assistant" in small.text
    assert not small.never_read
    (cut,) = small.chunking.cuts or (small.text.index("assistant"),)
    assert small.text[cut:].startswith("assistant")


class Wrong(LeaksRole):
    """A parser that leaves out what it should send."""

    def feed(self, delta: Delta) -> MessageDelta | None:
        return None


@pytest.mark.replays
def test_a_small_form_that_is_never_read_rightly_is_said_to_be() -> None:
    fmt = get_format("harmony")
    tokens = ("<|channel|>", "final", "<|message|>", "Hello", ".", "<|end|>")
    black = Replayer(
        lambda: BlackBox("wrong", Wrong()), tuple(map(Piece, tokens)), black_box=True, format=fmt, policy=policies(fmt)
    )
    search = Search(black, only=["all_output_lost", "spans_cover_input"], max_replays=60)
    assert list(search.run())
    found = search.found()
    assert found.minimized is not None
    assert found.minimized.never_read
    assert (
        found.verdict.sentences[-1]
        == "The smallest form of this is read rightly under no chunking that a server can send."
    )


def test_what_some_chunking_reads_rightly_it_still_does() -> None:
    begun = replayer_of("qwen", TOKENS)
    kept = Kept.of(Holds(), begun, WHOLE)
    assert kept.reads is not None
    wrong = begun.with_parser(maker(get_format("passthrough")))
    assert not kept.holds(wrong, WHOLE)
    begins_wrong = Kept.of(Holds(), wrong, WHOLE)
    assert begins_wrong.reads is None
    assert begins_wrong.holds(wrong, WHOLE)
    assert begins_wrong.holds(begun, WHOLE)
    assert not begins_wrong.holds(wrong, WHOLE)


def test_a_reading_that_only_some_cuts_give_is_looked_for_among_all() -> None:
    begun = replayer_of("qwen", TOKENS)
    right = len(plain_chunkings(begun))
    kept = Kept(Holds(), (0, True), own_reading(begun), wide=True, read=Read.RIGHTLY)
    assert kept.holds(begun, WHOLE)
    assert kept.replays == 1 <= right
    wide = Kept(Holds(), (0, True), own_reading(begun), wide=True, read=Read.RIGHTLY)
    assert not wide.holds(begun.with_parser(maker(get_format("passthrough"))), WHOLE)


def test_a_finding_of_one_replay_harms_nothing_else_in_a_smaller_form() -> None:
    finding = Finding("arguments_json", "error", "parser", "It is said to fail.")
    target = Finds(finding, EXACT, False)
    assert not target.holds(replayer_of("qwen", TOKENS), WHOLE)
    assert target.harms is None


def test_a_difference_in_calls_is_worth_more_than_one_in_text() -> None:
    calls = Differs(EXACT, frozenset({("calls", "number", -1, False, True)}), (True, True, False, True))
    text = Differs(EXACT, frozenset({"text", ("content", "lost", "word")}), (True, True, False, False))
    assert max([text, calls], key=lambda one: one.worth) is calls


class LosesBangs(Spoilt):
    """No exclamation mark is ever sent; a call that comes in one delta has two objects for arguments."""

    def sent(self, sent: MessageDelta | None, text: str) -> MessageDelta | None:
        for part in sent.tool_calls if sent is not None else ():
            whole = "<tool_call>" in text and "</tool_call>" in text
            part.arguments = (part.arguments or "").replace("!", "") + "{}" * whole
        return sent


@pytest.mark.replays
def test_a_smaller_form_that_some_chunking_reads_rightly_may_lose_another_thing() -> None:
    fmt = get_format("qwen")
    tokens = ("<tool_call>", '{"name": "f", "arguments": ', '{"a": "b!"}}', "</tool_call>")
    given = Replayer(
        lambda: BlackBox("bangs", LosesBangs()),
        tuple(map(Piece, tokens)),
        black_box=True,
        terminals=fmt.terminals,
        format=fmt,
        policy=policies(fmt),
    )
    search = Search(given, only=["chunking"], max_replays=100)
    assert list(search.run())
    small = search.found().minimized
    assert small is not None
    assert "!" not in small.text
    assert not small.never_read
