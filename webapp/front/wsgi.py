"""The inspector for a WSGI server with several workers: `gunicorn 'webapp.front.wsgi:application()'`.

Each worker is a whole inspector with children of its own, and what they share is the database. A posted run that one
worker holds is unknown to the others, which answer 410, and the page posts it again: nothing that was stored is lost
with a worker. Settings that cannot work, a database without this version's schema among them, are one line and the end
of the server, not of worker after worker.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from parsers.vocabulary.types import UsageError
from webapp.app import create_app
from webapp.front.front import Front
from webapp.observed import measured
from webapp.request_log import set_up
from webapp.settings import get_settings
from webapp.store import open_store

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

APP_CANNOT_LOAD = 4  # with which gunicorn's master ends too, instead of starting another worker


def require_database() -> None:
    """End the program, with one line that says why, where the settings or the database cannot be used. For the process
    that starts the workers: it is said once."""
    with _one_line():
        settings = get_settings()
        settings.make_data_dir()
        open_store(settings.database_url).close()


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        print(f"toolcall-inspector: {error}", file=sys.stderr)
        raise SystemExit(APP_CANNOT_LOAD) from error


def application() -> WSGIApplication:
    """The application of a worker, once the children that replay for it start at once: a worker in the place of one
    that was killed takes no requests before, which the others answer meanwhile."""
    with _one_line():
        settings = get_settings()
        set_up(settings)
        app = create_app(settings)
    front = Front(app, settings) if settings.replay_processes else None
    if front is not None:
        front.warm_up()
        front.wait()
    return measured(front or app, app, settings, None if front is None else front.state)
