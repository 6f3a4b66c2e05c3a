"""What no file of the project says: where a registry is, how one machine is laid out, that something is unfinished.

The patterns are put together from pieces, so that this file does not contain what it looks for.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REGISTRIES = ("py" + "pi.org", "python" + "hosted.org", "registry." + "npmjs", "deb." + "debian.org")
DELIVERY_NETWORKS = ("un" + "pkg.com", "js" + "delivr.net", "cdn" + "js.com")
OWN_FOLDERS = ("/wo" + "rk/", "/fa" + "rm/", "/ro" + "ot/", "/opt/py" + "pi", "/tm" + "p/")
MARKS = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "NotImplemented" + "Error")
PHRASES = ("place" + "holder", "not imple" + "mented", "lorem " + "ipsum")

HOST = re.compile("|".join(map(re.escape, REGISTRIES + DELIVERY_NETWORKS)), re.IGNORECASE)
FOLDER = re.compile(rf"(?<![\w.~])(?:{'|'.join(OWN_FOLDERS)})")
# The first phrase is also a pseudo-element of CSS and an attribute of HTML; those are left alone.
MARK = re.compile(rf"(?<!::)\b(?:{'|'.join(MARKS)}|(?i:{'|'.join(PHRASES)}))\b(?!=[\"'])")

# A case quotes what a model wrote, and a vendored file is not ours to word.
QUOTING = (Path("tests/cases"), Path("static/vendor"), Path("webapp/page/sharing/fonts"))


def hits(root: Path, files: list[Path], pattern: re.Pattern[str]) -> list[str]:
    """Each place where `pattern` stands in a text file, as `path:line: text`."""
    found = []
    for path in files:
        for number, line in enumerate((root / path).read_text("utf-8", errors="ignore").splitlines(), 1):
            found += [f"{path.as_posix()}:{number}: {match[0]}" for match in pattern.finditer(line)]
    return found


def ours(files: list[Path]) -> list[Path]:
    worded = [path for path in files if path.suffix != ".png"]  # in a picture every three letters stand somewhere
    return [path for path in worded if not any(path.is_relative_to(folder) for folder in QUOTING)]


def test_no_file_names_a_registry_or_a_delivery_network(root: Path, files: list[Path]) -> None:
    assert hits(root, ours(files), HOST) == []


def test_no_file_holds_a_path_of_one_machine(root: Path, files: list[Path]) -> None:
    assert hits(root, ours(files), FOLDER) == []


def test_nothing_is_marked_as_unfinished(root: Path, files: list[Path]) -> None:
    assert hits(root, ours(files), MARK) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (HOST, "https://files." + REGISTRIES[1] + "/x"),
        (FOLDER, "see " + OWN_FOLDERS[0] + "main"),
        (MARK, "# " + MARKS[0] + ": later"),
        (MARK, "this is " + PHRASES[1].title()),
    ],
)
def test_the_patterns_find_what_they_are_for(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


@pytest.mark.parametrize(
    "text", ["framework/parsers", "home/work/x", "hackathon", "TODOS_TABLE", f'<input {PHRASES[0]}="state:">']
)
def test_the_patterns_leave_other_words_alone(text: str) -> None:
    assert not any(pattern.search(text) for pattern in (HOST, FOLDER, MARK))
