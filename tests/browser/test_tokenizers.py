"""Tokenizers in the page: uploaded by hand and by drop, fetched from a hub, looked at, deleted; and without script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from waitress.server import create_server

from tests.browser.conftest import Watch, _serve
from tests.browser.test_access import on_each_screen, violations
from tests.webapp.tokenizers.hub_server import Hub
from tests.webapp.tokenizers.templates import QWEN
from webapp.app import create_app
from webapp.services import EXTENSION
from webapp.settings import Settings
from webapp.tokenizers import library
from webapp.tokenizers.embedded import model
from webapp.tokenizers.hub import Downloads
from webapp.tokenizers.library import use

pytestmark = pytest.mark.browser

CONFIG = json.dumps({"chat_template": QWEN}).encode()
DROP = """([files]) => {
  const carrier = new DataTransfer();
  for (const [name, text] of files) carrier.items.add(new File([text], name));
  const options = {bubbles: true, cancelable: true, dataTransfer: carrier};
  document.body.dispatchEvent(new DragEvent("dragover", options));
  document.body.dispatchEvent(new DragEvent("drop", options));
}"""


def file(name: str, data: bytes) -> Any:
    return {"name": name, "mimeType": "application/json", "buffer": data}


def changed(word: str) -> bytes:
    """A tokenizer of its own: with one more added token."""
    data = json.loads(model())
    token = {"id": len(data["model"]["vocab"]), "content": f"<|{word}|>", "special": True, "single_word": False}
    data["added_tokens"] = [{**token, "lstrip": False, "rstrip": False, "normalized": False}]
    return json.dumps(data).encode()


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    made = Hub()
    made.files["owner/good"] = {"tokenizer.json": changed("hub"), "tokenizer_config.json": CONFIG}
    made.files["owner/slow"] = {"tokenizer.json": changed("slow")}
    yield made
    made.close()


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, hub: Hub) -> Iterator[str]:
    """A server of its own, which may fetch from a hub on this machine."""
    before, folder = library().settings, tmp_path_factory.mktemp("hub")
    patch = pytest.MonkeyPatch()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        patch.delenv(name, raising=False)
    settings = Settings(data_dir=folder, hub=True, tokenizer_upload_bytes=200_000)
    app = create_app(settings)
    app.extensions[EXTENSION].hub = Downloads(settings, library().add_hub, endpoint=hub.url, cache=folder / "cache")
    server, ended = create_server(app, host="127.0.0.1", port=0, threads=8), threading.Event()
    thread = threading.Thread(target=_serve, args=(server, ended))
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    ended.set()
    thread.join()
    app.extensions[EXTENSION].hub.close()
    app.extensions[EXTENSION].store.close()
    use(before)
    patch.undo()


@pytest.fixture
def watched(origin: str) -> Iterator[Watch]:
    watching = Watch(origin)
    yield watching
    assert watching.left() == []


@pytest.fixture
def tab(browser: Browser, watched: Watch) -> Iterator[Page]:
    context = watched.context(browser, viewport={"width": 1440, "height": 900}, color_scheme="light")
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def bare(browser: Browser, watched: Watch) -> Iterator[Page]:
    context = watched.context(browser, java_script_enabled=False)
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()


def test_an_upload_is_listed_tried_chosen_and_deleted(tab: Page) -> None:
    tab.goto("/")
    tab.get_by_role("link", name="Tokenizers").click()
    expect(tab.get_by_role("heading", name="Tokenizers", exact=True)).to_be_visible()
    tab.locator("#tokenizer_file").set_input_files(file("tokenizer.json", changed("mine")))
    tab.locator("#config_file").set_input_files(file("tokenizer_config.json", CONFIG))
    tab.get_by_label("Name").fill("mine")
    tab.get_by_role("button", name="Upload").click()
    expect(tab.get_by_text("can be chosen now")).to_be_visible(timeout=20_000)
    key = tab.locator("#delete-key").input_value()
    tab.get_by_role("link", name="Use it for a run").click()
    expect(tab.locator("#tokenizer option:checked")).to_have_text("mine, 2,049")
    tab.go_back()
    tab.get_by_role("link", name="mine", exact=True).click()
    expect(tab.locator(".tokenizer-template")).to_contain_text("add_generation_prompt")
    tab.locator("#text").fill("a<|mine|>b")
    tab.get_by_role("button", name="Cut into tokens").click()
    expect(tab.locator(".tried-special code")).to_have_text("<|mine|>")
    expect(tab.locator(".tried-tokens li")).to_have_count(3)
    tab.goto("/")
    option = tab.locator("#tokenizer option", has_text="mine, 2,049")
    expect(option).to_have_count(1)
    tab.goto("/tokenizers")
    tab.get_by_label("Delete mine").click()
    tab.get_by_label("Delete key").fill(key)
    tab.get_by_role("button", name="Delete mine").click()
    expect(tab.get_by_text("The tokenizer is deleted.")).to_be_visible()
    expect(tab.get_by_role("link", name="mine", exact=True)).to_have_count(0)


def test_what_is_wrong_with_a_file_stands_at_the_field_and_the_form_keeps_what_is_in_it(
    tab: Page, watched: Watch
) -> None:
    watched.allowed += ["422"]
    tab.goto("/tokenizers")
    tab.get_by_label("Name").fill("kept")
    tab.locator("#tokenizer_file").set_input_files(file("tokenizer.json", b'{"model": 1}'))
    tab.get_by_role("button", name="Upload").click()
    expect(tab.locator("#tokenizer_file-error")).to_contain_text("kept: ")
    expect(tab.get_by_label("Name")).to_have_value("kept")
    assert tab.locator("#tokenizer_file").evaluate("field => field.files.length") == 1
    tab.locator("#tokenizer_file").set_input_files(file("tokenizer.json", b" " * 300_000))
    tab.get_by_role("button", name="Upload").click()
    expect(tab.locator("#tokenizer_file-error")).to_contain_text("300,000 bytes; the limit is 200,000 bytes")
    assert violations(tab) == []


def test_files_dropped_on_the_page_are_uploaded_together(tab: Page) -> None:
    tab.goto("/tokenizers")
    tab.evaluate(DROP, [[["tokenizer.json", "a"], ["other.json", "b"]]])
    expect(tab.locator("#tokenizer_file-error")).to_contain_text("Drop one tokenizer file")
    both = [["tokenizer.json", changed("drop").decode()], ["tokenizer_config.json", CONFIG.decode()]]
    tab.evaluate(DROP, [both])
    expect(tab.get_by_text("can be chosen now")).to_be_visible(timeout=20_000)
    tab.get_by_role("link", name="See what it makes of markers and text").click()
    expect(tab.locator(".tokenizer-template")).to_contain_text("add_generation_prompt")


def test_a_tokenizer_is_fetched_while_the_page_shows_how_far_it_is(tab: Page, hub: Hub) -> None:
    tab.goto("/tokenizers")
    tab.get_by_label("Repository").fill("owner/slow")
    tab.get_by_role("button", name="Fetch").click()
    expect(tab.locator(".tokenizer-job")).to_contain_text("owner/slow")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator("#hub")).to_contain_text("The download was cancelled.")
    expect(tab.get_by_label("Repository")).to_have_value("owner/slow")
    hub.go.set()
    tab.get_by_label("Repository").fill("owner/good")
    tab.get_by_role("button", name="Fetch").click()
    expect(tab.locator("#hub")).to_contain_text("can be chosen now", timeout=20_000)
    expect(tab.locator("#shelf")).to_contain_text("hub:owner/good")


def test_without_script_all_of_it_works(bare: Page, hub: Hub) -> None:
    hub.go.set()
    bare.goto("/tokenizers")
    bare.locator("#tokenizer_file").set_input_files(file("tokenizer.json", changed("bare")))
    bare.get_by_label("Name").fill("bare")
    bare.get_by_role("button", name="Upload").click()
    expect(bare.get_by_text("can be chosen now").first).to_be_visible()
    key = bare.locator("#delete-key").input_value()
    bare.get_by_label("Repository").fill("owner/nothing")
    bare.get_by_role("button", name="Fetch").click()
    for _ in range(100):
        bare.goto("/tokenizers/hub?id=owner/nothing")  # where "Look again" leads
        if "There is no owner/nothing" in bare.locator("#hub").inner_text():
            break
    expect(bare.locator("#hub")).to_contain_text("There is no owner/nothing")
    bare.get_by_role("link", name="bare", exact=True).click()
    bare.locator("#text").fill("Zürich")
    bare.get_by_role("button", name="Cut into tokens").click()
    expect(bare.locator("#tried")).to_contain_text("1 token")
    bare.goto("/tokenizers")
    row = bare.get_by_role("listitem").filter(has=bare.get_by_label("Delete bare"))  # others were uploaded before
    row.get_by_label("Delete bare").click()
    row.get_by_label("Delete key").fill(key)
    bare.get_by_role("button", name="Delete bare").click()
    expect(bare.get_by_text("The tokenizer is deleted.")).to_be_visible()


@pytest.mark.parametrize("path", ["/tokenizers", "/tokenizer/embedded"])
def test_axe_finds_nothing_and_nothing_is_too_wide(page: Page, path: str) -> None:
    page.goto(path)
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
