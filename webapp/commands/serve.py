"""`serve`: the inspector behind waitress, on one machine."""

from __future__ import annotations

import errno
import logging
import signal
import socket
import sys
import webbrowser
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from threading import Thread
from time import time
from typing import TYPE_CHECKING, Any

import click
from flask import Flask
from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer, create_server

from parsers.vocabulary.types import UsageError
from webapp.app import create_app
from webapp.cli import HOME, PROGRAM
from webapp.commands.stopping import Stopping
from webapp.front.forwarding import CutShortError
from webapp.front.front import Front
from webapp.front.leaving import HUNG_UP
from webapp.observed import measured
from webapp.release import installed_version
from webapp.request_log import set_up
from webapp.security import REFUSAL
from webapp.settings import Settings, get_settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

# A body over the limit of the settings is refused by the application, which names limit and size; this only bounds
# what is taken in before that.
BODY_ROOM = 16
MOST_UNSENT = 250_000_000  # bytes of one answer, twice the longest; all but the first million are in a file
SILENT_SECONDS = 1  # until a connection may have to make room for another
CLEANUP_SECONDS = 30  # between looks at the connections that say nothing
# A port just left may be taken again at once. Windows calls that something else: there the same option would let two
# programs listen on one port.
REUSE = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
_WORDS = {
    errno.EADDRINUSE: "another program listens there; stop it, or give another --port (0 takes any free one)",
    errno.EACCES: "this user may not; give a --port above 1023",
    errno.EADDRNOTAVAIL: "this machine has no such address; give another --host",
}


@click.command()
@click.option("--host", metavar="HOST", help="Address to listen on.  [default: the setting, 127.0.0.1]")
@click.option("--port", metavar="PORT", type=click.IntRange(0, 65535),
              help="Port to listen on; 0 takes any free one.  [default: the setting, 8765]")  # fmt: skip
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
def serve(host: str | None, port: int | None, open_page: bool) -> None:
    """Start the inspector on this machine.

    The database is brought to the schema of this version first. Ctrl-C ends it at once, SIGTERM once what is being
    answered is done.
    """
    _require_no_rival()
    settings = get_settings(host=host, port=port)
    server, stopping = listening(settings)
    addresses = [address(*place[:2]) for place in listens(server)]
    click.echo(f"Toolcall Inspector {installed_version()} at {', '.join(addresses)} (Ctrl-C ends it)")
    sys.stdout.flush()
    if open_page:  # a browser in the terminal keeps its caller waiting
        Thread(target=webbrowser.open, args=(addresses[0],), daemon=True).start()
    signal.signal(signal.SIGTERM, stopping.begin)
    server.run()


def listening(settings: Settings) -> tuple[Any, Stopping]:
    """A waitress server on its port, and how it ends. Raises UsageError where it cannot have the port, before anything
    else is done."""
    sockets = bound(settings)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waits is no news: we have a line
    set_up(settings)
    try:
        app = create_app(settings)
        front = Front(app, settings) if settings.replay_processes else None
        if front is not None:
            front.warm_up()
        looked_at: dict[int, Any] = {}
        stopping = Stopping(partial(_open_in, looked_at), settings.stop_seconds)
        state = None if front is None else front.state
        server = create_server(
            measured(partial(_served, front or app, app, stopping), app, settings, state),
            map=looked_at,
            sockets=sockets,
            threads=settings.threads + (front.most if front is not None else 0),
            channel_request_lookahead=1,  # else nobody notices that a reader has hung up
            outbuf_high_watermark=MOST_UNSENT,  # a slow reader keeps no child waiting
            asyncore_use_poll=True,  # select() knows no descriptor above 1023
            connection_limit=settings.connections,
            channel_timeout=settings.connection_seconds,
            cleanup_interval=min(CLEANUP_SECONDS, settings.connection_seconds),
            max_request_body_size=BODY_ROOM * settings.max_request_bytes,
            ident=PROGRAM,
            clear_untrusted_proxy_headers=not settings.proxies,
        )
        for one in [one for one in looked_at.values() if isinstance(one, BaseWSGIServer)]:
            one.maintenance, one.readable = partial(_end_silent, one), partial(_may_accept, one, stopping)
            one.channel_class = _Channel
        return server, stopping
    except BaseException:
        close(sockets)
        raise


def _open_in(looked_at: Mapping[int, Any]) -> list[HTTPChannel]:
    return [one for one in list(looked_at.values()) if isinstance(one, HTTPChannel)]


def _served(
    front: WSGIApplication, app: Flask, stopping: Stopping, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """An answer; one that is cut short is no fault of the server's, which closes the connection and says why."""
    if (refusal := stopping.refusal) is not None:
        return app({**environ, REFUSAL: refusal}, start_response)
    hung_up = environ[HUNG_UP]
    try:
        return front({**environ, HUNG_UP: lambda: stopping.gives_up or hung_up()}, start_response)
    except CutShortError as error:
        log.warning("An answer to %s was cut short: %s", environ["PATH_INFO"][:200], error)
        raise ClientDisconnected from error


class _Request(HTTPRequestParser):  # type: ignore[misc]  # nothing says what types waitress has
    """A request with a number of more digits than Python reads is none. waitress would hang up and log a fault."""

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            raise ParsingError("A header has no value that can be read") from error


class _Channel(HTTPChannel):  # type: ignore[misc]  # as above
    parser_class = _Request


def _end_silent(server: Any, now: float) -> None:
    """Close what was silent for too long. waitress does so once it can write there: never, where nobody reads."""
    BaseWSGIServer.maintenance(server, now)
    for channel in [one for one in server.active_channels.values() if one.will_close and one.total_outbufs_len]:
        with suppress(OSError):  # gone meanwhile
            channel.socket.shutdown(socket.SHUT_RDWR)


def _may_accept(server: Any, stopping: Stopping) -> bool:
    """Whether one connection more is taken. Where there are too many, those make room that say nothing."""
    if stopping.told:
        return False
    if len(server._map) >= server.adj.connection_limit:
        _make_room(server)
    return bool(BaseWSGIServer.readable(server))


def _make_room(server: Any) -> None:
    """Close half of the silent connections of the client that has most of them, those that were silent longest."""
    open_ones, latest = server.active_channels.values(), time() - SILENT_SECONDS
    silent = [one for one in open_ones if not (one.requests or one.total_outbufs_len) and one.last_activity < latest]
    if not silent or any(one.will_close for one in silent):
        return
    client, count = Counter([one.addr[0] for one in silent]).most_common(1)[0]
    theirs = sorted([one for one in silent if one.addr[0] == client], key=lambda one: one.last_activity)
    for channel in theirs[: count // 2 + 1]:
        channel.will_close = True


def bound(settings: Settings) -> list[socket.socket]:
    """A socket for each address of the host. Raises UsageError that says why there is none."""
    host, port = settings.host.strip("[]"), settings.port
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, place in dict.fromkeys(found):
            sockets.append(socket.socket(family, socket.SOCK_STREAM))
            sockets[-1].setsockopt(socket.SOL_SOCKET, REUSE, 1)
            if family == socket.AF_INET6:
                sockets[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sockets[-1].bind(place)
    except OSError as error:
        close(sockets)
        unknown = isinstance(error, socket.gaierror)
        why = "no such host; give another --host" if unknown else _WORDS.get(error.errno or 0) or error.strerror
        raise UsageError(f"cannot listen on {address(host, port)}: {why}") from error
    return sockets


def close(sockets: list[socket.socket]) -> None:
    """Give ports back."""
    for one in sockets:
        one.close()


def listens(server: Any) -> list[tuple[str, int]]:
    """Host and port of every socket: a name may stand for several addresses."""
    several = getattr(server, "effective_listen", None)
    return several or [(server.effective_host, server.effective_port)]


def address(host: str, port: int) -> str:
    """The address to type into a browser on this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host.strip("[]"), host.strip("[]"))  # noqa: S104 - compared with
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def _require_no_rival() -> None:
    """Refuse to start where another distribution writes into our packages: pip lets the last one win, silently."""
    for name in ("parsers", "webapp"):
        marker = f"{name}/__init__.py"
        for found in metadata.distributions():
            rival = found.metadata["Name"] != PROGRAM and any(str(path) == marker for path in found.files or ())
            if rival and Path(str(found.locate_file(marker))).resolve() == HOME / marker:
                raise UsageError(
                    f"{found.metadata['Name']} is installed into the same folder and also ships a package `{name}`;"
                    " install the inspector into an environment of its own"
                )
