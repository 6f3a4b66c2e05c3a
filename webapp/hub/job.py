"""A job: the tokenizer of one repository on its way here, as everybody but its thread sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import Literal

from webapp.tokenizers.base import TokenizerInfo

State = Literal["running", "done", "failed", "cancelled"]


@dataclass(slots=True)
class Job:
    """`file`, `done` and `total` say how far the download is, in bytes; `total` 0: nobody knows. `problem` is one
    sentence, `info` the tokenizer once it is here."""

    repository: str
    state: State = "running"
    file: str = ""
    done: int = 0
    total: int = 0
    problem: str = ""
    info: TokenizerInfo | None = None
    cached: bool = False
    pid: int | None = None
    ended: Event = field(default_factory=Event)

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state != "running"

    @property
    def name(self) -> str:
        """The name the tokenizer is chosen by."""
        return f"hub:{self.repository}"
