"""Values of arguments that the output writes as JSON: a black box keeps them, whatever its own way to write JSON is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.checks import run_checks
from parsers.checks.check import Need
from parsers.checks.examples import Entry, scripted
from parsers.formats.contracts import contract_named
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Tool
from tests.parsers.checks.subjects import subject

SCHEMA = {
    "type": "object",
    "properties": {
        "zip": {"type": "string"},
        "maybe": {"type": "string", "nullable": True},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "days": {"type": "integer"},
        "any": {},
        "odd": True,
        "more": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}
TYPED = Context((Tool("f", SCHEMA),))


def findings(written: str, given: str, context: Context = TYPED, **fields: Any) -> list[Finding]:
    call: list[Entry] = [("name", "f"), ("arguments", written, given), ("end",)]
    own: list[Entry] = [("name", "f"), ("arguments", written), ("end",)]
    beside: dict[str, Any] = {"black_box": True, "reference": scripted(own)} | fields
    return run_checks(subject(scripted(call), context, **beside), ["values_kept"]).findings


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ('{"days": 1}', '{ "days" : 1 }'),
        ('{"any": 1}', '{"any": 1.0}'),
        ('{"any": 0.10}', '{"any": 1e-1}'),
        ('{"any": 1e99999999999999999999}', '{ "any": 1e99999999999999999999}'),
        ('{"any": "é"}', '{"any": "\\u00e9"}'),
        ('{"any": 1, "zip": "x"}', '{"zip": "x", "any": 1}'),
        ('{"any": 1, "any": 2}', '{"any": 2}'),
        ('{"any": [{"b": null}]}', '{"any":[{"b":null}]}'),
        ('{"days": "3"}', '{"days": 3}'),  # the schema's doing
        ('{"more": {"n": "3"}}', '{"more": {"n": 3}}'),
        ('{"zip": "02134"}', '{"zip": 2134}'),
        ('{"days": 1}', '{"days": 1'),  # and of what is no JSON, arguments_json
    ],
)
def test_the_same_value_may_be_written_in_many_ways(written: str, given: str) -> None:
    assert findings(written, given) == []


@pytest.mark.parametrize(
    ("written", "given", "said"),
    [
        (
            '{"any": 3.14159265358979323846}',
            '{"any": 3.141592653589793}',
            [
                "`any` of call 0 (`f`) is 3.14159265358979323846 in the output and has become 3.141592653589793: "
                "digits beyond double precision are lost."
            ],
        ),
        ('{"any": 3.14159}', '{"any": 3.14}', ["`any` of call 0 (`f`) is 3.14159 in the output and has become 3.14."]),
        (
            '{"any": 1e99999999999999999999}',
            '{"any": 2}',
            ["`any` of call 0 (`f`) is 1e99999999999999999999 in the output and has become 2."],
        ),
        ('{"days": 0}', "{}", ["`days` of call 0 (`f`) is 0 in the output and is missing."]),
        ("{}", '{"days": 1}', ["`days` of call 0 (`f`) is not in the output."]),
        ('{"days": 2}', '{"days": "2"}', ['`days` of call 0 (`f`) is 2 in the output and has become "2".']),
        ('{"zip": " 1\\n"}', '{"zip": "1"}', ['`zip` of call 0 (`f`) is " 1\\n" in the output and has become "1".']),
        ('{"any": "1"}', '{"any": 1}', ['`any` of call 0 (`f`) is "1" in the output and has become 1.']),
        ('{"odd": "1"}', '{"odd": 1}', ['`odd` of call 0 (`f`) is "1" in the output and has become 1.']),
        ('{"any": true}', '{"any": 1}', ["`any` of call 0 (`f`) is true in the output and has become 1."]),
        ('{"any": "x"}', '{"any": ""}', ['`any` of call 0 (`f`) is "x" in the output and has become "".']),
        (
            '{"zip": "New York"}',
            '{"zip": "New"}',
            ["`zip` of call 0 (`f`) is cut: of 8 characters come the first 3, and ` York` is missing."],
        ),
        (
            '{"zip": "ab"}',
            '{"zip": "a"}',
            ["`zip` of call 0 (`f`) is cut: of 2 characters comes the first 1, and `b` is missing."],
        ),
        (
            json.dumps({"zip": "x" * 50 + " a"}),
            json.dumps({"zip": "x" * 50 + " b"}),
            [f'`zip` of call 0 (`f`) is …{"x" * 11} a" in the output and has become …{"x" * 11} b".'],
        ),
        (
            '{"any": [1, [2, 3], 4], "zip": "a"}',
            '{"any": [1, [2], 5, 6], "zip": "b"}',
            [
                "`any[1][1]` of call 0 (`f`) is 3 in the output and is missing.",
                "`any[2]` of call 0 (`f`) is 4 in the output and has become 5.",
                "`any[3]` of call 0 (`f`) is not in the output.",
                '`zip` of call 0 (`f`) is "a" in the output and has become "b".',
            ],
        ),
        (
            '{"more": {"n": 1}}',
            '{"more": "{\\"n\\": 1}"}',
            ['`more` of call 0 (`f`) is {"n": 1} in the output and has become "{\\"n\\": 1}".'],
        ),
        (
            json.dumps({"any": "x" * 50}),
            json.dumps({"any": "y" * 50}),
            [f'`any` of call 0 (`f`) is "{"x" * 38}… in the output and has become "{"y" * 38}….'],
        ),
    ],
)
def test_what_is_lost_new_or_another_is_named(written: str, given: str, said: list[str]) -> None:
    assert sorted(finding.message for finding in findings(written, given)) == sorted(said)


def test_a_finding_has_its_place_in_the_output_and_both_values() -> None:
    (finding,) = findings('{"any": 1, "days": 22}', '{"any": 1, "days": "22"}')
    assert (finding.expected, finding.actual, finding.step) == ("22", '"22"', 1)
    assert finding.span is not None
    assert (finding.span.start, finding.span.end) == (20, 22)
    assert findings('{"any": "1"}', '{"any": 1}', Context()) != []


@pytest.mark.parametrize(
    "own",
    [
        [("name", "g"), ("arguments", '{"days": 1}'), ("end",)],  # other calls: other checks say so
        [("name", "f"), ("arguments", '{"days": 1}')],  # not complete
    ],
)
def test_where_the_output_does_not_say_it_nothing_is_said(own: list[Entry]) -> None:
    assert findings('{"days": 1}', '{"days": 2}', reference=scripted(own)) == []


TAGS: list[tuple[str, str, str | None]] = [
    ('{"days": 3}', '{"days": "3"}', None),  # another type: other checks say so
    ('{"any": {"a": [true, null]}}', '{"any": "{\'a\': [True, None]}"}', None),
    ('{"zip": "a &lt; b"}', '{"zip": "a < b"}', None),
    ('{"zip": "None of it"}', '{"zip": "none of it"}', "zip"),
    ('{"days": 3}', '{"days": 4}', "days"),
    ('{"days": 3}', '{"days": "4"}', "days"),
    ('{"zip": "  x", "any": "y"}', '{"zip": "x", "any": "y"}', "zip"),
    ('{"zip": "a", "any": "b"}', '{"zip": "a"}', "any"),
    (
        '{"free": ["a", [1]]}',
        '{"free": {"item": ["a", {"item": "1"}]}}',
        None,
    ),  # what the tags inside are nobody declares
    ('{"free": ["a", "b"]}', '{"free": {"item": "a"}}', "free"),
    ('{"any": ["a"]}', '{"any": {"item": ["a"]}}', "any"),
]


@pytest.mark.parametrize(("read", "given", "key"), TAGS)
def test_values_that_the_output_writes_in_another_way_are_those_of_the_built_in_parser(
    read: str, given: str, key: str | None
) -> None:
    own: list[Entry] = [("name", "f"), ("arguments", "<a>…</a>", read), ("end",)]
    found = findings("<a>…</a>", given, reference=scripted(own))
    assert [one.message.split("`")[1] for one in found] == ([] if key is None else [key])


def test_a_call_that_the_contract_reads_in_this_way_is_no_finding() -> None:
    allows = contract_named("vllm")
    assert findings('{"days": "1"}', '{"days": 1}', promised=allows) == []
    own: list[Entry] = [("name", "f"), ("arguments", '{"days": "1"}', '{"days": 1}'), ("end",)]
    assert findings('{"days": "1"}', '{"days": "1"}', reference=scripted(own), promised=allows) == []


def test_a_value_without_a_place_in_the_output_has_no_span() -> None:
    own: list[Entry] = [("name", "f"), ("arguments", "", '{"days": 1}'), ("end",)]
    call: list[Entry] = [("name", "f"), ("arguments", "", '{"days": 2}'), ("end",)]
    beside: dict[str, Any] = {"black_box": True, "reference": scripted(own)}
    (found,) = run_checks(subject(scripted(call), TYPED, **beside), ["values_kept"]).findings
    assert found.span is None


def test_it_needs_a_built_in_parser_beside_and_says_nothing_of_a_server() -> None:
    call: list[Entry] = [("name", "f"), ("arguments", '{"days": 1}', '{"days": 2}'), ("end",)]
    for alone in (
        subject(scripted(call), TYPED),
        subject(scripted(call), TYPED, reference=scripted(call), plays=True),
    ):
        report = run_checks(alone, ["values_kept"])
        assert report.skipped == [("values_kept", Need.REFERENCE)]


def test_a_value_of_the_wrong_type_is_the_parser_s_where_the_built_in_one_reads_it_rightly() -> None:
    call: list[Entry] = [("name", "f"), ("arguments", '{"days": 1}', '{"days": "1"}'), ("end",)]
    right: list[Entry] = [("name", "f"), ("arguments", '{"days": 1}'), ("end",)]

    def about(**fields: Any) -> str:
        (found,) = run_checks(subject(scripted(call), TYPED, **fields), ["arguments_schema"]).findings
        return found.about

    assert about() == "output"
    assert about(black_box=True, reference=scripted(right)) == "parser"
    assert about(black_box=True, reference=scripted(call)) == "output"
    assert about(black_box=True, reference=scripted([("name", "g"), *right[1:]])) == "output"
    assert about(black_box=True, reference=scripted([("name", "f"), ("arguments", "{"), ("end",)])) == "output"


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("zip", "null", True),
        ("maybe", "null", False),
        ("maybe", "2134", True),
        ("either", "null", False),
        ("either", "2134", True),
        ("any", "null", False),
        ("new", "null", False),
    ],
)
def test_a_string_that_may_be_null_has_become_another_value_only_where_it_is_neither(
    name: str, given: str, said: bool
) -> None:
    call: list[Entry] = [("name", "f"), ("arguments", given, f'{{"{name}": {given}}}'), ("end",)]
    for context in (TYPED, Context((Tool("f"),)), Context()):
        found = run_checks(subject(scripted(call), context), ["strings_whole"]).findings
        assert bool(found) == (said and context is TYPED)


@pytest.mark.parametrize(
    ("written", "given", "said"),
    [
        ("{zip:[1,2]}", '{"zip": [1, 2]}', False),
        ('{zip:[<|"|>a<|"|>]}', '{"zip": ["a"]}', False),
        ("(zip=(1,2))", '{"zip": [1, 2]}', False),
        ("{zip:{a:1}}", '{"zip": {"a": 1}}', False),
        ('{"zip": "[1,2]"}', '{"zip": [1, 2]}', True),
        ("<zip>[1,2]</zip>", '{"zip": [1, 2]}', True),
        ("<zip>{}</zip>", '{"zip": {}}', True),
    ],
)
def test_a_list_that_the_output_itself_begins_there_is_no_string_that_became_one(
    written: str, given: str, said: bool
) -> None:
    call: list[Entry] = [("name", "f"), ("arguments", written, given), ("end",)]
    found = run_checks(subject(scripted(call), TYPED), ["strings_whole"]).findings
    assert [one.severity for one in found] == ["error"] * said


def test_a_value_that_the_built_in_parser_reads_as_the_same_type_has_become_nothing_else() -> None:
    call: list[Entry] = [("name", "f"), ("arguments", "zip: 1_0", '{"zip": 10}'), ("end",)]
    for own, said in ((call, False), ([("name", "f"), ("arguments", "zip: 1_0", '{"zip": "1_0"}'), ("end",)], True)):
        fields: dict[str, Any] = {"black_box": True, "reference": scripted(own)}
        assert bool(run_checks(subject(scripted(call), TYPED, **fields), ["strings_whole"]).findings) == said
