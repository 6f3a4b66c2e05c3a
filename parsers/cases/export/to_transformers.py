"""A test for transformers' reading of responses: a response template, an output, and the message that it gives.

The shape is a unittest.TestCase of huggingface/transformers, tests/utils, on `transformers.utils.chat_parsing` (5.23):
`ResponseParser` over chunks, and `parse_response` of the whole, which must give the same. Only a case that brings its
template can be told so.
"""

from __future__ import annotations

from parsers.cases.export.same_code import SAME_JSON
from parsers.cases.export.suite_literals import python, python_pretty
from parsers.cases.export.suite_subject import Subject
from parsers.cases.export.suite_target import Literals, SuiteTarget
from parsers.vocabulary.types import UsageError

_IS_TEXT = '''
def is_text(call, text):
    """Whether the arguments are this text; of those that a template reads nobody knows how they were written."""
    given = call.get("arguments", {})
    return given == text if isinstance(given, str) else spelled(json.dumps(given)) == spelled(text)

'''


def _literals(subject: Subject) -> Literals:
    template = subject.case.parser.options.get("template")
    if not isinstance(template, dict):
        raise UsageError("transformers reads by the response template of a tokenizer, and this case brings none along")
    rows = "".join([f"    {python(chunk)},\n" for chunk in subject.chunks])
    return {
        "TEMPLATE": python_pretty(template.get("response_template", template)),
        "PREFIX": python(subject.case.context.prompt_tail or ""),
        "TOOLS": python_pretty(subject.tools or None),
        "CHUNKS": f"[\n{rows}]",
        "SAME_JSON": f"\n{SAME_JSON}\n" if subject.calls else "",
        "IS_TEXT": _IS_TEXT if any(call.raw is not None for call in subject.calls or ()) else "",
        "CLASS": "".join([part.capitalize() for part in subject.slug.split("_")]),
        "CHECKS": "\n        ".join(_checks(subject)) or "self.assertIsInstance(message, dict)",
    }


def _checks(subject: Subject) -> list[str]:
    expect, found = subject.expect, []
    if expect.reasoning is not None:
        found.append("thoughts = [message.get(key) for key in THINKING]")
        found.append(_same(subject, "reasoning", 'next(filter(None, thoughts), "")'))
    if expect.content is not None:
        found.append(_same(subject, "content", '(message.get("content") or "")'))
    if expect.tool_calls is not None:
        found.append("calls = calls_of(message)")
        names = python_pretty([call.name for call in expect.tool_calls], 8)
        found.append(f'self.assertEqual([call["name"] for call in calls], {names})')
    for at, call in enumerate(subject.calls or ()):
        if call.raw is not None:
            found.append(f"self.assertTrue(is_text(calls[{at}], {python(call.raw)}), calls[{at}])")
        else:
            told = f"spelled(json.dumps({python_pretty(call.arguments, 8)}))"
            found.append(f"self.assertEqual(spelled(arguments_of(calls[{at}])), {told})")
    return found


def _remark(subject: Subject) -> str:
    """Of several regions of one field transformers keeps the last, and our reader of templates all."""
    kinds = [event.kind for event in subject.events or () if event.kind != "tool_call"]
    several = len(kinds) > len({*kinds})
    return "transformers keeps the last text of each kind alone; the parser of this case keeps all." if several else ""


def _same(subject: Subject, field: str, said: str) -> str:
    told = f"{python(subject.sign(field))}.join({said}.split())" if subject.soft else said
    return f"self.assertEqual({told}, {python(subject.wanted(field))})"


TRANSFORMERS = SuiteTarget(
    name="transformers",
    words="transformers test",
    about="a template and its message",
    path="tests/utils/test_chat_parsing_{slug}.py",
    template="to_transformers.txt",
    mimetype="text/x-python",
    comment="#",
    licence="Apache-2.0",
    literals=_literals,
    reads=lambda case, fmt: isinstance(case.parser.options.get("template"), dict),
    remark=_remark,
)
