"""What counts as being in the output: nothing_invented and strings_whole on values that are spelled otherwise there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import run_checks
from parsers.checks.check import any_of
from parsers.checks.origins import _Source
from parsers.checks.spelled import unescaped
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Tool
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]


def invented(build: Build, raw: str, arguments: str, *, name: str = "f", context: Context | None = None) -> list[str]:
    trace = build([("marker", "f "), ("name", "", name), ("arguments", raw, arguments), ("end",)])
    return [f.message for f in run_checks(subject(trace, context or Context()), ["nothing_invented"]).findings]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("city=Bern", '{"city": "Bern"}'),
        ('{"city": "d\\u00e9j\\u00e0"}', '{"city":"déjà"}'),
        ("city=R&amp;D", '{"city":"R&D"}'),
        ("city='a\\x41b\\U0001F600'", '{"city": "aAb😀"}'),
        ("n=1e3, m=2.50, k=0x1F, j=1_000, i=5,000", '{"n": 1000.0, "m": 2.5, "k": 31, "j": 1000, "i": 5000}'),
        ("n=-7, m=12", '{"n": -7, "m": "12"}'),
        ("ok=True, no=None", '{"ok": true, "no": null}'),
        ("ok=yes", '{"ok": 1}'),
        ("new york", '{"new": "yo"}'),
        ("code=zip 02134", '{"code": 2134}'),
    ],
)
def test_what_is_spelled_otherwise_is_not_made_up(build: Build, raw: str, arguments: str) -> None:
    assert invented(build, raw, arguments) == []


@pytest.mark.parametrize(
    ("raw", "arguments", "word"),
    [
        ("city=Bern", '{"city": "Bern", "unit": 1}', "unit"),
        ("city=Bern", '{"city": "Geneva"}', "Geneva"),
        ("days=3", '{"days": 42}', "42"),
        ("x=1", '{"x": [{"y": 1}]}', "y"),
    ],
)
def test_a_word_or_number_from_nowhere_is_made_up(build: Build, raw: str, arguments: str, word: str) -> None:
    assert invented(build, raw, arguments) == [f"`{word}` in the arguments of call 0 (`f`) is not in the output."]


def test_a_default_of_the_schema_is_not_made_up(build: Build) -> None:
    context = Context((Tool("f", {"properties": {"unit": {"default": "kelvin", "max": 42}}}),))
    assert invented(build, "x", '{"unit": "kelvin", "max": 42}', context=context) == []


def test_a_call_that_the_prompt_began_is_not_made_up(build: Build) -> None:
    assert invented(build, "x=1", '{"x": 1}', name="prefilled") != []
    assert invented(build, "x=1", '{"x": 1}', name="prefilled", context=Context(prompt_tail="prefilled(")) == []


def test_searches_for_missing_words_have_an_end() -> None:
    source = _Source("abc", (), any_of(()))
    assert [source.missing_word(f"w{number}") for number in range(199)] == [f"w{number}" for number in range(199)]
    assert not source.has_number("42", 42)
    assert source.missing_word("zzz") is None
    assert source.has_number("43", 43)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plain", "plain"),
        ("a\\nb\\tc\\q", "a\nb\tcq"),
        ("\\u00e9", "é"),
        ("\\ud83d\\ude00", "😀"),
        ("\\ud83d", "\ufffd"),
        ("\\UFFFFFFFF", "\\UFFFFFFFF"),
    ],
)
def test_escapes_are_undone(text: str, plain: str) -> None:
    assert unescaped(text) == plain


def test_a_number_too_large_to_read_is_not_a_number_of_the_output() -> None:
    assert not _Source("0x" + "f" * 400, (), any_of(())).has_number("5", 5)


def whole(build: Build, raw: str, arguments: str, context: Context | None = None) -> list[str]:
    trace = build([("name", "f"), ("marker", " "), ("arguments", raw, arguments), ("end",)])
    return [f.message for f in run_checks(subject(trace, context or Context()), ["strings_whole"]).findings]


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('("New York")', '{"city": "New York"}'),
        ('("New York City", "New York")', '{"city": "New York"}'),
        ('"{\\"city\\": \\"Bern\\"}"', '{"city": "Bern"}'),
        ("<v>New York</v>", '{"city": "New York"}'),
        ('("New\n York")', '{"city": "New"}'),
        ('("New York', '{"city": "New"}'),
        ("x", '{"city": ""}'),
        ("New", '{"a": "New", "b": "New"}'),
        ("x", '{"a": "elsewhere"}'),
    ],
)
def test_a_string_that_reaches_its_quote_is_whole(build: Build, raw: str, arguments: str) -> None:
    assert whole(build, raw, arguments) == []


def test_a_string_that_ends_before_its_quote_is_found_with_what_follows(build: Build) -> None:
    assert whole(build, '("New <b> York")', '{"city": "New "}') == [
        "A string of call 0 (`f`) ends early: in the output `<b> York` follows before its closing quote."
    ]


def test_a_string_that_may_stand_in_many_places_is_not_judged(build: Build) -> None:
    assert whole(build, ", ".join(['"New York"'] * 30), '{"city": "New"}') == []


def test_a_string_that_stands_whole_further_up_is_whole(build: Build) -> None:
    assert whole(build, '("New", "b", "New York")', '{"b": "b", "city": "New"}') == []


def test_the_search_for_strings_has_an_end(build: Build) -> None:
    raw = ", ".join([f'"k{number}x"' for number in range(30)])
    arguments = ", ".join([f'"a{number}": "k{number}"' for number in range(30)])
    assert len(whole(build, raw, f"{{{arguments}}}")) == 20


STRINGS = Context((Tool("f", {"properties": {"zip": {"type": "string"}, "other": {"type": "integer"}}}),))


@pytest.mark.parametrize(
    ("raw", "arguments", "count"),
    [
        ("zip 02134", '{"zip": 2134}', 1),
        ('{"zip" : 2134}', '{"zip":2134}', 0),
        ("zip=2134", '{"zip": 2134}', 0),
        ("zip 02134", '{"zip": "02134"}', 0),
        ("other 3", '{"other": 3}', 0),
        ("new 3", '{"new": 3}', 0),
    ],
)
def test_a_declared_string_stays_one_unless_the_model_wrote_a_number(
    build: Build, raw: str, arguments: str, count: int
) -> None:
    assert len(whole(build, raw, arguments, STRINGS)) == count


def test_a_schema_without_properties_declares_nothing(build: Build) -> None:
    assert whole(build, "zip 1", '{"zip": 1}', Context((Tool("f"),))) == []
    assert whole(build, "zip 1", '{"zip": 1}', Context((Tool("f", {"properties": 3}),))) == []
    assert whole(build, "zip 1", '{"zip": 1}', Context((Tool("f", {"properties": {"zip": True}}),))) == []
