"""The worker: old syntax, its own folder off the path, nobody on its streams, a class of one's own by its methods."""

from __future__ import annotations

import ast
import gc
import inspect
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.engines import own_parsers
from webapp.commands.engines import one_file
from webapp.engines.entries import ADAPTERS, WORKER
from webapp.engines.protocol import Replayed
from webapp.engines.workers import engine_worker
from webapp.engines.workers.adapter_class import Class, check_calls, place_of
from webapp.engines.workers.engine_worker import (
    MOST_PRINTED,
    Hangs,
    Printed,
    Worker,
    adapter_of,
    module_of,
    serve,
    told,
)

FILES = sorted(WORKER.parent.glob("*.py"))
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
REQUEST: dict[str, Any] = {"tools": TOOLS, "tool_choice": "auto"}


class Unguarded:
    """No guard: an audit hook stays for ever."""

    on = False


def worker(name: str, printed: Printed | None = None) -> Worker:
    kept = printed or Printed(sys.stderr)
    return Worker(Class(getattr(own_parsers, name)), kept, Unguarded())


def run(name: str, *texts: str, **more: Any) -> dict[str, Any]:
    deltas = [[text, [number]] for number, text in enumerate(texts)]
    with redirect_stdout(printed := Printed(sys.stderr)):
        (found,) = worker(name, printed).run(
            {"request": REQUEST, "vocabulary": {"<f>": 1}, "replays": [deltas], **more}
        )["replays"]
    return dict(found)


def test_an_older_interpreter_is_told_so() -> None:
    """Python 3.8 reads the whole file, and runs its first statements."""
    ast.parse(WORKER.read_text("utf-8"), feature_version=(3, 8))
    older = "import runpy, sys; sys.version_info = (3, 8, 18); runpy.run_path(sys.argv[1], run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", older, str(WORKER)], input='{"hello": {}}\n', capture_output=True, text=True, check=False
    )
    said = json.loads(done.stdout)
    assert said == {"failed": "it needs Python 3.9 or newer, and this is 3.8"}


def test_a_parser_that_prints_at_every_step_is_heard_for_a_hundred_of_them() -> None:
    found = run("Plain", *"!" * 150)
    assert [step for step, _ in found["printed"]] == [*range(1, 101)]
    many = [[step, "!"] for step in range(1, 152)]
    assert Replayed.model_validate({"sent": [None] * 151, "printed": many}).printed == [
        tuple(one) for one in many[:100]
    ]


@pytest.mark.replays
def test_lines_are_counted_where_they_are_asked_for() -> None:
    one, two, three = (run("Plain", *texts, observe="costs")["executed"] for texts in ("a", "ab", "abc"))
    assert three - two == two - one > 0
    assert run("Plain", "a", "b", observe="costs")["sent"] == run("Plain", "a", "b")["sent"]
    assert "executed" not in run("Plain", "a")


@contextmanager
def _one_step() -> Iterator[None]:
    """Ends a replay at its second step."""
    before = own_parsers.Plain.feed

    def feed(self: Any, text: str, ids: list[int]) -> Any:
        if self.seen:
            raise Hangs("it took too long")
        return before(self, text, ids)

    own_parsers.Plain.feed = feed  # type: ignore[method-assign]
    try:
        yield
    finally:
        own_parsers.Plain.feed = before  # type: ignore[method-assign]


def test_a_replay_that_is_ended_by_whoever_runs_the_worker_is_told_as_slow() -> None:
    made = Worker(Class(own_parsers.Plain), Printed(sys.stderr), Unguarded(), _one_step)
    (found,) = made.run({"request": REQUEST, "replays": [[["a"], ["b"]]]})["replays"]
    raised = found["raised"]
    assert (raised["kind"], raised["step"], raised["slow"], len(found["sent"])) == ("Hangs", 2, True, 1)


@pytest.mark.parametrize(("code", "words"), [((3,), " (3)"), ((), "")])
def test_a_parser_that_ends_its_process_is_told_as_one_that_fails(code: tuple[int, ...], words: str) -> None:
    raised = run("Ending", "a", "!")["raised"]
    assert (raised["kind"], raised["step"]) == ("SystemExit", 2)
    assert raised["message"] == "it tried to end the process that it runs in (3)"
    assert told(SystemExit(*code))["message"] == f"it tried to end the process that it runs in{words}"


@pytest.mark.parametrize(("given", "said"), [((), "it had all the memory that"), (("mine",), "mine")])
def test_memory_that_a_parser_is_refused_is_told_as_what_the_limit_did(given: tuple[str, ...], said: str) -> None:
    assert told(MemoryError(*given))["message"].startswith(said)


def test_where_nobody_can_count_lines_the_parser_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_of("executed_lines"), "executed_lines", lambda work: None)
    found = run("Plain", "a", observe="costs")
    assert ("executed" in found, found["sent"]) == (False, run("Plain", "a")["sent"])


def lines(*messages: Any) -> io.BytesIO:
    return io.BytesIO(b"".join([json.dumps(one).encode() + b"\n" for one in messages]))


def answers(load: Any, *messages: Any) -> list[Any]:
    sink = io.BytesIO()
    serve(lines(*messages), sink, load)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_nothing_is_looked_at_for_garbage_while_an_engine_is_imported() -> None:
    looked: list[bool] = []

    def load() -> Worker:
        looked.append(gc.isenabled())
        return worker("Plain")

    assert "answer" in answers(load, {"hello": {}})[0]
    assert [*looked, gc.isenabled(), gc.get_freeze_count() > 0] == [False, True, True]
    gc.unfreeze()


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


@pytest.mark.replays
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "ImportError: there is no adapter nothing"),
        (("class", "own_parsers:Shapeless"), "ShapeError: Shapeless has the methods of no known shape"),
        (("class", "own_parsers"), "TypeError: a class is given as module:Class, not own_parsers"),
        (("class", "no_such_module:A"), "ClassError: No module named 'no_such_module': this interpreter does not"),
        (
            ("class", "no_such_module.a:A"),
            "ClassError: No module named 'no_such_module': this interpreter does not find it, and the current folder is"
            " not looked in; give the folder that has no_such_module/ or no_such_module.py ('src' in many projects)",
        ),
        (("class", "json.no_such:A"), f"ClassError: the package json ({Path(json.__file__).parent}) has no module no_"),
        (("class", "json.decoder:A"), "ClassError: the module json.decoder has no class A; it has JSON"),
        (("class", "json:dumps"), "ClassError: the module json has no class dumps; it has none (in __init__.py)"),
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


RETURNED = [
    ("7", "an int; a delta is None or a dict with reasoning, content, tool_calls"),
    ('{"content": 7}', "an int as the content, not a text"),
    (
        '{"contents": "a"}',
        "the key 'contents', which a delta has not: its keys are reasoning, content, tool_calls, role",
    ),
    ('{"tool_calls": {"name": "f"}}', "a dict as tool_calls, not a list of calls"),
    ('{"tool_calls": ["f"]}', "a str as a call, not a dict with index, id and function"),
    ('{"tool_calls": [{"id": "a"}]}', "a call without its number as index"),
    ('{"tool_calls": [{"index": "0"}]}', "a str as the index of a call"),
    ('{"tool_calls": [{"index": 0, "function": null}]}', "a NoneType as the function of a call, not a dict with name"),
    ('{"tool_calls": [{"index": 0, "function": "f"}]}', "a str as the function of a call, not a dict with name and"),
    (
        '{"tool_calls": [{"index": 0, "name": "f"}]}',
        "the key 'name', which a call has not: its keys are index, id, type",
    ),
    ('{"tool_calls": [{"index": 0, "id": 1}]}', "an int as the id of a call, not a text"),
    (
        '{"tool_calls": [{"index": 0, "function": {"arguments": {"a": 1}}}]}',
        "a dict as the arguments of a call, not JSON",
    ),
]


@pytest.mark.replays
@pytest.mark.parametrize(("said", "words"), RETURNED)
def test_a_class_that_returns_no_delta_is_told_with_its_method(said: str, words: str) -> None:
    told = run("Returns", said)["raised"]
    assert (told["step"], told["kind"]) == (1, "ShapeError")
    assert told["message"].startswith(f"feed returned {words}")
    line = inspect.getsourcelines(own_parsers.Returns.feed)[1]
    assert told["place"] == f"feed, line {line} of own_parsers.py"


@pytest.mark.replays
@pytest.mark.parametrize(
    "said", ["null", "{}", '{"content": "a", "tool_calls": [{"index": 0, "function": {"name": "f"}}]}']
)
def test_a_class_that_returns_a_delta_is_told_nothing(said: str) -> None:
    assert run("Returns", said)["raised"] is None


@pytest.mark.parametrize(
    ("name", "words", "place"),
    [
        ("Endless", "Endless has begin and feed, but no finish", "Endless, line "),
        (
            "Demanding",
            "Demanding.__init__ is called with 0 arguments: missing a required argument: 'tokenizer'",
            "__init__",
        ),
        ("Deafened", "Deafened.feed is called with 2 arguments: too many positional arguments", "feed, line "),
    ],
)
def test_a_class_that_cannot_be_called_is_told_before_it_is_run(name: str, words: str, place: str) -> None:
    with pytest.raises(TypeError) as raised:
        worker(name)
    assert told(raised.value)["message"] == words
    assert told(raised.value)["place"].startswith(place)
    assert told(raised.value)["place"].endswith("of own_parsers.py")


def test_what_tells_nothing_of_its_arguments_is_called_all_the_same() -> None:
    assert run("Lucky", "a")["sent"][0] == {"content": "a", "role": "assistant"}
    assert check_calls(dict, {"__init__": 3, "update": 1}) is None  # type: ignore[func-returns-value]
    assert place_of(dict, "update") == ""


@pytest.mark.replays
def test_a_path_for_whole_outputs_is_taken_where_there_is_one() -> None:
    assert run("Whole", "a", "b", path="whole")["sent"] == [{"content": "ab"}]
    assert [worker(name).hello({})["whole"] for name in ("Whole", "Plain")] == [True, False]


@pytest.mark.replays
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
