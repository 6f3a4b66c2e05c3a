"""What `sweep` writes beside its report: JUnit XML and a table of row ids, in its folder and elsewhere if asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from pyarrow import parquet

Program = Callable[..., Any]
CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {}}}}}]
OUTPUTS = {
    "right": CALL,
    "unknown": CALL.replace('"f"', '"g"'),
    "comma": CALL.replace("1}", "1,}"),
    "opened": "So <tool_call> it is.",
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a corpus of these outputs."""

    def corpus(*names: str, name: str = "corpus.jsonl") -> Path:
        path = tmp_path / name
        rows = [{"output": OUTPUTS[one], "tools": TOOLS, "parser": "qwen"} for one in names]
        path.write_text("".join([json.dumps(row) + "\n" for row in rows]))
        return path

    return corpus


def by_check(path: Path) -> dict[str, Xml.Element]:
    """The tests of a file by what they are grouped by."""
    return {test.get("classname", ""): test for test in Xml.parse(path).getroot().iter("testcase")}


@pytest.mark.replays
def test_each_signature_is_a_test_that_says_how_often_and_where(
    program: Program, write: Callable[..., Path], tmp_path: Path
) -> None:
    corpus, out = write("right", "unknown", "unknown", "comma"), tmp_path / "out"
    done = program("sweep", corpus, "-o", out, "--junit", tmp_path / "new" / "junit.xml")
    assert done.code == 1
    root = Xml.parse(tmp_path / "new" / "junit.xml").getroot()
    assert dict(root.attrib) == {
        "name": "toolcall-inspector sweep", "tests": "2", "failures": "2", "errors": "0", "skipped": "0",
    }  # fmt: skip
    assert [suite.get("name") for suite in root] == ["sweep"]
    report = json.loads((out / "report.json").read_text())
    found = by_check(tmp_path / "new" / "junit.xml")
    for one in report["signatures"]:
        failure = found[one["check"]].find("failure")
        assert failure is not None
        assert found[one["check"]].get("name") == f"{one['words']} [{one['id']}]"
        assert failure.get("message", "").startswith(f"{one['count']} of 4 outputs (")
        case = out / "cases" / f"{one['id']}.case.json"
        assert case.exists()
        for told in (report["sentence"], ", ".join(one["examples"]), f"smallest case: {case.as_posix()}"):
            assert told in (failure.text or "")
    inside = (out / "report.junit.xml").read_text()
    assert inside.replace("smallest case: cases/", f"smallest case: {out.as_posix()}/cases/") == (
        tmp_path / "new" / "junit.xml"
    ).read_text("utf-8")


@pytest.mark.replays
def test_what_another_sweep_knows_is_skipped_and_what_is_gone_passes(
    program: Program, write: Callable[..., Path], tmp_path: Path
) -> None:
    program("sweep", write("unknown", "opened"), "-o", tmp_path / "before")
    now = write("unknown", "comma", name="now.jsonl")
    baseline = ("--baseline", tmp_path / "before" / "report.json")
    assert program("sweep", now, *baseline, "--junit", tmp_path / "junit.xml").code == 1
    found = by_check(tmp_path / "junit.xml")
    ends = {name: [(child.tag, child.get("message", "")[:6]) for child in test] for name, test in found.items()}
    assert ends["known_tool"] == [("skipped", "known:")]
    assert ends["arguments_json"] == [("failure", "1 of 2")]
    assert ends["tool_call_dropped"] == [("system-out", "")]
    assert found["tool_call_dropped"][0].text == "gone; it was in 1 output"
    assert "smallest case" not in (tmp_path / "junit.xml").read_text()  # nobody asked to keep a folder


def test_a_corpus_with_which_nothing_is_wrong_is_one_test_that_passes(
    program: Program, write: Callable[..., Path], tmp_path: Path
) -> None:
    done = program("sweep", write("right"), "--junit", tmp_path / "junit.xml")
    (test,) = Xml.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    assert (done.code, [child.tag for child in test]) == (0, ["system-out"])
    assert test[0].text == "Nothing is wrong with any of 1 output."


@pytest.mark.replays
def test_ids_of_rows_are_written_as_parquet(program: Program, write: Callable[..., Path], tmp_path: Path) -> None:
    corpus = write("unknown", "right", "comma")
    program("sweep", corpus, "-o", tmp_path / "out", "--parquet", tmp_path / "new" / "rows.parquet")
    table = parquet.read_table(tmp_path / "new" / "rows.parquet").to_pylist()
    assert [(row["check"], row["file"], row["line"]) for row in table] == [
        ("known_tool", str(corpus), 1),
        ("arguments_json", str(corpus), 3),
    ]
    inside = tmp_path / "out" / "rows.parquet"
    assert inside.read_bytes() == (tmp_path / "new" / "rows.parquet").read_bytes()
    assert program("sweep", corpus, "-o", tmp_path / "out", "--parquet", inside).code == 1  # onto itself


def test_without_pyarrow_there_is_no_table_and_to_ask_for_one_is_a_mistake(
    program: Program, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    corpus, out = write("unknown"), tmp_path / "out"
    assert program("sweep", corpus, "-o", out).code == 1
    assert not (out / "rows.parquet").exists()
    done = program("sweep", corpus, "-o", out, "--parquet", tmp_path / "x.parquet")
    assert (done.code, done.err.count("\n"), "pip install" in done.err) == (2, 1, True)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--junit", "{}/a.jsonl/x"), "it cannot be written"),
        (("--parquet", "{}/a.jsonl/x"), "it cannot be written"),
        (("--parquet", "x", "--engine", "builtin:qwen", "--engine", "builtin:hermes"), "give --output"),
    ],
)
def test_a_file_that_cannot_be_is_one_line(
    program: Program, write: Callable[..., Path], tmp_path: Path, args: tuple[str, ...], said: str
) -> None:
    corpus = write("right", name="a.jsonl")
    done = program("sweep", corpus, "--column", "text=output", *[arg.replace("{}", str(tmp_path)) for arg in args])
    assert (done.code, said in done.err) == (2, True)
