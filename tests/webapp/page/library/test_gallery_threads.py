"""The threads of the gallery are found by the signatures of the answers that they quote, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parsers.sweeps.quoted_answers import signatures_of_answer
from parsers.sweeps.signature import Signature
from webapp.page.library.gallery import Tile, gallery
from webapp.page.library.gallery_threads import gallery_threads, threads_about
from webapp.runs.prepare import tokens_of

ANSWERED = [tile for tile in gallery().values() if tile.case.input.stream is not None]
NAMES = ("vllm-31501-call-in-one-delta", "sglang-37634-second-call-gone", "dynamo-9536-calls-with-a-semicolon")


def of_sweep(tile: Tile) -> list[Signature]:
    """What a sweep finds of a parser that answers as in a tile."""
    found = signatures_of_answer(tile.case, tile.format, tokens_of)
    return [replace(one, parser=f"mine:{tile.format}") for one in found if one.about == "parser"]


@pytest.mark.parametrize("name", NAMES)
def test_a_parser_that_answers_as_a_thread_quotes_is_known(name: str) -> None:
    tile = gallery()[name]
    threads = threads_about(f"{tile.engine.lower()} 9.9 at main (0123456789)")
    (signature,) = of_sweep(tile)
    assert tile.link in [thread.link for thread in threads(signature)]
    assert not threads(replace(signature, about="output"))
    others = {"check": "x", "topic": "x", "sort": "x", "where": "x", "marker": "x", "parser": "mine:nobody"}
    assert [key for key, value in others.items() if threads(replace(signature, **{key: value}))] == []


def test_of_a_server_that_nobody_reported_anything_of_nothing_is_known() -> None:
    (signature,) = of_sweep(gallery()[NAMES[0]])
    assert not threads_about("class 2")(signature)
    assert not threads_about("")(signature)
    assert not threads_about("sglang 0.5")(signature)


@pytest.mark.replays
def test_most_quoted_answers_have_a_signature_and_a_key_leads_to_few_threads() -> None:
    servers = {tile.engine.lower() for tile in ANSWERED}
    found = [threads for server in servers for threads in gallery_threads(server).values()]
    known = {thread.example for threads in found for thread in threads}
    assert known <= {tile.name for tile in ANSWERED}
    assert len(known) >= 0.75 * len(ANSWERED)
    assert max(map(len, found)) <= 2
