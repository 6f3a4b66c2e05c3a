"""How far a text goes on with a name, before the name is whole."""

from __future__ import annotations

import pytest

from parsers.machine.names import NamePart, name_patterns


@pytest.mark.parametrize(
    ("part", "text", "fits"),
    [
        (NamePart.BEGINS, " get_weather \n", 14),
        (NamePart.BEGINS, "functions.get:0 x", 16),
        (NamePart.BEGINS, "größe", 5),
        (NamePart.BEGINS, ", then", 0),
        (NamePart.GOES_ON, "ther<", 4),
        (NamePart.GOES_ON, " x", 1),
        (NamePart.IS_OVER, " x", 1),
        (NamePart.IS_OVER, "x", 0),
        (NamePart.QUOTED, "two words", 9),
        (NamePart.QUOTED, "a,b", 1),
        (NamePart.GOES_ON, "a+b", 3),
    ],
)
def test_a_name_goes_on_as_far_as_its_characters_do(part: NamePart, text: str, fits: int) -> None:
    found = name_patterns(["two words", "a+"])[part].match(text)
    assert (0 if found is None else found.end()) == fits
