"""A host and what its worker does: whatever that is, there is an answer for every replay, and the next one is good."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.children.processes import is_alive, until
from tests.webapp.engines.entering import fake, own
from tests.webapp.engines.fake_engine import FAULTS
from webapp.children import wires
from webapp.children.child import Child
from webapp.children.endings import ChildError
from webapp.engines import culprits, engine_host
from webapp.engines.culprits import MOST_ENDED, MOST_KEPT, Culprits
from webapp.engines.engine_host import FEW_STEPS, EngineHost
from webapp.engines.entries import Entry
from webapp.engines.health import Health
from webapp.engines.protocol import Card, EngineError, Fault, ProtocolError, Replayed

GOOD, BAD = [["a", [1]], ["b", [2]]], [["a", [1]], ["b", [2]], ["!", [3]], ["c", [4]]]
KINDS = {
    "hangs": ("Hangs", "it did not return in 1 seconds, and its process was ended"),
    "crashes": ("Crashed", "its process ended (exit code 3)"),
    "panics": ("Crashed", "its process ended (exit code 101); it says last: worker.rs:7: index out of bounds"),
    "segfaults": ("Crashed", "its process ended (signal 11)"),
    "alarms": ("Crashed", "its process ended (signal 14)"),
    "eats": ("OutOfMemory", "its process kept more than 300 MB, and was ended"),
    "babbles": (
        "Garbled",
        "what it says is no message: `Loading checkpoint shards: 100%`, and its process was ended",
    ),
    "floods": ("Flood", "its process answered with more than 50,000,000 bytes, and was ended"),
    "forks": ("Crashed", "its process ended (exit code 4)"),
    "nests": (
        "Garbled",
        'what it says is no message: `{"answer": [[[[[[[[[[[[[[[[[[[[[[[[[[[[…`, and its process was ended',
    ),
    "closes": ("Crashed", "it closed its standard output while its process ran on, and was ended"),
}


@pytest.fixture
def host() -> Iterator[EngineHost]:
    found = EngineHost("fake", fake())
    yield found
    found.close()


def played(host: EngineHost, parser: str, *replays: Any, **more: Any) -> list[Replayed]:
    return host.play({"parser": parser, "request": {}, "replays": list(replays), "path": "stream", **more})


def content(one: Replayed) -> list[str | None]:
    return [None if sent is None else sent.content for sent in one.sent]


def test_every_fault_is_tried() -> None:
    assert FAULTS.keys() == KINDS.keys()


def test_replays_come_back_in_their_order(host: EngineHost) -> None:
    found = played(host, "echo", *[[[str(number), []]] for number in range(100)])
    assert [content(one) for one in found] == [[str(number), None] for number in range(100)]
    assert host.spent > 0


def test_the_process_lives_on_and_is_ended(host: EngineHost) -> None:
    played(host, "echo", GOOD)
    pid = host.pid
    played(host, "echo", GOOD)
    assert host.pid == pid
    host.close()
    assert not is_alive(pid)


@pytest.mark.replays
def test_a_replay_is_not_said_to_hang_for_the_time_that_those_before_it_took() -> None:
    host = EngineHost("slow", own("Slow", seconds=0.5))
    found = played(host, "Slow", *[[[str(number), []]] for number in range(20)])
    host.close()
    assert [one.raised for one in found] == [None] * 20
    assert [content(one)[0] for one in found] == [str(number) for number in range(20)]


@pytest.mark.replays
def test_nobody_waits_for_all_that_a_replay_costs_which_hangs() -> None:
    host, ended = EngineHost("fake", fake(seconds=1)), list[str]()

    def ask(parser: str, *replays: Any) -> None:
        played(host, parser, *replays)
        ended.append(parser)

    played(host, "echo", GOOD)
    hanging = Thread(target=ask, args=("hangs", GOOD, BAD, GOOD, [*BAD, *GOOD]))
    hanging.start()
    while not host._asking._taken:
        sleep(0.001)
    ask("echo", GOOD, GOOD)
    hanging.join()
    host.close()
    assert ended == ["echo", "hangs"]


def test_a_worker_that_tells_no_lines_lives_on_and_that_is_said(host: EngineHost) -> None:
    played(host, "echo", GOOD)
    pid = host.pid
    run = {"parser": "echo", "request": {}, "replays": [GOOD], "step": 1, "observe": "lines"}
    with pytest.raises(EngineError, match="engine fake does not tell which lines ran: its worker does not know of"):
        host.lines(run)
    assert host.pid == pid


@pytest.mark.replays
@pytest.mark.parametrize("parser", KINDS)
def test_what_a_process_does_not_survive_is_a_failure_at_its_step(parser: str) -> None:
    host = EngineHost("fake", fake(seconds=1 if parser == "hangs" else 20))
    first, bad, last = played(host, parser, GOOD, BAD, GOOD)
    host.close()
    assert content(first) == content(last) == ["a", "b", None]
    assert bad.raised is not None
    assert (bad.raised.step, bad.raised.kind, bad.raised.message) == (3, *KINDS[parser])
    assert content(bad) == ["a", "b"]
    assert bad.raised.slow == (parser in ("hangs", "eats"))


def test_what_a_dead_worker_started_is_ended_as_well(host: EngineHost) -> None:
    played(host, "echo", GOOD)
    pid = host.pid
    played(host, "forks", BAD)
    until(lambda: not is_alive(pid))
    assert host.pid is None


@pytest.mark.replays
@pytest.mark.parametrize(
    ("parser", "words"),
    [("lies", "/replays/0/sent/0/content: must be a string of at most"), ("miscounts", "/replays/0: it has 5 steps")],
)
def test_an_answer_that_is_none_is_a_failure(host: EngineHost, parser: str, words: str) -> None:
    first, bad = played(host, parser, GOOD, BAD)
    assert (first.raised, bad.raised is not None) == (None, True)
    assert bad.raised is not None
    assert (bad.raised.kind, words in str(bad.raised.message)) == ("Garbled", True)


def test_an_exception_of_a_parser_is_its_own(host: EngineHost) -> None:
    (bad,) = played(host, "raises", BAD)
    tape = bad.tape()
    assert str(tape.failure) == "ValueError: no ! (in feed, line 7 of fake.py)"
    assert (tape.failed_at, tape.printed, len(tape.sent)) == (3, {3: "an exclamation mark"}, 2)


def test_the_path_for_whole_outputs_has_one_step(host: EngineHost) -> None:
    (one,) = played(host, "upper", GOOD, path="whole")
    assert content(one) == ["ab"]


def test_large_messages_are_shared_out(host: EngineHost) -> None:
    found = played(host, "echo", *[[["x" * 2_500_000, []]]] * 3)
    assert [len(str(content(one)[0])) for one in found] == [2_500_000] * 3


def test_a_worker_may_say_as_much_as_the_steps_of_its_replays_need(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wires, "FREE_CONTAINERS", 40)  # hello has fewer
    (found,) = played(host, "echo", [["a", []]] * 60)
    assert (found.raised, len(found.sent)) == (None, 61)


def test_a_run_whose_replays_send_more_than_all_may_is_left_there(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_host, "MOST_PLAYED", 8)
    found = played(host, "echo", *[GOOD] * 40)
    assert [one.raised is None for one in found] == [*[True] * 32, *[False] * 8]
    assert found[-1].raised is not None
    assert (found[-1].raised.kind, found[-1].raised.unasked) == ("Flood", True)
    assert (
        found[-1].raised.message == "the replays before it sent and showed more than 8 characters, so it was not asked"
    )


def test_once_nobody_waits_for_a_run_no_more_of_its_replays_are_asked(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_host, "LARGEST_BATCH", 1)
    host._batch, sizes = 1, counted(monkeypatch)
    run = {"parser": "echo", "request": {}, "replays": [GOOD] * 9, "path": "stream"}
    with pytest.raises(ChildError, match="cancelled"):
        host.play(run, lambda: len(sizes) > 2)
    pid = host.pid
    assert (len(sizes), len(host.play(run)), host.pid) == (3, 9, pid)


@pytest.mark.replays
@pytest.mark.parametrize("replays", [[BAD], [GOOD, BAD]])
def test_a_replay_that_nobody_waits_for_and_that_does_not_end_is_ended_and_is_no_hang(
    monkeypatch: pytest.MonkeyPatch, replays: list[Any]
) -> None:
    host, looks = EngineHost("fake", fake(), alone=False), iter([False])
    monkeypatch.setattr(engine_host, "LEFT_SECONDS", -1)
    run = {"parser": "hangs", "request": {}, "replays": replays}
    with pytest.raises(ChildError, match="cancelled"):
        host.play(run, lambda: next(looks, True))
    assert (host.pid, host.health, host._culprits.any) == (None, Health("answers", ""), False)
    assert played(host, "hangs", GOOD)[0].raised is None
    host.close()


def test_a_failure_that_does_not_come_again_is_told_and_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    host, asked = EngineHost("fake", fake()), EngineHost._asked
    calls: list[int] = []

    def once(self: EngineHost, run: Any, replays: Any, **more: Any) -> Any:
        calls.append(1)
        return asked(self, {**run, "parser": "crashes"} if len(calls) == 1 else run, replays, **more)

    monkeypatch.setattr(EngineHost, "_asked", once)
    (found,) = played(host, "echo", BAD)
    host.close()
    assert found.raised is None
    assert found.printed == [(1, "Crashed: its process ended (exit code 3); not when it was made again")]


def test_an_answer_that_nobody_asked_for_is_no_answer_to_what_is_asked_next() -> None:
    host = EngineHost("fake", fake("chatty"))
    first, (second,) = played(host, "echo", GOOD), played(host, "echo", [["c", [1]], ["d", [2]]])
    host.close()
    assert (content(first[0]), content(second)) == (["a", "b", None], ["c", "d", None])
    words = 'Garbled: it says what it was not asked for: `{"answer": {"replays": ['
    assert second.printed[0][1] is not None
    assert second.printed[0][1].startswith(words)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (fake("dies"), "engine x does not start: its process ended (exit code 5); it says last: no GPU was found"),
        (fake("refuses"), "engine x does not start: ImportError: no module named torch"),
        (fake("mute"), 'engine x does not start: what it says is no message: `{"hello": "there"}`, and its process'),
        (fake("old"), "engine x does not speak the protocol: /protocol: this program speaks 1, the engine 2"),
        (Entry(command=("/no/such/program",)), "engine x does not start: [Errno 2] No such file"),
    ],
)
def test_an_engine_that_does_not_come_up_is_one_sentence(entry: Entry, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        EngineHost("x", entry).card()
    assert str(caught.value).startswith(words)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("Raising", "ValueError", "feed, line"),
        ("Starting", "PermissionError", "feed, line"),
        ("Signalling", "PermissionError", "feed, line"),
        ("Deep", "RecursionError", "feed, line"),
    ],
)
def test_a_class_of_ones_own_that_fails_lives_on(name: str, kind: str, place: str) -> None:
    host = EngineHost("own", own(name))
    first, bad, last = played(host, name, GOOD, BAD, GOOD)
    pid = host.pid
    host.close()
    assert bad.raised is not None
    assert (bad.raised.step, bad.raised.kind, str(bad.raised.place).startswith(place)) == (3, kind, True)
    assert content(first) == content(last)
    assert not is_alive(pid)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many replays each message has from now on."""
    asked, sizes = EngineHost._asked, list[int]()

    def noted(self: EngineHost, run: Any, replays: Any, **more: Any) -> Any:
        sizes.append(len(replays))
        return asked(self, run, replays, **more)

    monkeypatch.setattr(EngineHost, "_asked", noted)
    return sizes


OTHER = [["ab", [1]], ["!", [3]], ["c", [4]]]  # the same output as BAD
ONE = [["ab!c", [1]]]
HUNG = "that happened 2 times with this output, so it was not asked again (Ask again, under Engines)"


@pytest.mark.replays
def test_a_hang_in_a_batch_is_waited_for_twice_and_not_again(monkeypatch: pytest.MonkeyPatch) -> None:
    host, sizes = EngineHost("fake", fake(seconds=1)), counted(monkeypatch)
    found = played(host, "hangs", *[GOOD] * 5, BAD, GOOD, BAD, GOOD)
    host.close()
    assert [one.raised is not None and one.raised.step for one in found] == [*[False] * 5, 3, False, 3, False]
    assert sizes == [9, 9, 5, 1, 1]
    assert found[5] is found[7]


def test_a_first_replay_that_took_long_leaves_no_other_one_in_a_message_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host, sizes = EngineHost("fake", fake("lazy", seconds=1)), counted(monkeypatch)
    for replays in (1, 60):
        played(host, "echo", *[GOOD] * replays)
    host.close()
    assert sizes[:4] == [1, 1, 2, 4]


@pytest.mark.replays
def test_an_output_that_hung_twice_is_not_tried_in_other_deltas(monkeypatch: pytest.MonkeyPatch) -> None:
    host, sizes = EngineHost("fake", fake(seconds=1)), counted(monkeypatch)
    for replay, step in ((BAD, 3), (BAD, 3), (OTHER, 2), (BAD, 3)):
        (found,) = played(host, "hangs", replay)
        assert found.raised is not None
        assert (found.raised.step, found.raised.slow) == (step, True)
    (refused,) = played(host, "hangs", ONE)
    assert (refused.raised and refused.raised.message, sizes) == (HUNG, [1, 1])
    assert played(host, "echo", ONE)[0].raised is None
    host.begin_anew()
    (asked,) = played(host, "hangs", ONE)
    assert asked.raised is not None
    assert (asked.raised.step, len(sizes)) == (1, 4)
    host.close()


@pytest.mark.replays
def test_what_hung_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    host, sizes = EngineHost("fake", fake(seconds=0.5)), counted(monkeypatch)
    played(host, "hangs", BAD)
    monkeypatch.setattr(culprits, "FORGOTTEN_SECONDS", -1.0)
    played(host, "hangs", BAD)
    host.close()
    assert sizes == [1, 1]


def test_not_more_is_kept_of_what_hung_than_may() -> None:
    known, hung, fault = Culprits(), Replayed(sent=[]), Fault(step=0, slow=True)
    for number in range(MOST_KEPT + 1):
        known.note({}, [[str(number)]], hung, fault)
    assert known.known({}, [["0"]]) is None
    assert known.known({}, [[str(MOST_KEPT)]]) is hung


@pytest.mark.replays
@pytest.mark.parametrize("entry", [fake(), fake("silent")])
def test_a_batch_is_sorted_out_whether_steps_are_told_or_not(entry: Entry) -> None:
    host = EngineHost("fake", entry)
    found = played(host, "crashes", GOOD, BAD, GOOD, GOOD, BAD)
    host.close()
    assert [one.raised is not None for one in found] == [False, True, False, False, True]


@pytest.mark.replays(but=("crashes-Crashed",))
@pytest.mark.parametrize(("parser", "kind"), [("crashes", "Crashed"), ("hangs", "Hangs")])
def test_where_a_worker_tells_no_steps_none_is_blamed(parser: str, kind: str) -> None:
    host = EngineHost("fake", fake("silent", seconds=0.5))
    first, bad = played(host, parser, GOOD, BAD)
    host.close()
    assert (first.raised, bad.raised is not None) == (None, True)
    assert bad.raised is not None
    assert (bad.raised.step, bad.raised.kind) == (0, kind)
    told = "; at which step is not known, for its worker told of none"
    survived = ". A beginning of 2 deltas alone is survived, and one of 3 is not" if kind == "Crashed" else ""
    assert bad.raised.message.endswith(told + survived)
    tape = bad.tape()
    assert tape.failure is not None
    assert (tape.failure.unplaced, tape.failure.before) == (True, False)


def test_the_one_step_of_a_whole_output_is_known_though_none_is_told() -> None:
    host = EngineHost("fake", fake("silent"))
    (found,) = played(host, "crashes", BAD, path="whole")
    host.close()
    assert found.raised is not None
    assert (found.raised.step, found.raised.message) == (1, "its process ended (exit code 3)")


@pytest.mark.parametrize("parser", ["echo", "crashes"])
def test_a_long_replay_tells_its_steps_only_where_it_fails(monkeypatch: pytest.MonkeyPatch, parser: str) -> None:
    host, sizes = EngineHost("fake", fake()), counted(monkeypatch)
    (found,) = played(host, parser, [*[["a", []]] * FEW_STEPS, ["!", []]])
    host.close()
    assert (found.raised is not None and found.raised.step, len(sizes)) == (
        (False, 1) if parser == "echo" else (FEW_STEPS + 1, 2)
    )


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([{"step": 1}, {"step": 1}], "/progress/step: it tells of a step that there is not"),
        ([{"step": 2}], "/progress/step: it tells of a step that there is not"),
        ([{"step": number} for number in (1, 2, 3, 4, 5, 6)], "/progress/step: it tells of a step that there is not"),
        ([{"step": 1, "sent": {"content": "x" * 9}}], "/progress/sent: that is too much"),
    ],
)
def test_steps_are_not_believed(monkeypatch: pytest.MonkeyPatch, told: list[Any], words: str) -> None:
    monkeypatch.setattr(engine_host, "ANSWER_BYTES", 8)
    steps = engine_host._Told({}, [BAD])
    with pytest.raises(ProtocolError, match=words):
        [*map(steps.note, told)]


@pytest.mark.replays
def test_lines_of_what_hangs_are_told_up_to_there() -> None:
    host = EngineHost("mine", own("Stuck", seconds=1))
    run = {"parser": "Stuck", "request": {}, "path": "stream", "replays": [[["a"], ["b"], ["!"], ["c"]]]}
    assert host.play(run)[0].raised is not None
    assert host.lines({**run, "observe": "lines", "step": 2}).functions[0].name == "Stuck.feed"
    with pytest.raises(UsageError, match="does not tell which lines ran: it did not return in 1 seconds"):
        host.lines({**run, "observe": "lines", "step": 3})
    host.close()


@pytest.mark.replays
def test_what_a_look_at_a_parser_takes_is_no_hang_of_it() -> None:
    host = EngineHost("mine", own("Stuck", seconds=0.5), alone=False)
    run: dict[str, Any] = {"parser": "Stuck", "request": {}, "path": "stream"}
    for observe, text in (("costs", "!"), ("cover", "!!")):
        assert host.play({**run, "observe": observe, "replays": [[[text]]]})[0].raised is not None
    with pytest.raises(EngineError, match=r"it did not return in 0\.5 seconds, and its process was ended"):
        host.lines({**run, "observe": "lines", "step": 1, "replays": [[["!!!"]]]})
    found = host.play({**run, "replays": [[["a"]]]})
    host.close()
    assert (found[0].raised, host._culprits.any) == (None, False)


def test_an_output_that_crashed_often_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    host = EngineHost("fake", fake())
    found = played(host, "crashes", *[[["x" * number, []], ["!", []]] for number in range(3)])
    assert [one.raised is not None and one.raised.unasked for one in found] == [False] * 3, "three outputs"
    found = played(host, "crashes", *[BAD] * MOST_ENDED, ONE)
    assert [one.raised is not None and one.raised.unasked for one in found] == [*[False] * MOST_ENDED, True]
    host.close()


@pytest.mark.parametrize("is_noticed", [True, False])
def test_what_ended_by_itself_is_greeted_again(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch, *, is_noticed: bool
) -> None:
    """It has to know its tokenizer and its limit of memory, be it that it ended this very moment."""
    played(host, "echo", GOOD)
    os.kill(host.pid or 0, signal.SIGKILL)
    until(lambda: host._child._process is not None and host._child._process.gone)
    greeted, card = list[Card](), EngineHost._greeted

    def noted(self: EngineHost) -> Card:
        greeted.append(card(self))
        return greeted[-1]

    monkeypatch.setattr(EngineHost, "_greeted", noted)
    if not is_noticed:
        monkeypatch.setattr(Child, "tidy", print)
    assert [(one.raised, one.printed) for one in played(host, "echo", GOOD)] == [(None, [])]
    assert [one.name for one in greeted] == ["fake"]


def test_a_class_that_is_no_python_is_told_with_its_line_every_time(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("class Mine:\n    def begin(self, request)\n")
    entry = Entry.model_validate({"class": "broken:Mine", "python": sys.executable, "path": str(tmp_path)})
    host = EngineHost("mine", entry)
    for _ in range(2):
        with pytest.raises(
            EngineError, match=r"engine mine does not start: SyntaxError: .* \(in line 2 of broken.py\)"
        ):
            played(host, "Mine", GOOD)
