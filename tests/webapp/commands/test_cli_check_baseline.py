"""`check` against what is known: a baseline, or the engine `base`. Only what became worse fails."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.case import CaseError
from parsers.cases.io import load_case
from tests.amount import TIMES
from tests.webapp.engines.entering import FAKE
from webapp.commands import baselines
from webapp.commands.baselines import ALL, NOT_RUN, Baseline, as_named, beyond, read_baseline, write_baseline
from webapp.commands.case_outcomes import Asked, By, results_of
from webapp.engines.entered import use_engines
from webapp.engines.entries import Entry, entries, write_entry
from webapp.engines.protocol import EngineError
from webapp.settings import get_settings

Program = Callable[..., Any]
ENGINE = FAKE.with_name("calling_engine.py")
MANY = 45 * TIMES
ENTRIES = 1_000 * TIMES
ID = "26k9tcted5t5jgyf"
LATER = "the baseline would take what became worse for known, so refresh it when nothing is"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    use_engines(get_settings())
    yield
    monkeypatch.delenv("TOOLCALL_INSPECTOR_DATA_DIR")
    use_engines(get_settings())


@pytest.fixture
def enter() -> Callable[..., None]:
    """Enters an engine that has these flaws, see calling_engine.py."""

    def made(name: str, *flaws: str) -> None:
        write_entry(get_settings(), name, Entry(command=(sys.executable, "-I", str(ENGINE), *flaws)))

    return made


def suite(number: int, **keys: Any) -> str:
    """A corpus of so many cases, whose texts end in x, y and z by turns; its name."""
    cases = {f"c{at}": case(f"f v {at} {'xyz'[at % 3]}", **keys) for at in range(number)}
    Path("suite.cases.json").write_text(json.dumps(cases), "utf-8")
    return "suite.cases.json"


def case(text: str, **keys: Any) -> dict[str, Any]:
    name, key, value = text.split(" ", 2)
    call = {"name": name, "arguments": {key: value}}
    few = {"replay": [{"by": "token"}, {"by": "whole"}], "checks": ["chunking"], "expect": {"tool_calls": [call]}}
    data = {"schema": 1, "parser": {"name": "auto"}, "input": {"text": text}, **few, **keys}
    return {key: value for key, value in data.items() if value is not None}


def last_lines(done: Any, start: str) -> list[str]:
    """What is printed from the line on that counts the cases."""
    lines: list[str] = done.out.splitlines()
    return lines[next(at for at, line in enumerate(lines) if line.startswith(start)) :]


@pytest.mark.replays
def test_an_engine_with_many_known_failures_is_green_until_something_becomes_worse(
    program: Program, enter: Callable[..., None]
) -> None:
    enter("mine", "loses=x", "splits=y")
    name, failing = suite(MANY), -(-MANY // 3) + -(-(MANY - 1) // 3)
    first = program("check", name, "--engine", "mine", "--write-baseline", "base.json")
    assert (first.code, f"{MANY:,} entries, {failing:,} of them wrong, written" in first.out) == (0, True)
    known = Path("base.json").read_bytes()
    again = program("check", name, "--engine", "mine", "--baseline", "base.json", "--write-baseline", "base.json")
    assert (again.code, again.out.count("FAIL"), Path("base.json").read_bytes() == known) == (0, 0, True)
    assert f"{failing:,} as before" in last_lines(again, f"{MANY:,} cases")[0]
    enter("mine", "loses=xz", "splits=y")
    worse = program("check", name, "--engine", "mine", "--baseline", "base.json")
    assert worse.code == 1
    assert f"{MANY - failing:,} FAIL" in last_lines(worse, f"{MANY:,} cases")[0]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("flaws", "code", "said"),
    [
        (("loses=x",), 0, ["3 cases: 1 as before, 2 ok"]),
        ((), 0, ["3 cases: 3 ok", "1 fixed: refresh the baseline (--write-baseline)"]),
        (("splits=x",), 0, ["3 cases: 1 as before, 2 ok", "1 partly fixed: refresh the baseline (--write-baseline)"]),
        (("loses=xy",), 1, ["3 cases: 1 as before, 1 FAIL, 1 ok"]),
        (("loses=y",), 1, ["3 cases: 2 ok, 1 FAIL", f"1 fixed: {LATER}"]),
        (("refuses=",), 1, ["3 cases: 3 FAIL"]),
    ],
)
def test_what_is_worse_fails_and_what_is_fixed_is_told(
    program: Program, enter: Callable[..., None], flaws: tuple[str, ...], code: int, said: list[str]
) -> None:
    enter("mine", "loses=x")
    name = suite(3, checks=[])
    program("check", name, "--engine", "mine", "--write-baseline", "base.json")
    enter("mine", *flaws)
    done = program("check", name, "--engine", "mine", "--baseline", "base.json")
    assert (done.code, last_lines(done, "3 cases")) == (code, said)


def test_a_case_that_is_worse_in_one_thing_is_fixed_in_none(program: Program, enter: Callable[..., None]) -> None:
    enter("mine", "loses=x")
    call = {"name": "f", "arguments": {"v": "0 x"}}
    name = suite(1, checks=["parser_raised"], expect={"content": None, "tool_calls": [call]})
    program("check", name, "--engine", "mine", "--write-baseline", "base.json")
    enter("mine", "raises=x")
    options = ("--baseline", "base.json", "--summary", "summary.md")
    done = program("check", name, "--engine", "mine", *options)
    told = Path("summary.md").read_text("utf-8")
    assert (done.code, "fixed" in done.out, "refresh" in done.out) == (1, False, False), done.out
    assert ("### Worse" in told, "ixed" in told) == (True, False), told


CHANGING = """
class P:
    version = "1"

    def begin(self, request):
        self.told = ""

    def feed(self, text, ids):
        return {"content": text}

    def finish(self, reason):
        return None
"""


def test_the_version_that_is_told_is_the_one_that_ran(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("v").mkdir()
    Path("v/par.py").write_text(CHANGING, "utf-8")
    Path("one.case.json").write_text(json.dumps(case("f v x", expect={"content": "f v x"})), "utf-8")
    added = program("engines", "add", "v", "--python", sys.executable, "--class", "par:P", "--path", "v")
    assert added.code == 0, added.err
    Path("v/par.py").write_text(CHANGING.replace('"1"', '"2.0"'), "utf-8")
    monkeypatch.setattr("webapp.engines.sources._seen", {})  # as in another process
    done = program("check", "one.case.json", "--engine", "v", "--junit", "v.xml", "--summary", "v.md")
    told = (done.out, Path("v.xml").read_text("utf-8"), Path("v.md").read_text("utf-8"))
    assert [("class 2.0" in one, "class 1" in one) for one in told] == [(True, False)] * 3, told


def test_an_engine_that_cannot_be_asked_is_named_without_a_version(program: Program) -> None:
    write_entry(get_settings(), "gone", Entry(command=("/nowhere/to/be/found",)))
    done = program("check", suite(1), "--engine", "gone")
    assert (done.code, done.out.splitlines()[0]) == (2, "tested: gone, in the place of the cases' own parsers")


def test_a_case_that_cannot_be_run_is_not_fixed_and_keeps_its_entry(program: Program) -> None:
    name = suite(2, checks=[])
    program("check", name, "--write-baseline", "base.json")
    known = Path("base.json").read_bytes()
    options = ("--baseline", "base.json", "--write-baseline", "base.json", "--summary", "summary.md")
    done = program("check", name, "--parser", "nobody", *options)
    assert (done.code, "fixed" in done.out, Path("base.json").read_bytes() == known) == (2, False, True)
    assert "Fixed" not in Path("summary.md").read_text("utf-8")
    program("check", name, "--parser", "nobody", "--write-baseline", "other.json")
    assert json.loads(Path("other.json").read_bytes())["known"] == []


@pytest.mark.replays
def test_ids_that_an_engine_makes_up_change_nothing(program: Program, enter: Callable[..., None]) -> None:
    enter("mine", "loses=x", "splits=y")
    name = suite(3, replay=[], checks=None)
    for file in ("one.json", "two.json"):
        done = program("check", name, "--engine", "mine", "--write-baseline", file)
        assert last_lines(done, "3 cases") == [
            "3 cases: 2 FAIL, 1 ok",
            f"3 entries, 2 of them wrong, written to {file}",
        ]
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    pair = program("check", name, "--engine", "base=mine", "--engine", "head=mine")
    assert (pair.code, last_lines(pair, "3 cases")) == (0, ["3 cases: 2 as before, 1 ok"])


def test_a_failure_that_is_worse_says_in_what(program: Program, enter: Callable[..., None]) -> None:
    enter("mine", "splits=y")
    name = suite(2, checks=[])
    program("check", name, "--engine", "mine", "--write-baseline", "base.json")
    wrong = [entry["wrong"] for entry in json.loads(Path("base.json").read_bytes())["known"]]
    assert sorted(wrong, key=len) == [{}, {"tool_calls[0].arguments": ["token by token"]}]
    enter("mine", "loses=y")
    done = program("check", name, "--engine", "mine", "--baseline", "base.json")
    assert "worse than before: tool_calls\n" in done.out
    assert "toolcall-inspector replay suite.cases.json::c1 --chunk whole --engine mine" in done.out


def test_cases_that_are_there_no_more_are_told_be_they_right_or_wrong_and_titles_do_not_matter(
    program: Program, enter: Callable[..., None]
) -> None:
    enter("mine", "loses=x")
    program("check", suite(5), "--engine", "mine", "--write-baseline", "base.json")
    one = Path("elsewhere/one.case.json")
    one.parent.mkdir()
    one.write_text(json.dumps(case("f v 0 x", title="Another title", notes=["why"])), "utf-8")
    done = program("check", one, "--engine", "mine", "--baseline", "base.json", "--summary", "s.md")
    numbers, absent = last_lines(done, "1 case")
    assert (done.code, numbers) == (0, "1 case: 1 as before")
    assert absent.startswith("4 cases of the baseline were not there, or changed since: suite.cases.json::c")
    assert absent.endswith(" and 1 more")
    assert "\n- 4 cases of the baseline were not there" in Path("s.md").read_text("utf-8")


def test_an_engine_that_is_called_otherwise_is_told(program: Program, enter: Callable[..., None]) -> None:
    enter("mine", "loses=x")
    program("check", suite(2), "--engine", "mine", "--write-baseline", "base.json")
    done = program("check", suite(2), "--engine", "new=mine", "--baseline", "base.json")
    said = "2 cases of the baseline were not run by that engine: suite.cases.json::c"
    assert (done.code, said in done.out, " [mine]" in done.out) == (1, True, True)


@pytest.mark.replays
def test_two_engines_have_entries_of_their_own(program: Program, enter: Callable[..., None]) -> None:
    enter("one", "loses=x")
    enter("two", "loses=y")
    both = ("--engine", "one", "--engine", "two")
    program("check", suite(2), *both, "--write-baseline", "base.json")
    assert {entry["engine"] for entry in json.loads(Path("base.json").read_bytes())["known"]} == {"one", "two"}
    assert program("check", suite(2), *both, "--baseline", "base.json").out.endswith(
        "4 runs by 2 engines: 2 as before, 2 ok\n"
    )
    swapped = program("check", suite(2), "--engine", "one=two", "--engine", "two=one", "--baseline", "base.json")
    assert (swapped.code, "2 fixed" in swapped.out) == (1, True)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("base", "head", "code", "said"),
    [
        (("loses=x",), ("loses=x",), 0, ["3 cases: 1 as before, 2 ok"]),
        (("loses=x",), ("loses=y",), 1, ["3 cases: 2 ok, 1 FAIL", "1 fixed: old is wrong there"]),
        (("loses=x",), ("loses=xy",), 1, ["3 cases: 1 as before, 1 FAIL, 1 ok"]),
        ((), ("refuses=",), 1, ["3 cases: 3 FAIL"]),
    ],
)
def test_of_two_engines_only_what_head_does_worse_fails(
    program: Program, enter: Callable[..., None], base: tuple[str, ...], head: tuple[str, ...], code: int,
    said: list[str],
) -> None:  # fmt: skip
    enter("old", *base)
    enter("new", *head)
    done = program("check", suite(3), "--engine", "base=old", "--engine", "head=new")
    assert done.code == code
    assert last_lines(done, "3 cases")[: len(said)] == said


def test_a_base_that_does_not_start_is_no_base(program: Program, enter: Callable[..., None]) -> None:
    enter("old", "refuses=")
    enter("new", "loses=x")
    done = program("check", suite(3), "--engine", "base=old", "--engine", "head=new")
    words = "base cannot be run, so that nothing can be held against it: "
    assert (done.code, words in done.err) == (2, True), done.err


def test_engines_that_are_tested_are_told_with_version_and_revision(
    program: Program, enter: Callable[..., None]
) -> None:
    enter("old")
    enter("new")
    revised = entries(get_settings())["new"].model_copy(update={"rev": "work", "commit": "0123456789abcdef"})
    write_entry(get_settings(), "new", revised)
    words = ("--engine", "base=old:f", "--engine", "head=new", "--engine", "builtin:qwen")
    out = program("check", suite(1), *words).out
    assert out.splitlines()[0] == (
        "tested: head=new (calling 1.0 at work (0123456789)), builtin:qwen against base=old:f (calling 1.0),"
        " in the place of the cases' own parsers"
    )


@pytest.mark.replays
def test_an_engine_that_is_called_base_is_tested_like_others_where_it_is_alone(
    program: Program, enter: Callable[..., None]
) -> None:
    enter("base", "loses=x")
    done = program("check", suite(3), "--engine", "base", "--write-baseline", "known.json")
    assert (done.code, Path("known.json").is_file()) == (0, True)
    assert program("check", suite(3), "--engine", "base", "--baseline", "known.json").code == 0
    assert program("check", suite(3), "--engine", "base").code == 1


def test_another_message_of_head_under_one_chunking_is_told_with_that_one(
    program: Program, enter: Callable[..., None]
) -> None:
    enter("old")
    enter("new", "many=10")
    chunkings = [{"by": "token"}, {"by": "char"}, {"by": "whole"}]
    Path("one.case.json").write_text(json.dumps(case("f v letters", expect=None, replay=chunkings)), "utf-8")
    words = ("--engine", "base=old", "--engine", "head=new", "--engine", "same=old")
    done = program("check", "one.case.json", *words)
    none, where = "none is known to be right", "one.case.json [head] (character by character)"
    told = f"1 case gives another message than base, and {none}: {where}"
    assert (done.code, last_lines(done, "2 runs")[1:]) == (0, [told]), done.out


def test_another_message_of_head_that_nobody_judges_is_told(program: Program, enter: Callable[..., None]) -> None:
    enter("old")
    enter("new", "loses=x")
    Path("one.case.json").write_text(json.dumps(case("f v x", expect={})), "utf-8")
    done = program("check", "one.case.json", "--engine", "base=old", "--engine", "head=new")
    assert (done.code, last_lines(done, "1 case: 1 ok")[1:]) == (
        0,
        ["1 case gives another message than base, and none is known to be right: one.case.json [head]"],
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engine", "base=mine"), "is what others are compared with; give --engine head=NAME too"),
        (("--engine", "base=mine", "--engine", "a=mine", "--baseline", "b"), "both say what is known"),
        (("--engine", "mine", "--engine", "mine"), "two are called mine"),
        (("--engine", "nobody"), "nobody"),
        (("--append",), "--append is for --summary FILE"),
        (("--baseline", "nowhere.json"), "nowhere.json cannot be read"),
        (("--baseline", "suite.cases.json"), "--baseline suite.cases.json: it is no baseline: /baseline"),
        (("--baseline", "list.json"), "--baseline list.json: it is no baseline: it is no object with `baseline`"),
        (("--write-baseline", "data"), "--write-baseline data: it cannot be written: Is a directory"),
        (("--junit", "data"), "--junit data: it cannot be written: Is a directory"),
    ],
)
def test_options_that_cannot_be_followed_are_a_line(
    program: Program, enter: Callable[..., None], options: tuple[str, ...], said: str
) -> None:
    enter("mine")
    Path("list.json").write_text("[]", "utf-8")
    done = program("check", suite(1), *options)
    assert (done.code, done.err.count("\n"), said in done.err) == (2, 1, True)


def test_an_engine_that_ran_nothing_is_no_success(program: Program, enter: Callable[..., None]) -> None:
    enter("gone", "refuses=")
    done = program("check", suite(2), "--engine", "gone", "--write-baseline", "base.json")
    assert not Path("base.json").exists()
    assert (done.code, "no case was run: " in done.err, "engine gone does not start" in done.err) == (2, True, True)


def test_an_engine_that_cannot_be_asked_leaves_a_case_out() -> None:
    def refuse(_: Any) -> Any:
        raise EngineError("engine mine does not start")

    by, given = (By("mine", asks=refuse),), load_case(case("f v x"))
    (of_nothing,) = results_of("f", "f", "f", given, Asked(by, baseline=Baseline([])))
    assert of_nothing.outcome == "skip", "it is no case that ran before"

    found, *others = results_of("f", "f", "f", load_case(case("f v x")), Asked((By("mine", asks=refuse),)))
    assert (found.outcome, found.wrong, found.why, others) == ("skip", {NOT_RUN: ALL}, "engine mine does not start", [])


@pytest.mark.parametrize(
    ("word", "outcome", "why"),
    [
        ("mine", "skip", "mine has no parser that reads this output (name one: mine:PARSER)"),
        ("mine:odd", "unusable", "/parser/name: mine has no parser 'odd'"),
    ],
)
def test_an_engine_without_a_parser_for_a_case_leaves_it_out_unless_one_was_named(
    word: str, outcome: str, why: str
) -> None:
    def refuse(_: Any) -> Any:
        raise CaseError("mine has no parser 'odd'", "/parser/name")

    given = load_case(case("f v x"))
    (found,) = results_of("f", "f", "f", given, Asked((By("mine", word, asks=refuse),)))
    assert (found.outcome, found.why) == (outcome, why)
    assert found.wrong == ({NOT_RUN: ALL} if outcome == "skip" else {})


@pytest.mark.replays
def test_a_baseline_of_many_entries_has_one_on_a_line_in_one_order(tmp_path: Path) -> None:
    file, digits = tmp_path / "new" / "base.json", "0123456789abcdefghjkmnpqrstvwxyz"
    ids = ["".join(digits[at >> shift & 31] for shift in range(75, -1, -5)) for at in range(ENTRIES)]
    entries = [
        baselines.Entry(case=one, engine="e", name="n", wrong={"content": ("b", "a"), "check x": ALL}) for one in ids
    ]
    assert write_baseline(str(file), reversed(entries)) == (ENTRIES, ENTRIES)
    written = file.read_text("utf-8")
    assert write_baseline(str(file), [*entries, *entries[:3]]) == (ENTRIES, ENTRIES)
    assert file.read_text("utf-8") == written
    assert written.splitlines()[3].startswith(f'  {{"case": "{ids[0]}", "engine": "e", "name": "n", "wrong": {{"check')
    known = read_baseline(str(file))
    assert (known.of(ids[7], "e"), known.of(ids[7], "other")) == ({"check x": ALL, "content": ("a", "b")}, {})
    assert (len(known.absent), [*tmp_path.joinpath("new").iterdir()]) == (ENTRIES - 1, [file])


@pytest.mark.parametrize(
    ("wrong", "known", "more"),
    [
        ({}, {"content": ALL}, {}),
        ({"content": ALL}, {"content": ALL}, {}),
        ({"content": ("a",)}, {"content": ALL}, {}),
        ({"content": ("a", "b")}, {"content": ("b",)}, {"content": ("a",)}),
        ({"content": ALL}, {"content": ("b",)}, {"content": ALL}),
        ({"content": ALL, "check x": ALL}, {"content": ALL}, {"check x": ALL}),
        ({"tool_calls[0].name": ("a",)}, {"tool_calls": ALL}, {}),
        ({"tool_calls[0].name": ("a", "b")}, {"tool_calls": ("a",)}, {"tool_calls[0].name": ("b",)}),
        ({"tool_calls": ALL}, {"tool_calls[0].name": ALL}, {"tool_calls": ALL}),
        ({"check x (text)": ALL}, {"check x (calls)": ALL}, {}),
        ({"check x (spelling)": ALL}, {"check x (text)": ALL}, {}),
        ({"check x (calls)": ALL}, {"check x (text)": ALL}, {"check x (calls)": ALL}),
        ({"check x (text)": ALL}, {"check y (calls)": ALL}, {"check x (text)": ALL}),
        ({"check x (text)": ALL}, {"check x": ALL}, {"check x (text)": ALL}),
        ({"content": ALL}, {NOT_RUN: ALL}, {}),
        ({NOT_RUN: ALL}, {NOT_RUN: ALL}, {}),
        ({NOT_RUN: ALL}, {"content": ALL}, {NOT_RUN: ALL}),
    ],
)
def test_worse_is_what_is_not_known(wrong: Any, known: Any, more: Any) -> None:
    assert beyond(wrong, known) == more


@pytest.mark.parametrize("wrong", [{"content": "all"}, {"content": 7}, None])
def test_an_entry_that_is_none_is_named(tmp_path: Path, program: Program, wrong: Any) -> None:
    entry = {"case": ID, "engine": "", "name": "", "wrong": wrong}
    (tmp_path / "base.json").write_text(json.dumps({"baseline": 1, "known": [entry]}), "utf-8")
    done = program("check", suite(1), "--baseline", "base.json")
    assert (done.code, "it is no baseline: /known/0/wrong" in done.err) == (2, True)


def test_a_pipe_is_written_to_and_stays_one() -> None:
    into, out = os.pipe()
    with os.fdopen(into) as read, os.fdopen(out, "w"):
        assert write_baseline(f"/dev/fd/{out}", []) == (0, 0)
        assert json.loads(os.read(read.fileno(), 1_000)) == {"baseline": 1, "known": []}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("engines", "code", "said"),
    [
        ({}, 0, "1 case: 1 as before"),
        ({"mine": {"expect": {"tool_calls": []}}}, 1, "1 case: 1 FAIL"),
        ({"mine": {"expect": {"tool_calls": []}}, "mine-base": {"expect": {"content": "odd"}}}, 1, "1 case: 1 FAIL"),
        ({"mine:other": {"expect": {"tool_calls": []}}}, 0, "1 case: 1 as before"),
        ({"mine": {"verdict": "known_bug"}}, 0, "1 case: 1 known bug"),
    ],
)
def test_base_is_held_to_what_the_case_says_of_head(
    program: Program, enter: Callable[..., None], engines: dict[str, Any], code: int, said: str
) -> None:
    """Base gives no call, which is right where the case says so of `mine`; the other call of head is wrong."""
    enter("mine-base", "loses=x")
    enter("mine")
    wanted = {"tool_calls": [{"name": "other", "arguments": {}}]}
    Path("one.case.json").write_text(json.dumps(case("f v x", expect=wanted, checks=[], engines=engines)), "utf-8")
    done = program("check", "one.case.json", "--engine", "base=mine-base", "--engine", "head=mine")
    assert (done.code, last_lines(done, "1 case")[0]) == (code, said)


def test_each_head_has_a_base_that_is_held_as_it(program: Program, enter: Callable[..., None]) -> None:
    for name in ("old", "one", "two"):
        enter(name, *["loses=x"] * (name == "old"))
    engines: dict[str, Any] = {"one": {"expect": {"tool_calls": []}}}
    Path("one.case.json").write_text(json.dumps(case("f v x", checks=[], engines=engines)), "utf-8")
    words = ("--engine", "base=old", "--engine", "one", "--engine", "two")
    done = program("check", "one.case.json", *words)
    said = ("1 FAIL, 1 ok" in done.out, "1 fixed: old is wrong there" in done.out)
    assert (done.code, said) == (1, (True, True))


ALIKE = [{"by": "cuts", "cuts": cuts} for cuts in ([1, 1], [1, 1, 1], [1, 1, 1, 1])]
MORE = {"by": "cuts", "cuts": [1, 2, 3, 4]}
TOO_LARGE = {"type": "object", "properties": {"v": {"type": "string", "maxLength": 2**63 - 1}}}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("flaw", "code", "said"),
    [
        ("few=3", 0, ["1 case: 1 as before"]),
        ("few=4", 1, ["1 case: 1 FAIL"]),
        ("few=2", 0, ["1 case: 1 as before", "1 partly fixed: refresh the baseline (--write-baseline)"]),
        ("few=0", 0, ["1 case: 1 ok", "1 fixed: refresh the baseline (--write-baseline)"]),
    ],
)
def test_a_chunking_that_another_one_is_called_as_fails_where_it_did_not_before(
    program: Program, enter: Callable[..., None], flaw: str, code: int, said: list[str]
) -> None:
    Path("one.case.json").write_text(json.dumps(case("f v x", replay=ALIKE, checks=[])), "utf-8")
    enter("mine", "few=3")
    program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    enter("mine", flaw)
    done = program("check", "one.case.json", "--engine", "mine", "--baseline", "base.json")
    assert (done.code, last_lines(done, "1 case")) == (code, said), done.out


@pytest.mark.replays
@pytest.mark.parametrize(
    ("flaw", "code", "told"),
    [
        ("few=3", 0, ""),
        ("few=4", 0, ""),
        ("few=2", 0, "partly fixed"),
        ("few=0", 0, "1 fixed"),
        ("few=5", 1, ""),
    ],
)
def test_a_baseline_that_has_labels_alone_is_read_as_it_was_meant(
    program: Program, enter: Callable[..., None], flaw: str, code: int, told: str
) -> None:
    Path("one.case.json").write_text(json.dumps(case("f v x", replay=[*ALIKE, MORE], checks=[])), "utf-8")
    enter("mine", "few=3")
    program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    known = json.loads(Path("base.json").read_bytes())
    wrong = known["known"][0]["wrong"]
    for name, places in wrong.items():
        wrong[name] = [place.partition(" #")[0] for place in places]
    assert "empty delta at 1" in str(wrong)
    Path("base.json").write_text(json.dumps(known), "utf-8")
    enter("mine", flaw)
    done = program("check", "one.case.json", "--engine", "mine", "--baseline", "base.json")
    assert (done.code, "fixed" in done.out, told in done.out) == (code, bool(told), True), done.out


def test_labels_of_an_older_baseline_may_mean_any_chunking_that_has_them() -> None:
    known = {"content": ("a", "b"), "check x": ALL, NOT_RUN: ("c #1", "d")}
    names = ("a #1", "a #2", "b", "c #1", "c #2")
    assert as_named(known, names) == {"content": ("a #1", "a #2", "b"), "check x": ALL, NOT_RUN: ("c #1", "d")}


def test_a_case_that_can_have_no_id_is_in_a_baseline_all_the_same(program: Program, enter: Callable[..., None]) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": TOO_LARGE}}
    for title in ("one", "two"):
        schema = {**TOO_LARGE, "title": title}
        tools = [{**tool, "function": {"name": "f", "parameters": schema}}]
        Path(f"{title}.case.json").write_text(json.dumps(case("f v x", tools=tools)), "utf-8")
    enter("mine", "loses=x")
    program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    known = Path("base.json").read_bytes()
    same = program(
        "check", "one.case.json", "--engine", "mine", "--baseline", "base.json", "--write-baseline", "base.json"
    )
    assert (same.code, last_lines(same, "1 case")[0], Path("base.json").read_bytes() == known) == (
        0, "1 case: 1 as before", True
    )  # fmt: skip
    assert program("check", "two.case.json", "--engine", "mine", "--baseline", "base.json").code == 1, "another case"


SLOW: dict[str, Any] = {"replay": [{"by": "token", "size": 3}, {"by": "cuts", "cuts": [2]}, {"by": "char"}]}
SPLIT, ALL_OF_FEW = ("splits=x",), ("few=3",)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("before", "after", "slow", "outcome"),
    [
        (ALL_OF_FEW, ALL_OF_FEW, "after", "as before"),
        (SPLIT, SPLIT, "before", "as before"),
        (("loses=x",), ("loses=x",), "before", "as before"),
        (("loses=x",), ("loses=x",), "after", "as before"),
        ((), ("many=4",), "before", "as before"),
        (SPLIT, ("loses=x",), "before", "FAIL"),
        ((), SPLIT, "before", "FAIL"),
        ((), ALL_OF_FEW, "after", "FAIL"),
    ],
)
def test_what_a_slow_engine_was_not_asked_is_neither_worse_nor_fixed(
    program: Program, enter: Callable[..., None], monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...],
    after: tuple[str, ...], slow: str, outcome: str,
) -> None:  # fmt: skip
    """One of three chunkings is left out: that by characters."""
    Path("one.case.json").write_text(json.dumps(case("f v x", **SLOW, checks=[])), "utf-8")
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0 if slow == "before" else 10.0)
    enter("mine", *before)
    program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0 if slow == "after" else 10.0)
    enter("mine", *after)
    done = program("check", "one.case.json", "--engine", "mine", "--baseline", "base.json")
    said = last_lines(done, "1 case")
    assert (said[0], "fixed" in done.out) == (f"1 case: 1 {outcome}", False), done.out
    (entry,) = json.loads(Path("base.json").read_bytes())["known"]
    assert entry["wrong"].get("not run") == (["character by character"] if slow == "before" else None)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("before", "after", "slow", "outcome"),
    [
        (("many=4",), ("many=4",), "before", "as before"),
        (("many=4",), ("many=4",), "after", "ok"),
        ((), ("few=2",), "before", "FAIL"),
    ],
)
def test_what_a_check_finds_of_a_chunking_that_was_left_out_is_not_worse(
    program: Program, enter: Callable[..., None], monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...],
    after: tuple[str, ...], slow: str, outcome: str,
) -> None:  # fmt: skip
    tokens = [[number, char] for number, char in enumerate("f v x")]
    told = {"input": {"tokens": tokens}, "source": {"kind": "recorded"}, "checks": ["chunking"], "expect": None}
    replay = [{"by": "token", "size": size} for size in (2, 4, 1)]
    Path("one.case.json").write_text(json.dumps(case("f v x", **told, replay=replay)), "utf-8")
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0 if slow == "before" else 10.0)
    enter("mine", *before)
    program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0 if slow == "after" else 10.0)
    enter("mine", *after)
    done = program("check", "one.case.json", "--engine", "mine", "--baseline", "base.json")
    assert (last_lines(done, "1 case")[0], "fixed" in done.out) == (f"1 case: 1 {outcome}", False), done.out


def test_a_chunking_that_was_left_out_is_no_wrong_and_what_was_mended_of_others_is_told(
    program: Program, enter: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("one.case.json").write_text(json.dumps(case("f v x", **SLOW, checks=[])), "utf-8")
    enter("mine", "loses=x")
    program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    monkeypatch.setattr("parsers.cases.patience.ENGINE_SECONDS", 0.0)
    enter("mine", *SPLIT)
    done = program("check", "one.case.json", "--engine", "mine", "--baseline", "base.json")
    assert (done.code, "1 partly fixed" in done.out) == (0, True), done.out
    enter("mine")
    done = program("check", "one.case.json", "--engine", "mine", "--write-baseline", "base.json")
    assert "1 entry, 0 of them wrong, written" in done.out
