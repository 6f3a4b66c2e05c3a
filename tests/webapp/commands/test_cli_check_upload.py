"""`check --upload`: failing cases go to a server of a team, whose permalinks are told."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.serving import make_server

from parsers.cases.io import load_case
from tests.webapp.engines.entering import FAKE
from webapp.app import create_app
from webapp.commands import uploads
from webapp.engines.entered import use_engines
from webapp.engines.entries import Entry, write_entry
from webapp.services import EXTENSION
from webapp.settings import get_settings
from webapp.store import CaseStore
from webapp.store.schema import cases

Program = Callable[..., Any]
CaseFile = Callable[..., Path]
WRONG = {"content": "Hello"}
REFUSED = {"error": {"code": "invalid_case", "message": "no engine\nhere", "field": "/parser/engine"}}
CUT = '{"id": "x", "url": "https://team.exa'
DONE: tuple[int, dict[str, Any]] = (201, {"id": "x", "url": "https://team.example/c/x"})


class Asked(NamedTuple):
    """A request as a server got it."""

    path: str
    headers: dict[str, str]
    body: Any


class Server(NamedTuple):
    """A server that gives the answers one after the other, the last one for ever: status, and object, text or CUT. For
    the status 0 it drops the connection. `waits` is what it says in Retry-After, the same way."""

    address: str
    asked: list[Asked]
    answers: list[tuple[int, Any]]
    waits: list[str]


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server("", [], [DONE], ["0"])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.asked.append(Asked(self.path, dict(self.headers), json.loads(body)))
            status, answer = found.answers.pop(0) if len(found.answers) > 1 else found.answers[0]
            if not status:
                return
            data = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            length, wait = (
                str(len(data) + (answer is CUT)),
                found.waits.pop(0) if len(found.waits) > 1 else found.waits[0],
            )
            for name, value in (("Content-Length", length), ("Location", "/else"), ("Retry-After", wait)):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found._replace(address=f"http://127.0.0.1:{listening.server_port}")
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that an upload waits: nobody does."""
    found: list[float] = []
    monkeypatch.setattr(uploads, "sleep", found.append)
    return found


@pytest.fixture
def team_app(tmp_path: Path) -> Iterator[Flask]:
    """The server of a team, which is the real one."""
    app = create_app(get_settings(data_dir=tmp_path / "team"))
    yield app
    app.extensions[EXTENSION].searches.close()
    app.extensions[EXTENSION].store.close()


@pytest.fixture
def team_store(team_app: Flask) -> CaseStore:
    found: CaseStore = team_app.extensions[EXTENSION].store
    return found


@pytest.fixture
def team(team_app: Flask) -> Iterator[str]:
    """Its address."""
    serving = make_server("127.0.0.1", 0, team_app)
    thread = Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()
    thread.join()


@pytest.mark.replays
def test_a_failing_case_is_stored_by_the_server_and_its_link_is_told(
    program: Program, case_file: CaseFile, team: str, tmp_path: Path
) -> None:
    wrong, right = case_file("wrong.case.json", expect=WRONG, title="Lost"), case_file("right.case.json")
    files = ("--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md")
    done = program("check", wrong, right, "--upload", team, *files)
    assert (done.code, done.err) == (1, "")
    links = [line.strip() for line in done.out.splitlines() if "uploaded to" in line]
    assert len(links) == 1
    link = links[0].removeprefix("uploaded to ")
    assert link.startswith(f"{team}/c/")
    assert (link in (tmp_path / "junit.xml").read_text(), link in (tmp_path / "summary.md").read_text()) == (True, True)
    again = program("check", wrong, "--upload", team)
    assert f"uploaded to {link}" in again.out


def test_a_case_goes_as_it_ran_with_a_title_notes_and_the_headers(
    program: Program, case_file: CaseFile, server: Server
) -> None:
    file = case_file(parser={"name": "auto"}, expect=WRONG, notes=["mine"])
    header = ("--upload-header", "X-Secret:  hush hush ", "--upload-header", "A: b")
    assert program("check", file, "--upload", f"{server.address}/team/", *header).code == 1
    (asked,) = server.asked
    case = load_case(asked.body)
    assert (asked.path, case.parser.name, case.title) == ("/team/api/v1/cases?run=1", "qwen", "one.case.json")
    assert case.input.tokens
    assert case.notes[0] == "mine"
    assert case.notes[1].startswith("toolcall-inspector check: not as expected in 11 of 11 replays")
    assert (asked.headers["X-Secret"], asked.headers["A"]) == ("hush hush", "b")


def test_the_secret_may_come_from_the_environment(
    program: Program, case_file: CaseFile, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(uploads.HEADER_VARIABLE, "Authorization: Bearer hush")
    program("check", case_file(expect=WRONG), "--upload", server.address)
    assert server.asked[0].headers["Authorization"] == "Bearer hush"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An engine of that name, entered here."""
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    use_engines(get_settings())
    write_entry(get_settings(), "mine", Entry(command=(sys.executable, "-I", str(FAKE.with_name("calling_engine.py")))))
    yield
    monkeypatch.delenv("TOOLCALL_INSPECTOR_DATA_DIR")
    use_engines(get_settings())


@pytest.mark.replays
@pytest.mark.usefixtures("mine")
def test_a_case_whose_engine_the_server_does_not_know_goes_as_it_is_written(
    program: Program, case_file: CaseFile, server: Server
) -> None:
    server.answers[:] = [(422, REFUSED), DONE]
    done = program("check", case_file(expect=WRONG), "--engine", "mine:calls", "--upload", server.address)
    first, second = [load_case(asked.body) for asked in server.asked]
    assert (first.parser.engine, second.parser.engine, second.parser.name) == ("mine", None, "qwen")
    assert second.notes[0].startswith("toolcall-inspector check by mine: not as expected")
    assert "uploaded to https://team.example/c/x" in done.out


@pytest.mark.replays
@pytest.mark.usefixtures("mine")
def test_a_case_that_names_such_an_engine_itself_is_kept_as_it_is_written(
    program: Program, case_file: CaseFile, server: Server
) -> None:
    server.answers[:] = [(422, REFUSED), DONE]
    file = case_file(parser={"engine": "mine", "name": "calls"}, expect=WRONG)
    done = program("check", file, "--upload", server.address)
    first, second = server.asked
    assert (first.path, second.path) == ("/api/v1/cases?run=1", "/api/v1/cases")
    case = load_case(second.body)
    assert (case.parser.engine, case.parser.name, case.input.tokens) == ("mine", "calls", None)
    assert case.notes[0].startswith("toolcall-inspector check: not as expected")
    assert "uploaded to https://team.example/c/x" in done.out


@pytest.mark.replays
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            (401, {"error": {"message": "Who are you?"}}),
            "it refuses (401): Who are you?; give its secret with",
        ),
        ((403, "<h1>No</h1>"), "it refuses (403): HTTP 403; give its secret with --upload-header"),
        ((302, ""), "it sends elsewhere (/else); give that address"),
        ((404, "<h1>Not found</h1>"), "it answers HTTP 404 and no JSON of ours: is it the address of a Toolcall Insp"),
        ((200, []), "it answers HTTP 200 and no JSON of ours"),
        ((500, {"error": {"message": "A bug.", "field": None}}), "it answers 500: A bug."),
        ((503, {"error": {"message": "Busy."}}), "it answers 503: Busy."),
        ((502, "<h1>Bad Gateway</h1>"), "it answers HTTP 502 and no JSON of ours"),
        ((0, ""), "it cannot be reached: Remote end closed connection without response"),
        ((500, CUT), "it cannot be reached: IncompleteRead(36 bytes read, 1 more expected)"),
    ],
)
def test_a_server_that_takes_nothing_is_a_line_and_is_asked_no_more(
    program: Program, case_file: CaseFile, server: Server, answer: tuple[int, Any], said: str
) -> None:
    server.answers[:] = [answer]
    files = case_file("a.case.json", expect=WRONG), case_file("b.case.json", expect=WRONG)
    done = program("check", *files, "--upload", server.address)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"--upload {server.address}: {said}" in done.err
    assert "2 cases: 2 FAIL" in done.out
    assert len(server.asked) == (3 if answer[0] in (0, 502, 503) or answer[1] is CUT else 1)


@pytest.mark.parametrize("status", [409, 429])
def test_a_server_that_is_busy_is_asked_again(
    program: Program, case_file: CaseFile, server: Server, status: int
) -> None:
    server.answers[:] = [(status, ""), (503, {"error": {"message": "Busy."}}), DONE]
    assert program("check", case_file(expect=WRONG), "--upload", server.address).code == 1
    assert len({(json.dumps(asked.body), asked.headers["Idempotency-Key"]) for asked in server.asked}) == 1


@pytest.mark.parametrize("answer", [(0, ""), (502, "<h1>Bad Gateway</h1>"), (504, ""), (201, CUT)])
def test_what_was_not_answered_is_asked_again(
    program: Program, case_file: CaseFile, server: Server, answer: tuple[int, Any]
) -> None:
    server.answers[:] = [answer, answer, DONE]
    done = program("check", case_file(expect=WRONG), "--upload", server.address)
    assert (done.code, "uploaded to https://team.example/c/x" in done.out) == (1, True)
    assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 1


WAITS: list[tuple[int, list[str], list[float], str]] = [
    (409, ["1", "1", "2", "4", "128", "150", "0"], [1, 1, 2, 4, 128, 150], "uploaded to"),
    (409, ["1", "300", "300", "0"], [1, 300], "it answers 409: Later."),
    (429, ["4", "10", "0"], [4, 10], "uploaded to"),
    (429, ["3600", "0"], [], "it answers 429: Later."),
]


@pytest.mark.parametrize(("status", "waits", "waited", "said"), WAITS)
def test_a_server_is_asked_again_when_it_says_and_no_sooner(
    program: Program, case_file: CaseFile, server: Server, slept: list[float],
    status: int, waits: list[str], waited: list[float], said: str,
) -> None:  # fmt: skip
    server.waits[:] = waits
    server.answers[:] = [*[(status, {"error": {"message": "Later."}})] * (len(waits) - 1), DONE]
    done = program("check", case_file(expect=WRONG), "--upload", server.address)
    assert (slept, said in done.out + done.err) == (waited, True)


@pytest.mark.replays
@pytest.mark.parametrize("secret", [True, False])
def test_a_job_that_runs_again_with_its_secret_has_the_same_keys(
    program: Program, case_file: CaseFile, server: Server, secret: bool
) -> None:
    files = case_file("a.case.json", expect=WRONG), case_file("b.case.json", expect=WRONG)
    header = ("--upload-header", "Authorization: Bearer hush") if secret else ()
    for _ in range(2):
        program("check", *files, "--upload", server.address, *header)
    keys = [asked.headers["Idempotency-Key"] for asked in server.asked]
    assert (keys[:2] == keys[2:], len({*keys})) == ((True, 2) if secret else (False, 4))
    assert all("hush" not in key and len(key) == 66 for key in keys)


def test_a_case_that_the_team_deleted_is_not_stored_by_the_job_that_runs_again(
    program: Program, case_file: CaseFile, team: str, team_store: CaseStore
) -> None:
    words = ("check", case_file(expect=WRONG), "--upload", team, "--upload-header", "Authorization: Bearer hush")
    link = next(line for line in program(*words).out.splitlines() if "uploaded to" in line)
    with team_store.engine.begin() as connection:
        connection.execute(update(cases).values(body="", deleted="2026-01-31T09:00:00.000Z"))
    done = program(*words)
    assert "/c/" in link
    assert "is not uploaded: The case that was stored with this Idempotency-Key was deleted on 2026-01-31" in done.out
    assert (done.code, team_store.count()) == (1, 0)


def test_a_case_that_the_server_refuses_keeps_no_other_from_being_posted(
    program: Program, case_file: CaseFile, server: Server
) -> None:
    server.answers[:] = [(422, {"error": {"message": "too\nlong", "field": None}}), DONE]
    files = case_file("a.case.json", expect=WRONG), case_file("b.case.json", expect=WRONG)
    done = program("check", *files, "--upload", server.address)
    assert (done.code, done.err) == (1, "")
    assert f"{files[0]} is not uploaded: too long\n" in done.out
    assert done.out.count("uploaded to https://team.example/c/x") == 1


def test_no_more_than_some_are_posted(
    program: Program, case_file: CaseFile, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_UPLOADED", 2)
    files = [case_file(f"{at}.case.json", expect=WRONG) for at in range(4)]
    done = program("check", *files, "--upload", server.address)
    said = "2 more are not uploaded: at most 2 new ones at a time; run it again"
    assert (len(server.asked), said in done.out) == (2, True)


@pytest.mark.replays
@pytest.mark.parametrize("header", [(), ("--upload-header", "X-Secret: hush")])
def test_a_run_goes_on_where_one_before_has_posted_as_many_as_may_be(
    program: Program,
    case_file: CaseFile,
    team: str,
    team_store: CaseStore,
    monkeypatch: pytest.MonkeyPatch,
    header: tuple[str, ...],
) -> None:
    monkeypatch.setattr(uploads, "MOST_UPLOADED", 2)
    files = [case_file(f"{at}.case.json", input={"text": f"This is {at}."}, expect=WRONG) for at in range(5)]
    stored = list[int]()
    for _ in range(3):
        done = program("check", *files, "--upload", team, *header)
        stored.append(team_store.count())
    assert (stored, done.out.count("uploaded to")) == ([2, 4, 5], 5)


def test_what_passes_or_is_known_is_not_posted(program: Program, case_file: CaseFile, server: Server) -> None:
    known = case_file("a.case.json", expect=WRONG, verdict="known_bug")
    assert program("check", known, case_file("b.case.json"), "--upload", server.address).code == 0
    assert server.asked == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--upload", "team.example"), "--upload team.example: give the address of a server"),
        (("--upload", "ftp://team.example"), "give the address of a server"),
        (("--upload", "http://team.example/?a=b"), "give the address of a server"),
        (("--upload", "http://me:hush@team.example"), "a password in an address is seen by many"),
        (("--upload", "http://127.0.0.1:1"), "--upload http://127.0.0.1:1: it cannot be reached: "),
        (("--upload", "http://team.example", "--upload-header", "Secret"), "--upload-header: give NAME: VALUE"),
        (("--upload", "http://team.example", "--upload-header", "A: b\r\nC: d"), "--upload-header: give NAME: VALUE"),
    ],
)
def test_an_address_that_is_none_is_a_line(
    program: Program, case_file: CaseFile, options: tuple[str, ...], said: str
) -> None:
    done = program("check", case_file(expect=WRONG), *options)
    assert (done.code, done.err.count("\n"), said in done.err, "hush" in done.err) == (2, 1, True, False)
