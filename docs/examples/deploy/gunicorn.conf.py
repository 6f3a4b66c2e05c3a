"""gunicorn for a team: two workers, each an inspector with child processes of its own, behind a proxy."""

import os
from typing import Any

wsgi_app = "webapp.front.wsgi:application()"
bind = "127.0.0.1:8765"
workers = 2
worker_class = "gthread"
threads = 32  # of a worker; most of them wait for a child
timeout = 120  # until a worker that says nothing is replaced; a request may take three times REPLAY_SECONDS
graceful_timeout = 60
max_requests = 0  # a worker keeps what it replayed, so none is replaced for its age
limit_request_line = 8190
control_socket_disable = True  # gunicorn would make it in HOME, which is no place for it under the unit

_ready = os.environ.pop("NOTIFY_SOCKET", "")  # gunicorn would tell systemd that it is ready before a worker answers


def on_starting(_server: object) -> None:
    """Look at settings and database once, before any worker does."""
    from webapp.front.wsgi import require_database

    require_database()


def post_worker_init(worker: Any) -> None:
    """Tell systemd that the server is ready: this worker takes requests now. What was said before is said again."""
    if _ready:
        from gunicorn.systemd import sd_notify

        os.environ["NOTIFY_SOCKET"] = _ready
        sd_notify("READY=1", worker.log, unset_environment=True)


def child_exit(_server: object, worker: Any) -> None:
    """Counts of requests that a worker was at end with it, where counts of workers are added up."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]  # nothing says its types
