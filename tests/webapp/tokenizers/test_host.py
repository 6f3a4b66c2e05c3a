"""Children seen from the application: started, asked, killed; what each end of one says; how many are alive."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from parsers.vocabulary.types import UsageError
from webapp.app import create_app
from webapp.page.services import EXTENSION
from webapp.settings import get_settings
from webapp.tokenizers import get_tokenizer
from webapp.tokenizers.host import COMMAND, Host, Limits
from webapp.tokenizers.pool import Pool
from webapp.vocabularies.child import receive, send
from webapp.vocabularies.sanitize import sanitized, written
from webapp.vocabularies.tiktoken import CL100K

Data = dict[str, Any]

LIMITS = Limits(20.0, 2_000_000_000, 400_000_000)


@pytest.fixture
def file(toy: Data, tmp_path: Path) -> Path:
    path = tmp_path / "toy.json"
    path.write_bytes(written(sanitized(toy)))
    return path


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    made = create_app(get_settings(data_dir=tmp_path / "data"))
    yield made
    made.extensions[EXTENSION].jobs.close()
    made.extensions[EXTENSION].store.close()


def script(text: str) -> tuple[str, ...]:
    """A child that does something else."""
    return (sys.executable, "-c", text)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_child_is_started_on_demand_and_serves_many_calls(file: Path) -> None:
    host = Host("toy", LIMITS, file)
    assert host.pid is None
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda n: host.call("encode", text="hello" * n, offsets=False)["ids"], range(20)))
    assert [len(ids) for ids in found] == list(range(20))
    pid = host.pid
    assert pid is not None
    assert host.rss > 1_000_000
    host.close()
    assert (host.pid, host.rss, gone(pid)) == (None, 0, True)


ENDS = [
    ("import sys, os; os.abort()", "toy needs more memory than TOOLCALL_INSPECTOR_TOKENIZER_MEMORY_BYTES allows"),
    ("import sys; sys.exit(3)", r"the process of toy ended without an answer \(exit code 3\); try again"),
    ("print('no answer')", r"the process of toy ended without an answer \(exit code 0\)"),
]


@pytest.mark.parametrize(("text", "message"), ENDS)
def test_a_child_that_ends_is_one_sentence(text: str, message: str) -> None:
    host = Host("toy", LIMITS, None, script(text))
    for _ in range(2):
        with pytest.raises(UsageError, match=message):
            host.call("encode", text="x" * 1_000_000, offsets=False)
        assert host.pid is None


def answering(answer: str) -> tuple[str, ...]:
    """A child that gives one answer to everything."""
    text = (
        f"import sys; d = b'''{answer}'''; sys.stdout.buffer.write(len(d).to_bytes(4, 'big') + d); sys.stdout.flush()"
    )
    return script(text + "; sys.stdin.read()")


ANSWERS = [
    ('{"rss": 1, "failed": "memory"}', "toy needs more memory"),
    ('{"rss": 1, "failed": "panic", "message": "boom"}', "toy makes the tokenizers library crash: boom; take another"),
    ('{"rss": 1, "failed": "library", "message": "bad"}', "the tokenizers library refuses toy: bad"),
    ('{"rss": 1, "failed": "refused", "message": "too long"}', "^too long$"),
]


@pytest.mark.parametrize(("answer", "message"), ANSWERS)
def test_what_a_child_says_instead_is_one_sentence(answer: str, message: str) -> None:
    host = Host("toy", LIMITS, None, answering(answer))
    with pytest.raises(UsageError, match=message):
        host.call("prepare")
    host.close()


def test_a_child_that_is_closed_at_work_says_so(file: Path) -> None:
    host = Host("toy", LIMITS, file, script("import time; time.sleep(600)"))
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(host.call, "encode", text="x", offsets=False)
        while host.pid is None:
            time.sleep(0.01)
        host.close()
        with pytest.raises(UsageError, match="toy was closed while it was at work; try again"):
            asked.result()


def test_a_child_ends_when_nobody_speaks_to_it(file: Path) -> None:
    requests = io.BytesIO()
    for task in ({"task": "load", "path": str(file)}, {"task": "encode", "text": "hello", "offsets": False}):
        send(requests, task | {"seconds": 20})
    done = subprocess.run(
        [*COMMAND, "2000000000"], input=requests.getvalue(), capture_output=True, check=True, timeout=60
    )
    answers = io.BytesIO(done.stdout)
    assert [receive(answers).get("ids"), receive(answers).get("ids"), receive(answers)] == [None, [259], None]


def test_a_child_that_hangs_is_killed_and_the_next_call_starts_another(file: Path) -> None:
    host = Host("toy", LIMITS, file)
    assert host.call("encode", text="hello", offsets=False)["ids"] == [259]
    pid = host.pid or 0
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(UsageError, match=r"toy took longer than 0\.2 seconds; .*TOKENIZER_SECONDS a larger number"):
        host.call("encode", 0.2, text="hello", offsets=False)
    assert gone(pid)
    assert host.call("encode", text="hello", offsets=False)["ids"] == [259]
    host.close()


def test_a_child_that_ended_out_of_boredom_is_not_missed(file: Path) -> None:
    host = Host("toy", LIMITS, file)
    host.call("encode", text="hello", offsets=False)
    first = host.pid or 0
    os.kill(first, signal.SIGALRM)
    assert host.call("encode", text="hello", offsets=False)["ids"] == [259]
    assert host.pid != first
    host.close()


def test_a_second_child_may_fail_too(file: Path) -> None:
    host = Host("toy", LIMITS, file)
    host.call("encode", text="hello", offsets=False)
    os.kill(host.pid or 0, signal.SIGALRM)
    host._command = script("import sys; sys.exit(3)")
    with pytest.raises(UsageError, match="exit code 3"):
        host.call("encode", text="hello", offsets=False)


def test_a_host_that_is_forgotten_leaves_no_child(file: Path) -> None:
    host: Host | None = Host("toy", LIMITS, file)
    assert host is not None
    host.call("encode", text="hello", offsets=False)
    pid = host.pid or 0
    host = None
    assert gone(pid)


def test_memory_is_limited_in_the_child(tmp_path: Path, toy: Data) -> None:
    """A pattern and a text that would take gigabytes end the child, not the machine."""
    toy["normalizer"] = {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 16}
    (tmp_path / "big.json").write_bytes(written(sanitized(toy)))
    host = Host("toy", Limits(20.0, 200_000_000, 1), tmp_path / "big.json")
    with pytest.raises(UsageError, match=r"needs more memory than .* allows \(200,000,000\)"):
        host.call("encode", text="a" * 3_000_000, offsets=False)
    host.close()


def ask(pool: Pool, key: str, file: Path, text: str = "hello") -> list[int]:
    with pool.host(key, key, file) as host:
        found: list[int] = host.call("encode", text=text, offsets=False)["ids"]
        return found


def test_two_children_are_alive_and_the_oldest_goes_first(file: Path) -> None:
    pool = Pool(LIMITS)
    for key in ("a", "b", "a", "c"):
        assert ask(pool, key, file) == [259]
    assert sorted(pool._hosts) == ["a", "c"]
    assert len(pool.pids()) == 2
    pool.drop("a")
    pool.drop("a")
    assert len(pool.pids()) == 1
    pool.close()
    assert pool.pids() == []


def test_a_small_memory_budget_keeps_the_last_one_used(file: Path) -> None:
    pool = Pool(Limits(20.0, 2_000_000_000, 1_000_000))
    for key in ("a", "b"):
        ask(pool, key, file)
    assert list(pool._hosts) == ["b"]
    with pool.host("a", "a", file) as host, pool.host("b", "b", file):
        host.call("encode", text="x", offsets=False)
    assert len(pool._hosts) >= 1
    pool.close()


def test_a_third_one_waits_for_a_place_and_says_so(file: Path) -> None:
    pool = Pool(Limits(0.2, 2_000_000_000, 400_000_000))
    wait = pytest.raises(UsageError, match="c has to wait: two other tokenizers are at work")
    with pool.host("a", "a", file), pool.host("b", "b", file), wait:
        ask(pool, "c", file)
    with pool.host("c", "c", file):
        assert sorted(pool._hosts) == ["b", "c"]
    pool.close()


def test_a_slow_load_blocks_no_other_request(file: Path, app: Flask) -> None:
    pool = Pool(LIMITS, script("import time; time.sleep(600)"))
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(ask, pool, "slow", file)
        while not pool.pids():
            time.sleep(0.01)
        assert app.test_client().get("/healthz").status_code == 200
        assert get_tokenizer().pieces("hello")
        pool._command = COMMAND
        assert ask(pool, "quick", file) == [259]
        assert not slow.done()
        os.kill(pool._hosts["slow"].pid or 0, signal.SIGKILL)
        with pytest.raises(UsageError, match="slow needs more memory"):
            slow.result()
    pool.close()


def test_patterns_of_known_vocabularies_load(toy: Data, tmp_path: Path) -> None:
    toy["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": CL100K}, "behavior": "Isolated", "invert": False}
    (tmp_path / "known.json").write_bytes(written(sanitized(toy)))
    host = Host("toy", LIMITS, tmp_path / "known.json")
    assert host.call("encode", text="hello", offsets=False)["ids"] == [259]
    host.close()
