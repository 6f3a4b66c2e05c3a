"""How the arguments of two calls are spelled that have one JSON value: no client that reads JSON can tell them apart.

White space between the parts, the digits of a number and the escapes of a string are spelling alone. The order of the
keys is more than that: programs that show or hash an object keep it. O(n).
"""

from __future__ import annotations

import json
import re
from typing import Literal

from parsers.vocabulary.words import quoted

Spelling = Literal["spelling", "key_order"]
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+', re.DOTALL)


def spelling_of(a: str, b: str) -> Spelling:
    """Return in what two texts of one JSON value differ: only in how it is written, or also in the order of keys."""
    return "spelling" if _values(a) == _values(b) else "key_order"


def spelling_words(a: str, b: str) -> str:
    """Return what `b` does to the spelling of `a`, as what stands behind "the arguments of the only call". Both have
    one JSON value."""
    if spelling_of(a, b) == "key_order":
        return "have the same values in another order of keys"
    pairs = zip(_SCALAR.findall(a), _SCALAR.findall(b), strict=True)
    parted = next(((one, other) for one, other in pairs if one != other), None)
    how = "white space only" if parted is None else f"{quoted(parted[1])} for {quoted(parted[0])}"
    return f"are the same JSON value, written otherwise ({how})"


def _values(text: str) -> list[str]:
    """Its keys, strings, numbers and words in their order, each in one spelling. Of objects that are equal they part
    where a key stands that another one comes before."""
    return [json.dumps(json.loads(scalar)) for scalar in _SCALAR.findall(text)]
