"""Four times the tokens take about four times the time under every policy, on hostile outputs too."""

from __future__ import annotations

import pytest

from parsers.decoding import Decode, DecodePolicy, Decoder, decode_pieces
from parsers.vocabulary.types import Piece
from tests.growth import assert_linear, seconds

pytestmark = pytest.mark.linear

SIZES = (3_000, 12_000)
OUTPUTS: dict[str, tuple[bytes, ...]] = {
    "one long line": (b"word",),
    "text that waits for ever": ("\ufffd".encode(),),
    "bytes that are no text": (b"\xff",),
    "characters that are turned around": (*[bytes([byte]) for byte in "你".encode()], b"\xff"),
    "replacement characters of single bytes": (b"\xef", b"\xbf", b"\xbd"),
}
POLICIES: tuple[DecodePolicy, ...] = ("vllm_fast", "sglang", "text_streamer")


def assert_policy_is_linear(name: str, decode: Decode, decoder: Decoder) -> None:
    raws = OUTPUTS[name]

    def timed(size: int) -> float:
        pieces = [Piece("", 3 + raw[0], raw) for raw in raws] * (size // len(raws))
        return seconds(lambda: decode_pieces(pieces, decode, decoder=decoder))

    assert_linear(timed, SIZES)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", list(OUTPUTS))
def test_a_policy_is_linear_in_the_tokens(name: str, policy: DecodePolicy) -> None:
    decode = Decode(policy=policy, stop=("never there", "word\n"))
    assert_policy_is_linear(name, decode, "byte_fallback")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_over_byte_level_is_linear_in_the_tokens(policy: DecodePolicy) -> None:
    assert_policy_is_linear("one long line", Decode(policy=policy, stop=("wordwordx",)), "byte_level")
