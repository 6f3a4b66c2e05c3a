"""Every case gives what it expects under every chunking, on the wire too, and by the ids of its tokens one message."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pytest

from parsers.cases.case import Case
from parsers.cases.expect import differences
from parsers.compare.divergence import same_message
from parsers.machine.machine import Machine
from parsers.replays.chunking import Chunking, apply, by_tokens, label
from parsers.replays.replay import parse, replay
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import StreamParser, Trace
from parsers.vocabulary.types import Context, Delta, Message, Mode, Piece
from parsers.wire.chunks import Envelope, chunks
from tests.corpus import CORPORA, ROOT, case_named, case_names, corpus_file, dump_corpus, load_corpus
from tests.parsers.wire.client import Client, seen
from webapp.engines import choose
from webapp.tokenizers import get_tokenizer

pytestmark = pytest.mark.replays

# A stream is fed in its own tests in what other ways it can be; what is expected of `decoding` follows from a policy.
APART = ("recorded", "decoding")
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


ENVELOPE = Envelope("chatcmpl-1", "some-model", 7)


class Output(NamedTuple):
    """The output of a case in one mode, and what every replay of it is given."""

    make: Callable[[], StreamParser]
    pieces: tuple[Piece, ...]
    context: Context
    mode: Mode
    markers: Mapping[str, int]

    def deltas(self, chunking: Chunking) -> Sequence[Delta]:
        """In text mode, cuts between characters do not depend on the tokens: one piece is cut faster than many."""
        by_pieces = by_tokens(chunking) or chunking.holdback_chars or chunking.text_delay or self.mode == "ids"
        joined = Piece("".join([piece.text for piece in self.pieces]))
        return apply(chunking, self.pieces if by_pieces else (joined,), self.mode)

    def trace(self, chunking: Chunking) -> Trace:
        return replay(self.make(), self.deltas(chunking), self.context, mode=self.mode, markers=self.markers)

    def read_in_full(self, chunking: Chunking) -> Trace:
        """The same without the short way through open text."""
        parser = self.make()
        if isinstance(parser, Machine):
            parser.passes_open_text = False
        return replay(parser, self.deltas(chunking), self.context, mode=self.mode, markers=self.markers)

    def message(self, chunking: Chunking) -> Message:
        return parse(self.make(), self.deltas(chunking), self.context, mode=self.mode, markers=self.markers)


def outputs(case: Case) -> tuple[Output, Output]:
    """Typed text, and the ids that a server recorded for it."""
    choice, context = choose(case), case.to_context()
    adapter = get_tokenizer("embedded", format=choice.format)
    typed = adapter.pieces(case.text())
    recorded = adapter.pieces_of([piece.token_id for piece in typed if piece.token_id is not None], recorded=True)
    markers = adapter.marker_ids
    return Output(choice.make, typed, context, "text", markers), Output(choice.make, recorded, context, "ids", markers)


@pytest.mark.parametrize("name", case_names(without=APART))
def test_a_case_gives_what_it_expects_under_every_chunking_by_text_and_by_ids(name: str) -> None:
    case = case_named(name)
    for output in outputs(case):
        first = output.trace(TRACED[0])
        assert first.steps == output.read_in_full(TRACED[0]).steps
        for chunking in TRACED:
            trace = output.trace(chunking) if chunking is not TRACED[0] else first
            words = f"{output.mode}, {label(chunking)}"
            assert same_message(first.message, trace.message), words
            assert not [run for run in trace.partition if run.reason == LOST], words
            if output.mode == "text":
                require_expected(case, trace, words)
                require_wire(trace, words)
        for chunking in REPLAYED:
            assert same_message(first.message, output.message(chunking)), f"{output.mode}, {label(chunking)}"


def require_expected(case: Case, trace: Trace, words: str) -> None:
    assert case.expect is not None
    wrong = differences(case.expect, trace.message, trace.finish_reason, case.compare)
    assert not wrong, f"{words}: {wrong}"
    assert not trace.steps[-1].holds, words


def require_wire(trace: Trace, words: str) -> None:
    """A client that gets the chunks of the trace puts its message together from them."""
    client = Client()
    found = client.read([chunk.payload for chunk in chunks(trace, ENVELOPE)])
    assert (found, client.finish_reason) == (seen(trace.message), trace.finish_reason), words


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_is_written_as_the_program_writes_it_in_alphabetical_order(corpus: str) -> None:
    text = corpus_file(corpus).read_text(encoding="utf-8")
    cases = load_corpus(text)
    assert text == dump_corpus(cases)
    assert list(cases) == sorted(cases)


def test_every_flag_is_explained_and_used() -> None:
    explained = json.loads((ROOT / "flags.json").read_text(encoding="utf-8"))
    assert set(explained) == {flag for name in case_names() for flag in case_named(name).flags}
