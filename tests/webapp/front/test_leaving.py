"""A reader who left is noticed under each server."""

from __future__ import annotations

import socket

from webapp.front.leaving import HUNG_UP, leaving


def test_gunicorn_is_asked_for_the_connection() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        has_left = leaving({"gunicorn.socket": ours})
        assert has_left() is False
        theirs.send(b"GET / HTTP/1.1\r\n")
        assert has_left() is False  # the next request of a connection that is kept
        ours.recv(100)
        theirs.close()
        assert has_left() is True
    assert has_left() is True


def test_waitress_tells_and_others_do_not() -> None:
    assert leaving({HUNG_UP: lambda: True})() is True
    assert leaving({})() is False
    assert leaving({"gunicorn.socket": object()})() is False
