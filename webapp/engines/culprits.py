"""Replays that the process of an engine did not survive: what costs so much is not tried for ever.

A replay that hung, or took too much memory, is answered the second time as it was the first. Of one output so many are
tried that end the process, and no more. All of that is forgotten after a while, for a machine may have been slow, and
when the engine is started anew for somebody.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from webapp.engines.protocol import Fault, Replayed

MOST_SLOW = 2  # replays of one output that took too long, or too much
MOST_ENDED = 6  # that ended the process in any way
MOST_KEPT = 200  # outputs
FORGOTTEN_SECONDS = 600.0
_REQUEST = ("parser", "reasoning_parser", "request", "template_kwargs", "finish_reason", "path")


@dataclass(slots=True)
class _Output:
    """What happened with one output."""

    last: Fault
    when: float = field(default_factory=monotonic)
    slow: dict[str, Replayed] = field(default_factory=dict)
    ended: int = 0

    @property
    def given_up(self) -> bool:
        return len(self.slow) >= MOST_SLOW or self.ended >= MOST_ENDED


class Culprits:
    """Those of one engine."""

    def __init__(self) -> None:
        self._outputs: OrderedDict[str, _Output] = OrderedDict()

    @property
    def any(self) -> bool:
        """Whether there are some: whatever is made next had better tell its steps."""
        return bool(self._outputs)

    def note(self, run: Mapping[str, Any], deltas: Any, replayed: Replayed, fault: Fault) -> None:
        """A replay had this end, and that is what is known of it."""
        key = _output(run, deltas)
        output = self._outputs.pop(key, None) or _Output(fault)
        output.last, output.when, output.ended = fault, monotonic(), output.ended + 1
        if fault.slow:
            output.slow[_digest(deltas)] = replayed
        self._outputs[key] = output
        while len(self._outputs) > MOST_KEPT:
            self._outputs.popitem(last=False)

    def has(self, run: Mapping[str, Any], deltas: Any) -> bool:
        """Whether its process did not survive this output before."""
        return _output(run, deltas) in self._outputs

    def known(self, run: Mapping[str, Any], deltas: Any) -> Replayed | None:
        """The answer to a replay that is not to be made; None for all others."""
        if not self._outputs:
            return None
        key = _output(run, deltas)
        output = self._outputs.get(key)
        if output is None or output.when + FORGOTTEN_SECONDS < monotonic():
            self._outputs.pop(key, None)
            return None
        return output.slow.get(_digest(deltas)) or (_refusal(output) if output.given_up else None)

    def forget(self) -> None:
        """Everything may be asked again."""
        self._outputs.clear()


def _refusal(output: _Output) -> Replayed:
    words = f"that happened {output.ended} times with this output, so it was not asked again (Ask again, under Engines)"
    fault = Fault(step=0, kind=output.last.kind, message=words, slow=output.last.slow, ended=True, unasked=True)
    return Replayed(sent=[], raised=fault)


def _output(run: Mapping[str, Any], deltas: Any) -> str:
    """The same for replays of one output by one parser for one request."""
    return _digest([[run.get(name) for name in _REQUEST], "".join([delta[0] for delta in deltas])])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
