"""How today's result of a stored case departs from the one that was shared, and what made each of the two."""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsers.cases.outcome_words import WrittenOutcome, loaded
from parsers.cases.stored_outcome import Drift, drift
from parsers.compare.divergence import ANY_ID, same_message
from parsers.vocabulary.types import Message
from webapp.engines.entered import engine_title
from webapp.page.addresses.subjects import Subject
from webapp.release import installed_version
from webapp.runs.exports import outcome_of
from webapp.services import services


@dataclass(slots=True, frozen=True)
class Drifted:
    """What the banner says. `shared` and `today` are what ran: our version, and where it is known the engine with its
    own, and its commit where it is a revision. `engine` is today's alone."""

    drift: Drift
    shared: str
    today: str
    engine: str = ""

    @property
    def is_nameless(self) -> bool:
        """Return whether another engine calls itself the same, as a class that was edited does."""
        return bool(self.engine) and self.shared == self.today


def drift_of(subject: Subject) -> Drifted | None:
    """How today's outcome, where it is cheap to know, departs from the one that was saved."""
    if subject.stored is None or not subject.stored.outcome_digest:  # nothing ran when it was stored
        return None
    runner, expect, stored = services().runner, subject.case.known.expect, subject.stored
    trace, known = runner.run(subject.case).trace, runner.cheaply_checked(subject.case)
    before = [Message(expect.reasoning, expect.content)] if expect is not None else []
    outcome = outcome_of(trace, None if known is None else known.findings)
    written = loaded(stored.message) if stored.message else WrittenOutcome()
    if subject.case.parser.engine is not None and written.message is not None:  # it makes up other ids each time
        outcome = replace(outcome, message=_with_ids(outcome.message, written.message))
    found = drift(stored.outcome_digest, outcome, written, before)
    if found is None:
        return None
    engine = engine_title(subject.case.parser.engine)
    return Drifted(found, _ran(stored.version, written.engine), _ran(installed_version(), engine), engine)


def _with_ids(message: Message, kept: Message) -> Message:
    """A message with the ids of one that says the same; as it is where that says something else."""
    if not same_message(message, kept, ANY_ID):
        return message
    calls = [replace(call, id=then.id) for call, then in zip(message.tool_calls, kept.tool_calls, strict=True)]
    return replace(message, tool_calls=calls)


def _ran(version: str, engine: str) -> str:
    return f"version {version}" + f", {engine}" * bool(engine)
