"""What the intake panel says of what was pasted."""

from __future__ import annotations

import json

import pytest

from tests.webapp.page.form.logs import CALLS, CURL, TOOL, TWO, chunk, ran, shown_for, typed
from webapp.page.form.form_page import panel
from webapp.page.form.setup import look_at


def test_the_facts_are_those_of_the_output_that_was_chosen() -> None:
    _, first = ran(typed(TWO))
    _, second = ran(typed(TWO, output="1"))
    ends = [dict(shown_for(one).rows)["Why it ended"].words for one in (first, second)]
    assert ("stop" in ends[0], "length" in ends[1]) == (True, True)


def test_tools_of_the_form_are_known_tools() -> None:
    _, shown = ran(typed(CALLS, tools=json.dumps([TOOL])))
    row = dict(shown_for(shown).rows)["Tools"]
    assert (row.certainty, row.words) == ("exact", "As given in the form.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[{", "as typed"),
        ('{"name": "f"}', "1 tool: f"),
        ('[{"name": "f"}, {"function": {"name": "g"}}, 3, {"function": 1}]', "4 tools: f, g"),
        ("[3]", "none"),
    ],
)
def test_tools_are_named_in_the_panel(text: str, words: str) -> None:
    setup = typed("[1", tools=text)
    look_at(setup, None)
    setup.taken["tools"] = text
    assert [row.words for row in shown_for(setup).filled if row.field == "tools"] == [words]


def test_a_long_value_is_cut_and_a_switch_has_a_word() -> None:
    setup = typed("[1", prompt_tail="x " * 200, reasoning_open="1")
    look_at(setup, None)
    setup.taken |= {"prompt_tail": setup.request.prompt_tail, "reasoning_open": "1"}
    values = {row.field: row.words for row in shown_for(setup).filled}
    assert (values["prompt_tail"][-1], values["reasoning_open"]) == ("…", "reasoning")


@pytest.mark.parametrize("text", ["", None])
def test_nothing_given_has_no_panel(text: str | None) -> None:
    setup = typed(text or "")
    if text is not None:
        look_at(setup, None)
    assert panel(setup) is None


def test_plain_text_is_said_in_one_line_and_a_case_too() -> None:
    setup = typed("<tool_call>hello")
    look_at(setup, None)
    assert shown_for(setup).plain
    assert shown_for(setup).summary.startswith("Taken as raw model output")
    setup = typed('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}}')
    look_at(setup, None)
    assert (shown_for(setup).usable, shown_for(setup).summary) == (True, "Case file")


def test_a_report_that_quotes_the_output_says_so() -> None:
    setup = typed("I get:\n\n```\n<tool_call>hello\n```\n")
    look_at(setup, None)
    shown = shown_for(setup)
    assert not shown.plain
    assert shown.summary == "Taken as raw model output, 33 characters; its code block can be taken alone"
    assert [one.kind for one in shown.readings] == ["code_block"]
    setup.output.take_as = "code_block"
    look_at(setup, None)
    assert setup.found is not None
    assert setup.found.taken is not None
    assert setup.found.taken.data["input"]["text"] == "<tool_call>hello"
    assert shown_for(setup).summary == "Recorded from: the text in a code block, 16 characters; raw text assumed"


def test_what_is_read_aloud_names_it_and_counts_the_warnings() -> None:
    setup = typed(CURL + CALLS)
    look_at(setup, None)
    assert shown_for(setup).spoken.startswith("Recognised: OpenAI")
    assert shown_for(setup).spoken.endswith(" 1 warning.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CALLS, "plays the server's own chunks back"),
        (TWO, "compares what comes out with what the server sent"),
        ("<tool_call>", "feeds the raw output to the parser, delta by delta"),
        ('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}}', "runs it as it says"),
    ],
)
def test_what_a_replay_does_is_said_before_it(text: str, words: str) -> None:
    setup = typed(text)
    look_at(setup, None)
    assert words in shown_for(setup).plan
    setup = typed("[1, 2]")
    look_at(setup, None)
    assert shown_for(setup).plan == ""


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (json.dumps(["a", "b"]), ""),
        (TWO, "12 characters, 2 chunks, finish reason stop"),
        (json.dumps([chunk({"content": "a"}), chunk({"content": "b"}, 1)]), "1 chunk"),
    ],
)
def test_several_outputs_are_told_apart_by_their_size(text: str, about: str) -> None:
    setup = typed(text)
    look_at(setup, None)
    assert (shown_for(setup).outputs[0][1] if about else shown_for(setup).outputs) == (about or [])
