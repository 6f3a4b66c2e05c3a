"""The processes that look at what strangers wrote: sealed, they open no file and no socket and start no process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.tokenizers import sealed
from tests.webapp.vocabularies.toys import byte_level
from webapp.children.child import Child
from webapp.settings import get_settings
from webapp.tokenizers.chat import PROGRAM
from webapp.tokenizers.limits import program

VOCABULARY = program(get_settings(tokenizer_seconds=20))
FILES = {"path": "old", "source": "old", "target": "made"}
CHILDREN = {
    "load": (VOCABULARY, ("path",)),
    "prepare": (VOCABULARY, ("source", "target")),
    "chat": (PROGRAM, None),
}


@pytest.mark.replays
@pytest.mark.parametrize("name", CHILDREN)
def test_what_strangers_wrote_is_met_in_a_sealed_process(name: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text(json.dumps(byte_level()), "utf-8")
    made, files = CHILDREN[name]
    within = replace(made, name=sealed.__name__, given={"program": made.name})
    request: dict[str, Any] = {"config": None, "slots": {}, **{key: str(tmp_path / FILES[key]) for key in files or ()}}
    with Child(within, None if files is None else (name, request)) as child:
        for what in sealed.ATTEMPTS:
            answer = child.ask("attempt", {"what": what, "path": str(tmp_path)}, seconds=20)
            assert answer["error"] in ("OSError", "PermissionError", "BlockingIOError"), what
        assert child.rss > 1_000_000
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "made").exists() == (name == "prepare")


def test_a_program_that_is_not_sealed_can_do_all_of_it(tmp_path: Path) -> None:
    """Or the attempts would prove nothing."""
    (tmp_path / "old").write_text("x", "utf-8")
    free = replace(PROGRAM, name=sealed.__name__, given={"program": PROGRAM.name}, sealed=False, limits={})
    with Child(free) as child:
        for what in sealed.ATTEMPTS.keys() - {"connect", "exec"}:
            assert child.ask("attempt", {"what": what, "path": str(tmp_path)}, seconds=20) == {"error": None}, what
