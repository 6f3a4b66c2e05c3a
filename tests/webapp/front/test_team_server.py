"""The team server: gunicorn with two workers on PostgreSQL. `make test-team` runs it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.postgresql import Cluster
from webapp.store import make_engine, open_store, upgrade

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "docs" / "examples" / "deploy"
CONFIG = DEPLOY / "gunicorn.conf.py"
SECRET = "a secret of some length"
WRITERS, SAVES = 4, 30  # a hundred and twenty cases, posted while a worker is killed
PATIENCE = 300  # seconds: on a machine that others use as well, a child takes a minute to start


class Team(NamedTuple):
    """A server that runs, its port, and the address of its database."""

    master: subprocess.Popen[bytes]
    port: int
    url: str

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        text = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, text, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def workers(self) -> set[int]:
        """The processes of the workers: the children of the master."""
        return started_by(self.master.pid)


def started_by(pid: int) -> set[int]:
    """The children of a process, whichever of its threads started them."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(one) for file in files for one in file.read_text().split()}


def command(port: int) -> list[str]:
    return [sys.executable, "-m", "gunicorn", "--config", str(CONFIG), "--bind", f"127.0.0.1:{port}"]


def environment(url: str, folder: Path) -> dict[str, str]:
    who = {"WRITE_SECRET": SECRET, "WRITE_HEADER": "X-Remote-User", "TRUSTED_HOSTS": "127.0.0.1,inspector.example"}
    ours = {"DATABASE_URL": url, "DATA_DIR": str(folder), "REPLAY_PROCESSES": "1", **who}
    return {**os.environ, **{f"TOOLCALL_INSPECTOR_{name}": value for name, value in ours.items()}}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def eventually(true: Any, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    """Where a unit of `Type=notify` says that it is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(tmp_path / "notify"))
        told.settimeout(PATIENCE)
        yield told


@pytest.fixture
def team(postgresql: Cluster, tmp_path: Path, systemd: socket.socket) -> Iterator[Team]:
    url, port = postgresql.database(), free_port()
    upgrade(engine := make_engine(url))
    engine.dispose()
    environ = {**environment(url, tmp_path), "NOTIFY_SOCKET": str(tmp_path / "notify")}
    with (tmp_path / "log").open("wb") as log:
        master = subprocess.Popen(command(port), cwd=ROOT, env=environ, stderr=log)
    found = Team(master, port, url)
    try:
        eventually(lambda: answers(found))
        yield found
    finally:
        master.terminate()
        master.wait(PATIENCE)


def answers(team: Team, status: int = 200) -> bool:
    assert team.master.poll() is None
    try:
        return team.ask("GET", "/healthz")[0] == status and len(team.workers()) == 2
    except OSError:
        return False


def case(number: int) -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"This is case {number} <tool_call>"}}


def saved(team: Team, number: int) -> str | None:
    """The id under which a case was acknowledged; None where the worker died that had it."""
    try:
        status, body = team.ask("POST", "/api/v1/cases", case(number), Authorization=f"Bearer {SECRET}")
    except (OSError, HTTPException):
        return None
    assert status in (200, 201), body
    found: str = json.loads(body)["id"]
    return found


def test_nothing_acknowledged_is_lost_with_a_worker(team: Team) -> None:
    acknowledged: dict[int, str] = {}
    killed = threading.Event()

    def write(first: int) -> None:
        for number in range(first, WRITERS * SAVES, WRITERS):
            while (case_id := saved(team, number)) is None:
                assert killed.is_set()
            acknowledged[number] = case_id

    threads = [threading.Thread(target=write, args=(first,)) for first in range(WRITERS)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(acknowledged) > WRITERS * SAVES // 4)
    victim = min(before := team.workers())
    children = started_by(victim)
    killed.set()
    os.kill(victim, signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert len(acknowledged) == WRITERS * SAVES
    store = open_store(team.url)
    kept = {number: store.get(case_id) for number, case_id in acknowledged.items()}
    assert [number for number, one in kept.items() if one is None or f"case {number} " not in one.body] == []
    assert store.count() == len(acknowledged)
    store.close()
    eventually(lambda: len(team.workers()) == 2)
    assert victim not in team.workers()
    assert before & team.workers() != set()
    eventually(lambda: not any(Path(f"/proc/{one}").exists() for one in children))


def test_each_worker_says_that_the_server_is_ready_and_gunicorn_does_not_before(
    team: Team, systemd: socket.socket
) -> None:
    assert [systemd.recv(100), systemd.recv(100)] == [b"READY=1", b"READY=1"]
    systemd.setblocking(False)
    with pytest.raises(BlockingIOError):
        systemd.recv(100)


def test_what_one_worker_stored_every_worker_shows(team: Team) -> None:
    case_id = saved(team, 1)
    assert {team.ask("GET", f"/c/{case_id}")[0] for _ in range(12)} == {200}


def test_writing_takes_the_secret(team: Team) -> None:
    assert team.ask("POST", "/api/v1/cases", case(1))[0] == 401
    assert team.ask("POST", "/api/v1/replay", case(1))[0] == 200


def test_a_header_that_is_nearly_the_one_of_the_proxy_is_not_it(team: Team) -> None:
    assert team.ask("POST", "/api/v1/cases", case(1), X_Remote_User="me")[0] == 401
    assert team.ask("POST", "/api/v1/cases", case(1), **{"X-Remote-User": "me"})[0] == 201


NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  {site}
}}
"""


@pytest.fixture
def proxy(team: Team) -> Iterator[Team]:
    """The reverse proxy of the documentation before the server, on a port of its own and without TLS."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("no nginx")
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="toolcall-inspector-nginx-"))
    folder.chmod(0o755)
    (folder / "htpasswd").write_text("me:{PLAIN}word\n", "utf-8")
    site = re.sub(r"\n *ssl_certificate[^\n]*", "", (DEPLOY / "nginx.conf").read_text("utf-8"))
    site = site.replace("listen 443 ssl", f"listen 127.0.0.1:{port}").replace(
        "127.0.0.1:8765", f"127.0.0.1:{team.port}"
    )
    site = site.replace("/etc/nginx/toolcall-inspector.htpasswd", str(folder / "htpasswd"))
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, site=site), "utf-8")
    running = subprocess.Popen([nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")])
    found = Team(team.master, port, team.url)
    try:
        eventually(lambda: answers(found, 401))
        yield found
    finally:
        running.terminate()
        running.wait(PATIENCE)
        shutil.rmtree(folder)


def test_whoever_signs_in_at_the_proxy_may_write(proxy: Team) -> None:
    word = "Basic " + base64.b64encode(b"me:word").decode()
    named = {"Host": "inspector.example"}
    assert proxy.ask("POST", "/api/v1/cases", case(1), **named, Authorization=word)[0] == 201
    assert proxy.ask("GET", "/library", **named, Authorization=word)[0] == 200
    spoofed = {**named, "X-Remote-User": "me"}
    assert proxy.ask("POST", "/api/v1/cases", case(2), **spoofed)[0] == 401


def test_a_browser_gets_all_scripts_of_a_page_at_once_and_many_runs_are_bounded(proxy: Team) -> None:
    word = "Basic " + base64.b64encode(b"me:word").decode()
    named = {"Host": "inspector.example", "Authorization": word}
    scripts = [f"/static/js/{path.name}" for path in (ROOT / "static" / "js").iterdir()]
    with ThreadPoolExecutor(16) as at_once:
        found = [*at_once.map(lambda path: proxy.ask("GET", path, **named)[0], scripts * 2)]
        bounded = [*at_once.map(lambda _: proxy.ask("GET", "/nothing", **named)[0], range(400))]
    assert {*found} == {200}
    assert {404, 503} == {*bounded}


def test_without_the_schema_the_server_says_so_and_ends(postgresql: Cluster, tmp_path: Path) -> None:
    environ = environment(postgresql.database(), tmp_path)
    done = subprocess.run(command(free_port()), cwd=ROOT, env=environ, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode != 0
    assert "toolcall-inspector: the database postgresql+psycopg://" in done.stderr
    assert "run `toolcall-inspector db upgrade`" in done.stderr
    assert "Traceback" not in done.stderr
