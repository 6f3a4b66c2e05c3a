"""Faults of what a server stores to: it is killed, the disk is full, the database locked, damaged or restarted."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.serving import family, running
from tests.faults.book import NO_LIMITS, Book, replays, until, writing
from tests.faults.outcome import Outcome, UntriedError
from tests.postgresql import cluster, programs
from webapp.store import make_engine, upgrade

KILLS = 3
DISK, FILLER = 48_000_000, 16_000_000  # bytes
LARGE = "words " * 20_000
LOCKED = 14.0  # seconds: a writer waits ten
_MOUNTS = ("unshare", "--map-root-user", "--mount", "sh", "-c")
DATABASE = Path("data", "toolcall-inspector.sqlite3")


def killed(writes: int) -> Outcome:
    """SIGKILL to the first process while clients write, and a start on what it left."""
    book, back, left = Book(), 0.0, 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kill in range(KILLS):
            with running(folder, **NO_LIMITS) as server, writing(server, book):
                until(lambda: len(book.acknowledged) >= writes * (kill + 1) / KILLS, "writes")  # noqa: B023
                children = family(server.pid)
                server.kill()
                until(lambda: not any(map(_is_alive, children)), "the end of the children")  # noqa: B023
                left += sum(map(_is_alive, children))
        start = time.monotonic()
        with running(folder, **NO_LIMITS) as server:
            book.write(server)
            back, lost = time.monotonic() - start, book.lost(server)
            whole = _is_whole(folder / DATABASE)
    away = ("ConnectionRefusedError", "ConnectionResetError", "RemoteDisconnected", "IncompleteRead", "BrokenPipeError")
    wrong = [*book.unexpected(*away), *["the database is damaged"] * (not whole), *["children are left"] * bool(left)]
    return Outcome("SIGKILL under load", f"{KILLS} kills", book, lost, back, wrong)


def full(writes: int) -> Outcome:
    """A disk of its own that cases fill up; then there is room again."""
    if shutil.which("unshare") is None:
        raise UntriedError("no unshare")
    book = Book()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        mount = f'mount -t tmpfs -o size={DISK} tmpfs "$0" && exec "$@"'
        _try([*_MOUNTS, mount, str(folder / "data"), "true"])
        with running(folder, before=[*_MOUNTS, mount, str(folder / "data")], **NO_LIMITS) as server:
            filler = Path(f"/proc/{server.pid}/root{folder}/data/filler")
            filler.write_bytes(b"\0" * FILLER)
            with writing(server, book, LARGE, writers=2):
                until(lambda: book.answers["507"] >= writes // 10, "a full disk")
            lost = book.lost(server)
            runs = replays(server)
            filler.unlink()
            back = until(lambda: book.write(server, LARGE) == "201", "room")
            lost += book.lost(server)
    return Outcome("Full disk", f"{DISK // 1_000_000} MB", book, lost, back, _runs_went_on(book, runs))


def locked(_writes: int) -> Outcome:
    """Another process holds the lock of SQLite for longer than a writer waits."""
    book = Book()
    with TemporaryDirectory() as name, running(Path(name), **NO_LIMITS) as server:
        book.write(server)
        other = sqlite3.connect(Path(name) / DATABASE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with writing(server, book, writers=4):
            time.sleep(LOCKED)
            runs = replays(server)
            until(lambda: book.answers["503"], "a refusal")
            other.execute("ROLLBACK")
            known = len(book.acknowledged)
            back = until(lambda: len(book.acknowledged) > known, "a write")
        other.close()
        lost = book.lost(server)
    return Outcome("Locked database", f"{LOCKED:.0f} seconds", book, lost, back, _runs_went_on(book, runs))


def damaged(writes: int) -> Outcome:
    """The file of the database is overwritten under the server; then there is a backup, and a start on it.

    SQLite notices when it reads a page of the file. What it takes into its log before that goes with the file, so that
    only what was acknowledged before counts.
    """
    book, after = Book(), Book()
    with TemporaryDirectory() as name:
        folder = Path(name)
        path, backup = folder / DATABASE, folder / "backup"
        with running(folder, **NO_LIMITS) as server:
            for _ in range(writes // 10):
                book.write(server)
            _back_up(path, backup)
            path.write_bytes(b"no database at all, but some words" * 5_000)
            for known in book.acknowledged:
                after.write(server)
                after.read(server, known)
            runs = replays(server)
            server.kill()
        for old in folder.glob(f"{DATABASE}*"):
            old.unlink()
        shutil.copy(backup, path)
        start = time.monotonic()
        with running(folder, **NO_LIMITS) as server:
            until(lambda: book.write(server) == "201", "a write")
            back = time.monotonic() - start
            lost = book.lost(server)
    book.answers += Counter({said: times for said, times in after.answers.items() if not said.startswith("20")})
    return Outcome("Damaged database", "overwritten; a backup", book, lost, back, _runs_went_on(book, runs))


def restarted(writes: int) -> Outcome:
    """PostgreSQL is restarted at once, as after a crash, while clients write."""
    found = programs()
    if found is None:
        raise UntriedError("no PostgreSQL")
    book = Book()
    with cluster(found) as postgresql, TemporaryDirectory() as name:
        url = postgresql.database()
        try:
            engine = make_engine(url)
        except Exception as error:
            raise UntriedError("no psycopg") from error
        upgrade(engine)
        engine.dispose()
        with running(Path(name), database_url=url, **NO_LIMITS) as server:
            with writing(server, book):
                for restart in range(KILLS):
                    until(lambda: len(book.acknowledged) >= writes * (restart + 1) / (KILLS + 1), "writes")  # noqa: B023
                    postgresql.control("restart")
                    known = len(book.acknowledged)
                    back = until(lambda: len(book.acknowledged) > known, "a write")  # noqa: B023
            lost = book.lost(server)
    return Outcome("PostgreSQL restarted", f"{KILLS} times, at once", book, lost, back, book.unexpected())


def _runs_went_on(book: Book, runs: str) -> list[str]:
    return book.unexpected() + [f"a replay was answered {runs}"] * (runs != "200")


def _try(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UntriedError("mounting is not allowed")


def _back_up(path: Path, backup: Path) -> None:
    with sqlite3.connect(path) as source, sqlite3.connect(backup) as target:
        source.backup(target)
    source.close()
    target.close()


def _is_whole(path: Path) -> bool:
    with sqlite3.connect(path) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()
    return bool(found == [("ok",)])


def _is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


STORAGE: tuple[Callable[[int], Outcome], ...] = (killed, full, locked, damaged, restarted)
