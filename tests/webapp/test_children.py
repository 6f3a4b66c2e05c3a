"""What a child process is told of our environment."""

from __future__ import annotations

import pytest

from webapp.children import bare_environment


def test_a_child_is_told_where_programs_are_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("TOOLCALL_INSPECTOR_SECRET", "secret")
    told = bare_environment()
    assert told["PATH"] == "/bin"
    assert {"HF_TOKEN", "TOOLCALL_INSPECTOR_SECRET"}.isdisjoint(told)


def test_a_child_is_told_what_it_needs_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:1")
    assert "HTTPS_PROXY" not in bare_environment()
    assert bare_environment("HTTPS_PROXY")["HTTPS_PROXY"] == "proxy:1"
