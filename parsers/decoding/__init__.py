"""Decode policies: what text a server's detokenizer makes of a model's tokens, and when.

A policy works on stored tokens (ids, bytes, kinds), so no tokenizer is needed to replay one. The door is
`decode_pieces`.
"""

from parsers.decoding.decode import Schedule, decode_pieces, schedule, settle_pieces
from parsers.decoding.policy import POLICIES, Decode, Decoded, DecodePolicy, Decoder, TokenFacts

__all__ = [
    "POLICIES",
    "Decode",
    "DecodePolicy",
    "Decoded",
    "Decoder",
    "Schedule",
    "TokenFacts",
    "decode_pieces",
    "schedule",
    "settle_pieces",
]
