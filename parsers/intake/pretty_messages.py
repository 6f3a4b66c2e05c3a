"""Messages as LangChain's `pretty_print()` shows them, which is how LangGraph's guides print a conversation.

    ================================== Ai Message ==================================

    I'll look it up.
    Tool Calls:
      get_weather (call_a1)
     Call ID: call_a1
      Args:
        city: Paris

Of a conversation the last message of the model is the output. The values of arguments are printed as `str()` makes
them: what reads as a JSON or Python value is taken for one, anything else is text. (langchain-core 1.8, messages/ai.py
and messages/base.py.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from parsers.intake.answers import log_intake
from parsers.intake.api_logs import response_log
from parsers.intake.chat_dialects import ChatState, whole_call
from parsers.intake.content_blocks import as_text
from parsers.intake.evidence import Intake, Warn, number
from parsers.intake.written_values import Named, literal_at

_TITLE = re.compile(r"^={10,}+ ([A-Z][a-z]++) Message ={10,}+[ \t]*$", re.MULTILINE)
_MODEL = frozenset(("Ai", "Aimessagechunk"))
_CALLS = re.compile(r"^(Invalid )?Tool Calls:$", re.MULTILINE)
_CALL = re.compile(r"^  (\S[^\n]*?) \(([^()\n]*+)\)\n Call ID: \2$", re.MULTILINE)
_ARGS = re.compile(r"^  Args:$", re.MULTILINE)
_ARGUMENT = re.compile(r"^    ([\w-]++): ?", re.MULTILINE)
_NAME = re.compile(r"\AName: [^\n]*(?:\n|\Z)")
_GUESSED = Warn(
    "arguments_rewritten",
    "pretty_print() shows arguments one on each line: their exact text, and whether a value was text, is lost."
    " Print repr(message), or message.model_dump_json().",
)


def read_pretty_messages(body: str) -> Intake | None:
    """Read a conversation that begins with the title of a message."""
    titles = list(_TITLE.finditer(body))
    if not titles or body[: titles[0].start()].strip():
        return None
    ends = [*[title.start() for title in titles[1:]], len(body)]
    spoken = [body[title.end() : end] for title, end in zip(titles, ends, strict=True) if title[1] in _MODEL]
    said = [part for text in spoken[-1:] for part in _said_in(text)]
    found = log_intake(response_log(ChatState().answer(said))) if said else None
    if found is None:
        return None
    for output in found.outputs:
        output.kind = "client_objects"
    found.kind, found.title = "client_objects", f"{number(len(titles), 'message')} as LangChain prints them"
    found.why = ("Titles such as `=== Ai Message ===` are how pretty_print() of LangChain begins a message.",)
    found.warnings += (_GUESSED,) if any(name == "tool_calls" for name, _ in said) else ()
    return found


def _said_in(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the content of a message, then its calls; those that could not be read come last."""
    begin = _CALLS.search(text)
    content = _NAME.sub("", text[: begin.start() if begin else len(text)].strip("\n"))
    if content.strip():
        yield "content", content
    for part, invalid in _parts(text, begin.start() if begin else len(text)):
        for call, inside in _calls(part):
            yield "tool_calls", whole_call(call[2], call[1], inside.strip() if invalid else _arguments(inside))


def _parts(text: str, begin: int) -> Iterator[tuple[str, bool]]:
    """Yield what stands below each heading of calls, and whether these could not be read."""
    marks = list(_CALLS.finditer(text, begin))
    for mark, end in zip(marks, [*[mark.start() for mark in marks[1:]], len(text)], strict=False):
        yield text[mark.end() : end], mark[1] is not None


def _calls(part: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the head of each call, and its arguments as they are printed."""
    heads = list(_CALL.finditer(part))
    for head, end in zip(heads, [*[head.start() for head in heads[1:]], len(part)], strict=False):
        args = _ARGS.search(part, head.end(), end)
        yield head, part[args.end() if args else end : end]


def _arguments(text: str) -> str:
    """Return the arguments of a call as JSON; a line that begins no argument goes on with the one before."""
    marks = list(_ARGUMENT.finditer(text))
    ends = [*[mark.start() for mark in marks[1:]], len(text)]
    named = {mark[1]: text[mark.end() : end].removesuffix("\n") for mark, end in zip(marks, ends, strict=False)}
    return as_text({name: _value(shown) for name, shown in named.items()})


def _value(shown: str) -> Any:
    """Return the value that a text shows, where it surely is one and no text."""
    found = literal_at(shown, 0) if shown[:1] in "{[-0123456789TFN" else None
    whole = found is not None and found.whole and found.end == len(shown)
    return shown if found is None or not whole or isinstance(found.value, Named | str) else found.value
