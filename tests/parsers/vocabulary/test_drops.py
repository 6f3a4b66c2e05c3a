from __future__ import annotations

import pickle

import pytest

from parsers.formats.model import Policy
from parsers.vocabulary.drops import Cause, DropReason, stated


@pytest.mark.parametrize(
    ("reason", "words", "policy"),
    [
        (DropReason(Cause.LOST), "lost", None),
        (DropReason(Cause.CUT), "cut off before its end", "truncated_call"),
        (DropReason(Cause.UNDECLARED, "f{}"), "f{} is not a declared tool", "unknown_tool"),
        (DropReason(Cause.UNDECLARED, "f", "recovery"), "f is not a declared tool", "recovery"),
        (stated("a shortcut, no call"), "a shortcut, no call", None),
        (stated("no call").within(Cause.REJECTED), "rejected call: no call", None),
        (stated("no call").within(Cause.REJECTED, by="recovery"), "rejected call: no call", "recovery"),
        (
            DropReason(Cause.CUT_CALL).within(Cause.REJECTED, by="recovery"),
            "rejected call: the output cuts the call off",
            "truncated_call",
        ),
        (stated("it lacks a").within(Cause.INVALID, by="invalid_call"), "invalid call: it lacks a", "invalid_call"),
    ],
)
def test_a_reason_knows_its_words_and_its_policy(reason: DropReason, words: str, policy: str | None) -> None:
    assert (reason.words, reason.policy) == (words, policy)
    assert pickle.loads(pickle.dumps(reason)) == reason


@pytest.mark.parametrize("cause", Cause)
def test_the_policy_of_a_cause_exists(cause: Cause) -> None:
    assert cause.policy is None or cause.policy in Policy.model_fields
