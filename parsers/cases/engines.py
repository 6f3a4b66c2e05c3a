"""Engines: what runs the parser of a case. `parser.engine` names one; without a name it is the built-in machine.

An engine is a function from a case and the evidence to a Choice. Engines that need the world (an installed library, a
child process) live outside this package and are passed in beside these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import ValidationError

from parsers.cases.case import Case, CaseError
from parsers.formats.contracts import DEFAULT, Contract, builtin_contracts, contract_named
from parsers.formats.lint import lint
from parsers.formats.model import Format
from parsers.machine.reasoning import prompt_opens
from parsers.replays.chunking import RECORDED as AS_RECORDED
from parsers.replays.chunking import TRACED, Chunking
from parsers.replays.ran_lines import TellLines
from parsers.replays.recorded import NAME, Recorded, server_stream
from parsers.replays.tapes import Play
from parsers.selection.registry import Evidence, Selection, get_format, maker, select
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import FormatError, UsageError
from parsers.wrappers.fallback import Fallback, FallbackOptions

BUILTIN = "builtin"
FALLBACK = "fallback"
RECORDED = NAME
PLAYED = Format.model_validate(
    {
        "schema": 1,
        "name": RECORDED,
        "title": "Recorded stream",
        "description": "What a server sent, chunk by chunk, as it was recorded. Nothing is parsed again.",
        "initial": "UNKNOWN",
        "states": {"UNKNOWN": {"text": "content", "rows": [{"on": "END", "to": "UNKNOWN"}]}},
    }
)


@dataclass(slots=True, frozen=True)
class Declared:
    """What an engine says of its server: how late text may be, whether deltas without text reach the parser, and
    whether every token comes in a delta of its own.

    None: it does not say, and the contract holds.
    """

    late_text: Literal["unknown", "sent", "stop_strings"] | None = None
    empty_deltas: Literal["unknown", "sent"] | None = None
    single_tokens: bool = False

    def over(self, contract: Contract) -> Contract:
        """The contract with what is declared in the place of what it says."""
        said = {"late_text": self.late_text, "empty_deltas": self.empty_deltas}
        changes = {key: value for key, value in said.items() if value is not None}
        return contract.model_copy(update=changes) if changes else contract


@dataclass(slots=True)
class Choice:
    """Holds what a case is parsed with: the format that is shown, why it was chosen, and how a new parser is made.

    `black_box`: the parser shows nothing but its deltas. `one_shot` makes the parser of a second code path for whole
    outputs, where an engine has one. `plays`: the parser plays the case's stream back, so it has one chunking only.
    `grammar` is the format of the output, where that is not the one that is shown. `markers` are those of a grammar
    that is not built in, besides those that the case declares; without any they are learnt from what the parser
    consumes. `contract` is the engine's own. `replays`: somebody else makes the replays, many at a time; `make` then
    makes a parser that has a name and reads nothing. `declared`: what the engine says of its server.
    `lines` tells which lines of its source the parser ran at a step, `spent` for how many seconds somebody else was at
    work on replays of this case.
    """

    format: Format
    selection: Selection
    make: Callable[[], StreamParser]
    black_box: bool = False
    one_shot: Callable[[], StreamParser] | None = None
    plays: bool = False
    grammar: Format | None = None
    markers: tuple[str, ...] = ()
    contract: str = DEFAULT
    replays: Play | None = None
    declared: Declared = Declared()
    lines: TellLines | None = None
    spent: Callable[[], float] | None = None

    @property
    def cut_by(self) -> Format:
        """The format whose markers a stand-in for the model's tokenizer has: of another parser, what is known of it."""
        return self.grammar if self.replays is not None and self.grammar is not None else self.format


Engine = Callable[[Case, Evidence], Choice]


def builtin(case: Case, evidence: Evidence) -> Choice:
    """The table machine with the format a case asks for, brings along, or the evidence points to.

    A vocabulary is evidence only where the ids are a server's own: our tokenizer knows the markers it was given.
    """
    if case.parser.options:
        raise UsageError("parser.options are for engines; the built-in parsers have policies instead")
    _refuse_markers(case)
    fmt, selection = _format(case, evidence)
    return Choice(fmt, selection, maker(fmt, policy_of(case)))


def _fallback(case: Case, evidence: Evidence) -> Choice:
    """The fallback wrapper around the parser that `builtin` would run."""
    options = _wrapper_options(case)
    _refuse_markers(case)
    fmt, found = _format(case, evidence)
    policy = policy_of(case)
    shown = Fallback(fmt, policy, options).format
    reasons = (*found.reasons, "It runs behind the fallback wrapper (engine fallback).")
    return Choice(shown, Selection(found.name, reasons), lambda: Fallback(fmt, policy, options))


def _recorded(case: Case, evidence: Evidence) -> Choice:
    """The stream that a server sent, played back. The format of the output, as far as the case tells, decides what
    counts as a marker in it."""
    if case.input.stream is None:
        raise CaseError("there is no recorded stream to play back: give input.stream", "/input")
    for key, what in (("format", "format"), ("policy", "policies"), ("options", "options")):
        if getattr(case.parser, key):
            raise CaseError(f"a recorded stream is not parsed again, so it takes no {what}", f"/parser/{key}")
    if case.parser.name not in (RECORDED, "auto"):
        raise CaseError(f"the parser of this engine is called {RECORDED}, not {case.parser.name!r}", "/parser/name")
    stream = server_stream(case.input.stream)
    found = select(_evidence(case, evidence, case.text() or stream.text))
    fmt = get_format(found.name)
    grammar = fmt if fmt.terminals else None
    reasons = ["The server's own stream is played back, chunk by chunk; nothing is parsed again."]
    if not case.has_raw:
        reasons.append("The raw output was not recorded: checks that need it are skipped.")
    if grammar is not None:
        reasons.append(f"Markers are those of {grammar.name}: {found.reasons[0]}")
    return Choice(
        PLAYED,
        Selection(RECORDED, tuple(reasons)),
        lambda: Recorded(stream.chunks),
        black_box=True,
        plays=True,
        grammar=grammar,
        contract=_server(case),
    )


def _server(case: Case) -> str:
    """The contract of the server that a case says it was recorded from, "vllm 0.33.0", where there is one."""
    name = ((case.source.engine if case.source is not None else None) or "").lower().partition(" ")[0]
    return name if name in builtin_contracts() else DEFAULT


def _refuse_markers(case: Case) -> None:
    if case.parser.markers:
        raise CaseError("the markers of a built-in parser are known: declare none", "/parser/markers")


def _wrapper_options(case: Case) -> FallbackOptions:
    try:
        return FallbackOptions.model_validate(case.parser.options)
    except ValidationError as error:
        first = error.errors()[0]
        known = ", ".join(FallbackOptions.model_fields)
        place = "".join([f"/{part}" for part in first["loc"]])
        raise CaseError(f"{first['msg']}; the wrapper's options are {known}", f"/parser/options{place}") from error


def _format(case: Case, evidence: Evidence) -> tuple[Format, Selection]:
    if (fmt := case.parser.format) is not None:
        error = next((found for found in lint(fmt) if found.severity == "error"), None)
        if error is not None:
            raise FormatError(error.message, error.pointer)
        selection = Selection(case.parser.name, ("The case brings its own format.",))
    else:
        asked = None if case.parser.name == "auto" else case.parser.name
        selection = select(replace(_evidence(case, evidence, case.text()), enforced=asked))
        fmt = get_format(selection.name)
    if case.context.reasoning_open is False and prompt_opens(fmt, case.context.prompt_tail):
        raise UsageError("prompt_tail leaves reasoning open, but reasoning_open is false: leave one of them out")
    return fmt, selection


def _evidence(case: Case, evidence: Evidence, text: str) -> Evidence:
    """Return what points to a format, other than a name."""
    vocabulary = (case.markers() or ()) if case.mode() == "ids" else ()
    model = evidence.model_id or case.context.model
    kind = evidence.model_type or case.context.model_type
    context = case.to_context()
    return Evidence(
        model_type=kind,
        model_id=model,
        vocabulary=evidence.vocabulary or vocabulary,
        text=text,
        tools=[tool.name for tool in context.tools],
        guided=context.tool_choice in ("required", "named"),
    )


def contract_of(case: Case, own: str = DEFAULT) -> Contract:
    """The contract a case names or brings along, else the engine's `own`. Raises CaseError for a name of none."""
    try:
        return contract_named(case.contract, own)
    except UsageError as error:
        raise CaseError(str(error), "/contract") from error


def policy_of(case: Case, own: str = DEFAULT) -> dict[str, str]:
    """The policies a case asks for: those of its contract, strict where the request is strict, and its own.

    `own`: the contract of its engine.
    """
    strict = {"invalid_call": "strict"} if case.context.strict else {}
    return {**contract_of(case, own).policies(), **strict, **case.parser.policy}


ENGINES: Mapping[str, Engine] = {BUILTIN: builtin, FALLBACK: _fallback, RECORDED: _recorded}


def engine_of(case: Case) -> str:
    """The engine of a case: the one it names; the recorded one for its parser, and where nothing else can be run."""
    alone = case.parser.name == "auto" and not case.has_raw
    return case.parser.engine or (RECORDED if alone or case.parser.name == RECORDED else BUILTIN)


def traced_chunking(case: Case) -> Chunking:
    """The chunking that is traced: the case's first, or the usual one of its engine."""
    usual = AS_RECORDED if engine_of(case) == RECORDED else TRACED
    return case.replay[0] if case.replay else usual


def choose(case: Case, evidence: Evidence | None = None, engines: Mapping[str, Engine] = ENGINES) -> Choice:
    """Return what a case is parsed with.

    Raises UsageError for an unknown engine or parser, FormatError for a format of the case's own that cannot run.
    """
    name = engine_of(case)
    engine = engines.get(name)
    if engine is None:
        known = ", ".join(engines)
        raise UsageError(f"engine {case.parser.engine!r} is not available here; available: {known}")
    if case.parser.name == RECORDED != name:
        raise UsageError(f"a recorded stream is played back as it is; the engine {name} cannot run it")
    if not case.has_raw and name != RECORDED:
        words = "this case holds what a server's parser made of an output, not the output itself, so there is nothing"
        raise UsageError(f"{words} for {case.parser.name} to parse: use the parser {RECORDED}")
    return engine(case, evidence or Evidence())
