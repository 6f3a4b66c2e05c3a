"""A search in a child of its own, for whoever sits and waits: it can be asked to stop, and says what it has by then.

A foreign parser is never run in the process of the command line. A call of it that does not return is ended with its
process, when nothing was heard for longer than several replays may take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from parsers.cases.case import Case
from parsers.cases.find import CaseFound
from parsers.search.found import Progress
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.jobs import Failure
from webapp.children.program import Program
from webapp.engines.entered import engine_reply
from webapp.jobs.search_jobs import PROGRAM
from webapp.jobs.search_program import CLOCK_TIMES, SILENT_REPLAYS, read_result, settings_of_child
from webapp.jobs.searches import SearchError, error_of, written_case
from webapp.settings import ENV_PREFIX, Settings

_ANSWER_SECONDS = 60.0  # for the start of the process, and for writing the result


def search_in_child(
    case: Case,
    settings: Settings,
    show: Callable[[Progress], object],
    stop: Callable[[], bool] = bool,
    program: str = PROGRAM,
) -> CaseFound:
    """Search in a child, for `find_total_seconds` of its work at most. `show` is called with how far it is, and `stop`
    is asked then whether to leave it there. Raises what went wrong, as if the search had run here, and SearchError."""
    heard, silence = monotonic(), 2 * SILENT_REPLAYS * settings.find_replay_seconds + _ANSWER_SECONDS

    def reply(progress: dict[str, Any]) -> Mapping[str, Any]:
        nonlocal heard
        heard = monotonic()
        if "of" in progress:
            return engine_reply(progress)
        show(Progress(**progress))
        return {"stop": stop()}

    limits = {"DATA": settings.find_memory_bytes}
    told = {**settings_of_child(settings), "find_seconds": settings.find_total_seconds}
    request = {"settings": told, "raw": written_case(case), "asks": True}
    with Child(Program(program, limits=limits, fork=True)) as child:
        try:
            answer = child.ask(
                "find",
                request,
                seconds=CLOCK_TIMES * settings.find_total_seconds + silence,
                on_question=reply,
                cancelled=lambda: monotonic() > heard + silence,
            )
        except ChildError as error:
            raise SearchError(_words(error, silence)) from error
    if "failure" in answer:
        raise error_of(Failure(**answer["failure"]))
    return read_result(answer["raw"])


def _words(error: ChildError, silence: float) -> str:
    if error.ending in (Ending.CANCELLED, Ending.LATE):
        words = f"one call of the parser did not return: nothing was heard of the search for {silence:,.0f} seconds"
        return f"{words}, and its process was ended"
    if error.ending is Ending.MEMORY:
        return f"the search needs more memory than {ENV_PREFIX}FIND_MEMORY_BYTES allows"
    return f"the process of the search ended without a result ({error.message or error.ending.value})"
