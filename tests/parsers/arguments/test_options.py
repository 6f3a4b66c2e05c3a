"""What a format may say about an argument parser."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.arguments import ARGUMENT_PARSERS
from parsers.arguments.contract import OPEN, ArgumentParser
from parsers.vocabulary.trace import CodecState

UNKNOWN = "unknown option {}; this codec has: {}"
TAGGED = ", ".join(sorted(ARGUMENT_PARSERS["tagged"].options))
EMPTY = "must be a text that is not empty"


@pytest.mark.parametrize(
    ("codec", "options", "wrong"),
    [
        ("json_span", {}, []),
        ("json_span", {"x": 1}, [("/x", UNKNOWN.format("'x'", "none"))]),
        ("json_call", {"name_keys": ["function"], "require_arguments": True}, []),
        ("json_call", {"name_keys": "name"}, [("/name_keys", "option 'name_keys' must be list")]),
        ("json_call", {"name_keys": ["", 1]}, [("/name_keys/0", EMPTY), ("/name_keys/1", EMPTY)]),
        ("tagged", {"key_open": ""}, [("/key_open", EMPTY)]),
        ("tagged", {"value_open": "", "trim": "space"}, []),
        ("tagged", {"trim": "spaces"}, [("/trim", "option 'trim' must be one of: newline, pair, space, none")]),
        ("tagged", {"key_open": 1}, [("/key_open", "option 'key_open' must be str")]),
        ("tagged", {"keys": ""}, [("/keys", UNKNOWN.format("'keys'", TAGGED))]),
    ],
)
def test_options_are_checked_against_their_defaults(codec: str, options: dict[str, Any], wrong: list[object]) -> None:
    assert ARGUMENT_PARSERS[codec].check_options(options) == wrong


def test_an_argument_parser_has_triggers_and_scopes_of_its_own() -> None:
    assert ARGUMENT_PARSERS["json_span"].triggers == ("DONE", "OTHER")
    assert ARGUMENT_PARSERS["json_span"].scopes({}) == {}
    assert ARGUMENT_PARSERS["tagged"].scopes({})[OPEN] == {"KEY_OPEN": "<parameter="}


class Quiet(ArgumentParser):
    """An argument parser that passes nothing on."""

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        return end


def test_what_an_argument_parser_need_not_answer_has_an_answer() -> None:
    quiet = Quiet(None, {})  # type: ignore[arg-type]
    quiet.terminal("X", 3)
    quiet.finish(3)
    assert (quiet.literal("X", 0, 3), quiet.look(3), quiet.complete) == (3, (CodecState(""), None), False)
