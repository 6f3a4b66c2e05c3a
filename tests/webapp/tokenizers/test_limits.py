"""The processes of tokenizers: what each end of one says, how they are limited, and how many are alive."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from parsers.vocabulary.types import UsageError
from tests.webapp.children.processes import is_alive, until
from webapp.app import create_app
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.services import EXTENSION
from webapp.settings import Settings, get_settings
from webapp.tokenizers import get_tokenizer
from webapp.tokenizers.library import TokenizerLibrary
from webapp.tokenizers.limits import program, worded
from webapp.vocabularies.rank_files import CL100K
from webapp.vocabularies.sanitize import sanitize, tokenizer_text

Data = dict[str, Any]
Make = Callable[..., TokenizerLibrary]

LIMITS = get_settings(tokenizer_seconds=20)
HELLO = {"text": "hello", "offsets": False}


@pytest.fixture
def file(toy: Data, tmp_path: Path) -> Path:
    path = tmp_path / "toy.json"
    path.write_bytes(tokenizer_text(sanitize(toy)))
    return path


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    made = create_app(get_settings(data_dir=tmp_path / "data"))
    yield made
    made.extensions[EXTENSION].searches.close()
    made.extensions[EXTENSION].store.close()


def child_of(file: Path, limits: Settings = LIMITS) -> Child:
    return Child(program(limits), ("load", {"path": str(file)}))


MEMORY = r"toy needs more memory than TOOLCALL_INSPECTOR_TOKENIZER_MEMORY_BYTES allows \(2,000,000,000\)"
WORDS = [
    (ChildError(Ending.ENDED, code=-signal.SIGABRT), MEMORY),
    (ChildError(Ending.ENDED, code=-signal.SIGKILL), MEMORY),
    (ChildError(Ending.MEMORY), MEMORY),
    (ChildError(Ending.LARGE, size=3), MEMORY),
    (ChildError(Ending.ENDED, code=3), r"the process of toy ended without an answer \(exit code 3\); try again"),
    (ChildError(Ending.LATE), r"toy took longer than 20 seconds; .*TOKENIZER_SECONDS a larger number"),
    (ChildError(Ending.PANIC, "boom"), "toy makes the tokenizers library crash: boom; take another file"),
    (ChildError(Ending.ERROR, "bad"), "the tokenizers library refuses toy: bad"),
    (ChildError(Ending.REFUSED, "too long"), "^too long$"),
    (ChildError(Ending.ABSENT, "no such file"), r"the process of toy cannot be started \(no such file\); try again"),
    (ChildError(Ending.CLOSED), "toy was closed while it was at work; try again"),
    (ChildError(Ending.BUSY), "toy has to wait: two other tokenizers are at work; try again in a moment"),
]


@pytest.mark.parametrize(("error", "message"), WORDS)
def test_every_end_of_a_process_is_one_sentence(error: ChildError, message: str) -> None:
    with pytest.raises(UsageError, match=message), worded("toy", LIMITS, 20):
        raise error


def test_a_process_serves_many_calls(file: Path) -> None:
    with child_of(file) as child, ThreadPoolExecutor(4) as threads:
        asked = [{"text": "hello" * n, "offsets": False} for n in range(20)]
        found = list(threads.map(lambda request: child.ask("encode", request, seconds=20)["ids"], asked))
        assert [len(ids) for ids in found] == list(range(20))
        assert child.rss > 1_000_000


def test_a_process_that_ended_out_of_boredom_is_not_missed(file: Path) -> None:
    with child_of(file) as child:
        assert child.ask("encode", HELLO, seconds=20)["ids"] == [259]
        first = child.pid or 0
        os.kill(first, signal.SIGALRM)
        assert child.ask("encode", HELLO, seconds=20)["ids"] == [259]
        assert child.pid != first


@pytest.mark.replays
def test_memory_is_limited_in_the_process(tmp_path: Path, toy: Data) -> None:
    """A pattern and a text that would take gigabytes end the process, not the machine."""
    toy["normalizer"] = {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 16}
    (tmp_path / "big.json").write_bytes(tokenizer_text(sanitize(toy)))
    limits = get_settings(tokenizer_seconds=20, tokenizer_memory_bytes=200_000_000)
    words = pytest.raises(UsageError, match=r"needs more memory than .* allows \(200,000,000\)")
    with words, worded("toy", limits, 20), child_of(tmp_path / "big.json", limits) as child:
        child.ask("encode", {"text": "a" * 3_000_000, "offsets": False}, seconds=20)


@pytest.mark.replays
def test_a_slow_process_blocks_no_other_request(make_library: Make, toy: Data, encoded: Any, app: Flask) -> None:
    library = make_library()
    slow = library.get(library.add_upload("slow.json", encoded(toy))["name"])
    slow.encode("hello")
    (pid,) = library._pool.pids().values()
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(slow.encode, "hello")
        time.sleep(0.05)
        assert app.test_client().get("/healthz").status_code == 200
        assert get_tokenizer().pieces("hello")
        toy["model"]["merges"].pop()
        assert library.get(library.add_upload("quick.json", encoded(toy))["name"]).encode("hello") == [259]
        assert not asked.done()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(UsageError, match=r"slow.json, 267 needs more memory"):
            asked.result()
    until(lambda: not is_alive(pid))


def test_patterns_of_known_vocabularies_load(toy: Data, tmp_path: Path) -> None:
    toy["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": CL100K}, "behavior": "Isolated", "invert": False}
    (tmp_path / "known.json").write_bytes(tokenizer_text(sanitize(toy)))
    with child_of(tmp_path / "known.json") as child:
        assert child.ask("encode", HELLO, seconds=20)["ids"] == [259]
