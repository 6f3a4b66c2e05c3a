"""Decode policies in cases: what a run, a search and the smallest case make of them."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import choose
from parsers.cases.expect import differences
from parsers.cases.find import CaseSearch, minimized_case
from parsers.cases.io import load_case
from parsers.cases.run import IGNORED, replayer_of, run_case, sent_of, settled_case
from parsers.replays.chunking import Chunking, Sent
from parsers.search.found import Minimized
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Piece
from parsers.wire.chunks import Envelope, chunks
from tests.corpus import case_named, case_names
from tests.parsers.wire.client import Client, seen

TOKENS: list[list[Any]] = [
    [1, "a b"],
    [2, "<tool_call>", {"kind": "added"}],
    [3, '{"name": "f"}'],
    [4, "</tool_call>", {"kind": "added"}],
    [5, "", {"hex": "f09f", "kind": "partial"}],
    [6, "\ufffd", {"hex": "98", "kind": "partial"}],
]


def case(decode: dict[str, Any] | None = None, source: str = "token_ids", **more: Any) -> Case:
    data = {"schema": 1, "source": {"kind": source}, "parser": {"name": "qwen"}, "input": {"tokens": TOKENS}, **more}
    return load_case(data if decode is None else {**data, "decode": decode})


@pytest.mark.parametrize("name", case_names("decoding"))
def test_a_decoded_case_gives_what_it_expects_under_every_chunking(name: str) -> None:
    given = case_named(name)
    run = run_case(given)
    assert given.expect is not None
    for trace in (run.trace, run.whole):
        assert not differences(given.expect, trace.message, trace.finish_reason, given.compare)
        assert Client().read([chunk.payload for chunk in chunks(trace, Envelope("x", "m", 0))]) == seen(trace.message)
    assert all(other.same for other in run.compared)
    assert not [finding.check for finding in run.findings]


def test_text_comes_late_and_ids_on_time() -> None:
    run = run_case(case({"policy": "text_streamer"}))
    sent = [run.trace.text[step.span.start : step.span.end] for step in run.trace.steps]
    assert sent == ["a ", "", 'b<tool_call>{"name": ', "", "", '"f"}</tool_call>\ufffd', ""]
    assert [step.ids for step in run.trace.steps] == [(1,), (2,), (3,), (4,), (5,), (6,), ()]
    assert "ids_with_text" in run.holding


def test_what_a_policy_loses_is_not_in_the_output() -> None:
    run = run_case(case({"policy": "vllm_fast"}))
    assert run.trace.text.endswith("</tool_call>")
    assert run.decoded is not None
    assert run.decoded.summary() == ("3 bytes lost by policy at the end",)
    assert [piece.text for piece in run.stored][-2:] == ["", "\ufffd"]


def test_the_end_token_of_the_format_is_dropped() -> None:
    given = case({"drop_eos": True}, input={"tokens": [[1, "a"], [2, "<|im_end|>", {"kind": "special"}]]})
    assert run_case(given).trace.text == "a"


def test_cuts_are_offsets_of_the_decoded_text() -> None:
    given = case({"skip_special_tokens": True}, input={"tokens": [[1, "<s>", {"kind": "special"}], [2, "abc"]]})
    run = run_case(given.model_copy(update={"replay": (Chunking(by="cuts", cuts=(2,)),)}))
    assert [step.span for step in run.trace.steps[:2]] == [(0, 2), (2, 3)]


@pytest.mark.parametrize(
    ("deltas", "sent"),
    [
        ([{"text": "ab", "ids": [1]}, {"text": "", "ids": [2]}], Sent((2, 0), (1, 1))),
        ([{"text": "ab", "ids": [1, 2]}, {"text": ""}], Sent((2, 0), (2, 0))),
        ([{"text": "a", "ids": [1]}, {"text": "b"}], Sent((1, 1))),
    ],
)
def test_recorded_deltas_tell_their_lengths_and_ids(deltas: list[dict[str, Any]], sent: Sent) -> None:
    assert sent_of(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"deltas": deltas}})) == sent


def test_without_recorded_deltas_nothing_was_sent() -> None:
    assert sent_of(case()) is None


def test_a_case_is_replayed_as_it_was_recorded() -> None:
    deltas = [{"text": "a", "ids": [1, 2]}, {"text": " b<tool_call>", "ids": []}, {"text": "x", "ids": [3]}]
    tokens = [*TOKENS[:2], [3, "x"]]
    given = case(input={"tokens": tokens, "deltas": deltas}, replay=[{"by": "recorded"}])
    run = run_case(given)
    steps = [(run.trace.text[step.span.start : step.span.end], step.ids) for step in run.trace.steps]
    assert steps == [("a", (1, 2)), (" b<tool_call>", ()), ("x", (3,)), ("", ())]
    assert run.trace.chunking == {"by": "recorded", "cuts": [1, 14]}


def test_the_chunks_of_a_stream_are_recorded_too() -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("ab", "c")]
    given = {"schema": 1, "parser": {"name": "passthrough"}, "input": {"text": "abc", "stream": chunks}}
    run = run_case(load_case({**given, "replay": [{"by": "recorded"}]}))
    assert run.trace.chunking["cuts"] == [2]


def test_a_chunking_as_recorded_needs_recorded_deltas() -> None:
    with pytest.raises(CaseError, match="were not recorded") as caught:
        run_case(case(replay=[{"by": "token"}, {"by": "recorded"}]))
    assert caught.value.pointer == "/replay/1/by"


def test_ids_that_no_token_stands_for_are_ignored_and_it_is_said() -> None:
    given = {"schema": 1, "parser": {"name": "qwen"}, "input": {"deltas": [{"text": "a", "ids": [7]}]}}
    assert IGNORED in run_case(load_case(given)).trace.reasons
    assert IGNORED not in run_case(case()).trace.reasons


def test_a_settled_case_replays_without_a_policy() -> None:
    given = case({"policy": "vllm_fast", "skip_special_tokens": True, "stop": ["</tool"]})
    run = run_case(given)
    settled = settled_case(given, run.pieces)
    again = run_case(settled)
    assert settled.decode is None
    assert (again.trace.text, again.trace.message) == (run.trace.text, run.trace.message)
    assert [piece.token_id for piece in again.pieces] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("source", "chunking", "policy"),
    [
        ("token_ids", Chunking(by="token"), "text_streamer"),
        ("token_ids", Chunking(by="char"), None),
        ("pasted", Chunking(by="token"), None),
    ],
)
def test_the_smallest_case_keeps_only_the_lateness_of_a_policy(
    source: str, chunking: Chunking, policy: str | None
) -> None:
    given = case({"policy": "text_streamer", "skip_special_tokens": True, "stop": ["zz"]}, source)
    replayer = replayer_of(given, choose(given), given.pieces() or ())
    beside = (Chunking(by="recorded"), Chunking(by="whole"))
    finding = Finding("chunking", "error", "parser", "It differs.")
    small = Minimized("chunking", finding, replayer.pieces, chunking, replayer.context, 1, beside, None)
    smaller = minimized_case(given, small)
    assert (smaller.decode.policy if smaller.decode else None) == policy
    assert smaller.decode is None or smaller.decode.stop == ()
    assert smaller.replay == (chunking, Chunking(by="whole"))
    assert run_case(smaller).trace.text == replayer.text


def test_the_smallest_case_without_a_policy_has_its_tokens() -> None:
    given = case()
    replayer = replayer_of(given, choose(given), given.pieces() or ())
    finding = Finding("chunking", "error", "parser", "It differs.")
    small = Minimized("chunking", finding, replayer.pieces[:4], Chunking(by="token"), replayer.context, 1, (), None)
    smaller = minimized_case(given, small)
    assert (smaller.decode, smaller.pieces()) == (None, replayer.pieces[:4])


def test_a_search_goes_by_the_decoded_text() -> None:
    search = CaseSearch(case({"policy": "sglang", "stop": ["</tool"]}), max_replays=60)
    for _ in search.run():
        pass
    found = search.result().found
    assert {one.message.content for one in found.outcomes} == {"a b"}


def test_a_changed_output_is_as_late_as_the_policy_has_it() -> None:
    given = case({"policy": "text_streamer"})
    replayer = replayer_of(given, choose(given), given.pieces() or ())
    changed = replayer.with_pieces((Piece("ab"), Piece("c d"), Piece("e\n")))
    assert (changed.due, changed.behind) == ((0, 4, 7), 2)
    assert [delta.text for delta in changed.deltas(Chunking(by="token"))] == ["abc ", "de\n"]
