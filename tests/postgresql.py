"""A PostgreSQL server of the tests' own: started on a free port of this machine, in a folder that goes with it.

It is Debian's, or whichever `initdb` is on the path. It runs as an ordinary user, because it refuses root: where the
tests do, as the user that Debian's package makes for it, else nobody. The tests connect as a role that owns its
databases and nothing else: it may create no extension and no role.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

WANTED = os.environ.get("TEST_POSTGRESQL", "") not in ("", "0")  # `make test-team` says so
ROLE = "inspector"
_UNTRUSTED = "host all {admin} 127.0.0.1/32 trust\nhost all {role} 127.0.0.1/32 trust\nlocal all {admin} trust\n"
_LEAST = (("shared_buffers", "64MB"), ("max_connections", "60"), ("listen_addresses", "127.0.0.1"))


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest that is installed; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(installed, key=lambda path: int(path.parts[-3].split(".")[0]), default=None)
    return None if newest is None else newest.parent


@dataclass(slots=True)
class Cluster:
    """A server that runs. Each `database` is new, empty, and owned by the ordinary role."""

    programs: Path
    folder: Path
    port: int
    user: str
    control: Callable[[str], None]  # start, stop or restart, at once: what was not written is read from the log
    _names: Iterator[int] = field(default_factory=itertools.count)

    def database(self) -> str:
        """The address of a new database."""
        name = f"cases_{next(self._names)}"
        self.run("createdb", "--owner", ROLE, name)
        return self.url(name)

    def url(self, name: str) -> str:
        """The address of a database as SQLAlchemy takes it."""
        return f"postgresql+psycopg://{ROLE}@127.0.0.1:{self.port}/{name}"

    def run(self, program: str, *arguments: str, role: str | None = None) -> str:
        """Run one of PostgreSQL's programs against this server."""
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--username", role or self.user]
        command = [str(self.programs / program), *where, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def cluster(found: Path) -> Iterator[Cluster]:
    """A server, until the block ends."""
    user, given = _ordinary_user()
    folder = Path(tempfile.mkdtemp(prefix="toolcall-inspector-postgresql-"))
    if given:
        shutil.chown(folder, *given)
    data, port = folder / "data", _free_port()

    def run(program: str, *arguments: str) -> None:
        options = {"user": given[0], "group": given[1], "extra_groups": []} if given else {}
        log = subprocess.run([found / program, *arguments], cwd=folder, capture_output=True, text=True, **options)  # type: ignore[call-overload]
        assert log.returncode == 0, log.stderr

    def control(what: str) -> None:
        how = () if what == "start" else ("--mode", "immediate")
        run("pg_ctl", what, *how, "--wait", "--silent", "--pgdata", str(data), "--log", str(folder / "log"))

    try:
        run("initdb", "--pgdata", str(data), "--username", user, "--auth", "trust", "--encoding", "UTF8", "--no-locale")
        (data / "pg_hba.conf").write_text(_UNTRUSTED.format(admin=user, role=ROLE), "utf-8")
        settings = [*_LEAST, ("port", str(port)), ("unix_socket_directories", str(folder))]
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings)
        control("start")
        try:
            made = Cluster(found, folder, port, user, control)
            made.run("createuser", "--no-superuser", "--no-createdb", "--no-createrole", ROLE)
            yield made
        finally:
            control("stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ordinary_user() -> tuple[str, tuple[int, int] | None]:
    """The user that the server runs as, and its numbers where that is another one than ours."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name, None
    known = {one.pw_name: one for one in pwd.getpwall()}
    other = known.get("postgres") or known["nobody"]
    return other.pw_name, (other.pw_uid, other.pw_gid)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
