"""What the case files test."""

from __future__ import annotations

import pytest
from weather.tool_calls import ToolCalls


@pytest.fixture
def toolcall_parser() -> type[ToolCalls]:
    """The parser of this project."""
    return ToolCalls
