"""What is said of an entered engine, whatever it says of itself."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.webapp.engines.entering import fake
from webapp.engines.entered import Engines
from webapp.engines.entries import keep_card, write_entry
from webapp.engines.protocol import Card, ParserCard, Server
from webapp.page.engines import listing
from webapp.page.engines.listing import EngineRow, engine_rows, server_words
from webapp.settings import Settings

_DECLARED = {name: get_args(field.annotation) for name, field in Server.model_fields.items()}


def rows(folder: Path, *names: str) -> list[EngineRow]:
    """The rows of engines of these names, whose cards are kept."""
    settings = Settings(data_dir=folder)
    for name in names:
        write_entry(settings, name, fake())
        card = Card(protocol=1, name=name, parsers=[ParserCard(name="hermes")], server=Server(many_tokens="never"))
        keep_card(settings, name, fake(), card)
    return engine_rows(Engines(settings))


def test_every_value_that_the_protocol_declares_has_words() -> None:
    assert all(values for values in _DECLARED.values())
    for values in product(*_DECLARED.values()):
        said: dict[str, Any] = dict(zip(_DECLARED, values, strict=True))
        assert bool(server_words(Server(**said))) == any(value != "unknown" for value in values)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, ""),
        ({"many_tokens": "never"}, "sends every token in a delta of its own"),
        ({"holds_text": "sent", "empty_deltas": "sent"}, "holds text back, sends deltas without text"),
    ],
)
def test_what_a_server_does_is_said(said: dict[str, Any], words: str) -> None:
    assert server_words(Server(**said)) == words


def test_an_engine_that_cannot_be_shown_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = listing._facts

    def facts(card: Card) -> list[tuple[str, str]]:
        if card.name == "odd":
            raise KeyError("never")
        return whole(card)

    monkeypatch.setattr(listing, "_facts", facts)
    odd, even = rows(tmp_path, "odd", "even")
    assert odd.problem == "What it says of itself cannot be shown (KeyError: 'never')."
    assert (even.problem, dict(even.facts)["Its server"]) == ("", "sends every token in a delta of its own")
