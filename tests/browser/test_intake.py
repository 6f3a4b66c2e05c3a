"""Journeys of somebody who pastes what a server gave: a curl log, several choices, ids, a wrong guess, no script."""

from __future__ import annotations

import json
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
REQUEST = {"model": "Qwen/Qwen3-8B", "messages": [], "tools": [TOOL], "tool_choice": "required"}
CURL = f"curl -sN http://localhost:8000/v1 -H 'Authorization: Bearer sk-abc123' -d '{json.dumps(REQUEST)}'\n"


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "Qwen/Qwen3-8B", "choices": [choice]}


def sse(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
CALLS = sse(chunk({"tool_calls": [CALL]}), chunk({}, 0, "tool_calls"))
TWO = sse(
    chunk({"content": '<tool_call>\n{"name": "f", '}), chunk({"content": "<tool_call>\n"}, 1),
    chunk({"content": '"arguments": {}}\n</tool_call>'}), chunk({}, 0, "stop"), chunk({}, 1, "length"),
)  # fmt: skip


def paste(page: Page, text: str) -> None:
    page.goto("/")
    page.locator("#text").fill(text)
    expect(page.locator("#intake .intake")).to_be_visible()


def test_a_pasted_curl_log_is_explained_before_anything_runs(page: Page) -> None:
    paste(page, CURL + CALLS)
    panel = page.locator("#intake")
    expect(panel).to_contain_text("Recognised: OpenAI chat SSE log, 2 chunks")
    expect(panel).to_contain_text("Authorization")
    expect(panel.get_by_role("row", name="Raw output missing")).to_be_visible()
    expect(panel.locator(".intake-captures details[open]")).to_contain_text("curl")
    assert "get_weather" in page.locator("#tools").input_value()
    expect(page.locator("#tool_choice")).to_have_value("required")
    expect(page.locator("#tools-summary")).to_contain_text("1")
    expect(page.locator("#live")).to_contain_text("Recognised: OpenAI chat")
    assert page.url.endswith("/")


def test_the_tools_of_a_curl_command_without_messages_are_taken(page: Page) -> None:
    shortened = json.dumps({"model": "Qwen/Qwen3-8B", "stream": True, "tools": [TOOL]})
    paste(page, f"curl http://localhost:8000/v1/chat/completions -d '{shortened}'\n{CALLS}")
    assert "get_weather" in page.locator("#tools").input_value()
    expect(page.locator("#intake")).not_to_contain_text("no JSON object")


def test_its_stream_is_played_back_under_a_folded_panel(page: Page) -> None:
    paste(page, CURL + CALLS)
    page.get_by_role("button", name="Replay it").click()
    expect(page.locator("#inspector")).to_have_attribute("data-heading", "Unsaved run")
    expect(page.locator("#intake summary").first).to_contain_text("raw text unknown")
    expect(page.locator("#intake-title")).to_be_hidden()
    expect(page.locator("#result")).to_contain_text("get_weather")
    page.locator("#source > summary").click()
    expect(page.locator("#text")).to_have_value(CURL + CALLS)
    assert "sk-abc123" not in page.locator("#cursor [name=case]").input_value()


def test_the_next_paste_fills_the_fields_anew_and_leaves_what_was_typed(page: Page) -> None:
    paste(page, CURL + CALLS)
    page.locator("#tools-summary").click()
    page.locator("#tool_choice").fill("none")
    page.locator("#text").fill(TWO)
    expect(page.locator("#intake")).to_contain_text("It holds 2 outputs")
    expect(page.locator("#tool_choice")).to_have_value("none")
    expect(page.locator("#finish_reason")).to_have_value("stop")


def test_the_second_choice_is_replayed_when_it_is_chosen(page: Page) -> None:
    paste(page, TWO)
    page.locator("#intake [name=output]").nth(1).check()
    expect(page.get_by_role("row", name="Why it ended")).to_contain_text("length")
    page.get_by_role("button", name="Replay the chosen one").click()
    expect(page.locator("#intake summary").first).to_contain_text("output 2 of 2")
    expect(page.locator("#finish_reason")).to_have_value("length")


def test_a_wrong_guess_is_one_click_away_from_raw_text_and_back(page: Page) -> None:
    paste(page, '["<tool_call>", "x"]')
    page.get_by_role("button", name="Take it as raw model output").click()
    expect(page.locator("#intake summary").first).to_contain_text("Taken as raw model output")
    page.locator("#intake summary").first.click()
    page.get_by_role("button", name="Recognise it again").click()
    expect(page.locator("#intake summary").first).to_contain_text("list of 2 deltas")


def test_ids_lead_to_the_field_that_they_need(page: Page, allowed: list[str]) -> None:
    allowed.append("422")
    paste(page, "[1, 2, 3]")
    expect(page.locator("#intake")).to_contain_text("Needed before it can be replayed")
    page.locator("#intake .needed a").click()
    expect(page.locator("#tokenizer")).to_be_focused()
    page.locator("#setup [name=run]").click()
    expect(page.locator("#tokenizer-error")).to_contain_text("choose the model's own tokenizer")
    expect(page.locator("#text")).to_have_value("[1, 2, 3]")


def test_several_files_and_large_ones_are_refused_in_words(page: Page) -> None:
    page.goto("/")
    drop = """names => {
        const files = new DataTransfer();
        for (const name of names) files.items.add(new File(["x"], name));
        document.getElementById("text").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true}));
    }"""
    page.locator("#text").fill("mine")
    page.evaluate(drop, ["a.txt", "b.txt"])
    expect(page.locator("#file-refused")).to_contain_text("2 files at once")
    page.evaluate("document.getElementById('setup').dataset.limit = 0")
    page.evaluate(drop, ["a.txt"])
    expect(page.locator("#file-refused")).to_contain_text("a.txt has 1 bytes; the limit is 0 bytes")
    expect(page.locator("#text")).to_have_value("mine")


def test_a_chosen_tokenizer_waits_for_the_run(page: Page) -> None:
    page.goto("/")
    page.locator("#tokenizer_file").set_input_files({"name": "t.json", "mimeType": "text/plain", "buffer": b"{}"})
    sent = []
    page.on("request", lambda request: sent.append(request.post_data or "") if "/intake" in request.url else None)
    page.locator("#text").fill(sse(*[chunk({"content": "word "}) for _ in range(20)]))
    expect(page.locator("#intake")).to_contain_text("20 chunks")
    assert "tokenizer_file" not in sent[0]
    assert page.locator("#tokenizer_file").evaluate("field => field.files.length") == 1


def test_without_script_a_button_asks_and_stepping_keeps_the_log(plain: Page) -> None:
    plain.goto("/")
    plain.locator("#text").fill(TWO)
    plain.get_by_role("button", name="What is this?").click()
    expect(plain.locator("#intake")).to_contain_text("It holds 2 outputs")
    expect(plain.locator("#inspector")).to_have_count(0)
    plain.locator("#intake [name=output]").nth(1).check()
    plain.get_by_role("button", name="Replay the chosen one").click()
    plain.get_by_role("button", name="Next step").first.click()
    expect(plain.locator("#intake summary").first).to_contain_text("output 2 of 2")
    plain.locator("#source > summary").click()
    expect(plain.locator("#text")).to_have_value(TWO)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_has_no_accessibility_faults(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    paste(page, CURL + TWO)
    found = Axe().run(page, "#intake", {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})
    assert found.response["violations"] == []


def test_the_panel_fits_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    paste(page, CURL + TWO)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
