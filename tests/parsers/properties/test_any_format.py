"""Formats of the user's own: one that the static check passes loses nothing and does not depend on the chunking.

Nor does one that lacks a row for what its codec finds, though the check refuses it.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from parsers.formats.lint import lint
from parsers.formats.model import Format
from tests.amount import examples
from tests.parsers.properties.formats import formats, outputs
from tests.parsers.properties.invariants import check
from tests.parsers.properties.strategies import runs_of

pytestmark = pytest.mark.replays


@settings(examples(40), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(fmt=formats(), data=st.data())
def test_a_sound_format_is_parsed_alike_under_every_chunking(fmt: Format, data: st.DataObject) -> None:
    assume(not any(found.severity == "error" and found.code != "missing_row" for found in lint(fmt)))
    for _ in range(3):
        message = check(data.draw(runs_of(fmt, outputs(fmt))))
        event(f"{len(message.tool_calls)} calls")
