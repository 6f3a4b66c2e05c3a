"""What real clients print of an answer in which all is well, or leave out of it, is read as the message it shows."""

from __future__ import annotations

import pytest

from parsers.intake import recognise
from tests.parsers.intake.recorded_files import Recorded, faults, recorded

SHAPES = [one for one in recorded() if one.story == "good" or one.lost]


@pytest.mark.parametrize("one", SHAPES, ids=lambda one: f"{one.client}-{one.shape}-{one.story}")
def test_a_shape_is_the_message_it_shows(one: Recorded) -> None:
    found = recognise(one.text.encode(), pasted=True)
    assert faults(found, one) == [] or (one.lost and "left_out" in [warn.code for warn in found.warnings])
