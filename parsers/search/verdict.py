"""Verdicts that leave the parser alone: the request, the output, or nothing at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from parsers.checks.check import counted
from parsers.compare.divergence import ANY_ID, same_message
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Replayer
from parsers.search.found import Guess, OutcomeClass, Verdict
from parsers.search.guess_read import BODY, NAME, quoted
from parsers.search.verdict_case import CHUNKS, Evidence, harm
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
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Message

THINK = re.compile(r"</?(?:think|seed:think|mm:think|longcat_think|reasoning)>|\[/?THINK\]")
STATE = ("R1", "R2")
CHANGED = ("Y2", "Y3")
TEMPLATE = "M4"
START = (
    "Start it with the parser of this model: `--tool-call-parser` and `--reasoning-parser` of vLLM (with"
    " `--enable-auto-tool-choice`) and of SGLang, `--jinja` of llama.cpp; and send the tools with the request."
)
SAID = {
    **dict.fromkeys(CHANGED, "Types change by the schema"),
    "N3": "The model calls a tool that was not declared",
    "J1": "The model wrote arguments that are not a JSON object",
    "J2": "The model wrote arguments that are not a JSON object",
    "Y1": "The model's arguments do not fit the schema",
    "L1": "The model wrote a marker as text",
    "A1": "The model wrote text that belongs nowhere",
}


def prompt_state(evidence: Evidence) -> Verdict | None:
    """Whether the prompt left reasoning open is not known, and the two answers give different messages."""
    context = evidence.context
    if evidence.replayer.plays:
        return None  # it sends the same whatever the prompt was
    found = evidence.numbers(*STATE)
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
    said = (
        f"Read as {_begun(not flipped)}: {_summary(evidence.message)}.",
        f"As {_begun(flipped)}: {_summary(other.message)}.",
    )
    proof = Proof(context={"reasoning_open": flipped})
    return Verdict("prompt_state_unknown", "warning", "request", words, said, tuple(found), proof)


def _orphan(evidence: Evidence) -> bool:
    codes = [event.code for _, event in evidence.trace.events() if isinstance(event, Diagnostic)]
    if evidence.context.reasoning_open or evidence.message.reasoning:
        return False
    return "orphan_reasoning_end" in codes


def _all_reasoning(evidence: Evidence) -> bool:
    """Reasoning was taken to be open and never ends, though a call seems to stand in it."""
    message = evidence.message
    silent = message.content is None and not message.tool_calls
    return evidence.context.reasoning_open and silent and BODY.search(message.reasoning or "") is not None


def _begun(reasoning: bool) -> str:
    return "reasoning from the start" if reasoning else "content from the start"


def _summary(message: Message) -> str:
    parts = [f"{len(text)} characters of {name}" for name, text in _channels(message) if text]
    if message.tool_calls:
        parts.append(counted(len(message.tool_calls), "call"))
    return ", ".join(parts) or "an empty message"


def _channels(message: Message) -> tuple[tuple[str, str], ...]:
    return ("reasoning", message.reasoning or ""), ("content", message.content or "")


def incomplete(evidence: Evidence) -> Verdict | None:
    """A call was meant, and no format finds a whole one."""
    if not evidence.doubtful or evidence.good or not may_call(evidence):
        return None
    nearest = _nearest(evidence)
    if nearest is None or nearest.leaves_at is None or not _meant(evidence, nearest):
        return None
    if nearest.missing is None and not nearest.calls and nearest.leaves_at >= len(evidence.text.rstrip()):
        return None  # a whole object that is no call, and so is data
    cut = evidence.context.finish_reason == "length"
    words = f"The output holds no complete call{', cut off by its length limit' if cut else ''}: "
    grammar, at = quoted(nearest.name), nearest.leaves_at
    ends = at >= len(evidence.text.rstrip())
    words += (
        f"it ends inside the grammar of {grammar}" if ends else f"it leaves the grammar of {grammar} at character {at}"
    )
    words += f", where {_missing(nearest.missing)}." if nearest.missing else "."
    said = (f"{nearest.title}: {'; '.join(nearest.evidence)}.",)
    numbers = [n for n, one in enumerate(evidence.findings) if one.about == "output" and one.severity != "info"]
    return Verdict("no_complete_call", "info" if cut else "warning", "output", words, said, tuple(numbers))


def _missing(words: str) -> str:
    """What is missing, as a clause: a marker that is spelled wrongly is not missing."""
    return words if " is spelled " in words else f"{words} is missing"


def _meant(evidence: Evidence, nearest: Guess) -> bool:
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
    mine = next((guess for guess in evidence.guesses if guess.name == own and guess.leaves_at is not None), None)
    if best is None or mine is None or best.good:
        return mine
    return mine if best.score - mine.score < 200 else best


def server_unparsed(evidence: Evidence) -> Verdict | None:
    """What the server sent is the output itself, where this parser reads calls or reasoning in it."""
    number = next(iter(evidence.numbers("K2")), None)
    found = None if number is None else evidence.findings[number]
    if number is None or found is None or found.about != "request":
        return None
    sent, read = found.message.partition(":")[0].removeprefix("The server "), _summary(evidence.message)
    words = f"The server ran no parser for this output: it {sent}, where {quoted(evidence.trace.parser)} reads {read}."
    return Verdict("server_unparsed", "warning", "request", words, (START,), (number,), found.proof)


def server_departs(evidence: Evidence) -> Verdict | None:
    """What the server sent is not what this parser reads in the same output."""
    grades = ("calls", "text", "whitespace", None)
    numbers = evidence.numbers("K2", severity="warning")
    numbers.sort(key=lambda number: grades.index(evidence.findings[number].grade))
    if not numbers:
        return None
    first, *others = [evidence.findings[number] for number in numbers]
    words = f"The server sent another message than `{evidence.trace.parser}` reads in the same output: "
    said = tuple([one.message for one in others[:4]])
    return Verdict("server_departs", "warning", "parser", words + lowered(first.message), said, tuple(numbers))


def template_departs(evidence: Evidence) -> Verdict | None:
    """The next prompt says other calls than this output. The parser read this output, so the pair is to blame."""
    number = next(iter(evidence.numbers(TEMPLATE, severity="warning")), None)
    if number is None:
        return None
    found = evidence.findings[number]
    proof = found.proof or Proof()
    written = evidence.replayer.changed(proof.edits, proof.context).outcome(WHOLE).message
    change = harm(_values(evidence.message), _values(written))
    words = (
        f"The chat template and {quoted(evidence.trace.parser)} do not fit: where the template writes these calls"
        f" for the next prompt, {change}."
    )
    return Verdict("template_departs", "warning", "request", words, (found.message,), (number,), proof)


def _values(message: Message) -> Message:
    """The calls of a message with the arguments as values: how their JSON is spaced is nobody's concern."""
    values = [(call, object_of(call.arguments)) for call in message.tool_calls]
    spelled = [
        call if value is None else replace(call, arguments=json.dumps(value, ensure_ascii=False))
        for call, value in values
    ]
    return Message(tool_calls=spelled)


def lesser_faults(evidence: Evidence) -> Verdict | None:
    """Warnings that the parser is to blame for: white space that depends on cuts, text held too long."""
    found = [
        number
        for number, one in enumerate(evidence.findings)
        if one.severity == "warning" and one.about == "parser" and one.policy is None and one.id != TEMPLATE
    ]
    if not found:
        return None
    found.sort(key=lambda number: is_changed(evidence.findings[number]))
    first = evidence.findings[found[0]]
    said = tuple([evidence.findings[number].message for number in found[1:5]])
    kind = "chunk_boundary" if first.id in CHUNKS else kind_of(first)
    words = changed_words(evidence, first) or first.message
    return Verdict(kind, "warning", "parser", words, said, tuple(found), first.proof)


def missed_calls(evidence: Evidence) -> Verdict | None:
    """A black box finds no call, the format itself does; without declared tools that may be meant."""
    own = evidence.own
    if not evidence.replayer.black_box or own is None or evidence.message.tool_calls or not own.good or own.dropped:
        return None
    if evidence.context.tool_choice == "none":
        return None
    found = f"the built-in {quoted(own.fmt.name)} reads {counted(own.good, 'complete call')}"
    words = f"The parser finds no call in this output, while {found}"
    words += "." if evidence.context.tools else "; no tools are declared, so that may be meant."
    return Verdict("text_lost", "warning", "parser", words, (f"Beside it, {harm(own.message, evidence.message)}.",))


def flawed_output(evidence: Evidence) -> Verdict | None:
    """The parser did what it could with what the model wrote."""
    found = [
        number
        for number, one in enumerate(evidence.findings)
        if one.severity != "info" and one.about != "parser" and one.policy is None
    ]
    if not found:
        return None
    first = evidence.findings[found[0]]
    words = f"{SAID.get(first.id, 'The output is at fault')}: {lowered(first.message)}"
    said = tuple([evidence.findings[number].message for number in found[1:5]])
    return Verdict(
        "types_changed" if first.id in CHANGED else "output_flawed",
        first.severity,
        first.about,
        words,
        said,
        tuple(found),
        first.proof,
    )


def all_hold(evidence: Evidence) -> Verdict:
    """Nothing is wrong; notes say what else is worth knowing."""
    calls = evidence.message.tool_calls
    tried = sum([one.count for one in evidence.outcomes])
    under = f" under {counted(tried, 'chunking')}" if tried else ""
    what = counted(len(calls), "complete call") if calls else "a plain answer without calls"
    words = f"All checks hold: {what}{under}."
    said = tuple(dict.fromkeys([*_unread(evidence), *[one.message for one in evidence.findings]]))[:4]
    return Verdict("all_hold", "pass", None, words, said)


def _unread(evidence: Evidence) -> list[str]:
    """A marker of reasoning in the content that the parser does not know."""
    found = THINK.search(evidence.message.content or "")
    known = () if evidence.fmt is None else evidence.fmt.terminals.values()
    if found is None or found.group() in known:
        return []
    name = quoted(evidence.trace.parser)
    return [f"{quoted(found.group())} stays in the content: {name} has no such marker of reasoning."]


# The verdict: one sentence on what is wrong with a replay, or that nothing is, for a person who will paste it.
#
# Strategy
#     Rules look at the same evidence in a fixed order, the root cause first, and the first one that speaks decides:
#     a parser that fails explains what is lost after it; a format that does not fit explains leaks and losses; what
#     another chunking reads right is no loss but a matter of chunks; only then is a fault of the parser what its check
#     says; and only where no parser is at fault is it the request or the output.
#
# Invariants: exactly one verdict for any evidence; pure and linear in the output; formats are tried only where markup
# is left over, a call is missing or not whole, or the parser is at fault.

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
