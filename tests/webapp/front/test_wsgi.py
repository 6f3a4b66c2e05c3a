"""The application as a WSGI server starts it; with gunicorn, in test_team_server.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from werkzeug.test import Client

from webapp.front.front import Front
from webapp.front.wsgi import APP_CANNOT_LOAD, application, require_database


@pytest.mark.replays
@pytest.mark.parametrize("processes", [0, 1])
def test_a_worker_answers(processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TOOLCALL_INSPECTOR_REPLAY_PROCESSES", str(processes))
    require_database()
    made = application()
    assert Client(made).get("/healthz").status_code == 200
    if isinstance(made, Front):
        made.close()
    assert isinstance(made, Front) is (processes > 0)


def test_a_worker_takes_no_request_before_its_children_start_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TOOLCALL_INSPECTOR_REPLAY_PROCESSES", "1")
    done: list[str] = []
    for step in ("warm_up", "wait"):
        monkeypatch.setattr(Front, step, lambda _front, step=step: done.append(step))
    application()
    assert done == ["warm_up", "wait"]


def test_settings_that_cannot_work_are_one_line_and_the_end_of_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_PORT", "no number")
    with pytest.raises(SystemExit) as ended:
        application()
    assert ended.value.code == APP_CANNOT_LOAD
    with pytest.raises(SystemExit):
        require_database()
    assert capsys.readouterr().err.startswith("toolcall-inspector: TOOLCALL_INSPECTOR_PORT is 'no number'")
