"""Of several faults of an output the verdict names the one that stands first; what follows from it comes after."""

from __future__ import annotations

import pytest

from parsers.checks import run_checks
from parsers.checks.subject import subject_of
from parsers.replays.chunking import TRACED, WHOLE
from parsers.search.found import Verdict
from parsers.search.verdict import verdict
from parsers.vocabulary.types import Context, Tool
from tests.parsers.search.test_verdict import replayer

TOOLS = (
    Tool("f", {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}),
    Tool("g", {"type": "object", "properties": {"city": {"type": "string"}}}),
)
PARIS, ROME = '{"city": "Paris", "days": 3}', '{"city": "Rome"}'


def qwen(first: str, second: str, *, between: str = "\n") -> str:
    return between.join([f"<tool_call>\n{one}\n</tool_call>" for one in (first, second)])


def mistral(first: str, second: str, marker: str = "[TOOL_CALLS]") -> str:
    return f"[TOOL_CALLS]f[ARGS]{first}{marker}g[ARGS]{second}"


def said_of(text: str, parser: str, finish: str | None = "stop") -> Verdict:
    given = replayer(text, parser, Context(tools=TOOLS, finish_reason=finish))
    trace, whole = given.trace(TRACED), given.trace(WHOLE)
    return verdict(run_checks(subject_of(given, trace, whole, [])).findings, trace, given)


def kimi(marker: str, name: str, *, end: str = "<|tool_call_end|>") -> str:
    """Two calls in a section, the first of them with another marker, or the second behind one that does not end."""
    first, second = ("<|tool_call_begin|>", marker) if not end else (marker, "<|tool_call_begin|>")
    written = (
        f"{first}functions.f:0<|tool_call_argument_begin|>{PARIS}{end}",
        f"{second}functions.{name}:1<|tool_call_argument_begin|>{ROME}<|tool_call_end|>",
    )
    return f"<|tool_calls_section_begin|>{''.join(written)}<|tool_calls_section_end|>"


CODER = "".join(
    [
        f"<tool_call>\n<function={name}>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>\n"
        for name in "fg"
    ]
)
F, G = f'{{"name": "f", "arguments": {PARIS}}}', f'{{"name": "g", "arguments": {ROME}}}'
OPEN_F, OPEN_G = F[:-1], G[:-1]
SINGLE = '{"name": "f", "parameters": {\'city\': \'Paris\'}}; {"name": "g", "parameters": {"city": "Rome"}}'


@pytest.mark.parametrize(
    ("parser", "text", "finish", "words"),
    [
        ("qwen", qwen(OPEN_F, f"{G}}}"), "stop", "not well-formed at character 68"),
        ("qwen", qwen(OPEN_F, G.replace('"g"', '"h"')), "stop", "not well-formed at character 68"),
        ("qwen", qwen(OPEN_F, G.replace('"Rome"', "1")), "stop", "not well-formed at character 68"),
        ("qwen", qwen(f"{F}}}", G.replace('"g"', '"h"')), "stop", "The model wrote too much: characters 68 to 69"),
        ("qwen", qwen(F.replace('"f"', '"h"'), OPEN_G), "stop", "The model made up a tool: `h`"),
        (
            "qwen",
            qwen(F.replace('"days"', "days"), f"{G}}}"),
            "stop",
            "character 57 of the output `d` stands instead",
        ),
        ("qwen", qwen(F, G).replace("tool_call", "toolcall", 2), "stop", "`<tool_call>` is spelled `<toolcall>`"),
        ("qwen", qwen(F, G).replace("tool_call", "toolcall", 2)[:-20], "length", "character 5, where `<tool_call>`"),
        ("qwen", f"<tool_call>\n{qwen(F, G)}", "stop", "A call is not read and stays in the content, from character 0"),
        ("mistral", mistral(PARIS[:-1], ROME[:-5]), "length", "at character 46, where a `,` or `}` in the arguments"),
        (
            "mistral",
            mistral(f"{PARIS}}}", ROME[:-1]),
            "stop",
            "wrote too much: `}` stands behind call 0 (`f`)",
        ),
        ("mistral", mistral(PARIS[:-1], ROME, "[TOOLCALLS]"), "stop", "character 46 of the output on"),
        ("mistral", mistral(PARIS, ROME[:-1]), "stop", "ends with the finish reason `stop` inside call 1 (`g`)"),
        ("kimik2", kimi("<|toolcall_begin|>", "h"), "stop", "not read, for `<|tool_call_begin|>` is spelled"),
        ("kimik2", kimi("<|toolcall_begin|>", "g", end=""), "stop", "not read, for `<|tool_call_begin|>` is spelled"),
        ("qwen_coder", CODER.replace("tool_call>\n<", "toolcall>\n<", 1), "stop", "which is almost `<tool_call>`"),
        ("qwen_coder", CODER.replace(">\n", ">\n<b>\n\nhere\n", 1), "stop", "character 0, and what follows is none"),
        ("llama", SINGLE, "stop", "stays in the content, from character 0 on: at character 29 a key in double quotes"),
        ("llama", SINGLE.replace("'", '"')[:-1], "stop", "not well-formed at character 92"),
    ],
)
def test_the_first_fault_is_named(parser: str, text: str, finish: str, words: str) -> None:
    said = said_of(text, parser, finish)
    assert words in said.headline
    assert (said.severity, said.about) == ("warning", "output")


def test_what_else_is_wrong_stands_beside_it() -> None:
    said = said_of(qwen(OPEN_F, G.replace('"g"', '"h"')), "qwen")
    assert said.findings
    assert any("`h` is not one of the declared tools" in words for words in said.sentences)


@pytest.mark.parametrize(
    ("parser", "text", "finish"),
    [
        ("qwen", qwen(F, G, between="\nThe list [1] ends with ].\n"), "stop"),
        ("qwen", f"I will use <tool_call> now.\n{qwen(F, G)}", "stop"),
        ("qwen", f"Write `<tool_call>` first.\n{qwen(F, G)}", "stop"),
        ("qwen", f'{{"name": "Anna", "arguments": "f"}}\n{qwen(F, G)}', "stop"),
        ("llama", f'{{"who": "Anna"}}\n{{"name": "f", "parameters": {PARIS}}}', "stop"),
        ("llama", SINGLE.replace("'", '"')[:-1], "length"),
        ("pythonic", '[f(city="Rome"), g(city="Bern")]', "stop"),
    ],
)
def test_prose_data_and_what_a_limit_took_are_no_fault(parser: str, text: str, finish: str) -> None:
    assert said_of(text, parser, finish).kind == "all_hold"


def test_a_limit_that_cuts_is_said_beside_what_was_wrong_before() -> None:
    said = said_of(mistral(PARIS[:-1], ROME[:-5]), "mistral", "length")
    assert "Its end is missing, too: the length limit cut it off." in said.sentences
    said = said_of(mistral(PARIS, ROME[:-5]), "mistral", "length")
    assert (said.kind, said.severity) == ("call_cut_off", "info")
