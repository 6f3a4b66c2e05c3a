"""What a child does with a request, before it is a child; and that a front with such children changes no answer."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from flask import Flask
from werkzeug.test import Client, EnvironBuilder

from parsers.cases.case import Case
from tests.webapp.jobs.searches import case_of, found_for
from webapp.app import create_app
from webapp.children.worker import Interrupted, Parent
from webapp.front import replay_program
from webapp.front.front import Front
from webapp.front.replay_program import PIECE, tasks
from webapp.jobs.search_program import written_result
from webapp.runs.held import HELD_HEADER, HeldRuns
from webapp.runs.runner import Runner
from webapp.services import EXTENSION
from webapp.settings import get_settings

MakeFront = Callable[..., Front]
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
API = "/api/v1/replay"
JSON = {"content_type": "application/json"}
TOKEN = re.compile(rb"\b[0-9a-f]{32}\b")


def case(text: str = CALL, **keys: Any) -> str:
    return json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **keys})


class Inbox:
    """The process that has the searches: what it was told and asked, and what it replies."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.replies: list[dict[str, Any]] = []

    def __call__(self, progress: dict[str, Any]) -> None:
        self.told.append(progress)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(question)
        return self.replies.pop(0) if self.replies else {}


@pytest.fixture
def parent() -> Inbox:
    return Inbox()


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(parent: Inbox, tmp_path: Path) -> Iterator[Ask]:
    """The answer to a request of a child with some settings changed."""
    made: dict[str, Any] = {}

    def asked(
        path: str, do: str = "answer", waited: str = "", cache_bytes: int = 10**8, more: Any = (), **options: Any
    ) -> Any:
        if not made:
            made.update(tasks(get_settings(data_dir=tmp_path, **dict(more)).model_dump(mode="json")))
        builder = EnvironBuilder(path, method="POST", **options)
        environ = {name: value for name, value in builder.get_environ().items() if isinstance(value, str)}
        body = builder.get_environ()["wsgi.input"].read()
        request = {"environ": environ, "raw": body, "waited": waited, "cache_bytes": cache_bytes}
        return made[do](request, cast(Parent, parent))

    yield asked
    gc.unfreeze()


def test_a_request_is_answered_by_the_application(ask: Ask, parent: Inbox) -> None:
    answer = ask(API, data=case(), **JSON)
    assert (answer["status"], json.loads(answer["raw"])["message"]["tool_calls"][0]["name"]) == ("200 OK", "f")
    assert ("Content-Type", "application/json") in answer["headers"]
    assert answer["kept"] > 0
    assert answer["held_seconds"] == 0
    assert parent.told == []


@pytest.mark.replays
def test_what_is_held_counts_and_goes_with_the_rest_over_the_budget(ask: Ask) -> None:
    more = [("max_request_bytes", 8_000), ("max_text_bytes", 8_000)]
    first = ask("/run", data=FORM, more=more)["kept"]
    second = ask("/run", data=FORM | {"text": CALL * 2}, more=more)["kept"]
    assert second > first > 0
    tight = ask("/run", data=FORM | {"text": CALL * 3}, more=more, cache_bytes=30_000)["kept"]
    assert 0 < tight <= 30_000
    assert 0 < ask("", do="keep", cache_bytes=0)["kept"] < tight


@pytest.mark.replays
def test_a_child_says_for_how_long_it_holds_posted_runs(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("webapp.app.HeldRuns", partial(HeldRuns, clock=lambda: now[0]))
    more = [("run_seconds", 60)]
    assert ask("/run", data=FORM, more=more)["held_seconds"] == 60
    now[0] = 61
    assert ask(API, data=case(), more=more, **JSON)["held_seconds"] == 0


@pytest.mark.replays
def test_a_long_answer_is_sent_in_pieces_as_it_is_made(ask: Ask, parent: Inbox) -> None:
    answer = ask(f"{API}?format=jsonl", data=case("word " * 2_000), **JSON)
    assert len(parent.told) > 1
    assert parent.told[0]["status"] == "200 OK"
    assert [list(piece) for piece in parent.told[1:]] == [["raw"]] * (len(parent.told) - 1)
    assert sorted(answer) == ["held_seconds", "kept", "raw"]
    assert all(PIECE <= len(piece["raw"]) < 2 * PIECE for piece in parent.told)
    lines = b"".join([piece["raw"] for piece in (*parent.told, answer)]).splitlines()
    assert len([json.loads(line) for line in lines]) > 2_000


@pytest.mark.replays
def test_what_is_computed_is_kept_within_what_is_given(ask: Ask) -> None:
    assert ask(API, data=case(), cache_bytes=10**8, **JSON)["kept"] > 0
    assert ask(API, data=case(), cache_bytes=0, **JSON)["kept"] == 0


@pytest.mark.replays
@pytest.mark.parametrize(("path", "kind"), [("/export/case", "text/html"), ("/api/v1/intake", "application/json")])
def test_an_answer_too_large_is_413_in_the_look_of_the_address(ask: Ask, path: str, kind: str) -> None:
    data: Any = {"case": case("x" * 5_000)} if kind == "text/html" else case("x" * 5_000)
    answer = ask(path, data=data, more=[("answer_bytes", 1_000)], **(JSON if kind != "text/html" else {}))
    assert answer["status"] == "413 REQUEST ENTITY TOO LARGE"
    assert dict(answer["headers"])["Content-Type"].startswith(kind)
    assert b"none may have more than 5,000 (5 times TOOLCALL_INSPECTOR_ANSWER_BYTES)" in answer["raw"]


def said(state: str, found: Case | None = None) -> dict[str, Any]:
    reply: dict[str, Any] = {"state": state, "ahead": 0, "progress": None, "failure": None}
    return reply if found is None else {**reply, "digest": "1", "raw": written_result(found_for(found, 1, True))}


def test_a_search_is_asked_for_elsewhere_and_not_waited_for(ask: Ask, parent: Inbox) -> None:
    parent.replies += [{"lacks": True}, said("running")]
    waiting = ask("/api/v1/find", data=case(), **JSON)["wait"]
    assert (waiting["do"], waiting["seconds"]) == ("wait", float("inf"))
    assert [(question["of"], question["do"], "raw" in question) for question in parent.asked] == [
        ("searches", "start", False),
        ("searches", "start", True),
    ]
    parent.replies += [said("done", case_of(CALL))]
    answer = ask("/api/v1/find", data=case(), waited="k", **JSON)
    assert (answer["status"], json.loads(answer["raw"])["complete"]) == ("200 OK", True)
    assert parent.asked[-1]["key"] == "k", "that was waited for, whatever an engine said of itself meanwhile"


def test_a_search_that_was_waited_for_in_vain_is_busy(ask: Ask, parent: Inbox) -> None:
    parent.replies += [said("running"), said("running")]
    assert ask("/api/v1/find", data=case(), waited="k", **JSON)["status"] == "503 SERVICE UNAVAILABLE"
    assert parent.asked[-1]["do"] == "known"


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        ({"refused": "there is no such thing"}, "422 UNPROCESSABLE ENTITY", b"there is no such thing"),
        ({"failed": True}, "500 INTERNAL SERVER ERROR", b"internal_error"),
    ],
)
def test_what_is_refused_elsewhere_is_refused_here(
    ask: Ask, parent: Inbox, reply: dict[str, Any], status: str, words: bytes
) -> None:
    parent.replies.append(reply)
    answer = ask("/api/v1/find", data=case(), **JSON)
    assert (answer["status"], words in answer["raw"]) == (status, True)


def test_a_view_without_memory_ends_the_child(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Runner, "run", fail)
    with pytest.raises(MemoryError):
        ask(API, data=case(), **JSON)


def test_an_interrupt_leaves_nothing_half_done(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    mended: list[bool] = []
    ask(API, data=case(), **JSON)

    def interrupt(*_args: object) -> None:
        raise Interrupted

    monkeypatch.setattr(Runner, "mend", lambda _runner: mended.append(True))
    monkeypatch.setattr(Runner, "run", interrupt)
    with pytest.raises(Interrupted):
        ask(API, data=case("another"), **JSON)
    assert mended == [True]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    made = create_app(get_settings(data_dir=tmp_path_factory.mktemp("data"), replay_processes=2))
    yield made
    made.extensions[EXTENSION].searches.close()
    made.extensions[EXTENSION].store.close()


@pytest.fixture(scope="module")
def front(app: Flask) -> Iterator[Front]:
    made = Front(app, app.extensions[EXTENSION].settings)
    yield made
    made.close()


FORM = {"text": CALL, "parser": "qwen"}
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/", {}),
    ("HEAD", "/", {}),
    ("GET", "/", {"headers": {"Accept-Encoding": "gzip"}}),
    ("GET", "/example/unknown-tool?step=2", {"headers": {"HX-Request": "true", "HX-Request-Type": "partial"}}),
    ("GET", "/example/nothing", {}),
    ("GET", "/example/unknown-tool/compare", {}),
    ("GET", "/example/unknown-tool/compare?go=a_chunk%3Dchar", {}),
    ("GET", "/example/unknown-tool/export/sse", {}),
    ("GET", "/c/none", {}),
    ("POST", "/run", {"data": FORM}),
    ("POST", "/run", {"data": FORM | {"parser": "nobody"}}),
    ("POST", "/run", {"data": FORM, "headers": {"Origin": "http://evil.example"}}),
    ("POST", "/intake", {"data": FORM}),
    ("POST", API, {"data": case(), **JSON}),
    ("POST", API, {"data": case(), "headers": {"Accept-Encoding": "gzip"}, **JSON}),
    ("POST", f"{API}?format=jsonl", {"data": case("word " * 2_000), **JSON}),
    ("POST", API, {"data": "{", **JSON}),
    ("POST", API, {"data": case(parser={"name": "nobody"}), **JSON}),
    ("POST", API, {"data": case("x" * 1_000_001), **JSON}),
    ("POST", "/api/v1/find", {"data": case(), **JSON}),
    ("GET", "/formats/edit?from=qwen", {}),
    ("OPTIONS", "/run", {}),
    ("DELETE", "/run", {}),
    ("GET", "/", {"base_url": "http://evil.example"}),
]


@pytest.mark.replays
@pytest.mark.parametrize(("method", "path", "options"), REQUESTS, ids=[f"{one[0]} {one[1]}" for one in REQUESTS])
def test_a_front_answers_as_the_application_does(
    app: Flask, front: Front, method: str, path: str, options: dict[str, Any]
) -> None:
    here, there = (Client(one).open(path, method=method, **options) for one in (app, front))
    allowed = [sorted(answer.headers.pop("Allow", "").split(", ")) for answer in (here, there)]  # is in no order
    here.headers.pop(HELD_HEADER, None)
    assert (there.status, [*there.headers], allowed[1]) == (here.status, [*here.headers], allowed[0])
    if "Content-Encoding" not in here.headers:
        assert TOKEN.sub(b"", there.data) == TOKEN.sub(b"", here.data)


@pytest.mark.replays
def test_a_case_is_saved_and_opened_in_children(front: Front) -> None:
    client = Client(front)
    saved = client.post("/api/v1/cases", data=case(), **JSON)
    assert (saved.status_code, json.loads(saved.data)["delete_key"] != "") == (201, True)
    path = f"/c/{json.loads(saved.data)['id']}"
    assert [client.get(path + end).status_code for end in ("", ".json", ".txt", "/find", "?find=1")] == [200] * 5
    assert client.get(path.replace("/c/", "/api/v1/cases/")).status_code == 200


@pytest.mark.replays
@pytest.mark.parametrize(
    "keys", [{"checks": ["nope"]}, {"replay": [{"by": "cuts", "cuts": [99]}]}, {"checks": ["no_terminal_leak"]}]
)
def test_a_search_says_of_a_case_through_a_child_what_it_says_without_one(front: Front, keys: dict[str, Any]) -> None:
    """A search that failed while its request waited is not begun anew for the same request."""
    alone = Client(create_app(get_settings()))
    answers = [client.post("/api/v1/find", data=case(**keys), **JSON) for client in (Client(front), alone)]
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].status_code == 200 or answers[0].json == answers[1].json


def held(client: Client, text: str) -> str:
    """The address of a run that was posted."""
    page = client.post("/run", data={"text": text, "parser": "qwen"})
    found = TOKEN.search(page.data)
    assert found is not None
    assert HELD_HEADER not in page.headers
    return f"/r/{found[0].decode()}"


@pytest.mark.replays
def test_a_posted_run_is_asked_for_by_its_address_as_long_as_its_child_lives(front: Front) -> None:
    client = Client(front)
    first, second = held(client, CALL), held(client, CALL.replace("f", "g"))
    for address, name in ((first, "f"), (second, "g"), (first, "f")):
        assert f"&#34;{name}&#34;" in client.get(address).text
        assert client.get(f"{address}/share").status_code == 200
    for member in front._crew.members:
        member.end()
    assert [client.get(address).status_code for address in (first, f"{second}/compare")] == [410, 410]
    again = client.post("/run", data={"case": case(), "held": first.removeprefix("/r/")})
    assert again.status_code == 200


@pytest.mark.replays
def test_a_run_is_still_held_when_other_work_of_its_child_took_too_long(
    make_front: MakeFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = make_front(replay_program.__name__, replay_processes=1)
    client = Client(front)
    address = held(client, CALL)
    with monkeypatch.context() as short:
        short.setattr(front, "_settings", front._settings.model_copy(update={"replay_seconds": 1}))
        late = client.post(API, data=case("<tool_call> ab {" * 8_000), **JSON)
    assert (late.status_code, "REPLAY_SECONDS" in late.text) == (503, True)
    assert client.get(address).status_code == 200


def test_the_module_is_a_program() -> None:
    assert replay_program.__name__ == Front.__init__.__defaults__[0]  # type: ignore[index]
