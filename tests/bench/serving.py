"""A server of our own on this machine, started and ended here, as people run it; and what its processes take."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.bench.outputs import ROOT
from webapp.settings import ENV_PREFIX

HOST = "127.0.0.1"
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}
WINDOW = {**PARTIAL, "HX-Target": "div#window"}  # as a page asks for the window around another step
REPORT = {**PARTIAL, "HX-Target": "main#inspector"}  # as a page asks for the report of its run
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
JSON = {"Content-Type": "application/json"}
PATIENCE = 120.0  # seconds for an answer
_START = "from webapp.cli import main; main()"


class Answer(NamedTuple):
    """What a server said, and the seconds until all of it was here."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


class Server:
    """A running server: its port, its processes, and the file with what it logs."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: Path) -> None:
        self.port = port
        self._process = process
        self._log = log

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers: str) -> Answer:
        """Its answer to a request. Raises OSError or HTTPException where there is none."""
        connection = self.connection()
        start = time.monotonic()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            said = answer.read()
            return Answer(answer.status, dict(answer.getheaders()), said, time.monotonic() - start)
        finally:
            connection.close()

    def connection(self) -> http.client.HTTPConnection:
        """A connection to it, for who wants to hang up."""
        return http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE)

    def memory(self) -> tuple[int, int]:
        """Bytes of memory that its processes take together, shared ones once, and how many these are."""
        found = [size for pid in family(self._process.pid) if (size := _proportional(pid))]
        return sum(found), len(found)

    def processor_seconds(self) -> tuple[float, float]:
        """Processor seconds so far: of the process that forwards, and of all, with those that have ended."""
        spent = [_seconds(pid) for pid in family(self._process.pid)]
        return spent[0][0], sum([sum(one) for one in spent])

    def kill(self) -> None:
        """End its first process without a word, and wait until that is gone."""
        self._process.kill()
        self._process.wait(PATIENCE)

    @property
    def pid(self) -> int:
        """Its first process."""
        return self._process.pid

    def log(self) -> str:
        """What it wrote to standard error."""
        return self._log.read_text("utf-8", errors="replace")


@contextmanager
def serving(**settings: Any) -> Iterator[Server]:
    """A server with some settings changed and a data folder of its own; it ends with the block."""
    with TemporaryDirectory() as folder, running(Path(folder), **settings) as server:
        yield server


@contextmanager
def running(
    folder: Path,
    *,
    before: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> Iterator[Server]:
    """A server with its data in `folder`, which may have some from another one; it ends with the block.

    `before` is a command that starts the one it is given, `environment` what that is told besides the settings.
    """
    bare = {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}
    told = {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in settings.items()}
    given = {**bare, **told, f"{ENV_PREFIX}DATA_DIR": f"{folder}/data", "PYTHONPATH": str(ROOT), **(environment or {})}
    command, log = [*before, sys.executable, "-c", _START, "serve", "--port", "0"], folder / "log"
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, cwd=ROOT, env=given, text=True, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            assert process.stdout is not None
            found = re.search(r":(\d+)/", process.stdout.readline())
            assert found is not None, log.read_text("utf-8")
            yield Server(process, int(found[1]), log)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def rss() -> int:
    """Bytes of memory of this process; 0 where the system does not tell."""
    return _kilobytes(Path("/proc/self/status"), "VmRSS:")


def quantile(values: list[float], share: float) -> float:
    """The value below which that share of them lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def family(pid: int) -> list[int]:
    """A process, those that it started, and theirs."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [one for child in task.read_text("ascii").split() for one in family(int(child))]
        except OSError:  # it ended just now
            continue
    return found


def _seconds(pid: int) -> tuple[float, float]:
    """Processor seconds of a process, and of its children that have ended."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    own, system, children, system_of_children = [int(one) / os.sysconf("SC_CLK_TCK") for one in found[11:15]]
    return own + system, children + system_of_children


def _proportional(pid: int) -> int:
    return _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss:")


def _kilobytes(path: Path, name: str) -> int:
    try:
        found = re.search(rf"^{name}\s+(\d+) kB", path.read_text("ascii", errors="replace"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
