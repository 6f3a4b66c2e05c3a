"""What tests in Rust share: the chunks, and what is asserted of a text and of calls."""

from __future__ import annotations

from parsers.cases import jsontext
from parsers.cases.expect import arguments_text
from parsers.cases.export.suite_literals import rust
from parsers.cases.export.suite_subject import Subject, object_of
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


def assertions(subject: Subject, text: str, name: str, arguments: str, indent: int) -> str:
    """What the case says is right. `text`, `name` and `arguments` are the code that has it, with {} for a call's
    number."""
    content = subject.told(subject.expect.content)
    said = f'{text}.split_whitespace().collect::<Vec<_>>().join(" ")' if subject.soft else text
    found = [] if content is None else [f"assert_eq!({said}, {rust(content)});"]
    calls = subject.calls
    found += [] if calls is None else [f"assert_eq!(calls.len(), {len(calls)});"]
    for at, call in enumerate(calls or ()):
        found.append(f"assert_eq!({name.format(at)}, {rust(call.name)});")
        value = object_of(call)
        if value is None or call.raw is not None:
            found.append(f"assert_eq!({arguments.format(at)}, {rust(arguments_text(call))});")
        else:
            read = f"serde_json::from_str::<Value>(&{arguments.format(at)}).unwrap()"
            found.append(f"assert_eq!({read}, serde_json::from_str::<Value>({json_text(value)}).unwrap());")
    return f"\n{' ' * indent}".join(found)
