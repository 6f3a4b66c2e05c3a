"""A child seen from here: asked, watched, limited, killed; its end has a kind whatever it does, and nothing is left."""

from __future__ import annotations

import ast
import gc
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Timer
from types import SimpleNamespace
from typing import Any

import pytest

from tests.webapp.children import program as tasks
from tests.webapp.children.processes import is_alive, until
from webapp.children import deadline, worker
from webapp.children.child import Child
from webapp.children.deadline import Question, Watch
from webapp.children.endings import ChildError, Ending
from webapp.children.process import preload
from webapp.children.program import Program, bare_environment

ROOT = Path(__file__).parents[3]
FILE = str(Path(tasks.__file__))
SPAWNED, FORKED = Program(FILE), Program(tasks.__name__, fork=True)
BOTH = pytest.mark.parametrize("program", [SPAWNED, FORKED], ids=["spawned", "forked"])
PATIENCE = 30.0


def asked(child: Child, task: str, seconds: float = PATIENCE, **request: Any) -> dict[str, Any]:
    return child.ask(task, request, seconds=seconds)


def failure(child: Child, task: str, seconds: float = PATIENCE, **request: Any) -> ChildError:
    """How a task ends without an answer; a process that is gone has left nothing behind."""
    pid = child.pid
    with pytest.raises(ChildError) as caught:
        asked(child, task, seconds, **request)
    assert pid is None or child.pid == pid or not is_alive(pid)
    return caught.value


def test_a_child_is_told_where_programs_are_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("TOOLCALL_INSPECTOR_SECRET", "secret")
    told = bare_environment()
    assert told["PATH"] == "/bin"
    assert {"HF_TOKEN", "TOOLCALL_INSPECTOR_SECRET"}.isdisjoint(told)


def test_a_child_is_told_what_it_needs_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:1")
    assert "HTTPS_PROXY" not in bare_environment()
    assert bare_environment("HTTPS_PROXY")["HTTPS_PROXY"] == "proxy:1"


@BOTH
def test_the_process_has_no_secret_and_no_input(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with Child(program) as child:
        found = asked(child, "surroundings")
    assert "PATH" in found["variables"]
    assert "HF_TOKEN" not in found["variables"]
    assert found["input"] == ""


@BOTH
def test_a_child_starts_on_demand_and_lives_on(program: Program) -> None:
    with Child(program) as child:
        assert child.pid is None
        asked(child, "remember", text="é\ud800🙂")
        found = asked(child, "recall")
        assert (found["kept"], found["pid"]) == ({"text": "é\ud800🙂"}, child.pid)
        assert child.rss > (10_000 if program.forks else 1_000_000)
    assert (child.pid, child.rss, is_alive(found["pid"])) == (None, 0, False)


@BOTH
def test_what_a_program_prints_is_no_answer(program: Program) -> None:
    with Child(program) as child:
        assert asked(child, "chatter") == {"said": True}
        assert asked(child, "echo", a=1) == {"a": 1}


@BOTH
def test_every_end_has_its_kind_and_the_next_question_starts_another(program: Program) -> None:
    with Child(program) as child:
        for task, request, ending in (
            ("fail", {}, Ending.ERROR),
            ("odd", {}, Ending.ERROR),
            ("no such task", {}, Ending.ERROR),
            ("panic", {}, Ending.PANIC),
            ("leave", {"code": 3}, Ending.ENDED),
            ("kill", {"signal": signal.SIGKILL}, Ending.ENDED),
        ):
            assert failure(child, task, **request).ending is ending
            assert child.pid is None
        assert asked(child, "echo") == {}


def test_an_end_says_what_is_known_of_it() -> None:
    with Child(SPAWNED) as child:
        refused, pid = failure(child, "refuse"), child.pid
        assert (refused.ending, refused.message, child.pid) == (Ending.REFUSED, "not today", pid)
        failed = failure(child, "fail")
        assert failed.message == "first line"
        assert "second line" in failed.detail
        gone = failure(child, "leave", code=3)
        assert (gone.code, gone.detail) == (3, "last words")
        assert failure(child, "kill", signal=signal.SIGKILL).code == -signal.SIGKILL


@pytest.mark.replays
@BOTH
def test_a_task_has_a_deadline(program: Program) -> None:
    with Child(program) as child:
        asked(child, "echo")
        assert failure(child, "sleep", 0.2).ending is Ending.LATE
        assert asked(child, "echo") == {}
        os.kill(child.pid or 0, signal.SIGSTOP)
        assert failure(child, "echo", 0.2).ending is Ending.LATE


MANY = 5_000  # messages: more than a pipe holds, so that a process cannot be ahead with all of them


@pytest.mark.replays
def test_a_task_that_gets_no_processor_has_longer_by_the_clock() -> None:
    said: list[dict[str, Any]] = []

    def stop(one: dict[str, Any]) -> None:
        said.append(one)
        if len(said) == 1:
            os.kill(child.pid or 0, signal.SIGSTOP)
            Timer(1.5, os.kill, (child.pid or 0, signal.SIGCONT)).start()

    with Child(Program(FILE, patience=1_000)) as child:
        asked(child, "echo")
        assert child.ask("count", {"to": MANY}, seconds=1, on_progress=stop)
    assert len(said) == MANY


@pytest.mark.replays
@pytest.mark.parametrize(("task", "patience"), [("spin", 1_000), ("sleep", 2)])
def test_patience_ends_with_the_work_or_by_the_clock(task: str, patience: float) -> None:
    with Child(Program(FILE, patience=patience)) as child:
        asked(child, "echo")
        assert failure(child, task, 0.2).ending is Ending.LATE


@pytest.mark.parametrize(
    ("elapsed", "worked", "end"),
    [(1.0, 1.0, None), (1.0, 0.2, 1.5), (1.4, 0.6, 1.5), (1.5, 0.6, None), (1.5, 0.2, 1.8), (2.9, 0.2, 3.0)],
)
def test_a_task_in_a_hurry_is_late_with_half_of_the_work(
    elapsed: float, worked: float, end: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, work = [0.0], [0.0]
    monkeypatch.setattr(deadline, "monotonic", lambda: now[0])
    monkeypatch.setattr(Watch, "start", lambda _: None)
    process: Any = SimpleNamespace(worked=lambda: work[0])
    watch = Watch(process, Question("t", {}, 1.0), Program("x", patience=3, hurry=1.5))
    now[0], work[0] = elapsed, worked
    assert watch._goes_on() == (end is not None)
    assert end is None or watch._end == pytest.approx(end)


def test_where_the_system_does_not_tell_of_work_the_clock_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with Child(Program(FILE, patience=1_000)) as child:
        asked(child, "echo")
        monkeypatch.setattr(Path, "read_text", gone)
        assert failure(child, "sleep", 0.2).ending is Ending.LATE


def gone(*_: object) -> str:
    raise FileNotFoundError


POLITE = Program(tasks.__name__, fork=True, grace_seconds=PATIENCE)


@pytest.mark.replays
@pytest.mark.parametrize("program", [POLITE, Program(FILE, grace_seconds=PATIENCE)], ids=["forked", "spawned"])
def test_a_task_is_interrupted_and_the_process_lives_on_with_what_it_has(program: Program) -> None:
    with Child(program) as child:
        asked(child, "remember", text="kept")
        pid = child.pid
        for task, request in (("spin", {}), ("sleep", {}), ("count", {"to": 10**9})):
            assert failure(child, task, 0.2, **request).ending is Ending.LATE
            found = asked(child, "recall")
            assert (found["pid"], found["kept"]) == (pid, {"text": "kept"})
            assert child.rss > (10_000 if program.forks else 1_000_000)


def test_a_task_that_nobody_wants_is_interrupted() -> None:
    said: list[dict[str, Any]] = []
    with Child(POLITE) as child:
        asked(child, "echo")
        pid = child.pid
        with pytest.raises(ChildError) as caught:
            child.ask("sleep", {}, seconds=PATIENCE, on_progress=said.append, cancelled=lambda: bool(said))
        assert (caught.value.ending, child.pid, is_alive(pid)) == (Ending.CANCELLED, pid, True)


def test_a_task_that_swallows_an_interrupt_is_killed() -> None:
    with Child(Program(FILE, grace_seconds=0.2)) as child:
        asked(child, "echo")
        pid = child.pid
        assert failure(child, "stubborn", 0.2).ending is Ending.LATE
        assert not is_alive(pid)


def test_a_process_that_made_a_result_of_an_interrupt_is_not_trusted() -> None:
    with Child(POLITE) as child:
        asked(child, "echo")
        assert failure(child, "swallow", 0.2).ending is Ending.LATE
        assert child.pid is None


def test_a_process_that_is_not_ready_yet_is_ended_by_an_interrupt() -> None:
    started = Program(FILE, python=(sys.executable, "-c", "import time; time.sleep(600)"), grace_seconds=PATIENCE)
    with Child(started) as child:
        assert failure(child, "echo", 0.2).ending is Ending.LATE
        assert child.pid is None


def test_without_such_signals_what_is_late_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.children.process.INTERRUPT", None)
    with Child(POLITE) as child:
        asked(child, "echo")
        assert failure(child, "sleep", 0.2).ending is Ending.LATE
        assert child.pid is None


@BOTH
def test_raw_bytes_travel_beside_a_message(program: Program) -> None:
    raw = bytes(range(256)) * 10_000
    said: list[dict[str, Any]] = []
    with Child(program) as child:
        for data in (raw, b""):
            answer = child.ask("mirror", {"a": 1, "raw": data}, seconds=PATIENCE, on_progress=said.append)
            assert (answer, said.pop()) == ({"raw": data[::-1]}, {"size": len(data), "raw": data[::-1]})


@pytest.mark.replays
@BOTH
def test_a_task_may_ask_and_has_the_time_of_the_reply_besides(program: Program) -> None:
    def reply_slowly(question: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.4)
        return question

    with Child(program) as child:
        asked(child, "echo")
        slow = child.ask("ask", {"times": 3}, seconds=1, on_question=reply_slowly)
        assert slow == {"replies": [{"number": number} for number in range(3)]}
        assert asked(child, "ask", times=1) == {"replies": [{}]}


def test_a_reply_to_a_task_that_was_interrupted_is_passed_over() -> None:
    slow = Event()

    def late(_question: object) -> dict[str, Any]:
        slow.wait(0.3)
        return {"too": "late"}

    with Child(POLITE) as child:
        pid = asked(child, "recall")["pid"]
        with pytest.raises(ChildError) as caught:
            child.ask("spin_between", {}, seconds=0.2, on_question=late)
        assert caught.value.ending is Ending.LATE
        assert asked(child, "ask", times=2) == {"replies": [{}, {}]}
        assert asked(child, "recall")["pid"] == pid


def test_a_reply_that_fails_ends_the_child_and_is_heard() -> None:
    def fail(_question: object) -> dict[str, Any]:
        raise RuntimeError("do not ask me")

    with Child(SPAWNED) as child:
        with pytest.raises(RuntimeError, match="do not ask me"):
            child.ask("ask", {"times": 1}, seconds=PATIENCE, on_question=fail)
        assert child.pid is None


def test_a_process_that_has_gone_is_taken_leave_of() -> None:
    with Child(SPAWNED) as child:
        child.tidy()
        asked(child, "echo")
        child.tidy()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)

        def is_tidy() -> bool:
            child.tidy()
            return child.pid is None

        until(is_tidy)
        assert child.rss == 0


def test_a_process_that_was_killed_between_two_tasks_is_missed_by_nobody() -> None:
    with Child(SPAWNED) as child:
        asked(child, "echo")
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        until(lambda: child._process is not None and child._process.gone)
        assert asked(child, "echo") == asked(child, "echo")


def test_what_a_program_says_of_itself_may_be_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    for heard in (False, True):
        with Child(Program(FILE, heard=heard)) as child:
            asked(child, "chatter")
        assert ("said on standard error" in capfd.readouterr().err) == heard


def test_programs_that_fork_share_a_server_and_others_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[list[str]] = []
    context = "multiprocessing.context.BaseContext.set_forkserver_preload"
    monkeypatch.setattr(context, lambda _context, found: names.append(found))
    preload(SPAWNED)
    assert names == []
    preload(FORKED, "some.module")
    preload(POLITE)
    assert {tasks.__name__, "some.module"} <= set(names[-1])


def test_a_project_with_packages_of_our_names_is_not_taken_for_us(tmp_path: Path) -> None:
    """It has to be a process of its own: there is one server that forks for each."""
    for name in ("parsers", "webapp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("theirs = True\n", "utf-8")
    program = "from webapp.children.child import Child, Program; "
    program += f"print(Child(Program({tasks.__name__!r}, fork=True)).ask('echo', {{'a': 1}}, seconds={PATIENCE}))"
    command = [sys.executable, "-P", "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "'a': 1" in done.stdout


@pytest.mark.parametrize("before", [None, "", "yes"])
def test_what_the_environment_says_of_safe_paths_is_as_before(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    preload(FORKED)
    assert os.environ.get("PYTHONSAFEPATH") == before


@BOTH
def test_what_nobody_wants_any_more_is_killed(program: Program) -> None:
    said: list[dict[str, Any]] = []
    with Child(program) as child:
        asked(child, "echo")
        pid = child.pid
        with pytest.raises(ChildError) as caught:
            child.ask("sleep", {}, seconds=PATIENCE, on_progress=said.append, cancelled=lambda: bool(said))
        assert (caught.value.ending, child.pid, is_alive(pid)) == (Ending.CANCELLED, None, False)


@pytest.mark.replays
@BOTH
def test_a_deadline_is_kept_though_nobody_can_say_whether_the_answer_is_wanted(program: Program) -> None:
    with Child(program) as child:
        asked(child, "echo")
        with pytest.raises(ChildError) as caught:
            child.ask("sleep", {}, seconds=0.7, cancelled=lambda: bool(1 / 0))
        assert caught.value.ending is Ending.LATE


def test_progress_comes_in_order_and_before_the_answer() -> None:
    said: list[Any] = []
    with Child(SPAWNED) as child:
        said.append(child.ask("count", {"to": 3}, seconds=PATIENCE, on_progress=lambda one: said.append(one["number"])))
        assert asked(child, "count", to=2) == {"to": 2}
    assert said == [0, 1, 2, {"to": 3}]


def test_a_listener_that_fails_ends_the_child_and_is_heard() -> None:
    def fail(_progress: object) -> None:
        raise RuntimeError("no more of this")

    with Child(SPAWNED) as child:
        with pytest.raises(RuntimeError, match="no more of this"):
            child.ask("count", {"to": 3}, seconds=PATIENCE, on_progress=fail)
        assert child.pid is None
        assert asked(child, "echo") == {}


@pytest.mark.parametrize("limit", ["AS", "DATA"])
def test_memory_is_limited(limit: str) -> None:
    with Child(Program(FILE, limits={limit: 300_000_000})) as child:
        assert failure(child, "grow").ending is Ending.MEMORY
        assert asked(child, "echo") == {}


def test_messages_have_a_size() -> None:
    with Child(Program(FILE, answer_bytes=1_000)) as child:
        large = failure(child, "write", bytes=2_000)
        assert (large.ending, large.size > 2_000) == (Ending.LARGE, True)
        assert asked(child, "write", bytes=500)["text"] == "x" * 500


def test_a_request_may_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.frame, "__defaults__", (1_000,))
    with Child(SPAWNED) as child:
        assert failure(child, "echo", text="x" * 2_000).ending is Ending.LARGE


def on_the_wire(text: str) -> str:
    return (len(text).to_bytes(4, "big") + text.encode()).hex()


GARBAGE = [
    ("ffffffff", Ending.LARGE),
    (on_the_wire("{]}"), Ending.PANIC),
    (on_the_wire("[]"), Ending.PANIC),
    (on_the_wire("{}"), Ending.PANIC),
    (on_the_wire('{"answer": {}}'), Ending.PANIC),
    (on_the_wire('{"progress": 1}'), Ending.PANIC),
    (on_the_wire('{"question": {}}'), Ending.PANIC),
    (on_the_wire('{"progress": {}, "raw": "large"}'), Ending.PANIC),
    (on_the_wire('{"progress": {}, "raw": -10}'), Ending.PANIC),
    (on_the_wire('{"progress": {}, "raw": 10000000000}'), Ending.LARGE),
    (on_the_wire('{"failed": "late", "rss": "too much"}'), Ending.PANIC),
    (on_the_wire('{"failed": "nothing"}'), Ending.PANIC),
]


@pytest.mark.replays
@pytest.mark.parametrize(("hex_text", "ending"), GARBAGE)
def test_a_child_that_was_taken_over_may_say_what_it_wants(hex_text: str, ending: Ending) -> None:
    with Child(SPAWNED) as child:
        assert failure(child, "speak", hex=hex_text).ending is ending
        assert asked(child, "echo") == {}


def loud(words: str) -> tuple[str, ...]:
    """An interpreter that prints before it comes to its program."""
    return (sys.executable, "-I", "-c", f"print({words}, flush=True); import runpy, sys; "
            "runpy.run_path(sys.argv[1], run_name='__main__')")  # fmt: skip


def test_what_an_interpreter_prints_as_it_starts_is_skipped() -> None:
    with Child(Program(FILE, python=loud("'welcome'"))) as child:
        assert asked(child, "echo", a=1) == {"a": 1}
    with Child(Program(FILE, python=loud("'x' * 200_000"))) as child:
        assert failure(child, "echo").ending is Ending.PANIC


@pytest.mark.parametrize(
    "program", [Program(FILE, given={"broken": True}), Program("no.such.module"), Program("/no/such/file.py")]
)
def test_a_program_that_cannot_be_loaded_is_an_error(program: Program) -> None:
    with Child(program) as child:
        assert failure(child, "echo").ending is Ending.ERROR


def test_an_interpreter_that_is_none_ends_without_an_answer() -> None:
    with Child(Program(FILE, python=(sys.executable, "-c", "raise SystemExit('no interpreter')"))) as child:
        gone = failure(child, "echo")
    assert (gone.ending, gone.code, gone.detail) == (Ending.ENDED, 1, "no interpreter\n")


def test_an_interpreter_that_is_not_there_starts_no_process() -> None:
    with Child(Program(FILE, python=("/no/such/python",))) as child:
        absent = failure(child, "echo")
    assert absent.ending is Ending.ABSENT
    assert "/no/such/python" in absent.message


def test_a_process_that_starts_others_and_ends_just_then_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(_file: int) -> int:
        raise EOFError("unexpected EOF")

    with Child(FORKED) as child:
        with monkeypatch.context() as patch:
            patch.setattr("multiprocessing.forkserver.read_signed", ended)
            assert failure(child, "echo").ending is Ending.ABSENT
        assert asked(child, "echo", a=1) == {"a": 1}


def test_a_child_that_is_closed_at_work_says_so() -> None:
    child = Child(SPAWNED)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(asked, child, "sleep")
        until(lambda: child.pid)
        pid = child.pid
        child.close()
        with pytest.raises(ChildError) as caught:
            waiting.result()
    assert (caught.value.ending, is_alive(pid)) == (Ending.CLOSED, False)


def test_threads_wait_for_each_other() -> None:
    with Child(SPAWNED) as child, ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda n: asked(child, "echo", n=n)["n"], range(20)))
    assert found == list(range(20))


def test_an_idle_child_ends_itself_and_is_not_missed() -> None:
    with Child(Program(FILE, given={"a": 1}, idle_seconds=0.5), ("remember", {"text": "first"})) as child:
        first = asked(child, "recall")
        assert (first["kept"], first["given"]) == ({"text": "first"}, {"a": 1})
        until(lambda: child._process is not None and child._process.gone)
        again = asked(child, "recall")
        assert (again["kept"], again["pid"] == first["pid"]) == ({"text": "first"}, False)
        assert not is_alive(first["pid"])


def test_a_process_that_cannot_do_its_first_task_does_no_other() -> None:
    with Child(SPAWNED, ("refuse", {})) as child:
        for _ in range(2):
            assert failure(child, "echo").ending is Ending.REFUSED
            assert child.pid is None


def test_a_child_that_is_forgotten_is_ended() -> None:
    child: Child | None = Child(SPAWNED)
    assert child is not None
    pid = asked(child, "recall")["pid"]
    child = None
    gc.collect()
    assert not is_alive(pid)


@pytest.mark.replays
def test_a_busy_child_ends_with_the_process_that_started_it() -> None:
    script = (
        "import sys; from webapp.children.child import Child\n"
        "from webapp.children.program import Program\n"
        "child = Child(Program(sys.argv[1]))\n"
        "print(child.ask('recall', {}, seconds=60)['pid'], flush=True); child.ask('spin', {}, seconds=60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, FILE], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.05)
        parent.kill()
    until(lambda: not is_alive(pid))


def test_the_worker_needs_the_standard_library_alone() -> None:
    """Without site packages, without our code, and with nothing that is newer than Python 3.9."""
    with Child(Program(FILE, python=(sys.executable, "-I", "-S"), path=())) as child:
        modules = asked(child, "surroundings")["modules"]
    assert {name for name in modules if name.partition(".")[0] in ("parsers", "webapp")} == {worker.NAME}
    assert not {"site", "pydantic", "flask"} & set(modules)
    ast.parse(Path(worker.__file__).read_text("utf-8"), feature_version=(3, 9))
