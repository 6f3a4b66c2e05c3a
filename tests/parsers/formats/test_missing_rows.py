"""A row that a format lacks: the static check says so, or every character has its one owner under every chunking."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pytest

from parsers.formats.lint import lint
from parsers.formats.model import Format, builtin_formats, policy_values, row_ids
from parsers.replays.chunking import Chunking
from parsers.vocabulary.types import Context
from tests.amount import TIMES, every
from tests.corpus import case_named, case_names
from tests.parsers.properties.invariants import Run, as_ids, as_text, check
from tests.parsers.properties.strategies import JSON_BITS, TOOLS, WORDS, marker_texts

pytestmark = pytest.mark.replays

OUTPUTS = min(80, 10 * TIMES)  # that are tried on each format, besides its cases
TRIED = 2  # of those in which a row fires, on the format without that row
LONGEST = 600


def without(fmt: Format, state: str, index: int) -> Format:
    """The format without one row."""
    rows = [row for number, row in enumerate(fmt.states[state].rows) if number != index]
    changed = fmt.states[state].model_copy(update={"rows": tuple(rows)})
    return fmt.model_copy(update={"states": {**fmt.states, state: changed}})


def damaged(fmt: Format, texts: Sequence[str], source: random.Random) -> Iterator[str]:
    """Outputs of cases with parts left out, doubled, and put in from the format's own notation."""
    bits = (*marker_texts(fmt), *JSON_BITS, *WORDS)
    while True:
        text = source.choice(texts)
        for _ in range(source.randint(1, 3)):
            start = source.randint(0, len(text))
            end = min(len(text), start + source.randint(0, 12))
            new = source.choice(("", "", text[start:end] * 2, source.choice(bits)))
            text = text[:start] + new + text[end:]
        yield text if source.random() < 0.7 else "".join(source.choices(bits, k=source.randint(2, 14)))


def run_of(fmt: Format, text: str, source: random.Random) -> Run:
    """The output under some policies and some request, as typed text or by its ids."""
    policy = {name: source.choice(policy_values()[name]) for name in fmt.policies if source.random() < 0.3}
    opened = source.random() < 0.3
    context = Context(
        tools=source.choice(TOOLS), reasoning_open=opened, finish_reason=source.choice([None, "stop", "length"])
    )
    if not fmt.tokens or source.random() < 0.6:
        return Run(fmt, as_text(text), policy, context)
    markers = {marker: 1000 + index for index, marker in enumerate(fmt.tokens)}
    special = {marker: token.special for marker, token in fmt.tokens.items()}
    return Run(fmt, as_ids(text, markers, special, source.choice((0, 0, 5))), policy, context, "ids", markers)


def runs_by_row(fmt: Format, source: random.Random) -> Mapping[str, list[Run]]:
    """The outputs in which each row fires: without it, all others are read as before."""
    texts = [case_named(name).text() for name in case_names(fmt.name)]
    texts = [text for text in dict.fromkeys((fmt.example, *texts)) if len(text) < LONGEST]
    found = defaultdict(list)
    changed = damaged(fmt, texts, source)
    for text in (*texts, *[next(changed) for _ in range(OUTPUTS)]):
        run = run_of(fmt, text, source)
        trace = run.trace(Chunking(by="whole"))
        for row in {move.row for step in trace.steps for move in step.transitions}:
            found[row].append(run)
    return found


@pytest.mark.parametrize("name", builtin_formats())
def test_without_a_row_the_check_has_an_error_or_no_character_is_lost(name: str) -> None:
    fmt, source = builtin_formats()[name], random.Random(name)
    runs, errors, rows = runs_by_row(fmt, source), 0, every(40, row_ids(fmt).items(), start=len(name))
    for (state, index), row in rows:
        lacking = without(fmt, state, index)
        if any(finding.severity == "error" for finding in lint(lacking)):
            errors += 1
            continue
        for run in source.sample(runs[row], min(TRIED, len(runs[row]))):
            changed = Run(lacking, run.pieces, run.policy, run.context, run.mode, run.markers)
            check(changed, seed=index, cuts=(len(run.text) // 2,))
    assert errors or len(rows) < len(row_ids(fmt))  # none of a share need be one that the check asks for
