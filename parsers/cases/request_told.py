"""The request as a parser class is told of it, which begins with it: by the worker, and by a test that stands alone."""

from __future__ import annotations

from typing import Any

from parsers.vocabulary.types import Context


def request_of(context: Context) -> dict[str, Any]:
    """Its tools in OpenAI's form, the choice of one, the model, whether reasoning is open, and the prompt's end."""
    tools = [{"name": tool.name, "parameters": tool.parameters, "strict": tool.strict} for tool in context.tools]
    functions = [{key: value for key, value in tool.items() if value is not None} for tool in tools]
    named = {"type": "function", "function": {"name": context.named_tool}}
    return {
        "model": context.model,
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": named if context.tool_choice == "named" else context.tool_choice,
        "reasoning_open": context.reasoning_open,
        "prompt_tail": context.prompt_tail,
    }
