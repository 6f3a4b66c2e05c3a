"""Whatever an output and its chunking are, a test that it is exported as is read back with the same deltas and ids."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.case import Case, Expect
from parsers.cases.corpus import jsonl
from parsers.cases.expect import accept
from parsers.cases.export.pytest_file import EngineParser, pytest_file
from parsers.cases.export.suite_subject import OWN_IDS, Subject, numbered, object_of, subject_of
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.io import load_case, loads
from parsers.cases.run import run_case
from parsers.intake.suites import suite_in
from parsers.replays.chunking import TRACED, Chunking, apply
from parsers.selection.registry import get_format
from parsers.vocabulary.types import UsageError
from tests.amount import examples
from tests.parsers.cases.test_round_trips import read_back

pytestmark = pytest.mark.replays

MARKERS = ("<tool_call>", "</tool_call>")
CALL = (MARKERS[0], "\n", '{"name": "f", ', '"arguments": {"a": "b"}}', "\n", MARKERS[1])
PARTS = (*MARKERS, "<tool", "l", "ll", " ", "\n", "ab", '"', "{", "ü", "🍰", "漢字", "\u2028", "\\", "")
COUNTS = st.integers(1, 5)
LATE = st.fixed_dictionaries({}, optional={"holdback_chars": COUNTS, "text_delay": COUNTS})
HAS_ID: dict[str, Callable[[int], bool]] = {
    "all": lambda at: True,
    "some": lambda at: at % 3 > 0,
    "none": lambda at: False,
}


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    """An output as text, or as tokens of which all, some or none have an id."""
    drawn = draw(st.lists(st.sampled_from([*[(part,) for part in PARTS], CALL]), min_size=1, max_size=8))
    parts = [part for some in drawn for part in some]
    if not any(parts) or draw(st.booleans()):
        return {"input": {"text": "".join(parts) or "x"}}
    known = {part: number for number, part in enumerate(dict.fromkeys(parts), 7)}
    of = draw(st.sampled_from([*HAS_ID]))
    markers = {part: known[part] for part in MARKERS if part in known and of != "none"}
    tokens = [
        [known[part] if HAS_ID[of](at) or part in markers else None, part]
        for at, part in enumerate(parts)
        if part or of == "all"
    ]
    return {"input": {"tokens": tokens}, "tokenizer": {"vocab": markers}}


@st.composite
def chunkings(draw: st.DrawFn, length: int) -> dict[str, Any]:
    by = draw(st.sampled_from(("token", "char", "whole", "random", "cuts")))
    more: dict[str, Any] = {}
    if by in ("token", "char"):
        more = {"size": draw(COUNTS)}
    elif by == "random":
        more = {"seed": draw(st.integers(0, 99)), "unit": draw(st.sampled_from(("token", "char"))), "max": draw(COUNTS)}
    elif by == "cuts":
        more = {"cuts": sorted(draw(st.lists(st.integers(0, length), max_size=6)))}
    return {"by": by, **more, **draw(LATE)}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    output = draw(inputs())
    told = output["input"]
    length = len(told.get("text", "")) or sum(len(text) for _, text in told["tokens"])
    return load_case(
        {
            "schema": 1,
            "title": "Any output",
            "parser": {"name": "qwen"},
            "source": {"kind": "token_ids"},
            **output,
            "tools": [{"name": "f"}],
            "replay": [draw(chunkings(length))],
        }
    )


def subject(case: Case, engine: str = "") -> Subject:
    run = run_case(case, compare=False)
    return subject_of(run, expect=case.known.expect or accept(run.trace.message), engine=engine)


def expected(expect: Expect) -> tuple[Any, ...]:
    calls = [(call.name, call.raw if object_of(call) is None else object_of(call)) for call in expect.tool_calls or ()]
    return expect.content or "", calls


def tokens(found: Any) -> tuple[Any, ...]:
    """Tokens and deltas. Where some ids are made they are all made again: what is one token stays one, and tokens
    without a text are gone."""
    if max(number for number, _ in found.tokens) < OWN_IDS:
        deltas = [(text, numbers) for text, numbers in found.deltas if text or numbers]
        return found.tokens, deltas, found.sizes
    seen = dict.fromkeys([number for number, text in found.tokens if text])
    made = {number: at for at, number in enumerate(seen)}
    parts = [(text, [made[one] for one in numbers if one in made]) for text, numbers in found.deltas]
    told = [bool(text) for _, text in found.tokens]
    before = found.sizes or ()
    sizes = [sum(told[end - size : end]) for size, end in zip(before, accumulate(before), strict=True)]
    shown = [(made[number], text) for number, text in found.tokens if text]
    return shown, [(text, numbers) for text, numbers in parts if text or numbers], [size for size in sizes if size]


SAID: dict[str, Callable[[Subject], Any]] = {
    "vllm": lambda found: tokens(found.tokens)[:2],
    "vllm_format": lambda found: tokens(found.cut_tokens),
}


@pytest.mark.parametrize("engine", ["", "vllm"])
@pytest.mark.parametrize("target", SAID)
@examples(60)
@given(case=cases())
def test_any_output_is_read_back_from_a_suite_of_vllm(target: str, engine: str, case: Case) -> None:
    found = subject(case, engine)
    try:
        text = suite_file(SUITES[target], found).text
    except UsageError:
        return
    read = read_back(text, ".py")
    back = subject(read, engine)
    assert read.text() == case.text()
    assert SAID[target](back) == SAID[target](found)
    assert expected(back.expect) == expected(found.expect)


@examples(60)
@given(case=cases())
def test_any_output_is_read_back_from_a_suite_of_dynamo(case: Case) -> None:
    found = subject(case)
    read = read_back(suite_file(SUITES["dynamo"], found).text, ".yaml")
    assert [one.text for one in read.input.deltas or () if one.text] == [text for text in found.chunks if text]
    assert expected(subject(read).expect) == expected(found.expect)


@pytest.mark.parametrize("engine", ["", "vllm"])
@examples(60)
@given(case=cases())
def test_any_output_is_read_back_from_a_test_of_its_own(engine: str, case: Case) -> None:
    run = run_case(case, compare=False)
    said = case.model_copy(update={"expect": accept(run.trace.message)})
    tested = EngineParser("vllm", "hermes", get_format("qwen")) if engine else None
    back = read_back(pytest_file(said, run.pieces, tested=tested), ".py")
    assert (back.text(), back.replay, back.expect, back.mode()) == (case.text(), case.replay, said.expect, case.mode())
    fed = [
        [(one.text, one.token_ids) for one in apply(case.replay[0], numbered(pieces), case.mode(), halves=bool(engine))]
        for pieces in (run.pieces, back.pieces() or ())
    ]
    assert fed[0] == fed[1]
    assert run_case(back, compare=False).trace.message == run.trace.message


@examples(60)
@given(case=cases())
def test_any_case_is_read_back_from_a_line(case: Case) -> None:
    (body,) = suite_in(jsonl(case).encode()).cases.values()
    assert loads(body) == case


def test_a_text_has_one_id_and_an_id_one_text_wherever_the_output_is_cut() -> None:
    """A blank is a token here and a part of others there."""
    text = f"ab {''.join(CALL)} z"
    for replay in (
        {"by": "char", "size": 2},
        *[{"by": "random", "seed": seed, "unit": "char", "max": 3} for seed in range(6)],
    ):
        data = {"schema": 1, "title": "a", "parser": {"name": "qwen"}, "input": {"text": text}, "replay": [replay]}
        found = subject(load_case(data), "vllm").tokens
        assert (
            len({*found.tokens}) == len({number for number, _ in found.tokens}) == len({one for _, one in found.tokens})
        )
        assert [number for number, _ in found.tokens] == [number for _, ids in found.deltas for number in ids]


def test_a_token_of_a_server_that_text_cuts_is_fed_with_its_first_part() -> None:
    data = {"schema": 1, "parser": {"name": "qwen"}, "source": {"kind": "token_ids"}, "input": {"tokens": [[7, "abc"]]}}
    found = subject(load_case({**data, "replay": [{"by": "char", "size": 2}]}))
    assert found.tokens.tokens == ((7, "abc"),)
    assert (found.tokens.deltas, found.tokens.sizes) == ((("ab", (7,)), ("c", ())), None)
    (start, rest) = found.cut_tokens.tokens
    assert (start[1], rest[1], 7 in (start[0], rest[0]), found.cut_tokens.sizes) == ("ab", "c", False, (1, 1))


def test_a_marker_that_a_server_sent_has_the_id_that_it_sent() -> None:
    tokens = [[9, "<tool_call>"], [None, "<tool_call>"]]
    data = {"schema": 1, "parser": {"name": "qwen"}, "source": {"kind": "token_ids"}, "input": {"tokens": tokens}}
    found = subject(load_case(data)).tokens
    assert (found.vocabulary["<tool_call>"], [number for number, _ in found.tokens]) == (9, [9, 9])


def test_a_test_of_an_engine_has_the_whole_text_of_a_token_that_a_chunking_cuts() -> None:
    data = {"schema": 1, "parser": {"name": "qwen"}, "source": {"kind": "token_ids"}, "input": {"tokens": [[7, "abc"]]}}
    tested = EngineParser("vllm", "hermes", get_format("qwen"))
    for chunkings in ([TRACED, Chunking(by="char")], [Chunking(by="char"), TRACED]):
        text = pytest_file(load_case({**data, "expect": {"content": "abc"}}), tested=tested, chunkings=chunkings)
        assert "TOKENS = {\n  7: 'abc',\n}" in text
