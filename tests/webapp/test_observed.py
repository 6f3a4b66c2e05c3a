"""What those who run a server are told, and what they are not."""

from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import Client

from webapp.app import create_app
from webapp.front.front import Front
from webapp.front.replay_program import tasks
from webapp.observed import FOLDER, measured
from webapp.request_log import JsonLines, set_up
from webapp.services import EXTENSION
from webapp.settings import Settings

SECRET = "a-secret-word-of-somebody"
Make = Callable[..., tuple[Flask, Settings]]
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Flask] = []

    def app(**settings: Any) -> tuple[Flask, Settings]:
        found = Settings(data_dir=tmp_path, **settings)
        made.append(create_app(found))
        return made[-1], found

    yield app
    for one in made:
        one.extensions[EXTENSION].store.close()


def samples(client: Client, path: str = "/metrics") -> Samples:
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    found = text_string_to_metric_families(answer.text)
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in found for one in family.samples}


def of(name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    return f"toolcall_inspector_{name}", tuple(sorted(labels.items()))


def test_requests_are_counted_by_what_answers_them(make: Make) -> None:
    app, settings = make(metrics=True)
    client = Client(measured(app, app, settings, None))
    for path in ("/healthz", "/healthz", f"/c/{SECRET}", f"/{SECRET}"):
        client.get(path, buffered=True)
    client.open("/healthz", method="BREW", buffered=True)
    found = samples(client)
    assert found[of("requests_total", endpoint="api.healthz", method="GET", status="200")] == 2
    assert found[of("requests_total", endpoint="page.case", method="GET", status="404")] == 1
    assert found[of("requests_total", endpoint="", method="GET", status="404")] == 1
    assert found[of("requests_total", endpoint="", method="other", status="405")] == 1
    assert found[of("request_seconds_count", endpoint="api.healthz", method="GET")] == 2
    assert found[of("answer_bytes_total", endpoint="api.healthz", method="GET")] > 10
    assert found[of("open_requests")] == 0
    assert SECRET not in client.get("/metrics").text


def test_below_a_path_the_counts_are_there_too(make: Make) -> None:
    app, settings = make(metrics=True, public_url="https://inspector.example/team")
    client = Client(measured(app, app, settings, None))
    client.get("/team/healthz", buffered=True)
    assert (
        samples(client, "/team/metrics")[of("requests_total", endpoint="api.healthz", method="GET", status="200")] == 1
    )


def test_nobody_is_told_unless_the_settings_say_so(make: Make) -> None:
    app, settings = make()
    assert measured(app, app, settings, None) is app
    logs = measured(app, app, settings.model_copy(update={"log_format": "json"}), None)
    assert Client(logs).get("/metrics").status_code == 404


def test_the_children_of_a_front_are_told_of(make: Make) -> None:
    app, settings = make(metrics=True, replay_processes=2)
    front = Front(app, settings)
    found = samples(Client(measured(front, app, settings, front.state)))
    assert found[of("children", state="busy")] == 0
    assert found[of("children", state="free")] == len(front._crew.members)
    assert (found[of("waiting_requests")], found[of("kept_bytes")]) == (0, 0)
    front.close()


def test_an_answer_that_breaks_off_counts_once_and_its_error_goes_on(make: Make) -> None:
    app, settings = make(metrics=True)

    def broken(environ: Any, start_response: Any) -> list[bytes]:
        write = start_response("200 OK", [])
        write(b"abc")
        raise ConnectionError(SECRET)

    client = Client(measured(broken, app, settings, None))
    with pytest.raises(ConnectionError):
        client.get("/healthz")
    found = samples(client)
    assert found[of("requests_total", endpoint="api.healthz", method="GET", status="200")] == 1
    assert found[of("answer_bytes_total", endpoint="api.healthz", method="GET")] == 3
    assert found[of("open_requests")] == 0


def test_what_an_answer_has_to_close_is_closed(make: Make) -> None:
    app, settings = make(metrics=True)
    closed: list[str] = []

    class Pieces(list[bytes]):
        def close(self) -> None:
            closed.append("closed")

    def answer(environ: Any, start_response: Any) -> Pieces:
        start_response("204 No Content", [])
        return Pieces()

    Client(measured(answer, app, settings, None)).get("/").close()
    assert closed == ["closed"]


@pytest.mark.replays
def test_workers_are_added_up(tmp_path: Path) -> None:
    program = """
from pathlib import Path
from werkzeug.test import Client
from webapp.app import create_app
from webapp.observed import measured
from webapp.settings import Settings
settings = Settings(data_dir=Path(__import__("sys").argv[1]), metrics=True)
app = create_app(settings)
client = Client(measured(app, app, settings, None))
client.get("/healthz", buffered=True)
print(client.get("/metrics").text)
"""
    folder = tmp_path / "counts"
    folder.mkdir()
    told = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "data")],
            env={**os.environ, FOLDER: str(folder)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    counts = [line.rpartition(" ")[2] for text in told for line in text.splitlines() if line.startswith(
        'toolcall_inspector_requests_total{endpoint="api.healthz"')]  # fmt: skip
    assert counts == ["1.0", "2.0"]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    root, requests = logging.getLogger(), logging.getLogger("webapp.requests")
    before, level = root.handlers[:], requests.level
    yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    root.handlers[:] = before
    requests.setLevel(level)


def test_a_request_is_a_line_of_the_log_without_what_was_asked(
    make: Make, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    app, settings = make(log_format="json")
    set_up(settings)
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": SECRET}}
    path = f"/api/v1/replay?steps=none&{SECRET}=1"
    Client(measured(app, app, settings, None)).post(path, json=case, buffered=True)
    (line,) = lines()
    assert set(line) == {"time", "level", "logger", "event", "endpoint", "method", "status", "bytes", "seconds"}
    assert (line["endpoint"], line["method"], line["logger"]) == ("api.replay", "POST", "webapp.requests")
    assert SECRET not in json.dumps(line)


def test_a_failure_says_where_it_was_and_not_what_was_read(
    make: Make, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    set_up(make(log_format="json")[1])
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("any").exception("It failed for %s.", SECRET)
    detail = f'Traceback (most recent call last):\n  File "{__file__}", line 7, in f\n    g("{SECRET}")\nE: {SECRET}\n'
    logging.getLogger("any").error("A child failed: %s", detail)
    logging.getLogger("any").warning("Busy with %(what)s", {"what": SECRET})
    here, there, busy = lines()
    assert (here["event"], here["error"]) == ("It failed for %s.", "ValueError")
    assert here["frames"][0].endswith("test_a_failure_says_where_it_was_and_not_what_was_read")
    assert (there["event"], there["frames"]) == ("A child failed: %s", [f"{__file__}:7 f"])
    assert busy["event"] == "Busy with %(what)s"
    assert SECRET not in json.dumps([here, there, busy])


def test_children_log_as_their_parent_does(make: Make, lines: Callable[[], list[dict[str, Any]]]) -> None:
    given = make(log_format="json")[1].model_dump(mode="json")
    freeze = gc.get_freeze_count()
    before = gc.get_threshold()
    try:
        tasks(given)
    finally:
        gc.set_threshold(*before)
        if not freeze:
            gc.unfreeze()
    logging.getLogger("any").warning("It failed for %s.", SECRET)
    assert [line["event"] for line in lines()] == ["It failed for %s."]


def test_text_is_logged_as_ever(make: Make) -> None:
    before = logging.getLogger().handlers[:]
    set_up(make()[1])
    assert logging.getLogger().handlers == before
    assert not any(isinstance(one.formatter, JsonLines) for one in before)
