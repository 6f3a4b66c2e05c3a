"""Rules of the verdict for what stands beside a parser: a server's stream of the same output, and the chat template."""

from __future__ import annotations

import json
from dataclasses import replace

from parsers.compare.divergence import GRADES
from parsers.replays.chunking import WHOLE
from parsers.search.found import Detail, Verdict
from parsers.search.verdict_blame import led
from parsers.search.verdict_evidence import Evidence
from parsers.search.verdict_phrases import harm, lowered, summary
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Proof, Topic
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import quoted

_START = (
    "No parser was at work there, or one that missed it. That of this model is started with `--tool-call-parser` and"
    " `--reasoning-parser` of vLLM (with `--enable-auto-tool-choice`) and of SGLang, with `--jinja` of llama.cpp; the"
    " tools come with the request."
)
_SENT = {Topic.OUTPUT_UNPARSED: "the whole output", Topic.CALLS_UNPARSED: "the calls"}


def server_unparsed(evidence: Evidence) -> Verdict | None:
    """The server sent the output, or its calls, as content."""
    number = next(iter(evidence.numbers(*_SENT)), None)
    if number is None:
        return None
    found, read = evidence.findings[number], summary(evidence.message)
    sent = f"it sent {_SENT[found.topic]} as content"
    words = f"The server left markup in the content: {sent}, where {quoted(evidence.trace.parser)} reads {read}."
    return Verdict("server_unparsed", "warning", "request", words, (Detail(_START),), (number,), found.proof)


def server_departs(evidence: Evidence) -> Verdict | None:
    """The server sent another message than the parser reads in the same output."""
    numbers = evidence.numbers(Topic.SERVER, severity="warning")
    if not numbers:
        return None
    numbers.sort(key=lambda number: GRADES.index(evidence.findings[number].grade))
    words = f"The server sent another message than `{evidence.trace.parser}` reads in the same output: "
    words += lowered(evidence.findings[numbers[0]].message)
    return replace(led(evidence, "server_departs", words, numbers, severity="warning"), proof=None)


def template_departs(evidence: Evidence) -> Verdict | None:
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
