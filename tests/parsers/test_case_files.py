"""Every case file gives what it expects under every chunking, in text mode and, where markers are tokens, by ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from parsers.cases.engines import Choice
from parsers.cases.expect import differences
from parsers.cases.io import dumps, loads
from parsers.cases.model import Case
from parsers.compare.divergence import same_message
from parsers.replays.chunking import Chunking, apply, label
from parsers.replays.replay import parse, replay
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message, Mode, Piece
from webapp.engines import choose
from webapp.tokenizers import TokenizerAdapter, get_tokenizer

pytestmark = pytest.mark.replays

ROOT = Path(__file__).parent.parent / "cases"
PLAYED = ROOT / "recorded"  # streams: what of them can be fed in other ways is fed in its own tests
DECODED = ROOT / "decoding"  # what is expected there follows from a decode policy, not from the text
FILES = sorted(path for path in ROOT.rglob("*.case.json") if path.parent not in (PLAYED, DECODED))
TRACED = (
    *(Chunking(by="token", size=size) for size in (1, 2, 3, 5, 11, 23)),
    Chunking(by="whole"),
    Chunking(by="char"),
)
# What a client gets must be the same here too; where each character went is looked at above.
REPLAYED = (
    *(Chunking(by="random", seed=seed, unit="char" if seed % 2 else "token") for seed in range(20)),
    *(Chunking(by="token", holdback_chars=held) for held in (6, 12, 24)),
    *(Chunking(by="token", text_delay=delay) for delay in (1, 2, 3)),
)


each_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}/{path.name.removesuffix('.case.json')}"
)


@cache
def load(path: Path) -> Case:
    return loads(path.read_bytes())


def traces(case: Case, mode: Mode) -> Iterator[tuple[str, Trace]]:
    choice, adapter, pieces = fed(case, mode)
    for chunking in TRACED:
        deltas = apply(chunking, pieces, mode)
        trace = replay(choice.make(), deltas, case.to_context(), mode=mode, markers=adapter.marker_ids)
        yield f"{mode}, {label(chunking)}", trace


def messages(case: Case, mode: Mode) -> Iterator[tuple[str, Message]]:
    choice, adapter, pieces = fed(case, mode)
    for chunking in REPLAYED:
        deltas = apply(chunking, pieces, mode)
        message = parse(choice.make(), deltas, case.to_context(), mode=mode, markers=adapter.marker_ids)
        yield f"{mode}, {label(chunking)}", message


def fed(case: Case, mode: Mode) -> tuple[Choice, TokenizerAdapter, tuple[Piece, ...]]:
    choice = choose(case)
    adapter = get_tokenizer("embedded", format=choice.format)
    pieces: tuple[Piece, ...] = adapter.pieces(case.text())
    if mode == "ids":
        pieces = adapter.pieces_of([piece.token_id for piece in pieces if piece.token_id is not None], recorded=True)
    return choice, adapter, pieces


@each_file
def test_a_case_file_gives_what_it_expects_under_every_chunking(path: Path) -> None:
    case = load(path)
    assert case.expect is not None
    found = list(traces(case, "text"))
    for name, trace in found:
        wrong = differences(case.expect, trace.message, trace.finish_reason, case.compare)
        assert not wrong, f"{name}: {wrong}"
        assert not [run for run in trace.partition if run.reason == LOST], name
        assert not trace.steps[-1].holds, name
    for name, message in messages(case, "text"):
        assert same_message(found[0][1].message, message), name


@each_file
def test_recorded_ids_give_one_message_under_every_chunking(path: Path) -> None:
    found = list(traces(load(path), "ids"))
    first = found[0][1]
    for name, trace in found:
        assert same_message(first.message, trace.message), name
        assert not [run for run in trace.partition if run.reason == LOST], name
    for name, message in messages(load(path), "ids"):
        assert same_message(first.message, message), name


@each_file
def test_a_case_file_is_written_as_the_program_writes_it(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == dumps(load(path))


def test_every_flag_is_explained_and_used() -> None:
    explained = json.loads((ROOT / "flags.json").read_text(encoding="utf-8"))
    assert set(explained) == {flag for path in ROOT.rglob("*.case.json") for flag in load(path).flags}
