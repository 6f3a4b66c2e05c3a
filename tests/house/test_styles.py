"""Style sheets name no custom property that there is not: a browser would take nothing for it, and say nothing."""

from __future__ import annotations

import re
from pathlib import Path

DEFINED = re.compile(r"(--[\w-]+)\s*:")
USED = re.compile(r"var\((--[\w-]+)\)")


def test_every_custom_property_that_is_used_without_another_value_is_defined(root: Path) -> None:
    sheets = "".join([path.read_text("utf-8") for path in (root / "static/css").glob("*.css")])
    used = {*USED.findall(sheets)}
    assert used
    assert used - {*DEFINED.findall(sheets)} == set()
