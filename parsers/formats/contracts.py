"""A contract: what a server does where parsers may differ in good faith, as named data.

Each key lists behaviours: the first is the contract's own, and the built-in parsers follow it where they have such a
policy; the others are allowed beside it. A key without any leaves the matter to the format, and allows nothing else.
The built-in contracts are files with provenance, as formats are.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import Field

from parsers.formats.model import Identifier, Model, Provenance, policy_values
from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import UsageError

_Blanks = tuple[Literal["keep", "drop_blank", "strip", "drop"], ...]
_Edge = tuple[Literal["keep", "strip"], ...]
_TEXTS = ("name", "title", "description", "provenance", "robustness")
DEFAULT = "openai"


class Contract(Model):
    """What a server does with cut calls, text around calls, undeclared names and the like."""

    name: Identifier
    title: str = ""
    description: str = ""
    truncated_call: tuple[Literal["as_streamed", "close", "text", "drop"], ...] = Field(
        (), description="A call the output cuts off: as streamed, closed by appending, returned as content, or dropped."
    )
    content_before_calls: _Blanks = Field(
        (), description="Text before the first call: kept, dropped when blank, stripped, or dropped."
    )
    content_between_calls: _Blanks = Field(
        (), description="Text between two calls: kept, dropped when blank, stripped, or dropped."
    )
    content_after_calls: _Blanks = Field(
        (), description="Text after the last call: kept, dropped when blank, stripped, or dropped."
    )
    reasoning_start: _Edge = Field((), description="White space, such as a newline, at the start of reasoning.")
    reasoning_tail: _Edge = Field((), description="White space at the end of reasoning.")
    content_start: _Edge = Field((), description="White space, such as a newline, at the start of content.")
    unknown_tool: tuple[Literal["keep", "drop", "text"], ...] = Field(
        (),
        description="A call to a tool that was not declared, or is not the one that the request names: kept, dropped, "
        "or returned as content.",
    )
    invalid_call: tuple[Literal["lenient", "strict", "by_schema"], ...] = Field(
        (),
        description="A call whose arguments are not one JSON object, or by schema lack what the tool requires: kept, "
        "or none: content, left out, or all of the output is content.",
    )
    rejected_call: tuple[Literal["text", "drop"], ...] = Field(
        (), description="Markup that begins a call and turns out to be none: content, or dropped."
    )
    missing_arguments: tuple[Literal["empty", "text", "drop"], ...] = Field(
        (), description="A call with nothing for its arguments: one without arguments, content, or dropped."
    )
    malformed_call: tuple[Literal["read", "reject"], ...] = Field(
        (), description="A call with a name and arguments whose markup is not the format's: read, or no call."
    )
    undeclared_arguments: tuple[Literal["keep", "unwrap", "drop"], ...] = Field(
        (),
        description="Arguments that the tool does not declare: kept, a lone one with an object of declared ones "
        "unwrapped, or left out.",
    )
    unclosed_value: tuple[Literal["keep", "drop"], ...] = Field(
        (), description="A tagged argument without its closing tag: its value ends at the next tag, or it is left out."
    )
    reasoning_calls: tuple[Literal["read", "text"], ...] = Field(
        (), description="A call inside reasoning: read, or part of the reasoning."
    )
    stray_reasoning_end: tuple[Literal["drop", "text", "reasoning"], ...] = Field(
        (),
        description="A closing marker of reasoning that is not open: left out, content, or the sign that all before it "
        "is reasoning.",
    )
    without_calls: tuple[Literal["read", "text"], ...] = Field(
        (), description="Markup of an output in which no call stands: left out, or all of the output is content."
    )
    reasoning_alone: tuple[Literal["keep", "content"], ...] = Field(
        (), description="Reasoning of an output without anything else: reasoning, or the content."
    )
    unclosed_list: tuple[Literal["keep", "text", "drop"], ...] = Field(
        (),
        description="The calls of a list or section whose own end is missing: kept, all of the output content, or "
        "dropped.",
    )
    json_values: tuple[Literal["by_schema", "as_written"], ...] = Field(
        (), description="A value that is written with a type: rewritten to that of the schema, or as it is written."
    )
    whole_numbers: tuple[Literal["keep", "shorten"], ...] = Field(
        (), description="A number without a fraction that is written with one, such as 5.0: kept, or written as 5."
    )
    second_block: tuple[Literal["read", "text", "drop"], ...] = Field(
        (), description="The calls of a second list, and of more: read, left in the content, or dropped."
    )
    wrapper_names: tuple[Literal["keep", "repair"], ...] = Field(
        (), description="A name with what models put before it, such as `functions.f`: kept, or repaired to `f`."
    )
    whole_output: tuple[Literal["any", "only"], ...] = Field(
        (), description="Calls that no marker begins are read anywhere in the output, or only where they are all of it."
    )
    ids: Literal["any", "stable"] = Field(
        "any", description="Ids of calls from a parser that shows only its deltas: as it likes, or always the same."
    )
    empty_deltas: Literal["unknown", "sent"] = Field(
        "unknown", description="Deltas without text reach the parser: nobody knows, or they do."
    )
    late_text: Literal["unknown", "sent", "stop_strings"] = Field(
        "unknown",
        description="Text may come later than its tokens, or be held back: nobody knows, it does, or it does for stop "
        "strings alone, which the case's decoding has.",
    )
    robustness: dict[str, Severity] = Field(
        default_factory=dict,
        description="How much a reading of a changed output weighs, by what was changed and what "
        "differs: `escaped.value` and the like.",
    )
    provenance: tuple[Provenance, ...] = ()

    def values(self, key: str) -> tuple[str, ...]:
        """The behaviours under a key, its own first."""
        found = getattr(self, key)
        return (found,) if isinstance(found, str) else tuple(found)

    def policies(self) -> dict[str, str]:
        """The policies of a built-in parser that follow."""
        own = {key: self.values(key)[:1] for key in contract_keys() if key in policy_values()}
        return {key: value for key, found in own.items() for value in found if value in policy_values()[key]}


@cache
def contract_keys() -> tuple[str, ...]:
    """The keys that say what a server does."""
    return tuple([name for name in Contract.model_fields if name not in _TEXTS])


@cache
def builtin_contracts() -> dict[str, Contract]:
    """The built-in contracts by name: the default first, then in name order."""
    folder = resources.files("parsers.formats") / "contract_data"
    files = sorted(folder.iterdir(), key=lambda file: (file.name != f"{DEFAULT}.json", file.name))
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".json")]
    return {data["name"]: Contract.model_validate(data) for data in found}


def contract_named(given: str | Contract | None, own: str = DEFAULT) -> Contract:
    """The contract of a name, or the one that is given; `own` where nothing is. Raises UsageError for another name."""
    if isinstance(given, Contract):
        return given
    name = given or own
    found = builtin_contracts().get(name)
    if found is None:
        raise UsageError(f"there is no contract {name!r}; the contracts are {', '.join(builtin_contracts())}")
    return found
