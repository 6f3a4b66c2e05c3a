"""Characters that a server cut in two: halves of a UTF-16 pair at the end of one chunk and the beginning of the next.

A server that streams tokens as JSON may escape each half in a chunk of its own. Where the two are neighbours in one
field they are the character again, in the later chunk, as a decoder that waits for it would have sent it. A half
without its other half stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_TEXTS = ("content", "reasoning", "reasoning_content", "refusal")


class _Field(NamedTuple):
    """A text of a chunk: what it is called in the whole answer, the object it stands in, and under which key."""

    name: tuple[str, ...]
    owner: dict[str, Any]
    key: str

    @property
    def text(self) -> str:
        return str(self.owner[self.key])


def with_whole_characters(stream: Sequence[Any]) -> Sequence[Any]:
    """The chunks of one answer with halves that are neighbours joined; the same object where there is none. Linear."""
    if not any(_is_high(field.text[-1:]) for payload in stream for field in _fields(payload)):
        return stream
    copies, open_halves = [_copied(payload) for payload in stream], dict[tuple[str, ...], _Field]()
    for payload in copies:
        for field in _fields(payload):
            before = open_halves.pop(field.name, None)
            if before is not None and _is_low(field.text[:1]):
                field.owner[field.key] = _joined(before.text[-1] + field.text[0]) + field.text[1:]
                before.owner[before.key] = before.text[:-1]
            if _is_high(field.text[-1:]):
                open_halves[field.name] = field
    return copies


def _copied(value: Any, levels: int = 7) -> Any:
    """A chunk whose objects and lists may be changed, as deep as texts stand in it."""
    if levels and isinstance(value, dict):
        return {key: _copied(one, levels - 1) for key, one in value.items()}
    return [_copied(one, levels - 1) for one in value] if levels and isinstance(value, list) else value


def _fields(payload: Any) -> Iterator[_Field]:
    """The texts of a chunk that are not empty."""
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    for place, choice in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(choice, dict):
            for owner, keys, name in _owners(choice, str(choice.get("index", place))):
                yield from (
                    _Field((*name, key), owner, key) for key in keys if isinstance(owner.get(key), str) and owner[key]
                )


def _owners(choice: dict[str, Any], index: str) -> Iterator[tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]]:
    """The objects of a choice in which texts stand, with the keys of these: itself, what it says, and its calls."""
    yield choice, ("text",), (index,)
    said = choice.get("delta", choice.get("message"))
    if not isinstance(said, dict):
        return
    yield said, _TEXTS, (index,)
    calls = said.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, dict):
            yield function, ("name", "arguments"), (index, str(call.get("index", place)))


def _is_high(char: str) -> bool:
    return "\ud800" <= char <= "\udbff"


def _is_low(char: str) -> bool:
    return "\udc00" <= char <= "\udfff"


def _joined(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")
