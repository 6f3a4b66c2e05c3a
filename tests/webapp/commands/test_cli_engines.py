"""Engines on the command line: entered, listed, checked, and run by their names or by a class."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines.entering import FAKE
from tests.webapp.engines.fake_engine import hello
from webapp.commands.engines import _entry
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import entries
from webapp.engines.protocol import read_card
from webapp.settings import get_settings

Program = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("own_engines")
COMMAND = shlex.join([sys.executable, "-I", str(FAKE)])
OWN = ("--python", sys.executable, "--class", "own_parsers:Plain", "--path", str(FAKE.parent))


def test_an_engine_is_entered_listed_and_replaced(program: Program, own_engines: Path) -> None:
    assert program("engines", "list").out == f"none; `engines add` writes {own_engines / 'engines.toml'}\n"
    done = program("engines", "add", "fake", "--command", COMMAND, "--memory", "300")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"fake: fake 1.0, 18 parsers, 1 reasoning parser; written to {own_engines / 'engines.toml'}\n"
    listed = program("engines", "list").out
    assert listed.startswith(f"fake  fake 1.0  19 parsers  {COMMAND}\n\nfake: echo, upper, raises")
    assert listed.endswith("  reasoning: thinks\n")
    again = program("engines", "add", "fake", "--command", COMMAND, "--env", "A=b", "--seconds", "5")
    assert again.err == "fake: replaces the entry of that name\n"


@pytest.mark.replays
def test_a_package_in_src_is_entered_by_a_relative_path_and_found_from_everywhere(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_engines: Path
) -> None:
    package, elsewhere = tmp_path / "src" / "mypackage", tmp_path / "elsewhere"
    for folder in (package, elsewhere):
        folder.mkdir(parents=True)
    (package / "helper.py").write_text((FAKE.parent / "own_parsers.py").read_text("utf-8"), "utf-8")
    (package / "module.py").write_text("from .helper import Plain as Base\nclass Plain(Base): pass\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    how = ("engines", "add", "mine", "--python", sys.executable, "--class", "mypackage.module:Plain")
    for more, said in (((), "('src' in many projects)"), (("--path", "nowhere"), "there is no folder")):
        refused = program(*how, *more)
        assert (refused.code, said in refused.err) == (2, True)
    for path in ("src", "."):
        assert program(*how, "--path", path).code == 0
    refused = program(*how, "--path", "nowhere")
    assert "replaces" not in refused.err, "nothing was"
    (tmp_path / "out.txt").write_text("Hello.", "utf-8")
    here = ("--engine", "mypackage.module:Plain", "--python", sys.executable, "--path", ".")
    assert program("replay", "out.txt", *here).code == 0
    monkeypatch.chdir(elsewhere)
    assert program("replay", "../out.txt", "--engine", "mine").code == 0


@pytest.mark.parametrize(
    ("command", "more", "folder"),
    [
        ("w.py", (), "here"),
        ("w.py", ("--folder", "other"), "other"),
        ("/w.py", (), None),
        ("nothing.py", (), None),
    ],
)
def test_a_worker_that_was_entered_by_a_file_here_is_found_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, more: tuple[str, ...], folder: str | None
) -> None:
    (tmp_path / "w.py").touch()
    monkeypatch.chdir(tmp_path)
    given = {"command": f"python {tmp_path if command[0] == '/' else ''}{command}"} | dict(
        zip(["folder"], more[1:], strict=False)
    )
    entry = _entry("x", given)
    places = {"here": str(tmp_path), "other": str(tmp_path / "other"), None: None}
    assert entry.folder == places[folder]


def test_a_class_is_entered_once(program: Program) -> None:
    assert program("engines", "add", "mine", *OWN).code == 0
    done = program("replay", "-", "--engine", "mine", "--json", stdin="Hello")
    assert (done.json["parser"], done.json["message"]["content"]) == ("mine:Plain", "Hello")


def test_the_command_of_another_chunking_names_the_engine_again(program: Program) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    done = program("replay", "-", "--engine", "fake:upper", stdin="Hello you there")
    assert "parser    fake:upper\n" in done.out
    assert "toolcall-inspector replay - --chunk whole --engine fake:upper" in done.out


def test_chunkings_that_a_slow_engine_has_no_time_for_are_said_in_words(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0)
    program("engines", "add", "fake", "--command", COMMAND)
    done = program("replay", "-", "--engine", "fake:upper", stdin="Hello you there")
    assert re.search(r"\n +\d+ of \d+ other chunkings were not run: the engine had worked for ", done.out)
    case = {"schema": 1, "parser": {"name": "upper", "engine": "fake"}, "input": {"text": "Hello"}, "title": "slow"}
    (tmp_path / "slow.case.json").write_text(json.dumps(case))
    checked = program("check", str(tmp_path / "slow.case.json"))
    assert "1 case not under every chunking, for the engine was slow: " in checked.out


@pytest.mark.replays
@pytest.mark.parametrize("seconds", ["1", "1000"])
def test_a_search_of_an_engine_ends_within_its_seconds(
    program: Program, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    ticks = count(step=0.02)
    monkeypatch.setattr("webapp.jobs.search_program.monotonic", lambda: next(ticks))
    program("engines", "add", "fake", "--command", COMMAND)
    done = program("find", "-", "--engine", "fake:echo", "--seconds", seconds, stdin="Hello you there")
    for words in ("; ended before everything was tried", "The search was left in the middle: about "):
        assert (words in done.out) == (seconds == "1")


def interpreter(folder: Path, answer: str) -> Path:
    """A program that answers hello with this, whoever it is started as."""
    starter = folder / "python"
    starter.write_text(f"#!/bin/sh\nread hello\necho '{answer}'\n")
    starter.chmod(0o755)
    return starter


@pytest.mark.replays
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            '{"answer": {"adapters": {"vllm": "1", "sglang": ""}}}',
            "has several: vllm 1, sglang; say which with --adapter",
        ),
        ('{"answer": {"adapters": {}}}', "has none of vllm, sglang, lmdeploy"),
        ('{"answer": {"adapters": {"other": "1"}}}', "has none of vllm, sglang, lmdeploy"),
        ('{"answer": {"adapters": 7}}', "has none of vllm, sglang, lmdeploy"),
        ('{"failed": "SyntaxError: no"}', "does not run the worker: SyntaxError: no"),
        ("", "does not run the worker"),
    ],
)
def test_what_an_interpreter_has_is_told_where_it_is_not_one_engine(
    program: Program, tmp_path: Path, answer: str, said: str
) -> None:
    done = program("engines", "add", "mine", "--python", interpreter(tmp_path, answer))
    assert (done.code, done.out, said in done.err) == (2, "", True)


def test_the_one_engine_that_an_interpreter_has_is_recognised(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = interpreter(tmp_path, '{"answer": {"adapters": {"mistral": "1.9"}}}')
    entered: list[str | None] = []
    monkeypatch.setattr(
        "webapp.commands.engines.write_entry", lambda settings, name, entry: entered.append(entry.adapter)
    )
    monkeypatch.setattr("webapp.engines.engine_host.EngineHost.card", lambda self: read_card(hello([])))
    assert program("engines", "add", "mine", "--python", found).code == 0
    assert entered == ["mistral"]


def test_a_plugin_of_vllm_goes_along(program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    card = {**hello([]), "parsers": [{"name": "hermes"}, {"name": "acme", "plugin": True}]}
    monkeypatch.setattr("webapp.engines.engine_host.EngineHost.card", lambda self: read_card(card))
    (file := tmp_path / "q.py").touch()
    program("engines", "add", "p", "--python", "/p", "--adapter", "vllm", "--plugin", str(file), "--class", "a:B")
    assert entries(get_settings())["p"].argv("p")[3:] == ("vllm", "a:B", str(file))
    done = program("engines", "add", "p", "--python", "/p", "--plugin", str(file))
    assert entries(get_settings())["p"].argv("p")[3:] == ("vllm", "", str(file))
    assert "2 parsers, 0 reasoning parsers; the plugin registers acme; written to" in done.out
    file.unlink()
    gone = program("engines", "add", "p", "--python", "/p", "--plugin", str(file))
    assert (gone.code, gone.err) == (2, f"toolcall-inspector: --plugin: there is no file {file}\n")


@pytest.mark.parametrize("more", [(), ("--adapter", "vllm")])
@pytest.mark.parametrize(
    ("version", "said"),
    [("2, 7", "it needs Python 3.9 or newer, and this is 2.7"), ("3, 9", ": exit code 1"), ("true", "exit code 1")],
)
def test_an_interpreter_that_cannot_read_the_worker_is_asked_how_old_it_is(
    program: Program, tmp_path: Path, more: tuple[str, ...], version: str, said: str
) -> None:
    starter = tmp_path / "python"
    answer = f'{{"answer": {{"version": [{version}]}}}}'
    starter.write_text(f"#!/bin/sh\nread hello\n[ \"$1\" = -c ] && echo '{answer}' && exit\necho no good >&2\nexit 1\n")
    starter.chmod(0o755)
    done = program("engines", "add", "old", "--python", starter, *more)
    assert (done.code, said in done.err or "no good" in done.err) == (2, True)
    assert ("newer" in done.err) is (version == "2, 7")


def test_an_engine_that_was_not_asked_is_listed_by_its_name(program: Program, own_engines: Path) -> None:
    (own_engines / "engines.toml").write_text(
        '[js]\ncommand = ["node", "w.mjs"]\n[mine]\npython = "/p"\nclass = "a:B"\n'
    )
    assert program("engines", "list").out == "js    not asked yet    node w.mjs\nmine  not asked yet    /p\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("engines", "add", "x", "--env", "A", "--command", "y"), "--env: give a variable as KEY=VALUE"),
        (("engines", "add", "x"), "engine x: give the python that has it"),
        (("engines", "add", "bad name", "--python", "/no/such"), "engine bad name: a name has letters, digits"),
        (("engines", "add", "auto", "--command", "y"), "engine auto: that name is taken by this program"),
        (
            ("replay", "-", "--engine", "no.such:A", "--python", sys.executable),
            "it, and the current folder is not",
        ),
        (("engines", "add", "x", "--command", "/no/such"), "engine x does not start: [Errno 2]"),
        (("engines", "check", "x"), "engine 'x' is not entered here; entered: none"),
        (("replay", "-", "--engine", "x:y"), "--engine x:y: engine 'x' is not entered here; entered: none"),
        (("replay", "-", "--python", "p"), "--python: say which engine with --engine"),
        (("replay", "-", "--path", "p"), "--path: say which engine with --engine"),
        (("find", "-", "--engine", "x", "--path", "p"), "--path: give the interpreter with --python"),
        (
            ("find", "-", "--engine", "a:B", "--python", "p", "--path", "/no/such"),
            "--path: there is no folder /no/such",
        ),
        (("find", "-", "--reasoning-parser", "p"), "--reasoning-parser: say which engine with --engine"),
        (("replay", "-", "--engine", "x", "--parser", "qwen"), "--parser and --engine both say who parses"),
        (("check", "x.case.json", "--engine", "x"), "--engine x: engine 'x' is not entered here"),
        (("replay", "-", "--engine", "a", "--python", "p"), "engine class: class: must be MODULE:CLASS, as in"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(program: Program, words: tuple[str, ...], said: str) -> None:
    done = program(*words, stdin="x")
    assert (done.code, done.out, said in done.err, done.err.count("\n")) == (2, "", True, 1)


def test_an_engine_is_checked_in_words(program: Program) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    done = program("engines", "check", "fake")
    assert (done.code, done.out.splitlines()[-1]) == (0, "fake:echo: keeps the protocol")
    named = program("engines", "check", "fake:brief")
    assert (named.code, named.out.splitlines()[-1]) == (1, "fake:brief: 8 rules are not kept")
    program("engines", "add", "bad", "--command", f"{COMMAND} silent")
    wrong = program("engines", "check", "bad")
    assert (wrong.code, wrong.out.splitlines()[-1]) == (1, "bad:echo: 1 rule is not kept")
    words = "it says each step before it takes it, and what the one before it sent. steps [1,"
    assert f"wrong  With report steps {words}" in wrong.out


@pytest.mark.parametrize(
    "words", [("replay",), ("replay", "--json"), ("find",), ("find", "--json"), ("between",), ("between", "--json")]
)
@pytest.mark.replays
def test_half_a_surrogate_pair_is_printed_as_an_escape(program: Program, words: tuple[str, ...]) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    command, *more = words
    engines = ["--engine", "fake:halves", *(["--engine", "fake:echo"] if command == "between" else [])]
    done = program("find" if command == "between" else command, "-", *more, *engines, stdin="ab!")
    assert (done.code in (0, 1), "\\ud80" in done.out.lower() or "U+D80" in done.out) == (True, True), done
    assert isinstance(json.loads(done.out) if more else {}, dict)


def test_an_engine_that_asks_for_a_tokenizer_is_given_one(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.engines.engine_host import EngineHost

    card = EngineHost.card
    monkeypatch.setattr(EngineHost, "card", lambda self: card(self).model_copy(update={"tokenizer": "needed"}))
    done = program("engines", "add", "fake", "--command", COMMAND)
    assert "engine fake asks for a whole tokenizer: give it with --tokenizer PATH" in done.err
    assert program("engines", "add", "fake", "--command", COMMAND, "--tokenizer", "t.json").code == 0


def test_the_worker_is_printed_as_one_file(program: Program) -> None:
    out = program("engines", "worker").out
    assert ("def adapter_of(" in out, "'adapter_vllm': " in out, compile(out, "x", "exec") is not None) == (
        True,
        True,
        True,
    )


@pytest.mark.replays
def test_an_output_is_replayed_and_searched_by_an_engine(program: Program) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    report = program("replay", "-", "--engine", "fake:upper", "--json", stdin="Hello").json
    assert report["message"]["content"] == "HELLO"
    assert report["reasons"][0].startswith("fake 1.0 runs its own parser upper")
    done = program("find", "-", "--engine", "fake:raises", stdin="Hello there, you!\nWell.")
    assert (done.code, "ValueError: no !" in done.out) == (1, True)
    assert "--engine fake:raises" in done.out


@pytest.mark.parametrize(("how", "found"), [((), []), (("--markers", "<<call>>,@@ "), ["no_terminal_leak"])])
def test_declared_markers_count_for_what_an_engine_reads(
    program: Program, how: Sequence[str], found: list[str]
) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    report = program("replay", "-", "--engine", "fake:echo", *how, "--json", stdin="Hi <<call>> now").json
    assert [one["check"] for one in report["findings"]] == found


def test_a_parser_that_is_not_there_is_told_under_the_option(program: Program) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    done = program("replay", "-", "--engine", "fake:nope", stdin="x")
    assert done.err.startswith("toolcall-inspector: --engine fake:nope: fake has no parser 'nope'; it has 19, such as")
    other = program("replay", "-", "--engine", "fake:echo", "--reasoning-parser", "no", stdin="x")
    assert "fake has no reasoning parser 'no'; it has thinks" in other.err


def test_a_class_needs_no_entry(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FAKE.parent.parent)
    how = ("--python", sys.executable, "--path", FAKE.parent.name, "--engine", "own_parsers:Plain", "--json")
    done = program("replay", "-", *how, stdin="Hi")
    assert (done.json["parser"], done.json["message"]["content"]) == ("class:Plain", "Hi")


@pytest.mark.replays
def test_cases_are_held_to_what_is_known_of_the_engine(program: Program, case_file: Callable[..., Path]) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    known = {"fake": {"verdict": "known_bug", "expect": {"content": "other"}}}
    file = case_file(input={"text": "Hello"}, expect={"content": "Hello"}, engines=known, replay=[{"by": "token"}])
    assert "\nknown bug  " in program("check", file, "--engine", "fake:echo").out
    linked = {"fake": {**known["fake"], "link": "https://bugs.example/1"}}
    other = case_file("three.case.json", input={"text": "Hello"}, engines=linked)
    found = program("find", other, "--engine", "fake:echo").out
    assert "known     a known bug of fake: https://bugs.example/1" in found
    plain = case_file("two.case.json", input={"text": "Hello"}, expect={"content": "Hello"}, replay=[{"by": "token"}])
    assert json.loads(plain.read_text())["parser"] == {"name": "qwen"}
    assert "\nok  " in program("check", plain, "--engine", "fake:echo").out


LINES = (*OWN[:2], "--class", "line_parsers:Sender", *OWN[4:])


@pytest.mark.replays
@pytest.mark.parametrize(
    ("output", "step", "said"),
    [
        (
            "ab <",
            "1",
            ["step 1 of 2 of lines:Sender: sent", "> ", "self.buffer: ", "» ", "returned {'content': 'ab '}"],
        ),
        ("a!", "1", ["step 1 of 2", "raised ValueError: no !"]),
        ("ab<?", "2", ["more lines ran that are not shown", "times; this is the last"]),
    ],
)
def test_the_lines_of_a_step_are_shown_in_its_source(program: Program, output: str, step: str, said: list[str]) -> None:
    program("engines", "add", "lines", *LINES)
    done = program("replay", "-", "--engine", "lines", "--lines", step, "--chunk", "9", stdin=output)
    assert done.code == 0
    assert [words for words in said if words not in done.out] == []


@pytest.mark.replays
def test_lines_of_functions_far_from_those_that_ran_are_left_out(program: Program) -> None:
    program("engines", "add", "lines", *LINES)
    done = program("replay", "-", "--engine", "lines", "--lines", "1", stdin="ab")
    assert "before(self)" not in done.out
    assert "line_parsers.py  Sender.feed" in done.out


@pytest.mark.replays
@pytest.mark.parametrize(
    ("engine", "step", "said"),
    [
        ("--parser=qwen", "1", "--lines 1: only parsers of entered engines show the lines that ran"),
        ("--engine=lines", "9", "--lines 9: there is no step 9: the replay has 2"),
    ],
)
def test_lines_that_are_not_there_are_one_sentence(program: Program, engine: str, step: str, said: str) -> None:
    program("engines", "add", "lines", *LINES)
    done = program("replay", "-", engine, "--lines", step, stdin="x")
    assert (done.code, done.out, said in done.err) == (2, "", True)


def test_a_step_without_source_says_so(program: Program) -> None:
    program("engines", "add", "fake", "--command", COMMAND)
    done = program("replay", "-", "--engine", "fake:echo", "--lines", "1", stdin="x")
    assert "--lines 1: engine fake does not tell which lines ran" in done.err


@pytest.mark.replays
@pytest.mark.parametrize(
    ("target", "health"), [("case", None), ("pytest", None), ("jsonl", None), ("sse", "answers"), ("vllm", "answers")]
)
def test_an_export_that_says_nothing_of_a_replay_starts_no_engine(
    program: Program, case_file: Callable[..., Path], target: str, health: str | None
) -> None:
    program("engines", "add", "fake", "--command", COMMAND, "--memory", "300")
    use_engines(get_settings())
    parser = {"name": "echo", "engine": "fake"}
    done = program("export", case_file(parser=parser, expect={"content": "x"}), "--to", target)
    assert (done.code, done.err) == (0, "")
    found = entered().known("fake").health
    assert (None if found is None else found.kind) == health
