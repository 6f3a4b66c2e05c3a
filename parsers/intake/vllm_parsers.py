"""Which parser a sample of vLLM's tests is for: what its file asks the server for, else what its builder names.

In this order: `tool_parser_name` and `reasoning_parser_name`, the key that its builder is registered under, the one
parser class that a function on the way to the sample names (the outermost first: inner ones have defaults of others),
the one class of the file, the beginning of the id (`glm47_moe-content-only`). Only then it is guessed from the output,
and the case says so. Classes are called as their parsers are (`Glm47MoeParser`, `Qwen3ParserToolAdapter`;
vllm/parser/engine/registered_adapters.py of 0.33.0).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache

from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_subject import readers_of, shown_by
from parsers.formats.model import builtin_formats
from parsers.intake.evidence import Payload
from parsers.intake.python_literals import Literals
from parsers.intake.python_values import Record, last_part
from parsers.selection.registry import known_format

GUESSED = "Nothing in its file says which parser it is for: it is guessed from the output."
UNKNOWN = "No parser is known here by the name that its file gives: it is guessed from the output."
ALONE = (
    "vLLM's test_replay.py feeds the class of this parser by itself. A server feeds its reasoning parser and its tool"
    " parser in turn, and so does --engine: that may differ where text comes later than its ids."
)
_CALLS_OF = {"qwen3": "qwen3_coder"}  # Qwen3Parser: the reasoning parser of one name, the tool parser of the other
_CLASS = re.compile(r"(\w+?)(?:Engine)?(?:Tool|Reasoning)?Parser(?:ToolAdapter|ReasoningAdapter)?")


def parser_of(name: str) -> str:
    """Our parser that reads what a parser of vLLM does, by its name; auto where none is known to."""
    names = names_of("vllm")
    found = names.tool.get(name) or names.reasoning.get(name)
    if found is None and (fmt := known_format(name)) is not None:
        found = fmt.name
    return found or "auto"


class SuiteParsers:
    """Says which parser the samples of a file are for; what it names is looked for once."""

    def __init__(self, literals: Literals) -> None:
        self._tree = literals.tree
        self._tool, self._thinking = literals.told("tool_parser_name"), literals.told("reasoning_parser_name")
        self._found: dict[ast.AST, list[str]] = {}

    def of(self, given: Payload, record: Record, text: str) -> tuple[str, list[str]]:
        """The parser of a case, and what its notes should say of that."""
        asked = self._asked(given, text)
        if asked is not None:
            return asked, []
        for name in self._named(given, record):
            found = parser_of(_CALLS_OF.get(name, name))
            own = known_format(name)
            called = name if own is not None and own.name == found else found  # as its server calls it, if we do, too
            return called, [ALONE] if given.get("expected_reasoning") is not None else []
        shown = shown_by(text)
        return "auto" if shown == "passthrough" else shown, [GUESSED]

    def _asked(self, given: Payload, text: str) -> str | None:
        """Our parser for those of the server that a test asks for: one which is exported as a test of these, and has
        its markers if one does. None where it asks for none that is known."""
        names, asked = names_of("vllm"), (self._tool, self._thinking)
        if asked == (None, None):
            return None
        read = [names.reasoning.get(str(self._thinking)), names.tool.get(str(self._tool))]
        known = [*read, shown_by(text)]
        formats = [fmt for name in known if name is not None and (fmt := known_format(name)) is not None]
        reasoning, vocab = bool(given.get("expected_reasoning")), {*(given.get("vocab") or ())}
        for fmt in sorted(formats, key=lambda fmt: not vocab >= {*fmt.tokens, *fmt.end_tokens}):
            if readers_of(names, fmt, text, reasoning=reasoning) == asked:
                return fmt.name
        found = parser_of(str(self._tool or self._thinking))
        return None if found == "auto" else found

    def _named(self, given: Payload, record: Record) -> Iterator[str]:
        """The parsers that are named for a sample, the surest first."""
        yield from _known(record.under)
        for node in (*record.through, self._tree):
            if node not in self._found:
                self._found[node] = _classes(node)
            yield from self._found[node] if len(self._found[node]) == 1 else ()
        yield from _known(str(given.get("id") or "").partition("-")[0])


@cache
def _names() -> dict[str, str]:
    """The names of vLLM's parsers, and those of our formats that it has none for, by their letters and digits."""
    names, formats = names_of("vllm"), builtin_formats().values()
    ours = [name for fmt in formats for name in (*fmt.aliases, fmt.name)]
    read = [*[name for name, fmt in names.reasoning.items() if fmt], *[name for name, fmt in names.tool.items() if fmt]]
    return {_letters(name): name for name in [*ours, *read]}


def _letters(word: str) -> str:
    return re.sub("[^a-z0-9]", "", word.lower())


def _known(word: str) -> Sequence[str]:
    found = _names().get(_letters(word))
    return [] if found is None else [found]


def _classes(node: ast.AST) -> list[str]:
    """The parsers whose classes some source names."""
    words = dict.fromkeys(word for one in ast.walk(node) for word in _words(one))
    whole = [(word, found) for word in words if (found := _CLASS.fullmatch(word)) is not None]
    return list(dict.fromkeys(name for word, found in whole for name in _known(word) or _known(found[1])))


def _words(node: ast.AST) -> Sequence[str]:
    if isinstance(node, ast.alias):
        return [node.name.rpartition(".")[2]]
    return [last_part(node)] if isinstance(node, ast.Name | ast.Attribute) else []
