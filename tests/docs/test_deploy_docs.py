"""docs/deploy.md and the files beside it: each is read as what it is, and by its own program where there is one."""

from __future__ import annotations

import configparser
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from webapp.page.library import incoming
from webapp.settings import ENV_PREFIX, Settings
from webapp.store.collecting import MOST

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "docs" / "examples" / "deploy"
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
LIBRARY = (ROOT / "docs" / "case-library.md").read_text("utf-8")
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "CMD"}


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "toolcall-inspector.service", "utf-8")
    return parser


def test_every_file_is_linked_on_the_page() -> None:
    files = [one for one in DEPLOY.iterdir() if one.is_file()]
    assert [one.name for one in files if f"(examples/deploy/{one.name})" not in PAGE] == []


def test_gunicorn_is_told_an_application_that_is_there() -> None:
    told = runpy.run_path(str(DEPLOY / "gunicorn.conf.py"))
    module, _, call = told["wsgi_app"].partition(":")
    assert callable(getattr(import_module(module), call.removesuffix("()")))
    assert told["workers"] == 2


def test_gunicorn_makes_nothing_in_the_home_of_nobody() -> None:
    assert runpy.run_path(str(DEPLOY / "gunicorn.conf.py"))["control_socket_disable"] is True


def test_the_environment_is_of_settings() -> None:
    lines = [line for line in (DEPLOY / "environment").read_text("utf-8").splitlines() if not line.startswith("#")]
    given = dict(line.split("=", 1) for line in lines)
    assert all(name.startswith(ENV_PREFIX) for name in given)
    Settings(**{name.removeprefix(ENV_PREFIX).lower(): value for name, value in given.items()})  # type: ignore[arg-type]


def test_the_image_copies_what_the_checkout_has() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert {line[0] for line in lines} == INSTRUCTIONS
    copied = [line[1] for line in lines if line[0] == "COPY" and not line[1].startswith("--from")]
    read = re.findall(r"-r (\S+)", text)
    assert [path for path in copied + read if not (ROOT / path).exists()] == []
    assert read == ["requirements/build.txt", "requirements/run.txt", "requirements/team.txt"]


def test_the_unit_starts_gunicorn_and_not_again_and_again() -> None:
    service = unit()["Service"]
    assert service["ExecStart"].split()[1:] == ["--config", "/etc/toolcall-inspector/gunicorn.conf.py"]
    assert service["RestartPreventExitStatus"] == "3 4"
    assert service["NotifyAccess"] == "all"  # a worker, which says that the server is ready, is no main process


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "toolcall-inspector.service").read_text("utf-8")
    path = tmp_path / "toolcall-inspector.service"
    path.write_text(text.replace("/opt/inspector/bin/gunicorn", sys.executable), "utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True)
    assert (done.returncode, [line for line in done.stderr.splitlines() if path.name in line]) == (0, [])


NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.mark.skipif(NGINX is None, reason="no nginx")
def test_nginx_finds_nothing_wrong_with_its_file(tmp_path: Path) -> None:
    site = re.sub(r"\n *ssl_certificate[^\n]*", "", (DEPLOY / "nginx.conf").read_text("utf-8"))
    site = site.replace("listen 443 ssl", "listen 127.0.0.1:8443")
    file = tmp_path / "nginx.conf"
    places = f"pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}}"
    file.write_text(f"{places} http {{ access_log off;\n{site} }}", "utf-8")
    done = subprocess.run([str(NGINX), "-t", "-c", str(file)], capture_output=True, text=True)
    assert (done.returncode, "test is successful" in done.stderr) == (0, True), done.stderr


def test_limits_are_as_documented() -> None:
    assert f"{incoming.MOST_MEMBERS:,} members and {incoming.MOST_BYTES // 1_000_000} million bytes" in LIBRARY
    assert f"{incoming.MOST_TIMES} times its size" in LIBRARY
    assert incoming.SMALL == 1_000_000
    assert f"at most {MOST:,} cases" in LIBRARY
