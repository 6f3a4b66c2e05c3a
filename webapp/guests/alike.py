"""Of what kind a failure is, so that a smaller one can be held to that which was shown: the same exception, or the same
parts of the message, that lost or gained something as they do there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from parsers.cases.case import Expect
from parsers.cases.expect import Difference, trace_differences
from parsers.cases.run import CaseRun
from parsers.cases.tested import CaseTest, Tried
from parsers.compare.divergence import shared_prefix
from parsers.search.sweep import MARKUP
from parsers.vocabulary.events import Failure
from parsers.vocabulary.types import Message

Kind = tuple[str, str]
RAISED = "raised"
_TEXTS = ("content", "reasoning")


def is_alike(whole: CaseTest, small: CaseTest, check: str) -> bool:
    """Return whether a smaller case fails as the one that it comes from: under every chunking where that does, with
    nothing that it does not show, and losing no text of another sort or place; or else, where nothing is expected of
    that, by an error of the same check. The smaller one may expect more: what that one says nothing of does not count.
    """
    expect = whole.run.case.known.expect
    if expect is None or not whole.failing:
        return check in {one.check for one in whole.errors}
    always = [len(one.failing) == len(one.replays) for one in (whole, small)]
    found = {one for one in kinds_of(small.run, small.smallest) if _is_said(one, expect)}
    if always[0] != always[1] or not found or not found <= kinds_of(whole.run, whole.smallest):
        return False
    said = {one.field for one in whole.smallest.different}
    return {one for one in lost_in(small) if one.field in said} <= lost_in(whole)


class Lost(NamedTuple):
    """Text that did not come: of which field, whether it is markup and which, and whether it stood behind a call."""

    field: str
    markup: str
    behind: bool


def lost_in(found: CaseTest) -> frozenset[Lost]:
    """What texts a case loses in the replay that is shown."""
    one, expect = found.smallest, found.run.case.known.expect
    text, names = found.run.case.text(), [call.name for call in (expect.in_fields.tool_calls if expect else None) or ()]
    first = min([text.find(name) for name in names if name and name in text], default=len(text))
    return frozenset(_lost(one.different, text, first))


def _lost(different: Iterable[Difference], text: str, first: int) -> Iterator[Lost]:
    for one in different:
        if one.field in _TEXTS and _how(one) == "lost":
            begin = shared_prefix(one.expected, one.actual)
            end = len(one.expected) - shared_prefix(one.expected[begin:][::-1], one.actual[begin:][::-1])
            gone = one.expected[begin:end].strip()
            markup = MARKUP.match(gone)
            yield Lost(one.field, markup.group() if markup is not None else "", bool(gone) and text.rfind(gone) > first)


def _is_said(kind: Kind, expect: Expect) -> bool:
    """Return whether an expectation says anything of that."""
    return kind[0] == RAISED or getattr(expect.in_fields, kind[0].partition("[")[0]) is not None


def kinds_of(run: CaseRun, one: Tried) -> frozenset[Kind]:
    """Those of a replay of a case, in its fields where only their order is stated; none where it is as expected, and
    where nothing is expected."""
    known = run.case.known.expect
    if known is None:
        return frozenset()
    expect = known.in_fields
    different = one.different if expect is known else trace_differences(expect, one.trace, run.case.compare)
    return kinds(different, expect, one.trace.message, one.trace.failure)


def kinds(
    different: Iterable[Difference], expect: Expect, message: Message, failure: Failure | None
) -> frozenset[Kind]:
    """Those of what is not as expected; of a parser that failed its exception alone, for the rest follows from that."""
    if failure is not None:
        return frozenset(((RAISED, failure.kind),))
    return frozenset(_kinds(different, expect, message))


def _kinds(different: Iterable[Difference], expect: Expect, message: Message) -> Iterator[Kind]:
    for one in different:
        if one.field == "tool_calls":
            yield one.field, "more" if len(message.tool_calls) > len(expect.tool_calls or ()) else "fewer"
        else:
            yield re.sub(r"\d+", "0", one.field), _how(one)


def _how(one: Difference) -> str:
    """Whether characters came, went, or both."""
    expected, actual = Counter(one.expected), Counter(one.actual)
    came, went = bool(actual - expected), bool(expected - actual)
    return "changed" if came == went else "gained" if came else "lost"
