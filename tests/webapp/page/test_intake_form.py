"""What was pasted, recognised for the form: which output is meant, and which fields it fills."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.model import Case
from tests.webapp.test_recordings import Real
from webapp.page.form import FormError, Setup, case_of, kept, read_setup, setup_of
from webapp.page.intake import Panel, panel
from webapp.page.intake_form import look_at

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
REQUEST = {
    "model": "Qwen/Qwen3-8B", "messages": [{"role": "user", "content": "Paris?"}], "stream": True, "tools": [TOOL],
    "tool_choice": "required", "chat_template_kwargs": {"enable_thinking": False},
}  # fmt: skip
CURL = f"curl -sN http://localhost:8000/v1 -H 'Authorization: Bearer sk-abc123' -d '{json.dumps(REQUEST)}'\n"


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "Qwen/Qwen3-8B", "choices": [choice]}


def sse(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
CALLS = sse(chunk({"role": "assistant", "content": ""}), chunk({"tool_calls": [CALL]}), chunk({}, 0, "tool_calls"))
TWO = sse(
    chunk({"content": "<tool_call>\n"}), chunk({"content": "One"}, 1), chunk({}, 0, "stop"), chunk({}, 1, "length")
)


def typed(text: str, **fields: str) -> Setup:
    return read_setup({"text": text, **{key.replace("__", "."): value for key, value in fields.items()}})


def again(setup: Setup, **fields: str) -> Setup:
    """The form as a browser posts it after it was shown, with changes."""
    taken = {f"taken.{name}": value.replace("\n", "\r\n") for name, value in setup.taken.items()}
    names = ("text", "tools", "tool_choice", "finish_reason", "model", "prompt_tail", "base", "output", "tokenizer")
    shown = {name: str(getattr(setup, name)) for name in names} | {"taken_as": setup.take_as}
    return read_setup(shown | taken | fields)


def ran(setup: Setup) -> tuple[Case, Setup]:
    case = case_of(setup, None)
    return case, kept(setup, setup_of(case))


def shown_for(setup: Setup) -> Panel:
    found = panel(setup)
    assert found is not None
    return found


def test_a_log_stays_in_the_text_area_and_fills_the_fields() -> None:
    case, shown = ran(typed(CURL + CALLS))
    assert shown.text == CURL + CALLS
    assert json.loads(shown.tools) == [TOOL]
    assert (shown.tool_choice, shown.model, shown.finish_reason) == ("required", "Qwen/Qwen3-8B", "tool_calls")
    assert case.context.template_kwargs == {"enable_thinking": False}
    assert (case.input.model_fields_set, case.source and case.source.kind) == ({"stream"}, "sse_log")
    assert [row.label for row in shown_for(shown).filled] == ["Tools", "Tool choice", "Finish reason", "Model id"]


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
    assert case.text() == shown.text
    assert "sk-abc123" not in shown.text
    assert any("Authorization" in words for words in shown_for(shown).warnings)
    assert (shown_for(shown).overridden, shown_for(shown).hidden) == (True, {"taken_as": "raw_text"})


def test_an_override_lasts_until_it_is_taken_back() -> None:
    _, shown = ran(typed('["a", "b"]', take_as="raw_text"))
    case, shown = ran(again(shown))
    assert case.text() == '["a", "b"]'
    case, shown = ran(again(shown, take_as="auto"))
    assert (case.text(), shown.text) == ("ab", '["a", "b"]')


def test_what_somebody_typed_wins_over_the_recording_and_is_said() -> None:
    _, shown = ran(typed(CURL + CALLS, model="mine", tool_choice="none"))
    assert (shown.model, shown.tool_choice) == ("mine", "none")
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
    assert (json.loads(setup.tools), setup.tool_choice) == ([TOOL], "required")
    with pytest.raises(FormError):
        case_of(setup, None)
    case, _ = ran(again(setup, text="<tool_call>"))
    assert (len(case.tools), case.context.tool_choice, case.text()) == (1, "required", "<tool_call>")


@pytest.mark.parametrize(
    ("output", "reason"), [("0", "stop"), ("1", "length"), ("7", "stop"), ("x", "stop"), ("", "stop")]
)
def test_one_of_several_outputs_is_taken(output: str, reason: str) -> None:
    case, shown = ran(typed(TWO, output=output))
    assert case.context.finish_reason == reason
    found = shown_for(shown)
    assert [one.chosen for one in found.outputs] == ([False, True] if reason == "length" else [True, False])
    assert "output 2 of 2" in found.summary or reason == "stop"


def test_the_facts_are_those_of_the_output_that_was_chosen() -> None:
    _, first = ran(typed(TWO))
    _, second = ran(typed(TWO, output="1"))
    ends = [next(row.words for row in shown_for(one).rows if row.about == "Why it ended") for one in (first, second)]
    assert ("stop" in ends[0], "length" in ends[1]) == (True, True)


def test_ids_ask_for_a_tokenizer_at_its_field_and_lose_nothing() -> None:
    setup = typed("[1, 2, 3]")
    with pytest.raises(FormError) as raised:
        case_of(setup, None)
    assert raised.value.field == "tokenizer"
    found = shown_for(setup)
    assert (setup.text, found.usable, found.needed is not None) == ("[1, 2, 3]", False, True)
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
    assert setup.chunking == "recorded"
    words = {row.label: row.value for row in shown_for(setup).filled}
    assert (words["Stop strings"], words["Special tokens"], words["Stop string"]) == ("END", "skipped", "kept")
    setup.text = "plain"
    look_at(setup, None)
    assert (setup.decode.stop, setup.decode.skip_special, setup.chunking) == ("", False, "token")


def test_an_uploaded_log_is_shown_as_text_with_its_name() -> None:
    setup = typed("")
    case_of(setup, ("log.sse", b"\xef\xbb\xbf" + CALLS.replace("\n", "\r\n").encode()))
    assert setup.text == CALLS
    assert shown_for(setup).name == "log.sse"


def test_an_upload_that_is_no_text_leaves_the_text_as_it_was() -> None:
    setup = typed("mine")
    with pytest.raises(FormError) as raised:
        case_of(setup, ("x.bin", b"\xff\xfe\x00"))
    assert (raised.value.field, setup.text) == ("file", "mine")
    with pytest.raises(FormError) as raised:
        case_of(typed("mine"), ("x.json", CURL.encode()))
    assert raised.value.field == "file"


def test_tools_of_the_form_are_known_tools() -> None:
    _, shown = ran(typed(CALLS, tools=json.dumps([TOOL])))
    row = next(row for row in shown_for(shown).rows if row.about == "Tools")
    assert (row.certainty, row.words) == ("exact", "As given in the form.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[{", "as typed"),
        ('{"name": "f"}', "1 tool: f"),
        ('[{"name": "f"}, {"function": {"name": "g"}}, 3, {"function": 1}]', "4 tools: f, g"),
        ("[3]", "none"),
    ],
)
def test_tools_are_named_in_the_panel(text: str, words: str) -> None:
    setup = typed("[1", tools=text)
    look_at(setup, None)
    setup.taken["tools"] = text
    assert [row.value for row in shown_for(setup).filled if row.field == "tools"] == [words]


def test_a_long_value_is_cut_and_a_switch_has_a_word() -> None:
    setup = typed("[1", prompt_tail="x " * 200, reasoning_open="1")
    look_at(setup, None)
    setup.taken |= {"prompt_tail": setup.prompt_tail, "reasoning_open": "1"}
    values = {row.field: row.value for row in shown_for(setup).filled}
    assert (values["prompt_tail"][-1], values["reasoning_open"]) == ("…", "reasoning")


@pytest.mark.parametrize("text", ["", None])
def test_nothing_given_has_no_panel(text: str | None) -> None:
    setup = typed(text or "")
    if text is not None:
        look_at(setup, None)
    assert panel(setup) is None


def test_plain_text_is_said_in_one_line_and_a_case_too() -> None:
    setup = typed("<tool_call>hello")
    look_at(setup, None)
    assert shown_for(setup).plain
    assert shown_for(setup).summary.startswith("Taken as raw model output")
    setup = typed('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}}')
    look_at(setup, None)
    assert (shown_for(setup).usable, shown_for(setup).summary) == (True, "Case file")


def test_a_report_that_quotes_the_output_says_so() -> None:
    setup = typed("I get:\n\n```\n<tool_call>hello\n```\n")
    look_at(setup, None)
    shown = shown_for(setup)
    assert not shown.plain
    assert shown.summary == "Taken as raw model output, 33 characters; its code block can be taken alone"
    assert [one.kind for one in shown.readings] == ["code_block"]
    setup.take_as = "code_block"
    look_at(setup, None)
    assert setup.found is not None
    assert setup.found.taken is not None
    assert setup.found.taken.data["input"]["text"] == "<tool_call>hello"
    assert shown_for(setup).summary == "Recorded from: the text in a code block, 16 characters; raw text assumed"


def test_what_is_read_aloud_names_it_and_counts_the_warnings() -> None:
    setup = typed(CURL + CALLS)
    look_at(setup, None)
    assert shown_for(setup).spoken.startswith("Recognised: OpenAI")
    assert shown_for(setup).spoken.endswith(" 1 warning.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CALLS, "plays the server's own chunks back"),
        (TWO, "compares what comes out with what the server sent"),
        ("<tool_call>", "feeds the raw output to the parser, delta by delta"),
        ('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}}', "runs it as it says"),
    ],
)
def test_what_a_replay_does_is_said_before_it(text: str, words: str) -> None:
    setup = typed(text)
    look_at(setup, None)
    assert words in shown_for(setup).plan
    setup = typed("[1, 2]")
    look_at(setup, None)
    assert shown_for(setup).plan == ""


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (json.dumps(["a", "b"]), ""),
        (TWO, "12 characters, 2 chunks, finish reason stop"),
        (json.dumps([chunk({"content": "a"}), chunk({"content": "b"}, 1)]), "1 chunk"),
    ],
)
def test_several_outputs_are_told_apart_by_their_size(text: str, about: str) -> None:
    setup = typed(text)
    look_at(setup, None)
    assert (shown_for(setup).outputs[0].about if about else shown_for(setup).outputs) == (about or [])


ONE = {"schema": 1, "title": "One", "notes": ["Kept."], "parser": {"name": "qwen"}, "input": {"text": "<tool_call>"}}
BOTH = {"one": ONE, "other": ONE | {"parser": {"name": "kimik2"}, "input": {"tokens": [[7, "Two"]]}}}


@pytest.mark.parametrize(("output", "name", "parser"), [("", "one", "qwen"), ("1", "other", "kimik2")])
def test_one_case_of_a_corpus_is_taken_and_the_others_are_offered(output: str, name: str, parser: str) -> None:
    case, shown = ran(typed(json.dumps(BOTH), output=output, parser="mistral"))
    assert (case.parser.name, case.title, shown.parser) == (parser, "One", parser)
    found = shown_for(shown)
    assert (shown.text, found.holds, found.usable) == (json.dumps(BOTH), "2 cases", True)
    assert [(one.label, one.chosen) for one in found.outputs] == [("one", name == "one"), ("other", name == "other")]
    assert (found.summary, found.rows, found.wanted) == (f"Corpus of 2 cases; case {name}", [], [])
    assert found.plan == "A replay runs it as it says."


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
    assert shown_for(setup).outputs[1].chosen
