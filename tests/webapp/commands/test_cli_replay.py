"""`replay`: what is taken for an input, what options change, what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.io import loads
from parsers.cases.run import run_case, run_json
from parsers.formats.model import builtin_formats

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]
CHUNK: dict[str, Any] = {
    "id": "c1",
    "object": "text_completion",
    "choices": [{"index": 0, "text": "Hi", "finish_reason": "length"}],
}
Program = Callable[..., Any]
CaseFile = Callable[..., Path]


WITHOUT_CALLS = ("passthrough", "deepseek_r1")
NOT_TOLD_BY_TEXT = ("deepseek_r1", "qwen3", "muse_glimmer")  # reasoning alone; one output in two grammars, twice


def replayed(program: Program, text: str | bytes, *options: str | Path) -> dict[str, Any]:
    done = program("replay", "-", "--json", *options, stdin=text)
    said = [line for line in done.err.splitlines() if ": Offered: " not in line]  # beside what was recognised
    assert (done.code, said) == (0, [])
    found: dict[str, Any] = done.json
    return found


def test_json_is_the_object_of_run_json_on_one_line(program: Program, case_file: CaseFile) -> None:
    path = case_file(input={"tokens": [[1, "<tool_call>"], [2, CALL[11:]]]})
    done = program("replay", path, "--json")
    assert done.out.count("\n") == 1
    assert done.json == json.loads(json.dumps(run_json(run_case(loads(path.read_bytes())))))


@pytest.mark.replays
@pytest.mark.parametrize("fmt", builtin_formats().values(), ids=list(builtin_formats()))
def test_the_example_of_every_format_is_recognised_and_read_back(program: Program, fmt: Any) -> None:
    found = replayed(program, fmt.example)
    own = replayed(program, fmt.example, "--parser", fmt.name)
    assert "".join(step["text"] for step in found["steps"]) == fmt.example
    assert bool(own["message"]["tool_calls"]) == (fmt.name not in WITHOUT_CALLS)
    if fmt.name not in NOT_TOLD_BY_TEXT:
        assert found["parser"] == fmt.name or said(found) == said(own)


def said(found: dict[str, Any]) -> tuple[Any, ...]:
    """The message without the ids, whose shape is a format's own."""
    message = found["message"]
    calls = [(call["name"], call["arguments"], call["complete"]) for call in message["tool_calls"]]
    return message["reasoning"], message["content"], calls


@pytest.mark.replays
@pytest.mark.parametrize(
    "text", ["a\r\nb\x00\x1b[2Jc\ud7ff\U0001f600", "\n \t\n", "x" * 10_000, "[" * 5_000, '{"a": ' * 5_000]
)
def test_bytes_arrive_as_they_are(program: Program, text: str) -> None:
    found = program("replay", "-", "--json", "--parser", "passthrough", stdin=text).json
    assert found["message"]["content"] == text


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        (b"\xff\xfea", "UTF-16"),
        (b"ab\ncd\x80", "byte 5 (line 2)"),
        (b"", "empty input"),
        (b"[1, 2, 3]", "3 token ids"),
        (b'{"model": "m", "messages": []}', "request"),
    ],
)
def test_what_holds_no_model_output_is_named_and_refused(program: Program, stdin: bytes, words: str) -> None:
    done = program("replay", "-", stdin=stdin)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("toolcall-inspector: standard input: ")
    assert words in done.err


def test_a_recorded_stream_is_rebuilt_and_its_notes_go_to_standard_error(program: Program) -> None:
    done = program("replay", "-", "--json", stdin=f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n")
    assert (done.code, done.json["message"]["content"], done.json["finish_reason"]) == (0, "Hi", "length")
    assert "skip_special_tokens" in done.err


def test_a_list_of_deltas_is_replayed_delta_by_delta(program: Program) -> None:
    done = program("replay", "-", "--json", stdin=json.dumps(["a ", "b c", " d"]))
    assert done.json["chunking"]["cuts"] == [2, 5]
    assert done.err == "standard input: recognised as list of 3 deltas, 7 characters\n"


def test_a_tokenizer_that_is_asked_for_cuts_recorded_deltas_anew(program: Program) -> None:
    done = program("replay", "-", "--json", "--tokenizer", "characters", stdin=json.dumps(["a ", "b"]))
    assert len(done.json["steps"]) == 4


def test_recorded_ids_are_kept_as_the_servers(program: Program) -> None:
    chunk = {**CHUNK, "choices": [{**CHUNK["choices"][0], "token_ids": [7, 8]}]}
    report = program("replay", "-", stdin=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n").out
    assert "one for each recorded delta" in report


@pytest.mark.parametrize(
    ("options", "cuts"),
    [
        (("--chunk", "whole"), []),
        (("--chunk", "char"), [1, 2, 3, 4, 5]),
        (("--cuts", "2,4"), [2, 4]),
        (("--chunk", "char", "--holdback", "2"), [1, 2, 3]),
        (("--chunk", "4", "--tokenizer", "characters"), [4]),
        (("--tokenizer", "characters", "--text-delay", "3"), [1, 2]),
    ],
)
def test_options_say_where_the_output_is_cut(program: Program, options: tuple[str, ...], cuts: list[int]) -> None:
    assert replayed(program, "abcdef", *options)["chunking"]["cuts"] == cuts


def test_a_random_chunking_is_the_same_for_the_same_seed(program: Program) -> None:
    cuts = [replayed(program, CALL, "--chunk", f"random:{seed}")["chunking"]["cuts"] for seed in (7, 7, 8)]
    assert cuts[0] == cuts[1] != cuts[2]


def test_options_win_over_the_case_and_the_rest_of_it_stays(program: Program, case_file: CaseFile) -> None:
    path = case_file(
        context={"id_seed": 3, "finish_reason": "stop"},
        parser={"name": "llama", "policy": {"unknown_tool": "drop"}},
        replay=[{"by": "char"}, {"by": "whole"}],
    )
    done = program(
        "replay", path, "--parser", "hermes", "--chunk", "5", "--finish-reason", "length", "--policy", "recovery=fail"
    )
    assert "hermes (an alias of qwen) was asked for." in done.out
    assert "5 tokens, " in done.out
    assert "1 replay, the same message every time" in done.out
    assert "length" in done.out


def test_only_the_lateness_of_the_cases_chunking_may_change(program: Program, case_file: CaseFile) -> None:
    path = case_file(replay=[{"by": "char", "text_delay": 1}])
    found = program("replay", path, "--json", "--holdback", "4").json["chunking"]
    assert {key: found[key] for key in found if key != "cuts"} == {"by": "char", "text_delay": 1, "holdback_chars": 4}


def test_the_model_id_helps_auto_choose(program: Program) -> None:
    found = replayed(program, "x", "--model-id", "Qwen/Qwen2.5-7B")
    assert (found["parser"], "Qwen2.5" in found["reasons"][0]) == ("qwen", True)


def test_the_model_type_helps_auto_choose(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    formats = builtin_formats()
    typed = formats["kimik2"].models.model_copy(update={"model_type": ("kimi_k2",)})
    more = formats | {"kimik2": formats["kimik2"].model_copy(update={"models": typed})}
    monkeypatch.setattr("parsers.selection.registry.builtin_formats", lambda: more)
    assert replayed(program, "x", "--model-type", "kimi_k2")["parser"] == "kimik2"


def test_tools_choice_strict_and_reasoning_reach_the_parser(program: Program, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS[0]), "utf-8")
    found = replayed(program, f"thought{CALL}", "--tools", tools, "--tool-choice", "get_weather", "--reasoning-open")
    assert found["message"]["reasoning"] == "thought"
    broken = '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>'
    kept = [replayed(program, broken, *more)["message"]["tool_calls"] for more in ((), ("--strict",))]
    assert (len(kept[0]), kept[1]) == (1, [])


def test_the_environment_decides_strict_where_the_case_does_not(
    program: Program, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_RS_STRICT_TOOL_CALL", "1")
    text = '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>'
    said = [case_file(f"{strict}.case.json", input={"text": text}, context=context)
            for strict, context in (("unsaid", {}), ("no", {"strict": False}))]  # fmt: skip
    assert [len(program("replay", path, "--json").json["message"]["tool_calls"]) for path in said] == [0, 1]


def test_a_format_of_ones_own_is_the_parser(program: Program, tmp_path: Path) -> None:
    data = json.loads(builtin_formats()["qwen"].model_dump_json(by_alias=True, exclude_defaults=True))
    data |= {"name": "mine", "title": "Mine", "terminals": {**data["terminals"], "CALL_START": "<call>"}, "tokens": {}}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), "utf-8")
    found = replayed(program, CALL.replace("<tool_call>", "<call>", 1), "--format", path)
    assert (found["parser"], found["reasons"]) == ("mine", ["The case brings its own format."])
    assert [call["name"] for call in found["message"]["tool_calls"]] == ["get_weather"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--parser", "nobody"), "--parser: there is no parser 'nobody'; valid parsers: "),
        (("--policy", "recovery"), "--policy recovery: give a policy as KEY=VALUE"),
        (("--policy", "a=b"), "--policy: a: unknown policy; known are "),
        (("--policy", "recovery=b"), "--policy: recovery: 'b' is no value of this policy; use "),
        (("--tokenizer", "none"), "--tokenizer: there is no tokenizer 'none'; choose one of: "),
        (("--tool-choice", "f"), "--tool-choice: no tool called 'f' is declared"),
        (("--chunk", "some"), "--chunk 'some': give token, char, whole, recorded, a number of tokens, or random:SEED"),
        (("--chunk", "random:x"), "--chunk random: 'x': give a whole number"),
        (("--chunk", "0"), "--chunk 0: a delta holds at least 1 token"),
        (("--chunk", "recorded"), "--chunk: the output's deltas were not recorded"),
        (("--cuts", "1,,2"), "--cuts '': give a whole number"),
        (("--cuts", "9"), "--cuts: cut 9 is not inside the output of 4 code points"),
        (("--cuts", "2,1"), "--cuts: cut 1 is after the larger cut 2"),
        (("--cuts", "1", "--chunk", "2"), "--chunk and --cuts both say where to cut"),
        (("--finish-reason", ""), "/context/finish_reason: "),
    ],
)
def test_a_wrong_option_is_named(program: Program, options: tuple[str, ...], words: str) -> None:
    done = program("replay", "-", *options, stdin="text")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert words in done.err


@pytest.mark.parametrize(
    ("option", "content", "words"),
    [
        ("--tools", b"[", "not JSON: Expecting value at line 1, column 2"),
        ("--tools", b"\xff", "not UTF-8 text: byte 0 is not"),
        ("--tools", b'[{"name": "f"}, {}]', "/1: a tool needs a name"),
        ("--format", b"[]", "a format is a JSON object with a 'name'"),
        ("--format", b'{"name": "mine"}', "/schema: "),
    ],
)
def test_a_wrong_file_of_an_option_is_named_with_the_place(
    program: Program, tmp_path: Path, option: str, content: bytes, words: str
) -> None:
    path = tmp_path / "given.json"
    path.write_bytes(content)
    done = program("replay", "-", option, path, stdin="text")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"{option} {path}: {words}" in done.err


def test_a_format_that_cannot_run_is_refused_with_the_place(program: Program, tmp_path: Path) -> None:
    data = json.loads(builtin_formats()["qwen"].model_dump_json(by_alias=True, exclude_defaults=True))
    data["states"]["CONTENT"]["rows"][0]["to"] = "NOWHERE"
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), "utf-8")
    done = program("replay", "-", "--format", path, stdin="text")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"--format {path}: /states/CONTENT/rows/0/to: " in done.err
    other = program("replay", "-", "--format", path, "--parser", "llama", stdin="text")
    assert "the format of --format is called 'qwen'" in other.err


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"schema": 2}, "/schema: schema 2 is not known here"),
        ({"sceham": 1}, "/sceham: unknown key"),
        ({"parser": {"name": "nobody"}}, "/parser/name: there is no parser 'nobody'"),
        ({"parser": {"name": "x", "engine": "vllm"}}, "/parser/engine: engine 'vllm' is not available here"),
        ({"input": {"stream": [{}]}}, "/parser/name: this case holds what a server's parser"),
        ({"replay": [{"by": "cuts", "cuts": [999]}]}, "/replay/0/cuts: cut 999"),
        ({"checks": ["nothing"]}, "/checks/0: there is no check named 'nothing'"),
    ],
)
def test_a_wrong_case_is_named_with_the_place(
    program: Program, case_file: CaseFile, keys: dict[str, Any], words: str
) -> None:
    path = case_file(**keys)
    done = program("replay", path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"{path}: {words}" in done.err


@pytest.mark.parametrize("name", ["TEXT_BYTES", "TOKENS"])
def test_an_output_over_a_limit_is_refused_with_size_limit_and_setting(
    program: Program, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"TOOLCALL_INSPECTOR_MAX_{name}", "10")
    done = program("replay", "-", "--tokenizer", "characters", stdin="x" * 11)
    unit = {"TEXT_BYTES": "bytes", "TOKENS": "tokens"}[name]
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"has 11 {unit}; the limit is 10 {unit} (TOOLCALL_INSPECTOR_MAX_{name})" in done.err


def test_a_file_without_end_is_not_read_to_it(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.commands.inputs.LARGEST", 1_000)
    done = program("replay", "-", stdin=b"x" * 1_001)
    assert (done.code, "more than 1,000 bytes" in done.err) == (2, True)
