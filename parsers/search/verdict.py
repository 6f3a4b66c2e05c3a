"""The verdict: one sentence on what is wrong with a replay, or that nothing is, for a person who will paste it.

Strategy
    Rules look at the same evidence in a fixed order, the root cause first, and the first one that speaks decides:
    a parser that fails explains what is lost after it; a format that does not fit explains leaks and losses; what
    another chunking reads right is no loss but a matter of chunks; only then is a fault of the parser what its check
    says; and only where no parser is at fault is it the request or the output.

Invariants: exactly one verdict for any evidence; rules choose by types and numbers, never by words; pure and linear in
the output; formats are tried only where markup is left over, a call is missing or not whole, or the parser is at fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from parsers.compare.divergence import ANY_ID, same_message
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Replayer
from parsers.search.evidence import Evidence, harm
from parsers.search.found import Detail, Guess, OutcomeClass, Verdict, VerdictKind, Why
from parsers.search.markup import BODY
from parsers.search.reading import NAME
from parsers.search.verdict_parser import (
    changed_words,
    chunk_boundary,
    is_changed,
    kind_of,
    lowered,
    may_call,
    parser_failed,
    parser_fault,
    unsteady,
    wrong_parser,
)
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding, Proof, Topic, Trace
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted, quoted

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


def _prompt_state(evidence: Evidence) -> Verdict | None:
    """Whether the prompt left reasoning open is not known, and the two answers give different messages."""
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
    """Whether reasoning ends that never began."""
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
    """A call was meant, and no format finds a whole one."""
    if not evidence.doubtful or evidence.good or not may_call(evidence):
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
    """Whether a call was begun, and not only a marker or an object written about."""
    calls, rejected = evidence.message.tool_calls, evidence.trace.rejected_calls
    if calls:
        return not any(call.complete and NAME.fullmatch(call.name) for call in calls)
    named = any(call.name for call in rejected)
    return named or (evidence.attempt is not None and (bool(rejected) or nearest.calls > 0))


def _nearest(evidence: Evidence) -> Guess | None:
    """The parser's own grammar where the output gets into it, else the best guess; None where one reads it."""
    best = evidence.guesses[0] if evidence.guesses else None
    own = None if evidence.fmt is None else evidence.fmt.name
    mine = next((guess for guess in evidence.guesses if guess.name == own and guess.leaves is not None), None)
    if best is None or mine is None or best.good:
        return mine
    return mine if best.score - mine.score < 200 else best


def _server_unparsed(evidence: Evidence) -> Verdict | None:
    """What the server sent is the output itself, where this parser reads calls or reasoning in it."""
    number = next(iter(evidence.numbers(*_SENT)), None)
    if number is None:
        return None
    found, read = evidence.findings[number], _summary(evidence.message)
    sent = f"it sent {_SENT[found.topic]} as content, markup and all"
    words = f"The server ran no parser for this output: {sent}, where {quoted(evidence.trace.parser)} reads {read}."
    return Verdict("server_unparsed", "warning", "request", words, (Detail(_START),), (number,), found.proof)


def _server_departs(evidence: Evidence) -> Verdict | None:
    """What the server sent is not what this parser reads in the same output."""
    numbers = evidence.numbers(Topic.SERVER, severity="warning")
    numbers.sort(key=lambda number: _GRADES.index(evidence.findings[number].grade))
    if not numbers:
        return None
    first = evidence.findings[numbers[0]]
    words = f"The server sent another message than `{evidence.trace.parser}` reads in the same output: "
    details = evidence.messages(numbers[1:])
    return Verdict("server_departs", "warning", "parser", words + lowered(first.message), details, tuple(numbers))


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
    values = [(call, object_of(call.arguments)) for call in message.tool_calls]
    spelled = [
        call if value is None else replace(call, arguments=json.dumps(value, ensure_ascii=False))
        for call, value in values
    ]
    return Message(tool_calls=spelled)


def _lesser_faults(evidence: Evidence) -> Verdict | None:
    """Warnings that the parser is to blame for: white space that depends on cuts, text held too long."""
    found = [
        number
        for number, one in enumerate(evidence.findings)
        if one.severity == "warning" and one.about == "parser" and one.policy is None and one.topic != Topic.TEMPLATE
    ]
    if not found:
        return None
    found.sort(key=lambda number: is_changed(evidence.findings[number]))
    first = evidence.findings[found[0]]
    kind = "chunk_boundary" if first.topic is Topic.CHUNKS else kind_of(first)
    words = changed_words(evidence, first) or first.message
    return Verdict(kind, "warning", "parser", words, evidence.messages(found[1:]), tuple(found), first.proof)


def _missed_calls(evidence: Evidence) -> Verdict | None:
    """A black box finds no call, the format itself does; without declared tools that may be meant."""
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
    """The parser did what it could with what the model wrote, or with what was asked."""
    found = [
        number
        for number, one in enumerate(evidence.findings)
        if one.severity != "info" and one.about != "parser" and one.policy is None
    ]
    if not found:
        return None
    first = evidence.findings[found[0]]
    flaw = _FLAWS.get(first.check, "The output is at fault")
    flaw = "The request is at fault" if first.topic is Topic.BAD_SCHEMA else flaw
    kind: VerdictKind = "types_changed" if first.topic is Topic.VALUE else "output_flawed"
    words, details = f"{flaw}: {lowered(first.message)}", evidence.messages(found[1:])
    return Verdict(kind, first.severity, first.about, words, details, tuple(found), first.proof)


def _all_hold(evidence: Evidence) -> Verdict:
    """Nothing is wrong; notes say what else is worth knowing."""
    calls = evidence.message.tool_calls
    tried = sum([one.count for one in evidence.outcomes])
    under = f" under {counted(tried, 'chunking')}" if tried else ""
    what = counted(len(calls), "complete call") if calls else "a plain answer without calls"
    notes = (*_unknown_marker(evidence), *evidence.messages(range(len(evidence.findings))))
    found = Verdict("all_hold", "pass", None, f"All checks hold: {what}{under}.", notes[:4])
    found.guesses = tuple(evidence.asked[:5])
    return found


def _unknown_marker(evidence: Evidence) -> list[Detail]:
    """A marker of reasoning in the content that the parser does not know."""
    found = _THINK.search(evidence.message.content or "")
    known = () if evidence.fmt is None else evidence.fmt.terminals.values()
    if found is None or found.group() in known:
        return []
    name = quoted(evidence.trace.parser)
    return [Detail(f"{quoted(found.group())} stays in the content: {name} has no such marker of reasoning.")]


_RULES: dict[Why, Callable[[Evidence], Verdict | None]] = {
    Why.CHANCE: unsteady,
    Why.FAILURE: parser_failed,
    Why.OTHER_FORMAT: wrong_parser,
    Why.CHUNKINGS: chunk_boundary,
    Why.FAULT: parser_fault,
    Why.START: _prompt_state,
    Why.NO_CALL: _incomplete,
    Why.UNPARSED: _server_unparsed,
    Why.SERVER: _server_departs,
    Why.LESSER_FAULT: _lesser_faults,
    Why.MISSED_CALLS: _missed_calls,
    Why.TEMPLATE: _template_departs,
    Why.OUTPUT: _flawed_output,
}
