"""Redaction of a case within the limits of the settings, for the page, the API and the command line.

A candidate is run as the page would run it: under the chunkings that are always compared (a long output only as a whole
beside its own), and those that a search found to break it, where somebody searched. Nothing of it is kept or stored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from parsers.cases.case import Case
from parsers.cases.find import CaseFound
from parsers.cases.redaction.redact import Redacted, Redaction, shown_by
from parsers.cases.run import chunkings_of
from parsers.replays.chunking import DEFAULT_COMPARED, WHOLE, Chunking
from webapp.runs.prepare import stored_form
from webapp.runs.runner import Run, Runner
from webapp.runs.time_left import TimeLeft
from webapp.settings import Settings

MOST_CHUNKINGS = 4  # so many of those that a search found
SHARE = 0.5  # of what a request may take


@dataclass(slots=True, frozen=True)
class RedactedCase:
    """A redacted case, the one before with its tokens, and whether a whole search says the same of both; None where
    nobody searched."""

    made: Redacted
    before: Case
    verdict_same: bool | None = None

    @property
    def same(self) -> bool:
        """Return whether the same finding stays, as far as is known."""
        return self.made.same and self.verdict_same is not False


def redact(
    case: Case, settings: Settings, *, found: CaseFound | None = None, seconds: float | None = None
) -> RedactedCase:
    """The case, redacted in so many seconds of work of this thread, by default a share of what a request may take;
    what is not replaced by then stays. Raises what a replay of it raises."""
    left = TimeLeft.of_request(settings, SHARE) if seconds is None else TimeLeft(seconds)
    runner = Runner(settings, keep=False)
    run = runner.run(case)
    before = stored_form(run)
    made = Redaction(before, _judge(runner, _asked(run, found)), [run.format, run.choice.grammar or run.format])
    for runs in made.run():
        if runs > 1 and not left.seconds:
            break
    return RedactedCase(made.result(), before)


def _asked(run: Run, found: CaseFound | None) -> tuple[Chunking, ...]:
    """The chunkings to compare, where they are not those that always are: fewer of a long output, and those that a
    search knows."""
    outcomes = () if found is None or run.choice.plays else found.found.outcomes[1 : 1 + MOST_CHUNKINGS]
    first, *others = chunkings_of(run.case, run.choice)
    if run.choice.plays or (run.short and not outcomes) or (others and not outcomes):
        return ()
    usual = others or [one for one in (DEFAULT_COMPARED if run.short else (WHOLE,)) if one != first]
    return tuple(dict.fromkeys([first, *usual, *[one.smallest for one in outcomes]]))


def _judge(runner: Runner, asked: tuple[Chunking, ...]) -> Callable[[Case], Hashable]:
    def judged(case: Case) -> Hashable:
        return shown_by(runner.run_checked(case.model_copy(update={"replay": asked}) if asked else case))

    return judged


def redact_searched(case: Case, settings: Settings, search: Callable[[Case], CaseFound]) -> RedactedCase:
    """The same, with a whole search before and after. Raises what `search` raises."""
    found = search(case)
    made = redact(case, settings, found=found, seconds=settings.find_total_seconds)
    after = search(made.made.case)
    return RedactedCase(made.made, made.before, said_by(found) == said_by(after))


def said_by(found: CaseFound) -> Hashable:
    """What a search says of a case that must stay the same: the kind of the verdict, and its leading finding."""
    verdict = found.found.verdict
    leads = [found.found.findings[number] for number in verdict.findings[:1]]
    return verdict.kind, verdict.severity, tuple([(one.check, one.topic, one.span, one.step) for one in leads])
