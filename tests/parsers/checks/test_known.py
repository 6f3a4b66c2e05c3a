"""What is known of an output, worked out in one place, and what stays unsaid without each part of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import characters, replayer_of
from parsers.checks import CHECKS
from parsers.checks.known import Fact, Finish, Known, Origin, Tokens, known_of
from parsers.formats.model import builtin_formats
from parsers.replays.replayer import Replayer
from parsers.vocabulary.types import Piece
from tests.corpus import case_named
from tests.parsers.checks.subjects import without


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


STREAM = [chunk(content="Hi"), chunk("stop")]


def replayer(**given: Any) -> Replayer:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, **given})
    return replayer_of(case, choose(case), case.pieces() or characters(case.text()))


@pytest.mark.parametrize(
    ("given", "known"),
    [
        (
            {"input": {"text": "Hi"}},
            Known(tokens=Tokens.CHARACTERS, stream=False, tools=False, start=False, finish=Finish.ABSENT),
        ),
        (
            {"input": {"text": "Hi"}, "context": {"reasoning_open": False, "finish_reason": "stop"}},
            Known(tokens=Tokens.CHARACTERS, stream=False, tools=False),
        ),
        (
            {"input": {"text": "Hi"}, "context": {"prompt_tail": "<|im_start|>"}, "tools": [{"name": "f"}]},
            Known(tokens=Tokens.CHARACTERS, stream=False, finish=Finish.ABSENT),
        ),
        (
            {"input": {"text": "Hi"}, "tokenizer": {"name": "qwen3"}},
            Known(tokens=Tokens.CHARACTERS, stream=False, tools=False, start=False, finish=Finish.ABSENT),
        ),
        (
            {"input": {"text": "Hi", "stream": STREAM}},
            Known(tokens=Tokens.CHARACTERS, tools=False, start=False),
        ),
        (
            {"input": {"stream": STREAM}, "parser": {"name": "recorded"}},
            Known(False, Tokens.NONE, parser=False, tools=False, start=False, grammar=Origin.UNKNOWN),
        ),
        (
            {"input": {"stream": STREAM[:1]}, "parser": {"name": "recorded"}},
            Known(False, Tokens.NONE, True, False, False, False, Finish.CUT, Origin.UNKNOWN),
        ),
        (
            {"input": {"stream": [{"choices": [{"message": {"content": "Hi"}}]}]}, "parser": {"name": "recorded"}},
            Known(False, Tokens.NONE, True, False, False, False, Finish.ABSENT, Origin.UNKNOWN),
        ),
    ],
)
def test_what_a_case_holds_is_known(given: dict[str, Any], known: Known) -> None:
    found = known_of(replayer(**given))
    assert found == replace(known, grammar=found.grammar if not known.parser else known.grammar)


def test_recorded_ids_are_known() -> None:
    case = case_named("decoding/skip-hides-the-marker")
    found = known_of(replayer_of(case, choose(case), case.pieces() or ()))
    assert (found.has(Fact.RAW, Fact.IDS), found.tokens) == (True, Tokens.RECORDED)


@pytest.mark.parametrize("name", [None, "qwen3", "characters"])
@pytest.mark.parametrize(
    ("pieces", "tokens", "honest"),
    [
        (characters("Hi."), Tokens.CHARACTERS, False),
        ((Piece("Hi"), Piece(".")), Tokens.CUT, True),
        ((Piece("H", 1), Piece("i", 2), Piece(".", 3)), Tokens.CUT, True),
    ],
)
def test_characters_that_stand_for_tokens_are_no_tokens_of_the_model(
    pieces: tuple[Piece, ...], tokens: Tokens, honest: bool, name: str | None
) -> None:
    """Whatever tokenizer the case names: where nobody ran it, its tokens are not known."""
    named = {} if name is None else {"tokenizer": {"name": name}}
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi."}, **named})
    found = replayer_of(case, choose(case), pieces)
    assert (known_of(found).tokens, found.own_tokenizer) == (tokens, honest and name == "qwen3")


def test_a_grammar_is_built_in_or_declared_or_unknown() -> None:
    given = replayer(input={"text": "Hi"})
    own = builtin_formats()["qwen"].model_copy(update={"title": "Mine"})
    assert known_of(given).grammar is Origin.BUILTIN
    assert known_of(replace(given, format=own)).grammar is Origin.DECLARED
    assert known_of(replace(given, format=None)).grammar is Origin.DECLARED
    assert known_of(replace(given, format=None, terminals={})).grammar is Origin.UNKNOWN


@pytest.mark.parametrize("fact", Fact)
def test_without_a_fact_it_is_not_known_and_little_else_is_missing(fact: Fact) -> None:
    everything, less = Known(), without(Known(), fact)
    assert everything.has(*Fact)
    assert not less.has(fact)
    along = {Fact.RAW: {Fact.IDS}}
    assert {*less.lacking(Fact)} == {fact} | along.get(fact, set())


def test_every_check_that_compares_with_the_output_says_so() -> None:
    assert CHECKS["spans_cover_input"].facts == {Fact.RAW}
    assert CHECKS["values_kept"].facts == {Fact.RAW, Fact.GRAMMAR}
    assert CHECKS["chunking"].facts == {Fact.PARSER}
    assert CHECKS["index_dense"].facts == frozenset()
