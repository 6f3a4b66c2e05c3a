"""A test for vLLM's suite of tool parsers: a `FormatFixture`, and the grouping of its tokens that fails.

The shape is that of vllm-project/vllm, tests/tool_parsers, on main in 2026: `FormatFixture` of
test_format_conformance.py, `run_tool_extraction_streaming_batched` of utils.py, which takes how many tokens each delta
has, and the `MockTokenizer` of tests/parser/engine/replay_harness.py, whose ids agree with the tokens. These suites
know calls and content alone, and feed no end: what a server adds to the last call there is not in them. The fixture is
one for the table of the first file, but for its `doc_ref`.
"""

from __future__ import annotations

from typing import Any

from parsers.cases.expect import arguments_text
from parsers.cases.export.same_code import SAME_JSON
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_literals import python, python_pretty
from parsers.cases.export.suite_subject import Subject, object_of
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_WHERE = "export the case to vllm"
_IMPORT = "from tests.tool_parsers.utils import run_tool_extraction_streaming_batched\n"
_GROUPED = """texts, ids = [text for _, text in TOKENS], [number for number, _ in TOKENS]
    said = run_tool_extraction_streaming_batched(
        parser, texts, ids, GROUPING, request, assert_one_tool_per_delta=False
    )
    content, calls = said.other_content, said.tool_calls"""
_WHOLE = """said = parser.extract_tool_calls(FIXTURE.raw_output, request)
    content, calls = said.content or "", said.tool_calls"""


def _literals(subject: Subject) -> Literals:
    tool = _tool_parser(subject)
    tokens, sizes = subject.cut_tokens, subject.cut_tokens.sizes
    if sizes is None:
        raise UsageError(f"text that comes later than its ids is nothing this suite has: {_WHERE}")
    rows = "".join([f"    ({number}, {python(text)}),\n" for number, text in tokens.tokens])
    output = "".join(subject.chunks)
    markers = sorted([text for text in tokens.vocabulary if text in output], key=output.index)
    choice = subject.tool_choice
    return {
        "IMPORT": "" if subject.whole else _IMPORT,
        "FAMILY": python(subject.slug),
        "PARSER": python(tool),
        "OUTPUT": python(output),
        "CALLS": _tuple([f"({python(name)}, {python_pretty(value, 8)})" for name, value in _calls(subject)], 8),
        "MARKERS": _tuple([python(text) for text in markers], 8),
        "VOCABULARY": python_pretty(dict(tokens.vocabulary)),
        "TOKENS": f"[\n{rows}]",
        "GROUPING": "" if subject.whole else f"GROUPING = {python_pretty([*sizes])}\n",
        "TOOLS": python_pretty(subject.tools or None),
        "CHOICE": "" if choice == "auto" else f"        tool_choice={python_pretty(choice, 8)},\n",
        "SAME_JSON": SAME_JSON,
        "REPLAY": _WHOLE if subject.whole else _GROUPED,
        "CHECKS": "".join([f"\n    {line}" for line in _checks(subject)]),
    }


def _tool_parser(subject: Subject) -> str:
    """The tool parser that is tested. Raises UsageError where a case is about reasoning, or about what the server does
    instead."""
    subject.refuse_unread("vLLM's suite of tool parsers")
    if subject.engine == "vllm" and subject.tool_choice != "auto":  # which its server may read as JSON, without them
        raise UsageError(f"vLLM's suite of tool parsers calls them as for tool_choice 'auto': {_WHERE}")
    tool, reasoning = subject.named("vllm", names_of("vllm"))
    if tool is None or reasoning is not None:
        raise UsageError(f"vLLM's suite of tool parsers has no reasoning: {_WHERE}")
    return tool


def _calls(subject: Subject) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the fixture expects. Raises UsageError where it cannot say them."""
    if subject.calls is None:
        raise UsageError(f"a format fixture says which calls come out, and the case does not: say so, or {_WHERE}")
    found = []
    for call in subject.calls:
        value = object_of(call)
        if value is None:
            raise UsageError(f"a format fixture has the arguments of a call as an object, and one has none: {_WHERE}")
        found.append((call.name, value))
    return found


def _checks(subject: Subject) -> list[str]:
    """What is asserted besides the calls of the fixture."""
    content, calls = subject.expect.content, subject.calls or ()
    said = f"{python(subject.sign('content'))}.join(content.split())" if subject.soft else "content"
    found = [] if content is None else [f"assert {said} == {python(subject.wanted('content'))}"]
    if calls and all(call.raw is not None for call in calls):
        texts = python_pretty([arguments_text(call) for call in calls], 4)
        return [*found, f"assert [call.function.arguments for call in calls] == {texts}"]
    exact = [(at, call.raw) for at, call in enumerate(calls) if call.raw is not None]
    return found + [f"assert calls[{at}].function.arguments == {python(raw)}" for at, raw in exact]


def _tuple(items: list[str], indent: int) -> str:
    rows = "".join([f"{' ' * indent}{item},\n" for item in items])
    return f"(\n{rows}{' ' * (indent - 4)})" if items else "()"


VLLM_FORMAT = SuiteTarget(
    name="vllm_format",
    words="vLLM format fixture",
    about="with a test of its grouping",
    path="tests/tool_parsers/test_{slug}.py",
    template="to_vllm_format.txt",
    mimetype="text/x-python",
    comment="#",
    licence="Apache-2.0",
    literals=_literals,
    reads=lambda case, fmt: fmt in names_of("vllm").tool.values() and not case.context.reasoning_open,
)
