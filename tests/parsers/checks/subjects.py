"""What checks look at, for tests: every part of a subject by its own name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parsers.checks import run_checks
from parsers.checks.examples import examples
from parsers.checks.known import Fact, Finish, Known, Origin
from parsers.checks.known import Tokens as TokensKnown
from parsers.checks.subject import (
    Builtin,
    Costs,
    Grammar,
    Replays,
    Server,
    Subject,
    Tokens,
    Variant,
    VariantKind,
)
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Context, Message, Tool, ToolCall

PARTS = {
    "shares": "replays",
    "one_shot": "replays",
    "rules": "replays",
    "terminals": "grammar",
    "longest_terminal": "grammar",
    "end_tokens": "grammar",
    "openers": "grammar",
    "closers": "grammar",
    "policy": "grammar",
    "pieces": "tokens",
    "special": "tokens",
    "behind": "tokens",
    "spelled": "tokens",
    "chunks": "server",
    "ends": "server",
    "plays": "server",
    "told": "server",
    "sent": "server",
    "reference": "builtin",
    "reading": "builtin",
    "otherwise": "builtin",
    "examined": "costs",
    "times": "costs",
}
NAMES = {"reference": "trace", "reading": "message"}


def subject(
    trace: Trace,
    context: Context | None = None,
    whole: Trace | None = None,
    compared: Sequence[tuple[str, Trace]] = (),
    **given: Any,
) -> Subject:
    """A subject of a replay. `given` are fields of its parts, of any of them."""
    parts: dict[str, dict[str, Any]] = {"replays": {}, "grammar": {}, "tokens": {}, "server": {}}
    parts |= {"builtin": {}, "costs": {}, "own": {}}
    for name, value in given.items():
        parts[PARTS.get(name, "own")][NAMES.get(name, name)] = value
    return Subject(
        Replays(trace, whole, compared, **parts["replays"]),
        context or Context(),
        Grammar(**parts["grammar"]),
        Tokens(**parts["tokens"]),
        Server(**parts["server"]),
        Builtin(**parts["builtin"]),
        Costs(**parts["costs"]),
        **parts["own"],
    )


# variants of an output with a call to f, for metamorphic tests

TOOLS = Context((Tool("f", {"type": "object"}),))
PLAIN: dict[str, Any] = {
    "call": 0,
    "key": "a",
    "was": "x",
    "value": "a}b",
    "plant": "}",
    "marker": False,
    "syntax": "bare",
}
LONG: dict[str, Any] = {**PLAIN, "value": "xxxx", "size": 4, "work": (), "times": ()}
LATER: dict[str, Any] = {"expected": [("f", "{}")], "given": [], "changed": False, "bare": False}


def message(*calls: str, content: str | None = None, reasoning: str | None = None) -> Message:
    return Message(reasoning, content, [ToolCall(None, "f", call) for call in calls])


def variant(kind: VariantKind, now: Message, base: Message, **facts: Any) -> Variant:
    raised = facts.pop("raised", None)
    proof = Proof({"by": "whole"}, facts.pop("edits", ((0, 1, ""),)))
    return Variant(kind, facts.pop("label", "changed"), proof, "text", now, raised, facts, base)


def findings(check: str, *variants: Variant, black_box: bool = False, trace: Trace | None = None) -> list[Finding]:
    shown = trace or examples()[check].finds.trace
    return run_checks(subject(shown, TOOLS, variants=variants, black_box=black_box), [check]).findings


def levels(found: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.severity, one.policy) for one in found]


X = message('{"a": "x"}')


def without(known: Known, fact: Fact) -> Known:
    """What is known where one fact, and what cannot be known without it, is not."""
    less: dict[Fact, dict[str, Any]] = {
        Fact.RAW: {"raw": False, "tokens": TokensKnown.NONE},
        Fact.IDS: {"tokens": TokensKnown.CUT if known.raw else TokensKnown.NONE},
        Fact.STREAM: {"stream": False},
        Fact.PARSER: {"parser": False},
        Fact.TOOLS: {"tools": False},
        Fact.START: {"start": False},
        Fact.FINISH: {"finish": Finish.CUT},
        Fact.GRAMMAR: {"grammar": Origin.UNKNOWN},
    }
    return replace(known, **less[fact])
