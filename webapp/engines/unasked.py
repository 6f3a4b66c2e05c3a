"""What an engine does that nobody asked it for: processes that a replay left behind, and work between two requests.

What a worker started by the time it said hello is part of it. Whatever else lives after an answer was left behind: it
is ended, for nobody would end it before the worker, and said.
"""

from __future__ import annotations

from time import monotonic, sleep
from typing import NamedTuple

from parsers.vocabulary.words import counted
from webapp.children.child import Child
from webapp.children.descendants import Being, end

LEAVING_SECONDS = 0.05  # for a process that is about to end when the answer comes
IDLE_SECONDS = 0.5  # less says nothing of what is done between requests
SHARE = 0.2  # of the time nothing was asked in: who works for more of it waits for something by spinning
_SHOWN = 3  # names
LEFT = "{many} that it started while it replayed ran on after its answer, and {were} ended: {names}"
SPINS = "it was at work for {used:.1f} of the {idle:.1f} seconds in which nothing was asked of it"


class Noticed(NamedTuple):
    """One thing: whether processes were left behind, and in words what there was."""

    left: bool
    words: str


class Unasked:
    """That of one engine. `last`: what was noticed last of its process."""

    def __init__(self, child: Child) -> None:
        self.last = ""
        self._child = child
        self._own: frozenset[Being] = frozenset()
        self._noticed: list[Noticed] = []
        self._since: tuple[float, float] | None = None

    def greeted(self) -> None:
        """A new process said hello."""
        self._own, self._noticed, self.last = self._child.others(), [], ""
        self._begin()

    def before(self) -> None:
        """It is asked for something now."""
        if self._since is None:
            return
        (began, worked), now = self._since, monotonic()
        idle, used = now - began, self._child.worked() - worked
        if idle >= IDLE_SECONDS and used > SHARE * idle:
            self._notice(Noticed(False, SPINS.format(used=used, idle=idle)))
        self._since = None

    def after(self) -> None:
        """It has answered."""
        if self._child.others() - self._own:
            sleep(LEAVING_SECONDS)
        if left := self._child.others() - self._own:
            end(left)
            names = [f"{one.name} ({one.pid})" for one in sorted(left)]
            many, were = counted(len(left), "process"), "was" if len(left) == 1 else "were"
            told = ", ".join(names[:_SHOWN]) + f" and {len(left) - _SHOWN} more" * (len(left) > _SHOWN)
            self._notice(Noticed(True, LEFT.format(many=many, were=were, names=told)))
        self._begin()

    def taken(self) -> list[Noticed]:
        """What was noticed since that was asked last."""
        noticed, self._noticed = self._noticed, []
        return noticed

    def idle(self) -> str:
        """What it does in a moment in which it is asked nothing; "" where that is nothing."""
        self._begin()
        sleep(IDLE_SECONDS)
        self.before()
        self._begin()
        return next((one.words for one in self.taken() if not one.left), "")

    def _begin(self) -> None:
        self._since = monotonic(), self._child.worked()

    def _notice(self, one: Noticed) -> None:
        self._noticed.append(one)
        self.last = one.words
