"""What tests/conftest.py promises: no network, no settings of the caller, no browser test skipped unnoticed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ELSEWHERE = "192.0.2.1"  # RFC 5737: an address that nobody has
SKIPPED = "import pytest\n@pytest.mark.browser\ndef test_page(): pytest.skip('no Chromium')\n"


@pytest.mark.parametrize("call", [socket.create_connection, lambda address: socket.getaddrinfo(*address)])
@pytest.mark.parametrize("host", [ELSEWHERE, "inspector.example"])
def test_another_machine_is_out_of_reach(call: Callable[[tuple[str, int]], object], host: str) -> None:
    with pytest.raises(RuntimeError, match=f"may not use the network: {host}"):
        call((host, 9))


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_settings_of_the_caller_are_forgotten_and_the_data_folder_is_not_theirs() -> None:
    assert [name for name in os.environ if name.startswith("TOOLCALL_INSPECTOR_")] == []
    assert not Path(os.environ["XDG_DATA_HOME"]).is_relative_to(Path.home() / ".local")


@pytest.mark.parametrize(
    ("environment", "outcome"),
    [
        ({}, "1 skipped"),
        ({"CI": "false"}, "1 skipped"),
        ({"CI": "true"}, "1 failed"),
        ({"TOOLCALL_INSPECTOR_REQUIRE_BROWSER": "1"}, "1 failed"),
    ],
)
def test_a_skipped_browser_test_fails_where_a_browser_is_required(
    root: Path, tmp_path: Path, environment: dict[str, str], outcome: str
) -> None:
    (tmp_path / "test_page.py").write_text(SKIPPED, "utf-8")
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", str(root / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    bare = {"PATH": os.environ["PATH"], **environment}
    assert outcome in subprocess.run(command, cwd=root, env=bare, capture_output=True, text=True).stdout


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "browser").glob("test_*.py")), ids=lambda path: path.name)
def test_a_file_of_browser_tests_is_marked_as_such(path: Path) -> None:
    """Without the mark it would run, and be skipped, among the others. Firefox alone is one that a machine may lack."""
    optional = "(optional=True)" * (path.name == "test_firefox.py")
    assert f"\npytestmark = pytest.mark.browser{optional}\n" in path.read_text("utf-8")
