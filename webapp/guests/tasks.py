"""The three things that are asked about cases: check one, find a smaller one that fails alike, generate some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from werkzeug.exceptions import HTTPException

from parsers.cases.case import Case, CaseError, ParserRef
from parsers.cases.engines import Engine
from parsers.cases.io import dumps, loads
from parsers.cases.run import CaseRun, checked_run
from parsers.cases.written.generated import generated, generated_format
from parsers.formats.model import Format
from parsers.replays.replayer import Replayer, Replays
from parsers.selection.registry import Evidence, get_format, known_format, select
from parsers.vocabulary.types import FormatError, UsageError
from webapp.engines import choose, engines_of
from webapp.engines.named_parser import case_by_engine, engine_words
from webapp.engines.protocol import ProtocolError, read_card
from webapp.guests.answers import StandIn, by_format
from webapp.guests.guest import Ask, Guest
from webapp.guests.judged import judged
from webapp.guests.requests import CaseAsked, Checked, Outputs, OutputsAsked
from webapp.runs.prepare import Prepared, prepare, with_defaults
from webapp.settings import Settings


@dataclass(slots=True, frozen=True)
class Subject:
    """A case as it is run, the case as it was given, who may run it, and the format that it is in where it says so."""

    case: Case
    given: Case
    engines: Mapping[str, Engine]
    grammar: Format | None
    settings: Settings

    def prepared(self, case: Case | None = None) -> Prepared:
        """It, or another case of the same parser, ready to be replayed."""
        return prepare(case or self.case, self.settings, self.engines)

    def run(self, case: Case | None = None, *, compare: bool = True) -> tuple[CaseRun, Replayer]:
        """Everything about it, and what replays it again. Without `compare` no other chunking is tried."""
        ready = self.prepared(case)
        replayer = replace(ready.replayer, known=Replays())
        return checked_run(ready.case, ready.choice, replayer, ready.stored, compare=compare), replayer


def subject_of(asked: CaseAsked, settings: Settings, ask: Ask) -> Subject:
    """Who runs the case that is asked about. Raises CaseError and UsageError."""
    given = with_defaults(loads(asked.case), settings)
    grammar, engines = _grammar(given), dict(engines_of(settings))
    case = given
    if asked.card is not None:
        guest = _guest(asked.card, ask)
        engines[guest.name] = guest.engine(grammar)
        case = guest.case_for(given)
    elif asked.engine is not None:
        case = case_by_engine(given, asked.engine, settings)
    if asked.chunking is not None:
        case = case.model_copy(update={"replay": (asked.chunking,)})
    return Subject(case, given, engines, grammar, settings)


def check(asked: CaseAsked, settings: Settings, ask: Ask) -> Checked:
    """What comes of a case. What cannot run is an outcome, too."""
    try:
        with limits_as_usage():
            alone = asked.chunking is not None
            run, replayer = subject_of(asked, settings, ask).run(compare=not alone)
            words = engine_words(run.case) if asked.engine is not None and asked.card is None else []
            return judged(run, replayer, asked.name, words, alone=alone)
    except CaseError as error:
        absent = error.pointer == "/parser/engine" and asked.card is None
        return Checked(outcome="skip" if absent else "unusable", why=str(error))
    except (UsageError, FormatError) as error:
        return Checked(outcome="unusable", why=str(error))


def outputs(asked: OutputsAsked) -> Outputs:
    """Generated cases. Raises UsageError for a format of which none can be made, or where none is named."""
    name = asked.format
    if name is None and asked.case is not None:
        name = _format_of(loads(asked.case)).name
    if name is None:
        raise UsageError("say of which format outputs are wanted")
    fmt = generated_format(name)
    cases = generated(name, asked.seed, asked.first, asked.count, reasoning=asked.reasoning)
    return Outputs(format=fmt.name, cases=tuple([dumps(case) for case in cases]))


def stand_in_for(asked: CaseAsked) -> StandIn | None:
    """Who may stand in for the guest of a case; None where that is no case."""
    try:
        case = loads(asked.case)
    except CaseError:
        return None
    grammar = _grammar(case) or get_format(select(Evidence(text=case.text())).name)
    return by_format(grammar, case.to_context())


@contextmanager
def limits_as_usage() -> Iterator[None]:
    """An output over a limit of the settings is a UsageError."""
    try:
        yield
    except HTTPException as error:
        raise UsageError(error.description or str(error)) from error


def _guest(card: Mapping[str, object], ask: Ask) -> Guest:
    try:
        return Guest(read_card(card), ask)
    except ProtocolError as error:
        raise UsageError(f"the card of the parser that is served is none: {error}") from error


def _format_of(case: Case) -> Format:
    """The format that an output is in, whoever parses it: a parser elsewhere may be called anything."""
    return _grammar(case) or choose(case.model_copy(update={"parser": ParserRef(name="auto")})).format


def _grammar(case: Case) -> Format | None:
    """The format that a case says its output is in; None where that is to be seen from the output."""
    if case.parser.format is not None:
        return case.parser.format
    found = known_format(case.parser.name)
    return found if found is not None and found.terminals else None
