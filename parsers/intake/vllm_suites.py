"""Cases of vLLM's own tests, of their Python source: `Sample` of its replay tests and `FormatFixture`.

    tests/parser/engine     Sample(id, description, source, vocab, tokens, expected_reasoning, ...), written out or made
                            by functions; trace_builder.py makes them by `build_samples(key of _BUILDERS)`
    tests/tool_parsers      FormatFixture(family, parser, raw_output, expected, ...)

(vllm-project/vllm, replay_harness.py of 0.33.0 and test_format_conformance.py of main in 2026.) The source is read as a
tree and never run. A sample becomes tokens with their ids, which are a model's own, and what its test compares: None is
not compared there. Where an output begins with the reasoning that is expected, the prompt left it open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers.cases.case import CaseError
from parsers.cases.export.server_parsers import names_of
from parsers.cases.io import dumps, load_case
from parsers.intake.evidence import Intake, Payload, Skipped, number, skipped_warnings, unused_name
from parsers.intake.python_functions import UnresolvedError, plain
from parsers.intake.python_modules import Modules, read_module
from parsers.selection.registry import known_format

_KINDS: Mapping[str, Sequence[str]] = {
    "Sample": (
        "id", "description", "source", "vocab", "tokens", "expected_reasoning", "expected_content",
        "expected_tool_calls", "tools", "chat_template_kwargs", "prompt_token_ids", "content_lstrip",
    ),
    "FormatFixture": ("family", "parser", "raw_output", "expected", "markers", "pattern", "doc_ref", "vocab"),
}  # fmt: skip
_BUILDERS = {"build_samples": "_BUILDERS"}
_SIGN = re.compile(r"\b(?:Sample|FormatFixture)\(")
_DETAIL = re.compile(r"\b(?:expected_tool_calls|expected_content|expected_reasoning|raw_output|replay_harness)\b")
_WHY = "It is Python that makes samples as vLLM's tests have them; it was read and not run."
_LINK = re.compile(r"https?://\S+")


def read_vllm_suite(text: str, modules: Modules | None = None) -> Intake | None:
    """Read the samples of a file; None where it has none. `modules` gives the text of what it imports."""
    if _SIGN.search(text) is None or _DETAIL.search(text) is None:
        return None
    read = read_module(text, _KINDS, _BUILDERS, modules)
    if read is None or not (read.records or read.skipped):
        return None
    cases: dict[str, str] = {}
    skipped = list(read.skipped)
    for record in read.records:
        try:
            case = load_case(_READERS[record.kind](plain(dict(record.fields)), record.under))
            cases[unused_name(case.title or record.kind, cases)] = dumps(case)
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


def parser_of(name: str) -> str:
    """Our parser that reads what a parser of vLLM does, by its name; auto where none is known to."""
    names = names_of("vllm")
    found = names.tool.get(name) or names.reasoning.get(name)
    if found is None and (fmt := known_format(name)) is not None:
        found = fmt.name
    return found or "auto"


def _sample(given: Payload, under: str) -> Payload:
    tokens = given.get("tokens")
    if not isinstance(tokens, list | tuple) or not all(map(_is_token, tokens)):
        raise _NoSampleError("its tokens are no pairs of an id and a text")
    vocab = given.get("vocab") or {}
    text = "".join([one[1] for one in tokens])
    context = {
        "template_kwargs": given.get("chat_template_kwargs") or None,
        "prompt_tail": _prompt(given.get("prompt_token_ids"), vocab),
        "reasoning_open": bool(given.get("expected_reasoning")) and text.startswith(given["expected_reasoning"]),
    }
    name = str(given.get("id") or "sample")
    return {
        "schema": 1,
        "title": name,
        "notes": [one] if isinstance(one := given.get("description"), str) and one else [],
        "source": {"kind": "token_ids", **_from(given.get("source"))},
        "parser": {"name": parser_of(under)},
        "input": {"tokens": [list(one) for one in tokens]},
        "tokenizer": {"vocab": vocab},
        "tools": list(given.get("tools") or ()),
        "context": {key: one for key, one in context.items() if one},
        "expect": dict(_expected(given)),
    }


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


def _expected(given: Payload) -> Iterator[tuple[str, Any]]:
    for name in ("reasoning", "content"):
        text = given.get(f"expected_{name}")
        if text is not None:
            yield name, text
    calls = given.get("expected_tool_calls")
    if calls is not None:
        yield "tool_calls", [_call(call) for call in calls]


def _call(call: Any) -> Payload:
    """A call: its arguments are compared where they are an object."""
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
        raise _NoSampleError("a call is expected whose arguments are no object")
    return {"name": call.get("name"), "arguments": call["arguments"]}


def _format_fixture(given: Payload, under: str) -> Payload:
    calls = given.get("expected") or ()
    if not all(isinstance(one, list | tuple) and len(one) == 2 for one in calls):
        raise _NoSampleError("its calls are no pairs of a name and arguments")
    name, doc = str(given.get("family") or "fixture"), given.get("doc_ref")
    return {
        "schema": 1,
        "title": name,
        "notes": [doc] if isinstance(doc, str) and doc else [],
        "source": {"kind": "format_fixture", "project": "vLLM"},
        "parser": {"name": parser_of(str(given.get("parser")))},
        "input": {"text": given.get("raw_output")},
        "expect": {"tool_calls": [_call({"name": call, "arguments": told}) for call, told in calls]},
    }


_READERS = {"Sample": _sample, "FormatFixture": _format_fixture}
