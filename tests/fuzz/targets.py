"""What is fuzzed: for each target what it does with some bytes, where its inputs begin, and which words it knows.

A target returns where all is well, whatever the bytes are; what it raises is a fault of the product. Refusals that are
promised (CaseError, FormatError, UsageError) are caught where they are promised and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from parsers.cases.case import Case, CaseError
from parsers.cases.corpus import case_texts, load_named
from parsers.cases.io import dumps, identified, loads
from parsers.formats.model import Format, builtin_formats, builtin_sources, policy_values
from parsers.intake.case_data import case_data
from parsers.intake.recognise import recognise
from parsers.machine.program import literals
from parsers.replays.chunking import Chunking
from parsers.vocabulary.events import Event
from parsers.vocabulary.types import Context, Message, Piece, UsageError
from parsers.wire.assemble import Assembler
from tests.corpus import case_data as data_of
from tests.corpus import case_named, case_names
from tests.parsers.properties.invariants import Claim, Run, as_ids, check_trace, owned
from tests.parsers.properties.strategies import JSON_BITS, TOOLS
from webapp.formats.format_text import check_text

Mark = Callable[[str, str], None]  # told of what was reached besides lines: a format, and one of its rows

MOST_OUTPUT = 1_000  # bytes
MOST_JSON = 12_000
MOST_LOG = 4_000
_NAMES = ("", "a.case.json", "a.cases.json", "a.har", "a.log", "a.py", "a.yaml", "a.jsonl")
_REASONS = (None, "stop", "length", None)
_CHOICES = ("auto", "none", "required", "named")
_WHOLE = Chunking(by="whole")
_FIRST_ID = 0x110000  # of markers: the id of a character is its code point
_LARGEST = 16  # characters of a piece
_TRACED = 16  # one in so many outputs


@dataclass(frozen=True)
class Target:
    """One thing that takes bytes of strangers. `share` is its part of a hundred executions."""

    about: str
    share: int
    run: Callable[[bytes, Mark], None]
    seeds: Callable[[], Iterable[bytes]]
    words: Callable[[], Iterable[str]]
    most: int  # bytes of an input
    is_json: bool = False  # what follows its first byte


class Head(NamedTuple):
    """What the first bytes of an output for a parser decide: which one it is, its request, its policies, the cuts."""

    parser: int
    request: int
    policy: int
    seed: int


# Outputs


def read_output(data: bytes, mark: Mark) -> None:
    """An output is read whole and in random pieces, with all that holds of every replay. Raises what is wrong."""
    head = Head(*data[:4].ljust(4, b"\0"))
    formats = [*builtin_formats().values()]
    run = _run(formats[head.parser % len(formats)], head, data[4:].decode("utf-8", "replace"))
    _held(run, head.seed, mark)


def _held(run: Run, seed: int, mark: Mark) -> None:
    """What holds of one output: all of it has one owner, and no chunking changes the message. Of one in a few every
    step is looked at too, which costs ten times as much."""
    chunking, parser = Chunking(by="random", unit="char", max=1 + seed % _LARGEST, seed=seed), run.parser
    message, events = _fed(run, chunking)
    for row in {move.row for move in parser.transitions or ()}:
        mark(run.fmt.name, row)
    _check_owners(owned(events), len(run.text))
    if run.message(_WHOLE) != message:
        raise AssertionError("another chunking gives another message")
    if not seed % _TRACED:
        check_trace(run, run.trace(chunking))


def _fed(run: Run, chunking: Chunking) -> tuple[Message, list[Event]]:
    """The message of an output in pieces, and all events; the rows that fired are the parser's `transitions`."""
    parser, assembler = run.parser, Assembler()
    parser.transitions = []
    parser.begin(run.context, mode=run.mode, markers=run.markers)
    events = [event for delta in run.deltas(chunking) for event in parser.feed(delta)]
    events += parser.finish(run.context.finish_reason)
    assembler.absorb(events)
    return assembler.message(), events


def _check_owners(claims: Sequence[Claim], length: int) -> None:
    """Every character has one owner."""
    at = 0
    for start, end, _ in (*claims, (length, length, "")):
        if start != at:
            raise AssertionError(f"nobody owns the output from {at} to {start}")
        at = end


def _run(fmt: Format, head: Head, text: str) -> Run:
    request = head.request
    context = Context(
        tools=TOOLS[request % len(TOOLS)],
        tool_choice=_CHOICES[request >> 2 & 3],  # type: ignore[arg-type]
        named_tool="f",
        reasoning_open=bool(request & 16),
        finish_reason=_REASONS[request >> 5 & 3],
    )
    policy = _policy(fmt, head.policy)
    if not (fmt.tokens and request & 128):
        return Run(fmt, (Piece(text),) if text else (), policy, context)
    markers = {marker: _FIRST_ID + number for number, marker in enumerate(fmt.tokens)}
    special = {marker: token.special for marker, token in fmt.tokens.items()}
    return Run(fmt, as_ids(text, markers, special, head.policy), policy, context, "ids", markers)


def _policy(fmt: Format, number: int) -> dict[str, str]:
    """One of the ways to set the policies of a format; 0 is its own."""
    if not number:
        return {}
    values = policy_values()
    return {name: values[name][(number + at) % len(values[name])] for at, name in enumerate(fmt.policies)}


def output_seeds() -> Iterator[bytes]:
    """The outputs of the case files under the parsers that they name, and the examples of the formats."""
    numbers = {name: number for number, name in enumerate(builtin_formats())}
    for case in _cases():
        if (number := numbers.get(case.parser.name)) is not None:
            request = 1 + 16 * bool(case.context.reasoning_open)
            yield bytes([number, request, 0, 3]) + case.text().encode("utf-8", "replace")
    for name, fmt in builtin_formats().items():
        for request in (1, 129):
            yield bytes([numbers[name], request, 0, 3]) + fmt.example.encode()


def output_words() -> Iterator[str]:
    """The literals of all formats, and pieces of JSON."""
    return chain((text for fmt in builtin_formats().values() for text in literals(fmt)), JSON_BITS)


# What people paste


def read_log(data: bytes, _mark: Mark) -> None:
    """Whatever is pasted is recognised, and what is said to be usable makes cases that are read."""
    first = data[0] if data else 0
    found = recognise(data[1:], pasted=bool(first & 1), filename=_NAMES[first >> 1 & 7] or None)
    for name, text in found.cases.items():
        _without_refusal(lambda name=name, text=text: load_named(name, text), CaseError)  # type: ignore[misc]
    for output in found.outputs:
        _without_refusal(lambda output=output: case_data(output), UsageError)  # type: ignore[misc]


def _without_refusal(run: Callable[[], Any], refusal: type[Exception]) -> None:
    try:
        run()
    except refusal:
        return


def log_seeds() -> Iterator[bytes]:
    """Case files, the recorded streams in them as servers send them, and outputs as they are pasted."""
    for case in _cases():
        yield b"\1" + case.text().encode("utf-8", "replace")
        if case.input.stream:
            frames = [json.dumps(chunk, ensure_ascii=False) for chunk in case.input.stream]
            yield b"\1" + "".join([f"data: {one}\n\n" for one in frames]).encode("utf-8", "replace")
            yield b"\0" + "\n".join(frames).encode("utf-8", "replace")
    for text in _case_texts():
        yield b"\2" + text


def log_words() -> Iterator[str]:
    """What logs are made of."""
    return chain(_keys_of([case.input.stream for case in _cases()]), JSON_BITS, ("data: ", "[DONE]", "event: "))


# Formats


def read_format(data: bytes, mark: Mark) -> None:
    """A definition is checked, and one without errors reads an output as every parser has to."""
    text, _, output = data[1:].decode("utf-8", "replace").partition("\0")
    checked = check_text(text)
    if checked.runs is not None:
        head = Head(0, data[0] & 127, 0, data[0])
        _held(_run(checked.runs, head, output or checked.runs.example), head.seed, _nothing)
        mark("formats", "runs")


def format_seeds() -> Iterator[bytes]:
    """The built-in definitions, and those that cases bring along, on one line."""
    brought = [data_of(name).get("parser", {}).get("format") for name in case_names()]
    for data in (*builtin_sources().values(), *[one for one in brought if one]):
        yield b"\1" + json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def format_words() -> Iterator[str]:
    """Keys and short texts of the definitions."""
    return chain(_keys_of(list(builtin_sources().values())), JSON_BITS)


# Cases


def read_case(data: bytes, _mark: Mark) -> None:
    """A case file is refused in words, or read, written and read again as the same case under the same id."""
    source = data[1:]
    try:
        case = loads(source)
    except CaseError:
        _without_refusal(lambda: case_texts(source.decode("utf-8", "replace")), CaseError)
        return
    text = dumps(case)
    again = loads(text)
    if again != case or dumps(again) != text:
        raise AssertionError("a case that is written is not the one that is read")
    try:
        name = identified(case)
    except CaseError:  # a number that not every reader keeps
        return
    if identified(again) != name:
        raise AssertionError("a case has two ids")


def case_seeds() -> Iterator[bytes]:
    """Every case file."""
    return (b"\0" + text for text in _case_texts())


def case_words() -> Iterator[str]:
    """Keys of cases."""
    return chain(_keys_of([data_of(name) for name in case_names()]), JSON_BITS)


def _cases() -> Iterator[Case]:
    return (case_named(name) for name in case_names())


def _case_texts() -> Iterator[bytes]:
    return (json.dumps(data_of(name), ensure_ascii=False).encode("utf-8", "replace") for name in case_names())


def _keys_of(data: Any) -> Iterator[str]:
    """The keys of objects at any depth."""
    if isinstance(data, dict):
        yield from data
        for value in data.values():
            yield from _keys_of(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _keys_of(value)


def _nothing(_name: str, _row: str) -> None:
    return


TARGETS = {
    "parsers": Target("outputs for every format", 45, read_output, output_seeds, output_words, MOST_OUTPUT),
    "intake": Target("what is pasted or uploaded", 20, read_log, log_seeds, log_words, MOST_LOG, is_json=True),
    "formats": Target("format definitions", 15, read_format, format_seeds, format_words, MOST_JSON, is_json=True),
    "cases": Target("case files", 20, read_case, case_seeds, case_words, MOST_JSON, is_json=True),
}
