"""Words become neutral ones of the same shape, everywhere the same, and nothing that is no word changes."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.redaction.neutral_words import KEYWORDS, NeutralWords, Replacing, Style, glued, key_of, pattern_of
from tests.growth import assert_linear, seconds

MARKERS = ["<tool_call>", "</tool_call>", "functions."]


def replaced(text: str, *, keep: tuple[str, ...] = (), style: Style = Style()) -> str:  # noqa: B008 - it is frozen
    pattern = pattern_of(MARKERS)
    listening = Replacing(pattern, NeutralWords(()), {})
    listening(text)
    styles = {key: style for key in listening.heard if key not in keep}
    return Replacing(pattern, NeutralWords(listening.heard), styles)(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<tool_call>\n</tool_call>",
        '{"name": "a", "arguments": {"b": 1, "c": true, "d": null}}',
        "functions.x:0",
        "<|im_start|>assistant",
        "&amp; &#39; &lt;",
        "\\n\\t\\\\n \\x41",
        "1.5e10 -1.5E-3",
        "_ - . 7 00 x",
    ],
)
def test_what_says_nothing_of_its_own_stays_up_to_its_digits(text: str) -> None:
    assert re.sub(r"\d", "1", replaced(text)) == re.sub(r"\d", "1", text)


@pytest.mark.parametrize(
    "text",
    [
        "get_weather getWeather WEATHER weather",
        "Zürich naïve Привет मोहन 北京市",
        "4711 007 sk-a1b2c3d4 2026-01-31",
        "C:\\users\\new",
        "line\\nbreak",
        "\ud800half",
    ],
)
def test_a_replacement_has_the_shape_of_the_word(text: str) -> None:
    made = replaced(text)
    assert len(made) == len(text)
    assert [unicodedata.category(one) for one in made] == [unicodedata.category(one) for one in text]
    before, after = text.encode("utf-8", "surrogatepass"), made.encode("utf-8", "surrogatepass")
    assert len(before) == len(after)
    words = re.findall(r"[^\W\d_]{4,}", text)
    assert [word for word in words if word in made] == []


@pytest.mark.parametrize("text", ["4111222e10", "12345.678e10", "98765E-7", "123e+45"])
def test_of_a_number_its_power_of_ten_alone_stays(text: str) -> None:
    made = replaced(text)
    assert re.sub(r"\d", "1", made) == re.sub(r"\d", "1", text)
    digits, power = re.split("(?=[eE])", text)
    assert made.endswith(power)
    assert not [run for run in re.findall(r"\d{2,}", digits) if run in made]


def test_one_word_is_one_word_in_any_case_and_with_escapes() -> None:
    lower, title, upper, escaped = replaced("weather Weather WEATHER w\\u0065ather").split()
    assert (lower.capitalize(), lower.upper()) == (title, upper)
    assert re.sub(r"\\u(....)", lambda match: chr(int(match[1], 16)), escaped) == lower


def test_escapes_keep_the_case_of_their_digits_and_blanks_that_are_escaped_part_words() -> None:
    made = replaced("\\u00e9t\\u00C9\\u0020later")
    assert re.fullmatch(r"\\u[0-9a-f]{4}\w\\u[0-9A-F]{4}\\u0020\w{5}", made)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\\x57\\x61\\x6c\\x74", r"\\x[0-9a-f]{2}"),
        ("\\x57alt\\x65r", r"\\x[0-9a-f]{2}"),
        ("&#87;&#97;&#108;&#116;", r"&#\d{2,3};"),
        ("&#x57;&#X61;&#x6C;&#x74;", r"&#[xX][0-9a-fA-F]{2};"),
    ],
)
def test_letters_of_other_notations_are_replaced_in_as_many_digits(text: str, escaped: str) -> None:
    made = replaced(text)
    assert [len(one) for one in re.findall(escaped, made)] == [len(one) for one in re.findall(escaped, text)]
    assert len(made) == len(text)
    before, after = (html.unescape(re.sub(r"\\x(..)", r"&#x\1;", one)) for one in (text, made))
    assert (before[:4], after[:4].isalpha(), after[0].isupper()) == ("Walt", True, True)
    assert sum(one == other for one, other in zip(before, after, strict=True)) < len(before)


@pytest.mark.parametrize("text", ["&#60;b&#62;", "\\x3cb\\x3e", "a&#999999;b", "\\x20", "&#x1FFFFF;", "&#32;"])
def test_escapes_of_what_is_no_letter_stay(text: str) -> None:
    assert replaced(text) == text


def test_a_word_that_is_kept_stays_and_another_style_is_another_word() -> None:
    assert replaced("hello world", keep=("hello",)).startswith("hello ")
    assert len({replaced("hello", style=Style(number)) for number in range(3)} | {"hello"}) == 4


def test_no_two_words_become_one_and_none_becomes_a_word_that_was_there() -> None:
    words = [f"{a}{b}" for a in "abcdefgh" for b in "aeioulmnrv"]
    neutral = NeutralWords(words)
    made = [neutral.of(word, Style()) for word in words]
    assert None not in made
    assert len({*made}) == len(made)
    assert {*made}.isdisjoint({*words} | {key_of(word) for word in KEYWORDS})


def test_a_shape_of_which_no_word_is_left_stays() -> None:
    every = [f"{number:02}" for number in range(100)]
    assert NeutralWords(every).of("12", Style()) is None
    styles = dict.fromkeys(every, Style())
    assert Replacing(pattern_of(()), NeutralWords(every), styles)("12 13") == "12 13"


def test_a_letter_without_a_neighbour_of_its_kind_stays() -> None:
    assert replaced("ªb") == "ªb" or len(replaced("ªb")) == 2
    assert replaced("x\u0301y")[1] == "\u0301"


def test_two_words_put_together_become_their_replacements_put_together() -> None:
    found = glued(["beforeafter", "before", "after", "alone"], {"before", "after"})
    assert found == {"beforeafter": ("before", "after")}
    neutral = NeutralWords(["beforeafter", "before", "after"])
    say = Replacing(pattern_of(()), neutral, {"before": Style(), "after": Style()}, glued=found)
    assert say("beforeafter") == say("before") + say("after") != "beforeafter"


@pytest.mark.linear
def test_a_long_word_is_cut_only_where_two_words_of_the_output_end() -> None:
    sizes = (10_000, 20_000, 40_000)
    assert_linear(lambda size: seconds(lambda: glued(["a" * size], {"a", "b" * 3})), sizes)


@given(st.text(max_size=60))
@pytest.mark.replays
def test_any_text_keeps_its_length_and_what_is_no_letter_or_digit(text: str) -> None:
    made = replaced(text)
    assert len(made) == len(text)
    same = [a == b for a, b in zip(text, made, strict=True)]
    assert all(kept or before.isalnum() for kept, before in zip(same, text, strict=True))


@pytest.mark.parametrize(
    ("style", "shape"),
    [
        (Style(head=3), r"INV[1-9]{6}"),
        (Style(tail=4), r"[A-Z]{3}[1-9]{2}4401"),
        (Style(head=2, tail=2), r"IN[A-Z][1-9]{4}01"),
        (Style(hexadecimal=True), r"[A-F]{3}[1-9]{6}"),
    ],
)
def test_a_part_of_a_word_stays_where_a_style_says_so(style: Style, shape: str) -> None:
    made = replaced("INV204401", style=style)
    assert re.fullmatch(shape, made)
    assert made != "INV204401"


def test_a_word_of_which_all_stays_has_no_replacement() -> None:
    assert NeutralWords(["abc"]).of("abc", Style(head=3)) is None
