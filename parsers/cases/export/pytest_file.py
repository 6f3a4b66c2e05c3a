"""A case as one stand-alone pytest file.

Strategy: the file is fixed code (pytest_file.txt) around literals. Every literal is written by `repr`, so that no text
of a case can become code. The fixed code needs pytest and the standard library; only the default body of `make_parser`,
the one function a user replaces, imports the installed inspector.

Invariants: same case, same file; what is compared is what `parsers.cases.expect` compares, except the finish reason,
which a server decides around its parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from parsers.cases import jsontext
from parsers.cases.case import Case, Expect, ExpectedCall
from parsers.cases.io import one_line, to_data
from parsers.replays.chunking import DEFAULT_COMPARED, Chunking, Sent, apply, label
from parsers.vocabulary.types import Delta, Piece, UsageError

_PARSER_KEYS = ("schema", "source", "parser", "input", "tokenizer", "tools", "context")

_LITERALS = "# The literals of the case stand here.\n"


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
) -> str:
    """The text of a test file for `case`.

    `pieces` defaults to the case's own tokens, `expect` to the case's own expectation, `chunkings` to the case's
    followed by the default ones. `parser` names the built-in parser where the case says "auto" or a foreign engine;
    `keep_engine`: the engine of the case comes with the inspector, so the default parser can run it.
    `due` and `sent` shape the deltas as `parsers.replays.chunking.apply` has it; tokens that a decode policy changes
    are given as they were decoded, in a case without one (`parsers.cases.run.settled_case`).
    The file grows with output length times number of chunkings. Raises UsageError where something is missing.
    """
    wanted = expect or case.known.expect
    if wanted is None:
        raise UsageError("this case expects nothing yet: accept today's result, or write what is right, then export")
    found = case.pieces() if pieces is None else tuple(pieces)
    if found is None:
        raise UsageError("this case stores no tokens: give the pieces a tokenizer made of its text")
    chosen = dict.fromkeys((*case.replay, *DEFAULT_COMPARED) if chunkings is None else chunkings)
    if not chosen:
        raise UsageError("give at least one chunking to test")
    literals = [
        _constant("TITLE", case.title or ""),
        _constant("CASE", _parser_data(case.with_pieces(found), parser, keep_engine), inline=True),
        _constant("EXPECT", _expected(wanted)),
        _constant("SOFT_WHITESPACE", case.compare.whitespace == "soft"),
        _constant("CALLS_BY_INDEX", case.compare.calls == "index"),
        _constant("FINISH_REASON", case.context.finish_reason),
        _chunkings({chunking: apply(chunking, found, case.mode(), due=due, sent=sent) for chunking in chosen}),
    ]
    program = (resources.files("parsers.cases.export") / "pytest_file.txt").read_text(encoding="utf-8")
    return program.replace(_LITERALS, "\n".join(literals))


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


def _expected(expect: Expect) -> dict[str, Any]:
    """The expectation with only what is checked, each text as one string."""
    texts = {"reasoning": expect.reasoning, "content": expect.content}
    found: dict[str, Any] = {field: text for field, text in texts.items() if text is not None}
    if expect.tool_calls is not None:
        found["tool_calls"] = [_expected_call(call) for call in expect.tool_calls]
    return found


def _expected_call(call: ExpectedCall) -> dict[str, Any]:
    if call.raw is not None:
        return {"name": call.name, "raw": call.raw}
    return {"name": call.name, "arguments": call.arguments}


def _chunkings(chunkings: Mapping[Chunking, Sequence[Delta]]) -> str:
    rows: dict[str, list[Any]] = {}
    for chunking, deltas in chunkings.items():
        rows[_free_label(label(chunking), rows)] = [[delta.text, list(delta.token_ids)] for delta in deltas]
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
