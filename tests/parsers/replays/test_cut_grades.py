"""Grades of cuts: where every tokenizer cuts, where a stand-in does, and where nobody can."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.contracts import Contract
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking, Sent
from parsers.replays.cut_grades import CutGrade, Grader, split_markup, studied, worst
from parsers.replays.replayer import Replayer
from parsers.selection.registry import get_format, maker
from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import Piece

HONEST, ASSUMED, HOSTILE = CutGrade


def grader(*texts: str, format: str = "passthrough", **more: Any) -> Grader:
    fmt = get_format(format)
    return Grader(Replayer(maker(fmt), tuple([Piece(text) for text in texts]), format=fmt, **more))


def cuts(*places: int) -> Chunking:
    return Chunking(by="cuts", cuts=places)


@pytest.mark.parametrize(
    ("text", "honest"),
    [
        ("one two", [3]),
        ("one  two", [4]),
        ("one \n two", [5]),
        ("a\n\nb", [3]),
        ("a\n {", []),
        ("a\n<b", []),
        ("a, b.", [2]),
        ("x 7\n8", [1, 4]),
        ("ja é", [2]),
        ("", []),
    ],
)
def test_every_tokenizer_cuts_between_lines_and_before_words(text: str, honest: list[int]) -> None:
    assert [*grader(text).honest] == honest


def test_the_edges_of_a_marker_that_is_one_token_are_honest_and_its_inside_is_not() -> None:
    text = "x<tool_call>{"
    made = grader("x", "<", "tool_call", ">", "{", format="qwen")
    assert [*made.honest] == [1, 12]
    assert made.place(2) is ASSUMED
    assert made.place(5) is HOSTILE
    assert [*grader(text).honest] == []
    assert [*grader(text, markers={"<tool_call>": 9}).honest] == [1, 12]


def test_all_cuts_between_recorded_tokens_or_the_model_s_own_are_honest_and_no_others() -> None:
    for given in (grader("ab", "cd e", own_tokenizer=True), Grader(_recorded("ab", "cd e"))):
        assert [given.place(cut) for cut in range(1, 6)] == [HOSTILE, HONEST, HOSTILE, HOSTILE, HOSTILE]
        assert given.chunking(Chunking(by="token")) is HONEST
        assert given.chunking(Chunking(by="random", seed=3)) is HONEST
        assert given.finest == Chunking(by="token")


def _recorded(*texts: str) -> Replayer:
    pieces = tuple([Piece(text, number, text.encode(), recorded=True) for number, text in enumerate(texts)])
    return Replayer(maker(get_format("passthrough")), pieces)


@pytest.mark.parametrize(
    ("chunking", "grade"),
    [
        (Chunking(by="whole"), HONEST),
        (cuts(), HONEST),
        (cuts(3), HONEST),
        (cuts(3, 5), ASSUMED),
        (cuts(3, 6), HOSTILE),
        (cuts(0, 3), ASSUMED),
        (cuts(3, 3), ASSUMED),
        (cuts(3, 8), ASSUMED),
        (Chunking(by="token"), ASSUMED),
        (Chunking(by="token", size=2), ASSUMED),
        (Chunking(by="token", size=9), HONEST),
        (Chunking(by="char"), HOSTILE),
        (Chunking(by="char", size=3), HOSTILE),
        (Chunking(by="random", unit="char"), HOSTILE),
        (Chunking(by="whole", holdback_chars=2), ASSUMED),
        (Chunking(by="recorded"), HONEST),
    ],
)
def test_a_chunking_is_as_good_as_its_worst_cut(chunking: Chunking, grade: CutGrade) -> None:
    assert grader("one", " t", "wo}").chunking(chunking) is grade


def test_empty_deltas_and_late_text_are_honest_where_somebody_told() -> None:
    empty, late = cuts(3, 3), Chunking(by="token", holdback_chars=2)
    plain = grader("one", " two", own_tokenizer=True)
    told = grader("one", " two", own_tokenizer=True, empty_deltas=True, late_text=True)
    assert [plain.chunking(one) for one in (empty, late)] == [ASSUMED, ASSUMED]
    assert [told.chunking(one) for one in (empty, late)] == [HONEST, HONEST]


def test_a_contract_tells_of_empty_deltas_and_late_text_too() -> None:
    empty, late = cuts(3, 3), Chunking(by="token", holdback_chars=2)

    def graded(**told: Any) -> list[CutGrade]:
        contract = Contract(name="own", **{key: value for key, value in told.items() if key != "late"})
        made = grader("one", " two", own_tokenizer=True, contract=contract, late_text="late" in told)
        return [made.chunking(one) for one in (empty, late)]

    assert graded(empty_deltas="sent", late_text="sent") == [HONEST, HONEST]
    assert graded(empty_deltas="sent", late_text="stop_strings") == [HONEST, HOSTILE]
    assert graded(late_text="stop_strings", late=True) == [ASSUMED, HONEST]


def test_it_is_said_what_a_chunking_supposes_or_why_no_server_sends_it() -> None:
    made = grader("one", " t", "wo}", contract=Contract(name="own", late_text="stop_strings"))
    late = {"holdback_chars": 2}
    assert made.supposed(Chunking(by="whole")) == ""
    assert made.supposed(cuts(3, 5)) == "`two` comes as `t wo`"
    assert made.supposed(cuts(3, 3)) == "the server sends a delta without text"
    assert made.supposed(Chunking(by="whole", **late)) == "held back as this server does for stop strings only"
    assert made.supposed(Chunking(by="char", **late)) == "cut inside a token as no server does"
    assert made.supposed(cuts(3, 3, 5)) == "`two` comes as `t wo` and the server sends a delta without text"


@pytest.mark.parametrize(
    ("late", "said"),
    [
        ({"holdback_chars": 1}, "the server holds the last character back"),
        ({"holdback_chars": 2}, "the server holds the last 2 characters back"),
        ({"text_delay": 1}, "the server sends text 1 token late"),
        (
            {"holdback_chars": 2, "text_delay": 3},
            "the server holds the last 2 characters back and sends text 3 tokens late",
        ),
    ],
)
def test_of_text_that_comes_late_no_cut_is_named(late: dict[str, int], said: str) -> None:
    assert grader("one", " t", "wo}").supposed(Chunking(by="token", **late)) == said


def test_of_many_places_whose_tokens_are_supposed_none_is_named() -> None:
    made = grader("a", "b cd", "e fg", "h")
    assert made.supposed(Chunking(by="token")) == "the model's own tokenizer splits the text the same way in 3 places"
    assert made.supposed(cuts(1, 5)) == "`ab` comes as `a b` and `cde` comes as `cd e`"


def test_where_recorded_deltas_met_a_cut_is_honest() -> None:
    assert [*grader("onetwo", sent=Sent((3, 3))).honest] == [3]


def test_markup_is_cut_as_the_format_says() -> None:
    made = grader("a", "\n", "</", "par", "ame", "ter", ">\n", "</", "function", ">", format="qwen_coder")
    found = {cut: made.place(cut) for cut in range(1, 15)}
    assert [cut for cut, grade in found.items() if grade is HONEST] == [4, 13]
    assert [cut for cut, grade in found.items() if grade is ASSUMED] == [1, 2]


def test_an_assumed_chunking_says_what_it_supposes() -> None:
    made = grader("a", "</", "par", "ame", "ter", ">", " b")
    assert made.supposed(Chunking(by="token")) == "`a</` comes as `a </` and `</parameter>` comes as `</ par ame ter >`"
    assert made.supposed(cuts(6)) == "`</parameter>` comes as `</ par ame ter >`"
    assert made.supposed(cuts(13)) == ""
    assert grader("{", "}", "!").supposed(cuts(1)) == "`{}` comes as `{ }`"


def test_a_grade_weighs_down_what_it_shows() -> None:
    severities: tuple[Severity, ...] = ("error", "warning", "info")
    assert [HONEST.weigh(one) for one in severities] == ["error", "warning", "info"]
    assert [ASSUMED.weigh(one) for one in severities] == ["warning", "warning", "info"]
    assert [HOSTILE.weigh(one) for one in severities] == ["info", "info", "info"]
    assert worst([]) is HONEST
    assert worst([ASSUMED, HONEST]) is ASSUMED


def test_with_honest_cuts_only_the_finest_honest_chunking_is_studied() -> None:
    made = grader("one", " t", "wo").replayer
    assert studied(made, ()) == Chunking(by="token")
    assert studied(made, (cuts(2),)) == cuts(2)
    assert studied(made, (cuts(2),), honest_only=True) == cuts(3)
    assert studied(made, (cuts(3),), honest_only=True) == cuts(3)


def test_the_markup_of_formats_is_split_once_and_into_what_it_says() -> None:
    for fmt in builtin_formats().values():
        markup = () if fmt.splits is None else fmt.splits.markup
        texts = ["".join(parts) for parts in markup]
        assert len(set(texts)) == len(texts)
        for parts in markup:
            assert next(split_markup(f"a{''.join(parts)}", markup)) == (1, parts)


def test_a_server_that_sends_every_token_alone_sends_no_two_together() -> None:
    made = grader("x", "<tool_call>", "{", format="qwen", single_tokens=True)
    assert made.chunking(Chunking(by="token")) is HONEST
    for together in (Chunking(by="whole"), Chunking(by="token", size=2), cuts(1)):
        assert made.chunking(together) is HOSTILE
        assert made.supposed(together) == "several tokens in a delta, which this server never sends"
    assert made.chunking(cuts(1, 12)) is HONEST
    assert grader("x", "<tool_call>", "{", format="qwen").chunking(Chunking(by="whole")) is HONEST
