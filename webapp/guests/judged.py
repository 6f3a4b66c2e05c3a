"""What came of a case that ran, for whoever cannot see the run: the smallest chunking that shows what is wrong.

A chunking of the fewest deltas is cut less and less as long as it still shows a difference; what it shows is told with
the deltas around the step at which the wrong text was sent, or the right one was not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from parsers.cases.case import Case, Expect
from parsers.cases.engines import traced_chunking
from parsers.cases.expect import Difference, differences, trace_differences
from parsers.cases.export.replay_command import check_command, replay_command
from parsers.cases.run import CaseRun
from parsers.cases.stated_arguments import may_become
from parsers.cases.steady import unsteady_words
from parsers.cases.tested import CaseTest, Tried, as_test, tried
from parsers.compare.divergence import same_message
from parsers.replays.chunking import WHOLE, Chunking, label, resolved
from parsers.replays.replayer import Replayer
from parsers.search.shrink import reduce
from parsers.search.sweep import cut_at
from parsers.vocabulary.channels import CONTENT, REASONING, Channel, delta_texts, message_texts
from parsers.vocabulary.events import Failure, Raised
from parsers.vocabulary.trace import Step, Trace
from parsers.vocabulary.types import Message
from webapp.guests.alike import Kind, kinds, kinds_of
from webapp.guests.requests import Checked, Different, ErrorFound, Shown, StepShown

Right = str | Mapping[str, Any]  # what a channel should say

TRIALS = 100  # replays that making a chunking smaller may take
AROUND = 3  # steps on either side
FEW = 12  # steps are all shown
MOST_FED = 200  # characters of a step


def judged(run: CaseRun, replayer: Replayer, name: str, words: Sequence[str] = (), *, alone: bool = False) -> Checked:
    """What came of it. `alone`: only of its first chunking; else a smaller one is looked for than those that ran. The
    command that shows it names the case as `name`, and has `words` besides."""
    found = as_test(run, alone=alone)
    shown, is_traced, unsteady = None, False, ""
    if found.failing or found.errors:
        unsteady = unsteady_words(found, replayer)
        smallest = found.traced.smallest if unsteady else _smallest(run, replayer, found.smallest, alone=alone)
        is_traced = smallest.chunking == traced_chunking(run.case)  # the steps of checks are those of that replay
        of_all = unsteady and not alone
        again = check_command(name, *words) if of_all else replay_command(smallest.trace.chunking_json, name, *words)
        shown = _shown(found, smallest, again)
    told = tuple(
        [ErrorFound(check=one.check, message=one.message, step=one.step if is_traced else None) for one in found.errors]
    )
    return Checked(
        outcome=found.outcome,
        replays=len(found.replays),
        failing=len(found.failing),
        late=run.late,
        unsteady=unsteady,
        holds=len(run.holding),
        expects=run.case.known.expects,
        errors=tuple(told),
        shown=shown,
    )


def _smallest(run: CaseRun, replayer: Replayer, first: Tried, *, alone: bool) -> Tried:
    """That replay with every cut left out that makes no difference, traced in full; `alone`: with all of them."""
    chunking = first.chunking if alone else _cut_less(run, replayer, first)
    return tried(run, chunking, replayer.trace(chunking))


def _cut_less(run: CaseRun, replayer: Replayer, first: Tried) -> Chunking:
    """The chunking with every cut left out that makes no difference."""
    if run.plays or first.chunking == WHOLE:
        return first.chunking
    cuts, wrong, left = resolved(replayer.deltas(first.chunking)), _wrong(run, first), TRIALS

    def fails(kept: Sequence[int]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and wrong.shows(replayer, cut_at(kept))

    def foresee(rows: Sequence[Sequence[int]]) -> None:
        replayer.foresee([cut_at(row) for row in rows], traced=wrong.is_of_order)

    if not cuts or not fails(cuts):
        return first.chunking
    return cut_at(reduce(cuts, fails, foresee))


class _Wrong(NamedTuple):
    """What a smaller chunking has to show: that it is not as expected, in the same way, or else that another one reads
    it otherwise."""

    case: Case
    expect: Expect | None
    kinds: frozenset[Kind]
    other: Message

    @property
    def is_of_order(self) -> bool:
        """Whether what is expected says the order of the parts, which no outcome has: it takes a trace."""
        return self.expect is not None and self.expect.events is not None

    def shows(self, replayer: Replayer, chunking: Chunking) -> bool:
        if self.is_of_order:
            trace = replayer.trace(chunking)
            return self._is_so(trace_differences(self.expect, trace, self.case.compare), trace.message, trace.failure)
        outcome = replayer.outcome(chunking)
        failure, message = outcome.raised, outcome.message
        if self.expect is not None:
            return self._is_so(differences(self.expect, message, None, self.case.compare), message, failure)
        if failure is not None:
            return not failure.unasked
        return not same_message(message, self.other, self.case.compare.rules())

    def _is_so(self, different: Iterable[Difference], message: Message, failure: Failure | None) -> bool:
        if failure is not None and failure.unasked:
            return False
        found = kinds(different, self.expect or Expect(), message, failure)
        return bool(found) and found <= self.kinds


def _wrong(run: CaseRun, first: Tried) -> _Wrong:
    """Of an outcome the reason of its end is not known."""
    expect = run.case.known.expect if first.different else None
    if expect is not None and expect.events is None:
        expect = expect.model_copy(update={"finish_reason": None})
    other = run.whole if first.chunking == traced_chunking(run.case) else run.trace
    return _Wrong(run.case, expect and expect.in_fields, kinds_of(run, first), other.message)


def _shown(found: CaseTest, smallest: Tried, command: str) -> Shown:
    steps = smallest.trace.steps
    at = step_of(found, smallest)
    start = 0 if len(steps) <= FEW else max(at - 1 - AROUND, 0)
    around = steps if len(steps) <= FEW else steps[start : at + AROUND]
    different = [Different(field=one.field, expected=one.expected, actual=one.actual) for one in smallest.different]
    return Shown(
        chunking=smallest.chunking.model_dump(mode="json", exclude_defaults=True),
        label=label(smallest.chunking),
        command=command,
        deltas=smallest.deltas,
        at=at,
        differences=tuple(different),
        steps=tuple([_step(smallest.trace, step) for step in around]),
    )


def _step(trace: Trace, step: Step) -> StepShown:
    fed = trace.text[step.span.start : step.span.end]
    fed = fed if len(fed) <= MOST_FED else f"{fed[: MOST_FED // 2]}…{fed[-MOST_FED // 2 :]}"
    raised = next((str(event.failure) for event in step.events if isinstance(event, Raised)), None)
    sent = None if step.delta is None else step.delta.to_openai()
    return StepShown(index=step.index, fed=fed, end=step.end, sent=sent, raised=raised)


def step_of(found: CaseTest, smallest: Tried) -> int:
    """The step at which something was sent that is not the beginning of what is right; else the last one that there is,
    since something did not come."""
    steps = smallest.trace.steps
    failed = next((step.index for step in steps if any(isinstance(one, Raised) for one in step.events)), None)
    if failed is not None:
        return failed
    wrong = [one for one in map(_Said.first_wrong, _said(found, smallest)) if one is not None]
    return min(wrong, default=None) or _place_of_error(found.run, smallest.trace) or steps[-1].index


class _Said(NamedTuple):
    """What a channel said by the end of each step that wrote to it, and what it should say: a text, or the value that
    arguments should have."""

    steps: list[int]
    ends: list[int]
    text: str
    right: Right

    def first_wrong(self) -> int | None:
        """The first step after which it is not the beginning of what is right; what follows cannot mend it."""
        found = bisect_left(self.ends, 1, key=self._is_wrong)
        return self.steps[found] if found < len(self.steps) else None

    def _is_wrong(self, end: int) -> bool:
        said = self.text[:end]
        return not (self.right.startswith(said) if isinstance(self.right, str) else may_become(said, self.right))


def _said(found: CaseTest, smallest: Tried) -> Iterator[_Said]:
    """The channels of which it is known what they should say."""
    right = _right(found, smallest)
    expect = found.run.case.known.expect if smallest.different else None  # else it is a check that finds something
    written = defaultdict[Channel, list[tuple[int, str]]](list)
    for step in smallest.trace.steps:
        for channel, text in () if step.delta is None else delta_texts(step.delta):
            written[channel].append((step.index, text))
    for channel, parts in written.items():
        wanted = right.get(channel, "") if _is_judged(channel, expect) else None
        if channel.part != "id" and wanted is not None:
            steps, texts = map(list, zip(*parts, strict=True))
            yield _Said(steps, [*accumulate(map(len, texts))], "".join(texts), wanted)


def _place_of_error(run: CaseRun, trace: Trace) -> int | None:
    """The step of the first error that has one, in a replay that is the one under study, made again."""
    if trace.chunking_json != run.trace.chunking_json:
        return None
    return next((one.step for one in run.findings if one.severity == "error" and one.step), None)


def _is_judged(channel: Channel, expect: Expect | None) -> bool:
    """Whether anything is known to be wrong in a channel: an expectation allows whatever it says nothing of."""
    if expect is None:
        return True
    part = {REASONING: "reasoning", CONTENT: "content"}.get(channel, "tool_calls")
    return getattr(expect.in_fields, part) is not None


def _right(found: CaseTest, smallest: Tried) -> Mapping[Channel, Right | None]:
    """What each channel should say: that of a replay that is as expected, where nothing is one that gives another
    message than that which is wrong; else, and of arguments that are stated as a value, what the expectation says. None
    where it may say anything."""
    expect, rules = found.run.case.known.expect, found.run.case.compare.rules()
    sound = [one.trace.message for one in found.replays if not one.different and one.trace.failure is None]
    if expect is None:
        sound = [one for one in sound if not same_message(one, smallest.trace.message, rules)]
    said = {**message_texts((sound or [smallest.trace.message])[0])} if expect is None or sound else {}
    return {**said, **({} if expect is None else _stated(expect.in_fields, values_only=bool(sound)))}


def _stated(expect: Expect, *, values_only: bool) -> dict[Channel, Right | None]:
    """What an expectation says of each channel. `values_only`: of arguments that it has as a value, which have many
    texts."""
    right: dict[Channel, Right | None] = {REASONING: expect.reasoning, CONTENT: expect.content}
    for number, call in enumerate(expect.tool_calls or ()):
        arguments = call.arguments if call.raw is None else call.raw
        right |= {Channel(number, "name"): call.name, Channel(number, "arguments"): arguments}
    return {channel: one for channel, one in right.items() if not values_only or isinstance(one, Mapping)}
