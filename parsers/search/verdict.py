"""The verdict: one sentence on what is wrong with a replay, or that nothing is, for a person who will paste it.

Rules look at the same evidence in a fixed order, the root cause first, and the first one that speaks decides: a parser
that fails explains what is lost after it; a format that does not fit explains leaks and losses; what another chunking
reads right is no loss but a matter of chunks; only then is a fault of the parser what its check says; and only where no
parser is at fault is it the request or the output.

Invariants: exactly one verdict for any evidence; rules choose by types and numbers, never by words; pure and linear in
the output; formats are tried only where markup is left over, a call is missing or not whole, or the parser is at fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from parsers.compare.divergence import ANY_ID, Rules, message_key, same_message
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Replayer
from parsers.search.found import Detail, Guess, OutcomeClass, Verdict, VerdictKind, Why
from parsers.search.markup import BODY, SHORT
from parsers.search.reading import NAME
from parsers.search.sweep import json_of
from parsers.search.verdict_evidence import Evidence, good_calls, harm, under
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Diagnostic, Raised, Severity
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding, Proof, Topic, Trace
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted, listed, quoted

_THINK = re.compile(r"</?(?:think|seed:think|mm:think|longcat_think|reasoning)>|\[/?THINK\]")
_START = (
    "Start it with the parser of this model: `--tool-call-parser` and `--reasoning-parser` of vLLM (with"
    " `--enable-auto-tool-choice`) and of SGLang, `--jinja` of llama.cpp; and send the tools with the request."
)
_SENT = {Topic.OUTPUT_UNPARSED: "the whole output", Topic.CALLS_UNPARSED: "the calls"}
_GRADES = ("calls", "text", "whitespace", None)
_FLAWS = {
    "strings_whole": "Types change by the schema",
    "schema_changes": "Types change by the schema",
    "known_tool": "The model calls a tool that was not declared",
    "arguments_json": "The model wrote arguments that are not a JSON object",
    "arguments_prefix": "The model wrote arguments that are not a JSON object",
    "arguments_schema": "The model's arguments do not fit the schema",
    "no_terminal_leak": "The model wrote a marker as text",
    "spans_cover_input": "The model wrote text that belongs nowhere",
}
_CAUSES = ("N4", "N1", "N2", "N5", "N6")  # a name sent twice is why the deltas depart from the message
_HOSTILE = "Only cuts inside a token show it, which no server makes."
_BY_CHANCE = "Chance decides, or what another instance left behind; what is said of chunkings may come of that."
_FEW_CUTS = 4  # so many cuts can be said one by one
_DOUBT = 180  # a reading that loses more than this dropped text or left markup over: it does not fit either
# What the kind of verdict is that a finding alone would be, by what it is about; the first kinds come first.
_KINDS: Mapping[Topic, VerdictKind] = {
    Topic.FAILURE: "parser_failed",
    Topic.STREAM: "broken_stream",
    Topic.ARGUMENTS: "broken_arguments",
    Topic.LOSS: "text_lost",
    Topic.ADDITION: "text_added",
    Topic.LEAK: "marker_leak",
    Topic.VALUE: "types_changed",
}
_BLAME: Mapping[VerdictKind, str] = {
    "parser_failed": "The parser fails",
    "broken_stream": "The deltas do not build the message",
    "broken_arguments": "The parser breaks the arguments of a call",
    "text_lost": "The parser loses text",
    "text_added": "The parser adds text that is not in the output, or sends it twice",
    "marker_leak": "The parser lets a marker through as text",
    "types_changed": "The parser changes a value",
    "parser_flawed": "The parser breaks a rule",
    "chunk_boundary": "The parser depends on chunk boundaries",
}
# What follows from a wrong parser.
_MISREAD = frozenset((
    "no_terminal_leak", "no_reasoning_leak", "no_argument_leak", "no_control_tokens", "tool_call_dropped",
    "spans_cover_input", "all_output_lost", "arguments_json", "known_tool",
))  # fmt: skip


def verdict(
    findings: Sequence[Finding], trace: Trace, replayer: Replayer, *, outcomes: Sequence[OutcomeClass] = ()
) -> Verdict:
    """The verdict on a replay. `findings` are those of its checks, in the order in which they are numbered from 0.

    `outcomes`: the messages other chunkings gave, number 0 that of `trace`.
    """
    evidence = Evidence(findings, trace, replayer, outcomes)
    for why, rule in _RULES.items():
        if (found := rule(evidence)) is not None:
            found.why, found.guesses = why, tuple(evidence.asked[:5])
            return found
    return _all_hold(evidence)


def _led(
    evidence: Evidence, kind: VerdictKind, words: str, numbers: Sequence[int], *, severity: Severity = "error"
) -> Verdict:
    """A verdict that blames the parser and rests on these findings, the first of which proves it."""
    first = evidence.findings[numbers[0]]
    return Verdict(kind, severity, "parser", words, evidence.messages(numbers[1:]), tuple(numbers), first.proof)


def _unsteady(evidence: Evidence) -> Verdict | None:
    """The same chunking gave two messages: what is said of chunkings may be chance, and nothing else counts."""
    number = next(iter(evidence.numbers(Topic.CHANCE)), None)
    if number is None:
        return None
    found = evidence.findings[number]
    words = f"The parser does not read the same output alike every time: {_lowered(found.message)}"
    return Verdict("parser_flawed", "error", "parser", words, (Detail(_BY_CHANCE),), (number,), found.proof)


def _parser_failed(evidence: Evidence) -> Verdict | None:
    """The parser raised, in the traced replay or under another chunking. (On a changed output: see `_parser_fault`.)"""
    numbers = evidence.numbers(Topic.FAILURE, severity="error")
    numbers.sort(key=lambda number: _is_changed(evidence.findings[number]))
    own, messages = evidence.trace.failure, evidence.messages(numbers)
    raised = [(one, one.raised) for one in evidence.outcomes if one.raised is not None]
    if raised and len(raised) < len(evidence.outcomes):
        one, failure = min(raised, key=lambda pair: _rank(pair[0]))
        cause = failure.words.rstrip(".")
        words = f"The parser fails {under(one.smallest, len(evidence.text))}, with {cause}."
        total, failing = sum([each.count for each in evidence.outcomes]), sum([each.count for each, _ in raised])
        share = Detail(f"{failing:,} of {counted(total, 'chunking')} make it fail.")
        proof = Proof(json_of(one.smallest))
        return Verdict("parser_failed", "error", "parser", words, (share, *messages), tuple(numbers), proof)
    if own is not None:
        at = next(event.start for _, event in evidence.trace.events() if isinstance(event, Raised))
        lost = any(run.reason == LOST for run in evidence.trace.partition)
        rest = f"; the output from character {at} on is lost" if lost else ""
        words = f"The parser fails at character {at} with {own.words.rstrip('.')}{rest}."
        return Verdict("parser_failed", "error", "parser", words, messages, tuple(numbers))
    if not numbers or _is_changed(first := evidence.findings[numbers[0]]):
        return None
    return Verdict("parser_failed", "error", "parser", first.message, messages[1:], tuple(numbers), first.proof)


def _is_changed(finding: Finding) -> bool:
    """Return whether a finding is about a changed output or request, and not about the output as it stands."""
    return finding.proof is not None and bool(finding.proof.edits or finding.proof.context)


def _changed_words(evidence: Evidence, finding: Finding) -> str | None:
    """The sentence for a finding about a changed output: it says that the output as it stands is not the trouble."""
    if not _is_changed(finding):
        return None
    own = evidence.own
    loose = Rules(arguments="json", whitespace="soft", ids=False)
    right = own is not None and message_key(own.message, loose) == message_key(evidence.message, loose)
    always = "" if len(evidence.outcomes) > 1 else " under every chunking"
    how = ("rightly" if right else "alike" if always else "") + always
    proof = finding.proof
    path = proof is not None and evidence.replayer.one_shot is not None and (proof.chunking or {}).get("by") == "whole"
    which = " by the code path for whole outputs" if path else ""
    but = f"This output itself is read {how}; a changed one is not" if how else "A changed output shows a fault"
    return f"{but}{which}: {_lowered(finding.message)}"


def _wrong_parser(evidence: Evidence) -> Verdict | None:
    """Another format reads what this parser's own grammar cannot."""
    if not evidence.doubtful:
        return None
    best = next((guess for guess in evidence.guesses if guess.good), None)
    if best is None or best.score < 1000 * best.good - _DOUBT or _fits(evidence, best):
        return None
    if evidence.attempt is None and not evidence.proven(best):
        return None
    calls = "call" if best.good == 1 else "calls"
    found = f"{best.good} complete {calls}" if best.good > evidence.reach else f"the {calls} and leaves nothing over"
    also = f" (so {'does' if len(best.same) == 1 else 'do'} {listed([quoted(name) for name in best.same])})"
    whose = f"{quoted(best.name)} reads {found} in this output{also if best.same else ''}"
    also = " and leaves markup in the content" if evidence.left else ""
    mine = f"reads {evidence.reach}{also}" if evidence.reach else "reads none"
    words = f"Wrong parser: {whose}, {quoted(evidence.trace.parser)} {mine}."
    numbers = [number for number, one in enumerate(evidence.findings) if one.check in _MISREAD and one.policy is None]
    details = (Detail(f"{best.title}: {'; '.join(best.evidence)}."), *evidence.messages(numbers))
    proof = Proof(parser=best.name)
    severity: Severity = "error" if _may_call(evidence) else "warning"
    return Verdict("wrong_parser", severity, "request", words, details, tuple(numbers), proof)


def _may_call(evidence: Evidence) -> bool:
    """Return whether calls are to be expected: the format has them, or tools are declared."""
    fmt = evidence.fmt
    calls = fmt is None or any("CallStart" in row.emit for state in fmt.states.values() for row in state.rows)
    return calls or bool(evidence.context.tools)


def _fits(evidence: Evidence, best: Guess) -> bool:
    """Return whether the parser's own grammar reads the output as well as the best guess does."""
    own = evidence.fmt
    if own is None:
        return best.good <= evidence.reach or _knows(evidence, best)
    mine = next((guess for guess in evidence.guesses if guess.name == own.name), None)
    reach = max(evidence.reach, 0 if mine is None else mine.good)
    if best.name == own.name or (own.name in best.same and best.good <= reach):
        return True
    if best.good > reach:
        return False
    return not (evidence.left and mine is not None and best.leaves is None and mine.leaves is not None)


def _knows(evidence: Evidence, best: Guess) -> bool:
    """Return whether a parser of an unknown grammar has all the markers of the guess that are in the output."""
    own = evidence.replayer.terminals.values()
    used = [text for text in builtin_formats()[best.name].terminals.values() if len(text) >= SHORT]
    return all(any(text in marker for marker in own) for text in used if text in evidence.text)


def _chunk_boundary(evidence: Evidence) -> Verdict | None:
    """What comes out depends on how the output is cut, by more than white space."""
    numbers = evidence.numbers(Topic.CHUNKS, severity="error")
    others = [one for one in evidence.outcomes[1:] if one.raised is None and one.grade in ("calls", "text")]
    if not others:
        if not numbers:
            return None
        words = f"{_BLAME['chunk_boundary']}: {_lowered(evidence.findings[numbers[0]].message)}"
        return _led(evidence, "chunk_boundary", words, numbers)
    right = _right(evidence)
    wrong = [one for one in evidence.outcomes if message_key(one.message, ANY_ID) != message_key(right.message, ANY_ID)]
    streamed = [one for one in evidence.outcomes if one.raised is None and not evidence.is_one_shot(one)]
    worst = min(wrong or others, key=lambda one: (evidence.is_one_shot(one), *_rank(one)))
    own = evidence.own  # the format's own reading is meant where no chunking gives as many of its calls
    more = own is not None and own.good > good_calls(right.message, evidence.context)
    meant = own.message if own is not None and more else None
    when, damage = under(worst.smallest, len(evidence.text)), harm(meant or right.message, worst.message)
    if len(streamed) == 1:
        when = "read by the one for whole outputs" if evidence.is_one_shot(worst) else "streamed, in whatever deltas"
        words = f"The parser's two code paths disagree: {when}, {damage}."
    else:
        words = f"{_BLAME['chunk_boundary']}: {when}, {damage}."
    hostile = right.honest and not any(one.honest for one in wrong)
    details = [Detail(_shares(evidence, worst, None if meant else right)), *([Detail(_HOSTILE)] if hostile else [])]
    details += evidence.messages(numbers)
    proof = Proof(json_of(worst.smallest))
    return Verdict("chunk_boundary", "error", "parser", words, tuple(details), tuple(numbers), proof)


def _shares(evidence: Evidence, worst: OutcomeClass, right: OutcomeClass | None) -> str:
    total = sum([one.count for one in evidence.outcomes])
    given = f"{worst.count:,} of {counted(total, 'chunking')} {'gives' if worst.count == 1 else 'give'} this"
    if right is None:
        return f"{given}; none gives what the format reads."
    if evidence.is_one_shot(right):
        return f"{given}; the code path for whole outputs gives the right message."
    verb = "gives" if right.count == 1 else "give"
    return f"{given}; {right.count:,} {verb} the right message, e.g. {right.label}."


def _rank(one: OutcomeClass) -> tuple[bool, bool, int, int]:
    """Return what is told of first: what a server can send and a person can say, then the fewest cuts."""
    cuts = len({*(one.smallest.cuts or ())}) if one.smallest.by == "cuts" else 0 if one.smallest.by == "whole" else 99
    plain = cuts <= _FEW_CUTS or one.smallest.by == "token"
    return one.grade == "whitespace", not (one.honest and plain), cuts, one.number


def _right(evidence: Evidence) -> OutcomeClass:
    """The outcome that is right: the grammar's own reading, else the one with most good calls, then most chunkings."""
    read = [one for one in evidence.outcomes if one.raised is None]
    own = None if evidence.own is None else message_key(evidence.own.message, ANY_ID)
    same = next((one for one in evidence.outcomes if message_key(one.message, ANY_ID) == own), None)
    if same is not None and same.raised is None:
        return same
    return max(
        read,
        key=lambda one: (good_calls(one.message, evidence.context), -len(one.message.content or ""), one.count),
    )


def _parser_fault(evidence: Evidence) -> Verdict | None:
    """An error that the parser is to blame for under every chunking."""
    numbers = evidence.numbers(severity="error", about="parser")
    if not numbers:
        return None
    numbers.sort(key=lambda number: _fault_rank(evidence.findings[number]))
    first = evidence.findings[numbers[0]]
    kind = _kind_of(first)
    words = _changed_words(evidence, first) or f"{_BLAME[kind]}: {_lowered(first.message)}"
    found, own = _led(evidence, kind, words, numbers), evidence.own
    if own is not None and message_key(own.message, ANY_ID) != message_key(evidence.message, ANY_ID):
        beside = f"Beside the built-in {own.fmt.name}, {harm(own.message, evidence.message)}."
        found.details = (Detail(beside), *found.details)
    return found


def _fault_rank(finding: Finding) -> tuple[bool, int, int]:
    """The output as it stands before changed ones, then by kind, then the cause before what follows from it."""
    kinds = list(_KINDS)
    place = kinds.index(finding.topic) if finding.topic in _KINDS else len(kinds)
    return _is_changed(finding), place, _CAUSES.index(finding.id) if finding.id in _CAUSES else len(_CAUSES)


def _kind_of(finding: Finding) -> VerdictKind:
    return _KINDS.get(finding.topic, "parser_flawed")


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


def _prompt_state(evidence: Evidence) -> Verdict | None:
    """Return whether the prompt left reasoning open is not known, and the two answers give different messages."""
    context = evidence.context
    if evidence.replayer.plays:
        return None  # it sends the same whatever the prompt was
    found = evidence.numbers(Topic.START)
    if context.prompt_tail is not None or not (found or _orphan(evidence) or _all_reasoning(evidence)):
        return None
    if evidence.message.reasoning and not context.reasoning_open:
        return None  # the output itself says where its reasoning begins
    flipped = not context.reasoning_open
    other = evidence.replayer.with_context(replace(context, reasoning_open=flipped)).outcome(WHOLE)
    if other.raised is not None or same_message(other.message, evidence.message, ANY_ID):
        return None
    words = (
        f"Where the output begins is not known: read as {_begun(flipped)}, {harm(evidence.message, other.message)}; "
        "say with reasoning_open or prompt_tail how the prompt ends."
    )
    details = (
        Detail(f"Read as {_begun(not flipped)}: {_summary(evidence.message)}."),
        Detail(f"As {_begun(flipped)}: {_summary(other.message)}."),
    )
    proof = Proof(context={"reasoning_open": flipped})
    return Verdict("prompt_state_unknown", "warning", "request", words, details, tuple(found), proof)


def _orphan(evidence: Evidence) -> bool:
    if evidence.context.reasoning_open or evidence.message.reasoning:
        return False
    notes = (event for _, event in evidence.trace.events() if isinstance(event, Diagnostic))
    return any(note.code == "orphan_reasoning_end" for note in notes)


def _all_reasoning(evidence: Evidence) -> bool:
    """Reasoning was taken to be open and never ends, though a call seems to stand in it."""
    message = evidence.message
    silent = message.content is None and not message.tool_calls
    return evidence.context.reasoning_open and silent and BODY.search(message.reasoning or "") is not None


def _begun(reasoning: bool) -> str:
    return "reasoning from the start" if reasoning else "content from the start"


def _summary(message: Message) -> str:
    texts = (("reasoning", message.reasoning or ""), ("content", message.content or ""))
    parts = [f"{len(text)} characters of {name}" for name, text in texts if text]
    if message.tool_calls:
        parts.append(counted(len(message.tool_calls), "call"))
    return ", ".join(parts) or "an empty message"


def _incomplete(evidence: Evidence) -> Verdict | None:
    if not evidence.doubtful or evidence.good or not _may_call(evidence):
        return None
    nearest = _nearest(evidence)
    if nearest is None or nearest.leaves is None or not _is_begun(evidence, nearest):
        return None
    leave, size = nearest.leaves, len(evidence.text.rstrip())
    if leave.missing is None and not nearest.calls and leave.at >= size:
        return None  # a whole object that is no call, and so is data
    cut = evidence.context.finish_reason == "length"
    grammar = f"the grammar of {quoted(nearest.name)}"
    place = f"it ends inside {grammar}" if leave.at >= size else f"it leaves {grammar} at character {leave.at}"
    words = f"The output holds no complete call{', cut off by its length limit' if cut else ''}: {place}"
    words += f", where {leave.clause}." if leave.missing else "."
    details = (Detail(f"{nearest.title}: {'; '.join(nearest.evidence)}."),)
    numbers = [n for n, one in enumerate(evidence.findings) if one.about == "output" and one.severity != "info"]
    return Verdict("no_complete_call", "info" if cut else "warning", "output", words, details, tuple(numbers))


def _is_begun(evidence: Evidence, nearest: Guess) -> bool:
    calls, rejected = evidence.message.tool_calls, evidence.trace.rejected_calls
    if calls:
        return not any(call.complete and NAME.fullmatch(call.name) for call in calls)
    named = any(call.name for call in rejected)
    return named or (evidence.attempt is not None and (bool(rejected) or nearest.calls > 0))


def _nearest(evidence: Evidence) -> Guess | None:
    best = evidence.guesses[0] if evidence.guesses else None
    own = None if evidence.fmt is None else evidence.fmt.name
    mine = next((guess for guess in evidence.guesses if guess.name == own and guess.leaves is not None), None)
    if best is None or mine is None or best.good:
        return mine
    return mine if best.score - mine.score < 200 else best


def _server_unparsed(evidence: Evidence) -> Verdict | None:
    number = next(iter(evidence.numbers(*_SENT)), None)
    if number is None:
        return None
    found, read = evidence.findings[number], _summary(evidence.message)
    sent = f"it sent {_SENT[found.topic]} as content, markup and all"
    words = f"The server ran no parser for this output: {sent}, where {quoted(evidence.trace.parser)} reads {read}."
    return Verdict("server_unparsed", "warning", "request", words, (Detail(_START),), (number,), found.proof)


def _server_departs(evidence: Evidence) -> Verdict | None:
    numbers = evidence.numbers(Topic.SERVER, severity="warning")
    if not numbers:
        return None
    numbers.sort(key=lambda number: _GRADES.index(evidence.findings[number].grade))
    words = f"The server sent another message than `{evidence.trace.parser}` reads in the same output: "
    words += _lowered(evidence.findings[numbers[0]].message)
    return replace(_led(evidence, "server_departs", words, numbers, severity="warning"), proof=None)


def _template_departs(evidence: Evidence) -> Verdict | None:
    """The next prompt says other calls than this output. The parser read this output, so the pair is to blame."""
    numbers = evidence.numbers(Topic.TEMPLATE, severity="warning")[:1]
    if not numbers:
        return None
    proof = evidence.findings[numbers[0]].proof or Proof()
    written = evidence.replayer.changed(proof.edits, proof.context).outcome(WHOLE).message
    change = harm(_values(evidence.message), _values(written))
    words = (
        f"The chat template and {quoted(evidence.trace.parser)} do not fit: where the template writes these calls"
        f" for the next prompt, {change}."
    )
    details = evidence.messages(numbers)
    return Verdict("template_departs", "warning", "request", words, details, tuple(numbers), proof)


def _values(message: Message) -> Message:
    """The calls of a message with the arguments as values: how their JSON is spaced is nobody's concern."""
    spelled = []
    for call in message.tool_calls:
        value = object_of(call.arguments)
        text = call.arguments if value is None else json.dumps(value, ensure_ascii=False)
        spelled.append(replace(call, arguments=text))
    return Message(tool_calls=spelled)


def _lesser_faults(evidence: Evidence) -> Verdict | None:
    """Warnings that the parser is to blame for: white space that depends on cuts, text held too long."""
    found = evidence.numbers(severity="warning", about="parser")
    found = [number for number in found if evidence.findings[number].topic != Topic.TEMPLATE]
    if not found:
        return None
    found.sort(key=lambda number: _is_changed(evidence.findings[number]))
    first = evidence.findings[found[0]]
    kind = "chunk_boundary" if first.topic is Topic.CHUNKS else _kind_of(first)
    return _led(evidence, kind, _changed_words(evidence, first) or first.message, found, severity="warning")


def _missed_calls(evidence: Evidence) -> Verdict | None:
    own = evidence.own
    if not evidence.replayer.black_box or own is None or evidence.message.tool_calls or not own.good or own.dropped:
        return None
    if evidence.context.tool_choice == "none":
        return None
    found = f"the built-in {quoted(own.fmt.name)} reads {counted(own.good, 'complete call')}"
    words = f"The parser finds no call in this output, while {found}"
    words += "." if evidence.context.tools else "; no tools are declared, so that may be meant."
    beside = Detail(f"Beside it, {harm(own.message, evidence.message)}.")
    return Verdict("text_lost", "warning", "parser", words, (beside,))


def _flawed_output(evidence: Evidence) -> Verdict | None:
    flaws = [number for about in ("output", "request") for number in evidence.numbers(about=about)]
    found = sorted([number for number in flaws if evidence.findings[number].severity != "info"])
    if not found:
        return None
    first = evidence.findings[found[0]]
    flaw = _FLAWS.get(first.check, "The output is at fault")
    flaw = "The request is at fault" if first.topic is Topic.BAD_SCHEMA else flaw
    kind: VerdictKind = "types_changed" if first.topic is Topic.VALUE else "output_flawed"
    words, details = f"{flaw}: {_lowered(first.message)}", evidence.messages(found[1:])
    return Verdict(kind, first.severity, first.about, words, details, tuple(found), first.proof)


def _all_hold(evidence: Evidence) -> Verdict:
    calls = evidence.message.tool_calls
    tried = sum([one.count for one in evidence.outcomes])
    under = f" under {counted(tried, 'chunking')}" if tried else ""
    what = counted(len(calls), "complete call") if calls else "a plain answer without calls"
    notes = (*_unknown_marker(evidence), *evidence.messages(range(len(evidence.findings))))
    found = Verdict("all_hold", "pass", None, f"All checks hold: {what}{under}.", notes[:4])
    found.guesses = tuple(evidence.asked[:5])
    return found


def _unknown_marker(evidence: Evidence) -> list[Detail]:
    found = _THINK.search(evidence.message.content or "")
    known = () if evidence.fmt is None else evidence.fmt.terminals.values()
    if found is None or found.group() in known:
        return []
    name = quoted(evidence.trace.parser)
    return [Detail(f"{quoted(found.group())} stays in the content: {name} has no such marker of reasoning.")]


_RULES: dict[Why, Callable[[Evidence], Verdict | None]] = {
    Why.CHANCE: _unsteady,
    Why.FAILURE: _parser_failed,
    Why.OTHER_FORMAT: _wrong_parser,
    Why.CHUNKINGS: _chunk_boundary,
    Why.FAULT: _parser_fault,
    Why.START: _prompt_state,
    Why.NO_CALL: _incomplete,
    Why.UNPARSED: _server_unparsed,
    Why.SERVER: _server_departs,
    Why.LESSER_FAULT: _lesser_faults,
    Why.MISSED_CALLS: _missed_calls,
    Why.TEMPLATE: _template_departs,
    Why.OUTPUT: _flawed_output,
}
