"""A crew of children: who comes next, who is turned away, what is found again, and what is ended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from time import monotonic, sleep

import pytest

from tests.webapp.children.processes import PATIENCE, until
from webapp.children import crew as module
from webapp.children.child import Child
from webapp.children.crew import Crew, Full, Left, Lost, Member, Wish
from webapp.children.program import Program


class Actor(Child):
    """A child without a process: `ended` counts how often it was closed."""

    def __init__(self) -> None:
        super().__init__(Program("nothing"))
        self.ended = 0
        self.life: int | None = None
        self.dead = False

    @property
    def pid(self) -> int | None:
        return self.life

    def work(self, rss: int = 100) -> None:
        self.life = self.life or id(self) + self.ended
        self.rss = rss

    def tidy(self) -> None:
        if self.dead:
            self.close()

    def close(self) -> None:
        self.ended += 1
        self.life, self.rss, self.dead = None, 0, False


def crew_of(size: int, *, waiting: int = 8, most_bytes: int = 1_000) -> Crew:
    return Crew(Actor, size, waiting=waiting, most_bytes=most_bytes)


def actor(member: Member) -> Actor:
    assert isinstance(member.child, Actor)
    return member.child


def worked(crew: Crew, wish: Wish = Wish(), *, rss: int = 100, note: str = "") -> Member:  # noqa: B008 - frozen
    """The child that did a task."""
    with crew.member(wish) as member:
        actor(member).work(rss)
        if note:
            crew.note(note, member)
    return member


class Line:
    """Tasks that run until they are let go, and those that wait for them."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.threads = ThreadPoolExecutor(8)
        self.held: dict[str, ExitStack] = {}

    def begin(self, name: str, wish: Wish) -> Member:
        """A task that runs from now on."""
        stack = ExitStack()
        member = stack.enter_context(self.crew.member(wish))
        self.held[name] = stack
        return member

    def end(self, name: str) -> None:
        self.held.pop(name).close()

    def wait(self, name: str, wish: Wish, order: list[str]) -> Future[Member]:
        """A task that stands in line, and says when its turn has come."""
        before = list(self.crew._waiting)

        def come() -> Member:
            member = self.begin(name, wish)
            order.append(name)
            return member

        waiting = self.threads.submit(come)
        until(lambda: waiting.done() or self.crew._waiting != before)
        return waiting


@pytest.fixture
def line() -> Iterator[Line]:
    found = Line(crew_of(1))
    yield found
    for name in list(found.held):
        found.end(name)
    found.threads.shutdown()


def test_work_goes_to_the_child_that_was_used_last() -> None:
    crew = crew_of(3)
    first = worked(crew)
    with crew.member(Wish()) as same, crew.member(Wish()) as other:
        assert (same is first, other is first) == (True, False)
    assert worked(crew) is same


def test_a_child_that_keeps_much_more_than_another_gets_the_next_task_last() -> None:
    crew = crew_of(2)
    with crew.member(Wish()) as first, crew.member(Wish()) as second:
        first.kept, second.kept = 50_000_000, 45_000_000
    last = worked(crew)
    assert last in (first, second)
    last.kept = 100_000_000
    assert worked(crew) is not last


def test_what_a_child_holds_leads_to_it_and_to_no_other_process() -> None:
    crew = crew_of(2)
    holder = worked(crew, note="run 1")
    with crew.member(Wish()):
        other = worked(crew)
    assert other is not holder
    assert worked(crew, Wish(only="run 1")) is holder
    holder.end()
    with pytest.raises(Lost):
        worked(crew, Wish(only="run 1"))
    actor(holder).work()
    with pytest.raises(Lost):
        worked(crew, Wish(only="run 1"))
    with pytest.raises(Lost):
        worked(crew, Wish(only="never heard of"))


def test_a_child_holds_something_as_long_as_it_said_and_lives() -> None:
    member = worked(crew_of(1))
    held = []
    for seconds in (600, -1, 600):
        member.held_until = monotonic() + seconds
        held.append(member.holds)
    member.end()
    assert [*held, member.holds] == [True, False, True, False]


def test_a_child_without_a_process_holds_nothing() -> None:
    crew = crew_of(1)
    with crew.member(Wish()) as member:
        crew.note("run 1", member)
    with pytest.raises(Lost):
        worked(crew, Wish(only="run 1"))


def test_a_wish_for_one_child_waits_for_it_and_hears_when_it_is_gone(line: Line) -> None:
    order: list[str] = []
    line.crew = crew_of(2)
    holder = line.begin("first", Wish())
    actor(holder).work()
    line.crew.note("run 1", holder)
    waiting = line.wait("second", Wish(only="run 1"), order)
    assert worked(line.crew) is not holder
    line.end("first")
    assert waiting.result(PATIENCE) is holder
    lost = line.wait("third", Wish(only="run 1"), order)
    holder.end()
    line.end("second")
    with pytest.raises(Lost):
        lost.result(PATIENCE)


def test_a_child_that_is_liked_is_taken_while_it_is_free() -> None:
    crew = crew_of(2)
    liked = worked(crew, note="case 1")
    with crew.member(Wish()):
        worked(crew)
    with crew.member(Wish(rather=("case 2", "case 1"))) as member:
        assert member is liked
        assert worked(crew, Wish(rather=("case 1",))) is not liked


def test_a_child_that_is_liked_is_waited_for_a_while(line: Line) -> None:
    line.crew, wish = crew_of(2), Wish(rather=("case 2", "case 1"), patience=60)
    liked = worked(line.crew, note="case 1")
    order: list[str] = []
    for name in ("first", "second"):
        assert line.begin(name, wish) is liked
        patient = line.wait("third", wish, order)
        assert worked(line.crew, Wish(rather=("case 1",), patience=0.05)) is not liked
        assert worked(line.crew, Wish(rather=("case 3",), patience=60)) is not liked
        assert not patient.done()
        line.end(name)
        assert patient.result(PATIENCE) is liked
        line.end("third")


def test_a_child_at_work_on_what_nobody_held_is_waited_for(line: Line) -> None:
    line.crew, wish = crew_of(2), Wish(rather=("case 1",), patience=0.01)
    order: list[str] = []
    first = line.begin("first", wish)
    later = line.wait("later", wish, order)
    sleep(0.5)  # much longer than its patience: it does not count for what is being made
    assert worked(line.crew, Wish(rather=("case 2",), patience=60)) is not first
    assert not later.done()
    line.end("first")
    assert later.result(PATIENCE) is first
    line.end("later")


def test_what_a_failed_task_was_expected_to_hold_is_forgotten() -> None:
    crew, wish = crew_of(2), Wish(rather=("case 1",), patience=60)
    worked(crew, wish)
    assert not crew._holders
    holder = worked(crew, wish, note="case 1")
    assert crew._holders == {"case 1": (holder, holder.child.pid)}


def test_one_child_more_takes_what_is_small_when_all_others_are_at_work() -> None:
    crew, small = crew_of(1), Wish(small=True)
    with crew.member(small) as first:
        assert not first.spare
        with pytest.raises(Full):
            worked(crew, Wish(seconds=0.05))
        spare = worked(crew, small, note="case 1")
        assert spare.spare
        with crew.member(Wish(rather=("case 1",), small=True)) as again:
            assert again is spare
            with pytest.raises(Full):
                worked(crew, Wish(small=True, seconds=0.05))
    assert worked(crew, Wish(rather=("case 1",))) is first
    assert worked(crew, small) is first
    assert worked(crew, Wish(only="case 1")) is spare


def test_what_somebody_reads_is_not_kept_waiting_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    crew = crew_of(1)
    holder = worked(crew, note="run 1")
    assert worked(crew) is holder
    assert worked(crew, Wish(only="run 1")) is holder
    with crew.member(Wish()) as other:
        assert other not in (holder, crew.members[-1])
        assert worked(crew, Wish(only="run 1")) is holder
        with pytest.raises(Full):  # there are two, and one may be at work
            worked(crew, Wish(seconds=0.05))
    with crew.member(Wish(only="run 1")):
        assert worked(crew) is other
    monkeypatch.setattr(module, "READ_SECONDS", 0.0)
    assert worked(crew) is holder


def test_where_all_are_read_others_are_not_turned_away() -> None:
    crew = crew_of(1)
    holder = worked(crew, note="run 1")
    worked(crew, Wish(only="run 1"))
    other = worked(crew, note="run 2")
    worked(crew, Wish(only="run 2"))
    assert worked(crew) is other
    holder.end()
    assert not holder.is_read


def test_only_so_many_keys_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEYS", 2)
    crew = crew_of(1)
    worked(crew, note="run 1")
    worked(crew, note="run 2")
    worked(crew, Wish(only="run 1"), note="run 3")
    worked(crew, Wish(only="run 1"))
    with pytest.raises(Lost):
        worked(crew, Wish(only="run 2"))


def test_who_has_fewest_tasks_comes_first_and_then_who_came_first(line: Line) -> None:
    order: list[str] = []
    line.crew = crew_of(2)
    line.begin("a1", Wish("a"))
    line.begin("a2", Wish("a"))
    for name in ("a3", "a4", "b1", "b2"):
        line.wait(name, Wish(name[0]), order)
    for name in ("a1", "a2", "b1"):
        line.end(name)
        until(lambda: len(line.held) == 2)
    assert order == ["b1", "a3", "b2"]


def test_of_one_client_what_is_smaller_comes_first(line: Line) -> None:
    order: list[str] = []
    line.begin("first", Wish("a"))
    for name, size in (("a1", 900_000), ("b1", 700_000), ("a2", 70_000), ("a3", 10), ("b2", 500_000)):
        line.wait(name, Wish(name[0], size=size), order)
    for name in ("first", "a2", "b2", "a3", "a1"):
        line.end(name)
        until(lambda: line.held)
    assert order == ["a2", "b2", "a3", "a1", "b1"]


def test_a_full_line_turns_away_who_has_most_places_in_it(line: Line) -> None:
    order: list[str] = []
    line.crew = crew_of(1, waiting=3)
    line.begin("first", Wish("a"))
    waiting = {name: line.wait(name, Wish(name[0]), order) for name in ("a2", "a3", "a4")}
    with pytest.raises(Full):
        worked(line.crew, Wish("a"))
    waiting["b1"] = line.wait("b1", Wish("b"), order)
    with pytest.raises(Full):
        waiting["a4"].result(PATIENCE)
    with pytest.raises(Full):
        line.wait("b2", Wish("b"), order).result(PATIENCE)
    for name in ("first", "a2", "a3"):
        line.end(name)
        until(lambda: line.held)
    assert order == ["a2", "a3", "b1"]


def test_who_left_is_taken_out_of_the_line(line: Line) -> None:
    gone: list[bool] = []
    line.begin("first", Wish())
    waiting = line.wait("second", Wish(gone=lambda: bool(gone)), [])
    gone.append(True)
    with pytest.raises(Left):
        waiting.result(PATIENCE)
    assert line.crew._waiting == []


def test_nobody_waits_for_ever(line: Line) -> None:
    line.begin("first", Wish())
    with pytest.raises(Full):
        worked(line.crew, Wish(seconds=0.05))


def test_who_leaves_as_it_is_called_is_called(line: Line) -> None:
    ticket = module._Ticket(Wish())
    line.crew._leave(ticket)
    assert not ticket.called.is_set()


def test_over_the_budget_the_child_used_longest_ago_is_ended() -> None:
    crew = crew_of(3, most_bytes=250)
    with crew.member(Wish()) as first, crew.member(Wish()) as second, crew.member(Wish()) as third:
        for member in (first, second, third):
            actor(member).work()
            member.kept = 7
        assert crew.kept == 21
    assert [actor(one).ended for one in (first, second, third)] == [0, 0, 1]
    assert (third.kept, crew.kept) == (0, 14)
    worked(crew, rss=10_000)
    assert [actor(one).life is None for one in crew.members].count(False) == 1


def test_over_the_budget_a_child_that_holds_nothing_is_ended_first() -> None:
    crew = crew_of(3, most_bytes=250)
    with crew.member(Wish()) as last, crew.member(Wish()) as free, crew.member(Wish()) as holder:
        for member in (last, free, holder):
            actor(member).work(80)
        holder.held_until = monotonic() + 600
    assert worked(crew, rss=100) is last
    assert [actor(one).ended for one in (last, free, holder)] == [0, 1, 0]


def test_what_takes_much_and_holds_nothing_is_ended_after_a_while() -> None:
    crew = crew_of(3, most_bytes=10**12)
    with crew.member(Wish()) as large, crew.member(Wish()) as small, crew.member(Wish()) as holder:
        for member, rss in ((large, 10**8), (small, 10**6), (holder, 10**8)):
            actor(member).work(rss)
        crew.let_go(-1)
        holder.held_until = monotonic() + 600
    crew.let_go(600)
    assert [actor(one).ended for one in (large, small, holder)] == [0, 0, 0]
    crew.let_go(0)
    assert [actor(one).ended for one in (large, small, holder)] == [1, 0, 0]
    holder.held_until = monotonic()
    crew.let_go(0)
    assert [actor(one).ended for one in (large, small, holder)] == [1, 0, 1]


def test_the_child_with_the_largest_caches_is_free_for_a_task_of_ours(line: Line) -> None:
    order: list[str] = []
    line.crew = crew_of(2)
    with line.crew.member(Wish()) as first, line.crew.member(Wish()) as second:
        for used, kept in ((first, 50), (second, 70)):
            actor(used).work()
            used.kept = kept
        with line.crew.fullest(0) as none:
            assert none is None
    with line.crew.fullest(60) as fullest, line.crew.fullest(60) as none:
        assert (fullest, none) == (second, None)
        assert line.begin("first", Wish()) is first
        waiting = line.wait("second", Wish(), order)
        assert not waiting.done()
    assert waiting.result(PATIENCE) is second


def test_a_process_that_ended_itself_is_taken_leave_of() -> None:
    crew = crew_of(1)
    member = worked(crew, note="run 1")
    member.kept, member.held_until, actor(member).dead = 7, monotonic() + 600, True
    with pytest.raises(Lost):
        worked(crew, Wish(only="run 1"))
    assert (actor(member).ended, member.kept, member.holds) == (1, 0, False)
    crew.close()
    assert actor(member).ended == 2
