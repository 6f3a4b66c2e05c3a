"""Tokenizers of a process that starts none of their children: the same answers, and no process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from webapp.tokenizers.library import TokenizerLibrary, library, use
from webapp.tokenizers.shared import SharedTokenizers, answer

Data = dict[str, Any]
Make = Callable[..., TokenizerLibrary]
Encoded = Callable[[Data], bytes]


class Both:
    """A library, another one that asks it over a wire of JSON and raw bytes, and what was asked."""

    def __init__(self, first: TokenizerLibrary) -> None:
        self.first = first
        self.asked: list[str] = []
        self.second = SharedTokenizers(first.settings, self.ask)

    def ask(self, question: Data) -> Mapping[str, Any]:
        self.asked.append(question["do"])
        raw = {"raw": question.pop("raw")} if "raw" in question else {}
        found: Data = json.loads(json.dumps(answer(self.first, {**json.loads(json.dumps(question)), **raw})))
        return found


@pytest.fixture
def both(make_library: Make, toy: Data, encoded: Encoded, tmp_path: Path) -> Both:
    folder = tmp_path / "folder" / "toy"
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_bytes(encoded(toy))
    return Both(make_library(tokenizer_folders=(tmp_path / "folder",)))


@pytest.mark.replays
@pytest.mark.parametrize("config", [None, b'{"chat_template": "{{ x }}"}'])
def test_an_upload_is_kept_by_the_other_process_and_used_by_both(
    both: Both, toy: Data, encoded: Encoded, config: bytes | None
) -> None:
    row = both.second.add_upload("a.json", encoded(toy), config)
    assert row in both.second.listing()
    assert row in both.first.listing()
    kept = both.second.vocabulary(row["name"])
    assert kept.templates == ({"chat_template": "{{ x }}"} if config else {})
    adapter = both.second.get(row["name"])
    assert adapter.encode("hello") == [259]
    assert [piece.text for piece in adapter.pieces("hello x")] == ["hello", " ", "x"]
    assert both.asked == ["upload", "ask", "ask", "ask"]
    assert (len(both.first._pool.pids()), both.second._pool.pids()) == (1, {})
    both.first.remove(row["fingerprint"])
    with pytest.raises(UsageError, match="upload its tokenizer"):
        both.second.get(row["name"])


def test_a_file_of_a_folder_is_prepared_once_by_the_other_process(both: Both) -> None:
    for _ in range(2):
        assert both.second.get("folder:toy").encode("hello") == [259]
    assert both.asked == ["prepare", "ask", "ask"]
    assert Both(both.first).second.vocabulary("folder:toy").info == both.first.vocabulary("folder:toy").info


def test_what_is_wrong_is_raised_where_it_was_asked_for(both: Both) -> None:
    with pytest.raises(UsageError, match="not a tokenizer"):
        both.second.add_upload("a.json", b"<html>")
    with pytest.raises(UsageError, match="no folder"):
        both.second.get("folder:none")


@pytest.mark.replays
@pytest.mark.parametrize("task", ["load", "prepare", ""])
def test_only_what_a_tokenizer_does_can_be_asked_for(both: Both, task: str) -> None:
    with pytest.raises(UsageError, match="no such task"):
        answer(both.first, {"do": "ask", "name": "folder:toy", "task": task, "requests": []})


def test_names_mean_the_tokenizers_that_were_made_last(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[TokenizerLibrary.__module__], "_library", None)
    used = use(both.first.settings, lambda settings: SharedTokenizers(settings, both.ask))
    assert isinstance(used, SharedTokenizers)
    assert library() is used
