"""Several engines on the command line: replayed beside each other, and searched for where they differ."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines.entering import FAKE
from tests.webapp.engines.entering import own as entry
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.settings import Settings, get_settings

Program = Callable[..., Any]
TEXT = "Hello <b>you</b>,\nit is sunny."
PAIRED = "paired_parsers"


@pytest.fixture(autouse=True)
def _entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    settings = Settings(data_dir=tmp_path)
    for name in ("Old", "Same", "Cut", "Open"):
        write_entry(settings, name.lower(), entry(name, **{"class": f"{PAIRED}:{name}"}))
    use_engines(get_settings())
    yield
    monkeypatch.delenv("TOOLCALL_INSPECTOR_DATA_DIR")
    use_engines(get_settings())


def words(*names: str) -> list[str]:
    return [word for name in names for word in ("--engine", name)]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("other", "code", "said"),
    [
        ("same", 0, "No difference of old and same was found."),
        ("cut", 1, "old and cut differ: "),
        ("open", 1, "Only a changed output shows it: cut off after character"),
    ],
)
def test_a_search_says_whether_two_engines_differ(program: Program, other: str, code: int, said: str) -> None:
    done = program("find", "-", *words("old", other), stdin=TEXT)
    assert (done.code, said in done.out, done.err) == (code, True, "")


@pytest.mark.replays
def test_the_smallest_output_is_a_case_that_both_replay(program: Program, tmp_path: Path) -> None:
    done = program("find", "-", *words("a=old", "b=open:Open", "same"), "--json", stdin=TEXT)
    assert [one["label"] for one in done.json["engines"]] == ["a", "b", "same"]
    first, second = done.json["pairs"]
    assert (first["pair"], first["differ"], first["smallest"]["text"]) == (["a", "b"], True, "<")
    assert (second["pair"], second["differ"], second["case"]) == (["a", "same"], False, None)
    assert second["replays"] > 100
    assert [side["message"]["content"] for side in first["smallest"]["sides"]] == [None, "?"]
    file = tmp_path / "small.case.json"
    file.write_text(json.dumps(first["case"]))
    again = program("replay", file, *words("old", "open"), "--json").json["pairs"][0]
    assert (again["same"], again["step"]["end"], again["sides"][1]["message"]["content"]) == (False, True, "?")


def test_the_report_shows_both_messages_and_the_first_step_at_which_they_part(program: Program) -> None:
    done = program("replay", "-", *words("old", "cut"), "--cuts", "17,18", stdin=TEXT)
    assert done.code == 0
    assert (
        'content        old   "Hello you,\\nit is sunny."\n                 cut   "Hello you,it is sunny."' in done.out
    )
    assert 'first step at which they part: step 2, fed "\\n"\n  old  content "\\n"' in done.out
    assert "  cut  sent nothing\n" in done.out
    assert "messages part in content" in done.out


def test_our_own_parsers_stand_beside_engines(program: Program) -> None:
    text = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    done = program("replay", "-", *words("fake=old", "builtin:qwen"), stdin=text)
    assert "with      builtin: qwen, built in" in done.out
    assert 'call 0         fake     none\n                 builtin  "f"' in done.out
    same = program("replay", "-", *words("a=builtin:qwen", "b=builtin:hermes"), stdin=text)
    assert "they send the same at every step" in same.out
    one = program("replay", "-", *words("builtin:qwen"), "--json", stdin=text)
    assert one.json["parser"] == "qwen"


def test_what_an_engine_fails_with_is_said(program: Program, tmp_path: Path) -> None:
    write_entry(Settings(data_dir=tmp_path), "raising", entry("Raising"))
    done = program("find", "-", *words("raising", "old"), stdin="Well! Done.")
    assert done.code == 1
    assert "failed         raising  ValueError: no !" in done.out
    assert "  raising  failed: ValueError: no !" in done.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (words("old", "old"), "--engine: two are called old; give them labels, as in --engine a=old"),
        (words("x y=old", "cut"), "--engine x y=old: a label has no blank"),
        (words("old", "nope"), "--engine nope: engine 'nope' is not entered here"),
        (words("old", "cut:Other"), "--engine cut:Other: cut has no parser 'Other'"),
        ([*words("old", "cut"), "--python", sys.executable], "--python: to compare classes of your own, enter each"),
        ([*words("old", "cut"), "--lines", "1"], "--lines: show the lines of one engine at a time"),
        ([*words("old", "cut"), "--cuts", "99"], "cuts"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(program: Program, more: list[str], said: str) -> None:
    done = program("replay", "-", *more, stdin=TEXT)
    assert (done.code, done.out, said in done.err, done.err.count("\n")) == (2, "", True, 1)


def test_engines_of_one_name_are_called_by_their_words(program: Program) -> None:
    from webapp.commands.engine_option import several

    assert [one.label for one in several(["vllm:hermes", "vllm:qwen", "b=vllm:x", "old"])] == [
        "vllm:hermes",
        "vllm:qwen",
        "b",
        "old",
    ]


def test_ctrl_c_ends_the_search_and_says_so(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsers.search.parting import Parting

    def stopped(_: Parting) -> Iterator[Any]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(Parting, "run", stopped)
    done = program("find", "-", *words("old", "same"), stdin=TEXT)
    assert (done.code, "ended before everything was tried" in done.out) == (130, True)
    assert "tried" in done.out


@pytest.mark.replays
def test_two_revisions_of_a_checkout_are_entered_and_differ(program: Program, tmp_path: Path) -> None:
    checkout, source = tmp_path / "checkout", (FAKE.parent / f"{PAIRED}.py").read_text()
    checkout.mkdir()
    git(checkout, "init", "-q", "-b", "work")
    for text in (
        source,
        source.replace("class Cut(Old)", "class Other(Old)").replace("class Same(Old)", "class Cut(Old)"),
    ):
        (checkout / f"{PAIRED}.py").write_text(text)
        git(checkout, "add", "-A")
        git(checkout, "commit", "-q", "-m", "x")
    how = ("--python", sys.executable, "--class", f"{PAIRED}:Cut", "--path", checkout)
    assert program("engines", "add", "base", *how, "--rev", "HEAD~1").code == 0
    done = program("engines", "add", "head", *how, "--rev", "work")
    commit = git(checkout, "rev-parse", "work")
    assert done.out.startswith(f"head: class 1 at work ({commit[:10]}), 1 parser, ")
    assert re.search(rf"head +class 1 at work \({commit[:10]}\) +1 parser", program("engines", "list").out)
    found = program("find", "-", *words("base", "head"), stdin=TEXT)
    assert (found.code, f"head: head:Cut, work ({commit[:10]})" in found.out) == (1, True)


def test_a_revision_is_read_again_when_it_is_entered_again(program: Program, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    git(checkout, "init", "-q", "-b", "work")
    for text, said in (("1", "class 1 at"), ("3", "class 3 at")):
        source = (FAKE.parent / f"{PAIRED}.py").read_text().replace('version = "1"', f'version = "{text}"')
        (checkout / f"{PAIRED}.py").write_text(source)
        git(checkout, "add", "-A")
        git(checkout, "commit", "-q", "-m", "x")
        how = ("--python", sys.executable, "--class", f"{PAIRED}:Old", "--path", checkout, "--rev", "work")
        assert said in program("engines", "add", "mine", *how).out
    assert len([*(tmp_path / "revisions" / "mine").iterdir()]) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--rev", "x"), "--rev: give the interpreter with --python and the checkout with --path"),
        (("--rev", "x", "--path", ".", "--command", "y"), "--rev: give the interpreter"),
    ],
)
def test_a_revision_needs_a_checkout(program: Program, more: tuple[str, ...], said: str) -> None:
    done = program("engines", "add", "mine", *more)
    assert (done.code, said in done.err) == (2, True)
    named = program("engines", "add", "../x", "--python", "p", "--rev", "x", "--path", ".")
    assert "engine ../x: a name has letters" in named.err


def git(folder: Path, *command: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    made = subprocess.run(["git", "-C", str(folder), *who, *command], check=True, capture_output=True, text=True)
    return made.stdout.strip()
