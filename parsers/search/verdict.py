"""The verdict: one sentence on what is wrong with a replay, or that nothing is, for a person who will paste it.

Rules look at the same evidence in a fixed order, the root cause first, and the first one that speaks decides. A rule
names what must be known of the output, and is silent without it; so is a detail. What is no output is said first; a
parser that fails explains what is lost after it; a format that does not fit explains leaks and losses; what another
chunking reads right is no loss but a matter of chunks; only then is a fault of the parser what its check says; and only
where no parser is at fault is it the request or the output.

Invariants: exactly one verdict for any evidence; rules choose by types and numbers, never by words; pure and linear in
the output; formats are tried only where markup is left over, a call is missing or not whole, or the parser is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from parsers.checks.known import Fact, Known, Tokens, known_of
from parsers.replays.replayer import Replayer
from parsers.search.found import Detail, OutcomeClass, Verdict, Why
from parsers.search.no_output import looks_pasted, no_output, perhaps_no_output
from parsers.search.verdict_blame import lesser_faults, missed_calls, parser_failed, parser_fault, unsteady
from parsers.search.verdict_cuts import assumed_boundary, chunk_boundary
from parsers.search.verdict_evidence import Evidence
from parsers.search.verdict_faults import first_fault, mended
from parsers.search.verdict_formats import stray_markup, wrong_parser
from parsers.search.verdict_outputs import (
    cut_call,
    incomplete,
    prompt_state,
    unanswered,
    unfinished_json,
)
from parsers.search.verdict_passes import all_hold, by_contract, nothing_to_parse
from parsers.search.verdict_recordings import (
    left_markup,
    recording_cut,
    recording_torn,
    recording_unended,
    server_failed,
)
from parsers.search.verdict_servers import server_departs, server_unparsed, template_departs
from parsers.vocabulary.trace import Finding, Trace


def verdict(
    findings: Sequence[Finding],
    trace: Trace,
    replayer: Replayer,
    *,
    outcomes: Sequence[OutcomeClass] = (),
    held: int | None = None,
    known: Known | None = None,
) -> Verdict:
    """The verdict on a replay. `findings` are those of its checks, in the order in which they are numbered from 0.

    `outcomes`: the messages other chunkings gave, number 0 that of `trace`. `held`: how many checks hold. `known`: what
    may be said, worked out from the replayer where nobody says.
    """
    evidence = Evidence(findings, trace, replayer, outcomes, known or known_of(replayer), held=held)
    for why, rule in _RULES.items():
        if evidence.known.has(*rule.needs) and (found := rule.speak(evidence)) is not None:
            found.why, found.guesses = why, tuple(evidence.asked[:5])
            found.facts |= frozenset(rule.needs)
            found.details = (*(looks_pasted(evidence) if why not in _OF_PASTED else ()), *found.details)
            break
    else:
        found = all_hold(evidence)
    if found.span is None and found.findings and evidence.known.raw:
        found.span = evidence.findings[found.findings[0]].span
    found.facts |= evidence.rests_on(found.findings[:1])
    found.details += tuple(
        [*by_contract(evidence), *_by_characters(evidence)] if found.why is not Why.NO_OUTPUT else []
    )
    found.details = tuple([detail for detail in found.details if evidence.known.has(*detail.facts)])
    return found


def first_look(findings: Sequence[Finding], trace: Trace, replayer: Replayer, *, held: int) -> Verdict | None:
    """What is known before a search, for instance that the output ends where it must not; None where its rule waits for
    the search, which alone says whether other chunkings give another message. Arguments as those of `verdict`."""
    found = verdict(findings, trace, replayer, held=held)
    rule = _RULES.get(found.why)
    return None if rule is None or rule.searched else found


def _by_characters(evidence: Evidence) -> list[Detail]:
    """Say that characters stood in for tokens, where chunkings were tried."""
    if not evidence.outcomes or not evidence.known.parser or evidence.known.tokens is not Tokens.CHARACTERS:
        return []
    words = "No tokens were given: each character is taken for one, which is an assumption about the model's tokenizer."
    return [Detail(words, facts=frozenset((Fact.RAW, Fact.PARSER)))]


class _Rule(NamedTuple):
    """Says what a verdict may be, and what must be known of the output for that. `searched`: only a search can say so,
    or only after it has tried the chunkings."""

    speak: Callable[[Evidence], Verdict | None]
    needs: tuple[Fact, ...] = ()
    searched: bool = False


_RULES: Mapping[Why, _Rule] = {
    Why.ERROR: _Rule(server_failed, (Fact.STREAM,)),
    Why.NO_OUTPUT: _Rule(no_output),
    Why.CHANCE: _Rule(unsteady, (Fact.PARSER,), searched=True),
    Why.FAILURE: _Rule(parser_failed, (Fact.PARSER,)),
    Why.OTHER_FORMAT: _Rule(wrong_parser, (Fact.RAW, Fact.PARSER)),
    Why.CHUNKINGS: _Rule(chunk_boundary, (Fact.RAW, Fact.PARSER), searched=True),
    Why.LEFT: _Rule(left_markup, (Fact.STREAM,)),
    Why.FAULT: _Rule(parser_fault, searched=True),
    Why.CUT: _Rule(recording_cut, (Fact.STREAM,)),
    Why.UNPARSED: _Rule(server_unparsed, (Fact.RAW, Fact.STREAM)),
    Why.START: _Rule(prompt_state, (Fact.RAW, Fact.PARSER)),
    Why.NO_CALL: _Rule(incomplete, (Fact.RAW,)),
    Why.SERVER: _Rule(server_departs, (Fact.RAW, Fact.STREAM)),
    Why.ASSUMED: _Rule(assumed_boundary, (Fact.RAW, Fact.PARSER), searched=True),
    Why.MISSED_CALLS: _Rule(missed_calls, (Fact.RAW, Fact.PARSER, Fact.GRAMMAR), searched=True),
    Why.LESSER_FAULT: _Rule(lesser_faults, searched=True),
    Why.TEMPLATE: _Rule(template_departs, (Fact.PARSER,)),
    Why.OUTPUT: _Rule(first_fault),
    Why.UNENDED: _Rule(recording_unended, (Fact.RAW, Fact.STREAM)),
    Why.MENDED: _Rule(mended, (Fact.RAW, Fact.PARSER, Fact.GRAMMAR)),
    Why.UNANSWERED: _Rule(unanswered),
    Why.STRAY: _Rule(stray_markup, (Fact.RAW, Fact.PARSER, Fact.GRAMMAR)),
    Why.UNFINISHED: _Rule(unfinished_json),
    Why.CUT_CALL: _Rule(cut_call, (Fact.RAW, Fact.PARSER)),
    Why.TORN: _Rule(recording_torn, (Fact.STREAM,)),
    Why.DOUBTFUL: _Rule(perhaps_no_output, (Fact.RAW,)),
    Why.UNMARKED: _Rule(nothing_to_parse, (Fact.RAW, Fact.PARSER)),
}
_OF_PASTED = (Why.NO_OUTPUT, Why.DOUBTFUL)  # these say what a text looks like
