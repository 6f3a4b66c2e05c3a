"""A test for SGLang's function_call suite: a CustomTestCase that feeds chunks to a detector.

The shape is that of sgl-project/sglang, test/registered/unit/function_call (test_streaming_parity.py and the detectors'
own files of 2026): `register_cpu_ci`, tools as `Tool` objects, a detector by its name, `parse_streaming_increment` for
each chunk, and an empty increment behind them as its server flushes. At the end comes `finish`, which detectors have
(BaseFormatDetector, 0.5.23), and what the server adds to the last call. `tool_index` counts from 0 when streamed; what
a detector counts from for a whole output differs (#35564), so there the order is compared alone. A reasoning parser
reads first where the case has one.
"""

from __future__ import annotations

from parsers.cases.expect import arguments_text
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_literals import python, python_pretty
from parsers.cases.export.suite_subject import Subject, object_of
from parsers.cases.export.suite_target import Literals, SuiteTarget

_TRAILING = ("",)
_REASONING_IMPORT = "from sglang.srt.parser.reasoning_parser import ReasoningParser\n"
_BOTH = """thought, left = reasoning.parse_stream_chunk(chunk)
            said.hear("reasoning", thought)
            said.take(detector.parse_streaming_increment(left or "", TOOLS))"""
_TOOLS_ONLY = "said.take(detector.parse_streaming_increment(chunk, TOOLS))"
_REASONING_ONLY = """thought, left = reasoning.parse_stream_chunk(chunk)
            said.hear("reasoning", thought)
            said.hear("content", left)"""
_ENDED = "said.end(detector)"
_WHOLE_BOTH = """said.reasoning, left = reasoning.parse_non_stream(OUTPUT)
        said.take(detector.detect_and_parse(left, TOOLS))"""
_WHOLE_TOOLS = "said.take(detector.detect_and_parse(OUTPUT, TOOLS))"
_WHOLE_REASONING = "said.reasoning, said.content = reasoning.parse_non_stream(OUTPUT)"


_IN_WORDS = [
    'said.parts = [[kind, text if kind == "call" else " ".join(text.split())] for kind, text in said.parts]',
    'said.parts = [part for part in said.parts if part[0] == "call" or part[1]]  # white space does not count',
]


def _literals(subject: Subject) -> Literals:
    tool, reasoning = subject.named("sglang", names_of("sglang"))
    rows = "".join([f"    {python(chunk)},\n" for chunk in (*subject.chunks, *_TRAILING)])
    return {
        "REASONING_IMPORT": _REASONING_IMPORT if reasoning else "",
        "TOOLS": python_pretty(subject.tools),
        "OUTPUT": f"OUTPUT = {python(''.join(subject.chunks))}" if subject.whole else f"CHUNKS = [\n{rows}]",
        "CLASS": "".join([part.capitalize() for part in subject.slug.split("_")]),
        "SETUP": "\n        ".join(_made(subject, tool, reasoning)),
        "REPLAY": _replay(subject, tool, reasoning),
        "CHECKS": "\n        ".join(_checks(subject, reasoning)),
    }


def _made(subject: Subject, tool: str | None, reasoning: str | None) -> list[str]:
    made = [f"detector = FunctionCallParser.ToolCallParserEnum[{python(tool)}]()"] if tool else []
    if reasoning:
        forced = bool(subject.case.context.reasoning_open)
        made.append(f"reasoning = ReasoningParser(model_type={python(reasoning)}, force_reasoning={forced})")
    return made


def _replay(subject: Subject, tool: str | None, reasoning: str | None) -> str:
    if subject.whole:
        return (_WHOLE_BOTH if reasoning else _WHOLE_TOOLS) if tool else _WHOLE_REASONING
    step = (_BOTH if reasoning else _TOOLS_ONLY) if tool else _REASONING_ONLY
    end = f"\n        {_ENDED}" if tool else ""
    return f"for chunk in CHUNKS:\n            {step}{end}"


def _checks(subject: Subject, reasoning: str | None) -> list[str]:
    """What is asserted: that of which the case says what is right."""
    expect, found = subject.expect, []
    for name, text in (("reasoning", expect.reasoning), ("content", expect.content)):
        if text is not None and (text or name == "content" or reasoning):
            said = f'" ".join((said.{name} or "").split())' if subject.soft else f'said.{name} or ""'
            found.append(f"self.assertEqual({said}, {python(subject.told(text))})")
    if subject.order():
        rows = [[{"text": "content"}.get(kind, kind), text] for kind, text in subject.order()]
        found += _IN_WORDS if subject.soft else []
        found.append(f"self.assertIn(said.is_told and said.parts, (False, {python_pretty(rows, 8)}))")
    if expect.tool_calls is None:
        return found or ["self.assertIsNotNone(said)  # nothing raised"]
    names = python_pretty([call.name for call in expect.tool_calls], 8)
    found += ["calls = list(said.calls.values())", f"self.assertEqual([call.name for call in calls], {names})"]
    if not subject.whole:
        found.append("self.assertEqual(list(said.calls), list(range(len(calls))))  # streamed: from 0")
    for at, call in enumerate(expect.tool_calls):
        value = object_of(call)
        if value is None or call.raw is not None:
            found.append(f"self.assertEqual(calls[{at}].arguments, {python(arguments_text(call))})")
        else:
            found.append(f"self.assertEqual(json.loads(calls[{at}].arguments), {python_pretty(value, 8)})")
    return found


SGLANG = SuiteTarget(
    name="sglang",
    words="SGLang test",
    about="a CustomTestCase with chunks",
    path="test/registered/unit/function_call/test_{slug}.py",
    template="to_sglang.txt",
    mimetype="text/x-python",
    comment="#",
    licence="Apache-2.0",
    literals=_literals,
    reads=lambda case, fmt: names_of("sglang").has(fmt),
    keeps_order=True,
)
