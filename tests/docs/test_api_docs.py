"""docs/api.md says everything: each route, each error code, each field of a run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import run_case, run_json
from webapp.api.answers import (
    DivergenceAnswer,
    EngineInfo,
    FindingAnswer,
    FindResult,
    GroupAnswer,
    OutcomeAnswer,
    ParserInfo,
    ReplayResult,
    SkippedCheck,
    StepAnswer,
    TokenizerRow,
    VerdictAnswer,
)
from webapp.api.operations import OPERATIONS, Operation
from webapp.api.views import MOST_CHUNKINGS
from webapp.runs.exports import TARGETS
from webapp.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
LIMITS = ("max_text_bytes", "max_tokens", "max_request_bytes", "answer_bytes")
ROUTES = {f"{one.method} {one.path}": one for one in OPERATIONS}


def test_every_route_has_a_section_and_a_line_in_the_overview() -> None:
    assert [route for route in ROUTES if route not in SECTIONS or f"[`{route}`](#" not in PAGE] == []


def test_no_route_is_documented_that_does_not_exist() -> None:
    assert {name for name in SECTIONS if name.startswith(("GET ", "POST ", "DELETE "))} == ROUTES.keys()


def test_the_links_of_the_overview_lead_to_the_sections() -> None:
    anchors = {re.sub(r"[^a-z0-9 _-]", "", name.lower()).replace(" ", "-") for name in SECTIONS}
    assert set(re.findall(r"\(#([^)]+)\)", PAGE)) <= anchors


@pytest.mark.parametrize("one", ROUTES.values(), ids=list(ROUTES))
def test_every_status_of_a_route_is_in_the_list_of_errors(one: Operation) -> None:
    assert [status for status in one.answers if status >= 400 and f"| {status} |" not in SECTIONS["Errors"]] == []


@pytest.mark.parametrize("one", ROUTES.values(), ids=list(ROUTES))
def test_every_query_parameter_is_explained(one: Operation) -> None:
    assert [name for name in one.query if f"?{name}=" not in SECTIONS[f"{one.method} {one.path}"]] == []


@pytest.mark.parametrize(
    ("route", "model"),
    [
        ("GET /api/v1/parsers", ParserInfo),
        ("GET /api/v1/tokenizers", TokenizerRow),
        ("GET /api/v1/engines", EngineInfo),
        ("POST /api/v1/replay", ReplayResult),
        ("POST /api/v1/replay", StepAnswer),
        ("POST /api/v1/replay", FindingAnswer),
        ("POST /api/v1/find", FindResult),
        ("POST /api/v1/find", OutcomeAnswer),
        ("POST /api/v1/find", DivergenceAnswer),
        ("POST /api/v1/find", VerdictAnswer),
        ("POST /api/v1/find", GroupAnswer),
        ("POST /api/v1/find", SkippedCheck),
    ],
)
def test_every_field_of_an_answer_is_explained(route: str, model: type) -> None:
    assert [name for name in model.__annotations__ if f"`{name}`" not in SECTIONS[route]] == []


def test_the_fields_of_a_run_are_listed_in_their_order() -> None:
    run = run_case(load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": ""}}))
    table = SECTIONS["POST /api/v1/replay"].split("\n\n")[2]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == [*run_json(run)]


def test_every_code_of_an_error_is_explained() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "webapp" / "api").glob("*.py")]
    codes = {code for source in sources for code in re.findall(r'api_error\("(\w+)"', source)}
    assert codes >= {"answer_too_large", "too_large"}
    assert [code for code in codes if f"| `{code}` |" not in SECTIONS["Errors"]] == []


def test_every_export_is_explained() -> None:
    section = SECTIONS["GET /api/v1/cases/<case_id>/export/<target>"]
    assert [target for target in TARGETS if f"| `{target}` |" not in section] == []


def test_every_post_says_what_it_does_when_it_is_sent_again() -> None:
    section = SECTIONS["What may be kept, and what may be repeated"]
    posts = [one.path.rpartition("/")[2] for one in OPERATIONS if one.method == "POST"]
    assert [name for name in posts if f"`{name}`" not in section and f"/{name}` |" not in section] == []


def test_the_limits_are_those_of_the_program() -> None:
    sizes = {name: Settings.model_fields[name].default for name in LIMITS}
    rows = [(f"{size:,}", f"`TOOLCALL_INSPECTOR_{name.upper()}`") for name, size in sizes.items()]
    lines = SECTIONS["Limits"].splitlines()
    assert [row for row in rows if not any(all(part in line for part in row) for line in lines)] == []
    assert f"| {MOST_CHUNKINGS} |" in SECTIONS["Limits"]
