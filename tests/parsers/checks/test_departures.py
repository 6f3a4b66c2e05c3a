"""What a foreign parser sends otherwise than the built-in one of its format reads, the same under every chunking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from parsers.checks import Subject, run_checks
from parsers.checks.examples import Entry
from parsers.checks.known import Known
from parsers.formats.contracts import Contract, contract_named
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.trace import Finding, RejectedCall, Topic, Trace
from parsers.vocabulary.types import Message
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
Level = tuple[str, str, str | None]
CALL: list[Entry] = [("marker", "<c>"), ("name", "f"), ("arguments", "{}"), ("marker", "</c>"), ("end",)]
ORPHAN: Entry = ("note", "", "orphan_reasoning_end", "x", "info")
END: Entry = ("marker", "</think>")
TOLD_APART: list[Entry] = [("reasoning", "Hm."), ("content", "Hi.")]
THOUGHT: list[Entry] = [
    ("marker", "<think>"),
    ("reasoning", "Hm. So."),
    ("marker", "</think>"),
    ("content", "It rains."),
]


def found(name: str, seen: Subject) -> list[Finding]:
    return run_checks(seen, [name]).findings


def beside(build: Build, right: list[Entry], wrong: list[Entry], **given: Any) -> Subject:
    """A black box that sends `wrong` for the output of which the built-in parser reads `right`."""
    reference = build(right)
    trace = build(wrong, blind=True)
    trace.text = reference.text
    return subject(trace, black_box=True, reference=reference, **given)


def levels(findings: list[Finding]) -> list[Level]:
    return [(one.severity, one.about, one.policy) for one in findings]


# Channels.


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (THOUGHT, [("content", "Hm. So.It rains.")], "`Hm. So.` is sent as content; in the output it is reasoning."),
        (THOUGHT, [("content", "Hm.  So. It rains.")], "`Hm. So.` is sent as content; in the output it is reasoning."),
        (THOUGHT, [("reasoning", "Hm. So.It rains.")], "`It rains.` is sent as reasoning; in the output it is"),
        (THOUGHT, [("reasoning", "Hm."), ("content", "So.It rains.")], "`So.` is sent as content"),
        (THOUGHT, [("content", "Hm."), ("reasoning", "So."), ("content", "It rains.")], "`Hm.` is sent as content"),
        (THOUGHT, [("reasoning", "Hm. So.It"), ("content", " rains.")], "`It` is sent as reasoning"),
        (THOUGHT, [("reasoning", "Hm. So."), ("content", "It rains.")], None),
        (THOUGHT, [("reasoning", "Hm."), ("content", "It rains.")], None),  # some is lost
        (THOUGHT, [("content", "Hm. So.It rains. Yes.")], None),  # some is added
        ([*THOUGHT, ("reasoning", "Or?"), ("content", "No.")], [("content", "Hm. So.It rains.Or?No.")], "(2 places in"),
        ([("reasoning", "aa"), ("content", "a")], [("reasoning", "a"), ("content", "aa")], "`a` is sent as content"),
        ([("content", "Hi.")], [("content", "Hi.")], None),
    ],
)  # fmt: skip
def test_text_in_another_channel_is_found(
    build: Build, right: list[Entry], wrong: list[Entry], words: str | None
) -> None:
    findings = found("channels_kept", beside(build, right, wrong))
    assert levels(findings) == [("error", "parser", None)] * (words is not None)
    assert all((words or "") in one.message for one in findings)
    assert all(one.topic is Topic.CHANNEL for one in findings)


def test_it_is_told_where_it_was_sent_and_where_it_stands(build: Build) -> None:
    reference = build(THOUGHT)
    trace = build([("content", "It rains. ")], [("content", "Hm. So.")], blind=True)
    trace.text = reference.text
    assert found("channels_kept", subject(trace, black_box=True, reference=reference)) == []
    trace = build([("reasoning", "Hm.")], [("content", " So.It")], [("content", " rains.")], blind=True)
    trace.text = reference.text
    (finding,) = found("channels_kept", subject(trace, black_box=True, reference=reference))
    assert (finding.step, finding.span) == (2, (11, 14))


STARTS: dict[str, tuple[list[Entry], Message | None, Known, list[Level]]] = {
    "nobody knows": ([], Message("Hi there."), Known(start=False), [("warning", "request", None)]),
    "a stray marker tells": ([ORPHAN], Message("Hi there."), Known(start=False), [("info", "request", None)]),
    "the request tells": ([], None, Known(), [("error", "parser", None)]),
    "the format has no reasoning": ([], Message(None, "Hi there."), Known(start=False), [("error", "parser", None)]),
}


@pytest.mark.parametrize("name", STARTS)
def test_where_the_output_begins_decides_whose_fault_it_is(build: Build, name: str) -> None:
    notes, otherwise, known, wanted = STARTS[name]
    seen = beside(
        build, [("content", "Hi there."), *notes], [("reasoning", "Hi there.")], otherwise=otherwise, known=known
    )
    findings = found("channels_kept", seen)
    assert levels(findings) == wanted
    is_start = findings[0].about == "request"
    assert ("right only if the prompt opened reasoning" in findings[0].message) == is_start
    assert (findings[0].topic is Topic.START) == is_start


def test_text_that_was_to_be_reasoning_may_be_the_prompts_matter_too(build: Build) -> None:
    seen = beside(
        build, [("reasoning", "Hi.")], [("content", "Hi.")], otherwise=Message(None, "Hi."), known=Known(start=False)
    )
    assert "right only if the prompt did not open reasoning" in found("channels_kept", seen)[0].message


@pytest.mark.parametrize(
    ("contract", "right", "wrong", "wanted"),
    [
        ("openai", [("content", "Hm."), ORPHAN, END, ("content", "Hi.")], TOLD_APART, None),
        ("vllm", [("content", "Hm."), ORPHAN, END, ("content", "Hi.")], TOLD_APART,
         "stray_reasoning_end=drop|text|reasoning"),
        ("vllm", [("content", "Hm."), ("content", "Hi.")], TOLD_APART, None),
        ("vllm", [("reasoning", "Hm.")], [("content", "Hm.")], "reasoning_alone=keep|content"),
        ("strict", [("reasoning", "Hm.")], [("content", "Hm.")], None),
    ],
)  # fmt: skip
def test_a_contract_may_allow_it(
    build: Build, contract: str, right: list[Entry], wrong: list[Entry], wanted: str | None
) -> None:
    findings = found("channels_kept", beside(build, right, wrong, promised=contract_named(contract)))
    assert levels(findings) == [("info" if wanted else "error", "parser", wanted)]


# White space.

INSIDE: list[Entry] = [("content", "It  is\r\nso.")]
SPACES: dict[str, tuple[str, list[Entry], list[Entry], str | None, str]] = {
    "inside, silent": ("openai", INSIDE, [("content", "It is\nso.")], "warning", "(2 places in all)"),
    "inside, lenient": ("vllm", INSIDE, [("content", "It is\r\nso.")], "warning", "`It  is` becomes `It is`."),
    "inside, strict": ("strict", INSIDE, [("content", "It  is\nso.")], "error", "`is\\r\\nso.` becomes `is\\nso.`."),
    "inside, as streamed": ("as_streamed", INSIDE, [("content", "It  isso.")], "error", "White space is lost from"),
    "added": ("openai", [("content", "ab")], [("content", "a b")], "warning", "White space is added to the content"),
    "of a plain answer": ("vllm", [("content", "Hi.\n")], [("content", "Hi.")], "warning", "White space is lost"),
    "start, allowed": ("vllm", [("content", "\n\nHi.")], [("content", "Hi.")], None, ""),
    "start, silent": ("openai", [("content", "\n\nHi.")], [("content", "Hi.")], "info", "the contract does not speak"),
    "start, kept": ("as_streamed", [("content", "\nHi.")], [("content", "Hi.")], "error", "`as_streamed` keeps"),
    "reasoning, allowed": ("sglang", [("reasoning", "Hm.\n"), END], [("reasoning", "Hm.")], None, ""),
    "reasoning, inside": ("sglang", [("reasoning", "Hm  so")], [("reasoning", "Hm so")], "warning", "in the reasoning"),
    "before a call": ("vllm", [("content", "Hi. "), *CALL], [("content", "Hi."), *CALL], None, ""),
    "before a call, kept": ("as_streamed", [("content", "Hi. "), *CALL], [("content", "Hi."), *CALL], "error", "keeps"),
    "between": ("openai", [*CALL, ("content", "\n"), *CALL], [*CALL, *CALL], "info", "does not speak"),
    "between, kept": ("as_streamed", [*CALL, ("content", "\n"), *CALL], [*CALL, *CALL], "error", "keeps"),
    "after": ("vllm", [*CALL, ("content", "\n")], [*CALL], None, ""),
    "after, inside": ("vllm", [*CALL, ("content", "\na  b\n")], [*CALL, ("content", "a b")], "warning", "`a  b`"),
    "beside a stray marker": ("openai", [("content", "a "), ("marker", "</x>"), ("content", "b")], [("content", "ab")],
                              "info", "does not speak"),
    "another text": ("strict", [("content", "a b")], [("content", "a")], None, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", SPACES)
def test_white_space_counts_by_its_place_and_the_contract(build: Build, name: str) -> None:
    contract, right, wrong, severity, words = SPACES[name]
    findings = found("spaces_kept", beside(build, right, wrong, promised=contract_named(contract)))
    assert levels(findings) == ([] if severity is None else [(severity, "parser", None)])
    assert all(words in one.message for one in findings)


def test_edges_and_what_is_inside_are_told_apart(build: Build) -> None:
    seen = beside(build, [("content", "\nIt  is.")], [("content", "It is.")])
    assert levels(found("spaces_kept", seen)) == [("warning", "parser", None), ("info", "parser", None)]
    (first, _) = found("spaces_kept", seen)
    assert (first.step, first.span) == (1, (3, 5))


def test_what_another_chunking_sends_rightly_is_a_matter_of_chunkings(build: Build) -> None:
    others = [
        ("char", build([("content", "It is\r\nso.")])),
        ("x", build([("content", "No.")])),
        ("y", build([("raised", "", "x")])),
    ]
    seen = beside(build, [("content", "It is\r\nso.")], [("content", "Itis\nso.")], compared=others[1:])
    assert "(2 places in all)" in found("spaces_kept", seen)[0].message
    assert found("spaces_kept", beside(build, [("content", "It is")], [("content", "Itis")], compared=[
        ("char", build([("content", "It is")]))
    ])) == []  # fmt: skip


# Calls.


def called(names: list[str]) -> list[Entry]:
    return [entry for name in names for entry in (("name", name), ("arguments", "{}"), ("end",))]


@pytest.mark.parametrize(
    ("contract", "right", "wrong", "wanted"),
    [
        ("openai", ["f_g"], ["f-g"], [("error", "parser", None)]),
        ("strict", ["get"], ["GET"], [("error", "parser", None)]),
        ("openai", ["functions.f"], ["f"], [("info", "parser", None)]),
        ("vllm", ["functions.f"], ["f"], [("info", "parser", "wrapper_names=keep|repair")]),
        ("strict", ["functions.f"], ["f"], [("error", "parser", None)]),
        ("openai", ["f", "g"], ["g", "f"], []),  # another order is no other name
        ("openai", ["f", "g"], ["f"], []),
        ("openai", ["f"], [""], []),
        ("openai", ["f", "g"], ["f", "h"], [("error", "parser", None)]),
    ],
)
def test_a_name_is_that_of_the_output(
    build: Build, contract: str, right: list[str], wrong: list[str], wanted: list[Level]
) -> None:
    seen = beside(build, called(right), called(wrong), promised=contract_named(contract))
    assert levels(found("names_kept", seen)) == wanted
    if wanted:
        (only,) = seen.renamed
        assert f"The output names call {only} `{right[only]}`" in found("names_kept", seen)[0].message


CUT, UNKNOWN = DropReason(Cause.CUT_CALL), DropReason(Cause.UNDECLARED, "f")
PROMISES: list[tuple[str | dict[str, Any], DropReason, int, bool]] = [
    ("strict", CUT, 1, True),
    ("strict", UNKNOWN, 1, True),
    ("strict", CUT, 0, False),
    ("openai", CUT, 1, False),
    ("vllm", CUT, 1, False),
    ("sglang", UNKNOWN, 1, False),
    ({"name": "own", "unknown_tool": ["drop"]}, UNKNOWN, 1, True),
    ({"name": "own", "unknown_tool": ["drop"]}, DropReason(Cause.SKIPPED), 1, False),
    ({"name": "own", "unknown_tool": ["drop"]}, DropReason(Cause.STATED, "x"), 1, False),
]


@pytest.mark.parametrize(("contract", "reason", "calls", "wanted"), PROMISES)
def test_a_call_that_the_contract_gives_back_is_not_sent(
    build: Build, contract: str | dict[str, Any], reason: DropReason, calls: int, wanted: bool
) -> None:
    promised = contract_named(contract) if isinstance(contract, str) else Contract.model_validate(contract)
    reference = build([("content", "<c>f{")], rejected_calls=[RejectedCall(0, 5, "f", reason)])
    sent: list[Entry] = (
        [("marker", "<c>"), ("name", "f"), ("arguments", "{"), ("cut",)] if calls else [("content", "<c>f{")]
    )
    findings = found(
        "calls_as_promised", subject(build(sent, blind=True), black_box=True, reference=reference, promised=promised)
    )
    assert [one.topic for one in findings] == [Topic.PROMISE] * wanted
    if findings:
        assert findings[0].message.startswith(
            f"Call 0 (`f`) is sent, which is none by the contract `{promised.name}` ("
        )
        assert (findings[0].severity, findings[0].span) == ("error", (0, 5))
