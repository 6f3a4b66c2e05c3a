"""What an exception quotes is found whatever source its traceback shows, and no line of that source is a quote."""

from __future__ import annotations

import json
from itertools import product

import pytest

from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_outputs import outputs_in
from parsers.search.pasted_traces import messages_in, without_frames

OUTPUTS = {
    "hermes": '<tool_call>\n{"name": "ls", "arguments": {"path": "/tmp"}}\n</tool_call>',
    "a lost brace": '<tool_call>\n{"name": "ls", "arguments": {"path": "/tmp"}\n</tool_call>',
    "mistral": 'Let me see. [TOOL_CALLS]ls[ARGS]{"path": "/tmp"}',
    "lines between": 'It\'s "there".\n\n<tool_call>\n{"name": "ls", "arguments": {"path": "it\'s"}}\n</tool_call>',
}
SOURCES = {
    "braces": 'raise NoCall(f"no call: {text!r}")',
    "a bare brace": 'raise NoCall(f"no call: {text}")',
    "a backtick": 'raise NoCall(f"no call: `{text}`")',
    "a percent sign": "raise NoCall('no call: %r' % text)",
    "half a call": "log.error('<tool_call> {\"name\":', exc)",
    "a quote that stays open": 'raise NoCall("no call: "',
    "a call": 'assert calls, f"<tool_call>{{}}{text!r}"',
}
FRAMES = {
    "CPython": 'Traceback (most recent call last):\n  File "/srv/x.py", line 3, in run\n    {}\n    ~~~^^^^\n',
    "IPython": "Traceback (most recent call last):\nCell In[3], line 5\n      3 def run():\n----> 5     {}\n\n",
    "Rich": "╭──── Traceback (most recent call last) ────╮\n│ /srv/x.py:12 in run │\n│ ❱ 12 │ {} │\n╰────╯\n",
}
QUOTES = {
    "repr": "app.NoCall: no call in {repr}",
    "after a class of errors": "ValueError: cannot parse {repr}",
    "JSON": "app.NoCall: no call in {json}",
    "several values": "app.NoCall: ('bad output', {repr})",
    "backticks": "langchain_core.exceptions.OutputParserException: Could not parse LLM output: `{bare}`",
    "backticks, and where to read on": "app.OutputParserException: Could not parse LLM output: `{bare}`\n"
    "For troubleshooting, visit: https://python.langchain.com/docs/troubleshooting/errors/OUTPUT_PARSING_FAILURE ",
    "bare": "app.OutputParserException: Could not parse LLM output: {bare}",
    "the cause of another": "ValueError: output: {bare}\n\nDuring handling of the above exception, another exception "
    'occurred:\n\nTraceback (most recent call last):\n  File "/srv/x.py", line 9, in main\n    fail(\'{{e}}")\n'
    "app.Failed: no answer",
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("quote", QUOTES.values(), ids=QUOTES)
def test_the_message_of_an_exception_is_what_quotes(output: str, quote: str) -> None:
    said = quote.format(repr=repr(output), json=json.dumps(output), bare=output)
    for frame, source in product(FRAMES.values(), SOURCES.values()):
        text = f"{frame.format(source)}{said}\n"
        found = look(text)
        assert found is not None, text
        assert found.surely, text
        assert outputs_in(text, found.kind) == [output], text


def test_what_pytest_reports_is_read_without_its_marks() -> None:
    lines = [f"E       {line}" for line in f"app.NoCall: no call in output: {OUTPUTS['hermes']}".split("\n")]
    text = "\n".join(
        [
            "    def test_it():",
            '        text = "<tool_call>',
            '>       raise NoCall(f"{text}")',
            *lines,
            "x.py:3: NoCall",
        ]
    )
    assert outputs_in(text, Pasted.TRACEBACK) == [OUTPUTS["hermes"]]


@pytest.mark.parametrize("said", ["ValueError: no call", "KeyError: 'name'", "app.Failed", "output: nothing", ""])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_source_alone_is_no_quote(source: str, said: str) -> None:
    text = f"{FRAMES['CPython'].format(source)}{said}\n"
    found = look(text)
    assert found is not None
    assert (found.kind, found.surely) == (Pasted.TRACEBACK, True)
    assert outputs_in(text, found.kind) == []


def test_messages_end_at_the_next_record() -> None:
    log = (
        "2026-03-02 11:42:10,551 ERROR agent: failed\nValueError: a\nb\n2026-03-02 11:42:10,552 INFO agent: retrying\n"
    )
    assert list(messages_in(log)) == ["a\nb"]


def test_lines_that_show_no_source_stay() -> None:
    text = 'Traceback (most recent call last):\n  File "/srv/x.py", line 3, in run\n    run("a")\nValueError: b\n    c'
    assert without_frames(text) == "Traceback (most recent call last):\n\n\nValueError: b\n    c"
