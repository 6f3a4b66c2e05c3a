"""What is said of where a reader of values between tags stands, and of why text waits there."""

from __future__ import annotations

from functools import lru_cache

from parsers.vocabulary.trace import CodecState, Stand

TAG_WAITS = "Its name says whether a tag is text of the value."
CLOSER_WAITS = "What follows says whether the value ends here."
BETWEEN = CodecState("between parameters", Stand.BETWEEN)
IN_KEY = CodecState("in a parameter's name", Stand.KEY)


@lru_cache(maxsize=64)  # asked for after every delta
def at_value(key: str, *, before: bool) -> CodecState:
    """In the value of a key, or before it."""
    value = f"the value of {key}"
    return CodecState.before(value) if before else CodecState(f"in {value}", Stand.VALUE, value)
