"""How an engine does and what it made of the library, as it is kept and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webapp.engines.entering import fake
from webapp.engines import health, patience
from webapp.engines.entered import Engines, SharedEngines, answer
from webapp.engines.entries import write_entry
from webapp.engines.health import Known, LibraryRuns
from webapp.engines.patience import REST_SECONDS, PatienceOfAll
from webapp.settings import Settings

PASSED = ("passes", "pass")


@pytest.mark.parametrize("alone", [False, True])
def test_an_engine_answers_hangs_rests_and_does_not_start(monkeypatch: pytest.MonkeyPatch, alone: bool) -> None:
    now = [1_000.0]
    monkeypatch.setattr(patience, "monotonic", lambda: now[0])
    given = PatienceOfAll(10, alone=alone)

    def kind() -> str:
        return given.health.kind if given.health else ""

    found = [kind()]
    given.started()
    found.append(kind())
    hermes = given.of("hermes", None)
    hermes.hung()
    found.append(kind())
    hermes.hung()
    found.append(kind())
    assert given.health is not None
    assert given.health.words.startswith("hermes: the last 2 replays hung, the latest 0 seconds ago")
    now[0] += REST_SECONDS
    found.append(kind())
    hermes.answered(1.0)
    found.append(kind())
    given.started_not("no module", 0.1)
    found.append(kind())
    assert given.health.words == "no module"
    rests = "hangs" if alone else "rests"
    assert found == ["", "answers", "hangs", rests, "hangs", "answers", "fails"]


def test_runs_are_bounded_and_a_later_one_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_PARSERS", "MOST_CELLS", "MOST_TOLD"):
        monkeypatch.setattr(health, name, 2)
    runs = LibraryRuns()
    runs.note("a", {"1": PASSED, "2": PASSED, "3": ("slow", "error")})
    runs.note("b", {"1": PASSED})
    runs.note("a", {"3": PASSED})
    assert [(one.parser, one.cells) for one in runs.latest()] == [
        ("a", {"2": PASSED, "3": PASSED}),
        ("b", {"1": PASSED}),
    ]
    runs.note("c", {})
    assert [one.parser for one in runs.latest()] == ["c", "a"]


def test_a_child_of_the_server_is_told_what_the_process_with_the_workers_knows(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    write_entry(settings, "fake", fake())
    engines = Engines(settings)
    child = SharedEngines(settings, lambda question: answer(engines, question))
    assert child.known("fake") == Known()
    child.note_run("fake", "echo", {"a": PASSED, "b": ("slow", "error"), "c": PASSED})
    child.note_run("nobody", "echo", {"a": PASSED})
    engines.card("fake")
    try:
        known = child.known("fake")
        assert known == engines.known("fake")
        assert (known.health and known.health.kind) == "answers"
        assert known.runs[0].counted == [("passes", "pass", 2), ("slow", "error", 1)]
        assert engines.known("nobody") == Known()
    finally:
        engines.close()
