"""Examples for the checks that read changed outputs."""

from __future__ import annotations

from typing import Any

from parsers.checks.check import Subject, Variant, VariantKind
from parsers.checks.example import Example
from parsers.checks.script import scripted
from parsers.vocabulary.trace import Proof
from parsers.vocabulary.types import Context, Message, Tool, ToolCall

_OUTPUT = scripted(
    (("marker", "<tool_call>"), ("name", "find"), ("marker", " "), ("arguments", '{"city": "New York City"}')),
    (("marker", "</tool_call>"), ("end",)),
)
_SIZE = len(_OUTPUT.text)
_CALL = _OUTPUT.text[_OUTPUT.text.index("<") :]
_TOOLS = Context((Tool("find", {"type": "object", "properties": {"days": {"type": "integer"}}}),))


def _calls(*calls: tuple[str, str], content: str | None = None, reasoning: str | None = None) -> Message:
    return Message(reasoning, content, [ToolCall(f"id-{index}", *call) for index, call in enumerate(calls)])


_FOUND = _calls(("find", '{"city": "New York City"}'))
_TWICE = _calls(("find", '{"city": "New York City"}'), ("find", '{"city": "New York City"}'))


def _subject(kind: VariantKind, label: str, message: Message, **other: Any) -> Subject:
    """The output above with one variant. `edits` and `context` go into its proof, what is left into its facts."""
    proof = Proof({"by": "whole"}, other.pop("edits", ()), other.pop("changes", {}))
    base, raised, context = other.pop("base", _FOUND), other.pop("raised", None), other.pop("context", Context())
    variant = Variant(kind, label, proof, _OUTPUT.text, message, raised, other, base)
    return Subject(_OUTPUT, context, variants=(variant,))


_CUT: dict[str, Any] = {"edits": ((38, _SIZE, ""),), "changes": {"finish_reason": "length"}, "cut": 38}
_MORE: dict[str, Any] = {
    "edits": ((_SIZE, _SIZE, _CALL),),
    "bare": False,
    "expected": [("find", '{"city": "New York City"}')],
    "already": 1,
    "changed": False,
}
_PLANT: dict[str, Any] = {
    "call": 0,
    "key": "city",
    "was": "New York City",
    "syntax": "json",
    "plant": "</tool_call>",
    "marker": True,
}
_LONG: dict[str, Any] = {
    "call": 0,
    "key": "city",
    "was": "New York City",
    "value": "abcdefghij",
    "syntax": "json",
    "size": 10,
    "times": (),
}
_LINEAR = ((2_000, 2_100), (4_000, 4_100), (8_000, 8_100))
_SQUARE = ((2_000, 40_000), (4_000, 160_000), (8_000, 640_000))
_TYPED = {"base": _calls(("find", '{"days": 3}')), "context": _TOOLS}

VARIANTS: tuple[Example, ...] = (
    Example(
        "changed_output_raised",
        _subject(
            "mutated",
            "without the `<tool_call>` at character 0",
            Message(),
            edits=((0, 11, ""),),
            raised="IndexError: list index out of range (in feed, line 12)",
        ),
        "Read without the `<tool_call>` at character 0, the parser failed: IndexError: list index out of range "
        "(in feed, line 12).",
        _subject("mutated", "without the `<tool_call>` at character 0", Message(None, _CALL[11:])),
    ),
    Example(
        "truncation",
        _subject("truncated", "cut off after character 38", _calls(("find", '{"city": "New York"}')), **_CUT),
        "Cut off after character 38, the output gives call 0 (`find`) as whole, but the whole output has no such call.",
        _subject(
            "truncated",
            "cut off after character 38",
            Message(None, None, [ToolCall("id-0", "find", '{"city": "New York', complete=False)]),
            **_CUT,
        ),
    ),
    Example(
        "recovers",
        _subject("followed", "with a call to find appended", _FOUND, **_MORE),
        "Read with a call to find appended, the output does not give that call.",
        _subject("followed", "with a call to find appended", _TWICE, **_MORE),
    ),
    Example(
        "reusable",
        _subject("reused", "after the same output", _TWICE),
        "Read by the same parser instance after the same output, the output gives another message: "
        "the number of calls differs.",
        _subject("reused", "after the same output", _FOUND),
    ),
    Example(
        "escapes",
        _subject(
            "escaped",
            "with `</tool_call>` in the argument city",
            _calls(("find", '{"city": "a'), content='b"}'),
            value="a</tool_call>b",
            **_PLANT,
        ),
        "Read with `</tool_call>` in the argument city, the output gives another message than with a plain word there.",
        _subject(
            "escaped",
            "with `</tool_call>` in the argument city",
            _calls(("find", '{"city": "a</tool_call>b"}')),
            value="a</tool_call>b",
            **_PLANT,
        ),
    ),
    Example(
        "no_length_cap",
        _subject(
            "padded",
            "with 10 characters in the argument city",
            _calls(("find", '{"city": "abcdefgh"}')),
            work=(),
            **_LONG,
        ),
        "Read with 10 characters in the argument city, the output gives another message than with a short one: "
        "8 of 10 arrive.",
        _subject(
            "padded",
            "with 10 characters in the argument city",
            _calls(("find", '{"city": "abcdefghij"}')),
            work=(),
            **_LONG,
        ),
    ),
    Example(
        "linear_arguments",
        _subject("padded", "with 10 characters in the argument city", _FOUND, work=_SQUARE, **_LONG),
        "For 2,000 characters the parser examines 40,000, for 8,000 it examines 640,000.",
        _subject("padded", "with 10 characters in the argument city", _FOUND, work=_LINEAR, **_LONG),
    ),
    Example(
        "neighbours",
        _subject(
            "neighbour",
            "with prose after the output",
            Message(None, _CALL),
            edits=((_SIZE, _SIZE, "Done."),),
            bare=False,
        ),
        "Read with prose after the output, the output gives another first call.",
        _subject("neighbour", "with prose after the output", _FOUND, edits=((_SIZE, _SIZE, "Done."),), bare=False),
    ),
    Example(
        "start_state",
        _subject(
            "start_state",
            "the word Hello in place of the output",
            Message(None, "Hello"),
            expected="reasoning",
            probe="Hello",
        ),
        "The prompt leaves reasoning open, but the parser begins in content.",
        _subject(
            "start_state",
            "the word Hello in place of the output",
            Message("Hello"),
            expected="reasoning",
            probe="Hello",
        ),
    ),
    Example(
        "schema_changes",
        _subject("no_tools", "without the declared tools", _calls(("find", '{"days": "3"}')), **_TYPED),
        'The schema makes `days` of call 0 (`find`) 3; as written it is "3".',
        _subject("no_tools", "without the declared tools", _calls(("find", '{"days": 3}')), **_TYPED),
    ),
    Example(
        "tool_choice",
        _subject("no_calls", "with tool_choice none", _FOUND, changes={"tool_choice": "none"}),
        "Read with tool_choice none, the output still gives call 0 (`find`).",
        _subject("no_calls", "with tool_choice none", Message(None, _CALL), changes={"tool_choice": "none"}),
    ),
)
