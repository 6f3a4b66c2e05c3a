"""The parser of the fixture, served from this process by the worker that engines have.

A class is called for each replay, a function too, and of a parser that is made already each replay has a copy. Parsers
of vLLM and SGLang run under the code of their servers, as the worker does it elsewhere. What goes out is what a parser
sent and failed with: nothing that looks into it (its attributes, its lines) is answered, whoever asks.
"""

from __future__ import annotations

import copy
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from time import monotonic
from types import SimpleNamespace
from typing import Any

from pytest_toolcall.workers.engine_worker import PROTOCOL, Hangs, Printed, Worker, module_of

MOST_HANGING = 2  # replays of one test that are waited for
SERVERS = frozenset(("vllm", "sglang"))  # whose parsers run under the code of their server
ASKED = frozenset(
    ("parser", "reasoning_parser", "request", "template_kwargs", "prompt_ids", "finish_reason", "vocabulary", "tokens",
     "path", "replays")
)  # fmt: skip


class Served:
    """One parser. `card` says who it is, as the protocol of engines has it."""

    def __init__(self, found: Any, seconds: float) -> None:
        before = dict(os.environ)
        try:
            adapter = module_of("adapter_class").adapter_for(*made_by(found))
            self.card: dict[str, Any] = {"protocol": PROTOCOL, **adapter.hello()}
        finally:
            os.environ.clear()  # adapters of servers set some, for a process of their own
            os.environ.update(before)
        self._seconds = seconds
        self._hanging = 0
        self._printed = Printed(sys.stderr)
        self._worker = Worker(adapter, self._printed, SimpleNamespace(on=False), self._within)

    @property
    def words(self) -> str:
        """What it is called."""
        return str(self.card["parsers"][0]["name"])

    def begin(self) -> None:
        """Another test begins."""
        self._hanging = 0

    def play(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a `run` of the protocol."""
        asked = {key: value for key, value in run.items() if key in ASKED}
        with redirect_stdout(self._printed), redirect_stderr(self._printed):
            found: dict[str, Any] = self._worker.run(asked)
        return found

    @contextmanager
    def _within(self) -> Iterator[None]:
        if self._hanging >= MOST_HANGING:
            raise Hangs(f"it was not asked again: {self._hanging} replays of this test did not return")
        try:
            with at_most(self._seconds):
                yield
        except Hangs:
            self._hanging += 1
            raise


def made_by(found: Any) -> tuple[type, Callable[..., Any] | None]:
    """The class of a parser, and what makes one where that is not the class. Raises TypeError for what is no parser."""
    if isinstance(found, type):
        return found, None
    if any(base.__module__.partition(".")[0] in SERVERS for base in type(found).__mro__):
        return type(found), None
    shapes = module_of("adapter_class").SHAPES
    if any(all(hasattr(found, name) for name in shape.needs) for shape in shapes):
        return type(found), lambda *_given: copied(found)
    if not callable(found):
        words = "gives a class, a function that makes a parser, or a parser"
        raise TypeError(f"the fixture toolcall_parser {words}, not {type(found).__name__}")
    takes_tokenizer = bool(inspect.signature(found).parameters)
    table = module_of("token_table").TokenTable({})
    made = found(table) if takes_tokenizer else found()
    return type(made), found if takes_tokenizer else lambda *_given: found()


def copied(parser: Any) -> Any:
    """Another parser in the same state. Raises TypeError where there can be none."""
    try:
        return copy.deepcopy(parser)
    except Exception as error:
        words = f"a {type(parser).__name__} cannot be copied ({error}), and each replay needs one of its own"
        raise TypeError(f"{words}: let the fixture toolcall_parser give the class, or a function") from error


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise Hangs inside the block after so many seconds, where the system has alarms and this is the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: Any) -> None:
        raise Hangs(f"it did not return in {seconds:g} seconds")

    began, before = monotonic(), signal.signal(signal.SIGALRM, ring)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:  # somebody else's alarm, such as pytest-timeout's
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - began), 0.001), again)
