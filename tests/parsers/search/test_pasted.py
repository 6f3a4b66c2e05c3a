"""What is no output of a model is named, and what a model wrote never is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parsers.search.pasted import LONGEST, Looked, look, pasted_as
from parsers.search.pasted_kinds import Pasted
from tests.corpus import case_named, case_names

TRACEBACK = """Traceback (most recent call last):
  File "/app/hermes.py", line 228, in extract
    name = call.get("name")
           ^^^^^^^^
AttributeError: 'NoneType' object has no attribute 'get'
Error trying to handle streaming tool call.
Traceback (most recent call last):
  File "/app/hermes.py", line 292, in extract
    at = arguments.index(text)
ValueError: substring not found
"""
LOGGED = "".join([f"ERROR 07-03 11:30:24 [mistral_tool_parser.py:365] {line}\n" for line in TRACEBACK.splitlines()])
QUOTING = """Traceback (most recent call last):
  File "/app/agent.py", line 10, in parse
    raise OutputParserException(text)
OutputParserException: Could not parse LLM output: `<tool_call>
{"name": "f", "arguments": {"a": 1}}
</tool_call>`
"""
LOG = """INFO 11-02 10:00:00 [async_llm.py:100] Added request chatcmpl-1.
(APIServer pid=9) INFO:     127.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK
"""
ENVIRONMENT = """Collecting environment information...
==============================
        System Info
==============================
OS                           : Ubuntu 22.04.3 LTS (x86_64)
GCC version                  : (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
PyTorch version              : 2.7.0+cu126
Is debug build               : False
"""
PACKAGES = """Package        Version
-------------- -------
aiohttp        3.9.1
openai         1.40.0
torch          2.4.0
vllm           0.5.4
"""
SCRIPT = """from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="x")
stream = client.chat.completions.create(
    model="m",
    messages=[{"role": "user", "content": "Weather?"}],
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta)
"""
CURL = 'curl http://localhost:8000/v1/chat/completions \\\n  -d \'{\n    "model": "m",\n    "messages": []\n  }\'\n'
FORM = """### Your current environment

0.9.2 on one GPU

### Describe the bug

```
<tool_call>
{"name": "f", "arguments": {}}
</tool_call>
```
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'arguments')
    at parseToolCall (/app/node_modules/ai/dist/index.js:2310:21)
    at Object.transform (file:///app/node_modules/ai/dist/index.mjs:2404:15)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
"""
JAVA = """java.lang.IllegalStateException: no tool call
	at com.acme.Parser.read(Parser.java:42)
	at com.acme.Main.main(Main.java:7)
Caused by: java.io.IOException: eof
	at com.acme.In.next(In.java:3)
"""
GO = """panic: runtime error: index out of range [0] with length 0

goroutine 1 [running]:
main.parse(0xc000012345)
	/app/main.go:31 +0x1d
main.main()
	/app/main.go:12 +0x25
"""
RUST = """thread 'tokio-runtime-worker' panicked at src/parser.rs:88:14:
called `Option::unwrap()` on a `None` value
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:665:5
   1: core::panicking::panic_fmt
             at /rustc/abc/library/core/src/panicking.rs:74:14
note: run with RUST_BACKTRACE=1
"""
CUT = """  File "/app/hermes.py", line 241, in extract
    current = parse(text)
  File "/usr/lib/python3.12/json/decoder.py", line 356, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""
PYTEST = """=================================== FAILURES ===================================
___________________________ test_tool_call_streaming ___________________________

    def test_tool_call_streaming():
>       assert calls[0].name == "f"
E       IndexError: list index out of range

tests/test_stream.py:31: IndexError
"""
OPTIONS = """- '--model=Qwen3-Coder'
- '--port=5000'
- '--tensor-parallel-size=8'
- '--enable-auto-tool-choice'
- '--tool-call-parser=hermes'
"""
COMPOSE = """services:
  vllm:
    image: vllm/vllm-openai:v0.9.2
    command: ["--model", "Qwen/Qwen3-8B", "--tool-call-parser", "hermes"]
    ports:
      - 8000:8000
    environment:
      - HF_HOME=/cache
"""
SMI = """Tue Mar  4 10:00:00 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
+-----------------------------------------+------------------------+----------------------+
"""
TYPESCRIPT = """import OpenAI from "openai";
const client = new OpenAI({ baseURL: "http://localhost:8000/v1" });

const stream = await client.chat.completions.create({
  model: "qwen",
  stream: true,
  messages: [{ role: "user", content: "hi" }],
});
for await (const chunk of stream) {
  console.log(chunk.choices[0].delta);
}
"""
PROSE = (
    "When I run vLLM 0.9.2 with --tool-call-parser hermes and stream=True, the tool_calls of the deltas are empty. "
    "I expected their arguments, as without streaming, so this looks like a bug."
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TRACEBACK, Pasted.TRACEBACK),
        (LOGGED, Pasted.TRACEBACK),
        (LOG + LOGGED, Pasted.TRACEBACK),
        (QUOTING, Pasted.TRACEBACK),
        (LOG, Pasted.LOG),
        (ENVIRONMENT, Pasted.ENVIRONMENT),
        (PACKAGES, Pasted.ENVIRONMENT),
        ("aiohttp==3.9.1\nopenai==1.40.0\ntorch==2.4.0\nvllm==0.5.4", Pasted.ENVIRONMENT),
        (SCRIPT, Pasted.SCRIPT),
        (CURL, Pasted.SCRIPT),
        ("vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser hermes\n", Pasted.SCRIPT),
        (FORM, Pasted.REPORT),
        (PROSE, Pasted.REPORT),
        (NODE, Pasted.STACK),
        (JAVA, Pasted.STACK),
        (GO, Pasted.STACK),
        (RUST, Pasted.STACK),
        (CUT, Pasted.TRACEBACK),
        (PYTEST, Pasted.TRACEBACK),
        ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", Pasted.ERROR),
        ("openai.BadRequestError: Error code: 400 - {'object': 'error', 'message': 'no'}", Pasted.ERROR),
        (OPTIONS, Pasted.OPTIONS),
        (COMPOSE, Pasted.OPTIONS),
        (SMI, Pasted.ENVIRONMENT),
        (TYPESCRIPT, Pasted.SCRIPT),
        ("I'm using SGLang with streaming. The tool call is not detected and all ends up in content.", Pasted.REPORT),
        ("We deployed vLLM and I noticed that tool_calls is empty in the last chunk.", Pasted.REPORT),
        ("null\n", Pasted.EMPTY_MESSAGE),
        ('{"role": "assistant", "content": null}', Pasted.EMPTY_MESSAGE),
        ('{"role": "assistant", "content": "", "tool_calls": []}', Pasted.EMPTY_MESSAGE),
        ('{"message": {"role": "assistant", "content": null}}', Pasted.EMPTY_MESSAGE),
        ('{"model": "m", "messages": []}', Pasted.REQUEST),
        ('{"error": {"message": "Internal error", "code": 500}}', Pasted.SERVER_ERROR),
        ('{"object": "error", "message": "No such model"}', Pasted.SERVER_ERROR),
        ("<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>", Pasted.PAGE),
    ],
)
def test_what_is_no_output_is_named(text: str, kind: Pasted) -> None:
    assert pasted_as(text) is kind
    assert kind.words
    assert kind.advice


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "It is 12 degrees.",
        f"The error says:\n\n{TRACEBACK}\nSo the call has no name.",
        f"{TRACEBACK}\nSo the call has no name. Look at the place where it is made, and check it first.\n",
        f"```\n{TRACEBACK}```",
        f"<think>\n{TRACEBACK}</think>\nIt fails.",
        '<tool_call>\n{"name": "w", "arguments": {"a": "Traceback (most recent call last):\\n  File"}}\n</tool_call>',
        "import os\nprint(os.getcwd())\n",
        f"Here is a script:\n```python\n{SCRIPT}```",
        f"The stack trace says:\n\n{NODE}\nNobody sets the value. Set it first, then call the function again.\n",
        "You can start vLLM with `--tool-call-parser hermes`. If the tool call is not parsed, look at the template.",
        "I ran the tests and two fail: the first one expected 3 but got 4.",
        "TypeError means that the value has the wrong type. Check it first.",
        "Error: the file does not exist. Which one did you mean?",
        "name: ci\non: push\njobs:\n  test:\n    runs-on: ubuntu\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "const a = 1;\nconsole.log(a);\n",
        "<!DOCTYPE html>\n<html><body><h1>My cats</h1></body></html>",
        "numpy==1.26\npandas==2.0\nrequests==2.31\nflask==3.0\n",
        "name: test\nversion: 1.0\nsteps:\n  - run: x\n",
        "## Environment\n\nThe environment is good.\n",
        "2024-01-02 10:00:00 started\n2024-01-02 10:00:01 stopped\n",
        "With vLLM you give the parser with `--tool-call-parser hermes`.",
        '{"name": "John", "age": 30}',
        '{"role": "assistant", "content": "Hi"}',
        '{"role": "user", "content": null}',
        '{"message": "Hi"}',
        '{"error": "no such city"}',
        '{"messages": 3}',
        "{not json}",
        "[" * 10_000,
        '{"a":' * 5_000,
        "Traceback (most recent call last):\nwithout a frame",
        "x" * (LONGEST + 1),
    ],
)
def test_what_a_model_may_write_is_left_alone(text: str) -> None:
    assert pasted_as(text) is None


def texts(name: str) -> list[tuple[str, str]]:
    parts = re.split(r"^#### (.+)\n", Path(__file__).with_name(name).read_text("utf-8"), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def told(text: str) -> str:
    found = look(text)
    return "nothing" if found is None else f"{'surely' if found.surely else 'perhaps'} {found.kind.name}"


PASTED, NO_OUTPUTS, OUTPUTS = texts("pasted_texts.txt"), texts("no_outputs.txt"), texts("true_outputs.txt")


@pytest.mark.parametrize(
    ("text", "surely"),
    [
        ("What is the issue?\n\nThe calls are prose.\n\nYour environment:\n\nLinux.\n", True),
        (
            "Since the update the calls of my agent come out as text. The server says this:\n\n```\n"
            'INFO 07-03 11:30:24 [parser.py:365] <tool_call>{"name": "f", "arguments": {}}\n'
            "INFO 07-03 11:30:25 [parser.py:366] done\n```\n",
            False,
        ),
    ],
)
def test_forms_and_logs_that_somebody_quotes_are_reports(text: str, surely: bool) -> None:
    assert look(text) == Looked(Pasted.REPORT, surely)


@pytest.mark.parametrize(("said", "text"), PASTED, ids=[said for said, _ in PASTED])
def test_each_text_of_the_file_is_what_its_heading_says(said: str, text: str) -> None:
    assert told(text) == said.split(":")[0]


@pytest.mark.parametrize(("said", "text"), NO_OUTPUTS, ids=[said for said, _ in NO_OUTPUTS])
def test_what_programs_and_reporters_write_is_no_output(said: str, text: str) -> None:
    assert told(text) == said.split(":")[0]
    assert not said.startswith("nothing")


@pytest.mark.parametrize(("said", "text"), OUTPUTS, ids=[said for said, _ in OUTPUTS])
@pytest.mark.replays
def test_what_models_write_is_never_refused(said: str, text: str) -> None:
    assert told(text) == said.split(":")[0]
    assert not said.startswith("surely")


@pytest.mark.replays
def test_no_output_of_the_cases_is_taken_for_anything_else() -> None:
    wrong = [(name, found) for name in case_names() if (found := look(case_named(name).text()))]
    assert wrong == [("json/empty-array", Looked(Pasted.EMPTY_MESSAGE, surely=False))], "`[]` may be either"
