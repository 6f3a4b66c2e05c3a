"""Which names are taken for repositories: never a path."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import UsageError
from webapp.hub import repository


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
        (" hub:deepseek-ai/DeepSeek-V3.1 ", "deepseek-ai/DeepSeek-V3.1"),
        ("https://huggingface.co/a/b/", "a/b"),
        ("01-ai/Yi_6B", "01-ai/Yi_6B"),
    ],
)
def test_a_name_is_owner_and_name_however_it_was_copied(typed: str, name: str) -> None:
    assert repository(typed) == name


@pytest.mark.parametrize(
    "typed",
    [
        "", "name", "/etc/passwd", "./a/b", "../a", "a/../b", "a/b/c", ".a/b", "a/.b", "a/b.", "-a/b", "a b/c", "a//b",
        "C:\\a\\b", "a\\b", "~/b", "a/b--c", "a/b.git", "a/b?c=d", "a/b#c", "file:///a/b", "https://evil.example/a/b",
        "ä/b", "a/" + "b" * 97,
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_repository_is_refused_in_one_sentence(typed: str) -> None:
    with pytest.raises(UsageError, match=r"^.{1,100} is no name of a repository: give OWNER/NAME"):
        repository(typed)
