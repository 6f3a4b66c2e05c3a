"""The search of a case within the limits of the settings: the program of a child, and for the command line.

At `find_seconds` a child leaves the search where it is and answers with the result so far; an alarm ends a replay that
would take longer, once one replay is through. These are seconds of its own work, so that load does not change a result;
three times as many by the clock end one that sleeps or waits. A search that cannot begin for a fault of the case is an
answer, too. Cases, results and progress travel as JSON.
"""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache, partial
from time import monotonic, process_time
from types import FrameType
from typing import Any, Protocol

from pydantic import ConfigDict, TypeAdapter
from werkzeug.exceptions import RequestEntityTooLarge

from parsers.cases.between import Between, SearchBetween, between_json
from parsers.cases.case import Case, CaseError
from parsers.cases.find import CaseFound, CaseSearch
from parsers.replays.budget import Budget
from parsers.search.found import Progress
from parsers.search.shrink import SHRINKS
from parsers.vocabulary.types import FormatError, UsageError
from webapp.children.collector import collect_seldom
from webapp.children.jobs import Failure
from webapp.children.worker import Task, Tell
from webapp.engines import engines_of
from webapp.engines.entered import entered, use_engines
from webapp.engines.protocol import EngineError
from webapp.engines.workers.executed_lines import executed_lines
from webapp.runs.prepare import error_place, prepare
from webapp.settings import Settings
from webapp.tokenizers.library import use

ENGINES = "engines"  # whom a child asks
HAS_TIMERS = hasattr(signal, "setitimer")

CLOCK_TIMES = 3  # as long by the clock as it may work a search may take
SILENT_REPLAYS = 6  # as long as so many replays may take, by a clock on the wall, nothing may be heard of a search

_REPORT_SECONDS = 0.1


class Searching(Protocol):
    """A search: `run` says how far it is and may be left at any time, `result` is what is known by then."""

    def run(self) -> Iterator[Progress]: ...

    def result(self) -> CaseFound | Between: ...


MakeSearch = Callable[[Case, Settings], Searching]


def case_search(case: Case, settings: Settings, seconds: float = math.inf, *, shrinks: int = SHRINKS) -> CaseSearch:
    """The search of a case, left after so many seconds by the clock; with no `shrinks` for what it shows alone. Raises
    CaseError for what cannot be replayed, TooLarge over a limit."""
    ready = prepare(case, settings)
    with error_place(""):
        return CaseSearch(
            ready.case,
            pieces=ready.stored,
            engines=engines_of(settings),
            shrinks=shrinks,
            clock=process_time,
            lines=executed_lines,
            budget=search_budget(settings, seconds),
            rerender=ready.replayer.rerender,
        )


def search_between(cases: tuple[Case, Case], settings: Settings, seconds: float = math.inf) -> SearchBetween:
    """The same for a difference of two parsers. Raises as `case_search` does."""
    first, second = [prepare(case, settings) for case in cases]
    with error_place(""):
        return SearchBetween(
            (first.case, second.case),
            pieces=first.stored,
            engines=engines_of(settings),
            budget=search_budget(settings, seconds),
        )


def settings_of_child(settings: Settings) -> dict[str, Any]:
    """As JSON. It has no use for the address of the database, which may hold a password."""
    return settings.model_dump(mode="json", exclude={"database_url"})


def search_budget(settings: Settings, seconds: float = math.inf) -> Budget:
    """What the replays of a search may take, here and in the processes of engines, and the seconds by the clock after
    which none begins: so somebody who waits has an end to it on a machine that is busy, too."""
    engines, latest = entered(settings), monotonic() + seconds

    def worked() -> float:
        return process_time() + engines.spent

    return Budget(worked, settings.find_replay_seconds, settings.find_total_seconds, late=lambda: monotonic() >= latest)


def tasks(search: MakeSearch = case_search) -> Mapping[str, Task]:
    """The one task."""
    collect_seldom()
    return {"find": partial(_find, search)}


def _find(search: MakeSearch, request: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    settings = Settings(**request["settings"])
    use(settings)
    if hasattr(tell, "ask"):
        use_engines(settings, _Asking(tell))
    silence = SILENT_REPLAYS * settings.find_replay_seconds
    given = json.loads(request["raw"])
    say = partial(_say_and_ask, tell) if request.get("asks") else tell
    try:
        made = _made(search, given, settings)
        found = searched(say, made, settings.find_seconds, silence)
    except _EngineRests as error:
        return {"failure": asdict(Failure("late", str(error)))}
    except EngineError as error:
        return {"failure": asdict(Failure("case", str(error), "/parser/engine" if isinstance(given, dict) else ""))}
    except CaseError as error:
        return {"failure": asdict(Failure("case", error.message, error.pointer))}
    except RequestEntityTooLarge as error:
        return {"failure": asdict(Failure("limit", error.description or "The case is too large."))}
    except (UsageError, FormatError) as error:
        return {"failure": asdict(Failure("usage", str(error)))}
    return {"raw": written_result(found) if isinstance(found, CaseFound) else json.dumps(between_json(found)).encode()}


def _made(search: MakeSearch, given: Any, settings: Settings) -> Searching:
    """The search of a case, or that between two, which come as a list."""
    if isinstance(given, list):
        first, second = [_prepared(f"/parsers/{number}", one, settings) for number, one in enumerate(given)]
        return search_between((first, second), settings)
    return search(Case.model_validate(given), settings)


def _prepared(place: str, given: Any, settings: Settings) -> Case:
    """One case of two, which can be replayed. Raises CaseError that says of which parser it speaks."""
    case = Case.model_validate(given)
    try:
        prepare(case, settings)
    except CaseError as error:
        if not error.pointer.startswith("/parser"):
            raise
        raise CaseError(error.message, place + error.pointer.removeprefix("/parser")) from error
    return case


def searched(tell: Tell, search: Searching, seconds: float, silence: float = math.inf) -> CaseFound | Between:
    """Search until the end, for so many seconds of work and three times as many by the clock, or until so many seconds
    of silence, as where one call of a parser does not return; say now and then how far it is."""
    end, latest, told = process_time() + seconds, monotonic() + CLOCK_TIMES * seconds, 0.0
    with suppress(TimeUp), alarm() as ring_in:
        for progress in search.run():
            now = monotonic()
            if now >= told + _REPORT_SECONDS:
                tell(asdict(progress))
                told = now
            if progress.replays:
                left = end - process_time()
                if left <= 0 or now >= latest:
                    break
                ring_in(left, min(latest - now, silence))
    return search.result()


class _EngineRests(BaseException):
    """An engine is not asked for a while, so there is nothing to search. Not an Exception, as TimeUp is none."""


class _Asking:
    """Asks the process that has the workers. Raises UsageError that was raised there, and _EngineRests where an engine
    is not asked from the first replay on: one that hung in the middle of a search is a result of it."""

    def __init__(self, tell: Any) -> None:
        self._tell = tell
        self._began = False

    def __call__(self, question: dict[str, Any]) -> Mapping[str, Any]:
        """The reply."""
        reply: Mapping[str, Any] = self._tell.ask({"of": ENGINES, **question})
        if "refused" in reply:
            raise UsageError(reply["refused"])
        for raised in [one["raised"] for one in reply.get("replays", ())]:
            if not self._began and raised is not None and raised["rests"]:
                raise _EngineRests(f"Engine {question['name']} does not answer: {raised['message']}.")
            self._began = True
        return reply


def _say_and_ask(tell: Any, progress: dict[str, Any]) -> None:
    """Say how far the search is. Raises TimeUp where it is to be left there."""
    if tell.ask(progress).get("stop"):
        raise TimeUp


class TimeUp(BaseException):
    """The deadline. Not an Exception: what a parser under study raises is caught as one."""


@contextmanager
def alarm() -> Iterator[Callable[[float, float], None]]:
    """TimeUp in the main thread after so many seconds of work of this process, or so many by the clock, from when that
    was last asked for, inside the block and not after it.

    Only Unix has the timers; elsewhere nothing rings, and a search is left at its next word of progress.
    """
    on = True

    def ring(_signal: int, _frame: FrameType | None) -> None:
        nonlocal on
        if on:
            on = False  # the other timer may ring while this is on its way
            raise TimeUp

    def ring_in(work: float, wait: float) -> None:
        for (timer, _), seconds in zip(timers, (work, wait), strict=False):
            signal.setitimer(timer, max(seconds, 0.001))

    timers = _timers() if HAS_TIMERS else []
    before = [signal.signal(number, ring) for _, number in timers]
    try:
        yield ring_in
    finally:
        on = False
        for (timer, number), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def _timers() -> list[tuple[int, int]]:
    """Timers of a process with their signals: of its work, and by the clock."""
    return [(signal.ITIMER_PROF, signal.SIGPROF), (signal.ITIMER_REAL, signal.SIGALRM)]


@cache
def _results() -> TypeAdapter[tuple[CaseFound]]:
    """In a tuple, since a dataclass takes no configuration from outside; bytes are not always UTF-8."""
    return TypeAdapter(tuple[CaseFound], config=ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))


def written_result(found: CaseFound) -> bytes:
    """A result as JSON in ASCII, since what a model wrote may have lone surrogates. What a case leaves unsaid stays so:
    null would say that nothing of it may be there."""
    return json.dumps(_results().dump_python((found,), mode="json", exclude_unset=True)).encode("ascii")


def read_result(text: bytes) -> CaseFound:
    """Return what `written_result` wrote. Raises ValueError for anything else."""
    return _results().validate_python(json.loads(text))[0]
