"""The tasks of the process of a tokenizer, without a process."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.vocabularies.models import written
from webapp.children.worker import RefusedError
from webapp.vocabularies import vocabulary_program
from webapp.vocabularies.spelling import Spelling

Data = dict[str, Any]
Encoded = Callable[[Data], bytes]


def asked(tasks: Any, name: str, **request: Any) -> Data:
    found: Data = tasks[name](request, lambda _progress: None)
    return found


@pytest.fixture
def tasks() -> Any:
    return vocabulary_program.tasks()


@pytest.fixture(autouse=True)
def sealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How often a process of a tokenizer would be sealed, and for how many bytes. It collects no garbage; that of the
    tests does, and must not be sealed."""
    seals: list[int] = []
    monkeypatch.setattr(vocabulary_program, "seal", lambda writes=0: seals.append(writes))
    yield seals
    gc.enable()


@pytest.fixture
def prepare(tmp_path: Path, encoded: Encoded, tasks: Any) -> Callable[..., Data]:
    def run(data: Data, config: str | None = None) -> Data:
        (tmp_path / "source").write_bytes(encoded(data))
        paths = {"source": str(tmp_path / "source"), "target": str(tmp_path / "made")}
        return asked(tasks, "prepare", **paths, config=config, slots={})

    return run


def test_preparing_tells_what_is_to_know(toy: Data, prepare: Callable[..., Data], tmp_path: Path) -> None:
    (tmp_path / "config").write_text('{"chat_template": "{{ x }}"}')
    answer = prepare(toy, config=str(tmp_path / "config"))
    assert len(answer.pop("fingerprint")) == 64
    assert answer.pop("bytes") == (tmp_path / "made").stat().st_size
    assert answer == {
        "vocab_size": 267,
        "spelling": asdict(Spelling("byte_level")),
        "exact": True,
        "assumed": "",
        "loses": [],
        "added": [[264, "<|end|>", True], [265, "<think>", False], [300, "<tool_call>", False]],
        "templates": {"chat_template": "{{ x }}"},
    }


def test_a_config_that_is_no_json_is_named(toy: Data, prepare: Callable[..., Data], tmp_path: Path) -> None:
    (tmp_path / "config").write_text("{")
    with pytest.raises(RefusedError, match=r"^tokenizer_config\.json: the file is not whole JSON"):
        prepare(toy, config=str(tmp_path / "config"))


def test_nothing_is_parsed_or_loaded_before_the_process_is_sealed(
    toy: Data, prepare: Callable[..., Data], tasks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SealedError(Exception):
        """Stands for the seal."""

    def seal(writes: int = 0) -> None:
        raise SealedError

    monkeypatch.setattr(vocabulary_program, "seal", seal)
    with pytest.raises(SealedError):
        prepare({"no": "tokenizer"})
    (tmp_path / "made").write_text("no tokenizer")
    with pytest.raises(SealedError):
        asked(tasks, "load", path=str(tmp_path / "made"))


def test_a_loaded_tokenizer_cuts_text_and_spells_ids(
    toy: Data, prepare: Callable[..., Data], tasks: Any, tmp_path: Path, sealed: list[int]
) -> None:
    prepare(toy)
    assert asked(tasks, "load", path=str(tmp_path / "made")) == {}
    assert sealed == [vocabulary_program.MAX_BYTES, 0]
    text = "hello wor<think>"
    assert asked(tasks, "encode", text=text, offsets=True) == {
        "ids": [259, 263, 265],
        "offsets": [(0, 5), (5, 9), (9, 16)],
    }
    assert asked(tasks, "encode", text=text, offsets=False)["offsets"] is None
    assert asked(tasks, "strings", ids=[259, 299, 300, 4_000_000]) == {"strings": ["hello", None, "<tool_call>", None]}


def test_too_many_tokens_are_refused(
    toy: Data, prepare: Callable[..., Data], tasks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(toy)
    monkeypatch.setattr(vocabulary_program, "MAX_IDS", 10)
    asked(tasks, "load", path=str(tmp_path / "made"))
    with pytest.raises(RefusedError, match=r"^the text has 11 tokens; at most 10 are taken: shorten it$"):
        asked(tasks, "encode", text="x" * 11, offsets=False)


def test_ids_that_the_library_would_change_are_refused(metaspace: Data, prepare: Callable[..., Data]) -> None:
    metaspace["added_tokens"].append({"id": 50, "content": "<late>"})
    with pytest.raises(RefusedError, match=r"^/added_tokens: '<late>' would get the id 11, not 50; ids of added"):
        prepare(metaspace)


def test_what_the_library_refuses_is_raised(toy: Data, prepare: Callable[..., Data]) -> None:
    toy["model"]["merges"].append("no such")
    with pytest.raises(Exception, match="out of vocabulary"):
        prepare(toy)


def test_a_file_that_cannot_be_read_is_refused(tasks: Any) -> None:
    with pytest.raises(RefusedError, match=r"^a file cannot be read or kept \(No such file or directory\)$"):
        asked(tasks, "load", path="/nowhere/at/all")


def test_of_a_model_file_only_the_beginning_is_read(
    tasks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = written({"ggml.model": "llama", "ggml.tokens": ["<unk>", "a"], "ggml.scores": [0.0, -1.0]})
    monkeypatch.setattr(vocabulary_program, "MOST_HEADER", len(header))
    (tmp_path / "source").write_bytes(header + b"tensors")
    paths = {"source": str(tmp_path / "source"), "target": str(tmp_path / "made")}
    answer = asked(tasks, "prepare", **paths, config=None, slots={})
    assert (answer["exact"], answer["vocab_size"], answer["added"]) == (True, 2, [[0, "<unk>", True]])
    asked(tasks, "load", path=str(tmp_path / "made"))
    assert asked(tasks, "encode", text="a", offsets=True) == {"ids": [0, 1], "offsets": [(0, 0), (0, 1)]}
