"""What tests in Rust share: the chunks, and what is asserted of a text and of calls."""

from __future__ import annotations

import textwrap

from parsers.cases import jsontext
from parsers.cases.export.same_code import code_of
from parsers.cases.export.suite_literals import rust
from parsers.cases.export.suite_subject import Subject
from parsers.vocabulary.types import UsageError


def refuse_reasoning(subject: Subject, project: str) -> None:
    """Raise UsageError where reasoning stands in the output: a parser of calls there reads what follows it."""
    if subject.expect.reasoning or subject.case.context.reasoning_open:
        words = f"a parser of calls in {project} reads what follows the reasoning: leave that out of the output"
        raise UsageError(f"{words}, or export the case to another suite")


def chunks(subject: Subject, indent: int) -> str:
    """The chunks as items of an array, a line each."""
    return "".join([f"{' ' * indent}{rust(chunk)},\n" for chunk in subject.chunks])


def json_text(value: object) -> str:
    """A JSON value as a string of Rust that is its text."""
    return rust(jsontext.line(value))


def same_json(subject: Subject, indent: int = 0) -> str:
    """The code that compares arguments as values, before what follows; "" where none are compared so."""
    code = f"\n{code_of('same_json_rust.txt')}" if any(call.raw is None for call in subject.calls or ()) else ""
    return textwrap.indent(code, " " * indent)


def assertions(subject: Subject, text: str, name: str, arguments: str, indent: int) -> str:
    """What the case says is right. `text`, `name` and `arguments` are the code that has it, with {} for a call's
    number."""
    content = subject.wanted("content")
    found = [] if content is None else [f"assert_eq!({in_words(subject, text)}, {rust(content)});"]
    calls = subject.calls
    found += [] if calls is None else [f"assert_eq!(calls.len(), {len(calls)});"]
    for at, call in enumerate(calls or ()):
        found.append(f"assert_eq!({name.format(at)}, {rust(call.name)});")
        said = arguments.format(at)
        if call.raw is not None:
            found.append(f"assert_eq!({said}, {rust(call.raw)});")
        else:
            found.append(f'assert!(same(&{said}, {json_text(call.arguments)}), "{{}}", {said});')
    return f"\n{' ' * indent}".join(found)


def in_words(subject: Subject, text: str) -> str:
    """The code of a text as it is compared: where white space does not count its words alone."""
    return (
        f"{text}.split_whitespace().collect::<Vec<_>>().join({rust(subject.sign('content'))})" if subject.soft else text
    )
