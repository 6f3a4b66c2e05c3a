from __future__ import annotations

import re

import pytest

from webapp.page.library.markdown import sections, to_html

BETWEEN_TAGS = re.compile(r"(?<=>)\n|\n(?=<)")

BLOCKS = [
    ("# One & two", '<h1 id="one--two">One &amp; two</h1>'),
    ("a\nb\n\nc", "<p>a b</p><p>c</p>"),
    ("a\n# B", '<p>a</p><h1 id="b">B</h1>'),
    ("* a\n  more\n* b", "<ul><li>a more</li><li>b</li></ul>"),
    ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
    ("```json\n<a>\n\nb\n```\nc", '<pre tabindex="0"><code>&lt;a&gt;\n\nb</code></pre><p>c</p>'),
    (
        "| a | b |\n|---|---|\n| `x\\|y` | z |",
        '<div class="table-scroll" tabindex="0" role="region" aria-label="Table: a, b"><table><thead><tr>'
        '<th scope="col">a</th><th scope="col">b</th></tr></thead><tbody>'
        '<tr><th scope="row"><code>x|y</code></th><td>z</td></tr></tbody></table></div>',
    ),
    ("<script>\n\n</script>", "<p>&lt;script&gt;</p><p>&lt;/script&gt;</p>"),
    ("", ""),
]
LINES = [
    ("a `<b>` **c** d", "a <code>&lt;b&gt;</code> <strong>c</strong> d"),
    ("[words](#there)", '<a href="#there">words</a>'),
    ("see [`x`](design.md), which is not served", "see <code>x</code>, which is not served"),
    ("a <script> b", "a &lt;script&gt; b"),
    ("![a picture](there.png)", "!a picture"),
]


@pytest.mark.parametrize(("text", "html"), BLOCKS)
def test_a_block_becomes_its_element(text: str, html: str) -> None:
    assert BETWEEN_TAGS.sub("", to_html(text)) == html


def test_sections_lead_to_the_headings_of_the_second_level() -> None:
    assert sections("# A\n## B c\nx\n### D\n## E") == [("b-c", "B c"), ("e", "E")]


@pytest.mark.parametrize(("text", "html"), LINES)
def test_inside_a_line_there_is_code_bold_and_links(text: str, html: str) -> None:
    assert to_html(text) == f"<p>{html}</p>\n"
