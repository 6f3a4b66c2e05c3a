"""transformers' chat parsing as this engine uses it: found, checked, loaded, and made to watch (see `watching`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from parsers.vocabulary.types import FormatError, UsageError
from webapp.engines.response_template.patterns import Budget, Watched, rehearse
from webapp.engines.response_template.watching import USED, Listener, Watching


@cache
def library() -> Any:
    """The module of ResponseParser. Raises UsageError where it is not installed or is not what it was."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        found = import_module("transformers.utils.chat_parsing.response_parser")
    except ImportError as error:
        raise UsageError(f"the engine response_template needs transformers 5.13 or later: {error}") from error
    return checked(found)


def checked(found: Any) -> Any:
    """The module, if ResponseParser has the parts that are watched here."""
    missing = [name for name in USED if not hasattr(found.ResponseParser, name)]
    if missing:
        version = import_module("transformers").__version__
        raise UsageError(
            f"the ResponseParser of transformers {version} has no {', '.join(missing)}: the engine response_template"
            " was written for 5.23"
        )
    return found


def _engine() -> Any:
    """The module that ResponseParser matches with: `regex`."""
    return import_module("transformers.utils.chat_parsing.content_parsers").re


def load(template: dict[str, Any]) -> Any:
    """The template as transformers loads it. Raises FormatError with transformers' own words."""
    try:
        return library().load_response_template(template)
    except RecursionError as error:
        raise FormatError("a pattern is nested too deeply") from error
    except ValueError as error:
        words, place = str(error), ""
        for name in template["fields"]:
            if words.startswith(f"Field '{name}': "):
                words = words.removeprefix(f"Field '{name}': ")
                place = f"/fields/{name.replace('~', '~0').replace('/', '~1')}"
        raise FormatError(words, place) from error


def _watched(spec: Any, budget: Budget) -> Any:
    """The loaded template with patterns that have a deadline."""

    def over(pattern: Any) -> Any:
        return None if pattern is None else Watched(pattern, budget)

    fields = {
        name: replace(field, open_re=over(field.open_re), close_re=over(field.close_re))
        for name, field in spec.fields.items()
    }
    return replace(spec, fields=fields, start_anchor_re=over(spec.start_anchor_re))


def observe(spec: Any, prefix: str, tools: Sequence[dict[str, Any]], listener: Listener, budget: Budget) -> Any:
    """A new parser for a loaded template. Raises StuckError or TooSlowError for a prefix that it cannot get through."""

    def tried(text: str, field: Any) -> None:
        rehearse(text, field.content, field.content_args, budget, _engine())

    return _observed()(_watched(spec, budget), prefix, tools, listener, tried)


@cache
def _observed() -> Any:
    return type("Observed", (Watching, library().ResponseParser), {})
