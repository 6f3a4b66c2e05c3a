"""The options of `replay` and what they change in a case: an option that is given wins over the file.

Options become keys of the case and the case model validates all of them, so that the command line accepts exactly what
a case file may say. An error at a key that an option wrote is told under the option's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import click

from parsers.cases.case import Case, CaseError
from parsers.cases.io import load_case
from parsers.formats.contracts import builtin_contracts
from parsers.formats.extends import FILE_KEYS, expand
from parsers.formats.lint import lint_file
from parsers.vocabulary.types import UsageError
from webapp.commands.engine_option import engine_option
from webapp.commands.inputs import Given, read_json, shown
from webapp.commands.suites import column_option
from webapp.engines.response_template.about import NAME as RESPONSE_TEMPLATE
from webapp.fields import CHOICES, markers_in, options_at
from webapp.formats.folder import formats_folder
from webapp.recordings import STREAMED
from webapp.settings import get_settings

_OF_ENGINES = ("/parser/engine", "/parser/name", "/parser/options")
_CUTTING = ("chunk", "cuts", "holdback", "text_delay")
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(slots=True)
class Options:
    """The options as typed; None and empty: not given."""

    parser: str | None = None
    format_file: str | None = None
    policy: tuple[str, ...] = ()
    engine: tuple[str, ...] = ()
    python: str | None = None
    path: str | None = None
    reasoning_parser: str | None = None
    contract: str | None = None
    markers: str | None = None
    model_id: str | None = None
    model_type: str | None = None
    tokenizer: str | None = None
    tools: str | None = None
    tool_choice: str | None = None
    chunk: str | None = None
    cuts: str | None = None
    holdback: int | None = None
    text_delay: int | None = None
    reasoning_open: bool = False
    finish_reason: str | None = None
    strict: bool = False
    honest_only: bool = False
    column: tuple[str, ...] = ()
    layers: str | None = None


_NATURAL = click.IntRange(min=0)
_OPTIONS = (
    click.option("--parser", "--enforce-parser", "parser", metavar="NAME",
                 help="Parser: auto, or a name or alias that `parsers` lists.  [default: the case's, else auto]"),
    click.option("--format", "format_file", metavar="FILE",
                 help="Use the format in a JSON file of your own as the parser."),
    click.option("--policy", multiple=True, metavar="KEY=VALUE",
                 help="Set a policy of the parser; `parsers NAME` lists them. May be given again."),
    click.option("--engine", multiple=True, metavar="[LABEL=]NAME[:PARSER]",
                 help="Run a parser of an engine that was entered with `engines add`, such as vllm:hermes. Given "
                 "again: compare the first with each other one; builtin:NAME is ours."),
    click.option("--python", metavar="PATH",
                 help="Run a class of your own in this interpreter; --engine then is module:Class."),
    click.option("--path", metavar="FOLDER", help="Where --python finds modules besides, such as a checkout."),
    click.option("--reasoning-parser", metavar="NAME", help="The engine's reasoning parser, which reads first."),
    click.option("--contract", metavar="NAME|FILE",
                 help="What the server promises: openai, as_streamed, strict, vllm, sglang, dynamo, or a JSON file."),
    click.option("--markers", metavar="A,B,...",
                 help="Markers of a grammar that is not built in, in one line; else they are learnt."),
    click.option("--model-id", metavar="ID", help="Id of the model that wrote the output; helps `auto` choose."),
    click.option("--model-type", metavar="TYPE", help="The model_type of its config.json; helps `auto` choose."),
    click.option("--tokenizer", metavar="NAME",
                 help="Give recorded ids their text, else cut the text, with this tokenizer.  [default: embedded]"),
    click.option("--tools", metavar="FILE", help="JSON file with the declared tools: a list, or one tool."),
    click.option("--tool-choice", metavar="CHOICE", help="auto, none, required, or the name of a declared tool."),
    click.option("--chunk", metavar="HOW",
                 help="Cut the output into deltas: token, char, whole, recorded, N (tokens), random:SEED."),
    click.option("--cuts", metavar="A,B,...",
                 help="Cut the output at these offsets, in characters (code points); none: one delta."),
    click.option("--holdback", type=_NATURAL, metavar="N",
                 help="Keep the last N characters back until the output ends, as for stop strings."),
    click.option("--text-delay", type=_NATURAL, metavar="N", help="Let text come N tokens after its id."),
    click.option("--reasoning-open", is_flag=True, help="The prompt left a reasoning block open."),
    click.option("--finish-reason", metavar="REASON", help="Why the model stopped: stop, length, tool_calls."),
    click.option("--strict", is_flag=True, help="Keep no call whose arguments are not one JSON object."),
    click.option("--honest-only", is_flag=True, help="Try only cuts that a server makes whatever its tokenizer is."),
    column_option,
    click.option("--layers", metavar="A,B,...",
                 help="Take these layers off FILE before it is read, in order, as offered; none: not one."),
)  # fmt: skip


def _spelled(name: str) -> str:
    return "--" + name.removesuffix("_file").replace("_", "-")


_AGAIN = {field.name: _spelled(field.name) for field in fields(Options) if field.name not in _CUTTING}


def replay_options(command: Function) -> Function:
    """Give a command the options that say how an output is replayed."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_words(options: Options) -> list[str]:
    """The options as they are typed again, without those that say how the output is cut."""
    words = []
    for name, option in _AGAIN.items():
        value = getattr(options, name)
        for one in value if isinstance(value, tuple) else (value,):
            words += [option] if one is True else [option, one] if one else []
    return words


def case_with(given: Given, options: Options) -> Case:
    """The case that an input and the options describe. Raises UsageError with the option or the place in the file."""
    data = given.data
    _parser(data, options)
    engine_option(data, options)
    _context(data, options)
    _chunking(data, options)
    if options.contract is not None:
        named = options.contract in builtin_contracts() or not options.contract.endswith(".json")
        data["contract"] = options.contract if named else read_json("--contract", options.contract)
    if options.honest_only:
        data["compare"] = {**data.get("compare", {}), "cuts": "honest"}
    if options.tools is not None:
        tools = read_json("--tools", options.tools)
        data["tools"] = tools if isinstance(tools, list) else [tools]
    try:
        if options.tokenizer is not None and not given.decoded:  # only the text stays: ids are another tokenizer's
            found = load_case(data)
            kept = {"text": found.text()} if found.has_raw else {}
            data["input"] = kept | {key: data["input"][key] for key in ("stream", *STREAMED) if key in data["input"]}
            data["tokenizer"] = {"name": options.tokenizer}
        return load_case(data)
    except CaseError as error:
        raise UsageError(blamed(error, given, options)) from error


def blamed(error: CaseError, given: Given, options: Options) -> str:
    """The error under the name of the option that wrote the place (see `webapp.fields`), else of the input."""
    if options.engine and error.pointer.startswith(_OF_ENGINES):
        return f"--engine {options.engine[0]}: {error.message}"
    for row in options_at(error.pointer):
        value = getattr(options, row.option)
        rest = error.pointer.removeprefix(row.place).removeprefix("/by")  # --chunk is what a chunking is cut by
        if value and row.option in ("tools", "format_file", "contract"):
            return f"{_spelled(row.option)} {value}: {f'{rest}: ' if rest else ''}{error.message}"
        if value:
            return f"{_spelled(row.option)}: {f'{rest[1:]}: ' if rest else ''}{error.message}"
    return f"{shown(given.name)}: {error}" if given.is_case or error.pointer else error.message


def _parser(data: dict[str, Any], options: Options) -> None:
    parser = data["parser"] = dict(data["parser"])
    if options.parser is not None:
        name = parser["name"] = options.parser.strip() or "auto"
        if name != RESPONSE_TEMPLATE:
            parser = data["parser"] = _without(parser, "format", "engine", "options", "markers")
        elif parser.get("engine") != name:
            raise UsageError(f"--parser {name}: it needs a template, so a case file names it; see `parsers {name}`")
    if options.format_file is not None:
        parser["format"] = _format(options)
        parser["name"] = parser["format"].get("name")
        parser = data["parser"] = _without(parser, "engine", "options", "markers")
    if options.markers is not None:
        try:
            parser["markers"] = markers_in(options.markers)
        except ValueError as error:
            raise UsageError(f"--markers: {error}") from error
    for entry in options.policy:
        key, equals, value = entry.partition("=")
        if not equals:
            raise UsageError(f"--policy {entry}: give a policy as KEY=VALUE; `parsers NAME` lists the keys and values")
        parser["policy"] = {**parser.get("policy", {}), key.strip(): value.strip()}


def _without(parser: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in parser.items() if key not in keys}


def _format(options: Options) -> dict[str, Any]:
    """The format of --format, written out; its name is checked against --parser here, where both words are known."""
    found = read_json("--format", str(options.format_file))
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise UsageError(f"--format {options.format_file}: a format is a JSON object with a 'name'")
    if options.parser not in (None, "auto", found["name"]):
        raise UsageError(
            f"--parser {options.parser}: the format of --format is called {found['name']!r}; leave one out"
        )
    if not any(key in found for key in FILE_KEYS):
        return found
    source = formats_folder(get_settings()).source
    wrong = next((one for one in lint_file(found, source) if one.severity == "error"), None)
    if wrong is not None:
        raise UsageError(f"--format {options.format_file}: {wrong.pointer or '/'}: {wrong.message}")
    written_out: dict[str, Any] = expand(found, source).data
    return written_out


def _context(data: dict[str, Any], options: Options) -> None:
    context = dict(data.get("context", {}))
    choice = options.tool_choice
    written = {
        "model": options.model_id,
        "model_type": options.model_type,
        "tool_choice": {"name": choice} if choice and choice not in CHOICES else choice,
        "finish_reason": options.finish_reason,
        "reasoning_open": options.reasoning_open or None,
        "strict": options.strict or None,
    }
    context |= {key: value for key, value in written.items() if value is not None}
    if context:
        data["context"] = context


def _chunking(data: dict[str, Any], options: Options) -> None:
    """The chunking that is traced; the ones it is compared with stay."""
    first, *others = data.get("replay") or [{"by": "token"}]
    if options.chunk is not None and options.cuts is not None:
        raise UsageError("--chunk and --cuts both say where to cut; leave one out")
    if options.chunk is not None:
        first = _chunking_of(options.chunk)
    if options.cuts is not None:
        parts = [] if options.cuts == "none" else options.cuts.split(",")
        first = {"by": "cuts", "cuts": [_number("--cuts", part) for part in parts]}
    late = {"holdback_chars": options.holdback, "text_delay": options.text_delay}
    given = {key: value for key, value in late.items() if value is not None}
    if given or (options.chunk, options.cuts) != (None, None):
        data["replay"] = [{**first, **given}, *others]


def _chunking_of(word: str) -> dict[str, Any]:
    if word in ("token", "char", "whole", "recorded"):
        return {"by": word}
    kind, colon, seed = word.partition(":")
    if kind == "random" and colon:
        return {"by": "random", "seed": _number("--chunk random:", seed)}
    size = _number("--chunk", word, "token, char, whole, recorded, a number of tokens, or random:SEED")
    if size == 0:
        raise UsageError("--chunk 0: a delta holds at least 1 token")
    return {"by": "token", "size": size}


def _number(option: str, text: str, wanted: str = "a whole number") -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 12:
        raise UsageError(f"{option} {text!r}: give {wanted}")
    return int(digits)
