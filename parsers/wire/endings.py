"""Why an answer ended, in the words of the API that sent it.

Other APIs than OpenAI's chat have fields and words of their own: `stop_reason` is `tool_use`, `status` is `completed`.
The chat chunk that stands for such an end keeps them beside its finish reason, in `ended_by`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

ENDED_BY: Final = "ended_by"


class End(NamedTuple):
    """A field of an API, and what it says at the end of an answer."""

    field: str
    word: str

    @property
    def clause(self) -> str:
        """Return it as a clause: 'the answer's `status` is `completed`'."""
        return f"the answer's `{self.field}` is `{self.word}`"


def ended_by(field: str, word: object) -> dict[str, dict[str, str]]:
    """Return what a choice has besides where an API ended its answer with this word; nothing where it gave none."""
    return {ENDED_BY: {field: word}} if isinstance(word, str) and word else {}


def end_of(choice: Mapping[str, Any]) -> End | None:
    """Return how another API than OpenAI's chat ended the answer of a choice, where it did."""
    said = choice.get(ENDED_BY)
    known = [*said.items()] if isinstance(said, Mapping) else []
    return End(*known[0]) if len(known) == 1 and all(isinstance(word, str) for word in known[0]) else None


def last_end(stream: Iterable[Mapping[str, Any]]) -> End | None:
    """Return how another API ended the answer that these chunks stand for; of several ends the last."""
    choices = [payload.get("choices") for payload in stream]
    firsts = [one[0] for one in choices if isinstance(one, list) and one and isinstance(one[0], Mapping)]
    return next((end for choice in reversed(firsts) if (end := end_of(choice)) is not None), None)
