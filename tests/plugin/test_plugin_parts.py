"""The parts of the plugin in this process: a parser that is served, an inspector that misbehaves, words."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_toolcall import inspector, served
from pytest_toolcall.inspector import HEADER_VARIABLE, InspectorError, Piped, Server, inspector_at
from pytest_toolcall.patience import MOST_HANGING, at_most
from pytest_toolcall.served import Served
from pytest_toolcall.session import MOST_LOST, Session
from pytest_toolcall.words import failure_words
from pytest_toolcall.workers.engine_worker import Hangs
from tests.webapp.engines import own_parsers
from tests.webapp.engines.own_parsers import Plain, Stuck

RUN: dict[str, Any] = {"parser": "Plain", "request": {}, "finish_reason": None, "path": "stream"}


def played(by: Served, *texts: str, **more: Any) -> dict[str, Any]:
    (found,) = by.play({**RUN, "replays": [[[text] for text in texts]], **more})["replays"]
    return dict(found)


def test_what_looks_into_the_parser_is_not_answered() -> None:
    found = played(Served(Plain, 10), "a", observe="state")
    assert found["sent"][0] == {"content": "a"}
    assert not {"states", "attributes", "lines"} & found.keys()


def test_what_the_parser_prints_stays_with_its_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert played(Served(Plain, 10), "a", "!")["printed"] == [[2, "a mark 0\n and more"]]
    assert capsys.readouterr().out == ""


def test_each_replay_has_a_parser_of_its_own() -> None:
    parser = Plain()
    parser.seen = "before"
    several = Served(parser, 10).play({**RUN, "replays": [[["a"]], [["b"]]]})["replays"]
    assert [one["sent"][0]["content"] for one in several] == ["a", "b"]
    assert parser.seen == "before"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms")
def test_a_parser_that_hangs_is_left_and_not_waited_for_again_and_again() -> None:
    parser = Served(Stuck, 0.05)
    told = [played(parser, "!" * (number + 1), parser="Stuck")["raised"] for number in range(MOST_HANGING + 1)]
    assert [one["slow"] for one in told] == [True] * (MOST_HANGING + 1)
    assert "it did not return in 0.05 seconds" in told[0]["message"]
    assert (told[-1]["message"], told[-1]["place"]) == (
        "2 replays of this test did not return, so it was not asked again",
        "",
    )
    assert [one.get("unasked", False) for one in told] == [*[False] * MOST_HANGING, True]
    parser.begin()
    assert played(parser, "a", parser="Stuck")["raised"] is None


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms")
def test_a_replay_that_hung_is_answered_again_as_it_was_and_not_waited_for() -> None:
    parser = Served(Stuck, 0.05)
    replays = [[["a"]], [["!"]], [["b"]], [["!"]], [["!", []], ["!"]], [["c"]]]
    first = parser.play({**RUN, "parser": "Stuck", "replays": replays})["replays"]
    assert [one["raised"] is None for one in first] == [True, False, True, False, False, False]
    assert first[1] == first[3] == played(parser, "!", parser="Stuck")
    assert [bool((one["raised"] or {}).get("unasked")) for one in first] == [*[False] * 5, True]


class Printing(Plain):
    """It prints for ever, and never returns from a function of the library."""

    def feed(self, text: str, ids: list[int]) -> Any:
        while True:
            print(threading.Event().wait(0.001))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms")
@pytest.mark.parametrize(("kind", "file"), [(Stuck, own_parsers.__file__), (Printing, __file__)])
def test_the_line_that_hangs_is_one_of_the_parser(kind: type, file: str) -> None:
    place = played(Served(kind, 0.05), "!", parser=kind.__name__)["raised"]["place"]
    lines, first = inspect.getsourcelines(kind.feed)  # type: ignore[attr-defined]
    told = re.fullmatch(r"feed, line (\d+) of (\w+\.py)", place)
    assert told is not None, place
    assert told[2] == os.path.basename(file)
    assert first < int(told[1]) <= first + len(lines)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no alarms")
def test_an_alarm_of_somebody_else_goes_on_afterwards() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: heard.append(number))
    signal.setitimer(signal.ITIMER_REAL, 300)
    try:
        with pytest.raises(Hangs), at_most(0.01):
            time.sleep(10)
        assert 0 < signal.setitimer(signal.ITIMER_REAL, 0)[0] <= 300
        assert heard == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_outside_of_the_main_thread_there_is_no_alarm() -> None:
    done: list[str] = []

    def work() -> None:
        with at_most(0.001):
            done.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["done"]


def test_an_adapter_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    class Adapters:
        @staticmethod
        def adapter_for(kind: type, make: Any) -> Any:
            os.environ["HF_HUB_OFFLINE"] = "1"
            raise TypeError("no")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(served, "module_of", lambda title: Adapters)
    with pytest.raises(TypeError, match="no"):
        Served(Plain, 10)
    assert "HF_HUB_OFFLINE" not in os.environ


def test_a_parser_of_a_server_is_known_by_its_bases() -> None:
    base = type("ToolParser", (), {"__module__": "vllm.tool_parsers"})
    mine = type("Mine", (base,), {})
    assert served.made_by(mine()) == served.made_by(mine) == (mine, None)


def script(tmp_path: Any, body: str) -> str:
    path = tmp_path / "inspector.py"
    path.write_text(body, "utf-8")
    return f"{sys.executable} {path}"


HELLO = 'import sys, json\nprint(json.dumps({"answer": {"protocol": 1}}), flush=True)\n'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.stderr.write('no disk left\\n'); sys.exit(3)", "ended: no disk left"),
        ('print(\'{"failed": "it is busy"}\', flush=True)', "it is busy"),
        ("print('[]', flush=True)", "is no inspector that this plugin knows"),
        ("print('{}', flush=True)", "it says what is no answer"),
        ("print('{\"run\": 7}', flush=True)\nsys.stdin.readline()\nsys.stdin.readline()\nsys.exit(1)", "ended"),
        ("print('[' * 100_000, flush=True)", "is no inspector that this plugin knows"),
    ],
)
def test_an_inspector_that_misbehaves_is_told_in_a_sentence(tmp_path: Any, body: str, words: str) -> None:
    found = Piped(script(tmp_path, f"{HELLO}sys.stdin.readline()\n{body}\nsys.stdin.read()\n"), str(tmp_path))
    try:
        with pytest.raises(InspectorError) as error:
            found.ask("check", {}, None)
        assert words in str(error.value)
    finally:
        found.close()


def test_one_that_ended_after_its_answer_is_replaced_without_a_word_as_long_as_that_is_not_often(tmp_path: Any) -> None:
    body = 'sys.stdin.readline()\nprint(json.dumps({"answer": {"outcome": "ok"}}), flush=True)\n'
    options = {"toolcall_inspector": script(tmp_path, f"{HELLO}sys.stdin.readline()\n{body}")}
    config: Any = SimpleNamespace(getoption=options.get, getini=lambda _: "", rootpath=tmp_path)
    session = Session(config)
    for _ in range(MOST_LOST):
        assert session.ask("check", {}) == {"outcome": "ok"}
        cast(Piped, session._inspector)._process.wait()
    with pytest.raises(InspectorError, match="5 inspectors were lost, so no other one is started; the last: it ended"):
        session.ask("check", {})
    session.close()


def test_an_inspector_that_says_nothing_is_ended(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "START_SECONDS", 0.2)
    with pytest.raises(InspectorError, match="said nothing for"):
        Piped(script(tmp_path, "import time\ntime.sleep(60)\n"), str(tmp_path))


def test_one_that_does_not_end_is_killed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "GOODBYE_SECONDS", 0.2)
    found = Piped(script(tmp_path, f"{HELLO}import time\ntime.sleep(60)\n"), str(tmp_path))
    found.close()
    with pytest.raises(InspectorError):
        found.ask("check", {}, None)


def test_where_python_finds_modules_of_the_project_is_not_passed_on(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    body = "import os, sys, json\ntold = {'protocol': 1, 'path': os.environ.get('PYTHONPATH')}\n"
    body += "for line in sys.stdin:\n    print(json.dumps({'answer': told}), flush=True)\n"
    found = Piped(script(tmp_path, body), str(tmp_path))
    assert found.ask("check", {}, None)["path"] is None
    found.close()


class Answering(BaseHTTPRequestHandler):
    """A server that answers what a test wants."""

    answers: list[tuple[int, bytes]] = []  # noqa: RUF012 - of each test
    asked: list[bytes] = []  # noqa: RUF012
    secrets: list[str | None] = []  # noqa: RUF012
    elsewhere = ""

    def do_POST(self) -> None:
        self.secrets.append(self.headers["Authorization"])
        self.asked.append(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Location", self.elsewhere)
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nobody reads that."""


@pytest.fixture
def server() -> Iterator[str]:
    found = HTTPServer(("127.0.0.1", 0), Answering)
    Answering.asked.clear()
    Answering.secrets.clear()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{found.server_address[1]}/"
    found.shutdown()
    thread.join()
    found.server_close()


def test_a_server_is_told_what_it_wants_to_know_until_it_answers(server: str) -> None:
    wanted = b'{"wanted": [{"run": {"parser": "P"}, "of": "x"}]}'
    Answering.answers = [(200, wanted), (200, b'{"outcome": "ok"}')]
    found = inspector_at(server, "")
    assert found.ask("check", {"case": "c"}, lambda run: {"replays": [run["parser"]]}) == {"outcome": "ok"}
    assert Answering.asked[1] == b'{"case": "c", "known": [{"of": "x", "answer": {"replays": ["P"]}}]}'
    found.close()


def test_a_server_gets_the_seconds_that_are_left(server: str) -> None:
    Answering.answers = [(200, b'{"wanted": [{"run": {"parser": "P"}, "of": "x"}]}'), (200, b'{"case": null}')]

    def play(_: Any) -> dict[str, Any]:
        time.sleep(0.01)
        return {"replays": []}

    inspector_at(server, "").ask("find", {"seconds": 5.0}, play)
    first, last = [json.loads(asked)["seconds"] for asked in Answering.asked]
    assert first - 4.0 < last <= first - 0.01
    Answering.answers = [(200, b'{"case": null}')]
    inspector_at(server, "").ask("find", {"seconds": -1.0}, None)
    assert json.loads(Answering.asked[2])["seconds"] == 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((422, b'{"error": {"message": "no such engine"}}'), "no such engine"),
        ((404, b"<html>"), "it answers 404; does that address belong to an inspector of this version?"),
        (
            (401, b'{"error": {"message": "Who may write has a secret."}}'),
            "has a secret; the environment gives its secret: TOOL",
        ),
        ((307, b""), "it answers 307; does that address belong"),
        ((200, b"<html>"), "is no inspector that this plugin knows"),
        ((200, b'{"wanted": [{"run": {}, "of": "x"}]}'), "no parser is served here"),
    ],
)
def test_what_a_server_cannot_do_is_told_in_a_sentence(server: str, answer: tuple[int, bytes], words: str) -> None:
    Answering.answers = [answer]
    with pytest.raises(InspectorError) as error:
        Server(server).ask("check", {}, None)
    assert words in str(error.value)


def test_a_server_that_asks_for_a_secret_is_told_that_of_the_environment_and_nobody_else_is(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HEADER_VARIABLE, "Authorization:  Bearer of-16-characters")
    monkeypatch.setattr(Answering, "elsewhere", server)
    Answering.answers = [(200, b"{}"), (302, b"")]
    found = inspector_at(server, "")
    assert found.ask("check", {}, None) == {}
    with pytest.raises(InspectorError, match="it answers 302"):
        found.ask("check", {}, None)
    assert Answering.secrets == ["Bearer of-16-characters"] * 2


def test_a_server_that_is_busy_is_asked_again(server: str) -> None:
    Answering.answers = [(503, b"{}"), (429, b"{}"), (200, b'{"outcome": "ok"}'), *[(503, b"{}")] * 5]
    found = inspector_at(server, "")
    assert found.ask("check", {}, None) == {"outcome": "ok"}
    with pytest.raises(InspectorError, match="was busy 5 times: ask again later"):
        found.ask("check", {}, None)


def test_an_address_that_is_none_is_told_in_a_sentence() -> None:
    with pytest.raises(InspectorError, match=r"http://localhost:abc cannot be reached \(nonnumeric port: 'abc'\)"):
        inspector_at("http://localhost:abc", "").ask("check", {}, None)


@pytest.mark.parametrize("line", ["Bearer", ": x", "A B: x", "A: ", "A: x\r\nB: y"])
def test_what_is_no_header_is_told(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADER_VARIABLE, line)
    with pytest.raises(InspectorError, match="TOOLCALL_INSPECTOR_HEADER is no header: give NAME: VALUE"):
        inspector_at("http://127.0.0.1:1", "")


def test_a_parser_that_cannot_be_served_is_told(server: str) -> None:
    def play(_run: Any) -> Any:
        raise ValueError("no tokenizer")

    Answering.answers = [(200, b'{"wanted": [{"run": {}, "of": "x"}]}')]
    with pytest.raises(InspectorError, match="the parser cannot answer: ValueError: no tokenizer"):
        Server(server).ask("check", {}, play)


def test_errors_of_checks_are_listed_and_long_texts_are_cut() -> None:
    errors = [{"check": f"c{number}", "message": "m", "step": number or None} for number in range(12)]
    step = {"index": 1, "fed": "x" * 100, "end": False, "sent": {"reasoning": "r"}, "raised": None}
    failed = {**step, "index": 2, "raised": "ValueError: no"}
    shown = {"label": "whole", "deltas": 1, "at": 2, "differences": [], "steps": [step, failed]}
    told = {"outcome": "FAIL", "failing": 0, "replays": 3, "errors": errors, "shown": shown}
    words = failure_words("a", told, ["show it"], everything=False)
    assert "checks find errors; the smallest chunking that shows it: whole (1 delta)\n\n" in words
    assert "and 2 more errors of checks" in words
    assert "check c3 at step 3: m" in words
    assert "'xxxxxxxxxxxxxxxxxxxx'...'xxxxxxxxxxxxxxxxxxxx'" in words
    assert "failed: ValueError: no" in words
    told = {**told, "failing": 2, "late": "1 of 3 was not run."}
    words = failure_words("a", told, ["show it"], everything=False)
    assert "not as expected in 2 of 3 replays; the smallest of them: whole (1 delta)\n1 of 3 was not run.\n\n" in words
