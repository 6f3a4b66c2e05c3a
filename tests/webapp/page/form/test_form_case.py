"""From what was typed to a case, and back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.cases.case import Case
from parsers.cases.io import dumps, load_case, to_data
from parsers.compare.divergence import Rules
from tests.webapp.page.streams import TEXT, stream_case
from webapp.fields import EMPTY_TEMPLATE, RuleFields, unix_lines
from webapp.page.form.form_page import template_examples
from webapp.page.form.setup import FormError, Setup, case_of, read_setup, setup_of

TOOLS = '[{"name": "f", "parameters": {"type": "object"}}]'
JSON_CALLS = template_examples()["json"]
TEMPLATE: dict[str, Any] = json.loads(JSON_CALLS.text)
TEMPLATE_OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("found", "chunking", "kept"),
    [
        (stream_case(), "token", False),
        (stream_case(parser="recorded", text=TEXT), "token", False),
        (stream_case(text=TEXT), "token", True),
        (stream_case(), "char", True),
    ],
)
def test_the_usual_chunking_of_the_form_is_none_of_a_played_stream(found: Case, chunking: str, kept: bool) -> None:
    setup = setup_of(found)
    setup.cutting.chunking = chunking
    assert bool(case_of(setup, None).replay) == kept


@pytest.mark.parametrize("said", [True, False, None])
def test_the_form_keeps_what_a_case_says_of_its_start(said: bool | None) -> None:
    case = {"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": "Hi"}, "context": {"reasoning_open": said}}
    assert case_of(setup_of(load_case(case)), None).context.reasoning_open is said


def typed(**fields: str) -> Setup:
    return read_setup({"text": "hello", **{key.replace("__", "."): value for key, value in fields.items()}})


def made(setup: Setup, upload: tuple[str, bytes] | None = None) -> dict[str, Any]:
    return to_data(case_of(setup, upload))


def test_pasted_text_has_unix_lines_and_files_keep_their_bytes() -> None:
    assert unix_lines("a\r\nb\rc\n") == "a\nb\nc\n"
    assert made(typed(text="a\r\nb"))["input"]["text"] == ["a\n", "b"]
    assert case_of(typed(), ("x.txt", b"a\r\nb")).text() == "a\r\nb"


def test_every_field_arrives_in_the_case() -> None:
    setup = typed(
        parser="qwen", tokenizer="characters", chunking="random", seed="7", holdback="3", text_delay="2",
        reasoning_open="1", tools=TOOLS, tool_choice="f", finish_reason="length", model="m", model_type="qwen3",
        policy__recovery="fail",
    )  # fmt: skip
    data = made(setup)
    assert data["parser"] == {"name": "qwen", "policy": {"recovery": "fail"}}
    assert data["replay"] == ({"by": "random", "seed": 7, "holdback_chars": 3, "text_delay": 2},)
    assert data["context"] == {
        "tool_choice": {"name": "f"}, "reasoning_open": True, "finish_reason": "length", "model": "m",
        "model_type": "qwen3",
    }  # fmt: skip
    assert data["tokenizer"] == {"name": "characters"}


def test_a_form_filled_from_its_case_makes_the_same_case() -> None:
    setup = typed(parser="qwen", chunking="cuts", cuts="1, 3", tools=TOOLS, tool_choice="none", policy__recovery="fail")
    first = case_of(setup, None)
    assert setup_of(first).carried.base == ""
    assert case_of(setup_of(first), None) == first


def test_the_wrapper_is_a_box_of_the_form_and_keeps_its_options() -> None:
    setup = typed(parser="qwen", wrapper="1", model_type="qwen3")
    first = case_of(setup, None)
    assert (first.parser.engine, first.context.model_type) == ("fallback", "qwen3")
    assert setup_of(first).carried.base == ""
    assert case_of(setup_of(first), None) == first
    parser = {"name": "qwen", "engine": "fallback", "options": {"budget": 9}}
    case = load_case({"schema": 1, "parser": parser, "input": {"text": "x"}})
    setup = setup_of(case)
    assert setup.parser.wrapper
    assert case_of(setup, None) == case_of(
        setup_of(case),
        None,
    )
    assert case_of(setup, None).parser == case.parser
    setup.parser.wrapper = False
    assert to_data(case_of(setup, None))["parser"] == {"name": "qwen"}


def test_the_rules_of_comparison_are_boxes_of_the_form() -> None:
    first = case_of(typed(json_arguments="1", soft_whitespace="1", calls_by_index="1"), None)
    assert first.compare.rules() == Rules("json", "soft", calls="index")
    setup = setup_of(first)
    assert (setup.carried.base, setup.rules) == ("", RuleFields(True, True, True))
    setup.rules = RuleFields()
    assert "compare" not in made(setup)
    by_index = load_case(
        {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}, "compare": {"calls": "index"}}
    )
    assert case_of(setup_of(by_index), None).compare.calls == "index"


def test_what_the_form_has_no_field_for_is_kept_while_the_text_is_unchanged() -> None:
    data = {
        "schema": 1, "title": "T", "parser": {"name": "qwen"}, "input": {"tokens": [[1, "a\r\n"], [2, "b"]]},
        "expect": {"content": "x"}, "source": {"kind": "recorded"}, "tokenizer": {"name": "embedded"},
        "replay": [{"by": "token"}, {"by": "whole"}],
    }  # fmt: skip
    case = load_case(data)
    setup = setup_of(case)
    setup.output.text, setup.parser.parser = "a\nb", "passthrough"
    again = case_of(setup, None)
    assert (again.input, again.expect, again.title) == (case.input, case.expect, "T")
    assert again.parser.name == "passthrough"
    assert [chunking.by for chunking in again.replay] == ["token", "whole"]


def test_changed_text_drops_what_belonged_to_the_old_one() -> None:
    data = {"schema": 1, "title": "T", "parser": {"name": "qwen"}, "input": {"tokens": [[1, "a"]]}, "expect": {}}
    setup = setup_of(load_case(data))
    setup.output.text = "other"
    again = case_of(setup, None)
    assert (again.text(), again.expect, again.input.tokens, again.title) == ("other", None, None, "T")


def test_an_inline_format_stays_while_its_name_is_chosen() -> None:
    fmt = {"schema": 1, "name": "mine", "title": "Mine", "initial": "S", "states": {"S": {"text": "content"}}}
    case = load_case({"schema": 1, "parser": {"name": "mine", "format": fmt}, "input": {"text": "x"}})
    setup = setup_of(case)
    assert case_of(setup, None).parser.format == case.parser.format
    setup.parser.parser = "qwen"
    assert case_of(setup, None).parser.format is None


def test_a_case_file_is_taken_as_it_stands() -> None:
    case = load_case({"schema": 1, "parser": {"name": "llama"}, "input": {"text": "x"}})
    assert case_of(typed(parser="qwen"), ("x.case.json", dumps(case).encode())) == case


def test_recorded_deltas_stay_deltas() -> None:
    setup = typed(text=json.dumps(["he", "llo"]))
    assert made(setup)["input"]["deltas"] == ({"text": "he"}, {"text": "llo"})
    assert setup.found is not None
    assert setup.found.is_log
    assert json.loads(setup.output.text) == ["he", "llo"]


def test_a_recognised_shape_can_be_taken_as_text_all_the_same() -> None:
    text = json.dumps(["he", "llo"])
    assert case_of(typed(text=text, take_as="raw_text"), None).text() == text


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"tools": "[{"}, "tools", "not JSON"),
        ({"tools": '[{"x": 1}]'}, "tools", "needs a name"),
        ({"tool_choice": "g"}, "tool_choice", "no tool called 'g'"),
        ({"chunking": "cuts", "cuts": "1,x"}, "cuts", "'x' is not a whole number"),
        ({"chunking": "nonsense"}, "chunking", "no chunking 'nonsense'"),
        ({"holdback": "-1"}, "holdback", "not a whole number"),
        ({"policy__recovery": "never"}, "policies", "no value of this policy"),
        ({"base": "{"}, "base", "cannot be used"),
        ({"text": ""}, "text", ""),
    ],
)
def test_what_is_wrong_is_said_at_its_field(fields: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(FormError) as raised:
        case_of(typed(**fields), None)
    assert raised.value.field == field
    assert words in raised.value.message


def test_a_broken_case_file_is_said_at_the_file() -> None:
    with pytest.raises(FormError) as raised:
        case_of(typed(), ("x.case.json", b'{"schema": 1}'))
    assert raised.value.field == "file"


def fields(**more: str) -> dict[str, str]:
    given = {
        "parser": "response_template",
        "text": TEMPLATE_OUTPUT,
        "template": JSON_CALLS.text,
        "prompt_tail": JSON_CALLS.prefix,
    }
    return {**given, **more}


def data_of(**more: str) -> dict[str, Any]:
    return to_data(case_of(read_setup(fields(**more)), None))


def test_the_template_and_the_prefix_arrive_in_the_case() -> None:
    data = data_of(policy__recovery="fail", wrapper="1")
    assert data["parser"] == {
        "name": "response_template", "engine": "response_template", "options": {"template": TEMPLATE},
    }  # fmt: skip
    assert data["context"]["prompt_tail"] == JSON_CALLS.prefix


def test_lines_of_the_prefix_are_unix_lines() -> None:
    assert to_data(case_of(read_setup(fields(prompt_tail="a\r\n<think>\r\n")), None))["context"]["prompt_tail"] == [
        "a\n",
        "<think>\n",
    ]


def test_a_tokenizer_config_is_taken_for_its_template() -> None:
    config = json.dumps({"tokenizer_class": "X", "response_template": TEMPLATE})
    assert data_of(template=config)["parser"]["options"] == {"template": TEMPLATE}


def test_a_form_with_a_template_filled_from_its_case_makes_the_same_case() -> None:
    case = case_of(read_setup(fields()), None)
    setup = setup_of(case)
    assert (setup.parser.template, setup.request.prompt_tail, setup.carried.base) == (
        JSON_CALLS.text,
        JSON_CALLS.prefix,
        "",
    )
    assert case_of(setup, None) == case


def test_a_prefix_with_carriage_returns_stays_in_the_case() -> None:
    case = load_case({
        "schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}, "context": {"prompt_tail": "a\r\n"},
    })  # fmt: skip
    assert setup_of(case).carried.base


def test_another_parser_takes_no_template() -> None:
    data = data_of(parser="qwen")
    assert data["parser"] == {"name": "qwen"}
    assert data["context"]["prompt_tail"]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("", EMPTY_TEMPLATE),
        ("{", "The template is not JSON"),
        ('{"response_schema": {}}', "this is a response_schema"),
        ("[]", "a response_template is a JSON object"),
    ],
)
def test_what_is_no_template_is_said_at_its_field(template: str, words: str) -> None:
    with pytest.raises(FormError) as raised:
        data_of(template=template)
    assert (raised.value.field, raised.value.message.startswith(words)) == ("template", True)


def test_a_run_shows_the_template_and_its_result(client: FlaskClient) -> None:
    html = client.post("/run", data=fields()).text
    assert 'data-node="TOOL_CALLS"' in html
    assert "The case brings a response_template." in html
    assert "Edit this format" not in html
    assert re.search(r'<option value="response_template" selected>', html)
    assert "&#34;start_anchor&#34;: &#34;&lt;|im_start|&gt;assistant\\n&#34;" in html
