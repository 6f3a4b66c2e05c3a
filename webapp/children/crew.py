"""Children that are all alike, each at one task at a time, and the line of those who wait for one.

Who comes next is whoever has fewest tasks running, then who came first; so nobody takes all children while others wait.
Of one client what is smaller comes first: behind one address may be many people.
When the line is full, whoever has most places in it loses the last one. Work goes to the child that was used last of
those that are free: its caches are warm, and the others may end when they have had nothing to do for long. One child
more than there are for all takes small tasks alone, when all others are at work. All keep within one budget of memory:
over it, children that are free are ended, the least recently used first; and so is one that keeps much for nobody.

What a child holds for later is known by a key. A key belongs to one process: when that ends, the key is gone. Whoever
reads what a child holds asks for little, again and again, and cannot go elsewhere: so another child stands in for that
one with tasks of others, and there are twice as many as may be at work with these.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic

from webapp.children.child import Child

MOST_KEYS = 20_000
_LOOK_SECONDS = 0.2  # how long somebody may be gone who still waits
READ_SECONDS = 30.0  # for so long after somebody asked for what it holds, a child gets the tasks of others last
_STEP = 20_000_000  # bytes: a child that keeps so much more than another one gets less to do
_ALIKE = 100_000  # bytes: requests that differ by less come in the order they came in
_MUCH_BYTES = 30_000_000  # that a process took for its tasks: less is worth no new start


class Full(Exception):  # noqa: N818 - what happened, not what went wrong
    """So many wait that nobody else may, or the wait was too long."""


class Lost(Exception):  # noqa: N818 - as above
    """No child holds what a key stands for."""


class Left(Exception):  # noqa: N818 - as above
    """Whoever waited is gone."""


@dataclass(slots=True, frozen=True)
class Wish:
    """Who asks (`client`), for which child, and until when, in seconds; `small`: it should not take long; `size`: of
    what is asked, in bytes.

    Only the child that holds `only` will do, or else that which holds one of `rather` is best while it is free, and is
    waited for during `patience` seconds, which begin once it is no more at work on that for the first time.
    """

    client: str = ""
    only: str = ""
    rather: tuple[str, ...] = ()
    patience: float = 0.0
    small: bool = False
    size: int = 0
    gone: Callable[[], bool] = bool
    seconds: float = 60.0


@dataclass(slots=True, eq=False)
class Member:
    """A child of the crew, `spare`: the one for small tasks.

    `kept`: what it says that its caches take, in bytes; `held_until`: when it forgets the last of what it holds for
    somebody, unless that is asked for. `used` is when it was given back; `read`, when somebody asked for what it holds.
    `reads`: it is at work on that now.
    """

    child: Child
    spare: bool = False
    busy: bool = False
    reads: bool = False
    used: float = 0.0
    read: float = -READ_SECONDS
    kept: int = 0
    held_until: float = 0.0

    @property
    def holds(self) -> bool:
        """Return whether it holds anything for somebody."""
        return monotonic() < self.held_until

    @property
    def is_read(self) -> bool:
        """Return whether somebody is reading what it holds."""
        return monotonic() < self.read + READ_SECONDS

    def end(self) -> None:
        """End its process; the next task starts another."""
        self.child.close()
        self.forget()

    def forget(self) -> None:
        """Its process is gone."""
        self.kept, self.held_until, self.read = 0, 0.0, -READ_SECONDS


@dataclass(slots=True, eq=False)
class _Ticket:
    wish: Wish
    member: Member | None = None
    lost: bool = False
    called: Event = field(default_factory=Event)
    since: float = field(default_factory=monotonic)  # its patience counts from then


class Crew:
    """Children made by `make` and started when they are needed, of which `size` may be at work besides what is read.
    Safe to share between threads.

    At most `waiting` wait for one. `most_bytes` is what all may take between their tasks.
    """

    def __init__(self, make: Callable[[], Child], size: int, *, waiting: int, most_bytes: int) -> None:
        self.members = [Member(make(), spare=number == 2 * size) for number in range(2 * size + 1)]
        self._size = size
        self._most_waiting = waiting
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._waiting: list[_Ticket] = []
        self._running: Counter[str] = Counter()
        self._holders: OrderedDict[str, tuple[Member, int | None]] = OrderedDict()

    @contextmanager
    def member(self, wish: Wish) -> Iterator[Member]:
        """A child for one task. Raises Full, Lost or Left where there is none."""
        member = self._take(wish)
        try:
            yield member
        finally:
            self._give_back(member, wish)

    def note(self, key: str, member: Member) -> None:
        """Say that a child holds what the key stands for. It is at work, so it has a process."""
        with self._lock:
            self._holders.pop(key, None)
            if member.child.pid is not None:
                self._holders[key] = member, member.child.pid
            while len(self._holders) > MOST_KEYS:
                self._holders.popitem(last=False)

    @property
    def kept(self) -> int:
        """Return how much the caches of all children take, in bytes."""
        return sum([one.kept for one in self.members])

    @property
    def state(self) -> CrewState:
        """Return what the children do at this moment."""
        busy = sum([one.busy for one in self.members])
        return CrewState(busy, len(self.members) - busy, len(self._waiting), self.kept)

    @contextmanager
    def fullest(self, more_than: int) -> Iterator[Member | None]:
        """The child with the largest caches of those that are free, where they take more than so many bytes. What is
        asked of it here is no use of it."""
        with self._lock:
            free = [one for one in self.members if not one.busy and one.kept > more_than and one.child.pid is not None]
            member = max(free, key=lambda one: one.kept, default=None)
            if member is not None:
                member.busy = True
        try:
            yield member
        finally:
            with self._lock:
                if member is not None:
                    member.busy = False
                    self._call()

    def let_go(self, seconds: float) -> None:
        """End the children that take much memory, hold nothing for anybody, and were given back so long ago: a process
        that forgets what it holds keeps the memory for what may come."""
        latest = monotonic() - seconds
        with self._lock:
            self._tidy()
            for one in self.members:
                if not (one.busy or one.holds) and one.used <= latest and one.child.rss > _MUCH_BYTES:
                    one.end()

    def close(self) -> None:
        """End all children."""
        for member in self.members:
            member.child.close()

    def _take(self, wish: Wish) -> Member:
        ticket, latest = _Ticket(wish), monotonic() + wish.seconds
        with self._lock:
            self._tidy()
            if wish.only and self._holder(wish.only) is None:
                raise Lost
            self._line_up(ticket)
            self._call()
            if len(self._waiting) > self._most_waiting:
                self._turn_away(wish.client)
        while not ticket.called.wait(_LOOK_SECONDS):
            if wish.gone() or monotonic() > latest:
                self._leave(ticket)
            elif wish.patience:
                self._call_the_impatient()
        if ticket.member is None:
            raise Lost if ticket.lost else Left if wish.gone() else Full
        return ticket.member

    def _line_up(self, ticket: _Ticket) -> None:
        """Take a place at the end. The places of a client are its smaller tasks' first; others keep theirs."""
        self._waiting.append(ticket)
        places = [place for place, one in enumerate(self._waiting) if one.wish.client == ticket.wish.client]
        own = sorted([self._waiting[place] for place in places], key=lambda one: one.wish.size // _ALIKE)
        for place, one in zip(places, own, strict=True):
            self._waiting[place] = one

    def _turn_away(self, client: str) -> None:
        """Send somebody away: the last of those that have most places in the line, of two such the one who came."""
        places = Counter([one.wish.client for one in self._waiting])
        most = max(places, key=lambda one: (places[one], one == client))
        self._dismiss(next(one for one in reversed(self._waiting) if one.wish.client == most))

    def _leave(self, ticket: _Ticket) -> None:
        """Take a ticket out of the line, unless it was called just now."""
        with self._lock:
            if ticket in self._waiting:
                self._dismiss(ticket)

    def _give_back(self, member: Member, wish: Wish) -> None:
        with self._lock:
            member.used = monotonic()
            if member.reads:
                member.read = member.used
            member.busy = member.reads = False
            for key in wish.rather:
                if self._holders.get(key) == (member, None):  # it failed: nothing came of what was expected of it
                    del self._holders[key]
            self._running[wish.client] -= 1
            self._running += Counter()  # forgets those that have none
            self._keep_budget(member)
            self._call()

    def _call_the_impatient(self) -> None:
        """Give free children to those who have waited long enough for the one they would rather have."""
        with self._lock:
            self._call()

    def _call(self) -> None:
        """Give the free children to those who wait."""
        for ticket in sorted(self._waiting, key=lambda ticket: self._running[ticket.wish.client]):
            gone = ticket.wish.gone()
            member = None if gone else self._free_for(ticket)
            if member is not None:
                member.busy, member.reads = True, bool(ticket.wish.only)
                self._running[ticket.wish.client] += 1
                ticket.member = member
                self._expect(ticket.wish, member)
            if gone or ticket.lost or member is not None:
                self._dismiss(ticket)

    def _expect(self, wish: Wish, member: Member) -> None:
        """A child gets a request whose keys others are ready to wait for: where none holds them, it is to."""
        for key in wish.rather if wish.patience else ():
            if self._holder(key) is None:
                self._holders[key] = member, None

    def _dismiss(self, ticket: _Ticket) -> None:
        """Take a ticket out of the line; whoever has it sees for what."""
        self._waiting.remove(ticket)
        ticket.called.set()

    def _free_for(self, ticket: _Ticket) -> Member | None:
        wish = ticket.wish
        if wish.only:
            holder = self._holder(wish.only)
            ticket.lost = holder is None
            return None if holder is None or holder.busy else holder
        full = len([one for one in self.members if one.busy and not one.reads and not one.spare]) >= self._size
        fit = [one for one in self.members if (one.spare and wish.small) or not (one.spare or full)]
        holders = [holder for key in wish.rather if (holder := self._holder(key)) in fit]
        best = [holder for holder in holders if not holder.busy]
        if self._is_at_work_on(wish):
            ticket.since = monotonic()
        if holders and not best and monotonic() <= ticket.since + wish.patience:
            return None
        free = sorted([one for one in fit if not one.busy], key=_as_taken)
        return next(iter([*best, *free]), None)

    def _is_at_work_on(self, wish: Wish) -> bool:
        """Return whether some child is at what the wish is for, for the first time: whatever that takes, another one
        would take as long."""
        return any(self._holder(key) is not None and self._holders[key][1] is None for key in wish.rather)

    def _holder(self, key: str) -> Member | None:
        """The child that holds a key, as long as it is the process that did, or at work on it for the first time."""
        member, pid = self._holders.get(key, (None, None))
        if member is None or (member.child.pid != pid and not (pid is None and member.busy)):
            self._holders.pop(key, None)
            return None
        self._holders.move_to_end(key)
        return member

    def _tidy(self) -> None:
        """Take leave of the processes that ended while nobody asked them."""
        for member in self.members:
            if not member.busy:
                member.child.tidy()
                if member.child.pid is None:
                    member.forget()

    def _keep_budget(self, last: Member) -> None:
        """End children that are free while all take more than they may, those first that hold nothing for anybody;
        `last` stays."""
        free = [one for one in self.members if not one.busy and one is not last]
        for member in sorted(free, key=lambda one: (one.holds, one.used)):
            if sum([one.child.rss for one in self.members]) <= self._most_bytes:
                return
            member.end()


@dataclass(slots=True, frozen=True)
class CrewState:
    """Holds how many children are busy and free, how many requests wait for one, and the bytes of all caches."""

    busy: int
    free: int
    waiting: int
    kept: int


def _as_taken(member: Member) -> tuple[bool, bool, int, float]:
    """What free children are sorted by: the first one gets the task."""
    return member.spare, member.is_read, member.kept // _STEP, -member.used
