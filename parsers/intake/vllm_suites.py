"""Cases of vLLM's own tests, of their Python source: `Sample` of its replay tests and `FormatFixture`.

    tests/parser/engine     Sample(id, description, source, vocab, tokens, expected_reasoning, ...), written out or made
                            by functions; trace_builder.py makes them by `build_samples(key of _BUILDERS)`
    tests/tool_parsers      FormatFixture(family, parser, raw_output, expected, ...)

(vllm-project/vllm, replay_harness.py of 0.33.0 and test_format_conformance.py of main in 2026.) The source is read as a
tree and never run. A sample becomes tokens with their ids, which are a model's own, and what its test compares: None is
not compared there. Where an output begins with the reasoning that is expected, the prompt left it open. How the test
feeds its sample is kept (`vllm_replays`), and so is all that our own exports say besides (`parsers.cases.export`).
Which parser it is for is looked for in its file (`vllm_parsers`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from parsers.cases.case import CaseError
from parsers.cases.export.suite_subject import OWN_IDS, identifier
from parsers.cases.io import dumps, load_case
from parsers.intake.evidence import Intake, NamedCases, Payload, Skipped, number, skipped_warnings
from parsers.intake.python_functions import UnresolvedError, plain
from parsers.intake.python_literals import Literals, words_of
from parsers.intake.python_modules import Modules, read_module
from parsers.intake.python_values import Record
from parsers.intake.vllm_parsers import UNKNOWN, SuiteParsers, parser_of
from parsers.intake.vllm_replays import Feeding, Token

_KINDS: Mapping[str, Sequence[str]] = {
    "Sample": (
        "id", "description", "source", "vocab", "tokens", "expected_reasoning", "expected_content",
        "expected_tool_calls", "tools", "chat_template_kwargs", "prompt_token_ids", "content_lstrip",
    ),
    "FormatFixture": ("family", "parser", "raw_output", "expected", "markers", "pattern", "doc_ref", "vocab"),
}  # fmt: skip
_BUILDERS = {"build_samples": "_BUILDERS"}
_SIGN = re.compile(r"\b(?:Sample|FormatFixture)(?:\(| as )")
_FIXTURE = re.compile(r"\bFormatFixture\b")  # no word of others; what is called so and cannot be read is theirs
_DETAIL = re.compile(
    r"\b(?:expected_tool_calls|expected_content|expected_reasoning|raw_output|replay_harness|test_format_conformance)\b"
)
_WHY = "It is Python that makes samples as vLLM's tests have them; it was read and not run."
_LINK = re.compile(r"https?://\S+")


def read_vllm_suite(text: str, modules: Modules | None = None) -> Intake | None:
    """Read the samples of a file; None where it has none. `modules` gives the text of what it imports."""
    told = _DETAIL.search(text) is not None
    if _SIGN.search(text) is None or not (told or _FIXTURE.search(text)):
        return None
    read = read_module(text, _KINDS, _BUILDERS, modules)
    if read is None or not (read.records or (told and read.skipped)):
        return None
    cases, skipped, suite = NamedCases(), list(read.skipped), _Suite(Literals(read.tree))
    for record in read.records:
        try:
            case = load_case(_READERS[record.kind](plain(dict(record.fields)), record, suite))
            cases.add(case.title or record.kind, dumps(case))
        except (CaseError, UnresolvedError, _NoSampleError) as error:
            skipped.append(Skipped(record.line, str(error)))
    return _intake(cases, tuple(sorted(skipped)))


def _intake(cases: Mapping[str, str], skipped: tuple[Skipped, ...]) -> Intake:
    return Intake(
        kind="corpus",
        title=f"{number(len(cases), 'sample')} of vLLM's tests",
        advice="Choose a case and replay it." if cases else "None of its samples can be read.",
        usable=bool(cases),
        cases=cases,
        why=(_WHY,),
        warnings=skipped_warnings(skipped, "Line"),
        skipped=skipped,
    )


class _NoSampleError(Exception):
    """What a test says that a case cannot say; the text says why."""


class _Suite:
    """What all samples of a file share, looked for once."""

    def __init__(self, literals: Literals) -> None:
        self.literals = literals
        self.parsers, self.feeding = SuiteParsers(literals), Feeding(literals)

    @cached_property
    def tokens(self) -> tuple[str, list[Token]]:
        """The tokens that a fixture of ours has beside it, and their text; none where there are no such."""
        found = self.literals.constants.get("TOKENS")
        if not isinstance(found, list) or not all(map(_is_token, found)):
            return "", []
        return "".join([text for _, text in found]), found

    @cached_property
    def asserted(self) -> _Asserted:
        """What tests of ours compare besides the calls of their fixture."""
        return _Asserted(self.literals.compared)


def _sample(given: Payload, record: Record, suite: _Suite) -> Payload:
    tokens = given.get("tokens")
    if not isinstance(tokens, list | tuple) or not all(map(_is_token, tokens)):
        raise _NoSampleError("its tokens are no pairs of an id and a text")
    vocab = given.get("vocab") or {}
    if not isinstance(vocab, dict):
        raise _NoSampleError("its vocabulary is no dict")
    text = "".join([one[1] for one in tokens])
    context = {
        "tool_choice": suite.literals.told("tool_choice"),
        "template_kwargs": given.get("chat_template_kwargs") or None,
        "prompt_tail": _prompt(given.get("prompt_token_ids"), vocab),
        "reasoning_open": bool(given.get("expected_reasoning")) and text.startswith(given["expected_reasoning"]),
    }
    name, said = str(given.get("id") or "sample"), str(given.get("description") or "")
    own = said != "" and identifier(said) == name  # of a test that we wrote, whose id is made of the title
    how = suite.feeding.of(tokens)
    parser, notes = suite.parsers.of(given, record, text)
    return {
        "schema": 1,
        "title": said if own else name,
        "notes": [*([said] if said and not own else []), *notes],
        "source": {"kind": "vllm_sample" if any(map(_is_made, tokens)) else "token_ids", **_from(given.get("source"))},
        "parser": {"name": parser},
        "input": {"tokens": [list(one) for one in tokens], **{key: how[key] for key in how if key == "deltas"}},
        "tokenizer": {"vocab": vocab},
        "tools": list(given.get("tools") or ()),
        "context": {key: one for key, one in context.items() if one},
        "replay": how["replay"],
        "expect": {key: one for key, one in _expected(given, suite.literals) if one is not None},
        **_compare(suite.literals),
    }


def _compare(literals: Literals) -> Payload:
    """How texts compare, where a test of ours has their words alone."""
    return {"compare": {"whitespace": "soft"}} if literals.in_words.keys() & {"content", "reasoning"} else {}


def _is_made(token: Any) -> bool:
    """Return whether an export made the id of a token that had none."""
    return isinstance(token[0], int) and token[0] >= OWN_IDS


def _is_token(one: Any) -> bool:
    return isinstance(one, list | tuple) and len(one) == 2 and isinstance(one[1], str)


def _from(source: Any) -> Payload:
    """Where a sample comes from."""
    found = {"project": "vLLM"}
    if isinstance(source, str) and source:
        found["link" if _LINK.fullmatch(source) else "note"] = source
    return found


def _prompt(ids: Any, vocab: Mapping[str, int]) -> str | None:
    """The end of the prompt: the markers at its end, as the text of nothing else is known."""
    texts = {number: text for text, number in vocab.items()}
    found: list[str] = []
    for one in reversed(ids or ()):
        if one not in texts:
            break
        found.append(texts[one])
    return "".join(reversed(found)) or None


def _expected(given: Payload, literals: Literals) -> Iterator[tuple[str, Any]]:
    known = literals.constants
    for name in ("reasoning", "content"):
        joined = literals.in_words.get(name) == ""  # nobody says what stands between its words
        yield name, None if joined else given.get(f"expected_{name}")
    calls = given.get("expected_tool_calls")
    found = None if calls is None else _calls(calls, known.get("ARGUMENTS"))
    yield "tool_calls", found
    yield "events", _in_order(known.get("ORDER"), found or [])


def _calls(calls: Sequence[Any], texts: Any) -> list[Payload]:
    """The calls, with the text of their arguments where a test compares that."""
    if not isinstance(texts, list) or len(texts) != len(calls):
        return [_call(call) for call in calls]
    pairs = zip(calls, texts, strict=True)
    return [_call(call) if text is None else {"name": _name(call), "raw": text} for call, text in pairs]


def _name(call: Any) -> Any:
    return call.get("name") if isinstance(call, dict) else None


def _in_order(order: Any, calls: Sequence[Payload]) -> list[Payload] | None:
    """The parts that a test compares in their order, the calls of which are told beside it."""
    if not isinstance(order, list) or not all(isinstance(one, tuple) and len(one) == 2 for one in order):
        return None
    left = iter(calls)
    parts = [
        {"kind": "tool_call", **next(left, {"name": text})} if kind == "call" else {"kind": kind, "text": text}
        for kind, text in order
    ]
    return parts


def _call(call: Any) -> Payload:
    """A call: its arguments are compared where they are an object."""
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
        raise _NoSampleError("a call is expected whose arguments are no object")
    return {"name": call.get("name"), "arguments": call["arguments"]}


def _format_fixture(given: Payload, _: Record, suite: _Suite) -> Payload:
    calls = given.get("expected")
    if not isinstance(calls, list | tuple) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in calls):
        raise _NoSampleError("its calls are no pairs of a name and arguments")
    name, doc, text = str(given.get("family") or "fixture"), given.get("doc_ref"), given.get("raw_output")
    choice, (whole, tokens) = suite.literals.told("tool_choice"), suite.tokens
    own = bool(tokens) and whole == text
    parser, notes = parser_of(str(given.get("parser"))), [doc] if isinstance(doc, str) and doc else []
    expected = {"tool_calls": [_call({"name": call, "arguments": arguments}) for call, arguments in calls]}
    return {
        "schema": 1,
        "title": name,
        "notes": [*notes, *([UNKNOWN] if parser == "auto" else [])],
        "source": {"kind": "format_fixture", "project": "vLLM"},
        "parser": {"name": parser},
        "input": {"text": text},
        "expect": expected,
        **(_with_tokens(suite, tokens, expected) if own else {}),
        **({"context": {"tool_choice": choice}} if own and choice is not None else {}),
    }


def _with_tokens(suite: _Suite, tokens: Sequence[Token], expected: Payload) -> Payload:
    """What a fixture that we wrote says besides: its tokens, how they are fed, the tools, and what else is compared."""
    known, how = suite.literals.constants, suite.feeding.of(tokens)
    kind = "format_fixture" if any(map(_is_made, tokens)) else "token_ids"
    return {
        "source": {"kind": kind, "project": "vLLM"},
        "input": {"tokens": [list(one) for one in tokens], **{key: how[key] for key in how if key == "deltas"}},
        "tokenizer": {"vocab": known.get("VOCABULARY") or {}},
        "tools": list(known.get("TOOLS") or ()),
        "replay": how["replay"],
        "expect": suite.asserted.added_to(expected),
        **_compare(suite.literals),
    }


class _Asserted:
    """What a test compares besides the calls of its fixture: the content, and the text of the arguments of all calls or
    of some."""

    def __init__(self, compared: Iterable[tuple[ast.expr, Any]]) -> None:
        self._content, self._raw = dict[str, Any](), dict[int, Any]()
        for left, value in compared:
            match left:
                case ast.Name(id="content"):
                    self._content["content"] = value
                case ast.Call() if ("content", " ") in words_of(left):
                    self._content["content"] = value
                case ast.ListComp() if isinstance(value, list):
                    self._raw = dict(enumerate(value))
                case ast.Attribute(value=ast.Attribute(value=ast.Subscript(slice=ast.Constant(value=int(at))))):
                    self._raw[at] = value

    def added_to(self, expected: Payload) -> Payload:
        """What a fixture expects, with that."""
        calls = [
            {"name": call["name"], "raw": self._raw[at]} if at in self._raw else call
            for at, call in enumerate(expected["tool_calls"])
        ]
        return {**expected, **self._content, "tool_calls": calls}


_READERS = {"Sample": _sample, "FormatFixture": _format_fixture}
