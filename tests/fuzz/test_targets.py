"""The targets of the fuzzer hold for what they begin with, and notice what is wrong."""

from __future__ import annotations

import json
import random

import pytest

from parsers.cases.case import CaseError
from parsers.formats.model import builtin_formats, row_ids
from tests.amount import every
from tests.fuzz import targets
from tests.fuzz.__main__ import TEMPLATE, told
from tests.fuzz.fuzzing import Counted, dictionary
from tests.fuzz.json_mutation import JsonMutation
from tests.fuzz.targets import TARGETS, read_case, read_output

QWEN = [*builtin_formats()].index("qwen")
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def reached(*_: str) -> None:
    return


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_target_begins_with_holds(name: str) -> None:
    seeds = [one for one in TARGETS[name].seeds() if len(one) <= TARGETS[name].most]
    assert len(seeds) > 50
    for seed in every(80, seeds):
        TARGETS[name].run(seed, reached)


@pytest.mark.parametrize("name", TARGETS)
def test_bytes_of_any_kind_are_taken(name: str) -> None:
    drawn = random.Random(7)
    for size in range(60):
        TARGETS[name].run(drawn.randbytes(size), reached)


def test_the_shares_are_all_executions() -> None:
    assert sum([one.share for one in TARGETS.values()]) == 100


@pytest.mark.parametrize("head", [(1, 0, 3), (1, 0, 16), (129, 0, 16), (0, 5, 40)])
def test_an_output_marks_the_rows_that_fired(head: tuple[int, int, int]) -> None:
    found: set[tuple[str, str]] = set()
    read_output(bytes([QWEN, *head]) + CALL.encode(), lambda *one: found.add(one))
    assert {name for name, _ in found} == {"qwen"}
    assert {row for _, row in found} & {*row_ids(builtin_formats()["qwen"]).values()}


def test_a_message_that_depends_on_the_chunking_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.parsers.properties.invariants.parse", lambda *_, **__: None)
    with pytest.raises(AssertionError, match="another chunking gives another message"):
        read_output(bytes([QWEN, 1, 0, 3]) + CALL.encode(), reached)


@pytest.mark.parametrize(("claims", "at"), [([], "0 to 3"), ([(0, 1, "x")], "1 to 3"), ([(1, 3, "x")], "0 to 1")])
def test_a_character_without_an_owner_is_a_fault(claims: list[tuple[int, int, str]], at: str) -> None:
    with pytest.raises(AssertionError, match=f"nobody owns the output from {at}"):
        targets._check_owners(claims, 3)


def test_a_refusal_that_nobody_promised_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    case = b'\0{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}'
    read_case(case, reached)

    def refused(_case: object) -> str:
        raise CaseError("no")

    monkeypatch.setattr(targets, "dumps", refused)
    with pytest.raises(CaseError):
        read_case(case, reached)


def test_json_stays_json_when_it_is_changed() -> None:
    seeds = [b'\1{"a": [1, "two"], "b": {"c": null}}', b"\1[[]]", b"\1no JSON"]
    mutation = JsonMutation(seeds)
    changed = {found for seed in range(200) if (found := mutation.changed(seeds[0], 4_000, seed))}
    assert len(changed) > 50
    assert [one[:1] for one in changed if json.loads(one[1:]) is None] == []
    assert {one[:1] for one in changed} == {b"\1"}
    assert mutation.changed(seeds[2], 4_000, 1) is None
    assert mutation.changed(seeds[0], 5, 1) is None


def test_words_are_written_as_libfuzzer_reads_them() -> None:
    assert dictionary(["<a>", "", "é", "<a>"]) == '"\\x3c\\x61\\x3e"\n"\\xc3\\xa9"\n'


def test_the_section_says_how_many_of_how_many_ran(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.bench.document import Document

    document = Document(TEMPLATE)
    whole = Counted("parsers", 1_000, 2.0, 3, 4, 5, (6, 7), ())
    broken = Counted("cases", 500, 2.0, 3, 4, 5, None, ("KeyError-io-7",))
    told(document, [whole, broken], 10_000)
    text = document._text()
    assert "1,500 executions of the 10,000 that were asked for" in text
    assert ": 1 faults." in text
    assert "| `parsers` | outputs for every format | 1,000 | 2 | 3 | 4 | 5 | 6 of 7 | 0 |" in text
    capsys.readouterr()
