"""The verdict on every case of the repository: by its own parser, and by others."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from parsers.cases.io import loads
from parsers.cases.model import Case
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import WHOLE
from parsers.search.guess_read import read
from parsers.search.verdict_case import good_calls
from parsers.selection.registry import build
from tests.parsers.search.test_verdict import judged, replayer

ROOT = Path(__file__).parents[2] / "cases"
pytestmark = pytest.mark.replays


def is_built_in(case: Case) -> bool:
    return case.parser.name in builtin_formats() and not case.parser.engine and case.parser.format is None


def test_no_case_blames_its_own_parser_and_hardly_any_blames_its_choice() -> None:
    wrong = []
    for path in sorted(ROOT.rglob("*.case.json")):
        case = loads(path.read_bytes())
        if is_built_in(case):
            given = replace(replayer(case.text(), case.parser.name), context=case.to_context())
            given = replace(given, make=partial(build, builtin_formats()[case.parser.name], case.parser.policy))
            said = judged(given)
            name = f"{path.parent.name}/{path.name}"
            assert said.about != "parser" or said.severity != "error", f"{name}: {said.headline}"
            if said.kind == "wrong_parser":
                wrong.append(name.removesuffix(".case.json"))
    assert wrong == [
        "passthrough/markers-are-text",
        "qwen3/glm-block",
        "qwen_coder/glm-block-alone",
        "qwen_coder/glm-block",
    ]


def test_a_case_read_by_another_parser_names_the_right_one() -> None:
    """Each case with a whole call by another: the parser named is the right one, or reads as it does."""
    others = list(builtin_formats())
    missed, tried = [], 0
    for number, path in enumerate(sorted(ROOT.rglob("*.case.json"))):
        case = loads(path.read_bytes())
        context, name = case.to_context(), case.parser.name
        if not is_built_in(case) or context.tool_choice == "none":
            continue
        right = read(builtin_formats()[name], case.text(), context)
        other = others[(number * 7 + 3) % 45]
        given = replayer(case.text(), other, context)
        found = good_calls(given.trace(WHOLE).message, context)
        if right.good == len(right.message.tool_calls) > found and other != name:
            tried += 1
            said = judged(given)
            named = said.guesses[0] if said.kind == "wrong_parser" else None
            if named is None or name not in (named.name, *named.same):
                missed.append(f"{path.parent.name}/{path.name} by {other}: {said.kind}")
    assert tried > 750
    assert len(missed) <= 0.05 * tried, json.dumps(missed[:20])
