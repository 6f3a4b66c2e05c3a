"""What two replays differ in only because tools are not declared.

Without a schema each parser guesses the types of arguments, and some take nothing for a call whose tool they do not
know. Whether that explains a difference is tried and not guessed: whoever knows no tools is replayed with those of the
other side, or, where nobody knows any, with tools made from the calls of both. One replay more for each, linear in the
output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from parsers.cases.made_tools import made_tools
from parsers.compare.divergence import Rules, same_message
from parsers.vocabulary.trace import Trace

Tools = tuple[Mapping[str, Any], ...]  # as a request has them


@dataclass(slots=True, frozen=True)
class Teller:
    """One side: its tools, what it made of the output, and how to have it replayed with other tools; None where what it
    sent is recorded. `ends`: it is known why its message ended, be it that the server did not say."""

    tools: Tools
    trace: Trace
    replay: Callable[[Tools], Trace] | None
    ends: bool = True


def explained_by_tools(one: Teller, other: Teller, rules: Rules) -> bool:
    """Return whether two messages are the same once both sides know the same tools. False where both know some, where
    neither has a call, and where nothing can be replayed."""
    if one.tools and other.tools:
        return False
    tools = one.tools or other.tools or made_tools([*one.trace.message.tool_calls, *other.trace.message.tool_calls])
    able = [side.replay is not None and not side.tools for side in (one, other)]
    if not tools or not any(able):
        return False
    a, b = [_told(side, tools) for side in (one, other)]
    ended = a.finish_reason == b.finish_reason or not (one.ends and other.ends)
    return not a.failure and not b.failure and ended and same_message(a.message, b.message, rules)


def _told(side: Teller, tools: Tools) -> Trace:
    return side.trace if side.tools or side.replay is None else side.replay(tools)
