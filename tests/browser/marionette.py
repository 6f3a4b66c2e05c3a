"""Firefox by the protocol that every build of it speaks (Marionette): no driver and no build of another browser.

A message is its length, a colon and a JSON array: `[0, number, command, parameters]` to Firefox, and
`[1, number, error, result]` back. Commands are those of WebDriver. Only what the journey needs is here.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds for Firefox to start, and for anything the page does
PAUSE = 0.1
PROFILE = 'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
KEYS = {"Enter": "\ue007", "Control": "\ue009", "End": "\ue010", "ArrowLeft": "\ue012", "ArrowRight": "\ue014"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name under which WebDriver gives an element


def firefox_path() -> str | None:
    """Where Firefox is, Debian's or any other on the path; None where there is none."""
    return shutil.which("firefox") or shutil.which("firefox-esr")


class Marionette:
    """One window of a Firefox that runs without a screen."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._read = self._socket.makefile("rb")
        self._number = 0
        self._message()  # it says who it is
        self.ask("WebDriver:NewSession", strictFileInteractability=True)

    def ask(self, command: str, **parameters: Any) -> Any:
        """What Firefox answers to a command. Raises AssertionError with its words where it refuses."""
        self._number += 1
        text = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self._message()
        assert error is None, f"{command}: {error['message']}"
        return result

    def _message(self) -> Any:
        size = b""
        while (digit := self._read.read(1)) != b":":
            assert digit, "Firefox ended the connection"
            size += digit
        return json.loads(self._read.read(int(size)))

    def open(self, url: str) -> None:
        """Go to an address, and wait until the modules of the page have started."""
        self.ask("WebDriver:Navigate", url=url)
        self.wait("return document.documentElement.hasAttribute('data-ready')")

    def run(self, script: str) -> Any:
        """What the body of a function returns in the page."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def wait(self, script: str) -> None:
        """Wait until the body of a function returns something true. Raises AssertionError where it never does."""
        until = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < until, f"never: {script}"
            time.sleep(PAUSE)

    def element(self, selector: str) -> str:
        """The first element of a selector, by the name that commands take."""
        found = self.ask("WebDriver:FindElement", using="css selector", value=selector)["value"]
        return str(found[ELEMENT])

    def click(self, selector: str) -> None:
        """Click on an element as a pointer does: what lies over it is in the way."""
        self.ask("WebDriver:ElementClick", id=self.element(selector))

    def type(self, selector: str, text: str) -> None:
        """Type into a field, behind what stands there."""
        self.ask("WebDriver:ElementSendKeys", id=self.element(selector), text=text)

    def press(self, *keys: str) -> None:
        """Press keys together, for whatever has the focus."""
        values = [KEYS.get(key, key) for key in keys]
        moves = [{"type": "keyDown", "value": value} for value in values]
        moves += [{"type": "keyUp", "value": value} for value in reversed(values)]
        self.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": moves}])

    def close(self) -> None:
        """Have Firefox end."""
        self.ask("Marionette:Quit", flags=["eForceQuit"])
        self._read.close()
        self._socket.close()


@contextmanager
def firefox(path: str, profile: Path) -> Iterator[Marionette]:
    """A Firefox with a profile of its own in an empty folder, which ends with the block."""
    (profile / "user.js").write_text(PROFILE)
    command = [path, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            driven = Marionette(_port(profile))
            yield driven
            driven.close()
            process.wait(PATIENCE)
        finally:
            process.kill()


def _port(profile: Path) -> int:
    """The port that Firefox chose; it writes it into its profile once it listens."""
    told, until = profile / "MarionetteActivePort", time.monotonic() + PATIENCE
    while not (told.exists() and told.read_text().strip()):
        assert time.monotonic() < until, "Firefox did not start"
        time.sleep(PAUSE)
    return int(told.read_text())
