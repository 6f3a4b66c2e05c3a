"""What a template may look like, checked before transformers sees it: types, limits, and where something is wrong.

transformers checks a template when it loads one, but partly by failing inside; so types are checked here, with the
JSON pointer of the place, and what only transformers can judge is asked of its own loader.
"""

from __future__ import annotations

import json
import re
from math import prod
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from parsers.formats.extends import pointer_to
from parsers.formats.model import Model, Switch
from parsers.vocabulary.types import FormatError

MOST_CHARACTERS = 64_000
MOST_FIELDS = 32
MOST_DEPTH = 40
MOST_LITERALS = 32
LONGEST_PATTERN = 1_000
MOST_REPEATS = 100_000
COUNTED = re.compile(r"\{(\d*)(?:,(\d*))?\}")
KEY = "response_template"
OLD_KEY = "response_schema"
OLD = (
    "this is a response_schema, the older form of transformers 5.0 to 5.12: a JSON Schema with regular expressions. "
    "transformers 5.13 and later ignore it: write a response_template, with start_anchor and fields"
)


def _literals(value: Any) -> Any:
    several = value if isinstance(value, list) else [value]
    if not several or not all(isinstance(one, str) and one for one in several):
        raise PydanticCustomError("literals", "give a string, or a list of strings; none may be empty")
    if len(several) > MOST_LITERALS or any(len(one) > LONGEST_PATTERN for one in several):
        raise PydanticCustomError(
            "literals", f"give at most {MOST_LITERALS} strings of at most {LONGEST_PATTERN} characters each"
        )
    return value


def _pattern(value: str) -> str:
    if not 0 < len(value) <= LONGEST_PATTERN:
        raise PydanticCustomError("pattern", f"a pattern has 1 to {LONGEST_PATTERN} characters")
    counts = [max(int(low or 1), int(high or 1), 1) for low, high in COUNTED.findall(value)]
    if prod(counts) > MOST_REPEATS:
        raise PydanticCustomError(
            "pattern", "the counted repeats of this pattern multiply to more than {most}", {"most": MOST_REPEATS}
        )
    return value


Literals = Annotated[str | list[str], BeforeValidator(_literals)]
Pattern = Annotated[str, Field(strict=True), AfterValidator(_pattern)]
Parser = Literal["text", "int", "float", "bool", "json", "xml-inline", "kv-lines"]
Delimiter = Annotated[str, Field(min_length=1, max_length=LONGEST_PATTERN)]


class _ContentArgs(Model):
    """`content_args`: what a content parser takes. Keys it does not know are ignored by transformers, and here."""

    model_config = ConfigDict(extra="allow", frozen=True)

    strip: Switch = True
    unquoted_keys: Switch = False
    string_delims: list[tuple[Delimiter, Delimiter]] = Field(default_factory=list, max_length=MOST_LITERALS)
    allow_non_json: Switch = False
    tag_pattern: Pattern | None = None
    merge_duplicates: Switch = False
    line_sep: Delimiter = "\n"
    kv_sep: Delimiter = ":"
    value_parser: _ValueParser | None = None


class _ValueParser(Model):
    """`value_parser`: how each value of a structured region is read."""

    name: Parser = "text"
    args: _ContentArgs = Field(default_factory=lambda: _ContentArgs())


class FieldShape(Model):
    """One field: what opens it, what closes it, how its text is read."""

    open: Literals | None = None
    open_pattern: Pattern | None = None
    close: Literals | None = None
    close_pattern: Pattern | None = None
    content: Parser = "text"
    content_args: _ContentArgs = Field(default_factory=lambda: _ContentArgs())
    repeats: Switch = False
    join: str | None = None
    optional: Switch = True
    transform: Any = None
    transform_each: Switch = False


class TemplateShape(Model):
    """A whole response_template."""

    version: Literal[1] = 1
    defaults: dict[str, Any] = Field(default_factory=dict)
    start_anchor: Literals | None = None
    start_anchor_pattern: Pattern | None = None
    fields: dict[str, FieldShape] = Field(min_length=1, max_length=MOST_FIELDS)


def extract(data: Any) -> Any:
    """The template in what was given: a template, or a tokenizer_config.json that has one.

    Raises FormatError for the older response_schema, and for a tokenizer config without a template.
    """
    if not isinstance(data, dict):
        raise FormatError("a response_template is a JSON object")
    if isinstance(data.get(KEY), dict):
        return data[KEY]
    if OLD_KEY in data:
        raise FormatError(OLD, f"/{OLD_KEY}")
    if "fields" not in data and ("properties" in data or "x-regex" in data):
        raise FormatError(OLD)
    if "tokenizer_class" in data or "chat_template" in data:
        raise FormatError(f"this tokenizer config has no {KEY}: paste a template, or a config that has one")
    return data


def check(template: Any) -> TemplateShape:
    """The template as it was understood. Raises FormatError with the pointer of the first place that is wrong."""
    _limits(template)
    try:
        return TemplateShape.model_validate(template)
    except ValidationError as error:
        first = error.errors()[0]
        raise FormatError(_words(first), pointer_to(*first["loc"])) from error


def _words(first: Any) -> str:
    if first["type"] == "extra_forbidden":
        return "no such key is known here: transformers refuses it"
    return str(first["msg"][:1].lower() + first["msg"][1:])


def _limits(template: Any) -> None:
    if _depth(template) > MOST_DEPTH:
        raise FormatError(f"the template is nested deeper than {MOST_DEPTH}")
    size = len(json.dumps(template, ensure_ascii=False))
    if size > MOST_CHARACTERS:
        raise FormatError(f"the template has {size:,} characters; the limit is {MOST_CHARACTERS:,}")


def _depth(value: Any) -> int:
    """Return how deep lists and objects are nested, without going much deeper than is allowed."""
    depth, layer = 0, [value]
    while layer and depth <= MOST_DEPTH:
        depth += 1
        inner = [one.values() if isinstance(one, dict) else one for one in layer if isinstance(one, dict | list)]
        layer = [item for one in inner for item in one]
    return depth
