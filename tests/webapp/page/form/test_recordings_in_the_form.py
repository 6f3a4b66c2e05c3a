"""What was pasted, recognised for the form: which output is meant, and which fields it fills."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from parsers.intake.packing import zstd
from tests.webapp.page.form.logs import CALLS, CURL, REQUEST, TOOL, TWO, again, chunk, ran, shown_for, sse, typed
from tests.webapp.test_recordings import Real
from webapp.page.form.setup import FormError, case_of, look_at


def test_a_log_stays_in_the_text_area_and_fills_the_fields() -> None:
    case, shown = ran(typed(CURL + CALLS))
    assert shown.output.text == CURL + CALLS
    assert json.loads(shown.request.tools) == [TOOL]
    assert (shown.request.tool_choice, shown.request.model, shown.request.finish_reason) == (
        "required",
        "Qwen/Qwen3-8B",
        "tool_calls",
    )
    assert case.context.template_kwargs == {"enable_thinking": False}
    assert (case.input.model_fields_set, case.source and case.source.kind) == ({"done", "stream"}, "sse_log")
    assert [row.label for row in shown_for(shown).filled] == [
        *("Tools", "Tool choice", "Finish reason", "Model id", "Template arguments")
    ]


def test_posting_the_same_log_again_makes_the_same_case() -> None:
    case, shown = ran(typed(CURL + CALLS))
    twice, second = ran(again(shown))
    assert (twice, second.taken) == (case, shown.taken)


def test_a_secret_is_nowhere_in_the_case_and_that_is_said() -> None:
    case, shown = ran(typed(CURL + CALLS))
    assert "sk-abc123" not in case.model_dump_json()
    assert "sk-abc123" not in "".join(shown.taken.values())
    assert any("Authorization" in words for words in shown_for(shown).warnings)


def test_a_secret_is_taken_out_of_what_is_taken_as_raw_text() -> None:
    case, shown = ran(typed(CURL + CALLS, take_as="raw_text"))
    assert case.text() == shown.output.text
    assert "sk-abc123" not in shown.output.text
    assert any("Authorization" in words for words in shown_for(shown).warnings)
    assert (shown_for(shown).overridden, shown.output.take_as) == (True, "raw_text")


def test_an_override_lasts_until_it_is_taken_back() -> None:
    _, shown = ran(typed('["a", "b"]', take_as="raw_text"))
    case, shown = ran(again(shown))
    assert case.text() == '["a", "b"]'
    case, shown = ran(again(shown, take_as="auto"))
    assert (case.text(), shown.output.text) == ("ab", '["a", "b"]')


def test_what_somebody_typed_wins_over_the_recording_and_is_said() -> None:
    _, shown = ran(typed(CURL + CALLS, model="mine", tool_choice="none"))
    assert (shown.request.model, shown.request.tool_choice) == ("mine", "none")
    assert [row.label for row in shown_for(shown).kept] == ["Tool choice", "Model id"]


def test_a_filled_field_that_was_changed_is_somebodys_and_stays_changed() -> None:
    _, shown = ran(typed(CURL + CALLS))
    case, shown = ran(again(shown, tool_choice="auto", tools=""))
    assert (case.tools, case.context.tool_choice) == ((), "auto")
    case, shown = ran(again(shown))
    assert (case.tools, case.context.tool_choice) == ((), "auto")


def test_the_next_recording_fills_the_fields_anew() -> None:
    _, shown = ran(typed(CURL + CALLS))
    case, shown = ran(again(shown, text=sse(chunk({"content": "Hi"}))))
    assert (case.context.model, len(case.tools)) == ("Qwen/Qwen3-8B", 1)
    assert case.context.finish_reason is None
    assert "finish_reason" not in shown.taken


def test_a_request_alone_fills_the_fields_and_its_answer_keeps_them() -> None:
    setup = typed(CURL)
    look_at(setup, None)
    assert (json.loads(setup.request.tools), setup.request.tool_choice) == ([TOOL], "required")
    with pytest.raises(FormError):
        case_of(setup, None)
    assert shown_for(setup).before == []
    case, shown = ran(again(setup, text="<tool_call>"))
    assert (len(case.tools), case.context.tool_choice, case.text()) == (1, "required", "<tool_call>")
    assert case.context.template_kwargs == {"enable_thinking": False}
    kept = ["Tools", "Tool choice", "Model id", "Template arguments"]
    assert [row.label for row in shown_for(shown).before] == kept
    assert shown_for(shown).filled == []
    case, shown = ran(again(shown, text=CALLS))
    assert (len(case.tools), case.context.finish_reason) == (1, "tool_calls")
    assert [row.label for row in shown_for(shown).before] == ["Tools", "Tool choice", "Template arguments"]
    assert [row.label for row in shown_for(shown).filled] == ["Finish reason", "Model id"]
    assert dict(shown_for(shown).rows)["Tools"].words == "Of what was given before this."
    assert shown_for(ran(again(shown, tools=""))[1]).before[0].label == "Tool choice"


@pytest.mark.parametrize(("typed_text", "words"), [("[1]", "are no JSON object"), ("{", "template arguments are")])
def test_template_arguments_that_are_no_object_are_said_at_their_field(typed_text: str, words: str) -> None:
    with pytest.raises(FormError, match=words) as raised:
        case_of(typed("a", template_kwargs=typed_text), None)
    assert raised.value.field == "template_kwargs"
    assert case_of(typed("a", template_kwargs="{}"), None).context.template_kwargs == {}


@pytest.mark.parametrize(
    ("output", "reason"), [("0", "stop"), ("1", "length"), ("7", "stop"), ("x", "stop"), ("", "stop")]
)
def test_one_of_several_outputs_is_taken(output: str, reason: str) -> None:
    case, shown = ran(typed(TWO, output=output))
    assert case.context.finish_reason == reason
    found = shown_for(shown)
    assert (found.found.at, len(found.outputs)) == (int(reason == "length"), 2)
    assert "output 2 of 2" in found.summary or reason == "stop"


def test_ids_ask_for_a_tokenizer_at_its_field_and_lose_nothing() -> None:
    setup = typed("[1, 2, 3]")
    with pytest.raises(FormError) as raised:
        case_of(setup, None)
    assert raised.value.field == "tokenizer"
    found = shown_for(setup)
    assert (setup.output.text, found.usable, found.needed is not None) == ("[1, 2, 3]", False, True)
    assert found.summary == "Recorded from: 3 token ids; raw text needs the model's tokenizer"
    assert "tokenizer" not in [one.field for one in found.wanted]


def test_how_ids_are_decoded_and_cut_fills_its_fields_and_goes_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Real()
    monkeypatch.setattr("webapp.recordings.get_tokenizer", lambda name: real)
    asked = {**REQUEST, "stop": ["END"], "skip_special_tokens": True, "include_stop_str_in_output": True}
    ids = real.encode("hello <tool_call>")
    log = json.dumps(asked) + "\n" + json.dumps([ids[:1], ids[1:]])
    setup = typed(log, tokenizer="real")
    look_at(setup, None)
    assert (setup.decode.stop, setup.decode.skip_special, setup.decode.include_stop) == ("END", True, True)
    assert setup.cutting.chunking == "recorded"
    words = {row.label: row.words for row in shown_for(setup).filled}
    assert (words["Stop strings"], words["Special tokens"], words["Stop string"]) == ("END", "skipped", "kept")
    setup.output.text = "plain"
    look_at(setup, None)
    assert (setup.decode.stop, setup.decode.skip_special, setup.cutting.chunking) == ("", False, "token")


def test_an_uploaded_log_is_shown_as_text_with_its_name() -> None:
    setup = typed("")
    case_of(setup, ("log.sse", b"\xef\xbb\xbf" + CALLS.replace("\n", "\r\n").encode()))
    assert setup.output.text == CALLS
    assert shown_for(setup).found.name == "log.sse"


@pytest.mark.parametrize(
    "data",
    [zstd.compress(CALLS.encode()), gzip.compress(CALLS.encode()), ("\ufeff" + CALLS).encode("utf-16-le")],
    ids=["zstd", "gzip", "UTF-16"],
)
def test_a_packed_log_is_shown_as_text_and_can_be_run_again(data: bytes) -> None:
    setup = typed("")
    first = case_of(setup, ("log.sse", data))
    assert setup.output.text == CALLS
    assert case_of(typed(setup.output.text), None).input == first.input


def test_an_upload_that_is_no_text_leaves_the_text_as_it_was() -> None:
    setup = typed("mine")
    with pytest.raises(FormError) as raised:
        case_of(setup, ("x.bin", b"\xff\xfe\x00"))
    assert (raised.value.field, setup.output.text) == ("file", "mine")
    with pytest.raises(FormError) as raised:
        case_of(typed("mine"), ("x.json", CURL.encode()))
    assert raised.value.field == "file"


ONE = {"schema": 1, "title": "One", "notes": ["Kept."], "parser": {"name": "qwen"}, "input": {"text": "<tool_call>"}}
BOTH = {"one": ONE, "other": ONE | {"parser": {"name": "kimik2"}, "input": {"tokens": [[7, "Two"]]}}}


@pytest.mark.parametrize(("output", "name", "parser"), [("", "one", "qwen"), ("1", "other", "kimik2")])
def test_one_case_of_a_corpus_is_taken_and_the_others_are_offered(output: str, name: str, parser: str) -> None:
    case, shown = ran(typed(json.dumps(BOTH), output=output, parser="mistral"))
    assert (case.parser.name, case.title, shown.parser.parser) == (parser, "One", parser)
    found = shown_for(shown)
    assert (shown.output.text, found.holds, found.usable) == (json.dumps(BOTH), "2 cases", True)
    assert ([label for label, _ in found.outputs][found.found.at], len(found.outputs)) == (name, 2)
    assert (found.summary, found.rows, found.wanted) == (f"Corpus of 2 cases; case {name}", [], [])
    assert found.plan == "A replay runs it as it says."


def test_a_suite_in_python_offers_its_samples_and_names_those_that_are_not_read() -> None:
    fixtures = Path(__file__).parents[3] / "parsers" / "intake" / "suites" / "format_fixtures.py.txt"
    case, shown = ran(typed(fixtures.read_text("utf-8"), output="1"))
    found = shown_for(shown)
    assert (case.title, [label for label, _ in found.outputs]) == ("unknown", ["hermes", "unknown"])
    assert found.summary == "2 samples of vLLM's tests; case unknown; 2 warnings"
    assert [words.split(":")[0] for words in found.warnings] == ["Line 24 is not read", "Line 25 is not read"]


def test_fields_that_a_case_of_a_corpus_filled_can_be_changed_until_another_is_chosen() -> None:
    _, shown = ran(typed(json.dumps(BOTH), output="1"))
    case, shown = ran(again(shown, parser="mistral", finish_reason="length"))
    assert (case.parser.name, case.context.finish_reason, case.notes) == ("mistral", "length", ("Kept.",))
    assert [piece.token_id for piece in case.pieces() or ()] == [7]
    case, shown = ran(again(shown, parser="mistral", output="0"))
    assert (case.parser.name, case.text()) == ("qwen", "<tool_call>")
    case, _ = ran(again(shown, parser="mistral"))
    assert (case.parser.name, case.text()) == ("mistral", "<tool_call>")


def test_a_corpus_that_is_wrong_says_where_and_a_wrong_case_of_it_too() -> None:
    twice = f'{{"one": {json.dumps(ONE)}, "one": {json.dumps(ONE)}}}'
    for name, data in (("x.cases.json", twice.encode()), ("y.jsonl", twice.encode())):
        with pytest.raises(FormError, match='two cases are called "one": at line 1, column 9') as raised:
            case_of(typed(""), (name, data))
        assert raised.value.field == "file"
    setup = typed(json.dumps({"one": ONE, "bad": ONE | {"sceham": 1}}), output="1")
    with pytest.raises(FormError, match="/sceham: unknown key"):
        case_of(setup, None)
    assert shown_for(setup).found.at == 1
