"""What real clients print is read as the message it shows; every damage of it comes off, or is named and offered."""

from __future__ import annotations

import pytest

from parsers.intake import recognise
from tests.amount import every
from tests.parsers.intake.damages import BYTES, OFFERED, PREFIXES, WHOLE
from tests.parsers.intake.recorded_files import BASES, BY_SHAPE, Recorded, faults, recorded

pytestmark = pytest.mark.replays
ALL = recorded()
# What stands on a base under a damage: in either run each damage on two bases at least, of bytes and offers on more.
DAMAGED = [(base, damage) for base in BASES for damage in (*PREFIXES, *WHOLE)]
PACKED = [(base, damage) for base in BASES for damage in BYTES]
HIDDEN = [(base, damage) for base in BASES for damage in OFFERED]


def test_every_base_was_recorded() -> None:
    assert sorted(BY_SHAPE) == sorted(BASES)


@pytest.mark.parametrize("one", every(3, ALL), ids=lambda one: f"{one.client}-{one.shape}-{one.story}")
def test_what_a_client_prints_is_the_message_it_shows(one: Recorded) -> None:
    found = recognise(one.text.encode(), pasted=True)
    if one.lost:
        assert "left_out" in [warn.code for warn in found.warnings]
    else:
        assert faults(found, one) == []


@pytest.mark.parametrize(("base", "damage"), every(7, DAMAGED, 1))
def test_every_damage_comes_off_by_itself(base: str, damage: str) -> None:
    one = BY_SHAPE[base]
    damaged = (PREFIXES | WHOLE)[damage](one.text.rstrip("\n"))
    assert faults(recognise(damaged.encode(), pasted=True), one) == []


@pytest.mark.parametrize(("base", "damage"), every(5, PACKED, 2))
def test_bytes_of_every_encoding_are_read(base: str, damage: str) -> None:
    assert faults(recognise(BYTES[damage](BY_SHAPE[base].text), pasted=False), BY_SHAPE[base]) == []


@pytest.mark.parametrize(("base", "damage"), every(3, HIDDEN))
def test_what_a_model_may_have_written_is_offered_and_not_taken_off(base: str, damage: str) -> None:
    one, text = BY_SHAPE[base], OFFERED[damage](BY_SHAPE[base].text.rstrip("\n"))
    found = recognise(text.encode(), pasted=True)
    if faults(found, one) == []:
        return  # it does no harm to this shape
    assert found.layers == ()
    assert found.offers or not found.usable or found.warnings
    for offer in found.offers[:1]:
        assert faults(recognise(text.encode(), pasted=True, layers=offer.names), one) == []
