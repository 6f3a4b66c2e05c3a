"""The option `--engine` of the commands that run cases: an entered engine by its name, or a class of one's own.

It may be given again, to compare: [LABEL=]NAME[:PARSER] each time. Our own parsers are those of the engine `builtin`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from parsers.vocabulary.types import UsageError
from webapp.engines.entered import use_engines
from webapp.engines.entries import Entry, checked_entry
from webapp.engines.foreign import OPTIONS
from webapp.engines.named_parser import parser_of_word
from webapp.engines.protocol import EngineError
from webapp.settings import get_settings

OWN = "class"  # the name of the engine that is a class of the command line
_PLACES = frozenset(("python", "path", "folder", "plugin", "tokenizer"))  # of an entry: files or folders
_LABEL = re.compile(r"[^=:\s]{1,40}")


class _Given(Protocol):
    """Holds the options that are about engines."""

    parser: str | None
    format_file: str | None
    engine: tuple[str, ...]
    python: str | None
    path: str | None
    reasoning_parser: str | None


def engine_option(data: dict[str, Any], options: _Given) -> None:
    """Let an engine run the case, where the options say so. Raises UsageError."""
    if not options.engine:
        for name in ("python", "path", "reasoning_parser"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')}: say which engine with --engine")
        return
    if options.path is not None and options.python is None:
        raise UsageError("--path: give the interpreter with --python; an engine that is entered has its own")
    for name, value in (("parser", options.parser), ("format", options.format_file)):
        if value is not None:
            raise UsageError(f"--{name} and --engine both say who parses; leave one out (--engine NAME:PARSER)")
    word = options.engine[0]
    parser = _of_class(word, options.python, options.path) if options.python else named(word)
    if options.reasoning_parser is not None:
        parser["options"] = {OPTIONS[0]: options.reasoning_parser}
    told = data.get("parser", {}).get("markers") if "engine" in parser else None
    data["parser"] = {**parser, "markers": told} if told else parser


class Named(NamedTuple):
    """One of several engines: what it is called in the report, and the word that names it, without its label."""

    label: str
    word: str


def several(words: Sequence[str]) -> list[Named]:
    """The engines that are compared. Each is called by its label, else by its name, or by all of its word where
    several have the name. Raises UsageError for two of one label."""
    found = [_labelled(word) for word in words]
    names = Counter(word.partition(":")[0] for label, word in found if not label)
    called = [
        Named(label or (name if names[name := word.partition(":")[0]] == 1 else word), word) for label, word in found
    ]
    again = next((label for label, times in Counter(one.label for one in called).items() if times > 1), None)
    if again is not None:
        raise UsageError(f"--engine: two are called {again}; give them labels, as in --engine a={called[0].word}")
    return called


def _labelled(word: str) -> tuple[str, str]:
    label, equals, rest = word.partition("=")
    if equals and not _LABEL.fullmatch(label):
        raise UsageError(f"--engine {word}: a label has no blank and no colon, and 40 characters at most")
    return (label, rest) if equals else ("", word)


def named(word: str) -> dict[str, Any]:
    """The parser of a case that `[LABEL=]NAME[:PARSER]` means. Raises UsageError for a name that is not entered."""
    try:
        return parser_of_word(_labelled(word)[1], get_settings())
    except EngineError as error:
        raise UsageError(f"--engine {word}: {error}") from error


def _of_class(word: str, python: str, path: str | None) -> dict[str, Any]:
    entry = placed_entry(OWN, {"python": python, "class": word, **({} if path is None else {"path": path})})
    use_engines(get_settings(), more={OWN: entry})
    return {"name": "auto", "engine": OWN}


def placed_entry(name: str, values: dict[str, Any]) -> Entry:
    """The entry of these values. Places are those that they are now, whatever folder it is used in. Raises
    UsageError."""
    for key in _PLACES & values.keys():
        if key != "python" or Path(values[key]).name != values[key]:  # else it is a program of PATH
            values[key] = str(Path(values[key]).absolute())
    if "path" in values and not Path(values["path"]).is_dir():
        raise UsageError(f"--path: there is no folder {values['path']}")
    return checked_entry(name, values)
