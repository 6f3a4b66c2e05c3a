"""Over a ninth of the cases, or all: the right format is guessed first, and named to those who chose another parser."""

from __future__ import annotations

from itertools import product

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import characters, replayer_of, run_case
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE
from parsers.search.found import Guess
from parsers.search.guess import guesses
from parsers.search.reading import read
from parsers.search.verdict import verdict
from parsers.search.verdict_evidence import good_calls
from parsers.selection.registry import Evidence, select
from tests.amount import TIMES, every
from tests.corpus import case_named, case_names
from tests.parsers.search.test_verdict import judged, replayer

pytestmark = pytest.mark.replays

ONE_IN = 9  # odd: every share has cases of either parity


@pytest.mark.parametrize("name", builtin_formats())
def test_a_verdict_and_auto_agree_and_what_was_said_of_the_prompt_is_not_called_unknown(name: str) -> None:
    text = builtin_formats()[name].example
    both = [*product(("auto", "passthrough", "mistral"), ({}, {"reasoning_open": False}, {"reasoning_open": True}))]
    for parser, given in every(8, both, start=len(name)):
        case = load_case({"schema": 1, "parser": {"name": parser}, "input": {"text": text}, "context": given})
        run, replays = run_case(case, compare=False), replayer_of(case, choose(case), characters(text))
        said = verdict(run.findings, run.trace, replays)
        assert not (given and said.kind == "prompt_state_unknown"), said.headline
        if said.kind == "wrong_parser":
            assert (parser != "auto", said.proof and said.proof.parser) == (True, select(Evidence(text=text)).name)


def is_right(guess: Guess | None, name: str) -> bool:
    """Whether the guess is the format of that name, or one that reads the output as it does."""
    return guess is not None and name in (guess.name, *guess.same)


@pytest.mark.parametrize("share", range(min(TIMES, ONE_IN)))
def test_the_right_format_is_the_first_guess_and_the_verdict_on_another_parser_names_it(share: int) -> None:
    wrong, tried, missed, judgements = [], 0, [], 0
    others = list(builtin_formats())
    for number, name in [*enumerate(case_names())][share::ONE_IN]:
        case, other = case_named(name), others[(number * 7 + 3) % len(others)]
        context, own = case.to_context(), builtin_formats().get(case.parser.name)
        if own is None or case.parser.format or context.tool_choice == "none":
            continue
        right = read(own, case.text(), context)
        if not right.good:
            continue
        tried += 1
        found = guesses(case.text(), context)
        if not is_right(found[0], own.name):
            wrong.append(f"{name}: {found[0].name}")
        given = replayer(case.text(), other, context)
        whole = right.good == len(right.message.tool_calls) > good_calls(given.trace(WHOLE).message, context)
        if whole and other != own.name and not case.parser.engine and number % 2:
            judgements += 1
            said = judged(given)
            if said.kind != "wrong_parser" or not is_right(said.guesses[0], own.name):
                missed.append(f"{name} by {other}: {said.kind}")
    assert (tried > 1000 / ONE_IN, judgements > 375 / ONE_IN) == (True, True)
    assert len(wrong) <= 0.02 * tried, wrong
    assert len(missed) <= 0.05 * judgements, missed[:20]
