"""Variants: what is made of an output, with the proof of each, and within bounds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import replayer_of
from parsers.checks import CHECKS, Subject
from parsers.checks.subject import Replays, Variant, subject_of
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.edits import edited
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.search.variants import KINDS, Bounds, Meters, total, variants
from parsers.search.variants.ground import Ground
from parsers.search.variants.planted import _find_place
from parsers.vocabulary.types import Context, Delta, Message, MessageDelta, Piece

CALL = '<tool_call>\n{"name": "find", "arguments": {"city": "Bern"}}\n</tool_call>'
TYPED = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}


def replayer(text: str, name: str = "qwen", *, engine: str | None = None, **more: Any) -> Replayer:
    parser: dict[str, Any] = {"name": name, "policy": more.pop("policy", {})}
    if engine is not None:
        parser["engine"] = engine
    case = load_case({"schema": 1, "parser": parser, "input": {"text": text}, **more})
    return replayer_of(case, choose(case), tuple([Piece(char) for char in text]))


def ids(text: str) -> Replayer:
    """The same by recorded ids, where each marker is a token."""
    plain = replayer(text)
    markers = {"<tool_call>": 5, "</tool_call>": 6}
    pieces, rest = [], text
    while rest:
        marker = next((marker for marker in markers if rest.startswith(marker)), rest[0])
        special = marker in markers
        pieces.append(
            Piece(marker, markers.get(marker, 100 + ord(marker[0])), None, "added" if special else "text", True)
        )
        rest = rest[len(marker) :]
    return replace(plain, pieces=tuple(pieces), mode="ids", markers=markers)


def made(of: Replayer, *kinds: str, **bounds: Any) -> list[Variant]:
    found = variants(of, of.trace(TRACED), bounds=Bounds(**bounds))
    return [one for one in found if not kinds or one.kind in kinds]


def shown(of: Replayer, one: Variant) -> Any:
    changed = of.with_pieces(edited(of.pieces, one.proof.edits, of.markers))
    context = replace(changed.context, **one.proof.context)
    return changed.with_context(context).outcome(Chunking.model_validate(one.proof.chunking)).message


@pytest.mark.replays
@pytest.mark.parametrize(
    "of", [replayer(f"Hm. {CALL}\n{CALL}", tools=[{"name": "find", "parameters": TYPED}]), ids(CALL)]
)
def test_every_variant_carries_the_proof_that_makes_it(of: Replayer) -> None:
    found = made(of)
    for one in found:
        assert shown(of, one) == one.message, one.label
        json.dumps(one.proof.to_json())
    counts = Counter([one.kind for one in found])
    assert set(KINDS) - set(counts) <= {"start_state", "no_tools", "rerendered"}
    assert abs(total(of, of.trace(TRACED)) - len(found)) < len(found) / 2


@pytest.mark.replays
def test_variants_are_lazy_and_the_same_every_time() -> None:
    of = replayer(CALL)
    trace = of.trace(TRACED)
    first = [one.label for one in islice(variants(of, trace, seed=1), 5)]
    assert first == [one.label for one in islice(variants(of, trace, seed=1), 5)]
    assert [one.kind for one in variants(of, trace)] == sorted(
        [one.kind for one in variants(of, trace)], key=list(KINDS).index
    )


def test_a_parser_that_fails_on_the_output_has_no_variants() -> None:
    class Fails:
        def begin(self, context: Context) -> None:
            pass

        def feed(self, delta: Delta) -> MessageDelta | None:
            raise KeyError("name")

        def finish(self, reason: str | None) -> MessageDelta | None:
            return None

    assert made(replace(replayer(CALL), make=lambda: BlackBox("x", Fails()), black_box=True)) == []


@pytest.mark.replays
def test_an_output_of_two_thousand_characters_is_cut_everywhere_and_a_longer_one_within_bounds() -> None:
    text = CALL.replace("Bern", "x" * (2000 - len(CALL)))
    cuts = {one.proof.edits[0][0] for one in truncations(replayer(text), 2_100_000)}
    assert cuts == set(range(1, len(text)))
    found = truncations(replayer(text * 10), 2_100_000)
    assert sum([one.proof.edits[0][0] for one in found]) < 4_000_000
    beside = text.index("</tool_call>")
    assert {beside - 1, beside, beside + 1} <= {one.proof.edits[0][0] for one in found}


def test_where_there_are_too_many_characters_cuts_keep_near_markers_and_spread_over_the_rest() -> None:
    text = CALL.replace("Bern", "x" * 300)
    cuts = [one.proof.edits[0][0] for one in truncations(replayer(text), 40 * len(text) // 2)]
    beside = text.index("</tool_call>")
    assert {beside - 1, beside, beside + 1} <= set(cuts)
    assert 30 < len(cuts) <= 40
    assert max([b - a for a, b in pairwise([0, *cuts, len(text)])]) < 30


def truncations(of: Replayer, cut: int) -> list[Variant]:
    ground = Ground(of, of.trace(TRACED), bounds=Bounds(cut=cut, streamed=0))
    return list(KINDS["truncated"](ground))


@pytest.mark.replays
def test_a_cut_output_gives_what_is_left() -> None:
    by_cut = {one.proof.edits[0][0]: one for one in made(replayer("Hm. " + CALL), "truncated")}
    assert (by_cut[3].message, by_cut[3].facts) == (Message(content="Hm."), {"policy": None, "allowed": None})
    assert len(by_cut[len(CALL)].message.tool_calls) == 1


@pytest.mark.replays
def test_a_recorded_marker_is_never_cut_and_never_typed_into_a_value() -> None:
    found = made(ids(CALL))
    cuts = {one.proof.edits[0][0] for one in found if one.kind == "truncated"}
    assert not cuts & set(range(1, 11))
    assert 11 in cuts
    assert not [one for one in found if one.kind == "escaped" and one.facts["marker"]]


@pytest.mark.replays
def test_an_appended_call_is_read_by_its_tokens() -> None:
    found = made(ids(CALL), "followed")
    assert {len(one.message.tool_calls) for one in found if not one.facts["changed"]} == {2}


@pytest.mark.parametrize(
    ("text", "name", "syntax"),
    [
        (CALL, "qwen", "json"),
        ("[find(city='Bern')]", "pythonic", "python"),
        ('[find(city="Bern")]', "pythonic", "python"),
        (
            "<tool_call>\n<function=find>\n<parameter=city>\nBern\n</parameter>\n</function>\n</tool_call>",
            "qwen_coder",
            "bare",
        ),
        ('<|tool_call>call:find{city:<|"|>Bern<|"|>}<tool_call|>', "gemma4", "bare"),
        ("<|tool_call>call:find{city:Bern}<tool_call|>", "gemma4", None),
        (CALL.replace("Bern", ""), "qwen", None),
        (CALL.replace("Bern", "city"), "qwen", None),
        (CALL.removesuffix("}}\n</tool_call>"), "qwen", None),
        (CALL.replace('{"city": "Bern"}', "[1]"), "qwen", None),
        ("Bern", "qwen", None),
    ],
)
def test_a_string_argument_is_found_with_its_syntax(text: str, name: str, syntax: str | None) -> None:
    of = replayer(text, name)
    place = _find_place(Ground(of, of.trace(TRACED)))
    assert (place and place.syntax) == syntax
    if place is not None:
        new = of.with_pieces(edited(of.pieces, ((place.start, place.end, place.written('a"b')),)))
        assert json.loads(new.outcome(TRACED).message.tool_calls[0].arguments)["city"] == 'a"b'


@pytest.mark.parametrize(
    ("schema", "free"),
    [
        ({"type": "string"}, True),
        ({}, True),
        ({"type": "string", "enum": ["Bern"]}, False),
        ({"type": "integer"}, False),
        (True, False),
    ],
)
def test_only_an_argument_that_may_be_any_string_is_changed(schema: Any, free: bool) -> None:
    tools = [{"name": "find", "parameters": {"type": "object", "properties": {"city": schema}}}]
    of = replayer(CALL, tools=tools)
    assert (_find_place(Ground(of, of.trace(TRACED))) is not None) == free


def test_where_no_format_is_known_only_what_needs_none_is_tried() -> None:
    found = {one.kind for one in made(replace(replayer(CALL), format=None))}
    assert found == {"reused", "mutated", "truncated"}


def test_with_tool_choice_none_nothing_is_asked_of_calls() -> None:
    found = {one.kind for one in made(replayer(CALL, context={"tool_choice": "none"}))}
    assert found == {"reused", "mutated", "truncated"}


@pytest.mark.parametrize(
    ("of", "kind", "policy"),
    [
        (replayer(CALL), "followed", None),
        (replayer(CALL, engine="fallback"), "followed", "engine=fallback"),
        (replayer(CALL, policy={"recovery": "fail"}), "followed", "recovery=fail"),
        (replayer(CALL, policy={"recovery": "fail"}), "escaped", None),
        (replayer('{"name": "f", "parameters": {}}', "llama", policy={"llama_content": "seed_literal"}), "truncated",
         "llama_content=seed_literal"),
        (replace(replayer(CALL), format=None), "truncated", None),
    ],
)  # fmt: skip
@pytest.mark.replays(
    but=(
        "of4-truncated-llama_content=seed_literal",
        "of1-followed-engine=fallback",
    )
)
def test_a_contract_is_named_where_it_may_decide(of: Replayer, kind: str, policy: str | None) -> None:
    assert {one.facts["policy"] for one in made(of, kind)} == {policy}


@pytest.mark.parametrize(
    ("text", "context", "doubt"),
    [
        ("Hm.</think>Hi", {}, "</think>"),
        ("<think>Hm.</think>Hi", {}, None),
        ("Hi", {}, None),
        ("Hi", {"reasoning_open": True}, "</think>"),
        ("Hm.</think>Hi", {"reasoning_open": True}, None),
        ("Hm.</think>", {"reasoning_open": True}, None),
    ],
)
def test_the_other_start_is_tried_where_the_output_gives_reason_to(
    text: str, context: Mapping[str, Any], doubt: str | None
) -> None:
    of = replayer(text, context=context)
    found = made(of, "start_state")
    assert [one.facts["doubt"] for one in found] == ([] if doubt is None else [doubt])
    subject = Subject(Replays(of.trace(TRACED)), of.context, variants=found)
    notes = [(one.severity, one.about) for one in CHECKS["start_state"](subject)]
    assert notes == ([] if doubt is None else [("info", "request")])


@pytest.mark.parametrize(
    ("text", "context"),
    [("Hm.</think>Hi", {}), ("Hm.</think>Hi", {"reasoning_open": False}), ("Hi", {"reasoning_open": True})],
)
def test_a_start_that_the_request_gives_is_not_called_unknown(text: str, context: Mapping[str, Any]) -> None:
    of = replayer(text, context=context)
    subject = subject_of(of, of.trace(TRACED), of.trace(WHOLE), (), variants=made(of, "start_state"))
    notes = [note.message for note in CHECKS["start_state"](subject)]
    assert [note.startswith("The request says how") for note in notes] == [bool(context)]


@pytest.mark.parametrize(("tail", "channel"), [("<think>\n", "reasoning"), ("assistant\n", "content")])
@pytest.mark.replays
def test_a_known_prompt_says_where_a_plain_word_goes(tail: str, channel: str) -> None:
    of = replayer(CALL, context={"prompt_tail": tail})
    [one] = made(of, "start_state")
    assert one.facts["expected"] == channel
    assert CHECKS["start_state"](Subject(Replays(of.trace(TRACED)), of.context, variants=(one,))) == []


def test_a_parser_without_reasoning_has_one_start() -> None:
    assert made(replayer("Hi", "llama"), "start_state") == []


class Slow:
    """A foreign parser that looks at everything again with each delta, on a clock of its own."""

    now = 0.0

    def begin(self, context: Context) -> None:
        self.text = ""

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.text += delta.text
        Slow.now += len(self.text) / 1e6
        return None

    def finish(self, reason: str | None) -> MessageDelta | None:
        if "fail" in self.text:
            raise KeyError("name")
        return None


def slow(text: str, *, clocked: bool) -> list[Variant]:
    of = replace(replayer(text), make=lambda: BlackBox("slow", Slow()), black_box=True)
    trace = replayer(text).trace(TRACED)
    return [
        one
        for one in variants(of, trace, meters=Meters((lambda: Slow.now) if clocked else None))
        if one.kind == "padded"
    ]


def test_a_clock_times_a_parser_that_counts_nothing() -> None:
    found = slow(CALL, clocked=True)
    assert (found[-1].facts["work"], len(found[-1].facts["times"])) == ((), 4)
    of = replayer(CALL)
    [finding] = CHECKS["linear_arguments"](Subject(Replays(of.trace(TRACED)), variants=found, black_box=True))
    assert "µs" in finding.message


@pytest.mark.parametrize(("text", "clocked"), [(CALL, False), (CALL.replace("find", "fail"), True)])
@pytest.mark.replays
def test_without_a_clock_or_an_end_nothing_is_said_of_time(text: str, clocked: bool) -> None:
    assert {(one.facts["work"], one.facts["times"]) for one in slow(text, clocked=clocked)} == {((), ())}


def test_only_the_kinds_asked_for_are_made_and_one_character_has_no_half() -> None:
    of = replayer("x")
    found = list(variants(of, of.trace(TRACED), kinds=("reused",)))
    assert {(one.kind, one.label) for one in found} == {("reused", "after the same output")}
