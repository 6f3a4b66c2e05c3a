"""The worker: old syntax, its own folder off the path, nobody on its streams, a class of one's own by its methods."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines import own_parsers
from webapp.commands.engines import one_file
from webapp.engines.entries import ADAPTERS, WORKER
from webapp.engines.workers import engine_worker
from webapp.engines.workers.adapter_class import Class
from webapp.engines.workers.engine_worker import MOST_PRINTED, Printed, Worker, adapter_of, serve, told

FILES = sorted(WORKER.parent.glob("*.py"))
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
REQUEST: dict[str, Any] = {"tools": TOOLS, "tool_choice": "auto"}


class Unguarded:
    """No guard: an audit hook stays for ever."""

    on = False


def worker(name: str, printed: Printed | None = None) -> Worker:
    kept = printed or Printed(sys.stderr)
    return Worker(Class(getattr(own_parsers, name)), kept, Unguarded())  # type: ignore[arg-type]


def run(name: str, *texts: str, **more: Any) -> dict[str, Any]:
    deltas = [[text, [number]] for number, text in enumerate(texts)]
    with redirect_stdout(printed := Printed(sys.stderr)):
        (found,) = worker(name, printed).run(
            {"request": REQUEST, "vocabulary": {"<f>": 1}, "replays": [deltas], **more}
        )["replays"]
    return dict(found)


def lines(*messages: Any) -> io.BytesIO:
    return io.BytesIO(b"".join([json.dumps(one).encode() + b"\n" for one in messages]))


def answers(load: Any, *messages: Any) -> list[Any]:
    sink = io.BytesIO()
    serve(lines(*messages), sink, load)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def start(*words: str, given: bytes = b"", **how: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-u", *words], input=given, capture_output=True, timeout=60, **how)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_written_for_python_3_9(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_imports_the_standard_library_alone(path: Path) -> None:
    found = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {one.name for node in found if isinstance(node, ast.Import) for one in node.names}
    names |= {str(node.module) for node in found if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "__main__"}


def test_its_first_statement_takes_its_folder_off_the_path() -> None:
    body = ast.parse(WORKER.read_text("utf-8")).body
    assert [ast.unparse(node).splitlines()[-1].strip() for node in body[1:4]] == [
        "from __future__ import annotations",
        "import sys",
        "del sys.path[0]",
    ]


def test_our_files_hide_no_module_of_an_engine(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\nclass P:\n"
        "    def begin(self, request): pass\n"
        "    def feed(self, text, ids): return {'content': str([p for p in sys.path if p.endswith('workers')])}\n"
        "    def finish(self, reason): print('x'); return None\n"
    )
    given = lines({"hello": {}}, {"run": {"request": {}, "replays": [[["a"]]]}}).getvalue()
    done = start(str(WORKER), "class", "mine:P", given=given, env={"PYTHONPATH": str(tmp_path)})
    card, answer = map(json.loads, done.stdout.splitlines())
    assert (card["answer"]["protocol"], answer["answer"]["replays"][0]["sent"]) == (1, [{"content": "[]"}, None])
    assert done.stderr == b""


def test_worker_and_adapters_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text(one_file())
    (tmp_path / "mine.py").write_text(Path(own_parsers.__file__).read_text("utf-8"))
    asked = {"request": {}, "replays": [[["a"]]]}
    observed = [{"run": {**asked, "observe": "state"}}, {"run": {**asked, "observe": "lines", "step": 1}}]
    given = lines({"hello": {}}, *observed).getvalue()
    done = start(str(tmp_path / "alone.py"), "class", "mine:Plain", given=given, env={"PYTHONPATH": str(tmp_path)})
    card, *answers = [json.loads(line)["answer"] for line in done.stdout.splitlines()]
    assert card["version"] == "2"
    states, ran = [answer["replays"][0] for answer in answers]
    assert (states["raised"], len(states["states"])) == (None, 2)
    assert (ran["raised"], ran["lines"]["steps"]) == (None, [])
    assert all(f"adapter_{name}" in one_file() for name in ADAPTERS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "ImportError: there is no adapter nothing"),
        (("class", "own_parsers:Shapeless"), "TypeError: Shapeless has the methods of no known shape"),
        (("class", "own_parsers"), "TypeError: a class is given as module:Class, not own_parsers"),
        (("class", "no_such_module:A"), "ModuleNotFoundError: No module named 'no_such_module'"),
        (("vllm",), "ModuleNotFoundError: No module named 'vllm'"),
    ],
)
def test_what_cannot_be_loaded_is_said_and_the_worker_ends(words: tuple[str, ...], said: str) -> None:
    folder = str(Path(own_parsers.__file__).parent)
    given = lines({"hello": {"memory": 10**9}}, {"hello": {}}).getvalue()
    done = start(str(WORKER), *words, given=given, env={"PYTHONPATH": folder})
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["failed"].startswith(said)
    assert done.returncode == 0


def test_what_a_parser_prints_is_kept_with_its_step() -> None:
    found = run("Plain", "a", "b!")
    assert found["printed"] == [[2, "a mark 1\n and more"]]
    assert found["sent"] == [{"content": "a"}, {"content": "b!"}, {"content": " None f"}]
    assert len(found["micros"]) == 3


def test_what_is_printed_is_bounded_and_passed_on_between_replays() -> None:
    stream = io.StringIO()
    printed = Printed(stream)
    printed.begin()
    assert printed.write("x" * 10_000) == 10_000
    assert printed.write("y") == 1
    assert printed.kept == [[0, "x" * MOST_PRINTED]]
    printed.step = None
    printed.write("outside")
    printed.flush()
    assert (stream.getvalue(), printed.isatty()) == ("outside", False)
    with pytest.raises(io.UnsupportedOperation):
        printed.fileno()


def test_the_state_is_told_where_it_is_asked_for() -> None:
    found = run("Plain", "a", "b", observe="state")
    assert found["attributes"]["Plain.seen"] == "''"
    assert found["states"][0]["changed"] == [["Plain.seen", "''", "'a'", None]]
    assert found["states"][1]["changed"] == [["Plain.seen", "'a'", "'ab'", "'b'"]]
    assert found["states"][2] == {"changed": [], "state": ""}


def test_each_step_is_told_before_it_is_taken() -> None:
    said: list[Any] = []
    worker("Plain").run({"request": {}, "replays": [[["a"], ["b"]]], "report": "steps"}, said.append)
    assert [one["progress"]["step"] for one in said] == [1, 2, 3]
    assert said[1]["progress"]["sent"] == {"content": "a"}


@pytest.mark.parametrize(
    ("name", "step", "kind", "message"),
    [("Raising", 2, "ValueError", "no !"), ("Stubborn", 0, "_UnprintableError", "")],
)
def test_an_exception_is_told_with_its_place(name: str, step: int, kind: str, message: str) -> None:
    found = run(name, "a", "!")
    told = found["raised"]
    assert (told["step"], told["kind"], told["message"]) == (step, kind, message)
    assert told["place"].endswith("of own_parsers.py")


def test_a_path_for_whole_outputs_is_taken_where_there_is_one() -> None:
    assert run("Whole", "a", "b", path="whole")["sent"] == [{"content": "ab"}]
    assert [worker(name).hello({})["whole"] for name in ("Whole", "Plain")] == [True, False]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        (
            "Detector",
            [
                {"content": "a", "tool_calls": []},
                {"content": None, "tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]},
                {"content": ".", "tool_calls": []},
            ],
        ),
        ("Unended", [{"content": "a", "tool_calls": []}, {"content": "f", "tool_calls": []}, None]),
        (
            "Legacy",
            [
                {"content": "a", "reasoning": None, "tool_calls": []},
                {
                    "content": None,
                    "reasoning": None,
                    "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"content": "2 auto 1"},
            ],
        ),
    ],
)
def test_a_class_is_called_by_the_methods_that_it_has(name: str, sent: Any) -> None:
    assert run(name, "a", "f", observe="state")["sent"] == sent


def test_lines_are_answered_until_there_are_no_more() -> None:
    found = answers(
        lambda: worker("Plain"),
        {"hello": {}},
        {"run": {"request": {}, "replays": [[["a"]]], "report": "steps", "seconds": 60}},
        {"run": {}},
        [],
    )
    assert [*found[0], *found[1], *found[2], *found[3], *found[4]] == [
        "answer",
        "progress",
        "progress",
        "answer",
        "failed",
    ]
    assert found[4]["failed"].startswith("KeyError: 'replays'")


def test_an_adapter_that_cannot_be_loaded_ends_it() -> None:
    def load() -> Worker:
        raise ImportError("no torch")

    (found,) = answers(load, {"hello": {}}, {"hello": {}})
    assert found["failed"].startswith("ImportError: no torch")


def test_an_adapter_may_be_part_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine_worker.SOURCES, "adapter_mine", "def adapter(*given): return given")
    assert adapter_of("mine", "a") == ("a",)


def test_an_exception_is_told_by_its_type() -> None:
    assert told(ValueError("x"))["kind"] == "ValueError"
