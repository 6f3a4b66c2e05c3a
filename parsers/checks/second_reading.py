"""How a second reading of one output in one way differs from the first."""

from __future__ import annotations

from parsers.vocabulary.channels import call_words
from parsers.vocabulary.types import Message, ToolCall


def call_text(call: ToolCall | None) -> str:
    """A call as a person writes it."""
    return "no such call" if call is None else f"{call.name}({call.arguments})"


def second_reading(a: Message, b: Message, before: object, now: object) -> tuple[str, str, str]:
    """Return how it differs, in words, and what each gave. `before` and `now`: what the parser failed with."""
    if now is not None:
        return f"the parser fails with {now}", str(before or ""), str(now)
    if before is not None:
        return f"the parser does not fail, as it did before with {before}", str(before), ""
    pairs = [
        ("the reasoning", a.reasoning or "", b.reasoning or ""),
        ("the content", a.content or "", b.content or ""),
        ("the number of calls", str(len(a.tool_calls)), str(len(b.tool_calls))),
    ]
    for index, (left, right) in enumerate(zip(a.tool_calls, b.tool_calls, strict=False)):
        pairs.append((call_words(index, left.name), call_text(left), call_text(right)))
    different = (pair for pair in pairs if pair[1] != pair[2])
    part, expected, actual = next(different, ("the id or the end of a call", "", ""))
    return f"the output gives another message: {part} differs", expected, actual
