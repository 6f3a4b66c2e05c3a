"""A case as one stand-alone pytest file.

Strategy: the file is fixed code (pytest_file.txt) around literals. Every literal is written by `repr`, so that no text
of a case can become code. The fixed code needs pytest and the standard library; only `make_parser`, the one function a
user replaces, imports what is tested (makes_*.txt): the parser of vLLM or SGLang that the case names, a class of
somebody's own, else the one that the inspector has. Where that is not installed the test says so.

Invariants: same case, same file; what is compared is what `parsers.cases.expect` compares, except the finish reason,
which a server decides around its parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.cases import jsontext
from parsers.cases.case import Case, Expect, ExpectedCall, ExpectedEvent
from parsers.cases.expect import expected_parts
from parsers.cases.export.same_code import SAME_JSON, code_of, same_order
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_subject import TestedIds, choice_of, compared, numbered, own_names, tools_of
from parsers.cases.io import one_line, to_data
from parsers.cases.request_told import request_of
from parsers.formats.model import Format
from parsers.replays.chunking import WHOLE, Chunking, Sent, all_asked, apply, label
from parsers.vocabulary.types import Delta, Piece, UsageError

_KNOWN = {
    "": ("makes_inspector.txt", "from collections import deque\n"),
    "vllm": ("makes_vllm.txt", "from functools import partial\nfrom importlib import import_module\n"),
    "sglang": ("makes_sglang.txt", "from types import SimpleNamespace\n"),
    "class": (
        "makes_class.txt",
        "from importlib import import_module\nfrom inspect import Parameter, signature\n"
        "from types import SimpleNamespace\n",
    ),
}
_PARSER_KEYS = ("schema", "source", "parser", "input", "tokenizer", "tools", "context")
_APART = ("$schema", "title", "expect")  # these are told otherwise

_LITERALS = "# The literals of the case stand here.\n"
_IMPORTS = "# Imports of the parser stand here.\n"
_PARSER = "# The parser stands here.\n"
_VALUES = "# How values compare stands here.\n"
_ORDER = "# How an order is compared stands here.\n"
_IN_ORDER = "    # The order is compared here.\n"


@dataclass(slots=True, frozen=True)
class EngineParser:
    """Whose parser a file tests: the kind of engine, its parser's name, the format that it reads, and for a class of
    somebody's own module:Class."""

    engine: str
    name: str
    format: Format
    own_class: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether a file can make it without the inspector."""
        return self.engine in _KNOWN and self.engine != ""


def pytest_file(
    case: Case,
    pieces: Sequence[Piece] | None = None,
    *,
    expect: Expect | None = None,
    parser: str | None = None,
    keep_engine: bool = False,
    chunkings: Sequence[Chunking] | None = None,
    due: Sequence[int] | None = None,
    sent: Sent | None = None,
    tested: EngineParser | None = None,
) -> str:
    """The text of a test file for `case`.

    `pieces` defaults to the case's own tokens, `expect` to the case's own expectation, `chunkings` to what the check
    tries where any cut counts (`parsers.cases.run.tried_chunkings` knows the others). `parser` names the built-in
    parser where the case says "auto" or a foreign engine; `keep_engine`: the engine of the case comes with the
    inspector, so the default parser can run it.
    `due` and `sent` shape the deltas as `parsers.replays.chunking.apply` has it; tokens that a decode policy changes
    are given as they were decoded, in a case without one (`parsers.cases.run.settled_case`).
    `tested`: the parser of an engine that the file makes itself.
    The file grows with output length times number of chunkings. Raises UsageError where something is missing.
    """
    wanted = compared(expect or case.known.expect)
    found = case.pieces() if pieces is None else tuple(pieces)
    if found is None:
        raise UsageError("this case stores no tokens: give the pieces a tokenizer made of its text")
    chosen = dict.fromkeys(all_asked(case.replay) if chunkings is None else chunkings)
    if not chosen:
        raise UsageError("give at least one chunking to test")
    known = tested if tested is not None and tested.is_known else None
    fed = found if known is None else numbered(found)
    cut = {
        chunking: apply(chunking, fed, case.mode(), due=due, sent=sent, halves=known is not None) for chunking in chosen
    }
    ids = (
        None
        if known is None
        else TestedIds(case, known.name, known.format, fed, [one for row in cut.values() for one in row])
    )
    stored, soft = case.with_pieces(found), case.compare.whitespace == "soft"
    literals = [
        _constant("TITLE", case.title or ""),
        _constant("CASE", _parser_data(stored, parser, keep_engine or known is not None), inline=True),
        _constant("EXPECT", _expected(wanted, soft=soft)),
        _constant("SOFT_WHITESPACE", soft),
        _constant("FINISH_REASON", case.context.finish_reason),
        _constant("WHOLE", label(WHOLE)),
        *_rest(case),
        *([] if known is None or ids is None else _of_engine(known, case, ids, cut)),
        _chunkings(cut, ids),
    ]
    order = same_order(soft=soft) if wanted.events is not None else ""
    return _program(known.engine if known else "", literals, order)


def _program(engine: str, literals: Sequence[str], order: str) -> str:
    file, imports = _KNOWN[engine]
    code = {
        _IMPORTS: imports,
        _PARSER: code_of(file),
        _VALUES: SAME_JSON,
        _ORDER: f"\n\n{order}" if order else "",
        _IN_ORDER: code_of("pytest_file_order.txt") if order else "",
        _LITERALS: "\n".join(literals),
    }
    program = code_of("pytest_file.txt")
    for place, text in code.items():  # the literals last: no text of theirs is a place
        program = program.replace(place, text)
    return program


def _of_engine(tested: EngineParser, case: Case, ids: TestedIds, cut: Mapping[Chunking, Sequence[Delta]]) -> list[str]:
    """What the code that makes the parser of an engine needs to know."""
    own = {"CLASS": list(tested.own_class.partition(":")[::2]), "REQUEST": request_of(case.to_context())}
    values = own if tested.own_class else _of_server(tested, case, ids)
    prompt = None if case.context.prompt_tail is None else ids.prompt(case)
    values = {**values, "VOCABULARY": dict(ids.vocabulary), "PROMPT_IDS": prompt}
    tokens = dict[int, str]()
    for number, text in [one for row in cut.values() for delta in row for one in ids.tokens(delta.pieces)]:
        tokens[number] = max(tokens.get(number, ""), text, key=len)  # some chunkings cut a token that others have whole
    rows = "".join([f"  {number}: {text!r},\n" for number, text in tokens.items()])
    return [*[_constant(name, value) for name, value in values.items()], f"TOKENS = {{\n{rows}}}"]


def _of_server(tested: EngineParser, case: Case, ids: TestedIds) -> dict[str, Any]:
    tool, reasoning = own_names(case, tested.name, names_of(tested.engine))
    return {
        "TOOL_PARSER": tool,
        "REASONING_PARSER": reasoning,
        "TOOLS": tools_of(case),
        "TOOL_CHOICE": choice_of(case),
        "TEMPLATE_KWARGS": case.context.template_kwargs,
        "REASONING_OPEN": bool(case.context.reasoning_open),
    }


def _parser_data(case: Case, name: str | None, keep_engine: bool) -> dict[str, Any]:
    """Return what the default parser needs of the case, with a built-in parser named."""
    data = to_data(case)
    if case.parser.name == "auto" or (case.parser.engine is not None and not keep_engine):
        if name is None:
            raise UsageError("name the built-in parser that the test file shall run: the case does not")
        data["parser"] = {**data["parser"], "name": name}
        data["parser"].pop("engine", None)
    data["input"] = {"tokens": data["input"]["tokens"]}
    return {key: data[key] for key in _PARSER_KEYS if key in data}


def _rest(case: Case) -> list[str]:
    """What the case says besides, which no parser may know; whoever reads the test as a case wants it."""
    data = {key: value for key, value in to_data(case).items() if key not in (*_PARSER_KEYS, *_APART)}
    return (
        [f"# What else the case says. Nothing here asks for it.\n{_constant('REST', data, inline=True)}"]
        if data
        else []
    )


def _expected(expect: Expect, *, soft: bool) -> dict[str, Any]:
    """The expectation, each text as one string, and parts in order as they are compared. The finish reason is told and
    not compared."""
    texts = {"reasoning": expect.reasoning, "content": expect.content, "finish_reason": expect.finish_reason}
    found: dict[str, Any] = {field: text for field, text in texts.items() if text is not None}
    if expect.tool_calls is not None:
        found["tool_calls"] = [_expected_call(call) for call in expect.tool_calls]
    if expect.events is not None:
        found["events"] = [_expected_event(event) for event in expected_parts(expect, soft=soft)]
    return found


def _expected_event(event: ExpectedEvent) -> dict[str, Any]:
    said = _expected_call(event.call) if event.kind == "tool_call" else {"text": event.text}
    return {"kind": event.kind, **said}


def _expected_call(call: ExpectedCall) -> dict[str, Any]:
    if call.raw is not None:
        return {"name": call.name, "raw": call.raw}
    return {"name": call.name, "arguments": call.arguments}


def _chunkings(chunkings: Mapping[Chunking, Sequence[Delta]], ids: TestedIds | None) -> str:
    rows: dict[str, list[Any]] = {}
    for chunking, deltas in chunkings.items():
        rows[_free_label(label(chunking), rows)] = [
            [delta.text, list(delta.token_ids) if ids is None else ids.ids(delta)] for delta in deltas
        ]
    literal = jsontext.pretty(rows, lambda path: len(path) == 2, repr)
    return f"# How the output arrives: for each chunking its deltas, as text and token ids.\nCHUNKINGS = {literal}\n"


def _free_label(name: str, taken: dict[str, list[Any]]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def _constant(name: str, value: Any, *, inline: bool = False) -> str:
    literal = jsontext.pretty(value, one_line if inline else (lambda path: False), repr)
    return f"{name} = {literal}"
