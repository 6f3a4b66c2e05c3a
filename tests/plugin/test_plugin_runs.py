"""The plugin at work: one test a case, what a failure says, what is written, generated outputs, several processes."""

from __future__ import annotations

import json
import re
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server

from parsers.cases.io import loads
from tests.plugin.projects import CONFTEST, NAIVE, Ran, run, write
from tests.webapp.guests.serving import case
from webapp.app import create_app
from webapp.services import EXTENSION
from webapp.settings import get_settings

pytestmark = pytest.mark.slow

CASES = {
    "bug": case(),
    "right": case("Sure.", expect={"content": "Sure."}),
    "known": case(verdict="known_bug"),
    "mended": case("Sure.", verdict="known_bug", expect={"content": "Sure."}),
    "of_theirs": case(engines={"class": {"verdict": "known_bug"}}),
    "wrong": {"schema": 9},
}
SHAPES = f"""
import pytest
{NAIVE}

class Legacy:
    def __init__(self, tokenizer):
        self.known = tokenizer.get_vocab()

    def extract_tool_calls_streaming(self, before, now, text, known, ids, new, request):
        return {{"content": text}}


class Unified:
    def __init__(self, tokenizer, tools):
        self.known, self.tools = tokenizer.get_vocab(), tools

    def parse_delta(self, text, ids, request, prompt=None, *, finished):
        return {{"content": text}} if text else None


class Detector:
    def parse_streaming_increment(self, text, tools):
        from types import SimpleNamespace
        return SimpleNamespace(normal_text=text, calls=[])


class Stuck(Naive):
    def feed(self, text, ids):
        while True:
            pass


class Exits(Naive):
    def feed(self, text, ids):
        raise SystemExit(3)


def ends(*given):
    raise SystemExit("no licence")


class Locked(Naive):
    def __init__(self):
        import threading
        self.lock = threading.Lock()


FOUND = {{
    "class": Naive, "function": lambda: Naive(), "object": Naive(), "tokenizer": lambda tokenizer: Legacy(tokenizer),
    "legacy": Legacy, "detector": Detector(), "stuck": Stuck, "locked": Locked(), "number": 7, "string": str,
    "nothing": None, "exits": Exits, "ends": ends, "unified": Unified,
    "tools": lambda tokenizer, tools: Unified(tokenizer, tools),
}}


@pytest.fixture
def toolcall_parser(request):
    return FOUND[request.node.name]
"""
TEXT = case("Just text.", expect={"content": "Just text."})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    return write(folder, tests___many__cases__json=CASES, tests___bug__case__json=case(), tests___conftest__py=CONFTEST)


@pytest.fixture(scope="module")
def ran(project: Path) -> Ran:
    """Everything at once, in two processes."""
    return run(project, "-n", "2", "--toolcall-find", "--toolcall-fuzz", "8", "--toolcall-seed", "3")


@pytest.mark.parametrize(
    "line",
    [
        "FAILED tests/many.cases.json::bug",
        "PASSED tests/many.cases.json::right",
        "XFAIL tests/many.cases.json::known - known bug",
        "XPASS tests/many.cases.json::mended - it passes: set its verdict to required",
        "XFAIL tests/many.cases.json::of_theirs",
        "FAILED tests/many.cases.json::wrong",
        "FAILED tests/bug.case.json::bug",
        "FAILED tests/bug.case.json::toolcall-fuzz[hermes]",
    ],
)
def test_each_case_is_a_test_with_the_outcome_of_check(ran: Ran, line: str) -> None:
    assert line in ran.out


@pytest.mark.replays
def test_a_known_bug_fails_where_pytest_is_told_to_run_what_is_expected_to_fail(project: Path) -> None:
    assert "FAILED tests/many.cases.json::known" in run(project, "--runxfail", "tests/many.cases.json::known").out


def test_a_failure_shows_the_smallest_chunking_the_deltas_and_a_command(ran: Ran) -> None:
    assert re.search(
        r"tests/bug.case.json by Naive: not as expected in \d+ of \d+ replays; the smallest: cut at 15", ran.out
    )
    assert "1     'Sure.<tool_call'" in ran.out
    assert "<- here" in ran.out
    cuts = '{"by": "cuts", "cuts": [15]}'
    assert f"shown by  pytest tests/bug.case.json::bug --toolcall-chunking '{cuts}'" in ran.out
    assert "Traceback" not in ran.out
    assert "pytest_toolcall/" not in ran.out


@pytest.mark.parametrize("name", ["bug.min.case.json", "many+bug.min.case.json"])
def test_smaller_cases_are_written_beside_those_that_fail(ran: Ran, project: Path, name: str) -> None:
    assert f"wrote tests/{name}: " in ran.out
    small = loads((project / "tests" / name).read_text("utf-8"))
    assert len(small.text()) < len(f"{CASES['bug']}")
    assert small.parser.name == "hermes"


def test_of_generated_outputs_small_failures_are_kept_and_the_seed_is_printed(ran: Ran, project: Path) -> None:
    assert re.search(r"qwen: \d+ generated outputs, \d+ of them fail; the same again: --toolcall-seed 3", ran.out)
    kept = [*(project / "tests").glob("fuzz-qwen-*.min.case.json")]
    assert kept
    assert all(loads(path.read_text("utf-8")).notes[-1].startswith("Found by a search") for path in kept)


def test_a_chunking_can_be_shown_alone_with_the_engine_that_is_named(project: Path) -> None:
    words = ("tests/bug.case.json", "--toolcall-chunking", '{"by": "cuts", "cuts": [15]}')
    assert "FAILED" in run(project, *words).out
    assert "1 passed" in run(project, *words, "--toolcall-engine", "builtin:hermes").out
    assert "it is no JSON" in run(project, "tests/bug.case.json", "--toolcall-chunking", "{").out


def test_what_shows_a_failure_names_the_engine_that_was_named(tmp_path: Path) -> None:
    write(tmp_path, other__case__json=case("Sure.", expect={"content": "No."}))
    out = run(tmp_path, "--toolcall-engine", "builtin:qwen").out
    shown = re.findall(r"shown by  pytest \S+::other --toolcall-engine (\S+) --toolcall-chunking", out)
    assert shown == ["builtin:qwen"]


def test_the_parser_may_be_given_in_many_forms(tmp_path: Path) -> None:
    names = ("class", "function", "object", "tokenizer", "legacy", "detector", "stuck", "locked", "number", "string",
             "nothing", "exits", "ends", "unified", "tools")  # fmt: skip
    write(tmp_path, conftest__py=SHAPES, shapes__cases__json=dict.fromkeys(names, TEXT))
    out = run(tmp_path, "-o", "toolcall_seconds=0.2").out
    passed = {name for name in names if f"PASSED shapes.cases.json::{name}" in out}
    assert passed == {*names} - {"stuck", "locked", "number", "string", "nothing", "exits", "ends"}
    for words in (
        "shapes.cases.json::stuck by Stuck: not as expected in 2 of 2 replays; the smallest of them: ",
        "other chunkings were not run. Hangs: 2 replays of this test did not return, so it was not asked again.",
        "Hangs: it did not return in 0.2 seconds (in feed, line ",
        "a Locked cannot be copied (",
        "gives a class, a function that makes a parser, or a parser, not int",
        "gives a class, a function that makes a parser, or a parser, not NoneType",
        "str has the methods of no known shape",
        "failed: SystemExit: it tried to end the process that it runs in (3)",
        "the fixture toolcall_parser: it tried to end the process that it runs in (no licence)",
    ):
        assert words in out, out


def test_globs_say_which_files_are_cases(tmp_path: Path) -> None:
    names = ("a__case__json", "sub___b__case__json", "other___c__case__json", "d__json")
    corpora = {"e__cases__json": {"one": TEXT, "two": TEXT}, "f__cases__json": "{", "g__cases__json": "[1]"}
    write(tmp_path, **dict.fromkeys(names, TEXT), **corpora)
    out = run(tmp_path, "--collect-only", "-q", "-o", "toolcall_cases=sub/ d.json ?the*/*.json e.*").out
    assert {line for line in out.splitlines() if "::" in line} == {
        "d.json::d",
        "e.cases.json::one",
        "e.cases.json::two",
        "other/c.case.json::c",
        "sub/b.case.json::b",
    }
    out = run(tmp_path, "--collect-only", "-q").out
    assert "f.cases.json: it is no JSON" in out
    assert "g.cases.json: a corpus is a JSON object of cases by name" in out


def test_a_server_that_runs_elsewhere_is_told_what_the_parser_says(tmp_path: Path) -> None:
    write(tmp_path, conftest__py=CONFTEST, bug__case__json=case(), right__case__json=case("Sure.", expect={}))
    app = create_app(get_settings(data_dir=tmp_path / "data"))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        ran = run(tmp_path, inspector=f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        app.extensions[EXTENSION].searches.close()
        app.extensions[EXTENSION].store.close()
    assert "1 failed, 1 passed" in ran.out
    assert "by Naive: not as expected in" in ran.out
    assert "the smallest: cut at 15 (2 deltas)" in ran.out


@pytest.mark.parametrize(
    ("inspector", "words"),
    [
        ("no-such-program", "the inspector cannot be started (no-such-program: No such file or directory); say where"),
        ("false", "the inspector (false) ended; say where it is with --toolcall-inspector"),
        ("python3 -c 'print(1)'", "what answers at python3 -c 'print(1)' is no inspector that this plugin knows"),
        ("python3 -c 'print({})'", "speaks another protocol than this plugin"),
        ("http://127.0.0.1:9", "the inspector at http://127.0.0.1:9 cannot be reached"),
    ],
)
def test_an_inspector_that_is_not_there_is_told_in_one_sentence(tmp_path: Path, inspector: str, words: str) -> None:
    write(tmp_path, one__case__json=TEXT)
    ran = run(tmp_path, inspector=inspector)
    assert words in ran.out
    assert "Traceback" not in ran.out


def test_without_a_parser_generated_outputs_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, one__case__json=TEXT)
    out = run(tmp_path, "--toolcall-fuzz", "1", "--toolcall-format", "qwen", "--toolcall-format", "glm45_moe").out
    assert "PASSED one.case.json::one" in out
    assert "there is no parser to try" in out
    assert "1 passed, 2 skipped" in out


def test_the_engine_that_is_named_is_tried_too_and_nothing_is_found_in_ours(tmp_path: Path) -> None:
    words = ("--toolcall-fuzz", "0", "--toolcall-format", "qwen", "--toolcall-engine", "builtin:qwen")
    out = run(tmp_path, *words, "--toolcall-seed", "1").out
    assert "PASSED ::toolcall-fuzz[qwen]" in out or "PASSED .::toolcall-fuzz[qwen]" in out, out
    assert "qwen: 1 generated outputs, nothing was found; the same again: --toolcall-seed 1" in out


NAMED = ("--toolcall-format", "hermes", "--toolcall-format", "qwen")


def test_a_format_of_several_names_is_tried_once(tmp_path: Path) -> None:
    cases = {f"{name}__case__json": case(parser={"name": name}) for name in ("qwen", "hermes", "glm45_moe", "nobodys")}
    write(tmp_path, **cases)
    words = ("--toolcall-fuzz", "0", "--toolcall-engine", "builtin:qwen", "--toolcall-seed", "1")
    tried = [re.findall(r"toolcall-fuzz\[(\w+)\]", run(tmp_path, *words, *more).out) for more in ((), NAMED)]
    assert [sorted({*names}) for names in tried] == [["glm45_moe", "hermes"], ["hermes"]]


def test_the_smallest_form_of_a_failure_is_not_written_twice(tmp_path: Path) -> None:
    expect = {"tool_calls": [{"name": "g", "arguments": {}}]}
    smallest = case('<tool_call>\n{"name": "g", "arguments":{}}\n</tool_call>', expect=expect)
    write(tmp_path, one__case__json=smallest, conftest__py=CONFTEST)
    out = run(tmp_path, "--toolcall-find").out
    assert "its output is the smallest that fails like this already: nothing was written" in out
    assert not (tmp_path / "one.min.case.json").exists()


def test_a_case_whose_parser_may_be_called_anything_gives_the_format_of_its_output(tmp_path: Path) -> None:
    write(tmp_path, one__case__json=case(parser={"name": "MyParser", "engine": "mine"}))
    out = run(tmp_path, "--toolcall-fuzz", "0", "--toolcall-engine", "builtin:qwen").out
    assert "PASSED one.case.json::toolcall-fuzz[MyParser]" in out
    assert "qwen: 1 generated outputs, nothing was found" in out


@pytest.mark.parametrize(("names", "formats"), [(("one", "one.min"), ["hermes"]), (("one.min",), ["qwen"])])
def test_a_small_case_beside_its_own_brings_no_format_of_its_own(
    tmp_path: Path, names: tuple[str, ...], formats: list[str]
) -> None:
    cases = {"one": case(parser={"name": "hermes"}), "one.min": case(parser={"name": "qwen"})}
    for name in names:
        (tmp_path / f"{name}.case.json").write_text(json.dumps(cases[name]))
    out = run(tmp_path, "--toolcall-fuzz", "0", "--toolcall-engine", "builtin:qwen").out
    assert re.findall(r"PASSED \S+::toolcall-fuzz\[(\w+)\]", out) == formats


def test_the_command_of_a_failure_finds_its_case_whatever_that_is_called(tmp_path: Path) -> None:
    wrong = case("Just text.", expect={"content": "Else"})
    names = {"x::y": "x:y", "p[1] q": "p[1] q", "new\nline": "new\\nline", "": "(no name)", "\ud800": "\\ud800"}
    write(tmp_path, odd__cases__json={**dict.fromkeys(names, wrong), "other": TEXT})
    lines = run(tmp_path).out.splitlines()
    told = [line for line in lines if line.startswith("shown by  pytest ")]
    found = [shlex.split(line)[3] for line in told]
    assert found == [f"odd.cases.json::{name}" for name in names.values()]
    assert [sum(line.startswith(f"FAILED {one} - ") for line in lines) for one in found] == [1] * len(names)
    assert f"{len(found)} failed" in run(tmp_path, *found).out


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_a_corpus_with_two_cases_of_one_name_is_red(tmp_path: Path, words: tuple[str, ...]) -> None:
    wrong = json.dumps(case("Just text.", expect={"content": "WRONG"}))
    write(tmp_path, dup__cases__json=f'{{\n"same": {wrong},\n"same": {json.dumps(TEXT)}\n}}', one__case__json=TEXT)
    done = run(tmp_path, *words)
    assert done.code != 0
    assert 'dup.cases.json: two cases are called "same": at line 2, column 9 and at line 3, column 9' in done.out


def test_a_key_that_a_case_has_twice_is_red(tmp_path: Path) -> None:
    text = json.dumps(TEXT).replace('"expect":', '"expect": {"content": "WRONG"}, "expect":')
    write(tmp_path, one__case__json=text, many__cases__json=f'{{"a": {text}, "b": {json.dumps(TEXT)}}}')
    out = run(tmp_path).out
    assert "2 failed, 1 passed" in out
    assert out.count(': key "expect" is given twice in one object') >= 2


def test_a_case_that_says_nothing_of_what_is_right_is_named(tmp_path: Path) -> None:
    silent = {key: value for key, value in CASES["right"].items() if key != "expect"}
    own = {**silent, "engines": {"class": {"expect": CASES["right"]["expect"]}}}
    cases = {"right": CASES["right"], "silent": silent, "own": own, "theirs": {**own, "engines": {"vllm": {}}}}
    project = write(tmp_path, conftest__py=CONFTEST, **{f"{name}__case__json": one for name, one in cases.items()})
    done = run(project)
    assert (done.code, "4 passed" in done.out) == (0, True)
    unjudged = "silent.case.json, theirs.case.json"
    assert f"2 passed by checks alone, for they do not say what is right: {unjudged}" in done.out


def test_the_seconds_are_for_making_failures_small_too(tmp_path: Path) -> None:
    """An inspector that notes what it is asked, in the place of one that searches for as long as it may."""
    notes = tmp_path / "notes"
    answers = {
        "hello": {"protocol": 1},
        "outputs": {"format": "qwen", "cases": ["{}"] * 10},
        "check": {"outcome": "FAIL"},
        "find": {"headline": "Nothing.", "case": None},
    }
    script = f"""import json, sys, time
for line in sys.stdin:
    (name, asked), = json.loads(line).items()
    if name == "find":
        open({str(notes)!r}, "a").write(str(asked["seconds"]) + "\\n")
        time.sleep(1)
    print(json.dumps({{"answer": {answers!r}[name]}}), flush=True)
"""
    write(tmp_path, one__case__json=TEXT, conftest__py=CONFTEST, inspector__py=script)
    out = run(
        tmp_path, "--toolcall-fuzz", "5.5", "-k", "fuzz", inspector=f"{sys.executable} {tmp_path}/inspector.py"
    ).out
    asked = [float(line) for line in notes.read_text("utf-8").splitlines()]
    assert [4 <= one <= 5.5 for one in asked] == [True, True], out
    assert asked[1] < asked[0]


def test_a_case_that_time_did_not_suffice_to_make_small_is_not_written(tmp_path: Path) -> None:
    """The same seed gives the same files, however fast the machine is."""
    answers = {
        "hello": {"protocol": 1},
        "outputs": {"format": "qwen", "cases": [json.dumps(TEXT)] * 10},
        "check": {"outcome": "FAIL"},
        "find": {"headline": "It fails.", "case": json.dumps(TEXT), "late": True},
    }
    script = f"""import json, sys
for line in sys.stdin:
    (name, asked), = json.loads(line).items()
    print(json.dumps({{"answer": {answers!r}[name]}}), flush=True)
"""
    write(tmp_path, one__case__json=TEXT, conftest__py=CONFTEST, inspector__py=script)
    out = run(tmp_path, "--toolcall-fuzz", "0", "-k", "fuzz", inspector=f"{sys.executable} {tmp_path}/inspector.py").out
    assert "one that fails was not made small in the time that was left: give more seconds" in out
    assert [*tmp_path.glob("*.min.case.json")] == []


def test_bugs_that_are_known_end_no_run_and_five_new_ones_do(tmp_path: Path) -> None:
    """By an inspector that finds another bug in each output: the first five have their cases in the folder."""
    script = """import json, sys
for line in sys.stdin:
    (name, asked), = json.loads(line).items()
    answer = {"protocol": 1, "outcome": "FAIL", "format": "qwen"}
    if name == "outputs":
        answer["cases"] = [f'{{"input": {{"text": "{asked["first"] + at}"}}}}' for at in range(10)]
    if name == "find":
        signature = "%010x" % int(json.loads(asked["case"])["input"]["text"])
        answer = {"case": asked["case"], "signature": signature, "headline": "It fails."}
    print(json.dumps({"answer": answer}), flush=True)
"""
    names = [f"fuzz-qwen-{number:010x}.min.case.json" for number in range(10)]
    write(tmp_path, one__case__json=TEXT, conftest__py=CONFTEST, inspector__py=script)
    for name in names[:5]:
        (tmp_path / name).write_text("{}", "utf-8")
    words = ("--toolcall-fuzz", "60", "-k", "toolcall-fuzz")
    out = run(tmp_path, *words, inspector=f"{sys.executable} {tmp_path}/inspector.py").out
    assert "qwen: 10 generated outputs, 10 of them fail" in out
    assert sorted(path.name for path in tmp_path.glob("fuzz-*")) == names


def test_a_smaller_case_that_cannot_be_written_is_shown_below_the_failure(tmp_path: Path) -> None:
    answers = {
        "hello": {"protocol": 1},
        "outputs": {"format": "qwen", "cases": [json.dumps(TEXT)]},
        "check": FAILS,
        "find": {"headline": "It fails.", "case": json.dumps(TEXT)},
    }
    script = f"""import json, sys
for line in sys.stdin:
    (name, asked), = json.loads(line).items()
    print(json.dumps({{"answer": {answers!r}[name]}}), flush=True)
"""
    write(tmp_path, one__case__json=TEXT, conftest__py=CONFTEST, inspector__py=script)
    (tmp_path / "one.min.case.json").mkdir()
    words = ("--toolcall-find", "--toolcall-fuzz", "0", "-o", "toolcall_folder=inspector.py")
    out = run(tmp_path, *words, inspector=f"{sys.executable} {tmp_path}/inspector.py").out
    assert "not as expected in 1 of 3 replays" in out
    for path in ("one.min.case.json", r"inspector.py/fuzz-qwen-\w+.min.case.json"):
        assert re.search(
            rf"{path} cannot be written \(.+\), so here it is: It fails.\n{re.escape(json.dumps(TEXT))}", out
        ), out
    assert "Traceback" not in out


SHOWN: dict[str, Any] = {
    "chunking": {}, "label": "whole", "command": "", "deltas": 1, "at": 1, "differences": [], "steps": [],
}  # fmt: skip
FAILS = {"protocol": 1, "outcome": "FAIL", "replays": 3, "failing": 1, "errors": [], "shown": SHOWN}
FINDS = f"""import json, pathlib, sys
for line in sys.stdin:
    (name, asked), = json.loads(line).items()
    answer = {{**{FAILS}, "headline": "It fails."}}
    if name == "find":
        answer["case"] = json.loads(asked["case"])["title"] + pathlib.Path("more").read_text()
    print(json.dumps({{"answer": answer}}), flush=True)
"""


def found(folder: Path, *words: str, cache: bool = False) -> str:
    """What a run says that searches with FINDS."""
    inspector = f"{sys.executable} {folder}/inspector.py"
    return run(folder, "--toolcall-find", *words, inspector=inspector, cache=cache).out


def test_smaller_cases_of_cases_whose_names_are_alike_are_two_files(tmp_path: Path) -> None:
    cases = {"a__cases__json": {"x": case(title="of a corpus")}, "a__x__case__json": case(title="of a file")}
    write(tmp_path, **cases, a__x__json=case(title="other"), inspector__py=FINDS, more="")
    found(tmp_path, "-n", "2", "-o", "toolcall_cases=a.x.json *.case.json *.cases.json")
    texts = sorted(path.read_text("utf-8") for path in tmp_path.glob("*.min.case.json"))
    assert texts == ["of a corpus", "of a file", "other"]


def test_a_smaller_case_that_somebody_changed_stays_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, one__case__json=case(title="found"), inspector__py=FINDS, more="")
    small, only = tmp_path / "one.min.case.json", "one.case.json"
    assert "wrote one.min.case.json: It fails." in found(tmp_path, only, cache=True)
    assert "has the smaller case already: It fails." in found(tmp_path, only)
    (tmp_path / "more").write_text(" anew")
    assert "wrote one.min.case.json: It fails." in found(tmp_path, only, cache=True)
    assert small.read_text("utf-8") == "found anew"
    small.write_text("found anew, and right is this", "utf-8")
    for cache in (True, False):
        out = found(tmp_path, only, cache=cache)
        assert "one.min.case.json is there, and not as a search here wrote it, so it stays as it is" in out
        assert small.read_text("utf-8") == "found anew, and right is this"


@pytest.mark.parametrize(("deaths", "passed"), [({3}, 6), ({2, 3, 5}, 4), ({2, 3, 4, 5, 6, 7}, 1)])
def test_an_inspector_that_dies_is_the_trouble_of_one_test_and_after_five_no_other_is_started(
    tmp_path: Path, deaths: set[int], passed: int
) -> None:
    script = f"""import json, sys
for line in sys.stdin:
    (name, asked), = json.loads(line).items()
    if name == "check" and int(json.loads(asked["case"])["title"]) in {deaths}:
        sys.exit("out of memory")
    print(json.dumps({{"answer": {{"protocol": 1, "outcome": "ok"}}}}), flush=True)
"""
    cases = {f"c{number}": case(title=f"{number}") for number in range(1, 8)}
    write(tmp_path, many__cases__json=cases, inspector__py=script)
    out = run(tmp_path, inspector=f"{sys.executable} {tmp_path}/inspector.py").out
    assert f"{passed} passed" in out
    told = re.findall(r"^the inspector \(.+\) ended: out of memory; the next test starts another$", out, re.MULTILINE)
    last = re.findall(
        r"^5 inspectors were lost, so no other one is started; the last: the inspector", out, re.MULTILINE
    )
    assert (len(told), len(last)) == (min(len(deaths), 4), max(0, len(deaths) - 4)), out
    assert "say where it is" not in out


def test_a_case_that_is_nested_deeper_than_python_reads_is_no_trouble_of_generated_outputs(tmp_path: Path) -> None:
    deep = f'{{"schema": 1, "parser": {"[" * 100_000}'
    write(tmp_path, deep__case__json=deep, one__case__json=case())
    done = run(tmp_path, "--toolcall-fuzz", "0", "--toolcall-engine", "builtin:qwen", "--toolcall-seed", "1")
    assert "PASSED one.case.json::toolcall-fuzz[hermes]" in done.out
    assert "FAILED deep.case.json::deep" in done.out
    assert "INTERNALERROR" not in done.out


def test_where_no_format_is_known_to_draw_outputs_of_that_is_red(tmp_path: Path) -> None:
    write(tmp_path, test_one__py="def test_one():\n    pass\n")
    done = run(tmp_path, "--toolcall-fuzz", "1", "-n", "2")
    assert (done.code, "1 failed, 1 passed" in done.out) == (1, True)
    assert "--toolcall-fuzz has no format to draw outputs of" in done.out
    assert "--toolcall-format" in done.out
    assert run(tmp_path, "--toolcall-fuzz", "1", "-o", "toolcall=false").code == 0


KEEPING = """
import pytest

LEFT = []


class Keeping:
    def begin(self, request):
        self.seen = ""

    def feed(self, text, ids):
        self.seen += text

    def finish(self, reason):
        said = self.seen + "".join(LEFT)
        LEFT[:] = ["?"] * ("!" in self.seen)
        return {"content": said}


class Staying(Keeping):
    def finish(self, reason):
        said = self.seen + "".join(LEFT)
        LEFT[:] = ["?"] * ("!" in self.seen or bool(LEFT))
        return {"content": said}


@pytest.fixture
def toolcall_parser():
    return KIND
"""
UNSTEADY = "The parser does not read the same output alike every time: "
LOUD = case("It is late!", expect={"content": "It is late!"})


def commands(out: str) -> list[list[str]]:
    """What shows the failures, as words of pytest."""
    found = re.findall(r"^shown by  pytest (.+)$", out, re.MULTILINE)
    return [shlex.split(one) for one in found]


def test_where_replays_spoil_each_other_the_command_makes_all_of_them(tmp_path: Path) -> None:
    write(tmp_path, conftest__py=KEEPING.replace("KIND", "Keeping"), loud__case__json=LOUD)
    out = run(tmp_path, "--toolcall-find").out
    assert (
        f"\n{UNSTEADY}read once more (token by token), the output gives another message: the content differs; " in out
    )
    assert "no smaller case was looked for: nothing that is found of such a parser would have to be true" in out
    assert commands(out) == [["loud.case.json::loud"]]
    assert "1 failed" in run(tmp_path, *commands(out)[0]).out
    assert "1 passed" in run(tmp_path, "--toolcall-chunking", '{"by": "whole"}').out


def test_where_a_test_is_spoilt_by_those_before_it_all_of_them_are_what_shows_it(tmp_path: Path) -> None:
    cases = {"calm": TEXT, "loud": {**LOUD, "verdict": "known_bug"}, "spoilt": TEXT}
    write(tmp_path, conftest__py=KEEPING.replace("KIND", "Staying"), a__cases__json=cases)
    words = ("a.cases.json", "--toolcall-find")
    out = run(tmp_path, *words).out
    told = "the first replay of a.cases.json::calm gives something else by now; what the tests before this one left"
    assert f"{UNSTEADY}{told} behind may be why it fails, and alone it may not." in out
    assert commands(out)[0][-len(words) :] == [*words]
    assert "1 failed" in run(tmp_path, *commands(out)[0]).out
    assert "1 passed" in run(tmp_path, "a.cases.json::spoilt").out
    assert not [*tmp_path.glob("*.min.case.json")]
    (shared,) = commands(run(tmp_path, "a.cases.json", "-n", "1").out)
    assert shared == ["a.cases.json::calm", "a.cases.json::spoilt"]


def test_of_a_parser_that_keeps_something_no_generated_output_is_kept(tmp_path: Path) -> None:
    write(tmp_path, conftest__py=KEEPING.replace("KIND", "Staying").replace('"!" in', '"<tool" in'))
    out = run(tmp_path, "--toolcall-fuzz", "6", "--toolcall-format", "qwen", "--toolcall-seed", "1").out
    assert re.search(r"FAILED .*toolcall-fuzz\[qwen\]", out)
    assert UNSTEADY.rstrip(": ") in out
    assert not [*tmp_path.glob("fuzz-*")]
