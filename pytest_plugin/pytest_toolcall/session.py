"""What the tests of one process share: the inspector, started by the first of them, and the parser that is served."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from pytest_toolcall.first_reading import FirstReading
from pytest_toolcall.inspector import Inspector, InspectorError, InspectorLostError, inspector_at
from pytest_toolcall.plugin import NOT_GIVEN
from pytest_toolcall.served import Served

MOST_LOST = 5  # inspectors, after which no other one is started
AGAIN = "the next test starts another"
_KEY = pytest.StashKey["Session"]()


class Session:
    """One process of tests. The inspector runs once for all of them; where it does not start, it is left alone.

    One that ends in the middle of a task is the trouble of that test alone: the next one starts another.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._inspector: Inspector | None = None
        self._failed: InspectorError | None = None
        self._lost = 0
        self._served: tuple[Any, Served] | None = None
        self._firsts: dict[type, FirstReading] = {}

    def ask(self, task: str, asked: dict[str, Any], served: Served | None = None) -> dict[str, Any]:
        """What the inspector answers. Raises InspectorError."""
        inspector = self._running()
        card = {} if served is None else {"card": served.card}
        engine = {"engine": self.engine} if served is None and self.engine else {}
        given = {**asked, **card, **engine} if task != "outputs" else asked
        try:
            return inspector.ask(task, given, None if served is None else served.play)
        except InspectorLostError as error:
            raise InspectorError(self._words_of_loss(error)) from error
        except InspectorError:
            raise
        except BaseException:  # left in the middle of a task, by Ctrl-C or a timeout: nobody knows what it says next
            self.close()
            raise

    def served(self, found: Any, test: str) -> Served | None:
        """The parser of the fixture as it is served to a test; None where nobody has such a fixture. Raises TypeError
        for what is no parser."""
        if found is NOT_GIVEN or self.engine:
            return None
        if self._served is None or self._served[0] is not found:
            self._served = found, Served(found, float(self._config.getini("toolcall_seconds")), self._firsts)
        self._served[1].begin(test)
        return self._served[1]

    @property
    def engine(self) -> str:
        """The engine of the options, "" where none is given."""
        return str(self._config.getoption("toolcall_engine") or self._config.getini("toolcall_engine"))

    @property
    def seed(self) -> int:
        """What outputs are drawn from; the same in all processes of one run."""
        given = self._config.getoption("toolcall_seed")
        if given is None:
            run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
            given = random.Random(run).randrange(1_000_000)  # noqa: S311 - no secret
            self._config.option.toolcall_seed = given
        return int(given)

    def close(self) -> None:
        """End the inspector."""
        inspector, self._inspector = self._inspector, None
        if inspector is not None:
            inspector.close()

    def _running(self) -> Inspector:
        """The inspector, started where none is. Raises InspectorError."""
        if self._inspector is not None and self._inspector.is_gone():  # after a test that it did answer
            self._words_of_loss(InspectorLostError("it ended after it had answered"))
        if self._failed is not None:
            raise self._failed
        if self._inspector is None:
            try:
                self._inspector = inspector_at(self._where(), str(self._config.rootpath))
            except InspectorError as error:
                self._failed = error
                raise
        return self._inspector

    def _words_of_loss(self, error: InspectorLostError) -> str:
        """Let go of an inspector that is lost. What is said of that."""
        self.close()
        self._lost += 1
        if self._lost < MOST_LOST:
            return f"{error}; {AGAIN}"
        self._failed = InspectorError(
            f"{MOST_LOST} inspectors were lost, so no other one is started; the last: {error}"
        )
        return str(self._failed)

    def _where(self) -> str:
        return str(self._config.getoption("toolcall_inspector") or self._config.getini("toolcall_inspector"))


def session_of(config: pytest.Config) -> Session:
    """That of this process."""
    found = config.stash.get(_KEY, None)
    if found is None:
        found = config.stash[_KEY] = Session(config)
        config.add_cleanup(found.close)
    return found
