"""Several real processes on one database: what each was told is saved is there afterwards, whatever happened to it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import webapp
from webapp.store import open_store

# Waits for a line, migrates the database (new, so all do it at once), saves 20 cases of its own and 20 that every
# process saves.
SAVE_ALL = """
import json, sys
from webapp.store import make_engine, open_store, upgrade
url, me = sys.argv[1:]
sys.stdin.readline()
upgrade(make_engine(url))
store = open_store(url)
saved = []
for n in range(20):
    for case_id in (f"own{me}{n:012}", f"shared{n:010}"):
        result = store.save(case_id, json.dumps([case_id]), "digest", "1.0")
        saved.append([result.id, result.created, result.delete_key])
store.close()
print(json.dumps(saved))
"""

# Saves case after case, and says so after each, until it is killed.
SAVE_FOR_EVER = """
import itertools, sys
from webapp.store import open_store
store = open_store(sys.argv[1])
for n in itertools.count():
    case_id = f"{n:016}"
    store.save(case_id, case_id * 5000, "digest", "1.0")
    print(case_id, flush=True)
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(webapp.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def assert_intact(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.replays
def test_processes_that_save_at_once_lose_nothing(database_url: str) -> None:
    processes = [start(SAVE_ALL, database_url, str(n)) for n in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    saved = [tuple(row) for output in outputs for row in json.loads(output)]
    created = Counter(case_id for case_id, was_created, _ in saved if was_created)
    assert created == {case_id: 1 for case_id, _, _ in saved}
    assert len({key for _, _, key in saved}) == len(saved)  # each has a key of their own
    store = open_store(database_url)
    assert store.count() == len(created) == 4 * 20 + 20
    bodies = {case_id: case.body for case_id in created if (case := store.get(case_id))}
    store.close()
    assert bodies == {case_id: json.dumps([case_id]) for case_id in created}


@pytest.mark.replays
@pytest.mark.parametrize("saves", [1, 25])
def test_what_was_acknowledged_survives_a_kill(saves: int, migrated: str) -> None:
    with start(SAVE_FOR_EVER, migrated) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(saves)]
        process.kill()
        acknowledged += [line for line in process.stdout if line.endswith("\n")]
    assert process.returncode != 0
    store = open_store(migrated)
    for case_id in (line.strip() for line in acknowledged):
        case = store.get(case_id)
        assert case is not None
        assert case.body == case_id * 5000
    assert len(acknowledged) <= store.count() <= len(acknowledged) + 1
    store.close()
    if store.engine.dialect.name == "sqlite":
        assert_intact(Path(str(store.engine.url.database)))
