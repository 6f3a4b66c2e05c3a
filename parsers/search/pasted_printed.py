"""Objects of client libraries as a program printed them: `Message(id='msg_1', content=[TextBlock(...)])`.

Calls in Python's notation look much the same. What a library prints is told by its keys, which are those of an API's
answer, in an object whose name is that of a class; a model calls functions with what their parameters are named.
(openai-python 2, anthropic 0.60, google-genai 1, mistralai 1, pydantic-ai 1, LlamaIndex 0.13, as they print;
openai 6 as Node's console.log shows it, with keys that have no quotes.)
"""

from __future__ import annotations

import re
from itertools import islice

from parsers.search.pasted_kinds import Given, Pasted, Shape, always
from parsers.search.pasted_lines import is_sentence

_OBJECT = re.compile(
    r"\s*+(?:>>> "
    r"|\w{1,40} ?[=:] ?)?+(?:\[\s*+)?+(?:[a-z_]\w{0,40}\.){0,8}[A-Z]\w{1,80}(?:\[\w{1,80}\])?\(\s*[a-z_]\w{0,60}="
)
_CLASS = re.compile(
    r"(?<![\w.])(Model|[A-Z]\w{0,80}?(?:Message|Block|Event|Delta|Chunk|Completion|Response|Call|ToolUse|Choice|Usage|Output"
    r"|Result|Part|Candidate|Content|Request))\("
)
_KEY = re.compile(
    r"(?<=[(\s])(type|role|content|choices|candidates|parts|usage|model|finish_reason|stop_reason|delta|tool_calls"
    r"|index"
    r"|owned_by|model_name|tool_call_id|call_id|object|created|logprobs|status|message|content_block|args|tool_name)="
)
_TYPE = re.compile(r"(?<=[(\s])type='([a-z_.]{2,60})'")
_LINE = re.compile(
    r"^\s*[\[\])}]|^\s*(?:>>> |\w{1,40} ?[=:] ?)?(?:[a-z_]\w*\.)*[A-Za-z_]\w{0,80}(?:\[\w{1,80}\])?(?:\(|=)|^\s+\S"
)
_INSPECTED = re.compile(
    r"\s*+(?:> )?+(?:[A-Z]\w{0,60} )?+(?:\[\s*+)?+\{\s*+"
    r"(?:id|index|type|role|content|choices|delta|object|model|finish_reason): "
)
_INSPECTED_KEY = re.compile(
    r"(?<=[{,\s])(role|content|choices|finish_reason|delta|tool_calls|object|logprobs|refusal|function|arguments): "
)
_DEBUGGED = re.compile(r"\[[\w./\\-]{1,200}\.rs:\d+:\d+\] \S[^\n=]{0,200} = ")  # of Rust 1
# var_dump and print_r of PHP 8, dump of Swift 6, toString of Java's records and of openai-java 4, of Kotlin's data
# classes (whose texts have no quotation marks, as those of a call have), %+v of Go 1.
_DUMPED = re.compile(
    r"""\s*(?:
      (?:array|object)\([\w\\]{1,80}\)(?:\#\d+\ \(\d+\))?\ \{\n
    | \w{1,60}(?:\ Object)?\n\s*\(\n\s*\[
    | ▿\ \S
    | (?:[\d/:.\ T]{1,40}\ )?(?:\w{1,20}[:=]\ ?)?(?:
          [A-Z]\w{1,80}[{\[][a-z]\w{0,40}=
        | [A-Z]\w{1,80}\([a-z]\w{0,40}=(?!['"\d\[{]|True|False|None)
        | &?\{[A-Z]\w{1,40}:
      )
    )""",
    re.VERBOSE,
)
_ANSWER_KEY = re.compile(
    r"\b(choices|content|finish_?reason|role|tool_?calls|object_?|logprobs|message|arguments|usage)\b"
    r"(?=[\"\]]*\s?(?:=>?|:))",
    re.IGNORECASE,
)
_KEY_LINE = re.compile(r"[ \t]{0,8}([a-z_]{2,24}): ?(?=\S)")
_ENDED = re.compile(
    r"^[ \t]{0,8}finish_reason: ?(['\"]?)(?:stop|length|tool_calls|function_call|content_filter|None|null)\1[ \t]*$",
    re.MULTILINE,
)
_SAID = frozenset(("content", "tool_calls", "reasoning_content", "reasoning"))
_LOOKED = 40  # names, the first of which tell


def is_printed_object(text: str) -> bool:
    """Return whether a text begins with an object of a client library, as its classes and its keys tell."""
    if _OBJECT.match(text) is None:
        return False
    classes = {found[1].casefold() for found in islice(_CLASS.finditer(text), _LOOKED)}
    keys = {found[1] for found in islice(_KEY.finditer(text), _LOOKED)}
    several = len(keys) >= 3 or (len(keys) >= 2 and len(classes) > 1)
    return bool(classes) and (several or _is_of_its_type(text, classes))


def _is_of_its_type(text: str, classes: set[str]) -> bool:
    """Return whether the `type` of an object says what its class is called: `ToolUseBlock(type='tool_use')`."""
    types = [re.split(r"[_.]", found[1]) for found in islice(_TYPE.finditer(text), _LOOKED)]
    return any(all(word in name for word in words) for words in types for name in classes)


def _is_printed(given: Given) -> bool:
    return (is_printed_object(given.text) and given.are(_LINE)) or _is_inspected(given.text)


def _is_inspected(text: str) -> bool:
    """Return whether all of a text is an object as Node shows it, and its keys are those of an answer."""
    if _INSPECTED.match(text) is None or not text.rstrip().endswith(("}", "]", "},", "];")):
        return False
    return len({found[1] for found in islice(_INSPECTED_KEY.finditer(text), _LOOKED)}) >= 3


def _is_debugged(given: Given) -> bool:
    """Return whether Rust's `dbg!` printed a part of it, a place in the source before a value, and nobody says more."""
    return any(map(_DEBUGGED.match, given.lines)) and not any(map(is_sentence, given.lines))


def _is_dumped(given: Given) -> bool:
    """Return whether PHP, Swift, Java or Go printed it, which begin as no model's answer does."""
    return _DUMPED.match(given.text) is not None and len(set(_ANSWER_KEY.findall(given.text))) >= 3


def _is_told_by_keys(given: Given) -> bool:
    """Return whether it is a message that a program prints key by key, a line each."""
    keys = {found[1] for line in given.lines if (found := _KEY_LINE.match(line))}
    return not _SAID.isdisjoint(keys) and given.are(_KEY_LINE) and _ENDED.search(given.text) is not None


PRINTED = (
    Shape(Pasted.PRINTED, _is_printed, always),
    Shape(Pasted.PRINTED, _is_debugged, always),
    Shape(Pasted.PRINTED, _is_told_by_keys, always),
    Shape(Pasted.PRINTED, _is_dumped, always),
)
