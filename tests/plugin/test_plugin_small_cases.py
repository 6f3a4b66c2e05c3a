"""The files of small cases: one for each signature, whoever finds it first, and none in the place of one that was there
before the run."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

from pytest_toolcall.small_cases import SmallCases, names_in

SIGN, OTHER = "0123456789", "abcdef0123"


def there(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("order", [*permutations([("glm", "large one"), ("qwen", "small"), ("qwen", "other")])])
def test_of_those_that_a_run_finds_the_smallest_one_stays(tmp_path: Path, order: list[tuple[str, str]]) -> None:
    for name, text in order:
        SmallCases(tmp_path, frozenset(), tmp_path).keep(name, SIGN, text, "Lost.")
    assert there(tmp_path) == {f"fuzz-qwen-{SIGN}.min.case.json": "other"}


def test_one_that_was_there_before_the_run_stays_as_it_is(tmp_path: Path) -> None:
    known = tmp_path / f"fuzz-glm-{SIGN}.min.case.json"
    known.write_text("somebody said here what is right")
    cases = SmallCases(tmp_path, names_in(tmp_path), tmp_path)
    assert cases.keep("qwen", SIGN, "small", "Lost.") == (False, f"known already, as {known.name}: Lost.")
    new = f"fuzz-qwen-{OTHER}.min.case.json"
    assert cases.keep("qwen", OTHER, "small", "Lost.") == (True, f"wrote {new}: Lost.")
    assert there(tmp_path) == {known.name: known.read_text("utf-8"), new: "small"}


def test_one_that_is_no_smaller_is_not_written(tmp_path: Path) -> None:
    cases = SmallCases(tmp_path, frozenset(), tmp_path)
    assert cases.keep("qwen", SIGN, "small", "Lost.")[0]
    assert not cases.keep("glm", SIGN, "large one", "Lost.")[0]
    assert not cases.keep("qwen", SIGN, "small", "Lost.")[0]


def test_a_folder_in_which_nothing_can_be_written_is_said_with_the_case(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    is_new, words = SmallCases(tmp_path / "file", frozenset(), tmp_path).keep("qwen", SIGN, "{}", "Lost.")
    assert is_new
    assert "so here it is: Lost." in words


class Turns:
    """Two threads, whose operations on files follow each other as told: so many of the one, so many of the other. When
    all are done the thread that is next goes on to its end."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        self._order = deque([number % 2 for number, length in enumerate(lengths) for _ in range(length)])
        self._next, self._done = len(lengths) % 2, set[int]()
        self._changed = threading.Condition()
        self._numbers: dict[int, int] = {}

    def run(self, *works: Callable[[], Any]) -> None:
        threads = [threading.Thread(target=self._work, args=pair) for pair in enumerate(works)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def in_turn(self, operation: Callable[..., Any], *given: Any, **named: Any) -> Any:
        number = self._numbers.get(threading.get_ident())
        if number is None:
            return operation(*given, **named)
        with self._changed:
            self._changed.wait_for(lambda: self._is_turn_of(number))
            if self._order and self._order[0] == number:
                self._order.popleft()
            self._changed.notify_all()
            return operation(*given, **named)

    def _is_turn_of(self, number: int) -> bool:
        return 1 - number in self._done or number == (self._order[0] if self._order else self._next)

    def _work(self, number: int, work: Callable[[], Any]) -> None:
        self._numbers[threading.get_ident()] = number
        work()
        with self._changed:
            self._done.add(number)
            self._changed.notify_all()


@pytest.mark.parametrize("formats", [("glm", "qwen"), ("qwen", "glm"), ("glm", "glm")])
def test_whatever_the_order_of_two_processes_a_case_of_the_signature_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, formats: tuple[str, str]
) -> None:
    now = [Turns(())]
    operations: dict[str, Callable[..., Any]] = {
        "glob": lambda path, pattern, real=Path.glob: [*real(path, pattern)],
        "read_text": Path.read_text,
        "replace": Path.replace,
        "unlink": Path.unlink,
    }
    for name, real in operations.items():
        monkeypatch.setattr(Path, name, lambda *given, real=real, **more: now[0].in_turn(real, *given, **more))
    for number, lengths in enumerate(product(range(1, 5), repeat=4)):
        folder = tmp_path / str(number)
        now[0] = Turns(lengths)
        now[0].run(
            *[
                partial(SmallCases(folder, frozenset(), folder).keep, name, SIGN, text, "Lost.")
                for name, text in zip(formats, ("small", "large one"), strict=True)
            ]
        )
        assert len(there(folder)) == 1, lengths
        assert formats[0] == formats[1] or "small" in there(folder).values(), lengths
