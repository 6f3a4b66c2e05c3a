"""What those who run a server are told: counts for Prometheus, and a line of JSON for each request.

Neither holds a word of a user, an address or an id: a request is its method, the name of what answers it and a status.
`measured` puts both around an application. Counts of several workers are added up where PROMETHEUS_MULTIPROC_DIR names
a folder (prometheus_client); what children do is told of the worker that is asked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from flask import Flask
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import ClosingIterator

from webapp.children.crew import CrewState
from webapp.mounting import placed, public_path
from webapp.request_log import REQUESTS
from webapp.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

METRICS = "/metrics"
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40)  # seconds
_PREFIX = "toolcall_inspector"
_LABELS = ("endpoint", "method")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))

log = logging.getLogger(REQUESTS)


class _Children(Collector):
    """What the children of a front do at this moment."""

    def __init__(self, state: Callable[[], CrewState]) -> None:
        self._state = state

    def collect(self) -> Iterator[GaugeMetricFamily]:
        state = self._state()
        children = GaugeMetricFamily(f"{_PREFIX}_children", "Processes that replay, by state.", labels=["state"])
        children.add_metric(["busy"], state.busy)
        children.add_metric(["free"], state.free)
        yield children
        yield GaugeMetricFamily(f"{_PREFIX}_waiting_requests", "Requests in line for a child.", state.waiting)
        yield GaugeMetricFamily(f"{_PREFIX}_kept_bytes", "Bytes that children keep of replays.", state.kept)


class _Counts:
    """The counts of a process."""

    def __init__(self, state: Callable[[], CrewState] | None) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(f"{_PREFIX}_requests", "Requests.", (*_LABELS, "status"), registry=registry)
        self.seconds = Histogram(
            f"{_PREFIX}_request_seconds",
            "Seconds to the end of an answer.",
            _LABELS,
            buckets=BUCKETS,
            registry=registry,
        )
        self.bytes = Counter(f"{_PREFIX}_answer_bytes", "Bytes of bodies of answers.", _LABELS, registry=registry)
        self.open = Gauge(
            f"{_PREFIX}_open_requests", "Requests being answered.", registry=registry, multiprocess_mode="livesum"
        )
        self._children = None if state is None else _Children(state)

    def exposition(self) -> bytes:
        """Everything, as Prometheus reads it."""
        several = CollectorRegistry()
        if os.environ.get(FOLDER):
            multiprocess.MultiProcessCollector(several)  # type: ignore[no-untyped-call]  # nothing says its types
        else:
            several.register(self.registry)
        if self._children is not None:
            several.register(self._children)
        return generate_latest(several)


def measured(
    application: WSGIApplication, app: Flask, settings: Settings, state: Callable[[], CrewState] | None
) -> WSGIApplication:
    """The application, counted where the settings ask for it, and told of in lines of JSON where they do; with the
    `state` of its children, where it has any."""
    if not settings.metrics and settings.log_format != "json":
        return application
    return _Measured(application, app, settings, state)


class _Measured:
    def __init__(
        self, application: WSGIApplication, app: Flask, settings: Settings, state: Callable[[], CrewState] | None
    ) -> None:
        self._application, self._app, self._root = application, app, public_path(settings)
        self._shows, self._logs = settings.metrics, settings.log_format == "json"
        self._counts = _Counts(state)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ = placed(environ, self._root)
        if self._shows and environ["PATH_INFO"] == METRICS and environ["REQUEST_METHOD"] == "GET":
            body = self._counts.exposition()
            start_response("200 OK", [("Content-Type", CONTENT_TYPE_LATEST), ("Content-Length", str(len(body)))])
            return [body]
        return self._answered(environ, start_response)

    def _answered(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = _Answer(self._name_of(environ), environ["REQUEST_METHOD"], self._end)
        self._counts.open.inc()
        try:
            pieces = self._application(environ, answer.started_by(start_response))
        except BaseException:
            answer.end()
            raise
        return ClosingIterator(answer.counted(pieces), [getattr(pieces, "close", None) or _nothing, answer.end])

    def _name_of(self, environ: WSGIEnvironment) -> str:
        """The name of what answers a request; "" where nothing has its address."""
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        try:
            endpoint, _ = self._app.url_map.bind("localhost").match(path, environ["REQUEST_METHOD"])
        except HTTPException:
            return ""
        return str(endpoint)

    def _end(self, answer: _Answer) -> None:
        seconds = perf_counter() - answer.begun
        labels = (answer.endpoint, answer.method if answer.method in _METHODS else "other")
        self._counts.open.dec()
        self._counts.requests.labels(*labels, str(answer.status)).inc()
        self._counts.seconds.labels(*labels).observe(seconds)
        self._counts.bytes.labels(*labels).inc(answer.bytes)
        if self._logs:
            told = {"endpoint": labels[0], "method": labels[1], "status": answer.status, "bytes": answer.bytes}
            log.info("request", extra={"told": {**told, "seconds": round(seconds, 4)}})


class _Answer:
    """An answer on its way. Its status is 0 where it never began: whoever asked left, or the server failed."""

    def __init__(self, endpoint: str, method: str, at_end: Callable[[_Answer], None]) -> None:
        self.endpoint, self.method = endpoint, method
        self.begun, self.status, self.bytes = perf_counter(), 0, 0
        self._at_end: Callable[[_Answer], None] | None = at_end

    def started_by(self, start_response: StartResponse) -> StartResponse:
        """What begins the answer, and notes how."""

        def start(status: str, headers: list[tuple[str, str]], *more: object) -> Callable[[bytes], object]:
            self.status = int(status[:3])
            write = start_response(status, headers, *more)  # type: ignore[arg-type]

            def counted(piece: bytes) -> object:
                self.bytes += len(piece)
                return write(piece)

            return counted

        return start

    def counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces of its body."""
        for piece in pieces:
            self.bytes += len(piece)
            yield piece

    def end(self) -> None:
        """It is over; once."""
        at_end, self._at_end = self._at_end, None
        if at_end is not None:
            at_end(self)


def _nothing() -> None:
    """Where there is nothing to close."""
