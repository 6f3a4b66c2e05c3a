"""Twice the input takes about twice the time, on hostile input too.

These tests run by themselves, without coverage and without other tests beside them. Only ratios are asserted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.intake import recognise
from tests.growth import assert_linear, seconds

pytestmark = pytest.mark.linear

SIZES = (20_000, 40_000, 80_000)
LOG = (Path(__file__).parent / "files" / "vllm_chat.sse").read_text("utf-8").replace("data: [DONE]\n\n", "")
CHUNK = '{"id":"a","choices":[{"index":0,"delta":{"content":"<think>"}}]}'

# What is repeated; what stands before it.
REPEATED = {
    "a log": (LOG, ""),
    "responses": (LOG + "data: [DONE]\n\n", ""),
    "one response": (f"data: {CHUNK}\n\n", ""),
    "chunks on one line": (f"data: {CHUNK} ", ""),
    "JSON lines": (f"{CHUNK}\n", ""),
    "events that break off": ('data: {"a":\n', ""),
    "lines that are none": ("data: x\ny\n", ""),
    "prefixes": ("x data: {", ""),
    "printed bytes": ("b'data: {}\\n'\n", ""),
    "open quotes": ("curl '", ""),
    "open double quotes": ('curl "a\\\n', ""),
    "here-documents": ("curl <<E\n", ""),
    "backslashes": ("\\", "curl "),
    "requests": ('\n{"model":"m","messages":[', ""),
    "curl's meter": ("\r  0 0 0 0 ", "% Total"),
    "heads": ("HTTP/1.1 200\na: b\n", ""),
    "curl's own lines": ("* x\n< HTTP/1.1\n", ""),
    "strings with escapes": ('"\\n<think>", ', ""),
    "letters beside a string": ("ha", '"Sure.\\n<tool_call>\\n" '),
    "half strings": ("'\\n", '"<think>'),
    "strings of PHP": ('string(3) "', ""),
    "strings of SQL": ("''", "INSERT INTO t VALUES ('"),
    "rows": ('1,"a""b"\n', "a,b\n"),
    "openers": ("{", ""),
    "deep answers": ('[{"choices":[', ""),
    "cut answers": ('{"content": "x"}, ', '{"choices": ['),
    "white space": (" ", ""),
    "brackets after an object": (")},", '{"a": '),
    "headers": ("authorization: ", "HTTP/1.1 200\n"),
    "fences": ("```\n", ""),
    "code blocks": ("```\n{}\n```\n", ""),
    "longer and longer fences": ("```\n````\n`````\n``````\n", ""),
    "JSON between paragraphs": ('{"a": 1}\nx\n', ""),
    "lists that begin": ("x\n[\n", ""),
    "requests between paragraphs": ('x\n{"messages": [{"role": "x"}]}\n', ""),
    "a stream between paragraphs": ("x\ndata: x\ny\n", ""),
    "dumps": ("<= Recv data, 9 bytes\n0000: .....\n<= Recv header, 9 bytes\n", ""),
    "dots of a trace": ("." * 64, "<= Recv data, 9 bytes\n0000: {"),
    "places of a trace": ("7fffffff: x\n", "<= Recv data, 999999999 bytes\n"),
    "cumulative texts": ('data: {"text": "", "meta_info": {"id": "r"}}\n', ""),
}


@pytest.mark.parametrize(("part", "before"), REPEATED.values(), ids=REPEATED.keys())
def test_twice_the_input_takes_about_twice_the_time(part: str, before: str) -> None:
    def timed(size: int) -> float:
        data = (before + part * (size // len(part))).encode()
        return seconds(lambda: recognise(data, pasted=True))

    assert_linear(timed, SIZES)


def test_twice_the_cases_on_lines_take_about_twice_the_time() -> None:
    line = '{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": ["x"]}}\n'

    def timed(size: int) -> float:
        data = (line * size).encode()
        return seconds(lambda: recognise(data, pasted=False))

    assert recognise((line * 2).encode(), pasted=False).title == "corpus of 2 cases"
    assert_linear(timed, (5_000, 10_000, 20_000))
