"""`export --pr CHECKOUT`: a test written at its path inside a checkout, and the git commands that make a commit of it.

No command is run. Nothing that is there is overwritten: a new file must not exist, and a test that goes into a file
must not be in it yet.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from parsers.cases.export.suite_target import SuiteFile, SuiteTarget
from parsers.cases.jsontext import utf8
from parsers.vocabulary.types import UsageError


def write_into(checkout: str, suite: SuiteTarget, made: SuiteFile) -> str:
    """Write a test into a checkout; the commands that commit it. Raises UsageError where something is in the way."""
    folder, place = Path(checkout), Path(checkout, made.path)
    if not folder.is_dir():
        raise UsageError(f"--pr {checkout}: there is no such folder")
    if suite.place == "new":
        if not _is_project(place, folder):
            raise UsageError(f"--pr {checkout}: it has no {place.parent.relative_to(folder)}: is it the right project?")
        whole = made.text
    else:
        whole = _inserted(checkout, place, suite, made)
    try:
        with place.open("xb" if suite.place == "new" else "wb") as file:
            file.write(utf8(whole))
    except FileExistsError as error:
        raise UsageError(f"--pr {checkout}: {made.path} is there already; rename the case (its title) first") from error
    except OSError as error:
        raise UsageError(f"--pr {checkout}: {made.path} cannot be written: {error.strerror}") from error
    return "\n".join(_commands(checkout, made))


def _is_project(place: Path, folder: Path) -> bool:
    return place.parent.is_dir() and place.parent != folder


def _inserted(checkout: str, place: Path, suite: SuiteTarget, made: SuiteFile) -> str:
    """The whole file with the test in it."""
    try:
        known = place.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--pr {checkout}: it has no {made.path}: is it the right project?") from error
    text, lines = made.text, known.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if line.rstrip() == suite.anchor] if suite.anchor else []
    if suite.anchor and len(places) != 1:
        raise UsageError(f"--pr {checkout}: {made.path} has not one line {suite.anchor!r}: put the test in by hand")
    if suite.place == "behind":
        whole = "".join([*lines[: places[0] + 1], text, *lines[places[0] + 1 :]])
    else:
        if suite.anchor and any(line[:1].strip() and line[0] != "#" for line in lines[places[0] + 1 :]):
            raise UsageError(
                f"--pr {checkout}: something else follows {suite.anchor!r} in {made.path}: put it in by hand"
            )
        text = _behind(text, suite.anchor) if suite.anchor else f"\n{text}"
        whole = f"{known.rstrip()}\n{text}"
    if text.strip() in known:
        raise UsageError(f"--pr {checkout}: {made.path} has this test already")
    if _names(text, suite, made) & {line.strip() for line in lines}:
        raise UsageError(f"--pr {checkout}: {made.path} has a test of that name; rename the case (its title) first")
    return whole


def _behind(text: str, anchor: str) -> str:
    """What stands behind the line that is the anchor."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[[line.rstrip() for line in lines].index(anchor) + 1 :])


def _names(text: str, suite: SuiteTarget, made: SuiteFile) -> set[str]:
    """The lines of a test that give it its name: there may be one of each."""
    said = (line.strip() for line in text.splitlines())
    named = re.compile(rf"(?<![a-z0-9])\"?{re.escape(made.name)}\"?\s?[:({{]")
    return {line for line in said if named.search(line) and not line.startswith(suite.comment)}


def _commands(checkout: str, made: SuiteFile) -> Iterator[str]:
    git = ("git", "-C", checkout)
    yield shlex.join([*git, "switch", "-c", f"test-{made.name.replace('_', '-')}"])
    yield shlex.join([*git, "add", made.path])
    yield shlex.join([*git, "commit", "-s", "-m", f"Add a test: {made.name.replace('_', ' ')}"])
