"""Engines: what runs the parser of a case. `parser.engine` names one; without a name it is the built-in machine.

An engine is a function from a case and the evidence to a Choice. Engines that need the world (an installed library, a
child process) live outside this package and are passed in beside these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from parsers.cases.model import Case, CaseError
from parsers.fallback.options import FallbackOptions
from parsers.fallback.wrapper import Fallback
from parsers.formats.lint import lint
from parsers.formats.model import Format
from parsers.protocol import StreamParser
from parsers.reasoning import prompt_opens
from parsers.registry import Evidence, Selection, get_format, maker, select
from parsers.types import FormatError, UsageError

BUILTIN = "builtin"
FALLBACK = "fallback"


@dataclass(slots=True)
class Choice:
    """What a case is parsed with: the format that is shown, why it was chosen, and how a new parser is made.

    `black_box`: the parser shows nothing but its deltas. `one_shot` makes the parser of a second code path for whole
    outputs, where an engine has one.
    """

    format: Format
    selection: Selection
    make: Callable[[], StreamParser]
    black_box: bool = False
    one_shot: Callable[[], StreamParser] | None = None


Engine = Callable[[Case, Evidence], Choice]


def builtin(case: Case, evidence: Evidence) -> Choice:
    """The table machine with the format a case asks for, brings along, or the evidence points to.

    A vocabulary is evidence only where the ids are a server's own: our tokenizer knows the markers it was given.
    """
    if case.parser.options:
        raise UsageError("parser.options are for engines; the built-in parsers have policies instead")
    fmt, selection = _format(case, evidence)
    return Choice(fmt, selection, maker(fmt, policy_of(case)))


def fallback(case: Case, evidence: Evidence) -> Choice:
    """The fallback wrapper around the parser that `builtin` would run."""
    options = _wrapper_options(case)
    fmt, found = _format(case, evidence)
    policy = policy_of(case)
    shown = Fallback(fmt, policy, options).format
    reasons = (*found.reasons, "It runs behind the fallback wrapper (engine fallback).")
    return Choice(shown, Selection(found.name, reasons), lambda: Fallback(fmt, policy, options))


def _wrapper_options(case: Case) -> FallbackOptions:
    try:
        return FallbackOptions.model_validate(case.parser.options)
    except ValidationError as error:
        first = error.errors()[0]
        known = ", ".join(FallbackOptions.model_fields)
        place = "".join([f"/{part}" for part in first["loc"]])
        raise CaseError(f"{first['msg']}; the wrapper's options are {known}", f"/parser/options{place}") from error


def _format(case: Case, evidence: Evidence) -> tuple[Format, Selection]:
    fmt, selection = _found(case, evidence)
    said = case.context.reasoning_open if "reasoning_open" in case.context.model_fields_set else None
    if said is False and prompt_opens(fmt, case.context.prompt_tail):
        raise UsageError("prompt_tail leaves reasoning open, but reasoning_open is false: leave one of them out")
    return fmt, selection


def _found(case: Case, evidence: Evidence) -> tuple[Format, Selection]:
    if case.parser.format is not None:
        refuse_broken(case.parser.format)
        return case.parser.format, Selection(case.parser.name, ("The case brings its own format.",))
    asked = None if case.parser.name == "auto" else case.parser.name
    vocabulary = (case.markers() or ()) if case.mode() == "ids" else ()
    model = evidence.model_id or case.context.model
    kind = evidence.model_type or case.context.model_type
    found = select(Evidence(asked, kind, model, evidence.vocabulary or vocabulary, case.text()))
    return get_format(found.name), found


def policy_of(case: Case) -> dict[str, str]:
    """The policies a case asks for: its own, and strict where the request is strict."""
    strict = {"invalid_call": "strict"} if case.context.strict else {}
    return {**strict, **case.parser.policy}


def refuse_broken(fmt: Format) -> None:
    """Raise FormatError for the first error that the static check finds in a format."""
    error = next((found for found in lint(fmt) if found.severity == "error"), None)
    if error is not None:
        raise FormatError(error.message, error.pointer)


ENGINES: Mapping[str, Engine] = {BUILTIN: builtin, FALLBACK: fallback}


def choose(case: Case, evidence: Evidence | None = None, engines: Mapping[str, Engine] = ENGINES) -> Choice:
    """What a case is parsed with.

    Raises UsageError for an unknown engine or parser, FormatError for a format of the case's own that cannot run.
    """
    engine = engines.get(case.parser.engine or BUILTIN)
    if engine is None:
        known = ", ".join(engines)
        raise UsageError(f"engine {case.parser.engine!r} is not available here; available: {known}")
    return engine(case, evidence or Evidence())
