"""What a stranger calls a case, a tag or a collection acts on no page: what is hidden in it is seen everywhere, and
stays as it is where it can be typed again."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from tests.webapp.page.dom import page as parse
from webapp.glyphs import seen

TURNED, NOTHING = "\u202e", "\x00"
TITLE = f"abc{TURNED}gnp.exe"
TEMPLATES = Path(__file__).parents[4] / "templates"


def with_it(value: Any) -> Any:
    """The value with the character at the end of each of its texts, and of its keys that are somebody's."""
    if isinstance(value, dict):
        return {key: with_it(item) for key, item in value.items()}
    return [with_it(item) for item in value] if isinstance(value, list) else f"{value}{TURNED}"


SAID = with_it({
    "notes": ["note"],
    "flags": ["tag"],
    "context": {"prompt_tail": "tail", "template_kwargs": {"key": "value"}, "model": "model"},
})  # fmt: skip
CASE = {
    "schema": 1,
    "title": TITLE,
    **SAID,
    "source": {"kind": "recorded", **with_it({"link": "https://x.example/", "project": "p", "engine": "e 1"})},
    "parser": {"name": "qwen"},
    "input": {"text": f'needle {TURNED} <tool_call>\n{{"name": "f{TURNED}", "arguments": {{"a": "b{TURNED}"}}}}'},
    "tools": [{"type": "function", "function": with_it({"name": "f", "description": "d"})}],
    "expect": {"content": f"x{TURNED}", "tool_calls": [{"name": f"f{TURNED}", "arguments": {"a": TURNED}}]},
    "engines": {"builtin": with_it({"link": "https://y.example/", "notes": ["n"]}) | {"verdict": "required"}},
}


@pytest.fixture
def stored(client: FlaskClient) -> str:
    answer = client.post("/api/v1/cases?listed=1", json=CASE)
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json["id"])  # type: ignore[index]


@pytest.fixture
def collection(client: FlaskClient, stored: str) -> str:
    answer = client.post("/library/collections", data={"title": f"of {TURNED}{stored}", "q": ""})
    assert (answer.status_code, shown(answer.text).count(TURNED)) == (201, 0)
    found = re.findall(r"/library/c/\w+", answer.text)[0]
    return str(found)


def shown(html: str) -> str:
    """A page without what is typed into its fields."""
    return re.sub(r'\bvalue="[^"]*"', "", re.sub(r"<textarea.*?</textarea>", "", html, flags=re.S))


@pytest.mark.replays
@pytest.mark.parametrize(
    "path",
    ["/library", "/library?q=needle", f"/library?q={quote(TURNED)}", "/library/results/builtin", "/c/ID",
     "/c/ID?step=3", "/c/ID/embed", "/c/ID/edit", "/c/ID/share", "/c/ID/redact", "/c/ID/delete", "/c/ID/compare",
     "/c/ID/compare?b_chunk=whole", "/OF", "/OF/delete", f"/OF?q={quote(TURNED)}"],
)  # fmt: skip
def test_a_page_shows_what_would_turn_its_words(client: FlaskClient, stored: str, collection: str, path: str) -> None:
    answer = client.get(path.replace("ID", stored).replace("/OF", collection))
    assert (answer.status_code, shown(answer.text).count(TURNED)) == (200, 0)


@pytest.mark.replays
def test_titles_say_it_in_a_sign(client: FlaskClient, stored: str, collection: str) -> None:
    listed, page = parse(client.get("/library?q=needle").text), parse(client.get(f"/c/{stored}").text)
    assert {one.text for one in listed.all("th") if "gnp" in one.text} == {"abcRLOgnp.exe"}
    assert {one.text for one in listed.all("span.tag")} == {"tagRLO"}
    assert page.one("title").text.strip().endswith("abc\\u202egnp.exe · Toolcall Inspector")
    assert "abcRLOgnp.exe" in [one.text for one in page.all("h2")]
    assert f"of RLO{stored}" in [one.text for one in parse(client.get(collection).text).all("h1")]


def test_a_character_without_width_or_drawing_is_no_part_of_a_page(client: FlaskClient) -> None:
    case = {"schema": 1, "title": f"a{NOTHING}b\u200bc", "parser": {"name": "qwen"}, "input": {"text": "zero"}}
    name = client.post("/api/v1/cases?listed=1", json=case).json["id"]  # type: ignore[index]
    for path in ("/library?q=zero", f"/c/{name}", f"/c/{name}/embed"):
        text = shown(client.get(path).text)
        assert (NOTHING in text, "\u200b" in text) == (False, False), path
    assert "a\\u0000b\\u200bc" in client.get(f"/c/{name}").text


def test_fields_keep_what_was_typed(client: FlaskClient, stored: str) -> None:
    page = parse(client.get(f"/c/{stored}/share").text)
    assert page.one("input#share-title").attrs["value"] == TITLE
    form = unescape(client.get(f"/c/{stored}/edit").text)
    for typed in (CASE["input"]["text"], f"tail{TURNED}", f"model{TURNED}"):
        assert typed in form
    assert f'value="{TURNED}"' in client.get(f"/library?q={quote(TURNED)}").text


@pytest.mark.parametrize("file", sorted(TEMPLATES.glob("*.html")), ids=lambda file: file.name)
def test_every_field_of_a_template_says_whether_it_is_typed(file: Path) -> None:
    """A text in a field would be another one otherwise, once it holds a hidden character."""
    source = file.read_text("utf-8")
    fields = re.findall(r'(?<![\w-])value="((?:\{\{.*?\}\}|\{%.*?%\}|[^"])*)"', source, re.S)
    fields += re.findall(r"<textarea(?:\{\{.*?\}\}|\{%.*?%\}|[^>])*>(.*?)</textarea>", source, re.S)
    written = [one for field in fields for one in re.findall(r"\{\{-?\s*(.*?)\s*-?\}\}", field, re.S)]
    assert [one for one in written if not re.search(r"\|(typed|glyphless)$", one) and not NUMBER.fullmatch(one)] == []


NUMBER = re.compile(r"(page\.cursor|axis|search|far|sweep|heat)\.\w+|number|offset|loop\.index0?|band\.total \+ 0\.5")


def test_what_is_no_text_is_left_to_the_template() -> None:
    assert (seen(7), seen(None)) == (7, None)
