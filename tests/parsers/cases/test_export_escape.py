"""Text in fences, cells and paragraphs, as a Markdown reader understands it: all of it, and nothing more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from parsers.cases.export.markdown_text import cell, fence, inline, marked, needs_marks, prose, sentence, spelled

nasty_text = st.text(
    st.sampled_from("`|<>\\\n\r\t ~#*_-=+!&[]()$@:.1a·→\u2028\u200b\x00") | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)


@given(nasty_text)
def test_a_fence_holds_exactly_its_text(text: str) -> None:
    clean = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
    (token,) = MarkdownIt("commonmark").parse(fence(clean, "text"))
    assert (token.type, token.info) == ("fence", "text")
    assert token.content == (clean if clean.endswith("\n") or not clean else f"{clean}\n")


@given(nasty_text)
def test_a_cell_reads_as_its_text_with_marks(text: str) -> None:
    table = MarkdownIt("commonmark").enable("table").parse(f"| a | b |\n| --- | --- |\n| {cell(text)} | x |")
    row = [token.children or [] for token in table if token.type == "inline"]
    first, second = ["".join(c.content for c in shown if c.type in ("text", "code_inline")) for shown in row[2:]]
    assert second == "x"
    assert first.replace("·", " ").replace("→", "\t").replace("↵", "\n").replace("␍", "\r") == spelled(text)


@pytest.mark.replays
@given(nasty_text)
def test_prose_and_inline_are_plain_paragraphs(text: str) -> None:
    for written in (prose(text), inline(text)):
        kinds = {token.type for token in MarkdownIt("commonmark").parse(written)}
        children = {child.type for token in MarkdownIt("commonmark").parse(written) for child in token.children or ()}
        assert kinds <= {"paragraph_open", "inline", "paragraph_close"}
        assert children <= {"text", "softbreak"}
    assert "\n" not in inline(text)


@given(nasty_text)
def test_a_sentence_is_one_paragraph_whose_quotes_are_code(text: str) -> None:
    for token in MarkdownIt("commonmark").parse(sentence(f"A {text} b")):
        assert token.type in ("paragraph_open", "inline", "paragraph_close")
        assert {child.type for child in token.children or ()} <= {"text", "code_inline", "html_inline"}
        assert all(
            child.content in ("<code>", "</code>") for child in token.children or () if child.type == "html_inline"
        )


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (
            "`hi LOST` becomes `hiLOST`, if `hi ` comes as `hi  `.",
            "`hi LOST` becomes `hiLOST`, if `hi·` comes as `hi··`.",
        ),
        ("“a`b” is <b>  lost", "<code>a&#96;b</code> is &#60;b> lost"),
        ("a ` alone", "a &#96; alone"),
        ("- no list", "&#45; no list"),
    ],
)
def test_a_sentence_keeps_the_blanks_that_it_quotes(said: str, written: str) -> None:
    assert sentence(said) == written


@pytest.mark.parametrize(
    "text",
    ["11 fixed: refresh", "f.json::case, 10:30", "tool_calls, a -> b", "no! 5 > 4 & R&D C# # 1", "a @ b", "x.www y."],
)
def test_what_stands_for_itself_is_left_alone(text: str) -> None:
    assert (prose(text), inline(text)) == (text, text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("http://x www.x", "http&#58;//x www&#46;x"),
        ("a :smile: b", "a &#58;smile: b"),
        ("@a fixes #1, a@b", "&#64;a fixes &#35;1, a&#64;b"),
        ("&amp; &#x21; __a__ _b", "&#38;amp; &#38;#x21; &#95;&#95;a&#95;&#95; &#95;b"),
        ("# a", "&#35; a"),
        ("> a", "&#62; a"),
        ("12. a", "&#49;2. a"),
    ],
)
def test_what_markdown_or_github_would_act_on_is_an_entity(text: str, written: str) -> None:
    assert (prose(text), inline(text)) == (written, written)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a·b"),
        ("\ta\r\n b", "→a␍↵\n·b"),
        ("·→", "⟨U+00B7⟩⟨U+2192⟩"),
        ("\u200b\xa0\x00", "⟨U+200B⟩⟨U+00A0⟩⟨U+0000⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
    ],
)
def test_marks_show_what_cannot_be_seen(text: str, shown: str) -> None:
    assert marked(text) == shown


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("a  b\n c", False),
        ("", False),
        ("a ", True),
        ("a \nb", True),
        ("a\n", True),
        ("\tb", True),
        ("a\xa0b", True),
        ("é", False),
    ],
)
def test_marks_are_added_only_where_a_fence_would_hide_something(text: str, needed: bool) -> None:
    assert needs_marks(text) is needed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "`a b`"),
        ("", ""),
        (" a  b ", "`·a··b·`"),
        ("a|b", "<code>a&#124;b</code>"),
        ("a`b", "<code>a&#96;b</code>"),
        ("a\nb", "`a↵b`"),
    ],
)
def test_a_cell_is_code_on_one_line(text: str, shown: str) -> None:
    assert cell(text) == shown
