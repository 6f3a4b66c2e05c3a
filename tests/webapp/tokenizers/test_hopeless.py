"""What a tokenizer was asked in vain is refused at once for a while; everything else is asked."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import UsageError
from webapp.tokenizers import hopeless as module
from webapp.tokenizers.hopeless import KNOWN_SECONDS, Hopeless
from webapp.tokenizers.limits import HopelessError


class Asked:
    """Counts what reaches the tokenizer, which fails with `error`."""

    def __init__(self, error: Exception) -> None:
        self.count, self.now, self._error = 0, 0.0, error
        self._hopeless = Hopeless(lambda: self.now)

    def __call__(self, text: str, key: str = "one", task: str = "encode") -> None:
        with pytest.raises(UsageError, match="too long"):
            self._ask(text, key, task)

    def _ask(self, text: str, key: str, task: str) -> None:
        with self._hopeless.known(key, task, [{"text": text}]):
            self.count += 1
            raise self._error


def test_the_same_question_is_asked_once_in_a_while() -> None:
    ask = Asked(HopelessError("it takes too long"))
    for _ in range(3):
        ask("aaa")
    assert ask.count == 1
    ask.now = KNOWN_SECONDS
    ask("aaa")
    assert ask.count == 2


def test_another_question_is_asked() -> None:
    ask = Asked(HopelessError("it takes too long"))
    for text, key, task in (("a", "one", "encode"), ("b", "one", "encode"), ("a", "two", "encode"), ("a", "one", "x")):
        ask(text, key, task)
    assert ask.count == 4


def test_what_may_go_well_next_time_is_asked_again() -> None:
    ask = Asked(UsageError("the line is too long"))
    ask("a")
    ask("a")
    assert ask.count == 2


def test_only_so_many_questions_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 1)
    ask = Asked(HopelessError("it takes too long"))
    for text in ("a", "b", "a"):
        ask(text)
    assert ask.count == 3
