"""The option `--engine` of the commands that run cases: an entered engine by its name, or a class of one's own."""

from __future__ import annotations

from typing import Any, Protocol

from parsers.cases.case import Case
from parsers.vocabulary.types import UsageError
from webapp.engines.entered import entered, unknown, use_engines
from webapp.engines.entries import checked_entry
from webapp.engines.foreign import OPTIONS
from webapp.settings import get_settings

OWN = "class"  # the name of the engine that is a class of the command line


class _Given(Protocol):
    """Holds the options that are about engines."""

    parser: str | None
    format_file: str | None
    engine: str | None
    python: str | None
    reasoning_parser: str | None


def engine_option(data: dict[str, Any], options: _Given) -> None:
    """Let an engine run the case, where the options say so. Raises UsageError."""
    if options.engine is None:
        for name in ("python", "reasoning_parser"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')}: say which engine with --engine")
        return
    for name, value in (("parser", options.parser), ("format", options.format_file)):
        if value is not None:
            raise UsageError(f"--{name} and --engine both say who parses; leave one out (--engine NAME:PARSER)")
    parser = _of_class(options.engine, options.python) if options.python else named(options.engine)
    if options.reasoning_parser is not None:
        parser["options"] = {OPTIONS[0]: options.reasoning_parser}
    data["parser"] = parser


def named(word: str) -> dict[str, Any]:
    """The parser of a case that `NAME[:PARSER]` means. Raises UsageError for a name that is not entered."""
    name, _, parser = word.partition(":")
    known = entered(get_settings()).entries()
    if name not in known:
        raise UsageError(f"--engine {word}: {unknown(name, known)}")
    return {"name": parser or "auto", "engine": name}


def _of_class(word: str, python: str) -> dict[str, Any]:
    entry = checked_entry(OWN, {"python": python, "class": word})
    use_engines(get_settings(), more={OWN: entry})
    return {"name": "auto", "engine": OWN}


def case_by_engine(case: Case, word: str) -> Case:
    """The case run by an engine, held to what the case knows of that engine where it says something."""
    return case.model_copy(update={"parser": type(case.parser).model_validate(named(word)), "contract": None})
