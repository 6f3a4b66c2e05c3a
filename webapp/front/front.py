"""Which requests are for a child: all that may take long, or show what a stranger wrote.

The application is the same on both sides. Addresses in LIGHT are answered here, and so is what has no address; all
others are forwarded, so a new one is forwarded unless somebody says that it need not be. A posted run that a child
holds is asked for at /r/TOKEN, and such a request goes to that child or is answered with 410. Searches and the
processes of tokenizers and engines belong to this process: children ask for them, and nobody waits for a search or an
engine in a child. The cases of held runs are known here too, for children that get an edited one of another child's.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from flask import Flask
from werkzeug.exceptions import HTTPException

from parsers.vocabulary.types import UsageError
from webapp.app import ENGINES, RUNS, SEARCHES, TOKENIZERS, held_bytes
from webapp.children.child import Child
from webapp.children.crew import Crew, CrewState, Full, Left, Lost, Member, Wish
from webapp.children.endings import ChildError, Ending
from webapp.children.process import preload, started
from webapp.children.program import Program
from webapp.children.worker import GRACE_SECONDS
from webapp.clients import address_of
from webapp.engines.entered import AT_ONCE, engine_reply
from webapp.front.engine_waits import MOST_ASKED_OF_ALL, EngineWait, Switchboard
from webapp.front.forwarding import NotHeld, Relay, TooBusy, body_of, message_of, refusal_of, takes_gzip
from webapp.front.leaving import leaving
from webapp.mounting import placed, public_path
from webapp.runs.by_token import LEFT_SECONDS
from webapp.runs.held_lines import HeldLines
from webapp.security import REFUSAL
from webapp.services import EXTENSION, Services
from webapp.settings import PATIENCE, Settings
from webapp.store.cases import SWEPT
from webapp.tokenizers import library
from webapp.tokenizers.shared import answer
from webapp.trouble import TROUBLES

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_API = ("healthz", "openapi", "parsers", "engines", "case", "tokenizers", "add_tokenizer", "delete_tokenizer")
_PAGES = (
    *("help", "checks", "old_examples", "example_json", "case_json", "delete", "compare_again"),
    *("formats", "format_language", "tokenizers", "tokenizer", "tokenizer_upload", "tokenizer_delete"),
    *("tokenizer_fetch", "tokenizer_fetching", "tokenizer_cancel"),
)
LIGHT = frozenset(["static", "style", *[f"api.{name}" for name in _API], *[f"page.{name}" for name in _PAGES]])
HELD = "/r/"
WAITING = 8  # times the number of children
SMALL = 50_000  # bytes of a body: a larger one is no small task
IDLE_SECONDS = 600.0

LOOK_SECONDS = 2.0  # between looks for children that keep memory for nobody
SWEEP_LOOKS = 15  # of these, between two for shares that ended

_PATIENCE_SECONDS = 3.0  # at most it takes to open the longest output: to wait so long costs no more than to do it anew
_WORN_BYTES = 300_000_000  # more than a child says that it keeps: a fresh one is cheaper
_ROOM = 1_000_000  # bytes of a message beside the piece of an answer
_PRIORITY = 2  # added to the niceness: light addresses go first
_SUBJECT = re.compile(r"/(?:c|example|engines/[^/]+)/[^/]+")
_TOKEN = re.compile(rb'held(?<!\wheld)(?:=|"\r\n\r\n)([0-9a-f]{32})\b')  # a literal first is looked for quickest

log = logging.getLogger(__name__)


class Front:
    """The application with its children: what a server calls.

    At most `most` requests are with the children, in line for one, or wait for a search; as many threads are theirs.
    """

    def __init__(self, app: Flask, settings: Settings, program: str = "webapp.front.replay_program") -> None:
        found: Services = app.extensions[EXTENSION]
        size = max(settings.replay_processes, 1)
        assert found.searches.jobs is not None, "the searches are here"  # noqa: S101
        self._searches = found.searches.jobs
        self.most = size * (2 + WAITING) + 1 + self._searches.waiters + MOST_ASKED_OF_ALL
        self._app = app
        self._store = found.store
        self._settings = settings
        self._root = public_path(settings)
        self._program = _program(settings, program, size)
        self._crew = Crew(
            lambda: Child(self._program), size, waiting=size * WAITING, most_bytes=settings.replay_kept_bytes
        )
        self._share = settings.trace_cache_bytes // len(self._crew.members)
        self._lines = HeldLines(held_bytes(settings), settings.run_seconds)
        self._offices: Mapping[str, Callable[[dict[str, Any]], Mapping[str, Any]]] = {
            SEARCHES: self._searches.answer,
            TOKENIZERS: lambda question: answer(library(), question),
            ENGINES: engine_reply,
            RUNS: self._lines.answer,
        }
        self._switchboard = Switchboard(self._reply_of_engine)
        self._closed = Event()

    def warm_up(self) -> None:
        """Start what takes a second before the first request comes, and what looks after the children from now on."""
        preload(self._program, "webapp.front.warm")
        Thread(target=self._look_after, daemon=True).start()

    def wait(self) -> None:
        """Return once a child starts at once: a request that comes before waits some seconds for that, though another
        worker could have taken it."""
        with suppress(OSError):  # whoever asks first is told
            started(self._program).end()

    def _look_after(self) -> None:
        """Until the end, let children give back what they hold for nobody any more, and now and then take leave of
        shares that ended, and mend counts of the library: nobody need ask for anything."""
        with suppress(*TROUBLES):
            self._store.mend_counts(closely=True)
        for look in count(1):
            if self._closed.wait(LOOK_SECONDS):
                return
            self._lines.forget_old()
            self._crew.let_go(min(LEFT_SECONDS, self._settings.run_seconds))
            if look % SWEEP_LOOKS == 0:
                with suppress(*TROUBLES):
                    self._store.sweep(limit=SWEPT)
                    self._store.mend_counts()

    def state(self) -> CrewState:
        """Return what the children do at this moment."""
        return self._crew.state

    def close(self) -> None:
        """End all children."""
        self._closed.set()
        self._crew.close()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ = placed(environ, self._root)
        if self._is_light(environ):
            return self._app(environ, start_response)
        try:
            return self._forwarded(environ, start_response)
        except HTTPException as error:
            return self._app({**environ, REFUSAL: error}, start_response)

    def _is_light(self, environ: WSGIEnvironment) -> bool:
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        if path.startswith(HELD):
            return False
        try:
            endpoint, _ = self._app.url_map.bind("localhost").match(path, environ["REQUEST_METHOD"])
        except HTTPException:
            return True
        return endpoint in LIGHT

    def _forwarded(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = body_of(environ, self._settings)
        wish, message = self._wish(environ, body), message_of(environ, body)
        waited = ""
        with EngineWait(self._switchboard, wish.gone) as engines:
            while True:
                pieces, wait = self._attempt(wish, {**message, "waited": waited}, start_response, engines)
                if wait is None:
                    return pieces
                if wait["do"] == "engine":
                    self._wait_for_engines(engines, wish)
                else:
                    self._searches.wait(wait["key"], wait["seconds"], wish.gone)
                    waited = wait["key"]

    def _wait_for_engines(self, engines: EngineWait, wish: Wish) -> None:
        """Raises HTTPException where there is no line to wait in, or nobody waits."""
        if engines.busy:
            raise TooBusy(f"Engine {engines.busy} is busy with the requests of others. Try again in a moment.")
        engines.wait()
        if wish.gone():
            raise refusal_of(ChildError(Ending.CANCELLED), 0, self._settings)

    def _attempt(
        self, wish: Wish, request: dict[str, Any], start_response: StartResponse, engines: EngineWait
    ) -> tuple[Iterable[bytes], dict[str, Any] | None]:
        """The answer of a child, or what to wait for before it is asked again. Raises HTTPException for neither."""
        engines.begin()
        with self._member(wish, len(request["raw"])) as member:
            relay = Relay(
                start_response,
                wish.gone,
                lambda token: self._crew.note(HELD + token, member),
                takes_gzip=takes_gzip(request["environ"]),
            )
            reply = self._ask(member, request, relay, engines)
            self._note(member, wish)
            pieces, wait = ([], reply["wait"]) if "wait" in reply else (relay.end(reply), None)
        self._keep_budget()
        return pieces, wait

    @contextmanager
    def _member(self, wish: Wish, size: int) -> Iterator[Member]:
        """A child for a request of so many bytes. Raises HTTPException where there is none."""
        try:
            with self._crew.member(wish) as member:
                yield member
        except Full:
            raise TooBusy from None
        except Lost:
            raise NotHeld from None
        except Left:
            raise refusal_of(ChildError(Ending.CANCELLED), size, self._settings) from None

    def _wish(self, environ: WSGIEnvironment, body: bytes) -> Wish:
        path: str = environ["PATH_INFO"]
        wish = partial(
            Wish,
            address_of(environ, self._settings.proxies),
            gone=leaving(environ),
            seconds=PATIENCE * self._settings.replay_seconds,
            small=len(body) <= SMALL,
            size=len(body),
        )
        if path.startswith(HELD):
            token = path.removeprefix(HELD).partition("/")[0]
            self._lines.get(token)  # as long as somebody asks for a run, its case is known here
            return wish(only=HELD + token)
        rather = []
        if body:
            found = _TOKEN.search(body)
            rather = [f"body {hash(body)}"] if found is None else [HELD + found[1].decode(), f"body {hash(body)}"]
        elif subject := _SUBJECT.match(path):
            return wish(rather=(subject[0],), patience=_PATIENCE_SECONDS)
        return wish(rather=tuple(rather))

    def _ask(self, member: Member, request: dict[str, Any], relay: Relay, engines: EngineWait) -> dict[str, Any]:
        """The last piece of the answer of a child. Raises HTTPException where it has none."""

        def reply_to(question: dict[str, Any]) -> Mapping[str, Any]:
            is_engine = question["of"] == ENGINES and question["do"] not in AT_ONCE
            return engines.reply(question, stays=relay.begun) if is_engine else self._reply(question)

        left = self._settings.trace_cache_bytes - (self._crew.kept - member.kept)
        try:
            reply = member.child.ask(
                "answer",
                {**request, "cache_bytes": max(self._share, left)},
                seconds=self._settings.replay_seconds,
                on_progress=relay.piece,
                on_question=reply_to,
                cancelled=relay.gone,
            )
        except ChildError as error:
            if not member.holds or member.child.pid is None:  # nobody knows what an interrupt left
                member.end()
            refusal = refusal_of(error, len(request["raw"]), self._settings)
            raise (relay.cut_short(refusal) if relay.begun else refusal) from error
        member.kept, member.held_until = reply["kept"], monotonic() + reply["held_seconds"]
        if member.child.rss > member.kept + _WORN_BYTES and not member.holds:
            member.end()
        return reply

    def _keep_budget(self) -> None:
        """Let children that are free forget what is over the budget of all, down to an even share of it."""
        for _ in self._crew.members:  # none of them twice: what it holds for people it may keep
            over = self._crew.kept - self._settings.trace_cache_bytes
            if over <= 0:
                return
            with self._crew.fullest(self._share) as member:
                if member is not None:
                    self._ask_to_forget(member, over)

    def _ask_to_forget(self, member: Member, over: int) -> None:
        most = max(self._share, member.kept - over)
        try:
            reply = member.child.ask("keep", {"cache_bytes": most}, seconds=self._settings.replay_seconds)
        except ChildError:
            member.end()
        else:
            member.kept = reply["kept"]

    def _note(self, member: Member, wish: Wish) -> None:
        for key in wish.rather:
            if not key.startswith(HELD):
                self._crew.note(key, member)

    def _reply(self, question: dict[str, Any]) -> Mapping[str, Any]:
        """What a child is told that asks."""
        return _replied(lambda asked: self._offices[asked["of"]](asked), question)

    def _reply_of_engine(self, question: dict[str, Any], gone: Callable[[], bool]) -> Mapping[str, Any]:
        """The same of an engine, which is asked no more once whoever waits is gone."""
        return _replied(partial(engine_reply, cancelled=gone), question)


def _replied(office: Callable[[dict[str, Any]], Mapping[str, Any]], question: dict[str, Any]) -> Mapping[str, Any]:
    """What an office says. What goes wrong is raised over there, if anybody is there yet."""
    try:
        return office(question)
    except UsageError as error:
        return {"refused": str(error)}
    except Exception as error:
        if not (isinstance(error, ChildError) and error.ending is Ending.CANCELLED):
            log.exception("A question of a child failed.")
        return {"failed": True}


def _program(settings: Settings, name: str, size: int) -> Program:
    """What the children do. Results of searches that are read take memory in each of them."""
    given = settings.model_dump(mode="json") | {"find_cache_bytes": max(settings.find_cache_bytes // size, 1_000_000)}
    return Program(
        name,
        given={"settings": given},
        limits={"DATA": settings.replay_memory_bytes},
        answer_bytes=settings.most_answer_bytes + _ROOM,
        idle_seconds=IDLE_SECONDS,
        niceness=_PRIORITY,
        fork=True,
        grace_seconds=GRACE_SECONDS,
        patience=PATIENCE,
        heard=True,
    )
