"""docs/reliability.md is what the commands wrote: each section is its template. No figure is looked at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench.document import RELIABILITY, Document
from tests.faults.__main__ import TEMPLATE as FAULTS
from tests.fuzz.__main__ import TEMPLATE as FUZZING

SLOT = re.compile(r"\$\w+")
SECTIONS = {FAULTS: "make faults", FUZZING: "make fuzz"}


@pytest.mark.parametrize("template", SECTIONS, ids=lambda path: path.stem)
def test_a_section_is_its_template_with_its_slots_filled(template: Path) -> None:
    pattern = "(.+?)".join(map(re.escape, SLOT.split(template.read_text("utf-8").strip())))
    found = re.search(pattern, RELIABILITY.read_text("utf-8"), re.DOTALL)
    assert found, f"run `{SECTIONS[template]}`"
    assert [text for text in found.groups() if "$" in text or not text.strip()] == []


def test_a_section_is_put_in_the_place_of_the_one_with_its_heading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, template = tmp_path / "page.md", tmp_path / "template.md"
    page.write_text("# Page\n\n## One\n\nold\n\n## Two\n\nstays\n", "utf-8")
    template.write_text("## One\n\n$count new\n", "utf-8")
    document = Document(template, page)
    with pytest.raises(KeyError):
        document.write_section()
    document.word("count", "3")
    document.write_section()
    document.write_section()
    assert page.read_text("utf-8") == "# Page\n\n## One\n\n3 new\n\n## Two\n\nstays\n"
    template.write_text("## Three\n", "utf-8")
    with pytest.raises(ValueError, match="has no section ## Three"):
        Document(template, page).write_section()
    capsys.readouterr()
