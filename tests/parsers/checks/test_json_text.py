"""JsonPrefix and read_object against Python's json module."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.checks.json_text import JsonPrefix, Node, misfit, read_object, walk

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
SOUP = st.text(alphabet='{}[]:,"\\ \n\tu0a1-+.eEtrufalsn', max_size=24)


def accepts(text: str) -> bool:
    reader = JsonPrefix()
    return reader.feed(text) is None and reader.done


def plain(node: Node) -> Any:
    if node.kind == "object":
        return {member.key: plain(member.value) for member in node.members}
    return [plain(item) for item in node.items] if node.kind == "array" else node.value


def is_object(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict)
    except ValueError:
        return False


@pytest.mark.replays
@given(OBJECTS, st.sampled_from([None, 1]), st.booleans(), st.data())
def test_every_object_is_accepted_however_it_is_cut(
    value: dict[str, Any], indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    cut = data.draw(st.integers(0, len(text)))
    reader = JsonPrefix()
    assert reader.feed(text[:cut]) is None
    assert reader.feed(text[cut:]) is None
    assert reader.done
    assert plain(read_object(text)) == value


@given(SOUP.map(lambda soup: "{" + soup))
def test_what_is_accepted_is_what_json_accepts(text: str) -> None:
    assert accepts(text) == is_object(text)


@given(SOUP.map(lambda soup: '{"a": ' + soup + "}"))
def test_values_are_accepted_as_json_accepts_them(text: str) -> None:
    assert accepts(text) == is_object(text)


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("", None),
        ("  {", None),
        ("[", 0),
        ("x", 0),
        ("{}", None),
        ("{} \n", None),
        ("{}{", 2),
        ("{}}", 2),
        ("{,", 1),
        ("{1", 1),
        ('{"a" "', 5),
        ('{"a":}', 5),
        ('{"a":1,}', 7),
        ('{"a":[1,]}', 8),
        ('{"a":[}', 6),
        ('{"a":1]', 6),
        ('{"a":{"b":2]', 11),
        ('{"a":1 2', 7),
        ('{"a":tru', None),
        ('{"a":trx', 7),
        ('{"a":nulll', 9),
        ('{"a":NaN', 5),
        ('{"a":-}', 6),
        ('{"a":01', 6),
        ('{"a":-0.5e+3}', None),
        ('{"a":1.}', 7),
        ('{"a":1e}', 7),
        ('{"a":1e-}', 8),
        ('{"a":.5', 5),
        ('{"a":"\\x', 7),
        ('{"a":"\\u00g', 10),
        ('{"a":"\\u00e9\\n', None),
        ('{"a":"\n', 6),
        ('{"a":"\U0001f600', None),
    ],
)
def test_the_first_impossible_character_is_named(text: str, bad: int | None) -> None:
    assert JsonPrefix().feed(text) == bad


def test_reading_may_begin_inside_a_text() -> None:
    reader = JsonPrefix()
    assert reader.feed('say {"a": 1} now', 4) == 13
    assert reader.done


@pytest.mark.replays
def test_depth_is_no_limit() -> None:
    deep = '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}"
    assert accepts(deep)
    assert sum(1 for _ in walk(read_object(deep))) == 50_001


def test_nodes_know_their_places() -> None:
    text = '{"a": [1, "x"], "b": {"c": null}}'
    nodes = {text[node.start : node.end] for node in walk(read_object(text))}
    assert nodes == {text, '[1, "x"]', "1", '"x"', '{"c": null}', "null"}
    assert [member.at for member in read_object(text).members] == [1, 16]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("3", "integer"),
        ("-3", "integer"),
        ("3.0", "integer"),
        ("3e2", "integer"),
        ("3.5", "number"),
        ("1e999", "number"),
    ],
)
def test_a_number_is_an_integer_when_its_value_is(number: str, kind: str) -> None:
    assert read_object(f'{{"a": {number}}}').members[0].value.kind == kind


def test_a_very_long_number_is_read_as_a_float() -> None:
    node = read_object('{"a": ' + "9" * 5000 + "}").members[0].value
    assert node.kind == "integer"
    assert node.value == math.inf


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": tr', "`ue`"),
        ('{"a": -', "a digit"),
        ('{"a": "b', 'the closing `"` of a string'),
        ('{"a": "b\\', "the rest of an escape sequence"),
        ('{"a": 1', "a `,` or `}`"),
        ('{"a": [1', "a `,` or `]`"),
    ],
)
def test_what_a_text_waits_for_has_words(text: str, words: str) -> None:
    reader = JsonPrefix()
    assert reader.feed(text) is None
    assert reader.awaits == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"city": "Paris, "days": 3}}', '`d` after the string `"Paris, "` stands instead of a `,` or `}`'),
        (r'{"a": "x\" y" "b": 1}', '`"` after the string `"x\\" y"` stands instead of a `,` or `}`'),
        ('{"a" 1}', '`1` after the string `"a"` stands instead of a `:`'),
        ("{'a': 1}", "`'` stands instead of a key in double quotes or `}`"),
        ('{"a": 1,}', "`}` stands instead of a key in double quotes"),
        ('{"a": "b"} x', "`x` stands after its end"),
        ('{"a": "b\nc"}', '`\\n` stands instead of the closing `"` of a string'),
    ],
)
def test_what_stands_there_is_said(text: str, words: str) -> None:
    at = JsonPrefix().feed(text)
    assert at is not None
    assert misfit(text, at) == words
