"""What is wrong with a value that somebody else wrote, in the words of its format: JSON of a worker, TOML of an entry.

Whoever writes a worker in Go knows nothing of the types that it is read with here, nor of their library's sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import ErrorDetails

from parsers.vocabulary.words import counted

_MOST_KEYS = 12  # that are named of an object


class Terms(NamedTuple):
    """What a format calls its kinds of values."""

    an_object: str
    a_list: str
    nothing: str


JSON = Terms("a JSON object", "a list", "null")
TOML = Terms("a table", "an array", "nothing")


def matching(pattern: str, words: str) -> AfterValidator:
    """A text that all of a pattern matches; in these words what is wrong with another one."""
    known = re.compile(pattern)

    def checked(text: str) -> str:
        if not known.fullmatch(text):
            raise ValueError(words)
        return text

    return AfterValidator(checked)


def first_wrong(error: ValidationError, models: Iterable[type[BaseModel]], terms: Terms = JSON) -> tuple[str, str]:
    """The place of the first thing that is wrong, as /a/0/b, and what is wrong there. `models` are those whose keys
    are named where another value stands in the place of an object."""
    first = error.errors(include_url=False)[0]
    keys = {one.__name__: _keys(one) for one in models}
    return "".join([f"/{part}" for part in first["loc"]]), _words(first, keys, terms)


def _words(error: ErrorDetails, keys: dict[str, str], terms: Terms) -> str:
    kind, about = error["type"], error.get("ctx", {})
    if kind in ("model_type", "dict_type"):
        named = keys.get(about.get("class_name", ""), "")
        return f"must be {terms.an_object}{named}, not {_kind(error['input'], terms)}"
    if kind in _OF_KIND:
        return f"must be {_OF_KIND[kind].format(a_list=terms.a_list)}, not {_kind(error['input'], terms)}"
    if kind in _OF_SIZE:
        return _OF_SIZE[kind](about)
    return error["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)


_OF_KIND = {  # pydantic 2.12: errors that say that a value is of another kind
    "list_type": "{a_list}",
    "tuple_type": "{a_list}",
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
}
_OF_SIZE: dict[str, Callable[[dict[str, Any]], str]] = {  # its errors about keys, sizes and choices
    "missing": lambda _: "is missing",
    "extra_forbidden": lambda _: "there is no such key",
    "greater_than_equal": lambda about: f"must be at least {about['ge']:,}",
    "greater_than": lambda about: f"must be more than {about['gt']:,}",
    "less_than_equal": lambda about: f"must be at most {about['le']:,}",
    "less_than": lambda about: f"must be less than {about['lt']:,}",
    "string_too_long": lambda about: f"must have at most {counted(about['max_length'], 'character')}",
    "string_too_short": lambda about: f"must have at least {counted(about['min_length'], 'character')}",
    "too_long": lambda about: f"must have at most {counted(about['max_length'], 'entry', 'entries')}",
    "too_short": lambda about: f"must have at least {counted(about['min_length'], 'entry', 'entries')}",
    "string_unicode": lambda _: "must be a string without half a surrogate pair",
    "literal_error": lambda about: "must be " + about["expected"].replace("'", '"'),
}


def _keys(model: type[BaseModel]) -> str:
    """` with` the keys that it has to have; where it has to have none, those that it may have."""
    fields = [(one.alias or name, one.is_required()) for name, one in model.model_fields.items()]
    named = [name for name, required in fields if required] or [name for name, _ in fields]
    return f" with {', '.join(named[:_MOST_KEYS])}" if named else ""


def _kind(value: Any, terms: Terms) -> str:
    """What kind of value it is."""
    if value is None:
        return terms.nothing
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number" if isinstance(value, int) else "a number with a point"
    return terms.a_list if isinstance(value, list) else terms.an_object if isinstance(value, dict) else "a string"
