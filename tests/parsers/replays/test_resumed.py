"""Replays that are read only beside their cuts give what replays in full give, be the parser right or broken."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from parsers.arguments.tagged import Tagged
from parsers.cases.written.dialects import DIALECTS
from parsers.cases.written.notation import Call, Spoken
from parsers.checks.metamorphic_output import made_up_call
from parsers.machine.calls import Calls
from parsers.machine.lexer import Scope
from parsers.machine.machine import Machine
from parsers.machine.stages import PlainContent
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Outcome, Replayer
from parsers.replays.resumed import Resumed
from parsers.search.sweep import marker_spans
from parsers.selection.registry import get_format, maker, policies
from parsers.vocabulary.types import Context, Delta, Piece, Tool
from parsers.wrappers.fallback import Fallback
from tests.amount import every
from tests.corpus import case_named, case_names
from tests.growth import assert_linear, seconds
from tests.parsers.test_case_files import outputs

CASES = case_names(without=("recorded", "decoding", "fallback", "response_template"))
SHORT = 7  # characters of a long delta where outputs are short
EACH = 16  # places at which each output of the corpora is cut

QWEN = 'Let me see. <tool_call>\n{"name": "f", "arguments": {"a": "x y", "b": [1, 2]}}\n</tool_call>\nNow then.'
CODER = "Hi.\n<tool_call>\n<function=f>\n<parameter=a>\nx yz\ny \n</parameter>\n</function>\n</tool_call>\nBye now."


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deltas of few characters are long."""
    set_stride(monkeypatch, SHORT)


def set_stride(monkeypatch: pytest.MonkeyPatch, characters: int) -> None:
    monkeypatch.setattr(Machine, "stride", characters)


def replayer(name: str, text: str, context: Context | None = None, **policy: str) -> Replayer:
    fmt = get_format(name)
    return Replayer(maker(fmt, policies(fmt, policy)), (Piece(text),), context or Context())


def in_full(made: Replayer, cuts: Sequence[int]) -> Outcome:
    return made.outcome(Chunking(by="cuts", cuts=tuple(cuts)))


def places(made: Replayer) -> list[int]:
    """Where the output can be cut."""
    spans = marker_spans(made.pieces) if made.mode == "ids" else []
    return [cut for cut in range(1, len(made.text)) if not any(start < cut < end for start, end in spans)]


def require_the_same(made: Replayer, trials: Sequence[Sequence[int]]) -> None:
    resumed = Resumed(made)
    assert resumed.able
    for cuts in trials:
        found, expected = resumed.outcome(cuts), in_full(made, cuts)
        assert found is not None
        assert (found.message, found.deltas) == (expected.message, expected.deltas), cuts


def corpus_replayers(name: str) -> list[Replayer]:
    found = [Replayer(o.make, o.pieces, o.context, mode=o.mode, markers=o.markers) for o in outputs(case_named(name))]
    return [made for made in found if made.text and Resumed(made).able]


@pytest.mark.replays
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", every(40, CASES, start=1))
def test_a_case_cut_anywhere_gives_what_a_replay_in_full_gives(name: str) -> None:
    source = random.Random(name)
    for made in corpus_replayers(name):
        free = places(made)
        ends = [0, *free, len(made.text)]
        halves = source.sample(free, min(EACH, len(free)))
        parts = [sorted(source.choices(ends, k=source.randint(2, 5))) for _ in range(EACH // 4)]
        require_the_same(made, [*((cut,) for cut in halves), *parts])


@pytest.mark.replays
@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", every(40, CASES, start=11))
def test_a_case_cut_off_anywhere_gives_what_a_replay_in_full_gives(name: str) -> None:
    for made in corpus_replayers(name):
        whole, resumed = made.outcome(WHOLE).message, Resumed(made)
        for cut in random.Random(name).sample(places(made), min(EACH // 2, len(places(made)))):
            expected = made.changed(((cut, len(made.text), ""),)).outcome(WHOLE).message
            found = resumed.cut_off(cut)
            assert found is not None
            assert found.message == expected
            told = list(resumed.telling([cut], whole.tool_calls))
            assert told or made_up_call(expected, whole) is None


@pytest.mark.usefixtures("short")
def test_an_output_of_recorded_tokens_is_cut_where_they_can_be() -> None:
    markers = {"<tool_call>": 1, "</tool_call>": 2}
    texts = re.split(r"(</?tool_call>|\s)", QWEN)
    pieces = [
        Piece(one, markers.get(one, 9), None, "added" if one in markers else "text", True) for one in texts if one
    ]
    made = replace(replayer("qwen", QWEN), pieces=tuple(pieces), mode="ids", markers=markers)
    require_the_same(made, [(cut,) for cut in places(made)])


TOOL = Tool("f", {"properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "v": {"type": ["null", "string"]}}})
TYPED = Context(tools=(TOOL,), reasoning_open=True)
CALLS = [
    Call("f", {"a": 'It is \\ "so",\n and <b>more</b> \n', "n": 12, "v": "a value that waits"}),
    Call("f", {"a": ""}),
]
SPOKEN = Spoken(["Let me see. ", " And then, \n", "\n Done. "], CALLS, reasoning="Some thought. ")


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("invalid", ["lenient", "strict"])
@pytest.mark.parametrize("name", ["qwen", "qwen_coder", "glm47_moe", "minimax_m3", "gemma4", "pythonic", "kimik2"])
@pytest.mark.replays
def test_values_that_wait_and_calls_that_are_judged_wait_in_the_state(name: str, invalid: str) -> None:
    text = DIALECTS[name].write(SPOKEN)
    made = replayer(DIALECTS[name].parser, text, TYPED, invalid_call=invalid, **DIALECTS[name].policy)
    require_the_same(made, [(cut,) for cut in places(made)])


# Broken machines: what they get wrong depends on where a delta ends, at once or much later.


def _never_holds(self: Scope, buffer: str, *_: object) -> int:
    return len(buffer)


def _drops_first(text: Callable[..., None], self: PlainContent, given: str, at: int) -> None:
    text(self, given[1:] if given[:1] in "Nt" else given, at)


def _counts_deltas(text: Callable[..., None], self: PlainContent, given: str, at: int) -> None:
    self._called += 1  # type: ignore[assignment]
    text(self, given if self._called % 3 else given.upper(), at)


def _goes_silent(read: Callable[..., None], self: Calls, kind: Any, text: str, at: int) -> None:
    self._kept_at = -2 if text.startswith("see") else self._kept_at
    if self._kept_at != -2:
        read(self, kind, text, at)


def _loses_letter(value: Callable[..., None], self: Tagged, text: str, at: int) -> None:
    value(self, text[text.startswith("z") :], at)


BROKEN: Mapping[str, tuple[str, type, str, Any]] = {
    "markers are not held": (QWEN, Scope, "_held", lambda _: _never_holds),
    "a first letter is lost": (QWEN, PlainContent, "text", lambda own: partial(_drops_first, own)),
    "deltas are counted": (QWEN, PlainContent, "text", lambda own: partial(_counts_deltas, own)),
    "what follows is lost": (QWEN, Calls, "read", lambda own: partial(_goes_silent, own)),
    "a letter of a value is lost": (CODER, Tagged, "_value_text", lambda own: partial(_loses_letter, own)),
}


@pytest.mark.parametrize("stride", [SHORT, 25, 96])
@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.replays(but=("a letter of a value is lost-25",))
def test_a_broken_machine_is_found_out_at_the_same_cuts(
    name: str, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_stride(monkeypatch, stride)
    text, owner, method, wrong = BROKEN[name]
    broken = wrong(getattr(owner, method))
    monkeypatch.setattr(owner, method, lambda *given: broken(*given))
    made = replayer("qwen_coder" if text == CODER else "qwen", text)
    require_the_same(made, [(cut,) for cut in places(made)])
    source = random.Random(1)
    require_the_same(made, [sorted(source.choices(range(len(text) + 1), k=3)) for _ in range(100)])
    messages = {repr(in_full(made, (cut,)).message) for cut in places(made)}
    assert len(messages) > 1 or (stride == SHORT and name == "markers are not held")  # there each one is split


@pytest.mark.replays
@pytest.mark.usefixtures("short")
def test_a_call_that_only_a_cut_makes_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine calls every call whole, whatever it has read of it."""
    end = Calls.end
    monkeypatch.setattr(
        Calls, "end", lambda self, start, stop, complete, **how: end(self, start, stop, complete=True, **how)
    )
    made = replayer("qwen", QWEN + QWEN)
    whole = made.outcome(WHOLE).message
    assert len(whole.tool_calls) == 2
    wrong = [cut for cut in places(made) if made_up_call(Resumed(made).cut_off(cut).message, whole) is not None]  # type: ignore[union-attr]
    assert wrong
    assert set(wrong) <= set(Resumed(made).telling(places(made), whole.tool_calls)) < set(places(made))


def test_calls_that_the_whole_output_has_not_are_told() -> None:
    made = replayer("qwen", QWEN)
    after = QWEN.index("Now")
    assert list(Resumed(made).telling([5, after], ())) == [after]


# what is read


def test_only_the_text_beside_a_cut_is_read() -> None:
    made = replayer("qwen", "".join(QWEN for _ in range(40)))
    resumed = Resumed(made)
    assert resumed.characters == 0
    for cut in range(2_000, 2_010):
        resumed.outcome((cut,))
    assert 0 < resumed.characters < 10 * 400 <= len(made.text)
    before = resumed.characters
    assert resumed.outcome(()) == Outcome(made.outcome(WHOLE).message, 1)
    assert resumed.characters == before


def test_a_parser_that_raises_is_left_to_a_replay_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Calls.read

    def fail(self: Calls, kind: Any, text: str, at: int) -> None:
        if text.startswith("me"):
            raise KeyError(text)
        read(self, kind, text, at)

    monkeypatch.setattr(Calls, "read", fail)
    made = replayer("qwen", QWEN)
    resumed = Resumed(made)
    assert resumed.outcome((4,)) is None
    assert resumed.cut_off(4) is not None
    assert list(resumed.telling([3, 4, 5], ())) == []
    assert resumed.outcome((5,)) is not None
    failing = replayer("qwen", "me")
    assert not Resumed(failing).able
    assert resumed.characters >= len(QWEN)


def test_a_cut_off_output_that_raises_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = Calls.finish

    def fail(self: Calls, raw: str) -> None:
        if self.state.name != "NONE":
            raise KeyError(raw)
        finish(self, raw)

    end = Calls.end
    monkeypatch.setattr(Calls, "finish", fail)
    monkeypatch.setattr(
        Calls, "end", lambda self, start, stop, **more: None if more["over"] else end(self, start, stop, **more)
    )
    made = replayer("qwen", QWEN)
    inside, resumed = QWEN.index("arguments"), Resumed(made)
    assert resumed.cut_off(inside) is None
    assert list(resumed.telling([3, inside], ())) == [inside]


class Foreign:
    """A parser with nothing but the interface of all parsers."""

    name, transitions, examined = "foreign", None, 0

    def __init__(self) -> None:
        self.rejected: list[Any] = []

    def begin(self, context: Context, **more: Any) -> None: ...

    def feed(self, delta: Delta) -> list[Any]:
        return []

    def finish(self, reason: str | None = None) -> list[Any]:
        return []

    def view(self) -> Any: ...


def fallback(text: str) -> Replayer:
    return Replayer(lambda: Fallback(get_format("qwen")), (Piece(text),))


DEEP = '<tool_call>{"name": "f", "arguments": ' + "[" * 8_000
UNABLE = {
    "a foreign parser": Replayer(Foreign, (Piece(QWEN),)),  # type: ignore[arg-type]
    "the wrapper": fallback(QWEN),
    "one that waits for the end": replayer("llama", "some text", llama_content="seed_literal"),
    "states that grow and grow": replayer("qwen", DEEP),
    "no output": replayer("qwen", ""),
}


@pytest.mark.parametrize("name", UNABLE)
def test_a_parser_that_cannot_compare_says_so(name: str) -> None:
    resumed = Resumed(UNABLE[name])
    assert not resumed.able
    assert resumed.outcome((1,)) is None
    assert resumed.cut_off(1) is None
    assert list(resumed.telling([1, 2], ())) == [1, 2]


@pytest.mark.linear
@pytest.mark.parametrize("name", ["qwen", "qwen_coder", "llama", "mistral_name", "pythonic", "harmony"])
def test_every_cut_in_two_of_twice_the_output_takes_twice_as_long(name: str) -> None:
    def timed(size: int) -> float:
        calls = [Call("write", {"path": f"{at}.py", "text": 'It is \\ "so".\n' * 20, "n": at}) for at in range(size)]
        text = DIALECTS[name].write(Spoken(["Let me see. ", *[""] * size], calls))
        made = replayer(DIALECTS[name].parser, text, None, **DIALECTS[name].policy)

        def every() -> None:
            resumed = Resumed(made)
            for cut in range(1, len(text)):
                resumed.outcome((cut,))

        return seconds(every)

    assert_linear(timed, (4, 8, 16))
