from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.glyphs import SPECIAL, brief, count, glyphless, label, plain, seen, shorten, show, show_lines, spell


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a b", 'a<span class="glyph">·</span>b'),
        ("\n", '<span class="glyph">⏎</span>'),
        ("\x00", '<span class="glyph boxed" title="control 00" data-c="0">NUL</span>'),
        ("<b>", "&lt;b&gt;"),
        ("\u202e", '<span class="glyph boxed" title="right-to-left override" data-c="202e">RLO</span>'),
        ("\ud800", '<span class="glyph boxed" title="code point d800" data-c="d800">U+D800</span>'),
        ("\U000e0041", '<span class="glyph boxed" title="tag latin capital letter a" data-c="e0041">U+E0041</span>'),
        ("\ufe0f", '<span class="glyph boxed" title="variation selector for emoji" data-c="fe0f">VS16</span>'),
        ("\u3164", '<span class="glyph boxed" title="hangul filler" data-c="3164">U+3164</span>'),
        ("\u2800", '<span class="glyph boxed" title="braille pattern blank" data-c="2800">U+2800</span>'),
        ("\U000e0101", '<span class="glyph boxed" title="variation selector-18" data-c="e0101">U+E0101</span>'),
    ],
)
def test_what_cannot_be_seen_becomes_a_glyph(text: str, html: str) -> None:
    assert show(text) == html


@pytest.mark.replays
def test_no_character_without_a_drawing_of_its_own_is_left_as_it_is() -> None:
    plain = SPECIAL.sub("", "".join(map(chr, range(0x110000))))
    assert {unicodedata.category(char) for char in plain} & {"Cc", "Cs", "Zs", "Zl", "Zp"} == set()
    moving = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert {unicodedata.bidirectional(char) for char in plain} & moving == set()


@given(st.text())
def test_no_text_can_become_markup(text: str) -> None:
    rest = show(text).replace('<span class="glyph">', "").replace("</span>", "")
    assert "<" not in rest.replace('<span class="glyph boxed" title="', "")


def test_lines_break_after_the_newline_glyph() -> None:
    assert show_lines("a\nb").endswith("</span><br>b")


@pytest.mark.parametrize(("text", "words"), [(" Par", "space Par"), ("\n\n", "newline newline"), ("", "nothing")])
def test_white_space_is_spelled_for_screen_readers(text: str, words: str) -> None:
    assert spell(text) == words


@pytest.mark.parametrize(("number", "words"), [(1, "1 step"), (2, "2 steps"), (12345, "12,345 steps")])
def test_counts_carry_their_noun(number: int, words: str) -> None:
    assert count(number, "step") == words


def test_long_texts_are_shortened_with_an_ellipsis() -> None:
    assert (shorten("abcdef", 4), shorten("abcd", 4)) == ("abc…", "abcd")


def test_sentences_keep_their_spaces_and_show_code() -> None:
    assert plain('“a`” and “b”, `"c"`') == "<code>a`</code> and “b”, <code>&#34;c&#34;</code>"
    assert plain("a \u202eb") == f"a {show(chr(0x202E))}b"
    assert plain("`` is none") == "(empty) is none"
    assert plain("not `a b` <i>") == 'not <code>a<span class="glyph">·</span>b</code> &lt;i&gt;'


@pytest.mark.parametrize(("text", "spelled"), [("a b", "a b"), ("\u202e", "\\u202e"), ("\U000e0041", "\\udb40\\udc41")])
def test_attributes_spell_invisible_characters(text: str, spelled: str) -> None:
    assert glyphless(text) == spelled


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (3_909, "3.9k"), (9_949, "9.9k"), (9_950, "10k"), (12_088, "12k"),
     (999_499, "999k"), (999_500, "1.0M"), (12_000_000, "12M")],
)  # fmt: skip
def test_a_brief_number_has_at_most_four_characters(number: int, words: str) -> None:
    assert brief(number) == words


@pytest.mark.parametrize(
    "text",
    [
        "a b\n\tc\xa0\u3000❤\ufe0f",
        "👨\u200d👩\u200d👧 family",
        "🧑🏽\u200d🚀🏳\ufe0f\u200d🌈❤\ufe0f\u200d🔥🙂\u200d↔\ufe0f🐈\u200d⬛",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "نمی\u200cخواهم",  # noqa: RUF001 - Persian
        "क्\u200dष क्\u200cष",
        "അവന്\u200d വന്നു",
    ],
)
def test_titles_keep_what_joiners_and_tags_are_for(text: str) -> None:
    assert (label(text), seen(text)) == (text, text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\u202eb\x07", "a\\u202eb\\u0007"),
        ("a\u200db\u200c 👨\u200d a\u200d👩", "a\\u200db\\u200c 👨\\u200d a\\u200d👩"),
        ("👨\u200d\u200d👩 👨\u200c👩", "👨\\u200d\\u200d👩 👨\\u200c👩"),
        ("می\u200c\u200cخو می\u200c", "می\\u200c\\u200cخو می\\u200c"),
        ("क्\u200d\u200d", "क्\u200d\\u200d"),
        ("\U000e0067\U000e007f", "\\udb40\\udc67\\udb40\\udc7f"),
        ("🏴\U000e0067", "🏴\\udb40\\udc67"),
        ("🏴" + "\U000e0068" * 7 + "\U000e007f", "🏴" + "\\udb40\\udc68" * 7 + "\\udb40\\udc7f"),
        ("🏴\U000e0041\U000e0042\U000e0043\U000e007f", "🏴\\udb40\\udc41\\udb40\\udc42\\udb40\\udc43\\udb40\\udc7f"),
        ("葛\U000e0100城", "葛\\udb40\\udd00城"),
    ],
)
def test_whatever_else_is_hidden_in_a_title_is_a_sign(text: str, told: str) -> None:
    assert seen(text) == told
    assert label(text).count('<span class="glyph boxed"') == len(text) - len(re.sub(r"\\u\w{4}", "", told))
