"""Exports that programs read: the case file, a line of a corpus, the stand-alone test file, which is run here."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.case import Case, CaseError, Expect
from parsers.cases.corpus import jsonl
from parsers.cases.expect import accept
from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.export.replay_command import replay_command
from parsers.cases.io import dumps, load_case, loads
from parsers.cases.run import run_case
from parsers.replays.chunking import DEFAULT_COMPARED, Chunking, apply, label, to_json
from parsers.vocabulary.types import Message, Piece, ToolCall, UsageError

OUTPUT = (
    'Let me think.</think>\n\n<tool_call>\n{"name": "f", "arguments": {"city": "Zürich\\n", "n": 1.5}}\n</tool_call>'
)
VOCAB = {"</think>": 151668, "<tool_call>": 151657, "</tool_call>": 151658}
BROKEN = '''

class LosesQuotes:
    """Swallows text the way a parser does that forgets what it held back."""

    def __init__(self, parser):
        self.parser = parser

    def feed(self, text, ids):
        return [self.damaged(delta) for delta in self.parser.feed(text, ids)]

    def finish(self, reason):
        return self.parser.finish(reason)

    def damaged(self, delta):
        for call in delta.get("tool_calls", []):
            if "arguments" in call["function"]:
                call["function"]["arguments"] = call["function"]["arguments"].replace("n", "")
        return delta


inspector = make_parser


def make_parser():
    return LosesQuotes(inspector())
'''
RIGHT = {"content": "ab"}
OWN_PARSER = '''

def make_parser():
    class Whole:
        """A parser that knows nothing of the inspector and waits for the end of the output."""

        def __init__(self):
            self.text = ""

        def feed(self, text, ids):
            self.text += text
            return [{}]

        def finish(self, reason):
            calls = [
                {"index": 1, "function": {"name": "second", "arguments": "{}"}},
                {"index": 0, "function": {"name": "first", "arguments": '{"a": true}'}},
            ]
            return [{"content": self.text, "tool_calls": calls}, {"reasoning_content": "r", "tool_calls": None}]

    return Whole()
'''


def case(**keys: Any) -> Case:
    """A case of these keys, with the required ones filled in."""
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "ab"}, **keys})


def call_case(**keys: Any) -> Case:
    """A case with reasoning and one call."""
    context = {"reasoning_open": True}
    return case(**{"input": {"text": OUTPUT}, "context": context, "tokenizer": {"vocab": VOCAB}, **keys})


def recorded_case(**keys: Any) -> Case:
    """The same with recorded ids: markers by id, the rest in pieces of three characters, and a silent token."""
    rest, tokens = OUTPUT, [[900, ""]]
    while rest:
        marker = next((m for m in VOCAB if rest.startswith(m)), None)
        stop = min([at for at in (rest.find(m) for m in VOCAB) if at > 0], default=len(rest))
        text = marker or rest[: min(3, stop)]
        tokens.append([VOCAB[marker] if marker else len(tokens), text])
        rest = rest[len(text) :]
    return call_case(source={"kind": "recorded"}, input={"tokens": tokens}, **keys)


# As a stranger has it: to load all plugins of this environment takes a second.
PLAIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(tmp_path: Path, source: str) -> str:
    """Run the test file in an empty folder with plain pytest; its last line."""
    (tmp_path / "test_exported.py").write_text(source, "utf-8")
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_exported.py"]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1", **PLAIN}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[-1]


def namespace(source: str) -> dict[str, Any]:
    """The names the file defines."""
    found: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported.py", "exec"), found)
    return found


def accepted(given_case: Case) -> str:
    """The test file of today's result."""
    done = run_case(given_case)
    return pytest_file(given_case, done.pieces, expect=accept(done.trace.message))


@pytest.mark.replays
@pytest.mark.parametrize("make", [call_case, recorded_case])
def test_an_exported_file_passes_with_the_parser_it_was_made_from(make: Any, tmp_path: Path) -> None:
    summary = run(tmp_path, accepted(make()))
    assert summary.startswith(f"{2 * len(DEFAULT_COMPARED)} passed")


@pytest.mark.replays
def test_text_that_comes_after_its_ids_is_replayed_as_such(tmp_path: Path) -> None:
    late = [Chunking(by="token", holdback_chars=6), Chunking(by="char", size=2, text_delay=2)]
    done = run_case(recorded_case())
    exported = pytest_file(done.case, expect=accept(done.trace.message), chunkings=late)
    assert (done.trace.mode, len(done.trace.message.tool_calls)) == ("ids", 1)
    assert namespace(exported)["CHUNKINGS"]["token by token, last 6 characters held back"][:2] == [
        ["", [900]],
        ["", [1]],
    ]
    assert run(tmp_path, exported).startswith("4 passed")


@pytest.mark.replays
def test_an_exported_file_fails_with_a_broken_parser(tmp_path: Path) -> None:
    summary = run(tmp_path, accepted(call_case()) + BROKEN)
    assert summary.startswith(f"{len(DEFAULT_COMPARED)} failed, {len(DEFAULT_COMPARED)} passed")


@pytest.mark.replays
def test_an_exported_file_fails_where_a_field_is_not_as_expected(tmp_path: Path) -> None:
    exported = pytest_file(
        call_case(), [Piece(OUTPUT)], expect=Expect(reasoning="else"), chunkings=[Chunking(by="whole")]
    )
    assert run(tmp_path, exported).startswith("1 failed, 1 passed")


@pytest.mark.replays
@pytest.mark.parametrize(("order", "outcome"), [(["first", "second"], "2 passed"), (["second", "first"], "1 failed")])
def test_another_parser_takes_the_place_of_the_default_one(order: list[str], outcome: str, tmp_path: Path) -> None:
    arguments = {"first": {"a": True}, "second": {}}
    calls = [{"name": name, "arguments": arguments[name]} for name in order]
    expect = {"content": "ab", "reasoning": "r", "tool_calls": calls}
    exported = pytest_file(case(expect=expect), [Piece("ab")], chunkings=[Chunking(by="char")])
    assert run(tmp_path, exported + OWN_PARSER).startswith(outcome)


@pytest.mark.parametrize(
    ("compare", "content", "first", "holds"),
    [
        ({"calls": "index"}, "ab", {"a": True}, True),
        ({"calls": "order"}, "ab", {"a": True}, True),
        ({"calls": "index", "whitespace": "soft"}, " ab\n", {"a": True}, True),
        ({"calls": "index"}, " ab\n", {"a": True}, False),
        ({"calls": "index"}, "ab", {"a": 1}, False),
        ({"calls": "index"}, "ab", '{"a": true}', True),
        ({"calls": "index"}, "ab", '{"a":true}', False),
        ({"calls": "index"}, "ab", {"a": [True]}, False),
    ],
)
def test_the_file_compares_as_the_case_says(compare: Any, content: str, first: Any, holds: bool) -> None:
    calls = [
        {"name": "first", "raw" if isinstance(first, str) else "arguments": first},
        {"name": "second", "arguments": {}},
    ]
    expected = {"content": content, "tool_calls": calls}
    names = namespace(pytest_file(case(compare=compare, expect=expected), [Piece("ab")]) + OWN_PARSER)
    try:
        names["test_the_message_is_as_expected"]("whole")
    except AssertionError:
        assert not holds
    else:
        assert holds


_CALL = {"kind": "tool_call", "name": "f", "raw": '{"a": 1}'}


def test_what_only_events_say_is_compared_where_the_order_is_not_known() -> None:
    names = namespace(pytest_file(case(expect={"events": [_CALL, {"kind": "text", "text": "ab"}]}), [Piece("ab")]))
    call = {"index": 0, "function": {"name": "f", "arguments": '{"a": 1}'}}
    for text in ("ab", "a"):
        names["replay"] = lambda *_, text=text, **__: names["accumulate"]([{"content": text, "tool_calls": [call]}])
        if text == "ab":
            names["test_the_message_is_as_expected"]("whole")
        else:
            with pytest.raises(AssertionError, match="what is expected has not all come"):
                names["test_the_message_is_as_expected"]("whole")


def test_our_own_parser_says_what_of_one_delta_came_first() -> None:
    names = namespace(pytest_file(call_case(), [Piece(OUTPUT)], expect=Expect(content="")))
    steps = names["replay"](names["CHUNKINGS"]["whole"])["steps"]
    assert max(sum(map(bool, step.values())) for step in steps) == 1


def test_arguments_that_are_no_json_fail_and_are_shown() -> None:
    names = namespace(pytest_file(case(expect=RIGHT), [Piece("ab")]))
    with pytest.raises(pytest.fail.Exception, match=r"the arguments are not JSON: '\{', expected \{\}"):
        names["assert_arguments"]({"name": "f", "arguments": {}}, "{")
    with pytest.raises(AssertionError, match=r"arguments are '\[1\]', expected \{\}"):
        names["assert_arguments"]({"name": "f", "arguments": {}}, "[1]")
    names["assert_arguments"]({"name": "f", "arguments": {"a": [1]}}, '{"a":[1]}')


@pytest.mark.replays
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=6), st.text(max_size=9))
def test_no_text_of_a_case_becomes_code(parts: list[str], title: str) -> None:
    pieces = [Piece(part, number) for number, part in enumerate(parts)]
    title = title.encode("utf-8", "replace").decode()
    whole = "".join(parts)
    exported = pytest_file(case(input={"text": whole}, title=title), pieces, expect=Expect(content=whole))
    names = namespace(exported)
    assert (names["TITLE"], names["OUTPUT"], names["EXPECT"]) == (title, whole, {"content": whole})
    for deltas in names["CHUNKINGS"].values():
        names["test_the_chunking_holds_the_whole_output"](deltas)
        assert [one for _, ids in deltas for one in ids] == list(range(len(parts)))


def test_the_file_tests_the_chunkings_of_the_case_first() -> None:
    replay = [{"by": "token", "size": 7}, {"by": "cuts", "cuts": [1]}, {"by": "token"}]
    names = namespace(pytest_file(case(replay=replay, expect=RIGHT), [Piece("ab")]))
    assert list(names["CHUNKINGS"]) == ["7 tokens", "cut at 1", "token by token", "whole"]


@pytest.mark.parametrize("replay", [[], [{"by": "token", "size": 7}], [{"by": "char"}]])
def test_beside_one_chunking_the_file_tests_the_usual_ones(replay: list[Any]) -> None:
    names = namespace(pytest_file(case(replay=replay, expect=RIGHT), [Piece("ab")]))
    usual = [Chunking.model_validate(one) for one in replay] + list(DEFAULT_COMPARED)
    assert list(names["CHUNKINGS"]) == [label(chunking) for chunking in dict.fromkeys(usual)]


def test_chunkings_with_the_same_label_are_numbered() -> None:
    first, second = ((1, 2, 3, 4, 5, 6, 9), (1, 2, 3, 4, 5, 7, 9))
    same = [Chunking(by="cuts", cuts=cuts) for cuts in (first, second)]
    names = namespace(
        pytest_file(case(input={"text": "abcdefghij"}, expect=RIGHT), [Piece("abcdefghij")], chunkings=same)
    )
    assert list(names["CHUNKINGS"]) == ["7 cuts from 1 to 9", "7 cuts from 1 to 9 (2)"]


@pytest.mark.parametrize(
    ("keys", "arguments", "message"),
    [
        ({}, {"pieces": [Piece("ab")]}, "expects nothing yet: accept today's result"),
        ({"expect": {}}, {"pieces": [Piece("ab")]}, "expects nothing that a parser decides"),
        ({"expect": {"finish_reason": "stop"}}, {"pieces": [Piece("ab")]}, "expects nothing that a parser decides"),
        ({"expect": RIGHT}, {}, "stores no tokens"),
        ({"expect": RIGHT}, {"pieces": [Piece("ab")], "chunkings": []}, "at least one chunking"),
        ({"expect": RIGHT, "parser": {"name": "auto"}}, {"pieces": [Piece("ab")]}, "name the built-in parser"),
        (
            {"expect": RIGHT, "parser": {"name": "x", "engine": "vllm"}},
            {"pieces": [Piece("ab")]},
            "name the built-in parser",
        ),
    ],
)
def test_what_is_missing_is_asked_for(keys: dict[str, Any], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pytest_file(case(**keys), **arguments)


@pytest.mark.parametrize("parser", [{"name": "auto"}, {"name": "x", "engine": "vllm", "policy": {"a": "b"}}])
def test_the_selected_parser_is_written_into_the_file(parser: dict[str, Any]) -> None:
    names = namespace(pytest_file(case(parser=parser, expect=RIGHT), [Piece("ab")], parser="qwen"))
    assert names["CASE"]["parser"]["name"] == "qwen"
    assert "engine" not in names["CASE"]["parser"]


def test_the_file_holds_only_what_a_parser_may_know() -> None:
    names = namespace(pytest_file(call_case(expect=RIGHT, title="t", notes="n", checks=["chunking"]), [Piece(OUTPUT)]))
    assert list(names["CASE"]) == ["schema", "parser", "input", "tokenizer", "context"]
    assert names["CASE"]["input"] == {"tokens": [[None, OUTPUT]]}
    assert names["REST"] == {"notes": ["n"], "checks": ["chunking"]}


def test_the_file_is_the_golden_one() -> None:
    """After a wanted change, write what pytest_file returns here to the golden file and read the diff."""
    given_case = case(
        title='Quotes """ and \\ stay data',
        tools=[{"name": "f"}],
        context={"finish_reason": "length"},
        expect={"content": None, "reasoning": "x", "tool_calls": [{"name": "f", "arguments": {"a": True}}]},
    )
    exported = pytest_file(
        given_case, [Piece("a", 1), Piece("b", 2)], chunkings=[Chunking(by="token", holdback_chars=1)]
    )
    assert exported == (Path(__file__).parent / "golden" / "exported.py.txt").read_text("utf-8")


def test_a_case_file_stores_tokens_and_an_accepted_result() -> None:
    pieces = [Piece("a", 1, b"a"), Piece("b", 2, b"b")]
    expect = accept(Message("r", None, [ToolCall("i", "f", "{}")]), "stop")
    stored = loads(dumps(case().with_pieces(pieces).model_copy(update={"expect": expect})))
    assert stored.pieces() == tuple(pieces)
    assert stored.expect == Expect(
        reasoning="r", content="", tool_calls=[{"name": "f", "arguments": {}}], finish_reason="stop"
    )
    assert loads(dumps(stored)) == stored


def test_a_case_file_keeps_what_is_not_replaced() -> None:
    given_case = case(expect={"content": "x"}, title="t")
    assert loads(dumps(given_case)) == given_case
    with pytest.raises(CaseError):
        given_case.with_pieces([Piece("another text")])


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_line_of_a_corpus_is_one_line(text: str) -> None:
    line = jsonl(case(input={"text": text}, title=text))
    assert (len(line.splitlines()), line[-1]) == (1, "\n")
    assert loads(line) == case(input={"text": text}, title=text)
    assert json.loads(line)["parser"] == {"name": "qwen"}


@pytest.mark.parametrize(
    ("chunking", "words"),
    [
        (Chunking(by="token"), "--chunk token"),
        (Chunking(by="token", size=3, holdback_chars=2), "--chunk 3 --holdback 2"),
        (Chunking(by="char"), "--chunk char"),
        (Chunking(by="char", size=2), "--cuts 2,4"),
        (Chunking(by="whole", text_delay=1), "--chunk whole --text-delay 1"),
        (Chunking(by="random", seed=7), "--chunk random:7"),
        (Chunking(by="random", max=1), "--cuts 2,4"),
        (Chunking(by="random", max=1, unit="char"), "--cuts 1,2,3,4,5"),
        (Chunking(by="cuts", cuts=(1, 4)), "--cuts 1,4"),
        (Chunking(by="cuts", cuts=(4,), holdback_chars=1), "--cuts 3"),
        (Chunking(by="cuts", cuts=()), "--cuts none"),
    ],
)
def test_the_command_repeats_the_chunking(chunking: Chunking, words: str) -> None:
    deltas = apply(chunking, [Piece("ab"), Piece("cd"), Piece("ef")], "text")
    command = replay_command(to_json(chunking, deltas), "a b.case.json")
    assert command == f"toolcall-inspector replay 'a b.case.json' {words}", label(chunking)
    assert shlex.split(command)[2] == "a b.case.json"
