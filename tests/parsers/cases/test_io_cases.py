"""Case files: what is read comes back, what is wrong is named, what is hashed does not depend on spelling."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.case import Case, CaseError, RequestContext
from parsers.cases.input import Input
from parsers.cases.io import (
    canonical,
    case_id,
    case_key,
    dumps,
    load_case,
    loads,
    to_data,
)
from parsers.cases.run import run_case

SMALL: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "a\nb"}}
FULL: dict[str, Any] = {
    "$schema": "case-1.schema.json",
    "schema": 1,
    "title": "A title",
    "notes": ["One.", "Two."],
    "flags": ["SplitTerminal"],
    "verdict": "known_bug",
    "source": {"kind": "recorded", "minimized": True},
    "parent": "0123456789abcdef",
    "parser": {"name": "qwen", "policy": {"unknown_tool": "drop"}},
    "contract": "strict",
    "input": {
        "text": ["a\n", "b"],
        "tokens": [[1, "a\n"], [2, "b", {"hex": "62", "kind": "added"}]],
        "deltas": [{"text": "a\nb", "ids": [1, 2]}],
    },
    "tokenizer": {"name": "t", "revision": "r", "fingerprint": "f", "vocab": {"b": 2}, "decoder": "byte_fallback"},
    "decode": {"policy": "sglang", "stop": ["x", "yz"], "include_stop": True},
    "tools": [{"name": "f", "parameters": {"required": ["x"], "minimum": [1, 2.5]}}],
    "context": {"tool_choice": "required", "prompt_tail": "x"},
    "replay": [{"by": "token", "size": 2}, {"by": "cuts", "cuts": [1, 2]}],
    "expect": {"reasoning": None, "content": ["a\n", "b"], "tool_calls": [{"name": "f", "arguments": {}}]},
    "compare": {"calls": "index"},
    "checks": ["chunking"],
    "engines": {"vllm:hermes": {"verdict": "known_bug", "expect": {"content": "x"}}},
}

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
plain = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3))
tokens = st.lists(
    st.one_of(
        st.tuples(st.none() | st.integers(0, 2**40), text),
        st.tuples(st.integers(0, 9), text, st.just({"hex": "c3", "kind": "partial"})),
    ),
    max_size=5,
)
calls = st.one_of(
    st.fixed_dictionaries({"name": text, "arguments": st.dictionaries(text, plain, max_size=3)}),
    st.fixed_dictionaries({"name": text, "raw": text}),
)
expects = st.fixed_dictionaries(
    {},
    optional={
        "reasoning": st.none() | text | st.lists(text, max_size=3),
        "content": st.none() | text,
        "tool_calls": st.none() | st.lists(calls, max_size=2),
        "finish_reason": st.sampled_from(["stop", "length"]),
    },
)
chunkings = st.sampled_from([{"by": "token", "size": 3}, {"by": "cuts", "cuts": [4, 1]}, {"by": "random", "max": 8}])
case_data = st.fixed_dictionaries(
    {
        "schema": st.just(1),
        "parser": st.sampled_from([{"name": "qwen"}, {"name": "x", "engine": "vllm", "policy": {"a": "b"}}]),
        "input": st.one_of(
            st.fixed_dictionaries({"text": text | st.lists(text, max_size=4)}),
            st.fixed_dictionaries({"tokens": tokens}),
            st.fixed_dictionaries({"deltas": st.lists(st.fixed_dictionaries({"text": text}), max_size=3)}),
            st.fixed_dictionaries({"stream": st.lists(st.dictionaries(text, plain, max_size=2), max_size=2)}),
        ),
    },
    optional={
        "title": text,
        "notes": text | st.lists(text, max_size=2),
        "verdict": st.sampled_from(["required", "known_bug"]),
        "source": st.just({"kind": "recorded"}),
        "tokenizer": st.fixed_dictionaries({"vocab": st.dictionaries(text, st.integers(0, 9), max_size=3)}),
        "tools": st.lists(st.fixed_dictionaries({"name": st.just("f"), "parameters": st.just({"a": [1]})})),
        "context": st.fixed_dictionaries({"template_kwargs": st.dictionaries(text, plain, max_size=3)}),
        "replay": st.lists(chunkings, max_size=2),
        "expect": expects,
        "engines": st.dictionaries(text, st.fixed_dictionaries({"expect": expects}), max_size=2),
    },
)
cases = case_data.map(load_case)
PLAIN_INPUT = Input(text="a\nb")


def error(source: str | bytes) -> str:
    """What loading says."""
    with pytest.raises(CaseError) as caught:
        loads(source)
    return str(caught.value)


def changed(**keys: Any) -> Case:
    """The full case with other values."""
    return load_case({**FULL, **keys})


@pytest.mark.replays
@given(cases)
def test_a_written_case_reads_back_equal(case: Case) -> None:
    written = dumps(case)
    assert loads(written) == case
    assert loads(written.encode()) == case
    assert dumps(loads(written)) == written


@pytest.mark.replays
@given(cases)
def test_a_written_case_is_utf8_json_of_the_same_data(case: Case) -> None:
    written = dumps(case)
    assert written.endswith("}\n")
    assert json.loads(written) == json.loads(json.dumps(to_data(case)))
    assert not {"\u2028", "\u202e", "\u200b", "\ufeff", "\x85"} & set(written)


def test_a_file_has_the_documented_layout() -> None:
    assert dumps(load_case(FULL)) == (Path(__file__).parent / "golden" / "written.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("given_text", "written"),
    [
        ("one", ["one"]),
        ("", [""]),
        ("a\nb", ["a\n", "b"]),
        ("a\n", ["a\n"]),
        ("\n\n", ["\n", "\n"]),
        ("a\rb\x0cc", ["a\rb\x0cc"]),
    ],
)
def test_a_text_is_written_as_lines_cut_after_newlines(given_text: str, written: list[str]) -> None:
    assert to_data(load_case({**SMALL, "input": {"text": given_text}}))["input"]["text"] == written


def test_keys_at_their_default_are_left_out() -> None:
    spelled = {
        **SMALL,
        "verdict": "required",
        "context": {"tool_choice": "auto", "id_seed": 0},
        "tools": [],
        "compare": {},
    }
    assert to_data(load_case(spelled)) == to_data(load_case(SMALL))


def test_a_byte_order_mark_is_not_part_of_the_case() -> None:
    written = json.dumps(SMALL)
    assert loads("\ufeff" + written) == loads(b"\xef\xbb\xbf" + written.encode()) == load_case(SMALL)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('{"schema": 1,\n "parser": }', "not JSON: Expecting value at line 2, column 12"),
        (b"\xff{}", "a case file is UTF-8 text: byte 0 is not"),
        ('{"a": 1, "b": 2, "a": 3}', 'key "a" is given twice in one object'),
        ('{"a": NaN}', "not JSON: NaN is not a JSON number"),
        ("[" * 100_000, "nested deeper than 100 levels"),
        ('{"a": ' + "9" * 5000 + "}", "a number has too many digits"),
        ("[]", "a case is a JSON object"),
        ("{}", '/schema: a case says which schema it follows: add "schema": 1'),
        ('{"schema": 2}', "/schema: schema 2 is not known here: this version reads schema 1"),
        ('{"schema": true}', "/schema: schema true is not known here"),
        ('{"schema": "1"}', '/schema: schema "1" is not known here'),
        ('{"schema": 1}', "/parser: this key is required"),
        ('{"schema": 1, "prser": {}}', '/prser: unknown key "prser": correct its spelling or remove it'),
        ('{"schema": 1, "a/b~c": {}}', "/a~1b~0c: unknown key"),
    ],
)
def test_what_is_no_case_is_named(source: str | bytes, message: str) -> None:
    assert error(source).startswith(message)


def test_that_reasoning_is_not_open_is_said_or_not_known() -> None:
    given = {"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": "Hi"}}
    said = load_case({**given, "context": {"reasoning_open": False}})
    assert to_data(said)["context"] == {"reasoning_open": False}
    assert run_case(loads(dumps(said))).context.reasoning_open is False
    assert case_id(said) != case_id(load_case(given))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"verdict": "maybe"}, "/verdict: must be 'required', 'known_bug' or 'implementation_defined', not \"maybe\""),
        ({"title": "x" * 3, "flags": [""]}, "/flags/0: String should have at least 1 character"),
        (
            {"parser": {"name": "p", "markers": ["@@", ""]}},
            "/parser/markers/1: String should have at least 1 character",
        ),
        (
            {"parser": {"name": "p", "markers": ["x"]}},
            "/parser/markers/0: a marker of one character is a sign, no letter",
        ),
        ({"parser": {"name": "p", "markers": [" "]}}, "/parser/markers/0: a marker of one character is a sign"),
        ({"parent": "short"}, "/parent: String should match pattern"),
        ({"source": {"kind": "Recorded!"}}, "/source/kind: String should match pattern"),
        ({"context": {"reasoning_open": 1}}, "/context/reasoning_open: must be a valid boolean, not 1"),
        ({"context": {"id_seed": "x" * 99}}, f'/context/id_seed: must be a valid integer, not "{"x" * 39}…'),
        ({"context": {"model": []}}, "/context/model: must be a valid string"),
        ({"replay": [{"by": "token", "size": 0}]}, "/replay/0/size: must be greater than or equal to 1, not 0"),
        (
            {"replay": [{"by": "record"}]},
            "/replay/0/by: must be 'token', 'char', 'whole', 'random', 'cuts' or 'recorded'",
        ),
        ({"decode": {"policy": "vllm"}}, "/decode/policy: must be 'exact', 'vllm_fast', 'vllm_slow', 'vllm_mistral', "),
        ({"decode": {"stop": [""]}}, "/decode/stop/0: "),
        ({"decode": {"include_stop": True}}, "/decode: 'include_stop' needs 'stop': the strings that end the output"),
        ({"replay": [{"by": "whole"}, {"by": "cuts"}]}, "/replay/1: a chunking by cuts needs 'cuts'"),
        ({"title": "a\udc80"}, "/title: lone surrogate U+DC80: text must be valid Unicode"),
        ({"tools": [{"name": "f", "\ud83d": 1}]}, "/tools/0: lone surrogate U+D83D"),
        ({"context": {"template_kwargs": {"x": float("inf")}}}, "/context/template_kwargs/x: NaN and Infinity"),
        ({"context": {"template_kwargs": {1: 2}}}, "/context/template_kwargs: key 1 is not a string"),
        ({"context": {"template_kwargs": {"x": {1}}}}, "/context/template_kwargs/x: set is not a JSON value"),
        ({"engines": {"vllm": {"verdict": 1}}}, "/engines/vllm/verdict: must be 'required'"),
        ({"flags": "x"}, '/flags: must be a list, not "x"'),
        ({"expect": {"events": {}}}, "/expect/events: must be a list, not an object"),
        ({"expect": {"events": ["x"]}}, '/expect/events/0: must be an object, not "x"'),
        ({"engines": []}, "/engines: must be an object, not a list"),
        ({"contract": {"name": "x", "cut_call": []}}, '/contract/cut_call: unknown key "cut_call": correct its'),
        ({"contract": {"truncated_call": []}}, "/contract/name: this key is required"),
        ({"contract": {"name": "x", "ids": "some"}}, "/contract/ids: must be 'any' or 'stable', not \"some\""),
        ({"contract": {"name": "x", "unknown_tool": ["lose"]}}, "/contract/unknown_tool/0: must be 'keep', 'drop'"),
        ({"contract": 3}, "/contract: must be a valid string, not 3"),
        ({"title": {"a": 1}}, "/title: must be a valid string"),
    ],
)
def test_a_wrong_value_names_its_place(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError) as caught:
        load_case({**SMALL, **keys})
    assert str(caught.value).startswith(message)
    assert str(caught.value).startswith(caught.value.pointer)


def test_an_overflowing_float_is_refused() -> None:
    assert error('{"schema": 1, "title": 1e999}') == "/title: NaN and Infinity are not JSON"


def test_deep_nesting_is_refused_before_it_costs_anything() -> None:
    inner: list[Any] = []
    for _ in range(150):
        inner = [inner]
    with pytest.raises(CaseError, match="/tools/0/x/0: nested deeper than 100 levels below this place"):
        load_case({**SMALL, "tools": [{"name": "f", "x": inner}]})


def test_a_case_built_in_code_is_checked_when_it_is_written() -> None:
    case = load_case(SMALL).model_copy(update={"title": "\ud800"})
    with pytest.raises(CaseError, match="/title: lone surrogate"):
        dumps(case)


def test_the_canonical_form_is_rfc_8785() -> None:
    small = load_case({**SMALL, "context": {"template_kwargs": {"é": 1, "a": [], "\U0001f600": 2, "\ufb33": 3}}})
    assert canonical(small).decode() == (
        '{"context":{"template_kwargs":{"a":[],"é":1,"\U0001f600":2,"\ufb33":3}},'
        '"input":{"text":["a\\n","b"]},"parser":{"name":"qwen"},"schema":1}'
    )


def test_the_id_of_a_case_is_fixed() -> None:
    """Computed apart from this code, with Python's own sorted compact JSON and base32; it must never change."""
    assert case_id(load_case(SMALL)) == "dpg16wxjrjdjm1r9"


@pytest.mark.parametrize("key", ["title", "notes", "flags", "parent", "$schema"])
def test_what_says_nothing_of_the_parser_does_not_change_the_id(key: str) -> None:
    portable = {**FULL, "tools": []}
    assert case_id(load_case({k: v for k, v in portable.items() if k != key})) == case_id(load_case(portable))


@pytest.mark.parametrize("key", sorted(set(FULL) - {"title", "notes", "flags", "parent", "$schema", "schema"}))
def test_everything_else_changes_the_id(key: str) -> None:
    portable = {**SMALL, **{k: v for k, v in FULL.items() if k == key}}
    portable["tools"] = [{"name": "f"}] if key == "tools" else []
    portable["parser"] = {"name": "json"} if key == "parser" else SMALL["parser"]
    assert case_id(load_case(portable)) != case_id(load_case(SMALL))


@pytest.mark.replays
@given(cases)
def test_an_id_is_sixteen_crockford_characters_and_survives_a_file(case: Case) -> None:
    portable = case.model_copy(
        update={"context": RequestContext(), "expect": None, "engines": {}, "input": PLAIN_INPUT}
    )
    found = case_id(portable)
    assert (len(found), set(found) <= set("0123456789abcdefghjkmnpqrstvwxyz")) == (16, True)
    assert found == case_id(loads(dumps(portable)))


def test_a_fraction_in_a_schema_has_an_id() -> None:
    case = load_case({**SMALL, "context": {"template_kwargs": {"x": 0.5}}})
    assert case_id(case) == case_id(loads(dumps(case)))


@pytest.mark.parametrize("number", [2**53, -(2**53)])
def test_numbers_readers_do_not_agree_on_have_no_id(number: int) -> None:
    case = load_case({**SMALL, "context": {"template_kwargs": {"x": number}}})
    with pytest.raises(CaseError) as caught:
        case_id(case)
    assert caught.value.pointer == "/context/template_kwargs/x"
    assert loads(dumps(case)) == case


def test_what_has_no_id_has_a_key_and_what_has_one_is_its_own_key() -> None:
    def with_kwargs(**given: Any) -> Case:
        return load_case({**SMALL, "context": {"template_kwargs": given}})

    plain = with_kwargs(x=[2**53 - 1, 0.5, None])
    assert case_key(plain) == case_id(plain)
    large = with_kwargs(x=[2**53], y=True)
    found = [case_key(case) for case in (large, loads(dumps(large)), large.model_copy(update={"title": "T"}))]
    assert (len({*found}), len(found[0])) == (1, 16)
    others = [with_kwargs(x=[number], y=True) for number in (-(2**53), 2**53 + 1, hex(2**53), 10**4200)]
    assert len({case_key(case) for case in (large, *others)}) == 5
    beside = [with_kwargs(x=[2**53, value]) for value in (2**60, hex(2**60), f"={hex(2**60)}", -(2**60))]
    assert len({case_key(case) for case in beside}) == 4


def test_verdicts_and_links_of_engines_are_no_part_of_a_key_and_what_is_expected_of_them_is() -> None:
    known = {"vllm": {"verdict": "known_bug", "link": "https://example.org/1"}, "sglang": {"verdict": "required"}}
    plain, stated = load_case(SMALL), load_case({**SMALL, "engines": known})
    assert (case_key(stated), case_id(stated) == case_id(plain)) == (case_key(plain), False)
    told = [
        load_case({**SMALL, "engines": {"vllm": {**more, "expect": {"content": "A"}}}}) for more in ({}, known["vllm"])
    ]
    assert len({case_key(plain), *map(case_key, told)}) == 2


def test_the_schema_knows_every_key_and_no_other() -> None:
    schema = json.loads((resources.files("parsers.cases") / "case-1.schema.json").read_text(encoding="utf-8"))
    assert list(schema["properties"]) == list(FULL)
    assert (schema["additionalProperties"], schema["required"]) == (False, ["schema", "parser", "input"])
    assert {"prefixItems", "minItems", "maxItems"} <= schema["$defs"]["Token"].keys()


def test_a_contract_is_part_of_a_case_by_name_or_as_a_whole_and_old_ids_stay() -> None:
    plain = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}
    own = {"name": "own", "truncated_call": ["drop", "close"]}
    ids = [case_id(load_case({**plain, **more})) for more in ({}, {"contract": "vllm"}, {"contract": own})]
    assert len({*ids}) == 3
    assert case_id(load_case({**plain, "contract": None, "compare": {"cuts": "all"}})) == ids[0] == "dfhq43151b0f8xn3"
    assert loads(dumps(load_case({**plain, "contract": own}))) == load_case({**plain, "contract": own})
    with pytest.raises(CaseError, match="/contract"):
        load_case({**plain, "contract": {"name": "own", "truncated_call": ["lose"]}})


STREAM: dict[str, Any] = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": [{"a": 1}, {"b": 2}]}}


def timed(times: list[Any]) -> dict[str, Any]:
    return {**STREAM, "input": {**STREAM["input"], "times": times}}


def test_when_chunks_came_is_part_of_a_case_on_one_line_and_old_ids_stay() -> None:
    assert case_id(load_case(STREAM)) == "r3hjrwd49yfe3qtg"
    case = load_case(timed([0, 83.25]))
    assert '"times": [0, 83.25]' in dumps(case)
    assert loads(dumps(case)) == case
    assert len({case_id(load_case(one)) for one in (STREAM, timed([0, 83.25]), timed([0, None]))}) == 3


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([0], "/input/times: give a time, or null, for every chunk of 'stream'"),
        ([5, 4], "/input/times: chunks come one after the other: no time is before an earlier one"),
        ([0, -1], "/input/times/1: "),
        ([0, True], "/input/times/1: "),
        ([0, "1"], "/input/times/1: "),
    ],
)
def test_times_that_cannot_be_are_refused(times: list[Any], words: str) -> None:
    with pytest.raises(CaseError) as caught:
        load_case(timed(times))
    assert str(caught.value).startswith(words)
