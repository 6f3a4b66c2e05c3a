"""The verdict: one sentence on what is wrong with a replay, or that nothing is, for a person who will paste it.

Strategy
    Rules look at the same evidence in a fixed order, the root cause first, and the first one that speaks decides:
    a parser that fails explains what is lost after it; a format that does not fit explains leaks and losses; what
    another chunking reads right is no loss but a matter of chunks; only then is a fault of the parser what its check
    says; and only where no parser is at fault is it the request or the output.

Invariants: exactly one verdict for any evidence; pure and linear in the output; formats are tried only where markup is
left over, a call is missing or not whole, or the parser is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from parsers.replayer import Replayer
from parsers.search.found import Guess, OutcomeClass, Verdict
from parsers.search.verdict_case import Evidence
from parsers.search.verdict_output import (
    all_hold,
    flawed_output,
    incomplete,
    lesser_faults,
    missed_calls,
    prompt_state,
    server_departs,
    server_unparsed,
    template_departs,
)
from parsers.search.verdict_parser import chunk_boundary, parser_failed, parser_fault, unsteady, wrong_parser
from parsers.trace import Finding, Trace

RULES: tuple[Callable[[Evidence], Verdict | None], ...] = (
    unsteady,
    parser_failed,
    wrong_parser,
    chunk_boundary,
    parser_fault,
    prompt_state,
    incomplete,
    server_unparsed,
    server_departs,
    lesser_faults,
    missed_calls,
    template_departs,
    flawed_output,
)


def verdict(
    findings: Sequence[Finding],
    trace: Trace,
    replayer: Replayer,
    *,
    outcomes: Sequence[OutcomeClass] = (),
    guesses: Sequence[Guess] | None = None,
) -> Verdict:
    """The verdict on a replay. `findings` are those of its checks, in the order in which they are numbered from 0.

    `outcomes`: the messages other chunkings gave, number 0 that of `trace`. `guesses`: what the formats make of the
    output where that is known already; else they are asked when it matters.
    """
    evidence = Evidence(findings, trace, replayer, outcomes, guesses)
    said = next((given for rule in RULES if (given := rule(evidence)) is not None), None) or all_hold(evidence)
    said.guesses = tuple(evidence.asked[:5])
    return said
