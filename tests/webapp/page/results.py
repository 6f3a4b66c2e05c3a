"""Results of searches, written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parsers.checks.check import Need
from parsers.compare.divergence import Divergence
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.cut_grades import CutGrade
from parsers.search import found as search_found
from parsers.search.found import Found, Group, OutcomeClass
from parsers.vocabulary.channels import CONTENT
from parsers.vocabulary.events import Failure
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message
from webapp.page.search.findings import Checked, findings

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'
CUT = Chunking(by="cuts", cuts=(4,))


def said(kind: search_found.VerdictKind = "all_hold", **more: Any) -> search_found.Verdict:
    return search_found.Verdict(kind, more.pop("severity", "pass"), more.pop("about", None), "Headline.", **more)


def found(cuts: Sequence[int] = (0, 1, 1, 0), found_findings: Sequence[Finding] = (), **more: Any) -> Found:
    parting = Divergence(CONTENT, 3, 12, 1, 2, "<tool", "tool")
    outcomes = [
        OutcomeClass(0, Message(), "stop", 3, 3, TRACED, "token by token"),
        OutcomeClass(1, Message(), "stop", 2, 0, CUT, "cut at 4", "text", parting),
        OutcomeClass(2, Message(), "stop", 1, 1, WHOLE, "whole", raised=Failure("IndexError", "x", "f, line 3")),
    ]
    groups = [
        Group("whole", "in one piece", CutGrade.HONEST, {2: 1}, {2: WHOLE}),
        Group(
            "cuts_hostile",
            "inside a token",
            CutGrade.HOSTILE,
            {0: 2, 1: 2},
            {0: Chunking(by="cuts", cuts=(1,)), 1: CUT},
        ),
    ]
    text = "x" * (len(cuts) + 1)
    given: dict[str, Any] = {"verdict": said(), "replays": 7} | more
    return Found(text, list(found_findings), ["a"], [("b", Need.TOKEN_IDS)], outcomes, groups, list(cuts), **given)


def checked(items: Sequence[Finding], result: Found | None = None) -> Checked:
    return Checked(items, ["a", "b"], [], 12, result)


def pane(items: Sequence[Finding]) -> Any:
    return findings(checked(items))
