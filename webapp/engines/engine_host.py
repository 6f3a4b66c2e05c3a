"""One entered engine at work: its worker started when it is needed, asked for many replays at a time, ended when it
misbehaves.

Replays go in batches, whose size follows from how long the last ones took. When a batch has no answer, it is made once
more and tells each step before it is taken, so that the replay is known and the step that the process did not survive;
where a worker tells of no step, the batch is halved. That becomes what the parser failed with, like an exception, and
the next replay starts another process. What hung is not waited for again (`culprits.py`), and what comes next is given
less time (`patience.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from threading import local
from time import monotonic
from typing import Any

from parsers.replays.ran_lines import RanLines
from parsers.vocabulary.words import counted
from webapp.children.child import Answer, Child
from webapp.children.endings import ChildError, Ending
from webapp.children.program import Program
from webapp.engines.culprits import Culprits
from webapp.engines.entries import Entry
from webapp.engines.health import Health
from webapp.engines.idle_watch import IdleWatch
from webapp.engines.interpreters import too_old
from webapp.engines.lines import read_lines
from webapp.engines.patience import PatienceOfAll
from webapp.engines.protocol import (
    MOST_PRINTED,
    Card,
    EngineError,
    Fault,
    Imported,
    Progress,
    ProtocolError,
    Replayed,
    Sent,
    read,
    read_card,
    read_replays,
)
from webapp.engines.revisions import runs_another
from webapp.engines.turns import Turns
from webapp.engines.unasked import Noticed, Unasked

HURRY = 1.5  # times as long by the clock as it may work, after which half of that work is enough
PATIENCE = 3  # times as long by the clock, on a machine so busy that it had not even that
ANSWER_BYTES = 50_000_000
FIRST_BATCH = 32
LARGEST_BATCH = 256
MOST_CHARACTERS = 4_000_000  # fed in one message
MOST_PLAYED = 100_000_000  # characters that all replays of a run send and show
LEFT_SECONDS = 2.0  # after which a message is ended that nobody waits for: a new process costs others more than that
FEW_STEPS = 500  # of one replay that tells its steps at once
SHARE = 0.1  # of what one replay may take a batch should take

_KINDS: dict[Ending, tuple[str, str]] = {  # of every ending
    Ending.LATE: ("Hangs", "it did not return in {seconds:g} seconds{little}, and its process was ended"),
    Ending.MEMORY: ("OutOfMemory", "its process kept more than {memory:,} MB, and was ended"),
    Ending.ENDED: ("Crashed", "its process ended ({how})"),
    Ending.PANIC: ("Garbled", "{message}, and its process was ended"),
    Ending.LARGE: ("Flood", "its process answered with more than {bytes:,} bytes, and was ended"),
    Ending.REFUSED: ("Refused", "{message}"),
    Ending.ERROR: ("Refused", "{message}"),
    Ending.ABSENT: ("Absent", "{message}"),
    Ending.BUSY: ("Busy", "there was no place for one more process"),
    Ending.CLOSED: ("Closed", "its process was ended meanwhile, for its entry or its sources changed"),
    Ending.CANCELLED: ("Cancelled", "nobody waited for its answer any more"),
}
_CLOSED = "it closed its standard output while its process ran on, and was ended"
_LITTLE = " (so little is what it has for a while after it hung)"
_UNTOLD = "; at which step is not known, for its worker told of none"
_SURVIVED = ". A beginning of {} alone is survived, and one of {:,} is not"
_SLOW = (Ending.LATE, Ending.MEMORY)
_TRACED = ("lines", "costs", "cover")  # what is observed so takes many times as long as the parser alone
_WORDS = 300  # characters


class _OfThread(local):
    """What each thread that asks has to itself. `given`: the seconds that it had for its last message, and `little` why
    they were few; `took`: those of its last answer; `cancelled`: whether it wants no more answers."""

    spent = 0.0
    given = 0.0
    little = ""
    took = 0.0
    cancelled: Callable[[], bool] = bool


class _RestsError(Exception):
    """It is not asked for a while; says why."""


class _UnwantedError(Exception):
    """Nobody waits for the answer any more."""


class EngineHost:
    """An engine by the name of its entry. Replays of it are made one message at a time, whoever asks, and whoever has
    waited longest is next: nobody waits for all that a replay costs which hangs, but for one message of it.

    `spent`: for how many seconds it was at work so far, whoever asked. Where one person `alone` asks, it is asked
    whatever it did before.
    """

    def __init__(self, name: str, entry: Entry, *, alone: bool = True) -> None:
        self.spent = 0.0
        self._of_thread = _OfThread()
        self._name = name
        self._entry = entry
        self._batch = FIRST_BATCH
        self._culprits = Culprits()
        self._patience = PatienceOfAll(entry.seconds, alone=alone)
        self._asking = Turns()
        program = Program(
            name,
            command=entry.argv(name),
            folder=entry.folder,
            environment=entry.variables,
            variables=("HOME", "USERPROFILE", "LD_PRELOAD"),
            answer_bytes=ANSWER_BYTES,
            resident_bytes=entry.memory_bytes,
            hurry=HURRY,
            patience=PATIENCE,
        )
        self._child = Child(program)
        self._unasked = Unasked(self._child)
        self._watch = IdleWatch(self._look)

    @property
    def pid(self) -> int | None:
        """Its process while there is one."""
        return self._child.pid

    @property
    def health(self) -> Health | None:
        """How it does; None where it was not asked yet."""
        health = self._patience.health
        return replace(health, words=self._unasked.last) if health is not None and not health.words else health

    def close(self) -> None:
        """End its process."""
        self._watch.stop()
        self._child.close()

    def begin_anew(self) -> None:
        """End its process, and forget what it did not survive."""
        self.close()
        self._culprits.forget()
        self._patience.forget()
        self._unasked.forget()

    def _look(self) -> float:
        """Look at what it does while nothing is asked of it; in how many seconds that is due again."""
        with self._asking:
            self._child.tidy()
            return self._unasked.look()

    def raw(
        self, task: str, request: Mapping[str, Any], on_progress: Callable[[dict[str, Any]], object] | None = None
    ) -> dict[str, Any]:
        """What it answers, as it says it. Raises ChildError, and EngineError where it had to be started and does not
        come up."""
        with self._asking:
            if self._child.pid is None:
                self._greeted()
            self._of_thread.given, self._of_thread.little = self._entry.seconds, ""
            self._unasked.before()
            answer = self._child.ask(task, request, seconds=self._entry.seconds, on_progress=on_progress)
            self._unasked.after()
            return answer

    def noticed(self) -> list[Noticed]:
        """What it did that nobody asked it for since that was asked last."""
        return self._unasked.taken()

    def idle(self) -> str:
        """What it does in a moment in which it is asked nothing; "" where that is nothing."""
        with self._asking:
            return self._unasked.idle()

    def begun(self) -> None:
        """Start and greet it where it is not running. Raises EngineError where it does not come up."""
        with self._asking:
            self._greet()

    def _greet(self) -> None:
        self._child.tidy()
        if self._child.pid is None:
            self._greeted()

    def words(self, error: ChildError) -> str:
        """Why there is no answer, in words."""
        return self._said(error)[1]

    def card(self) -> Card:
        """Who it is; starts it where it is not running. Raises EngineError where it does not come up, or runs another
        revision than that of its entry."""
        with self._asking:
            return self._greeted()

    def _greeted(self) -> Card:
        if words := self._patience.no_start:
            raise EngineError(words)
        began = monotonic()
        try:
            card = self._answer_to_hello()
        except EngineError as error:
            self.close()  # what could not say who it is is not asked for more
            self._patience.started_not(str(error), monotonic() - began)
            raise
        self._patience.started()
        return card

    def _answer_to_hello(self) -> Card:
        entry = self._entry
        request = {"protocol": 1, "tokenizer": entry.tokenizer, "memory": entry.memory_bytes}
        self._of_thread.given, self._of_thread.little = entry.start, ""
        try:
            card = read_card(self._child.ask("hello", request, seconds=entry.start))
        except ChildError as error:
            words = too_old(entry.python, error) or self._said(error)[1]
            raise EngineError(f"engine {self._name} does not start: {words}") from error
        except ProtocolError as error:
            raise EngineError(f"engine {self._name} does not speak the protocol: {error}") from error
        self._refuse_another(card.sources)
        self._unasked.greeted()
        self._watch.begin()
        return card

    def _refuse_another(self, sources: Sequence[str] | None) -> None:
        """End it where it runs another revision than that of its entry, as far as it imported anything by now."""
        another = "" if sources is None else runs_another(self._entry, sources)
        if another:
            self.close()
            raise EngineError(f"engine {self._name}: {another}")

    @property
    def spent_here(self) -> float:
        """For how many seconds it was at work so far for the thread that wants to know."""
        return self._of_thread.spent

    def play(self, run: Mapping[str, Any], cancelled: Callable[[], bool] = bool) -> list[Replayed]:
        """Every replay of a run, in order, whatever its parser does. Raises EngineError where it cannot be started, and
        ChildError once it is `cancelled`: no replay is begun then, and one that does not end soon is ended."""
        with self._unless(cancelled):
            return self._all_played(run)

    @contextmanager
    def _unless(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        self._of_thread.cancelled = cancelled
        try:
            yield
        except _UnwantedError as error:
            raise ChildError(Ending.CANCELLED) from error
        finally:
            self._of_thread.cancelled = bool

    def _all_played(self, run: Mapping[str, Any]) -> list[Replayed]:
        left, found, size = list(run["replays"]), list[Replayed](), 0
        while left:
            if size > MOST_PLAYED:
                return [*found, *[_unplayed()] * len(left)]
            known = [self._culprits.known(run, deltas) for deltas in left[: self._fitting(left)]]
            unknown = [*takewhile(lambda one: one is None, known)]
            answered = [one for one in takewhile(lambda one: one is not None, known) if one]
            try:
                made = answered or self._played(run, left[: len(unknown)])
            except _RestsError as error:
                return [*found, *[self._culprits.known(run, deltas) or _resting(error) for deltas in left]]
            found += made
            size += sum([one.size for one in made])
            left = run["replays"][len(found) :]
        return found

    def lines(self, run: Mapping[str, Any]) -> RanLines:
        """The lines that a step of the one replay of a run executed. Raises EngineError where it does not tell them, or
        where the replay is known to hang at that step; of one that hangs later the rest is not fed."""
        (deltas,) = run["replays"]
        known = self._culprits.known(run, deltas)
        if known is not None and known.raised is not None:
            if known.raised.step <= run["step"]:
                raise EngineError(f"engine {self._name} does not tell which lines ran: {known.raised.message}")
            run = {**run, "replays": [deltas[: known.raised.step - 1]]}
        try:
            found = read_lines(self._told(run), run["step"])
        except _RestsError as error:
            raise EngineError(f"engine {self._name} does not tell which lines ran: {error}") from error
        except (ChildError, ProtocolError) as error:
            if isinstance(error, ProtocolError):
                self.close()
            raise EngineError(f"engine {self._name} does not tell which lines ran: {self._said(error)[1]}") from error
        if found is None:
            raise EngineError(f"engine {self._name} does not tell which lines ran: its worker does not know of them")
        return found

    def _fitting(self, replays: Sequence[Any]) -> int:
        """How many go into one message."""
        characters = 0
        for number, deltas in enumerate(replays[: self._batch]):
            characters += sum(len(delta[0]) + 20 for delta in deltas)
            if number and characters > MOST_CHARACTERS:
                return number
        return min(len(replays), self._batch)

    def _played(self, run: Mapping[str, Any], replays: Sequence[Any]) -> list[Replayed]:
        """The first so many of these replays, one at least: where one goes wrong, those after it are made later."""
        if len(replays) == 1:
            return [self._alone(run, replays[0])]
        if self._culprits.any:
            return self._until_wrong(run, replays, None)
        try:
            return self._asked(run, replays)
        except (ChildError, ProtocolError) as error:
            return self._until_wrong(run, replays, error)

    def _until_wrong(
        self, run: Mapping[str, Any], replays: Sequence[Any], first: ChildError | ProtocolError | None
    ) -> list[Replayed]:
        """A batch that failed at `first` is made once more, telling its steps: that shows the replay where it goes
        wrong. What is told of no step is halved."""
        told = _Told(run, replays)
        try:
            found = self._asked(run, replays, report="steps", on_progress=told.note)
            return found if first is None else _made_again(found, self._said(first))
        except (ChildError, ProtocolError) as error:
            if isinstance(error, ProtocolError) or not told.steps:
                return self._played(run, replays[: len(replays) // 2])
            before = self._played(run, replays[: told.number]) if told.number else []
            if len(before) < told.number:
                return before
            deltas = replays[told.number]
            few = _is_late(error) and told.others_took > self._of_thread.given / 2
            if few:  # those before it took the time: it has all of that for itself, and so many are not asked again
                self._batch = max(1, told.number // 4)
            alone = few or told.at_the_end
            if _is_late(error) and not alone:
                self._note_hang(run)
            return [*before, self._alone(run, deltas) if alone else self._failed(run, deltas, told, error)]

    def _told(
        self, request: Mapping[str, Any], on_progress: Callable[[dict[str, Any]], object] | None = None
    ) -> Answer:
        """What it answers to a run, after hello where its process is new, be it in the place of one that ended itself.
        Raises ChildError, ProtocolError, _RestsError and _UnwantedError where it is not asked, and EngineError where it
        does not start, or has imported of another revision than that of its entry."""
        with self._asking, self._timed():
            if self._of_thread.cancelled():
                raise _UnwantedError
            if words := self._patience.rest(*_parsers(request)):
                raise _RestsError(words)
            answer = self._answer_after_hello(request, on_progress)
            self._refuse_another(read(Imported, answer).sources)
            return answer

    def _answer_after_hello(
        self, request: Mapping[str, Any], on_progress: Callable[[dict[str, Any]], object] | None
    ) -> Answer:
        """A process that ends between both is greeted anew: with hello it gets its tokenizer and its limit."""
        self._greet()
        try:
            return self._answer_to_run(request, on_progress)
        except ChildError as error:
            if error.begun:
                raise
        self._greet()
        return self._answer_to_run(request, on_progress)

    def _answer_to_run(
        self, request: Mapping[str, Any], on_progress: Callable[[dict[str, Any]], object] | None
    ) -> Answer:
        patience = self._patience.of(*_parsers(request))
        began, seconds = monotonic(), patience.seconds
        self._of_thread.given, self._of_thread.little = seconds, _LITTLE * (seconds < self._entry.seconds)
        self._unasked.before()
        unwanted = self._of_thread.cancelled  # in this thread: the child asks in another one
        told = {**request, "seconds": seconds}
        try:
            answer = self._child.ask(
                "run",
                told,
                seconds=seconds,
                on_progress=on_progress,
                cancelled=lambda: monotonic() > began + LEFT_SECONDS and unwanted(),
                steps=sum(_steps(request, request["replays"])),
            )
        except ChildError as error:
            if error.ending is Ending.CANCELLED:
                raise _UnwantedError from error
            if _is_late(error) and len(request["replays"]) == 1:
                self._note_hang(request)  # before it is the turn of whoever asks next
            raise
        took = self._of_thread.took = monotonic() - began
        self._unasked.after()
        patience.answered(took / max(len(request["replays"]), 1))
        return answer

    def _note_hang(self, run: Mapping[str, Any]) -> None:
        if not _is_traced(run):
            self._patience.of(*_parsers(run)).hung()

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """What it does inside the block is counted. Whoever waits for others to be answered has not spent that."""
        began = monotonic()
        try:
            yield
        finally:
            took = monotonic() - began
            self.spent += took
            self._of_thread.spent += took

    def _asked(self, run: Mapping[str, Any], replays: Sequence[Any], **more: Any) -> list[Replayed]:
        """Raises ChildError or ProtocolError."""
        progress = more.pop("on_progress", None)
        answer = self._told({**run, "replays": replays, **more}, progress)
        came = monotonic()
        try:
            found = [one.bounded() for one in read_replays(answer, _steps(run, replays), _fed(replays))]
            found[-1:] = [
                one.model_copy(update={"noticed": [one.words for one in self.noticed()]}) for one in found[-1:]
            ]
        except ProtocolError:
            self.close()
            raise
        self._fit_batch(len(replays), self._of_thread.took + monotonic() - came)  # to read what it says takes time, too
        return found

    def _fit_batch(self, replays: int, took: float) -> None:
        """The next batch follows from what this many replays took: the first one may load what all others need, so what
        was slow once, be it alone, is tried with more again."""
        fitting = int(SHARE * self._of_thread.given / max(took / max(replays, 1), 1e-6))
        more = 2 * self._batch if replays >= self._batch else self._batch
        self._batch = max(1, min(more, LARGEST_BATCH, fitting))

    def _alone(self, run: Mapping[str, Any], deltas: Any) -> Replayed:
        """One replay: where it fails, what it sent until then, and at which step that was. What failed for another
        reason than the time or memory that it took is made once more."""
        first = None
        if len(deltas) > FEW_STEPS:
            try:
                return self._asked(run, [deltas])[0]
            except (ChildError, ProtocolError) as error:
                first = error
        for _ in range(2):
            told = _Told(run, [deltas])
            try:
                found = self._asked(run, [deltas], report="steps", on_progress=told.note)
            except (ChildError, ProtocolError) as error:
                if first is not None or _is_slow(error):
                    return self._failed(run, deltas, told, error)
                first = error
            else:
                return found[0] if first is None else _made_again(found, self._said(first))[0]
        raise AssertionError("the second failure is told")

    def _failed(self, run: Mapping[str, Any], deltas: Any, told: _Told, error: ChildError | ProtocolError) -> Replayed:
        kind, words = self._said(error)
        last = told.steps[-1].step if told.steps else int(run.get("path") == "whole")  # which is one step
        words += "" if last else _UNTOLD + self._survived(run, deltas, error)
        fault = Fault(step=last, kind=kind, message=words, slow=_is_slow(error), ended=True)
        found = Replayed(sent=told.sent, raised=fault)
        if not (fault.slow and _is_traced(run)):
            self._culprits.note(run, deltas, found, fault)
        return found

    def _survived(self, run: Mapping[str, Any], deltas: Any, error: ChildError | ProtocolError) -> str:
        """How much of a replay its process survives, by halving, for as long as a replay may take; "" where it took too
        long, or that was told of this output. What it does not survive may be the end of such a beginning."""
        low, high, until = -1, len(deltas), monotonic() + self._entry.seconds
        tried = _is_slow(error) or self._culprits.has(run, deltas)
        while not tried and high - low > 1 and monotonic() < until:
            middle = (low + high) // 2
            try:
                self._asked(run, [deltas[:middle]])
                low = middle
            except (ChildError, ProtocolError, _RestsError) as ended:
                tried = isinstance(ended, _RestsError) or _is_slow(ended)
                high = high if tried else middle
        return "" if low < 0 else _SURVIVED.format(counted(low, "delta"), high)

    def _said(self, error: ChildError | ProtocolError) -> tuple[str, str]:
        if isinstance(error, ProtocolError):
            return "Garbled", f"its answer is not one of the protocol: {error}"
        kind, words = _KINDS[error.ending]
        code = error.code or 0
        given = {"seconds": self._of_thread.given, "little": self._of_thread.little}
        entry = {**given, "memory": self._entry.memory, "bytes": ANSWER_BYTES}
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if error.ending is Ending.ENDED and error.code is None:
            return kind, _CLOSED
        last = _last(error) if error.ending is Ending.ENDED else ""
        return kind, words.format(**entry, how=how, message=error.message[:_WORDS]) + last


class _Told:
    """The steps that a worker told of while it made these replays: `steps` are those of the last one that it began,
    which is `number`. Raises ProtocolError where it tells of more than there are, or of too much."""

    def __init__(self, run: Mapping[str, Any], replays: Sequence[Any]) -> None:
        self.number = -1
        self.steps: list[Progress] = []
        self._asked = self._began = monotonic()
        self._most = _steps(run, replays)
        self._characters = 0

    def note(self, said: dict[str, Any]) -> None:
        """A step is begun."""
        step = read(Progress, said)
        begins = step.step == 1
        number, steps = (self.number + 1, 1) if begins else (self.number, len(self.steps) + 1)
        if not 0 <= number < len(self._most) or steps > self._most[number]:
            raise ProtocolError("/progress/step: it tells of a step that there is not")
        if begins:
            self.number, self.steps, self._began = number, [], monotonic()
        self.steps.append(step)
        self._characters += 0 if step.sent is None else step.sent.size
        if self._characters > ANSWER_BYTES:
            raise ProtocolError("/progress/sent: that is too much")

    @property
    def sent(self) -> list[Sent | None]:
        """What the steps sent that are through."""
        return [one.sent for one in self.steps[1:]]

    @property
    def others_took(self) -> float:
        """The seconds until the last replay was begun."""
        return self._began - self._asked

    @property
    def at_the_end(self) -> bool:
        """Whether the last step was begun: whatever happened may have happened to the next replay."""
        return len(self.steps) == self._most[self.number]


def _is_traced(run: Mapping[str, Any]) -> bool:
    """Whether the time and memory that it takes may be those of the look at it: they say nothing of its parser."""
    return run.get("observe") in _TRACED


def _parsers(run: Mapping[str, Any]) -> tuple[Any, Any]:
    """Who reads in a run."""
    return run.get("parser"), run.get("reasoning_parser")


def _steps(run: Mapping[str, Any], replays: Sequence[Any]) -> list[int]:
    """How many steps each replay has."""
    return [1 if run.get("path") == "whole" else len(deltas) + 1 for deltas in replays]


def _fed(replays: Sequence[Any]) -> list[int]:
    """How many characters each replay is fed."""
    return [sum([len(delta[0]) for delta in deltas]) for deltas in replays]


def _unplayed() -> Replayed:
    """A replay that is not made, for all that those before it sent."""
    words = f"the replays before it sent and showed more than {MOST_PLAYED:,} characters, so it was not asked"
    return Replayed(sent=[], raised=Fault(step=0, kind="Flood", message=words, ended=True, unasked=True))


def _resting(error: _RestsError) -> Replayed:
    """A replay that is not made while it rests."""
    fault = Fault(step=0, kind="Hangs", message=str(error), slow=True, ended=True, unasked=True, rests=True)
    return Replayed(sent=[], raised=fault)


def _is_late(error: ChildError | ProtocolError) -> bool:
    return isinstance(error, ChildError) and error.ending is Ending.LATE


def _is_slow(error: ChildError | ProtocolError) -> bool:
    return isinstance(error, ChildError) and error.ending in _SLOW


def _made_again(found: list[Replayed], said: tuple[str, str]) -> list[Replayed]:
    """Replays that went wrong, and did not when they were made again: that is told of the first."""
    words = "{}: {}; not when it was made again".format(*said)
    return [found[0].model_copy(update={"printed": [(1, words), *found[0].printed][:MOST_PRINTED]}), *found[1:]]


def _last(error: ChildError) -> str:
    """The last line on standard error, where the process ended: that is where a language says what was wrong."""
    lines = error.detail.strip().splitlines()
    return f"; it says last: {lines[-1][:_WORDS]}" if lines else ""
