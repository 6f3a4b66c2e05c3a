"""The panel of policies as the editor of a contract: a name, an object of one's own, and what a case says of it."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from webapp.page.form.setup import FormError, case_of, read_setup, setup_of

OWN = {"name": "own", "truncated_call": ["drop", "close"]}


def posted(**fields: str) -> dict[str, str]:
    return {"text": "Hi", "parser": "qwen", **fields}


@pytest.mark.parametrize(
    ("typed", "contract"), [("vllm", "vllm"), ('{"name": "own", "truncated_call": ["drop", "close"]}', OWN), ("", None)]
)
def test_a_contract_is_typed_and_comes_back(typed: str, contract: Any) -> None:
    case = case_of(read_setup(posted(contract=typed, honest_only="1")), None)
    data = case.model_dump(by_alias=True, exclude_defaults=True, mode="json")
    assert data.get("contract") == contract
    assert data["compare"] == {"cuts": "honest"}
    shown = setup_of(case)
    assert shown.parser.contract == typed
    assert shown.rules.honest_only


def test_markers_of_an_unknown_grammar_are_typed_and_come_back() -> None:
    case = case_of(read_setup(posted(parser="auto", markers="<call>, </call>")), None)
    assert case.parser.markers == ("<call>", "</call>")
    assert setup_of(case).parser.markers == "<call>, </call>"
    with pytest.raises(FormError) as error:
        case_of(read_setup(posted(markers="a")), None)
    assert error.value.field == "markers"


def test_what_is_no_contract_is_told_at_its_field() -> None:
    for typed in ('{"name": ', '{"name": "own", "truncated_call": ["lose"]}'):
        with pytest.raises(FormError) as error:
            case_of(read_setup(posted(contract=typed)), None)
        assert error.value.field == "contract"


def test_a_case_with_a_contract_of_its_own_is_said_by_the_form() -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}, "contract": OWN})
    assert case_of(setup_of(case, keep=False), None).contract == case.contract
