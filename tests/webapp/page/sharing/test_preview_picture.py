"""The picture of a case: which cases have one, what is drawn, and where it is kept."""

from __future__ import annotations

import hashlib
import io
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from webapp.page.search.client_parts import Told
from webapp.page.search.findings import VerdictLine
from webapp.page.sharing.embedded import Embedded
from webapp.page.sharing.preview_picture import (
    SIZE,
    drawn,
    forget_picture,
    keep_picture,
    picture_file,
    spelled,
)
from webapp.settings import Settings

NAME = "a" * 16


def shown(**more: Any) -> Embedded:
    given: dict[str, Any] = {
        "title": "A title",
        "said": VerdictLine("error", "A call is lost.", ["Because of a cut."]),
        "smallest": True,
        "deltas": ["<tool_", "call>"],
        "more": 0,
        "told": [
            ("right", [Told("name", "f"), Told("arguments", "{}")]),
            ("like this", [Told("name", "f", lost=True)]),
        ],
        "facts": [("Parser", "qwen"), ("Cut", "token by token"), ("Version", "1")],
    }
    return Embedded(**{**given, **more})


def picture(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def test_a_picture_has_the_size_that_readers_expect_and_is_the_same_each_time() -> None:
    data = drawn(shown())
    assert (picture(data).size, picture(data).format) == (SIZE, "PNG")
    assert data == drawn(shown())


@pytest.mark.replays
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"title": "Another"}),
        ({}, {"said": None}),
        ({}, {"said": VerdictLine("pass", "A call is lost.", [])}),
        ({}, {"deltas": []}),
        ({}, {"told": []}),
        ({"told": [("gives", [])]}, {"told": []}),
        ({"deltas": ["a" * 40]}, {"deltas": ["a" * 40, "b"]}),
    ],
)
def test_what_is_shown_is_in_the_picture(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert drawn(shown(**one)) != drawn(shown(**other))


def test_much_costs_as_much_as_little() -> None:
    long = "\u0301\u202e\U0001f600x y" * 50_000
    much = [("right", [Told("name", long)] * 50)] * 50
    said = VerdictLine("warning", long, [long])
    assert len(drawn(shown(title=long, said=said, deltas=[long] * 500, told=much))) < 200_000


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [("a\nb\t", 9, "a\\nb\\t"), ("a\u0301\u202e", 9, "a\\u0301\\u202e"), ("abc", 2, "ab…"), ("<｜x｜>", 9, "<│x│>")],
)
def test_what_acts_on_other_characters_is_spelled_out(text: str, most: int, told: str) -> None:
    assert spelled(text, most) == told


def test_a_picture_is_kept_whole_and_forgotten(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    keep_picture(settings, NAME, b"png")
    assert [file.name for file in picture_file(settings, NAME).parent.iterdir()] == [f"{NAME}.png"]
    assert picture_file(settings, NAME).read_bytes() == b"png"
    forget_picture(settings, NAME)
    forget_picture(settings, NAME)
    assert not picture_file(settings, NAME).exists()


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "pictures").write_text("a file")
    keep_picture(Settings(data_dir=tmp_path), NAME, b"png")
    assert (tmp_path / "pictures").read_text() == "a file"


def test_the_font_is_the_one_that_is_listed_with_its_licence() -> None:
    folder = resources.files("webapp.page.sharing") / "fonts"
    listed = tomllib.loads((folder / "VENDORED.toml").read_text("utf-8"))
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in listed}
    assert digests == {name: entry["sha256"] for name, entry in listed.items()}
    assert "SIL OPEN FONT LICENSE" in (folder / "OFL.txt").read_text("utf-8")
