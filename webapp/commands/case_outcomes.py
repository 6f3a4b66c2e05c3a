"""What came of a case by one engine: its outcome in a word, what is wrong, and the lines that say where.

Against a baseline, or against another engine called `base`, only what became worse fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Literal

from parsers.cases.case import Case, CaseError, EngineVerdict
from parsers.cases.engines import traced_chunking
from parsers.cases.export.replay_command import check_command, replay_command
from parsers.cases.io import case_key
from parsers.cases.run import CaseRun
from parsers.cases.tested import CaseOutcome, CaseTest, as_test
from parsers.replays.chunking import Chunking, label, name_of
from parsers.replays.replayer import Replayer
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import UsageError
from webapp.cli import one_line
from webapp.commands.baselines import (
    ALL,
    NOT_RUN,
    Baseline,
    Wrong,
    as_named,
    beyond,
    check_name,
    in_words,
    is_of_check,
    with_labels,
)
from webapp.commands.doubts import Doubts, Replayed
from webapp.commands.engine_option import Named
from webapp.commands.inputs import OF_CORPUS, shown
from webapp.commands.running import replayed_case_of
from webapp.commands.words import count, quoted
from webapp.engines.entered import engine_title, entered
from webapp.engines.named_parser import case_by_engine, case_by_parser, engine_words, held_as
from webapp.engines.protocol import EngineError
from webapp.settings import get_settings

Outcome = Literal[CaseOutcome, "as before"]  # the last is known only beside a baseline, or another engine
BASE = "base"
LONGEST = 200
NOT_SEEN = "it expects nothing, so whether it is fixed is not known: give it an expect, or search with find"


@dataclass(slots=True)
class CaseResult:
    """Holds what came of one case by one engine (its label; "" for the case's own). `why`: why it did not run.

    `id` is the key of the case, "" where there is none. `wrong` is all that is wrong; `worse` and `better` are what of
    it was not before, and the other way round; `said` are digests of its messages, by the
    names of their chunkings, and `apart` those under which `base` gives another one. `details` say where it fails, the
    command that shows it last. `link` is where it was uploaded to, and `run` what is uploaded, or `written` where the
    server does not know the engine that ran it. `late`: an engine had no time for all chunkings, which are `left_out`;
    `is_away`: it cannot be run at all. `said_at`: where more is said of what this engine makes of it, as the case has
    it. `spread` is what is not as expected with all chunkings under which it is not, of those that were `tried`, and
    `findings` what checks find, with the chunkings that show it. `replayed`: what replays it again, until its lines are
    told.
    """

    name: str
    outcome: Outcome
    file: str = ""
    engine: str = ""
    id: str = ""
    replays: int = 0
    held: int = 0
    seconds: float = 0.0
    why: str = ""
    wrong: Wrong = field(default_factory=dict)
    worse: Wrong = field(default_factory=dict)
    better: Wrong = field(default_factory=dict)
    said: Mapping[str, int] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    late: bool = False
    left_out: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    spread: Wrong = field(default_factory=dict)
    findings: tuple[tuple[str, frozenset[str]], ...] = ()
    details: list[str] = field(default_factory=list)
    run: CaseRun | None = None
    written: Case | None = None
    link: str = ""
    is_away: bool = False
    said_at: str = ""
    replayed: Replayed | None = None

    @property
    def called(self) -> str:
        """Its name, with its engine where that is one of several things that it may be run by."""
        return f"{self.name} [{self.engine}]" if self.engine else self.name

    @property
    def known(self) -> Wrong:
        """What is known of it beside another run: what is wrong, and what was not tried."""
        return {**self.wrong, NOT_RUN: self.left_out} if self.left_out else self.wrong

    @property
    def entry_name(self) -> str:
        """The name without folders, the same wherever the files are."""
        file, name = self.file.rpartition("/")[2], self.name.removeprefix(self.file).removeprefix(OF_CORPUS)
        return one_line(f"{file}{OF_CORPUS}{name}" if name else file)


@dataclass(slots=True, frozen=True)
class By:
    """Who runs the cases: the engine of a label, or whoever each of them names.

    `asks` makes the case that is run of the one that was written; `words` are the options that ask for that again.
    `word` is the engine without its label, or the parser; `about` which one that is: its version and revision.
    """

    label: str = ""
    word: str = ""
    about: str = ""
    asks: Callable[[Case], Case] = lambda case: case
    words: Callable[[Case], Sequence[str]] = lambda _: ()

    @classmethod
    def engine(cls, engine: Named) -> By:
        """An entered engine."""
        label, word = engine
        about = _title_now(word.partition(":")[0])
        return cls(label, word, about, lambda case: case_by_engine(case, word, get_settings()), engine_words)

    @classmethod
    def parser(cls, name: str) -> By:
        """A parser of ours, for all cases."""
        return cls("", name, "", lambda case: case_by_parser(case, name), lambda _: ("--parser", name))

    @property
    def told(self) -> str:
        """`head=mine:hermes (vllm 0.33.0)`, without a label that says no more than the rest."""
        label = "" if self.label in ("", self.word, self.word.partition(":")[0]) else f"{self.label}="
        return f"{label}{self.word}" + (f" ({self.about})" if self.about else "")


def _title_now(engine: str) -> str:
    """Who an engine is that is run now: one that was changed since it said so is asked. That it cannot be asked is told
    of each case."""
    with suppress(UsageError):
        entered().card(engine)
    return engine_title(engine)


@dataclass(slots=True, frozen=True)
class Asked:
    """Says who runs each case, and what is known beforehand: a baseline, or what `base` gets wrong. `columns` are those
    of a suite in rows."""

    by: tuple[By, ...] = (By(),)
    base: By | None = None
    baseline: Baseline | None = None
    keep_runs: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    doubts: Doubts = field(default_factory=Doubts)

    @property
    def judges(self) -> bool:
        """Whether only what became worse fails."""
        return self.base is not None or self.baseline is not None

    @property
    def tested(self) -> str:
        """Who is tested, as `mine:hermes (vllm 0.33.0)`; "" where each case names its own parser."""
        against = "" if self.base is None else f" against {self.base.told}"
        return ", ".join([by.told for by in self.by if by.word]) + against


def results_of(file: str, title: str, again: str, case: Case, asked: Asked) -> Iterator[CaseResult]:
    """What came of a case by each engine. `again` is how a command names it."""
    bases = None if asked.base is None else _Bases(title, again, case, asked.base, asked.columns)
    for by in asked.by:
        found = _result(title, again, case, by, asked.columns)
        found.file = file
        if bases is not None:
            base = bases.beside(found)
            ran = base.outcome not in ("skip", "unusable")
            _judge(found, base.known if ran else {NOT_RUN: ALL}, ran=ran)
            found.apart = _apart(found.said, base.said)
        elif asked.baseline is not None:
            ran = asked.baseline.knows(found.id, found.engine)
            _judge(found, asked.baseline.of(found.id, found.engine), ran=ran)
        if found.replayed is not None:
            found.details = asked.doubts.about(found.replayed, found.details, fails=found.outcome == "FAIL")
            found.replayed = None
        if found.outcome != "FAIL" or not asked.keep_runs:
            found.run = found.written = None
        yield found


class _Bases:
    """What came of a case by `base`, which is held to what the engine beside it is held to: what the case says of
    `head` by its name counts for `base` as well, be that entered under another one."""

    def __init__(self, title: str, again: str, case: Case, by: By, columns: Mapping[str, str]) -> None:
        self._run = partial(_result, title, again, case, columns=columns)
        self._by = by
        self._made: list[tuple[EngineVerdict | None, CaseResult]] = []

    def beside(self, head: CaseResult) -> CaseResult:
        """Beside the result of another engine. Raises UsageError where `base` cannot be run at all."""
        known = None if head.run is None else head.run.case.known
        made = next((result for one, result in self._made if one == known), None)
        if made is None:
            asks = self._by.asks
            by = self._by if known is None else replace(self._by, asks=lambda case: held_as(asks(case), known))
            made = self._run(by=by)
            self._made.append((known, made))
        if made.is_away:
            raise UsageError(f"base cannot be run, so that nothing can be held against it: {one_line(made.why)}")
        return made


def _judge(found: CaseResult, known: Wrong, *, ran: bool) -> None:
    """Only what is worse than what is known fails; and a case that did run (`ran`) fails where it does not any more."""
    was = {name: places for name, places in known.items() if name != NOT_RUN and not (found.late and is_of_check(name))}
    of_all = dict.fromkeys([name for name in was if not is_of_check(name)], (*found.tried, *found.left_out))
    ran_now = found.outcome not in ("skip", "unusable")
    found.better = _beyond(was, of_all, with_labels(found.known)) if ran_now else {}
    known = as_named(known, (*found.tried, *found.left_out))
    sure = {name for name, shown_by in found.findings if shown_by.isdisjoint(known.get(NOT_RUN, ()))}
    wrong = {name: places for name, places in found.wrong.items() if not is_of_check(name) or name in sure}
    found.worse = _beyond(wrong, found.spread, known)
    if found.outcome == "FAIL" and not found.worse:
        found.outcome, found.details = "as before", []
    elif found.outcome == "skip" and found.worse and ran:
        found.outcome, found.details = "FAIL", [f"it ran before and does not now: {one_line(found.why)}"]
    elif found.outcome == "FAIL" and known:
        found.details.insert(0, f"worse than before: {in_words(found.worse)}")


def _beyond(wrong: Wrong, spread: Wrong, known: Wrong) -> Wrong:
    """What is wrong beyond what is known, where all chunkings are compared one by one with those that `spread` has."""
    each = {name: spread.get(name, places) if places == ALL else places for name, places in wrong.items()}
    return {name: wrong[name] if places == each[name] else places for name, places in beyond(each, known).items()}


def _left_out(error: CaseError | EngineError, case: Case, by: By) -> str:
    """Why an engine runs no such case; "" where the case is at fault, or the parser that was named."""
    if isinstance(error, EngineError) or error.pointer == "/parser/engine":
        return str(error)
    if not by.label or ":" in by.word or error.pointer != "/parser/name":
        return ""
    read = "this output" if case.parser.name == "auto" else case.parser.name
    return f"{by.word} has no parser that reads {read} (name one: {by.word}:PARSER)"


def _result(title: str, again: str, case: Case, by: By, columns: Mapping[str, str]) -> CaseResult:
    began, of_rows = perf_counter(), [word for one in columns.items() for word in ("--column", "=".join(one))]
    try:
        asked = by.asks(case)
        found = _checked(title, again, *replayed_case_of(again, asked), [*by.words(asked), *of_rows])
    except (CaseError, EngineError) as error:
        skipped = _left_out(error, case, by)
        found = CaseResult(title, "skip" if skipped else "unusable", why=skipped or str(error))
        found.wrong = {NOT_RUN: ALL} if skipped and by.label else {}
        found.is_away = isinstance(error, EngineError) or error.pointer == "/parser/engine"
    except UsageError as error:
        found = CaseResult(title, "unusable", why=reason(str(error), again))
    found.engine, found.seconds, found.id = by.label, perf_counter() - began, case_key(case)
    found.written = case if by.label or (case.parser.engine and not by.word) else None
    return found


def reason(message: str, name: str) -> str:
    """The message without the name, which the line begins with anyway."""
    return message.removeprefix(shown(name)).removeprefix(":").strip()


def _checked(title: str, name: str, run: CaseRun, replayer: Replayer, words: Sequence[str]) -> CaseResult:
    found = as_test(run)
    result = CaseResult(title, found.outcome, replays=len(found.replays), run=run, late=bool(run.late))
    result.tried = tuple([name_of(one.chunking) for one in found.replays])
    result.left_out = tuple([name_of(one) for one in run.left_out])
    result.held, result.said = len(run.holding), {name_of(one.chunking): _said(one.trace) for one in found.replays}
    result.spread, result.said_at = _spread(found), one_line(run.case.known.link or "")
    result.findings = tuple([(check_name(one.check, one.grade), _shown_by(one)) for one in found.errors])
    result.wrong = _wrong(found, result.spread)
    if result.wrong:
        again = replay_command(found.smallest.trace.chunking_json, name, *words)
        result.details = [*_details(found), again]
    result.replayed = Replayed(title, found, replayer, check_command(name, *words))
    return result


def _said(trace: Trace) -> int:
    """A digest of what a client is told, but for the ids of calls, which an engine may make up."""
    message, calls = trace.message, tuple([(call.name, call.arguments) for call in trace.message.tool_calls])
    return hash((message.reasoning, message.content, calls, trace.finish_reason))


def _apart(said: Mapping[str, int], base: Mapping[str, int]) -> tuple[str, ...]:
    """The chunkings under which both were replayed and do not say the same."""
    both = [name for name in said if name in base]
    apart = tuple([name for name in both if said[name] != base[name]])
    return ALL if apart and len(apart) == len(both) else apart


def _spread(found: CaseTest) -> Wrong:
    """What is not as expected, with all chunkings under which it is not."""
    places: dict[str, list[str]] = {}
    for one in found.failing:
        for different in one.different:
            places.setdefault(different.field, []).append(name_of(one.chunking))
    return {name: tuple(names) for name, names in places.items()}


def _shown_by(finding: Finding) -> frozenset[str]:
    """The chunkings that a finding compares; none where it is of one replay alone."""
    proof = finding.proof
    if proof is None or proof.changes_case:
        return frozenset()
    return frozenset(
        [name_of(Chunking.model_validate(one)) for one in (proof.chunking, proof.wrong) if one is not None]
    )


def _wrong(found: CaseTest, spread: Wrong) -> Wrong:
    """All that is wrong, in short. Where chunkings were left out nobody knows that all of them show it."""
    every = 0 if found.run.left_out else len(found.replays)
    wrong = {name: ALL if len(labels) == every else labels for name, labels in spread.items()}
    return {**wrong, **dict.fromkeys([check_name(one.check, one.grade) for one in found.errors], ALL)}


def _details(found: CaseTest) -> Iterator[str]:
    yield from not_expected(found)
    for finding in found.errors:
        place = "" if finding.step is None else f" at step {finding.step:,}, {label(traced_chunking(found.run.case))}"
        yield f"check {finding.check}{place}: {one_line(finding.message)}"
    yield from [f"note: {one_line(note)}" for note in found.run.case.notes]


def not_expected(found: CaseTest) -> Iterator[str]:
    """Where a case is not as it expects; nothing where it is, and where it expects nothing."""
    if found.failing:
        number = f"{len(found.failing):,} of {count(len(found.replays), 'replay')}"
        yield f"not as expected in {number}; the one of fewest deltas: {label(found.smallest.chunking)}"
        for one in found.smallest.different:
            yield f"{one.field}: expected {quoted(one.expected, LONGEST)}"
            yield f"{' ' * len(one.field)}    actual {quoted(one.actual, LONGEST)}"


def told(result: CaseResult) -> Iterator[str]:
    """The line of a case, and for one that fails the lines that say where."""
    numbers = f"{count(result.replays, 'replay')}, {count(result.held, 'check holds', 'checks hold')}"
    notes = {"fixed": "passes; set its verdict to required", "skip": result.why, "unusable": result.why}
    notes["not seen"] = f"not shown by {count(result.replays, 'replay')}; {NOT_SEEN}"
    notes["as before"] = in_words(result.wrong)
    if result.outcome == "ok" and result.better:
        notes["ok"] = f"{numbers}; it was wrong before"
    more = f"; see {result.said_at}" * bool(result.said_at)
    yield f"{result.outcome:<9}  {one_line(result.called)}  ({one_line(notes.get(result.outcome, numbers))}{more})"
    link = [f"uploaded to {result.link}"] if result.link else []
    yield from (f"           {line}" for line in (*result.details, *link))
