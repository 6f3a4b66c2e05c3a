"""Who parses the outputs of a corpus: a parser of ours, or one of an engine, as the options of a command say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from webapp.commands.engine_option import engine_option
from webapp.commands.options import Options
from webapp.engines.entered import engine_title, entered
from webapp.sweeps.swept import Asked


def asked_of(asked: Asked, engine: tuple[str, ...], **parsers: Any) -> Asked:
    """What is asked for with its parser; of several engines the first. `parsers` are the options `parser`, `python`,
    `path` and `reasoning_parser`. Raises UsageError."""
    data: dict[str, Any] = {}
    engine_option(data, Options(engine=engine, **parsers))
    parser: Mapping[str, Any] | None = data.get("parser")
    if parser is None or "engine" not in parser:
        return replace(asked, parser=parsers["parser"] if parser is None else parser["name"])
    entered().card(parser["engine"])  # started now: what is wrong with it is said once
    return replace(asked, engine=parser, version=engine_title(parser["engine"]))
