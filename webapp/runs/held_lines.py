"""The cases of posted runs as JSON, in the process that stands before those that hold the runs.

A run that is edited may come to another process than the one that holds it, which may be busy for long. Whoever has the
edited one needs the case before it, and reads it here: nobody waits for a process. Nothing in it is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.runs.by_token import ByToken

_FIXED_BYTES = 500


class HeldLines(ByToken[bytes]):
    """The case of each run, as a child said it, by the token of the run."""

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a child is told that holds a run (`do`: keep), knows that its page was left (leave), or needs its case
        (read): that is `raw` where it is known."""
        token, do = question["token"], question["do"]
        if do == "keep":
            with self._lock:
                self._forget_old()
                self._put(token, question["raw"])
        elif do == "leave":
            self.leave(token)
        elif (line := self.get(token)) is not None:
            return {"raw": line}
        return {}

    def forget_old(self) -> None:
        """Give back the memory of what nobody asked for in time."""
        with self._lock:
            self._forget_old()

    def _size(self, value: bytes) -> int:
        return len(value) + _FIXED_BYTES
