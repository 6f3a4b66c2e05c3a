"""What chunks carried: what leaked is found in one walk, and a chunk that holds nothing says so."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.replays.recorded import ServerStream
from parsers.search.leaked import Leaked
from parsers.vocabulary.types import MessageDelta, Span
from parsers.wire.read import ServerChunk
from tests.growth import assert_linear, seconds
from tests.webapp.page.streams import ROLE, chunk, stream_case
from webapp.page.inspect.chunk_axis import chunk_axis
from webapp.page.inspect.chunks import LEAKED, Recording, carriers, chunk_card, chunk_table, evidence, recording
from webapp.page.inspect.window import Window
from webapp.runs.runner import Runner


def recorded(contents: list[str], stretches: list[Span], payloads: list[dict[str, Any]] | None = None) -> Recording:
    chunks = tuple([ServerChunk(MessageDelta(content=text or None)) for text in contents])
    starts = [0, *accumulate(map(len, contents))][:-1]
    known = carriers(chunks, starts, stretches)
    return Recording(
        ServerStream(chunks), payloads or [{}] * len(chunks), None, Leaked(tuple(stretches)), starts, known
    )


def spans(edges: set[int]) -> list[Span]:
    ordered = sorted(edges)
    return [Span(*pair) for pair in zip(ordered[::2], ordered[1::2], strict=False)]


def window(last: int) -> Window:
    return Window(first=1, last=last, token_first=0, token_last=0, start=0, end=0)


@pytest.mark.replays
@given(st.lists(st.text("ab", max_size=4), min_size=1, max_size=8), st.sets(st.integers(0, 24)).map(spans))
def test_the_chunks_that_carry_what_leaked_and_their_share_of_it(texts: list[str], stretches: list[Span]) -> None:
    found = recorded(texts, stretches)
    lost = {place for span in stretches for place in range(*span)}
    rows = chunk_table(found, window(len(texts))).rows
    for row, text, start in zip(rows, texts, found.starts, strict=True):
        bits = [bit for one in row.carried for bit in one.bits]
        assert "".join([bit.text for bit in bits]) == text
        roles = [bit.role for bit in bits for _ in bit.text]
        assert roles == [LEAKED if start + at in lost else "content" for at in range(len(text))]
        assert not text or (row.number in found.carriers) == (LEAKED in roles)


def drawn(found: Recording) -> object:
    return chunk_table(found, window(70)), chunk_axis(found, 1), evidence(found, has_raw=False)


@pytest.mark.linear
def test_twice_the_chunks_and_stretches_take_about_twice_the_time() -> None:
    def timed(size: int) -> float:
        stretches = [Span(8 * at, 8 * at + 4) for at in range(size)]
        return seconds(lambda: drawn(recorded(["12345678"] * size, stretches)))

    assert_linear(timed, (4_000, 8_000, 16_000))


@pytest.mark.linear
def test_a_chunk_of_many_stretches_is_split_in_linear_time() -> None:
    def timed(size: int) -> float:
        found = recorded(["12345678" * size], [Span(8 * at, 8 * at + 4) for at in range(size)])
        return seconds(lambda: [chunk_card(found, 1) for _ in range(20)])

    assert_linear(timed, (4_000, 8_000, 16_000))


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (ROLE, ["role"]),
        ({"choices": []}, []),
        ({}, []),
        (chunk({}), []),
        ({"choices": [], "usage": {"completion_tokens": 9}}, ["usage"]),
        ({"choices": [], "usage": {"total_tokens": 9}}, []),
        ({"choices": [], "usage": {"completion_tokens": None}}, []),
        ({"choices": [], "usage": None}, []),
    ],
)
def test_a_chunk_is_labelled_by_what_it_holds(payload: dict[str, Any], words: list[str]) -> None:
    found = recorded([""], [], [payload])
    assert [one.words for one in chunk_table(found, window(1)).rows[0].carried] == words
    card = chunk_card(found, 1)
    said = card.announce.removeprefix("Chunk 1 of 1. ")
    assert said.startswith(f"{words[0].capitalize()}: " if words else "Nothing for the message.")
    assert ("nothing for the message" in card.summary) == (not words)


def test_the_chunks_that_carry_what_leaked_are_looked_for_once_for_a_run(runner: Runner) -> None:
    left = ['Hi <tool_call>{"name": "f", ', '"arguments": {}}</tool_call>']
    run = runner.run(stream_case([ROLE, *[chunk({"content": text}) for text in left], chunk({}, "stop")]))
    known = runner.checked(run)
    first, again = recording(run, known), recording(run, known)
    assert first is not None
    assert again is not None
    assert first.carriers == [2, 3]
    assert again.carriers is first.carriers


def test_what_is_noted_of_a_chunk_is_said_once_on_its_card(runner: Runner) -> None:
    call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    run = runner.run(stream_case([ROLE, chunk({"tool_calls": [call]}), chunk({"content": "x"}), chunk({}, "stop")]))
    found = recording(run, runner.checked(run))
    assert found is not None
    assert any(one.check == "chunk_shape" for one in found.findings[2])  # it is listed with the findings
    said = [words for _, words in chunk_card(found, 2).notes]
    assert [words for words in said if "no index" in words and not words.startswith("A client")] == [
        "A part of a call has no index; it is taken for call 0."
    ]
