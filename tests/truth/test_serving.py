"""What a server under a contract would send of our parsers' events, by characters and at once."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.contracts import Contract
from parsers.selection.registry import get_format
from parsers.vocabulary.types import Context, Message, Piece, Tool
from parsers.wire.assemble import Assembler
from tests.truth.served import Reader
from tests.truth.serving import Serving

F, G = [f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>' for name in "fg"]
K2 = "Hi<ifm|tool_calls><ifm|tool_call>f"
DROP = {"content_between_calls": ["drop"], "content_after_calls": ["drop"]}


def served(fmt: str, text: str, contract: dict[str, Any], *, whole: bool) -> Message:
    serving = Serving(get_format(fmt), Context(), Contract.model_validate({"name": "own", **contract}))
    assembler = Assembler()
    for part in [text] if whole else text:
        assembler.absorb(serving.feed((Piece(part),))[1])
    assembler.absorb(serving.finish(None)[1])
    return assembler.message()


@pytest.mark.parametrize(
    ("fmt", "text", "contract", "content", "names"),
    [
        ("qwen", f"a{F}b{G}c", {}, "abc", "fg"),
        ("qwen", f"a{F}b{G}c", {"content_before_calls": ["drop"]}, "bc", "fg"),
        ("qwen", f"a{F}b{G}c", {"content_between_calls": ["drop"]}, "ac", "fg"),
        ("qwen", f"a{F}b{G}c", {"content_after_calls": ["drop"]}, "ab", "fg"),
        ("qwen", f"a{F}b{G}c", DROP, "a", "fg"),
        ("qwen", "abc", {**DROP, "content_before_calls": ["drop"]}, "abc", ""),
        ("qwen", "<think>x</think>\n\nabc", {"content_start": ["strip"]}, "abc", ""),
        ("pythonic", "[f()] a [g()] b", {"second_block": ["drop"]}, " a  b", "f"),
        ("pythonic", "[f(), g()]", {"second_block": ["drop"]}, None, "fg"),
        ("mistral", "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{}", {"second_block": ["drop"]}, None, "fg"),
        ("k2_horizon", K2, {"without_calls": ["text"], "truncated_call": ["text"]}, K2, ""),
        ("k2_horizon", K2, {"truncated_call": ["text"]}, "Hi<ifm|tool_call>f", ""),
        ("k2_horizon", f"{K2}</ifm|tool_call></ifm|tool_calls>x", {"without_calls": ["text"]}, "Hix", "f"),
        ("qwen", "Hi<|im_end|>", {"without_calls": ["text"]}, "Hi", ""),
        ("qwen", "<think>x</think>Hi", {"without_calls": ["text"]}, "Hi", ""),
    ],
)
def test_a_contract_says_what_is_served(
    fmt: str, text: str, contract: dict[str, Any], content: str | None, names: str
) -> None:
    for whole in (True, False):
        message = served(fmt, text, contract, whole=whole)
        assert (message.content, "".join([call.name for call in message.tool_calls])) == (content, names)


@pytest.mark.parametrize(
    ("fmt", "text", "contract", "content", "names"),
    [
        ("pythonic", "a [f()", {"unclosed_list": ["text"]}, "a [f()", ""),
        ("pythonic", "a [f()", {"unclosed_list": ["drop"]}, "a ", ""),
        ("pythonic", "a [f()]", {"unclosed_list": ["drop"]}, "a ", "f"),
        ("pythonic", "[f()] a [g()", {"unclosed_list": ["drop"]}, " a ", "f"),
        ("pythonic", "a [f()]", {"whole_output": ["only"]}, "a [f()]", ""),
        ("pythonic", "[f()]", {"whole_output": ["only"]}, None, "f"),
        ("qwen", "<think>a</think>", {"reasoning_alone": ["content"]}, "a", ""),
    ],
)
def test_a_contract_says_what_is_made_of_all_of_an_output(
    fmt: str, text: str, contract: dict[str, Any], content: str | None, names: str
) -> None:
    reader = Reader(get_format(fmt), Context(), Contract.model_validate({"name": "own", **contract}))
    message = reader.message(text)
    assert (message.content, "".join([call.name for call in message.tool_calls])) == (content, names)


def test_numbers_are_shortened_and_policies_of_the_request_go_before_the_contract() -> None:
    context = Context(tools=(Tool("f"),))
    short = Contract(name="own", whole_numbers=("shorten",))
    text = '<tool_call>{"name": "f", "arguments": {"a": 5.0}}</tool_call>'
    assert Reader(get_format("qwen"), context, short).message(text).tool_calls[0].arguments == '{"a": 5}'
    asked = Reader(get_format("k2_horizon"), context, Contract(name="own"), policies={"call_notation": "json"})
    assert asked.message(f"{K2}</ifm|tool_call></ifm|tool_calls>").tool_calls == []
