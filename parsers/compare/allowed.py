"""What a contract lets pass between two messages of one output: the one that is right, and another one.

RULES is a table with one rule for each key of a contract, in the order in which they are asked. Each gives the readings
of the output that its key allows beside the right one, made from the places in that; later rules are asked of all of
them. A reading that says what the other message says allows it, by the keys that made it. Names and arguments count
(these as JSON values), and every character of reasoning and content; ids do not.

A contract says what a server does however the output is cut: between two messages that differ by the cuts alone it
allows but how far a call goes that the output itself cuts off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice

from parsers.compare import call_rules, text_rules
from parsers.compare.call_rules import Pair, Readings
from parsers.compare.cut_calls import as_json, is_closed_form, is_streamed_part
from parsers.compare.divergence import Rules, same_message
from parsers.compare.right_reading import Said, read_events
from parsers.formats.contracts import Contract
from parsers.vocabulary.events import Event
from parsers.vocabulary.types import Context, Message, ToolCall

Around = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a key allows, in words and as the readings that it adds: none where it is about no single message."""

    key: str
    allows: str
    readings: Callable[[Pair], Readings] | None = None


RULES: tuple[Rule, ...] = (
    Rule(
        "reasoning_calls",
        "Calls that began inside reasoning are reasoning, markup and all, up to the marker that ends it or to the end.",
        text_rules.reasoning_calls,
    ),
    Rule(
        "stray_reasoning_end",
        "The marker that ends no reasoning stands in the content, or all content before it is the reasoning.",
        text_rules.stray_reasoning_end,
    ),
    Rule(
        "truncated_call",
        "Of the last call, if the output ends inside it: a part of the arguments that were streamed; an object with "
        "every member that is whole, and of the one that is cut off as much as came, its word ended, null, or nothing; "
        "an empty object; its text as content; or nothing.",
        call_rules.truncated_call,
    ),
    Rule(
        "unclosed_list",
        "If the last list, or a section, is not closed before the output ends, by what the format's parser notes: its "
        "calls are missing, or all of the output is content.",
        call_rules.unclosed_list,
    ),
    Rule(
        "second_block",
        "The calls of all lists after the first one are missing, or their text is content.",
        call_rules.second_block,
    ),
    Rule(
        "malformed_call",
        "Calls of which the format's parser notes a fault in the markup are missing, or their text is content: all of "
        "them, or those with one kind of fault.",
        call_rules.malformed_call,
    ),
    Rule(
        "missing_arguments",
        "Calls in which nothing stands for the arguments are missing, or their text is content.",
        call_rules.missing_arguments,
    ),
    Rule(
        "unknown_tool",
        "Calls to tools that were not declared, or to others than the one that the request names, are missing, or "
        "their text is content; where the server drops them, they stand with a name and arguments that are in the "
        "output.",
        call_rules.unknown_tool,
    ),
    Rule(
        "invalid_call",
        "Calls whose arguments are no JSON object (`by_schema`: or lack what the tool requires, or say an argument "
        "twice) are missing, or their text is content, or all of the output is.",
        call_rules.invalid_call,
    ),
    Rule(
        "unclosed_value",
        "All arguments of a call whose closing tag is missing are left out.",
        call_rules.unclosed_value,
    ),
    Rule(
        "undeclared_arguments",
        "Arguments that the tool does not declare are left out, or the object of declared ones in a lone `arguments`, "
        "`input` or `properties` stands for all.",
        call_rules.undeclared_arguments,
    ),
    Rule(
        "json_values",
        "Arguments are as they are written, where the others are the same rewritten to the types of the schema.",
        call_rules.json_values,
    ),
    Rule(
        "whole_numbers",
        "Numbers in arguments that end in `.0` have lost that.",
        call_rules.whole_numbers,
    ),
    Rule(
        "wrapper_names",
        "A name has, or has lost, what stands in the output before the last dot of it, if the rest is a declared tool "
        "(without declared tools: if that is `functions`).",
        call_rules.wrapper_names,
    ),
    Rule(
        "whole_output",
        "All of the output behind reasoning is content, stripped or not, if text stands beside calls that no marker "
        "begins.",
        call_rules.whole_output,
    ),
    Rule(
        "without_calls",
        "All of the output behind reasoning is content, stripped or not, if no call stands in it.",
        call_rules.without_calls,
    ),
    Rule(
        "rejected_call",
        "Markup that began a call and is none is missing in the content, alone or with all up to the next marker.",
        text_rules.rejected_call,
    ),
    Rule(
        "reasoning_start",
        "White space at the start of reasoning is as it stands in the output, or stripped.",
        text_rules.reasoning_start,
    ),
    Rule(
        "reasoning_tail",
        "White space at the end of reasoning is as it stands in the output, or stripped.",
        text_rules.reasoning_tail,
    ),
    Rule(
        "reasoning_alone",
        "Reasoning is the content, if there is neither content nor a call.",
        text_rules.reasoning_alone,
    ),
    Rule(
        "content_before_calls",
        "The content before the first call is as it stands in the output, left out where it is blank, stripped at its "
        "end or at both, or missing.",
        text_rules.content_before_calls,
    ),
    Rule(
        "content_between_calls",
        "The content between calls, all of it alike, is as it stands in the output, left out where it is blank, "
        "stripped, or missing.",
        text_rules.content_between_calls,
    ),
    Rule(
        "content_after_calls",
        "The content after the last call is as it stands in the output, left out where it is blank, stripped at its "
        "start or at both ends, or missing.",
        text_rules.content_after_calls,
    ),
    Rule(
        "content_start",
        "White space at the start of content is as it stands in the output, or stripped.",
        text_rules.content_start,
    ),
    Rule("ids", "Nothing: ids are compared between replays of one parser alone."),
    Rule("empty_deltas", "Nothing: it is about what reaches the parser."),
    Rule("late_text", "Nothing: it is about what reaches the parser."),
)
_AS_VALUES = Rules(arguments="json", ids=False)
_MOST = 1_000  # readings of one output; each is linear in it


def content_around(events: Iterable[Event]) -> Around:
    """The events of the right reading, which say where everything stands."""
    return tuple(events)


def allowed_by(
    contract: Contract, right: Message, wrong: Message, *, text: str, context: Context, around: Around
) -> str | None:
    """The keys and values by which `wrong` may be read where `right` is, as "key=value|value, ..."; None where it may
    not. `text` is the output, `around` the events of the right reading. Messages that are the same need nothing that
    allows them: None."""
    asked = [(rule.key, rule.readings, contract.values(rule.key)) for rule in RULES]
    rules = [(key, readings, values) for key, readings, values in asked if readings is not None and len(values) > 1]
    shape = partial(_shape, spell=cache(as_json))
    if not rules or shape(right) == (wanted := shape(wrong)) or (wrong.order and wrong.order != right.order):
        return None
    reading = read_events(around, text)
    said = reading.message(right)
    if said is None:
        return None
    known: dict[_Shape, tuple[Said, tuple[str, ...]]] = {shape(said.message): (said, ())}
    for key, readings, values in rules:
        told = f"{key}={'|'.join(values)}"
        for found, keys in [*known.values()]:
            others = readings(Pair(reading, found, wrong, text, context, values))
            for other in islice(others, max(0, _MOST - len(known))):
                known.setdefault(shape(other.message), (other, (*keys, told)))
    return ", ".join(known[wanted][1]) if wanted in known else None


def allowed_by_both(
    contract: Contract, right: Message, pair: Iterable[Message], *, text: str, context: Context, around: Around
) -> str | None:
    """The keys by which the messages of two code paths of a parser may both stand where `right` is read; None where not
    both may, or both are that."""
    others = [one for one in pair if not same_message(right, one, _AS_VALUES)]
    told = [allowed_by(contract, right, one, text=text, context=context, around=around) for one in others]
    keys = [one for one in told if one is not None]
    return ", ".join(dict.fromkeys(", ".join(keys).split(", "))) if keys and len(keys) == len(told) else None


def between_paths(contract: Contract) -> Contract:
    """The contract as it is asked of two code paths of a parser: that one of them loses text behind a marker which
    begins no call, and the other one does not, is no way in which servers differ in good faith."""
    return contract.model_copy(update={"rejected_call": contract.rejected_call[:1]})


def allowed_however_cut(contract: Contract, right: Message, one: Message, other: Message) -> str | None:
    """The key and values by which two messages of other cuts may differ: how far a call goes that the output itself
    cuts off, as the `right` message has it. None where they differ by more."""
    values = contract.values("truncated_call")
    if len(values) < 2 or not right.tool_calls or right.tool_calls[-1].complete:
        return None
    whole, cut = len(right.tool_calls) - 1, right.tool_calls[-1]
    rests = [replace(message, tool_calls=message.tool_calls[:whole]) for message in (one, other)]
    ends = [message.tool_calls[whole:] for message in (one, other)]
    known = all(len(message.tool_calls) >= whole for message in (one, other))
    sent = all(_is_form(cut, call) for calls in ends for call in calls) and all(len(calls) < 2 for calls in ends)
    return f"truncated_call={'|'.join(values)}" if known and sent and _shape(rests[0]) == _shape(rests[1]) else None


def _is_form(cut: ToolCall, call: ToolCall) -> bool:
    return is_streamed_part(cut, call) or is_closed_form(cut, call)


_Shape = tuple[str, str, tuple[tuple[str, str], ...]]


def _shape(message: Message, spell: Callable[[str], str] = as_json) -> _Shape:
    """What of a message counts."""
    calls = tuple([(call.name, spell(call.arguments)) for call in message.tool_calls])
    return message.reasoning or "", message.content or "", calls
