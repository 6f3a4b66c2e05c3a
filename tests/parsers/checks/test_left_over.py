"""What a server's parser left of a call's markup, and what people write that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.checks import Subject, run_checks
from parsers.vocabulary.trace import Finding, Topic
from tests.growth import assert_linear, seconds
from tests.parsers.checks.test_said_again import content, recorded

SIZES = (2_000, 4_000, 8_000)


def call(name: str = "f", **arguments: Any) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]}]


def left(deltas: list[dict[str, Any]], /, **given: Any) -> list[Finding]:
    return run_checks(recorded(deltas, **given), ["nothing_left_over"]).findings


TOOL = {"type": "function", "function": {"name": "a(b)", "parameters": {"type": "object"}}}
LEFT: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a closing tag of arguments": (
        content("Booked.", "\n</parameter>\n"), "`</parameter>` is left at the end of the content, which opens none.",
    ),
    "half of a marker": (
        content("Booked.</tool_ca"), "`</tool_ca` is left at the end of the content: a part of `</tool_call>`.",
    ),
    "half of a special token": (content("Booked.<|tool_calls_section_en"), "a part of `<|tool_calls_section_end|>`."),
    "a part of an opening marker before a call": (
        [*content("One moment.\n<tool_c"), *call()],
        "`<tool_c` is left at the end of the content: a part of `<tool_call>`.",
    ),
    "a marker that two channels share": (
        [{"reasoning": "Hm.</thi"}, *content("nk>\n\nHi.")],
        "`</thi` is left at the end of the reasoning, and `nk>` at the beginning of the content.",
    ),
    "a special token at the end of a string": (
        call(text="x<|tool_call_end|>"),
        "`<|tool_call_end|>` is left at the end of a string in the arguments of call 0 (`f`).",
    ),
    "a tag at the end of a string in a list": (call(a=1, b=["x", {"c": "x\n</parameter>"}]), "`</parameter>` is left"),
    "the first of two": (call(a="x</arg_value>", b="x</parameter>"), "`</arg_value>` is left"),
    "arguments in a name": (
        call('f{"a": 1}'), 'The name of call 0 is `f{"a": 1}`: `{` stands in no name of a function.',
    ),
    "a line break in a name": (call("f\n"), "`\\n` stands in no name of a function."),
    "a call as code": (
        content('I will.\n```tool_code\nprint(default_api.f(a="b"))\n```'),
        "A block of `tool_code` is left in the content",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_a_part_of_a_call_is_found_where_it_was_left(name: str) -> None:
    deltas, words = LEFT[name]
    (finding,) = left(deltas)
    assert words in finding.message
    assert (finding.severity, finding.about, finding.topic) == ("warning", "parser", Topic.LEAK)


HONEST: dict[str, list[dict[str, Any]]] = {
    "a plain answer": content("It is booked."),
    "a tag that is opened": content("<parameter=a>\n1\n</parameter>"),
    "a tag in code": content("Close it by `</parameter>"),
    "half of a marker in code": content("Close it by `</tool_ca"),
    "a whole marker, which the leak checks tell of": content("Booked.</tool_call>"),
    "a comparison": content("That is so if a <"),
    "a comparison before a call": [*content("That is so if a <"), *call()],
    "an arrow between channels": [{"reasoning": "a <"}, *content("b")],
    "half of a marker that goes on otherwise": [{"reasoning": "a </thi"}, *content("s>")],
    "another tag": content("<b>Booked</b>"),
    "names as servers of tools give them": call("mcp__files.read-all:v2/x"),
    "a page": call(html="<div><function>1</function></div>"),
    "text about a tag": call(text="The tag </parameter> closes it."),
    "one that opens and closes": call(text="<parameter=a>1</parameter>"),
    "arguments that are no JSON": [
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "<"}}]}
    ],
    "code of another kind": content("```python\nprint(1)\n```"),
    "nothing": [],
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_what_people_mean_to_say_is_no_markup(name: str) -> None:
    assert left(HONEST[name]) == []


def test_a_declared_tool_may_be_called_anything() -> None:
    assert left(call("a(b)"))
    assert left(call("a(b)"), tools=[TOOL]) == []


def test_where_the_raw_output_is_known_it_is_silent() -> None:
    written = [{"text": "<think>Hm.</think>Booked.</tool_ca"}]
    assert left(content("Booked.</tool_ca"), deltas=written) == []


def test_an_output_that_is_the_content_again_says_nothing_of_what_the_model_wrote() -> None:
    assert left(content("Booked.</tool_ca"), text="Booked.</tool_ca")


@pytest.mark.linear
def test_it_takes_linear_time() -> None:
    def made(size: int) -> Subject:
        return recorded([*content("x<" * size), *call(a="</parameter>" * size, b=["</x"] * size)])

    subjects = {size: made(size) for size in SIZES}
    assert_linear(lambda size: seconds(lambda: run_checks(subjects[size], ["nothing_left_over"])), SIZES)
