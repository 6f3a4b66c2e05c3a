"""The request of a smaller output: the tools it still needs, which its calls fit if those of the whole output did.

A call of the smallest output may lack what its tool requires, or have a value that its schema does not list. Whoever
owns the parser would call that no call; so the smaller request does not ask for it, where the finding stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from parsers.checks.fitting_schema import fitting
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.own_reading import own_reading
from parsers.search.shrink import Target
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.types import Message, Tool


def small_request(small: Replayer, chunking: Chunking, target: Target, whole: Replayer) -> Replayer:
    """A smaller output with the request it needs; `whole` is the output that it was made of."""
    for request in (_fewer_tools, _fitting_tools):
        small = request(small, chunking, target, whole)
    return small


def _fewer_tools(small: Replayer, chunking: Chunking, target: Target, whole: Replayer) -> Replayer:
    """Without the declared tools that the output does not name."""
    kept = [tool for tool in small.context.tools if tool.name in small.text or tool.name == small.context.named_tool]
    return _asking(small, kept, chunking, target)


def _fitting_tools(small: Replayer, chunking: Chunking, target: Target, whole: Replayer) -> Replayer:
    """With schemas that the calls fit, of the tools whose schemas those of the whole output fit."""
    said, before = _message(small), _message(whole)
    tools = [tool if _fitted(tool, before) is not tool else _fitted(tool, said) for tool in small.context.tools]
    return _asking(small, tools, chunking, target)


def _fitted(tool: Tool, said: Message) -> Tool:
    """The tool with a schema that the calls of a message fit; the same object where they do."""
    schema = tool.parameters
    if schema is None:
        return tool
    for call in said.tool_calls:
        if call.name == tool.name and object_of(call.arguments or "") is not None:
            schema = fitting(schema, call.arguments or "")
    return tool if schema is tool.parameters else replace(tool, parameters=schema)


def _message(replayer: Replayer) -> Message:
    """What an output says: as its format reads it, else as the parser does where it has all of it at once."""
    own = own_reading(replayer)
    return replayer.outcome(WHOLE).message if own is None else own.message


def _asking(small: Replayer, tools: Iterable[Tool], chunking: Chunking, target: Target) -> Replayer:
    """The output with these tools, where the finding stays."""
    asked = replace(small.context, tools=tuple(tools))
    changed = small.with_context(asked)
    return changed if asked != small.context and target.holds(changed, chunking) else small
