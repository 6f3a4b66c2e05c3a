"""One table of what is expected and what comes: our own check and every test that is exported in Python fail alike.

The tests are executed against stand-ins for the projects that send what the table says, whatever the output is. Where a
helper of the project decides instead, that is named in `DECIDED`.
"""

from __future__ import annotations

import json
import sys
import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.case import Case, Compare, Expect, ParserRef
from parsers.cases.engines import Choice, builtin
from parsers.cases.expect import expected_parts, trace_differences
from parsers.cases.export.pytest_file import pytest_file
from parsers.cases.export.same_code import SAME_JSON, same_order
from parsers.cases.export.suite_subject import Subject, numbered, subject_of
from parsers.cases.export.suite_target import suite_file
from parsers.cases.export.suites import SUITES
from parsers.cases.jsontext import read, same
from parsers.cases.run import run_case
from parsers.cases.tested import as_test
from parsers.replays.chunking import Chunking, apply
from parsers.replays.recorded import BlackBox
from parsers.selection.registry import Evidence
from parsers.vocabulary.types import MessageDelta, ToolCallDelta, UsageError
from tests.parsers.cases import suite_standins
from tests.parsers.cases.suite_standins import use_modules, use_vllm, use_vllm_format
from tests.parsers.cases.test_export_suites import case, failures
from tests.parsers.cases.test_stated_order import trace_of

BY_TOKEN = Chunking(by="token")
SIZE = 3  # characters of a token


@dataclass(frozen=True, slots=True)
class Row:
    """What is expected, the deltas that come, one a token, and whether that is wrong."""

    name: str
    expect: dict[str, Any]
    came: tuple[MessageDelta, ...]
    fails: bool
    soft: bool = False
    whole: MessageDelta | None = None  # what a code path for whole outputs gives, where there is one

    def case(self) -> Case:
        """The case of it, with as many tokens as there are deltas."""
        text = "".join([f"{number:0{SIZE}}" for number in range(len(self.came))])
        compare = {"compare": {"whitespace": "soft"}} if self.soft else {}
        parser = {"name": "qwen", "engine": "tape", "options": {"template": {"fields": {}}}}
        return case(text, expect=self.expect, parser=parser, **compare)


def sent(content: str = "", *calls: tuple[int, str | None, str | None], reasoning: str = "") -> MessageDelta:
    """A delta; a call by index, name and arguments."""
    return MessageDelta(reasoning or None, content or None, [ToolCallDelta(at, None, *said) for at, *said in calls])


def of(text: str, name: str | None = "f", index: int = 0) -> MessageDelta:
    """A delta of a call."""
    return sent("", (index, name, text))


def value(*arguments: Any) -> dict[str, Any]:
    """Calls with these values, or texts, of arguments are expected."""
    calls = [{"name": "f", "raw" if isinstance(one, str) else "arguments": one} for one in arguments]
    return {"tool_calls": calls}


def order(*parts: str) -> dict[str, Any]:
    """These parts are expected: "f" is a call, what begins with "~" is reasoning."""
    call = {"kind": "tool_call", "name": "f", "arguments": {}}
    kinds = {True: "reasoning", False: "text"}
    texts = [{"kind": kinds[part[0] == "~"], "text": part.removeprefix("~")} for part in parts]
    return {"events": [call if part == "f" else text for part, text in zip(parts, texts, strict=True)]}


def thought(text: str) -> MessageDelta:
    """A delta of reasoning."""
    return sent(reasoning=text)


F, G = of("{}"), of("{}", index=1)
HELLO = "Hello world."
VALUES = [
    Row("same", value({"a": 1}), (of('{"a":'), of(" 1}", None)), False),
    Row("a key twice", value({"a": 1}), (of('{"a": 1, "a": 1}'),), True),
    Row("a key twice inside", value({"a": [{"b": 1}]}), (of('{"a": [{"b": 2, "b": 1}]}'),), True),
    Row("true for 1", value({"a": 1}), (of('{"a": true}'),), True),
    Row("0 for false", value({"a": False}), (of('{"a": 0}'),), True),
    Row("true for 1 inside", value({"a": [{"b": 1}]}), (of('{"a": [{"b": true}]}'),), True),
    Row("1 for true", value({"a": True}), (of('{"a": 1}'),), True),
    Row("1.0 for 1", value({"a": 1}), (of('{"a": 1.0}'),), False),
    Row("1 for 1.0", value({"a": [1.0]}), (of('{"a": [1]}'),), False),
    Row("1e3 for 1000", value({"a": 1000}), (of('{"a": 1e3}'),), False),
    Row("1.5 for 1", value({"a": 1}), (of('{"a": 1.5}'),), True),
    Row("text for 1", value({"a": 1}), (of('{"a": "1"}'),), True),
    Row("a big integer", value({"a": 2**53 - 1}), (of('{"a": 9007199254740991}'),), False),
    Row("another big integer", value({"a": 2**53 - 1}), (of('{"a": 9007199254740990}'),), True),
    Row("NaN", value({"a": None}), (of('{"a": NaN}'),), True),
    Row("an endless number", value({"a": 1e308}), (of('{"a": 1e400}'),), True),
    Row("keys in another order", value({"a": 1, "b": 2}), (of('{"b": 2, "a": 1}'),), False),
    Row("items in another order", value({"a": [1, 2]}), (of('{"a": [2, 1]}'),), True),
    Row("a key less", value({"a": 1, "b": 2}), (of('{"a": 1}'),), True),
    Row("a key more", value({"a": 1}), (of('{"a": 1, "b": 2}'),), True),
    Row("no JSON", value({"a": 1}), (of('{"a": 1'),), True),
    Row("no object", value({}), (of("[]"),), True),
    Row("nothing", value({}), (of(""),), True),
    Row("no arguments", value({}), (of("{}"),), False),
    Row("as text", value('{"a": 1}'), (of('{"a": 1}'),), False),
    Row("as another text", value('{"a": 1}'), (of('{"a":1}'),), True),
    Row("one as text, one as a value", value('{"a": 1}', {"a": 2}), (of('{"a": 1}'), of('{"a":2}', index=1)), False),
    Row("the text of one", value('{"a": 1}', {"a": 2}), (of('{"a":1}'), of('{"a":2}', index=1)), True),
]
CALLS = [
    Row("a call more", value({}), (F, G), True),
    Row("a call less", value({}, {}), (F,), True),
    Row("no call", {"tool_calls": [], "content": "a"}, (sent("a"),), False),
    Row("a call where none is expected", {"tool_calls": [], "content": "a"}, (sent("a"), F), True),
    Row("another name", value({}), (of("{}", "g"),), True),
    Row("no name", value({}), (of("{}", None),), True),
    Row("a nameless call more", value({}), (F, of("{}", None, 1)), True),
    Row("an empty name first", value({}), (of("", ""), of("{}")), False),
    Row("a name later", value({}), (of("{", None), of("}")), False),
    Row("the second call first", value({"a": 1}, {"a": 2}), (of('{"a": 2}', index=1), of('{"a": 1}')), False),
    Row("calls in another order", value({"a": 1}, {"a": 2}), (of('{"a": 2}'), of('{"a": 1}', index=1)), True),
    Row("nobody says", {"content": "a"}, (sent("a"), F), False),
]
TEXTS = [
    Row("content", {"content": HELLO, "tool_calls": []}, (sent("Hello "), sent("world.")), False),
    Row("other content", {"content": HELLO, "tool_calls": []}, (sent("Hello"), sent("world.")), True),
    Row("no content", {"content": "", **value({})}, (sent(" "), F), True),
    Row("soft", {"content": HELLO, "tool_calls": []}, (sent(" Hello\n"), sent(" world.\n")), False, soft=True),
    Row("soft, none", {"content": "", **value({})}, (sent(" "), F), False, soft=True),
    Row("soft, two words in one", {"content": HELLO, "tool_calls": []}, (sent("Helloworld."),), True, soft=True),
    Row("reasoning", {"reasoning": "Hm.", "content": "a"}, (thought("Hm."), sent("a")), False),
    Row("other reasoning", {"reasoning": "Hm.", "content": "a"}, (thought("Hm"), sent("a")), True),
]
ORDERS = [
    Row("in order", order("a", "f", "b"), (sent("a"), F, sent("b")), False),
    Row("in another order", order("a", "f", "b"), (sent("a"), sent("b"), F), True),
    Row("text of another part", order("ab", "f", "c"), (sent("a"), F, sent("bc")), True),
    Row("a part more", order("a", "f"), (sent("a"), F, sent("b")), True),
    Row("a part less", order("a", "f", "b"), (sent("a"), F), True),
    Row("at once", order("a", "f", "b"), (sent("ab", (0, "f", "{}")),), False),
    Row("at once, in another order", order("f", "ab"), (sent("ab", (0, "f", "{}")),), False),
    Row("at once after what is wrong", order("f", "a", "b", "f"), (sent("ab"), F, sent("", (1, "f", "{}"))), True),
    Row("stated before what is not", order("a", "f", "bc", "f"), (sent("a"), F, sent("bc", (1, "f", "{}"))), False),
    Row("wrong before what is not", order("f", "abc", "f"), (sent("a"), F, sent("bc", (1, "f", "{}"))), True),
    Row("neighbours", order("a", "b", "f"), (sent("ab"), F), False),
    Row("reasoning in between", order("~r", "a", "~s", "b"), (thought("r"), sent("a"), thought("s"), sent("b")), False),
    Row("reasoning moved", order("~r", "a", "~s", "b"), (thought("rs"), sent("ab")), True),
    Row("an empty name first, in order", order("a", "f"), (sent("a"), of("", ""), of("{}", "f")), False),
    Row("wrong arguments", order("a", "f"), (sent("a"), of('{"a": 1}')), True),
    Row("the second first", order("f", "a", "f"), (G, sent("a"), F), False),
    Row("texts and order", {**order("a", "f"), "content": "a"}, (sent("a"), F), False),
    Row("texts or order", {**order("a", "f"), "content": "b"}, (sent("a"), F), True),
]
SOFT = [
    Row(name, order(*parts), tuple(came), fails, soft=True)
    for name, parts, came, fails in (
        ("blank reasoning within", [HELLO, "f"], [sent("Hello "), thought("\n"), sent("world."), F], False),
        ("blank text within", ["~Hm, yes", "f"], [thought("Hm, "), sent("\n"), thought("yes"), F], False),
        ("words joined", [HELLO, "f"], [sent("Hello"), thought("\n"), sent("world."), F], True),
        ("words apart", ["ab", "f"], [sent("a"), sent(" b"), F], True),
        ("blank text before", ["f"], [sent("\n"), F, sent(" ")], False),
        ("blank text expected", ["a", "~ ", "b", "f", "\n"], [sent("ab"), F], False),
        ("blank text expected, apart", ["a", "~ ", "b", "f", "\n"], [sent("a"), sent(" b"), F], True),
        ("text around", ["a", "f", "b"], [sent("a\n"), F, sent("\n"), sent("b")], False),
        ("text around, close", ["a", "f", "b"], [sent("a"), F, sent("b")], False),
        ("words moved", ["a b", "f", "c"], [sent("a"), F, sent("b c")], True),
        ("words apart around", ["ab", "f", "c"], [sent("a b"), F, sent("c")], True),
        ("at once, with blanks", ["a", "f", "b"], [sent(" a  b ", (0, "f", "{}"))], False),
        ("another order", ["a", "f"], [F, sent("a")], True),
    )
]
AB = {"content": "ab", "tool_calls": []}
WHOLES = [
    Row("whole as streamed", AB, (sent("a"), sent("b")), False, whole=sent("ab")),
    Row("whole alone is wrong", AB, (sent("a"), sent("b")), True, whole=sent("a")),
    Row("only the stream is wrong", AB, (sent("a"), sent("c")), True, whole=sent("ab")),
    Row("whole with a call more", AB, (sent("a"), sent("b")), True, whole=sent("ab", (0, "f", "{}"))),
    Row("equal calls", value({}, {}), (F, G), False, whole=sent("", (0, "f", "{}"), (1, "f", "{}"))),
    Row("equal calls, one is lost", value({}, {}), (F, G), True, whole=sent("", (0, "f", "{}"))),
    Row("whole in no order", order("a", "f", "b"), (sent("a"), F, sent("b")), False, whole=sent("ab", (0, "f", "{}"))),
]
ROWS = [*VALUES, *CALLS, *TEXTS, *ORDERS, *SOFT, *WHOLES]
# Where a helper or the reach of a project decides.
DECIDED = {
    "vllm_format": {"no name", "a nameless call more", "an empty name first", "a name later", "the second call first"}
}


class Tape:
    """It sends a delta when a token is whole, whatever the chunking: those of several tokens as one."""

    def __init__(self, row: Row) -> None:
        self.row, self.read, self.done = row, 0, 0

    def begin(self, _context: Any) -> None:
        """Nothing has to be known."""

    def feed(self, given: Any) -> MessageDelta | None:
        """A delta of ours, or its text."""
        self.read += len(given if isinstance(given, str) else given.text)
        start, self.done = self.done, self.read // SIZE
        said = self.row.came[start : self.done]
        reasoning, content = ("".join([getattr(one, kind) or "" for one in said]) for kind in ("reasoning", "content"))
        calls = [call for one in said for call in one.tool_calls]
        return MessageDelta(reasoning or None, content or None, calls) if said else None

    def finish(self, _reason: Any = None) -> MessageDelta | None:
        """All was sent."""
        return None


def read_whole(row: Row) -> Row:
    """The row as its code path for whole outputs plays it, which is fed once."""
    return row if row.whole is None else replace(row, came=(*[MessageDelta()] * (len(row.came) - 1), row.whole))


def subjects(row: Row) -> Iterator[Subject]:
    """The subject of a row as it is exported, and fed token by token."""

    def engine(given: Case, evidence: Evidence) -> Choice:
        own = given.model_copy(update={"parser": ParserRef(name="qwen")})
        one_shot = None if row.whole is None else lambda: BlackBox("tape", Tape(read_whole(row)))
        found = replace(builtin(own, evidence), make=lambda: BlackBox("tape", Tape(row)), black_box=True)
        return replace(found, one_shot=one_shot)

    run = run_case(row.case().model_copy(update={"replay": (BY_TOKEN,)}), engines={"tape": engine})
    assert bool(as_test(run).failing) is row.fails
    found = subject_of(run, one_shot=row.whole is not None)
    assert bool(found.fails) is row.fails
    yield found
    if row.whole is not None:
        return
    assert bool(trace_differences(row.case().expect, run.trace, run.case.compare)) is row.fails
    deltas = tuple(apply(BY_TOKEN, numbered(run.pieces), run.trace.mode))
    yield replace(found, chunking=BY_TOKEN, deltas=deltas)


def use_sglang(monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
    """SGLang's parsers: the one of reasoning takes that, the other one the rest."""

    class Detector:
        prev_tool_call_arr: tuple[Any, ...] = ()
        streamed_args_for_tool: tuple[str, ...] = ()

        def __init__(self) -> None:
            self.tape = Tape(row)

        def parse_streaming_increment(self, chunk: str, tools: Any) -> Any:
            said = self.tape.feed(chunk) or MessageDelta()
            calls = [SimpleNamespace(tool_index=c.index, name=c.name, parameters=c.arguments) for c in said.tool_calls]
            return SimpleNamespace(normal_text=said.content or "", calls=calls)

        def finish(self, tools: Any) -> Any:
            return SimpleNamespace(normal_text="", calls=[])

        def detect_and_parse(self, text: str, tools: Any) -> Any:
            return self.parse_streaming_increment(text, tools)

    class Reasoning:
        def __init__(self, model_type: str, force_reasoning: bool) -> None:
            self.tape = Tape(row)

        def parse_stream_chunk(self, chunk: str) -> tuple[str, str]:
            return (self.tape.feed(chunk) or MessageDelta()).reasoning or "", chunk

    names = SimpleNamespace(ToolCallParserEnum=dict.fromkeys(("qwen", "qwen25"), Detector))
    use_modules(monkeypatch, {
        "sglang.srt.entrypoints.openai.protocol": {"Tool": SimpleNamespace},
        "sglang.srt.function_call.function_call_parser": {"FunctionCallParser": names},
        "sglang.srt.parser.reasoning_parser": {"ReasoningParser": Reasoning},
        "sglang.test.ci.ci_register": {"register_cpu_ci": lambda seconds, suite: None},
        "sglang.test.test_utils": {"CustomTestCase": unittest.TestCase},
    })  # fmt: skip


def use_transformers(monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
    """Its reader of responses, which gives a message with the text of arguments."""
    said = Tape(row).feed("".join([token.text for token in row.case().input.tokens or ()])) or MessageDelta()
    calls: dict[int, dict[str, str]] = {}
    for part in said.tool_calls:
        call = calls.setdefault(part.index, {"name": "", "arguments": ""})
        call["name"] = part.name or call["name"]
        call["arguments"] += part.arguments or ""
    functions = [{"function": calls[index]} for index in sorted(calls)]
    message = {"reasoning": said.reasoning, "content": said.content, "tool_calls": functions}
    module: Any = ModuleType("transformers.utils.chat_parsing")
    reader = SimpleNamespace(feed=lambda chunk: None, finalize=lambda: (message, None))
    module.ResponseParser, module.parse_response = lambda *a, **k: reader, lambda *a, **k: message
    monkeypatch.setitem(sys.modules, module.__name__, module)


def use_harness(use: Callable[..., None]) -> Callable[[pytest.MonkeyPatch, Row], None]:
    """The stand-in of a suite, for a parser that plays the row."""

    def used(monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
        monkeypatch.setattr(suite_standins, "OurParser", lambda *_: Tape(row))
        use(monkeypatch, row.case())

    return used


STANDINS = {
    "vllm": use_harness(use_vllm),
    "vllm_format": use_harness(use_vllm_format),
    "sglang": use_sglang,
    "transformers": use_transformers,
}


@pytest.mark.replays
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_stand_alone_test_fails_where_the_check_does(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    found, *_ = subjects(row)
    monkeypatch.setitem(sys.modules, "the_tape", SimpleNamespace(Tape=Tape, row=row))
    source = pytest_file(found.case, found.pieces, parser="qwen") + _MAKES
    assert bool([one for one in failures_of_pytest(source) if one]) is row.fails


_MAKES = """

def make_parser():
    import the_tape

    class Plays:
        def __init__(self):
            self.tape = the_tape.Tape(the_tape.row)
            if the_tape.row.whole is not None:
                self.whole = lambda text, ids: the_tape.row.whole.to_openai()

        def feed(self, text, ids):
            said = self.tape.feed(text)
            return [] if said is None else [said.to_openai()]

        def finish(self, reason):
            return []

    return Plays()
"""


def failures_of_pytest(source: str) -> list[str]:
    """Why the message is not as expected, by each chunking."""
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    found = []
    for chunking in names["CHUNKINGS"]:
        try:
            names["test_the_message_is_as_expected"](chunking)
        except (AssertionError, pytest.fail.Exception) as error:
            found.append(str(error) or "it fails")
    return found


@pytest.mark.replays
@pytest.mark.parametrize("target", STANDINS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_test_of_a_suite_fails_where_the_check_does(target: str, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    if row.name in DECIDED.get(target, ()):
        return
    for found in subjects(row):
        if found.only_order and not SUITES[target].keeps_order:
            with pytest.raises(UsageError, match="only the order of the parts is wrong here"):
                suite_file(SUITES[target], found)
            continue
        try:
            source = suite_file(SUITES[target], found).text
        except UsageError as error:
            assert target == "vllm_format", error  # noqa: PT017 - it knows calls and content alone
            return
        STANDINS[target](monkeypatch, read_whole(row) if found.whole else row)
        assert bool(failures(source)) is row.fails, source


@pytest.mark.parametrize("target", [name for name, one in SUITES.items() if one.reads_arguments])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_the_reader_of_a_project_does_not_tell_is_refused(target: str, row: Row) -> None:
    spelling = row.name in ("a key twice", "a key twice inside", "as another text", "the text of one")
    found = next(subjects(row))
    assert found.only_spelling is spelling
    if spelling:
        with pytest.raises(UsageError, match="only how arguments are written is wrong here"):
            suite_file(SUITES[target], found)


WORDS = st.text("ab ", max_size=3)
PARTS = st.lists(
    st.tuples(st.sampled_from(["reasoning", "text"]), WORDS.filter(bool)) | st.just(("call", "f")), max_size=5
)
STEPS = st.lists(st.tuples(WORDS | st.just(""), WORDS | st.just(""), st.integers(0, 2)), max_size=4)


@given(wanted=PARTS, steps=STEPS, soft=st.booleans(), right=st.booleans())
@pytest.mark.replays
def test_an_order_is_right_in_a_test_where_it_is_in_the_check(
    wanted: list[tuple[str, str]], steps: list[tuple[str, str, int]], soft: bool, right: bool
) -> None:
    """`right`: the deltas bring what is expected, each part in two of them."""
    if right:
        steps = [step for kind, text in wanted for step in _brings(kind, text)]
    told = [{"reasoning": thoughts, "text": text, "call": ["f"] * calls} for thoughts, text, calls in steps]
    parts = [
        {"kind": "tool_call", "name": text, "raw": "{}"} if kind == "call" else {"kind": kind, "text": text}
        for kind, text in wanted
    ]
    expect = Expect.model_validate({"events": parts})
    names: dict[str, Any] = {}
    exec(same_order(soft=soft), names)
    try:
        stated = [
            ("call", one.name) if one.kind == "tool_call" else (one.kind, one.text)
            for one in expected_parts(expect, soft=soft)
        ]
        names["assert_order"](told, stated)
        right = True
    except AssertionError:
        right = False
    compare = Compare(whitespace="soft" if soft else "exact")
    assert (trace_differences(expect, trace_of(*_deltas(steps)), compare) == []) is right


def _brings(kind: str, text: str) -> list[tuple[str, str, int]]:
    halves = text[: len(text) // 2], text[len(text) // 2 :]
    return (
        [("", "", 1)] if kind == "call" else [(one, "", 0) if kind == "reasoning" else ("", one, 0) for one in halves]
    )


def _deltas(steps: list[tuple[str, str, int]]) -> Iterator[MessageDelta]:
    begun = 0
    for thoughts, text, calls in steps:
        yield sent(text, *[(begun + at, "f", "{}") for at in range(calls)], reasoning=thoughts)
        begun += calls


ATOMS = st.sampled_from([None, True, False, 0, 1, 1.0, -0.0, 1.5, 2**53, float(2**53), 10**22, 1e22, "", "1", "é"])
VALUE = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)


@given(VALUE, VALUE)
@pytest.mark.replays
def test_values_are_the_same_in_a_test_where_they_are_in_the_check(a: Any, b: Any) -> None:
    names: dict[str, Any] = {"json": json}
    exec(SAME_JSON, names)
    spelled = [names["spelled"](json.dumps(one)) for one in (a, b)]
    assert (spelled[0] == spelled[1]) is same(a, read(json.dumps(b)))
