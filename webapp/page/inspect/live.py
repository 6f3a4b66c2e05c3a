"""What is said of an output while somebody edits it: the message it becomes, and a quick verdict.

One replay as the case asks for it and one of the whole text are all that is made of it, so that the answer comes while
somebody types. Other chunkings and the search are left to a run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsers.cases.case import Case
from parsers.cases.run import CaseRun, checked_run
from parsers.replays.replayer import Replayer
from parsers.search.no_output import nothing_judged
from webapp.glyphs import count, shorten
from webapp.page.search.findings import Checked, VerdictLine, findings, verdict
from webapp.runs.prepare import prepare
from webapp.runs.runner import Run, Runner, collector_paused
from webapp.settings import Settings

LIVE_TOKENS = 2_000  # of an output that is judged while somebody edits it
_SHOWN = 20_000
_CALLS_SHOWN = 60
_REPLAYS = 2


@dataclass(slots=True, frozen=True)
class Live:
    """What an edited output becomes; calls by name and arguments. Without `verdict` it was not judged: `problem` says
    why."""

    note: str = ""
    problem: str = ""
    verdict: VerdictLine | None = None
    reasoning: str = ""
    content: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    more_calls: int = 0
    finish: str = ""


def live(case: Case, settings: Settings) -> Live:
    """The message and the quick verdict of a case; only how long it is where that is too long to be judged at once.

    Nothing of it is kept. Raises what `Runner.run` raises.
    """
    prepared = prepare(case, settings)
    tokens = len(prepared.replayer.pieces)
    note = f"{count(len(case.text()), 'character')}, {count(tokens, 'token')}"
    if tokens > LIVE_TOKENS:
        return Live(note, too_long(tokens))
    return _judged(Runner(settings, keep=False).run_prepared(prepared), note)


def _judged(run: Run, note: str) -> Live:
    message = run.trace.message
    calls = [(shorten(call.name, _SHOWN), shorten(call.arguments, _SHOWN)) for call in message.tool_calls]
    with collector_paused():
        known = checked_run(run.case, run.choice, replace(run.replayer, rerender=None), run.stored, compare=False)
    return Live(
        note=note,
        verdict=_quick(known, run.replayer),
        reasoning=shorten(message.reasoning or "", _SHOWN),
        content=shorten(message.content or "", _SHOWN),
        calls=tuple(calls[:_CALLS_SHOWN]),
        more_calls=max(0, len(calls) - _CALLS_SHOWN),
        finish=run.trace.finish_reason,
    )


def too_long(tokens: int) -> str:
    """Why an output of so many tokens is not judged while somebody edits it."""
    return f"Live is off: the output has {count(tokens, 'token')}, more than {LIVE_TOKENS:,}. Run again judges it."


def _quick(known: CaseRun, replayer: Replayer) -> VerdictLine:
    none = nothing_judged(replayer)
    checked = Checked([], [], [], 0, none) if none else Checked(known.findings, known.holding, known.skipped, _REPLAYS)
    return verdict(checked, findings(checked))
