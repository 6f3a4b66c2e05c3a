"""What people paste that is no output of a model: what it looks like, and whether that is sure.

A text counts as one of these where it has the form from its first line on. Models write most forms too, as answers: a
diff, a log, a list of packages. So it is sure only where a form is no answer (a traceback, a prompt, a message without
text), or where it names what serves models; else it is a doubt, which is said in place of a pass. All of it in one code
block is as people copy and as models answer: JSON is read inside as the intake reads it, the rest is a doubt. Linear
in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from parsers.search.pasted_code import CODE
from parsers.search.pasted_data import DATA
from parsers.search.pasted_json import is_broken_answer, json_of, value_kind
from parsers.search.pasted_kinds import Given, Pasted
from parsers.search.pasted_listings import LISTINGS
from parsers.search.pasted_logs import LOGS
from parsers.search.pasted_printed import PRINTED
from parsers.search.pasted_prompts import PROMPTS
from parsers.search.pasted_reports import REPORTS
from parsers.search.pasted_sessions import MESSAGES, SESSIONS
from parsers.search.pasted_settings import DOCUMENTS, SETTINGS
from parsers.search.pasted_terminals import TERMINALS

LONGEST = 200_000  # characters: nobody pastes a longer one by mistake
_SHAPES = (
    *PROMPTS,
    *TERMINALS,
    *PRINTED,
    *LOGS,
    *DOCUMENTS,
    *LISTINGS,
    *SETTINGS,
    *SESSIONS,
    *DATA,
    *REPORTS,
    *MESSAGES,
    *CODE,
)
# What a model answers in a block of code as well.
_CODE = frozenset((
    Pasted.SCRIPT, Pasted.OPTIONS, Pasted.DIFF, Pasted.TEMPLATE, Pasted.SOURCE, Pasted.PAGE, Pasted.CARD,
    Pasted.LISTING, Pasted.PROMPT, Pasted.CONVERSATION, Pasted.README, Pasted.DATA,
    Pasted.MESSAGES, Pasted.TICKET, Pasted.PROGRAM,
))  # fmt: skip
# What a server sent, in a block of code as well: the intake reads it there.
_SENT = frozenset((Pasted.ANSWER, Pasted.BROKEN, Pasted.EMPTY_MESSAGE, Pasted.SERVER_ERROR))
# Fields of an answer that say nothing, and reasons beside them: models answer with an empty list, too.
_NOTHING_SAID = frozenset(("null", "[]", "{}"))
_NOTHING = _NOTHING_SAID | {'"stop"', '"length"', '"tool_calls"'}
# A finish reason that no model says: what a filter prints of an answer.
_REASONS = frozenset(("tool_calls", "function_call"))
# What filters take out of messages: who speaks, and why it ended. A model may name the roles, each once.
_ROLES = frozenset(("assistant", "developer", "function", "model", "system", "tool", "user"))
_WHY = frozenset(
    ("content_filter", "end_turn", "function_call", "length", "max_tokens", "stop", "tool_calls", "tool_use")
)
_FILTER = re.compile(r"[ \t]*(?:[$%>#][ \t]+)?(?:[^\n|]{0,200}\|[ \t]*)?jq\b[^\n]*\n")
_PROGRAM = re.compile(r"\s*(?:jq\b[^\n']*)?'?\.[\w.-]*\[[\w.:\"\[\]-]*\][\w.\[\]-]*(?:[ \t]*\|[^\n]+)?\s*\Z")
_APART = re.compile(r"[\s,\[\]]+")
_FENCED = re.compile(r"\s*(```|~~~)[\w+-]{0,20}[ \t]*\n(.*)\n[ \t]*\1\s*\Z", re.DOTALL)


class Looked(NamedTuple):
    """What a text looks like, and whether it surely is that: no model writes such an answer."""

    kind: Pasted
    surely: bool


@lru_cache(maxsize=16)
def look(text: str) -> Looked | None:
    """Return what a text looks like other than an output of a model; None where it is nothing of the kind."""
    if not text.strip() or len(text) > LONGEST:
        return None
    fenced = _FENCED.match(text)
    if fenced is None or f"\n{fenced[1]}" in fenced[2]:
        return _look(text)
    found = _look(fenced[2])
    if found is None or found.kind in _CODE:
        return None
    return Looked(found.kind, found.surely and found.kind in _SENT)


def _look(text: str) -> Looked | None:
    words = set(text.split())
    if words <= _NOTHING and not _NOTHING_SAID.isdisjoint(words):
        return Looked(Pasted.EMPTY_MESSAGE, "null" in words)
    if text.strip().strip('"') in _REASONS:
        return Looked(Pasted.NO_TEXT, True)
    fields = _fields(text)
    if fields is not None:
        return fields
    value = json_of(text)
    if value is not None:
        found = value_kind(value)
        return None if found is None else Looked(*found)
    if is_broken_answer(text):
        return Looked(Pasted.BROKEN, True)
    given = Given(text)
    return next((Looked(shape.kind, shape.surely(given)) for shape in _SHAPES if shape.is_one(given)), None)


def _fields(text: str) -> Looked | None:
    """The values of one field of several messages, below the filter that printed them or alone."""
    if _PROGRAM.match(text):
        return Looked(Pasted.SCRIPT, False)
    asked = _FILTER.match(text)
    values = [value for value in _APART.split(text[asked.end() if asked else 0 :]) if value]
    bare = [value.strip("\"'") for value in values]
    if len(bare) < 2 or not (_ROLES | _WHY | {"null"}).issuperset(bare) or {*bare} <= {"null", "stop", "length"}:
        return None
    is_filtered = asked is not None or values != bare or len({*bare}) < len(bare)
    return Looked(Pasted.FIELDS, is_filtered)


def pasted_as(text: str) -> Pasted | None:
    """Return what a text is, where it is surely no output of a model; else None."""
    found = look(text)
    return found.kind if found is not None and found.surely else None
