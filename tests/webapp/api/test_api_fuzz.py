"""Requests that schemathesis makes of the description, right and wrong ones: each answer is one that it describes.

A case that is made of its schema alone is rarely one that can be replayed, so most right requests get a parser, an
output and an id that there are. That a right request is accepted is not asked for: no schema says that cuts fit an
output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from parsers.formats.model import builtin_formats
from tests.amount import TIMES
from tests.webapp.api.conftest import CALL, application, close
from webapp.api.operations import API, OPERATIONS

load_all_checks()
IDENTITY = {"Accept-Encoding": "identity"}  # its client of WSGI applications does not unpack gzip
ACCEPTED = [positive_data_acceptance]
NOT_ASKED = {"intake": [*ACCEPTED, negative_data_rejection]}  # what is no request is a recording
FEW = {"find": 2, "between": 2}
CASES = {"find", "between", "replay", "save_case"}
FITTING = ("schema", "title", "notes", "flags", "source", "context", "compare")
TEXTS = st.sampled_from([fmt.example for fmt in builtin_formats().values()]) | st.text(max_size=40)
PARSERS = st.sampled_from(["auto", *builtin_formats()]).map(lambda name: {"name": name})
TYPES = st.sampled_from(["string", "integer", "object", "array"]).map(lambda kind: {"type": kind})
SCHEMAS = st.dictionaries(st.text(max_size=4), TYPES, max_size=2).map(lambda found: {"properties": found})
TOOLS = st.fixed_dictionaries({"name": st.text(min_size=1, max_size=4), "parameters": SCHEMAS})
RIGHT = st.fixed_dictionaries(
    {"parser": PARSERS, "input": st.fixed_dictionaries({"text": TEXTS}), "tools": st.lists(TOOLS, max_size=2)}
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    found = application(tmp_path_factory.mktemp("fuzzed"), find_seconds=1, max_text_bytes=2_000)
    yield found
    close(found)


@pytest.fixture(scope="module")
def stored(app: Flask) -> str:
    """The id of a case that is there."""
    body = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
    answer: Any = app.test_client().post(f"{API}/cases", json=body).json
    return str(answer["id"])


@pytest.fixture(scope="module")
def described(app: Flask) -> Any:
    return schemathesis.openapi.from_wsgi(f"{API}/openapi.json", app)


@pytest.mark.replays
@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", [one.name for one in OPERATIONS if one.query or one.takes or "<" in one.path])
def test_every_answer_is_one_that_is_described(described: Any, stored: str, name: str, mode: GenerationMode) -> None:
    number = FEW.get(name, 3) * TIMES

    @seed(0)
    @settings(max_examples=number, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(described.find_operation_by_id(name).as_strategy(generation_mode=mode), RIGHT, st.integers(0, 3))
    def asked(case: Any, right: dict[str, Any], luck: int) -> None:
        if mode is GenerationMode.POSITIVE and luck:
            help_out(case, right, name, stored)
        case.validate_response(case.call(headers=IDENTITY), excluded_checks=NOT_ASKED.get(name, ACCEPTED))

    asked()


def help_out(case: Any, right: dict[str, Any], name: str, stored: str) -> None:
    """Put into a request what there is, and leave out what can fit no output."""
    if name in CASES:
        case.body = {**{key: value for key, value in case.body.items() if key in FITTING}, **right}
    if "case_id" in case.path_parameters:
        case.path_parameters = {**case.path_parameters, "case_id": stored}
    if name == "between":
        case.query = {"beside": "json"}
    case.query = {key: value for key, value in case.query.items() if key not in ("cursor", "steps")}
