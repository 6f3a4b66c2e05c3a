"""The front: what goes to a child and to which, what comes back, and what is said where nothing does."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import delete, update
from sqlalchemy.exc import OperationalError
from werkzeug.test import Client, EnvironBuilder

from tests.webapp.children.processes import PATIENCE, until
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.jobs import Failure, Job
from webapp.children.process import Process, started
from webapp.children.program import Program
from webapp.front import front as module
from webapp.front.front import LIGHT, Front
from webapp.services import EXTENSION
from webapp.store import CaseStore, Listing, Sharing
from webapp.store.engine import writing
from webapp.store.schema import facet_counts

MakeFront = Callable[..., Front]
TOKEN = "0123456789abcdef" * 2
API = "/api/v1/replay"


@pytest.fixture
def front(make_front: MakeFront) -> Front:
    return make_front()


@pytest.fixture
def client(front: Front) -> Client:
    return Client(front)


def told(client: Client, path: str = "/run", **options: Any) -> dict[str, Any]:
    """What a child says of a request that it got."""
    answer = client.post(path, **options) if "data" in options else client.get(path, **options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.data)
    return found


def pids(front: Front) -> list[int]:
    """The processes of the children."""
    return [one.child.pid for one in front._crew.members if one.child.pid is not None]


def only(front: Front) -> Child:
    """The one child that has a process."""
    (found,) = [one.child for one in front._crew.members if one.child.pid is not None]
    return found


def ended(front: Front) -> bool:
    """Whether the one child that was asked has ended, and nobody has noticed."""
    process = only(front)._process
    return process is not None and process.gone


@pytest.mark.parametrize("path", ["/healthz", "/help", "/nothing", "/static/css/nothing.css", "/api/v1/openapi.json"])
@pytest.mark.replays
def test_what_is_light_needs_no_child(client: Client, front: Front, path: str) -> None:
    assert client.get(path).status_code in (200, 404)
    assert client.delete("/run").status_code == 405
    assert pids(front) == []


def test_addresses_that_are_light_exist(front: Front) -> None:
    assert {rule.endpoint for rule in front._app.url_map.iter_rules()} > LIGHT


def test_a_request_arrives_as_it_was_sent(client: Client) -> None:
    body, headers = bytes(range(256)) * 1_000, {"X-Some": "é", "Accept-Encoding": "gzip"}
    found = told(
        client,
        "/run?a=%20b",
        data=body,
        headers=headers,
        content_type="text/x",
        environ_base={"REMOTE_ADDR": "192.0.2.9"},
    )
    environ = found["environ"]
    assert (found["raw"], found["sum"]) == (len(body), sum(body))
    assert {name: environ[name] for name in ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "REMOTE_ADDR")} == {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/run",
        "QUERY_STRING": "a=%20b",
        "REMOTE_ADDR": "192.0.2.9",
    }
    assert (environ["CONTENT_TYPE"], environ["HTTP_ACCEPT_ENCODING"], environ["wsgi.url_scheme"]) == (
        "text/x",
        "gzip",
        "http",
    )
    assert environ["HTTP_X_SOME"] == "é"


@pytest.mark.replays
@pytest.mark.parametrize("path", ["/team/run", "/run"])
def test_below_a_path_the_same_goes_to_children(make_front: MakeFront, path: str) -> None:
    front = make_front(public_url="https://inspector.example/team")
    found = told(Client(front), path)["environ"]
    assert (found["SCRIPT_NAME"], found["PATH_INFO"]) == ("/team", "/run")
    assert Client(front).get(f"/team/r/{TOKEN}/step").status_code == 410
    assert Client(front).get("/team/help").status_code == 200


@pytest.mark.replays
@pytest.mark.parametrize(
    "status", ["200 OK", "303 SEE OTHER", "304 NOT MODIFIED", "404 NOT FOUND", "500 INTERNAL SERVER ERROR"]
)
def test_status_and_headers_come_back_as_they_are(client: Client, status: str) -> None:
    answer = client.get(
        "/run", query_string={"do": "say", "status": status, "Location": "/x", "ETag": 'W/"1"', "Vary": "A, B"}
    )
    assert answer.status == status
    assert [*answer.headers] == [("Location", "/x"), ("ETag", 'W/"1"'), ("Vary", "A, B")]


@pytest.mark.replays
def test_an_answer_in_pieces_is_relayed_in_pieces(client: Client) -> None:
    answer = client.get("/run?do=stream&pieces=3")
    assert answer.data == b"first 0 1 2 last"
    assert "Content-Length" not in answer.headers


def test_a_large_answer_comes_whole(client: Client) -> None:
    assert client.get("/run?do=large&size=3000000").data == b"x" * 3_000_000


@pytest.mark.parametrize("path", ["/run", API])
def test_a_body_over_the_limit_reaches_no_child(make_front: MakeFront, path: str) -> None:
    front = make_front(max_request_bytes=1_000_000, tokenizer_upload_bytes=500_000)
    client = Client(front)
    answer = client.post(path, data=b"x" * 1_000_001)
    assert (answer.status_code, "1,000,001 bytes; the limit is 1,000,000" in answer.text) == (413, True)
    assert ("<title>" in answer.text) == (path == "/run")
    endless = {"wsgi.input": io.BytesIO(b"x" * 1_000_001), "wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    chunked = client.post(path, headers={"Transfer-Encoding": "chunked"}, environ_overrides=endless)
    assert (chunked.status_code, "is too large; the limit is 1,000,000" in chunked.text) == (413, True)
    said = client.post(path, environ_overrides={"CONTENT_LENGTH": "9" * 5_000})
    assert (said.status_code, "is too large; the limit is 1,000,000" in said.text) == (413, True)
    assert pids(front) == []


def test_a_form_may_bring_a_tokenizer_besides(make_front: MakeFront) -> None:
    client = Client(make_front(max_request_bytes=1_000_000, tokenizer_upload_bytes=500_000))
    kind = "multipart/form-data; boundary=x"
    assert told(client, data=b"x" * 1_400_000, content_type=kind)["raw"] == 1_400_000
    assert client.post("/run", data=b"x" * 1_600_000, content_type=kind).status_code == 413


def test_a_chunked_body_arrives_with_a_length(client: Client) -> None:
    whole = {"wsgi.input": io.BytesIO(b"abc"), "wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    answer = client.post("/run", headers={"Transfer-Encoding": "chunked"}, environ_overrides=whole)
    found = json.loads(answer.data)
    assert (found["raw"], found["environ"]["CONTENT_LENGTH"]) == (3, "3")
    assert "HTTP_TRANSFER_ENCODING" not in found["environ"]


def test_half_a_body_is_no_request(client: Client) -> None:
    half = {"wsgi.input": io.BytesIO(b"abc"), "CONTENT_LENGTH": "5"}
    assert client.post("/run", environ_overrides=half).status_code == 400


def test_a_host_that_is_not_trusted_is_refused_whatever_else_is_wrong(make_front: MakeFront) -> None:
    client = Client(make_front(max_request_bytes=1_000_000))
    answer = client.post("/run", data=b"x" * 1_000_001, base_url="http://evil.example")
    assert (answer.status_code, "not known by that host name" in answer.text) == (400, True)


def test_a_held_run_is_asked_for_where_it_is_held(front: Front, client: Client) -> None:
    answer = client.get(f"/run?token={TOKEN}")
    assert "X-Held-Run" not in answer.headers
    holder = json.loads(answer.data)["pid"]
    for path in (f"/r/{TOKEN}", f"/r/{TOKEN}/share?x=1"):
        assert told(client, path)["pid"] == holder
    os.kill(holder, signal.SIGKILL)
    until(lambda: ended(front))
    gone = client.get(f"/r/{TOKEN}")
    assert (gone.status_code, "held here no more" in gone.text) == (410, True)


@pytest.mark.parametrize("path", [f"/r/{TOKEN}", f"/r/{TOKEN}/find", "/r/nothing"])
def test_a_run_that_nobody_holds_is_gone_at_once(front: Front, client: Client, path: str) -> None:
    assert client.get(path).status_code == 410
    assert pids(front) == []


def test_a_token_is_known_before_the_first_piece_is_seen(front: Front) -> None:
    known: list[bool] = []

    def start_response(*_args: Any) -> Callable[[bytes], object]:
        known.append(front._crew._holder(f"/r/{TOKEN}") is next(one for one in front._crew.members if one.busy))
        return lambda _data: None

    [*front(environ_of(f"/run?do=stream&pieces=1&token={TOKEN}"), start_response)]
    assert known == [True]


def at_once(front: Front, *paths: str) -> list[dict[str, Any]]:
    """What children say of requests of which each begins before the one before is over."""
    with ThreadPoolExecutor(len(paths)) as threads:
        slow = [threads.submit(told, Client(front), f"{path}{'&' if '?' in path else '?'}pause=0.3") for path in paths]
        return [one.result() for one in slow]


def test_what_was_asked_for_before_goes_to_the_same_child(front: Front, client: Client) -> None:
    """Else to the one that was used last."""
    first, second = at_once(front, "/c/1", "/c/2")
    assert first["pid"] != second["pid"]
    for name, found in (("1", first), ("2", second), ("1", first)):
        assert told(client, f"/c/{name}/compare?a=1")["pid"] == found["pid"]
        assert told(client, "/run")["pid"] == found["pid"]
    posted = told(client, "/run", data=b"one body")["pid"]
    other = next(found["pid"] for found in (first, second) if found["pid"] != posted)
    told(client, "/c/1" if other == first["pid"] else "/c/2")
    assert told(client, "/run", data=b"one body")["pid"] == posted
    told(client, f"/run?token={TOKEN}", data=b"one body")
    told(client, "/c/1" if other == first["pid"] else "/c/2")
    assert told(client, "/run", data=f"text=x&held={TOKEN}".encode())["pid"] == posted


@pytest.mark.replays
def test_two_who_ask_for_one_case_at_a_time_ask_one_child(front: Front, client: Client) -> None:
    """Else its replay would be made twice, and what was begun of its report be left in one of them."""
    first, again = at_once(front, "/c/1", "/c/1")
    holder = first["pid"]
    assert again["pid"] == holder, "nobody has opened it before"
    assert {found["pid"] for found in at_once(front, "/c/1?part=1", "/c/1?window=1")} == {holder}
    assert [name for name in told(client, "/c/1/compare")["calls"] if name == "tell"] == ["tell"] * 5
    assert told(client, "/c/1?part=2")["pid"] == holder


@pytest.mark.replays
def test_work_that_takes_too_long_is_stopped_and_the_child_keeps_what_it_holds(make_front: MakeFront) -> None:
    front = make_front(replay_seconds=1)
    client = Client(front)
    holder = told(client, f"/run?token={TOKEN}")["pid"]
    for path in ("/run", API):
        late = client.post(f"{path}?do=spin", data=b"x" * 1_234)
        assert (late.status_code, "Retry-After" in late.headers) == (503, False)
        assert "1,234 bytes took longer than TOOLCALL_INSPECTOR_REPLAY_SECONDS allows (1)" in late.text
        assert late.headers["Cache-Control"] == "no-store"
    again = told(client, f"/r/{TOKEN}")
    assert (again["pid"], again["calls"][1:]) == (holder, ["tell", "spin", "spin", "tell"])


@pytest.mark.replays
@pytest.mark.parametrize("before", [[], [f"/run?token={TOKEN}", "/run?do=forget"]])
def test_a_child_that_holds_nothing_is_not_kept_after_an_interrupt(make_front: MakeFront, before: list[str]) -> None:
    front = make_front(replay_seconds=1)
    for path in (*before, "/run?do=spin"):
        answer = Client(front).get(path)
    assert answer.status_code == 503
    assert pids(front) == []


@pytest.mark.replays
def test_what_swallows_the_interrupt_is_killed(make_front: MakeFront, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.2)
    front = make_front(replay_seconds=1)
    client = Client(front)
    told(client, f"/run?token={TOKEN}")
    assert client.get(f"/r/{TOKEN}?do=stubborn").status_code == 503
    assert pids(front) == []
    assert client.get(f"/r/{TOKEN}").status_code == 410


def environ_of(path: str, **more: Any) -> dict[str, Any]:
    builder = EnvironBuilder(path)
    return {**builder.get_environ(), **more}


def quietly(_status: str, _headers: object, _error: object = None, /) -> Callable[[bytes], object]:
    return lambda _data: None


@pytest.mark.replays
@pytest.mark.parametrize("do", ["spin", "endless"])
def test_work_for_a_reader_who_has_left_is_dropped(front: Front, do: str) -> None:
    left: list[bool] = []
    sent: list[bytes] = []
    environ = environ_of(f"/run?do={do}", **{"waitress.client_disconnected": lambda: bool(left)})
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(lambda: [*front(environ, lambda *_: sent.append)])
        until(lambda: sent if do == "endless" else pids(front))
        left.append(True)
        if do == "spin":
            assert asking.result(PATIENCE)
        else:
            with pytest.raises(ConnectionError, match="Nobody waits"):
                asking.result(PATIENCE)
    assert pids(front) == []


def test_a_reader_to_whom_nothing_can_be_written_has_left(front: Front) -> None:
    def start_response(_status: str, _headers: object, _error: object = None, /) -> Callable[[bytes], object]:
        def write(_data: bytes) -> None:
            raise OSError("broken pipe")

        return write

    with pytest.raises(OSError, match="broken pipe"):
        front(environ_of("/run?do=endless"), start_response)


@pytest.mark.replays
def test_who_left_while_waiting_costs_nothing(make_front: MakeFront) -> None:
    front = make_front(replay_processes=1)
    client = Client(front)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(told, client, "/run?pause=1.5")
        until(lambda: front._crew._running)
        environ = environ_of("/run?do=tell", **{"waitress.client_disconnected": lambda: True})
        assert [*front(environ, quietly)]
        assert not first.done()
        assert first.result()["calls"][1:] == ["tell"]


@pytest.mark.replays
def test_a_small_request_does_not_wait_for_large_ones(make_front: MakeFront, monkeypatch: pytest.MonkeyPatch) -> None:
    front = make_front(replay_processes=1)
    monkeypatch.setattr(module, "SMALL", 3)
    with ThreadPoolExecutor(2) as threads:
        large = threads.submit(told, Client(front), "/run?pause=2", data=b"1234")
        until(lambda: front._crew._running)
        assert told(Client(front), "/run", data=b"123")["calls"][1:] == ["tell"]
        assert told(Client(front), "/c/1")["calls"][1:] == ["tell", "tell"]
        assert not large.done()


@pytest.mark.replays
def test_a_long_line_is_turned_away_at_once(make_front: MakeFront, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITING", 1)
    front = make_front(replay_processes=1)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(told, Client(front), "/run?pause=1.5")
        until(lambda: front._crew._running)
        second = threads.submit(told, Client(front), "/run")
        until(lambda: front._crew._waiting)
        for path, kind in (("/run", "text/html"), (API, "application/json")):
            busy = Client(front).post(path)
            assert (busy.status_code, busy.mimetype, busy.headers["Retry-After"]) == (503, kind, "5")
            assert "The server is busy with the requests of others" in busy.text
        assert not first.done()
        assert second.result()
    assert told(Client(front), "/run")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("do=leave", 503, "ended with the process that did it"),
        ("do=grow", 413, "needs more memory than TOOLCALL_INSPECTOR_REPLAY_MEMORY_BYTES allows"),
        ("do=large&size=7000000", 413, "The answer to this request is larger than any answer may be"),
        ("do=fail", 500, "Its log says why"),
    ],
)
def test_a_child_that_cannot_answer_is_one_sentence(
    make_front: MakeFront, query: str, status: int, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(make_front(replay_memory_bytes=300_000_000, answer_bytes=1_000_000))
    for path in ("/run", API):
        answer = client.post(f"{path}?{query}")
        assert (answer.status_code, words in answer.text, "secret" in answer.text) == (status, True, False)
        assert (answer.mimetype == "application/json") == (path == API)
        assert ("Retry-After" in answer.headers) == (query == "do=leave")
    assert ("secret of the code" in caplog.text) == (status == 500)
    assert told(client)["calls"][1:] == ["tell"]


def test_no_process_is_one_sentence(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("multiprocessing.context.BaseContext.Pipe", refuse)
    answer = client.get("/run")
    assert (answer.status_code, "No process can be started" in answer.text) == (503, True)


@pytest.mark.replays
def test_a_child_that_is_killed_takes_one_answer_with_it_and_no_more(front: Front) -> None:
    with ThreadPoolExecutor(2) as threads:
        spinning = threads.submit(Client(front).get, "/run?do=spin")
        until(lambda: pids(front))
        victim = pids(front)[0]
        others = threads.submit(at_once, front, "/run", "/example/x")
        os.kill(victim, signal.SIGKILL)
        assert spinning.result().status_code == 503
        assert all(found["pid"] != victim for found in others.result())


def test_an_answer_that_is_cut_short_is_no_whole_answer(front: Front) -> None:
    with pytest.raises(ConnectionError, match="ended with the process"):
        Client(front).get("/run?do=stream&pieces=2&end=leave")


def test_children_share_one_budget_for_what_they_compute(make_front: MakeFront) -> None:
    front = make_front(trace_cache_bytes=100)
    first, second = at_once(front, "/c/1?kept=70", "/c/2?kept=10")
    client = Client(front)
    assert {first["cache_bytes"], second["cache_bytes"]} == {100}
    assert told(client, "/c/1?kept=70")["cache_bytes"] == 90
    assert told(client, "/c/2?kept=10")["cache_bytes"] == 30
    assert first["calls"][0] == "100"


def test_a_child_that_is_free_forgets_what_another_one_needs(make_front: MakeFront) -> None:
    """None has less than an even share, and between requests all keep no more than there is."""
    front = make_front(trace_cache_bytes=100)
    at_once(front, "/c/1?kept=70", "/c/2?kept=30")
    client = Client(front)
    assert told(client, "/c/2?kept=33")["cache_bytes"] == 30
    assert told(client, "/c/1?kept=67")["calls"][-2:] == ["keep 67", "tell"]
    assert front._crew.kept == 100


def test_a_child_that_cannot_forget_is_ended(make_front: MakeFront, monkeypatch: pytest.MonkeyPatch) -> None:
    front = make_front(trace_cache_bytes=100)
    first, _ = at_once(front, "/c/1?kept=70", "/c/2?kept=30")

    def refuse(*_: object, **__: object) -> None:
        raise ChildError(Ending.LATE)

    with monkeypatch.context() as broken:
        broken.setattr(next(one for one in front._crew.members if one.kept == 70).child, "ask", refuse)
        told(Client(front), "/c/2?kept=33")
    assert first["pid"] not in pids(front)
    assert front._crew.kept == 33


def test_what_children_hold_for_people_they_may_keep_over_the_budget(make_front: MakeFront) -> None:
    front = make_front(trace_cache_bytes=0)
    assert told(Client(front), "/run?kept=50")["cache_bytes"] == 0
    assert told(Client(front), "/run")["calls"][-2:] == ["keep 0", "tell"]


@pytest.mark.replays
def test_a_child_that_grew_too_large_is_not_kept_unless_it_holds_a_run(make_front: MakeFront) -> None:
    front = make_front(replay_processes=1)
    client = Client(front)
    client.get("/run?do=fat")
    assert pids(front) == []
    told(client, f"/run?token={TOKEN}")
    client.get("/run?do=fat")
    assert pids(front) != []
    client.get("/run?do=forget")
    assert pids(front) == []


def test_children_that_have_nothing_to_do_give_their_memory_back(make_front: MakeFront) -> None:
    front = make_front(replay_kept_bytes=0)
    at_once(front, "/c/1", "/c/2")
    assert len(pids(front)) == 1


@pytest.mark.replays
def test_memory_that_is_for_nobody_any_more_is_given_back_though_nobody_asks(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(module, "_WORN_BYTES", 10**12)
    front = make_front(replay_processes=1)
    front.warm_up()
    Client(front).get("/run?do=fat")
    assert pids(front) != []
    for member in front._crew.members:
        member.used -= front._settings.run_seconds
    until(lambda: not pids(front))


def test_shares_that_ended_are_swept_away_though_nobody_asks_and_whatever_the_database_said_before(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(module, "SWEEP_LOOKS", 1)
    front, tries = make_front(replay_processes=1), list[None]()
    store = front._app.extensions[EXTENSION].store
    store.save("a" * 16, "{}", "digest", "1.0", sharing=Sharing(expires="2026-01-01T00:00:00.000Z"))
    sweep = store.sweep

    def trouble_at_first(**given: int) -> list[str]:
        tries.append(None)
        if len(tries) == 1:
            raise OperationalError("", None, Exception())
        found: list[str] = sweep(**given)
        return found

    monkeypatch.setattr(store, "sweep", trouble_at_first)
    front.warm_up()
    until(lambda: not store.expired())
    assert store.count() == 0


def test_what_an_older_server_did_not_count_is_counted_anew_while_a_server_runs(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(module, "SWEEP_LOOKS", 1)
    front = make_front(replay_processes=1)
    store: CaseStore = front._app.extensions[EXTENSION].store
    store.save("a" * 16, "{}", "digest", "1.0", Listing("T", "qwen", "builtin", "all_hold", "pass", "text"))
    other = update(facet_counts).where(facet_counts.c.facet == "parser").values(value="odd")
    with writing(store.engine).begin() as connection:
        connection.execute(other)
    front.warm_up()
    until(lambda: store.library.counts().values["parser"] == [("qwen", 1)])
    with writing(store.engine).begin() as connection:
        connection.execute(delete(facet_counts))
    until(lambda: store.library.counts().total == 1)


def test_who_waits_for_it_has_seen_a_child_start_and_end(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Process] = []

    def noted(program: Program) -> Process:
        begun.append(started(program))
        return begun[-1]

    monkeypatch.setattr(module, "started", noted)
    front = make_front()
    front.wait()
    assert [process.wait(60) is not None for process in begun] == [True]
    assert pids(front) == []


def test_a_child_that_cannot_start_is_told_to_who_needs_it(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "started", Mock(side_effect=OSError))
    make_front().wait()


def test_a_child_asks_for_what_it_does_not_have(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    def asked(**question: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(client.get("/run", query_string={"do": "ask", **question}).data)
        return found

    assert asked(of="searches", key="k") == {"raw": 0}
    assert "no tokenizer 'upload:none' here" in asked(of="tokenizers", name="upload:none", task="encode")["refused"]
    assert asked(of="nobody") == {"failed": True, "raw": 0}
    assert "A question of a child failed" in caplog.text


def search_in(front: Front) -> Job[Any, Any]:
    """A search with the key k that has no end, unless it is given one."""
    front._searches._active["k"] = job = Job[Any, Any]("k")
    return job


def test_nobody_waits_for_a_search_in_a_child(make_front: MakeFront) -> None:
    """And only so many wait for one at all: whoever comes then gets an answer without its result."""
    front = make_front(threads=4)
    search, path = search_in(front), "/run?do=wait&key=k"
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(Client(front).get, path) for _ in range(2)]
        until(lambda: front._searches._places._value == 0 and not front._crew._running)
        assert Client(front).get(f"{path}&seconds=5").data == b"waited"
        assert not any(one.done() for one in waiting)
        search.end(Failure("ended", "It ended."))
        assert [one.result(PATIENCE).data for one in waiting] == [b"waited"] * 2
    assert front._searches._places._value == 2


@pytest.mark.replays
@pytest.mark.parametrize("query", ["key=k&seconds=0", "key=none"])
def test_a_search_is_not_waited_for_longer_than_somebody_wants_nor_where_there_is_none(
    front: Front, client: Client, query: str
) -> None:
    search_in(front)
    assert client.get(f"/run?do=wait&{query}").data == b"waited"


@pytest.mark.replays
def test_who_leaves_while_waiting_for_a_search_gives_the_place_back(front: Front) -> None:
    search_in(front)
    left: list[bool] = []
    environ = environ_of("/run?do=wait&key=k", **{"waitress.client_disconnected": lambda: bool(left)})
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(lambda: [*front(environ, quietly)])
        until(lambda: front._searches._places._value < front._searches.waiters)
        left.append(True)
        assert asking.result(PATIENCE)
    assert front._searches._places._value == front._searches.waiters
