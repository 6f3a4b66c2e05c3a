"""`db clients` tells whoever runs a server who stored how much, and nothing of who that is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webapp.commands.conftest import Program
from webapp.settings import get_settings
from webapp.store import Cost, open_store
from webapp.store.keys import digest_of


def test_clients_are_listed_by_their_digests(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    assert program("db", "clients").out == ""
    store = open_store(get_settings().database_url)
    small, large = (store.spending.client(words, Cost(), Cost()) for words in ("network 192.0.2.0/24", "secret x"))
    store.spending.charge(small, Cost(uploads=1))
    store.spending.charge(large, Cost(2, 3_000))
    store.close()
    first, second = program("db", "clients").out.splitlines()
    assert first.split("  ") == [large.digest, "2 cases", "3,000 bytes", "0 uploads"]
    assert second.startswith(small.digest)
    assert json.loads(program("db", "clients", "--json").out)[1] == {
        "client": small.digest,
        "cases": 0,
        "bytes": 0,
        "uploads": 1,
    }


def test_clients_and_secrets_are_banned_and_served_again(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    client, secret = "0123456789abcdef", digest_of("a leaked secret")
    assert program("db", "ban", client).out == f"{client}, until midnight UTC: banned\n"
    assert program("db", "ban", client).out.endswith(": was banned already\n")
    told = program("db", "ban", "--secret", stdin=b"a leaked secret\n").out
    assert told == f"secret with SHA-256 {secret}: banned\n"
    assert program("db", "ban").out == f"{client}, until midnight UTC\nsecret with SHA-256 {secret}\n"
    assert program("db", "ban", "--lift", client, secret).out.count("is served again") == 2
    assert program("db", "ban", "--lift", client).out.endswith("was not banned\n")
    assert "is no client" in program("db", "ban", "192.0.2.1").err
    assert "no secret was given" in program("db", "ban", "--secret", stdin=b"\n").err
