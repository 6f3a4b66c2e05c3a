"""Twice the input takes about twice the time, on hostile input too.

These tests run by themselves, without coverage and without other tests beside them. Only ratios are asserted.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path

import pytest

from parsers.intake import recognise

pytestmark = pytest.mark.linear

SIZES = (20_000, 40_000, 80_000)
RATIO = 2.6
TOO_SHORT = 0.01  # seconds: below this the clock says more about the machine than about the intake
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
    "openers": ("{", ""),
    "deep answers": ('[{"choices":[', ""),
    "cut answers": ('{"content": "x"}, ', '{"choices": ['),
    "white space": (" ", ""),
    "brackets after an object": (")},", '{"a": '),
    "headers": ("authorization: ", "HTTP/1.1 200\n"),
    "fences": ("```\n", ""),
    "cumulative texts": ('data: {"text": "", "meta_info": {"id": "r"}}\n', ""),
}


def seconds(data: bytes) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        recognise(data, pasted=True)
        return time.perf_counter() - start
    finally:
        gc.enable()


@pytest.mark.parametrize(("part", "before"), REPEATED.values(), ids=REPEATED.keys())
def test_twice_the_input_takes_about_twice_the_time(part: str, before: str) -> None:
    inputs = [(before + part * (size // len(part))).encode() for size in SIZES]
    for _ in range(4):
        times = [min(seconds(data) for _ in range(2)) for data in inputs]
        if times[-1] < TOO_SHORT or times[-1] / times[0] < RATIO**2:
            return
    pytest.fail(f"{times} for {SIZES} characters")
