"""Variants: replays of a changed output, request or parser, for the checks that need more than the output itself.

`parsers.search.variants` makes them; checks only read them. A check that needs variants of a kind names the kind among
its needs, and is skipped where none were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from parsers.trace import Proof
from parsers.types import Message

VariantKind = Literal[
    "truncated",  # F2: the output cut at one character, finish reason length
    "mutated",  # E1: one marker deleted or doubled
    "followed",  # E2: a valid call appended
    "neighbour",  # M1: prose before or after, another call appended
    "escaped",  # M2: markers, braces and quotes planted into a string argument
    "padded",  # P3: a long string argument
    "start_state",  # R1: the other start state
    "reused",  # C4: the same parser instance again, and after a malformed output
    "no_tools",  # Y3, M3: without the declared tools
    "no_calls",  # M3: tool_choice none
    "rerendered",  # M4: calls rendered by the chat template and parsed again
]


@dataclass(slots=True)
class Variant:
    """One such replay. `label` says in words what was changed, `proof` in data; `facts` is what its check compares
    with, by kind (the planted value, the number of the call, the offset of the cut ...). `base` is the message of the
    unchanged output under the same chunking."""

    kind: VariantKind
    label: str
    proof: Proof
    text: str
    message: Message
    raised: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    base: Message = field(default_factory=Message)
