"""The service under the command line and the API: what is kept, what is refused, what is written."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.model import Case, CaseError
from parsers.cases.run import run_case, run_json
from parsers.vocabulary.types import FormatError, UsageError
from webapp.service import Service, collector_paused, exported, json_text, placed, stored_form, weight, with_defaults
from webapp.settings import get_settings

TEXT = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def case_of(**keys: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": "auto"}, "input": {"text": TEXT}, **keys})


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """The cases that were really run."""
    seen: list[Case] = []

    def run(case: Case, **options: Any) -> Any:
        seen.append(case)
        return run_case(case, **options)

    monkeypatch.setattr("webapp.service.run_case", run)
    return seen


def test_a_run_is_kept_by_what_the_case_says(runs: list[Case]) -> None:
    kept = Service(get_settings())
    first = kept.run(case_of())
    assert kept.run(case_of()) is first
    assert kept.run(case_of(title="Another")) is not first
    assert kept.run(case_of(context={"model_type": "qwen2"})) is not first
    assert len(runs) == 3


@pytest.mark.parametrize(("keep", "size"), [(False, 256_000_000), (True, 0), (True, 10)])
def test_nothing_is_kept_where_nothing_may_be(runs: list[Case], keep: bool, size: int) -> None:
    kept = Service(get_settings(trace_cache_bytes=size), keep=keep)
    assert kept.run(case_of()) is not kept.run(case_of())
    assert len(runs) == 2


def test_the_weight_of_a_run_grows_with_its_steps() -> None:
    kept = Service(get_settings(), keep=False)
    small, large = (weight(kept.run(case_of(input={"text": TEXT * n}))) for n in (1, 40))
    assert 50_000 < small < large


@pytest.mark.parametrize("text", ["", "a", TEXT, TEXT * 30])
def test_the_text_in_pieces_is_that_of_run_json(text: str) -> None:
    run = Service(get_settings(), keep=False).run(case_of(input={"text": text}))
    written = "".join(json_text(run))
    assert written.endswith("}\n")
    assert json.loads(written) == json.loads(json.dumps(run_json(run)))
    assert list(json.loads(written)) == list(run_json(run))


def test_the_environment_decides_only_what_the_case_leaves_open() -> None:
    strict, open_ = get_settings(strict=True), get_settings()
    assert with_defaults(case_of(), strict).context.strict is True
    assert with_defaults(case_of(context={"strict": False}), strict).context.strict is False
    assert with_defaults(case_of(), open_).context.strict is None


def test_a_stored_case_needs_no_tokenizer_and_no_choice() -> None:
    kept = Service(get_settings(), keep=False)
    stored = stored_form(kept.run(case_of()))
    assert stored.parser.name == "qwen"
    assert stored.tokenizer is not None
    assert (stored.tokenizer.name, len(stored.tokenizer.fingerprint or "")) == ("embedded", 64)
    assert stored_form(kept.run(stored)) == stored


def test_a_case_keeps_the_name_it_asked_for() -> None:
    run = Service(get_settings(), keep=False).run(case_of(parser={"name": "hermes"}))
    assert stored_form(run).parser.name == "hermes"


def test_an_unknown_export_is_refused_with_those_there_are() -> None:
    run = Service(get_settings(), keep=False).run(case_of())
    with pytest.raises(UsageError, match="choose one of: case, pytest, markdown, jsonl"):
        exported(run, "har")


@pytest.mark.parametrize(
    ("error", "pointer", "message"),
    [
        (UsageError("no such thing"), "/here", "no such thing"),
        (CaseError("wrong", "/there"), "/there", "wrong"),
        (FormatError("wrong row", "/states/A"), "/parser/format/states/A", "wrong row"),
    ],
)
def test_an_error_learns_its_place_in_the_case(error: Exception, pointer: str, message: str) -> None:
    with pytest.raises(CaseError) as caught, placed("/here"):
        raise error
    assert (caught.value.pointer, caught.value.message) == (pointer, message)


def test_garbage_is_collected_again_after_the_last_run_is_over() -> None:
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
