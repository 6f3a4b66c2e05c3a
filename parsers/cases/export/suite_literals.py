"""Values of a case as literals of the language of a test: whatever a text holds, it stays one literal.

Strategy: what a reader can see stays as it is; quotes, backslashes and everything that cannot be seen are escapes of
the language. Arguments and schemas are JSON text inside a string where a language has no literal for every JSON value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from parsers.cases import jsontext

Write = Callable[[Any], str]

WIDTH = 88  # of a line of Python, as Black and ruff lay them out
COMMENT = 160
_CODING = re.compile("(coding)([:=])")
_SIMPLE_KEY = 500
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def python(value: Any) -> str:
    """A scalar in Python, a string in double quotes where none is in it."""
    if isinstance(value, str) and '"' not in value:
        return '"' + repr("'" + value)[2:]  # with a single quote in it, repr takes double ones
    return repr(value)


def python_pretty(value: Any, indent: int = 0) -> str:
    """JSON data in Python: on one line where that fits, else an item a line."""
    return _laid_out(value, indent, python, python, step=4, ends=",")


def rust(text: str) -> str:
    """A string of Rust."""
    body = _escaped(text, lambda char: f"\\u{{{ord(char):x}}}")
    return f'"{body}"'


def cpp(text: str) -> str:
    """A std::string of C++, also where it holds a NUL."""
    body = _escaped(text, _octal).replace("?", "\\?")  # two of them may begin a trigraph
    size = len(text.encode("utf-8", "surrogatepass"))
    return f'std::string("{body}", {size})' if "\0" in text else f'"{body}"'


def yaml_value(value: Any, indent: int = 0) -> str:
    """JSON data as YAML in flow style, strings in double quotes: on one line where that fits, else an item a line."""
    return _laid_out(value, indent, _yaml_scalar, _yaml_key, step=2)


def _laid_out(
    value: Any, indent: int, scalar: Callable[[Any], str], key: Callable[[Any], str], *, step: int, ends: str = ""
) -> str:
    """JSON data `indent` columns in: on one line where that fits, else an item a line, the last of which `ends` so."""
    line = jsontext.line(value, scalar)
    if not isinstance(value, dict | list | tuple) or not value or len(line) + indent <= WIDTH:
        return line
    within = indent + step
    if isinstance(value, dict):
        items = [(f"{key(name)}: ", item) for name, item in value.items()]
        opener, closer = "{}"
    else:
        items = [("", item) for item in value]
        opener, closer = "[]"
    rows = [f"{' ' * within}{name}{_laid_out(item, within, scalar, key, step=step, ends=ends)}" for name, item in items]
    body = ",\n".join(rows)
    return f"{opener}\n{body}{ends}\n{' ' * indent}{closer}"


def in_comment(text: str) -> str:
    """Words of a case on one line of a comment: nothing in them ends it or says how a file of Python is encoded (PEP
    263), and what cannot be seen is spelled. Blanks stay as they are, for what is quoted may be about them."""
    words = " ".join(text.splitlines()).strip()
    short = words if len(words) <= COMMENT else words[: COMMENT - 1] + "…"
    seen = "".join([char if char.isprintable() else f"U+{ord(char):04X}" for char in short])
    seen = _CODING.sub(r"\1 \2", seen)
    return seen.replace("*/", "* /").replace("??", "? ?") + (" ." if seen.endswith("\\") else "")


def _escaped(text: str, spelled: Callable[[str], str]) -> str:
    return "".join([_SHORT.get(char) or (char if char.isprintable() else spelled(char)) for char in text])


def _octal(char: str) -> str:
    """The bytes of a character: three octal digits are all that C++ takes, where hexadecimal ones have no end."""
    return "".join([f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogatepass")])


def _yaml_key(key: str) -> str:
    """A key, marked as one where it is too long for a reader to look for its colon."""
    written = _yaml_scalar(key)
    return f"? {written}\n" if len(written) > _SIMPLE_KEY else written


def _yaml_scalar(value: Any) -> str:
    if isinstance(value, float):
        return repr(value) if "." in repr(value) else repr(value).replace("e", ".0e")  # YAML 1.1 wants the point
    if not isinstance(value, str):
        return jsontext.atom(value)
    body = _escaped(value, lambda char: f"\\U{ord(char):08X}")
    return f'"{body}"'
