"""Four times the tokens take about four times the time under every policy, on hostile outputs too."""

from __future__ import annotations

import gc
import time

import pytest

from parsers.decoding import Decode, DecodePolicy, Decoder, decoded
from parsers.types import Piece

pytestmark = pytest.mark.linear

SIZE = 3_000
RATIO = 7.0
OUTPUTS: dict[str, tuple[bytes, ...]] = {
    "one long line": (b"word",),
    "text that waits for ever": ("\ufffd".encode(),),
    "bytes that are no text": (b"\xff",),
    "characters that are turned around": (*[bytes([byte]) for byte in "你".encode()], b"\xff"),
    "replacement characters of single bytes": (b"\xef", b"\xbf", b"\xbd"),
}
POLICIES: tuple[DecodePolicy, ...] = ("vllm_fast", "sglang", "text_streamer")


def seconds(name: str, size: int, decode: Decode, decoder: Decoder) -> float:
    raws = OUTPUTS[name]
    gc.disable()  # with all that other tests left behind it takes longer the more is made
    pieces = [Piece("", 3 + raw[0], raw) for raw in raws] * (size // len(raws))
    best = 1e9
    for _ in range(3):
        begun = time.process_time()
        decoded(pieces, decode, decoder=decoder)
        best = min(best, time.process_time() - begun)
    gc.enable()
    return best


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", list(OUTPUTS))
def test_a_policy_is_linear_in_the_tokens(name: str, policy: DecodePolicy) -> None:
    decode = Decode(policy=policy, stop=("never there", "word\n"))
    assert seconds(name, 4 * SIZE, decode, "byte_fallback") < RATIO * seconds(name, SIZE, decode, "byte_fallback")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_over_byte_level_is_linear_in_the_tokens(policy: DecodePolicy) -> None:
    decode, name = Decode(policy=policy, stop=("wordwordx",)), "one long line"
    assert seconds(name, 4 * SIZE, decode, "byte_level") < RATIO * seconds(name, SIZE, decode, "byte_level")
