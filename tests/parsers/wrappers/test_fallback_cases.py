"""The cases of the wrapper, whole and token by token; test_case_files replays them under every chunking."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.cases.expect import differences
from parsers.cases.io import loads
from parsers.cases.run import run_case

FILES = sorted((Path(__file__).parents[2] / "cases" / "fallback").glob("*.case.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".case.json"))
def test_a_case_of_the_wrapper_gives_what_it_expects(path: Path) -> None:
    case = loads(path.read_bytes())
    assert case.expect is not None
    run = run_case(case, compare=False)
    for trace in (run.trace, run.whole):
        assert differences(case.expect, trace.message, trace.finish_reason, case.compare) == []
