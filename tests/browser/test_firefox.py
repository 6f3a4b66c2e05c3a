"""The way that most people go, once in Firefox: paste, run, step, edit, share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.marionette import Marionette, firefox, firefox_path
from tests.browser.test_layout import OUTPUT

pytestmark = pytest.mark.browser(optional=True)

TROUBLE = """
  window.trouble = [];
  for (const kind of ["error", "unhandledrejection", "securitypolicyviolation"]) {
    window.addEventListener(kind, event => window.trouble.push(`${kind}: ${event.message ?? event.violatedDirective}`));
  }
"""
HEADLINE = "document.getElementById('headline')?.textContent ?? ''"


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Marionette]:
    """Firefox, where there is one: it is no part of what `make` installs."""
    path = firefox_path()
    if path is None:
        pytest.skip("no Firefox: install firefox-esr to have this journey run in it")
    profile = tmp_path / "profile"
    profile.mkdir()
    with firefox(path, profile) as started:
        yield started


def test_paste_run_step_edit_and_share_in_firefox(driven: Marionette, base: str) -> None:
    driven.open(base)
    driven.run(TROUBLE)
    driven.type("#text", OUTPUT)
    driven.press("Control", "Enter")
    driven.wait(f"return {HEADLINE}.includes('2 complete calls')")
    assert driven.run("return document.activeElement.id") == "headline"

    driven.press("End")
    last = driven.run("return Number(document.getElementById('go-to').value)")
    assert last > 10
    driven.press("ArrowLeft")
    driven.wait(f"return document.getElementById('go-to').value === '{last - 1}'")
    driven.wait(f"return location.search.includes('step={last - 1}')")

    driven.press("e")
    driven.wait("return document.activeElement.id === 'live-text'")
    driven.press("Control", "End")
    driven.press("x")
    driven.wait("return document.getElementById('said').textContent.includes('quick verdict')")
    driven.press("Control", "Enter")
    driven.wait("return !document.querySelector('[data-editing]') && document.getElementById('fork') !== null")
    assert driven.run("return document.getElementById('text').value") == f"{OUTPUT}x"

    driven.wait("return document.getElementById('findings').dataset.checked === 'search'")
    driven.click("[data-share]")
    driven.wait("return document.querySelector('#share-dialog[open] [data-share-create]') !== null")
    assert driven.run("return window.trouble") == []
