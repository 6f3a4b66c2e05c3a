"""The smallest case that fails as a case does: what a search finds, held to what the test will say of it.

A search finds what breaks a parser on one output. Where the parser is wrong in the same way however the output is cut,
nothing of that shows, or only what changed outputs do: then the built-in parser of the format stands beside it, where
that gives what the case expects, and what both say of smaller outputs is compared. Whatever is found counts only if it
fails as a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Protocol

from parsers.cases.between import SearchBetween
from parsers.cases.case import Case, ParserRef
from parsers.cases.expect import accept
from parsers.cases.find import CaseSearch
from parsers.cases.io import dumps
from parsers.cases.steady import unsteady_words
from parsers.cases.tested import CaseTest, as_test
from parsers.search.found import Progress
from parsers.search.verdict_phrases import harm
from webapp.guests.alike import is_alike
from webapp.guests.guest import Ask
from webapp.guests.requests import CaseAsked, Smaller
from webapp.guests.signed import signature_of_test
from webapp.guests.tasks import Subject, limits_as_usage, subject_of
from webapp.settings import Settings

NONE = "No smaller case that fails alike was found."
ELSE = "A search of its output says something else:"
NOT_TRUE = "It was not made smaller, for nothing that is found of it would have to be true."
TOO_SLOW = "It was not made smaller: the parser did not return, and each smaller form would be waited for as long."


class _Searching(Protocol):
    def run(self) -> Iterator[Progress]: ...


def find(asked: CaseAsked, settings: Settings, ask: Ask, seconds: float, most: int) -> Smaller:
    """The smallest case that fails like this one, found in so many seconds and replays, both ways to look for it taken
    together. Raises CaseError and UsageError where it cannot be searched."""
    end = monotonic() + (seconds if asked.seconds is None else min(seconds, asked.seconds))
    with limits_as_usage():
        subject = subject_of(asked, settings, ask)
        run, replayer = subject.run()
        whole = as_test(run)
        failure = whole.smallest.trace.failure
        if failure is not None and failure.slow:
            return Smaller(headline=TOO_SLOW)
        unsteady = unsteady_words(whole, replayer)
        if unsteady:
            return Smaller(headline=f"{NOT_TRUE} {unsteady}")
        found = _by_search(subject, whole, end, most)
        if found.case is not None or monotonic() > end:
            return found
        beside = _beside(subject, whole, end, most)
        return found if beside is None or (beside.case is None and found.headline != NONE) else beside


def _by_search(subject: Subject, whole: CaseTest, end: float, most: int) -> Smaller:
    """What a search finds, if it fails alike; else what it is about is said."""
    ready = subject.prepared()
    search = CaseSearch(ready.case, pieces=ready.stored, engines=subject.engines, max_replays=most)
    late = _is_late(search, end)
    found = search.result()
    check = found.found.minimized.check if found.found.minimized is not None else ""
    small, headline = found.minimized, found.found.verdict.headline
    if small is None:
        return Smaller(headline=NONE, late=late)
    kept = _kept(subject, whole, small, headline, check) or Smaller(headline=f"{NONE} {ELSE} {headline}")
    return kept.model_copy(update={"late": late})


def _beside(subject: Subject, whole: CaseTest, end: float, most: int) -> Smaller | None:
    """By what the built-in parser of the format says, where that is what the case expects: first under the chunking
    that is shown."""
    grammar, expect = subject.grammar or subject.prepared().choice.grammar, subject.case.known.expect
    if grammar is None or expect is None:
        return None
    ref = ParserRef(name=grammar.name, format=subject.given.parser.format)
    right = subject.case.model_copy(update={"parser": ref, "contract": None, "expect": expect})
    if as_test(subject.run(right)[0]).failing:
        return None
    ready = subject.prepared(subject.case.model_copy(update={"replay": (whole.smallest.chunking,)}))
    search = SearchBetween(
        (ready.case, right), pieces=ready.stored, engines=subject.engines, max_replays=most, stated=True
    )
    late = _is_late(search, end)
    small = search.result().smallest
    if small is None:
        return None
    said = subject.run(small.model_copy(update={"parser": ref}))[0].whole.message
    gives = subject.run(small)[0].trace
    expected = small.model_copy(update={"expect": accept(said)})
    wrong = harm(said, gives.message) if gives.failure is None else "the parser failed"
    headline = f"Beside what {grammar.name} reads, {wrong}."
    kept = _kept(subject, whole, expected, headline, "expectation") or Smaller(headline=f"{NONE} {ELSE} {headline}")
    return kept.model_copy(update={"late": late})


def _is_late(search: _Searching, end: float) -> bool:
    """Run a search; return whether its time was over before it was."""
    return any(monotonic() > end for _ in search.run())


def _kept(subject: Subject, whole: CaseTest, small: Case, headline: str, check: str) -> Smaller | None:
    """The smaller case for the parser of the one it came from, `whole`, if it fails as that does."""
    run, replayer = subject.run(small)
    found = as_test(run)
    if found.outcome != "FAIL" or not is_alike(whole, found, check):
        return None
    parser = subject.given.parser
    if parser.name == "auto" and parser.engine is None:
        named = subject.grammar or subject.prepared().choice.grammar or run.format
        parser = parser.model_copy(update={"name": named.name if named.terminals else "auto"})
    made = small.model_copy(update={"parser": parser, "contract": subject.given.contract})
    return Smaller(
        headline=headline,
        case=dumps(made),
        signature=signature_of_test(found, replayer.terminals),
        same=small.text() == subject.given.text(),
        check=check,
    )
