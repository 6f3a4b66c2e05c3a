"""The smallest failing form of a case, as a case of its own."""

from __future__ import annotations

from typing import Any

from parsers.cases.decoded import settled_case
from parsers.cases.expect import accept
from parsers.cases.fields import ToolObject
from parsers.cases.input import Input
from parsers.cases.io import case_id, load_case, to_data
from parsers.cases.model import Case, Expect
from parsers.chunking import by_tokens
from parsers.replay import finish_reason
from parsers.search.found import Minimized


def minimized_case(case: Case, small: Minimized) -> Case:
    """The case for a minimised output. It replays first under the failing chunking, then under those that differ."""
    changed: dict[str, Any] = {
        "title": f"{case.title or 'A case'} (smallest failing form)",
        "notes": _notes(small, len(case.text())),
        "flags": (),
        "verdict": "required",
        "source": case.source,
        "parent": case_id(case),
        "input": Input(text=small.text),
        "tools": _tools(case, small),
        "replay": (small.chunking, *[chunking for chunking in small.beside if chunking.by != "recorded"]),
        "expect": _expect(small),
        "decode": None,
        "engines": {},
    }
    smaller = case.model_copy(update=changed)
    if case.mode() == "ids":
        smaller = _with_tokens(smaller, case, small)
    return load_case(to_data(smaller))  # a model that was put together is checked like one that was read


def _with_tokens(smaller: Case, case: Case, small: Minimized) -> Case:
    """With the tokens that are left. What a decode policy did to them is done; only how late it is may matter still."""
    if case.decode is not None:
        late = case.decode.again() if by_tokens(small.chunking) else None
        return settled_case(smaller, small.pieces).model_copy(update={"decode": late})
    stored = smaller.with_pieces(small.pieces)
    return stored.model_copy(update={"input": Input(tokens=stored.input.tokens)})


def _notes(small: Minimized, size: int) -> tuple[str, ...]:
    how = f"Found by a search of an output of {size} characters; {len(small.text)} of them are left here."
    return f"{small.check}: {small.finding.message}", how


def _tools(case: Case, small: Minimized) -> tuple[ToolObject, ...]:
    """The declared tools that the smaller request still has."""
    kept = {tool.name for tool in small.context.tools}
    return tuple([tool for tool, known in zip(case.tools, case.to_context().tools, strict=True) if known.name in kept])


def _expect(small: Minimized) -> Expect | None:
    right = small.right
    return None if right is None else accept(right, finish_reason(right, small.context.finish_reason))
