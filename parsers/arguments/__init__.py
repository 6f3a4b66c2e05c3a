"""Codecs: readers of a call's arguments, by name. A format refers to them as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.arguments.contract import OPEN, Codec, Output
from parsers.arguments.elements import Elements
from parsers.arguments.json_call import JsonCall, JsonCalls
from parsers.arguments.json_span import JsonSpan
from parsers.arguments.keyvalue import KeyValue
from parsers.arguments.label import Label
from parsers.arguments.mistral import Mistral
from parsers.arguments.pythonic import Pythonic
from parsers.arguments.tagged import Tagged, TaggedBody, TaggedPairs

__all__ = ["CODECS", "OPEN", "Codec", "CodecSpec", "Output"]


class CodecSpec:
    """What a format may say about a codec: its triggers and its options."""

    def __init__(self, codec: type[Codec]) -> None:
        self.codec = codec
        self.triggers: tuple[str, ...] = codec.triggers

    def check_options(self, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(JSON pointer inside the options, what is wrong) for every option that does not fit its default's type, is
        empty where its default is not, or is none of its choices."""
        wrong = []
        for key, value in options.items():
            default, choices = self.codec.options.get(key), self.codec.choices.get(key)
            if key not in self.codec.options:
                known = ", ".join(sorted(self.codec.options)) or "none"
                wrong.append((f"/{key}", f"unknown option {key!r}; this codec has: {known}"))
            elif not isinstance(value, type(default)):
                wrong.append((f"/{key}", f"option {key!r} must be {type(default).__name__}"))
            elif choices is not None and value not in choices:
                wrong.append((f"/{key}", f"option {key!r} must be one of: {', '.join(choices)}"))
            elif value == "" and default:
                wrong.append((f"/{key}", "must be a text that is not empty"))
            elif isinstance(value, list):
                texts = [isinstance(item, str) and item != "" for item in value]
                wrong += [
                    (f"/{key}/{n}", "must be a text that is not empty") for n, fits in enumerate(texts) if not fits
                ]
        return wrong

    def literals(self, options: Mapping[str, Any]) -> frozenset[str]:
        """The texts of the codec's own literals."""
        return frozenset(text for scope in self.codec.scopes(options).values() for text in scope.values())

    def closers(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The texts that end a string value wherever they stand in it."""
        return self.codec.closers(options)


CODECS: Mapping[str, CodecSpec] = {
    "elements": CodecSpec(Elements),
    "json_span": CodecSpec(JsonSpan),
    "json_call": CodecSpec(JsonCall),
    "json_calls": CodecSpec(JsonCalls),
    "keyvalue": CodecSpec(KeyValue),
    "label": CodecSpec(Label),
    "mistral": CodecSpec(Mistral),
    "pythonic": CodecSpec(Pythonic),
    "tagged": CodecSpec(Tagged),
    "tagged_body": CodecSpec(TaggedBody),
    "tagged_pairs": CodecSpec(TaggedPairs),
}
