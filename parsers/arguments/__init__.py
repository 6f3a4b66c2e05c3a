"""Argument parsers: readers of a call's arguments, by the name that a format refers to them with (its key `codec`)."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.arguments.contract import ArgumentParser
from parsers.arguments.elements import Elements
from parsers.arguments.json_arguments import JsonArguments
from parsers.arguments.json_call import JsonCall, JsonCalls
from parsers.arguments.json_span import JsonSpan
from parsers.arguments.keyvalue import KeyValue
from parsers.arguments.label import Label
from parsers.arguments.mistral import Mistral
from parsers.arguments.pythonic import Pythonic
from parsers.arguments.tagged import Tagged
from parsers.arguments.tagged_body import TaggedBody
from parsers.arguments.tagged_pairs import TaggedPairs
from parsers.arguments.word import Word

ARGUMENT_PARSERS: Mapping[str, type[ArgumentParser]] = {
    "elements": Elements,
    "json_arguments": JsonArguments,
    "json_span": JsonSpan,
    "json_call": JsonCall,
    "json_calls": JsonCalls,
    "keyvalue": KeyValue,
    "label": Label,
    "mistral": Mistral,
    "pythonic": Pythonic,
    "tagged": Tagged,
    "tagged_body": TaggedBody,
    "tagged_pairs": TaggedPairs,
    "word": Word,
}
