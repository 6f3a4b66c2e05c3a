"""What is said of where a reader of values between tags stands, and of why text waits there."""

from __future__ import annotations

from functools import lru_cache

from parsers.arguments.coerce import Schema, types_in_words
from parsers.vocabulary.trace import CodecState, Stand

TAG_WAITS = "Its name says whether a tag is text of the value."
CLOSER_WAITS = "What follows says whether the value ends here."
BETWEEN = CodecState("between parameters", Stand.BETWEEN)
IN_KEY = CodecState("in a parameter's name", Stand.KEY)


@lru_cache(maxsize=64)  # asked for after every delta
def in_value(key: str) -> CodecState:
    """In the value of a key, which may have white space around it."""
    value = f"the value of {key.strip()}"
    return CodecState(f"in {value}", Stand.VALUE, value)


@lru_cache(maxsize=64)
def before_value(key: str) -> CodecState:
    """Before the value of a key."""
    return CodecState.before(f"the value of {key.strip()}")


def why_whole(schema: Schema | None, *, is_json: bool) -> str:
    """Why a value of this schema waits until it is whole."""
    says = "The value is said to be JSON" if is_json else f"The schema wants {types_in_words(schema)}"
    return f"{says}: the value is written when it is whole."
