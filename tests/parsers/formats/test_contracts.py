"""Contracts: the built-in ones, what follows for built-in parsers, and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from parsers.formats.contracts import DEFAULT, Contract, builtin_contracts, contract_keys, contract_named
from parsers.formats.model import policy_values
from parsers.vocabulary.types import UsageError


def test_the_built_in_contracts_are_those_that_are_promised_the_default_first() -> None:
    assert [*builtin_contracts()] == ["openai", "as_streamed", "dynamo", "sglang", "strict", "vllm"]
    assert contract_named(None).name == DEFAULT
    assert contract_named(None, "vllm").name == "vllm"
    assert contract_named("strict", "vllm").name == "strict"


@pytest.mark.parametrize("contract", builtin_contracts().values(), ids=lambda contract: contract.name)
def test_a_built_in_contract_says_where_it_comes_from(contract: Contract) -> None:
    assert contract.title
    assert contract.description
    assert contract.provenance
    assert all(origin.project and origin.source and origin.fact for origin in contract.provenance)


def test_the_default_leaves_every_format_as_it_is() -> None:
    assert contract_named(None).policies() == {}


def test_built_in_parsers_follow_the_first_behaviour_where_they_have_such_a_policy() -> None:
    own = Contract(name="own", truncated_call=("drop", "close"), content_after_calls=("drop",), whole_output=("any",))
    assert own.policies() == {"truncated_call": "drop"}
    assert own.values("truncated_call") == ("drop", "close")
    assert own.values("ids") == ("any",)


def test_every_key_is_explained_and_those_of_policies_have_their_name() -> None:
    fields = {key: Contract.model_fields[key] for key in contract_keys()}
    assert all(field.description for field in fields.values())
    assert fields.keys() & policy_values().keys() == {
        "truncated_call", "content_before_calls", "content_between_calls", "content_after_calls", "reasoning_tail",
        "unknown_tool", "invalid_call", "rejected_call", "missing_arguments", "json_values", "malformed_call",
        "undeclared_arguments", "unclosed_value", "reasoning_calls", "stray_reasoning_end",
    }  # fmt: skip


def test_an_unknown_name_key_or_value_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no contract 'mine'; the contracts are openai, as_streamed"):
        contract_named("mine")
    with pytest.raises(ValidationError):
        Contract.model_validate({"name": "own", "truncated": ["drop"]})
    with pytest.raises(ValidationError):
        Contract.model_validate({"name": "own", "truncated_call": ["lose"]})
