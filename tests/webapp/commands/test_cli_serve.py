"""`serve`: it says where it listens, keeps out of the way of others, and ends when it is told to."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from webapp import cli
from webapp.commands import serve
from webapp.commands.stopping import Stopping
from webapp.settings import get_settings

Program = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.replays
def test_a_server_prints_its_address_answers_and_ends_on_sigterm(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", "utf-8")
    folders = {"TOOLCALL_INSPECTOR_DATA_DIR": str(tmp_path), "TOOLCALL_INSPECTOR_FORMATS": str(tmp_path)}
    environment = {**os.environ, **folders, "BROWSER": "true"}
    command = [sys.executable, "-c", "from webapp.cli import main; main(['serve', '--port', '0', '--open'])"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"at (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)", process.stdout.readline())
            assert found is not None
            place = ("127.0.0.1", int(found[1].rpartition(":")[2].strip("/")))
            idle = [socket.create_connection(place) for _ in range(150)]  # more than waitress takes by itself
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(found[1]) as answer:
                assert (answer.status, answer.headers["Server"]) == (200, "toolcall-inspector")
            for connection in idle:
                connection.close()
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert "formats folder: broken.json is not used: line 1" in process.stderr.read()
    assert (tmp_path / "toolcall-inspector.sqlite3").is_file()


@pytest.mark.replays
def test_a_port_that_is_taken_is_named(program: Program, taken: int) -> None:
    done = program("serve", "--port", taken)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"cannot listen on http://127.0.0.1:{taken}/: another program listens there" in done.err


@pytest.mark.replays
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EADDRNOTAVAIL, "Cannot assign"), "no such address; give another --host"),
        (PermissionError(errno.EACCES, "Permission denied"), "give a --port above 1023"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (socket.gaierror(socket.EAI_NONAME, "not known"), "no such host; give another --host"),
    ],
)
def test_an_address_that_cannot_be_had_is_named(
    program: Program, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    done = program("serve", "--host", "inspector.example")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot listen on http://inspector.example:8765/: " in done.err
    assert words in done.err


@pytest.mark.replays
def test_a_port_is_given_back_where_the_application_cannot_start(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATABASE_URL", f"sqlite:///{tmp_path}/none/cases.sqlite3")
    assert program("serve", "--port", "0").code == 2


def test_every_address_of_a_host_has_a_socket() -> None:
    try:
        sockets = serve.bound(get_settings(host="::1", port=0))
    except UsageError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    try:
        assert [one.family for one in sockets] == [socket.AF_INET6]
    finally:
        serve.close(sockets)


@pytest.mark.parametrize(
    ("host", "port", "typed"),
    [
        ("127.0.0.1", 80, "http://127.0.0.1:80/"),
        ("0.0.0.0", 1, "http://127.0.0.1:1/"),
        ("::", 1, "http://[::1]:1/"),
        ("[::1]", 1, "http://[::1]:1/"),
    ],
)
def test_an_address_is_one_that_a_browser_takes(host: str, port: int, typed: str) -> None:
    assert serve.address(host, port) == typed


def test_a_server_of_several_sockets_names_them_all() -> None:
    class Several:
        effective_listen = (("127.0.0.1", 1), ("::1", 1))

    assert list(serve.listens(Several())) == [("127.0.0.1", 1), ("::1", 1)]


@pytest.mark.parametrize(("processes", "threads"), [(0, 3), (2, 3 + 2 * 10 + 1 + 3 // 2 + 12)])
def test_settings_reach_the_server(tmp_path: Path, processes: int, threads: int) -> None:
    settings = get_settings(
        port=0, data_dir=tmp_path, threads=3, max_request_bytes=2_000_000, replay_processes=processes
    )
    server, _ = serve.listening(settings)
    try:
        assert (server.adj.threads, server.adj.max_request_body_size) == (threads, 32_000_000)
    finally:
        server.task_dispatcher.shutdown()
        server.close()


class Foreign:
    """A distribution that ships a package of our name, in our folder or elsewhere."""

    def __init__(self, name: str, folder: Path) -> None:
        self.metadata = {"Name": name}
        self.files = ["other/__init__.py", "parsers/__init__.py"]
        self.folder = folder

    def locate_file(self, path: str) -> Path:
        return self.folder / path


@pytest.mark.parametrize(
    ("name", "folder", "code"),
    [("rival", cli.HOME, 2), ("rival", cli.HOME / "elsewhere", 0), (cli.PROGRAM, cli.HOME, 0)],
)
def test_a_rival_in_our_folder_keeps_the_server_from_starting(
    program: Program, monkeypatch: pytest.MonkeyPatch, name: str, folder: Path, code: int
) -> None:
    monkeypatch.setattr("importlib.metadata.distributions", lambda: [Foreign(name, folder)])
    monkeypatch.setattr(serve, "listening", lambda _settings: (Silent(), Stopping(list, 1)))
    done = program("serve", "--port", "0")
    assert done.code == code
    assert ("rival is installed into the same folder" in done.err) == (code == 2)


class Silent:
    """A server that ends at once."""

    effective_host, effective_port = "127.0.0.1", 8765

    def run(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
