"""Templates import only macros that they call: Jinja says nothing of the others, and no linter of templates does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

IMPORTED = re.compile(r'{%-? from "[^"]+" import (.*?)(?: with context)? -?%}', re.DOTALL)


def unused(text: str) -> list[str]:
    """The names that a template imports and that stand nowhere else in it."""
    names = [one.split()[-1] for match in IMPORTED.finditer(text) for one in match[1].split(",")]
    rest = IMPORTED.sub("", text)
    return [name for name in names if not re.search(rf"\b{name}\b", rest)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{% from "a.html" import b, c with context %}{{ b() }}', ["c"]),
        ('{%- from "a.html" import b as d -%}{{ d() }} b', []),
        ('{% from "a.html" import b %}{{ bb }}', ["b"]),
    ],
)
def test_a_name_that_is_not_used_is_found(text: str, names: list[str]) -> None:
    assert unused(text) == names


def test_no_template_imports_what_it_does_not_use(root: Path) -> None:
    templates = [*(root / "templates").rglob("*.html")]
    assert templates
    found = {path.name: unused(path.read_text("utf-8")) for path in templates}
    assert {name: names for name, names in found.items() if names} == {}
