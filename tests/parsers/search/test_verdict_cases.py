"""Over all cases: the right format is guessed first, and named to those who chose another parser."""

from __future__ import annotations

import pytest

from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE
from parsers.search.found import Guess
from parsers.search.guess import guesses
from parsers.search.reading import read
from parsers.search.verdict_evidence import good_calls
from tests.corpus import case_named, case_names
from tests.parsers.search.test_verdict import judged, replayer

pytestmark = pytest.mark.replays


def is_right(guess: Guess | None, name: str) -> bool:
    """Whether the guess is the format of that name, or one that reads the output as it does."""
    return guess is not None and name in (guess.name, *guess.same)


def test_the_right_format_is_the_first_guess_and_the_verdict_on_another_parser_names_it() -> None:
    wrong, tried, missed, judgements = [], 0, [], 0
    others = list(builtin_formats())
    for number, name in enumerate(case_names()):
        case, other = case_named(name), others[(number * 7 + 3) % 45]
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
        if whole and other != own.name and not case.parser.engine:
            judgements += 1
            said = judged(given)
            if said.kind != "wrong_parser" or not is_right(said.guesses[0], own.name):
                missed.append(f"{name} by {other}: {said.kind}")
    assert (tried > 1000, judgements > 750) == (True, True)
    assert len(wrong) <= 0.02 * tried, wrong
    assert len(missed) <= 0.05 * judgements, missed[:20]
