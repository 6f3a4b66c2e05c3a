"""chunking and whole_equals_streamed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks import CHECKS, run_checks
from parsers.checks.examples import Entry
from parsers.compare.divergence import EXACT, Rules
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Message
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
        "from character 7 of the output on; the other chunking agrees with the whole output."
    )
    assert (finding.expected, finding.actual, finding.step) == ('{"a": 1}', "", 2)
    assert finding.proof == Proof({"by": "whole"})
    assert finding.proof is not None
    assert finding.proof.wrong == {"by": "token"}


HI = [("content", "Hi"), ("content", "\n"), *CALL]
NONE = [("content", "Hi"), ("content", "\n"), ("marker", "<c>f{}</c>")]
BLANK = [("content", "Hi"), ("dropped", "\n", "x"), *CALL]
SHORT = [("content", "H"), ("dropped", "i", LOST), ("content", "\n"), *CALL]
EMPTY = [("dropped", "Hi", LOST), ("content", "\n"), *CALL]
TRACED, WHOLE = 'With the chunking "token by token"', 'With the chunking "whole"'


@pytest.mark.parametrize(
    ("traced", "other", "shares", "reading", "when", "given"),
    [
        (HI, NONE, (2, 2), BLANK, WHOLE, ("1 call: f", "no call")),
        (NONE, HI, (2, 2), BLANK, TRACED, ("1 call: f", "no call")),
        (HI, EMPTY, (1, 9), BLANK, WHOLE, ("Hi\n", "\n")),
        (EMPTY, SHORT, (2, 2), HI, TRACED, ("H\n", "\n")),
        (BLANK, HI, (1, 3), BLANK, TRACED, ("Hi\n", "Hi")),
        (BLANK, HI, (6, 2), BLANK, WHOLE, ("Hi", "Hi\n")),
        (HI, BLANK, (2, 2), HI, WHOLE, ("Hi\n", "Hi")),
    ],
)
def test_the_message_is_right_that_is_nearer_to_what_the_format_reads(
    build: Build,
    traced: list[str],
    other: list[str],
    shares: tuple[int, int],
    reading: list[str],
    when: str,
    given: tuple[str, str],
) -> None:
    base, lossy = build(traced), build(other, chunking={"by": "whole", "cuts": []})
    compared, counts = [("whole", lossy), ("same", base)], {"whole": shares[1], "same": shares[0]}
    for whole in (lossy, None):
        seen = subject(base, whole=whole, compared=compared, shares=counts, reading=build(reading).message)
        (finding,) = run_checks(seen, ["chunking"]).findings
        assert finding.message.startswith(when)
        assert (finding.expected, finding.actual) == given


def test_read_in_one_piece_the_message_may_be_the_one_that_lost_more(build: Build) -> None:
    base, whole = build(HI), build(NONE)
    (finding,) = run_checks(subject(base, whole=whole, reading=base.message), ["whole_equals_streamed"]).findings
    assert (finding.expected, finding.actual) == ("1 call: f", "no call")
    (finding,) = run_checks(subject(base, whole=whole), ["whole_equals_streamed"]).findings
    assert (finding.expected, finding.actual) == ("1 call: f", "no call")


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
def test_whole_and_streamed_differ_by_more_or_less(
    build: Build, streamed: list[str], severity: str, words: str
) -> None:
    whole, trace = build([("content", "Hi \n"), *CALL]), build(streamed)
    (finding,) = run_checks(subject(trace, whole=whole), ["whole_equals_streamed"]).findings
    assert finding.severity == severity
    assert finding.message.startswith("Read in one piece, the message differs in ")
    assert finding.message.endswith(words)


@pytest.mark.parametrize(
    ("one", "other", "severity", "words"),
    [
        ('{"a": 0.50}', '{"a":0.5}', "info", "are the same JSON value, written otherwise ({} for {})"),
        ('{"a":1}', '{"a": 1}', "info", "are the same JSON value, written otherwise (white space only)"),
        (
            '{"seats": 3, "stops": []}',
            '{"stops": [], "seats": 3}',
            "warning",
            "have the same values in another order of keys, which depends on the cut",
        ),
    ],
)
def test_arguments_of_one_value_that_are_written_otherwise_are_no_error(
    build: Build, one: str, other: str, severity: str, words: str
) -> None:
    traced, cut = [build([("name", "f"), ("arguments", text), ("end",)]) for text in (one, other)]
    (finding,) = run_checks(subject(traced, compared=[("cut at 4", cut)]), ["chunking"]).findings
    told = words.format("`0.5`", "`0.50`")
    assert finding.message == f'With the chunking "cut at 4", the arguments of call 0 (`f`) {told}.'
    assert finding.severity == severity
    (finding,) = run_checks(subject(traced, whole=cut), ["whole_equals_streamed"]).findings
    told = words.removesuffix(", which depends on the cut").format("`0.50`", "`0.5`")  # the whole one is the right one
    assert finding.message == f"Read in one piece, the arguments of call 0 (`f`) {told}."
    assert finding.severity == severity


def test_what_differs_besides_is_told_and_not_how_the_same_arguments_are_written(build: Build) -> None:
    before = [("name", "f"), ("arguments", '{"a":1}'), ("end",)], [("name", "f"), ("arguments", '{"a": 1}'), ("end",)]
    one, other = build([*before[0], ("content", "Hi")]), build([*before[1], ("content", "Ho")])
    (finding,) = run_checks(subject(one, compared=[("cut at 4", other)]), ["chunking"]).findings
    assert "the message differs in the content, from character " in finding.message
    assert (finding.severity, finding.grade, finding.actual) == ("error", "text", "Ho")


LESS: list[Entry] = [("content", "Hi"), ("dropped", " all", "x")]
MORE: list[Entry] = [("content", "Hi all")]


@pytest.mark.parametrize(
    ("traced", "whole", "reading", "expected"),
    [
        (LESS, MORE, None, "Hi all"),
        (MORE, LESS, None, "Hi all"),
        (LESS, MORE, Message(content="Hi"), "Hi"),
        (MORE, LESS, Message(content="Hi"), "Hi"),
        ([("content", "<a>Hi"), *CALL], [("content", "Hi"), *CALL], None, "Hi"),
    ],
)
def test_what_is_expected_is_the_righter_of_two_code_paths(
    build: Build, traced: list[Entry], whole: list[Entry], reading: Message | None, expected: str
) -> None:
    seen = subject(build(traced), whole=build(whole), reading=reading, one_shot=True)
    (finding,) = run_checks(seen, ["whole_equals_streamed"]).findings
    assert finding.expected == expected
    assert finding.actual != expected


@pytest.mark.parametrize(("number", "words"), [(1, "the other chunking gives"), (2, "2 of 3 other chunkings give")])
def test_a_chunking_that_gives_what_the_format_reads_is_what_is_expected(build: Build, number: int, words: str) -> None:
    right = [(f"right {n}", build(MORE)) for n in range(number)]
    others = [("other", build([("content", "H"), ("dropped", "i all", "x")]))] if number > 1 else []
    seen = subject(build(LESS), compared=[*right, *others], reading=Message(content="Hi all"))
    first = run_checks(seen, ["chunking"]).findings[0]
    assert (first.expected, first.actual) == ("Hi all", "Hi")
    assert f"; {words} the message that is nearer to what the format reads." in first.message


def test_without_a_whole_replay_nothing_is_claimed(build: Build) -> None:
    assert CHECKS["whole_equals_streamed"](subject(build([("content", "Hi")]))) == []
