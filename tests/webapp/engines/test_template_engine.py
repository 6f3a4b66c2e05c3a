"""A case that names the engine: what it runs, what it refuses, and what is said of it."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from parsers.cases.case import Case
from parsers.cases.input import CaseError
from parsers.cases.io import load_case
from parsers.formats.lint import lint
from parsers.vocabulary.types import UsageError
from tests.webapp.engines.templates import ANCHOR, EACH, JOINED, PLAIN, STREAMED, TEMPLATES, template
from webapp.engines import choose
from webapp.engines.response_template import loaded, watching
from webapp.engines.response_template.calls import in_string, items, locate, source

QWEN = {"schema": 1, "name": "response_template", "title": "x", "initial": "A", "states": {"A": {"text": "content"}}}


def case(parser: dict[str, Any] | None = None, **context: Any) -> Case:
    given = {
        "name": "response_template",
        "engine": "response_template",
        "options": {"template": PLAIN},
        **(parser or {}),
    }
    return load_case({"schema": 1, "parser": given, "input": {"text": "x"}, "context": context})


def test_a_case_gets_its_template_and_the_reasons() -> None:
    choice = choose(case(prompt_tail=ANCHOR))
    assert (choice.format.name, choice.make().name, choice.selection.name) == ("response_template",) * 3
    assert choice.selection.reasons == ("The case brings a response_template.",)


def test_the_reasons_say_what_is_missing_and_what_has_no_effect() -> None:
    reasons = choose(case(reasoning_open=True)).selection.reasons
    assert [reason.split(":")[0] for reason in reasons[1:]] == [
        "No prompt prefix is given",
        "The prompt prefix alone says where the parser starts; reasoning_open has no effect.",
    ]


@pytest.mark.parametrize(
    ("parser", "pointer"),
    [
        ({"name": "qwen"}, "/parser/name"),
        ({"format": QWEN}, "/parser/format"),
        ({"policy": {"unknown_tool": "keep"}}, "/parser/policy"),
        ({"options": {}}, "/parser/options/template"),
        ({"options": {"template": PLAIN, "prefix": ""}}, "/parser/options/prefix"),
        ({"options": {"template": []}}, "/parser/options/template"),
        ({"options": {"template": {"fields": {"a": {"open": ""}}}}}, "/parser/options/template/fields/a/open"),
    ],
)
def test_what_is_wrong_with_a_case_has_its_place(parser: dict[str, Any], pointer: str) -> None:
    with pytest.raises(CaseError) as raised:
        choose(case(parser))
    assert raised.value.pointer == pointer


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_table_of_a_template_is_a_sound_format(name: str) -> None:
    fmt = loaded(TEMPLATES[name]).table.format
    assert [one for one in lint(fmt) if one.severity != "info"] == []


def test_the_table_starts_where_the_prompt_leads() -> None:
    assert choose(case(prompt_tail=f"{ANCHOR}<think>")).format.initial == "THINKING"


def test_names_of_states_and_terminals_are_identifiers_of_their_own() -> None:
    fields = {
        "2 a": {"open": "<a>", "close": ["</a>", "</b>"]},
        "2-a": {"open": "<b>", "close": "</b>"},
        "end": {"open": "e"},
    }
    made = loaded(template(**fields)).table
    assert list(made.format.states) == ["OUTSIDE", "FIELD_2_A", "FIELD_2_A_2", "FIELD_END"]
    assert list(made.format.terminals.values()) == ["<a>", "</a>", "</b>", "<b>", "e"]
    assert made.format.states["OUTSIDE"].note == "No field takes text here: it is dropped."


def test_two_fields_may_share_a_pattern() -> None:
    fields = {"a": {"open": "<a>", "close_pattern": "</.>"}, "b": {"open": "<b>", "close_pattern": "</.>"}, "c": {}}
    made = loaded(template(**fields)).table
    assert made.patterns["a", "close"] == made.patterns["b", "close"] == "A_CLOSE"


def test_a_delimiter_that_opens_and_closes_opens() -> None:
    made = loaded(template(thinking={"open": "<a>", "close": "</a>"}, content={"close": "<a>"})).table
    assert [(row.on, row.to) for row in made.format.states["CONTENT"].rows] == [
        ("THINKING_OPEN", "THINKING"),
        ("END", "CONTENT"),
    ]


def test_without_transformers_the_engine_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ModuleType:
        raise ImportError(f"No module named {name}")

    watching.library.cache_clear()
    monkeypatch.setattr(watching, "import_module", missing)
    with pytest.raises(UsageError, match="needs transformers 5"):
        choose(case())
    watching.library.cache_clear()


def test_a_response_parser_that_has_changed_is_not_run() -> None:
    with pytest.raises(UsageError, match=r"has no _accumulate, .*written for 5.23"):
        watching.checked(SimpleNamespace(ResponseParser=object))


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ('{"a": {"b": [1, 2]}, "c": "x"}', ("a", "b"), "[1, 2]"),
        (' {"a" : 1 , "a" :2}', ("a",), "2"),
        ("[1, 2]", (), "[1, 2]"),
        ("[1]", ("a",), None),
        ('{"a": 1}', (0,), None),
        ('{"a": 1}', ("b",), None),
        ("{}", ("b",), None),
        ('{"a": oops}', ("a",), None),
        ("", (), None),
    ],
)
def test_a_part_of_a_json_text_is_found(text: str, path: tuple[Any, ...], found: str | None) -> None:
    place = locate(text, path)
    assert (None if place is None else text[place.start : place.end]) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [("[1, {}, [2]]", ["1", "{}", "[2]"]), ("[]", []), ("", []), ("{}", []), ("[1, oops]", []), ("[1, 2", [])],
)
def test_the_items_of_a_list_are_found(text: str, found: list[str]) -> None:
    assert [text[at:].split(",")[0].rstrip("]") + "]" * (text[at] == "[") for at in items(text)] == found


@pytest.mark.parametrize(
    ("text", "inside"),
    [('{"a": "x', True), ('{"a": "x"', False), (r'{"a": "x\"', True), (r'{"a": "x\\"', False), (r"\"", True)],
)
def test_a_text_ends_inside_a_string_or_not(text: str, inside: bool) -> None:
    assert in_string(text) is inside


@pytest.mark.parametrize(
    ("transform", "path", "found"),
    [
        ("{content}", ("name",), ("content", ("name",))),
        ({"f": "{content.x}"}, ("f", "y"), ("content", ("x", "y"))),
        ({"f": ["{a}"]}, ("f", 0), ("a", ())),
        ({"f": "literal"}, ("f",), None),
        ({"f": "{a}"}, ("g",), None),
        (["{a}"], (3,), None),
        ({"f": {}}, ("f",), None),
    ],
)
def test_the_source_of_a_part_is_its_slot(transform: Any, path: tuple[Any, ...], found: Any) -> None:
    assert source(transform, path) == found


def test_the_templates_of_the_tests_run() -> None:
    assert [loaded(data).table.implicit for data in (PLAIN, JOINED, STREAMED, EACH)] == ["content"] * 4
