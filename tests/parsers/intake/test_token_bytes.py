"""Tokens that servers log: ids and bytes, as far as they are true."""

from __future__ import annotations

import pytest

from parsers.intake.token_bytes import LoggedToken, pieces_spelling


@pytest.mark.parametrize(("raw", "text"), [([b"b"], "a"), ([b"\xed\xa0\x80"], "\ud800"), ([], ""), (None, "a")])
def test_tokens_that_do_not_spell_the_text_are_no_pieces(raw: list[bytes] | None, text: str) -> None:
    assert pieces_spelling(None if raw is None else [LoggedToken(1, one) for one in raw], text) is None


def test_bytes_that_hold_the_sign_for_lost_ones_are_lossy() -> None:
    assert [LoggedToken(1, raw).lossy for raw in (b"a", "a\ufffd".encode(), None)] == [False, True, False]
