"""JSON unit by unit, strict and lenient, and strings decoded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.arguments.json_value import JsonScanner, unescape_json


def units(text: str, *, strict: bool, final: bool = True) -> list[tuple[str, str]]:
    """(unit, text) of every unit, up to an error or a hold."""
    scanner, pos = JsonScanner(strict=strict), 0
    found: list[tuple[str, str]] = []
    while pos < len(text):
        unit, stop = scanner.step(text, pos, len(text), final=final)
        found.append((unit, text[pos:stop]))
        if unit in ("error", "hold"):
            break
        pos = stop
    return found


def kinds(text: str, *, strict: bool) -> list[str]:
    return [unit for unit, _ in units(text, strict=strict)]


def test_a_value_falls_into_its_units() -> None:
    assert units('{"a" : [1, "x\\n"]}', strict=True) == [
        ("open", "{"),
        ("quote", '"'),
        ("string", "a"),
        ("quote", '"'),
        ("ws", " "),
        ("colon", ":"),
        ("ws", " "),
        ("open", "["),
        ("scalar", "1"),
        ("comma", ","),
        ("ws", " "),
        ("quote", '"'),
        ("string", "x\\n"),
        ("quote", '"'),
        ("close", "]"),
        ("close", "}"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "{x",
        '{"a" 1',
        '{"a":,',
        '{"a":1 2',
        "}",
        "[1}",
        '{"a"}',
        '{"a":}',
        "[:",
        ",",
        "{,",
        "1,",
        '[1 "a"',
        "[1[",
        "'",
    ],
)
def test_strict_scanning_stops_where_json_cannot_go_on(text: str) -> None:
    assert kinds(text, strict=True)[-1] == "error"
    assert "error" not in kinds(text, strict=False)


@pytest.mark.parametrize("text", ["[1,]", '{"a":1,}', '"a\nb"', "[]", "{}", "null", ' {"a" : {"b":[{}]}} '])
def test_what_json_may_have_and_two_liberties_pass_the_strict_scanner(text: str) -> None:
    scanner, pos = JsonScanner(strict=True), 0
    while pos < len(text):
        unit, pos = scanner.step(text, pos, len(text), final=True)
        assert unit != "error"
    assert (scanner.stack, scanner.in_string, scanner.odd) == ([], False, False)


def test_lenient_scanning_remembers_that_it_passed_something_odd() -> None:
    scanner = JsonScanner(strict=False)
    assert scanner.step("x", 0, 1) == ("scalar", 1)
    assert scanner.odd


def test_a_string_after_a_value_is_taken_for_a_key_when_lenient() -> None:
    scanner, text, pos, keys = JsonScanner(strict=False), '{"a":"b" "c":1}', 0, []
    while pos < len(text):
        unit, stop = scanner.step(text, pos, len(text))
        if unit == "string":
            keys.append((text[pos:stop], scanner.is_key))
        pos = stop
    assert keys == [("a", True), ("b", False), ("c", True)]


def test_surplus_closers_leave_the_depth_at_nothing() -> None:
    scanner = JsonScanner(strict=False)
    assert [scanner.step("}]", at, 2)[0] for at in (0, 1)] == ["close", "close"]
    assert scanner.depth == 0


@pytest.mark.parametrize(
    ("tail", "unit", "length"),
    [
        ("\\", "hold", 0),
        ("\\u", "hold", 0),
        ("\\u00e", "hold", 0),
        ("\\u00e9", "string", 6),
        ("\\u00x", "string", 4),
        ("\\ud83d", "hold", 0),
        ("\\ud83d\\", "hold", 0),
        ("\\ud83d\\u", "hold", 0),
        ("\\ud83d\\ude0", "hold", 0),
        ("\\ud83d\\ude00", "string", 12),
        ("\\ud83d\\n", "string", 6),
        ("\\ud83dx", "string", 6),
        ("\\n", "string", 2),
        ("\\ux", "string", 2),
    ],
)
def test_an_escape_sequence_is_never_split(tail: str, unit: str, length: int) -> None:
    scanner = JsonScanner(strict=False)
    scanner.step('"', 0, 1)
    assert scanner.step(tail, 0, len(tail)) == (unit, length)


def test_half_an_escape_sequence_at_the_end_is_string() -> None:
    assert units('"a\\u00', strict=False)[-1] == ("string", "\\u00")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('"abc"', "abc"),
        ('"\\u0061\\n"', "a\n"),
        ('"a\nb"', "a\nb"),
        ('"\\x"', "\\x"),
        ('"\\ud800"', "\\ud800"),
        ('"\\ud83d\\ude00"', "😀"),
    ],
)
def test_a_string_is_decoded_or_stays_as_written(raw: str, value: str) -> None:
    assert unescape_json(raw[1:-1]) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.replays
@given(json_values, st.booleans(), st.none() | st.just(1))
def test_every_json_text_is_scanned_to_its_end(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = units(text, strict=True)
    assert "".join(part for _, part in found) == text
    assert "error" not in [unit for unit, _ in found]


@given(st.text('{}[]:,"\\u0aE x', max_size=30))
def test_lenient_scanning_reads_any_text_to_its_end(text: str) -> None:
    assert "".join(part for _, part in units(text, strict=False)) == text


IN_JSON = st.text(alphabet='{}[],:" \n1a', max_size=30)


def opened(text: str) -> JsonScanner:
    """A scanner that has read so much of a value."""
    scanner, pos = JsonScanner(strict=False), 0
    while pos < len(text):
        _, pos = scanner.step(text, pos, len(text))
    return scanner


@pytest.mark.replays
@given(st.sampled_from(["[", '{"a": [', '[{"k', '[{"k": "v', "[{", '[{"k": 1, ']), st.lists(IN_JSON, max_size=4))
def test_what_is_followed_leads_where_step_by_step_does(begun: str, parts: list[str]) -> None:
    followed, stepped, within = opened(begun), opened(begun), 1
    for text in filter(None, parts):
        stop, pos = followed.follow(text, within), 0
        while pos < stop:
            _, pos = stepped.step(text, pos, stop)
        assert pos == stop
        state = [(one.stack, one.depth, one.in_string, one.previous, one._in_scalar) for one in (followed, stepped)]
        assert state[0] == state[1]
        assert followed.is_key == stepped.is_key or not followed.in_string
        assert stop == len(text) or followed.depth < within
        if followed.depth < within:
            return


def test_a_copy_of_a_scanner_goes_its_own_way() -> None:
    scanner = opened('[{"k')
    made = scanner.copy()
    assert made.follow('": [1', 0) == 5
    assert (made.stack, made.in_string, made.is_key) == (["[", "{", "["], False, True)
    assert (scanner.stack, scanner.in_string, scanner.is_key) == (["[", "{"], True, True)
