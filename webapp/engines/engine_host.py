"""One entered engine at work: its worker started when it is needed, asked for many replays at a time, ended when it
misbehaves.

Replays go in batches, whose size follows from how long the last ones took. When a batch has no answer, it is halved;
a replay that fails alone is made once more and tells each step before it is taken, so that the step is known that the
process did not survive. That becomes what the parser failed with, like an exception, and the next replay starts another
process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from parsers.replays.ran_lines import RanLines
from parsers.vocabulary.types import UsageError
from webapp.children.child import Child, ChildError, Ending, Program
from webapp.engines.entries import Entry
from webapp.engines.lines import read_lines
from webapp.engines.protocol import (
    MOST_PRINTED,
    Card,
    Fault,
    Progress,
    ProtocolError,
    Replayed,
    Sent,
    read,
    read_card,
    read_replays,
)

PATIENCE = 3  # times as long by the clock as it may work, on a busy machine
START_SECONDS = 120.0  # for what an engine imports
ANSWER_BYTES = 50_000_000
FIRST_BATCH = 32
LARGEST_BATCH = 256
MOST_CHARACTERS = 4_000_000  # fed in one message
FEW = 4  # replays of a batch without an answer are made one by one
SHARE = 0.1  # of what one replay may take a batch should take

_KINDS = {
    Ending.LATE: ("Hangs", "it did not return in {seconds:g} seconds, and its process was ended"),
    Ending.MEMORY: ("OutOfMemory", "its process kept more than {memory:,} MB, and was ended"),
    Ending.ENDED: ("Crashed", "its process ended ({how})"),
    Ending.PANIC: ("Garbled", "its process said what is no message, and was ended"),
    Ending.LARGE: ("Flood", "its process answered with more than {bytes:,} bytes, and was ended"),
    Ending.REFUSED: ("Refused", "{message}"),
}
_SLOW = (Ending.LATE, Ending.MEMORY)
_WORDS = 300  # characters


class EngineHost:
    """An engine by the name of its entry. Replays of it are made one message at a time, whoever asks."""

    def __init__(self, name: str, entry: Entry) -> None:
        self.spent = 0.0
        self._name = name
        self._entry = entry
        self._batch = FIRST_BATCH
        program = Program(
            name,
            command=entry.argv(name),
            folder=entry.folder,
            environment=entry.variables,
            variables=("HOME", "USERPROFILE", "LD_PRELOAD"),
            answer_bytes=ANSWER_BYTES,
            resident_bytes=entry.memory_bytes,
            patience=PATIENCE,
        )
        self._child = Child(program)

    @property
    def pid(self) -> int | None:
        """Its process while there is one."""
        return self._child.pid

    def close(self) -> None:
        """End its process."""
        self._child.close()

    def raw(
        self, task: str, request: Mapping[str, Any], on_progress: Callable[[dict[str, Any]], object] | None = None
    ) -> dict[str, Any]:
        """What it answers, as it says it. Raises ChildError."""
        return self._child.ask(task, request, seconds=self._entry.seconds, on_progress=on_progress)

    def card(self) -> Card:
        """Who it is; starts it where it is not running. Raises UsageError where it does not come up."""
        entry = self._entry
        request = {"protocol": 1, "tokenizer": entry.tokenizer, "memory": entry.memory_bytes}
        try:
            return read_card(self._child.ask("hello", request, seconds=START_SECONDS))
        except ChildError as error:
            raise UsageError(f"engine {self._name} does not start: {self._said(error)[1]}{_last(error)}") from error
        except ProtocolError as error:
            self.close()
            raise UsageError(f"engine {self._name} does not speak the protocol: {error}") from error

    def play(self, run: Mapping[str, Any]) -> list[Replayed]:
        """Every replay of a run, in order, whatever its parser does. Raises UsageError where it cannot be started."""
        left, found = list(run["replays"]), list[Replayed]()
        while left:
            many = self._fitting(left)
            found += self._played(run, left[:many])
            left = left[many:]
        return found

    def lines(self, run: Mapping[str, Any]) -> RanLines:
        """The lines that a step of the one replay of a run executed. Raises UsageError where it does not tell them."""
        try:
            return read_lines(
                self._child.ask("run", {**run, "seconds": self._entry.seconds}, seconds=self._entry.seconds)
            )
        except (ChildError, ProtocolError) as error:
            if isinstance(error, ProtocolError):
                self.close()
            raise UsageError(f"engine {self._name} does not tell which lines ran: {self._said(error)[1]}") from error

    def _fitting(self, replays: Sequence[Any]) -> int:
        """How many go into one message."""
        characters = 0
        for number, deltas in enumerate(replays[: self._batch]):
            characters += sum(len(delta[0]) + 20 for delta in deltas)
            if number and characters > MOST_CHARACTERS:
                return number
        return min(len(replays), self._batch)

    def _played(self, run: Mapping[str, Any], replays: Sequence[Any]) -> list[Replayed]:
        began = monotonic()
        try:
            found = self._asked(run, replays)
        except (ChildError, ProtocolError) as error:
            if len(replays) <= FEW:
                return self._each(run, replays, error)
            middle = len(replays) // 2
            return self._played(run, replays[:middle]) + self._played(run, replays[middle:])
        each = (monotonic() - began) / len(replays)
        fitting = int(SHARE * self._entry.seconds / max(each, 1e-6))
        self._batch = max(1, min(LARGEST_BATCH, 2 * self._batch, fitting))
        return found

    def _asked(self, run: Mapping[str, Any], replays: Sequence[Any], **more: Any) -> list[Replayed]:
        """Raises ChildError or ProtocolError."""
        began = monotonic()
        if self._child.pid is None:
            self.card()
        seconds, progress = self._entry.seconds, more.pop("on_progress", None)
        request = {**run, "replays": replays, "seconds": seconds, **more}
        try:
            answer = self._child.ask("run", request, seconds=seconds, on_progress=progress)
        finally:
            self.spent += monotonic() - began
        whole = run.get("path") == "whole"
        try:
            return read_replays(answer, [1 if whole else len(deltas) + 1 for deltas in replays])
        except ProtocolError:
            self.close()
            raise

    def _each(
        self, run: Mapping[str, Any], replays: Sequence[Any], first: ChildError | ProtocolError
    ) -> list[Replayed]:
        """Each replay of a batch that failed, by itself. Where none fails then, that is told of the first."""
        found = [self._alone(run, deltas) for deltas in replays]
        if all(one.raised is None for one in found):
            words = "{}: {}; not when it was made again".format(*self._said(first))
            found[0] = found[0].model_copy(update={"printed": [(1, words), *found[0].printed][:MOST_PRINTED]})
        return found

    def _alone(self, run: Mapping[str, Any], deltas: Any) -> Replayed:
        """One replay, a message a step: where it fails, what it sent until then, and at which step that was."""
        steps: list[Progress] = []

        def note(said: dict[str, Any]) -> None:
            steps.append(read(Progress, said))

        try:
            return self._asked(run, [deltas], report="steps", on_progress=note)[0]
        except (ChildError, ProtocolError) as error:
            last = steps[-1].step if steps else 0
            kind, words = self._said(error)
            slow = isinstance(error, ChildError) and error.ending in _SLOW
            sent: list[Sent | None] = [one.sent for one in steps[1:]]
            return Replayed(sent=sent, raised=Fault(step=last, kind=kind, message=words, slow=slow, ended=True))

    def _said(self, error: ChildError | ProtocolError) -> tuple[str, str]:
        if isinstance(error, ProtocolError):
            return "Garbled", f"its answer is not one of the protocol: {error}"
        kind, words = _KINDS.get(error.ending, (error.ending.value, error.message or error.ending.value))
        code = error.code or 0
        entry = {"seconds": self._entry.seconds, "memory": self._entry.memory, "bytes": ANSWER_BYTES}
        how = f"signal {-code}" if code < 0 else f"exit code {error.code}"
        return kind, words.format(**entry, how=how, message=error.message[:_WORDS])


def _last(error: ChildError) -> str:
    """The last line on standard error."""
    lines = error.detail.strip().splitlines()
    return f"; it says last: {lines[-1][:_WORDS]}" if lines else ""
