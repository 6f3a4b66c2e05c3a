"""The threads of the gallery by their signatures, which are computed from the answers that they quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from parsers.sweeps.known_threads import Key, Thread, Threads, key_of, no_threads, threads_by_key, threads_of
from parsers.sweeps.quoted_answers import signatures_of_answer
from webapp.page.library.gallery import Tile, gallery
from webapp.runs.prepare import tokens_of


def threads_about(version: str) -> Threads:
    """The threads about signatures of a sweep by an engine, which says its server first: `vllm 0.33.0`. Of a server
    that nobody reported anything of nothing is computed."""
    server = version.partition(" ")[0].lower()
    if not any(tile.engine.lower() == server for tile in _answered()):
        return no_threads
    return lambda signature: threads_of(signature, server, gallery_threads(server))


@cache
def gallery_threads(server: str) -> Mapping[Key, tuple[Thread, ...]]:
    """Those about parsers of one server."""
    tiles = [tile for tile in _answered() if tile.engine.lower() == server]
    return threads_by_key([one for tile in tiles for one in _of_tile(tile)])


def _answered() -> list[Tile]:
    """The tiles with an answer that their thread quotes."""
    return [tile for tile in gallery().values() if tile.case.input.stream is not None]


def _of_tile(tile: Tile) -> Iterator[tuple[Key | None, Thread]]:
    thread = Thread(tile.name, tile.thread, tile.title, tile.link)
    for signature in signatures_of_answer(tile.case, tile.format, tokens_of):
        yield key_of(signature, tile.engine, tile.format), thread
