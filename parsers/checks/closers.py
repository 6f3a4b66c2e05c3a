"""What closes a call or its arguments, in any format: what a parser that took the rest of a call leaves of it."""

from __future__ import annotations

import re
from functools import cache

from parsers.formats.model import builtin_formats

CLOSING_TAG = re.compile(r"</((?:arg_|args?\b|argument|param|function|invoke|tool)[\w:.-]{0,40})>")
_CLOSING = frozenset(("CALL_END", "CALLS_END", "FUNCTION_END", "INVOKE_END", "SECTION_END", "TOOLS_END"))


@cache
def closers() -> tuple[str, ...]:
    """The markers of all formats that close a call, or a list of calls."""
    named = [pair for fmt in builtin_formats().values() for pair in fmt.terminals.items()]
    return tuple(dict.fromkeys([text.strip() for key, text in named if key in _CLOSING]))
