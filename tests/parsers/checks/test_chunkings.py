"""chunking and whole_equals_streamed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import CHECKS, run_checks
from parsers.compare.divergence import EXACT, Rules
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import Finding, Proof, Trace
from tests.parsers.checks.subjects import subject

Build = Callable[..., Trace]
CALL = [("marker", "<c>"), ("name", "f"), ("arguments", '{"a": 1}'), ("marker", "</c>"), ("end",)]
BARE = [("marker", "<c>"), ("name", "f"), ("marker", '{"a": 1}'), ("marker", "</c>"), ("end",)]


def test_equal_messages_hold(build: Build) -> None:
    one, two = build([("content", "Hi")], CALL), build([("content", "H")], [("content", "i"), *CALL])
    assert run_checks(subject(one, whole=two, compared=[("2 tokens", two)])).findings == []


def test_each_distinct_outcome_is_named_once_by_its_smallest_chunking(build: Build) -> None:
    traced = build([("content", "Hi ")], CALL)
    lost = [build([("content", "H")], [("content", "i ")], BARE), build([("content", "Hi "), *BARE])]
    other = build([("content", "Hi"), ("dropped", " ", "tail"), *CALL])
    compared = [("char", lost[0]), ("whole", lost[1]), ("random, seed 3", other), ("same", traced)]
    findings = run_checks(subject(traced, compared=compared), ["chunking"]).findings
    assert [finding.message for finding in findings] == [
        'With the chunking "whole", the message differs in the arguments of call 0 (`f`), '
        "from character 7 of the output on; 2 of 4 chunkings give this message.",
        'With the chunking "random, seed 3", the message differs in the content, '
        "from character 2 of the output on, by whitespace only: `Hi ` becomes `Hi`.",
    ]
    assert [(f.step, f.span, f.actual) for f in findings] == [(2, (7, 7), ""), (1, (2, 2), "Hi")]
    assert [(f.severity, f.grade) for f in findings] == [("error", "calls"), ("warning", "whitespace")]


def test_where_the_whole_output_agrees_with_others_the_traced_chunking_is_the_odd_one(build: Build) -> None:
    traced, other = build([("content", "Hi ")], BARE), build([("content", "H")], [("content", "i ")], CALL)
    whole = build([("content", "Hi "), *CALL], chunking={"by": "whole", "cuts": []})
    seen = subject(traced, whole=whole, compared=[("2 tokens", other)])
    (finding,) = run_checks(seen, ["chunking", "whole_equals_streamed"]).findings
    assert finding.message == (
        'With the chunking "token by token", the message differs in the arguments of call 0 (`f`), '
        "from character 7 of the output on; 1 of 1 other chunkings agree with the whole output."
    )
    assert (finding.expected, finding.actual, finding.step) == ('{"a": 1}', "", 2)
    assert finding.proof == Proof({"by": "whole"})


def test_a_replay_that_stands_for_many_counts_as_many(build: Build) -> None:
    traced = build([("content", "Hi")])
    other = build([("content", "H")], [("dropped", "i", LOST)], chunking={"by": "cuts", "cuts": [1]})
    seen = subject(traced, compared=[("whole", traced), ("cut at 1", other)], shares={"whole": 8, "cut at 1": 2})
    (finding,) = run_checks(seen, ["chunking"]).findings
    assert finding.message.endswith("from character 1 of the output on; 2 of 10 chunkings give this message.")
    assert finding.proof is not None
    assert finding.proof.chunking == {"by": "cuts", "cuts": [1]}


def test_of_many_outcomes_the_rest_is_a_number(build: Build) -> None:
    others = [(word, build([("content", word)], [("content", "!")])) for word in ("a", "b", "c", "d", "e")]
    findings = run_checks(subject(build([("content", "x!")]), compared=others), ["chunking"]).findings
    assert len(findings) == 3
    assert findings[-1].message.endswith(" 2 more messages came of other chunkings.")


def test_a_parser_that_failed_is_not_blamed_again(build: Build) -> None:
    traced, failed = build([("content", "Hi")]), build([("content", "H"), ("raised", "i", "it broke")])
    names = ["chunking", "whole_equals_streamed"]
    for one, other in ((traced, failed), (failed, traced)):
        assert run_checks(subject(one, whole=other, compared=[("x", other)]), names).findings == []


def test_the_rules_of_comparison_hold_and_are_named(build: Build) -> None:
    spaced = [("content", "Hi "), *CALL[:2], ("arguments", '{"a": 1}', '{"a":1}'), *CALL[3:]]
    traced, other = build([("content", "Hi "), *CALL]), build([("content", "Hi"), ("dropped", " ", "x")], spaced[1:])

    def found(rules: Rules) -> list[Finding]:
        return run_checks(subject(traced, compared=[("x", other)], rules=rules), ["chunking"]).findings

    assert len(found(EXACT)) == 1
    assert found(Rules("json", "soft")) == []
    (finding,) = found(Rules("json"))
    assert finding.message.endswith("by whitespace only: `Hi ` becomes `Hi` (arguments compared as JSON values).")


def test_a_missing_call_is_told_by_number(build: Build) -> None:
    traced, other = build([("content", "Hi"), *CALL]), build([("content", "Hi"), ("marker", "<c>f{}</c>")])
    (finding,) = run_checks(subject(traced, compared=[("whole", other)]), ["chunking"]).findings
    assert finding.message == 'With the chunking "whole", the message differs in the number of calls.'
    assert (finding.expected, finding.actual) == ("1 call: f", "no call")


def test_the_finish_reason_is_not_part_of_the_message(build: Build) -> None:
    traced, other = build([("content", "Hi")]), build([("content", "Hi")], finish_reason="length")
    assert run_checks(subject(traced, whole=other, compared=[("whole", other)]), ["chunking"]).findings == []
    assert run_checks(subject(traced, whole=other), ["whole_equals_streamed"]).findings == []


def test_made_up_ids_of_a_black_box_do_not_count(build: Build) -> None:
    traced, other = build(CALL), build([("id", "", "other"), *CALL])
    for black_box, count in ((False, 1), (True, 0)):
        seen = subject(traced, whole=other, compared=[("whole", other)], black_box=black_box)
        assert len(run_checks(seen, ["chunking", "whole_equals_streamed"]).findings) == count


@pytest.mark.parametrize(
    ("streamed", "severity", "words"),
    [
        ([("content", "Hi \n"), *BARE], "error", "the arguments of call 0 (`f`), from character 8 of the output on."),
        (
            [("content", "Hi "), ("dropped", "\n", "x"), *CALL],
            "warning",
            "character 3 of the output on, by whitespace only: `Hi \\n` becomes `Hi `.",
        ),
        (
            [("content", "H"), ("dropped", "i \n", LOST), *CALL],
            "error",
            "the content, from character 1 of the output on.",
        ),
        ([("content", "Hi \n"), *CALL[:-1], ("cut",)], "error", "the end of call 0 (`f`)."),
    ],
)
def test_whole_and_streamed_differ_in_three_grades(
    build: Build, streamed: list[str], severity: str, words: str
) -> None:
    whole, trace = build([("content", "Hi \n"), *CALL]), build(streamed)
    (finding,) = run_checks(subject(trace, whole=whole), ["whole_equals_streamed"]).findings
    assert finding.severity == severity
    assert finding.message.startswith("Read in one piece, the message differs in ")
    assert finding.message.endswith(words)


def test_without_a_whole_replay_nothing_is_claimed(build: Build) -> None:
    assert CHECKS["whole_equals_streamed"](subject(build([("content", "Hi")]))) == []
