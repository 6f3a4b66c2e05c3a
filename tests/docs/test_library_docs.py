"""docs/library.md and the front door of `parsers`: every example runs, and every function has one."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import parsers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_tutorial_runs(example: str) -> None:
    exec(compile(example, "docs/library.md", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("name", parsers.__all__)
def test_each_function_of_the_front_door_has_an_example(name: str) -> None:
    found = [test for test in doctest.DocTestFinder().find(getattr(parsers, name), name) if test.examples]
    assert len(found) == 1
    assert doctest.DocTestRunner(verbose=False).run(found[0]).failed == 0


def test_the_tutorial_uses_every_function_of_the_front_door() -> None:
    used = set(re.findall(r"\w+", " ".join(re.findall(r"^from parsers import (.*)$", PAGE, flags=re.MULTILINE))))
    assert used == set(parsers.__all__)
