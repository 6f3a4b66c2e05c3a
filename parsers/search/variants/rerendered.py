"""Variants that a chat template wrote: the calls of the output as the next request will hold them.

The template is code of others and is run elsewhere (`Replayer.rerender`); here its text is read by the same parser.
It is the assistant's part of a conversation, so it begins where an output begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.checks.variants import Variant
from parsers.json_values import is_json
from parsers.search.variants.ground import Ground
from parsers.trace import Proof

AS = {"object": "an object", "string": "text"}
REQUEST = {"finish_reason": "stop", "reasoning_open": False, "prompt_tail": None}


def rerendered(ground: Ground) -> Iterator[Variant]:
    """The calls as the chat template writes them, once for each way it needs their arguments."""
    replayer, calls = ground.replayer, ground.trace.message.tool_calls
    whole = all(call.complete and is_json(call.arguments) for call in calls)
    if replayer.rerender is None or replayer.plays or not ground.can_call or not calls or not whole:
        return
    ends = () if replayer.format is None else replayer.format.end_tokens
    for one in replayer.rerender(calls, replayer.context, ends):
        label = f"Written by the chat template with arguments as {AS[one.spelling]}"
        facts: dict[str, str] = {"spelling": one.spelling}
        if one.problem:
            yield Variant(
                "rerendered", label, Proof(), "", ground.trace.message, facts={**facts, "problem": one.problem}
            )
            continue
        edits = ((0, len(ground.text), one.text),)
        yield from ground.run("rerendered", label, edits=edits, context=REQUEST, facts=facts)
