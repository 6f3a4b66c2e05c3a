"""Why a search has no result, as a plain value that can be sent between processes.

A child cannot send its exceptions as they are: many cannot be unpickled, and nothing of the code may reach a client.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Literal

from werkzeug.exceptions import RequestEntityTooLarge, ServiceUnavailable

from parsers.cases.model import CaseError
from parsers.vocabulary.types import FormatError, UsageError
from webapp.settings import ENV_PREFIX

Kind = Literal["case", "usage", "limit", "late", "memory", "ended", "bug", "cancelled"]


class SearchError(Exception):
    """A search ended without a result, for no fault of the case; says why."""


@dataclass(slots=True, frozen=True)
class Failure:
    """What a person is told. `pointer` is the place in the case, `detail` is for the log alone."""

    kind: Kind
    message: str
    pointer: str = ""
    detail: str = ""

    @property
    def error(self) -> Exception:
        """The exception to raise where a request waits for the result: as if the search had run here."""
        if self.kind == "case":
            return CaseError(self.message, self.pointer)
        if self.kind in ("limit", "late", "memory"):
            return RequestEntityTooLarge(self.message)
        if self.kind == "cancelled":
            return ServiceUnavailable(self.message)
        return UsageError(self.message) if self.kind == "usage" else SearchError(self.message)


def failure_of(error: Exception) -> Failure:
    """What an exception of a search means for the person who asked."""
    if isinstance(error, CaseError):
        return Failure("case", error.message, error.pointer)
    if isinstance(error, RequestEntityTooLarge):
        return Failure("limit", error.description or "The case is too large.")
    if isinstance(error, UsageError | FormatError):
        return Failure("usage", str(error))
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    detail = "".join(traceback.format_exception(error))
    return Failure("bug", "The search failed on this case. The server's log says why.", detail=detail)


def ended(exitcode: int | None) -> Failure:
    """The process of the search is gone and left no word."""
    how = f"killed by signal {-exitcode}" if exitcode is not None and exitcode < 0 else f"exit code {exitcode}"
    return Failure("ended", f"The process of the search ended before it had a result ({how}). Try a shorter output.")


CANCELLED = Failure("cancelled", "The search was cancelled.")
NEGLECTED = Failure("cancelled", "The search was stopped: nobody asked for it any more.")
TOO_LATE = Failure(
    "late",
    "The search had no result in time: the output is too long to be replayed often. Cut it shorter, or give "
    f"{ENV_PREFIX}FIND_SECONDS a larger number.",
)
OUT_OF_MEMORY = Failure(
    "memory", f"The search needs more memory than {ENV_PREFIX}FIND_MEMORY_BYTES allows. Cut the output shorter."
)
