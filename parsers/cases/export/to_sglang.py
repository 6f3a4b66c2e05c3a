"""A test for SGLang's function_call suite: a CustomTestCase that feeds chunks to a detector.

The shape is that of sgl-project/sglang, test/registered/unit/function_call (test_streaming_parity.py and the detectors'
own files of 2026): `register_cpu_ci`, tools as `Tool` objects, a detector by its name, `parse_streaming_increment` for
each chunk, and an empty increment behind them as its server flushes. At the end comes `finish`, which detectors have
(BaseFormatDetector, 0.5.23), and what the server adds to the last call. `tool_index` counts from 0 when streamed; what
a detector counts from for a whole output differs (#35564), so there the order is compared alone. A reasoning parser
reads first where the case has one; it alone does where the server would not ask for calls.
"""

from __future__ import annotations

from parsers.cases.export.same_code import SAME_JSON, same_order
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_literals import python, python_pretty
from parsers.cases.export.suite_subject import Subject
from parsers.cases.export.suite_target import Literals, SuiteTarget

_TRAILING = ("",)
_WITHOUT_TOOLS = ("minimax-m3",)  # detectors that read calls of tools that nobody declared (parses_without_tools)
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
        said.take_whole(detector.detect_and_parse(left or "", TOOLS))"""
_WHOLE_TOOLS = "said.take_whole(detector.detect_and_parse(OUTPUT, TOOLS))"
_TAKE_WHOLE = '''
    def take_whole(self, result):
        """All of an output that does not stream: each of its calls is one, whatever its tool_index."""
        for index, part in enumerate(result.calls):
            part.tool_index = index
        self.take(result)
'''
_STEPS = '''
    def begin(self):
        """The next chunk comes."""
        self.steps.append({"reasoning": "", "text": "", "call": []})

    def in_steps(self):
        """The steps, with the names of the calls."""
        return [{**step, "call": [self.calls[index].name for index in step["call"]]} for step in self.steps]
'''
_WHOLE_REASONING = "said.reasoning, said.content = reasoning.parse_non_stream(OUTPUT)"


def _literals(subject: Subject) -> Literals:
    tool, reasoning = _parsers(subject)
    rows = "".join([f"    {python(chunk)},\n" for chunk in (*subject.chunks, *_TRAILING)])
    return {
        "REASONING_IMPORT": _REASONING_IMPORT if reasoning else "",
        "TOOLS": python_pretty(subject.tools),
        "OUTPUT": f"OUTPUT = {python(''.join(subject.chunks))}" if subject.whole else f"CHUNKS = [\n{rows}]",
        "CLASS": "".join([part.capitalize() for part in subject.slug.split("_")]),
        "SETUP": "\n        ".join(_made(subject, tool, reasoning)),
        "REPLAY": _replay(subject, tool, reasoning),
        "SAME_JSON": f"\n{SAME_JSON}\n" if any(call.raw is None for call in subject.calls or ()) else "",
        "SAME_ORDER": f"\n{same_order(soft=subject.soft)}\n" if subject.order() else "",
        "STEPS": _STEPS if subject.order() else "",
        "TAKE_WHOLE": _TAKE_WHOLE if subject.whole and tool else "",
        "CHECKS": "\n        ".join(_checks(subject, reasoning)),
    }


def _parsers(subject: Subject) -> tuple[str | None, str | None]:
    """The tool and the reasoning parser, as the server asks them. Raises UsageError where it asks neither."""
    tool, reasoning = subject.named("sglang", names_of("sglang"))
    if subject.reads_calls or (tool in _WITHOUT_TOOLS and subject.tool_choice != "none"):
        return tool, reasoning
    if reasoning is None:
        subject.refuse_unread("SGLang's suite of detectors")
    return None, reasoning


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
    begun = "said.begin()\n            " if subject.order() else ""
    return f"for chunk in CHUNKS:\n            {begun}{step}{end}"


def _checks(subject: Subject, reasoning: str | None) -> list[str]:
    """What is asserted: that of which the case says what is right."""
    found = []
    for name in ("reasoning", "content"):
        text = subject.wanted(name, ordered=True)
        if text is not None and (text or name == "content" or reasoning):
            said = f'said.{name} or ""'
            said = f"{python(subject.sign(name))}.join(({said}).split())" if subject.soft else said
            found.append(f"self.assertEqual({said}, {python(text)})")
    if subject.order():
        rows = "".join([f"            ({python(kind)}, {python(text)}),\n" for kind, text in subject.order()])
        found.append(f"assert_order(said.in_steps(), [\n{rows}        ])")
    found += _of_calls(subject)
    return found or ["self.assertIsNotNone(said)  # nothing raised"]


def _of_calls(subject: Subject) -> list[str]:
    """What is asserted of the calls."""
    if subject.calls is None:
        return []
    names = python_pretty([call.name for call in subject.calls], 8)
    found = ["calls = [said.calls[index] for index in sorted(said.calls)]"]
    found.append(f"self.assertEqual([call.name for call in calls], {names})")
    if not subject.whole:
        found.append("self.assertEqual(sorted(said.calls), list(range(len(calls))))  # streamed: from 0")
    for at, call in enumerate(subject.calls):
        if call.raw is not None:
            found.append(f"self.assertEqual(calls[{at}].arguments, {python(call.raw)})")
        else:
            told = f"spelled(json.dumps({python_pretty(call.arguments, 8)}))"
            found.append(f"self.assertEqual(spelled(calls[{at}].arguments), {told})")
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
