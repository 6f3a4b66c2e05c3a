"""What every test gets: an environment that says nothing, no network, and no browser test skipped unnoticed."""

from __future__ import annotations

import functools
import gc
import ipaddress
import os
import socket
import tempfile
from collections.abc import Callable, Generator
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from tests.amount import every

LONG = 8  # rows of a table of replays, of which every third one is tried
OF_THE_PACKAGES = ("tests/browser/", "tests/parsers/", "tests/webapp/")
PREFIX = "TOOLCALL_INSPECTOR_"
REQUIRE_BROWSER = PREFIX + "REQUIRE_BROWSER"

# Nothing may depend on the clock of a shared machine; in CI the examples are the same on every run.
settings.register_profile(
    "house", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay until the end: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What tests neither package would only be slowed down by measuring which of their lines it reaches.

    `@pytest.mark.replays(but=(...))`: the rows with these ids reach lines that no other test does. Of long tables of
    replays every third row is tried, or all of them where everything is (`tests.amount`) or `each` row has to be.
    """
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.nodeid.startswith(OF_THE_PACKAGES):
            item.add_marker(pytest.mark.replays(each=True))
        row = getattr(getattr(item, "callspec", None), "id", None)
        for mark in [*item.iter_markers("replays")]:
            if row in mark.kwargs.get("but", ()):
                item.own_markers.remove(mark)
            elif row is not None and not mark.kwargs.get("each"):
                tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    if config.getoption("markexpr") == "replays":
        left = {id(item) for table in tables.values() if len(table) >= LONG for item in left_out(table)}
        config.hook.pytest_deselected(items=[item for item in items if id(item) in left])
        items[:] = [item for item in items if id(item) not in left]


def left_out(table: list[pytest.Item]) -> list[pytest.Item]:
    """The rows of a table of tests that are not tried this time: where they begin is each table's own."""
    start = crc32(table[0].nodeid.partition("[")[0].encode()) % 3
    tried = {id(item) for item in every(3, table, start)}
    return [item for item in table if id(item) not in tried]


def pytest_addoption(parser: pytest.Parser) -> None:
    switches = (os.environ.get(REQUIRE_BROWSER, ""), os.environ.get("CI", ""))
    parser.addoption(
        "--require-browser",
        action="store_true",
        default=any(switch.lower() not in {"", "0", "false"} for switch in switches),
        help=f"fail a browser test that would be skipped (also {REQUIRE_BROWSER}=1, CI=true)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Forget the caller's settings, keep tests out of the caller's data folder, and stay on this machine."""
    for name in [name for name in os.environ if name.startswith(PREFIX) or name == "VLLM_RS_STRICT_TOOL_CALL"]:
        del os.environ[name]
    folder = tempfile.TemporaryDirectory(prefix="toolcall-inspector-")
    config.add_cleanup(folder.cleanup)
    os.environ["XDG_DATA_HOME"] = folder.name
    stay_here()


def stay_here() -> None:
    """To look up or reach another machine is an error, before anything is sent.

    An audit hook would see more and is no choice: CPython 3.11 runs it in the middle of setting a trace function, and
    threads that start meanwhile under coverage die of that.
    """
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, refusing(getattr(socket.socket, name), host_of_address))
    for name in ("getaddrinfo", "gethostbyname"):
        setattr(socket, name, refusing(getattr(socket, name), lambda host, *_, **__: host))


def host_of_address(_socket: socket.socket, address: Any) -> Any:
    return address[0] if isinstance(address, tuple) else None  # a Unix socket's address is a path


def refusing(function: Callable[..., Any], host_of: Callable[..., Any]) -> Callable[..., Any]:
    """The function, refusing hosts that are not this machine."""

    @functools.wraps(function)
    def guarded(*given: Any, **more: Any) -> Any:
        host = host_of(*given, **more) or "localhost"
        if not is_here(host.decode() if isinstance(host, bytes) else host):
            raise RuntimeError(f"a test may not use the network: {host}")
        return function(*given, **more)

    return guarded


def is_here(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where a browser is required, a browser test that did not run is a failure.

    `@pytest.mark.browser(optional=True)`: it drives another one, which a machine may lack.
    """
    report = yield
    mark = item.get_closest_marker("browser")
    required = mark and not mark.kwargs.get("optional") and item.config.getoption("--require-browser")
    if required and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped although a browser is required: {report.longrepr}"
    return report
