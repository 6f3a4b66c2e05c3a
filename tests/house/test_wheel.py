"""The wheel holds the whole application, and the application starts from it.

The wheel is built as `python -m build` does it, from a source distribution of the checkout, without isolation or
network, and installed into an environment of its own. That environment borrows the installed requirements through a
path file. Path files found through it are not read, so the editable install of the checkout stays out of reach.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PATIENCE = 60  # seconds a start may take before it counts as failed


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, cwd=root)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment's programs, with the wheel installed in it."""
    home = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install")
    run(*pip, "--no-index", "--no-deps", wheel, cwd=home)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return python.parent


@pytest.fixture(scope="module")
def address(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an inspector that was started from the wheel."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TOOLCALL_INSPECTOR_DATA_DIR": str(home / "data")}
    command = (installed / "toolcall-inspector", "serve", "--port", str(port))
    log = home / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=output, stderr=output)
    try:
        yield wait_for(f"http://127.0.0.1:{port}", process, log)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> str:
    """`address`, as soon as something answers there. The program's own words are the message of a failure."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last and process.poll() is None:
        try:
            fetch(address + "/healthz")
        except urllib.error.URLError:
            time.sleep(0.1)
        else:
            return address
    pytest.fail(f"nothing answers at {address}:\n{log.read_text('utf-8')}")


def fetch(address: str) -> tuple[int, str, bytes]:
    """Status, content type and body. A status of 400 and above raises HTTPError."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=PATIENCE) as response:
        return response.status, response.headers.get_content_type(), response.read()


def test_the_wheel_holds_two_packages_and_nothing_else(names: list[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"parsers", "webapp"}
    assert len(tops) == 3


def test_every_file_of_the_packages_and_their_assets_is_in_the_wheel(names: list[str], files: list[Path]) -> None:
    homes = {"parsers": "parsers", "webapp": "webapp", "templates": "webapp/templates", "static": "webapp/static"}
    ours = [path for path in files if path.parts[0] in homes]
    wanted = {Path(homes[path.parts[0]], *path.parts[1:]).as_posix() for path in ours}
    assert {name for name in names if ".dist-info/" not in name} == wanted | {"webapp/docs/format-language.md"}


def test_the_installed_packages_are_those_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    program = "import parsers, webapp; print(parsers.__file__, webapp.__file__, sep='\\n')"
    found = run(installed / "python", "-c", program, cwd=tmp_path).split()
    assert [Path(path).is_relative_to(installed.parent) for path in found] == [True, True]


def test_the_installed_application_attends_to_a_program_until_that_hangs_up(installed: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    command = (installed / "toolcall-inspector", "attend")
    done = subprocess.run(command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_the_installed_application_starts_and_is_healthy(address: str) -> None:
    assert fetch(address + "/healthz")[0] == 200


def test_the_installed_application_finds_its_templates_and_static_files(address: str, root: Path) -> None:
    assert fetch(address + "/")[1] == "text/html"
    assert b"The format language" in fetch(address + "/formats/language")[2]
    assert fetch(address + "/static/vendor/htmx.min.js")[2] == (root / "static/vendor/htmx.min.js").read_bytes()
