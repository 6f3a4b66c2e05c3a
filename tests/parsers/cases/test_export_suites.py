"""Tests for the suites of other projects: each is run against a stand-in, or read back, and says what the case says."""

from __future__ import annotations

import ast
import json
import re
import unittest
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.case import Case, Expect
from parsers.cases.expect import accept
from parsers.cases.export.server_parsers import names_of
from parsers.cases.export.suite_literals import cpp, in_comment, python, python_pretty, rust, yaml_value
from parsers.cases.export.suite_subject import Subject, case_readers, identifier, subject_of
from parsers.cases.export.suite_target import SuiteTarget, suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.io import load_case
from parsers.cases.message_events import MessageEvent
from parsers.cases.run import run_case
from parsers.intake.dynamo_cases import read_dynamo
from parsers.replays.chunking import Chunking
from parsers.vocabulary.types import Delta, Piece, UsageError
from tests.parsers.cases.suite_standins import use_sglang, use_vllm, use_vllm_format

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": %d}}\n</tool_call>'
OUTPUT = f"Zürich 🍰 'a' \"b\" \\{CALL % 1}\n{CALL % 2}"
TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}]
NASTY = (
    *(
        '"""',
        "'''",
        "\\",
        "\\\n",
        "\0",
        "\r\n",
        "{}",
        "{{x}}",
        "@TOKENS@",
        "%s",
        '"#',
        "*/",
        "//",
        "??/",
        "${x}",
        "#{x}",
    ),
    *("\u2028", "🍰", "\u202e", "\ufeff", "- a: b", "\u2039finish\u203a", ')DELIM"', "\x85", "\U000e0001"),
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(NASTY)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
STANDINS: dict[str, Callable[..., None]] = {"vllm": use_vllm, "sglang": use_sglang}
ALL_STANDINS = {**STANDINS, "vllm_format": use_vllm_format}


def case(text: str = OUTPUT, **keys: Any) -> Case:
    """A case of a text, with tokens of three characters."""
    cut = [text[at : at + 3] for at in range(0, len(text), 3)]
    tokens = [[number, part] for number, part in enumerate(dict.fromkeys(cut), 100)]
    known = {part: number for number, part in tokens}
    given_input = {"tokens": [[known[part], part] for part in cut]}
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "tools": TOOLS, "input": given_input, **keys})


def subject(given_case: Case, **how: Any) -> Subject:
    """The subject of a case, with today's result where it expects nothing."""
    run = run_case(given_case)
    expect = None if given_case.expect else accept(run.trace.message)
    return subject_of(run, expect=expect, **how)


def emitted(target: str, given_case: Case, **how: Any) -> str:
    """The file of a case."""
    return suite_file(SUITES[target], subject(given_case, **how)).text


def failures(source: str) -> list[str]:
    """The tests of a file that fail, run as pytest and unittest run them."""
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    kinds = [one for one in names.values() if isinstance(one, type) and issubclass(one, unittest.TestCase)]
    result = unittest.TestResult()
    for kind in [one for one in kinds if one is not unittest.TestCase]:
        unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
    found = [text.strip().splitlines()[-1] for _, text in (*result.failures, *result.errors)]
    for test in [one for name, one in names.items() if name.startswith("test_")]:
        (key, values), *_ = [mark.args for mark in getattr(test, "pytestmark", ())] or [("", [None])]
        found += [words for value in values if (words := failure(test, **({key: value} if key else {})))]
    return found


def failure(test: Callable[..., None], **given: Any) -> str:
    """Why a test fails; "" where it passes."""
    try:
        test(**given)
    except (AssertionError, ValueError) as error:  # what is no JSON
        return f"{test.__name__}: {error}"
    return ""


@pytest.mark.parametrize(
    ("keys", "made", "told"),
    [
        ({"tools": []}, [("f", {"x": {"type": "integer"}})], True),
        ({"tools": [], "expect": {"content": "b"}}, [], False),
        ({}, [("f", {"x": {"type": "integer"}})], False),
    ],
)
def test_a_request_declares_the_tools_that_the_calls_name_where_the_case_declares_none(
    keys: dict[str, Any], made: list[Any], told: bool
) -> None:
    given_subject = subject(case(**keys))
    functions = [tool["function"] for tool in given_subject.tools]
    assert [(one["name"], one["parameters"]["properties"]) for one in functions] == made
    header = suite_file(SUITES["vllm"], given_subject).text
    assert ("The case declares no tools; these are what its calls name." in header) is told


@pytest.mark.parametrize(
    "chunking",
    [
        {"by": "token"},
        {"by": "token", "size": 4},
        {"by": "cuts", "cuts": []},
        {"by": "char", "size": 5},
        {"by": "cuts", "cuts": [20, 31, 31, 90]},
        {"by": "token", "text_delay": 2},
        {"by": "token", "holdback_chars": 4},
    ],
    ids=lambda chunking: Chunking.model_validate(chunking).model_dump_json(exclude_defaults=True),
)
@pytest.mark.parametrize("target", ALL_STANDINS)
def test_an_emitted_test_passes_on_a_right_parser_and_fails_on_a_wrong_one(
    target: str, chunking: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_case = case(replay=[chunking], title="Two calls, streamed")
    if target == "vllm_format" and chunking.keys() & {"text_delay", "holdback_chars"}:
        with pytest.raises(UsageError, match="text that comes later than its ids is nothing this suite has"):
            emitted(target, given_case)
        return
    source = emitted(target, given_case)
    ALL_STANDINS[target](monkeypatch, given_case)
    assert failures(source) == []
    ALL_STANDINS[target](monkeypatch, given_case, damage=True)
    assert len(failures(source)) == 1


@pytest.mark.parametrize("target", STANDINS)
@pytest.mark.parametrize("keys", [{}, {"text": f"Hm.</think>\n\n{CALL % 3}", "context": {"reasoning_open": True}}])
def test_the_order_is_compared_where_the_case_states_it(
    target: str, keys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = subject(case(**keys))
    assert (found.events, "ORDER" in emitted("vllm", case(**keys))) == (tuple(found.events or ()), False)
    events = [
        {"kind": "tool_call", "name": one.name, "raw": one.text}
        if one.kind == "tool_call"
        else {"kind": one.kind, "text": one.text}
        for one in found.events or ()
    ]
    for order, failed in ((events, 0), (events[::-1], 1)):
        ordered = found.expect.model_copy(update={"events": Expect.model_validate({"events": order}).events})
        source = suite_file(SUITES[target], replace(found, expect=ordered)).text
        STANDINS[target](monkeypatch, found.case)
        assert len(failures(source)) == failed, source
        assert "parts" not in suite_file(SUITES["vllm"], replace(found, expect=ordered, whole=True)).text


_EVENTS: list[dict[str, Any]] = [
    {"kind": "text", "text": OUTPUT.partition("<")[0]},
    {"kind": "tool_call", "name": "f", "arguments": {"x": 1}},
    {"kind": "tool_call", "name": "f", "arguments": {"x": 2}},
]


@pytest.mark.replays
@pytest.mark.parametrize("target", ALL_STANDINS)
@pytest.mark.parametrize("wrong", [{"arguments": {"x": 3}}, {"name": "g"}])
def test_what_only_events_say_is_compared(target: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for last, failed in ({}, 0), (wrong, 1):
        given_case = case(expect={"events": [*_EVENTS[:2], {**_EVENTS[2], **last}]}, replay=[{"by": "char"}])
        ALL_STANDINS[target](monkeypatch, given_case)
        assert len(failures(emitted(target, given_case))) == failed


@pytest.mark.parametrize("target", [target for target in SUITES if target != "transformers"])
def test_a_suite_that_knows_no_order_refuses_a_case_that_is_about_it(target: str) -> None:
    given_case = case(expect={"events": [*_EVENTS[1:], _EVENTS[0]]})
    if SUITES[target].keeps_order:
        assert emitted(target, given_case)
        return
    with pytest.raises(UsageError, match="only the order of the parts is wrong here"):
        emitted(target, given_case)


FORMAT_CASES: list[tuple[dict[str, Any], str]] = [
    ({"context": {"tool_choice": {"name": "f"}}}, "tool_choice="),
    ({"expect": {"tool_calls": [{"name": "f", "raw": '{"x": 1}'}, {"name": "f", "raw": '{"x": 2}'}]}}, "arguments for"),
    ({"text": "Hello", "tools": []}, "expected=()"),
]


@pytest.mark.parametrize(("keys", "words"), FORMAT_CASES)
def test_a_format_fixture_says_the_calls_and_the_content(
    keys: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_case = case(**keys)
    for whole in (False, True):
        source = suite_file(SUITES["vllm_format"], replace(subject(given_case), whole=whole)).text
        use_vllm_format(monkeypatch, given_case)
        assert failures(source) == [], source
        assert (words in source, "GROUPING" in source) == (True, not whole)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"text": "Hm.</think>", "context": {"reasoning_open": True}}, "suite of tool parsers has no reasoning"),
        ({"expect": {"content": "a"}}, "a format fixture says which calls come out, and the case does not"),
        ({"expect": {"tool_calls": [{"name": "f", "raw": "["}]}}, "the arguments of a call as an object, and one has"),
    ],
)
def test_what_a_format_fixture_cannot_say_is_refused(keys: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f"{words}.*export the case to vllm"):
        emitted("vllm_format", case(**keys))


@pytest.mark.parametrize("target", STANDINS)
@pytest.mark.parametrize(
    "keys",
    [
        {"text": f"Hm.</think>\n\n{CALL % 3}", "context": {"reasoning_open": True, "prompt_tail": "<think>\n"}},
        {"context": {"tool_choice": {"name": "f"}, "template_kwargs": {"enable_thinking": False}}},
        {"expect": {"tool_calls": [{"name": "f", "raw": '{"x": 1}'}, {"name": "f", "raw": '{"x": 2}'}]}},
        {"expect": {"content": "Zürich 🍰 'a' \"b\" \\"}},
        {"expect": {"reasoning": ""}},
    ],
    ids=["reasoning", "named tool", "raw arguments", "content only", "nothing"],
)
def test_what_a_case_says_besides_is_in_its_test(target: str, keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given_case = case(**keys)
    source = emitted(target, given_case)
    STANDINS[target](monkeypatch, given_case)
    assert failures(source) == [], source


@pytest.mark.parametrize("target", ALL_STANDINS)
@pytest.mark.parametrize(("compare", "right"), [({"whitespace": "soft"}, True), ({}, False)])
@pytest.mark.parametrize("with_order", [False, True])
def test_a_test_compares_white_space_as_the_case_does(
    target: str, compare: Any, right: bool, with_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, text = OUTPUT.partition("<")[0], "Zürich  🍰 'a' \"b\" \\\n"
    events = [{**_EVENTS[0], "text": text}, *_EVENTS[1:], {"kind": "text", "text": " \n"}]
    expect = {"events": events} if with_order else {"content": text, "tool_calls": []}
    for wrong in {}, {"content": "other"}:
        keys: Any = {"expect": {**expect, **wrong}, "compare": compare, "replay": [{"by": "char"}]}
        given_case = case(OUTPUT, **keys) if with_order else case(words, tools=[], **keys)
        ALL_STANDINS[target](monkeypatch, given_case)
        assert (failures(emitted(target, given_case)) == []) is (right and not wrong)


@pytest.mark.parametrize("target", ["llamacpp", "dynamo"])
def test_a_suite_that_compares_texts_exactly_refuses_a_case_of_which_white_space_does_not_count(target: str) -> None:
    given_case = case(expect={"content": "a", "tool_calls": []}, compare={"whitespace": "soft"})
    with pytest.raises(UsageError, match=r"compares texts exactly.*white space does not count"):
        emitted(target, given_case)


@pytest.mark.parametrize("target", STANDINS)
@pytest.mark.parametrize("told", [{}, {"reasoning_open": True}])
def test_an_output_that_does_not_stream_is_read_by_the_code_for_that(
    target: str, told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_case = case(f"{'Hm.</think>' * bool(told)}{CALL % 3}", context=told)
    source = suite_file(SUITES[target], replace(subject(given_case), whole=True)).text
    STANDINS[target](monkeypatch, given_case)
    assert failures(source) == []
    assert "non_stream" in source or "detect_and_parse" in source


@pytest.mark.parametrize(("engine", "target"), [("vllm", "vllm"), ("sglang", "sglang")])
def test_a_parser_that_reads_reasoning_alone_is_asked_alone(
    engine: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_case = case("Hm.</think>So.", context={"reasoning_open": True})
    for whole in (False, True):
        found = replace(subject(given_case, engine=engine), parser="qwen3", whole=whole)
        source = suite_file(SUITES[target], found).text
        STANDINS[target](monkeypatch, given_case)
        assert failures(source) == [], source


def test_the_parsers_of_a_case_of_that_server_are_those_it_names() -> None:
    found = subject(case(), engine="vllm")
    parser = found.case.parser.model_copy(update={"options": {"reasoning_parser": "qwen3"}})
    behind = replace(found, case=found.case.model_copy(update={"parser": parser}), parser="xlam")
    assert behind.named("vllm", names_of("vllm")) == ("xlam", "qwen3")
    assert replace(found, parser="step3p5").named("vllm", names_of("vllm")) == ("step3p5", None)


def test_calls_behind_reasoning_are_read_by_the_parser_of_the_grammar_that_they_show() -> None:
    tags = "<tool_call>\n<function=f>\n<parameter=x>1</parameter>\n</function>\n</tool_call>"
    thinking = case(f"Hm.</think>{tags}", parser={"name": "qwen3"}, context={"reasoning_open": True})
    names = names_of("vllm")
    assert subject(thinking).named("vllm", names) == ("qwen3_coder", "qwen3")
    assert case_readers(names, thinking) == ("qwen3_coder", "qwen3")
    assert case_readers(names, case("a", parser={"name": "nobodys"})) == (None, None)


def test_a_server_that_reads_no_such_format_is_told() -> None:
    with pytest.raises(UsageError, match="sglang has no parser that reads apriel: export the case to another suite"):
        emitted("sglang", case("Hello", parser={"name": "apriel"}))


def test_names_of_parsers_are_those_of_the_documented_table() -> None:
    engines = json.loads((Path(__file__).parents[3] / "docs" / "aliases.json").read_text("utf-8"))["engines"]
    for one in engines:
        found = names_of(one["name"].lower())
        assert (found.tool, found.reasoning) == (one["tool"], one["reasoning"])


def test_an_empty_output_has_no_tokens_to_replay() -> None:
    with pytest.raises(UsageError, match="the output is empty"):
        emitted("vllm", case(""))


@pytest.mark.parametrize("choice", ["none", "required"])
def test_dynamos_suite_has_no_such_tool_choice(choice: str) -> None:
    with pytest.raises(UsageError, match=f"no tool_choice '{choice}': export the case to another suite"):
        emitted("dynamo", case("Hello", context={"tool_choice": choice}))


@pytest.mark.replays
@pytest.mark.parametrize("target", SUITES)
def test_a_test_of_nothing_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="this case expects nothing yet"):
        subject_of(run_case(case()))


@pytest.mark.parametrize("target", SUITES)
@pytest.mark.replays
def test_the_header_says_what_fails_and_where_the_case_is(target: str) -> None:
    given_case = case(
        expect={"content": "else\n*/ \\"}, title="Text\nof \\", source={"kind": "issue", "link": "https://x.invalid/1"}
    )
    text = suite_file(SUITES[target], told(subject(given_case, permalink="http://localhost/c/1"))).text
    head = text.partition("\n\n")[0]
    wanted = ("SPDX-License-Identifier: ", "Case: http://localhost/c/1", "Text of \\ .", "content: expected 'else")
    assert [words for words in wanted if words not in head] == []
    assert "{" not in suite_file(SUITES[target], told(subject(given_case))).path


def told(found: Subject) -> Subject:
    """A subject that every suite can say: it brings a template, and says what all of the message should be."""
    parser = found.case.parser.model_copy(update={"options": {"template": {"fields": {}}}})
    expect = found.expect.model_copy(update={"tool_calls": ()})
    return replace(found, case=found.case.model_copy(update={"parser": parser}), expect=expect)


def test_the_smallest_chunking_that_fails_is_the_one_that_is_tested() -> None:
    run = run_case(case(expect={"content": "other"}))
    found = subject_of(run)
    assert (found.chunking, len(found.deltas), found.events) == (Chunking(by="whole"), 1, None)
    streamed = subject_of(run, one_shot=True)
    assert (streamed.chunking.by, streamed.whole) == ("token", False)


def test_parts_come_in_the_order_of_the_case_else_of_a_right_replay_else_by_kind() -> None:
    call = {"kind": "tool_call", "name": "f", "arguments": {"x": 1}}
    text = {"kind": "text", "text": "a"}
    said = Expect.model_validate({"events": [call, text]})
    found = subject(case())
    assert replace(found, expect=said).parts() == [call, text]
    assert [one["kind"] for one in found.parts()] == ["text", "tool_call", "tool_call"]
    own = (MessageEvent("text", "a"), MessageEvent("tool_call", "{", "f"))
    assert replace(found, events=own).parts() == [text, {"kind": "tool_call", "name": "f", "arguments": "{"}]
    kinds = replace(found, events=None, expect=Expect(reasoning="r", tool_calls=[{"name": "f", "raw": "[1]"}])).parts()
    assert kinds == [{"kind": "reasoning", "text": "r"}, {"kind": "tool_call", "name": "f", "arguments": "[1]"}]


@pytest.mark.parametrize(
    ("keys", "reasoning_open", "named"),
    [
        ({}, False, None),
        ({"context": {"reasoning_open": True, "finish_reason": "length"}, "text": "Hm.</think>So."}, True, None),
        ({"context": {"tool_choice": {"name": "f"}}, "text": ""}, False, "f"),
        ({"source": {"kind": "recorded"}, "text": CALL % 1}, False, None),
        ({"expect": {"tool_calls": [{"name": "f", "raw": "{"}]}}, False, None),
    ],
)
def test_a_dynamo_case_is_read_back_as_it_was(keys: Any, reasoning_open: bool, named: str | None) -> None:
    found = subject(case(**keys, replay=[{"by": "token", "size": 3}]))
    read = read_dynamo(suite_file(SUITES["dynamo"], found).text)
    assert read is not None
    assert (read.title, read.family) == ("Dynamo YAML (qwen3), 1 case", "qwen3")
    (output,) = read.outputs
    assert (output.text, [delta.text for delta in output.deltas or ()]) == (found.case.text(), [*found.chunks])
    assert output.finish_reason == (found.case.context.finish_reason or "stop")
    assert output.request is not None
    assert (output.request.reasoning_open, list(output.request.tools or ())) == (reasoning_open, found.tools)
    assert (output.request.tool_choice or {}).get("function", {}).get("name") == named
    assert output.expect is not None
    assert output.expect["events"] == [said_in_yaml(part) for part in found.parts()]


def said_in_yaml(part: dict[str, Any]) -> dict[str, Any]:
    """A part as the reader gives it: arguments that are no object are text."""
    kept = {key: one for key, one in part.items() if key != "arguments"}
    return {**kept, "raw": part["arguments"]} if isinstance(part.get("arguments"), str) else part


@given(st.lists(TEXT.filter(bool), min_size=1, max_size=5), TEXT, VALUES)
@pytest.mark.replays
def test_no_text_of_a_case_leaves_its_place_in_yaml(parts: list[str], words: str, value: Any) -> None:
    found = nasty(parts, f"a{words}", {words: value})
    data = yaml.safe_load(suite_file(SUITES["dynamo"], found).text)
    ((name, made),) = data["cases"].items()
    assert (name, made["description"]) == (found.slug, found.title)
    assert made["request"]["tools"] == [tool["function"] for tool in found.tools]
    assert [one["delta_text"] for one in made["request"]["chunks"][:-1]] == ["", *parts]
    assert made["golden"]["assembled"] == found.parts()


def test_ids_of_a_server_stay_and_markers_of_the_format_have_one() -> None:
    tokens = [[7, "a"], [151657, "<tool_call>"], [8, ""], [9, "b"]]
    keys: dict[str, Any] = {"source": {"kind": "recorded"}, "tokenizer": {"vocab": {"<tool_call>": 151657}}}
    found = subject(case(**keys, input={"tokens": tokens}, replay=[{"by": "token", "text_delay": 1}])).tokens
    assert [number for number, _ in found.tokens] == [7, 151657, 8, 9]
    assert found.vocabulary["<tool_call>"] == 151657
    assert found.vocabulary["</tool_call>"] >= 2_000_000
    assert (found.sizes, [ids for _, ids in found.deltas]) == (None, [(7,), (151657,), (8,), (9,)])


def test_a_marker_that_late_text_cuts_keeps_its_id_where_the_case_stores_no_tokens() -> None:
    texts = ["a", "<tool_call>", "\n{}", "</tool_call>"]
    keys = {"parser": {"name": "qwen"}, "input": {"text": "".join(texts)}, "expect": {"content": "a"}}
    late = load_case({"schema": 1, **keys, "replay": [{"by": "token", "holdback_chars": 4}]})
    run = run_case(late, pieces=[Piece(text, number) for number, text in enumerate(texts, 5)])
    found = subject_of(run).tokens
    wanted = [2_500_000, found.vocabulary["<tool_call>"], 2_500_002, found.vocabulary["</tool_call>"]]
    assert [one for _, ids in found.deltas for one in ids] == wanted
    # a tokenizer made of the tokens has a text for every id that comes
    assert found.tokens == tuple(zip(wanted, texts, strict=True))
    assert "".join([text for text, _ in found.deltas]) == "".join(texts)


def test_parts_of_a_token_that_is_cut_have_ids_of_their_own() -> None:
    given_case = case("abcdef", replay=[{"by": "cuts", "cuts": [4]}])
    (first, whole), (second, start), (third, rest) = subject(given_case).tokens.tokens
    assert (whole, start, rest, len({first, second, third})) == ("abc", "d", "ef", 3)
    assert min(first, second, third) > 2_000_000


def test_ids_of_a_server_stay_and_others_are_told_apart_from_them() -> None:
    for source, ids in (({"kind": "token_ids"}, [100, 101]), (None, [2_500_000, 2_500_001])):
        assert [number for number, _ in subject(case("abcdef", source=source)).tokens.tokens] == ids


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Two calls; streamed!", "two_calls_streamed"),
        ("3 calls", "3_calls"),
        ("日本", "case"),
        ("x" * 80, "x" * 60),
    ],
)
def test_a_title_becomes_a_name_of_any_language(words: str, name: str) -> None:
    assert identifier(words) == name


RUST = re.compile(r'"((?:[^"\\\n\r]|\\(?:["\\nrt]|u\{[0-9a-f]{1,6}\}))*)"')
CPP = re.compile(r'(?:std::string\()?"((?:[^"\\\n\r]|\\(?:["\\nrt?]|[0-7]{3}))*)"(?:, (\d+)\))?')
SHORT = {"n": "\n", "r": "\r", "t": "\t"}


def read_rust(literal: str) -> str:
    """What a literal of Rust is."""
    body = RUST.fullmatch(literal)
    assert body is not None, literal
    return re.sub(
        r"\\u\{(\w+)\}|\\(.)", lambda one: chr(int(one[1], 16)) if one[1] else SHORT.get(one[2], one[2]), body[1]
    )


def read_cpp(literal: str) -> str:
    """What a literal of C++ is, as UTF-8. Outside of std::string(TEXT, SIZE) it ends at a NUL."""
    body = CPP.fullmatch(literal)
    assert body is not None, literal
    assert "??" not in body[1]
    octal = re.compile(rb"\\([0-7]{3})|\\(.)")
    short = {key.encode(): value.encode() for key, value in SHORT.items()}
    data = octal.sub(lambda one: bytes([int(one[1], 8)]) if one[1] else short.get(one[2], one[2]), body[1].encode())
    assert body[2] is None or int(body[2]) == len(data)
    return (data if body[2] else data.partition(b"\0")[0]).decode()


@given(TEXT)
def test_strings_of_rust_and_cpp_are_read_as_what_they_are_of(text: str) -> None:
    assert read_rust(rust(text)) == text
    assert read_cpp(cpp(text)) == text
    assert (rust(text) + cpp(text)).isprintable()


@pytest.mark.replays
@given(VALUES, TEXT)
def test_literals_are_read_as_what_they_are_of(value: Any, text: str) -> None:
    assert ast.literal_eval(python(text)) == text
    assert ast.literal_eval(python_pretty(value, 60)) == value
    assert yaml.safe_load(yaml_value([value, {text * 200: text}], 80)) == [value, {text * 200: text}]
    assert in_comment(text).isprintable()
    assert not re.search(r"\*/|\?\?|\\$|coding[:=]", in_comment(text))


def test_a_title_does_not_say_how_a_file_of_python_is_encoded() -> None:
    assert in_comment("Wrong encoding: emoji") == "Wrong encoding : emoji"


@given(st.lists(TEXT.filter(bool), min_size=1, max_size=5), TEXT, VALUES)
@pytest.mark.replays
def test_no_text_of_a_case_becomes_code_of_python(parts: list[str], words: str, value: Any) -> None:
    for target in [one for one in SUITES.values() if one.mimetype == "text/x-python"]:
        assert shape(target, nasty(parts, f"a{words}", {words: value})) == shape(target, nasty(["a"], "a", {"a": 1})), (
            target
        )


@pytest.mark.parametrize("raw", ['{"x": 1e400}', '{"x": "\\ud800"}', '{"\\udc00": 1}', '{"x": [{"y": -1e999}]}'])
def test_arguments_that_are_no_value_of_a_language_stay_text(raw: str) -> None:
    expect = Expect.model_validate({"content": "a", "tool_calls": [{"name": "f", "raw": raw}]})
    found = replace(base(), expect=expect, events=None)
    for name in [one for one in SUITES if one not in ("vllm_format", "transformers")]:
        target = SUITES[name]
        text = suite_file(target, found).text
        assert not re.search(r"\binf\b|U0000D", text), name
        if target.mimetype == "text/x-python":
            assert raw in [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    written = yaml.safe_load(suite_file(SUITES["dynamo"], found).text)
    assert next(iter(written["cases"].values()))["golden"]["assembled"][-1]["arguments"] == raw
    with pytest.raises(UsageError):
        suite_file(SUITES["vllm_format"], found)


@cache
def base() -> Subject:
    """A subject to be changed."""
    return subject(case("ab", replay=[{"by": "cuts", "cuts": [0, 1]}]))


@pytest.mark.parametrize(("engine", "words"), [("", ""), ("sglang", ""), ("vllm", " in vllm")])
def test_the_head_says_in_which_other_engine_the_failure_was_seen(engine: str, words: str) -> None:
    found = replace(base(), engine=engine, fails="it came otherwise")
    assert f"{words}: it came otherwise\n" in suite_file(SUITES["sglang"], found).text
    assert (" in vllm" in suite_file(SUITES["sglang"], found).text) == bool(words)


def nasty(parts: list[str], words: str, arguments: dict[str, Any]) -> Subject:
    """A subject with these texts wherever it has one, a template of a tokenizer among them."""
    calls = [{"name": words, "arguments": arguments}, {"name": words, "raw": words}]
    tools = ({"name": words or "f", "description": words, "parameters": arguments},)
    deltas = tuple([Delta(at, (Piece(part, at),)) for at, part in enumerate(["", *parts], 1)])
    parser = base().case.parser.model_copy(update={"options": {"template": {words: arguments}}})
    found = base().case.model_copy(update={"title": words, "tools": tools, "parser": parser})
    expect = Expect.model_validate({"content": words, "reasoning": words, "tool_calls": calls})
    return replace(base(), case=found, expect=expect, deltas=deltas, fails=words, permalink=words)


def shape(target: SuiteTarget, found: Subject) -> Counter[str]:
    """How much code a file has, without its literals."""
    if target.name == "vllm_format":  # it refuses reasoning, and a call whose arguments are no object
        calls = tuple([call for call in found.calls or () if call.arguments is not None])
        found = replace(found, expect=found.expect.model_copy(update={"tool_calls": calls, "reasoning": None}))
    literals = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    nodes = [node for node in ast.walk(ast.parse(suite_file(target, found).text)) if not isinstance(node, literals)]
    return Counter(type(node).__name__ for node in nodes)
