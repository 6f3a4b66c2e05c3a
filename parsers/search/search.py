"""The search: every stage in order, as a generator that its caller may stop at any time.

The traced replay and the whole one; the other chunkings; the changed outputs; then the smallest output and chunking
that keep the worst finding. Nothing here has a clock: `found` says what is known when the caller stops iterating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice

from parsers.checks import CHECKS, CheckReport, run_checks
from parsers.checks.causes import by_cause
from parsers.checks.changes import apart
from parsers.checks.check import Need
from parsers.checks.known import Fact
from parsers.checks.subject import Subject, Variant, subject_of
from parsers.compare.beside import rules_for
from parsers.compare.divergence import EXACT, Rules
from parsers.replays.budget import Budget, SpentBudgetError
from parsers.replays.chunking import RECORDED, WHOLE, Chunking, label, resolved
from parsers.replays.cut_grades import studied
from parsers.replays.replayer import Outcome, Replayer
from parsers.replays.resumed import Resumed
from parsers.search.found import Detail, Found, Minimized, OutcomeClass, Progress, Sample, Stage, Verdict
from parsers.search.minimize import COMPARING, Start, minimized, start_of
from parsers.search.no_output import nothing_judged
from parsers.search.outcomes import Outcomes, Seen
from parsers.search.retold import retold
from parsers.search.shrink import AHEAD, SHRINKS, Shrinker, reduce
from parsers.search.sweep import MAX_CHARACTERS, MAX_REPLAYS, Sweep, Trial, cut_at, json_of
from parsers.search.variants import CountLines, Meters, total, variants
from parsers.search.variants.growth import Slope, repeated, uncounted_growth
from parsers.search.verdict import verdict
from parsers.search.verdict_cuts import shown_first
from parsers.search.weighed import weigh_by_contract, weigh_by_cuts
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.words import counted, listed, quoted

EVERY = 16  # replays between two reports of progress
LONG = 20_000  # characters from which on every replay is reported
FEW_CUTS = 3  # cuts, of which only the surroundings are read where the parser can resume
REDUCED = 4  # of so many outcomes the smallest chunking is looked for
REDUCTIONS = 200  # replays spent on each
NEVER_READ = "The smallest form of {} is read rightly under no chunking that a server can send."
READ_AS_ALLOWED = (
    "The smallest form of {} is read as the contract allows under some chunkings that a server can send, and under none"
    " as the format reads it."
)
READ_UNCHANGED = (
    "The smallest form of {} is a changed output, read rightly under no chunking that a server can send; without"
    " that change it is."
)
NOT_OVER = "Not everything was tried: what the other chunkings give is not known."
TRIED: Mapping[Stage, str] = {"sweep": "other chunkings", "variants": "changed outputs", "shrink": "smaller forms"}
LEFT = "The search was left in the middle: about {done:,} of {total:,} {of} were tried{rest}."
GIVEN_UP = (
    "The search was ended early, for the process of the parser does not survive its replays ({}): what was not tried by"
    " then is not known."
)
ALWAYS_FAILS = (
    "The search was ended early, for the parser failed in the same way in all {} replays, and does so on the word {!r}"
    " as well: what it makes of an output is not known."
)
MOST_ALIKE = 40  # replays that fail in the same way, until one of another output is made
PLAIN = "Hello"
REPEATS = 3  # what no other replay of the same chunking contradicts is no chance


class Search:
    """A search over one replayer.

    `asked`: chunkings to try besides, the first of which is the one under study. `recorded`: the cuts of the deltas
    that a server sent. `only`: the checks to run, all where None. `max_replays` bounds the sweep, `shrinks`
    the replays that make a finding small. `honest_only`: only chunkings that a server can send for certain are tried.
    `clock` gives seconds, and `lines` runs what it is given and says how many lines of Python that took: with these a
    parser is also found slow that does more than it counts. `budget` is what each replay and all of them may take. The
    same seed finds the same.
    """

    def __init__(
        self,
        replayer: Replayer,
        *,
        rules: Rules = EXACT,
        asked: tuple[Chunking, ...] = (),
        recorded: tuple[int, ...] = (),
        seed: int = 0,
        only: Sequence[str] | None = None,
        max_replays: int = MAX_REPLAYS,
        honest_only: bool = False,
        shrinks: int = SHRINKS,
        clock: Callable[[], float] | None = None,
        lines: CountLines | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.replays = 0
        replayer = self._replayer = replace(replayer, budget=budget)
        self._rules = rules_for(replayer, rules)
        self._traced = studied(replayer, asked, honest_only=honest_only)
        self._only = only
        self._shrinks = shrinks
        self._meters = Meters(clock, lines)
        self._budget = budget
        self._seed = seed
        self._every = EVERY if len(replayer.text) < LONG and budget is None else 1
        self._variants: list[Variant] = []
        self._samples: list[Sample] = []
        self._sweep = Sweep(
            replayer, asked=asked, recorded=recorded, seed=seed, max_replays=max_replays, honest_only=honest_only
        )
        self._outcomes = Outcomes(replayer, self._rules)
        self._traces: tuple[Trace, Trace] | None = None
        self._report: CheckReport | None = None
        self._subject: Subject | None = None
        self._small: tuple[Start, Shrinker] | None = None
        self._over = False
        self._last = Progress("replay", 0, 2, 0)
        self._always_fails = False
        self._unjudged = nothing_judged(replayer)

    def run(self) -> Iterator[Progress]:
        """Search. What is yielded says how far it is; stop iterating to stop it. A spent budget ends it early.

        What is no output of a model is not searched.
        """
        if self._unjudged is not None:
            yield Progress("done", 0, 0, 0)
            return
        try:
            yield from self._stages()
        except SpentBudgetError:
            return
        self._over = True
        yield self._progress("done", 1, 1)

    def _stages(self) -> Iterator[Progress]:
        yield self._progress("replay", 0, 2)
        failure = self._replayed()[0].failure
        if failure is not None and failure.slow:
            if self._budget is not None and failure.ended:
                self._budget.given_up = failure.kind
            raise SpentBudgetError  # whatever else is tried would take as long
        yield from self._swept()
        yield from self._reduced()
        yield from self._varied()
        yield from self._shrunk()

    def found(self) -> Found:
        """Return what is known by now."""
        if self._unjudged is not None:
            return self._unjudged
        if self._budget is not None:
            self._budget.lift()
        base, _ = self._replayed()
        report, small = self._checked(), None
        own, changed, said = self._told()
        samples = (*self._sweep.untried(self._outcomes.cuts), *self._samples)
        if self._small is not None:
            start, shrinker = self._small
            small = minimized(self._replayer, start, shrinker.form, self._rules, shrinker.replays)
        if small is not None:
            small = replace(small, of_changed=start.replayer.pieces != self._replayer.pieces)
        if said.kind == "all_hold" and not self._over and self._last.stage in ("replay", "sweep"):
            said.details = (Detail(NOT_OVER), *said.details)
        if not self._over and self._last.stage in TRIED and not (self._always_fails or self._is_given_up):
            said.details = (*said.details, Detail(_left(self._last)))
        if self._budget is not None and self._budget.given_up:
            said.details = (*said.details, Detail(GIVEN_UP.format(self._budget.given_up)))
        if self._always_fails:
            said.details = (*said.details, Detail(ALWAYS_FAILS.format(self.replays, PLAIN)))
        if small is not None and (small.never_read or small.read_as_allowed):
            said.details = (*said.details, _how_read(small, {own[number].check for number in said.findings}))
        return Found(
            text=self._replayer.text,
            findings=own,
            holding=report.holding,
            skipped=report.skipped,
            outcomes=self._outcomes.classes(base),
            groups=list(self._outcomes.groups.values()),
            cuts=self._outcomes.heat(self._sweep.solid),
            verdict=said,
            minimized=small,
            replays=self.replays,
            complete=self._over and not samples,
            variants=Counter([variant.kind for variant in self._variants]),
            samples=samples,
            robustness=changed,
        )

    @property
    def _is_given_up(self) -> bool:
        return self._budget is not None and bool(self._budget.given_up)

    def _progress(self, stage: Stage, done: int, total: int) -> Progress:
        self._last = Progress(stage, done, max(total, done), self.replays, max(len(self._outcomes.seen), 1))
        return self._last

    def _replayed(self) -> tuple[Trace, Trace]:
        if self._traces is None:
            self._traces = self._replayer.trace(self._traced), self._replayer.trace(WHOLE)
            self._outcomes.begin(self._traced, self._traces[0])
            self.replays += 2
        return self._traces

    def _outcome(self, chunking: Chunking) -> Outcome:
        self.replays += 1
        return self._replayer.outcome(chunking)

    def _swept(self) -> Iterator[Progress]:
        total = self._sweep.total(every=self._resumed.able)
        yield self._progress("sweep", 0, total)
        for done, trial in enumerate(self._ahead(self._sweep.trials(self._affords))):
            few = self._is_cut_by_few(trial.chunking)
            if done % (EVERY if few else self._every) == 0:
                yield self._progress("sweep", done, total)
            resumed = self._resumed.outcome(trial.chunking.cuts or ()) if few else None
            self.replays += resumed is not None
            self._outcomes.add(trial, resumed or self._outcome(trial.chunking))
            self._report = None
            if done + 1 == MOST_ALIKE and self._fails_on_anything():
                self._always_fails = True
                raise SpentBudgetError

    def _fails_on_anything(self) -> bool:
        """Whether somebody else's parser failed in one way until now, and a plain word is no output for it either."""
        failures = [one.outcome.raised for one in self._outcomes.seen]
        if self._replayer.tapes is None or len(failures) != 1 or failures[0] is None:
            return False
        self.replays += 1
        plain = self._replayer.changed([(0, len(self._replayer.text), PLAIN)]).outcome(WHOLE).raised
        return plain is not None and plain.cause == failures[0].cause

    def _ahead(self, trials: Iterator[Trial]) -> Iterator[Trial]:
        """The trials, replayed many at a time where somebody else makes the replays."""
        if self._replayer.tapes is None:
            yield from trials
            return
        while batch := list(islice(trials, AHEAD)):
            self._replayer.foresee([trial.chunking for trial in batch])
            yield from batch

    @cached_property
    def _resumed(self) -> Resumed:
        return Resumed(self._replayer)

    def _affords(self) -> bool:
        """Return whether there is room for one more cut in two than an even sample has."""
        return self._resumed.able and self._resumed.characters < MAX_CHARACTERS

    def _is_cut_by_few(self, chunking: Chunking) -> bool:
        """Return whether a chunking is but a few cuts of the text, where it can be cut."""
        cuts = chunking.cuts or ()
        late = chunking.holdback_chars or chunking.text_delay
        return self._resumed.able and 0 < len(cuts) <= FEW_CUTS and not late and self._sweep.solid.isdisjoint(cuts)

    def _reduced(self) -> Iterator[Progress]:
        """Fewer cuts for the outcomes that need many: what is left out of them makes no difference."""
        seen = self._outcomes.seen
        for one in seen[: REDUCED + 1] if len(seen) > 1 else ():
            yield self._progress("sweep", self._sweep.total(), self._sweep.total())
            slow = one.outcome.raised is not None and one.outcome.raised.slow
            if not slow and self._is_repeated(one):
                self._fewer_cuts(one)

    def _is_repeated(self, seen: Seen) -> bool:
        """Return whether the same chunking gives the same again. Where it does not, chance decides, or a parser
        before it."""
        chunking, asked = seen.smallest, (self._outcome(seen.smallest) for _ in range(REPEATS))
        again = next((one for one in asked if self._outcomes.number(one) != seen.number), None)
        if again is None:
            return True
        said = json_of(chunking)
        base, text, facts = seen.outcome.message, self._replayer.text, {"failures": (seen.outcome.raised, again.raised)}
        self._variants.append(Variant("reused", "again", Proof(said), text, again.message, None, facts, base))
        self._report = None
        return False

    def _fewer_cuts(self, seen: Seen) -> None:
        chunking, left = seen.smallest, REDUCTIONS
        if chunking.holdback_chars or chunking.text_delay:
            return

        def fails(cuts: Sequence[int]) -> bool:
            nonlocal left
            left -= 1
            return left >= 0 and self._outcomes.number(self._outcome(cut_at(cuts))) == seen.number

        cuts = resolved(self._replayer.deltas(chunking))
        if len(cuts) > 1 and fails(cuts):
            self._outcomes.reduced(seen, cut_at(reduce(cuts, fails, self._foresee_cuts)))
            self._report = None

    def _foresee_cuts(self, rows: Sequence[Sequence[int]]) -> None:
        self._replayer.foresee([cut_at(row) for row in rows])

    def _varied(self) -> Iterator[Progress]:
        base, _ = self._replayed()
        if not any(need.is_metamorphic for name in self._only or CHECKS for need in CHECKS[name].needs):
            return
        expected = total(self._replayer, base)
        made = variants(self._replayer, base, seed=self._seed, meters=self._meters, samples=self._samples)
        for done, variant in enumerate(made):
            if done % self._every == 0:
                yield self._progress("variants", done, expected)
            self._variants.append(variant)
            self.replays += 1
            self._report = None

    def _shrunk(self) -> Iterator[Progress]:
        """The smallest form of the worst finding. What comes and goes with chance is not made small."""
        if not self._shrinks or any("failures" in one.facts for one in self._variants):
            return
        own, changed, said = self._told()
        findings = [*own, *changed]
        start = start_of(self._replayer, self._traced, self._outcomes, findings, self._rules, said)
        if start is None:
            return
        before, shrinker = self.replays, Shrinker(start.replayer, start.form, start.target, self._shrinks)
        self._small = start, shrinker
        for replays in shrinker.run():
            self.replays = before + replays
            yield self._progress("shrink", replays, self._shrinks)

    def _told(self) -> tuple[list[Finding], list[Finding], Verdict]:
        """What the output itself shows and what changed ones do, each cause once, and the verdict."""
        (base, _), report = self._replayed(), self._checked()
        own, changed = map(by_cause, apart(report.findings))
        outcomes, held = self._outcomes.classes(base), len(report.holding)
        judge = partial(verdict, trace=base, replayer=self._replayer, outcomes=outcomes, held=held)
        said = judge(own)
        led = shown_first(own, said)
        if said.right is not None:
            assert self._subject is not None  # it was checked
            led = retold(led, said, outcomes, self._subject, self._replayer.trace)
        if led != own:
            own, said = led, judge(led)
        said.details += tuple(_robustness(changed))
        return own, changed, said

    @cached_property
    def _growth(self) -> Mapping[str, Slope]:
        """The lines and the time that a parser takes which counts no characters, for the output made longer."""
        needed = self._only is None or "linear_time" in self._only
        late = self._budget is not None and self._budget.late()
        if late or not needed or not self._replayer.black_box or self._replayed()[0].failure is not None:
            return {}
        return uncounted_growth(repeated(self._replayer), self._meters)

    def _checked(self) -> CheckReport:
        if self._report is None:
            base, whole = self._replayed()
            others = self._outcomes.compared(base)
            subject = subject_of(
                self._replayer, base, whole, others, rules=self._rules, variants=self._variants, grown=self._growth
            )
            self._report, self._subject = run_checks(subject, self._only), subject
            weigh_by_contract(self._report, subject)
            weigh_by_cuts(self._report, subject, self._replayer)
        return self._report


def _left(last: Progress) -> str:
    """What was not tried of all stages, given how far the search was."""
    stages = [*TRIED]
    unbegun = [f"no {TRIED[stage]}" for stage in stages[stages.index(last.stage) + 1 :]]
    return LEFT.format(
        done=last.done, total=last.total, of=TRIED[last.stage], rest="".join(f", {one}" for one in unbegun)
    )


def _how_read(small: Minimized, told: set[str]) -> Detail:
    """Say that the smallest form is not read rightly. `told`: the checks of which the verdict speaks."""
    same = small.check in (*told, *(COMPARING if told.intersection(COMPARING) else ()))
    words = READ_UNCHANGED if small.read_unchanged else NEVER_READ if small.never_read else READ_AS_ALLOWED
    return Detail(words.format("this" if same else quoted(small.check)))


def _robustness(changed: Sequence[Finding]) -> Iterator[Detail]:
    """One line on what changed outputs show, where that is more than notes."""
    many = Counter([finding.severity for finding in changed])
    said = [counted(many[word], word) for word in ("error", "warning") if many[word]]
    if said:
        yield Detail(f"Changed outputs show more, told apart as robustness: {listed(said)}.", facts=_CHANGED)


_CHANGED = frozenset((Fact.RAW, Fact.PARSER))
NOT_SEARCHED = (
    "This is a recorded stream: it has one chunking, and its output cannot be changed, so nothing was searched. "
    "What the server sent was judged as it is."
)


def played(
    replayer: Replayer,
    trace: Trace,
    found: Sequence[Finding],
    holding: Sequence[str],
    skipped: Sequence[tuple[str, Need]],
) -> Found:
    """What is found of a stream that is played back, given what the checks of its replay said."""
    findings = by_cause(found)
    return Found(
        text=replayer.text,
        findings=findings,
        holding=[*holding],
        skipped=[*skipped],
        outcomes=[OutcomeClass(0, trace.message, trace.finish_reason, 1, 1, RECORDED, label(RECORDED))],
        groups=[],
        cuts=[],
        verdict=verdict(findings, trace, replayer, held=len(holding)),
        replays=1,
    )


class Played:
    """The search over a stream that is played back: with the interface of `Search`, and over after one replay."""

    def __init__(self, replayer: Replayer, *, rules: Rules = EXACT, only: Sequence[str] | None = None) -> None:
        self._replayer = replayer
        self._rules = rules_for(replayer, rules)
        self._only = only

    def run(self) -> Iterator[Progress]:
        """Replay it once."""
        yield Progress("replay", 0, 1, 0)
        _ = self._report
        yield Progress("done", 1, 1, 1)

    def found(self) -> Found:
        """Return what the checks say of it."""
        report = self._report
        found = played(self._replayer, self._trace, report.findings, report.holding, report.skipped)
        found.verdict.details = (*found.verdict.details, Detail(NOT_SEARCHED))
        return found

    @cached_property
    def _trace(self) -> Trace:
        return self._replayer.trace(RECORDED)

    @cached_property
    def _report(self) -> CheckReport:
        return run_checks(subject_of(self._replayer, self._trace, self._trace, (), rules=self._rules), self._only)
