"""A response_template in the page: chosen, edited live with its lints, run; the same without script."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import on_each_screen, violations

pytestmark = pytest.mark.browser

OUTPUT = "Hm.\n</think>\n\nOn it.\n<function=get_weather>\n<parameter=city>\nBern\n</parameter>\n</function><|im_end|>"


EXAMPLES = {"JSON calls": "<think>", "Tagged calls": "xml-inline"}


def choose(page: Page, example: str) -> None:
    page.goto("/")
    page.locator("#parser").select_option("response_template")
    page.get_by_role("button", name=example).click()
    expect(page.locator("#template")).to_have_value(re.compile(EXAMPLES[example]))


def test_the_part_is_there_only_while_its_parser_is_chosen(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#template")).to_be_hidden()
    page.locator("#parser").select_option("response_template")
    expect(page.locator("#template")).to_be_visible()
    page.locator("#parser").select_option("qwen")
    expect(page.locator("#template")).to_be_hidden()


def test_a_template_is_linted_while_it_is_typed(page: Page) -> None:
    choose(page, "JSON calls")
    report = page.locator("#template-report")
    expect(report).to_contain_text("2 notes. After the prompt prefix, content is open.")
    template = json.loads(page.locator("#template").input_value())
    del template["fields"]["content"]["repeats"], template["fields"]["content"]["join"]
    page.locator("#template").fill(json.dumps(template))
    expect(report).to_contain_text("field_overwritten")
    expect(page.locator("#template")).to_be_focused()
    page.locator("#prompt_tail").fill("<|im_start|>assistant\n<think>\n")
    expect(report).to_contain_text("After the prompt prefix, reasoning_content is open.")
    page.locator("#template").fill("{")
    expect(report).to_contain_text("Not JSON yet.")


def test_a_run_reads_with_the_template_and_can_be_edited_and_run_again(page: Page) -> None:
    choose(page, "Tagged calls")
    page.locator("#text").fill(OUTPUT)
    page.locator("#setup [name=run]").click()
    expect(page.locator(".when-diagram g[data-node=TOOL_CALLS]")).to_be_attached()
    expect(page.locator("#result")).to_contain_text("get_weather")
    page.locator("#template-part summary").click()
    template = json.loads(page.locator("#template").input_value())
    template["fields"]["tool_calls"] |= {"content": "json", "content_args": {}}
    page.locator("#template").fill(json.dumps(template))
    page.locator("#setup [name=run]").click()
    expect(page.locator("#findings")).to_contain_text("1 error")


def test_a_wrong_template_is_said_and_kept(page: Page, allowed: list[str]) -> None:
    allowed.append("422")
    page.goto("/")
    page.locator("#parser").select_option("response_template")
    page.locator("#template").fill('{"response_schema": {}}')
    page.locator("#text").fill("x")
    page.locator("#setup [name=run]").click()
    expect(page.locator("#errors")).to_contain_text("This is a response_schema, the older form")
    expect(page.locator("#template")).to_have_value('{"response_schema": {}}')
    expect(page.locator("#parser")).to_have_value("response_template")
    assert violations(page) == []


def test_the_same_without_script(plain: Page) -> None:
    choose(plain, "Tagged calls")
    expect(plain.locator("#template-report")).to_contain_text("After the prompt prefix, reasoning_content is open.")
    plain.locator("#prompt_tail").fill("")
    plain.get_by_role("button", name="Check").click()
    expect(plain.locator("#template-report")).to_contain_text("No prompt prefix is given")
    plain.locator("#prompt_tail").fill("<|im_start|>assistant\n<think>\n")
    plain.locator("#text").fill(OUTPUT)
    plain.locator("#setup [name=run]").click()
    expect(plain.locator("#result")).to_contain_text("get_weather")


def test_axe_finds_nothing_and_nothing_is_too_wide(page: Page) -> None:
    choose(page, "JSON calls")
    expect(page.locator("#template-report")).to_contain_text("2 notes")
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
