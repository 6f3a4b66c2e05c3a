"""A line is a frame, an error, the head of a record or a sentence by its form."""

from __future__ import annotations

import pytest

from parsers.search.pasted_lines import Line, forms_of, is_printed, line_of

LINES = {
    Line.FRAME: (
        '  File "/app/a.py", line 3, in f',
        "#0  0x00007ffff7a8e9fc in raise () from /lib/libc.so.6",
        "#1  main () at main.c:3",
        "#2  f (x=1) at a/b.cpp:19:2",
        "#0 /app/a.php(22): f()",
        "│ /srv/app.py:44 in answer        │",
        "\tat a.b.C.d(C.java:3)",
        "   at A.B.C(String s) in C:\\a.cs:line 57",
        "    at async run (/app/a.js:3:4)",
        "\t/app/main.go:31 +0x1d",
        "\tfrom agent.rb:19:in `each'",
        "    (agent 0.1.0) lib/agent.ex:31: Agent.decode/1",
        "   0: rust_begin_unwind",
        "             at /rustc/abc/panicking.rs:665:5",
        "/app/libggml.so(+0x1a2f6)[0x7f9b1c0a22f6]",
    ),
    Line.RAISED: (
        "Traceback (most recent call last):",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "thread 'main' panicked at src/a.rs:41:22:",
        "panic: runtime error: index out of range [0]",
        "terminate called after throwing an instance of 'std::runtime_error'",
        "Unhandled exception. System.Exception: no",
        'Exception in thread "main" java.lang.Error: no',
        "** (MatchError) no match",
        "PHP Fatal error:  Uncaught TypeError",
        "Segmentation fault (core dumped)",
        "curl: (7) Failed to connect",
    ),
    Line.HEAD: (
        "INFO 11-02 10:00:00 [async_llm.py:100] Added request",
        "[TensorRT-LLM][INFO] MPI size: 2",
        "[02/11/2025-08:14:02] [TRT-LLM] [I] Loading tokenizer",
        "2025-02-01T09:11:12.131316Z  INFO router: ready",
        "INFO:     127.0.0.1:1 - GET /",
        "srv    operator(): got exception",
        "[  812.331201] NVRM: Xid",
        "vllm-1  | ERROR 08-21 10:00:00 [a.py:6] no",
    ),
    Line.SAID: (
        "It is twelve degrees in Bern.",
        "- Set the parser first, then start the server again.",
        "Il fait douze degrés à Berne.",
        "伯尔尼今天多云，气温十二度。",  # noqa: RUF001
        "В Берне сегодня двенадцать градусов.",  # noqa: RUF001
        "the words of a long line go on and on without an end",
    ),
    Line.NAMED: ("ValueError: x", "Caused by: a", "a.py:3: error: x", "(gdb) bt", "Node.js v22.12.0"),
    Line.WEAK: ("WARNING: x", "12:00:01 x", "[TensorRT-LLM] version: 1"),
    Line.ECHO: ("    ^^^^", "   41 │ x", "╰───╯", "})", ">  x"),
    Line.NOISE: ("=======", "Loading: 50%|███ | 2/4", "==== FAILURES ===="),
    Line.INSET: ("    x = 1",),
    Line.OTHER: ("x = 1", "city: Bern", '{"a": 1}', "<tool_call>", "def f():", "| a | b |", "Yes"),
}


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in LINES.items() for line in lines])
def test_a_line_is_told_by_its_form(kind: Line, line: str) -> None:
    assert line_of(line) is kind


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        (["KeyError: the name of a call is missing here.", ""], [Line.NAMED, None]),
        (["panic: runtime error", "the index is out of range here."], [Line.RAISED, Line.NAMED]),
        (["panic: runtime error", "", "It is out of range here."], [Line.RAISED, None, Line.SAID]),
        (["agent gave up on the call", "\tat a.b.C.d(C.java:3)"], [Line.OTHER, Line.FRAME]),
        (["the agent of the bot gave up on the call", "\tat a.b(C.java:3)"], [Line.NAMED, Line.FRAME]),
        (["The stack trace says this about it:", "\tat a.b(C.java:3)"], [Line.SAID, Line.FRAME]),
    ],
)
def test_a_sentence_beside_an_error_is_its_message(lines: list[str], kinds: list[Line | None]) -> None:
    assert forms_of(lines) == kinds


@pytest.mark.parametrize(
    ("lines", "printed"),
    [
        ([], False),
        (["ERROR:root:x", "more of it"], True),
        (["x", "\tat a.b(C.java:3)"], True),
        (["x", "ERROR:root:x"], False),
        (["It fails at this place:", "\tat a.b(C.java:3)"], False),
        (["\tat a.b(C.java:3)", "", "Check the value at that place first."], False),
        (["ERROR:root:x", "a", "b"], False),
    ],
)
def test_what_a_program_printed_begins_and_ends_without_a_sentence(lines: list[str], printed: bool) -> None:
    assert is_printed(forms_of(lines)) is printed
