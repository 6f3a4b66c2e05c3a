"""Names, words and numbers of calls that the output does not have."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.checks.base import Subject, call_words
from parsers.checks.json_prefix import is_whole_object
from parsers.checks.json_tree import Node, read_object, walk
from parsers.checks.schema import Judge
from parsers.checks.source import Source
from parsers.compare import Place
from parsers.types import ToolCall


def made_up(subject: Subject) -> Iterator[tuple[str, Place, str]]:
    """A sentence, a place and the text for the first thing of each call that was made up."""
    source = Source((subject.context.prompt_tail or "") + subject.trace.text, subject.context.tools)
    for index, call in enumerate(subject.trace.message.tool_calls):
        words = call_words(index, call.name)
        if (word := source.missing_word(call.name)) is not None:
            place = subject.channels[f"tool_calls[{index}].name"].place(0)
            yield f"The name of {words} is not in the output, which has no `{word}`.", place, call.name
        if call.arguments in subject.trace.text or not is_whole_object(call.arguments):
            continue
        for node, word in _foreign(source, read_object(call.arguments), call.arguments):
            place = subject.arguments(index).place(max(node.start, call.arguments.find(word, node.start, node.end)))
            yield f"`{word}` in the arguments of {words} is not in the output.", place, word
            break


def is_sound(subject: Subject, call: ToolCall) -> bool:
    """Whether a call is whole, to a declared tool, and fits its schema: no server has a reason to refuse it."""
    tool = subject.context.tool(call.name)
    if tool is None or not call.complete or not is_whole_object(call.arguments):
        return False
    return tool.parameters is None or not Judge(tool.parameters, call.arguments).problems(read_object(call.arguments))


def _foreign(source: Source, root: Node, text: str) -> Iterator[tuple[Node, str]]:
    """Values and keys with something in them that the output does not have."""
    for node in walk(root):
        for text_, at in [(member.key, member.value) for member in node.members]:
            if (word := source.missing_word(text_)) is not None:
                yield at, word
        if node.kind == "string" and (word := source.missing_word(str(node.value))) is not None:
            yield node, word
        spelling = text[node.start : node.end]
        if node.kind in ("integer", "number") and not source.has_number(spelling, float(node.value or 0)):
            yield node, spelling
