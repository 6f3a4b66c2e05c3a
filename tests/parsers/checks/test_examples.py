"""Every check has an example on which it finds something, in the words shown, and one on which it holds."""

from __future__ import annotations

import pytest

from parsers.checks import CHECKS, run_checks
from parsers.checks.examples import Example, examples


@pytest.mark.parametrize("example", examples().values(), ids=examples())
def test_an_example_is_found_and_its_counterpart_is_not(example: Example) -> None:
    found = run_checks(example.finds, [example.check])
    assert found.findings[:1]
    assert found.findings[0].message == example.says
    right = run_checks(example.holds, [example.check])
    assert (right.holding, right.skipped) == ([example.check], [])


def test_every_check_has_an_example() -> None:
    assert set(examples()) == set(CHECKS)
