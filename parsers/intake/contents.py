"""The content of a chat log as raw text: another reading, for a person who knows that no parser was at work.

It is offered where nothing was split off and no marker shows which it is, never taken by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from parsers.intake.chunks import choices, object_of
from parsers.intake.model import Fact, Payload, Recognised, number
from parsers.vocabulary.types import RecordedDelta, Recording

_SPLIT = ("reasoning", "reasoning_content", "tool_calls", "function_call")
_WORDS = "The content is taken for the raw text, as you chose: special tokens may be missing from it."


def contents(found: Recognised) -> Recognised | None:
    """The reading of a log's content as deltas of raw text; None where a parser was at work, or there is no content."""
    outputs = [_unparsed(output) for output in found.outputs]
    made = [output for output in outputs if output is not None]
    if not made or len(made) < len(outputs):
        return None
    deltas = sum(len(output.deltas or ()) for output in made)
    return Recognised(
        kind="chunk_list",
        title=f"content of a log, {number(deltas, 'delta')} of raw text",
        advice="Choose a parser and replay it.",
        usable=True,
        outputs=tuple(made),
        why=("It is the content of the log's chunks, taken for the raw text.",),
        facts=(Fact("text", "assumed", _WORDS),),
        warnings=found.warnings,
        request=found.request,
        server=found.server,
    )


def _unparsed(output: Recording) -> Recording | None:
    """An output with its content as the raw text."""
    if output.text is not None or output.ids is not None:
        return None
    said = [part for chunk in output.stream or () for part in _parts(chunk)]
    if any(part.get(name) for part in said for name in _SPLIT):
        return None
    texts = [part["content"] for part in said if isinstance(part.get("content"), str) and part["content"]]
    text = "".join(texts)
    if not text:
        return None
    deltas = tuple([RecordedDelta(one) for one in texts])
    return replace(output, kind="chunk_list", text=text, deltas=deltas)


def _parts(chunk: Payload) -> list[dict[str, Any]]:
    return [object_of(choice.get("delta", choice.get("message"))) for choice in choices(chunk) or []]
