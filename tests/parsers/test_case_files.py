"""Every case gives what it expects under every chunking, on the wire too, and by the ids of its tokens.

By ids a case is run three times: in the demonstration's tokens, where one message under every chunking is asked for;
with its markers as one id each; and in ordinary tokens of a vocabulary without markers, where the text is searched.
A case of the corpus `ids` is about the very tokens that it holds, so it is run by these alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pytest

from parsers.cases.case import Case
from parsers.cases.expect import differences
from parsers.cases.message_events import events_of
from parsers.compare.divergence import same_message
from parsers.formats.model import Format
from parsers.machine.machine import Machine
from parsers.replays.chunking import Chunking, apply, by_tokens, label
from parsers.replays.replay import parse, replay
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import StreamParser, Trace
from parsers.vocabulary.types import Context, Delta, Message, Mode, Piece, PieceKind
from parsers.wire.chunks import Envelope, chunks
from tests.amount import TIMES, every
from tests.corpus import CORPORA, ROOT, case_named, case_names, corpus_file, dump_corpus, load_corpus
from tests.parsers.wire.client import Client, seen
from webapp.engines import choose
from webapp.tokenizers import get_tokenizer

pytestmark = pytest.mark.replays(each=True)

# A stream is fed in its own tests in what other ways it can be; what is expected of `decoding` follows from a policy.
APART = ("recorded", "decoding", "ids")
TRACED = (
    *(Chunking(by="token", size=size) for size in (1, 2, 3, 7)),
    Chunking(by="whole"),
    Chunking(by="char"),
)
# What a client gets must be the same here too; where each character went is looked at above. A case takes a third of
# them by text and another third by ids.
REPLAYED = (
    *(Chunking(by="random", seed=seed, unit="char" if seed % 2 else "token") for seed in range(4 * TIMES)),
    *(Chunking(by="token", size=size) for size in (5, 11, 23)),
    *(Chunking(by="token", holdback_chars=held) for held in (6, 12, 24)),
    *(Chunking(by="token", text_delay=delay) for delay in (1, 2, 3)),
)


WORDS = re.compile(r"\w+|\W")
BETWEEN_TAGS = {"tagged", "tagged_body", "tagged_pairs", "elements"}
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
    for at, output in enumerate(outputs(case)):
        first = output.trace(TRACED[0])
        assert first.steps == output.read_in_full(TRACED[0]).steps
        for chunking in TRACED:
            trace = output.trace(chunking) if chunking is not TRACED[0] else first
            words = f"{output.mode}, {label(chunking)}"
            assert same_message(first.message, trace.message), words
            assert events_of(first) == events_of(trace), words
            assert not [run for run in trace.partition if run.reason == LOST], words
            if output.mode == "text":
                require_expected(case, trace, words)
                require_wire(trace, words)
        for chunking in every(3, REPLAYED, start=len(name) + at):
            assert same_message(first.message, output.message(chunking)), f"{output.mode}, {label(chunking)}"


@pytest.mark.parametrize("corpus", [corpus for corpus in CORPORA if corpus not in APART])
def test_a_case_gives_what_it_expects_by_markers_that_are_one_id_each_and_by_ordinary_ids(corpus: str) -> None:
    for name in case_names(corpus):
        case = case_named(name)
        for words, output in ((f"{name}, one id each", by_markers(case)), (f"{name}, ordinary ids", by_words(case))):
            require_expected(case, output.trace(TRACED[0]), words)


@pytest.mark.parametrize("name", case_names("ids"))
def test_a_case_of_ids_gives_what_it_expects_under_every_chunking_of_its_tokens(name: str) -> None:
    case = case_named(name)
    output = Output(choose(case).make, case.pieces() or (), case.to_context(), "ids", case.markers() or {})
    assert case.mode() == "ids"
    for chunking in filter(by_tokens, TRACED):
        require_expected(case, output.trace(chunking), label(chunking))
        require_wire(output.trace(chunking), label(chunking))
    for chunking in filter(by_tokens, REPLAYED):
        assert same_message(output.trace(TRACED[0]).message, output.message(chunking)), label(chunking)


def by_words(case: Case) -> Output:
    """The output cut into ordinary tokens, recorded, of a vocabulary that has no markers."""
    choice, text = choose(case), case.text()
    words = tuple([Piece(word, 1, None, "text", True) for word in WORDS.findall(text)])
    return Output(choice.make, words, case.to_context(), "ids", {})


def by_markers(case: Case) -> Output:
    """The output with its markers as one recorded id each, the rest in ordinary tokens.

    A marker that the case reads as text of a value between tags is typed out: by its id it would end the value. A
    marker that the end of the output cuts is no marker of such a vocabulary: a case of that is left as it is.
    """
    choice, text = choose(case), case.text()
    fmt = choice.grammar or choice.format
    whole = [terminal for terminal in fmt.terminals.values() if len(terminal) > 2 and not re.search(r"\s", terminal)]
    known = [*fmt.tokens] or whole
    if not known or "SplitTerminal" in case.flags:
        return by_words(case)
    ids = {marker: 1_000 + at for at, marker in enumerate(sorted(known))}
    typed = _text_of_values(case, fmt)
    found = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))))
    pieces: list[Piece] = []
    at = 0
    for hit in [hit for hit in found.finditer(text) if hit.start() not in typed]:
        pieces += [Piece(word, 1, None, "text", True) for word in WORDS.findall(text[at : hit.start()])]
        token = fmt.tokens.get(hit.group())
        kind: PieceKind = "special" if token is not None and token.special else "added"
        pieces.append(Piece(hit.group(), ids[hit.group()], None, kind, True))
        at = hit.end()
    pieces += [Piece(word, 1, None, "text", True) for word in WORDS.findall(text[at:])]
    return Output(choice.make, tuple(pieces), case.to_context(), "ids", ids)


def _text_of_values(case: Case, fmt: Format) -> set[int]:
    """The places of the output that are text of values between tags."""
    codecs = {state.codec.name for state in fmt.states.values() if state.codec is not None}
    if not codecs & BETWEEN_TAGS:
        return set()
    runs = outputs(case)[0].trace(Chunking(by="whole")).partition
    return {at for run in runs if run.owner == "arguments" for at in range(run.start, run.end)}


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
