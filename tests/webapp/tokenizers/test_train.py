"""The committed tokenizer is what the committed text gives, and contains what it should."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from parsers.formats.model import builtin_formats
from tests.webapp.tokenizers import train
from webapp.vocabularies.spelling import BYTE_OF

# Saved cases show these ids. A new digest means: old cases and new ones no longer look alike. See decision 020.
CORPUS_SHA256 = "d8d675bfdf6b541d6357c92d0014606367ec1f8ab8ef1732820525963761e24f"
MODEL_SHA256 = "d210628cc1e5985ab7587444516d62dc31f122bec626b03e7fb1afa0d82e8fe0"

MARKERS = [
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "<think>",
    "</think>",
    "<|im_start|>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "[THINK]",
    "<｜tool▁calls▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<|channel|>",
    "<minimax:tool_call>",
    "<steptml:invoke",
]


@pytest.fixture(scope="module")
def model() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(train.MODEL.read_bytes())
    return loaded


def test_the_frozen_files_are_unchanged() -> None:
    assert hashlib.sha256(train.CORPUS.read_bytes()).hexdigest() == CORPUS_SHA256
    assert hashlib.sha256(train.MODEL.read_bytes()).hexdigest() == MODEL_SHA256


def test_training_again_gives_the_committed_bytes() -> None:
    command = [sys.executable, "-m", "tests.webapp.tokenizers.train", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "embedded.json: as trained\n", "")


def test_check_fails_for_a_model_of_another_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.txt"
    other.write_text("one two three four five " * 50, encoding="utf-8")
    assert train.main(["--check", "--corpus", str(other)]) == 1
    assert "differs from what other.txt gives" in capsys.readouterr().out


def test_writing_then_checking_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_file = tmp_path / "model.json"
    assert train.main(["--model", str(model_file)]) == 0
    assert "bytes written" in capsys.readouterr().out
    assert train.main(["--check", "--model", str(model_file)]) == 0


def test_the_vocabulary_is_every_byte_then_merges(model: dict[str, Any]) -> None:
    by_id = sorted(model["model"]["vocab"], key=model["model"]["vocab"].get)
    assert len(by_id) == train.VOCAB_SIZE == 2048
    assert by_id[:256] == sorted(BYTE_OF)
    assert len(model["model"]["merges"]) == 2048 - 256


def test_nothing_changes_or_adds_text(model: dict[str, Any]) -> None:
    assert model["added_tokens"] == []
    assert all(model[part] is None for part in ("normalizer", "post_processor", "truncation", "padding"))
    assert model["model"]["dropout"] is None


def test_no_marker_of_any_family_is_in_the_model_or_its_text(model: dict[str, Any]) -> None:
    known = {text for fmt in builtin_formats().values() for text in fmt.tokens if len(text) > 3}
    corpus = train.CORPUS.read_text(encoding="utf-8")
    for marker in {*MARKERS, *known}:
        spelled = "".join(char for byte in marker.encode() for char, value in BYTE_OF.items() if value == byte)
        assert spelled not in model["model"]["vocab"]
    assert not [marker for marker in MARKERS if marker in corpus]


def test_the_text_names_no_host_but_the_reserved_ones() -> None:
    hosts = set(re.findall(r"https?://([^/\s\"']+)", train.CORPUS.read_text(encoding="utf-8")))
    assert hosts
    assert all(re.search(r"(^|\.)example\.(com|org|net)$", host) for host in hosts)
    assert b"\r" not in train.CORPUS.read_bytes()


def test_the_files_stay_small() -> None:
    assert 150_000 < train.CORPUS.stat().st_size < 300_000
    assert train.CORPUS.stat().st_size + train.MODEL.stat().st_size < 400_000
