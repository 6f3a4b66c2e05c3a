"""A process and what it started, as the system tells of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webapp.children.processes import until
from webapp.children import family
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.family import TAG, Group, end_strays, sleeps
from webapp.children.held_pipes import HeldPipe
from webapp.children.program import Program

NOBODY = 2**22 + 1
STRAY = """
import json, subprocess, sys
for line in sys.stdin:
    how = {"stdin": -3, "stdout": -3, "stderr": -3, "start_new_session": True}
    pid = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], **how).pid
    print(json.dumps({"answer": {"pid": pid}}), flush=True)
"""
HIDDEN = """
import os, sys, time
for line in sys.stdin:
    if not os.fork():
        os.setsid()
        if not os.fork():
            os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)"], {{}})
        os._exit(0)
    os.wait()
    {then}
"""
NAPS = "import sys, time\nfor line in sys.stdin: time.sleep(600)"


def test_who_sleeps_and_who_is_at_work() -> None:
    naps, spins = [
        subprocess.Popen([sys.executable, "-c", one]) for one in ("import time; time.sleep(60)", "while True: pass")
    ]
    until(lambda: sleeps(naps.pid) and not sleeps(spins.pid))
    for process in (naps, spins):
        process.kill()
        process.wait()
    assert not sleeps(NOBODY)


def test_a_thread_that_is_gone_counts_as_at_work() -> None:
    assert family._state(NOBODY, "1") == "R"


def test_where_the_system_tells_of_no_process_none_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "PROC", tmp_path / "no")
    end_strays("x")
    assert not sleeps(os.getpid())


def test_what_began_a_session_of_its_own_is_ended_with_its_worker() -> None:
    with Child(Program("x", command=(sys.executable, "-c", STRAY))) as child:
        pid = child.ask("run", {}, seconds=20)["pid"]
        until(lambda: TAG.encode() in Path(f"/proc/{pid}/environ").read_bytes())
    until(lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes())


def test_a_worker_that_sleeps_has_no_more_time_than_one_that_works() -> None:
    with Child(Program("x", command=(sys.executable, "-c", NAPS), patience=1_000)) as child:
        with pytest.raises(ChildError) as caught:
            child.ask("run", {}, seconds=0.5)
        assert caught.value.ending is Ending.LATE


@pytest.mark.parametrize(
    ("then", "size", "ending"),
    [
        ("time.sleep(600)", 1, Ending.LATE),
        ("time.sleep(600)", 1_000_000, Ending.LATE),
        ("os._exit(3)", 1, Ending.ENDED),
        ("sys.stderr.write('x' * 9_000); sys.stderr.flush(); os._exit(3)", 1, Ending.ENDED),
    ],
)
@pytest.mark.replays
def test_who_keeps_the_pipes_of_a_worker_that_is_gone_is_ended_and_not_waited_for(
    then: str, size: int, ending: Ending
) -> None:
    before = {*family._processes()}
    with Child(Program("x", command=(sys.executable, "-c", HIDDEN.format(then=then)))) as child:
        with pytest.raises(ChildError) as caught:
            child.ask("run", {"text": "x" * size}, seconds=1.0)
        assert caught.value.ending is ending
        until(lambda: not [pid for pid in family._processes() if pid not in before and is_hidden(pid)])


def is_hidden(pid: int) -> bool:
    """Whether a process has no environment and sleeps as above."""
    try:
        folder = Path(f"/proc/{pid}")
        return b"time.sleep(600)" in (folder / "cmdline").read_bytes() and not (folder / "environ").read_bytes()
    except OSError:
        return False


def test_a_pipe_that_is_left_is_read_to_what_is_there_and_written_no_more() -> None:
    (source, their_sink), (their_source, sink) = os.pipe(), os.pipe()
    os.write(their_sink, b"said before")
    ours, out = HeldPipe(source), HeldPipe(sink)
    assert (ours.readable(), out.writable(), out.write(b"x" * 10), ours.fileno()) == (True, True, 10, source)
    for one in (ours, out, ours):
        one.leave()
    assert (ours.read(100), ours.read(100)) == (b"said before", b"")
    with pytest.raises(BrokenPipeError):
        out.write(b"x" * 1_000_000)
    for one in (ours, out, ours):
        one.close()
    for fd in (their_sink, their_source):
        os.close(fd)


def test_a_pipe_gives_at_once_what_is_there() -> None:
    source, sink = os.pipe()
    ours = HeldPipe(source)
    with ours.at_once():
        assert ours.read(100) is None
        os.write(sink, b"by now")
        assert ours.read(100) == b"by now"
    os.close(sink)
    with ours.at_once():
        assert ours.read(100) == b""
    ours.close()


def test_a_pipe_that_is_closed_is_left_by_nobody_and_so_none_that_has_its_numbers_by_now() -> None:
    ends, (source, sink) = os.pipe(), os.pipe()
    first = HeldPipe(ends[0])
    first.close()
    numbers = os.dup(source)  # that of the end which is closed
    second = HeldPipe(source)
    assert second._leave == first._leave
    first.leave()
    os.write(sink, b"still read")
    assert second.read(100) == b"still read"
    second.close()
    for fd in (ends[1], sink, numbers):
        os.close(fd)


def test_leave_is_taken_of_a_group_once_and_none_is_ended_by_its_number_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"], start_new_session=True)
    group = Group(process)
    assert (group.wait(None), group.wait(0), group.wait(None)) == (3, 3, 3)
    monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("it is another one's by now"))
    group.kill()


@pytest.mark.parametrize("missing", ["", "waitid"])
def test_a_group_that_goes_on_is_not_waited_for(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if missing:
        monkeypatch.delattr(os, missing)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    group = Group(process)
    assert group.wait(0) is None
    assert group.wait(0.02) is None
    group.kill()
    assert group.wait(None) == -9


def test_a_leader_of_which_somebody_took_leave_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    os.waitpid(process.pid, 0)
    assert Group(process).wait(None) == 0


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nobody tells of pipes")
def test_what_has_the_other_end_of_a_pipe_is_a_stray_and_what_was_forked_from_us_is_none() -> None:
    (their_source, sink), (source, their_sink) = os.pipe(), os.pipe()
    pipes = {os.fstat(sink).st_ino: False, os.fstat(source).st_ino: True}
    naps = [sys.executable, "-c", "import time; time.sleep(600)"]
    forked = subprocess.Popen(naps, pass_fds=(sink, source))
    strays = [subprocess.Popen(naps, pass_fds=(one,)) for one in (their_source, their_sink)]
    for fd in (their_source, their_sink):
        os.close(fd)
    end_strays("x", pipes)
    assert [one.wait(10) for one in strays] == [-9, -9]
    assert forked.poll() is None
    forked.kill()
    forked.wait()
    for fd in (sink, source):
        os.close(fd)
