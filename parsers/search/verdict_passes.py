"""The verdicts without a fault: all checks hold, with what was judged, or there is nothing to judge."""

from __future__ import annotations

import re
from dataclasses import replace

from parsers.checks.causes import flattened
from parsers.checks.metamorphic_request import SAME_CALLS
from parsers.compare.divergence import same_message
from parsers.formats.contract_words import policy_words
from parsers.formats.contracts import contract_keys
from parsers.search.found import Detail, Verdict
from parsers.search.markup import is_marked
from parsers.search.no_output import is_written, looks_pasted
from parsers.search.pasted import look
from parsers.search.verdict_evidence import BESIDE, Evidence
from parsers.search.verdict_phrases import harm
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.trace import Topic
from parsers.vocabulary.words import counted, listed, quoted

_EXPECTED = (
    "If it was to hold a call, or is about an output, paste what the model wrote, with its special tokens, or what the"
    " server sent."
)
_SENTENCE = re.compile(r"\w\W?[.!?](?:\s|\Z)|[\u3002\uff01\uff1f\u0964]")
_THINK = re.compile(r"</?(?:think|thinking|thought|seed:think|mm:think|longcat_think|reasoning)>|\[/?THINK\]|◁/?think▷")


def nothing_to_parse(evidence: Evidence) -> Verdict | None:
    """Nothing is known of a text but its words, and none of them is for a parser: prose, a report, a page.

    Who wrote it nobody can say, and every parser passes it on as it is, so that all checks hold proves nothing.
    """
    context, content = evidence.context, evidence.message.content
    told = evidence.known.start or context.tool_choice != "auto" or is_written(evidence.replayer)
    if told or evidence.replayer.black_box:
        return None
    if content != evidence.text or evidence.findings or is_marked(content) or _THINK.search(content):
        return None
    holds = f"If a model wrote it, it is a plain answer, and all checks hold{_judged(evidence)}."
    words = "Nothing in this text is for a parser: no call, no reasoning, no marker of a known format."
    notes = () if look(content) is not None else (Detail(f"It looks like {_form_of(content)}."), Detail(_EXPECTED))
    return Verdict("nothing_to_parse", "info", "request", words, (Detail(holds), *notes))


def _form_of(text: str) -> str:
    """Return what a text without anything for a parser is, by its form."""
    words, lines = text.split(), text.split("\n")
    if _SENTENCE.search(text) or len(words) > _FEW_WORDS:
        return "prose, as answers, reports, mails and pages are"
    if len(words) < 2:
        return "a single word or value"
    return "a few words" if sum([bool(line.strip()) for line in lines]) < 2 else "lines of a few words"


_FEW_WORDS = 8  # so many in a row are a sentence, with or without its point


def all_hold(evidence: Evidence) -> Verdict:
    """No rule has anything to say."""
    notes, beside = (*looks_pasted(evidence), *_unknown_marker(evidence)), _beside_builtin(evidence)
    if beside and not evidence.known.parser:
        return _other_calls(evidence)
    notes += (*beside, *evidence.messages(range(len(evidence.findings))), *_departures(evidence))
    words = f"All checks hold: {_calls_words(evidence)}{_differing(evidence)}{_judged(evidence)}."
    found = Verdict("all_hold", "pass", None, words, notes[:4])
    found.guesses = tuple(evidence.asked[:5])
    return found


def _other_calls(evidence: Evidence) -> Verdict:
    """What was played back keeps every rule, and has other calls than the output that is known beside it."""
    own = evidence.own
    assert own is not None  # the calls were compared
    words = f"The server sent another message than {quoted(own.fmt.name)} reads in the same output: "
    words += f"{harm(own.message, evidence.message)}."
    return Verdict("server_departs", "warning", "parser", words, facts=BESIDE)


def _calls_words(evidence: Evidence) -> str:
    calls, is_cut = evidence.message.tool_calls, evidence.trace.finish_reason == "length"
    whole, bare = sum([call.complete for call in calls]), 0
    closed = _is_closed_by_parser(evidence)
    whole -= closed
    if not is_cut and not evidence.known.raw:  # a server may send no text for no arguments
        bare = sum([not call.complete and not call.arguments for call in calls])
    cut = len(calls) - whole - bare - closed
    parts = [counted(whole, "complete call")] * (whole > 0) + [f"{counted(bare, 'call')} without arguments"] * (
        bare > 0
    )
    parts += [f"{counted(cut, 'call')} cut off"] * (cut > 0)
    by = f"the contract {quoted(evidence.replayer.contract.name)}"
    parts += [f"1 call that the output cuts off, which {by} lets the parser complete"] * closed
    return listed(parts) if parts else _no_calls_words(evidence, by)


def _differing(evidence: Evidence) -> str:
    """Say what the message depends on, where the contract allows each that comes of it: how the output is cut, or which
    of an engine's code paths reads it."""
    allowed = {one.check for one in evidence.findings if one.topic is Topic.CHUNKS and one.policy is not None}
    paths = evidence.replayer.one_shot is not None and allowed == {"whole_equals_streamed"}
    where = "by both code paths" if paths else "under all chunkings"
    by = f"as the contract {quoted(evidence.replayer.contract.name)} allows"
    return f", not the same {where}, {by}" if allowed else ""


def _is_closed_by_parser(evidence: Evidence) -> bool:
    """Return whether the last call is whole because the parser closes what the output cuts off."""
    own, calls = evidence.own, evidence.message.tool_calls
    if own is None or evidence.allowed is None or len(calls) != len(own.message.tool_calls):
        return False
    return bool(calls) and calls[-1].complete and not own.message.tool_calls[-1].complete


def _no_calls_words(evidence: Evidence, by: str) -> str:
    """What an answer without calls is: a plain one, or one whose calls the contract makes text or leaves out."""
    own, content = evidence.own, evidence.message.content or ""
    calls = () if own is None or evidence.allowed is None else own.message.tool_calls
    if not calls:
        return "a refusal" if _is_refusal(evidence) else "a plain answer without calls"
    stands = all(call.name in content for call in calls)
    many, verb = counted(len(calls), "call"), "stands" if len(calls) == 1 else "stand"
    if stands:
        return f"no calls, for the markup of {many} {verb} in the content, as {by} allows ({evidence.allowed})"
    return f"no calls, for {many} of the output {'is' if len(calls) == 1 else 'are'} left out, as {by} allows"


def _is_refusal(evidence: Evidence) -> bool:
    notes = (event for _, event in evidence.trace.events() if isinstance(event, Diagnostic))
    return any(note.code == "refusal" for note in notes)


def _judged(evidence: Evidence) -> str:
    """Return what the checks were run on, and how many, in brackets: only as much holds."""
    known, tried = evidence.known, sum([one.count for one in evidence.outcomes])
    on = ["the output"] * known.raw + ["what the server sent"] * (not known.parser)
    on += [counted(tried, "chunking")] * (known.parser and tried > 0)
    checks = "" if evidence.held is None else f"{counted(evidence.held, 'check')} on {listed(on)}"
    unknown = "" if known.raw else "the raw output is unknown"
    judged = "; ".join([words for words in (checks, unknown) if words])
    return f" ({judged})" if judged else ""


def _beside_builtin(evidence: Evidence) -> list[Detail]:
    """Return how the calls of a foreign parser differ from the built-in reading, where no contract is about that: a
    note, for which of them the model means nobody says."""
    own, message = evidence.own, evidence.message
    if own is None or not evidence.replayer.black_box or evidence.allowed is not None:
        return []
    right, given = (replace(one, reasoning=None, content=None) for one in (own.message, message))
    if same_message(right, given, SAME_CALLS):
        return []
    return [Detail(f"Beside the built-in {own.fmt.name}, {harm(own.message, message)}.", facts=BESIDE)]


def by_contract(evidence: Evidence) -> list[Detail]:
    """Return what the contract decides: what it allows a parser that is not ours, else the keys that findings name."""
    own, contract = evidence.own, evidence.replayer.contract
    if own is not None and evidence.allowed is not None:
        change = harm(own.message, evidence.message)
        words = f"Beside the built-in {own.fmt.name}, {change}; the contract {quoted(contract.name)} allows that"
        return [Detail(f"{words} ({evidence.allowed}).", facts=BESIDE)]
    every = flattened(evidence.findings)
    told = [policy for one in every if one.policy is not None for policy in one.policy.split(", ")]
    named = {key for key in contract_keys() if contract.values(key)}
    keys = dict.fromkeys([policy for policy in told if policy.partition("=")[0] in named])
    if not keys or any(one.topic is Topic.PROMISE for one in every):  # that one names the contract
        return []
    decided = "; and of ".join([policy_words(key) for key in keys])
    return [Detail(f"The contract {quoted(contract.name)} decides what becomes of {decided}.")]


# What the built-in parsers note of outputs that are as their format has them, or that is said in other words anyway.
_NO_DEPARTURE = frozenset(
    {"mentioned_marker", "other_recipient", "developer_message", "orphan_reasoning_end", "truncated_call"}
)


def _departures(evidence: Evidence) -> list[Detail]:
    """Where the output itself is not as its format has it, as far as the built-in parser says so while it reads."""
    if evidence.replayer.black_box or evidence.replayer.plays:
        return []
    noted = [one for _, one in evidence.trace.columns.diagnostics() if one.message and one.code not in _NO_DEPARTURE]
    if not noted:
        return []
    others = f" So does it in {counted(len(noted) - 1, 'more place')}." if len(noted) > 1 else ""
    said = noted[0].message.rstrip(".")
    return [Detail(f"The output departs from its format at character {noted[0].start}: {said}.{others}")]


def _unknown_marker(evidence: Evidence) -> list[Detail]:
    found = _THINK.search(evidence.message.content or "")
    known = () if evidence.fmt is None else evidence.fmt.terminals.values()
    if found is None or found.group() in known or not evidence.known.parser:
        return []
    name = quoted(evidence.trace.parser)
    return [Detail(f"{quoted(found.group())} stays in the content: {name} has no such marker of reasoning.")]
