"""What an engine does that nobody asked it for: processes that a replay left behind, and work between two requests.

What a worker started by the time it said hello is part of it. Whatever else lives after an answer was left behind: it
is ended, for nobody would end it before the worker, and said. A worker that works on and on while nothing is asked of
it is ended too: whoever asks next may come in an hour, or never.
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
SPUN_SECONDS = 20.0  # of a processor, all in times of more than that share, after which a worker is ended
LOOK_SECONDS = 5.0  # after an answer it is looked at what is done
SELDOM_SECONDS = 60.0  # between two looks at a worker that was not asked for long
_SELDOM_SHARE = 0.1  # of the time that it was not asked in
_SHOWN = 3  # names
LEFT = "{many} that it started while it replayed ran on after its answer, and {were} ended: {names}"
SPINS = "it was at work for {used:.1f} of the {idle:.1f} seconds in which nothing was asked of it"
ENDED = f"{SPINS}, and its process was ended"


class Noticed(NamedTuple):
    """One thing: whether processes were left behind, and in words what there was."""

    left: bool
    words: str


class _Moment(NamedTuple):
    """When it was, and for how many seconds the process and what it started had been at work by then."""

    when: float
    worked: float


class _Spell(NamedTuple):
    """Seconds in which nothing was asked, and how many of them, or of more processors than one, were of work."""

    idle: float = 0.0
    used: float = 0.0

    @property
    def spins(self) -> bool:
        """Whether that is too much work for so long a time."""
        return self.idle >= IDLE_SECONDS and self.used > SHARE * self.idle

    def told(self, words: str) -> str:
        """Both in words."""
        return words.format(used=self.used, idle=self.idle)


class Unasked:
    """That of one engine. `last`: what was noticed last of its process, or why the one before it was ended."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._own: frozenset[Being] = frozenset()
        self._since: _Moment | None = None
        self._looked: _Moment | None = None
        self._spun = _Spell()
        self.forget()

    def forget(self) -> None:
        """Whatever was, nothing was noticed."""
        self.last = ""
        self._noticed: list[Noticed] = []
        self._ended: list[Noticed] = []

    def greeted(self) -> None:
        """A new process said hello. Why the one before it was ended is still to be told."""
        self._noticed, self._ended = self._ended, []
        self.last = self._noticed[-1].words if self._noticed else ""
        self._own, self._spun = self._child.others(), _Spell()
        self._begin()

    def before(self) -> None:
        """It is asked for something now."""
        if self._since is None:
            return
        if (spell := self._lately(self._since)).spins:
            self._notice(Noticed(False, spell.told(SPINS)))
        self._count(self._looked or self._since)
        self._since = None

    def look(self) -> float:
        """Look at what it does while nothing is asked of it, and end what has worked for too long. In how many seconds
        that is due again; 0 where there is no process any more. Nobody may be asking it."""
        if self._child.pid is None:
            return 0.0
        if self._since is None:  # it refused to answer
            self._begin()
            return LOOK_SECONDS
        self._count(self._looked or self._since)
        if self._spun.used >= SPUN_SECONDS:
            self._end(self._spun.told(ENDED))
            return 0.0
        if self._spun.spins:
            self.last = self._spun.told(SPINS)
        return min(SELDOM_SECONDS, max(LOOK_SECONDS, _SELDOM_SHARE * self._lately(self._since).idle))

    def after(self) -> None:
        """It has answered."""
        if self._child.others() - self._own:
            sleep(LEAVING_SECONDS)
        if left := self._child.others() - self._own:
            end(left)
            names = [f"{one.name} ({one.pid})" for one in sorted(left)]
            many, were = counted(len(left), "process", "processes"), "was" if len(left) == 1 else "were"
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
        self._since = self._looked = self._now()

    def _now(self) -> _Moment:
        return _Moment(monotonic(), self._child.worked())

    def _lately(self, since: _Moment) -> _Spell:
        """What it did since then."""
        now = self._now()
        return _Spell(now.when - since.when, now.worked - since.worked)

    def _count(self, since: _Moment) -> None:
        """Add what it did since the last look to what it spun in a row. A time in which it mostly slept ends that: a
        bit of work now and then adds up to hours."""
        spell = self._lately(since)
        if spell.idle >= IDLE_SECONDS:
            row = _Spell(self._spun.idle + spell.idle, self._spun.used + spell.used)
            self._spun = row if spell.spins else _Spell()
            self._looked = self._now()

    def _end(self, words: str) -> None:
        self._ended, self.last = [*self._noticed, Noticed(False, words)], words
        self._since = None
        self._child.close()

    def _notice(self, one: Noticed) -> None:
        self._noticed.append(one)
        self.last = one.words
