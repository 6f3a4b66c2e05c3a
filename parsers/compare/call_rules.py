"""What single keys of a contract let a parser make of the calls of an output: which of them stand, and what they say.

Each rule gives the readings that its key allows beside the right one, from the places in that and from what the other
parser made of the output. A call that is none reaches nobody, or its text is content: from its first marker on or from
the markup before it, to its own end or to that of the markup behind it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from parsers.arguments.coerce import Schema
from parsers.arguments.json_value import coerce_json, unescape_json
from parsers.arguments.undeclared import declared_arguments, lacks
from parsers.compare.cut_calls import as_json, is_closed_form, is_streamed_part
from parsers.compare.right_reading import CallPlace, RightReading, Said, Stretch
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.types import Context, Message, ToolCall

_UNCLOSED = frozenset({"missing_list_end", "missing_array_end", "missing_section_end"})
_JUDGED = frozenset({"undeclared_arguments"})  # said of a call that is whole
_NONE = frozenset({"text", "drop"})
_MARKED = re.compile(r"<[^<>\s]{2,48}|\[[A-Z_]{4,}\]|functools|✿")
_BEHIND_MARKER = re.compile(r"(?:<[^<>\s]{2,48}>|\[[A-Z_]{4,}\]|functools)\s{0,8}\[?\s{0,8}\Z")
_NEAR = 80  # characters before a call in which its marker ends
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"\[\]{},:]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pair:
    """What is left of the right reading to be explained, beside what another parser made of the output; `values` are
    the behaviours that the contract names under the key of a rule: two or more, else the rule is not asked."""

    reading: RightReading
    said: Said
    wrong: Message
    text: str
    context: Context
    values: tuple[str, ...]


Readings = Iterator[Said]


def all_content(pair: Pair) -> Readings:
    """All of the output behind reasoning is content; white space around it may be stripped, and tokens at its end that
    end the turn are no text."""
    reading, said = pair.reading, pair.said
    starts = [reading.reasoned] if said.reasoning else sorted({0, reading.reasoned})
    ends = [len(pair.text), reading.stops] if reading.stops < len(pair.text) else [len(pair.text)]
    before = "".join([part.text for part in said.content if part.shown and part.end < reading.reasoned])
    for start, end in product(starts, ends):
        whole = (before if start else "") + pair.text[start:end]
        for text in dict.fromkeys((whole, whole.strip())):
            yield Said(said.reasoning, (Stretch(text, start, end),), ())


def _left_out(pair: Pair, gone: Collection[CallPlace], how: Collection[str]) -> Readings:
    """Some calls are none: they reach nobody (drop), or their text is content (text)."""
    kept = replace(pair.said, calls=tuple([one for one in pair.said.calls if one[0] not in gone]))
    if gone and "drop" in how:
        yield kept
    if gone and "text" in how:
        for before, behind in product((False, True), repeat=2):
            yield _as_text(pair, kept, gone, before=before, behind=behind)


def _as_text(pair: Pair, kept: Said, gone: Collection[CallPlace], *, before: bool, behind: bool) -> Said:
    """The text of these calls is content, with the markup before and behind them or without."""
    size, at = len(pair.text), pair.reading.reasoned
    shown = [(part.start, part.end, None) for part in kept.content if part.shown]
    calls = [(place.start, place.end, place) for place, _ in pair.said.calls]
    solid = [(at, at, None), *sorted([*shown, *calls], key=lambda one: one[0]), (size, size, None)]
    parts = [part for part in kept.content if part.shown]
    for (_, ended, _), (start, end, place), (begins, _, _) in zip(solid, solid[1:], solid[2:], strict=False):
        if place in gone:
            start, end = max(at, ended) if before else start, begins if behind else end
            parts.append(Stretch(pair.text[start:end], start, end))
            at = end
    return replace(kept, content=tuple(_with_blanks(parts, kept)))


def _with_blanks(parts: list[Stretch], kept: Said) -> list[Stretch]:
    """The parts in their order, and the white space that is not shown where none of them stands."""
    parts.sort(key=lambda part: part.start)
    blanks = [part for part in kept.content if not part.shown]
    number, found = 0, list[Stretch]()
    for blank in blanks:
        while number < len(parts) and parts[number].end <= blank.start:
            number += 1
        if number == len(parts) or parts[number].start >= blank.end:
            found.append(blank)
    return sorted([*parts, *found], key=lambda part: part.start)


def truncated_call(pair: Pair) -> Readings:
    """The last call, if the output ends inside it."""
    cut_off = any(code == "truncated_call" for code, _, _ in pair.reading.said)
    if not (cut_off and pair.said.calls) or pair.said.calls[-1][1].complete:
        return
    (*kept, (place, cut)), wrong = pair.said.calls, pair.wrong.tool_calls
    yield from _left_out(pair, {place}, {*pair.values} & _NONE)
    other, raw = wrong[-1] if wrong else None, pair.text[place.start :]
    streamed = other is not None and "as_streamed" in pair.values and is_streamed_part(cut, other, raw)
    if other is not None and (streamed or ("close" in pair.values and is_closed_form(cut, other, raw))):
        yield replace(pair.said, calls=(*kept, (place, replace(cut, arguments=other.arguments))))


def unclosed_list(pair: Pair) -> Readings:
    """The calls of a list whose own end is missing: that was said behind the last of them, or the output ends in it."""
    calls = (_lists(pair) or [[]])[-1]
    ends = [(code, at) for code, at, _ in pair.reading.said if calls and at >= calls[-1].end]
    cut_off = any(code == "truncated_call" for code, _ in ends) and _opens_list(pair, calls[0])
    if cut_off or any(code in _UNCLOSED for code, _ in ends):
        yield from _left_out(pair, {*calls}, {*pair.values} & {"drop"})
        if "text" in pair.values:
            yield from all_content(pair)


def _opens_list(pair: Pair, first: CallPlace) -> bool:
    """Return whether a bracket that is still open stands before the name of the first call of a list."""
    ends = [part.end for part in pair.said.content if part.shown and part.end <= first.start]
    ends += [place.end for place, _ in pair.said.calls if place.end <= first.start]
    lead = pair.text[max(ends, default=0) : first.named]
    return lead.count("[") > lead.count("]")


def second_block(pair: Pair) -> Readings:
    """The calls of every list after the first one."""
    _, *others = _lists(pair) or [[]]
    yield from _left_out(pair, {place for calls in others for place in calls}, {*pair.values} & _NONE)


def _lists(pair: Pair) -> list[list[CallPlace]]:
    """The calls by the lists in which they stand: a bracket that closes more than its marker opens ends one."""
    closed = [end for start, end in pair.reading.markers if closes_list(pair.text[start:end])]
    found, passed = list[list[CallPlace]](), -1
    for place, _ in pair.said.calls:
        before, passed = passed, bisect_right(closed, place.start)
        if passed != before:
            found.append([])
        found[-1].append(place)
    return found


def closes_list(marker: str) -> bool:
    """Return whether a marker closes a bracket that it does not open."""
    return "]" in marker and marker.find("]") < (marker + "[").find("[")


def malformed_call(pair: Pair) -> Readings:
    """Calls whose markup is not the format's: something was said of it. One fault may be let pass, and another not."""
    said = {place: {code for code, _ in place.said} - _JUDGED for place, _ in pair.said.calls}
    faults = sorted({code for codes in said.values() for code in codes})
    for fault in [{*faults}, *([{one} for one in faults] if len(faults) > 1 else [])]:
        yield from _left_out(pair, {place for place, codes in said.items() if codes & fault}, _NONE)


def missing_arguments(pair: Pair) -> Readings:
    """Calls with nothing for their arguments."""
    gone = {place for place, _ in pair.said.calls if place.places("missing_arguments")}
    yield from _left_out(pair, gone, {*pair.values} & _NONE)


def unknown_tool(pair: Pair) -> Readings:
    """Calls to tools that were not declared or not named; one that the right reading drops may stand."""
    unknown = [place for place, call in pair.said.calls if _is_unknown(call, pair.context)]
    yield from _left_out(pair, {*unknown}, {*pair.values} & _NONE)
    if "keep" in pair.values and len(pair.wrong.tool_calls) > len(pair.said.calls):
        yield from _kept(pair)


def _is_unknown(call: ToolCall, context: Context) -> bool:
    """Return whether a tool was not declared, or is not the one that the request names."""
    named = context.named_tool if context.tool_choice == "named" else None
    return (bool(context.tools) and context.tool(call.name) is None) or call.name != (named or call.name)


def _kept(pair: Pair) -> Readings:
    """The reading with every call to an undeclared tool that it drops, as the other one has them: the name and all that
    the arguments say stand in what is dropped."""
    runs = [(start, end) for start, end, reason in pair.reading.dropped if reason.policy == "unknown_tool"]
    places = sorted([*[place for place, _ in pair.said.calls], *_joined(runs)], key=lambda place: place.start)
    if len(places) != len(pair.wrong.tool_calls):
        return
    ours = dict(pair.said.calls)
    calls = [(place, ours.get(place, other)) for place, other in zip(places, pair.wrong.tool_calls, strict=True)]
    if all(place in ours or _is_dropped(call, place, pair) for place, call in calls):
        yield replace(pair.said, calls=tuple(calls))


def _joined(runs: list[tuple[int, int]]) -> list[CallPlace]:
    """What is dropped without a gap was one call."""
    found: list[CallPlace] = []
    for start, end in runs:
        if found and found[-1].end == start:
            found[-1].end = end
        else:
            found.append(CallPlace(start, end))
    return found


def _is_dropped(call: ToolCall, place: CallPlace, pair: Pair) -> bool:
    raw, found = pair.text[place.start : place.end], object_of(call.arguments)
    return _is_unknown(call, pair.context) and call.name in raw and found is not None and _stands(call.arguments, raw)


def _stands(arguments: str, raw: str) -> bool:
    """Return whether every word of JSON stands in a text, in this order."""
    at = 0
    for word in _WORD.findall(arguments):
        said = unescape_json(word[1:-1]) if word.startswith('"') else word
        found = max(raw.find(said, at), raw.find(word.strip('"'), at))
        if found < 0:
            return False
        at = found
    return True


def invalid_call(pair: Pair) -> Readings:
    """Calls that a server finds invalid: they are none, or all of the output is content."""
    is_invalid = _breaks_schema if "by_schema" in pair.values else _is_no_object
    gone = {place for place, call in pair.said.calls if is_invalid(call, pair.context)}
    if gone:
        yield from _left_out(pair, gone, _NONE)
        yield from all_content(pair)


def _is_no_object(call: ToolCall, _: Context) -> bool:
    return object_of(call.arguments) is None


def _breaks_schema(call: ToolCall, context: Context) -> bool:
    """Return whether a call is no object, or lacks what its tool requires, or says an argument twice."""
    tool = context.tool(call.name)
    return _is_no_object(call, context) or bool(tool is not None and lacks(call.arguments, tool.parameters or {}))


def _other_arguments(pair: Pair, found: Callable[[CallPlace, ToolCall, ToolCall, Schema], str | None]) -> Readings:
    """The reading with other arguments for some calls; `found` gives those of a call beside the other parser's one."""
    ours, theirs = pair.said.calls, pair.wrong.tool_calls
    if len(ours) != len(theirs):
        return
    calls = []
    for (place, call), other in zip(ours, theirs, strict=True):
        tool = pair.context.tool(call.name)
        differs = as_json(call.arguments) != as_json(other.arguments)
        made = found(place, call, other, (tool.parameters or {}) if tool else {}) if differs else None
        calls.append((place, call if made is None else replace(call, arguments=made)))
    yield replace(pair.said, calls=tuple(calls))


def unclosed_value(pair: Pair) -> Readings:
    """Arguments whose closing tag is missing are left out, all of a call."""
    yield from _other_arguments(pair, partial(_without_unclosed, pair.text))


def _without_unclosed(text: str, place: CallPlace, call: ToolCall, other: ToolCall, _: Schema) -> str | None:
    """The arguments without the values that end where it was said that a closing tag is missing."""
    ours, ends = object_of(call.arguments) or {}, place.places("missing_value_close")
    values = [text[place.start : at].rstrip() for at in ends]
    left = {key for key in ours if any(value.endswith(_written(ours[key]).rstrip()) for value in values)}
    kept = {key: value for key, value in ours.items() if key not in left}
    same = len(left) == len(ends) and json.dumps(kept) == as_json(other.arguments)
    return other.arguments if left and same else None


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def undeclared_arguments(pair: Pair) -> Readings:
    """Arguments that a tool does not declare are left out, or taken for what they hold."""
    for how in [how for how in ("unwrap", "drop") if how in pair.values]:
        yield from _other_arguments(pair, partial(_declared, how))


def _declared(how: str, _: CallPlace, call: ToolCall, __: ToolCall, schema: Schema) -> str | None:
    return declared_arguments(call.arguments, schema, how)


def json_values(pair: Pair) -> Readings:
    """Values that one of both rewrites to the types of the schema, and the other leaves as they are written."""
    yield from _other_arguments(pair, _retyped)


def _retyped(_: CallPlace, call: ToolCall, other: ToolCall, schema: Schema) -> str | None:
    ours, theirs = as_json(coerce_json(call.arguments, schema)), as_json(coerce_json(other.arguments, schema))
    rewritten = theirs == as_json(call.arguments) or ours == as_json(other.arguments)
    return other.arguments if rewritten else None


def whole_numbers(pair: Pair) -> Readings:
    """Numbers that are written with a fraction of nothing are written without it."""
    yield from _other_arguments(pair, _shortened)


def _shortened(_: CallPlace, call: ToolCall, other: ToolCall, __: Schema) -> str | None:
    ours, theirs = as_json(call.arguments), as_json(other.arguments)
    if without_fractions(ours) != without_fractions(theirs):
        return None
    words = zip(_WORD.findall(ours), _WORD.findall(theirs), strict=True)
    return other.arguments if all(one in (word, word.removesuffix(".0")) for word, one in words) else None


def without_fractions(arguments: str) -> str:
    """JSON with 5 for 5.0."""
    return _WORD.sub(lambda found: found[0].removesuffix(".0"), arguments)


def wrapper_names(pair: Pair) -> Readings:
    """Names with what models put before them, `functions.` or before a declared tool's: kept or repaired."""
    ours, theirs = pair.said.calls, pair.wrong.tool_calls
    if len(ours) == len(theirs):
        named = zip(ours, theirs, strict=True)
        calls = [(place, replace(call, name=_same_name(pair, place, call, other))) for (place, call), other in named]
        yield replace(pair.said, calls=tuple(calls))


def _same_name(pair: Pair, place: CallPlace, call: ToolCall, other: ToolCall) -> str:
    """The other call's name where one of both is the other with something put before it."""
    long, short = sorted((call.name, other.name), key=len, reverse=True)
    before, dot, bare = long.rpartition(".")
    meant = pair.context.tool(bare) is not None if pair.context.tools else before == "functions"
    stands = long in pair.text[place.start : place.end]
    return other.name if dot and bare == short and meant and stands else call.name


def whole_output(pair: Pair) -> Readings:
    """Text stands beside calls that may only be all of the output, for no marker tells where they begin."""
    if pair.said.calls and pair.said.text.strip() and not _is_marked(pair.text, pair.said.calls[0][0].start):
        yield from all_content(pair)


def _is_marked(text: str, start: int) -> bool:
    """Return whether a call begins with a marker, or right behind one."""
    before = text[max(0, start - _NEAR) : start]
    return _MARKED.match(text, start) is not None or _BEHIND_MARKER.search(before) is not None


def without_calls(pair: Pair) -> Readings:
    """No call stands in the output."""
    if not pair.said.calls:
        yield from all_content(pair)
