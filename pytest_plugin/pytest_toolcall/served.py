"""The parser of the fixture, served from this process by the worker that engines have.

A class is called for each replay, a function too, and of a parser that is made already each replay has a copy. Parsers
of vLLM and SGLang run under the code of their servers, as the worker does it elsewhere. What goes out is what a parser
sent and failed with: nothing that looks into it (its attributes, its lines) is answered, whoever asks.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace
from typing import Any

from pytest_toolcall.first_reading import FirstReading
from pytest_toolcall.patience import Patience
from pytest_toolcall.workers.engine_worker import PROTOCOL, Printed, Worker, module_of

SERVERS = frozenset(("vllm", "sglang"))  # whose parsers run under the code of their server
ASKED = frozenset(
    ("parser", "reasoning_parser", "request", "template_kwargs", "prompt_ids", "finish_reason", "vocabulary", "tokens",
     "path", "replays")
)  # fmt: skip


class Served:
    """One parser. `card` says who it is, as the protocol of engines has it."""

    def __init__(self, found: Any, seconds: float, firsts: dict[type, FirstReading] | None = None) -> None:
        """`firsts`: what was read first by each class, which others of the same class know as well."""
        before = dict(os.environ)
        try:
            kind, make = made_by(found)
            adapter = module_of("adapter_class").adapter_for(kind, make)
            self.card: dict[str, Any] = {"protocol": PROTOCOL, **adapter.hello()}
        finally:
            os.environ.clear()  # adapters of servers set some, for a process of their own
            os.environ.update(before)
        self._first = ({} if firsts is None else firsts).setdefault(kind, FirstReading())
        self._test = ""
        self._patience = Patience(seconds)
        self._printed = Printed(sys.stderr)
        self._worker = Worker(adapter, self._printed, SimpleNamespace(on=False), self._patience.within)

    @property
    def words(self) -> str:
        """What it is called."""
        return str(self.card["parsers"][0]["name"])

    def begin(self, test: str = "") -> None:
        """Another test begins, or another output of the same."""
        self._test = test or self._test
        self._patience.renew()

    def spoilt(self) -> str:
        """The test that made the first replay of this parser, where that gives something else by now; "" else."""
        return self._first.test if self._first.is_other_now(self._played) else ""

    def play(self, run: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a `run` of the protocol."""
        asked = {key: value for key, value in run.items() if key in ASKED}
        found = self._played(asked)
        self._first.note(self._test, asked, found)
        return found

    def _played(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._patience.begin(asked)
        with redirect_stdout(self._printed), redirect_stderr(self._printed):
            found: dict[str, Any] = self._worker.run(asked)
        return {**found, "replays": self._patience.told(found["replays"])}


def made_by(found: Any) -> tuple[type, Callable[..., Any] | None]:
    """The class of a parser, and what makes one where that is not the class. Raises TypeError for what is no parser."""
    if isinstance(found, type):
        return found, None
    if any(base.__module__.partition(".")[0] in SERVERS for base in type(found).__mro__):
        return type(found), None
    known = module_of("adapter_class")
    if any(all(hasattr(found, name) for name in shape.needs) for shape in known.SHAPES):
        return type(found), lambda *_given: copied(found)
    if not callable(found):
        words = "gives a class, a function that makes a parser, or a parser"
        raise TypeError(f"the fixture toolcall_parser {words}, not {type(found).__name__}")
    made = known.made_with(found, module_of("token_table").TokenTable({}), None)
    return type(made), found


def copied(parser: Any) -> Any:
    """Another parser in the same state. Raises TypeError where there can be none."""
    try:
        return copy.deepcopy(parser)
    except Exception as error:
        words = f"a {type(parser).__name__} cannot be copied ({error}), and each replay needs one of its own"
        raise TypeError(f"{words}: let the fixture toolcall_parser give the class, or a function") from error
