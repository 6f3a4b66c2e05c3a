"""House rules of the templates: they compile, nothing is inline or marked safe, nothing works with script alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
TEMPLATES = sorted(path.name for path in (ROOT / "templates").glob("*.html"))
STYLES = sorted((ROOT / "static" / "css").glob("*.css"))
SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))


@pytest.mark.replays
@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_compiles(app: Any, name: str) -> None:
    app.jinja_env.get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_nothing_is_inline_and_nothing_is_called_safe(name: str) -> None:
    source = (ROOT / "templates" / name).read_text(encoding="utf-8")
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:|\|\s*safe", source)
    assert not re.search(r"<script(?![^>]*\ssrc=)", source)


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_htmx_does_also_works_without_it(name: str) -> None:
    source = (ROOT / "templates" / name).read_text(encoding="utf-8")
    for tag in re.findall(r"<[a-z]+[^>]*\shx-(?:get|post)=[^>]*>", source):
        assert re.search(r"\s(href|(form)?action)=", tag), tag
    assert not re.search(r"hx-(disabled-elt|ext|on|vars|boost|swap-oob)", source)


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_a_hatch_of_mixed_colours_says_how_they_are_interpolated(path: Path) -> None:
    """Firefox 153 draws one stripe of a repeating gradient whose colours are mixed, unless it is told `in srgb`."""
    text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
    for start in [found.end() for found in re.finditer(r"repeating-linear-gradient\(", text)]:
        gradient = text[start : text.index(";", start)].partition("gradient(")[0]
        assert "color-mix(" not in gradient or re.match(r" ?-?\d+deg in srgb,", gradient), gradient


@pytest.mark.parametrize("path", [*STYLES, *SCRIPTS], ids=lambda path: path.name)
def test_style_and_script_files_are_small_and_say_what_they_are_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("/* ")
    assert len(text.splitlines()) <= 600


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_never_build_markup_or_evaluate_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"innerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
