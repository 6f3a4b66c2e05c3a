"""What a contract decides, in words."""

from __future__ import annotations

import pytest

from parsers.formats.contract_words import policy_words
from parsers.formats.contracts import Contract, contract_keys


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            "content_before_calls=drop_blank|keep|strip",
            "text before the first call: dropped when blank, kept or stripped (`content_before_calls`)",
        ),
        ("truncated_call=as_streamed", "a call the output cuts off: as streamed (`truncated_call`)"),
        ("whole_output=only", "calls that no marker begins: read where they are all of the output (`whole_output`)"),
        (
            "reasoning_start=keep",
            "white space, such as a newline, at the start of reasoning: kept (`reasoning_start`)",
        ),
        ("stray_thing=keep", "stray thing: kept (`stray_thing`)"),  # a policy of a format alone
    ],
)
def test_a_policy_is_said_in_words(policy: str, words: str) -> None:
    assert policy_words(policy) == words


@pytest.mark.parametrize("key", contract_keys())
def test_every_key_has_a_subject_that_fits_into_a_sentence(key: str) -> None:
    subject = policy_words(f"{key}=keep").partition(": kept")[0]
    assert subject[0].islower()
    assert not subject.endswith(".")
    assert subject != key
    assert Contract.model_fields[key].description
