"""`find`: its exit codes, its report, its JSON, and how it is ended early."""

from __future__ import annotations

import io
import json
import shlex
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from parsers.cases.case import Case
from parsers.cases.find import CaseFound
from parsers.cases.io import load_case, loads
from parsers.checks.check import Need
from parsers.compare.divergence import Divergence
from parsers.replays.chunking import Chunking
from parsers.search.found import Detail, Found, OutcomeClass, Progress, Sample, Verdict
from parsers.vocabulary.channels import CONTENT, Channel
from parsers.vocabulary.events import Failure
from parsers.vocabulary.trace import Finding, Proof
from parsers.vocabulary.types import Message, Span
from webapp.api.answers import FindResult
from webapp.commands import find as command
from webapp.commands.options import Options, given_words
from webapp.jobs.searches import SearchError

Program = Callable[..., Any]
ERROR = Finding("chunking", "error", "parser", "Two cuts, two messages.", 2, Span(3, 9), "a", "b", "C1")
CALL = '<tool_call>\n{"name": "f", "arguments": {"city": "Zürich"}}\n</tool_call>'


class Scripted:
    """A search that finds what the test says; `interrupted` is somebody pressing Ctrl-C."""

    def __init__(self, case: Case, found: Found, minimized: Case | None, interrupted: bool) -> None:
        self._result = CaseFound(case, found, minimized)
        self._interrupted = interrupted

    def run(self) -> Iterator[Progress]:
        yield Progress("sweep", 1, 1_990, 412, 2)
        if self._interrupted:
            raise KeyboardInterrupt
        yield Progress("done", 1, 1, 1_990, 2)

    def result(self) -> CaseFound:
        return self._result


Script = Callable[..., None]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Put a scripted search in the place of the real one."""

    def play(*findings: Finding, interrupted: bool = False, minimized: Case | None = None, **keys: Any) -> None:
        verdict = Verdict("chunk_boundary", "error", "parser", "It depends on the cuts.", (Detail("A detail."),))
        verdict.proof, verdict.offer = keys.pop("proof", None), keys.pop("offer", None)
        skipped = [("known_tool", Need.TOOLS)]
        found = Found("x", list(findings), ["index_dense"], skipped, keys.pop("outcomes", []), [], [], verdict, **keys)
        monkeypatch.setattr(
            command, "case_search", lambda case, *_, **__: Scripted(case, found, minimized, interrupted)
        )

    return play


@pytest.mark.parametrize(
    ("severities", "interrupted", "code"),
    [
        ((), False, 0),
        (("warning", "info"), False, 0),
        (("warning", "error"), False, 1),
        ((), True, 130),
        (("error",), True, 1),
    ],
)
def test_an_error_is_exit_code_1(
    program: Program, output_file: Path, script: Script, severities: tuple[Any, ...], interrupted: bool, code: int
) -> None:
    script(*[Finding("held_bounded", one, "parser", "Said.") for one in severities], interrupted=interrupted)
    for options in ([], ["--json"]):
        done = program("find", output_file, *options)
        assert (done.code, done.err) == (code, "")
        assert "Said." in done.out or not severities


@pytest.mark.replays
def test_a_right_output_has_no_error(program: Program, output_file: Path) -> None:
    done = program("find", output_file)
    assert (done.code, done.err) == (0, "")
    assert f"{output_file}: raw model output" in done.out
    assert "the traced replay's" in done.out
    assert "smallest failing case" not in done.out


@pytest.mark.replays
def test_the_json_is_as_described_and_the_same_every_time(program: Program, output_file: Path) -> None:
    done = program("find", output_file, "--json")
    found = TypeAdapter(FindResult).validate_python(done.json)
    assert (done.code, found["complete"], found["minimized"], done.out.count("\n")) == (0, True, None, 1)
    assert sum(outcome["count"] for outcome in found["outcomes"]) > 200
    assert program("find", output_file, "--json").json == done.json


def test_remarks_on_the_input_go_to_standard_error(program: Program, script: Script) -> None:
    script()
    done = program("find", "-", "--json", stdin=b"\xef\xbb\xbf" + CALL.encode())
    assert done.err.startswith("standard input: ")
    assert done.json["findings"] == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("find", "nowhere.txt"), "nowhere.txt cannot be read"),
        (("find", "-", "--parser", "nobody"), "--parser: there is no parser 'nobody'"),
        (("find", "-", "--policy", "x"), "--policy x: give a policy as KEY=VALUE"),
        (("find", "-", "--cuts", "999"), "--cuts: "),
        (("find",), "Missing argument 'FILE|-'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(program: Program, args: tuple[str, ...], words: str) -> None:
    done = program(*args, stdin=CALL)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert words in done.err


def test_a_limit_is_named(program: Program, output_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_MAX_TOKENS", "3")
    done = program("find", output_file)
    assert done.code == 2
    assert "TOOLCALL_INSPECTOR_MAX_TOKENS" in done.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_of_a_terminal(
    program: Program, output_file: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script()
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert program("find", output_file).code == 0
    written = terminal.getvalue()
    assert "sweep: 1 of 1,990; 412 replays, 2 outcomes so far\r" in written
    assert "\n" not in written
    assert written.endswith(" \r")


def proved(proof: Proof | None, **keys: Any) -> Finding:
    return Finding("chunking", "error", "parser", "Said.", proof=proof, id="C1", **keys)


REPLAY = "toolcall-inspector replay {file}"


@pytest.mark.parametrize(
    ("proof", "line"),
    [
        (None, REPLAY + " --chunk token"),
        (Proof({"by": "cuts", "cuts": [12, 40]}), REPLAY + " --cuts 12,40"),
        (Proof({"by": "whole"}), REPLAY + " --chunk whole"),
        (Proof({"by": "whole"}, wrong={"by": "token"}), REPLAY + " --chunk token"),
        (Proof({"by": "char", "size": 30}), REPLAY + " --cuts 30,60"),
        (Proof({"by": "token", "size": 5, "holdback_chars": 2}), REPLAY + " --chunk 5 --holdback 2"),
        (Proof(context={"reasoning_open": True}), REPLAY + " --chunk token --reasoning-open"),
        (Proof(context={"finish_reason": "length"}, parser="llama"),
         REPLAY + " --chunk token --parser llama --finish-reason length"),
        (Proof(context={"reasoning_open": False}), "seen with reasoning_open False"),
        (Proof(edits=((0, 11, ""),)), "seen where the text at characters 0–11 is left out"),
        (Proof(edits=((0, 1, "["),)), 'seen where the text at characters 0–1 becomes "["'),
        (Proof({"by": "cuts", "cuts": [2]}, ((0, 1, "["),)), 'seen with the chunking "cut at 2"'),
        (Proof({"by": "cuts", "cuts": [2]}, ((0, 81, "a b"),), {"finish_reason": "stop"}),
         "printf %s 'a b' | toolcall-inspector replay - --cuts 2 --finish-reason stop"),
        (Proof({"by": "cuts", "cuts": [2]}, ((0, 81, "a\0b"),)),
         "printf %b 'a\\0000b' | toolcall-inspector replay - --cuts 2"),
    ],
)  # fmt: skip
def test_a_finding_comes_with_the_command_that_shows_it(
    program: Program, output_file: Path, script: Script, proof: Proof | None, line: str
) -> None:
    script(proved(proof))
    assert f"    {line.format(file=output_file)}" in program("find", output_file).out.splitlines()


def test_a_command_of_endless_cuts_is_left_out(program: Program, script: Script) -> None:
    script(proved(Proof({"by": "char", "size": 2})))
    assert "toolcall-inspector replay" not in program("find", "-", stdin="ab" * 300).out


def test_the_command_keeps_the_options_of_the_search(
    program: Program, script: Script, output_file: Path, tmp_path: Path
) -> None:
    tools = tmp_path / "my tools.json"
    tools.write_text('{"name": "f"}', "utf-8")
    script(proved(Proof({"by": "cuts", "cuts": [4]})))
    options = ["--parser", "qwen", "--policy", "recovery=fail", "--policy", "unknown_tool=keep", "--tools", str(tools)]
    done = program("find", output_file, "--chunk", "3", *options, "--strict")
    line = next(line.strip() for line in done.out.splitlines() if "toolcall-inspector replay" in line)
    words = shlex.split(line)[1:]
    assert program(*words).code == 0
    assert sorted(words) == sorted(["replay", str(output_file), "--cuts", "4", *options, "--strict"])


def test_every_option_can_be_typed_again() -> None:
    assert given_words(Options(chunk="3", cuts="4", holdback=1, text_delay=1)) == []
    assert given_words(Options(format_file="f.json", reasoning_open=True)) == ["--format", "f.json", "--reasoning-open"]


def test_the_report_says_what_each_finding_is(program: Program, output_file: Path, script: Script) -> None:
    script(ERROR, Finding("held_bounded", "info", "output", "Held.", policy="recovery=fail", id="N1"))
    lines = [line.strip() for line in program("find", output_file).out.splitlines()]
    assert "verdict   It depends on the cuts." in lines
    assert "A detail." in lines
    assert "findings: 1 error, 1 info" in lines
    assert "error C1 chunking: step 2, characters 3–9" in lines
    assert 'expected "a"' in lines
    assert 'actual "b"' in lines
    assert "allowed by the contract: recovery=fail" in lines
    assert "not run: known_tool (the request declares no tools)" in lines


def test_the_verdict_comes_with_its_command(program: Program, output_file: Path, script: Script) -> None:
    script(proof=Proof(parser="llama"))
    wanted = f"          toolcall-inspector replay {output_file} --chunk token --parser llama"
    assert wanted in program("find", output_file).out.splitlines()


def test_what_changed_outputs_show_is_told_apart_and_is_no_error(
    program: Program, output_file: Path, script: Script
) -> None:
    script(robustness=[proved(Proof(edits=((0, 11, ""),)))])
    done = program("find", output_file)
    lines = [line.strip() for line in done.out.splitlines()]
    assert (done.code, "findings: none" in lines) == (0, True)
    after = lines[lines.index("robustness, by changed outputs: 1 error") :]
    assert "seen where the text at characters 0–11 is left out" in after
    answer = program("find", output_file, "--json")
    assert (answer.code, answer.json["findings"], len(answer.json["robustness"])) == (0, [], 1)


def test_what_follows_from_a_finding_stands_under_it(program: Program, output_file: Path, script: Script) -> None:
    others = tuple([Finding("monotone", "error", "parser", f"So {n}.") for n in range(5)])
    script(Finding("index_dense", "error", "parser", "It begins at 1.", follows=others))
    lines = [line.strip() for line in program("find", output_file).out.splitlines()]
    assert "findings: 1 error" in lines
    assert [line for line in lines if line.startswith("from it: ")] == [
        "from it: So 0.",
        "from it: So 1.",
        "from it: So 2.",
    ]
    assert "and 2 more findings that follow from it" in lines


def test_what_a_server_left_comes_with_the_command_that_replays_it(
    program: Program, output_file: Path, script: Script
) -> None:
    proof = Proof({"by": "token"}, ((0, 0, CALL),), {"reasoning_open": True}, "qwen")
    script(proof=proof, offer=CALL)
    command = f"printf %s {shlex.quote(CALL)} | toolcall-inspector replay - --parser qwen --reasoning-open"
    assert command in " ".join(program("find", output_file).out.replace("\n          ", "\n").split("          "))
    script(proof=proof, offer="a\0b")
    assert "printf %b 'a\\0000b' | toolcall-inspector replay -" in program("find", output_file).out
    script(proof=proof, offer=CALL * 500)
    assert "cat output.txt | toolcall-inspector replay - --parser qwen" in program("find", output_file).out
    assert program("replay", "-", "--parser", "qwen", "--reasoning-open", stdin=CALL.encode()).code == 0


def test_what_is_no_output_cannot_be_used(program: Program) -> None:
    traceback = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no\n'
    done = program("find", "-", stdin=traceback)
    assert done.code == 2
    assert "This is no output of a model: it looks like a Python traceback." in done.out
    assert "searched" not in done.out
    assert "hold" not in done.out
    replayed = program("replay", "-", stdin=traceback)
    assert replayed.code == 0
    assert "verdict: This is no output of a model: it looks like a Python traceback." in replayed.out
    assert "checks hold" not in replayed.out


FENCED = """```json
{"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
```
"""


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "title"),
    [
        (FENCED, "partial OpenAI chat JSON response"),
        (f"I would call it like this:\n\n{FENCED}\nIs that right?\n", "raw model output, 152 characters"),
        (f"With vLLM 0.9.1, streaming, calls have no arguments. Any idea?\n\n{FENCED}", "partial OpenAI chat JSON"),
    ],
)
def test_find_and_replay_take_calls_in_a_block_for_the_same(program: Program, text: str, title: str) -> None:
    for name in ("find", "replay"):
        assert f"standard input: {title}" in program(name, "-", stdin=text).out


def test_each_outcome_is_a_row(program: Program, output_file: Path, script: Script) -> None:
    whole, cut = Chunking(by="whole"), Chunking(by="cuts", cuts=(4,))
    parting = Divergence(CONTENT, 1, 4, 1, 1, "a", "b")
    unplaced = Divergence(Channel(None, "calls"), 0, None, None, None, "1", "0")
    message = Message()
    outcomes = [
        OutcomeClass(0, message, "stop", 1_200, 300, whole, "whole"),
        OutcomeClass(1, message, "stop", 2, 0, cut, "cut at 4", "text", parting),
        OutcomeClass(2, message, "stop", 1, 1, cut, "cut at 4", "calls", unplaced),
        OutcomeClass(3, message, "stop", 1, 1, cut, "cut at 4", None, None, Failure("KeyError", "x")),
        OutcomeClass(4, message, "stop", 1, 1, cut, "cut at 4"),
    ]
    script(outcomes=outcomes, complete=False, samples=(Sample("cuts_honest", "cut in two between tokens", 20, 5_044),))
    lines = program("find", output_file).out.splitlines()
    assert "tried cut in two between tokens (20 of 5,044)" in [" ".join(line.split()) for line in lines]
    rows = lines[lines.index("5 outcomes") + 2 :]
    assert [row.split(None, 3)[0:3] for row in rows[:2]] == [["0", "1,200", "300"], ["1", "2", "0"]]
    ends = ["the traced replay's", 'parts in content at character 4: "b" instead of "a"',
            'parts in calls: "0" instead of "1"', "the parser failed: KeyError: x", "the same text"]  # fmt: skip
    assert [row.endswith(end) for row, end in zip(rows, ends, strict=True)] == [True] * 5
    assert any("ended before everything was tried" in line for line in lines)


def test_the_smallest_case_is_shown_with_the_command_that_saves_it(
    program: Program, output_file: Path, script: Script
) -> None:
    small = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "<tool\n"}, "notes": ["It leaks.", "How."],
             "replay": [{"by": "cuts", "cuts": [3]}]}  # fmt: skip
    script(ERROR, minimized=load_case(small))
    out = program("find", output_file, "--parser", "qwen").out
    lines = [" ".join(line.split()) for line in out.split("\n\n")[-1].splitlines()]
    save = f"toolcall-inspector find {output_file} --parser qwen --json | jq .minimized > smallest.case.json"
    assert lines == ["smallest failing case: 6 characters", "text <tool⟨U+000A⟩", "cut cut at 3", "shows It leaks.",
                     f"save it {save}"]  # fmt: skip
    saved = program("find", output_file, "--json").json["minimized"]
    assert loads(json.dumps(saved)) == load_case(small)


def test_the_smallest_case_may_fail_under_the_usual_chunking(
    program: Program, output_file: Path, script: Script
) -> None:
    script(ERROR, minimized=load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "<"}}))
    assert [line.split()[0] for line in program("find", output_file).out.splitlines()[-3:]] == ["text", "cut", "save"]


TEMPLATE = {"start_anchor": "assistant", "fields": {"content": {}}}


@pytest.fixture
def template_file(tmp_path: Path) -> Path:
    file = tmp_path / "template.case.json"
    parser = {"name": "response_template", "engine": "response_template", "options": {"template": TEMPLATE}}
    file.write_text(json.dumps({"schema": 1, "parser": parser, "input": {"text": "Hi"}}), "utf-8")
    return file


@pytest.mark.replays
@pytest.mark.parametrize("presses", [0, 1, 2])
def test_a_parser_that_is_not_ours_runs_in_a_child_that_ctrl_c_stops(
    program: Program, template_file: Path, monkeypatch: pytest.MonkeyPatch, presses: int
) -> None:
    def run(case: Case, settings: Any, show: Any, stop: Callable[[], bool]) -> CaseFound:
        show(Progress("sweep", 1, 1_990, 412, 2))
        assert not stop()
        for _ in range(presses):
            signal.raise_signal(signal.SIGINT)
            assert stop()
        verdict = Verdict("all_hold", "pass", None, "All checks hold.")
        return CaseFound(case, Found("Hi", [], [], [], [], [], [], verdict))

    monkeypatch.setattr(command, "search_in_child", run)
    before = signal.getsignal(signal.SIGINT)
    assert program("find", template_file).code == (130 if presses else 0)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_parser_that_does_not_return_is_one_line(
    program: Program, template_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> CaseFound:
        raise SearchError("one call of the parser did not return")

    monkeypatch.setattr(command, "search_in_child", run)
    done = program("find", template_file)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "one call of the parser did not return" in done.err
