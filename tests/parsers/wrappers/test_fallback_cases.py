"""The cases of the wrapper, whole and token by token; test_case_files replays them under every chunking."""

from __future__ import annotations

import pytest

from parsers.cases.expect import differences
from parsers.cases.run import run_case
from tests.corpus import case_named, case_names


@pytest.mark.parametrize("name", case_names("fallback"))
@pytest.mark.replays(
    but=(
        "fallback/rest-after-a-broken-call",
        "fallback/markup-in-reasoning",
        "fallback/code-fence",
        "fallback/no-repair-after-a-candidate",
        "fallback/repair-comma",
    )
)
def test_a_case_of_the_wrapper_gives_what_it_expects(name: str) -> None:
    case = case_named(name)
    assert case.expect is not None
    run = run_case(case, compare=False)
    for trace in (run.trace, run.whole):
        assert differences(case.expect, trace.message, trace.finish_reason, case.compare) == []
