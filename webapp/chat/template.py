"""The calls of a case as the chat template of its tokenizer writes them.

The template is the one that stands in the tokenizer's configuration. It is no part of a case: a case replays without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parsers.cases.model import Case
from parsers.replays.replayer import Rendering, Rerender
from parsers.vocabulary.types import Context, Tool, ToolCall, UsageError
from webapp.chat.host import ENDED, TOO_LATE, Host
from webapp.tokenizers import library

# Templates name them; what they spell stands outside the assistant's part, or ends it.
TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token")
MOST_RENDERED = 24
HOPELESS = ()


def rerender_for(case: Case) -> Rerender | None:
    """How the calls of a case are written again; None where its tokenizer has no chat template, or is not here."""
    name = (case.tokenizer.name if case.tokenizer else None) or ""
    if ":" not in name:
        return None  # those that come with the application or with packages have none
    try:
        found = library().vocabulary(name).templates.get("chat_template")
    except UsageError:
        return None
    return rerender_of(found) if isinstance(found, str) and found.strip() else None


def rerender_of(template: str, host: Host | None = None) -> Rerender:
    """How a template writes calls again.

    A search makes outputs smaller and asks again and again: after MOST_RENDERED different questions there is no answer,
    and a template that did not come to an end is not run again.
    """
    runs, known = host or Host(), dict[Any, tuple[Rendering, ...]]()

    def rerender(calls: Sequence[ToolCall], context: Context, ends: Sequence[str]) -> Sequence[Rendering]:
        key = tuple([(call.name, call.arguments) for call in calls])
        if key not in known:
            if len(known) >= MOST_RENDERED:
                return ()
            known[key] = known.get(HOPELESS) or runs.renderings(asked(template, calls, context, ends))
            if known[key][0].problem in (TOO_LATE, ENDED):
                known[HOPELESS] = known[key]
        return known[key]

    return rerender


def asked(template: str, calls: Sequence[ToolCall], context: Context, ends: Sequence[str]) -> dict[str, Any]:
    """What the process that runs the template is given."""
    return {
        "template": template,
        "tokens": dict.fromkeys(TOKENS, ""),
        "kwargs": {key: value for key, value in context.template_kwargs.items() if key.isidentifier()},
        "tools": [_tool(tool) for tool in context.tools],
        "calls": [{"name": call.name, "arguments": call.arguments} for call in calls],
        "ends": list(ends),
    }


def _tool(tool: Tool) -> dict[str, Any]:
    """A tool as requests declare it."""
    parameters = dict(tool.parameters) if tool.parameters else {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": tool.name, "description": "", "parameters": parameters}}
