"""The parser that a word means, NAME[:PARSER] of an entered engine or of `builtin`, and a case run by it: the same for
the command line, for guests and over HTTP.
"""

from __future__ import annotations

from typing import Any

from parsers.cases.case import Case, EngineVerdict, ParserRef
from parsers.cases.engines import BUILTIN
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_subject import case_readers
from webapp.engines.entered import entered, unknown
from webapp.engines.foreign import OPTIONS
from webapp.engines.protocol import EngineError
from webapp.settings import Settings


def parser_of_word(word: str, settings: Settings) -> dict[str, Any]:
    """The parser of a case that a word means. Raises EngineError for a name that is not entered."""
    name, _, parser = word.partition(":")
    if name == BUILTIN:
        return {"name": parser or "auto"}
    known = entered(settings).entries()
    if name not in known:
        raise EngineError(unknown(name, known))
    return {"name": parser or "auto", "engine": name}


def case_by_engine(case: Case, word: str, settings: Settings) -> Case:
    """The case run by an engine, held to what the case knows of that engine where it says something.

    Where nobody names a parser it is the one of vLLM or SGLang that reads what the parser of the case does. Raises
    EngineError for a name that is not entered, and UsageError for an engine that does not say which parsers it has.
    """
    parser = parser_of_word(word, settings)
    if "engine" in parser:
        parser["markers"] = case.parser.markers
        parser |= _own_readers(case, parser["engine"], settings) if parser["name"] == "auto" else {}
    return case.model_copy(update={"parser": ParserRef.model_validate(parser), "contract": None})


def held_as(case: Case, known: EngineVerdict) -> Case:
    """The case held to what is known of another engine, whatever it says of the one that runs it."""
    name = case.engine_name
    others = {key: said for key, said in case.engines.items() if key.partition(":")[0] != name}
    return case.model_copy(update={"engines": {**others, name: known}})


def case_by_parser(case: Case, name: str) -> Case:
    """The case read by another parser of ours."""
    return case.model_copy(update={"parser": ParserRef(name=name)})


def engine_words(case: Case) -> list[str]:
    """The options of a command that ask for the engine of a case again, and for its parsers."""
    parser = case.parser
    words = ["--engine", f"{parser.engine or BUILTIN}:{parser.name}"]
    reasoning = parser.options.get(OPTIONS[0])
    return [*words, "--reasoning-parser", str(reasoning)] if reasoning else words


def _own_readers(case: Case, engine: str, settings: Settings) -> dict[str, Any]:
    """The parsers of a server that read a case, as an engine is asked for them; nothing where it is not known to have
    any."""
    engines = entered(settings)
    entry = engines.entries()[engine]
    kind = entry.adapter or engine
    if entry.own or kind not in ("vllm", "sglang"):
        return {}
    card = engines.card(engine)
    tool, reasoning = case_readers(names_of(kind), case)
    if (tool or reasoning) not in (*card.names("tool"), *card.names("reasoning")):
        return {}
    told = {"options": {OPTIONS[0]: reasoning}} if tool and reasoning in card.names("reasoning") else {}
    return {"name": tool or reasoning, **told}
