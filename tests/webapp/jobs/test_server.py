"""Searches behind the server that people run, and of outputs as long as the settings allow."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import load_case
from webapp.jobs import search_jobs
from webapp.jobs.searches import Searches

ROOT = Path(__file__).resolve().parents[3]
CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def post(address: str, data: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}api/v1/find", json.dumps(data).encode(), headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


@pytest.mark.replays
def test_a_search_runs_behind_waitress_and_ends_with_it(tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment = {**plain, "TOOLCALL_INSPECTOR_DATA_DIR": str(tmp_path)}
    start = "if __name__ == '__main__':\n    from webapp.cli import main\n    main()\n"
    script = tmp_path / "toolcall-inspector"
    script.write_text(start, "utf-8")
    command = [sys.executable, str(script), "serve", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env={**environment, "PYTHONPATH": str(ROOT)}, text=True, stdout=pipe,
                          stderr=pipe) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            found = re.search(r"at (http://127\.0\.0\.1:\d+/)", server.stdout.readline())
            assert found is not None
            answer = post(found[1], {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}})
        finally:
            server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
    assert (answer["complete"], server.returncode, errors) == (True, 0, "")


@pytest.mark.replays
@pytest.mark.slow
def test_a_long_output_is_bounded_in_time_and_memory(
    make_searches: Callable[..., Searches], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_jobs, "PATIENCE_SECONDS", 6.0)
    searches = make_searches("webapp.jobs.search_program", find_seconds=3, find_memory_bytes=600_000_000)
    text = "<tool_call> ab" * 7_200
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text},
                      "tokenizer": {"name": "characters"}})  # fmt: skip
    job = searches.start(case)
    assert job.wait(3 * 2 + 6 + 10)
    assert job.failure is None or job.failure.kind == "late"
    assert job.result is None or not job.result.found.complete
