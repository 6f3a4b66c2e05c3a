"""The library: a case is shared into it, found by its markup, collected, and run; with script and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import on_each_screen, violations
from tests.browser.test_running import run
from tests.browser.test_share import create

pytestmark = pytest.mark.browser

EXAMPLE = "/example/marker-split-across-tokens"


def corpus(folder: Path, *texts: str) -> Path:
    path = folder / "corpus.jsonl"
    cases = [{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "title": text[:20]} for text in texts]
    path.write_text("\n".join(map(json.dumps, cases)) + "\n{}\n", "utf-8")
    return path


def search(page: Page, query: str) -> None:
    page.get_by_role("searchbox", name="Search").fill(query)
    page.get_by_role("searchbox", name="Search").press("Enter")


def test_a_shared_case_is_found_by_its_markup_collected_and_run(page: Page) -> None:
    page.goto(EXAMPLE)
    page.locator("[data-share]").click()
    assert page.get_by_label("List it in the").is_checked()
    page.get_by_label("Title").fill("A split marker")
    page.get_by_label("Tags").fill("journey, split")
    create(page)
    expect(page.locator("#shared")).to_contain_text("It is listed in the library")
    page.goto("/library")
    search(page, "<tool_call> tag:journey")
    row = page.locator(".library-table tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("A split marker")
    expect(row.locator(".tile-band rect").first).to_be_visible()
    search(page, 'text:"<tool_call" text:"not in it"')
    expect(page.locator(".library .empty")).to_contain_text("No case in this list has all of that")
    page.get_by_role("link", name="Show all").click()
    page.get_by_role("link", name="journey").click()
    page.get_by_text("Collect", exact=True).click()
    page.get_by_label("Title of the collection").fill("Gate")
    page.get_by_role("button", name="Make it of 1 case").click()
    expect(page.get_by_label("Delete key")).to_be_visible()
    page.get_by_role("link", name="Open it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Gate")
    page.locator("summary", has_text="Run it").click()
    page.get_by_role("button", name="Run 1 case").click()
    expect(page.locator(".matrix tbody tr")).to_have_count(1)
    page.goto("/library?q=tag:journey")
    expect(page.locator(".squares")).to_have_attribute("aria-label", "1 right")


def test_a_case_that_is_not_ticked_is_not_there(page: Page) -> None:
    run(page, "Nobody else shares this one. <tool_call>")
    page.locator("[data-share]").click()
    page.get_by_label("Title").fill("Not for the library")
    page.get_by_label("List it in the").uncheck()
    create(page)
    expect(page.locator("#shared")).to_contain_text("not listed in the library")
    page.goto("/library?q=Not+for+the+library")
    expect(page.locator(".library-table")).to_have_count(0)


def test_a_file_is_imported_without_script_and_what_fails_is_named(plain: Page, tmp_path: Path) -> None:
    plain.goto("/library/import")
    plain.get_by_label("File", exact=True).set_input_files(corpus(tmp_path, "Plain <b>one</b>.", "Plain two."))
    plain.get_by_label("Tags").fill("plain")
    plain.get_by_role("button", name="Import").click()
    expect(plain.locator("div.notice[role=status]")).to_contain_text("2 stored, 0 known already, 1 failed")
    expect(plain.locator(".import-failures li")).to_contain_text("corpus.jsonl::3")
    plain.goto("/library")
    search(plain, "<b>")
    expect(plain.locator(".library-table tbody tr")).to_have_count(1)
    plain.get_by_role("link", name="plain").first.click()
    expect(plain.locator(".library-table tbody tr")).to_have_count(1)
    plain.get_by_role("link", name="Clear").click()
    plain.get_by_text("Export", exact=True).click()
    with plain.expect_download() as download:
        plain.get_by_role("link", name="JSON Lines").click()
    assert download.value.suggested_filename == "cases.jsonl"


def test_axe_finds_nothing_in_a_full_library(page: Page, tmp_path: Path) -> None:
    page.goto("/library/import")
    texts = [f'Sure. <tool_call>\n{{"name": "f{n}", "arguments": {{"a": {n}}}}}\n</tool_call>' for n in range(5)]
    page.get_by_label("File", exact=True).set_input_files(corpus(tmp_path, *texts))
    page.get_by_role("button", name="Import").click()
    expect(page.locator("[data-import-status]")).to_contain_text("5 stored, 0 known already, 1 failed.")
    expect(page.locator("[data-import-failures] li")).to_have_count(1)
    assert len({line.split()[1] for line in page.locator("#import-keys").input_value().splitlines()}) == 5
    assert violations(page, part="main") == []
    page.goto("/library")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_narrow_screen_results_are_a_list_and_nothing_of_an_outcome_is_cut_off(page: Page, tmp_path: Path) -> None:
    page.goto("/library/import")
    page.get_by_label("File", exact=True).set_input_files(corpus(tmp_path, "A narrow page shows <tool_call>"))
    page.get_by_role("button", name="Import").click()
    expect(page.locator("[data-import-status]")).to_contain_text("1 stored")
    page.goto("/library?q=narrow")
    page.locator("summary", has_text="Run it").click()
    page.get_by_role("button", name="Run 1 case").click()
    page.set_viewport_size({"width": 390, "height": 844})
    cells = page.locator(".library-results tbody :is(th, td)")
    expect(cells).to_have_count(4)
    boxes = [cell.bounding_box() for cell in cells.all()]
    assert all(box is not None and box["x"] + box["width"] <= 390 for box in boxes)
    assert page.evaluate(
        "document.querySelector('.scroll').scrollWidth <= document.querySelector('.scroll').clientWidth"
    )
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])


PARTS = """async ([text, lines]) => {
    const { partsOf } = await import("/static/js/import_parts.js");
    const found = [];
    for await (const one of partsOf(new File([text], "f"), lines))
        found.push([await one.blob.text(), one.line, Number(one.left.toFixed(3))]);
    return found;
}"""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"a":1}\n\n{"b":"ü"}\n{"c":1}', [['{"a":1}\n\n', 1, 0.667], ['{"b":"ü"}\n{"c":1}', 3, 0]]),
        ('{"a":1}\nbroken\n', [['{"a":1}\nbroken\n', 1, 0]]),
        ('{"a":\n1}\n', [['{"a":\n1}\n', None, 0]]),
        ('{"a":1}', [['{"a":1}', None, 0]]),
        ("PK\x03\x04 {}\n{}", [["PK\x03\x04 {}\n{}", None, 0]]),
        ("", [["", None, 0]]),
    ],
)
def test_lines_are_sent_in_parts_and_everything_else_as_one(page: Page, text: str, parts: list[list[object]]) -> None:
    page.goto("/library/import")
    assert page.evaluate(PARTS, [text, 2]) == parts
