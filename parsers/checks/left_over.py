"""A check on recorded streams: did the server's parser leave a part of a call's markup where it is no marker any more?

Nobody knows the output, so only what no model means to say counts: a closing tag of arguments at the end of a text that
opened none, half of a marker there, a closing marker at the end of a string of arguments, brackets or quotation marks
in the name of a function, and a call that Gemini wrote as code (`tool_code`, in Google's own replies). Whole markers in
texts are the leak checks' (`parsers/checks/leaks.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache

from parsers.checks.check import Need, check
from parsers.checks.closers import CLOSING_TAG, closers
from parsers.checks.leaks import unmistakable_markers
from parsers.checks.mentions import is_shown
from parsers.checks.subject import Subject
from parsers.vocabulary.channels import CONTENT, REASONING, Channel
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Finding

# What no API allows in the name of a function, and no server of tools gives one.
_IN_NO_NAME = re.compile(r"""[{}()<>\[\]"'`|｜\n\r]""")
_TAG_AT_END = re.compile(rf"{CLOSING_TAG.pattern}\s*\Z")
_TOOL_CODE = re.compile(r"^```tool_code(?=\r?\n)", re.MULTILINE)
_HALF, _BEFORE_CALL = 0.6, 0.4  # so much of a marker is no chance, and less of it where a call was read
_TAIL = 80  # characters: no marker, and no tag of arguments, is longer


@check(
    "K5",
    "A server leaves no part of a call's markup at the end of a text or of an argument, or in a name.",
    severity="warning",
    needs=(Need.SERVER_CHUNKS,),
)
def _nothing_left_over(subject: Subject) -> Iterator[Finding]:
    """At most one finding for each text. Where the raw output is known, it shows what a marker is."""
    if subject.raw:
        return
    yield from _in_names(subject)
    yield from _at_the_end_of_content(subject)
    yield from _between_channels(subject)
    yield from _in_strings(subject)
    yield from _as_code(subject)


def _found(subject: Subject, channel: Channel, offset: int, left: str, words: str) -> Finding:
    place = subject.trace.channels[channel].place(offset)
    return _nothing_left_over.finding(words, at=place, length=len(left), actual=left)


def _in_names(subject: Subject) -> Iterator[Finding]:
    for index, call in enumerate(subject.calls):
        found = _IN_NO_NAME.search(call.name)
        if found is not None and subject.request.tool(call.name) is None:
            shown = json.dumps(found.group(), ensure_ascii=False)[1:-1]
            words = f"The name of call {index} is `{call.name}`: `{shown}` stands in no name of a function."
            yield _found(subject, Channel(index, "name"), found.start(), call.name, words)


def _at_the_end_of_content(subject: Subject) -> Iterator[Finding]:
    text = subject.trace.channels[CONTENT].text
    start = max(0, len(text) - _TAIL)
    found = _TAG_AT_END.search(text, start)
    if found is not None and not _is_opened(text, found) and not is_shown(text, found.start()):
        left = found.group().strip()
        if left not in unmistakable_markers():
            words = f"`{left}` is left at the end of the content, which opens none."
            yield _found(subject, CONTENT, found.start(), left, words)
    half = _half_at_end(text, _BEFORE_CALL if subject.calls else _HALF)
    if half is not None and not is_shown(text, len(text) - len(half[0])):
        words = f"`{half[0]}` is left at the end of the content: a part of `{half[1]}`."
        yield _found(subject, CONTENT, len(text) - len(half[0]), half[0], words)


def _between_channels(subject: Subject) -> Iterator[Finding]:
    """A marker of which the reasoning has the first part and the content the rest."""
    reasoning, content = (subject.trace.channels[one].text for one in (REASONING, CONTENT))
    half = _half_at_end(reasoning, 0)
    if half is None:
        return
    begun, whole = half[0], [one for one in unmistakable_markers() if one.startswith(half[0])]
    rest = next((one[len(begun) :] for one in whole if content.startswith(one[len(begun) :])), None)
    if rest is not None:
        words = f"`{begun}` is left at the end of the reasoning, and `{rest}` at the beginning of the content."
        yield _found(subject, REASONING, len(reasoning) - len(begun), begun, words)


def _is_opened(text: str, closer: re.Match[str]) -> bool:
    """Return whether a text holds what a closing tag closes."""
    return f"<{closer[1]}" in text


def _half_at_end(text: str, share: float) -> tuple[str, str] | None:
    """What a text ends with that is such a share of a marker, or more, and the shortest such marker."""
    start = text.rfind("<", len(text) - _TAIL if len(text) > _TAIL else 0)
    tail = text[start:] if start >= 0 else ""
    known = [*closers(), *unmistakable_markers()]
    begun = [one for one in known if len(tail) > 1 and one.startswith(tail) and len(tail) >= share * len(one)]
    return None if not begun or tail in begun else (tail, min(begun, key=len))


def _in_strings(subject: Subject) -> Iterator[Finding]:
    for index, call in enumerate(subject.calls):
        if "<" not in call.arguments:
            continue
        left = next(_left_in(object_of(call.arguments)), None)
        if left is not None:
            channel = Channel(index, "arguments")
            words = f"`{left}` is left at the end of a string in {channel.words(subject.calls)}."
            yield _found(subject, channel, max(call.arguments.find(left), 0), left, words)


def _left_in(value: object) -> Iterator[str]:
    """The closing markers that strings of a value end with, and do not open, in their order."""
    values = [value]
    while values:
        one = values.pop()
        if isinstance(one, dict):
            values += reversed([*one.values()])
        elif isinstance(one, list):
            values += reversed(one)
        elif isinstance(one, str) and (found := _closer_at_end().search(one, max(0, len(one) - _TAIL))) is not None:
            tag = CLOSING_TAG.match(found[1])
            if one.count("<") == 1 or (tag is not None and f"<{tag[1]}" not in one):
                yield found[1]


def _as_code(subject: Subject) -> Iterator[Finding]:
    text = subject.trace.channels[CONTENT].text
    found = _TOOL_CODE.search(text) if not subject.calls else None
    if found is not None:
        words = "A block of `tool_code` is left in the content: a call as code, which nobody read."
        yield _found(subject, CONTENT, found.start(), found.group(), words)


@cache
def _closer_at_end() -> re.Pattern[str]:
    literals = "|".join([re.escape(one) for one in closers() if one.startswith("<")])
    return re.compile(rf"({CLOSING_TAG.pattern}|{literals})\s*\Z")
