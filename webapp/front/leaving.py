"""Whether the reader of an answer has left, as the server tells it that runs the application."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from ssl import SSLSocket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

HUNG_UP = "waitress.client_disconnected"  # in the environ: a function
_CONNECTION = "gunicorn.socket"  # in the environ, of gunicorn's own workers


def leaving(environ: WSGIEnvironment) -> Callable[[], bool]:
    """What says whether the reader has left; never where the server does not tell, as gunicorn does not behind TLS of
    its own."""
    if HUNG_UP in environ:
        told: Callable[[], bool] = environ[HUNG_UP]
        return told
    connection = environ.get(_CONNECTION)
    if not isinstance(connection, socket.socket) or isinstance(connection, SSLSocket):
        return bool
    return partial(_is_closed, connection)


def _is_closed(connection: socket.socket) -> bool:
    """Only Unix has the flag, and gunicorn."""
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
