"""One runner for whoever asks: the page, the API and the command line get the same replay of the same case.

Strategy
    A *run* is a case, replayed under one chunking. The *checks* of it cost a dozen more replays; for a long output the
    page opens with the run alone and asks for them afterwards. Both are kept, and whatever a page computes from a run
    is kept beside it, all within one budget of memory (`trace_cache_bytes`).

Invariants
    A run is never changed. Cases that are replayed alike share their replays, whatever their titles are, whether their
    tokens are stored or made, and whether their parser was named or chosen: each chunking is run once.
    Whatever holds replays is weighed with all of them; who comes later begins with what somebody holds.
"""

from __future__ import annotations

import gc
import hashlib
import json
import math
from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from sys import getsizeof
from threading import Lock
from time import monotonic
from typing import Any, TypeVar
from weakref import WeakValueDictionary, ref

from pydantic import ValidationError
from werkzeug.exceptions import ServiceUnavailable

from parsers.cases.case import Case
from parsers.cases.engines import engine_of, policy_of
from parsers.cases.io import loads
from parsers.cases.run import CaseRun, checked_in_parts, chunkings_of
from parsers.replays.chunking import Chunking, label, spec
from parsers.replays.cut_grades import studied
from parsers.replays.replayer import Replayer, Replays
from parsers.selection.registry import policies
from parsers.vocabulary.events import Failure
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Piece
from webapp.cache import ByteCache
from webapp.engines.entered import engine_stamp
from webapp.engines.patience import REST_SECONDS
from webapp.runs.prepare import Prepared, check_deltas, error_place, prepare
from webapp.runs.time_left import TimeLeft
from webapp.settings import ENV_PREFIX, Settings

PIECE_BYTES = 250
FIXED_BYTES = 50_000
SMALL_BYTES = 5_000  # of a value that nobody measured
SHORT = 3_000  # tokens: up to here the checks are cheap enough to come with the page

NOT_STREAMED = "not streamed, as a whole"  # the second code path of an engine, which is no chunking
CHECKS_SHARE = 0.6  # of the time of a request: what is left is for the writing of the answer

Value = TypeVar("Value")
Kept = ByteCache[tuple[Any, int]]


class _Beside:
    """Holds what was computed from one run: kept under the run's key, in the budget of the runs."""

    __slots__ = ("_cache", "_key")

    def __init__(self, cache: Kept, key: str) -> None:
        self._cache = cache
        self._key = key

    def get(self, name: str, make: Callable[[], Value], *, size: Callable[[Value], int] | None = None) -> Value:
        """The value of that name, made unless it is here. `size`: about how many bytes it takes."""

        def weighed() -> tuple[Value, int]:
            value = make()
            return value, SMALL_BYTES if size is None else size(value)

        found: Value = self._cache.get((self._key, name), weighed)[0]
        return found

    def put(self, name: str, value: object, size: int) -> None:
        """Keep a value that takes another number of bytes now."""
        self._cache.put((self._key, name), (value, size))

    def known(self, name: str) -> Any | None:
        """The value of that name if it was made already and is still here."""
        found = self._cache.peek((self._key, name))
        return None if found is None else found[0]

    def under(self, key: str) -> _Beside:
        """Return what is computed from another run, which was made from this one."""
        return _Beside(self._cache, key)


@dataclass(slots=True, frozen=True)
class Run(Prepared):
    """One case, replayed under one chunking.

    `key` tells runs apart, by what the case says and the chunking. Runs are `alike` (a digest) whose cases are replayed
    alike; where it is empty, nobody knows.
    """

    chunking: Chunking
    trace: Trace
    key: str
    beside: _Beside
    alike: bytes = b""

    @property
    def parser(self) -> str:
        """What its parser is called: the name of its format, or ENGINE:PARSER of an entered engine."""
        return self.format.name if self.choice.replays is None else self.format.title

    @property
    def chunk_words(self) -> str:
        """How its output is cut, in words. The second code path of an engine is called what it is: it reads the whole
        output and streams nothing."""
        return NOT_STREAMED if self.replayer.is_apart(self.chunking) else label(self.chunking, self.piece)

    @property
    def piece(self) -> str:
        """What a piece of its output is called: a token or, where all that is known is how a server sent it, a delta of
        that."""
        deltas = [delta for delta in self.case.input.deltas or () if delta.text]
        of_server = len(deltas) == len(self.pieces) and all(piece.token_id is None for piece in self.pieces)
        return "delta" if deltas and of_server else "token"

    @property
    def context(self) -> Context:
        """The request, as the parser was told of it."""
        return self.case.to_context()

    @property
    def policy(self) -> dict[str, str]:
        """Every policy with its value."""
        return policies(self.format, policy_of(self.case))

    @property
    def short(self) -> bool:
        """Return whether the checks are cheap enough to come with the page."""
        return len(self.pieces) <= SHORT

    @property
    def known_checks(self) -> CaseRun | None:
        """Return what `Runner.checked` found, where somebody asked for it already and it is still kept."""
        known: tuple[CaseRun, Replays] | None = self.beside.known("checked")
        return None if known is None else known[0]

    def on(self, replayer: Replayer, trace: Trace, key: str) -> Run:
        """A run made from this one: another replay, under a key of its own."""
        return replace(self, replayer=replayer, trace=trace, key=key, beside=self.beside.under(key))


class ChecksGoOn(ServiceUnavailable):
    """The checks of a run take longer than a request may. A share of them, from 0 to 1, is `done` and kept."""

    def __init__(self, run: Run, done: float, settings: Settings) -> None:
        words = (
            f"The checks of this output take longer than a request may ({settings.replay_seconds} seconds,"
            f" {ENV_PREFIX}REPLAY_SECONDS): {done:.0%} of them are made and kept. Send the same request again and they"
            " go on."
        )
        super().__init__(words, retry_after=1)
        self.run = run
        self.done = done


class EngineRests(ServiceUnavailable):
    """The engine of a case did not answer lately, whatever it was asked, and nobody waits for it now. Nothing of that
    is kept: it is asked again in a while."""

    def __init__(self, case: Case, failure: Failure) -> None:
        super().__init__(
            f"Engine {case.parser.engine} does not answer: {failure.message}.", retry_after=round(REST_SECONDS)
        )


class _Keys:
    """The keys of cases, each worked out once for a case that lives on: to write a long one takes 0.1 seconds."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[Case], str]] = {}

    def of(self, case: Case) -> str:
        """The same for cases of the same content, as long as their engine is the same."""
        number, stamp = id(case), engine_stamp(case.parser.engine)
        known = self._known.get(number)
        if known is not None and known[0]() is case:
            return known[1] + stamp
        key = hashlib.sha256(case.model_dump_json(exclude_defaults=True).encode()).hexdigest()
        self._known[number] = ref(case, lambda _: self._known.pop(number, None)), key
        return key + stamp


class Runner:
    """Runs cases within the limits of the settings and keeps what came of them. Safe to share between threads.

    `keep` False keeps nothing: a command runs a case once.
    """

    def __init__(self, settings: Settings, *, keep: bool = True) -> None:
        self.settings = settings
        self._kept: Kept = ByteCache(settings.trace_cache_bytes if keep else 0, lambda kept: kept[1])
        self._keys = _Keys()
        self._shared: WeakValueDictionary[tuple[bytes, Chunking | None], Replays] = WeakValueDictionary()
        self._sharing = Lock()

    @property
    def used(self) -> int:
        """About how many bytes of memory everything that is kept takes."""
        return self._kept.used

    def keep_within(self, most_bytes: int) -> None:
        """Keep within another budget of memory from now on."""
        self._kept.resize(most_bytes)

    def mend(self) -> None:
        """Put right what an interrupt may have left half done, wherever it came. No other thread may be at work."""
        self._kept.mend()
        _pauses.clear()
        gc.enable()

    def run(self, case: Case, chunking: Chunking | None = None) -> Run:
        """The replay of `case` under its own chunking, or under another one.

        Raises CaseError for what cannot be replayed, TooLarge over a limit.
        """
        key = self._keys.of(case)
        beside = _Beside(self._kept, key)
        run = beside.get("run", lambda: self._run(case, key), size=_run_bytes)
        if chunking is None or chunking == run.chunking:
            return run
        check_deltas(chunking, self.settings)
        return beside.get(f"run {spec(chunking)}", lambda: self._other(run, chunking), size=_run_bytes)

    def run_prepared(self, prepared: Prepared) -> Run:
        """The replay of a case that was prepared already, kept nowhere. Raises CaseError where there can be none."""
        return self._replayed(prepared, self._keys.of(prepared.case))

    def checked(self, run: Run) -> CaseRun:
        """Everything about a case: its run, the other chunkings, and the checks."""
        return run.beside.get("checked", lambda: self._checks(run), size=_checked_bytes)[0]

    def checked_in_time(self, run: Run, began: float) -> CaseRun:
        """The same within a share of what a request may take that `began` at so many seconds of work of this thread
        (`thread_time`). Raises ChecksGoOn."""
        left = TimeLeft.of_request(self.settings, CHECKS_SHARE, began)
        while (done := self.check_some(run, left.seconds)) < 1:
            if not left.seconds:
                raise ChecksGoOn(run, done, self.settings)
        return self.checked(run)

    @staticmethod
    def unchecked(run: Run) -> CaseRun:
        """The same without what takes other replays: no check ran, and `whole` is the traced replay itself."""
        return CaseRun(
            case=run.case,
            format=run.format,
            selection=run.selection,
            context=run.replayer.context,
            pieces=run.pieces,
            trace=run.trace,
            whole=run.trace,
            decoded=run.decoded,
            stored=run.stored,
        )

    def _checks(self, run: Run) -> tuple[CaseRun, Replays]:
        checking = self._checking(run)
        taken = checking.taken()
        run.beside.put("checking", checking, checking.nbytes)
        return taken

    def _checking(self, run: Run) -> _Checking:
        return run.beside.get("checking", lambda: _Checking(run, lambda: self._replays(run.alike)))

    def check_some(self, run: Run, seconds: float) -> float:
        """Go on for so long with what `checked` gives, and say how much of it is done then, from 0 to 1.

        Also 1 where nothing can be kept: then it takes `checked` to get anywhere.
        """
        checking = self._checking(run)
        if run.known_checks is not None or run.beside.known("checking") is not checking:
            return 1.0
        done = checking.go_on(seconds)
        run.beside.put("checking", checking, checking.nbytes)
        return done if run.beside.known("checking") is checking else 1.0

    def cheaply_checked(self, case: Case) -> CaseRun | None:
        """Everything about a case where that is cheap to know, or known already."""
        run = self.run(case)
        return self.checked(run) if run.short else run.known_checks

    def run_checked(self, case: Case) -> CaseRun:
        """Everything about a case. Raises what `run` raises."""
        return self.checked(self.run(case))

    def opened(self, body: str) -> Case:
        """The case of a stored body. We wrote it, so it is validated, but not searched for what JSON cannot hold."""
        beside = _Beside(self._kept, hashlib.sha256(body.encode()).hexdigest())
        return beside.get("case", lambda: _opened(body), size=_case_bytes)

    def kept(self, key: str, make: Callable[[], Run]) -> Run:
        """A run that somebody else makes, kept under the `key` that it says of itself."""
        return _Beside(self._kept, key).get("run", make, size=_run_bytes)

    def computed(self, key: str, make: Callable[[], Value], *, size: Callable[[Value], int]) -> Value:
        """A value that belongs to several runs, kept in the same budget."""
        return _Beside(self._kept, key).get("computed", make, size=size)

    def known(self, key: str) -> Any | None:
        """The value that was `computed` under this key, where it is still kept."""
        return _Beside(self._kept, key).known("computed")

    def _run(self, case: Case, key: str) -> Run:
        return self._replayed(prepare(case, self.settings), key)

    def _replayed(self, prepared: Prepared, key: str) -> Run:
        with error_place("/replay"):
            asked, alike = chunkings_of(prepared.case, prepared.choice), _replay_key(prepared)
            chunking = studied(prepared.replayer, asked, honest_only=prepared.case.compare.cuts == "honest")
            replayer = replace(prepared.replayer, known=self._replays(alike, chunking))
            with collector_paused():
                trace = replayer.trace(chunking)
        _refuse_resting(prepared.case, trace)
        beside = _Beside(self._kept, key)
        return Run(prepared.case, prepared.choice, replayer, prepared.stored, chunking, trace, key, beside, alike)

    def _other(self, run: Run, chunking: Chunking) -> Run:
        key = hashlib.sha256(f"{spec(chunking)} {run.key}".encode()).hexdigest()
        replayer = replace(run.replayer, known=self._replays(run.alike, chunking))
        with collector_paused():
            trace = replayer.trace(chunking)
        _refuse_resting(run.case, trace)
        beside = _Beside(self._kept, key)
        return replace(run, replayer=replayer, chunking=chunking, trace=trace, key=key, beside=beside)

    def _replays(self, alike: bytes, only: Chunking | None = None) -> Replays:
        """The replays of an output as far as somebody holds them, or that of `only` one chunking: for whoever will be
        weighed with them, and with those that it adds."""
        made = Replays() if only is None else Replays(most=1)
        if not alike:
            return made
        with self._sharing:
            for (digest, _), known in [*self._shared.items()]:
                if digest == alike:
                    made.learn(known, only)
            self._shared[alike, only] = made
            return made


def _refuse_resting(case: Case, trace: Trace) -> None:
    """Raises EngineRests."""
    if trace.failure is not None and trace.failure.rests:
        raise EngineRests(case, trace.failure)


def _replay_key(prepared: Prepared) -> bytes:
    """A digest of all that decides how an output is replayed: the same for a case before and after it was saved."""
    case, replayer = prepared.case, prepared.replayer
    parser = case.parser.model_dump_json(exclude={"name"}, exclude_defaults=True)
    said = [
        engine_of(case),
        engine_stamp(case.parser.engine),
        prepared.choice.selection.name,
        parser,
        policy_of(case),
        repr(replayer.context),
        replayer.mode,
        dict(replayer.markers or {}) if replayer.mode == "ids" else {},
        replayer.due,
        [[delta.text, delta.ids] for delta in case.input.deltas or ()],
        case.input.stream,
    ]
    numbers: dict[tuple[Any, ...], int] = {}  # of tokens that are alike
    alike = {id(piece): (piece.text, piece.token_id, piece.kind, piece.recorded) for piece in replayer.pieces}
    order = {one: numbers.setdefault(what, len(numbers)) for one, what in alike.items()}
    text = json.dumps([said, [*numbers]], ensure_ascii=True, default=str)
    digest = hashlib.sha256(text.encode())
    digest.update(array("i", map(order.__getitem__, map(id, replayer.pieces))).tobytes())
    return digest.digest()


class _Checking:
    """The checks of a run as far as they are, with the replays they made. `replays` are those they begin with."""

    def __init__(self, run: Run, replays: Callable[[], Replays]) -> None:
        self._run = run
        self._replays = replays
        self._known = Replays(most=0)
        self._parts: Generator[float, None, CaseRun] | None = None
        self._found: CaseRun | None = None
        self._done = 0.0
        self._working = Lock()

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory they take."""
        return SMALL_BYTES + self._known.nbytes

    def _begin(self) -> Generator[float, None, CaseRun]:
        run, self._known = self._run, self._replays()
        if run.replayer.known is not None:
            self._known.learn(run.replayer.known)
        replayer = replace(run.replayer, known=self._known)
        return checked_in_parts(run.case, run.choice, replayer, run.stored)

    def go_on(self, seconds: float) -> float:
        """Work for so long, a part at least, and say how much is done then."""
        with self._working, error_place(""), collector_paused():
            latest, over = monotonic() + seconds, self._found is not None
            parts = self._parts = self._parts or self._begin()
            try:
                while not over:
                    self._done = max(self._done, next(parts))
                    over = monotonic() > latest
            except StopIteration as end:
                self._found, self._done = end.value, 1.0
            except Exception:  # whoever comes next begins anew
                self._parts, self._known = None, Replays(most=0)
                raise
            except BaseException:  # or, after an interrupt, with the replays that are made
                self._parts = None
                raise
            return self._done

    def taken(self) -> tuple[CaseRun, Replays]:
        """What they say in the end and their replays, kept here no longer: somebody else counts what that takes."""
        while True:
            self.go_on(math.inf)
            with self._working:
                found, self._found = self._found, None
                if found is not None:
                    known, self._known = self._known, Replays(most=0)
                    self._parts, self._done = None, 0.0
                    return found, known


def _opened(body: str) -> Case:
    try:
        return Case.model_validate(json.loads(body))
    except ValidationError:
        return loads(body)  # says what is wrong in our words


def _run_bytes(run: Run) -> int:
    """About how many bytes a run takes, its case included."""
    return run.trace.nbytes + _piece_bytes(run.pieces) + getsizeof(run.trace.text) + _case_bytes(run.case)


def _piece_bytes(pieces: Sequence[Piece]) -> int:
    """About how many bytes tokens take, with what is known of each. Many are one object."""
    return PIECE_BYTES * len(set(map(id, pieces))) + 24 * len(pieces)


def _checked_bytes(checks: tuple[CaseRun, Replays]) -> int:
    """About how many bytes the checks of a run take beside it: its replays, all of which the checks looked at."""
    return checks[1].nbytes + FIXED_BYTES


def _case_bytes(case: Case) -> int:
    tokens, deltas = case.input.tokens or (), case.input.deltas or ()
    return 600 * (len(set(map(id, tokens))) + len(deltas)) + 8 * len(tokens) + FIXED_BYTES


_pausing = Lock()
_pauses: set[object] = set()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Garbage collection off while many objects that stay are made: it would look at all of them again and again.

    A pause that an interrupt left may end after `Runner.mend` forgot it, when nobody holds its frame any more.
    """
    pause = object()
    with _pausing:
        _pauses.add(pause)
        gc.disable()
    try:
        yield
    finally:
        with _pausing:
            _pauses.discard(pause)
            if not _pauses:
                gc.enable()
