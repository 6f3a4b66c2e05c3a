"""No sentence decides: with other words in every place that has any, checks and verdicts say the same of the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.corpus import case_texts
from parsers.cases.find import CaseFound, CaseSearch
from parsers.cases.io import loads
from parsers.cases.run import run_case
from parsers.checks import schema
from parsers.checks.subject import Variant
from parsers.compare import beside
from parsers.formats.model import builtin_formats
from parsers.search import outcomes
from parsers.search.found import Leave, Verdict
from parsers.search.verdict import verdict
from parsers.vocabulary.drops import DropReason
from parsers.vocabulary.events import Diagnostic, Raised
from parsers.vocabulary.trace import CodecState, Finding, Hold, Tail, Transition
from tests.amount import every
from tests.parsers.search.faulty import (
    Change,
    case_of,
    drops_text_after_call,
    engines,
    fails_on_lone_quote,
    flushes_angle,
    loses_brace,
    loses_second_call,
)
from tests.parsers.search.test_verdict import TWO, judged, replayer
from webapp.engines import ENGINES

ROOT = Path(__file__).parents[2] / "cases"
SHARES, ONE_IN = 4, 48

# Whatever holds words for people, and the names of the fields.
WORDED: dict[type[Any], tuple[str, ...]] = {
    Finding: ("message",),
    Diagnostic: ("message",),
    Raised: ("message",),
    Hold: ("reason",),
    Transition: ("note",),
    CodecState: ("words", "of"),
    Tail: ("why",),
    Variant: ("label",),
    Leave: ("missing",),
    schema.Problem: ("message",),
    schema._Flaw: ("words",),
}


def other(words: str | None) -> str | None:
    """Words of which nothing is left but whether there are any, and whether two of them are the same."""
    return words and hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()


@pytest.fixture
def in_other_words(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, everything that is said is said in other words."""

    def worded_tuple(kind: type[Any], fields: tuple[str, ...]) -> Callable[..., Any]:
        made = kind.__new__

        def new(cls: type[Any], *given: object, **named: object) -> Any:
            one: Any = made(cls, *given, **named)
            return made(cls, *[other(value) if name in fields else value for name, value in one._asdict().items()])

        return new

    def worded(kind: type[Any], fields: tuple[str, ...]) -> Callable[..., None]:
        made = kind.__init__

        def init(self: object, *given: object, **named: object) -> None:
            made(self, *given, **named)
            for field in fields:
                object.__setattr__(self, field, other(getattr(self, field)))

        return init

    def start() -> None:
        for kind, fields in WORDED.items():
            name, wording = ("__new__", worded_tuple) if issubclass(kind, tuple) else ("__init__", worded)
            monkeypatch.setattr(kind, name, wording(kind, fields))
        words = DropReason.words.fget  # type: ignore[attr-defined]
        monkeypatch.setattr(DropReason, "words", property(lambda self: other(words(self))))
        for module in (beside, outcomes):
            label = module.label
            monkeypatch.setattr(module, "label", lambda chunking, label=label: other(label(chunking)))

    return start


def of_finding(one: Finding) -> tuple[object, ...]:
    return one.check, one.topic, one.severity, one.about, one.step, one.span, one.grade, one.policy, one.proof


def of_verdict(one: Verdict) -> tuple[object, ...]:
    named = [(guess.name, guess.good, guess.leaves and guess.leaves.at) for guess in one.guesses]
    return one.kind, one.why, one.severity, one.about, one.findings, one.proof, named


def of_case(case: Case, wrong: str) -> Iterator[object]:
    """What is said of a case by its own parser, and of its output read by another one."""
    run = run_case(case, engines=ENGINES)
    yield [of_finding(one) for one in run.findings], run.holding, run.skipped
    given = replace(replayer(case.text()), context=run.context, format=run.format)
    yield of_verdict(verdict(run.findings, run.trace, given))
    yield of_verdict(judged(replayer(case.text(), wrong, run.context)))


@pytest.mark.replays
@pytest.mark.parametrize("share", range(SHARES))
def test_cases_are_judged_alike_in_other_words(share: int, in_other_words: Callable[[], None]) -> None:
    formats = list(builtin_formats())
    texts = [text for path in sorted(ROOT.glob("*.cases.json")) for text in case_texts(path.read_text()).values()]
    chosen = texts[share :: SHARES * ONE_IN]
    assert len(chosen) > 10
    cases = [(loads(text), formats[(number * 7 + 3) % len(formats)]) for number, text in enumerate(chosen)]
    before = [list(of_case(*case)) for case in cases]
    in_other_words()
    for text, case, said in zip(chosen, cases, before, strict=True):
        assert list(of_case(*case)) == said, text


def searched(change: Change) -> CaseFound:
    search = CaseSearch(case_of(TWO), engines=engines(change))
    assert list(search.run())
    return search.result()


@pytest.mark.replays
@pytest.mark.parametrize(
    "change", every(5, [loses_second_call, drops_text_after_call, flushes_angle, loses_brace, fails_on_lone_quote])
)
def test_broken_parsers_are_blamed_alike_in_other_words(change: Change, in_other_words: Callable[[], None]) -> None:
    def said() -> tuple[object, ...]:
        result = searched(change)
        small = result.found.minimized
        assert small is not None
        findings = [of_finding(one) for one in result.found.findings]
        return findings, of_verdict(result.found.verdict), small.check, small.text, small.chunking, small.right

    before = said()
    in_other_words()
    assert said() == before


@pytest.mark.replays
def test_the_other_words_are_really_others(in_other_words: Callable[[], None]) -> None:
    before = judged(replayer("The <tool_call> tag: <tool_call>x</tool_call>", "json"))
    in_other_words()
    after = judged(replayer("The <tool_call> tag: <tool_call>x</tool_call>", "json"))
    assert (before.kind, before.headline.split(":")[0]) == (after.kind, after.headline.split(":")[0])
    assert before.headline != after.headline
