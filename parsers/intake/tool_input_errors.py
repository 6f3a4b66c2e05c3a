"""Errors of Vercel's AI SDK that quote the arguments of a call which are no JSON, as agents show them.

    Invalid input for tool read: JSON parsing failed: Text: {'path': 1}.
    Error message: JSON Parse error: ...

What stands behind `Text:` are the arguments as the SDK got them, all of them and nothing else. (ai 5,
`InvalidToolInputError` and `JSONParseError` of @ai-sdk/provider; ai 4 says `Invalid arguments for tool`.)
"""

from __future__ import annotations

import re

from parsers.intake.chat_dialects import whole_call
from parsers.intake.evidence import Intake, Payload, Warn, intake_of, number
from parsers.search.markup import marker_in
from parsers.search.report_words import ADVICE
from parsers.vocabulary.types import Recording

_SAYS = re.compile(
    r"\bInvalid\s+(?:input|arguments)\s+for\s+tool\s+(?P<name>[\w.:/-]{1,128}):\s+JSON\s+parsing\s+failed:\s+Text:\s?"
)
_END = re.compile(r"\.\s*\n[ \t]*Error message: ")
_MOST = 20  # errors; a session repeats the same one
_ONLY = Warn(
    "only_the_call", "The error quotes the arguments of the call alone: what stood around it, and its id, is missing."
)


def read_tool_input_errors(body: str) -> Intake | None:
    """Read the calls whose arguments such errors quote, each once; None where none does, or a model explains one."""
    calls: dict[tuple[str, str], None] = {}
    at, said = 0, list[str]()
    while len(calls) < _MOST and (mark := _SAYS.search(body, at)) and (end := _END.search(body, mark.end())):
        calls.setdefault((mark["name"], body[mark.end() : end.start()].strip()))
        said.append(body[at : mark.start()])
        at = end.end()
    around = "\n".join([*said, body[at:]])
    if not calls or marker_in(around) >= 0 or ADVICE.search(around):
        return None
    outputs = [_output(whole_call(f"call_{at}", *call)) for at, call in enumerate(calls)]
    for place, output in enumerate(outputs if len(outputs) > 1 else (), 1):
        output.label = f"call {place}"
    return intake_of(
        "server_log",
        f"error of the AI SDK that quotes {number(len(outputs), 'call')}",
        outputs,
        why="`JSON parsing failed: Text:` stands before the arguments of a call, as Vercel's AI SDK says it.",
        advice="The raw output is not in it. The call as the client got it is replayed and checked.",
        warnings=[_ONLY],
    )


def _output(call: Payload) -> Recording:
    message = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call}]}
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    return Recording(None, "server_log", stream=(answer,))
